//! Checks of declarations: what a module declares is complete and consistent.

pub(crate) mod conformance;
pub(crate) mod type_declaration;
pub(crate) mod unused_declarations;
