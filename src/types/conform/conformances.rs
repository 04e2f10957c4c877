//! Conformances: determines which types conform to which protocols, and under which conditions.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind, TypeExpr, TypeExprKind};
use crate::types::conform::asynchronous_sequence;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::generic_env;
use crate::types::generics::opaque_type;
use crate::types::generics::opened_existential;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::{Conformance, ConformanceMemo, Env, GroupId, Owner, Requirement};
use crate::types::model::display;
use crate::types::model::prelude_index;
use crate::types::model::queries;
use crate::types::model::syntax_query::without_attributes;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use hashbrown::HashSet;
use std::rc::Rc;

/// The number of elements up to which tuples conform to protocols: the prelude defines the witnesses for each size.
const LARGEST_TUPLE: usize = 8;

/// The protocols to which tuples conform if all their elements conform.
const OF_TUPLES: &[&str] =
    &["Differentiable", "Equatable", "Comparable", "Hashable", "AdditiveArithmetic", "Scalable", SCALABLE_VECTOR];

/// The protocol to which tuples conform if all their elements have the arithmetic of vectors, as numbers do, which do not
/// conform themselves.
const SCALABLE_VECTOR: &str = "ScalableVector";

/// Returns the protocols that a protocol refines, starting with the protocol itself.
pub(crate) fn refined(cx: &mut TypeContext, p: ProtocolId) -> Rc<[ProtocolId]> {
    if let Some(known) = &cx.defs.protocol_data(p).memo.refines {
        return known.clone();
    }
    crate::cancel::check();
    cx.defs.protocols[p.0 as usize].memo.refines = Some(Rc::from([p]));
    let (mut all, mut seen): (Vec<ProtocolId>, HashSet<ProtocolId>) = (vec![p], HashSet::from([p]));
    let (inherits, file) = (cx.defs.protocol_data(p).inherits.clone(), cx.defs.protocol_data(p).file);
    let scope = TypeScope::of(Owner::Protocol(p), file);
    cx.memo.refining.push(p);
    for ty in &inherits {
        for (bound, span) in type_expr::bounds(cx, ty, &scope) {
            let Ok(q) = bound else { continue };
            if cx.memo.refining.contains(&q) {
                refines_itself(cx, q, span);
            }
            all.extend(refined(cx, q).iter().filter(|r| seen.insert(**r)));
        }
    }
    cx.memo.refining.pop();
    let all: Rc<[ProtocolId]> = all.into();
    cx.defs.protocols[p.0 as usize].memo.refines = Some(all.clone());
    all
}

fn refines_itself(cx: &mut TypeContext, p: ProtocolId, span: Span) {
    let cycle: Vec<Name> = cx.memo.refining.iter().skip_while(|q| **q != p).map(|q| name_of(cx, *q)).collect();
    let message = format!("protocol '{}' refines itself", name_of(cx, p));
    let mut diagnostic = Diagnostic::error(Code::Inheritance, span, message);
    if cycle.len() > 1 {
        let others: Vec<String> = cycle.iter().skip(1).map(|name| format!("'{name}'")).collect();
        diagnostic = diagnostic.note(format!("through {}", others.join(" and ")));
    }
    cx.sink.report(diagnostic);
}

fn name_of(cx: &TypeContext, p: ProtocolId) -> Name {
    cx.defs.protocol_data(p).name.clone()
}

/// Returns the protocols to which a type is known to conform, including the protocols that these refine.
pub(crate) fn protocols_of(cx: &mut TypeContext, ty: &Type) -> Rc<[ProtocolId]> {
    let bases = match ty {
        Type::Associated(of, ..) => bases_with_protocols(cx, of),
        _ => vec![],
    };
    protocols_within(cx, ty, &bases)
}

/// Returns `T`, `T.A` and `T.A.B` for the associated type `T.A.B`, each with the protocols to which it is known to
/// conform. A type that is not an associated type is returned alone.
pub(crate) fn bases_with_protocols(cx: &mut TypeContext, ty: &Type) -> Vec<(Type, Rc<[ProtocolId]>)> {
    let mut bases = match ty {
        Type::Associated(of, ..) => bases_with_protocols(cx, of),
        _ => vec![],
    };
    let protocols = protocols_within(cx, ty, &bases);
    bases.push((ty.clone(), protocols));
    bases
}

