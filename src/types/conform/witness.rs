//! Witnesses: finds the function of a type that satisfies a requirement.

use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::conform::failable_witness;
use crate::types::conform::global_operator;
use crate::types::conform::rethrowing_function;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::{GroupId, MemberKind, Named, Requirement, RequirementKind, Signature};
use crate::types::model::queries;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

/// Returns the witness of a requirement for a concrete type. `generics` are the generic arguments of the requirement
/// itself.
pub(crate) fn find_witness(
    cx: &mut TypeContext,
    p: ProtocolId,
    requirement: u32,
    of: &Type,
    generics: &[Type],
) -> Option<FunctionRef> {
    let found = fitting_witness(cx, p, requirement, of, generics)?;
    let wanted = cx.defs.protocol_data(p).requirements[requirement as usize].function;
    (!throws_beyond(cx, found.function, wanted)).then_some(found)
}

/// Whether a function throws errors itself, while the requirement only rethrows.
pub(crate) fn throws_beyond(cx: &TypeContext, f: FunctionId, requirement: FunctionId) -> bool {
    let (wanted, given) = (cx.defs.function_data(requirement), cx.defs.function_data(f));
    wanted.rethrows && given.throws && !given.rethrows
}

fn fitting_witness(
    cx: &mut TypeContext,
    p: ProtocolId,
    requirement: u32,
    of: &Type,
    generics: &[Type],
) -> Option<FunctionRef> {
    let (function, base, kind, is_static) = {
        let data = &cx.defs.protocol_data(p).requirements[requirement as usize];
        (data.function, data.name.clone(), data.kind, data.is_static)
    };
    let of = unification::resolved(cx, of);
    let Type::Nominal(n, args) = &of else {
        let Type::Tuple(parts) = &of else { return None };
        if let Some(found) = tuple_witness(cx, &base, parts) {
            return Some(found);
        }
        let wanted = requirement_for(cx, function, p, &of);
        return default_witness(cx, p, &base, kind, is_static, &of, &wanted, generics);
    };
    conformances::enter_conformances(cx, *n);
    let wanted = requirement_for(cx, function, p, &of);
    let (declaring, its_args) = conforming_class(cx, *n, args, p);
    // In the signature of the requirement, `Self` is the class that declares the conformance.
    let there = match declaring == *n {
        true => wanted.clone(),
        false => requirement_for(cx, function, p, &Type::Nominal(declaring, its_args.clone())),
    };
    let mut class = Some((declaring, its_args));
    while let Some((n, args)) = class {
        queries::synthesize_member(cx, n, &base, is_static);
        prelude::load_own_members(cx, n, &base);
        let members = match &*base {
            "init" => {
                let mut all = queries::initializers(cx, n);
                all.extend(queries::default_init(cx, n));
                all
            }
            _ => cx.defs.nominal_data(n).members.get(&base).cloned().unwrap_or_default(),
        };
        for member in members {
            let is_constant = match &member.kind {
                MemberKind::Stored(i) => cx.defs.nominal_data(n).stored[*i as usize].is_let,
                MemberKind::Global(g) => cx.defs.globals[g.0 as usize].is_let,
                _ => false,
            };
            if is_constant && kind == RequirementKind::Setter {
                continue;
            }
            let found = match (&member.kind, kind) {
                (MemberKind::Stored(i), RequirementKind::Getter | RequirementKind::Setter) if !is_static => {
                    queries::stored_accessor(cx, n, *i, kind == RequirementKind::Setter)
                }
                (MemberKind::Global(g), RequirementKind::Getter) => queries::global_accessor(cx, *g),
                (MemberKind::Global(g), RequirementKind::Setter) => queries::global_setter(cx, *g),
                (MemberKind::Case(case), RequirementKind::Getter | RequirementKind::Method)
                    if is_static
                        && cx.defs.nominal_data(n).cases[*case as usize].has_payload
                            == (kind == RequirementKind::Method) =>
                {
                    queries::case_accessor(cx, n, *case)
                }
                (member, _) => match function_for(member, kind) {
                    Some(found) => found,
                    None => continue,
                },
            };
            if member.is_static != is_static || !conformances::group_holds(cx, n, &args, member.group) {
                continue;
            }
            let found = for_requirement(cx, found, &there);
            if let Some(own) = fits_requirement(cx, found, &args, &there, generics) {
                let generics = args.iter().cloned().chain(own).collect();
                return Some(FunctionRef { function: found, generics });
            }
        }
        if kind == RequirementKind::Method
            && let Some(found) = global_operator::global_witness(cx, n, &base, &there, generics)
        {
            return Some(found);
        }
        class = match superclass::base_type(cx, n, &args) {
            Some(Type::Nominal(b, a)) => Some((b, a)),
            _ => None,
        };
    }
    default_witness(cx, p, &base, kind, is_static, &of, &wanted, generics)
}

