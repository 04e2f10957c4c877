//! Metatypes: `T.self`, and `self` and `Self` where they may denote a subclass or a conforming type.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::conform::superclass;
use crate::types::generics::opened_existential;
use crate::types::infer::Infer;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_tables::{FunctionKind, Owner};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::ConformanceConstraint;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionRef};
use crate::types::names::members;
use crate::types::names::prelude;
use crate::types::names::type_expr;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the type of the enclosing `self`, without capturing it.
    pub(crate) fn self_type(&mut self) -> Option<Type> {
        let path = self.path();
        path.iter().rev().find_map(|f| {
            let frame = &self.frames[*f];
            let bound = frame.scopes.iter().rev().find_map(|scope| scope.get("self"))?;
            match bound {
                crate::types::infer::Binding::Local(local) => Some(frame.locals[local.0 as usize].ty.clone()),
                crate::types::infer::Binding::Functions(_) | crate::types::infer::Binding::Computed(..) => None,
            }
        })
    }

    /// Whether the checked body is the body of a static member.
    pub(crate) fn is_static_body(&mut self) -> bool {
        let Some(f) = self.frames.first().and_then(|frame| frame.function) else { return false };
        let data = self.cx.defs.function_data(f);
        let is_member = matches!(data.kind, FunctionKind::Function | FunctionKind::Getter | FunctionKind::Setter);
        is_member && data.is_static && data.decl.is_some()
    }

    /// Returns the enclosing type as a value: the dynamic type of `self`, if the dynamic type may differ from the
    /// declared type.
    pub(crate) fn own_metatype(&mut self, span: Span) -> Option<Expr> {
        let own = self.own_type()?;
        let named = Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(own.clone())), span };
        let may_vary = match self.owner {
            Owner::Protocol(_) => true,
            Owner::Nominal(n) => superclass::is_class(self.cx, n),
            Owner::Module => false,
        };
        if !may_vary || self.file == PRELUDE_FILE {
            return Some(named);
        }
        match self.self_type() {
            Some(Type::Metatype(_)) => {
                let local = self.self_local()?;
                Some(self.local_expr(local, span))
            }
            Some(_) if self.keeps_self() => {
                let local = self.self_local()?;
                let value = self.local_expr(local, span);
                let function = prelude::library_function(self.cx, "type")?;
                let callee = Callee::Static(FunctionRef { function, generics: vec![own] });
                let kind = ExprKind::Call { callee, args: vec![Argument::Value(value)] };
                Some(Expr { kind, ty: named.ty, span })
            }
            _ => Some(named),
        }
    }

    /// Whether the dynamic type of `self` may be queried. A closure must not capture a mutable `self` for this query,
    /// and in an initializer of a protocol `self` may not have a value yet.
    fn keeps_self(&mut self) -> bool {
        let is_class = matches!(self.owner, Owner::Nominal(_));
        is_class || self.path().len() == 1 && self.frame().init_self.is_none()
    }

    /// Returns an expression with a name that denotes a type.
    pub(crate) fn type_written(&mut self, ty: &Type, span: Span) -> ast::Expr {
        let name = type_expr::name_for(self.cx, ty.clone());
        let ident = ast::Ident { name: name.as_str().into(), span };
        let named = ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident, vec![])]), span };
        ast::Expr { kind: ast::ExprKind::Type(named), span }
    }

    /// Infers `Self` as a value; returns `None` for other names.
    pub(crate) fn written_metatype(&mut self, e: &ast::Expr) -> Option<Expr> {
        match &e.kind {
            ast::ExprKind::Ident { name, .. } if &**name == "Self" => self.own_metatype(e.span),
            _ => None,
        }
    }

    /// Reports a static requirement that is used on a protocol instead of a conforming type.
    pub(crate) fn static_of_protocol(
        &mut self,
        ty: &Type,
        on: Option<&Rc<Expr>>,
        name: &ast::Ident,
        span: Span,
    ) -> Option<Expr> {
        let names_protocol =
            matches!(ty, Type::Existential(_)) && on.is_none_or(|e| matches!(e.kind, ExprKind::Metatype));
        if !names_protocol || members::members(self.cx, ty, &name.name, true, self.file).is_empty() {
            return None;
        }
        let message =
            format!("static member '{}' cannot be used on protocol metatype '({}).Type'", name.name, self.show(ty));
        let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        self.error(diagnostic.help("use it on a type that conforms to the protocol"));
        Some(self.error_expr(span))
    }

    /// Retains only the `required` initializers for a call on a metatype value, since subclasses may lack other
    /// initializers; reports the call if there is no `required` initializer.
    pub(crate) fn keep_required(
        &mut self,
        ty: &Type,
        on: Option<&Rc<Expr>>,
        candidates: &mut Vec<Candidate>,
        span: Span,
    ) -> Option<Expr> {
        let on = on.filter(|on| !matches!(on.kind, ExprKind::Metatype))?;
        let Type::Nominal(n, _) = ty else { return None };
        if !superclass::is_class(self.cx, *n)
            || self.cx.defs.nominal_data(*n).is_final
            || !matches!(on.ty, Type::Metatype(_))
        {
            return None;
        }
        let had = !candidates.is_empty();
        candidates.retain(|c| match c.target {
            Target::Function(f) => superclass::is_required(self.cx, f),
            Target::Requirement(..) | Target::Case(..) => true,
        });
        if !had || !candidates.is_empty() {
            return None;
        }
        let message = format!(
            "constructing an object of class type '{}' with a metatype value must use a 'required' initializer",
            self.show(ty)
        );
        self.error(Diagnostic::error(Code::Inheritance, span, message));
        Some(self.error_expr(span))
    }

    /// Returns the callee for a call with an existential that does not conform to the protocol itself.
    pub(crate) fn open_existential(&mut self, f: &FunctionRef, span: Span) -> Option<Callee> {
        let (generic, p) = opened_existential::unopened(self.cx, f.function, &f.generics)?;
        if let Type::Existential(e) = &f.generics[generic]
            && let Some(param) = opened_existential::opening_parameter(self.cx, f.function, generic, e)
        {
            return Some(Callee::Opened { function: f.clone(), generic: generic as u32, param: param as u32 });
        }
        if !self.failed {
            let constraint = ConformanceConstraint { protocol: p, span, by: Some(f.function) };
            let diagnostic = self.not_conforming(&f.generics[generic], &constraint, span);
            self.error(diagnostic);
        }
        None
    }
}
