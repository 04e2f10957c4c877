//! Type parser: reads types, generic parameters and requirements.

use super::{Builder, Node, Rule};
use crate::diagnostic::{Code, Help};
use crate::source::Span;
use crate::syntax::ast::{Attribute, FunctionTypeParam, Generics, Ident, Requirement, TypeExpr, TypeExprKind};

/// The type of a parameter, with the attributes and keywords before the type.
pub(super) struct ParamType {
    pub ty: TypeExpr,
    pub is_inout: bool,
    pub is_consuming: bool,
    pub attributes: Vec<Attribute>,
}

impl Builder<'_> {
    /// Reads a type: `@differentiable (A) -> B`, `[T]` or `some P & Q`.
    pub(super) fn ty(&mut self, node: Node<'_>) -> TypeExpr {
        let param = self.param_type(node);
        let span = param.ty.span;
        if param.is_inout {
            self.error(Code::Syntax, span, "'inout' is only allowed on parameters");
        }
        attributed(param)
    }

    /// Reads the type of a parameter and separates `inout` and attributes from the type. The attributes of a function
    /// type stay with the type.
    pub(super) fn param_type(&mut self, node: Node<'_>) -> ParamType {
        let span = self.span(&node);
        let nothing = TypeExpr { kind: TypeExprKind::Inferred, span };
        self.deeper(span, ParamType { ty: nothing, is_inout: false, is_consuming: false, attributes: vec![] }, |b| {
            b.type_inside(node, span)
        })
    }

    fn type_inside(&mut self, node: Node<'_>, span: Span) -> ParamType {
        let (mut attributes, mut words, mut cores) = (vec![], vec![], vec![]);
        let (mut is_inout, mut is_consuming) = (false, false);
        let mut arrow = None;
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::attribute => attributes.push(self.attribute(part)),
                Rule::type_word => match part.as_str() {
                    "inout" => is_inout = true,
                    "consuming" => is_consuming = true,
                    word @ ("some" | "any") => words.push((word == "some", self.span(&part))),
                    _ => {}
                },
                Rule::suppression => {
                    let place = self.span(&part);
                    let message = "'~' before a protocol is not supported: every type can be copied";
                    let help = "leave it out; a value with one owner and a 'deinit' is an instance of a 'final class'";
                    self.error(Code::Syntax, place, message).helps.push(Help { text: help.into(), edits: vec![] });
                }
                Rule::type_core => cores.push(self.type_core(part)),
                Rule::arrow => arrow = Some(part),
                other => unreachable!("{other:?} in a type"),
            }
        }
        let mut ty = match cores.len() {
            1 => cores.remove(0),
            _ => {
                let whole = cores.iter().map(|c| c.0.span).reduce(Span::to).unwrap_or(span);
                (
                    TypeExpr { kind: TypeExprKind::Composition(cores.into_iter().map(|c| c.0).collect()), span: whole },
                    None,
                )
            }
        };
        if let Some(arrow) = arrow {
            let (throws, result) = self.arrow(arrow);
            let Some(params) = ty.1 else {
                let place = ty.0.span;
                let text = self.written(place).to_owned();
                self.error(Code::Syntax, place, "the parameters of a function type need parentheses")
                    .helps
                    .push(Help { text: "enclose it in parentheses".into(), edits: vec![(place, format!("({text})"))] });
                return ParamType {
                    ty: TypeExpr { kind: TypeExprKind::Inferred, span },
                    is_inout,
                    is_consuming,
                    attributes,
                };
            };
            // The listed attributes apply to the parameter, all others to the function type.
            let (own, of_type) = attributes.into_iter().partition(|a: &Attribute| {
                matches!(&*a.name.name, "noDerivative" | "escaping" | "autoclosure" | "memberwise")
            });
            let kind = TypeExprKind::Function { params, result: Box::new(result), throws, attributes: of_type };
            return ParamType { ty: TypeExpr { kind, span }, is_inout, is_consuming, attributes: own };
        }
        for (is_some, place) in words.into_iter().rev() {
            let inner = Box::new(ty.0);
            let whole = place.to(inner.span);
            let kind = if is_some { TypeExprKind::Some(inner) } else { TypeExprKind::Any(inner) };
            ty = (TypeExpr { kind, span: whole }, None);
        }
        ParamType { ty: ty.0, is_inout, is_consuming, attributes }
    }

    /// Reads the end of a function type: `throws -> T`.
    pub(super) fn arrow(&mut self, node: Node<'_>) -> (bool, TypeExpr) {
        let span = self.span(&node);
        let (mut throws, mut ty) = (false, TypeExpr { kind: TypeExprKind::Inferred, span });
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::effect => throws |= self.throws(&part),
                _ => ty = self.ty(part),
            }
        }
        (throws, ty)
    }

    /// Reads a type without an arrow; if the type is only a parenthesized list, also returns the elements of the list
    /// as parameters.
    fn type_core(&mut self, node: Node<'_>) -> (TypeExpr, Option<Vec<FunctionTypeParam>>) {
        let span = self.span(&node);
        let mut path: Vec<(Ident, Vec<TypeExpr>)> = vec![];
        let mut built: Option<TypeExpr> = None;
        let mut params = None;
        for part in node.into_inner() {
            let place = self.span(&part);
            match part.as_rule() {
                Rule::type_name => {
                    path.push((self.ident(&part), vec![]));
                    continue;
                }
                Rule::generic_arguments => {
                    let arguments = part.into_inner().map(|t| self.ty(t)).collect();
                    if let Some(last) = path.last_mut() {
                        last.1 = arguments;
                    }
                    continue;
                }
                Rule::array_type => {
                    built = Some(TypeExpr { kind: self.bracketed_type(part), span: place });
                    continue;
                }
                Rule::tuple_type => {
                    let elements = self.tuple_type(part);
                    built = Some(tuple_of(&elements, place));
                    params = Some(elements);
                    continue;
                }
                _ => {}
            }
            // The node is a suffix of the type, such as `?`.
            params = None;
            let inner = built.take().unwrap_or_else(|| named(std::mem::take(&mut path), span, place.start));
            let whole = inner.span.to(place);
            let inner = Box::new(inner);
            let kind = match part.as_rule() {
                Rule::type_optional => TypeExprKind::Optional(inner),
                Rule::type_unwrapped => TypeExprKind::Unwrapped(inner),
                Rule::type_member => {
                    let Some(name) = part.into_inner().next() else { continue };
                    TypeExprKind::Member(inner, self.ident(&name))
                }
                _ => TypeExprKind::Metatype(inner),
            };
            built = Some(TypeExpr { kind, span: whole });
            if suffixes_too_deep(&mut built) {
                self.too_deep(span);
            }
        }
        let ty = built.unwrap_or_else(|| named(path, span, span.end));
        (ty, params)
    }

    /// Reads an array or dictionary type: `[T]` or `[K: V]`.
    pub(super) fn bracketed_type(&mut self, node: Node<'_>) -> TypeExprKind {
        let mut inner: Vec<TypeExpr> = node.into_inner().map(|t| self.ty(t)).collect();
        match (inner.pop(), inner.pop()) {
            (Some(value), Some(key)) => TypeExprKind::Dictionary(Box::new(key), Box::new(value)),
            (Some(element), None) => TypeExprKind::Array(Box::new(element)),
            _ => TypeExprKind::Inferred,
        }
    }

    /// Reads a parenthesized list of types as parameters: `(a: A, B...)`.
    pub(super) fn tuple_type(&mut self, node: Node<'_>) -> Vec<FunctionTypeParam> {
        node.into_inner().filter_map(|element| self.tuple_type_element(element)).collect()
    }

    pub(super) fn tuple_type_element(&mut self, node: Node<'_>) -> Option<FunctionTypeParam> {
        let (mut label, mut variadic, mut ty) = (None, false, None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::tuple_type_label => {
                    let text = part.as_str();
                    let first = text.split([' ', '\n']).next().unwrap_or(text);
                    let place = self.span(&part);
                    label = Some(Ident { name: self.name(first), span: place }).filter(|l| &*l.name != "_");
                }
                Rule::ellipsis => variadic = true,
                _ => ty = Some(self.param_type(part)),
            }
        }
        let ParamType { ty, is_inout, attributes, .. } = ty?;
        Some(FunctionTypeParam { label, ty, is_inout, variadic, attributes })
    }

    /// Reads a list of generic parameters: `<T: P, U>`.
    pub(super) fn generics(&mut self, node: Node<'_>) -> Generics {
        let mut generics = Generics::default();
        for param in node.into_inner() {
            let mut inner = param.into_inner();
            let Some(name) = inner.next() else { continue };
            let name = self.ident(&name);
            let bound = inner.next().map(|t| self.ty(t));
            generics.params.push((name, bound));
        }
        generics
    }

    /// Reads a `where` clause: `where A: P, B == C`.
    pub(super) fn requirements(&mut self, node: Node<'_>) -> Vec<Requirement> {
        let mut out = vec![];
        for requirement in node.into_inner() {
            let mut inner = requirement.into_inner();
            if let (Some(left), Some(op), Some(right)) = (inner.next(), inner.next(), inner.next()) {
                let same = op.as_str() == "==";
                out.push(Requirement { left: self.ty(left), same, right: self.ty(right) });
            }
        }
        out
    }
}

