//! Function parser: reads functions, initializers, subscripts and accessors.

use super::{Builder, Node, Rule, YIELDED, YieldingAccessor};
use crate::syntax::ast::{
    Accessors, Block, DeclKind, FunctionDecl, Generics, Ident, LazyBlock, Param, TypeExpr, TypeExprKind,
};
use pest::iterators::Pairs;

impl Builder<'_> {
    pub(super) fn function(&mut self, nodes: Pairs<'_, Rule>) -> Option<DeclKind> {
        let mut function = None;
        for node in nodes {
            match node.as_rule() {
                Rule::any_name => function = Some(empty_function(self.ident(&node))),
                Rule::op_name => function = Some(empty_function(self.ident(&node))),
                _ => self.signature_part(node, function.as_mut()?),
            }
        }
        function.as_mut().map(rethrow_errors_of_argument);
        function.map(DeclKind::Function)
    }

    fn signature_part(&mut self, node: Node<'_>, function: &mut FunctionDecl) {
        match node.as_rule() {
            Rule::generics => function.generics.params = self.generics(node).params,
            Rule::params => {
                function.params = node.into_inner().filter_map(|p| self.param(p)).collect();
                self.name_opaque_types(function);
            }
            Rule::effect => {
                function.throws |= self.throws(&node);
                function.rethrows |= node.as_str() == "rethrows";
                function.thrown = self.thrown(&node).or(function.thrown.take());
            }
            Rule::arrow_type => function.result = node.into_inner().next().map(|t| self.ty(t)),
            Rule::where_clause => function.generics.requirements = self.requirements(node),
            Rule::block => {
                let around = std::mem::take(&mut self.throwing);
                function.body = Some(self.block(node).into());
                self.throwing = around;
            }
            other => unreachable!("{other:?} in a function"),
        }
    }

    /// Replaces `some P` in a parameter by a generic parameter whose name is the text of the type.
    fn name_opaque_types(&mut self, function: &mut FunctionDecl) {
        for param in &mut function.params {
            if let Some(ty) = &mut param.ty {
                self.name_opaque_type(ty, &mut function.generics);
            }
        }
    }

    fn name_opaque_type(&mut self, ty: &mut TypeExpr, generics: &mut Generics) {
        match &mut ty.kind {
            TypeExprKind::Some(bound) => {
                let mut text = self.written(ty.span).to_owned();
                while generics.params.iter().any(|(name, _)| *name.name == *text) {
                    text.push('\'');
                }
                let name = Ident { name: self.text_name(&text), span: ty.span };
                generics.params.push((name.clone(), Some((**bound).clone())));
                ty.kind = TypeExprKind::Named(vec![(name, vec![])]);
            }
            TypeExprKind::Array(of)
            | TypeExprKind::Optional(of)
            | TypeExprKind::Unwrapped(of)
            | TypeExprKind::Attributed(_, of) => self.name_opaque_type(of, generics),
            TypeExprKind::Dictionary(key, value) => {
                self.name_opaque_type(key, generics);
                self.name_opaque_type(value, generics);
            }
            TypeExprKind::Tuple(parts) => parts.iter_mut().for_each(|(_, t)| self.name_opaque_type(t, generics)),
            TypeExprKind::Named(path) => {
                path.iter_mut().flat_map(|(_, of)| of).for_each(|t| self.name_opaque_type(t, generics));
            }
            _ => {}
        }
    }

    /// Returns the type `Self!`, the result of an initializer `init!`.
    fn unwrapped_self(&mut self, span: crate::source::Span) -> TypeExpr {
        let name = Ident { name: self.text_name("Self"), span };
        let own = TypeExpr { kind: TypeExprKind::Named(vec![(name, vec![])]), span };
        TypeExpr { kind: TypeExprKind::Unwrapped(own.into()), span }
    }

    pub(super) fn initializer(&mut self, node: Node<'_>) -> DeclKind {
        let span = self.span(&node);
        let name = Ident { name: self.text_name("init"), span: crate::source::Span::new(span.start, span.start + 4) };
        let (mut failable, mut function) = (false, empty_function(name));
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::failable => {
                    failable = true;
                    function.result = (part.as_str() == "!").then(|| self.unwrapped_self(self.span(&part)));
                }
                _ => self.signature_part(part, &mut function),
            }
        }
        rethrow_errors_of_argument(&mut function);
        DeclKind::Init { failable, function }
    }

    pub(super) fn subscript_declaration(&mut self, node: Node<'_>) -> DeclKind {
        let span = self.span(&node);
        let place = crate::source::Span::new(span.start, span.start + "subscript".len() as u32);
        let name = Ident { name: self.text_name("subscript"), span: place };
        let (mut accessors, mut function) = (Accessors::default(), empty_function(name));
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::accessor_block => accessors = self.accessors(part),
                Rule::block => accessors.get = Some(self.block(part).into()),
                _ => self.signature_part(part, &mut function),
            }
        }
        for param in &mut function.params {
            // The parameter of a subscript has a label only if a label is written explicitly.
            if param.label.as_ref().is_some_and(|l| l.span == param.name.span) {
                param.label = None;
            }
        }
        DeclKind::Subscript { function, accessors }
    }

    fn param(&mut self, node: Node<'_>) -> Option<Param> {
        let (mut attributes, mut names, mut ty, mut default) = (vec![], vec![], None, None);
        let (mut variadic, mut is_inout, mut is_consuming) = (false, false, false);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::attribute => attributes.push(self.attribute(part)),
                Rule::any_name => names.push(self.ident(&part)),
                Rule::ellipsis => variadic = true,
                Rule::expr => default = Some(self.expr(part)),
                _ => {
                    let param = self.param_type(part);
                    is_inout = param.is_inout;
                    is_consuming = param.is_consuming;
                    attributes.extend(param.attributes);
                    ty = Some(param.ty);
                }
            }
        }
        let name = names.pop()?;
        let label = Some(names.pop().unwrap_or_else(|| name.clone())).filter(|l| &*l.name != "_");
        Some(Param { label, name, ty, is_inout, is_consuming, variadic, default, attributes })
    }

    /// Reads accessors, `{ get … set … }`, or observers.
    pub(super) fn accessors(&mut self, node: Node<'_>) -> Accessors {
        let mut out = Accessors::default();
        let mut bodies = 0;
        for accessor in node.into_inner() {
            let span = self.span(&accessor);
            let (mut kind, mut name, mut body) = ("", None, None);
            let (mut attributes, mut word, mut throws) = (vec![], "", false);
            for part in accessor.into_inner() {
                match part.as_rule() {
                    Rule::attribute => attributes.push(self.attribute(part)),
                    Rule::accessor_word => word = part.as_str(),
                    Rule::accessor_kind => kind = part.as_str(),
                    Rule::name => name = Some(self.ident(&part)),
                    Rule::block => {
                        let yielding = match kind {
                            "_read" => Some(YieldingAccessor::Value),
                            "_modify" => Some(YieldingAccessor::Place),
                            _ => None,
                        };
                        let around = std::mem::replace(&mut self.yielding, yielding);
                        body = Some(self.block(part));
                        self.yielding = around;
                    }
                    _ => throws |= self.throws(&part),
                }
            }
            bodies += u32::from(body.is_some());
            let body = LazyBlock::from(body.unwrap_or(Block { items: vec![], span }));
            match kind {
                "get" => {
                    out.get = Some(body);
                    out.get_attributes = attributes;
                    out.mutating_get |= word == "mutating";
                    out.get_throws |= throws;
                }
                // The setter does not need the statements before and after the `yield` of `_modify`.
                "set" => {
                    out.set = Some((name, body));
                    out.nonmutating_set |= word == "nonmutating";
                }
                "_read" => {
                    out.get.get_or_insert(body);
                    out.mutating_get |= word == "mutating";
                }
                "_modify" => {
                    let value = Ident { name: self.text_name(YIELDED), span };
                    out.set.get_or_insert((Some(value), body));
                    out.nonmutating_set |= word == "nonmutating";
                }
                "willSet" => out.will_set = Some((name, body)),
                _ => out.did_set = Some((name, body)),
            }
        }
        out.is_requirement = bodies == 0;
        out
    }

    /// Returns the accessors of a computed variable, `var x: T { value }`.
    pub(super) fn getter(&mut self, node: Node<'_>) -> Accessors {
        Accessors { get: Some(self.block(node).into()), ..Accessors::default() }
    }
}

fn empty_function(name: Ident) -> FunctionDecl {
    FunctionDecl {
        name,
        generics: Default::default(),
        params: vec![],
        throws: false,
        rethrows: false,
        thrown: None,
        result: None,
        body: None,
    }
}

/// Declares that a function rethrows if the type of its errors is a generic parameter, which is that of the errors of an
/// argument: `func map<E: Error>(_ body: () throws(E) -> Void) throws(E)`.
fn rethrow_errors_of_argument(function: &mut FunctionDecl) {
    let Some(TypeExprKind::Named(path)) = function.thrown.as_ref().map(|ty| &ty.kind) else { return };
    let [(name, _)] = &path[..] else { return };
    let name = name.name.clone();
    let is_parameter = |ty: &TypeExpr| matches!(&ty.kind, TypeExprKind::Named(path) if matches!(&path[..], [(first, _)] if first.name == name));
    let count = function.generics.params.len();
    function.generics.params.retain(|(param, _)| param.name != name);
    if function.generics.params.len() == count {
        return;
    }
    function.generics.requirements.retain(|requirement| !is_parameter(&requirement.left));
    (function.throws, function.rethrows, function.thrown) = (false, true, None);
}