/// Returns the protocols to which a type is known to conform; `bases` are the types on which an associated type
/// depends.
fn protocols_within(cx: &mut TypeContext, ty: &Type, bases: &[(Type, Rc<[ProtocolId]>)]) -> Rc<[ProtocolId]> {
    let mut direct: Vec<ProtocolId> = vec![];
    let env = cx.scope.env.clone();
    for requirement in &env.requirements {
        match requirement {
            Requirement::Conforms(of, p) if of == ty => direct.push(*p),
            // An instance of the class has the conformances of the class.
            Requirement::Superclass(of, Type::Nominal(class, _)) if of == ty => {
                direct.extend(declared_conformances(cx, *class));
            }
            _ => {}
        }
    }
    match ty {
        Type::Associated(_, p, name) => {
            direct.extend(associated_type::associated_bounds(cx, *p, name).iter());
            // Associated types with the same name are one type, even if several protocols declare them.
            for q in bases.last().iter().flat_map(|(_, protocols)| protocols.iter()).filter(|q| *q != p) {
                direct.extend(associated_type::associated_bounds(cx, *q, name).iter());
            }
            for (base, protocols) in bases {
                for q in protocols.iter().copied() {
                    let own = cx.defs.protocol_data(q).self_param;
                    let by = |t: &Type| t.substitute(&|x| (x == own).then(|| base.clone()));
                    let clauses = associated_type::protocol_clauses(cx, q);
                    direct.extend(clauses.conform.iter().filter(|(t, _)| by(t) == *ty).map(|(_, r)| *r));
                }
            }
        }
        Type::Existential(e) => {
            direct.extend(e.protocols.iter());
            if let Some(Type::Nominal(n, _)) = &e.class {
                direct.extend(declared_conformances(cx, *n));
            }
        }
        Type::Opaque(..) => direct.extend(opaque_type::protocols_of_opaque(cx, ty).iter()),
        Type::Var(v) => direct.extend(cx.vars.var(*v).conforms.iter().map(|constraint| constraint.protocol)),
        Type::Nominal(n, _) if direct.is_empty() => return declared_protocols(cx, *n),
        Type::Nominal(n, _) => direct.extend(declared_conformances(cx, *n)),
        Type::Tuple(_) => {
            for name in OF_TUPLES {
                let p = name_lookup::protocol(cx, name);
                if conforms_to(cx, ty, p) {
                    direct.push(p);
                }
            }
        }
        _ => {}
    }
    let mut all = all_refined(cx, direct);
    if matches!(ty, Type::Param(_) | Type::Associated(..)) {
        let more = associated_type::bounds_of_equals(cx, ty, &all);
        all.extend(more);
        all = all_refined(cx, all);
    }
    all.into()
}

/// Returns the protocols that a declared type conforms to, including those that they refine. They are queried at each
/// member and each operator; for a type without a superclass the list is memoized until the type gets further
/// conformances.
fn declared_protocols(cx: &mut TypeContext, n: NominalId) -> Rc<[ProtocolId]> {
    enter_conformances(cx, n);
    let data = cx.defs.nominal_data(n);
    let (count, has_superclass) = (data.conformances.len(), data.superclass.is_some());
    if let (Some((known_of, known)), false) = (&data.memo.protocols, has_superclass)
        && *known_of == count
    {
        return known.clone();
    }
    let direct = declared_conformances(cx, n);
    let all: Rc<[ProtocolId]> = all_refined(cx, direct).into();
    // While the refinements of a protocol are being computed, its list is incomplete.
    if cx.memo.refining.is_empty() && !has_superclass {
        cx.defs.nominal_data_mut(n).memo.protocols = Some((count, all.clone()));
    }
    all
}

/// Returns the given protocols and the protocols that they refine, each once.
pub(crate) fn all_refined(cx: &mut TypeContext, direct: Vec<ProtocolId>) -> Vec<ProtocolId> {
    // Whether each protocol, by its number, is in the list.
    let mut is_listed = vec![false; cx.defs.protocols.len()];
    let mut all = vec![];
    for p in direct {
        crate::cancel::check();
        let refined = refined(cx, p);
        is_listed.resize(cx.defs.protocols.len(), false);
        all.extend(refined.iter().filter(|q| !std::mem::replace(&mut is_listed[q.0 as usize], true)));
    }
    all
}

