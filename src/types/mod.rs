//! Tree to typed tree: names, inference, protocols, conformances, `TangentVector`s.
//!
//! In: the syntax trees of a module's files, and the prelude. Out: a [`World`] of declarations, with a checked
//! [`tree::Body`] for each function, and diagnostics.
//!
//! Promises: generic bodies are checked once; no exponential search; a body with an error is never handed on.
//! Not here: what is differentiable inside a body (`diff`), concrete types (`ir`).

mod adjoint;
mod alias;
mod api;
mod associated;
mod attributes;
pub mod callable;
mod class_initializers;
mod conform;
mod constrained;
mod copy_on_write;
mod declare;
mod declare_member;
mod declare_protocol;
mod derivative_type;
mod dynamic_self;
mod entered;
mod entry;
mod existential;
mod failable;
mod files;
mod flow;
mod fulfilled;
mod function_data;
mod function_type;
mod implied;
mod infer;
mod info;
mod inherit;
mod inherited_derivative;
mod inline_adjoint;
pub mod interactive;
mod kept;
mod lazy;
mod lifetime;
mod lookup;
mod members;
mod modifiers;
mod module;
mod names;
mod observe;
mod opaque;
mod opened;
mod originals;
mod overriding;
mod own_equality;
mod own_vector;
mod parameters;
mod prelude;
mod private;
mod promise;
mod quote;
mod raw_value;
mod redeclare;
mod registration;
mod requirements;
mod resolve;
mod rethrow;
mod rules;
mod sample;
mod signature;
mod size;
mod solver;
mod storage;
mod store;
mod surroundings;
mod synthesize;
mod synthesize_enum;
mod synthesize_subclass;
mod test_block;
mod unmarked;
mod unmet;
mod walk;
mod ways;
mod witness;
mod wrapper;
mod written;

pub mod tree;
pub mod ty;
pub mod world;

pub use api::Checked;
pub use names::closest;
pub use promise::Promise;
pub use store::World;

#[cfg(test)]
mod tests;
