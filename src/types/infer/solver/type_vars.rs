//! Variables of inference: what is known of each, and making two types equal.

use crate::source::Span;
use crate::types::model::declared::Builtin;
use crate::types::model::tables::World;
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{FunctionParam, FunctionType, NominalId, ProtocolId, Type, VarId};
use std::rc::Rc;

/// What a literal can become.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) enum Literal {
    /// Any number.
    Int,
    /// A number with a point.
    Float,
    /// A text of one character.
    Text,
    /// A text of none or several, which is no character.
    Words,
}

impl Literal {
    fn is_text(self) -> bool {
        matches!(self, Literal::Text | Literal::Words)
    }

    /// The type that it has when nothing else says.
    pub(crate) fn usual(self) -> &'static str {
        match self {
            Literal::Int => "Int",
            Literal::Float => "Double",
            Literal::Text | Literal::Words => "String",
        }
    }
}

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarState {
    pub(crate) bound: Option<Type>,
    pub(crate) literal: Option<Literal>,
    /// Whether it takes part in arithmetic, so that it becomes `Double` when nothing else says.
    pub(crate) numeric: bool,
    pub(crate) conforms: Vec<Wish>,
}

/// A protocol that a type must conform to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) protocol: ProtocolId,
    /// Where it is asked for.
    pub(crate) span: Span,
    /// The function whose generic parameter it is.
    pub(crate) by: Option<FunctionId>,
}

/// One of the requirements of a function that is called: the function, and which one of its surroundings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    pub(crate) function: FunctionId,
    pub(crate) index: usize,
}

/// Two types that must be equal.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    pub(crate) left: Type,
    pub(crate) right: Type,
    pub(crate) span: Span,
    /// Who requires it, if anybody does.
    pub(crate) by: Option<Clause>,
}

/// A point to come back to.
pub(crate) struct Snapshot {
    trail: usize,
    equations: Vec<Equation>,
}

/// The variables and what waits for them.
#[derive(Clone, Default)]
pub(crate) struct Vars {
    states: Vec<VarState>,
    trail: Vec<(VarId, VarState)>,
    recording: u32,
    /// Equations with a `T.Name` whose `T` is not known yet.
    pub(crate) equations: Vec<Equation>,
    /// On whose behalf types are made equal at the moment.
    by: Option<Clause>,
}

impl World {
    pub(crate) fn fresh(&mut self) -> Type {
        self.vars.states.push(VarState::default());
        Type::Var(VarId(self.vars.states.len() as u32 - 1))
    }

    pub(crate) fn fresh_literal(&mut self, literal: Literal) -> Type {
        self.vars.states.push(VarState { literal: Some(literal), ..VarState::default() });
        Type::Var(VarId(self.vars.states.len() as u32 - 1))
    }

    pub(crate) fn var_count(&self) -> u32 {
        self.vars.states.len() as u32
    }

    pub(crate) fn var(&self, v: VarId) -> &VarState {
        &self.vars.states[v.0 as usize]
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.vars.recording += 1;
        Snapshot { trail: self.vars.trail.len(), equations: self.vars.equations.clone() }
    }

    pub(crate) fn rollback(&mut self, to: Snapshot) {
        while self.vars.trail.len() > to.trail {
            if let Some((v, state)) = self.vars.trail.pop() {
                self.vars.states[v.0 as usize] = state;
            }
        }
        self.vars.equations = to.equations;
        self.vars.recording -= 1;
    }

    pub(crate) fn keep(&mut self, to: Snapshot) {
        self.vars.recording -= 1;
        if self.vars.recording == 0 {
            self.vars.trail.clear();
        }
        drop(to);
    }

    pub(crate) fn set_var(&mut self, v: VarId, state: VarState) {
        let old = std::mem::replace(&mut self.vars.states[v.0 as usize], state);
        if self.vars.recording > 0 {
            self.vars.trail.push((v, old));
        }
    }

    pub(crate) fn mark_numeric(&mut self, ty: &Type) {
        if let Type::Var(v) = self.shallow(ty) {
            let state = VarState { numeric: true, ..self.var(v).clone() };
            self.set_var(v, state);
        }
    }

