//! Widening: the implicit conversion of an `Int` to a `Double`, where a program would otherwise be rejected.
//!
//! Inference first looks for a solution without such conversions. If there is no such solution, the decision is
//! repeated with `widens` set, so that a conversion never changes which function a program calls. A quotient of two
//! `Int`s is not converted, because it has already lost its remainder.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::generics::unification;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::syntax_query::closure_of;
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionId, FunctionRef, Stmt, StmtKind};
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

/// The operators and functions through which a quotient among the operands affects the result.
const ARITHMETIC: [&str; 16] = [
    "+", "-", "*", "/", "^", "abs", "min", "max", "sum", "product", "sorted", "reversed", "reduce", "...", "..<", "pow",
];

/// The methods whose result consists of the results of a closure.
const TRANSFORMATIONS: [&str; 4] = ["map", "mapValues", "compactMap", "flatMap"];

/// The types whose last generic argument is the type of their parts, and the library functions that convert the parts.
const CONTAINERS: [(&str, &str); 4] = [
    ("Array", "_convertedParts"),
    ("ClosedRange", "_convertedBounds"),
    ("Range", "_convertedHalfOpenBounds"),
    ("Dictionary", "_convertedValues"),
];

impl Infer<'_> {
    /// Calls `run` with or without the conversion of `Int` to `Double`.
    pub(crate) fn with_widening<T>(&mut self, widens: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.widens, widens);
        let out = run(self);
        self.widens = outer;
        out
    }

    /// Whether a value can be converted only if `Int`s become `Double`s.
    pub(crate) fn needs_widening(&mut self, from: &Type, to: &Type) -> bool {
        !self.widens && self.with_widening(true, |infer| infer.can_convert(from, to))
    }

    /// Whether a type becomes another type by the conversion of `Int` to `Double`: the type itself, its elements, or
    /// its bounds.
    pub(crate) fn can_widen(&mut self, from: &Type, to: &Type) -> bool {
        if !self.widens {
            return false;
        }
        if self.is_int(from) || self.must_be_int(from) {
            return match to {
                Type::Var(_) => {
                    let double = name_lookup::simple(self.cx, "Double");
                    unification::unifies(self.cx, to, &double)
                }
                _ => self.is_double(to),
            };
        }
        match self.parts_to_widen(from, to) {
            Some((_, given, wanted)) => self.can_convert(&given, &wanted),
            None => false,
        }
    }

    /// Returns the library function that converts the parts of an array, a range or a dictionary to the parts of
    /// another array, range or dictionary, and the types of these parts.
    fn parts_to_widen(&mut self, from: &Type, to: &Type) -> Option<(&'static str, Type, Type)> {
        let (Type::Nominal(n, xs), Type::Nominal(m, ys)) = (from, to) else { return None };
        let (_, function) =
            CONTAINERS.into_iter().find(|(name, _)| *n == name_lookup::library_nominal(self.cx, name))?;
        let ((given, keys), (wanted, others)) = (xs.split_last()?, ys.split_last()?);
        let (given, wanted) = (unification::shallow(self.cx, given), unification::shallow(self.cx, wanted));
        let same = n == m && self.are_equal(keys, others);
        (same && !matches!(given, Type::Var(_))).then_some((function, given, wanted))
    }

    /// Converts a value for which [`Infer::can_widen`] holds.
    pub(crate) fn widened(&mut self, value: Expr, to: &Type) -> Expr {
        let span = value.span;
        let (from, to) = (unification::shallow(self.cx, &value.ty), unification::shallow(self.cx, to));
        if let Some((function, given, wanted)) = self.parts_to_widen(&from, &to) {
            if let Some(quotient) = self.integer_quotient(&value) {
                self.error(quotient);
                return Expr { kind: ExprKind::Error, ty: to, span };
            }
            return self.widened_parts(function, value, [given, wanted], to);
        }
        let double = name_lookup::simple(self.cx, "Double");
        unification::unify(self.cx, &to, &double, span);
        if self.must_be_int(&from) {
            let int = name_lookup::simple(self.cx, "Int");
            unification::unify(self.cx, &from, &int, span);
        }
        if let Some(quotient) = self.integer_quotient(&value) {
            self.error(quotient);
            return Expr { kind: ExprKind::Error, ty: double, span };
        }
        if let ExprKind::Int(_) = value.kind {
            return Expr { ty: double, ..value };
        }
        self.library_call("_widened", vec![], vec![value], double, span)
    }

    /// Converts the parts of an array, a range or a dictionary by a closure.
    fn widened_parts(&mut self, function: &'static str, value: Expr, parts: [Type; 2], to: Type) -> Expr {
        let span = value.span;
        let [given, wanted] = parts.clone();
        let param = FunctionParam { ty: given, is_inout: false, no_derivative: false, autoclosure: false };
        let strength = Strength::Plain;
        let of = Type::Function(Rc::new(FunctionType { params: vec![param], result: wanted, throws: false, strength }));
        let part = ast::ExprKind::Ident { name: "$part".into(), generics: vec![] };
        let closure = closure_of(&["$part".to_string()], ast::Expr { kind: part, span }, span);
        let convert = self.with_widening(false, |infer| {
            let closure = infer.expr(&closure, Some(&of));
            infer.coerce(closure, &of)
        });
        let keys = match &to {
            Type::Nominal(_, args) => args[..args.len() - 1].to_vec(),
            _ => vec![],
        };
        self.library_call(function, [keys, parts.to_vec()].concat(), vec![value, convert], to, span)
    }

    pub(super) fn library_call(
        &mut self,
        name: &'static str,
        generics: Vec<Type>,
        args: Vec<Expr>,
        ty: Type,
        span: Span,
    ) -> Expr {
        let Some(function) = prelude::library_function(self.cx, name) else { return self.error_expr(span) };
        let callee = Callee::Static(FunctionRef { function, generics });
        Expr { kind: ExprKind::Call { callee, args: args.into_iter().map(Argument::Value).collect() }, ty, span }
    }

    /// Returns the diagnostic for a value that contains a quotient of two `Int`s as a term or factor.
    fn integer_quotient(&self, value: &Expr) -> Option<Diagnostic> {
        let [left, right] = self.quotient_in(value)?;
        let span = Span::new(left.span.start, right.span.end);
        let edit = self.quotient_as_double(&left, span);
        let written = self.cx.sink.source_text(span);
        let message = format!("a quotient of two 'Int's is not converted to 'Double': '{written}' drops the remainder");
        Some(Diagnostic::error(Code::Mismatch, span, message).fix("divide as 'Double'", span, edit))
    }

    /// Returns the operands of a quotient of two `Int`s that is a term or factor of a value.
    pub(crate) fn quotient_in(&self, value: &Expr) -> Option<[Expr; 2]> {
        let value = self.decided(value.clone());
        if let ExprKind::Array(elements) = &value.kind {
            return elements.iter().find_map(|element| self.quotient_in(element));
        }
        if let ExprKind::Ternary { then, otherwise, .. } = &value.kind {
            return self.quotient_in(then).or_else(|| self.quotient_in(otherwise));
        }
        if let ExprKind::Quiet(inner) | ExprKind::Force(inner) | ExprKind::ConvertFunction { value: inner, .. } =
            &value.kind
        {
            return self.quotient_in(inner);
        }
        if let ExprKind::Closure { function } = &value.kind {
            return self.quotient_in_result(*function);
        }
        if let ExprKind::CallValue { function, args } = &value.kind
            && args.is_empty()
        {
            return self.quotient_in(function);
        }
        let ExprKind::Call { callee: Callee::Static(callee), args } = &value.kind else { return None };
        let function = self.cx.defs.function_data(callee.function);
        let is_transformation = TRANSFORMATIONS.contains(&&*function.base_name);
        if !function.is_prelude || !is_transformation && !ARITHMETIC.contains(&&*function.base_name) {
            return None;
        }
        let operands = args.iter().filter_map(|arg| if let Argument::Value(e) = arg { Some(e) } else { None });
        let operands: Vec<&Expr> = operands.filter(|e| !is_transformation || self.is_closure(e)).collect();
        if let ("/", [left, right]) = (&*function.base_name, operands.as_slice()) {
            return Some([(*left).clone(), (*right).clone()]);
        }
        operands.into_iter().find_map(|operand| self.quotient_in(operand))
    }

    fn is_closure(&self, value: &Expr) -> bool {
        match self.decided(value.clone()).kind {
            ExprKind::ConvertFunction { value, .. } => self.is_closure(&value),
            kind => matches!(kind, ExprKind::Closure { .. }),
        }
    }

    /// Returns the operands of a quotient in a result of a closure whose body is not finished.
    fn quotient_in_result(&self, closure: FunctionId) -> Option<[Expr; 2]> {
        let body = self.open.iter().find(|body| body.function == closure)?;
        body.statements.iter().find_map(|statement| match &statement.kind {
            StmtKind::Return(Some(result)) => self.quotient_in(result),
            _ => None,
        })
    }

    /// Resolves an operator that no overload accepts, by the overloads of `Double` if an operand is an `Int`.
    pub(crate) fn widened_operator(
        &mut self,
        op: &ast::Ident,
        args: &[ArgNode],
        types: &[Type],
        expected: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        if self.widens || !types.iter().any(|ty| self.is_int(ty) || self.parts_are_int(ty)) {
            return None;
        }
        let mut types = types.to_vec();
        let double = name_lookup::simple(self.cx, "Double");
        if !types.contains(&double) {
            types.push(double);
        }
        let candidates = self.operator_candidates(op, &types, args.len());
        let candidates = self.favored(candidates);
        for expected in [expected, None] {
            if let Some(best) = self.best_widened(&candidates, args, expected, span) {
                return Some(self.with_widening(true, |infer| infer.commit(op, &best, args, expected, span)));
            }
        }
        None
    }

    /// Returns the candidate that fits best if `Int`s may be converted.
    fn best_widened(
        &mut self,
        candidates: &[Candidate],
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Option<Candidate> {
        let mut fitting = vec![];
        for candidate in candidates {
            let score = self.with_widening(true, |infer| infer.try_candidate(candidate, args, expected, span));
            fitting.extend(score.map(|score| (score, candidate)));
        }
        let least = fitting.iter().map(|(score, _)| *score).min()?;
        let best: Vec<Candidate> =
            fitting.iter().filter(|(score, _)| *score == least).map(|(_, c)| (*c).clone()).collect();
        match best.as_slice() {
            [only] => Some(only.clone()),
            several => self.most_special(several),
        }
    }

    /// Whether the only candidate fits its arguments only if `Int`s are converted, as in `larger(n, 2.5)`.
    pub(crate) fn only_widened(&mut self, candidate: &Candidate, args: &[ArgNode], span: Span) -> bool {
        let mut has_int = false;
        let mut has_double = false;
        for ready in args.iter().filter_map(|arg| arg.ready.clone()) {
            has_int |= self.is_int(&ready.ty);
            has_double |= self.is_double(&ready.ty) || self.is_point(&ready.ty);
        }
        has_int
            && has_double
            && self.try_candidate(candidate, args, None, span).is_none()
            && self.with_widening(true, |infer| infer.try_candidate(candidate, args, None, span)).is_some()
    }

    /// Determines as `Double` each type variable that an `Int` argument would determine as `Int`.
    pub(crate) fn widen_variable(&mut self, arg: &ArgNode, wanted: &Type, span: Span) {
        let Some(ready) = &arg.ready else { return };
        if self.is_int(&ready.ty) && matches!(unification::shallow(self.cx, wanted), Type::Var(_)) {
            let double = name_lookup::simple(self.cx, "Double");
            unification::try_unify(self.cx, wanted, &double, span);
        }
    }

    /// Whether `Int` values get the common type `Double` because another value is a `Double`.
    pub(crate) fn widens_common(&mut self, common: &Type, value: &Type) -> bool {
        self.is_int(common) && (self.is_double(value) || self.is_point(value))
    }

    /// Returns the type that is expected of an alternative to a value of type `ty`. An alternative with branches of its
    /// own may be a `Double` beside an `Int`.
    pub(crate) fn expected_beside(&mut self, ty: &Type, alternative: &ast::Expr) -> Option<Type> {
        use ast::ExprKind::{If, Paren, Switch, Ternary};
        let mut inner = alternative;
        while let Paren(content) = &inner.kind {
            inner = content;
        }
        let has_branches = matches!(inner.kind, Ternary { .. } | If { .. } | Switch { .. });
        (!has_branches || !self.is_int(ty)).then(|| ty.clone())
    }

    /// Converts one of two alternatives to `Double` if it is an `Int` and the other alternative is a `Double`.
    pub(crate) fn joined_numbers(&mut self, a: Expr, b: Expr) -> (Expr, Expr) {
        let double = name_lookup::simple(self.cx, "Double");
        if self.widens_common(&a.ty, &b.ty) {
            return (self.coerce(a, &double), b);
        }
        if self.widens_common(&b.ty, &a.ty) {
            return (a, self.coerce(b, &double));
        }
        // A literal takes the type of the other alternative.
        if self.is_number_literal(&a.ty) || self.is_number_literal(&b.ty) {
            unification::try_unify(self.cx, &a.ty, &b.ty, b.span);
        }
        (a, b)
    }

    /// Returns the type that several numbers have in common: `Double` if one of them is a `Double`; `None` if a type is
    /// not a type of numbers.
    pub(crate) fn common_number_type(&mut self, types: &[Type]) -> Option<Type> {
        let mut common = types.first()?.clone();
        for ty in types {
            if !(self.is_int(ty) || self.is_double(ty) || self.is_number_literal(ty)) {
                return None;
            }
            if self.widens_common(&common, ty) || self.widens_common(ty, &common) {
                common = name_lookup::simple(self.cx, "Double");
            }
            unification::try_unify(self.cx, &common, ty, Span::default());
        }
        Some(common)
    }

    /// Whether two types are the same type of numbers, `Int`, `Double` or the type of one literal.
    pub(crate) fn are_same_numbers(&mut self, a: &Type, b: &Type) -> bool {
        let is_number = self.is_int(a) || self.is_double(a) || self.is_number_literal(a);
        is_number && unification::shallow(self.cx, a) == unification::shallow(self.cx, b)
    }

    /// Whether the conversion of a value that a closure returns waits for the other values: while all of them are
    /// `Int`s or integer literals, a later one can make the result a `Double`.
    pub(crate) fn postpones_result(&mut self, value: &Expr, result: &Type) -> bool {
        if self.frame().kind != FrameKind::Closure || self.frame().in_value || !self.is_undetermined(result) {
            return false;
        }
        let postponed = self.frame().postponed_result.clone();
        let is_int = self.is_int(&value.ty);
        if is_int || self.has_integer_literal_type(&value.ty) {
            if is_int || postponed.is_none() {
                self.frame().postponed_result = Some(value.ty.clone());
            }
            return true;
        }
        if let Some(ty) = postponed
            && !self.is_double(&value.ty)
            && !self.is_point(&value.ty)
        {
            unification::unify(self.cx, result, &ty, value.span);
        }
        false
    }

    /// Converts the values whose conversion was postponed.
    pub(crate) fn convert_postponed(&mut self, statements: &mut [Stmt], result: &Type, span: Span) {
        let Some(ty) = self.frame().postponed_result.take() else { return };
        if self.is_undetermined(result) {
            unification::unify(self.cx, result, &ty, span);
        }
        self.convert_results(statements, result);
    }

    fn convert_results(&mut self, statements: &mut [Stmt], result: &Type) {
        for statement in statements {
            match &mut statement.kind {
                StmtKind::Return(Some(value)) => *value = self.coerce(value.clone(), result),
                StmtKind::If { then, otherwise, .. } => {
                    self.convert_results(then, result);
                    self.convert_results(otherwise, result);
                }
                StmtKind::Switch { cases, .. } => {
                    cases.iter_mut().for_each(|case| self.convert_results(&mut case.body, result));
                }
                StmtKind::Catch { body, cases, .. } => {
                    self.convert_results(body, result);
                    cases.iter_mut().for_each(|case| self.convert_results(&mut case.body, result));
                }
                StmtKind::Guard { otherwise: body, .. }
                | StmtKind::While { body, .. }
                | StmtKind::Repeat { body, .. }
                | StmtKind::For { body, .. }
                | StmtKind::Block { body, .. } => self.convert_results(body, result),
                StmtKind::Return(None)
                | StmtKind::Expr(_)
                | StmtKind::Let { .. }
                | StmtKind::Assign { .. }
                | StmtKind::InitGlobal { .. }
                | StmtKind::Break(_)
                | StmtKind::Continue(_)
                | StmtKind::Throw(_)
                | StmtKind::Defer(_)
                | StmtKind::LocalFunction(_) => {}
            }
        }
    }

    fn has_integer_literal_type(&mut self, ty: &Type) -> bool {
        matches!(unification::shallow(self.cx, ty), Type::Var(v) if self.cx.vars.var(v).literal == Some(Literal::Int))
    }

    pub(crate) fn is_number_literal(&mut self, ty: &Type) -> bool {
        let Type::Var(v) = unification::shallow(self.cx, ty) else { return false };
        matches!(self.cx.vars.var(v).literal, Some(Literal::Int | Literal::Float))
    }

    /// Whether a type is a variable about which nothing is known.
    pub(crate) fn is_undetermined(&mut self, ty: &Type) -> bool {
        matches!(unification::shallow(self.cx, ty), Type::Var(v) if self.cx.vars.var(v).literal.is_none())
    }

    pub(crate) fn is_int(&mut self, ty: &Type) -> bool {
        unification::shallow(self.cx, ty) == name_lookup::simple(self.cx, "Int")
    }

    /// Whether a type is that of integer literals that cannot be `Double`s, such as the bounds of a range over which a loop
    /// iterates.
    fn must_be_int(&mut self, ty: &Type) -> bool {
        let Type::Var(v) = unification::shallow(self.cx, ty) else { return false };
        if self.cx.vars.var(v).associated.is_empty() {
            return false;
        }
        let double = name_lookup::simple(self.cx, "Double");
        !unification::unifies(self.cx, ty, &double)
    }

    pub(crate) fn is_double(&mut self, ty: &Type) -> bool {
        unification::shallow(self.cx, ty) == name_lookup::simple(self.cx, "Double")
    }

    /// Whether a type is the type of a floating-point literal.
    fn is_point(&mut self, ty: &Type) -> bool {
        matches!(unification::shallow(self.cx, ty), Type::Var(v) if self.cx.vars.var(v).literal == Some(Literal::Float))
    }

    /// Whether a type is an array or a range of `Int`s.
    fn parts_are_int(&mut self, ty: &Type) -> bool {
        let Type::Nominal(_, args) = unification::shallow(self.cx, ty) else { return false };
        args.first().is_some_and(|element| self.is_int(element) || self.parts_are_int(element))
    }
}
