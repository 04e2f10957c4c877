//! Checks of declarations: the declarations of a module are complete and consistent.

pub(crate) mod conformance;
pub(crate) mod exposed_type;
pub(crate) mod missing_result;
pub(crate) mod type_declaration;
pub(crate) mod unused_declarations;
