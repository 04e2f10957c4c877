//! Defaulting: chooses the types of literals and numbers that nothing constrains.

use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::solver::pending_expression::{Pending, PendingKind};
use crate::types::model::ty::{Type, VarId};
use crate::types::model::type_context::TypeContext;
use crate::types::model::type_vars;
use crate::types::model::type_vars::ConformanceConstraint;
use crate::types::model::type_vars::{Literal, VarState};
use crate::types::model::typed_tree::Argument;
use crate::types::names::name_lookup;
use hashbrown::HashSet;

impl Infer<'_> {
    /// Binds one untyped operand of arithmetic to `Double`. Results of pending expressions are skipped, since their
    /// types are still open.
    pub(crate) fn default_operands(&mut self, vars: u32) -> bool {
        let open = |cx: &TypeContext, v: &u32| {
            let state = cx.vars.var(VarId(*v));
            state.bound.is_none() && state.literal.is_none() && state.numeric
        };
        let operands: Vec<u32> = (vars..self.cx.vars.var_count()).filter(|v| open(self.cx, v)).collect();
        if operands.is_empty() {
            return false;
        }
        let waiting = self.pending_results();
        let mut results: HashSet<VarId> = HashSet::new();
        for mut ty in waiting {
            // The value that a pending closure returns follows from the types of its parameters.
            if let Type::Function(f) = unification::shallow(self.cx, &ty) {
                ty = f.result.clone();
            }
            // An unknown value may also be the payload of an optional result, as in `first!`.
            while let Some(payload) = name_lookup::optional_payload(self.cx, &ty) {
                ty = payload;
            }
            if let Type::Var(v) = unification::shallow(self.cx, &ty) {
                results.insert(v);
            }
        }
        let free = operands.into_iter().map(VarId).find(|v| !results.contains(v));
        if let Some(v) = free {
            self.default_var(v);
        }
        free.is_some()
    }

    /// Binds literals to their default types when nothing else can be resolved. Type variables that determine the types
    /// of other variables are bound first, then literals with a decimal point and string literals, since they may make
    /// other literals `Double`s.
    pub(crate) fn default_literals(&mut self, vars: u32) -> bool {
        let early: &[Literal] = &[Literal::Float, Literal::Text, Literal::Words];
        for kinds in [early, &[Literal::Int]] {
            if kinds != early {
                self.mark_literals_beside_parameters();
            }
            let of_kind = |cx: &TypeContext, v: &VarId| {
                let state = cx.vars.var(*v);
                state.bound.is_none() && state.literal.is_some_and(|l| kinds.contains(&l))
            };
            let mut open: Vec<VarId> =
                (vars..self.cx.vars.var_count()).map(VarId).filter(|v| of_kind(self.cx, v)).collect();
            if open.is_empty() {
                continue;
            }
            let int = name_lookup::simple(self.cx, "Int");
            let mut certain = open.clone();
            certain.retain(|v| self.excludes(*v, &int));
            if kinds != early && !certain.is_empty() {
                certain.into_iter().for_each(|v| self.default_var(v));
                return true;
            }
            let deciding = self.deciding();
            if open.iter().any(|v| deciding.contains(v)) {
                open.retain(|v| deciding.contains(v));
            }
            open.into_iter().for_each(|v| self.default_var(v));
            return true;
        }
        false
    }

    /// Gives integer literals the default type of a closure's parameter if they are operands or arguments beside it: in
    /// `{ x in max(x, 0) }` the 0 is a `Double`.
    fn mark_literals_beside_parameters(&mut self) {
        for i in self.waiting.clone() {
            let Some(Pending { kind, .. }) = &self.pending[i] else { continue };
            let (PendingKind::Operator { args, .. } | PendingKind::Overload { args, .. }) = kind else { continue };
            let types: Vec<Type> = args.iter().filter_map(|arg| Some(arg.ready.as_ref()?.ty.clone())).collect();
            let mut vars = vec![];
            for ty in types {
                match unification::shallow(self.cx, &ty) {
                    Type::Var(v) => vars.push(v),
                    _ => vars.clear(),
                }
            }
            if vars.iter().any(|v| self.cx.vars.var(*v).is_parameter) {
                for v in vars {
                    let state = self.cx.vars.var(v).clone();
                    if state.literal == Some(Literal::Int) && !state.is_parameter {
                        self.cx.vars.set_var(v, VarState { is_parameter: true, ..state });
                    }
                }
            }
        }
    }

    /// Whether the conformance constraints of a variable exclude a type.
    fn excludes(&mut self, v: VarId, ty: &Type) -> bool {
        let constraints = self.cx.vars.var(v).conforms.clone();
        self.is_tangent_vector(v)
            || constraints.iter().any(|constraint| !conformances::conforms_to(self.cx, ty, constraint.protocol))
    }

    /// Whether a variable is the tangent vector of an unknown type, which is no integer.
    fn is_tangent_vector(&mut self, v: VarId) -> bool {
        let equations = self.cx.vars.equations.clone();
        let is_variable = |infer: &mut Self, ty: &Type| unification::shallow(infer.cx, ty) == Type::Var(v);
        let is_tangent = |ty: &Type| matches!(ty, Type::Associated(_, _, name) if &**name == "TangentVector");
        equations.iter().any(|equation| {
            [(&equation.left, &equation.right), (&equation.right, &equation.left)]
                .into_iter()
                .any(|(one, other)| is_tangent(other) && is_variable(self, one))
        })
    }

    /// Returns the variables that determine the types of other variables: variables whose associated types occur in an
    /// equation, like `S` in `S.Element == Element`, or in the type of an operand, variables in the parameters of
    /// pending closures, and variables whose members are looked up.
    fn deciding(&mut self) -> HashSet<VarId> {
        let mut types: Vec<Type> = vec![];
        for equation in &self.cx.vars.equations {
            for side in [&equation.left, &equation.right] {
                if let Type::Associated(of, ..) = side {
                    types.push((**of).clone());
                }
            }
        }
        for pending in self.waiting.iter().filter_map(|i| self.pending[*i].as_ref()) {
            match (&pending.kind, &pending.result) {
                // A parameter that is no literal waits for another closure, which is inferred first.
                (PendingKind::Closure { .. }, Type::Function(f)) => {
                    let params: Vec<Type> = f.params.iter().map(|p| type_vars::zonk(self.cx, &p.ty)).collect();
                    let is_waiting = |ty: &Type| matches!(ty, Type::Var(v) if self.cx.vars.var(*v).literal.is_none());
                    if !params.iter().any(is_waiting) {
                        types.extend(params);
                    }
                }
                (PendingKind::Operator { args, .. } | PendingKind::Overload { args, .. }, _) => {
                    let associated = args.iter().filter_map(|arg| match &arg.ready.as_ref()?.ty {
                        Type::Associated(of, ..) => Some((**of).clone()),
                        _ => None,
                    });
                    types.extend(associated);
                }
                (kind, _) => types.extend(kind.base().map(|base| base.ty.clone())),
            }
        }
        let mut found = HashSet::new();
        for ty in types {
            unification::resolved(self.cx, &ty).any(&mut |t| {
                if let Type::Var(v) = t {
                    found.insert(*v);
                }
                false
            });
        }
        found
    }

    /// Binds an argument of an overloaded function to `Double` if its type is unknown and a candidate accepts a
    /// `Double`: `{ x in sin(x) }`.
    pub(crate) fn default_arguments(&mut self) -> bool {
        for i in self.waiting.clone() {
            let Some(Pending { kind: PendingKind::Overload { candidates, args, .. }, span, .. }) = &self.pending[i]
            else {
                continue;
            };
            let (candidates, args, span) = (candidates.clone(), args.clone(), *span);
            let open = args.iter().find_map(|arg| match unification::shallow(self.cx, &arg.ready.as_ref()?.ty) {
                Type::Var(v) if self.cx.vars.var(v).literal.is_none() => Some(v),
                _ => None,
            });
            let Some(v) = open else { continue };
            if self.awaits_literal(&args) || self.follows_from_literal(v) || self.is_pending_result(v) {
                continue;
            }
            let double = name_lookup::simple(self.cx, "Double");
            let snapshot = self.cx.vars.snapshot();
            let fits = unification::unify(self.cx, &Type::Var(v), &double, span)
                && candidates.iter().any(|c| self.try_candidate(c, &args, None, span).is_some());
            if fits {
                self.cx.vars.keep(snapshot);
                return true;
            }
            self.cx.vars.rollback(snapshot);
        }
        false
    }

    /// Returns the types of all pending expressions.
    fn pending_results(&self) -> Vec<Type> {
        self.waiting.iter().filter_map(|i| self.pending[*i].as_ref()).map(|pending| pending.result.clone()).collect()
    }

    /// Returns the types of the pending closures before the entry `end`.
    fn types_of_closures_before(&self, end: usize) -> Vec<Type> {
        let waiting = self.waiting.range(..end).filter_map(|i| self.pending[*i].as_ref());
        let closures = waiting.filter(|pending| matches!(pending.kind, PendingKind::Closure { .. }));
        closures.map(|pending| type_vars::zonk(self.cx, &pending.result)).collect()
    }

    /// Whether the type of the pending closure that is being attempted may follow from an earlier closure, as in
    /// `words.reduce(into: [:]) { … }.sorted { $0.key < $1.key }`.
    pub(super) fn follows_closure(&mut self, ty: &Type) -> bool {
        let Some(at) = self.attempted.last().copied() else { return false };
        let earlier = self.types_of_closures_before(at);
        let is_shared =
            |part: &Type| matches!(part, Type::Var(_)) && earlier.iter().any(|ty| ty.any(&mut |p| p == part));
        !earlier.is_empty() && type_vars::zonk(self.cx, ty).any(&mut |part| is_shared(part))
    }

    /// Whether a variable is the type of a pending expression.
    fn is_pending_result(&mut self, v: VarId) -> bool {
        self.pending_results().iter().any(|ty| unification::shallow(self.cx, ty) == Type::Var(v))
    }

    /// Whether a variable is an associated type of a literal whose type is not known yet: the element of `"abc"`.
    fn follows_from_literal(&mut self, v: VarId) -> bool {
        let equations = self.cx.vars.equations.clone();
        let is_variable = |infer: &mut Self, ty: &Type| unification::shallow(infer.cx, ty) == Type::Var(v);
        let of_literal = |infer: &mut Self, ty: &Type| match ty {
            Type::Associated(of, ..) => match unification::shallow(infer.cx, of) {
                Type::Var(of) => infer.cx.vars.var(of).literal.is_some(),
                _ => false,
            },
            _ => false,
        };
        equations.iter().any(|equation| {
            [(&equation.left, &equation.right), (&equation.right, &equation.left)]
                .into_iter()
                .any(|(one, other)| is_variable(self, one) && of_literal(self, other))
        })
    }

    pub(crate) fn default_numbers(&mut self, vars: u32) -> bool {
        for v in vars..self.cx.vars.var_count() {
            let state = self.cx.vars.var(VarId(v));
            if state.bound.is_some() {
                continue;
            }
            let (is_numeric, conforms) = (state.numeric, state.conforms.clone());
            if is_numeric || self.needs_number(&conforms) {
                self.default_var(VarId(v));
                return true;
            }
        }
        false
    }

    /// Notes that a collection literal without values other than `nil` does not tell the type of its values. A literal
    /// that is the whole value of a variable must have a type that is stated.
    pub(crate) fn note_empty_literal(&mut self, values: &Type) {
        let mut ty = unification::shallow(self.cx, values);
        while let Some(payload) = name_lookup::optional_payload(self.cx, &ty) {
            ty = unification::shallow(self.cx, &payload);
        }
        if let Type::Var(v) = ty
            && !self.is_initializer
        {
            let state = self.cx.vars.var(v).clone();
            self.cx.vars.set_var(v, VarState { is_empty_literal: true, ..state });
        }
    }

    /// Makes the values of collection literals without values `Any`s, and their keys `AnyHashable`s, if nothing else tells
    /// their types: the argument of `count([])` is an `[Any]`. A closure that takes the collection may tell them, so with
    /// `all`, the parameters of closures that wait are included.
    pub(crate) fn default_empty_literals(&mut self, vars: u32, all: bool) -> bool {
        let any = Type::any_value();
        let of_closures = if all { vec![] } else { self.types_of_closures_before(self.pending.len()) };
        let mut found = false;
        for v in (vars..self.cx.vars.var_count()).map(VarId) {
            let state = self.cx.vars.var(v);
            let is_free = state.bound.is_none() && state.literal.is_none() && !state.numeric;
            if !is_free
                || !state.is_empty_literal
                || of_closures.iter().any(|ty| ty.any(&mut |part| *part == Type::Var(v)))
            {
                continue;
            }
            let conforms = state.conforms.clone();
            let is_key = |c: &ConformanceConstraint| &*self.cx.defs.protocol_data(c.protocol).name == "Hashable";
            let ty = match conforms.as_slice() {
                [] => any.clone(),
                [only] if is_key(only) => name_lookup::simple(self.cx, "AnyHashable"),
                _ => continue,
            };
            found |= unification::try_unify(self.cx, &Type::Var(v), &ty, Span::default());
        }
        found
    }

    fn needs_number(&mut self, conforms: &[ConformanceConstraint]) -> bool {
        conforms.iter().any(|constraint| {
            matches!(
                &*self.cx.defs.protocol_data(constraint.protocol).name,
                "FloatingPoint"
                    | "GradientResult"
                    | "Numeric"
                    | "BinaryFloatingPoint"
                    | "SignedNumeric"
                    | "Real"
                    | "Differentiable"
                    | "AdditiveArithmetic"
            )
        })
    }

    /// Makes a string literal that is passed as a sequence a `String`, because only then the type of the elements is
    /// known: `Array("ab").map { c in … }`.
    pub(crate) fn take_text_as_sequence(&mut self, value: &Argument, result: &Type) {
        let Argument::Value(value) = value else { return };
        let Type::Var(v) = unification::shallow(self.cx, &value.ty) else { return };
        let state = self.cx.vars.var(v);
        let is_text = matches!(state.literal, Some(Literal::Text | Literal::Words));
        let is_sequence = is_text
            && state.conforms.iter().any(|constraint| {
                let protocol = self.cx.defs.protocol_data(constraint.protocol);
                protocol.is_prelude && matches!(&*protocol.name, "Sequence" | "Collection" | "BidirectionalCollection")
            });
        if is_sequence && unification::shallow(self.cx, result) != Type::Var(v) {
            self.default_var(v);
        }
    }

    /// Binds a type variable to the first default type that satisfies all its constraints.
    pub(crate) fn default_var(&mut self, v: VarId) {
        let state = self.cx.vars.var(v).clone();
        let names: &[&'static str] = match state.literal {
            Some(Literal::Int) if self.is_tangent_vector(v) => &["Double"],
            Some(Literal::Int) if self.in_formula || state.is_parameter => &["Double", "Int"],
            Some(Literal::Int) => &["Int", "Double"],
            Some(Literal::Float) => &["Double"],
            Some(Literal::Text) => &["String", "Character"],
            Some(Literal::Words) => &["String"],
            None => &["Double", "Int"],
        };
        for name in names {
            let ty = name_lookup::simple(self.cx, name);
            let snapshot = self.cx.vars.snapshot();
            if unification::unify(self.cx, &Type::Var(v), &ty, Span::default()) {
                self.cx.vars.keep(snapshot);
                return;
            }
            self.cx.vars.rollback(snapshot);
        }
        // No default satisfies the constraints: the first default is chosen, and the constraint that fails is reported.
        let ty = name_lookup::simple(self.cx, names[0]);
        let conforms = state.conforms.clone();
        self.cx.vars.set_var(v, VarState { conforms: vec![], ..state });
        if !unification::unify(self.cx, &Type::Var(v), &ty, Span::default()) {
            // The variable is bound to the error type, so that inference terminates.
            let state = self.cx.vars.var(v).clone();
            self.cx.vars.set_var(v, VarState { bound: Some(Type::Error), ..state });
            self.failed = true;
        }
        if let Some(constraint) =
            conforms.into_iter().find(|constraint| !conformances::conforms_to(self.cx, &ty, constraint.protocol))
        {
            let diagnostic = self.not_conforming(&ty, &constraint, constraint.span);
            self.error(diagnostic);
        }
    }
}
