//! Observed places: places whose modification calls observers.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::conform::superclass;
use crate::types::declare::property_observers;
use crate::types::declare::property_wrapper;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Callee, Expr, ExprKind, FunctionId, FunctionRef, GlobalId, Place, Projection, ProjectionKind, Root,
};
use crate::types::nominal::stored_property;

impl Infer<'_> {
    /// Returns the setter through which a place is modified. The observers of a global variable modify the variable
    /// directly.
    pub(crate) fn observing_setter(&self, observed: Observed) -> Option<FunctionId> {
        let setter = property_observers::observing_setter(self.cx, observed)?;
        let is_global = matches!(observed, Observed::Global(_));
        (!is_global || self.observing_property() != Some(observed)).then_some(setter)
    }

    /// Returns the variable that the enclosing function observes, or sets on behalf of the observers.
    fn observing_property(&self) -> Option<Observed> {
        let function = self.frames.first()?.function?;
        self.cx.defs.function_data(function).observed
    }

    /// Whether a value is the `self` of the enclosing function.
    pub(crate) fn is_self(&mut self, value: &Expr) -> bool {
        match value.kind {
            ExprKind::Local(local) => &*self.frame().locals[local.0 as usize].name == "self",
            _ => false,
        }
    }

    /// Whether a property of `self` is modified directly: in the observers of the property, and where the property is
    /// initialized.
    pub(crate) fn accesses_directly(&mut self, observed: Observed) -> bool {
        let Observed::Stored(n, _) = observed else { return false };
        let fills = self.frame().kind == FrameKind::Function && self.frame().init_self.is_some();
        self.observing_property() == Some(observed)
            || fills && self.owner == Owner::Nominal(n) && !self.is_convenience()
    }

    pub(crate) fn observed_field(
        &mut self,
        base: Expr,
        observed: Observed,
        set: FunctionId,
        (ty, span): (Type, Span),
        beginning: &str,
    ) -> Place {
        let Observed::Stored(owner, index) = observed else {
            return Place { root: Root::Discard, path: vec![], ty, span };
        };
        let mut of = unification::shallow(self.cx, &base.ty.clone());
        let generics = loop {
            match of {
                Type::Nominal(n, args) if n == owner => break args,
                Type::Nominal(n, args) => match superclass::base_type(self.cx, n, &args) {
                    Some(base) => of = base,
                    None => return Place { root: Root::Discard, path: vec![], ty, span },
                },
                _ => return Place { root: Root::Discard, path: vec![], ty, span },
            }
        };
        let get = stored_property::stored_accessor(self.cx, owner, index, false);
        let mutating = !superclass::is_class(self.cx, owner);
        let mut place = if mutating {
            self.place_of(base, beginning)
        } else {
            let base = self.coerce(base, &Type::Nominal(owner, generics.clone()));
            let ty = base.ty.clone();
            Place { root: Root::Value(Box::new(base)), path: vec![], ty, span }
        };
        let callee = |function| Callee::Static(FunctionRef { function, generics: generics.to_vec() });
        let kind = ProjectionKind::Accessor { get: callee(get), set: callee(set), args: vec![], mutating };
        place.path.push(Projection { kind, ty: ty.clone(), span });
        Place { ty, span, ..place }
    }

    /// Infers `self.x = value` in an initializer, if `x` is wrapped and its storage is initialized by this assignment
    /// only.
    pub(crate) fn fill_wrapped(&mut self, target: &ast::Expr, value: &ast::Expr, span: Span) -> Option<Expr> {
        let local = self.frame().init_self?;
        let Owner::Nominal(n) = self.owner else { return None };
        let name = match &target.kind {
            Ast::Ident { name, .. } if !self.find_local_quiet(name) => name.clone(),
            Ast::Member { base, name, .. } if matches!(&base.kind, Ast::Ident { name, .. } if &**name == "self") => {
                name.name.clone()
            }
            _ => return None,
        };
        let (index, wrap) = property_wrapper::unfilled_wrapper(self.cx, n, &name).filter(|_| !self.is_convenience())?;
        let wanted = signature::signature(self.cx, wrap).params.first()?.ty.clone();
        let value = self.expr(value, Some(&wanted));
        let value = self.coerce(value, &wanted);
        let ty = stored_property::stored_type(self.cx, n, index);
        let value = self.wrapped_value(n, wrap, value, ty.clone());
        let field = ProjectionKind::Field(superclass::inherited_count(self.cx, n) + index);
        let path = vec![Projection { kind: field, ty: ty.clone(), span: target.span }];
        let root = if superclass::is_class(self.cx, n) {
            Root::Value(Box::new(self.local_expr(local, target.span)))
        } else {
            Root::Local(local)
        };
        let place = Box::new(Place { root, path, ty, span: target.span });
        Some(Expr { kind: ExprKind::Assign { place, value: Box::new(value) }, ty: Type::unit(), span })
    }

    pub(crate) fn observed_global(&mut self, global: GlobalId, set: FunctionId, ty: Type, span: Span) -> Place {
        let get = stored_property::global_accessor(self.cx, global);
        let generics = match self.cx.defs.globals[global.0 as usize].owner {
            Owner::Nominal(n) => self.cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect(),
            Owner::Module | Owner::Protocol(_) => vec![],
        };
        let callee = |function| Callee::Static(FunctionRef { function, generics: generics.clone() });
        let unit = self.unit(span);
        let kind = ProjectionKind::Accessor { get: callee(get), set: callee(set), args: vec![], mutating: false };
        let path = vec![Projection { kind, ty: ty.clone(), span }];
        Place { root: Root::Value(Box::new(unit)), path, ty, span }
    }
}
