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
//! - a result that other results were computed from before without being stored, if something else may still read it: no step is
//!   computed more than twice.
//!
//! Not here: the evaluation of chains (`elementwise`).

mod expression;
mod pass;
mod recent_sums;
mod storage;

pub(super) use expression::{binary, result, sum, unary};
pub(super) use storage::Storage;
