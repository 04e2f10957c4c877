//! Statements.

use super::{FrameKind, Infer};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, DeclKind, ExprKind as Ast, StmtKind as AstStmt};
use crate::types::declare::{bound_names, single_expression, strip};
use crate::types::store::{Named, Owner};
use crate::types::tree::{
    Callee, Case, Condition, Expr, ExprKind, Iteration, Pattern, PatternKind, Place, Root, Stmt, StmtKind,
};
use crate::types::ty::Type;
use std::rc::Rc;

impl Infer<'_> {
    /// The statements of a function's body; a single expression is its result.
    pub(super) fn function_statements(&mut self, body: &ast::Block, result: &Type) -> Vec<Stmt> {
        if let Some(only) = single_expression(body)
            && !result.is_unit()
        {
            let start = (self.pending.len(), self.world.var_count());
            let is_statement = matches!(only.kind, Ast::If { .. } | Ast::Switch { .. }) && ends_in_statements(only);
            if !is_statement {
                let value = self.expr(only, Some(result));
                let value = self.coerce(value, result);
                self.settle_statement(start);
                let span = value.span;
                let kind = if *result == Type::Never { StmtKind::Expr(value) } else { StmtKind::Return(Some(value)) };
                return vec![Stmt { kind, span }];
            }
        }
        self.body_statements(body, result)
    }

    /// The statements of a body, without a scope of its own beyond the frame's.
    pub(super) fn body_statements(&mut self, body: &ast::Block, _result: &Type) -> Vec<Stmt> {
        self.statements(&body.items)
    }

    pub(super) fn block(&mut self, body: &ast::Block) -> Vec<Stmt> {
        self.in_scope(|infer| infer.statements(&body.items))
    }

    pub(super) fn statements(&mut self, items: &[ast::Stmt]) -> Vec<Stmt> {
        let mut out = vec![];
        let functions = if self.frame().kind == FrameKind::Script && self.frame().scopes.len() == 1 {
            vec![]
        } else {
            self.declare_local_functions(items)
        };
        for item in items {
            let start = (self.pending.len(), self.world.var_count());
            let is_function =
                |decl: &Rc<ast::Decl>| functions.iter().find(|(_, d)| Rc::ptr_eq(d, decl)).map(|(f, _)| *f);
            match &item.kind {
                AstStmt::Decl(decl) => match is_function(decl) {
                    Some(f) => out.push(self.local_function(f)),
                    None => self.declaration(decl, &mut out),
                },
                _ => self.statement(item, &mut out),
            }
            self.settle_statement(start);
        }
        out
    }

    /// Ends a statement: what still waits is decided by default.
    pub(super) fn settle_statement(&mut self, start: (usize, u32)) {
        self.settling_numbers = true;
        self.settle(start.0, start.1);
        self.settling_numbers = false;
    }

    fn statement(&mut self, item: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = item.span;
        match &item.kind {
            AstStmt::Expr(e) => match &e.kind {
                Ast::If { .. } | Ast::Switch { .. } | Ast::Block(_) => self.branch_statement(e, None, out),
                _ => {
                    let value = self.expr(e, None);
                    match value.kind {
                        ExprKind::Assign { place, value } => {
                            out.push(Stmt { kind: StmtKind::Assign { place: *place, value: *value }, span });
                        }
                        _ => out.push(Stmt { kind: StmtKind::Expr(value), span }),
                    }
                }
            },
            AstStmt::Labelled { label, body } => self.branch_statement(body, Some(label), out),
            AstStmt::Decl(decl) => self.declaration(decl, out),
            AstStmt::Guard { conditions, body } => self.guard(conditions, body, span, out),
            AstStmt::While { label, conditions, body } => {
                let kind = self.labelled(label.as_ref(), true, |infer, label| {
                    infer.in_scope(|infer| {
                        let conditions = infer.conditions(conditions);
                        let body = infer.block(body);
                        StmtKind::While { label, conditions, body }
                    })
                });
                out.push(Stmt { kind, span });
            }
            AstStmt::Repeat { label, body, condition } => {
                let kind = self.labelled(label.as_ref(), true, |infer, label| {
                    let body = infer.block(body);
                    let start = (infer.pending.len(), infer.world.var_count());
                    let condition = infer.condition_value(condition);
                    infer.settle_statement(start);
                    StmtKind::Repeat { label, body, condition }
                });
                out.push(Stmt { kind, span });
            }
            AstStmt::For { label, pattern, sequence, filter, body } => {
                let statement = self.for_loop(label.as_ref(), pattern, sequence, filter.as_ref(), body, span);
                out.push(statement);
            }
            AstStmt::Return(value) => self.return_statement(value.as_ref(), span, out),
            AstStmt::Break(label) => self.jump(label.as_ref(), false, span, out),
            AstStmt::Continue(label) => self.jump(label.as_ref(), true, span, out),
            AstStmt::Fallthrough => {
                self.error(Diagnostic::error(
                    Code::WrongContext,
                    span,
                    "'fallthrough' is only allowed at the end of a case of a 'switch'",
                ));
            }
            AstStmt::Throw(value) => {
                let value = self.expr(value, None);
                let error = self.world.protocol("Error");
                let value = self.coerce(value, &Type::Existential(Rc::from([error])));
                self.needs_try(span);
                out.push(Stmt { kind: StmtKind::Throw(value), span });
            }
            AstStmt::Defer(body) => {
                let body = self.block(body);
                out.push(Stmt { kind: StmtKind::Defer(body), span });
            }
            AstStmt::Do { body, catches } => self.do_statement(body, catches, None, span, out),
            AstStmt::Adjoint { .. } => {
                self.error(Diagnostic::error(Code::Unsupported, span, "inline adjoints are not supported yet"));
            }
        }
    }

    fn do_statement(
        &mut self,
        body: &ast::Block,
        catches: &[ast::Catch],
        label: Option<&ast::Ident>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if catches.is_empty() {
            let kind = self.labelled(label, false, |infer, label| StmtKind::Block { label, body: infer.block(body) });
            out.push(Stmt { kind, span });
            return;
        }
        let error = self.world.protocol("Error");
        let ty = Type::Existential(Rc::from([error]));
        self.frame().catching += 1;
        let body = self.block(body);
        self.frame().catching -= 1;
        let local = self.new_local("error", ty.clone(), false, span);
        let mut cases = vec![];
        for catch in catches {
            let case = self.in_scope(|infer| {
                infer.bind(&"error".into(), local);
                let patterns = match &catch.pattern {
                    Some(pattern) => {
                        let pattern = infer.pattern(pattern, &ty, false);
                        let guard = catch.guard.as_ref().map(|g| infer.condition_value(g));
                        vec![(pattern, guard)]
                    }
                    None => vec![],
                };
                let body = infer.block(&catch.body);
                Case { patterns, body, falls_through: false, span: catch.span }
            });
            cases.push(case);
        }
        out.push(Stmt { kind: StmtKind::Catch { body, local, cases }, span });
    }

    fn guard(&mut self, conditions: &[ast::Condition], body: &ast::Block, span: Span, out: &mut Vec<Stmt>) {
        let conditions = self.conditions(conditions);
        let otherwise = self.block(body);
        if !leaves(&otherwise) {
            let message = "'guard' body must not fall through, consider using a 'return' or 'throw' to exit the scope";
            self.error(Diagnostic::error(Code::WrongContext, body.span, message));
        }
        out.push(Stmt { kind: StmtKind::If { conditions, then: vec![], otherwise }, span });
    }

    /// The conditions of `if`, `guard` and `while`; what they bind comes into the current scope.
    pub(super) fn conditions(&mut self, conditions: &[ast::Condition]) -> Vec<Condition> {
        let mut out = vec![];
        for condition in conditions {
            let start = (self.pending.len(), self.world.var_count());
            let made = match condition {
                ast::Condition::Expr(e) => Condition::Bool(self.condition_value(e)),
                ast::Condition::Optional { is_let, pattern, ty, value, span } => {
                    let wanted = ty.as_ref().map(|t| {
                        let inner = self.resolve(t);
                        self.world.applied("Optional", &[inner])
                    });
                    let value = match value {
                        Some(value) => self.expr(value, wanted.as_ref()),
                        None => match &strip(pattern).kind {
                            ast::PatternKind::Bind { name, .. } => {
                                let e = ast::Expr {
                                    kind: Ast::Ident { name: name.clone(), generics: vec![] },
                                    span: pattern.span,
                                };
                                self.expr(&e, wanted.as_ref())
                            }
                            _ => self.error_expr(*span),
                        },
                    };
                    self.settle_statement(start);
                    let of = match self.world.optional_payload(&value.ty.clone()) {
                        Some(of) => of,
                        None => {
                            if value.ty != Type::Error {
                                let message = format!(
                                    "initializer for conditional binding must have Optional type, not '{}'",
                                    self.show(&value.ty.clone())
                                );
                                self.error(Diagnostic::error(Code::Mismatch, value.span, message));
                            }
                            Type::Error
                        }
                    };
                    let inner = self.pattern(pattern, &of, !is_let);
                    let kind = PatternKind::Some(Box::new(inner));
                    Condition::Match { pattern: Pattern { kind, ty: value.ty.clone(), span: *span }, value }
                }
                ast::Condition::Case { pattern, value, .. } => {
                    let value = self.expr(value, None);
                    self.settle_statement(start);
                    let ty = value.ty.clone();
                    let pattern = self.pattern(pattern, &ty, false);
                    Condition::Match { pattern, value }
                }
            };
            self.settle_statement(start);
            out.push(made);
        }
        out
    }

    /// `if`, `switch`, `do` as statements.
    fn branch_statement(&mut self, e: &ast::Expr, label: Option<&ast::Ident>, out: &mut Vec<Stmt>) {
        let span = e.span;
        match &e.kind {
            Ast::If { conditions, then, otherwise } => {
                let statement = |infer: &mut Self| infer.if_statement(conditions, then, otherwise.as_deref(), span);
                match label {
                    Some(name) => {
                        let kind = self.labelled(Some(name), false, |infer, label| StmtKind::Block {
                            label,
                            body: vec![statement(infer)],
                        });
                        out.push(Stmt { kind, span });
                    }
                    None => {
                        let made = statement(self);
                        out.push(made);
                    }
                }
            }
            Ast::Switch { value, cases } => {
                let statement = self.switch(label, value, cases, span, None);
                out.push(statement);
            }
            Ast::Block(body) => {
                let kind =
                    self.labelled(label, false, |infer, label| StmtKind::Block { label, body: infer.block(body) });
                out.push(Stmt { kind, span });
            }
            _ => {
                let value = self.expr(e, None);
                out.push(Stmt { kind: StmtKind::Expr(value), span });
            }
        }
    }

    fn if_statement(
        &mut self,
        conditions: &[ast::Condition],
        then: &ast::Block,
        otherwise: Option<&ast::Expr>,
        span: Span,
    ) -> Stmt {
        let (conditions, then) = self.in_scope(|infer| {
            let conditions = infer.conditions(conditions);
            (conditions, infer.block(then))
        });
        let mut rest = vec![];
        if let Some(otherwise) = otherwise {
            match &otherwise.kind {
                Ast::Block(body) => rest = self.block(body),
                _ => self.branch_statement(otherwise, None, &mut rest),
            }
        }
        Stmt { kind: StmtKind::If { conditions, then, otherwise: rest }, span }
    }

    fn switch(
        &mut self,
        label: Option<&ast::Ident>,
        value: &ast::Expr,
        cases: &[ast::SwitchCase],
        span: Span,
        result: Option<(&Place, &Type)>,
    ) -> Stmt {
        let start = (self.pending.len(), self.world.var_count());
        let subject = self.expr(value, None);
        self.settle_statement(start);
        let ty = self.world.resolved(&subject.ty.clone());
        let local = self.new_local("", ty.clone(), false, value.span);
        let kind = self.labelled(label, false, |infer, label| {
            let mut made = vec![];
            for case in cases {
                let case = infer.in_scope(|infer| infer.switch_case(case, &ty, result));
                made.push(case);
            }
            infer.check_exhaustive(&ty, &made, span);
            StmtKind::Switch { label, local, subject, cases: made }
        });
        Stmt { kind, span }
    }

    fn switch_case(&mut self, case: &ast::SwitchCase, ty: &Type, result: Option<(&Place, &Type)>) -> Case {
        let mut patterns = vec![];
        let saved = (std::mem::take(&mut self.shared), std::mem::take(&mut self.bound));
        for (pattern, guard) in &case.patterns {
            let start = (self.pending.len(), self.world.var_count());
            let pattern = self.pattern(pattern, ty, false);
            self.settle_statement(start);
            let guard = guard.as_ref().map(|g| self.condition_value(g));
            self.settle_statement(start);
            patterns.push((pattern, guard));
            let bound = std::mem::take(&mut self.bound);
            self.shared.extend(bound);
        }
        (self.shared, self.bound) = saved;
        let mut items: &[ast::Stmt] = &case.body.items;
        let mut falls_through = false;
        if let Some((last, rest)) = items.split_last()
            && matches!(last.kind, AstStmt::Fallthrough)
        {
            (items, falls_through) = (rest, true);
        }
        let body = match result {
            Some((place, wanted)) => {
                let block = ast::Block { items: items.to_vec(), span: case.body.span };
                self.value_block(&block, place, wanted)
            }
            None => self.in_scope(|infer| infer.statements(items)),
        };
        Case { patterns, body, falls_through, span: case.span }
    }

    /// `if` and `switch` as values.
    pub(super) fn statement_expression(&mut self, e: &ast::Expr, expected: Option<&Type>) -> Expr {
        let span = e.span;
        let wanted = expected.cloned().unwrap_or_else(|| self.world.fresh());
        let local = self.new_local("", wanted.clone(), true, span);
        let place = Place { root: Root::Local(local), path: vec![], ty: wanted.clone(), span };
        let statement = self.value_statement(e, &place, &wanted);
        Expr { kind: ExprKind::Statements { statements: vec![statement], result: local }, ty: wanted, span }
    }

    fn value_statement(&mut self, e: &ast::Expr, place: &Place, wanted: &Type) -> Stmt {
        let span = e.span;
        match &e.kind {
            Ast::If { conditions, then, otherwise } => {
                let (conditions, then) = self.in_scope(|infer| {
                    let conditions = infer.conditions(conditions);
                    (conditions, infer.value_block(then, place, wanted))
                });
                let otherwise = match otherwise.as_deref() {
                    Some(ast::Expr { kind: Ast::Block(body), .. }) => {
                        self.in_scope(|infer| infer.value_block(body, place, wanted))
                    }
                    Some(other) => vec![self.value_statement(other, place, wanted)],
                    None => {
                        let message = "'if' must have an 'else' clause when used as an expression";
                        self.error(Diagnostic::error(Code::Types, span, message));
                        vec![]
                    }
                };
                Stmt { kind: StmtKind::If { conditions, then, otherwise }, span }
            }
            Ast::Switch { value, cases } => self.switch(None, value, cases, span, Some((place, wanted))),
            Ast::Block(body) => {
                let kind = self.labelled(None, false, |infer, label| StmtKind::Block {
                    label,
                    body: infer.value_block(body, place, wanted),
                });
                Stmt { kind, span }
            }
            _ => {
                let value = self.expr(e, Some(wanted));
                let value = self.coerce(value, wanted);
                Stmt { kind: StmtKind::Assign { place: place.clone(), value }, span }
            }
        }
    }

    /// A block whose last expression is stored.
    fn value_block(&mut self, body: &ast::Block, place: &Place, wanted: &Type) -> Vec<Stmt> {
        let Some((last, before)) = body.items.split_last() else { return vec![] };
        match &last.kind {
            AstStmt::Expr(value) => {
                let mut out = self.statements(before);
                out.push(self.value_statement(value, place, wanted));
                out
            }
            _ => self.statements(&body.items),
        }
    }

    fn for_loop(
        &mut self,
        label: Option<&ast::Ident>,
        pattern: &ast::Pattern,
        sequence: &ast::Expr,
        filter: Option<&ast::Expr>,
        body: &ast::Block,
        span: Span,
    ) -> Stmt {
        let start = (self.pending.len(), self.world.var_count());
        let sequence = self.expr(sequence, None);
        self.settle_statement(start);
        let ty = self.world.resolved(&sequence.ty.clone());
        let (iteration, element) = self.iteration(&ty, sequence.span);
        let kind = self.labelled(label, true, |infer, label| {
            infer.in_scope(|infer| {
                let pattern = infer.pattern(pattern, &element, false);
                let filter = filter.map(|f| {
                    let start = (infer.pending.len(), infer.world.var_count());
                    let value = infer.condition_value(f);
                    infer.settle_statement(start);
                    value
                });
                let body = infer.block(body);
                StmtKind::For { label, pattern, sequence, iteration, filter, body }
            })
        });
        Stmt { kind, span }
    }

    /// How a loop steps through a sequence, and the type of its elements.
    fn iteration(&mut self, ty: &Type, span: Span) -> (Iteration, Type) {
        let int = self.world.simple("Int");
        if let Type::Nominal(n, args) = ty {
            let name = self.world.nominal_data(*n).name.clone();
            let is_prelude = self.world.nominal_data(*n).is_prelude;
            match (&*name, args.first()) {
                ("Range", Some(of)) if is_prelude && *of == int => return (Iteration::Range, int),
                ("ClosedRange", Some(of)) if is_prelude && *of == int => return (Iteration::ClosedRange, int),
                ("Array", Some(of)) if is_prelude => return (Iteration::Array, of.clone()),
                _ => {}
            }
        }
        if *ty == Type::Error {
            self.failed = true;
            return (Iteration::Array, Type::Error);
        }
        let sequence = self.world.protocol("Sequence");
        let iterator_protocol = self.world.protocol("IteratorProtocol");
        if !self.world.conforms_to(ty, sequence) {
            let message = format!("for-in loop requires '{}' to conform to 'Sequence'", self.show(ty));
            self.error(Diagnostic::error(Code::NotConforming, span, message));
            return (Iteration::Array, Type::Error);
        }
        let requirement = |infer: &mut Self, p, name: &str| {
            infer.world.protocol_data(p).requirements.iter().position(|r| &*r.name == name).map(|i| i as u32)
        };
        let (Some(make), Some(next)) =
            (requirement(self, sequence, "makeIterator"), requirement(self, iterator_protocol, "next"))
        else {
            return (Iteration::Array, Type::Error);
        };
        let iterator = self.world.associated_type(ty, "Iterator").unwrap_or(Type::Error);
        let element = self.world.associated_type(&iterator, "Element").unwrap_or(Type::Error);
        let make =
            Callee::Requirement { protocol: sequence, requirement: make, self_type: ty.clone(), generics: vec![] };
        let next = Callee::Requirement {
            protocol: iterator_protocol,
            requirement: next,
            self_type: iterator.clone(),
            generics: vec![],
        };
        (Iteration::Iterator { make, iterator, next }, element)
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span, out: &mut Vec<Stmt>) {
        if self.frame().kind == FrameKind::Script {
            self.error(Diagnostic::error(Code::WrongContext, span, "'return' is only allowed inside of a function"));
            return;
        }
        let result = self.frame().result.clone();
        if let Some(local) = self.frame().init_self {
            let is_failable = self.world.is_optional(&result)
                && !self.world.is_optional(&self.frames[self.current].locals[local.0 as usize].ty.clone());
            let value = match value {
                Some(ast::Expr { kind: Ast::Nil, .. }) if is_failable => Expr { kind: ExprKind::Nil, ty: result, span },
                Some(_) => {
                    self.fail(Code::WrongContext, span, "an initializer returns nothing, or 'nil' when it can fail")
                }
                None => {
                    let value = self.local_expr(local, span);
                    self.coerce(value, &result)
                }
            };
            out.push(Stmt { kind: StmtKind::Return(Some(value)), span });
            return;
        }
        let is_unit = self.world.shallow(&result).is_unit();
        let value = match value {
            Some(value) => {
                let found = self.expr(value, Some(&result));
                if is_unit && !self.world.shallow(&found.ty.clone()).is_unit() && found.ty != Type::Error {
                    let message = "unexpected non-void return value in void function";
                    let diagnostic = Diagnostic::error(Code::Mismatch, value.span, message);
                    self.error(diagnostic.help("say what the function returns: '-> Type'"));
                    return;
                }
                Some(self.coerce(found, &result))
            }
            None => {
                let unit = Type::unit();
                if !self.world.unify(&result, &unit, span) {
                    let message = format!("non-void function should return a value of type '{}'", self.show(&result));
                    self.error(Diagnostic::error(Code::MissingReturn, span, message));
                }
                None
            }
        };
        out.push(Stmt { kind: StmtKind::Return(value), span });
    }

    fn jump(&mut self, label: Option<&ast::Ident>, is_continue: bool, span: Span, out: &mut Vec<Stmt>) {
        let word = if is_continue { "continue" } else { "break" };
        let in_switch = |l: &super::Label| l.name.is_some() || l.is_loop;
        let found = match label {
            Some(name) => self
                .frame()
                .labels
                .iter()
                .rev()
                .find(|l| l.name.as_ref() == Some(&name.name))
                .map(|l| (l.id, l.is_loop)),
            None => self
                .frame()
                .labels
                .iter()
                .rev()
                .find(|l| l.is_loop || (!is_continue && !in_switch(l)))
                .map(|l| (l.id, l.is_loop)),
        };
        match found {
            Some((_, false)) if is_continue => {
                self.error(Diagnostic::error(Code::WrongContext, span, "'continue' must name a loop"));
            }
            Some((id, _)) => {
                let kind = if is_continue { StmtKind::Continue(id) } else { StmtKind::Break(id) };
                out.push(Stmt { kind, span });
            }
            None => {
                let message = match label {
                    Some(name) => format!("cannot find label '{}' in scope", name.name),
                    None => format!("'{word}' is only allowed inside a loop"),
                };
                self.error(Diagnostic::error(Code::WrongContext, span, message));
            }
        }
    }

    fn declaration(&mut self, decl: &Rc<ast::Decl>, out: &mut Vec<Stmt>) {
        match &decl.kind {
            DeclKind::Variable { is_let, bindings } => {
                for binding in bindings {
                    let start = (self.pending.len(), self.world.var_count());
                    self.variable(*is_let, binding, decl.span, out);
                    self.settle_statement(start);
                }
            }
            DeclKind::Nominal(nominal) if !self.is_top() => {
                let is_prelude = false;
                let id = self.world.declare_nominal(decl, nominal, Owner::Module, None, self.file, is_prelude);
                Rc::make_mut(&mut self.local_types).insert(nominal.name.name.clone(), Named::Nominal(id));
                self.local_nominals.push(id);
            }
            DeclKind::TypeAlias { name, generics, target } if !self.is_top() => {
                let id = self.world.declare_alias(name, generics, target, self.owner, None, self.file);
                Rc::make_mut(&mut self.local_types).insert(name.name.clone(), Named::Alias(id));
            }
            _ if self.is_top() => {}
            _ => {
                self.error(Diagnostic::error(
                    Code::WrongContext,
                    decl.span,
                    "this declaration is only allowed at the top level",
                ));
            }
        }
    }

    fn is_top(&mut self) -> bool {
        self.frame().kind == FrameKind::Script && self.frame().scopes.len() == 1
    }

    /// One `pattern: Type = value` of a `let` or `var`.
    fn variable(&mut self, is_let: bool, binding: &ast::Binding, span: Span, out: &mut Vec<Stmt>) {
        if binding.accessors.as_ref().is_some_and(|a| a.get.is_some()) {
            if !self.is_top() {
                self.error(Diagnostic::error(
                    Code::Unsupported,
                    span,
                    "computed variables inside of a function are not supported yet",
                ));
            }
            return;
        }
        let start = (self.pending.len(), self.world.var_count());
        let written = match (&binding.ty, &binding.pattern.kind) {
            (Some(ty), _) | (None, ast::PatternKind::Typed(_, ty)) => Some(self.resolve(ty)),
            _ => None,
        };
        let value = binding.value.as_ref().map(|value| {
            let found = self.expr(value, written.as_ref());
            match &written {
                Some(ty) => self.coerce(found, ty),
                None => found,
            }
        });
        if written.is_none() {
            self.settle_statement(start);
        }
        let ty = match (&written, &value) {
            (Some(ty), _) => ty.clone(),
            (None, Some(value)) => value.ty.clone(),
            (None, None) => {
                let message = "type annotation missing in pattern";
                self.error(
                    Diagnostic::error(Code::CannotInfer, binding.pattern.span, message)
                        .help("write ': Type', or a value"),
                );
                Type::Error
            }
        };
        if self.is_top() {
            self.global_variable(binding, value, &ty, span, out);
            return;
        }
        let value = match value {
            None if self.world.is_optional(&ty) && !is_let => Some(Expr { kind: ExprKind::Nil, ty: ty.clone(), span }),
            other => other,
        };
        let mutable = !is_let || value.is_none();
        let pattern = self.pattern(strip(&binding.pattern), &ty, mutable);
        if !Infer::is_certain(&pattern) {
            self.error(Diagnostic::error(
                Code::WrongContext,
                binding.pattern.span,
                "this pattern does not always match; use 'if case' or 'guard case'",
            ));
        }
        out.push(Stmt { kind: StmtKind::Let { pattern, value }, span });
    }

    /// A variable of the script: a global.
    fn global_variable(
        &mut self,
        binding: &ast::Binding,
        value: Option<Expr>,
        ty: &Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut names = vec![];
        bound_names(&binding.pattern, &mut names);
        let globals: Vec<_> = names.iter().map(|(name, at, _)| self.global_at(name, *at)).collect();
        if let ([Some(global)], ast::PatternKind::Bind { .. }) = (globals.as_slice(), &strip(&binding.pattern).kind) {
            let ty = self.world.resolved(ty);
            self.set_global_type(*global, &ty);
            self.note_closure_names(*global, binding);
            let value = match value {
                Some(value) => value,
                None if self.world.is_optional(&ty) => Expr { kind: ExprKind::Nil, ty, span },
                None => return,
            };
            out.push(Stmt { kind: StmtKind::InitGlobal { global: *global, value }, span });
            return;
        }
        let Some(value) = value else { return };
        let pattern = self.in_scope(|infer| infer.pattern(strip(&binding.pattern), ty, false));
        out.push(Stmt { kind: StmtKind::Let { pattern: pattern.clone(), value: Some(value) }, span });
        let mut locals = vec![];
        bound_locals(&pattern, &mut locals);
        for (global, local) in globals.into_iter().zip(locals) {
            let Some(global) = global else { continue };
            let value = self.local_expr(local, span);
            let ty = self.world.resolved(&value.ty.clone());
            self.set_global_type(global, &ty);
            out.push(Stmt { kind: StmtKind::InitGlobal { global, value }, span });
        }
    }

    /// The global that a name at a place of the script declares.
    fn global_at(&mut self, name: &ast::Name, span: Span) -> Option<crate::types::tree::GlobalId> {
        self.world
            .globals
            .iter()
            .rposition(|g| g.name == *name && g.span == span)
            .map(|i| crate::types::tree::GlobalId(i as u32))
    }

    fn set_global_type(&mut self, global: crate::types::tree::GlobalId, ty: &Type) {
        self.world.globals[global.0 as usize].ty = Some(ty.clone());
    }

    fn note_closure_names(&mut self, global: crate::types::tree::GlobalId, binding: &ast::Binding) {
        if let Some(ast::Expr { kind: Ast::Closure(closure), .. }) = &binding.value
            && let Some(params) = &closure.params
        {
            let names = params.iter().map(|p| p.name.name.clone()).collect();
            self.world.closure_names.insert(global, names);
        }
    }
}

