//! Key path parser: reads key path expressions.

use super::{Builder, Node, Rule};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Ident, KeyPathPart, TypeExpr, TypeExprKind};

impl Builder<'_> {
    /// Reads a key path: `\Type.path`, `\[Type].path` or `\.path`.
    pub(super) fn key_path(&mut self, node: Node<'_>, span: Span) -> Expr {
        let mut root: Vec<(Ident, Vec<TypeExpr>)> = vec![];
        let (mut path, mut root_end) = (vec![], span.start);
        let mut bracketed = None;
        for part in node.into_inner() {
            let place = self.span(&part);
            match part.as_rule() {
                Rule::name => root.push((self.ident(&part), vec![])),
                Rule::array_type => bracketed = Some(self.bracketed_type(part)),
                Rule::generic_suffix => {
                    let generics = self.generic_suffix(part);
                    if let Some(last) = root.last_mut() {
                        last.1 = generics;
                    }
                }
                _ => {
                    self.key_part(part, place, &mut root, &mut path, &mut root_end);
                    continue;
                }
            }
            root_end = place.end;
        }
        let place = Span::new(span.start + 1, root_end.max(span.start + 1));
        let named = (!root.is_empty()).then_some(TypeExprKind::Named(root));
        let root = bracketed.or(named).map(|kind| TypeExpr { kind, span: place });
        Expr { kind: ExprKind::KeyPath { root, path }, span }
    }

    fn key_part(
        &mut self,
        part: Node<'_>,
        place: Span,
        root: &mut Vec<(Ident, Vec<TypeExpr>)>,
        path: &mut Vec<KeyPathPart>,
        root_end: &mut u32,
    ) {
        let is_subscript = part.as_str().ends_with(']');
        let mut inner = part.into_inner();
        match inner.peek().map(|n| n.as_rule()) {
            Some(Rule::key_chain) => path.push(KeyPathPart::Chain(place)),
            Some(Rule::key_force) => path.push(KeyPathPart::Force(place)),
            Some(Rule::any_name | Rule::index) if !is_subscript => {
                let Some(name) = inner.next().map(|n| self.ident(&n)) else { return };
                let generics = inner.next().map(|n| self.generic_suffix(n)).unwrap_or_default();
                // In `\Outer.Inner.member`, a capitalized component continues the type.
                if path.is_empty() && !root.is_empty() && name.name.starts_with(char::is_uppercase) {
                    root.push((name, generics));
                    *root_end = place.end;
                } else {
                    path.push(KeyPathPart::Member(name));
                }
            }
            _ => path.push(KeyPathPart::Subscript(self.arguments(inner), place)),
        }
    }
}
