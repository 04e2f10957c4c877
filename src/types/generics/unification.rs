//! Unification: resolves type variables, and unifies types.

use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::opened_existential;
use crate::types::generics::type_size;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::ty::{FunctionParam, FunctionType, NominalId, ProtocolId, Type, VarId};
use crate::types::model::type_context::TypeContext;
use crate::types::model::type_vars;
use crate::types::model::type_vars::AssociatedConstraint;
use crate::types::model::type_vars::Clause;
use crate::types::model::type_vars::ConformanceConstraint;
use crate::types::model::type_vars::Equation;
use crate::types::model::type_vars::Literal;
use crate::types::model::type_vars::VarState;
use crate::types::names::name_lookup;
use std::rc::Rc;

pub(crate) fn mark_numeric(cx: &mut TypeContext, ty: &Type) {
    if let Type::Var(v) = shallow(cx, ty) {
        let state = VarState { numeric: true, ..cx.vars.var(v).clone() };
        cx.vars.set_var(v, state);
    }
}

/// Resolves the outermost type constructor of a type.
pub(crate) fn shallow(cx: &mut TypeContext, ty: &Type) -> Type {
    let mut ty = ty.clone();
    loop {
        match &ty {
            Type::Var(v) => {
                let known = cx.vars.compress_path(*v);
                if known == ty {
                    return ty;
                }
                ty = known;
            }
            Type::Associated(..) => {
                let normal = associated_type::normalize_type(cx, &ty);
                if normal == ty {
                    return ty;
                }
                ty = normal;
            }
            Type::Param(_) if !cx.scope.env.requirements.is_empty() => return associated_type::normalize_type(cx, &ty),
            Type::Opaque(..) if cx.module.reveals_opaque_types => return associated_type::normalize_type(cx, &ty),
            _ => return ty,
        }
    }
}

/// Replaces all bound variables in a type and resolves its associated types.
pub(crate) fn resolved(cx: &mut TypeContext, ty: &Type) -> Type {
    let ty = type_vars::zonk(cx, ty);
    associated_type::normalize_type(cx, &ty)
}

pub(crate) fn has_vars(cx: &mut TypeContext, ty: &Type) -> bool {
    type_vars::zonk(cx, ty).any(&mut |t| matches!(t, Type::Var(_)))
}

/// Unifies two types; returns `false` if the types cannot be unified.
pub(crate) fn unify(cx: &mut TypeContext, a: &Type, b: &Type, span: Span) -> bool {
    let (a, b) = (shallow(cx, a), shallow(cx, b));
    match (&a, &b) {
        (Type::Error, _) | (_, Type::Error) => true,
        (Type::Var(x), Type::Var(y)) if x == y => true,
        (Type::Var(x), Type::Var(y)) => join(cx, *x, *y),
        (Type::Var(_), Type::Associated(..)) | (Type::Associated(..), Type::Var(_))
            if has_vars(cx, &a) && has_vars(cx, &b) =>
        {
            cx.vars.defer_equation(a, b, span);
            true
        }
        (Type::Var(v), other) | (other, Type::Var(v)) => bind(cx, *v, other, span),
        (Type::Associated(..), _) | (_, Type::Associated(..)) => {
            if a == b {
                return true;
            }
            // The associated type of a generic parameter is no type of the program, whatever the arguments of that are.
            let is_fixed = |cx: &mut TypeContext, ty: &Type| matches!(ty, Type::Associated(..)) && !has_vars(cx, ty);
            let is_nominal = |ty: &Type| matches!(ty, Type::Nominal(..));
            if is_fixed(cx, &a) && is_nominal(&b) || is_fixed(cx, &b) && is_nominal(&a) {
                return resolved(cx, &a) == resolved(cx, &b);
            }
            if has_vars(cx, &a) || has_vars(cx, &b) {
                cx.vars.defer_equation(a, b, span);
                return true;
            }
            resolved(cx, &a) == resolved(cx, &b)
        }
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) => {
            m == n && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| unify(cx, x, y, span))
        }
        (Type::Opaque(x, xs), Type::Opaque(y, ys)) => {
            x == y && xs.iter().zip(ys.iter()).all(|(x, y)| unify(cx, x, y, span))
        }
        (Type::Tuple(xs), Type::Tuple(ys)) => {
            xs.len() == ys.len()
                && xs
                    .iter()
                    .zip(ys.iter())
                    .all(|((l, x), (m, y))| (l == m || l.is_none() || m.is_none()) && unify(cx, x, y, span))
        }
        (Type::Function(f), Type::Function(g)) => unify_functions(cx, f, g, span),
        (Type::Metatype(x), Type::Metatype(y)) => unify(cx, x, y, span),
        (Type::Existential(x), Type::Existential(y)) => existential::unify_existentials(cx, x, y, span),
        _ => a == b,
    }
}

