//! Inherited derivatives: determines the derivatives that are registered for the requirements that a function satisfies
//! and for the methods that it overrides.
//!
//! Not here: which registered derivatives apply to concrete types (`registered_derivatives`), and the comparison of
//! values at run time (`vm/operators/registered/inherited`).

use crate::diagnostic::{Code, Diagnostic};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::conform::witness;
use crate::types::derivative::registered_derivatives;
use crate::types::derivative::registration;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::declaration_tables::{MemberKind, Owner, RequirementKind};
use crate::types::model::queries;
use crate::types::model::syntax_query::differentiation;
use crate::types::model::ty::{ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{Argument, Callee, ExprKind, FunctionId, FunctionRef, LocalId, Stmt, StmtKind};
use crate::types::nominal::overrides;
use crate::types::resolved_declarations;
use std::rc::Rc;

/// Whether a default implementation and a derivative are declared in extensions of one protocol with the same
/// requirements. In that case the derivative belongs to this implementation.
pub(crate) fn is_declared_with(cx: &mut TypeContext, implementation: FunctionId, derivative: FunctionId) -> bool {
    let of = |cx: &TypeContext, f: FunctionId| (cx.defs.function_data(f).owner, cx.defs.function_data(f).group);
    let ((owner, group), (other, other_group)) = (of(cx, implementation), of(cx, derivative));
    let (Owner::Protocol(_), Some(group), Some(other_group)) = (owner, group, other_group) else { return false };
    owner == other
        && generic_env::group_env(cx, group).requirements == generic_env::group_env(cx, other_group).requirements
}

/// Warns about a function without `@differentiable` that inherits a derivative registered for another function.
pub(crate) fn check_inherited_derivative(cx: &mut TypeContext, f: FunctionId) {
    if differentiable_attribute_of(cx, f).is_some() {
        return;
    }
    let data = cx.defs.function_data(f);
    let (span, name) = (data.span, data.base_name.clone());
    let signature = signature::signature(cx, f);
    let generics = signature.env.params.iter().map(|p| Type::Param(*p)).collect();
    let of = FunctionRef { function: f, generics };
    let inherited = type_context::with_env(cx, signature.env.clone(), |cx| {
        let view = registered_derivatives::file_of(cx, span);
        registered_derivatives::rules_here(cx, &of, view).into_iter().find_map(|rule| Some((rule.inherited?, rule)))
    });
    let Some((original, rule)) = inherited else { return };
    let from = match cx.defs.function_data(original).owner {
        Owner::Nominal(n) => cx.defs.nominal_data(n).name.clone(),
        Owner::Protocol(p) => cx.defs.protocol_data(p).name.clone(),
        Owner::Module => return,
    };
    let what = if rule.kind == RegisteredKind::Transpose { "transpose" } else { "derivative" };
    let message = format!(
        "'{name}' inherits the {what} registered for '{from}.{name}'; mark it with '@differentiable' to \
             differentiate it, or with '@differentiable(default)' to use the inherited {what}"
    );
    let at = cx.defs.function_data(rule.function.function).span;
    cx.sink.report(Diagnostic::warning(Code::InheritedDerivative, span, message).also(at, format!("the {what}")));
}

/// Whether the value that a registered derivative returns is a call of the original with the derivative's own
/// parameters, so that the derivative is valid for any implementation of the original.
pub(crate) fn gives_value_of(cx: &mut TypeContext, registered: FunctionId, original: FunctionId) -> bool {
    let Some(body) = queries::check_body(cx, registered) else { return false };
    let [Stmt { kind: StmtKind::Return(Some(result)), .. }] = body.statements.as_slice() else { return false };
    let ExprKind::Tuple(parts) = &result.kind else { return false };
    let Some(ExprKind::Call { callee, args }) = parts.first().map(|value| &value.kind) else { return false };
    let is_parameter = |(k, arg): (u32, &Argument)| matches!(arg, Argument::Value(e) if matches!(e.kind, ExprKind::Local(local) if local == LocalId(k)));
    let calls_it = match callee {
        Callee::Class { function, .. } => function.function == original,
        Callee::Requirement { protocol, requirement, self_type: Type::Param(own), .. } => {
            let data = cx.defs.protocol_data(*protocol);
            *own == data.self_param && data.requirements[*requirement as usize].function == original
        }
        _ => false,
    };
    calls_it
        && (0..).zip(args).all(is_parameter)
        && args.len() == resolved_declarations::resolved_function(cx, registered).params.len()
}

/// Returns the functions whose registered derivatives a function may inherit: the requirements that it satisfies and
/// the methods that it overrides. The list is empty if the function is marked `@differentiable` without `default`.
pub(crate) fn stands_for(cx: &mut TypeContext, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
    let mut all = fulfilled_by(cx, of);
    // A derivative of an initializer returns an instance of the class of the initializer.
    if overrides::overrides_something(cx, of.function)
        && !superclass::fills_instance(cx, of.function)
        && differentiable_attribute_of(cx, of.function) != Some(false)
    {
        all.extend(overrides::overridden_by(cx, of));
    }
    all
}

/// Whether the `@differentiable` attribute of a function specifies `default`; `None` if there is no attribute. A setter
/// shares the attribute of its getter.
fn differentiable_attribute_of(cx: &TypeContext, f: FunctionId) -> Option<bool> {
    let decl = cx.defs.function_data(f).decl.as_ref()?;
    let args = decl.attribute("differentiable").map(differentiation)?;
    Some(args.kind.is_some_and(|kind| &*kind.name == "default"))
}

/// Whether a registered derivative that applies to a function belongs to a requirement that the function satisfies, or
/// to a method that it overrides.
pub(crate) fn has_default_derivative(cx: &mut TypeContext, f: FunctionId) -> bool {
    registration::resolve_registrations(cx);
    let env = signature::signature(cx, f).env.clone();
    let generics = env.params.iter().map(|p| Type::Param(*p)).collect();
    let of = FunctionRef { function: f, generics };
    let view = registered_derivatives::file_of(cx, cx.defs.function_data(f).span);

    type_context::with_env(cx, env, |cx| {
        !stands_for(cx, &of).is_empty() && !registered_derivatives::rules_here(cx, &of, view).is_empty()
    })
}

fn fulfilled_by(cx: &mut TypeContext, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
    let data = cx.defs.function_data(of.function);
    let (owner, base, is_static) = (data.owner, data.base_name.clone(), data.is_static);
    if !cx.defs.registers_for_requirements || data.is_prelude || data.requirement.is_some() || owner == Owner::Module {
        return vec![];
    }
    if differentiable_attribute_of(cx, of.function) == Some(false) {
        return vec![];
    }
    let (own, outer) = match owner {
        Owner::Nominal(n) => {
            let count = cx.defs.nominal_data(n).params.len();
            (Type::Nominal(n, of.generics[..count.min(of.generics.len())].into()), count)
        }
        _ => (of.generics.first().cloned().unwrap_or(Type::Error), 1),
    };
    let mut found = vec![];
    for p in conformances::protocols_of(cx, &own).iter().copied() {
        for r in requirements_named(cx, p, &base, is_static) {
            let function = cx.defs.protocol_data(p).requirements[r as usize].function;
            if cx.defs.function_data(function).registered.is_empty() {
                continue;
            }
            let further = of.generics.get(outer..).unwrap_or_default();
            let witness = witness::find_witness(cx, p, r, &own, further);
            if witness.is_some_and(|w| w.function == of.function) {
                found.push((function, std::iter::once(&own).chain(further).cloned().collect()));
            }
        }
    }
    found
}

fn requirements_named(cx: &mut TypeContext, p: ProtocolId, base: &str, is_static: bool) -> Vec<u32> {
    let members = cx.defs.protocol_data(p).members.get(base).cloned().unwrap_or_default();
    let index = |kind: &MemberKind| match kind {
        MemberKind::Requirement(r) => Some(*r),
        _ => None,
    };
    let all = members.iter().filter_map(|m| index(&m.kind));
    all.filter(|r| {
        let data = &cx.defs.protocol_data(p).requirements[*r as usize];
        data.is_static == is_static && !matches!(data.kind, RequirementKind::Setter | RequirementKind::SubscriptSetter)
    })
    .collect()
}
