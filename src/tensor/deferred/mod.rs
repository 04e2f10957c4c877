//! Deferred tensors: results of elementwise operations that are computed when their scalars are first read, so that several operations
//! are one pass over memory.
//!
//! In: chains with the tensors that they read. Out: [storages](Storage), which compute their scalars themselves.
//!
//! Promises: the scalars are those that the operations would have computed one after another, bit for bit; a tensor that is changed
//! after an operation does not change the result; each storage is computed once. What a pass computes besides:
//!
//! - the deferred results that share steps with the one that is read, if nothing else is computed from them: the value and the
//!   gradient of a function are one pass,
//! - a result that the others are computed from, if something else may read it, and if that takes less time from memory than
//!   computing it again. A large result of one tensor is stored only when it is computed a second time, because it is often not read
//!   any more.
//!
//! Not here: the evaluation of chains (`elementwise`).

mod expression;
mod pass;
mod recent_sums;
mod storage;

pub(super) use expression::{binary, result, sum, unary};
pub(super) use storage::Storage;
