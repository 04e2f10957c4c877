//! Signature help: returns the functions, methods and initializers of a name, for the display of their parameters while
//! the user types arguments.

use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Member, MemberKind, Named};
use crate::types::model::display;
use crate::types::model::function_table::SignatureParam;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::synthesize;

/// The signature of a function, a method or an initializer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callable {
    /// The parameters of the function, without `self`.
    pub parameters: Vec<Parameter>,
    /// The result type of the function; `None` for `()`.
    pub result: Option<String>,
}

/// A parameter of a [`Callable`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The argument label of the parameter, if any.
    pub label: Option<String>,
    /// The name of the parameter inside the function.
    pub name: String,
    /// The type of the parameter.
    pub ty: String,
    /// Whether the argument for the parameter may be omitted.
    pub has_default: bool,
}

/// Returns the functions with a name at the top level, and the initializers if the name denotes a type.
pub fn callables(cx: &mut TypeContext, name: &str) -> Vec<Callable> {
    let entries = name_lookup::entries(cx, name, 0);
    let mut functions = vec![];
    for entry in entries {
        match entry.what {
            Named::Function(f) => functions.push(f),
            Named::Nominal(n) => functions.extend(initializers_of(cx, n)),
            _ => {}
        }
    }
    called(cx, functions)
}

/// Returns the methods with a name among the members of a type, including the members of the protocols to which the
/// type conforms.
pub fn callable_members(cx: &mut TypeContext, of: &Type, name: &str) -> Vec<Callable> {
    let of = unification::shallow(cx, of);
    let mut functions = vec![];
    if let Type::Nominal(n, _) = &of {
        prelude::load_all_own_members(cx, *n);
        functions.extend(methods(cx.defs.nominal_data(*n).members.get(name)));
    }
    for p in conformances::protocols_of(cx, &of).iter().copied() {
        let own = cx.defs.protocol_data(p).name.clone();
        prelude::load_all_members(cx, &own);
        functions.extend(methods(cx.defs.protocol_data(p).members.get(name)));
    }
    called(cx, functions)
}

/// Returns the methods with a name that the nominal type `name` declares.
pub fn callable_members_of(cx: &mut TypeContext, name: &str, member: &str) -> Vec<Callable> {
    let Some(Named::Nominal(n)) = name_lookup::type_entry(cx, name, 0) else { return vec![] };
    prelude::load_all_own_members(cx, n);
    let functions = methods(cx.defs.nominal_data(n).members.get(member)).collect();
    called(cx, functions)
}

fn initializers_of(cx: &mut TypeContext, n: NominalId) -> Vec<FunctionId> {
    prelude::load_all_own_members(cx, n);
    let all = synthesize::initializers(cx, n);
    methods(Some(&all)).collect()
}

fn called(cx: &mut TypeContext, functions: Vec<FunctionId>) -> Vec<Callable> {
    let before = cx.sink.diagnostics.len();
    let mut all = vec![];
    for f in functions {
        let signature = signature::signature(cx, f);
        let parameters = signature.params.iter().map(|p| parameter(cx, p)).collect();
        let result = Some(display::show(cx, &signature.result)).filter(|ty| ty != "Void" && ty != "()");
        all.push(Callable { parameters, result });
    }
    // Errors in a declaration are reported when it is compiled.
    cx.sink.diagnostics.truncate(before);
    all.dedup();
    all
}

fn parameter(cx: &mut TypeContext, p: &SignatureParam) -> Parameter {
    let dots = if p.variadic { "..." } else { "" };
    Parameter {
        label: p.label.as_ref().map(ToString::to_string),
        name: p.name.to_string(),
        ty: display::show(cx, &p.ty) + dots,
        has_default: p.default.is_some(),
    }
}

fn methods(members: Option<&Vec<Member>>) -> impl Iterator<Item = FunctionId> {
    members.into_iter().flatten().filter_map(|member| match member.kind {
        MemberKind::Method(f) | MemberKind::Init(f) => Some(f),
        _ => None,
    })
}
