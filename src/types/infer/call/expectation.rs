//! Expectations: the macros `#expect` and `#require` of Swift's library Testing. They call functions of the library; a
//! comparison is taken apart, so that its operands are evaluated once and can be reported.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{Arg, ExprKind as Ast, Ident, StringPart};
use crate::types::infer::Infer;
use crate::types::infer::expr::is_nil;
use crate::types::infer::expr::operator::is_comparison;
use crate::types::model::typed_tree::{
    Argument, Callee, Expr, ExprKind, LocalId, Pattern, PatternKind, Place, Root, Stmt, StmtKind, TryKind,
};
use crate::types::names::prelude;
use std::rc::Rc;

/// A comparison that was taken apart.
struct Comparison {
    callee: Callee,
    operands: [Expr; 2],
    /// Whether `try` is written before the comparison.
    tries: bool,
    value: Expr,
}

impl Infer<'_> {
    /// Infers the expression `#expect(arguments)` or `#require(arguments)`; `None` for other names.
    pub(crate) fn expectation(&mut self, name: &Ident, args: &[Arg], span: Span) -> Option<Expr> {
        let requires = match &*name.name {
            "expect" => false,
            "require" => true,
            _ => return None,
        };
        if prelude::library_entries(self.cx, "_expectTrue").is_empty() {
            let message = format!("'#{}' belongs to the module 'Testing', which is not imported", name.name);
            let diagnostic = Diagnostic::error(Code::UnknownName, name.span, message);
            self.error(diagnostic.help("write 'import Testing' at the beginning of the file"));
            return Some(self.error_expr(span));
        }
        let Some((first, rest)) = args.split_first() else {
            return Some(self.fail(Code::WrongArguments, span, format!("'#{}' needs a condition", name.name)));
        };
        let rest = &without_location(rest)[..];
        if first.label.is_some() || first.trailing || rest.iter().any(|arg| arg.trailing) {
            let function = if requires { "_requireThrows" } else { "_expectThrows" };
            return Some(self.testing_call(function, without_location(args), span));
        }
        if let Some((value, op)) = compared_with_nil(&first.value).filter(|_| !requires) {
            let text = string(&self.cx.sink.source_text(without_try(&value).span), value.span);
            let label = Ident { name: "isNil".into(), span };
            let is_nil = ast::Expr { kind: Ast::Bool(&*op.name == "=="), span };
            let mut all = vec![unlabeled(text), unlabeled(value)];
            all.push(Arg { label: Some(label), value: Rc::new(is_nil), trailing: false });
            all.extend(rest.iter().cloned());
            return Some(self.testing_call("_expectNil", all, span));
        }
        if let Some(op) = compared(&first.value) {
            let texts = self.texts(op);
            return Some(self.expected_comparison(&first.value, texts, rest, requires, span));
        }
        let text = self.cx.sink.source_text(first.value.span);
        let mut all = vec![unlabeled(string(&text, first.value.span)), unlabeled((*first.value).clone())];
        all.extend(rest.iter().cloned());
        Some(self.testing_call(if requires { "_requireValue" } else { "_expectTrue" }, all, span))
    }

    /// Infers a comparison whose operands are stored before they are compared.
    fn expected_comparison(
        &mut self,
        condition: &ast::Expr,
        texts: ast::Expr,
        comment: &[Arg],
        requires: bool,
        span: Span,
    ) -> Expr {
        let start = (self.pending.len(), self.cx.vars.var_count());
        let value = self.condition_value(condition);
        let mut value = self.decided(value);
        if matches!(value.kind, ExprKind::Pending(_)) {
            self.resolve_statement(start);
            value = self.decided(value);
        }
        let name = if requires { "_requireComparison" } else { "_expectComparison" };
        let comparison = match self.taken_apart(value) {
            Ok(comparison) => comparison,
            Err(value) => {
                let text = self.cx.sink.source_text(condition.span);
                return self.with_temporary(*value, |infer, local| {
                    let mut args = vec![unlabeled(string(&text, condition.span))];
                    args.push(unlabeled(infer.named(local, condition.span)));
                    args.extend(comment.iter().cloned());
                    infer.testing_call(if requires { "_requireValue" } else { "_expectTrue" }, args, span)
                });
            }
        };
        let Comparison { callee, operands, tries, value } = comparison;
        let [lhs, rhs] = operands;
        let (lhs, first) = self.stored(lhs);
        let (rhs, second) = self.stored(rhs);
        let args = [lhs, rhs].map(|local| Argument::Value(self.local_expr(local, value.span))).to_vec();
        let holds = Expr { kind: ExprKind::Call { callee, args }, ..value };
        let (holds, third) = self.stored(holds);
        let mut args = vec![];
        for local in [holds, lhs, rhs] {
            args.push(unlabeled(self.named(local, condition.span)));
        }
        args.push(unlabeled(texts));
        args.extend(comment.iter().cloned());
        let body = self.testing_call(name, args, span);
        let ty = body.ty.clone();
        let result = self.new_local("", ty.clone(), true, span);
        let place = Place { root: Root::Local(result), path: vec![], ty: ty.clone(), span };
        let last = Stmt { kind: StmtKind::Assign { place, value: body }, span };
        let kind = ExprKind::Statements { statements: vec![first, second, third, last], result };
        let whole = Expr { kind, ty: ty.clone(), span };
        match tries {
            true => Expr { kind: ExprKind::Try { kind: TryKind::Propagate, value: Box::new(whole) }, ty, span },
            false => whole,
        }
    }

    /// Takes a comparison apart; returns the expression itself if it is computed in another way.
    fn taken_apart(&self, value: Expr) -> Result<Comparison, Box<Expr>> {
        match value.kind {
            ExprKind::Try { kind: TryKind::Propagate, value: inner } => match self.taken_apart(self.decided(*inner)) {
                Ok(comparison) => Ok(Comparison { tries: true, ..comparison }),
                Err(inner) => {
                    let kind = ExprKind::Try { kind: TryKind::Propagate, value: inner };
                    Err(Box::new(Expr { kind, ty: value.ty, span: value.span }))
                }
            },
            ExprKind::Call { callee, args } => {
                let all = args.iter().map(|arg| match arg {
                    Argument::Value(value) => Some(value.clone()),
                    Argument::InOut(_) => None,
                });
                let kind = ExprKind::Bool(false);
                match all.collect::<Option<Vec<Expr>>>().map(<[Expr; 2]>::try_from) {
                    Some(Ok(operands)) => {
                        let value = Expr { kind, ty: value.ty, span: value.span };
                        Ok(Comparison { callee, operands, tries: false, value })
                    }
                    _ => Err(Box::new(Expr { kind: ExprKind::Call { callee, args }, ty: value.ty, span: value.span })),
                }
            }
            kind => Err(Box::new(Expr { kind, ty: value.ty, span: value.span })),
        }
    }

    /// Creates a statement that stores a value in a temporary constant.
    fn stored(&mut self, value: Expr) -> (LocalId, Stmt) {
        let (ty, span) = (value.ty.clone(), value.span);
        let local = self.new_local("", ty.clone(), false, span);
        let pattern = Pattern { kind: PatternKind::Bind(local), ty, span };
        (local, Stmt { kind: StmtKind::Let { pattern, value: Some(value) }, span })
    }

    /// Returns a name that refers to a temporary constant.
    fn named(&mut self, local: LocalId, span: Span) -> ast::Expr {
        let name: ast::Name = format!("$operand{}", local.0).into();
        self.bind(&name, local);
        ast::Expr { kind: Ast::Ident { name, generics: vec![] }, span }
    }

    /// Returns the source texts of an operator and its operands, as an array literal.
    fn texts(&mut self, (lhs, op, rhs): (Span, &Ident, Span)) -> ast::Expr {
        let (lhs, rhs) = (self.cx.sink.source_text(lhs), self.cx.sink.source_text(rhs));
        let items = [&*lhs, &op.name, &*rhs].map(|text| string(text, op.span)).to_vec();
        ast::Expr { kind: Ast::Array(items), span: op.span }
    }

    fn testing_call(&mut self, name: &str, args: Vec<Arg>, span: Span) -> Expr {
        let callee = ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span };
        self.expr(&ast::Expr { kind: Ast::Call { callee: Rc::new(callee), args }, span }, None)
    }
}