/// Adds the attributes before a type to the syntax of the type.
pub(super) fn attributed(param: ParamType) -> TypeExpr {
    if param.attributes.is_empty() {
        return param.ty;
    }
    let span = param.attributes.iter().map(|a| a.span).fold(param.ty.span, Span::to);
    TypeExpr { kind: TypeExprKind::Attributed(param.attributes, Box::new(param.ty)), span }
}

fn named(path: Vec<(Ident, Vec<TypeExpr>)>, span: Span, end: u32) -> TypeExpr {
    let kind = match &path[..] {
        [(name, generics)] if &*name.name == "_" && generics.is_empty() => TypeExprKind::Inferred,
        _ => TypeExprKind::Named(path),
    };
    TypeExpr { kind, span: Span::new(span.start, end) }
}

/// Builds the type of a parenthesized list: a single type without a label is the type itself.
pub(super) fn tuple_of(elements: &[FunctionTypeParam], span: Span) -> TypeExpr {
    let kind = match elements {
        [element @ FunctionTypeParam { label: None, .. }] => element_type(element).kind,
        _ => TypeExprKind::Tuple(elements.iter().map(|e| (e.label.clone(), element_type(e))).collect()),
    };
    TypeExpr { kind, span }
}

/// Returns the type of an element with the attributes that belong to the type; other attributes apply to parameters.
pub(super) fn element_type(element: &FunctionTypeParam) -> TypeExpr {
    let mut attributes = element.attributes.clone();
    attributes.retain(|a| &*a.name.name == "differentiable");
    attributed(ParamType { ty: element.ty.clone(), is_inout: false, is_consuming: false, attributes })
}

/// Whether a chain of suffixes is too long; such a chain is truncated, because `T????…` nests without parentheses.
fn suffixes_too_deep(built: &mut Option<TypeExpr>) -> bool {
    let Some(ty) = built else { return false };
    let (mut depth, mut at) = (0, &*ty);
    while let TypeExprKind::Optional(inner) | TypeExprKind::Unwrapped(inner) | TypeExprKind::Metatype(inner) = &at.kind
    {
        (depth, at) = (depth + 1, inner);
        if depth > 64 {
            ty.kind = TypeExprKind::Inferred;
            return true;
        }
    }
    false
}
