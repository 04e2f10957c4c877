//! Expression parser: reads flat sequences of operands and operators, and primary expressions.

use super::{Builder, Node, Rule};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{Arg, CastKind, Expr, ExprKind, Ident, SequencePart, TryKind, TypeExpr, TypeExprKind};
use pest::iterators::Pairs;
use std::rc::Rc;

/// An operand under construction.
#[derive(Default)]
struct Operand {
    prefixes: Vec<Ident>,
    value: Option<Expr>,
    postfixes: u32,
}

/// A part of a sequence after `try`, with the location of the `try`, which applies to all parts to its right.
struct Segment {
    tries: Vec<(TryKind, Span)>,
    parts: Vec<SequencePart>,
}

/// Whether the last part of an expression is a cast.
fn follows_cast(segments: &[Segment]) -> bool {
    let last = segments.last().and_then(|segment| segment.parts.last());
    matches!(last, Some(SequencePart::As(..) | SequencePart::Is(_)))
}

impl Builder<'_> {
    /// Reads an expression, or the head of a statement with a body.
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        crate::cancel::check();
        let span = self.span(&node);
        self.deeper(span, error_at(span), |b| b.sequence(node.into_inner(), span))
    }

    /// Builds the expression from the children of its node, from left to right.
    pub(super) fn sequence<'n>(&mut self, nodes: impl Iterator<Item = Node<'n>>, span: Span) -> Expr {
        let mut segments = vec![Segment { tries: vec![], parts: vec![] }];
        let mut operand = Operand::default();
        for node in nodes {
            let place = self.span(&node);
            let part = match node.as_rule() {
                Rule::prefix_op => {
                    operand.prefixes.push(self.ident(&node));
                    continue;
                }
                Rule::try_word => {
                    self.try_word(&node, place, &mut segments);
                    continue;
                }
                Rule::infix_op => {
                    let op = self.ident(&node);
                    SequencePart::Operator { op, juxtaposed: false }
                }
                Rule::juxtaposed => {
                    let name = self.text_name("*");
                    SequencePart::Operator { op: Ident { name, span: place.before() }, juxtaposed: true }
                }
                Rule::assign => SequencePart::Assign(place),
                Rule::ternary | Rule::head_ternary => match node.into_inner().next() {
                    Some(inner) => SequencePart::Ternary(Rc::new(self.expr(inner)), place),
                    None => continue,
                },
                Rule::is_type if operand.value.is_some() || follows_cast(&segments) => match node.into_inner().next() {
                    Some(ty) => SequencePart::Is(self.ty(ty)),
                    None => continue,
                },
                Rule::as_type => self.as_type(node),
                _ => {
                    match operand.value.take() {
                        None => operand.value = Some(self.primary(node)),
                        Some(base) => {
                            operand.postfixes += 1;
                            operand.value = Some(self.postfix(base, node, operand.postfixes));
                        }
                    }
                    continue;
                }
            };
            self.flush(&mut operand, &mut segments);
            push(&mut segments, part);
        }
        self.flush(&mut operand, &mut segments);
        self.join(segments, span)
    }

    fn flush(&mut self, operand: &mut Operand, segments: &mut [Segment]) {
        let Operand { prefixes, value, .. } = std::mem::take(operand);
        let Some(mut value) = value else { return };
        if prefixes.len() > 64 {
            self.too_deep(value.span);
            return push(segments, SequencePart::Operand(error_at(value.span)));
        }
        for op in prefixes.into_iter().rev() {
            let span = op.span.to(value.span);
            let kind = match &*op.name {
                "&" => ExprKind::InOut(Rc::new(value)),
                _ => ExprKind::Prefix { op, operand: Rc::new(value) },
            };
            value = Expr { kind, span };
        }
        push(segments, SequencePart::Operand(value));
    }

    fn try_word(&mut self, node: &Node<'_>, place: Span, segments: &mut Vec<Segment>) {
        let kind = match node.as_str() {
            "try" => TryKind::Propagate,
            "try?" => TryKind::Optional,
            "try!" => TryKind::Forced,
            // Every function may wait for a task, so `await` changes nothing; `consume` and `copy` have no meaning in dscript.
            _ => return,
        };
        let count = segments.len();
        match segments.last_mut() {
            Some(last) if last.parts.is_empty() && last.tries.len() < 8 => last.tries.push((kind, place)),
            _ if count > 64 => self.too_deep(place),
            _ => segments.push(Segment { tries: vec![(kind, place)], parts: vec![] }),
        }
    }

    /// Wraps the parts after each `try` into a `try` expression, starting from the last `try`.
    fn join(&mut self, segments: Vec<Segment>, span: Span) -> Expr {
        let mut inner: Option<Expr> = None;
        for mut segment in segments.into_iter().rev() {
            if let Some(inner) = inner.take() {
                segment.parts.push(SequencePart::Operand(inner));
            }
            let mut whole = match (segment.parts.pop(), segment.parts.is_empty()) {
                (Some(SequencePart::Operand(only)), true) => only,
                (Some(last), _) => {
                    segment.parts.push(last);
                    let from = match segment.parts.first() {
                        Some(SequencePart::Operand(first)) => first.span,
                        _ => span,
                    };
                    Expr { kind: ExprKind::Sequence(segment.parts), span: Span::new(from.start, span.end) }
                }
                (None, _) => error_at(span),
            };
            for (kind, place) in segment.tries.into_iter().rev() {
                self.throwing |= kind == TryKind::Propagate;
                let span = place.to(whole.span);
                whole = Expr { kind: ExprKind::Try { kind, value: Rc::new(whole) }, span };
            }
            inner = Some(whole);
        }
        inner.unwrap_or_else(|| error_at(span))
    }

    pub(super) fn as_type(&mut self, node: Node<'_>) -> SequencePart {
        let span = self.span(&node);
        let (mut kind, mut ty) = (CastKind::Coerce, TypeExpr { kind: TypeExprKind::Inferred, span });
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::as_word => {
                    kind = match part.as_str() {
                        "as?" => CastKind::Optional,
                        "as!" => CastKind::Forced,
                        _ => CastKind::Coerce,
                    }
                }
                _ => ty = self.ty(part),
            }
        }
        SequencePart::As(ty, kind)
    }

    /// Reads a primary expression.
    pub(super) fn primary(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(&node);
        let kind = match node.as_rule() {
            Rule::name => match node.as_str() {
                "_" => ExprKind::Discard,
                text => ExprKind::Ident { name: self.name(text), generics: vec![] },
            },
            Rule::decimal | Rule::radix => return self.number(&node),
            Rule::string_short | Rule::string_long | Rule::string_raw => return self.string(node),
            Rule::word_literal => match node.as_str() {
                "nil" => ExprKind::Nil,
                word => ExprKind::Bool(word == "true"),
            },
            Rule::super_word => ExprKind::Super,
            Rule::implicit => return self.implicit(node, span),
            Rule::paren => return self.paren(node, span),
            Rule::array => return self.array(node, span),
            Rule::closure => return self.closure(node),
            Rule::if_expr => return self.if_expr(node),
            Rule::switch_expr => return self.switch_expr(node),
            Rule::key_path => return self.key_path(node, span),
            Rule::hash => return self.hash(node, span),
            Rule::regex_literal => return self.regex_literal(span),
            Rule::nabla => return self.nabla(node, span),
            Rule::partial => return self.partial(node, span),
            Rule::op_value => ExprKind::Operator(self.ident(&node).name),
            Rule::root => return self.root(node, span),
            Rule::type_value => match node.into_inner().next() {
                Some(ty) => ExprKind::Type(self.ty(ty)),
                None => ExprKind::Error,
            },
            Rule::let_pattern | Rule::is_type => {
                if let Some((operator, place)) = self.operator_before(span) {
                    let message = format!("expected a value after '{operator}'");
                    self.error(Code::Syntax, place, message);
                    return Expr { kind: ExprKind::Error, span };
                }
                let message = "expected a value, found a pattern";
                self.error(Code::Syntax, span, message).helps.push(crate::diagnostic::Help {
                    text: "patterns are only allowed after 'case': 'if case .some(let x) = value { … }'".into(),
                    edits: vec![],
                });
                ExprKind::Error
            }
            other => unreachable!("{other:?} as a primary expression"),
        };
        Expr { kind, span }
    }

    /// Reads a product with a root as its second factor: `2√x`.
    fn root(&mut self, node: Node<'_>, span: Span) -> Expr {
        let sign: String = node.as_str().chars().take(1).collect();
        let op = Ident { name: self.name(&sign), span: Span::new(span.start, span.start + sign.len() as u32) };
        let mut value: Option<Expr> = None;
        for (part, count) in node.into_inner().zip(0..) {
            value = Some(match value.take() {
                None => self.primary(part),
                Some(base) => self.postfix(base, part, count),
            });
        }
        let operand = Rc::new(value.unwrap_or_else(|| error_at(span)));
        Expr { kind: ExprKind::Prefix { op, operand }, span }
    }

    fn implicit(&mut self, node: Node<'_>, span: Span) -> Expr {
        let Some(inner) = node.into_inner().next() else { return error_at(span) };
        let name = self.ident(&inner);
        if inner.as_rule() == Rule::index && !self.in_hash {
            let text = format!("0.{}", name.name);
            self.error(Code::InvalidLiteral, span, "number literal must start with a digit")
                .helps
                .push(crate::diagnostic::Help { text: format!("write {text}"), edits: vec![(span, text)] });
            return error_at(span);
        }
        Expr { kind: ExprKind::Implicit { name, generics: vec![] }, span }
    }

    /// Reads the arguments of a call from alternating labels and values.
    pub(super) fn arguments(&mut self, nodes: Pairs<'_, Rule>) -> Vec<Arg> {
        let (mut out, mut label) = (vec![], None);
        for node in nodes {
            if node.as_rule() == Rule::label {
                label = Some(self.ident(&node)).filter(|l: &Ident| &*l.name != "_");
            } else {
                out.push(Arg { label: label.take(), value: Rc::new(self.expr(node)), trailing: false });
            }
        }
        out
    }

    fn paren(&mut self, node: Node<'_>, span: Span) -> Expr {
        let mut elements = self.arguments(node.into_inner());
        let kind = if elements.len() == 1 && elements[0].label.is_none() {
            ExprKind::Paren(elements.remove(0).value)
        } else {
            ExprKind::Tuple(elements.into_iter().map(|e| (e.label, Rc::unwrap_or_clone(e.value))).collect())
        };
        Expr { kind, span }
    }

    fn array(&mut self, node: Node<'_>, span: Span) -> Expr {
        let (mut elements, mut pairs) = (vec![], vec![]);
        let (mut is_dictionary, mut after_colon) = (false, false);
        self.parts_of_list(node, |builder, part| {
            if part.as_rule() == Rule::colon {
                (is_dictionary, after_colon) = (true, true);
                return;
            }
            let value = builder.expr(part);
            match (std::mem::replace(&mut after_colon, false), elements.pop()) {
                (true, Some(key)) => pairs.push((key, value)),
                (_, previous) => {
                    elements.extend(previous);
                    elements.push(value);
                }
            }
        });
        if is_dictionary && let Some(stray) = elements.first() {
            let place = stray.span;
            self.error(Code::Syntax, place, "key has no value").primary.text =
                "expected ':' and a value after it".into();
        }
        let kind = if is_dictionary { ExprKind::Dictionary(pairs) } else { ExprKind::Array(elements) };
        self.type_literal(Expr { kind, span })
    }

    /// Converts a literal that can only be a type, such as `[Int?]`, to a type; `[Int]` is ambiguous and remains a
    /// literal.
    fn type_literal(&mut self, literal: Expr) -> Expr {
        let only_a_type = match &literal.kind {
            ExprKind::Array(elements) => matches!(&elements[..], [one] if is_plainly_type(one)),
            ExprKind::Dictionary(pairs) => {
                matches!(&pairs[..], [(k, v)] if is_plainly_type(k) || is_plainly_type(v))
            }
            _ => false,
        };
        match only_a_type.then(|| self.as_type_expr(&literal)).flatten() {
            Some(ty) => Expr { span: literal.span, kind: ExprKind::Type(ty) },
            None => literal,
        }
    }

    fn hash(&mut self, node: Node<'_>, span: Span) -> Expr {
        let mut inner = node.into_inner();
        let Some(name) = inner.next() else { return error_at(span) };
        let name = self.ident(&name);
        let outer = std::mem::replace(&mut self.in_hash, true);
        let args = self.arguments(inner);
        self.in_hash = outer;
        Expr { kind: ExprKind::Hash { name, args }, span }
    }

    fn nabla(&mut self, node: Node<'_>, span: Span) -> Expr {
        let mut inner = node.into_inner();
        let Some(first) = inner.next() else { return error_at(span) };
        let mut target = self.deeper(span, error_at(span), |b| {
            if first.as_rule() == Rule::nabla { b.nabla_inside(first) } else { b.primary(first) }
        });
        for (part, count) in inner.zip(1..) {
            if count > super::MAX_CHAIN {
                self.too_deep(span);
                return error_at(span);
            }
            target = match part.as_rule() {
                Rule::nabla_member => match part.into_inner().next() {
                    Some(name) => {
                        let name = self.ident(&name);
                        let span = target.span.to(name.span);
                        Expr { kind: ExprKind::Member { base: Rc::new(target), name, generics: vec![] }, span }
                    }
                    None => target,
                },
                _ => self.postfix(target, part, count),
            };
        }
        Expr { kind: ExprKind::Nabla(Rc::new(target)), span }
    }

    fn nabla_inside(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(&node);
        self.nabla(node, span)
    }

    fn partial(&mut self, node: Node<'_>, span: Span) -> Expr {
        let mut inner = node.into_inner();
        match (inner.next(), inner.next()) {
            (Some(function), Some(parameter)) => {
                let function = Rc::new(self.expr(function));
                let parameter = self.ident(&parameter);
                Expr { kind: ExprKind::Partial { function, parameter }, span }
            }
            _ => error_at(span),
        }
    }
}

fn push(segments: &mut [Segment], part: SequencePart) {
    if let Some(last) = segments.last_mut() {
        last.parts.push(part);
    }
}

pub(super) fn error_at(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, span }
}

/// Whether an expression has the form of a type and is meaningless as an element of a literal.
fn is_plainly_type(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Type(_) => true,
        ExprKind::Chain(inner) => {
            matches!(
                &inner.kind,
                ExprKind::Ident { .. }
                    | ExprKind::Member { .. }
                    | ExprKind::Array(_)
                    | ExprKind::Dictionary(_)
                    | ExprKind::Paren(_)
            ) || is_plainly_type(inner)
        }
        _ => false,
    }
}