fn declared_conformances(cx: &mut TypeContext, n: NominalId) -> Vec<ProtocolId> {
    enter_conformances(cx, n);
    let mut out: Vec<ProtocolId> = cx.defs.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
    if let Some(Type::Nominal(base, _)) = cx.defs.nominal_data(n).superclass.clone() {
        out.extend(declared_conformances(cx, base));
    }
    out
}

/// Enters the conformances of the member groups of a type that were not entered yet.
pub(crate) fn enter_conformances(cx: &mut TypeContext, n: NominalId) {
    prelude::load_conformances(cx, n);
    let mut is_changed = false;
    // Entering a group may query conformances itself: the nested call sees the group as entered, and continues with the
    // next group.
    while let Some(group) = cx.defs.nominal_data(n).groups.get(cx.defs.nominal_data(n).memo.groups_entered).copied() {
        cx.defs.nominal_data_mut(n).memo.groups_entered += 1;
        is_changed = true;
        let (inherits, file) =
            (cx.defs.groups[group.0 as usize].inherits.clone(), cx.defs.groups[group.0 as usize].file);
        let own = cx.defs.nominal_data(n).group == group;
        let scope = TypeScope::of(Owner::Nominal(n), file);
        for ty in &inherits {
            let inner = without_attributes(ty);
            let env = env_of_inherited(cx, n, inner);
            type_context::with_env(cx, env, |cx| {
                for (bound, span) in type_expr::bounds(cx, inner, &scope) {
                    match bound {
                        Ok(p) => {
                            check_not_repeated(cx, n, p, group, span);
                            add_conformance(cx, n, p, group, span);
                        }
                        Err(ty) if own => set_base(cx, n, ty, span),
                        Err(ty) => inherits_no_protocol(cx, n, &ty, span),
                    }
                }
            });
        }
    }
    add_automatic_conformances(cx, n);
    if is_changed {
        asynchronous_sequence::add_safe_conformances(cx, n);
    }
    queries::continue_tangent_vector(cx, n);
}

/// Returns the generic environment of an inherited type. A protocol or a class without arguments depends on no
/// requirement, and requirements may themselves depend on the conformances that are being entered.
fn env_of_inherited(cx: &mut TypeContext, n: NominalId, ty: &TypeExpr) -> Rc<Env> {
    let is_name =
        matches!(&ty.kind, TypeExprKind::Named(path) if matches!(path.as_slice(), [(_, given)] if given.is_empty()));
    if is_name || cx.defs.nominal_data(n).params.is_empty() {
        return Rc::new(Env { params: cx.defs.nominal_data(n).params.clone(), ..Env::default() });
    }
    generic_env::nominal_env(cx, n)
}

/// Reports a conformance that is declared twice. At the prompt, an extension may be entered again.
fn check_not_repeated(cx: &mut TypeContext, n: NominalId, p: ProtocolId, group: GroupId, span: Span) {
    let data = cx.defs.nominal_data(n);
    let Some(known) = data.conformances.iter().find(|c| c.protocol == p) else { return };
    let is_shown = !cx.defs.groups[group.0 as usize].is_prelude && !data.is_prelude && !cx.module.is_interactive;
    let first = known.span;
    if is_shown && first != data.span && first != span {
        report_redundant(cx, n, p, [first, span]);
    }
}

fn report_redundant(cx: &mut TypeContext, n: NominalId, p: ProtocolId, [first, span]: [Span; 2]) {
    let (name, protocol) = (cx.defs.nominal_data(n).name.clone(), cx.defs.protocol_data(p).name.clone());
    let message = format!("redundant conformance of '{name}' to protocol '{protocol}'");
    let diagnostic = Diagnostic::error(Code::Inheritance, span, message);
    let text = format!("'{name}' declares conformance to protocol '{protocol}' here");
    cx.sink.report(diagnostic.note_at(first, text).help("remove it"));
}

/// Reports the conformances of an extension at the prompt that an earlier input declares with other requirements.
pub(crate) fn check_same_requirements(cx: &mut TypeContext, n: NominalId, group: GroupId) {
    let data = &cx.defs.groups[group.0 as usize];
    let (inherits, scope) = (data.inherits.clone(), TypeScope::of(Owner::Nominal(n), data.file));
    for ty in &inherits {
        for (bound, span) in type_expr::bounds(cx, without_attributes(ty), &scope) {
            let known = bound.ok().and_then(|p| cx.defs.nominal_data(n).conformances.iter().find(|c| c.protocol == p));
            let Some((p, earlier, first)) = known.map(|c| (c.protocol, c.group, c.span)) else { continue };
            if generic_env::has_other_requirements(cx, earlier, group) {
                report_redundant(cx, n, p, [first, span]);
            }
        }
    }
}

