//! Queries: declares the functions of higher folders of the checker that lower folders call.
//!
//! Types are computed on demand, so that the order of declarations does not matter: the type of a property may need the
//! inference of its initial value, and a conformance may need a member that is synthesized. Such a request goes through
//! this table, and the table `PROVIDERS` in `types/module_check.rs` names the function that answers the request. All
//! other calls go from a higher folder to a lower one.

use crate::source::Span;
use crate::syntax::ast::Decl;
use crate::types::model::declaration_tables::{Member, Signature};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{Body, FunctionId, GlobalId};
use std::rc::Rc;

macro_rules! queries {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that answer the queries.
        #[derive(Clone, Copy)]
        pub(crate) struct Providers {
            $($(#[$doc])* pub(crate) $name: fn(&mut TypeContext, $($ty),*) $(-> $result)?,)*
        }

        $($(#[$doc])* pub(crate) fn $name(cx: &mut TypeContext, $($arg: $ty),*) $(-> $result)? {
            (cx.providers.$name)(cx, $($arg),*)
        })*
    };
}

queries! {
    /// Enters a declaration of the top level of a file.
    fn declare_top(declaration: &Rc<Decl>, file: u32, is_prelude: bool);

    /// Returns the type of a stored property, in terms of the generic parameters of its nominal type.
    fn stored_type(n: NominalId, index: u32) -> Type;
    /// Returns the type of a global variable.
    fn global_type(g: GlobalId) -> Type;
    /// Returns the getter or setter that satisfies a requirement with a stored property.
    fn stored_accessor(n: NominalId, index: u32, is_setter: bool) -> FunctionId;
    /// Returns the function that satisfies a requirement with a case of an enum.
    fn case_accessor(n: NominalId, case: u32) -> FunctionId;
    /// Returns the getter that satisfies a requirement with a static stored property.
    fn global_accessor(g: GlobalId) -> FunctionId;
    /// Returns the setter that satisfies a requirement with a static stored property.
    fn global_setter(g: GlobalId) -> FunctionId;
    /// Whether a class inherits the convenience initializers of its superclass.
    fn inherits_convenience(n: NominalId) -> bool;

    /// Synthesizes the member with a name if a conformance requires the member and the program does not declare it.
    fn synthesize_member(n: NominalId, name: &str, is_static: bool);
    /// Synthesizes `TangentVector` for a type that conforms to `Differentiable` and does not declare a tangent vector.
    fn synthesize_tangent_vector(n: NominalId) -> Option<Type>;
    /// Synthesizes the tangent vector of a class that inherits a tangent vector and adds properties.
    fn continue_tangent_vector(n: NominalId);
    /// Returns the initializers of a type, including the memberwise initializer.
    fn initializers(n: NominalId) -> Vec<Member>;
    /// Returns the initializer without parameters of a struct that declares no initializer.
    fn default_init(n: NominalId) -> Option<Member>;

    /// Returns the `@differentiable` attributes of a function: the source location of each attribute, and its
    /// differentiability parameters.
    fn declared_wrt(f: FunctionId) -> Vec<(Span, Vec<bool>)>;

    /// Checks the body of a function; `None` if the body has errors.
    fn check_body(f: FunctionId) -> Option<Rc<Body>>;
    /// Infers the type of the expression of which a function without parameters consists.
    fn check_expression_type(f: FunctionId) -> Option<Type>;
    /// Infers the result type of a formula.
    fn check_formula(f: FunctionId) -> Option<Type>;
    /// Records the default arguments that may determine a generic parameter.
    fn note_open_defaults(f: FunctionId, signature: &Signature, outer: usize);

    /// Checks the declaration of a type.
    fn check_nominal(n: NominalId);
}
