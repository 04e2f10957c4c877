//! Model: the types, the typed tree and the tables of declarations of the checker, and their printed form.
//!
//! Also here, because all folders of the checker use them: the requests to higher folders (`queries`), searches in the
//! syntax (`syntax_walk`, `syntax_query`), and the source text that messages quote (`source_text`).

pub(crate) mod copy_on_write;
pub mod declaration_info;
pub(crate) mod declaration_tables;
pub(crate) mod differentiability;
pub(crate) mod display;
pub(crate) mod function_table;
pub(crate) mod opaque_requirements;
pub(crate) mod prelude_index;
pub(crate) mod queries;
pub(crate) mod source_text;
pub(crate) mod syntax_query;
pub(crate) mod syntax_walk;
pub mod ty;
pub(crate) mod type_context;
pub(crate) mod type_vars;
pub mod typed_tree;