/// Reports an extension of a library type that declares a conformance to `Equatable`, `Hashable` or `Comparable` which
/// the library declares. Other repeated conformances are accepted: programs in the documents that the language is based
/// on declare them, while the library of dscript already has them.
pub(crate) fn check_not_in_library(cx: &mut TypeContext, n: NominalId, group: GroupId) {
    let data = &cx.defs.groups[group.0 as usize];
    let (inherits, scope) = (data.inherits.clone(), TypeScope::of(Owner::Nominal(n), data.file));
    for ty in &inherits {
        for (bound, span) in type_expr::bounds(cx, without_attributes(ty), &scope) {
            let Ok(p) = bound else { continue };
            let protocol = cx.defs.protocol_data(p).name.clone();
            let of_library: Vec<_> =
                cx.defs.nominal_data(n).conformances.iter().map(|c| (c.group, c.protocol)).collect();
            let is_known = of_library
                .into_iter()
                .any(|(g, q)| cx.defs.groups[g.0 as usize].is_prelude && refined(cx, q).contains(&p));
            if !is_known || cx.module.is_interactive || !matches!(&*protocol, "Equatable" | "Hashable" | "Comparable") {
                continue;
            }
            let name = cx.defs.nominal_data(n).name.clone();
            let message = format!("redundant conformance of '{name}' to protocol '{protocol}'");
            let diagnostic = Diagnostic::error(Code::Inheritance, span, message).help("remove it");
            cx.sink.report(diagnostic.note(format!("'{name}' conforms to protocol '{protocol}' in the library")));
        }
    }
}

fn set_base(cx: &mut TypeContext, n: NominalId, ty: Type, span: Span) {
    match cx.defs.nominal_data(n).kind {
        NominalKind::Class => superclass::set_superclass(cx, n, ty, span),
        NominalKind::Enum => {
            cx.defs.nominal_data_mut(n).raw_type = Some(ty);
            let (group, p) = (cx.defs.nominal_data(n).group, name_lookup::protocol(cx, "RawRepresentable"));
            add_conformance(cx, n, p, group, span);
        }
        NominalKind::Struct => inherits_no_protocol(cx, n, &ty, span),
    }
}

fn inherits_no_protocol(cx: &mut TypeContext, n: NominalId, ty: &Type, span: Span) {
    let message = format!("inheritance from non-protocol type '{}'", display::show(cx, ty));
    let help = match cx.defs.nominal_data(n).kind {
        NominalKind::Class => "name the superclass where the class is declared",
        NominalKind::Struct => "a struct can only conform to protocols; store a value of the other type in a property",
        NominalKind::Enum => "name the raw type where the enum is declared",
    };
    cx.sink.report(Diagnostic::error(Code::Types, span, message).help(help));
}

pub(crate) fn add_conformance(cx: &mut TypeContext, n: NominalId, p: ProtocolId, group: GroupId, span: Span) {
    let is_prelude = cx.defs.groups[group.0 as usize].is_prelude;
    let data = cx.defs.nominal_data_mut(n);
    if let Some(known) = data.conformances.iter_mut().find(|c| c.protocol == p) {
        if is_prelude && data.is_prelude {
            // A declaration of the library takes precedence over its repetition in an extension of the user.
            (known.group, known.span) = (group, span);
        }
        return;
    }
    data.conformances.push(Conformance { protocol: p, group, span, memo: ConformanceMemo::default() });
}

/// Adds the conformances of enums without payload, which are `Equatable` and `Hashable` implicitly.
fn add_automatic_conformances(cx: &mut TypeContext, n: NominalId) {
    let data = cx.defs.nominal_data(n);
    if data.kind != NominalKind::Enum || data.builtin.is_some() || data.memo.synthesized.contains(&"automatic") {
        return;
    }
    if data.cases.iter().any(|c| c.has_payload) || data.cases.is_empty() {
        return;
    }
    let (group, span) = (data.group, data.span);
    cx.defs.nominal_data_mut(n).memo.synthesized.push("automatic");
    let hashable = name_lookup::protocol(cx, "Hashable");
    add_conformance(cx, n, hashable, group, span);
}

