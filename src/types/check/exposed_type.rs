//! Exposed types: checks that no declaration is more accessible than the types that it names.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    CaseDecl, Decl, DeclKind, File, FunctionDecl, Name, NominalKind, StmtKind, TypeExpr, TypeExprKind,
};
use crate::types::model::type_context::TypeContext;
use std::collections::HashMap;
use std::rc::Rc;

/// The access levels of the hidden types that a scope declares.
type HiddenTypes = HashMap<Name, &'static str>;

/// Reports the declarations of files that are more accessible than a type in their signatures. At a prompt, a type may be
/// hidden from other files only, of which there are none.
pub(crate) fn check_files(cx: &mut TypeContext, files: &[(u32, &File)]) {
    if cx.module.is_interactive {
        return;
    }
    for (_, file) in files {
        let declarations = file.items.iter().filter_map(|item| match &item.kind {
            StmtKind::Decl(decl) => Some(decl),
            _ => None,
        });
        let declarations: Vec<&Rc<Decl>> = declarations.collect();
        let types = hidden_types(&declarations);
        if types.is_empty() && !declarations.iter().any(|decl| declares_members(decl)) {
            continue;
        }
        let scope = Scope { scopes: vec![types], of: None };
        declarations.iter().for_each(|decl| scope.check(cx, decl));
    }
}

/// The declaration that contains the checked ones.
struct Scope {
    /// The hidden types of the enclosing scopes, the innermost last.
    scopes: Vec<HiddenTypes>,
    /// The kind of the enclosing type; `None` at the top level.
    of: Option<Container>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Enum,
    Other,
}

impl Scope {
    fn check(&self, cx: &mut TypeContext, decl: &Rc<Decl>) {
        if level(decl).is_some() {
            return;
        }
        match &decl.kind {
            DeclKind::Function(function) => {
                let what = if self.of.is_some() { "method" } else { "function" };
                self.check_function(cx, decl, function, what);
            }
            DeclKind::Init { function, .. } => self.check_function(cx, decl, function, "initializer"),
            DeclKind::Subscript { function, .. } => {
                let types = function.params.iter().filter_map(|param| param.ty.as_ref());
                for ty in types {
                    self.report(cx, decl, (ty, function), "subscript", "index");
                }
                if let Some(result) = &function.result {
                    self.report(cx, decl, (result, function), "subscript", "element type");
                }
            }
            DeclKind::Variable { is_let, bindings } => {
                let what = match (self.of, is_let) {
                    (Some(_), _) => "property",
                    (None, true) => "constant",
                    (None, false) => "variable",
                };
                for ty in bindings.iter().filter_map(|binding| binding.ty.as_ref()) {
                    self.report_type(cx, decl, ty, what, "type");
                }
            }
            DeclKind::TypeAlias { target, .. } => self.report_type(cx, decl, target, "type alias", "underlying type"),
            DeclKind::Cases(cases) if self.of == Some(Container::Enum) => self.check_cases(cx, cases),
            DeclKind::Nominal(nominal) => {
                let of = if nominal.kind == NominalKind::Enum { Container::Enum } else { Container::Other };
                self.inside(&nominal.members, of).check_all(cx, &nominal.members);
            }
            DeclKind::Extension(extension) if self.hidden(&extension.target, None).is_none() => {
                self.inside(&extension.members, Container::Other).check_all(cx, &extension.members);
            }
            _ => {}
        }
    }

    fn check_all(&self, cx: &mut TypeContext, members: &[Rc<Decl>]) {
        members.iter().for_each(|member| self.check(cx, member));
    }

    /// Returns the scope of the members of a type.
    fn inside(&self, members: &[Rc<Decl>], of: Container) -> Scope {
        let mut scopes = self.scopes.clone();
        scopes.push(hidden_types(&members.iter().collect::<Vec<_>>()));
        Scope { scopes, of: Some(of) }
    }

