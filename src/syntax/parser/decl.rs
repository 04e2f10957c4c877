//! Declaration parser: reads declarations with their attributes and modifiers.

use super::types::element_type;
use super::{Builder, Node, Rule};
use crate::source::Span;
use crate::syntax::ast::{
    Binding, CaseDecl, CasePart, Decl, DeclKind, ExprKind, ExtensionDecl, Fixity, Generics, Ident, NominalDecl,
    NominalKind, ProtocolDecl, Requirement, StringPart, TypeExpr, TypeExprKind,
};
use pest::iterators::Pairs;
use std::rc::Rc;

/// The common parts of the declarations of types.
struct Head {
    name: Option<Ident>,
    target: Option<TypeExpr>,
    generics: Generics,
    inherits: Vec<TypeExpr>,
    requirements: Vec<Requirement>,
    members: Vec<Rc<Decl>>,
}

impl Builder<'_> {
    /// Reads a declaration with the attributes and modifiers before it.
    pub(super) fn declaration(&mut self, node: Node<'_>) -> Option<Decl> {
        let span = self.span(&node);
        let (mut attributes, mut modifiers, mut kind) = (vec![], vec![], None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::attribute => attributes.push(self.attribute(part)),
                Rule::modifier => {
                    let place = self.span(&part);
                    let text: String = part.as_str().chars().filter(|c| *c != ' ').collect();
                    modifiers.push(Ident { name: self.text_name(&text), span: place });
                }
                _ => kind = self.declared(part, &modifiers),
            }
        }
        let documentation = self.documentation(span);
        Some(Decl { kind: kind?, attributes, modifiers, span, documentation })
    }

    fn declared(&mut self, node: Node<'_>, modifiers: &[Ident]) -> Option<DeclKind> {
        let rule = node.as_rule();
        match rule {
            Rule::variable => Some(self.variable(node.into_inner())),
            Rule::function => self.function(node.into_inner()),
            Rule::initializer => Some(self.initializer(node)),
            Rule::deinitializer => Some(DeclKind::Deinit(self.block(node.into_inner().next()?))),
            Rule::subscript_declaration => Some(self.subscript_declaration(node)),
            Rule::nominal => {
                let kind = match node.as_str() {
                    text if text.starts_with("struct") => NominalKind::Struct,
                    text if text.starts_with("enum") => NominalKind::Enum,
                    _ => NominalKind::Class,
                };
                let Head { name, mut generics, inherits, requirements, members, .. } = self.head(node.into_inner());
                generics.requirements = requirements;
                Some(DeclKind::Nominal(NominalDecl { kind, name: name?, generics, inherits, members }))
            }
            Rule::protocol => {
                let Head { name, generics, inherits, requirements, members, .. } = self.head(node.into_inner());
                let primary = generics.params.into_iter().map(|(name, _)| name).collect();
                Some(DeclKind::Protocol(ProtocolDecl { name: name?, primary, inherits, requirements, members }))
            }
            Rule::extension => {
                let Head { target, inherits, requirements, members, .. } = self.head(node.into_inner());
                Some(DeclKind::Extension(ExtensionDecl { target: target?, inherits, requirements, members }))
            }
            Rule::type_alias => {
                let Head { name, target, mut generics, requirements, .. } = self.head(node.into_inner());
                generics.requirements = requirements;
                Some(DeclKind::TypeAlias { name: name?, generics, target: target? })
            }
            Rule::associated_type => {
                let (mut default, mut rest) = (None, vec![]);
                for part in node.into_inner() {
                    match part.as_rule() {
                        Rule::type_default => default = part.into_inner().next().map(|t| self.ty(t)),
                        _ => rest.push(part),
                    }
                }
                let Head { name, mut inherits, requirements, .. } = self.head(rest.into_iter());
                let bound = match (inherits.first(), inherits.last()) {
                    (Some(first), Some(last)) if inherits.len() > 1 => {
                        let span = first.span.to(last.span);
                        Some(TypeExpr { kind: TypeExprKind::Composition(inherits), span })
                    }
                    _ => inherits.pop(),
                };
                Some(DeclKind::AssociatedType { name: name?, bound, default, requirements })
            }
            Rule::import => Some(self.import(node.into_inner())),
            Rule::cases => Some(DeclKind::Cases(node.into_inner().filter_map(|c| self.case(c)).collect())),
            Rule::operator_declaration => self.operator_declaration(node.into_inner(), modifiers),
            Rule::precedence_group => self.precedence_group(node.into_inner()),
            other => unreachable!("{other:?} as a declaration"),
        }
    }

    /// Reads a declaration of variables or constants: `let a = 1, b: Int`.
    fn variable(&mut self, nodes: Pairs<'_, Rule>) -> DeclKind {
        let (mut is_let, mut bindings): (bool, Vec<Binding>) = (true, vec![]);
        for node in nodes {
            if node.as_rule() == Rule::let_word {
                is_let = node.as_str() == "let";
                continue;
            }
            let (mut pattern, mut ty, mut value, mut accessors) = (None, None, None, None);
            for part in node.into_inner() {
                match part.as_rule() {
                    Rule::name | Rule::pattern_tuple => pattern = Some(self.binding_pattern(part, !is_let)),
                    Rule::type_annotation => ty = part.into_inner().next().map(|t| self.ty(t)),
                    Rule::initial => value = part.into_inner().next().map(|e| self.expr(e)),
                    Rule::accessor_block => accessors = Some(self.accessors(part)),
                    _ => accessors = Some(self.getter(part)),
                }
            }
            bindings.extend(pattern.map(|pattern| Binding { pattern, ty, value, accessors }));
        }
        // In `let a, b: Int`, the type also applies to the preceding names that have neither type nor value.
        let mut ty: Option<TypeExpr> = None;
        for binding in bindings.iter_mut().rev() {
            match (&binding.ty, &binding.value) {
                (Some(own), None) => ty = Some(own.clone()),
                (None, None) => binding.ty = ty.clone(),
                _ => ty = None,
            }
        }
        DeclKind::Variable { is_let, bindings }
    }

    fn head<'n>(&mut self, nodes: impl Iterator<Item = Node<'n>>) -> Head {
        let mut head = Head {
            name: None,
            target: None,
            generics: Generics::default(),
            inherits: vec![],
            requirements: vec![],
            members: vec![],
        };
        for node in nodes {
            match node.as_rule() {
                Rule::nominal_word => {}
                Rule::name => head.name = Some(self.ident(&node)),
                Rule::generics => head.generics = self.generics(node),
                Rule::inherits | Rule::protocol_inherits => {
                    head.inherits = node.into_inner().map(|t| self.inherited(t)).collect();
                }
                Rule::where_clause => head.requirements = self.requirements(node),
                Rule::members => {
                    for member in node.into_inner() {
                        let span = self.span(&member);
                        let built = self.deeper(span, None, |b| b.declaration(member));
                        head.members.extend(built.map(Rc::new));
                    }
                }
                _ => head.target = Some(self.ty(node)),
            }
        }
        head
    }

    /// Builds an inherited type; `class` is the former spelling of `AnyObject`.
    fn inherited(&mut self, node: Node<'_>) -> TypeExpr {
        if node.as_rule() != Rule::class_bound {
            return self.ty(node);
        }
        let span = self.span(&node);
        let object = Ident { name: "AnyObject".into(), span };
        TypeExpr { kind: TypeExprKind::Named(vec![(object, vec![])]), span }
    }

    fn case(&mut self, node: Node<'_>) -> Option<CaseDecl> {
        let (mut name, mut payload, mut raw) = (None, None, None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::any_name => name = Some(self.ident(&part)),
                Rule::case_payload => {
                    payload = Some(part.into_inner().filter_map(|part| self.case_part(part)).collect());
                }
                _ => raw = Some(self.expr(part)),
            }
        }
        name.map(|name| CaseDecl { name, payload, raw })
    }

    fn case_part(&mut self, node: Node<'_>) -> Option<CasePart> {
        let mut inner = node.into_inner();
        let element = self.tuple_type_element(inner.next()?)?;
        let ty = element_type(&element);
        let default = inner.next().map(|value| self.expr(value));
        Some(CasePart { label: element.label, ty, default })
    }

    fn import(&mut self, nodes: Pairs<'_, Rule>) -> DeclKind {
        let (mut kind, mut path, mut file) = (None, vec![], None);
        for node in nodes {
            match node.as_rule() {
                Rule::import_kind => kind = Some(self.ident(&node)),
                Rule::any_name => path.push(self.ident(&node)),
                _ => {
                    let span = self.span(&node);
                    match self.string(node).kind {
                        ExprKind::String(parts) => match &parts[..] {
                            [StringPart::Text(text)] => file = Some(text.clone()),
                            _ => {
                                self.error(crate::diagnostic::Code::Syntax, span, "expected the path of a file");
                            }
                        },
                        _ => file = None,
                    }
                }
            }
        }
        DeclKind::Import { kind, path, file }
    }

    fn operator_declaration(&mut self, nodes: Pairs<'_, Rule>, modifiers: &[Ident]) -> Option<DeclKind> {
        let (mut name, mut precedence) = (None, None);
        for node in nodes {
            match node.as_rule() {
                Rule::op_name => name = Some(self.ident(&node)),
                _ if precedence.is_none() => precedence = Some(self.ident(&node)),
                _ => {} // protocols that Swift once allowed here
            }
        }
        let name = name?;
        let fixity = match modifiers.iter().find(|m| matches!(&*m.name, "prefix" | "infix" | "postfix")) {
            Some(m) if &*m.name == "prefix" => Fixity::Prefix,
            Some(m) if &*m.name == "postfix" => Fixity::Postfix,
            Some(_) => Fixity::Infix,
            None => {
                let place = name.span.before();
                self.error(
                    crate::diagnostic::Code::Syntax,
                    name.span,
                    "operator must be declared as 'prefix', 'infix' or 'postfix'",
                )
                .helps
                .push(crate::diagnostic::Help {
                    text: "write 'prefix', 'infix' or 'postfix' before 'operator'".into(),
                    edits: vec![(Span::new(place.start, place.start), String::new())],
                });
                Fixity::Infix
            }
        };
        Some(DeclKind::Operator { fixity, name, precedence })
    }

    fn precedence_group(&mut self, nodes: Pairs<'_, Rule>) -> Option<DeclKind> {
        let (mut name, mut higher_than, mut lower_than) = (None, vec![], vec![]);
        let (mut associativity, mut assignment) = (None, false);
        for node in nodes {
            if node.as_rule() == Rule::name {
                name = Some(self.ident(&node));
                continue;
            }
            let mut inner = node.into_inner();
            let label = inner.next()?;
            let values: Vec<Ident> = inner.map(|v| self.ident(&v)).collect();
            match label.as_str() {
                "higherThan" => higher_than.extend(values),
                "lowerThan" => lower_than.extend(values),
                "associativity" => associativity = values.into_iter().next(),
                "assignment" => assignment = values.first().is_some_and(|v| &*v.name == "true"),
                other => {
                    let message = format!("a precedence group has no '{other}'");
                    let place = self.span(&label);
                    self.error(crate::diagnostic::Code::Syntax, place, message);
                }
            }
        }
        Some(DeclKind::PrecedenceGroup { name: name?, higher_than, lower_than, associativity, assignment })
    }

    /// Returns the text of the `///` lines directly before a declaration.
    pub(super) fn documentation(&self, span: Span) -> Option<Rc<str>> {
        let mut lines = vec![];
        let mut before = self.text.get(..(span.start - self.start) as usize)?;
        before = before.trim_end_matches([' ', '\t']);
        while let Some(rest) = before.strip_suffix('\n') {
            let from = rest.rfind('\n').map_or(0, |n| n + 1);
            let Some(line) = rest[from..].trim().strip_prefix("///") else { break };
            lines.push(line.strip_prefix(' ').unwrap_or(line));
            before = &rest[..from];
        }
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("\n").into())
    }
}
