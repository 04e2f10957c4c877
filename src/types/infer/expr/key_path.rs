//! Key paths: `\Root.path` as a function of the root, or as an object of the library that reads and writes.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, KeyPathPart, Name};
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::model::syntax_query::closure_with;
use crate::types::model::ty::Type;
use crate::types::model::type_vars;
use crate::types::model::typed_tree::{Callee, Expr, ExprKind};
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use std::rc::Rc;

/// The names of the root and the value in the functions that are generated for a key path. Source text cannot contain
/// them.
const ROOT: &str = "$root";
const VALUE: &str = "$value";

impl Infer<'_> {
    /// Infers a key path expression, `\Root.path` or `\.path`.
    pub(crate) fn key_path(
        &mut self,
        root: Option<&ast::TypeExpr>,
        path: &[KeyPathPart],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let wanted = expected.map(|ty| unification::shallow(self.cx, ty));
        let wanted = wanted.map(|ty| name_lookup::optional_payload(self.cx, &ty).unwrap_or(ty));
        let function = matches!(wanted, Some(Type::Function(_)));
        let root = match (root, &wanted) {
            (Some(root), _) => self.resolve(root),
            (None, Some(Type::Function(f))) if f.params.len() == 1 => f.params[0].ty.clone(),
            (None, Some(Type::Nominal(_, args))) if args.len() == 2 => args[0].clone(),
            (None, Some(Type::Nominal(n, args)))
                if args.len() == 1 && &*self.cx.defs.nominal_data(*n).name == "PartialKeyPath" =>
            {
                args[0].clone()
            }
            _ => {
                let message = "cannot infer key path type from context; consider explicitly specifying a root type";
                let diagnostic = Diagnostic::error(Code::CannotInfer, span, message);
                self.error(diagnostic.help("write it between the backslash and the dot: \\Type.property"));
                return self.error_expr(span);
            }
        };
        self.key_path_of(&root, path, if function { expected } else { None }, span)
    }

    /// Infers a key path with a known root; `function` is the expected function type, if any.
    pub(crate) fn key_path_of(
        &mut self,
        root: &Type,
        path: &[KeyPathPart],
        function: Option<&Type>,
        span: Span,
    ) -> Expr {
        let root = unification::resolved(self.cx, root);
        let Some((value, stores)) = self.probe(&root, path, span) else { return self.error_expr(span) };
        let root_type = self.written(&root, span);
        let (path, indices) = with_evaluated_indices(path);
        let path = &path[..];
        let reading = closure_with(vec![parameter(ROOT, root_type.clone(), false, span)], walk(path, span), span);
        if function.is_some() {
            return self.expr(&capturing(reading, indices), function);
        }
        let text = self.key_path_text(&root, path);
        let mut args = vec![ast::Expr { kind: Ast::String(text), span }, reading];
        let mut family = "KeyPath";
        if stores {
            let is_class = matches!(&root, Type::Nominal(n, _) if superclass::is_class(self.cx, *n));
            family = if is_class { "ReferenceWritableKeyPath" } else { "WritableKeyPath" };
            let value_type = self.written(&value, span);
            let store = Ast::Assign { target: Rc::new(walk(path, span)), value: Rc::new(name(VALUE, span)) };
            let params = vec![parameter(ROOT, root_type, true, span), parameter(VALUE, value_type, false, span)];
            args.push(closure_with(params, ast::Expr { kind: store, span }, span));
        }
        let object = called(name(family, span), args, span);
        if indices.is_empty() {
            return self.expr(&object, None);
        }
        // The indices are evaluated once, when the key path is created.
        let (mut params, mut values) = (vec![], vec![]);
        for (ident, value) in indices {
            let index = self.expr(&value, None);
            let index = self.decided(index);
            let ty = self.written(&index.ty, value.span);
            params.push(parameter(&ident.name, ty, false, ident.span));
            values.push(value);
        }
        let function = closure_with(params, object, span);
        self.expr(&called(function, values, span), None)
    }

    /// Infers `base[keyPath: \.a.b]` as the place `base.a.b`, if this place can be assigned to; returns `None` for
    /// other paths.
    pub(crate) fn along_key_path(&mut self, base: &Expr, path: &[KeyPathPart], span: Span) -> Option<Expr> {
        let is_plain = |part: &KeyPathPart| match part {
            KeyPathPart::Member(name) => &*name.name != "self",
            KeyPathPart::Subscript(..) => true,
            KeyPathPart::Chain(_) | KeyPathPart::Force(_) => false,
        };
        if !path.iter().all(is_plain) {
            return None;
        }
        let root = unification::resolved(self.cx, &base.ty);
        let stores = self.probe(&root, path, span).is_some_and(|(_, stores)| stores);
        stores.then(|| {
            path.iter().fold(base.clone(), |base, part| match part {
                KeyPathPart::Subscript(args, _) => {
                    self.subscript(base, args.iter().map(ArgNode::new).collect(), None, span)
                }
                KeyPathPart::Member(name) => self.member(base, name, None, span),
                KeyPathPart::Chain(_) | KeyPathPart::Force(_) => base,
            })
        })
    }

    /// Determines the types of the literals in a value that is read along a key path: by the root of the key path if it is
    /// known, otherwise by default.
    pub(crate) fn decide_root(&mut self, of: &Type, arg: &mut ArgNode) {
        if !unification::has_vars(self.cx, of) {
            return;
        }
        let root = match (&arg.ast.kind, &arg.ready) {
            (Ast::KeyPath { root, .. }, None) => root.as_ref().map(|root| self.resolve(root)),
            (_, ready) => {
                let path = ready.clone().unwrap_or_else(|| Rc::new(self.expr(&arg.ast, None)));
                let path = Rc::new(self.decided((*path).clone()));
                let ty = unification::shallow(self.cx, &path.ty);
                arg.ready = Some(path);
                match ty {
                    Type::Nominal(_, args) => args.first().cloned(),
                    _ => None,
                }
            }
        };
        if let Some(root) = root {
            unification::try_unify(self.cx, of, &root, arg.span);
        }
        let mut open = vec![];
        type_vars::zonk(self.cx, of).any(&mut |ty| {
            open.extend(match ty {
                Type::Var(v) => Some(*v),
                _ => None,
            });
            false
        });
        open.retain(|v| self.cx.vars.var(*v).literal.is_some());
        open.into_iter().for_each(|v| self.default_var(v));
    }

    /// Whether the end of a key path from a root can be assigned to, or the root is not known yet.
    pub(crate) fn may_write(&mut self, root: &Type, path: &[KeyPathPart], span: Span) -> bool {
        let root = unification::resolved(self.cx, root);
        if unification::has_vars(self.cx, &root) {
            return true;
        }
        let (before, failed) = (self.cx.sink.diagnostics.len(), self.failed);
        let snapshot = self.cx.vars.snapshot();
        let stores = self.probe(&root, path, span).is_none_or(|(_, stores)| stores);
        self.cx.vars.rollback(snapshot);
        self.cx.sink.diagnostics.truncate(before);
        self.failed = failed;
        stores
    }

    /// Infers the path of a key path once, on a variable of the root's type: returns the type at the end of the path,
    /// and whether the end of the path can be assigned to.
    fn probe(&mut self, root: &Type, path: &[KeyPathPart], span: Span) -> Option<(Type, bool)> {
        let local = self.new_local("", root.clone(), true, span);
        let end = self.in_scope(|infer| {
            infer.bind(&ROOT.into(), local);
            let end = infer.expr(&walk(path, span), None);
            infer.decided(end)
        });
        if end.ty == Type::Error {
            return None;
        }
        let stores = self.can_store(&end);
        Some((unification::resolved(self.cx, &end.ty), stores))
    }

    /// Whether the place from which a value was read, starting at a variable, can be assigned to.
    fn can_store(&mut self, e: &Expr) -> bool {
        match &self.decided(e.clone()).kind {
            ExprKind::Local(_) => true,
            ExprKind::Field { base, index } => {
                let base_type = unification::shallow(self.cx, &base.ty);
                let Type::Nominal(n, _) = &base_type else { return false };
                let (owner, own) = superclass::stored_owner(self.cx, *n, *index);
                let is_let = self.cx.defs.nominal_data(owner).stored[own].is_let;
                !is_let && (superclass::is_class(self.cx, *n) || self.can_store(base))
            }
            ExprKind::Element { base, .. } | ExprKind::Force(base) => self.can_store(base),
            ExprKind::Call { callee: Callee::Static(f) | Callee::Class { function: f, .. }, args } => {
                let Some(setter) = self.cx.defs.function_data(f.function).setter else { return false };
                let mutating = signature::signature(self.cx, setter).self_inout;
                match args.first() {
                    Some(crate::types::model::typed_tree::Argument::Value(base)) => {
                        let of = unification::shallow(self.cx, &base.ty);
                        let is_class = matches!(of, Type::Nominal(n, _) if superclass::is_class(self.cx, n));
                        !mutating || is_class || self.can_store(base)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Returns a type expression that denotes a type by a reserved name.
    fn written(&mut self, ty: &Type, span: Span) -> ast::TypeExpr {
        let name = type_expr::name_for(self.cx, ty.clone());
        let ident = Ident { name: name.into(), span };
        ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident, vec![])]), span }
    }

    /// Returns the text of a key path, which identifies it; the indices of subscripts are interpolated.
    fn key_path_text(&mut self, root: &Type, path: &[KeyPathPart]) -> Vec<ast::StringPart> {
        let (mut parts, mut text) = (vec![], format!("\\{}", self.show(root)));
        for (k, part) in path.iter().enumerate() {
            if k == 0 && !matches!(part, KeyPathPart::Member(_)) {
                text.push('.');
            }
            match part {
                KeyPathPart::Member(name) => text.push_str(&format!(".{}", name.name)),
                KeyPathPart::Subscript(args, _) => {
                    for (n, arg) in args.iter().enumerate() {
                        text.push_str(if n == 0 { "[" } else { ", " });
                        match &arg.value.kind {
                            Ast::Implicit { name, .. } => text.push_str(&format!(".{}", name.name)),
                            _ if has_text(&arg.value) => {
                                parts.push(ast::StringPart::Text(std::mem::take(&mut text).into()));
                                parts.push(ast::StringPart::Interpolation(vec![unlabeled(&arg.value)]));
                            }
                            _ => text.push('…'),
                        }
                    }
                    text.push(']');
                }
                KeyPathPart::Chain(_) => text.push('?'),
                KeyPathPart::Force(_) => text.push('!'),
            }
        }
        parts.push(ast::StringPart::Text(text.into()));
        parts
    }
}

