//! Associated types: resolves `T.Name` by the generic environment, the clauses of protocols and conformances.

use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::existential;
use crate::types::generics::existential::known_type;
use crate::types::generics::generic_env;
use crate::types::generics::opaque_type;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Clauses, MemberKind, Owner, Requirement, Signature};
use crate::types::model::queries;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::names::type_alias;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use std::cmp::Reverse;
use std::rc::Rc;

/// Returns the protocols that the bound of an associated type names, without the protocols that these refine.
pub(crate) fn associated_bounds(cx: &mut TypeContext, p: ProtocolId, name: &str) -> Rc<[ProtocolId]> {
    let Some(i) = cx.defs.protocol_data(p).associated.iter().position(|a| &*a.name == name) else {
        return Rc::from([]);
    };
    if let Some(known) = &cx.defs.protocol_data(p).associated[i].memo.bounds {
        return known.clone();
    }
    cx.defs.protocols[p.0 as usize].associated[i].memo.bounds = Some(Rc::from([]));
    let bound = cx.defs.protocol_data(p).associated[i].bound.clone();
    let scope = TypeScope::of(Owner::Protocol(p), cx.defs.protocol_data(p).file);
    let mut out = vec![];
    if let Some(bound) = bound {
        out.extend(type_expr::bounds(cx, &bound, &scope).into_iter().filter_map(|(bound, _)| bound.ok()));
    }
    let out: Rc<[ProtocolId]> = out.into();
    cx.defs.protocols[p.0 as usize].associated[i].memo.bounds = Some(out.clone());
    out
}

/// Resolves every associated type `T.Name` in a type as far as possible.
pub(crate) fn normalize_type(cx: &mut TypeContext, ty: &Type) -> Type {
    match ty {
        Type::Associated(of, p, name) => {
            let of = normalize_type(cx, of);
            let of = if let Type::Var(_) = of { unification::shallow(cx, &of) } else { of };
            if let Some(known) = known_type(&of, name).or_else(|| opaque_type::known_of_opaque(cx, &of, name)) {
                return known;
            }
            let here = Type::Associated(Rc::new(of.clone()), *p, name.clone());
            if let Some(same) = same_as(cx, &here) {
                return same;
            }
            if let Type::Associated(base, q, _) = &of
                && let Some(same) = protocol_equal(cx, *q, base, &here)
                && same != here
            {
                return normalize_type(cx, &same);
            }
            let mut here = here;
            if matches!(of, Type::Param(_) | Type::Associated(..) | Type::Existential(_) | Type::Opaque(..)) {
                let bases = conformances::bases_with_protocols(cx, &of);
                let protocols = bases.last().map_or(&[][..], |(_, protocols)| protocols);
                if let Some(first) = first_declaring(cx, protocols, name).filter(|q| q != p) {
                    here = Type::Associated(Rc::new(of.clone()), first, name.clone());
                    if let Some(same) = same_as(cx, &here) {
                        return same;
                    }
                }
                for (base, protocols) in bases {
                    for q in protocols.iter().copied() {
                        if let Some(same) = protocol_equal(cx, q, &base, &here)
                            && same != here
                        {
                            return normalize_type(cx, &same);
                        }
                    }
                }
            }
            match &of {
                // The tangent vector of a tangent vector is the vector itself.
                Type::Associated(_, q, inner) if p == q && name == inner && &**name == "TangentVector" => of,
                Type::Nominal(n, args) => {
                    let args = args.clone();
                    type_witness(cx, *n, &args, *p, name).unwrap_or(here)
                }
                Type::Tuple(parts) if &**name == "TangentVector" => {
                    let part = |t: &Type| Type::Associated(Rc::new(t.clone()), *p, name.clone());
                    let parts: Vec<_> = parts.iter().map(|(l, t)| (l.clone(), part(t))).collect();
                    Type::Tuple(parts.into_iter().map(|(l, t)| (l, normalize_type(cx, &t))).collect())
                }
                Type::Function(_) if &**name == "TangentVector" => Type::unit(),
                // The exact associated type is unknown; its constraints are known.
                Type::Existential(e) if &**name != "TangentVector" => existential::forgotten(cx, &e.clone(), *p, name),
                Type::Error => Type::Error,
                Type::Never => Type::Never,
                _ => here,
            }
        }
        Type::Param(_) => same_as(cx, ty).unwrap_or_else(|| ty.clone()),
        Type::Opaque(id, args) if cx.module.reveals_opaque_types => opaque_type::underlying_type(cx, *id, args),
        Type::Nominal(_, args) if args.is_empty() => ty.clone(),
        Type::Existential(e) if e.types().next().is_none() => ty.clone(),
        Type::Var(_) | Type::Never | Type::Error => ty.clone(),
        _ => {
            let mut first = true;
            ty.map(&mut |t| {
                if std::mem::replace(&mut first, false) { None } else { Some(normalize_type(cx, t)) }
            })
        }
    }
}

