//! Postfix parser: reads the suffixes of an operand: calls, members, subscripts, `!`, `?`, `'`, `²`.

use super::expr::error_at;
use super::{Builder, Node, Rule};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{Arg, Expr, ExprKind, Ident, TypeExpr, TypeExprKind};
use std::rc::Rc;

/// The operators after which a program most likely continues, so that the prompt reads another line after `1 +`.
const UNFINISHED: &[&str] =
    &["+", "-", "*", "/", "^", "%", "&&", "||", "==", "!=", "<=", ">=", "<", ">", "??", "+=", "-=", "*=", "/="];

impl Builder<'_> {
    /// Reads the `count`-th suffix of the operand `base`.
    pub(super) fn postfix(&mut self, base: Expr, node: Node<'_>, count: u32) -> Expr {
        let place = self.span(&node);
        let span = base.span.to(place);
        if count > super::MAX_CHAIN {
            self.too_deep(span);
            return error_at(span);
        }
        let share = Rc::new;
        let kind = match node.as_rule() {
            Rule::call_arguments => {
                let hash = std::mem::replace(&mut self.in_hash, false);
                let args = self.arguments(node.into_inner());
                self.in_hash = hash;
                ExprKind::Call { callee: share(base), args }
            }
            Rule::subscript => ExprKind::Subscript { base: share(base), args: self.arguments(node.into_inner()) },
            Rule::compound => return self.compound(base, node, span),
            Rule::member => match node.into_inner().next() {
                Some(name) => ExprKind::Member { base: share(base), name: self.ident(&name), generics: vec![] },
                None => return base,
            },
            Rule::trailing | Rule::head_trailing => return self.trailing(base, node, span),
            Rule::generic_suffix => return self.with_generics(base, node, span),
            Rule::force => ExprKind::Force(share(base)),
            Rule::chain => ExprKind::Chain(share(base)),
            Rule::prime => {
                let order = node.as_str().chars().map(|c| if c == '″' { 2 } else { 1 }).sum::<u32>();
                match base.kind {
                    ExprKind::Prime { function, order: before } => ExprKind::Prime { function, order: before + order },
                    _ => ExprKind::Prime { function: share(base), order },
                }
            }
            Rule::superscript => {
                let op = Ident { name: self.text_name("^"), span: place };
                let rhs = share(self.superscript(node.as_str(), place));
                ExprKind::Binary { op, lhs: share(base), rhs, juxtaposed: false }
            }
            Rule::postfix_op => {
                let op = self.ident(&node);
                let at_end = self.text.get((place.end - self.start) as usize..).is_some_and(|t| t.trim().is_empty());
                if at_end && UNFINISHED.contains(&&*op.name) {
                    self.incomplete = true;
                    let message = format!("expected an operand after '{}'", node.as_str());
                    self.error(Code::Syntax, place.after(), message);
                }
                ExprKind::Postfix { op, operand: share(base) }
            }
            Rule::arrow => return self.function_type(&base, node, span),
            other => unreachable!("{other:?} after an operand"),
        };
        Expr { kind, span }
    }

    /// Reads the exponent of `x²` or `x⁻¹`.
    fn superscript(&mut self, text: &str, span: Span) -> Expr {
        let digit = |c: char| match c {
            '⁰' => '0',
            '¹' => '1',
            '²' => '2',
            '³' => '3',
            _ => char::from_digit(c as u32 - '⁴' as u32 + 4, 10).unwrap_or('0'),
        };
        let digits: String = text.trim_start_matches('⁻').chars().map(digit).collect();
        let value = Expr { kind: ExprKind::Int(digits.parse().ok()), span };
        if !text.starts_with('⁻') {
            return value;
        }
        let op = Ident { name: self.text_name("-"), span };
        Expr { kind: ExprKind::Prefix { op, operand: Rc::new(value) }, span }
    }

    fn function_type(&mut self, base: &Expr, node: Node<'_>, span: Span) -> Expr {
        let (throws, result) = self.arrow(node);
        let Some(params) = self.as_params(base) else {
            self.error(Code::Syntax, base.span, "expected the parameter types of a function type");
            return error_at(span);
        };
        let kind = TypeExprKind::Function { params, result: Box::new(result), throws, attributes: vec![] };
        Expr { kind: ExprKind::Type(TypeExpr { kind, span }), span }
    }

    /// Reads a name with labels, `f(_:y:)`, which is represented as a name.
    fn compound(&mut self, base: Expr, node: Node<'_>, span: Span) -> Expr {
        let labels: String = node.as_str().chars().filter(|c| !c.is_whitespace()).collect();
        let kind = match base.kind {
            ExprKind::Ident { name, generics } => {
                ExprKind::Ident { name: self.text_name(&format!("{name}{labels}")), generics }
            }
            ExprKind::Member { base, name, generics } => {
                let name = Ident { name: self.text_name(&format!("{}{labels}", name.name)), span: name.span };
                ExprKind::Member { base, name, generics }
            }
            ExprKind::Implicit { name, generics } => {
                let name = Ident { name: self.text_name(&format!("{}{labels}", name.name)), span: name.span };
                ExprKind::Implicit { name, generics }
            }
            _ => {
                self.error(
                    Code::Syntax,
                    span,
                    "argument labels without values are only allowed after the name of a function",
                );
                ExprKind::Error
            }
        };
        Expr { kind, span }
    }

    pub(super) fn generic_suffix(&mut self, node: Node<'_>) -> Vec<TypeExpr> {
        node.into_inner().map(|t| self.ty(t)).collect()
    }

    fn with_generics(&mut self, mut base: Expr, node: Node<'_>, span: Span) -> Expr {
        let arguments = self.generic_suffix(node);
        match &mut base.kind {
            ExprKind::Ident { generics, .. }
            | ExprKind::Member { generics, .. }
            | ExprKind::Implicit { generics, .. } => {
                *generics = arguments;
            }
            _ => drop(self.error(Code::Syntax, span, "generic arguments are only allowed after a name").clone()),
        }
        Expr { span, ..base }
    }

    /// Reads a call with trailing closures: `f(a) { … } label: { … }`.
    fn trailing(&mut self, base: Expr, node: Node<'_>, span: Span) -> Expr {
        let (callee, mut args) = match base.kind {
            ExprKind::Call { callee, args } if !args.last().is_some_and(|a| a.trailing) => (Ok(callee), args),
            ExprKind::Hash { name, args } if !args.last().is_some_and(|a| a.trailing) => (Err(name), args),
            _ => (Ok(Rc::new(base)), vec![]),
        };
        let mut label = None;
        for part in node.into_inner() {
            if part.as_rule() == Rule::trailing_label {
                label = part.into_inner().next().map(|n| self.ident(&n)).filter(|l| &*l.name != "_");
            } else {
                let place = self.span(&part);
                let value = self.deeper(place, error_at(place), |b| b.closure(part));
                args.push(Arg { label: label.take(), value: Rc::new(value), trailing: true });
            }
        }
        let kind = match callee {
            Ok(callee) => ExprKind::Call { callee, args },
            Err(name) => ExprKind::Hash { name, args },
        };
        Expr { kind, span }
    }
}
