//! Registered derivatives: finds the registered derivatives that apply to a function, declared or inherited, if they
//! are visible and their requirements hold.

use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::derivative::differentiability;
use crate::types::derivative::inherited_derivative;
use crate::types::derivative::registration;
use crate::types::generics::associated_type;
use crate::types::generics::signature;
use crate::types::model::declaration_info::Rule;
use crate::types::model::declaration_tables::{Registered, Requirement};
use crate::types::model::display;
use crate::types::model::ty::{ParamId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use std::rc::Rc;

/// Returns the registered derivatives of a function for concrete generic arguments: the declared derivatives or, if
/// there are none, the inherited ones. The result contains the generic arguments of the derivatives.
pub(crate) fn rules_of(cx: &mut TypeContext, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
    registration::resolve_registrations(cx);
    type_context::with_env(cx, Rc::default(), |cx| {
        let mut rules = rules_here(cx, of, view);
        for rule in &mut rules {
            let registered = rule.function.function;
            rule.inherited =
                rule.inherited.filter(|original| !inherited_derivative::gives_value_of(cx, registered, *original));
        }
        rules
    })
}

/// Returns the registered derivatives of a function in the current generic environment, like [`rules_of`]. A derivative
/// counts as inherited even if it is valid for any implementation of the original.
pub(crate) fn rules_here(cx: &mut TypeContext, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
    let own = cx.defs.function_data(of.function).registered.clone();
    let mut rules = applicable(cx, &own, &of.generics, view);
    if !own.is_empty() {
        return rules;
    }
    for (original, generics) in inherited_derivative::stands_for(cx, of) {
        let registered = cx.defs.function_data(original).registered.clone();
        let mut found = applicable(cx, &registered, &generics, view);
        for rule in &mut found {
            rule.wrt = differentiability::flags_of(cx, &rule.wrt, original, of.function);
            if !inherited_derivative::is_declared_with(cx, of.function, rule.function.function) {
                rule.inherited = Some(original);
            }
        }
        rules.extend(found);
    }
    rules
}

/// Returns the file that contains the source location `at`, if private derivatives of the function are visible in that
/// file.
pub(crate) fn view_of(cx: &mut TypeContext, of: &FunctionRef, at: Span) -> Option<u32> {
    registration::resolve_registrations(cx);
    if !cx.defs.has_private_rules {
        return None;
    }
    let file = file_of(cx, at)?;
    let mut all = cx.defs.function_data(of.function).registered.clone();
    let others = type_context::with_env(cx, Rc::default(), |cx| inherited_derivative::stands_for(cx, of));
    for (original, _) in others {
        all.extend(cx.defs.function_data(original).registered.iter().cloned());
    }
    all.iter().any(|r| r.visible_in == Some(file)).then_some(file)
}

/// Returns the number of the file that contains a span.
pub(crate) fn file_of(cx: &TypeContext, at: Span) -> Option<u32> {
    let after = cx.sink.texts.partition_point(|(start, _)| *start <= at.start);
    after.checked_sub(1).map(|file| file as u32)
}

fn applicable(cx: &mut TypeContext, registered: &[Registered], generics: &[Type], view: Option<u32>) -> Vec<Rule> {
    let mut rules = vec![];
    for r in registered {
        if r.visible_in.is_some() && r.visible_in != view {
            continue;
        }
        let env = signature::signature(cx, r.function).env.clone();
        let mut bound: Vec<Option<Type>> = vec![None; env.params.len()];
        let fits = r.arguments.len() == generics.len()
            && r.arguments.iter().zip(generics).all(|(a, b)| match_argument(a, b, &env.params, &mut bound));
        let Some(arguments) = bound.into_iter().collect::<Option<Vec<Type>>>().filter(|_| fits) else { continue };
        if holds_here(cx, &env.requirements, &env.params, &arguments) {
            let primal = r.primal.map(|p| FunctionRef { function: p, generics: arguments.clone() });
            let function = FunctionRef { function: r.function, generics: arguments };
            let rule = Rule { function, wrt: r.wrt.clone(), kind: r.kind, differs: r.differs, primal, inherited: None };
            // A private derivative shadows a public derivative of the same mode and parameters, and a more constrained
            // derivative shadows a less constrained one.
            let serves_it = |old: &&Rule| old.wrt == rule.wrt && old.kind.mode() == rule.kind.mode();
            let same = rules.iter().position(|old: &Rule| serves_it(&old));
            let other = same.map(|at| (at, rules[at].function.function));
            match other {
                Some((at, _)) if r.visible_in.is_some() => rules[at] = rule,
                Some((at, old)) if is_more_constrained(cx, r.function, old) => rules[at] = rule,
                Some((_, old)) if is_more_constrained(cx, old, r.function) => {}
                _ => rules.push(rule),
            }
        }
    }
    rules
}

/// Whether one registered function is more constrained than another: the requirements of the first imply those of the
/// second, and not vice versa.
fn is_more_constrained(cx: &mut TypeContext, one: FunctionId, other: FunctionId) -> bool {
    one != other && implies(cx, one, other) && !implies(cx, other, one)
}

/// Whether the requirements on the generic parameters of one registered function imply those of another.
pub(crate) fn implies(cx: &mut TypeContext, one: FunctionId, other: FunctionId) -> bool {
    let (env, wanted) = (signature::signature(cx, one).env.clone(), signature::signature(cx, other).env.clone());
    if env.params.len() != wanted.params.len() {
        return false;
    }
    let arguments: Vec<Type> = env.params.iter().map(|p| Type::Param(*p)).collect();

    type_context::with_env(cx, env, |cx| holds_here(cx, &wanted.requirements, &wanted.params, &arguments))
}

/// Returns a requirement of the registered derivatives of a function that does not hold for its generic arguments;
/// `None` if a registered derivative applies.
pub(crate) fn unmet_by(cx: &mut TypeContext, of: &FunctionRef, view: Option<u32>) -> Option<String> {
    type_context::with_env(cx, Rc::default(), |cx| unmet_here(cx, of, view))
}

/// Returns a requirement of the registered derivatives that does not hold in the current generic environment, like
/// [`unmet_by`].
pub(crate) fn unmet_here(cx: &mut TypeContext, of: &FunctionRef, view: Option<u32>) -> Option<String> {
    let own = cx.defs.function_data(of.function).registered.clone();
    let visible = |r: &Registered| r.visible_in.is_none() || r.visible_in == view;
    let first = own.iter().find(|r| visible(r))?;
    if !applicable(cx, &own, &of.generics, view).is_empty() {
        return None;
    }
    let env = signature::signature(cx, first.function).env.clone();
    let mut bound: Vec<Option<Type>> = vec![None; env.params.len()];
    let fits = first.arguments.len() == of.generics.len()
        && first.arguments.iter().zip(&of.generics).all(|(a, b)| match_argument(a, b, &env.params, &mut bound));
    let arguments = bound.into_iter().collect::<Option<Vec<Type>>>().filter(|_| fits)?;
    let failing =
        env.requirements.iter().find(|r| !holds_here(cx, std::slice::from_ref(*r), &env.params, &arguments))?;
    Some(required(cx, failing))
}

/// Formats a requirement for a message.
pub(crate) fn required(cx: &TypeContext, requirement: &Requirement) -> String {
    match requirement {
        Requirement::Conforms(t, p) => {
            format!("'{}' conforms to '{}'", display::show(cx, t), cx.defs.protocol_data(*p).name)
        }
        Requirement::Same(a, b) => format!("'{}' is '{}'", display::show(cx, a), display::show(cx, b)),
        Requirement::Superclass(a, b) => format!("'{}' inherits from '{}'", display::show(cx, a), display::show(cx, b)),
    }
}

/// Whether requirements of a registered derivative hold for concrete generic arguments.
pub(crate) fn holds(
    cx: &mut TypeContext,
    requirements: &[Requirement],
    params: &[ParamId],
    arguments: &[Type],
) -> bool {
    type_context::with_env(cx, Rc::default(), |cx| holds_here(cx, requirements, params, arguments))
}

/// Whether requirements of a registered derivative hold in the current generic environment, like [`holds`].
pub(crate) fn holds_here(
    cx: &mut TypeContext,
    requirements: &[Requirement],
    params: &[ParamId],
    arguments: &[Type],
) -> bool {
    let put = |t: &Type| t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| arguments[i].clone()));
    requirements.iter().all(|requirement| match requirement {
        Requirement::Conforms(t, p) => {
            let t = associated_type::normalize_type(cx, &put(t));
            conformances::conforms_to(cx, &t, *p)
        }
        Requirement::Same(a, b) => {
            let (a, b) = (put(a), put(b));
            associated_type::normalize_type(cx, &a) == associated_type::normalize_type(cx, &b)
        }
        Requirement::Superclass(..) => true,
    })
}

/// Matches a generic argument of the original against its pattern in a registered derivative, and binds the
/// derivative's generic parameters.
fn match_argument(pattern: &Type, concrete: &Type, params: &[ParamId], bound: &mut [Option<Type>]) -> bool {
    match (pattern, concrete) {
        (Type::Param(p), _) => match params.iter().position(|q| q == p) {
            Some(i) => *bound[i].get_or_insert_with(|| concrete.clone()) == *concrete,
            None => false,
        },
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) => {
            m == n && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| match_argument(x, y, params, bound))
        }
        _ => pattern == concrete,
    }
}