    fn check_function(&self, cx: &mut TypeContext, decl: &Decl, function: &FunctionDecl, what: &str) {
        for ty in function.params.iter().filter_map(|param| param.ty.as_ref()) {
            self.report(cx, decl, (ty, function), what, "parameter");
        }
        if let Some(result) = &function.result {
            self.report(cx, decl, (result, function), what, "result");
        }
    }

    fn check_cases(&self, cx: &mut TypeContext, cases: &[CaseDecl]) {
        for part in cases.iter().filter_map(|case| case.payload.as_ref()).flatten() {
            if let Some((hidden, _)) = self.hidden(&part.ty, None) {
                let article = if hidden.starts_with('i') { "an" } else { "a" };
                let message = format!("enum case in an internal enum uses {article} {hidden} type");
                cx.sink.report(Diagnostic::error(Code::Inaccessible, part.ty.span, message));
            }
        }
    }

    fn report_type(&self, cx: &mut TypeContext, decl: &Decl, ty: &TypeExpr, what: &str, part: &str) {
        if let Some(found) = self.hidden(ty, None) {
            self.report_hidden(cx, decl, ty.span, found, what, part);
        }
    }

    fn report(
        &self,
        cx: &mut TypeContext,
        decl: &Decl,
        (ty, function): (&TypeExpr, &FunctionDecl),
        what: &str,
        part: &str,
    ) {
        if let Some(found) = self.hidden(ty, Some(function)) {
            self.report_hidden(cx, decl, ty.span, found, what, part);
        }
    }

    fn report_hidden(
        &self,
        cx: &mut TypeContext,
        decl: &Decl,
        span: Span,
        (hidden, depth): (&'static str, usize),
        what: &str,
        part: &str,
    ) {
        // A private type at the top level is accessible in its file.
        let required = match self.of {
            None => "private or fileprivate",
            Some(_) if hidden == "private" && depth > 0 => "private",
            Some(_) => "fileprivate",
        };
        let word = if required == "private" { "private" } else { "fileprivate" };
        let message = format!("{what} must be declared {required} because its {part} uses a {hidden} type");
        let diagnostic = Diagnostic::error(Code::Inaccessible, span, message);
        let has_level = decl.modifiers.iter().any(|m| matches!(&*m.name, "public" | "internal" | "open" | "package"));
        cx.sink.report(match has_level {
            true => diagnostic,
            false => diagnostic.fix(format!("declare it '{word}'"), decl.span.before(), format!("{word} ")),
        });
    }

    /// Returns the access level of a hidden type that a type expression names, and the number of types around the
    /// declaration of the hidden one.
    fn hidden(&self, ty: &TypeExpr, function: Option<&FunctionDecl>) -> Option<(&'static str, usize)> {
        if let TypeExprKind::Named(path) = &ty.kind
            && let Some((first, _)) = path.first()
            && !function.is_some_and(|f| f.generics.params.iter().any(|(param, _)| param.name == first.name))
        {
            let mut depths = self.scopes.iter().enumerate().rev();
            if let Some(found) = depths.find_map(|(depth, types)| Some((*types.get(&first.name)?, depth))) {
                return Some(found);
            }
        }
        ty.parts().into_iter().find_map(|part| self.hidden(part, function))
    }
}

/// Returns the access levels of the hidden types among declarations.
fn hidden_types(declarations: &[&Rc<Decl>]) -> HiddenTypes {
    let name = |decl: &Decl| match &decl.kind {
        DeclKind::Nominal(nominal) => Some(nominal.name.name.clone()),
        DeclKind::Protocol(protocol) => Some(protocol.name.name.clone()),
        DeclKind::TypeAlias { name, .. } => Some(name.name.clone()),
        _ => None,
    };
    declarations.iter().filter_map(|decl| Some((name(decl)?, level(decl)?))).collect()
}

/// Returns the access level of a declaration if it hides the declaration.
fn level(decl: &Decl) -> Option<&'static str> {
    ["private", "fileprivate"].into_iter().find(|word| decl.has(word))
}

fn declares_members(decl: &Decl) -> bool {
    matches!(decl.kind, DeclKind::Nominal(_) | DeclKind::Extension(_))
}