fn bound_locals(p: &Pattern, out: &mut Vec<crate::types::tree::LocalId>) {
    match &p.kind {
        PatternKind::Bind(local) => out.push(*local),
        PatternKind::Tuple(parts) => parts.iter().for_each(|p| bound_locals(p, out)),
        _ => {}
    }
}

/// Whether an `if` or `switch` that is the only thing in a body is a statement with `return`s rather than a value.
fn ends_in_statements(e: &ast::Expr) -> bool {
    let block =
        |b: &ast::Block| !matches!(b.items.last().map(|s| &s.kind), Some(AstStmt::Expr(_)) | Some(AstStmt::Throw(_)));
    match &e.kind {
        Ast::If { then, otherwise, .. } => match otherwise.as_deref() {
            None => true,
            Some(other) => block(then) || ends_in_statements(other),
        },
        Ast::Block(b) => block(b),
        Ast::Switch { cases, .. } => cases.iter().any(|c| block(&c.body)),
        _ => false,
    }
}

/// Whether statements never fall through to what follows.
pub(super) fn leaves(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Return(_) | StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Throw(_) => true,
        StmtKind::Expr(e) => never_returns(e),
        StmtKind::If { then, otherwise, .. } => leaves(then) && leaves(otherwise),
        StmtKind::Switch { cases, label, .. } => {
            !cases.is_empty()
                && cases.iter().all(|c| c.falls_through || leaves(&c.body))
                && !cases.iter().any(|c| breaks_to(&c.body, *label))
        }
        StmtKind::Block { body, label } => leaves(body) && !breaks_to(body, *label),
        StmtKind::While { conditions, body, label } => {
            let forever =
                conditions.iter().all(|c| matches!(c, Condition::Bool(Expr { kind: ExprKind::Bool(true), .. })));
            forever && !breaks_to(body, *label)
        }
        StmtKind::Repeat { body, condition, label } => {
            (leaves(body) || matches!(condition.kind, ExprKind::Bool(true))) && !breaks_to(body, *label)
        }
        StmtKind::Catch { body, cases, .. } => leaves(body) && cases.iter().all(|c| leaves(&c.body)),
        _ => false,
    })
}

fn never_returns(e: &Expr) -> bool {
    e.ty == Type::Never || matches!(e.kind, ExprKind::Error)
}

fn breaks_to(statements: &[Stmt], label: crate::types::tree::LabelId) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Break(l) => *l == label,
        StmtKind::If { then, otherwise, .. } => breaks_to(then, label) || breaks_to(otherwise, label),
        StmtKind::Switch { cases, .. } | StmtKind::Catch { cases, .. } => {
            cases.iter().any(|c| breaks_to(&c.body, label))
        }
        StmtKind::While { body, .. }
        | StmtKind::Repeat { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Block { body, .. } => breaks_to(body, label),
        _ => false,
    })
}
