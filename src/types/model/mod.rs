//! Model: the types, the typed tree and the tables of declarations of the checker, and their printed form.

pub(crate) mod copy_on_write;
pub mod declaration_info;
pub(crate) mod declaration_tables;
pub(crate) mod differentiability;
pub(crate) mod display;
pub(crate) mod function_table;
pub(crate) mod opaque_types;
pub(crate) mod prelude_index;
pub(crate) mod queries;
pub(crate) mod source_text;
pub(crate) mod syntax_query;
pub(crate) mod syntax_walk;
pub mod ty;
pub(crate) mod type_context;
pub(crate) mod type_vars;
pub mod typed_tree;