/// Returns arguments without the source location that a test reports instead of its own.
fn without_location(args: &[Arg]) -> Vec<Arg> {
    let is_location = |arg: &&Arg| arg.label.as_ref().is_some_and(|label| &*label.name == "sourceLocation");
    args.iter().filter(|arg| !is_location(arg)).cloned().collect()
}

/// Returns the operands and the operator of a comparison.
fn compared(condition: &ast::Expr) -> Option<(Span, &Ident, Span)> {
    match &condition.kind {
        Ast::Binary { op, lhs, rhs, .. } if is_comparison(&op.name) && &*op.name != "~=" => {
            Some((without_try(lhs).span, op, rhs.span))
        }
        Ast::Try { kind: TryKind::Propagate, value } => compared(value),
        Ast::Paren(inner) => compared(inner),
        _ => None,
    }
}

/// Returns the operand of a comparison with `nil`, and the operator.
fn compared_with_nil(condition: &ast::Expr) -> Option<(ast::Expr, &Ident)> {
    match &condition.kind {
        Ast::Binary { op, lhs, rhs, .. } if matches!(&*op.name, "==" | "!=") && is_nil(rhs) => {
            Some(((**lhs).clone(), op))
        }
        Ast::Try { kind: TryKind::Propagate, value } => {
            let (operand, op) = compared_with_nil(value)?;
            let kind = Ast::Try { kind: TryKind::Propagate, value: Rc::new(operand) };
            Some((ast::Expr { kind, span: value.span }, op))
        }
        Ast::Paren(inner) => compared_with_nil(inner),
        _ => None,
    }
}

fn without_try(e: &ast::Expr) -> &ast::Expr {
    match &e.kind {
        Ast::Try { kind: TryKind::Propagate, value } => value,
        _ => e,
    }
}

fn string(text: &str, span: Span) -> ast::Expr {
    ast::Expr { kind: Ast::String(vec![StringPart::Text(text.into())]), span }
}

fn unlabeled(value: ast::Expr) -> Arg {
    Arg { label: None, value: Rc::new(value), trailing: false }
}