/// Returns the version of a function that can be a witness: the throwing version if the requirement may throw, the
/// failable version if only the requirement returns an optional, otherwise the function itself.
fn for_requirement(cx: &mut TypeContext, f: FunctionId, wanted: &Signature) -> FunctionId {
    let returns_optional = |cx: &mut TypeContext| {
        let own = signature::signature(cx, f);
        name_lookup::is_optional(cx, &own.result)
    };
    let version = match (wanted.throws, name_lookup::is_optional(cx, &wanted.result)) {
        (true, _) => rethrowing_function::throwing_version(cx, f),
        (false, true) if !returns_optional(cx) => failable_witness::failable_version(cx, f),
        (false, _) => None,
    };
    version.unwrap_or(f)
}

/// Returns the class that declares a conformance: members of a subclass are no witnesses, unless they override.
fn conforming_class(cx: &mut TypeContext, n: NominalId, args: &Rc<[Type]>, p: ProtocolId) -> (NominalId, Rc<[Type]>) {
    let mut at = (n, args.clone());
    while superclass::is_class(cx, at.0) && conformances::find_conformance(cx, at.0, p).is_none() {
        match superclass::base_type(cx, at.0, &at.1) {
            Some(Type::Nominal(base, of)) => at = (base, of),
            _ => return (n, args.clone()),
        }
    }
    at
}

/// Returns the signature of a requirement for a concrete `Self`.
pub(crate) fn requirement_for(cx: &mut TypeContext, function: FunctionId, p: ProtocolId, of: &Type) -> Signature {
    let signature = signature::signature(cx, function);
    let own = cx.defs.protocol_data(p).self_param;
    let mut map = |t: &Type| {
        let t = t.substitute(&|q| (q == own).then(|| of.clone()));
        associated_type::normalize_type(cx, &t)
    };
    let mut out = (*signature).clone();
    for param in &mut out.params {
        param.ty = map(&param.ty);
    }
    out.result = map(&out.result);
    out
}

/// Returns the generic arguments for which a function has the required signature, if such arguments exist.
pub(super) fn fits_requirement(
    cx: &mut TypeContext,
    f: FunctionId,
    args: &[Type],
    wanted: &Signature,
    generics: &[Type],
) -> Option<Vec<Type>> {
    let signature = signature::signature(cx, f);
    if signature.params.len() != wanted.params.len()
        || signature.self_inout && !wanted.self_inout
        || signature.throws && !wanted.throws
        || signature.params.iter().zip(&wanted.params).any(|(a, b)| a.label != b.label)
    {
        return None;
    }
    let snapshot = cx.vars.snapshot();
    let count = args.len().min(signature.env.params.len());
    let own: Vec<Type> = signature.env.params[count..].iter().map(|_| cx.vars.fresh()).collect();
    let params = signature.env.params.clone();
    let all: Vec<Type> = args[..count].iter().cloned().chain(own.iter().cloned()).collect();
    let substitute = |t: &Type| t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| all[i].clone()));
    // The requirement's own generic parameters represent the arguments of the call.
    let required_own: Vec<_> = wanted.env.params.iter().skip(1).copied().collect();
    let required =
        |t: &Type| t.substitute(&|p| required_own.iter().position(|q| *q == p).and_then(|i| generics.get(i).cloned()));
    let mut fits = true;
    for (a, b) in signature.params.iter().zip(&wanted.params) {
        let (have, want) = (substitute(&a.ty), required(&b.ty));
        fits = fits && unification::unify(cx, &have, &want, Span::default());
    }
    let (have, want) = (substitute(&signature.result), required(&wanted.result));
    fits = fits && (unification::unify(cx, &have, &want, Span::default()) || have == Type::Never);
    let own: Vec<Type> = own.iter().map(|t| unification::resolved(cx, t)).collect();
    cx.vars.rollback(snapshot);
    (fits && unmet_own_condition(cx, f, args).is_none()).then_some(own)
}

/// Returns the condition in the `where` clause of a member that the arguments of its generic type do not meet. Conditions on
/// the generic parameters of the member itself are not among them.
pub(crate) fn unmet_own_condition(cx: &mut TypeContext, f: FunctionId, args: &[Type]) -> Option<Requirement> {
    let (env, outer) = (signature::signature(cx, f).env.clone(), signature::function_outer_env(cx, f));
    let params: Vec<ParamId> = outer.params.iter().copied().take(args.len()).collect();
    env.requirements.iter().filter(|r| !outer.requirements.contains(r)).find_map(|r| {
        let mut is_of_type = true;
        let put = r.map(&mut |t| {
            is_of_type &= !t.any(&mut |part| matches!(part, Type::Param(p) if !params.contains(p)));
            t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| args[i].clone()))
        });
        (is_of_type && !unmet_requirement::is_met(cx, &put)).then_some(put)
    })
}