    /// What a type is known to be at its outside.
    pub(crate) fn shallow(&mut self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        loop {
            match &ty {
                Type::Var(v) => {
                    let known = self.shorten(*v);
                    if known == ty {
                        return ty;
                    }
                    ty = known;
                }
                Type::Associated(..) => {
                    let normal = self.normalize_type(&ty);
                    if normal == ty {
                        return ty;
                    }
                    ty = normal;
                }
                Type::Param(_) if !self.env.requirements.is_empty() => return self.normalize_type(&ty),
                Type::Opaque(..) if self.opaques.are_known => return self.normalize_type(&ty),
                _ => return ty,
            }
        }
    }

    /// What stands behind a variable: the last of the variables that are equal to it, or what that one is known to be. The
    /// variables on the way remember it, or a sum of many literals would be walked along for each of them.
    fn shorten(&mut self, v: VarId) -> Type {
        let known = self.behind(v).cloned().unwrap_or(Type::Var(v));
        let mut at = v;
        while let Some(Type::Var(next)) = self.var(at).bound {
            if Type::Var(next) == known {
                break;
            }
            let state = VarState { bound: Some(known.clone()), ..self.var(at).clone() };
            self.set_var(at, state);
            at = next;
        }
        known
    }

    fn behind(&self, v: VarId) -> Option<&Type> {
        let mut found = self.var(v).bound.as_ref()?;
        while let Type::Var(next) = found
            && let Some(bound) = &self.var(*next).bound
        {
            found = bound;
        }
        Some(found)
    }

    /// The type with every known variable replaced.
    pub(crate) fn zonk(&self, ty: &Type) -> Type {
        ty.map(&mut |t| match t {
            Type::Var(v) => self.behind(*v).map(|b| self.zonk(b)),
            _ => None,
        })
    }

    /// The type with every known variable replaced and every member type looked up.
    pub(crate) fn resolved(&mut self, ty: &Type) -> Type {
        let ty = self.zonk(ty);
        self.normalize_type(&ty)
    }

    pub(crate) fn has_vars(&mut self, ty: &Type) -> bool {
        self.zonk(ty).any(&mut |t| matches!(t, Type::Var(_)))
    }

    pub(crate) fn show_var(&self, v: VarId) -> String {
        match (self.var(v).literal, self.var(v).numeric) {
            (Some(Literal::Int), _) => "Int".into(),
            (Some(Literal::Float), _) | (None, true) => "Double".into(),
            (Some(Literal::Text | Literal::Words), _) => "String".into(),
            (None, false) => "_".into(),
        }
    }

