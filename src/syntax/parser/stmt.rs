//! Statement parser: reads statements, blocks, conditions, `if` and `switch`.

use super::awaiting_loop::AwaitingLoop;
use super::expr::error_at;
use super::{Builder, Node, Rule, YIELDED, YieldingAccessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Block, Catch, Condition, Decl, DeclKind, Expr, ExprKind, Ident, Param, SequencePart, Stmt, StmtKind, StringPart,
    SwitchCase,
};
use pest::iterators::Pairs;
use std::rc::Rc;

impl Builder<'_> {
    /// Reads a statement and adds it to `items`; the end of the text adds nothing.
    pub(super) fn statement(&mut self, node: Node<'_>, items: &mut Vec<Stmt>) {
        if node.as_rule() == Rule::EOI {
            return;
        }
        let span = self.span(&node);
        if let Some(kind) = self.deeper(span, None, |b| b.statement_kind(node, None)) {
            items.push(Stmt { kind, span });
        }
    }

    pub(super) fn statement_kind(&mut self, node: Node<'_>, label: Option<Ident>) -> Option<StmtKind> {
        let span = self.span(&node);
        let rule = node.as_rule();
        let mut inner = node.clone().into_inner();
        Some(match rule {
            Rule::expr => {
                let expr = self.expr(node);
                if let ExprKind::Operator(op) = &expr.kind {
                    let op = op.clone();
                    self.lone_operator(&op, span);
                }
                match self.formula(expr) {
                    Ok(decl) => StmtKind::Decl(Rc::new(decl)),
                    Err(expr) => StmtKind::Expr(expr),
                }
            }
            Rule::declaration => StmtKind::Decl(Rc::new(self.declaration(node)?)),
            Rule::return_statement => StmtKind::Return(inner.next().map(|e| self.expr(e))),
            Rule::for_statement => self.for_statement(inner, label)?,
            Rule::while_statement => {
                let conditions = self.conditions(inner.next()?);
                StmtKind::While { label, conditions, body: self.block(inner.next()?) }
            }
            Rule::repeat_statement => {
                let body = self.block(inner.next()?);
                StmtKind::Repeat { label, body, condition: self.expr(inner.next()?) }
            }
            Rule::guard_statement => {
                let conditions = self.conditions(inner.next()?);
                StmtKind::Guard { conditions, body: self.block(inner.next()?) }
            }
            Rule::break_statement => StmtKind::Break(inner.next().map(|n| self.ident(&n))),
            Rule::continue_statement => StmtKind::Continue(inner.next().map(|n| self.ident(&n))),
            Rule::fallthrough_statement => StmtKind::Fallthrough,
            Rule::throw_statement => {
                self.throwing = true;
                StmtKind::Throw(self.expr(inner.next()?))
            }
            Rule::defer_statement => StmtKind::Defer(self.block(inner.next()?)),
            Rule::do_statement => {
                let around = std::mem::take(&mut self.throwing);
                let mut first = inner.next()?;
                let mut ty = None;
                if first.as_rule() == Rule::effect {
                    ty = self.thrown(&first);
                    first = inner.next()?;
                }
                let body = self.block(first);
                let thrown = std::mem::replace(&mut self.throwing, around);
                let catches: Vec<Catch> = inner.filter_map(|c| self.catch(c)).collect();
                self.throwing |= thrown && !catches.iter().any(Catch::takes_all);
                match label {
                    Some(label) if catches.is_empty() => {
                        let body = Expr { kind: ExprKind::Block(body), span };
                        StmtKind::Labeled { label, body }
                    }
                    Some(label) => {
                        self.error(Code::Syntax, label.span, "a 'do' statement with 'catch' cannot have a label");
                        StmtKind::Do { thrown: ty, body, catches }
                    }
                    None => StmtKind::Do { thrown: ty, body, catches },
                }
            }
            Rule::labeled => {
                let label = self.ident(&inner.next()?);
                self.labeled(inner.next()?, label)?
            }
            Rule::adjoint_statement => {
                let seed = self.ident(&inner.next()?);
                let wrt = self.wrt_list(inner.next()?);
                StmtKind::Adjoint { seed, wrt, body: self.block(inner.next()?) }
            }
            Rule::checkpoint_statement => self.checkpoint_statement(node)?,
            Rule::test_block => self.test_block(node)?,
            Rule::yield_statement => self.yield_statement(inner.last()?, span)?,
            other => unreachable!("{other:?} as a statement"),
        })
    }

    /// Rewrites a `yield` statement: a getter returns the value, and a setter assigns its parameter to the place.
    fn yield_statement(&mut self, node: Node<'_>, span: Span) -> Option<StmtKind> {
        let accessed = self.expr(node);
        match self.yielding {
            Some(YieldingAccessor::Value) => Some(StmtKind::Return(Some(accessed))),
            Some(YieldingAccessor::Place) => {
                let name = self.text_name(YIELDED);
                let value = Expr { kind: ExprKind::Ident { name, generics: vec![] }, span: accessed.span };
                let parts =
                    vec![SequencePart::Operand(accessed), SequencePart::Assign(span), SequencePart::Operand(value)];
                Some(StmtKind::Expr(Expr { kind: ExprKind::Sequence(parts), span }))
            }
            None => {
                self.error(Code::Syntax, span, "'yield' may only be used in the accessors '_read' and '_modify'");
                None
            }
        }
    }

    /// Reads a test block: `test "name" { … }`.
    fn test_block(&mut self, node: Node<'_>) -> Option<StmtKind> {
        let span = self.span(&node);
        let mut inner = node.into_inner();
        let title = self.string(inner.next()?);
        let text = match &title.kind {
            ExprKind::String(parts) => match &parts[..] {
                [] => Some(Rc::from("")),
                [StringPart::Text(text)] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(text) = text else {
            self.error(Code::Syntax, title.span, "the name of a test must be a string without interpolations");
            return None;
        };
        if self.depth > 1 {
            let message = "a test is only allowed at the top level of a file";
            self.error(Code::Syntax, span, message);
        }
        let name = Ident { name: format!("test \"{text}\"").into(), span: title.span };
        let around = std::mem::take(&mut self.throwing);
        let body = self.block(inner.next()?);
        self.throwing = around;
        let kind = DeclKind::Test { name, body };
        let documentation = self.documentation(span);
        Some(StmtKind::Decl(Rc::new(Decl { kind, attributes: vec![], modifiers: vec![], span, documentation })))
    }

    fn labeled(&mut self, node: Node<'_>, label: Ident) -> Option<StmtKind> {
        match node.as_rule() {
            Rule::if_expr => Some(StmtKind::Labeled { label, body: self.if_expr(node) }),
            Rule::switch_expr => Some(StmtKind::Labeled { label, body: self.switch_expr(node) }),
            _ => self.statement_kind(node, Some(label)),
        }
    }

    fn for_statement(&mut self, nodes: Pairs<'_, Rule>, label: Option<Ident>) -> Option<StmtKind> {
        let (mut pattern, mut ty, mut sequence, mut filter) = (None, None, None, None);
        let mut mutable = false;
        let mut awaits = None;
        for node in nodes {
            match node.as_rule() {
                Rule::for_await => awaits = Some(node.as_str().starts_with("try")),
                Rule::let_word if node.as_str() == "var" => mutable = true,
                Rule::let_word => self.constant_anyway(&node),
                Rule::case_condition => pattern = node.into_inner().next().map(|p| self.pattern(p, None)),
                Rule::head => sequence = Some(self.expr(node)),
                Rule::where_clause_head => filter = node.into_inner().next().map(|e| self.expr(e)),
                Rule::block => {
                    let (mut pattern, sequence) = (pattern?, sequence?);
                    if let Some(ty) = ty {
                        pattern = typed(pattern, ty);
                    }
                    if let Some(throws) = awaits {
                        self.throwing |= throws;
                        let body = self.block(node);
                        let repeated = AwaitingLoop { label, throws, pattern, sequence, filter, body };
                        return Some(repeated.into_statement());
                    }
                    return Some(StmtKind::For { label, pattern, sequence, filter, body: self.block(node) });
                }
                Rule::name | Rule::pattern_tuple => pattern = Some(self.binding_pattern(node, mutable)),
                _ => ty = Some(self.ty(node)),
            }
        }
        None
    }

    /// Reports the redundant `let` of a loop, `for let x in …`.
    fn constant_anyway(&mut self, node: &Node<'_>) {
        let span = self.span(node);
        let message = "'let' pattern cannot appear nested in an already immutable context";
        let diagnostic = Diagnostic::error(Code::Syntax, span, message);
        let word = Span::new(span.start, span.end + 1);
        self.diagnostics.push(diagnostic.fix("remove it: the loop variable is already a constant", word, ""));
    }

    fn catch(&mut self, node: Node<'_>) -> Option<Catch> {
        let span = self.span(&node);
        let mut patterns = vec![];
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::block => return Some(Catch { patterns, body: self.block(part), span }),
                _ => patterns.extend(self.case_pattern(part)),
            }
        }
        None
    }

    /// Reads a block of statements in braces.
    pub(super) fn block(&mut self, node: Node<'_>) -> Block {
        let span = self.span(&node);
        let mut items = vec![];
        for part in node.into_inner() {
            self.statement(part, &mut items);
        }
        Block { items, span }
    }

    pub(super) fn conditions(&mut self, node: Node<'_>) -> Vec<Condition> {
        let mut out = vec![];
        for part in node.into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Rule::case_condition => {
                    let Some(head) = part.into_inner().next() else { continue };
                    let (pattern, value) = self.pattern_and_value(head);
                    out.push(Condition::Case { pattern, value, span });
                }
                Rule::let_condition => {
                    let (mut is_let, mut pattern, mut ty, mut value) = (true, None, None, None);
                    for piece in part.into_inner() {
                        match piece.as_rule() {
                            Rule::let_word => is_let = piece.as_str() == "let",
                            Rule::name | Rule::pattern_tuple => pattern = Some(self.binding_pattern(piece, !is_let)),
                            Rule::head => value = Some(self.expr(piece)),
                            _ => ty = Some(self.ty(piece)),
                        }
                    }
                    out.extend(pattern.map(|pattern| Condition::Optional { is_let, pattern, ty, value, span }));
                }
                Rule::available => {
                    // The condition of `#available` holds: all versions of all platforms are available.
                    let kind = ExprKind::Bool(!part.as_str().starts_with("#un"));
                    out.push(Condition::Expr(Expr { kind, span }));
                }
                _ => out.push(Condition::Expr(self.expr(part))),
            }
        }
        out
    }

    /// Reads a branch: `if … { … } else if … { … } else { … }`.
    pub(super) fn if_expr(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(&node);
        let mut arms: Vec<(Vec<Condition>, Block, Span)> = vec![];
        let mut conditions: Option<(Vec<Condition>, Span)> = None;
        let mut otherwise: Option<Rc<Expr>> = None;
        for part in node.into_inner() {
            let place = self.span(&part);
            if part.as_rule() == Rule::conditions {
                conditions = Some((self.conditions(part), place));
                continue;
            }
            let block = self.block(part);
            match conditions.take() {
                Some((conditions, from)) => arms.push((conditions, block, from)),
                None => otherwise = Some(Rc::new(Expr { kind: ExprKind::Block(block), span: place })),
            }
        }
        if arms.len() > super::MAX_CHAIN as usize {
            self.too_deep(span);
            return error_at(span);
        }
        while let Some((conditions, then, from)) = arms.pop() {
            let place = Span::new(if arms.is_empty() { span.start } else { from.start }, span.end);
            otherwise = Some(Rc::new(Expr { kind: ExprKind::If { conditions, then, otherwise }, span: place }));
        }
        otherwise.map_or_else(|| error_at(span), Rc::unwrap_or_clone)
    }

    pub(super) fn switch_expr(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(&node);
        let mut inner = node.into_inner();
        let Some(value) = inner.next() else { return error_at(span) };
        let value = Rc::new(self.expr(value));
        let cases = inner.map(|c| self.switch_case(c)).collect();
        Expr { kind: ExprKind::Switch { value, cases }, span }
    }

    fn switch_case(&mut self, node: Node<'_>) -> SwitchCase {
        let span = self.span(&node);
        let (mut patterns, mut items) = (vec![], vec![]);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::any_name => {} // the attribute `@unknown`
                Rule::case_pattern => patterns.extend(self.case_pattern(part)),
                _ => self.statement(part, &mut items),
            }
        }
        let place = match (items.first(), items.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => span.after(),
        };
        SwitchCase { patterns, body: Block { items, span: place }, span }
    }

    /// Reports an operator without operands: at the end of a text, the operand may still follow.
    fn lone_operator(&mut self, op: &str, span: Span) {
        self.incomplete |= self.text.get((span.end - self.start) as usize..).is_some_and(|t| t.trim().is_empty());
        self.error(Code::Syntax, span.after(), format!("expected an operand after '{op}'"));
    }

    /// Converts a formula in braces, `{ x^2 }`, to its value: a closure without parameters that is called. A closure
    /// with anonymous parameters is unchanged.
    fn without_braces(&self, body: Expr) -> Expr {
        let span = body.span;
        let has_parameters = |text: &str| {
            text.match_indices('$').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
        };
        match body.kind {
            ExprKind::Closure(closure)
                if closure.params.is_none() && closure.captures.is_empty() && !has_parameters(self.written(span)) =>
            {
                if let [Stmt { kind: StmtKind::Expr(value) | StmtKind::Return(Some(value)), .. }] =
                    closure.body.items.as_slice()
                {
                    return value.clone();
                }
                let callee = Expr { kind: ExprKind::Closure(closure), span };
                Expr { kind: ExprKind::Call { callee: Rc::new(callee), args: vec![] }, span }
            }
            kind => Expr { kind, span },
        }
    }

    /// Converts `f(x, y) = value` to the declaration of a function; returns any other expression unchanged.
    fn formula(&mut self, expr: Expr) -> Result<Decl, Expr> {
        let ExprKind::Sequence(parts) = &expr.kind else { return Err(expr) };
        let [SequencePart::Operand(target), SequencePart::Assign(_), ..] = &parts[..] else { return Err(expr) };
        let ExprKind::Call { callee, args } = &target.kind else { return Err(expr) };
        let ExprKind::Ident { name, generics } = &callee.kind else { return Err(expr) };
        if !generics.is_empty() {
            return Err(expr);
        }
        let (name, mut params) = (Ident { name: name.clone(), span: callee.span }, vec![]);
        for arg in args {
            let param = match (&arg.label, &arg.value.kind) {
                (None, ExprKind::Ident { name, generics }) if generics.is_empty() && !arg.trailing => {
                    (Ident { name: name.clone(), span: arg.value.span }, None)
                }
                (Some(label), _) if !arg.trailing => match self.as_type_expr(&arg.value) {
                    Some(ty) => (label.clone(), Some(ty)),
                    None => return Err(expr),
                },
                _ => return Err(expr),
            };
            params.push(Param {
                label: None,
                name: param.0,
                ty: param.1,
                is_inout: false,
                is_consuming: false,
                variadic: false,
                default: None,
                attributes: vec![],
            });
        }
        let span = expr.span;
        let ExprKind::Sequence(parts) = expr.kind else { return Err(expr) };
        let mut parts: Vec<SequencePart> = parts.into_iter().skip(2).collect();
        let body = match (parts.pop(), parts.is_empty()) {
            (Some(SequencePart::Operand(only)), true) => only,
            (last, _) => {
                parts.extend(last);
                let from = match parts.first() {
                    Some(SequencePart::Operand(first)) => first.span,
                    _ => span,
                };
                Expr { kind: ExprKind::Sequence(parts), span: Span::new(from.start, span.end) }
            }
        };
        let body = self.without_braces(body);
        let documentation = self.documentation(span);
        Ok(Decl {
            kind: DeclKind::Formula { name, params, body },
            attributes: vec![],
            modifiers: vec![],
            span,
            documentation,
        })
    }
}

pub(super) fn typed(
    pattern: crate::syntax::ast::Pattern,
    ty: crate::syntax::ast::TypeExpr,
) -> crate::syntax::ast::Pattern {
    let span = pattern.span.to(ty.span);
    crate::syntax::ast::Pattern { kind: crate::syntax::ast::PatternKind::Typed(Box::new(pattern), ty), span }
}