/// Returns the protocol that represents all of the given protocols that declare an associated type: associated types
/// with the same name are one type. A protocol that declares the type again is represented by the protocol that it
/// refines, whose clauses name the type.
fn first_declaring(cx: &mut TypeContext, protocols: &[ProtocolId], name: &str) -> Option<ProtocolId> {
    let declares = |q: &ProtocolId| cx.defs.protocol_data(*q).associated.iter().any(|a| &*a.name == name);
    let all: Vec<ProtocolId> = protocols.iter().copied().filter(declares).collect();
    let mut original = all.clone();
    if all.len() > 1 {
        original.retain(|q| conformances::refined(cx, *q).iter().all(|r| r == q || !all.contains(r)));
    }
    original.into_iter().min()
}

/// Returns the type that the `where` clauses of a protocol declare equal to `here`, which is an associated type of
/// `of`.
fn protocol_equal(cx: &mut TypeContext, p: ProtocolId, of: &Type, here: &Type) -> Option<Type> {
    let own = cx.defs.protocol_data(p).self_param;
    let clauses = protocol_clauses(cx, p);
    let by = |t: &Type| t.substitute(&|q| (q == own).then(|| of.clone()));
    clauses.equal.iter().find_map(|(a, b)| {
        let (a, b) = (by(a), by(b));
        let (rank_a, rank_b) = (associated_depth(&a), associated_depth(&b));
        // Rewriting is always towards the shorter name, to guarantee termination.
        if a == *here && rank_b <= rank_a {
            Some(b)
        } else if b == *here && rank_a < rank_b {
            Some(a)
        } else {
            None
        }
    })
}

/// Returns the conditions in the `where` clauses of a protocol, in terms of the protocol's `Self`.
pub(crate) fn protocol_clauses(cx: &mut TypeContext, p: ProtocolId) -> Rc<Clauses> {
    if let Some(known) = &cx.defs.protocol_data(p).memo.clauses {
        return known.clone();
    }
    cx.defs.protocols[p.0 as usize].memo.clauses = Some(Rc::default());
    let data = cx.defs.protocol_data(p);
    let clauses: Vec<_> =
        data.associated.iter().flat_map(|a| a.requirements.iter()).chain(&data.requirement_clauses).cloned().collect();
    let (group, file) = (data.group, data.file);
    let env = generic_env::group_env(cx, group);
    let before = env.requirements.len();
    let mut env = (*env).clone();
    generic_env::add_requirements(cx, &mut env, &clauses, &TypeScope::of(Owner::Protocol(p), file));
    let mut out = Clauses::default();
    for requirement in env.requirements.drain(before..) {
        match requirement {
            Requirement::Same(a, b) if a != b => out.equal.push((a, b)),
            Requirement::Conforms(ty, q) => out.conform.push((ty, q)),
            Requirement::Same(..) | Requirement::Superclass(..) => {}
        }
    }
    let out = Rc::new(out);
    cx.defs.protocols[p.0 as usize].memo.clauses = Some(out.clone());
    out
}

