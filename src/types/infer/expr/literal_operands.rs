//! Literal operands: determines the types of literals among the operands of an operator.

use crate::source::Span;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::expr::implicit_member::implicit_root;
use crate::types::infer::expr::operator::{is_arithmetic, is_comparison};
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::ty::Type;
use crate::types::model::type_vars;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::Expr;
use crate::types::names::members;
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Infers an operator whose operands are array literals of the expected type, if the type can be written as an
    /// array literal and has the operator: `let v: SIMD3<Double> = [1, 2, 3] + [4, 5, 6]`.
    pub(crate) fn by_expected_literal(
        &mut self,
        op: &Ident,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        let is_literal = |arg: &ArgNode| arg.ready.is_none() && matches!(arg.ast.kind, Ast::Array(_));
        let wanted = expected.and_then(|ty| self.known(ty)).filter(|_| args.iter().any(is_literal))?;
        let wanted = name_lookup::optional_payload(self.cx, &wanted).unwrap_or(wanted);
        let protocol = name_lookup::protocol(self.cx, "ExpressibleByArrayLiteral");
        let is_own = matches!(&wanted, Type::Nominal(n, _) if self.cx.defs.nominal_data(*n).builtin.is_none());
        if !is_own || !conformances::conforms_to(self.cx, &wanted, protocol) {
            return None;
        }
        let candidates = self.operator_candidates(op, std::slice::from_ref(&wanted), args.len());
        let fits = |c: &Candidate| self.try_candidate(c, args, Some(&wanted), span).map(|score| (score, c.clone()));
        let (_, best) = candidates.iter().filter_map(fits).min_by_key(|(score, _)| *score)?;
        Some(self.commit(op, &best, args, Some(&wanted), span))
    }

    /// Returns `Double` for the result of a pending call that is an operand of arithmetic, or of a comparison, with a
    /// floating-point literal as the other operand: `max(1, 2) + 0.5`. Returns the type of the base for an exponent of
    /// a floating-point number.
    pub(crate) fn beside_point(&mut self, result: &Type) -> Option<Type> {
        /// The maximum number of calls and operators between the result and the literal.
        const FARTHEST: usize = 8;
        let mut result = result.clone();
        for _ in 0..FARTHEST {
            let Type::Var(own) = unification::shallow(self.cx, &result) else { return None };
            let mut onward = None;
            for i in self.waiting.clone() {
                let Some(pending) = &self.pending[i] else { continue };
                let (PendingKind::Operator { args, .. } | PendingKind::Overload { args, .. }) = &pending.kind else {
                    continue;
                };
                let types: Vec<Type> = args.iter().map(|a| self.type_of_ready(a)).collect();
                let Some(k) = types.iter().position(|ty| *ty == Type::Var(own)) else { continue };
                let (kind, given, span) = (pending.kind.clone(), pending.result.clone(), pending.span);
                match kind {
                    PendingKind::Operator { op, .. }
                        if keeps_type(&op.name, types.len()) || is_comparison(&op.name) =>
                    {
                        if types.iter().any(|ty| self.has_point(ty)) {
                            return Some(name_lookup::simple(self.cx, "Double"));
                        }
                        if &*op.name == "^" && k == 1 && self.is_floating(&types[0]) {
                            return Some(types[0].clone());
                        }
                        onward = onward.or(keeps_type(&op.name, types.len()).then_some(given));
                    }
                    PendingKind::Overload { candidates, .. }
                        if candidates.iter().all(|c| self.gives_back(c, k, span)) =>
                    {
                        onward = onward.or(Some(given));
                    }
                    _ => {}
                }
            }
            result = onward?;
        }
        None
    }

    /// Defaults a floating-point literal to `Double` if none of the known operand types accepts it: `0.9^n`. This
    /// applies if the known types do not determine the overload. Returns whether there is such a literal.
    pub(crate) fn default_point(&mut self, args: &[ArgNode], types: &[Type], span: Span) -> bool {
        let operands: Vec<Type> = args.iter().filter_map(|a| a.ready.as_ref().map(|e| e.ty.clone())).collect();
        let double = name_lookup::simple(self.cx, "Double");
        let mut any = false;
        for ty in operands {
            let has_point = matches!(unification::shallow(self.cx, &ty), Type::Var(v)
                if self.cx.vars.var(v).literal == Some(Literal::Float));
            if has_point && !types.iter().any(|known| unification::accepts_literal(self.cx, known, Literal::Float)) {
                any |= unification::unify(self.cx, &ty, &double, span);
            }
        }
        any
    }

    fn type_of_ready(&self, arg: &ArgNode) -> Type {
        arg.ready.as_ref().map_or(Type::Error, |value| type_vars::zonk(self.cx, &value.ty))
    }

    fn has_point(&self, ty: &Type) -> bool {
        matches!(ty, Type::Var(v) if self.cx.vars.var(*v).literal == Some(Literal::Float))
    }

    /// Whether the result of a function has the type of the function's argument `k`, as the results of `max` and `abs`
    /// do.
    fn gives_back(&mut self, candidate: &Candidate, k: usize, span: Span) -> bool {
        let snapshot = self.cx.vars.snapshot();
        let instance = self.instantiate(candidate, span);
        let result = type_vars::zonk(self.cx, &instance.result);
        let is_same = instance.params.get(k).is_some_and(|param| type_vars::zonk(self.cx, &param.ty) == result);
        self.cx.vars.rollback(snapshot);
        is_same
    }

    /// Unifies the types of operands that are all literals: `1 + 2.5`. Returns the type of an arithmetic result.
    pub(crate) fn join_literals(&mut self, op: &Ident, args: &[ArgNode], span: Span) -> Option<Type> {
        let mut types = vec![];
        for arg in args {
            let ty = arg.ready.as_ref()?.ty.clone();
            match unification::shallow(self.cx, &ty) {
                Type::Var(v) if self.cx.vars.var(v).literal.is_some() => types.push(ty),
                _ => return None,
            }
        }
        let is_arithmetic = keeps_type(&op.name, args.len());
        if !is_arithmetic && !is_comparison(&op.name) {
            return None;
        }
        let first = types.first()?.clone();
        for other in &types[1..] {
            unification::unify(self.cx, &first, other, span);
        }
        is_arithmetic.then_some(first)
    }

    /// Makes integer literals `Double`s if the operator is not declared for integers: `√2`, `2 * .pi`.
    pub(crate) fn prefer_double(&mut self, op: &Ident, args: &[ArgNode], span: Span) {
        let mut literals = vec![];
        let mut members = vec![];
        for arg in args {
            match &arg.ready {
                Some(ready) => {
                    let ty = ready.ty.clone();
                    match unification::shallow(self.cx, &ty) {
                        Type::Var(v) if self.cx.vars.var(v).literal == Some(Literal::Int) => literals.push(ty),
                        _ => return,
                    }
                }
                None => match implicit_root(&arg.ast) {
                    Some((_, name)) => members.push(name.name.clone()),
                    None => return,
                },
            }
        }
        let (int, double) = (name_lookup::simple(self.cx, "Int"), name_lookup::simple(self.cx, "Double"));
        let can = |infer: &mut Self, ty: &Type| {
            let declared = !infer.operator_candidates(op, std::slice::from_ref(ty), args.len()).is_empty();
            declared && members.iter().all(|name| !members::members(infer.cx, ty, name, true, infer.file).is_empty())
        };
        if !literals.is_empty() && !can(self, &int) && can(self, &double) {
            for literal in &literals {
                unification::unify(self.cx, literal, &double, span);
            }
        }
    }

    /// Makes the operands `Int`s if they are an integer literal and a value of unknown type, and the operator is declared
    /// for integers only: `{ $0 & 1 }`.
    pub(crate) fn prefer_integer(&mut self, op: &Ident, args: &[ArgNode], span: Span) {
        let mut literals = 0;
        let mut types = vec![];
        for arg in args {
            let Some(ready) = &arg.ready else { return };
            let Type::Var(v) = unification::shallow(self.cx, &ready.ty) else { return };
            match self.cx.vars.var(v).literal {
                Some(Literal::Int) => literals += 1,
                Some(_) => return,
                None => {}
            }
            types.push(Type::Var(v));
        }
        let (int, double) = (name_lookup::simple(self.cx, "Int"), name_lookup::simple(self.cx, "Double"));
        let mut is_declared = |ty: &Type| {
            let candidates = self.operator_candidates(op, std::slice::from_ref(ty), args.len());
            !candidates.is_empty()
        };
        if literals > 0 && literals < types.len() && is_declared(&int) && !is_declared(&double) {
            for ty in &types {
                unification::unify(self.cx, ty, &int, span);
            }
        }
    }
}

/// Whether the result of an operator on numbers has the type of its operands. Other prefix and postfix operators than signs
/// are operators of the program.
fn keeps_type(op: &str, operands: usize) -> bool {
    matches!(op, "+" | "-") || operands == 2 && is_arithmetic(op) && !is_comparison(op)
}
