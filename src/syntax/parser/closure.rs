//! Closure parser: reads closure expressions.

use super::{Builder, Node, Rule};
use crate::syntax::ast::{Block, Closure, ClosureCapture, ClosureParam, Expr, ExprKind};
use std::rc::Rc;

impl Builder<'_> {
    /// Reads a closure expression: `{ [weak self] (x: T) -> R in … }`.
    pub(super) fn closure(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(&node);
        let mut closure = Closure::plain(None, false, Block { items: vec![], span });
        let hash = std::mem::replace(&mut self.in_hash, false);
        let around = std::mem::take(&mut self.throwing);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::closure_header => self.closure_header(part, &mut closure),
                _ => self.statement(part, &mut closure.body.items),
            }
        }
        self.in_hash = hash;
        closure.throws |= std::mem::replace(&mut self.throwing, around);
        Expr { kind: ExprKind::Closure(Rc::new(closure)), span }
    }

    fn closure_header(&mut self, node: Node<'_>, closure: &mut Closure) {
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::attribute => closure.attributes.push(self.attribute(part)),
                Rule::capture_list => {
                    for capture in part.into_inner() {
                        self.capture(capture, &mut closure.captures);
                    }
                }
                Rule::closure_params => {
                    closure.params = Some(part.into_inner().filter_map(|p| self.closure_param(p)).collect());
                }
                Rule::effect => {
                    closure.throws |= self.throws(&part);
                    closure.thrown = self.thrown(&part).or(closure.thrown.take());
                }
                _ => closure.result = part.into_inner().next().map(|t| self.ty(t)),
            }
        }
        // Both `{ () -> T in` and `{ [x] in` have a header, but only the former declares that there are no parameters.
        if closure.params.is_none() && closure.result.is_some() {
            closure.params = Some(vec![]);
        }
    }

    fn capture(&mut self, node: Node<'_>, captures: &mut Vec<ClosureCapture>) {
        let (mut ownership, mut name, mut value) = (None, None, None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::ownership => {
                    let word = part.as_str().split([' ', '(', '\n']).next().unwrap_or("");
                    ownership = Some(self.name(word));
                }
                Rule::name => name = Some(self.ident(&part)),
                _ => value = Some(self.expr(part)),
            }
        }
        captures.extend(name.map(|name| ClosureCapture { ownership, name, value }));
    }

    fn closure_param(&mut self, node: Node<'_>) -> Option<ClosureParam> {
        let (mut name, mut ty, mut is_inout) = (None, None, false);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::name => name = Some(self.ident(&part)),
                _ => {
                    let param = self.param_type(part);
                    is_inout = param.is_inout;
                    ty = Some(super::types::attributed(param));
                }
            }
        }
        name.map(|name| ClosureParam { name, ty, is_inout })
    }
}