/// Returns the protocols to which a type conforms because it is equal to a `T.Name` with a bound: `T ==
/// T.TangentVector`.
pub(crate) fn bounds_of_equals(cx: &mut TypeContext, ty: &Type, known: &[ProtocolId]) -> Vec<ProtocolId> {
    let mut equal = vec![];
    let env = cx.scope.env.clone();
    for requirement in &env.requirements {
        if let Requirement::Same(a, b) = requirement {
            equal.push((a.clone(), b.clone()));
        }
    }
    for p in known {
        let own = cx.defs.protocol_data(*p).self_param;
        let by = |t: &Type| t.substitute(&|q| (q == own).then(|| ty.clone()));
        equal.extend(protocol_clauses(cx, *p).equal.iter().map(|(a, b)| (by(a), by(b))));
    }
    let mut bounds = vec![];
    for (a, b) in equal {
        for (one, other) in [(&a, &b), (&b, &a)] {
            if let Type::Associated(_, p, name) = one
                && other == ty
            {
                bounds.extend(associated_bounds(cx, *p, name).iter());
                bounds.extend(env.requirements.iter().filter_map(|r| match r {
                    Requirement::Conforms(of, p) if of == one => Some(*p),
                    _ => None,
                }));
            }
        }
    }
    bounds
}

/// Returns the type by which the generic environment replaces a type to which it declares other types equal: the known
/// type, or else the one with the shortest name, the last of several. Equal types have the same replacement.
fn same_as(cx: &mut TypeContext, ty: &Type) -> Option<Type> {
    let env = cx.scope.env.clone();
    let pairs = || {
        env.requirements.iter().filter_map(|requirement| match requirement {
            Requirement::Same(a, b) => Some((a, b)),
            Requirement::Conforms(..) | Requirement::Superclass(..) => None,
        })
    };
    if !pairs().any(|(a, b)| a == ty || b == ty) {
        return None;
    }
    let mut equal = vec![ty];
    let mut count = 0;
    while count < equal.len() {
        count = equal.len();
        for (a, b) in pairs() {
            for (one, other) in [(a, b), (b, a)] {
                if is_variable(one) && equal.contains(&one) && !equal.contains(&other) {
                    equal.push(other);
                }
            }
        }
    }
    let place =
        |ty: &Type| pairs().flat_map(|(a, b)| [a, b]).enumerate().filter(|(_, of)| *of == ty).last().map(|(i, _)| i);
    let known = equal.iter().copied().find(|ty| !is_variable(ty));
    let shortest = || equal.iter().copied().min_by_key(|ty| (associated_depth(ty), Reverse(place(ty))));
    known.or_else(shortest).filter(|same| *same != ty).cloned()
}

/// Whether a type stands for another type that requirements determine.
pub(super) fn is_variable(ty: &Type) -> bool {
    matches!(ty, Type::Param(_) | Type::Associated(..))
}

/// Returns `T.Name` for an associated type of a protocol to which `T` conforms.
pub(crate) fn associated_type(cx: &mut TypeContext, of: &Type, name: &str) -> Option<Type> {
    let of = unification::shallow(cx, of);
    let mut protocols = conformances::protocols_of(cx, &of).to_vec();
    if matches!(of, Type::Var(_) | Type::Tuple(_) | Type::Function(_)) && name == "TangentVector" {
        protocols.push(name_lookup::protocol(cx, "Differentiable"));
    }
    let p = protocols.into_iter().find(|p| cx.defs.protocol_data(*p).associated.iter().any(|a| &*a.name == name))?;
    let ty = Type::Associated(Rc::new(of), p, name.into());
    Some(normalize_type(cx, &ty))
}

/// Returns the type that a conformance supplies for an associated type.
fn type_witness(cx: &mut TypeContext, n: NominalId, args: &[Type], p: ProtocolId, name: &Name) -> Option<Type> {
    let owner = owner_of_associated(cx, p, name)?;
    let Some(i) = conformances::find_conformance(cx, n, owner) else {
        let base = superclass::base_type(cx, n, args)?;
        let ty = Type::Associated(Rc::new(base), p, name.clone());
        let normal = normalize_type(cx, &ty);
        return (normal != ty).then_some(normal);
    };
    let known = cx.defs.nominal_data(n).conformances[i].memo.type_witnesses.get(name).cloned();
    let found = match known {
        Some(found) => found,
        None => {
            // The entry is set first, to terminate a recursive lookup.
            cx.defs.nominal_data_mut(n).conformances[i].memo.type_witnesses.insert(name.clone(), Type::Error);
            let found = find_type_witness(cx, n, i, owner, name);
            match found {
                Some(found) => {
                    cx.defs.nominal_data_mut(n).conformances[i].memo.type_witnesses.insert(name.clone(), found.clone());
                    found
                }
                None => {
                    cx.defs.nominal_data_mut(n).conformances[i].memo.type_witnesses.remove(name);
                    return None;
                }
            }
        }
    };
    let found = conformances::substitute_nominal(cx, n, args, &found);
    Some(normalize_type(cx, &found))
}