/// Unifies two types because a requirement of a called function states their equality.
pub(crate) fn unify_by(cx: &mut TypeContext, a: &Type, b: &Type, span: Span, by: Option<Clause>) -> bool {
    let outer = std::mem::replace(&mut cx.vars.by, by);
    let same = unify(cx, a, b, span);
    cx.vars.by = outer;
    same
}

fn unify_functions(cx: &mut TypeContext, f: &FunctionType, g: &FunctionType, span: Span) -> bool {
    let same = |p: &FunctionParam, q: &FunctionParam| p.is_inout == q.is_inout;
    f.params.len() == g.params.len()
        && f.params.iter().zip(&g.params).all(|(p, q)| same(p, q) && unify(cx, &p.ty, &q.ty, span))
        && unify(cx, &f.result, &g.result, span)
}

fn join(cx: &mut TypeContext, x: VarId, y: VarId) -> bool {
    let (a, b) = (cx.vars.var(x).clone(), cx.vars.var(y).clone());
    let literal = match (a.literal, b.literal) {
        (Some(p), Some(q)) if p.is_text() != q.is_text() => return false,
        (p, q) => p.max(q),
    };
    let mut conforms = a.conforms;
    for constraint in b.conforms {
        if !conforms.iter().any(|w| w.protocol == constraint.protocol) {
            conforms.push(constraint);
        }
    }
    if literal.is_some_and(|l| conforms.iter().any(|w| !literal_may_conform(cx, l, w.protocol))) {
        return false;
    }
    // A literal that precedes a closure determines the type of the closure's parameter.
    let follows = |v: VarId, of_literal: bool, literal: VarId| of_literal && literal.0 < v.0;
    let is_parameter =
        a.is_parameter && !follows(x, b.literal.is_some(), y) || b.is_parameter && !follows(y, a.literal.is_some(), x);
    let numeric = a.numeric || b.numeric;
    let is_empty_literal = a.is_empty_literal || b.is_empty_literal;
    let associated = [a.associated, b.associated].concat();
    let joined = VarState { bound: None, literal, numeric, is_parameter, is_empty_literal, conforms, associated };
    cx.vars.set_var(y, joined);
    cx.vars.set_var(x, VarState { bound: Some(Type::Var(y)), ..VarState::default() });
    true
}

fn bind(cx: &mut TypeContext, v: VarId, ty: &Type, span: Span) -> bool {
    if type_size::refuse_large(cx, ty, span) {
        let state = VarState { bound: Some(Type::Error), ..cx.vars.var(v).clone() };
        cx.vars.set_var(v, state);
        return true;
    }
    let ty = type_vars::zonk(cx, ty);
    if ty.any(&mut |t| *t == Type::Var(v)) {
        // The occurs check excludes infinite types; `T == T.TangentVector` is deferred until `T` is known.
        let waits = matches!(ty, Type::Associated(..));
        if waits {
            cx.vars.defer_equation(ty, Type::Var(v), span);
        }
        return waits;
    }
    let state = cx.vars.var(v).clone();
    if state.literal.is_some_and(|l| !accepts_literal(cx, &ty, l)) {
        return false;
    }
    cx.vars.set_var(v, VarState { bound: Some(ty.clone()), ..state.clone() });
    state.conforms.iter().all(|constraint| {
        let span = if constraint.span == Span::default() { span } else { constraint.span };
        require_by(cx, &ty, ConformanceConstraint { span, ..*constraint })
    }) && state.associated.into_iter().all(|AssociatedConstraint { of, name, constraint }| {
        let associated = Type::Associated(Rc::new(ty.clone()), of, name);
        let associated = associated_type::normalize_type(cx, &associated);
        require_by(cx, &associated, constraint)
    })
}

