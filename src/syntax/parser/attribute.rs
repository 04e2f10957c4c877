//! Attribute parser: reads attributes.

use super::{Builder, Node, Rule};
use crate::syntax::ast::{
    Attribute, AttributeArgs, DifferentiationArgs, FunctionName, Ident, TypeExpr, TypeExprKind, WrtKind, WrtParam,
};

impl Builder<'_> {
    /// Reads an attribute: `@name<Types>(arguments)`.
    pub(super) fn attribute(&mut self, node: Node<'_>) -> Attribute {
        let span = self.span(&node);
        let mut name = Ident { name: self.text_name(""), span };
        let (mut generics, mut args) = (vec![], AttributeArgs::None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::differentiation => name = self.ident(&part),
                Rule::any_name if name.name.is_empty() => name = self.ident(&part),
                Rule::any_name => {
                    let place = name.span.to(self.span(&part));
                    name = Ident { name: self.text_name(&format!("{}.{}", name.name, part.as_str())), span: place };
                }
                Rule::generic_arguments => generics = part.into_inner().map(|ty| self.ty(ty)).collect(),
                Rule::attribute_text => {
                    let text = self.written(self.span(&part));
                    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
                    args = AttributeArgs::Text(inner.trim().into());
                }
                _ => args = AttributeArgs::Differentiation(self.differentiation(part, &name)),
            }
        }
        Attribute { name, generics, args, span }
    }

    fn differentiation(&mut self, node: Node<'_>, attribute: &Ident) -> DifferentiationArgs {
        let mut args = DifferentiationArgs::default();
        let mut has_exact = false;
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::where_clause => args.requirements = self.requirements(part),
                Rule::kind_arg => args.kind = part.into_inner().next().map(|n| self.kind_of_differentiability(&n)),
                Rule::of_arg => args.of = part.into_inner().next().and_then(|f| self.function_name(f)),
                Rule::wrt_arg => {
                    if args.wrt.is_some() {
                        let place = self.span(&part);
                        let message = "'wrt:' is given twice; name all parameters in parentheses: 'wrt: (x, y)'";
                        self.error(crate::diagnostic::Code::Syntax, place, message);
                    }
                    args.wrt = part.into_inner().next().map(|w| self.wrt_list(w));
                }
                Rule::exact_arg if &*attribute.name == "differentiable" => {
                    let message = "'exact:' is only allowed in '@derivative' and '@transpose'";
                    let place = self.span(&part);
                    self.error(crate::diagnostic::Code::Syntax, place, message);
                }
                Rule::exact_arg if std::mem::replace(&mut has_exact, true) => {
                    let place = self.span(&part);
                    self.error(crate::diagnostic::Code::Syntax, place, "'exact:' is given twice");
                }
                Rule::exact_arg => args.differs = part.as_str().ends_with("false").then(|| self.span(&part)),
                _ => {
                    // The argument is `adjoint:` or a similar argument.
                    let mut inner = part.into_inner();
                    if let (Some(label), Some(value)) = (inner.next(), inner.next()) {
                        match label.as_str() {
                            "primal" => args.primal = Some(self.ident(&value)),
                            "adjoint" => args.adjoint = Some(self.ident(&value)),
                            "vjp" if &*attribute.name == "differentiable" => args.vjp = Some(self.ident(&value)),
                            "jvp" if &*attribute.name == "differentiable" => args.jvp = Some(self.ident(&value)),
                            other => {
                                let message = match other {
                                    "exact" => "'exact:' must be 'true' or 'false'".to_owned(),
                                    _ => format!("this attribute has no argument '{other}:'"),
                                };
                                let place = self.span(&label);
                                self.error(crate::diagnostic::Code::Syntax, place, message);
                            }
                        }
                    }
                }
            }
        }
        args
    }

    /// Reads `reverse`, `linear` or another kind. Swift's names of the kinds that it does not support officially begin
    /// with an underscore.
    fn kind_of_differentiability(&mut self, node: &Node<'_>) -> Ident {
        let kind = self.ident(node);
        match node.as_str() {
            "_linear" => Ident { name: self.text_name("linear"), ..kind },
            "_forward" => Ident { name: self.text_name("forward"), ..kind },
            _ => kind,
        }
    }

    /// Reads the parameters after `wrt:`: `x` or `(self, .0)`.
    pub(super) fn wrt_list(&mut self, node: Node<'_>) -> Vec<WrtParam> {
        let mut out = vec![];
        for param in node.into_inner() {
            let text = param.as_str();
            let kind = match text.trim_start_matches('.').parse::<u32>() {
                Ok(index) => WrtKind::Index(index),
                Err(_) if text == "self" => WrtKind::SelfParam,
                Err(_) => WrtKind::Name(self.name(text)),
            };
            out.push(WrtParam { kind, span: self.span(&param) });
        }
        out
    }

    /// Reads the name of a function in an attribute: `foo(x:_:)`, `Float.+` or `Type<T>.foo.get`.
    fn function_name(&mut self, node: Node<'_>) -> Option<FunctionName> {
        let (mut parts, mut labels, mut accessor): (Vec<(Ident, Vec<TypeExpr>)>, _, _) = (vec![], None, None);
        for part in node.into_inner() {
            if part.as_rule() == Rule::function_labels {
                let mut all = vec![];
                for label in part.into_inner() {
                    let Some(name) = label.into_inner().next() else { continue };
                    all.push(Some(self.ident(&name)).filter(|l| &*l.name != "_"));
                }
                labels = Some(all);
                continue;
            }
            let mut inner = part.into_inner();
            let name = inner.next()?;
            let name = self.ident(&name);
            let generics = inner.next().map(|g| g.into_inner().map(|t| self.ty(t)).collect()).unwrap_or_default();
            if labels.is_some() {
                accessor = Some(name);
            } else {
                parts.push((name, generics));
            }
        }
        if parts.len() > 1 && accessor.is_none() && parts.last().is_some_and(|p| matches!(&*p.0.name, "get" | "set")) {
            accessor = parts.pop().map(|p| p.0);
        }
        let (name, _) = parts.pop()?;
        let base = match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => {
                let span = first.0.span.to(last.0.span);
                Some(TypeExpr { kind: TypeExprKind::Named(parts), span })
            }
            _ => None,
        };
        Some(FunctionName { base, name, labels, accessor })
    }
}