fn owner_of_associated(cx: &mut TypeContext, p: ProtocolId, name: &str) -> Option<ProtocolId> {
    let refined = conformances::refined(cx, p);
    first_declaring(cx, &refined, name)
}

fn find_type_witness(
    cx: &mut TypeContext,
    n: NominalId,
    conformance: usize,
    p: ProtocolId,
    name: &Name,
) -> Option<Type> {
    let group = cx.defs.nominal_data(n).conformances[conformance].group;
    let env = generic_env::group_env(cx, group);
    type_context::with_env(cx, env, |cx| {
        let declared = cx.defs.declared_type(n);
        let Type::Nominal(_, args) = &declared else { return None };
        let mut found = name_lookup::own_member_type(cx, n, args, name);
        let data = cx.defs.nominal_data(n);
        let (outer, own) = data.params.split_at(data.params.len() - data.own_params);
        let parameter = |params: &[ParamId]| {
            params.iter().rev().find(|q| cx.defs.params[q.0 as usize].name == *name).map(|q| Type::Param(*q))
        };
        let (own, outer) = (parameter(own), parameter(outer));
        found = found.or(own);
        if found.is_none() && &**name == "TangentVector" {
            found = fixed_by_clauses(cx, n, p, &declared, name);
        }
        if found.is_none() && &**name == "TangentVector" {
            found = queries::synthesize_tangent_vector(cx, n);
        }
        if found.is_none() && &**name == "RawValue" {
            found = cx.defs.nominal_data(n).raw_type.clone();
        }
        if found.is_none() {
            if &**name == "VectorSpaceScalar" {
                queries::synthesize_member(cx, n, "adding", false);
            }
            found = infer_associated(cx, n, p, name);
        }
        if found.is_none() {
            found = equal_by_clauses(cx, n, p, &declared, name);
        }
        // A parameter of an enclosing type counts only if the members do not determine the type.
        found = found.or(outer);
        if found.is_none() {
            found = alias_of_protocols(cx, n, &declared, name);
        }
        if found.is_none() {
            let default =
                cx.defs.protocol_data(p).associated.iter().find(|a| a.name == *name).and_then(|a| a.default.clone());
            if let Some(default) = default {
                let scope = TypeScope::of(Owner::Nominal(n), cx.defs.protocol_data(p).file);
                found = Some(type_expr::resolve_type(cx, &default, &scope));
            }
        }
        found
    })
}

/// Returns the protocols that a nominal type declares conformance to, and the protocols that these refine.
pub(crate) fn all_conforming(cx: &mut TypeContext, n: NominalId) -> Vec<ProtocolId> {
    let conforming = cx.defs.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
    conformances::all_refined(cx, conforming)
}

/// Returns the types that `where` clauses of protocols declare equal to an associated type of a conforming type.
fn equal_types(cx: &mut TypeContext, n: NominalId, wanted: &Type, declared: &Type) -> Vec<Type> {
    let mut equal = vec![];
    for q in all_conforming(cx, n) {
        let own = cx.defs.protocol_data(q).self_param;
        let by = |t: &Type| t.substitute(&|x| (x == own).then(|| declared.clone()));
        for (a, b) in &protocol_clauses(cx, q).equal {
            match (by(a), by(b)) {
                (a, b) if a == *wanted && b != *wanted => equal.push(b),
                (a, b) if a != *wanted && b == *wanted => equal.push(a),
                _ => {}
            }
        }
    }
    equal
}

