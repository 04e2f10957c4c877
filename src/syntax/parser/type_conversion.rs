//! Type conversion: converts expressions to types, because `[Int?]()` is parsed as a literal before the parser knows
//! that it is a type.

use super::Builder;
use crate::syntax::ast::{Expr, ExprKind, FunctionTypeParam, SequencePart, TypeExpr, TypeExprKind};

impl Builder<'_> {
    /// Converts an expression to the type with the spelling of the expression; `None` when the expression does not have
    /// the form of a type.
    pub(super) fn as_type_expr(&mut self, expr: &Expr) -> Option<TypeExpr> {
        let kind = match &expr.kind {
            ExprKind::Ident { name, generics } => {
                let ident = crate::syntax::ast::Ident { name: name.clone(), span: expr.span };
                TypeExprKind::Named(vec![(ident, generics.clone())])
            }
            ExprKind::Discard => TypeExprKind::Inferred,
            ExprKind::Member { base, name, generics } => {
                let base = self.as_type_expr(base)?;
                if &*name.name == "Type" {
                    TypeExprKind::Metatype(Box::new(base))
                } else {
                    let TypeExprKind::Named(mut path) = base.kind else { return None };
                    path.push((name.clone(), generics.clone()));
                    TypeExprKind::Named(path)
                }
            }
            ExprKind::Array(elements) => match &elements[..] {
                [one] => TypeExprKind::Array(Box::new(self.as_type_expr(one)?)),
                _ => return None,
            },
            ExprKind::Dictionary(pairs) => match &pairs[..] {
                [(k, v)] => TypeExprKind::Dictionary(Box::new(self.as_type_expr(k)?), Box::new(self.as_type_expr(v)?)),
                _ => return None,
            },
            ExprKind::Chain(inner) => TypeExprKind::Optional(Box::new(self.as_type_expr(inner)?)),
            ExprKind::Force(inner) => TypeExprKind::Unwrapped(Box::new(self.as_type_expr(inner)?)),
            ExprKind::Paren(inner) => self.as_type_expr(inner)?.kind,
            ExprKind::Tuple(elements) => {
                let mut out = vec![];
                for (label, element) in elements {
                    out.push((label.clone(), self.as_type_expr(element)?));
                }
                TypeExprKind::Tuple(out)
            }
            ExprKind::Type(ty) => ty.kind.clone(),
            ExprKind::Sequence(parts) => {
                let mut types = vec![];
                for (i, part) in parts.iter().enumerate() {
                    match part {
                        SequencePart::Operand(operand) if i % 2 == 0 => types.push(self.as_type_expr(operand)?),
                        SequencePart::Operator { op, juxtaposed: false } if &*op.name == "&" => {}
                        _ => return None,
                    }
                }
                TypeExprKind::Composition(types)
            }
            _ => return None,
        };
        Some(TypeExpr { kind, span: expr.span })
    }

    /// Converts the content of the parentheses before `->` to the parameters of a function type.
    pub(super) fn as_params(&mut self, expr: &Expr) -> Option<Vec<FunctionTypeParam>> {
        let plain = |label, ty| FunctionTypeParam { label, ty, is_inout: false, variadic: false, attributes: vec![] };
        match &expr.kind {
            ExprKind::Paren(inner) => Some(vec![plain(None, self.as_type_expr(inner)?)]),
            ExprKind::Tuple(elements) => {
                let mut out = vec![];
                for (label, element) in elements {
                    let param = match &element.kind {
                        // An attribute before a parameter belongs to the parameter.
                        ExprKind::Type(TypeExpr { kind: TypeExprKind::Attributed(attributes, ty), .. }) => {
                            let attributes = attributes.clone();
                            FunctionTypeParam { attributes, ..plain(label.clone(), (**ty).clone()) }
                        }
                        _ => plain(label.clone(), self.as_type_expr(element)?),
                    };
                    out.push(param);
                }
                Some(out)
            }
            _ => None,
        }
    }
}