/// Whether a literal can have a given type.
pub(crate) fn accepts_literal(cx: &mut TypeContext, ty: &Type, literal: Literal) -> bool {
    if let Type::Nominal(n, _) = ty {
        match (cx.defs.nominal_data(*n).builtin, literal) {
            (Some(Builtin::Double | Builtin::Float), Literal::Int | Literal::Float)
            | (Some(Builtin::Int { .. }), Literal::Int)
            | (Some(Builtin::String | Builtin::Character), Literal::Text)
            | (Some(Builtin::String), Literal::Words) => return true,
            (Some(_), _) => return false,
            (None, _) => {}
        }
    }
    if *ty == Type::Never {
        return false;
    }
    let protocol = name_lookup::protocol(cx, literal.protocol());
    conformances::conforms_to(cx, ty, protocol)
}

/// Constrains the generic arguments of a type to which a literal is converted: if the conformance of `Tensor<T>` to a
/// literal protocol requires that of `T`, the literal determines the default of `T`.
pub(crate) fn constrain_by_literal(cx: &mut TypeContext, ty: &Type, literal: Literal) {
    if !matches!(ty, Type::Nominal(..)) || !has_vars(cx, ty) {
        return;
    }
    let protocol = name_lookup::protocol(cx, literal.protocol());
    require(cx, ty, protocol, Span::default());
    let mut open = vec![];
    type_vars::zonk(cx, ty).any(&mut |t| {
        open.extend(if let Type::Var(v) = t { Some(*v) } else { None });
        false
    });
    for v in open {
        let state = cx.vars.var(v).clone();
        if state.literal.is_none_or(|known| known.is_text() == literal.is_text())
            && state.conforms.iter().any(|constraint| constraint.protocol == protocol)
        {
            cx.vars.set_var(v, VarState { literal: state.literal.max(Some(literal)), ..state });
        }
    }
}

/// Whether a type that a literal can have conforms to a protocol.
pub(crate) fn literal_may_conform(cx: &mut TypeContext, literal: Literal, protocol: ProtocolId) -> bool {
    let builtin: &[&'static str] = match literal {
        Literal::Int => &["Int", "Double"],
        Literal::Float => &["Double"],
        Literal::Text => &["String", "Character"],
        Literal::Words => &["String"],
    };
    for name in builtin {
        let ty = name_lookup::simple(cx, name);
        if conformances::conforms_to(cx, &ty, protocol) {
            return true;
        }
    }
    (0..cx.defs.nominals.len() as u32).any(|n| {
        let ty = cx.defs.declared_type(NominalId(n));
        conformances::conforms_to(cx, &ty, protocol) && accepts_literal(cx, &ty, literal)
    })
}

/// Requires the conformance of a type: the conformance of a known type is checked at once, that of a type variable
/// later.
pub(crate) fn require(cx: &mut TypeContext, ty: &Type, protocol: ProtocolId, span: Span) -> bool {
    require_by(cx, ty, ConformanceConstraint { protocol, span, by: None })
}

pub(crate) fn require_by(cx: &mut TypeContext, ty: &Type, constraint: ConformanceConstraint) -> bool {
    match shallow(cx, ty) {
        Type::Var(v) => {
            let mut state = cx.vars.var(v).clone();
            if !state.conforms.iter().any(|w| w.protocol == constraint.protocol) {
                if state.literal.is_some_and(|l| !literal_may_conform(cx, l, constraint.protocol)) {
                    return false;
                }
                state.conforms.push(constraint);
                cx.vars.set_var(v, state);
            }
            true
        }
        Type::Associated(of, p, name) if has_vars(cx, ty) => {
            if let Type::Var(v) = shallow(cx, &of)
                && cx.vars.var(v).literal == Some(Literal::Int)
            {
                let mut state = cx.vars.var(v).clone();
                state.associated.push(AssociatedConstraint { of: p, name, constraint });
                cx.vars.set_var(v, state);
            }
            true
        }
        Type::Nominal(n, args) if args.iter().any(|t| has_vars(cx, t)) => {
            conformances::require_conditional(cx, n, &args, constraint.protocol, constraint.span)
        }
        Type::Tuple(parts) if parts.iter().any(|(_, t)| has_vars(cx, t)) => {
            let known = Type::Tuple(parts.clone());
            conformances::conforms_to(cx, &known, constraint.protocol)
                && parts.iter().all(|(_, t)| require_by(cx, t, constraint))
        }
        known => satisfies(cx, &known, &constraint),
    }
}