/// Resolves an associated type by a `where` clause that declares it equal to a type that is known from another source:
/// the element type of a sequence is that of its iterator.
fn equal_by_clauses(cx: &mut TypeContext, n: NominalId, p: ProtocolId, declared: &Type, name: &Name) -> Option<Type> {
    let wanted = Type::Associated(Rc::new(declared.clone()), p, name.clone());
    equal_types(cx, n, &wanted, declared).into_iter().find_map(|other| {
        let found = normalize_type(cx, &other);
        let is_known = found != other || !depends_on_conformance(&other);
        (is_known && !found.any(&mut |t| *t == wanted || *t == Type::Error)).then_some(found)
    })
}

/// Resolves an associated type by a `where` clause that declares it equal to a type that depends on no conformance.
fn fixed_by_clauses(cx: &mut TypeContext, n: NominalId, p: ProtocolId, declared: &Type, name: &Name) -> Option<Type> {
    let wanted = Type::Associated(Rc::new(declared.clone()), p, name.clone());
    equal_types(cx, n, &wanted, declared).into_iter().find(|other| !depends_on_conformance(other) && other != declared)
}

fn depends_on_conformance(ty: &Type) -> bool {
    ty.any(&mut |t| matches!(t, Type::Associated(..)))
}

/// Resolves an associated type by a `typealias` in an extension of a protocol that the type conforms to.
fn alias_of_protocols(cx: &mut TypeContext, n: NominalId, declared: &Type, name: &Name) -> Option<Type> {
    for q in all_conforming(cx, n) {
        let protocol = cx.defs.protocol_data(q).name.clone();
        prelude::load_extensions(cx, &protocol);
        prelude::load_members(cx, &protocol, name);
        let own = cx.defs.protocol_data(q).self_param;
        let members = cx.defs.protocol_data(q).members.get(name);
        let alias = members.into_iter().flatten().find_map(|m| match m.kind {
            MemberKind::Alias(alias) => Some(alias),
            _ => None,
        });
        if let Some(alias) = alias {
            let meant = type_alias::resolve_alias(cx, alias).substitute(&|p| (p == own).then(|| declared.clone()));
            return Some(normalize_type(cx, &meant));
        }
    }
    None
}

/// Infers an associated type from the witnesses of requirements that mention it: first from the members of the type,
/// then from members in extensions of protocols. The requirements of other protocols count if they mention an associated
/// type with the same name.
fn infer_associated(cx: &mut TypeContext, n: NominalId, p: ProtocolId, name: &Name) -> Option<Type> {
    let mut protocols = vec![p];
    protocols.extend(all_conforming(cx, n).into_iter().filter(|q| *q != p));
    let mut requirements = vec![];
    for protocol in protocols {
        let Some(declaring) = owner_of_associated(cx, protocol, name) else { continue };
        let own = Type::Param(cx.defs.protocol_data(protocol).self_param);
        let wanted = Type::Associated(Rc::new(own), declaring, name.clone());
        for r in 0..cx.defs.protocol_data(protocol).requirements.len() {
            let (function, base) = {
                let data = &cx.defs.protocol_data(protocol).requirements[r];
                (data.function, data.name.clone())
            };
            let required = signature::signature(cx, function);
            let mentions = |t: &Type| t.any(&mut |t| *t == wanted);
            if required.params.iter().any(|q| mentions(&q.ty)) || mentions(&required.result) {
                requirements.push((required, wanted.clone(), base));
            }
        }
    }
    let own = requirements.iter().find_map(|(required, wanted, base)| infer_by_own(cx, n, required, wanted, base));
    own.or_else(|| {
        requirements.iter().find_map(|(required, wanted, base)| infer_by_default(cx, n, required, wanted, base))
    })
}

/// Infers `wanted` from the type's own member that satisfies a requirement.
fn infer_by_own(cx: &mut TypeContext, n: NominalId, required: &Signature, wanted: &Type, base: &Name) -> Option<Type> {
    prelude::load_own_members(cx, n, base);
    let candidates = cx.defs.nominal_data(n).members.get(base).cloned().unwrap_or_default();
    candidates.into_iter().find_map(|member| match member.kind {
        MemberKind::Stored(i) => match_type(&required.result, wanted, &queries::stored_type(cx, n, i)),
        MemberKind::Global(g) => match_type(&required.result, wanted, &queries::global_type(cx, g)),
        MemberKind::Case(case) => {
            let accessor = queries::case_accessor(cx, n, case);
            match_signature(required, wanted, &signature::signature(cx, accessor))
        }
        kind => {
            let given = signature::signature(cx, function_of(kind)?);
            match_signature(required, wanted, &given)
        }
    })
}

