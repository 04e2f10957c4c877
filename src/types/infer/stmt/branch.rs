//! Branches: `if`, `guard` and `switch`, as statements and as values.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, StmtKind as AstStmt};
use crate::types::generics::unification;
use crate::types::infer::{Infer, LabelKind};
use crate::types::model::syntax_query::strip;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{
    Case, Condition, Expr, ExprKind, LabelId, LocalId, Pattern, PatternKind, Place, Root, Stmt, StmtKind,
};
use crate::types::names::name_lookup;

/// The branches of an `if` or `switch` that is used as a value.
struct Branches {
    /// The variable in which each branch stores its value.
    local: LocalId,
    /// The type of the variable of the value.
    ty: Type,
    /// Whether no type is expected, so that the values determine the type.
    is_open: bool,
    /// Whether the values are converted to a type that they have in common: numbers to `Double`, or instances to a
    /// superclass.
    is_joined: bool,
    /// The expected type if it is an existential: the values are converted to it when all of them are inferred.
    erased: Option<Type>,
}

impl Infer<'_> {
    pub(crate) fn guard(&mut self, conditions: &[ast::Condition], body: &ast::Block, span: Span, out: &mut Vec<Stmt>) {
        let conditions = self.conditions(conditions);
        let otherwise = self.block(body);
        out.push(Stmt { kind: StmtKind::Guard { conditions, otherwise, end: body.span.last() }, span });
    }

    /// Infers the conditions of `if`, `guard` and `while`; the names that the conditions bind come into the current
    /// scope.
    pub(crate) fn conditions(&mut self, conditions: &[ast::Condition]) -> Vec<Condition> {
        let mut out = vec![];
        for condition in conditions {
            let start = (self.pending.len(), self.cx.vars.var_count());
            let made = match condition {
                ast::Condition::Expr(e) => Condition::Bool(self.condition_value(e)),
                ast::Condition::Optional { is_let, pattern, ty, value, span } => {
                    let wanted = ty.as_ref().map(|t| {
                        let inner = self.resolve(t);
                        name_lookup::applied(self.cx, "Optional", &[inner])
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
                    self.resolve_statement(start);
                    let value = match wanted {
                        Some(wanted) if name_lookup::is_optional(self.cx, &value.ty) => self.coerce(value, &wanted),
                        _ => value,
                    };
                    let of = match name_lookup::optional_payload(self.cx, &value.ty.clone()) {
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
                    self.resolve_statement(start);
                    let ty = value.ty.clone();
                    let pattern = self.pattern(pattern, &ty, false);
                    Condition::Match { pattern, value }
                }
            };
            self.resolve_statement(start);
            out.push(made);
        }
        out
    }

    /// Infers an `if`, `switch` or `do` that is used as a statement.
    pub(crate) fn branch_statement(&mut self, e: &ast::Expr, label: Option<&ast::Ident>, out: &mut Vec<Stmt>) {
        let span = e.span;
        match &e.kind {
            Ast::If { conditions, then, otherwise } => {
                let statement = |infer: &mut Self| infer.if_statement(conditions, then, otherwise.as_deref(), span);
                match label {
                    Some(name) => {
                        let kind = self.labeled(Some(name), LabelKind::Block, |infer, label| StmtKind::Block {
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
                let kind = self.labeled(label, LabelKind::Block, |infer, label| StmtKind::Block {
                    label,
                    body: infer.block(body),
                });
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
        mut result: Option<&mut Branches>,
    ) -> Stmt {
        let start = (self.pending.len(), self.cx.vars.var_count());
        let subject = self.expr(value, None);
        self.resolve_statement(start);
        let ty = unification::resolved(self.cx, &subject.ty.clone());
        let local = self.new_local("", ty.clone(), false, value.span);
        let kind = self.labeled(label, LabelKind::Switch, |infer, label| {
            let mut made = vec![];
            infer.check_default_is_last(cases);
            for case in cases {
                let case = infer.in_scope(|infer| infer.switch_case(case, &ty, label, result.as_deref_mut()));
                made.push(case);
            }
            infer.check_entered_cases(cases, &made);
            let head = Span::new(span.start, value.span.end);
            infer.check_exhaustive(&ty, &made, head);
            infer.warn_of_unreached_cases(&ty, &made);
            StmtKind::Switch { label, local, subject, cases: made }
        });
        Stmt { kind, span }
    }

    /// Reports each `fallthrough` without a next case, and each one that would enter a case without values for its variables.
    fn check_entered_cases(&mut self, cases: &[ast::SwitchCase], made: &[Case]) {
        for (i, (written, _)) in cases.iter().zip(made).enumerate().filter(|(_, (_, case))| case.falls_through) {
            let leaves = "leaves this case by 'fallthrough'";
            match (cases.get(i + 1), made.get(i + 1)) {
                (Some(next), Some(entered))
                    if entered.patterns.iter().any(|(pattern, _)| !pattern.bound().is_empty()) =>
                {
                    let message = "'fallthrough' cannot transfer control to a case label that declares variables";
                    let diagnostic = Diagnostic::error(Code::WrongContext, label_of(next), message);
                    self.error(diagnostic.also(label_of(written), leaves));
                }
                (Some(_), _) => {}
                (None, _) => {
                    let message = "'fallthrough' without a following 'case' or 'default' block";
                    self.error(Diagnostic::error(Code::WrongContext, label_of(written), message));
                }
            }
        }
    }

    /// Reports a case after `default`, which would never match.
    fn check_default_is_last(&mut self, cases: &[ast::SwitchCase]) {
        let Some(at) = cases.iter().position(|c| c.patterns.is_empty()) else { return };
        let Some(after) = cases.get(at + 1) else { return };
        let message = "additional 'case' blocks cannot appear after the 'default' block of a 'switch'";
        let diagnostic = Diagnostic::error(Code::WrongContext, label_of(after), message);
        self.error(
            diagnostic.also(label_of(&cases[at]), "matches every remaining value").help("move 'default' to the end"),
        );
    }

    /// Infers one case of the `switch` statement or expression with a label.
    fn switch_case(
        &mut self,
        case: &ast::SwitchCase,
        ty: &Type,
        switch: LabelId,
        result: Option<&mut Branches>,
    ) -> Case {
        let patterns = self.case_patterns(&case.patterns, ty);
        let mut items: &[ast::Stmt] = &case.body.items;
        if items.is_empty() {
            let what = if case.patterns.is_empty() { "default" } else { "case" };
            let message = format!("'{what}' label in a 'switch' must have at least one executable statement");
            let end = match case.patterns.last() {
                Some((pattern, guard)) => guard.as_ref().map_or(pattern.span.end, |g| g.span.end),
                None => case.span.start + "default".len() as u32,
            };
            let label = Span::new(case.span.start, end);
            self.error(
                Diagnostic::error(Code::WrongContext, label, message).help("write 'break' if nothing should be done"),
            );
        }
        let mut falls_through = false;
        if let Some((last, rest)) = items.split_last()
            && matches!(last.kind, AstStmt::Fallthrough)
        {
            (items, falls_through) = (rest, true);
        }
        let body = match result {
            Some(branches) => {
                let block = ast::Block { items: items.to_vec(), span: case.body.span };
                self.value_block(&block, branches)
            }
            None => {
                let (label, mut body) = self.labeled(None, LabelKind::Case, |infer, label| {
                    (label, infer.in_scope(|infer| infer.statements(items)))
                });
                let left = &mut self.frame().left_cases;
                let before = left.len();
                left.retain(|case| *case != label);
                if left.len() < before {
                    // A `fallthrough` inside another statement leaves the body; the end of the body leaves the `switch`.
                    if !falls_through {
                        let end = Span::new(case.span.end, case.span.end);
                        body.push(Stmt { kind: StmtKind::Break(switch), span: end });
                    }
                    body = vec![Stmt { kind: StmtKind::Block { label, body }, span: case.span }];
                    falls_through = true;
                }
                body
            }
        };
        Case { patterns, body, falls_through, span: case.span }
    }

    /// Infers the patterns of one case; a name that several patterns bind is one variable.
    pub(crate) fn case_patterns(
        &mut self,
        written: &[(ast::Pattern, Option<ast::Expr>)],
        ty: &Type,
    ) -> Vec<(Pattern, Option<Expr>)> {
        let mut patterns = vec![];
        let saved = (std::mem::take(&mut self.shared), std::mem::take(&mut self.bound));
        for (pattern, guard) in written {
            let start = (self.pending.len(), self.cx.vars.var_count());
            let pattern = self.pattern(pattern, ty, false);
            self.resolve_statement(start);
            let guard = guard.as_ref().map(|g| self.condition_value(g));
            self.resolve_statement(start);
            patterns.push((pattern, guard));
            let bound = std::mem::take(&mut self.bound);
            self.shared.extend(bound);
        }
        (self.shared, self.bound) = saved;
        self.check_alternatives(&patterns);
        patterns
    }

    /// Reports names that not all alternatives of a case bind: the body of the case cannot determine which alternative
    /// matched.
    fn check_alternatives(&mut self, patterns: &[(Pattern, Option<Expr>)]) {
        let bound: Vec<Vec<LocalId>> = patterns.iter().map(|(p, _)| p.bound()).collect();
        let mut all: Vec<LocalId> = bound.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        for local in all {
            let Some(lacking) = bound.iter().position(|names| !names.contains(&local)) else { continue };
            let (name, at) = {
                let local = &self.frame().locals[local.0 as usize];
                (local.name.clone(), local.span)
            };
            let message = format!("'{name}' must be bound in every pattern of a 'case'");
            let diagnostic = Diagnostic::error(Code::Types, patterns[lacking].0.span, message)
                .label("not bound here")
                .also(at, format!("'{name}' is bound here"));
            self.error(diagnostic.help("write a separate case, or a pattern that does not use the name"));
        }
    }

    /// Infers an `if` or `switch` that is used as a value. If some branches are `Int`s and one is a `Double`, all of
    /// them become `Double`s, unless a type is expected.
    pub(crate) fn statement_expression(&mut self, e: &ast::Expr, expected: Option<&Type>) -> Expr {
        let span = e.span;
        let known = expected.filter(|ty| !self.is_undetermined(ty)).cloned();
        let erased = known.as_ref().map(|ty| unification::shallow(self.cx, ty)).filter(is_existential);
        let is_open = known.is_none();
        let ty = known.filter(|_| erased.is_none()).unwrap_or_else(|| self.cx.vars.fresh());
        let local = self.new_local("", ty.clone(), true, span);
        let mut branches = Branches { local, ty, is_open, is_joined: false, erased };
        let outer = std::mem::replace(&mut self.frame().in_value, true);
        let mut statement = self.value_statement(e, &mut branches);
        self.frame().in_value = outer;
        let Branches { mut ty, is_joined, erased, .. } = branches;
        if let Some(existential) = &erased {
            ty = self.type_before_erasure(&mut statement, local, existential);
        }
        if is_joined || erased.is_some() {
            self.frame().locals[local.0 as usize].ty = ty.clone();
            let mut values = vec![];
            branch_values(&mut statement, local, &mut values);
            for (place, value) in values {
                place.ty = ty.clone();
                *value = self.coerce(value.clone(), &ty);
            }
        }
        Expr { kind: ExprKind::Statements { statements: vec![statement], result: local }, ty, span }
    }

    /// Returns the common type of the branches of a value that is converted to an existential: a type of numbers, if
    /// all branches are numbers, so that the `Int`s beside a `Double` become `Double`s. The enclosing expression may be
    /// another alternative, so the caller converts these numbers.
    fn type_before_erasure(&mut self, statement: &mut Stmt, local: LocalId, existential: &Type) -> Type {
        let mut values = vec![];
        branch_values(statement, local, &mut values);
        let types: Vec<Type> = values.iter().map(|(_, value)| value.ty.clone()).collect();
        self.common_number_type(&types).unwrap_or_else(|| existential.clone())
    }

    fn value_statement(&mut self, e: &ast::Expr, branches: &mut Branches) -> Stmt {
        let span = e.span;
        match &e.kind {
            Ast::If { conditions, then, otherwise } => {
                let (conditions, then) = self.in_scope(|infer| {
                    let conditions = infer.conditions(conditions);
                    (conditions, infer.value_block(then, branches))
                });
                let otherwise = match otherwise.as_deref() {
                    Some(ast::Expr { kind: Ast::Block(body), .. }) => {
                        self.in_scope(|infer| infer.value_block(body, branches))
                    }
                    Some(other) => vec![self.value_statement(other, branches)],
                    None => {
                        let message = "'if' must have an 'else' clause when used as an expression";
                        self.error(Diagnostic::error(Code::Types, span, message));
                        vec![]
                    }
                };
                Stmt { kind: StmtKind::If { conditions, then, otherwise }, span }
            }
            Ast::Switch { value, cases } => self.switch(None, value, cases, span, Some(branches)),
            Ast::Block(body) => {
                let kind = self.labeled(None, LabelKind::Block, |infer, label| StmtKind::Block {
                    label,
                    body: infer.value_block(body, branches),
                });
                Stmt { kind, span }
            }
            _ => {
                let beside = match branches.is_open {
                    true => self.expected_beside(&branches.ty, e),
                    false => Some(branches.ty.clone()),
                };
                let value = self.expr(e, branches.erased.as_ref().or(beside.as_ref()));
                if branches.erased.is_some() {
                    let place = Place { root: Root::Local(branches.local), path: vec![], ty: value.ty.clone(), span };
                    return Stmt { kind: StmtKind::Assign { place, value }, span };
                }
                if self.refuses_literal(&value, &branches.ty) {
                    return Stmt { kind: StmtKind::Expr(self.error_expr(span)), span };
                }
                let common = match branches.is_open {
                    true if self.widens_common(&branches.ty, &value.ty) => Some(name_lookup::simple(self.cx, "Double")),
                    true => self.joined_type(&branches.ty, &value.ty),
                    false => None,
                };
                if let Some(common) = common {
                    branches.ty = common;
                    branches.is_joined = true;
                }
                let value = self.coerce(value, &branches.ty);
                let place = Place { root: Root::Local(branches.local), path: vec![], ty: branches.ty.clone(), span };
                Stmt { kind: StmtKind::Assign { place, value }, span }
            }
        }
    }

    /// Reports branches with literals of different types if no type is expected, as one branch does not determine the
    /// type of the other.
    fn refuses_literal(&mut self, value: &Expr, wanted: &Type) -> bool {
        let mut literal = |ty: &Type| match unification::shallow(self.cx, ty) {
            Type::Var(v) => self.cx.vars.var(v).literal,
            _ => None,
        };
        let (Some(before), Some(here)) = (literal(wanted), literal(&value.ty)) else { return false };
        let are_numbers = |a, b| matches!((a, b), (Literal::Int, Literal::Float) | (Literal::Float, Literal::Int));
        let (before, here, joins) = (before.usual(), here.usual(), are_numbers(before, here));
        let refuses = before != here && !joins;
        if refuses {
            let message = format!("branches have mismatching types '{before}' and '{here}'");
            let diagnostic = Diagnostic::error(Code::Mismatch, value.span, message);
            self.error(diagnostic.help("write the type of the variable, or use literals of the same type"));
        }
        refuses
    }

    /// Infers a block whose last expression is stored in a place.
    fn value_block(&mut self, body: &ast::Block, branches: &mut Branches) -> Vec<Stmt> {
        let Some((last, before)) = body.items.split_last() else { return vec![] };
        match &last.kind {
            AstStmt::Expr(value) => {
                let mut out = self.statements(before);
                out.push(self.value_statement(value, branches));
                out
            }
            _ => self.statements(&body.items),
        }
    }
}

fn is_existential(ty: &Type) -> bool {
    matches!(ty, Type::Existential(_))
}

/// Collects the values of the branches of a statement that are stored in a variable, with the places.
fn branch_values<'s>(statement: &'s mut Stmt, local: LocalId, out: &mut Vec<(&'s mut Place, &'s mut Expr)>) {
    let of_last = |body: &'s mut Vec<Stmt>, out: &mut Vec<(&'s mut Place, &'s mut Expr)>| {
        if let Some(last) = body.last_mut() {
            branch_values(last, local, out);
        }
    };
    match &mut statement.kind {
        StmtKind::If { then, otherwise, .. } => {
            of_last(then, out);
            of_last(otherwise, out);
        }
        StmtKind::Switch { cases, .. } => cases.iter_mut().for_each(|case| of_last(&mut case.body, out)),
        StmtKind::Block { body, .. } => of_last(body, out),
        StmtKind::Assign { place, value } if matches!(place.root, Root::Local(root) if root == local) => {
            out.push((place, value));
        }
        _ => {}
    }
}

/// Whether an `if` or `switch` that is the whole body is a statement rather than a value: some branch ends in a
/// statement, which may itself be an `if` or `switch`.
pub(crate) fn ends_in_statements(e: &ast::Expr) -> bool {
    let block = |b: &ast::Block| match b.items.last().map(|s| &s.kind) {
        Some(AstStmt::Expr(last)) => ends_in_statements(last),
        Some(AstStmt::Throw(_)) => false,
        _ => true,
    };
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

/// Returns the source location of the label of a case, up to its first pattern.
fn label_of(case: &ast::SwitchCase) -> Span {
    match case.patterns.first() {
        Some((pattern, _)) => Span::new(case.span.start, pattern.span.end),
        None => Span::new(case.span.start, case.span.start + "default".len() as u32),
    }
}
