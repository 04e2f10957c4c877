//! Operators: chooses the overload of an operator when an operand or the expected result is known.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::expr::implicit_member::implicit_root;
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Condition, Expr, ExprKind, Pattern, PatternKind, Place, Root, Stmt, StmtKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The prefix operators of the library, none of which modifies its operand.
const UNCHANGING: [&str; 7] = ["-", "+", "!", "~", "√", "...", "..<"];

impl Infer<'_> {
    pub(crate) fn prefix(&mut self, op: &Ident, operand: &Rc<ast::Expr>, expected: Option<&Type>, span: Span) -> Expr {
        if &*op.name == "-" {
            // The negation of a literal is a literal, too.
            match &operand.kind {
                Ast::Int(_) | Ast::Float(_) => {
                    let mut value = self.expr(operand, expected);
                    match &mut value.kind {
                        ExprKind::Int(n) => *n = -*n,
                        ExprKind::Float(x) => *x = -*x,
                        _ => {}
                    }
                    return Expr { span, ..value };
                }
                _ => {}
            }
        }
        if &*op.name == "∇" {
            return self.expr(&ast::Expr { kind: Ast::Nabla(operand.clone()), span }, expected);
        }
        self.unary(op, operand, expected, span)
    }

    /// Infers a prefix or postfix operator. If the operator is declared with an `inout` parameter, as `++` may be, it
    /// modifies its operand.
    pub(crate) fn unary(&mut self, op: &Ident, operand: &Rc<ast::Expr>, expected: Option<&Type>, span: Span) -> Expr {
        let mut arg = ArgNode::unlabeled(operand.clone());
        let is_place = matches!(operand.kind, Ast::Ident { .. } | Ast::Member { .. } | Ast::Subscript { .. });
        if is_place && !UNCHANGING.contains(&&*op.name) {
            let change = |infer: &mut Self, place: &ast::Expr| infer.unary(op, &Rc::new(place.clone()), None, span);
            if let Some(done) = self.chained_change(operand, change, span) {
                return done;
            }
            let value = self.target(operand);
            let candidates = self.operator_candidates(op, std::slice::from_ref(&value.ty), 1);
            if candidates.iter().any(|c| self.candidate_params(c).first().is_some_and(|param| param.is_inout)) {
                arg.ast = Rc::new(ast::Expr { kind: Ast::InOut(operand.clone()), span: operand.span });
            }
            arg.ready = Some(self.set_aside(value));
        }
        self.operator(op, vec![arg], expected, span)
    }

    /// Whether an operator is a compound assignment such as `+=`.
    fn is_compound(&self, op: &str) -> bool {
        op.ends_with('=') && op != "=" && !self.cx.defs.operators.compares(op)
    }

    /// Whether an operator such as `+=` mutates the variable on its left; an operator of a class may mutate the object
    /// instead.
    fn changes_left(&mut self, op: &Ident, ty: &Type) -> bool {
        let Some(Type::Nominal(n, _)) = self.known(ty) else { return true };
        let mut own = vec![];
        for candidate in self.operator_candidates(op, std::slice::from_ref(ty), 2) {
            if let Some(first) = self.candidate_params(&candidate).first()
                && matches!(&first.ty, Type::Nominal(m, _) if *m == n)
            {
                own.push(first.is_inout);
            }
        }
        own.is_empty() || own.contains(&true)
    }

    pub(crate) fn binary(
        &mut self,
        op: &Ident,
        lhs: &Rc<ast::Expr>,
        rhs: &Rc<ast::Expr>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        match &*op.name {
            "&&" | "||" if !self.is_overloaded(&op.name) => return self.logical(&op.name, lhs, rhs, span),
            "??" => return self.default_value(lhs, rhs, expected, span),
            "==" | "!=" if matches!(rhs.kind, Ast::Nil) || matches!(lhs.kind, Ast::Nil) => {
                let value = if matches!(rhs.kind, Ast::Nil) { lhs } else { rhs };
                return self.is_nil(value, &op.name, span);
            }
            _ => {}
        }
        if self.is_multiplication_sign(&op.name) {
            return self.multiplication_sign(op, lhs, rhs, expected, span);
        }
        let quotient = self.fraction(op, lhs, rhs);
        let [lhs, rhs] = quotient.as_ref().map_or([lhs, rhs], |[lhs, rhs]| [lhs, rhs]);
        let mut args = vec![ArgNode::unlabeled(lhs.clone()), ArgNode::unlabeled(rhs.clone())];
        if self.is_compound(&op.name) {
            let change =
                |infer: &mut Self, place: &ast::Expr| infer.binary(op, &Rc::new(place.clone()), rhs, None, span);
            if let Some(done) = self.chained_change(lhs, change, span) {
                return done;
            }
            if self.modifies_function(lhs) {
                return self.error_expr(span);
            }
            let value = self.target(lhs);
            let value = self.unwrapped(value);
            if self.changes_left(op, &value.ty.clone()) {
                // The operator is a compound assignment, `place += value`.
                let target = ast::Expr { kind: Ast::InOut(lhs.clone()), span: lhs.span };
                args[0] = ArgNode::unlabeled(Rc::new(target));
            }
            args[0].ready = Some(self.set_aside(value));
        }
        if matches!(&*op.name, "==" | "!=") {
            // A key path that is compared is an object, not a function.
            for arg in &mut args {
                if let Ast::KeyPath { root: Some(_), .. } = &arg.ast.kind {
                    let value = self.expr(&arg.ast.clone(), None);
                    arg.ready = Some(self.set_aside(value));
                }
            }
        }
        self.operator(op, args, expected, span)
    }

    /// Whether an operator is a multiplication sign that denotes several products. The program's own operator `⋅` is none,
    /// unless the module of tensors is imported.
    fn is_multiplication_sign(&mut self, op: &str) -> bool {
        match op {
            "·" | "×" => true,
            "⋅" => name_lookup::visible_protocol(self.cx, "Transposable").is_some(),
            _ => false,
        }
    }

    /// Infers `u · v` and `u × v`: the scalar product `⋅` and the vector product `⨯` if they accept the operands, and
    /// otherwise the product `*`.
    fn multiplication_sign(
        &mut self,
        sign: &Ident,
        lhs: &Rc<ast::Expr>,
        rhs: &Rc<ast::Expr>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let mut args = vec![ArgNode::unlabeled(lhs.clone()), ArgNode::unlabeled(rhs.clone())];
        self.ready_operands(&mut args);
        let mut types = vec![];
        for arg in &args {
            let ready = arg.ready.as_ref().map(|ready| ready.ty.clone());
            types.extend(ready.and_then(|ty| self.known(&ty)));
        }
        // The program may declare the sign itself.
        for name in [&*sign.name, if &*sign.name == "×" { "⨯" } else { "⋅" }] {
            let product = Ident { name: name.into(), span: sign.span };
            let candidates = self.operator_candidates(&product, &types, 2);
            if candidates.iter().any(|c| self.try_candidate(c, &args, None, span).is_some()) {
                return self.operator(&product, args, expected, span);
            }
        }
        self.operator(&Ident { name: "*".into(), span: sign.span }, args, expected, span)
    }

    /// Whether the program declares an operator that is otherwise built in.
    fn is_overloaded(&self, op: &str) -> bool {
        self.cx.defs.module.contains_key(op) || self.cx.defs.logical_operators.contains(op)
    }

    fn logical(&mut self, op: &str, lhs: &ast::Expr, rhs: &ast::Expr, span: Span) -> Expr {
        let condition = self.condition_value(lhs);
        let value = self.condition_value(rhs);
        let ty = self.bool_type();
        let constant = Expr { kind: ExprKind::Bool(op == "||"), ty: ty.clone(), span };
        let (then, otherwise) = if op == "&&" { (value, constant) } else { (constant, value) };
        let kind =
            ExprKind::Ternary { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
        Expr { kind, ty, span }
    }

    fn is_nil(&mut self, value: &ast::Expr, op: &str, span: Span) -> Expr {
        let value = self.expr(value, None);
        let ty = value.ty.clone();
        if !name_lookup::is_optional(self.cx, &ty)
            && !matches!(unification::shallow(self.cx, &ty), Type::Var(_) | Type::Error)
        {
            let text = self.show(&ty);
            let message =
                format!("comparing non-optional value of type '{text}' to 'nil' always returns {}", op == "!=");
            self.cx.sink.report(Diagnostic::warning(Code::Unused, span, message));
            return Expr { kind: ExprKind::Bool(op == "!="), ty: self.bool_type(), span };
        }
        if op == "==" {
            return self.matches(value, PatternKind::Nil, span);
        }
        let payload = name_lookup::optional_payload(self.cx, &ty).unwrap_or(Type::Error);
        let inner = Pattern { kind: PatternKind::Wildcard, ty: payload, span };
        self.matches(value, PatternKind::Some(Box::new(inner)), span)
    }

    /// Infers `value ?? otherwise`.
    fn default_value(&mut self, lhs: &ast::Expr, rhs: &ast::Expr, expected: Option<&Type>, span: Span) -> Expr {
        let value = self.expr(lhs, None);
        let payload = match name_lookup::optional_payload(self.cx, &value.ty.clone()) {
            Some(payload) => payload,
            None if matches!(unification::shallow(self.cx, &value.ty.clone()), Type::Var(_)) => {
                // The expected type applies to the payload of the optional, unless the payload may be converted to this
                // type, as to `Any`.
                let payload = match expected.and_then(|t| self.known(t)) {
                    Some(Type::Existential(_)) | None => self.cx.vars.fresh(),
                    Some(expected) => name_lookup::optional_payload(self.cx, &expected).unwrap_or(expected),
                };
                let optional = name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&payload));
                unification::unify(self.cx, &value.ty.clone(), &optional, span);
                payload
            }
            None => {
                let ty = self.show(&value.ty.clone());
                if value.ty != Type::Error {
                    let message =
                        format!("left side of '??' has non-optional type '{ty}', so the right side is never used");
                    self.cx.sink.report(Diagnostic::warning(Code::Unused, lhs.span, message));
                }
                // The right side is checked although it is never used.
                let otherwise = self.expr(rhs, Some(&value.ty));
                if !name_lookup::is_optional(self.cx, &otherwise.ty) {
                    self.coerce(otherwise, &value.ty.clone());
                }
                return value;
            }
        };
        let otherwise = match rhs.kind {
            Ast::Nil if !name_lookup::is_optional(self.cx, &payload) => {
                Expr { kind: ExprKind::Nil, ty: value.ty.clone(), span: rhs.span }
            }
            _ => self.expr(rhs, Some(&payload)),
        };
        let common = match self.widens_common(&payload, &otherwise.ty) {
            true => Some(name_lookup::simple(self.cx, "Double")),
            false => self.common_class(&payload, &otherwise.ty),
        };
        let (value, payload) = match common {
            Some(common) => {
                let optional = name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&common));
                (self.coerce(value, &optional), common)
            }
            None => (value, payload),
        };
        let stays_optional =
            name_lookup::is_optional(self.cx, &otherwise.ty.clone()) && !name_lookup::is_optional(self.cx, &payload);
        let ty = if stays_optional { value.ty.clone() } else { payload.clone() };
        let otherwise = self.coerce(otherwise, &ty);
        let found = self.new_local("", payload.clone(), false, span);
        let result = self.new_local("", ty.clone(), true, span);
        let place = |ty: &Type| Place { root: Root::Local(result), path: vec![], ty: ty.clone(), span };
        let bound = self.local_expr(found, span);
        let bound = self.coerce(bound, &ty);
        let then = vec![Stmt { kind: StmtKind::Assign { place: place(&ty), value: bound }, span }];
        let other = vec![Stmt { kind: StmtKind::Assign { place: place(&ty), value: otherwise }, span }];
        let inner = Pattern { kind: PatternKind::Bind(found), ty: payload, span };
        let pattern = Pattern { kind: PatternKind::Some(Box::new(inner)), ty: value.ty.clone(), span };
        let conditions = vec![Condition::Match { pattern, value }];
        let statement = Stmt { kind: StmtKind::If { conditions, then, otherwise: other }, span };
        Expr { kind: ExprKind::Statements { statements: vec![statement], result }, ty, span }
    }

    pub(crate) fn operator(&mut self, op: &Ident, mut args: Vec<ArgNode>, expected: Option<&Type>, span: Span) -> Expr {
        // The result is converted to 'AnyHashable', which has no operators.
        let payload = expected.and_then(|ty| name_lookup::optional_payload(self.cx, ty));
        let expected = expected.filter(|ty| !self.is_any_hashable(payload.as_ref().unwrap_or(ty)));
        let (from, vars) = (self.pending.len(), self.cx.vars.var_count());
        self.ready_power(op, &mut args);
        self.ready_implicit(op, &mut args, expected);
        self.ready_operands(&mut args);
        self.unwrap_operands(op, &mut args);
        self.resolve_beside_int(&args, from, vars);
        args.iter().filter_map(|arg| arg.ready.as_ref()).for_each(|ready| self.take_generic_result(ready));
        let known =
            |infer: &mut Self, a: &ArgNode| a.ready.as_ref().is_some_and(|e| infer.known(&e.ty.clone()).is_some());
        if !self.is_compound(&op.name) {
            args.iter().filter_map(|arg| arg.ready.as_ref()).for_each(|ready| self.take_common_result(ready));
        }
        if !args.iter().any(|a| known(self, a)) {
            if let Some(found) = self.by_expected_literal(op, &args, expected, span) {
                return found;
            }
            self.ready_collections(&mut args);
        }
        if let Some(found) = self.try_operator(op, &args, expected, span, false) {
            return found;
        }
        if is_arithmetic(&op.name) {
            for arg in &args {
                if let Some(ready) = &arg.ready {
                    let ty = ready.ty.clone();
                    unification::mark_numeric(self.cx, &ty);
                }
            }
        }
        let mut result = self.cx.vars.fresh();
        if let Some(joined) = self.join_literals(op, &args, span) {
            result = joined;
        }
        self.wait(PendingKind::Operator { op: op.clone(), args, expected: expected.cloned() }, result, span)
    }

    /// Unwraps operands of type `T!`, except for operators that compare or test optionals.
    fn unwrap_operands(&mut self, op: &Ident, args: &mut [ArgNode]) {
        if matches!(&*op.name, "==" | "!=" | "~=" | "??" | "===" | "!==") {
            return;
        }
        for arg in args {
            if let Some(ready) = &arg.ready
                && self.inside_unwrapped(ready).is_some()
            {
                let value = self.unwrapped((**ready).clone());
                arg.ready = Some(Rc::new(value));
            }
        }
    }

    /// Resolves an operator if an operand type or the result type is known.
    pub(crate) fn try_operator(
        &mut self,
        op: &Ident,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
        last: bool,
    ) -> Option<Expr> {
        self.default_exponent(op, args);
        let mut types: Vec<Type> = vec![];
        let mut open = 0;
        for arg in args {
            let Some(ready) = &arg.ready else { continue };
            if self.defaulting_numbers && self.known(&ready.ty).is_none() {
                self.take_common_result(ready);
            }
            match unification::shallow(self.cx, &ready.ty.clone()) {
                // Literals in an enclosing statement have not been defaulted yet.
                Type::Var(v) if last && self.cx.vars.var(v).literal.is_some() => {
                    self.default_var(v);
                    let ty = unification::shallow(self.cx, &ready.ty.clone());
                    if !types.contains(&ty) {
                        types.push(ty);
                    }
                }
                Type::Var(v) => open += usize::from(self.cx.vars.var(v).literal.is_none()),
                Type::Error => return Some(self.error_expr(span)),
                open_type @ Type::Associated(..) if unification::has_vars(self.cx, &open_type) => open += 1,
                known if !types.contains(&known) => types.push(known),
                _ => {}
            }
        }
        let mut types = self.without_repeats(types, span);
        let operands_known = !types.is_empty();
        // A range operator is declared by the type of the bounds; the type of the range does not declare the operator.
        let is_range = matches!(&*op.name, "..." | "..<");
        if let Some(expected) = expected.and_then(|t| self.known(t))
            && !is_comparison(&op.name)
            && !is_range
            && (!operands_known || args.iter().any(|arg| implicit_root(&arg.ast).is_some()))
        {
            let expected = name_lookup::optional_payload(self.cx, &expected).unwrap_or(expected);
            if let Some(expected) = self.known(&expected)
                && !matches!(expected, Type::Existential(_))
            {
                types.push(expected);
            }
        }
        if types.is_empty() && !last && !is_range && !self.is_only_own(&op.name) {
            return None;
        }
        self.join_operands(&op.name, &mut types, span);
        let mut candidates = self.operator_candidates(op, &types, args.len());
        if types.is_empty() && is_range {
            candidates.extend(self.range_candidates(op, args.len()));
        }
        if types.is_empty() && candidates.is_empty() {
            let double = name_lookup::simple(self.cx, "Double");
            candidates = self.operator_candidates(op, &[double], args.len());
        }
        if candidates.is_empty() {
            return match self.default_point(args, &types, span) {
                true => self.try_operator(op, args, expected, span, last),
                false => self.by_collections(op, args, &types, expected, span, last),
            };
        }
        let expected = expected.filter(|_| !is_comparison(&op.name));
        // While an operand type is not known, only the overload whose operands both have the known type is chosen
        // early.
        let decide_now = open == 0 || last;
        let fit = |infer: &mut Self, candidates: &[Candidate]| -> Vec<(u32, Candidate)> {
            let score = |c: &Candidate| infer.try_candidate(c, args, expected, span).map(|s| (s, c.clone()));
            candidates.iter().filter_map(score).collect()
        };
        let favored = self.favored(candidates.clone());
        let mut fitting = fit(self, &favored);
        if fitting.is_empty() && favored.len() < candidates.len() {
            fitting = fit(self, &candidates);
        }
        let fitting = if fitting.is_empty() && expected.is_some() {
            candidates.iter().filter_map(|c| self.try_candidate(c, args, None, span).map(|s| (s, c.clone()))).collect()
        } else {
            fitting
        };
        if fitting.is_empty() && !operands_known && expected.is_some() {
            // The overload that fits the operands does not return the expected type; the diagnostic then reports the
            // returned type.
            return self.try_operator(op, args, None, span, last);
        }
        match fitting.len() {
            0 if self.default_point(args, &types, span) => self.try_operator(op, args, expected, span, last),
            0 => self.by_collections(op, args, &types, expected, span, last),
            1 => {
                let (_, only) = &fitting[0];
                Some(self.commit(op, only, args, expected, span))
            }
            _ if !decide_now && !self.defaulting_numbers => None,
            _ => {
                let mut ranked = fitting;
                ranked.sort_by_key(|(s, _)| *s);
                let clear = ranked[0].0 < ranked[1].0;
                if clear {
                    let best = ranked[0].1.clone();
                    return Some(self.commit(op, &best, args, expected, span));
                }
                if !decide_now {
                    // The type of the other operand may resolve the ambiguity.
                    return None;
                }
                let candidates: Vec<Candidate> = ranked.into_iter().map(|(_, c)| c).collect();
                self.choose(op, &candidates, args, expected, span, true, last || operands_known)
            }
        }
    }

    /// Whether an operator is declared at the top level of the program and not by the library, so that its operands
    /// need not be known.
    fn is_only_own(&mut self, op: &str) -> bool {
        const NUMBERS: [&str; 3] = ["Int", "Double", "Bool"];
        let is_own = self.function_candidates(op).iter().any(|c| c.tier == 0);
        is_own
            && NUMBERS.into_iter().all(|name| {
                let ty = name_lookup::simple(self.cx, name);
                self.method_candidates(&ty, op, true, None).iter().all(|c| self.is_own(c))
            })
    }

    fn is_own(&self, candidate: &Candidate) -> bool {
        matches!(candidate.target, Target::Function(f) if !self.cx.defs.function_data(f).is_prelude)
    }

    /// Resolves an operator with the collection literals among its operands inferred without an expected type, if the
    /// known operands do not determine the overload: `[1, 2] + (3...4)`.
    fn by_collections(
        &mut self,
        op: &Ident,
        args: &[ArgNode],
        types: &[Type],
        expected: Option<&Type>,
        span: Span,
        last: bool,
    ) -> Option<Expr> {
        let mut written = args.to_vec();
        self.ready_collections(&mut written);
        match written.iter().zip(args).any(|(a, b)| a.ready.is_some() && b.ready.is_none()) {
            true => self.try_operator(op, &written, expected, span, last),
            false => Some(match self.widened_operator(op, args, types, expected, span) {
                Some(found) => found,
                None => self.no_operator(op, args, types, span),
            }),
        }
    }

    /// Unifies the types of the operands of a comparison: `(1, 2) == (1, 2.5)`.
    fn join_operands(&mut self, op: &str, types: &mut Vec<Type>, span: Span) {
        let [a, b] = types.as_slice() else { return };
        let (a, b) = (a.clone(), b.clone());
        if !is_comparison(op) {
            return;
        }
        let snapshot = self.cx.vars.snapshot();
        if unification::unify(self.cx, &a, &b, span) {
            self.cx.vars.keep(snapshot);
            types.truncate(1);
        } else {
            self.cx.vars.rollback(snapshot);
        }
    }

    /// Removes each type from a list that becomes equal to another type by substitution of its type variables, because
    /// both have the same members.
    fn without_repeats(&mut self, mut types: Vec<Type>, span: Span) -> Vec<Type> {
        types.sort_by_key(|t| unification::has_vars(self.cx, t));
        let mut kept: Vec<Type> = vec![];
        for ty in types {
            let repeats = unification::has_vars(self.cx, &ty)
                && kept.iter().any(|other| {
                    let snapshot = self.cx.vars.snapshot();
                    let same = unification::unify(self.cx, other, &ty, span);
                    self.cx.vars.rollback(snapshot);
                    same
                });
            if !repeats {
                kept.push(ty);
            }
        }
        kept
    }
}

pub(crate) fn is_comparison(op: &str) -> bool {
    matches!(op, "==" | "!=" | "<" | ">" | "<=" | ">=" | "===" | "!==" | "≈" | "~=")
}

pub(crate) fn is_arithmetic(op: &str) -> bool {
    matches!(op, "+" | "-" | "*" | "/" | "%" | "^" | "<" | ">" | "<=" | ">=" | "√")
}