#[expect(clippy::too_many_arguments, reason = "what is known of the requirement")]
fn default_witness(
    cx: &mut TypeContext,
    p: ProtocolId,
    base: &str,
    kind: RequirementKind,
    is_static: bool,
    of: &Type,
    wanted: &Signature,
    generics: &[Type],
) -> Option<FunctionRef> {
    let mut protocols = conformances::protocols_of(cx, of).to_vec();
    if !protocols.contains(&p) {
        protocols.push(p);
    }
    // The best candidate has the most conditions; among candidates with equally many conditions, the candidate of the
    // most refined protocol is best.
    let mut best: Option<((usize, std::cmp::Reverse<u32>), FunctionRef)> = None;
    for q in protocols.clone() {
        let name = cx.defs.protocol_data(q).name.clone();
        prelude::load_extensions(cx, &name);
        prelude::load_members(cx, &name, base);
        let members = cx.defs.protocol_data(q).members.get(base).cloned().unwrap_or_default();
        let generality = if members.is_empty() { 0 } else { members::generality(cx, q, &protocols, base) };
        for member in members {
            let Some(found) = function_for(&member.kind, kind) else { continue };
            if member.is_static != is_static || !protocol_group_holds(cx, q, of, member.group) {
                continue;
            }
            let found = for_requirement(cx, found, wanted);
            let weight = (generic_env::group_env(cx, member.group).requirements.len(), std::cmp::Reverse(generality));
            if let Some(own) = fits_requirement(cx, found, std::slice::from_ref(of), wanted, generics)
                && best.as_ref().is_none_or(|(w, _)| weight > *w)
            {
                let generics = std::iter::once(of.clone()).chain(own).collect();
                best = Some((weight, FunctionRef { function: found, generics }));
            }
        }
    }
    best.map(|(_, f)| f)
}

/// Whether the conditions of a protocol's extension hold for a type.
pub(crate) fn protocol_group_holds(cx: &mut TypeContext, p: ProtocolId, of: &Type, group: GroupId) -> bool {
    let own = cx.defs.protocol_data(p).self_param;
    let env = generic_env::group_env(cx, group);
    env.requirements.iter().all(|r| match r {
        Requirement::Conforms(t, q) => {
            // An existential is opened for a member of the type of its value.
            let is_self = *t == Type::Param(own);
            let t = t.substitute(&|x| (x == own).then(|| of.clone()));
            if is_self { existential::can_erase(cx, &t, *q) } else { conformances::conforms_to(cx, &t, *q) }
        }
        Requirement::Same(..) | Requirement::Superclass(..) => {
            let put = r.map(&mut |t| t.substitute(&|x| (x == own).then(|| of.clone())));
            unmet_requirement::is_met(cx, &put)
        }
    })
}

/// Returns the function of the prelude that satisfies a requirement for tuples: `_tuple2_zero`, `_tuple3_plus`.
fn tuple_witness(cx: &mut TypeContext, base: &str, parts: &[(Option<Name>, Type)]) -> Option<FunctionRef> {
    let word = match base {
        "+" => "plus",
        "-" => "minus",
        "==" => "equal",
        "<" => "less",
        other => other,
    };
    let name = format!("_tuple{}_{word}", parts.len());
    let entry = prelude::library_entries(cx, &name).into_iter().find_map(|e| match e.what {
        Named::Function(f) => Some(f),
        _ => None,
    })?;
    Some(FunctionRef { function: entry, generics: parts.iter().map(|(_, t)| t.clone()).collect() })
}

/// Returns the function of a member that matches a requirement of the given kind, if the member has such a function.
fn function_for(member: &MemberKind, kind: RequirementKind) -> Option<FunctionId> {
    match (member, kind) {
        (MemberKind::Method(f), RequirementKind::Method)
        | (MemberKind::Init(f), RequirementKind::Init)
        | (MemberKind::Computed(f, _), RequirementKind::Getter)
        | (MemberKind::Computed(_, Some(f)), RequirementKind::Setter)
        | (MemberKind::Subscript(f, _), RequirementKind::SubscriptGetter)
        | (MemberKind::Subscript(_, Some(f)), RequirementKind::SubscriptSetter) => Some(*f),
        _ => None,
    }
}

pub(crate) fn own_generics(cx: &mut TypeContext, p: ProtocolId, r: u32) -> Vec<Type> {
    let f = cx.defs.protocol_data(p).requirements[r as usize].function;
    let signature = signature::signature(cx, f);
    signature.env.params.iter().skip(1).map(|q| Type::Param(*q)).collect()
}