/// Whether a known type satisfies a conformance constraint.
pub(crate) fn satisfies(cx: &mut TypeContext, ty: &Type, constraint: &ConformanceConstraint) -> bool {
    // A differentiated function may return a function, but the operators of the library have no tangent for functions,
    // because captured values vary as well.
    let by_operator = || constraint.by.is_some_and(|f| cx.defs.function_data(f).is_prelude);
    if matches!(ty, Type::Function(_)) && by_operator() {
        return false;
    }
    conformances::conforms_to(cx, ty, constraint.protocol)
        || matches!(ty, Type::Existential(e)
            if constraint.by.is_some_and(|f| opened_existential::opens_for(cx, f, constraint.protocol, e))
                && conformances::protocols_of(cx, ty).contains(&constraint.protocol))
}

/// Unifies two types, or leaves the type variables unchanged.
pub(crate) fn try_unify(cx: &mut TypeContext, a: &Type, b: &Type, span: Span) -> bool {
    let snapshot = cx.vars.snapshot();
    let same = unify(cx, a, b, span);
    if same {
        cx.vars.keep(snapshot)
    } else {
        cx.vars.rollback(snapshot)
    }
    same
}

/// Whether two types can be unified. Leaves the type variables unchanged.
pub(crate) fn unifies(cx: &mut TypeContext, a: &Type, b: &Type) -> bool {
    let snapshot = cx.vars.snapshot();
    let same = unify(cx, a, b, Span::default());
    cx.vars.rollback(snapshot);
    same
}

/// Retries the deferred equations; returns whether an equation could be solved; fails with an equation that does not
/// hold.
pub(crate) fn retry_equations(cx: &mut TypeContext) -> Result<bool, Equation> {
    let waiting = std::mem::take(&mut cx.vars.equations);
    let before = waiting.len();
    for Equation { left, right, span, by } in waiting {
        let (left, right) = (resolved(cx, &left), resolved(cx, &right));
        let snapshot = cx.vars.snapshot();
        if !unify_by(cx, &left, &right, span, by) {
            cx.vars.rollback(snapshot);
            return Err(Equation { left, right, span, by });
        }
        cx.vars.keep(snapshot);
    }
    Ok(cx.vars.equations.len() < before)
}

/// Guesses from `T.TangentVector == Float` that `T` is `Float` if nothing else determines it; with `of_literals`, only
/// where `T` is the type of a literal.
pub(crate) fn guess_equation(cx: &mut TypeContext, of_literals: bool) -> bool {
    guess(cx, &|cx, v| !of_literals || cx.vars.var(v).literal.is_some())
}

/// Guesses from `T.TangentVector == Float` that `T` is `Float`, if the type variable of `T` is `wanted`.
pub(crate) fn guess_variable(cx: &mut TypeContext, wanted: VarId) -> bool {
    guess(cx, &|_, v| v == wanted)
}

fn guess(cx: &mut TypeContext, may_guess: &dyn Fn(&TypeContext, VarId) -> bool) -> bool {
    let variable = |cx: &TypeContext, ty: &Type| match ty {
        Type::Associated(of, ..) => match type_vars::zonk(cx, of) {
            Type::Var(v) => may_guess(cx, v),
            _ => false,
        },
        _ => false,
    };
    let mut waiting = cx.vars.equations.clone();
    waiting.retain(|equation| variable(cx, &equation.left) || variable(cx, &equation.right));
    for Equation { left, right, span, .. } in waiting {
        for (one, other) in [(&left, &right), (&right, &left)] {
            let (one, other) = (resolved(cx, one), resolved(cx, other));
            if let Type::Associated(of, protocol, name) = &one
                && let Type::Var(v) = shallow(cx, of)
                && may_guess(cx, v)
            {
                let own = Type::Associated(Rc::new(other.clone()), *protocol, name.clone());
                if !matches!(other, Type::Var(_)) && associated_type::normalize_type(cx, &own) == other {
                    let snapshot = cx.vars.snapshot();
                    if bind(cx, v, &other, span) {
                        cx.vars.keep(snapshot);
                        return true;
                    }
                    cx.vars.rollback(snapshot);
                }
            }
        }
    }
    false
}