/// Returns the index of the conformance by which a nominal type conforms to a protocol or to a protocol that refines
/// it.
pub(crate) fn find_conformance(cx: &mut TypeContext, n: NominalId, p: ProtocolId) -> Option<usize> {
    if is_excluded_by_library(cx, n, p) {
        return None;
    }
    enter_conformances(cx, n);
    if let Some(i) = cx.defs.nominal_data(n).conformances.iter().position(|c| c.protocol == p) {
        return Some(i);
    }
    if let Some(i) = find_refinement(cx, n, p) {
        return Some(i);
    }
    // A type that is its own tangent vector is scalable. This is known only once the tangent vector of the type is
    // known.
    if matches!(&*cx.defs.protocol_data(p).name, "Scalable" | "ScalableVector")
        && declares(cx, n, "Differentiable").is_some()
    {
        queries::synthesize_member(cx, n, "TangentVector", true);
        return find_refinement(cx, n, p);
    }
    None
}

/// Whether the index of the library shows that a built-in type does not conform to a protocol. Then none of the extensions
/// that declare the conformances of the type are entered.
fn is_excluded_by_library(cx: &TypeContext, n: NominalId, p: ProtocolId) -> bool {
    let (data, protocol) = (cx.defs.nominal_data(n), cx.defs.protocol_data(p));
    let is_declared_here = || {
        let groups = data.groups.iter().map(|group| &cx.defs.groups[group.0 as usize]);
        groups.filter(|group| !group.is_prelude).any(|group| !group.inherits.is_empty())
    };
    data.builtin.is_some()
        && protocol.is_prelude
        && !prelude_index::may_conform(&data.name, &protocol.name)
        && !is_declared_here()
}

/// Returns the index of a conformance to a protocol or to a protocol that refines it.
fn find_refinement(cx: &mut TypeContext, n: NominalId, p: ProtocolId) -> Option<usize> {
    let protocols: Vec<ProtocolId> = cx.defs.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
    protocols.into_iter().position(|q| refined(cx, q).contains(&p))
}

/// Whether a type conforms to a protocol in the current generic environment.
pub(crate) fn conforms_to(cx: &mut TypeContext, ty: &Type, p: ProtocolId) -> bool {
    crate::cancel::check();
    let ty = unification::shallow(cx, ty);
    match &*cx.defs.protocol_data(p).name {
        "_Keyed" => return true,
        // All code runs on one thread.
        "Sendable" if cx.defs.protocol_data(p).is_prelude => return true,
        "AnyObject" if cx.defs.protocol_data(p).is_prelude => return is_object(cx, &ty),
        _ => {}
    }
    match &ty {
        Type::Error | Type::Never => true,
        Type::Var(v) => cx.vars.var(*v).literal.is_none_or(|l| unification::literal_may_conform(cx, l, p)),
        Type::Param(_) | Type::Associated(..) | Type::Opaque(..) => protocols_of(cx, &ty).contains(&p),
        Type::Existential(_) => protocols_of(cx, &ty).contains(&p) && opened_existential::conforms_to_itself(cx, p),
        Type::Nominal(n, args) => nominal_conforms(cx, *n, args, p, &ty),
        Type::Tuple(parts) => {
            let name = cx.defs.protocol_data(p).name.clone();
            if !OF_TUPLES.contains(&&*name) || parts.len() > LARGEST_TUPLE {
                return false;
            }
            // The result of a function without a result is not a factor.
            if parts.is_empty() && &*name == SCALABLE_VECTOR {
                return false;
            }
            let required = match &*name {
                SCALABLE_VECTOR => ["AdditiveArithmetic", "Scalable"].map(|name| name_lookup::protocol(cx, name)),
                _ => [p, p],
            };
            parts.iter().all(|(_, t)| required.iter().all(|p| conforms_to(cx, t, *p)))
        }
        // The documents that the language is based on make an exception: a curried function may return a function.
        Type::Function(_) => &*cx.defs.protocol_data(p).name == "Differentiable",
        Type::Metatype(_) => false,
    }
}

