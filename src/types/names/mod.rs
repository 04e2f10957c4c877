//! Names: resolves names and type expressions to declarations and types.

pub(crate) mod completion_members;
pub(crate) mod dynamic_self;
pub(crate) mod function_type;
pub(crate) mod members;
pub(crate) mod module_name;
pub(crate) mod name_lookup;
pub(crate) mod nested_access;
pub(crate) mod prelude;
pub(crate) mod subclass_access;
pub(crate) mod type_alias;
pub(crate) mod type_expr;