    /// Makes two types equal; `false` when they cannot be.
    pub(crate) fn unify(&mut self, a: &Type, b: &Type, span: Span) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Var(x), Type::Var(y)) if x == y => true,
            (Type::Var(x), Type::Var(y)) => self.join(*x, *y),
            (Type::Var(_), Type::Associated(..)) | (Type::Associated(..), Type::Var(_))
                if self.has_vars(&a) && self.has_vars(&b) =>
            {
                self.put_off(a, b, span);
                true
            }
            (Type::Var(v), other) | (other, Type::Var(v)) => self.bind(*v, other, span),
            (Type::Associated(..), _) | (_, Type::Associated(..)) => {
                if a == b {
                    return true;
                }
                if self.has_vars(&a) || self.has_vars(&b) {
                    self.put_off(a, b, span);
                    return true;
                }
                self.resolved(&a) == self.resolved(&b)
            }
            (Type::Nominal(m, xs), Type::Nominal(n, ys)) => {
                m == n && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| self.unify(x, y, span))
            }
            (Type::Opaque(x, xs), Type::Opaque(y, ys)) => {
                x == y && xs.iter().zip(ys.iter()).all(|(x, y)| self.unify(x, y, span))
            }
            (Type::Tuple(xs), Type::Tuple(ys)) => {
                xs.len() == ys.len()
                    && xs
                        .iter()
                        .zip(ys.iter())
                        .all(|((l, x), (m, y))| (l == m || l.is_none() || m.is_none()) && self.unify(x, y, span))
            }
            (Type::Function(f), Type::Function(g)) => self.unify_functions(f, g, span),
            (Type::Metatype(x), Type::Metatype(y)) => self.unify(x, y, span),
            (Type::Existential(x), Type::Existential(y)) => self.unify_existentials(x, y, span),
            _ => a == b,
        }
    }

    /// Keeps an equation until more is known.
    fn put_off(&mut self, left: Type, right: Type, span: Span) {
        let by = self.vars.by;
        self.vars.equations.push(Equation { left, right, span, by });
    }

    /// Makes two types equal because a function that is called requires it.
    pub(crate) fn unify_by(&mut self, a: &Type, b: &Type, span: Span, by: Option<Clause>) -> bool {
        let around = std::mem::replace(&mut self.vars.by, by);
        let same = self.unify(a, b, span);
        self.vars.by = around;
        same
    }

    fn unify_functions(&mut self, f: &FunctionType, g: &FunctionType, span: Span) -> bool {
        let same = |p: &FunctionParam, q: &FunctionParam| p.is_inout == q.is_inout;
        f.params.len() == g.params.len()
            && f.params.iter().zip(&g.params).all(|(p, q)| same(p, q) && self.unify(&p.ty, &q.ty, span))
            && self.unify(&f.result, &g.result, span)
    }

    fn join(&mut self, x: VarId, y: VarId) -> bool {
        let (a, b) = (self.var(x).clone(), self.var(y).clone());
        let literal = match (a.literal, b.literal) {
            (Some(p), Some(q)) if p.is_text() != q.is_text() => return false,
            (p, q) => p.max(q),
        };
        let mut conforms = a.conforms;
        for wish in b.conforms {
            if !conforms.iter().any(|w| w.protocol == wish.protocol) {
                conforms.push(wish);
            }
        }
        if literal.is_some_and(|l| conforms.iter().any(|w| !self.literal_may_conform(l, w.protocol))) {
            return false;
        }
        self.set_var(y, VarState { bound: None, literal, numeric: a.numeric || b.numeric, conforms });
        self.set_var(x, VarState { bound: Some(Type::Var(y)), ..VarState::default() });
        true
    }

    fn bind(&mut self, v: VarId, ty: &Type, span: Span) -> bool {
        if self.refuse_large(ty, span) {
            let state = VarState { bound: Some(Type::Error), ..self.var(v).clone() };
            self.set_var(v, state);
            return true;
        }
        let ty = self.zonk(ty);
        if ty.any(&mut |t| *t == Type::Var(v)) {
            // `T == T.TangentVector` says something about `T` only when it is known.
            let waits = matches!(ty, Type::Associated(..));
            if waits {
                self.put_off(ty, Type::Var(v), span);
            }
            return waits;
        }
        let state = self.var(v).clone();
        if state.literal.is_some_and(|l| !self.accepts_literal(&ty, l)) {
            return false;
        }
        self.set_var(v, VarState { bound: Some(ty.clone()), ..state.clone() });
        state.conforms.iter().all(|wish| {
            let span = if wish.span == Span::default() { span } else { wish.span };
            self.require_by(&ty, Wish { span, ..*wish })
        })
    }

    /// Whether a literal can be of a type.
    pub(crate) fn accepts_literal(&mut self, ty: &Type, literal: Literal) -> bool {
        if let Type::Nominal(n, _) = ty {
            match (self.nominal_data(*n).builtin, literal) {
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
        let protocol = match literal {
            Literal::Int => "ExpressibleByIntegerLiteral",
            Literal::Float => "ExpressibleByFloatLiteral",
            Literal::Text | Literal::Words => "ExpressibleByStringLiteral",
        };
        let protocol = self.protocol(protocol);
        self.conforms_to(ty, protocol)
    }

    /// Whether some type that a literal can be of conforms to a protocol.
    pub(crate) fn literal_may_conform(&mut self, literal: Literal, protocol: ProtocolId) -> bool {
        let builtin: &[&'static str] = match literal {
            Literal::Int => &["Int", "Double"],
            Literal::Float => &["Double"],
            Literal::Text => &["String", "Character"],
            Literal::Words => &["String"],
        };
        for name in builtin {
            let ty = self.simple(name);
            if self.conforms_to(&ty, protocol) {
                return true;
            }
        }
        (0..self.nominals.len() as u32).any(|n| {
            let ty = self.declared_type(NominalId(n));
            self.conforms_to(&ty, protocol) && self.accepts_literal(&ty, literal)
        })
    }

    /// Requires a conformance: at once when the type is known, later when it is a variable.
    pub(crate) fn require(&mut self, ty: &Type, protocol: ProtocolId, span: Span) -> bool {
        self.require_by(ty, Wish { protocol, span, by: None })
    }

    pub(crate) fn require_by(&mut self, ty: &Type, wish: Wish) -> bool {
        match self.shallow(ty) {
            Type::Var(v) => {
                let mut state = self.var(v).clone();
                if !state.conforms.iter().any(|w| w.protocol == wish.protocol) {
                    if state.literal.is_some_and(|l| !self.literal_may_conform(l, wish.protocol)) {
                        return false;
                    }
                    state.conforms.push(wish);
                    self.set_var(v, state);
                }
                true
            }
            Type::Associated(..) if self.has_vars(ty) => true,
            Type::Nominal(n, args) if args.iter().any(|t| self.has_vars(t)) => {
                self.require_conditional(n, &args, wish.protocol, wish.span)
            }
            Type::Tuple(parts) if parts.iter().any(|(_, t)| self.has_vars(t)) => {
                parts.iter().all(|(_, t)| self.require_by(t, wish))
            }
            known => self.fulfils(&known, &wish),
        }
    }

    /// Whether a known type is what is wished for.
    pub(crate) fn fulfils(&mut self, ty: &Type, wish: &Wish) -> bool {
        // A function may give a function back, and an operator has no tangent for that: what it captured moves, too.
        let by_operator = || wish.by.is_some_and(|f| self.function_data(f).is_prelude);
        if matches!(ty, Type::Function(_)) && by_operator() {
            return false;
        }
        self.conforms_to(ty, wish.protocol)
            || matches!(ty, Type::Existential(e)
                if wish.by.is_some_and(|f| self.opens_for(f, wish.protocol, e))
                    && self.protocols_of(ty).contains(&wish.protocol))
    }

    /// Makes two types equal, or changes nothing.
    pub(crate) fn try_unify(&mut self, a: &Type, b: &Type, span: Span) -> bool {
        let snapshot = self.snapshot();
        let same = self.unify(a, b, span);
        if same {
            self.keep(snapshot)
        } else {
            self.rollback(snapshot)
        }
        same
    }

    /// Whether two types may be the same. Changes nothing.
    pub(crate) fn unifies(&mut self, a: &Type, b: &Type) -> bool {
        let snapshot = self.snapshot();
        let same = self.unify(a, b, Span::default());
        self.rollback(snapshot);
        same
    }

    /// Tries again the equations that waited; whether one of them could be used. A contradiction is given back.
    pub(crate) fn retry_equations(&mut self) -> Result<bool, Equation> {
        let waiting = std::mem::take(&mut self.vars.equations);
        let before = waiting.len();
        for Equation { left, right, span, by } in waiting {
            let (left, right) = (self.resolved(&left), self.resolved(&right));
            let snapshot = self.snapshot();
            if !self.unify_by(&left, &right, span, by) {
                self.rollback(snapshot);
                return Err(Equation { left, right, span, by });
            }
            self.keep(snapshot);
        }
        Ok(self.vars.equations.len() < before)
    }

    /// `T.TangentVector == Float` gives `T` = `Float` when nothing else says; `of_literals`, only where `T` is the type of a
    /// literal.
    pub(crate) fn guess_equation(&mut self, of_literals: bool) -> bool {
        let mut waiting = self.vars.equations.clone();
        if of_literals {
            let of_literal = |ty: &Type| match ty {
                Type::Associated(of, ..) => {
                    matches!(self.zonk(of), Type::Var(v) if self.var(v).literal.is_some())
                }
                _ => false,
            };
            waiting.retain(|equation| of_literal(&equation.left) || of_literal(&equation.right));
        }
        for Equation { left, right, span, .. } in waiting {
            for (one, other) in [(&left, &right), (&right, &left)] {
                let (one, other) = (self.resolved(one), self.resolved(other));
                if let Type::Associated(of, protocol, name) = &one
                    && let Type::Var(v) = self.shallow(of)
                    && (!of_literals || self.var(v).literal.is_some())
                {
                    let own = Type::Associated(Rc::new(other.clone()), *protocol, name.clone());
                    if !matches!(other, Type::Var(_))
                        && self.normalize_type(&own) == other
                        && self.bind(v, &other, span)
                    {
                        return true;
                    }
                }
            }
        }
        false
    }
}
