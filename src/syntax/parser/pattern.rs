//! Pattern parser: reads patterns. Patterns after `case` are parsed as expressions, because `.some(x)` and
//! `.some(f(x))` begin alike.

use super::{Builder, Node, Rule};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{CastKind, Expr, Ident, Pattern, PatternKind, TypeExpr};
use pest::iterators::Pairs;
use std::rc::Rc;

impl Builder<'_> {
    /// Reads a pattern after `let`, `var` or `for`: `x`, `_`, `(a, b)`.
    pub(super) fn binding_pattern(&mut self, node: Node<'_>, mutable: bool) -> Pattern {
        let span = self.span(&node);
        if node.as_rule() == Rule::name {
            let kind = match node.as_str() {
                "_" => PatternKind::Wildcard,
                text => PatternKind::Bind { name: self.name(text), mutable },
            };
            return Pattern { kind, span };
        }
        let mut elements = vec![];
        for element in node.into_inner() {
            let mut label = None;
            for part in element.into_inner() {
                match part.as_rule() {
                    Rule::label => label = Some(self.ident(&part)),
                    _ => elements.push((label.take(), self.binding_pattern(part, mutable))),
                }
            }
        }
        Pattern { kind: PatternKind::Tuple(elements), span }
    }

    /// Converts an expression to a pattern; `binding` is present inside of a `let` or `var`, and states whether that is
    /// `var`.
    pub(super) fn pattern(&mut self, node: Node<'_>, binding: Option<bool>) -> Pattern {
        let span = self.span(&node);
        let nothing = Pattern { kind: PatternKind::Wildcard, span };
        self.deeper(span, nothing, |b| {
            let copy = node.clone();
            b.pattern_of(node.into_inner(), span, binding, |b| b.expr(copy))
        })
    }

    /// Reads the pattern of a condition before `=` and the value after it, and returns the value as an expression.
    pub(super) fn pattern_and_value(&mut self, node: Node<'_>) -> (Pattern, Expr) {
        let span = self.span(&node);
        let children: Vec<Node<'_>> = node.into_inner().collect();
        let Some(at) = children.iter().position(|c| c.as_rule() == Rule::assign) else {
            self.error(Code::Syntax, span.after(), "expected '=' and a value after the pattern");
            return (Pattern { kind: PatternKind::Wildcard, span }, super::expr::error_at(span));
        };
        let (left, right) = (&children[..at], &children[at + 1..]);
        let cut = |nodes: &[Node<'_>], b: &Self| match (nodes.first(), nodes.last()) {
            (Some(first), Some(last)) => b.span(first).to(b.span(last)),
            _ => span,
        };
        let (left_span, right_span) = (cut(left, self), cut(right, self));
        let pattern = self.deeper(span, Pattern { kind: PatternKind::Wildcard, span }, |b| {
            b.pattern_of(left.iter().cloned(), left_span, None, |b| b.sequence(left.iter().cloned(), left_span))
        });
        let value = self.deeper(span, super::expr::error_at(span), |b| b.sequence(right.iter().cloned(), right_span));
        (pattern, value)
    }

    /// Converts the children of an expression to a pattern; `otherwise` converts the children to an expression.
    fn pattern_of<'n>(
        &mut self,
        nodes: impl Iterator<Item = Node<'n>>,
        span: Span,
        binding: Option<bool>,
        otherwise: impl FnOnce(&mut Self) -> Expr,
    ) -> Pattern {
        let nodes: Vec<Node<'n>> = nodes.collect();
        match self.spelled_pattern(&nodes, span, binding) {
            Some(pattern) => pattern,
            None => Pattern { kind: PatternKind::Expr(Rc::new(otherwise(self))), span },
        }
    }

    fn spelled_pattern(&mut self, nodes: &[Node<'_>], span: Span, binding: Option<bool>) -> Option<Pattern> {
        let (last, before) = nodes.split_last()?;
        let first = nodes.first()?;
        let kind = match (last.as_rule(), first.as_rule()) {
            (Rule::as_type, _) => {
                let inner_span = self.span(first).to(self.span(before.last()?));
                let inner = self.spelled_pattern(before, inner_span, binding)?;
                let super::super::ast::SequencePart::As(ty, CastKind::Coerce) = self.as_type(last.clone()) else {
                    self.error(Code::Syntax, span, "only 'as' is allowed in a pattern");
                    return Some(Pattern { kind: PatternKind::Wildcard, span });
                };
                PatternKind::As(Box::new(inner), ty)
            }
            (Rule::chain, _) => {
                let inner_span = self.span(first).to(self.span(before.last()?));
                let inner = self.pattern_of(before.iter().cloned(), inner_span, binding, |b| {
                    b.sequence(before.iter().cloned(), inner_span)
                });
                PatternKind::Some(Box::new(inner))
            }
            (Rule::let_pattern, Rule::let_pattern) if before.is_empty() => {
                let mut inner = first.clone().into_inner();
                let mutable = inner.next().is_some_and(|w| w.as_str() == "var");
                let parts: Vec<Node<'_>> = inner.collect();
                let place = self.span(parts.first()?).to(span);
                let place = Span::new(place.start.max(self.span(parts.first()?).start), span.end);
                return match self.spelled_pattern(&parts, place, Some(mutable)) {
                    Some(pattern) => Some(pattern),
                    None => {
                        self.error(Code::Syntax, place, "expected a pattern that binds a variable");
                        Some(Pattern { kind: PatternKind::Wildcard, span })
                    }
                };
            }
            (Rule::is_type, Rule::is_type) if before.is_empty() => {
                let ty = first.clone().into_inner().next()?;
                PatternKind::Is(self.ty(ty))
            }
            (Rule::name, Rule::name) if before.is_empty() => match (first.as_str(), binding) {
                ("_", _) => PatternKind::Wildcard,
                (text, Some(mutable)) => PatternKind::Bind { name: self.name(text), mutable },
                _ => return None,
            },
            (Rule::paren, Rule::paren) if before.is_empty() => {
                let mut elements = self.pattern_arguments(first.clone().into_inner(), binding);
                match elements.pop() {
                    // Parentheses around a single pattern have no meaning of their own.
                    Some((None, only)) if elements.is_empty() => return Some(only),
                    last => elements.extend(last),
                }
                PatternKind::Tuple(elements)
            }
            (Rule::call_arguments, _) => {
                let (base, name) = self.case_path(before)?;
                let payload = self.pattern_arguments(last.clone().into_inner(), binding);
                PatternKind::Case { base, name, payload: Some(payload) }
            }
            (Rule::implicit, Rule::implicit) if before.is_empty() => {
                let (base, name) = self.case_path(nodes)?;
                PatternKind::Case { base, name, payload: None }
            }
            _ => return None,
        };
        Some(Pattern { kind, span })
    }

    /// Reads the path of an enum case: `.name` or `Type.name`. `f(x)` without a dot is an expression.
    fn case_path(&mut self, nodes: &[Node<'_>]) -> Option<(Option<TypeExpr>, Ident)> {
        let (last, before) = nodes.split_last()?;
        match last.as_rule() {
            Rule::implicit if before.is_empty() => {
                let inner = last.clone().into_inner().next()?;
                Some((None, self.ident(&inner)))
            }
            Rule::member if !before.is_empty() => {
                let inner = last.clone().into_inner().next()?;
                if !before.iter().all(|n| matches!(n.as_rule(), Rule::name | Rule::member | Rule::generic_suffix)) {
                    return None;
                }
                let mut base = self.primary(before[0].clone());
                for (node, count) in before[1..].iter().zip(1..) {
                    base = self.postfix(base, node.clone(), count);
                }
                let base = self.as_type_expr(&base)?;
                Some((Some(base), self.ident(&inner)))
            }
            _ => None,
        }
    }

    fn pattern_arguments(&mut self, nodes: Pairs<'_, Rule>, binding: Option<bool>) -> Vec<(Option<Ident>, Pattern)> {
        let (mut out, mut label) = (vec![], None);
        for node in nodes {
            match node.as_rule() {
                Rule::label => label = Some(self.ident(&node)).filter(|l| &*l.name != "_"),
                _ => out.push((label.take(), self.pattern(node, binding))),
            }
        }
        out
    }

    /// Reads a pattern with its condition: `pattern where guard`.
    pub(super) fn case_pattern(&mut self, node: Node<'_>) -> Option<(Pattern, Option<Expr>)> {
        let mut inner = node.into_inner();
        let pattern = inner.next().map(|p| self.pattern(p, None))?;
        Some((pattern, inner.next().map(|g| self.expr(g))))
    }
}