/// Returns a path in which the indices that are not literals have names, and these indices.
fn with_evaluated_indices(path: &[KeyPathPart]) -> (Vec<KeyPathPart>, Vec<(Ident, ast::Expr)>) {
    let mut indices = vec![];
    let mut named = |arg: &ast::Arg| {
        if takes_type_from_context(&arg.value) {
            return arg.clone();
        }
        let span = arg.value.span;
        let ident = Ident { name: format!("$index{}", indices.len()).into(), span };
        indices.push((ident.clone(), (*arg.value).clone()));
        ast::Arg { value: Rc::new(name(&ident.name, span)), ..arg.clone() }
    };
    let path = path
        .iter()
        .map(|part| match part {
            KeyPathPart::Subscript(args, at) => KeyPathPart::Subscript(args.iter().map(&mut named).collect(), *at),
            _ => part.clone(),
        })
        .collect();
    (path, indices)
}

/// Whether the text of a value identifies an index.
fn has_text(index: &ast::Expr) -> bool {
    match &index.kind {
        Ast::Ident { .. } | Ast::Int(_) | Ast::Float(_) | Ast::Bool(_) | Ast::String(_) => true,
        Ast::Prefix { operand, .. } => matches!(operand.kind, Ast::Int(_) | Ast::Float(_)),
        _ => false,
    }
}