/// Infers `wanted` from a member in an extension of a protocol that satisfies a requirement. Conditions of the
/// extension on types other than `Self` are ignored, because these types may still have to be inferred.
fn infer_by_default(
    cx: &mut TypeContext,
    n: NominalId,
    required: &Signature,
    wanted: &Type,
    base: &Name,
) -> Option<Type> {
    let declared = cx.defs.declared_type(n);
    for q in all_conforming(cx, n) {
        let protocol = cx.defs.protocol_data(q).name.clone();
        prelude::load_extensions(cx, &protocol);
        prelude::load_members(cx, &protocol, base);
        let own = cx.defs.protocol_data(q).self_param;
        let members = cx.defs.protocol_data(q).members.get(base).cloned().unwrap_or_default();
        for member in members {
            let Some(function) = function_of(member.kind) else { continue };
            let given = signature::signature(cx, function);
            let asks_more = given.env.requirements.iter().any(|r| match r {
                Requirement::Conforms(of, constraint) if *of == Type::Param(own) => {
                    !conformances::conforms_to(cx, &declared, *constraint)
                }
                _ => false,
            });
            if asks_more {
                continue;
            }
            if let Some(found) = match_signature(required, wanted, &given) {
                let found = found.substitute(&|x| (x == own).then(|| declared.clone()));
                let found = normalize_type(cx, &found);
                // A member whose own type is the associated type does not determine it.
                if !found.any(&mut |ty| *ty == Type::Error) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// Returns the function that implements a member, if the member is implemented by a function.
fn function_of(member: MemberKind) -> Option<FunctionId> {
    match member {
        MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
            Some(f)
        }
        _ => None,
    }
}

/// Returns the number of names in an associated type `T.A.B`; 0 for other types.
fn associated_depth(ty: &Type) -> usize {
    match ty {
        Type::Associated(of, ..) => 1 + associated_depth(of),
        _ => 0,
    }
}

/// Whether a type may match a type in a requirement, judged by their nominal types only.
fn may_be(pattern: &Type, ty: &Type) -> bool {
    match (pattern, ty) {
        (_, Type::Error) | (Type::Param(_) | Type::Associated(..), _) => true,
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) => m == n && xs.iter().zip(ys.iter()).all(|(x, y)| may_be(x, y)),
        (Type::Nominal(..), _) => false,
        _ => true,
    }
}

/// Returns the type that corresponds to the associated type `wanted` if a requirement is matched with a function.
fn match_signature(required: &Signature, wanted: &Type, given: &Signature) -> Option<Type> {
    let same_labels = given.params.len() == required.params.len()
        && given.params.iter().zip(&required.params).all(|(a, b)| a.label == b.label);
    if !same_labels {
        return None;
    }
    let pairs = required.params.iter().zip(&given.params).map(|(a, b)| (&a.ty, &b.ty));
    if !pairs.clone().all(|(pattern, ty)| may_be(pattern, ty)) {
        return None;
    }
    pairs.chain([(&required.result, &given.result)]).find_map(|(pattern, ty)| match_type(pattern, wanted, ty))
}

/// Returns the type that corresponds to the associated type `wanted` if the type `pattern` is matched with a type.
fn match_type(pattern: &Type, wanted: &Type, ty: &Type) -> Option<Type> {
    if pattern == wanted {
        return Some(ty.clone());
    }
    match (pattern, ty) {
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) if m == n => {
            xs.iter().zip(ys.iter()).find_map(|(x, y)| match_type(x, wanted, y))
        }
        (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() => {
            xs.iter().zip(ys.iter()).find_map(|((_, x), (_, y))| match_type(x, wanted, y))
        }
        (Type::Function(f), Type::Function(g)) if f.params.len() == g.params.len() => f
            .params
            .iter()
            .zip(&g.params)
            .find_map(|(p, q)| match_type(&p.ty, wanted, &q.ty))
            .or_else(|| match_type(&f.result, wanted, &g.result)),
        _ => None,
    }
}