/// Whether all values of a type are instances of classes.
pub(crate) fn is_object(cx: &mut TypeContext, ty: &Type) -> bool {
    match ty {
        Type::Nominal(n, _) => superclass::is_class(cx, *n),
        Type::Param(_) | Type::Associated(..) => {
            let inherits = |r: &Requirement| matches!(r, Requirement::Superclass(of, _) if of == ty);
            let p = name_lookup::protocol(cx, "AnyObject");
            cx.scope.env.requirements.iter().any(inherits) || protocols_of(cx, ty).contains(&p)
        }
        Type::Opaque(..) => {
            let p = name_lookup::protocol(cx, "AnyObject");
            existential::known_class(cx, ty).is_some() || protocols_of(cx, ty).contains(&p)
        }
        Type::Existential(e) => {
            let p = name_lookup::protocol(cx, "AnyObject");
            e.class.is_some() || protocols_of(cx, ty).contains(&p)
        }
        Type::Error | Type::Never | Type::Var(_) => true,
        Type::Tuple(_) | Type::Function(_) | Type::Metatype(_) => false,
    }
}

fn nominal_conforms(cx: &mut TypeContext, n: NominalId, args: &[Type], p: ProtocolId, ty: &Type) -> bool {
    let Some(i) = find_conformance(cx, n, p) else {
        return superclass::base_type(cx, n, args).is_some_and(|base| conforms_to(cx, &base, p));
    };
    let group = cx.defs.nominal_data(n).conformances[i].group;
    // A recursive type is assumed to conform while its parts are checked.
    if cx.memo.conforming.iter().any(|(t, q)| t == ty && *q == p) {
        return true;
    }
    cx.memo.conforming.push((ty.clone(), p));
    let holds = group_holds(cx, n, args, group);
    cx.memo.conforming.pop();
    holds
}

/// Whether the conditions of an extension hold for given arguments of the type.
pub(crate) fn group_holds(cx: &mut TypeContext, n: NominalId, args: &[Type], group: GroupId) -> bool {
    if cx.defs.groups[group.0 as usize].requirements.is_empty() {
        return true;
    }
    let env = generic_env::group_env(cx, group);
    let own = generic_env::nominal_env(cx, n);
    env.requirements.iter().filter(|r| !own.requirements.contains(r)).all(|r| {
        let put = r.map(&mut |t| substitute_nominal(cx, n, args, t));
        unmet_requirement::is_met(cx, &put)
    })
}

pub(crate) fn substitute_nominal(cx: &mut TypeContext, n: NominalId, args: &[Type], ty: &Type) -> Type {
    let params = &cx.defs.nominal_data(n).params;
    if params.is_empty() {
        return ty.clone();
    }
    let by = |p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
    ty.substitute(&by)
}

/// Requires a conditional conformance of a type with unknown arguments: its conditions become constraints on the
/// arguments.
pub(crate) fn require_conditional(
    cx: &mut TypeContext,
    n: NominalId,
    args: &[Type],
    p: ProtocolId,
    span: Span,
) -> bool {
    let Some(i) = find_conformance(cx, n, p) else { return false };
    let group = cx.defs.nominal_data(n).conformances[i].group;
    if cx.defs.groups[group.0 as usize].requirements.is_empty() {
        return true;
    }
    let (env, own) = (generic_env::group_env(cx, group), generic_env::nominal_env(cx, n));
    env.requirements.iter().filter(|r| !own.requirements.contains(r)).all(|r| match r {
        Requirement::Conforms(of, q) => {
            let of = substitute_nominal(cx, n, args, of);
            unification::require(cx, &of, *q, span)
        }
        Requirement::Same(a, b) => {
            let (a, b) = (substitute_nominal(cx, n, args, a), substitute_nominal(cx, n, args, b));
            unification::unify(cx, &a, &b, span)
        }
        Requirement::Superclass(..) => true,
    })
}

pub(crate) fn declares(cx: &mut TypeContext, n: NominalId, protocol: &'static str) -> Option<usize> {
    let p = name_lookup::visible_protocol(cx, protocol)?;
    find_conformance(cx, n, p)
}

/// Returns the group of members that declares a conformance, and the source location of the declaration.
pub(crate) fn declaration_site(cx: &TypeContext, n: NominalId, conformance: usize) -> (GroupId, Span) {
    let conformance = &cx.defs.nominal_data(n).conformances[conformance];
    (conformance.group, conformance.span)
}