/// Whether an expression has a type only where it is used, or is a constant.
fn takes_type_from_context(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Prefix { operand: inner, .. } | Ast::Paren(inner) => takes_type_from_context(inner),
        Ast::String(parts) => parts.iter().all(|part| matches!(part, ast::StringPart::Text(_))),
        Ast::Int(_)
        | Ast::Float(_)
        | Ast::Bool(_)
        | Ast::Nil
        | Ast::Implicit { .. }
        | Ast::Closure(_)
        | Ast::Array(_)
        | Ast::Dictionary(_)
        | Ast::Operator(_)
        | Ast::KeyPath { .. }
        | Ast::Type(_) => true,
        _ => false,
    }
}

/// Returns a closure that captures the values of indices.
fn capturing(closure: ast::Expr, indices: Vec<(Ident, ast::Expr)>) -> ast::Expr {
    let Ast::Closure(inner) = &closure.kind else { return closure };
    let captures =
        indices.into_iter().map(|(name, value)| ast::ClosureCapture { ownership: None, name, value: Some(value) });
    let inner = ast::Closure { captures: captures.collect(), ..(**inner).clone() };
    ast::Expr { kind: Ast::Closure(Rc::new(inner)), span: closure.span }
}

fn called(callee: ast::Expr, args: Vec<ast::Expr>, span: Span) -> ast::Expr {
    let args = args.iter().map(unlabeled).collect();
    ast::Expr { kind: Ast::Call { callee: Rc::new(callee), args }, span }
}

fn unlabeled(value: &ast::Expr) -> ast::Arg {
    ast::Arg { label: None, value: Rc::new(value.clone()), trailing: false }
}

/// Returns the path of a key path as an expression that starts at the root.
fn walk(path: &[KeyPathPart], span: Span) -> ast::Expr {
    path.iter().fold(name(ROOT, span), |base, part| {
        let base = Rc::new(base);
        match part {
            KeyPathPart::Member(name) if &*name.name == "self" => (*base).clone(),
            KeyPathPart::Member(name) => {
                ast::Expr { kind: Ast::Member { base, name: name.clone(), generics: vec![] }, span: name.span }
            }
            KeyPathPart::Subscript(args, at) => {
                ast::Expr { kind: Ast::Subscript { base, args: args.clone() }, span: *at }
            }
            KeyPathPart::Chain(_) => ast::Expr { kind: Ast::Chain(base), span },
            KeyPathPart::Force(_) => ast::Expr { kind: Ast::Force(base), span },
        }
    })
}

fn name(name: &str, span: Span) -> ast::Expr {
    ast::Expr { kind: Ast::Ident { name: Name::from(name), generics: vec![] }, span }
}

fn parameter(name: &str, ty: ast::TypeExpr, is_inout: bool, span: Span) -> ast::ClosureParam {
    ast::ClosureParam { name: Ident { name: name.into(), span }, ty: Some(ty), is_inout }
}
