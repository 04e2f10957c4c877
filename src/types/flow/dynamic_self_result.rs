//! Results of type `Self`: checks that the values that a member of a class returns are of the dynamic type of the
//! instance.

use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::types::conform::superclass;
use crate::types::flow::data_flow::DataFlow;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::BodyState;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::display;
use crate::types::model::ty::NominalId;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::Argument;
use crate::types::model::typed_tree::Body;
use crate::types::model::typed_tree::Callee;
use crate::types::model::typed_tree::Expr;
use crate::types::model::typed_tree::ExprKind;
use crate::types::model::typed_tree::FunctionId;
use crate::types::model::typed_tree::LocalId;
use crate::types::names::dynamic_self::gives_self;
use hashbrown::HashSet;

/// Reports returned values of a member with the result `Self` that need not be of the class of the instance.
pub(crate) fn check_own_result(cx: &mut TypeContext, f: FunctionId, body: &Body) {
    let data = cx.defs.function_data(f);
    let Owner::Nominal(n) = data.owner else { return };
    if data.is_prelude || !gives_self(cx, f) || cx.defs.nominal_data(n).is_final {
        return;
    }
    let mut search = Search::of(cx, n, body, false);
    let found: Vec<&Expr> = search.flow.returned.clone().into_iter().filter(|e| search.is_foreign(e)).collect();
    for e in found {
        let (from, class) = (display::show(cx, &e.ty), cx.defs.nominal_data(n).name.clone());
        let to =
            cx.defs.function_data(f).ast_result.as_ref().map(|ty| cx.sink.source_text(ty.span)).unwrap_or_default();
        let message = format!("cannot convert return expression of type '{from}' to return type '{to}'");
        let diagnostic = Diagnostic::error(Code::Mismatch, e.span, message)
            .label(format!("this is always a '{class}', but the instance may be of a subclass"));
        cx.sink.report(diagnostic.help(format!(
            "return 'self' or, with a 'required' initializer, 'Self(…)'; or make the class 'final', or write \
                 '{class}' instead of 'Self'"
        )));
    }
}

/// A search for values that are of the declaring class, but not necessarily of the class of the instance.
pub(crate) struct Search<'b, 'w> {
    cx: &'w mut TypeContext,
    class: NominalId,
    body: &'b Body,
    flow: DataFlow<'b>,
    is_closure: bool,
    /// The variables that the search has examined.
    seen: HashSet<LocalId>,
    /// The variables of the enclosing body on which the results of a closure depend.
    captured: Vec<LocalId>,
}

impl<'b, 'w> Search<'b, 'w> {
    fn of(cx: &'w mut TypeContext, class: NominalId, body: &'b Body, is_closure: bool) -> Search<'b, 'w> {
        Search { cx, class, body, flow: DataFlow::of(body), is_closure, seen: HashSet::new(), captured: vec![] }
    }

    fn is_class(&self, ty: &Type) -> bool {
        matches!(ty, Type::Nominal(n, _) if *n == self.class)
    }

    fn mentions_class(&self, ty: &Type) -> bool {
        ty.any(&mut |t| self.is_class(t))
    }

    fn is_foreign(&mut self, e: &'b Expr) -> bool {
        if !self.mentions_class(&e.ty) {
            return false;
        }
        match &e.kind {
            ExprKind::Local(local) | ExprKind::Statements { result: local, .. } => self.is_foreign_variable(*local),
            ExprKind::Chain { body, .. } => self.is_foreign(body),
            ExprKind::Global(_) | ExprKind::Struct { .. } | ExprKind::Upcast(_) => true,
            ExprKind::Metatype => matches!(&e.ty, Type::Metatype(of) if self.is_class(of)),
            // The type of a stored property does not depend on the instance, unless the type of its base contains the
            // class as a generic argument.
            ExprKind::Field { base, .. } => match &base.ty {
                Type::Nominal(_, args) if args.iter().any(|t| self.mentions_class(t)) => self.is_foreign(base),
                _ => true,
            },
            ExprKind::Cast { .. } => !self.cx.sink.source_text(e.span).ends_with("Self"),
            ExprKind::Call { callee, args } => self.is_foreign_call(callee, args, &e.ty),
            ExprKind::CallValue { function, args } => self.is_foreign(function) || self.is_any_foreign(args),
            ExprKind::Ternary { then, otherwise, .. } => self.is_foreign(then) || self.is_foreign(otherwise),
            ExprKind::Closure { function } => self.is_foreign_closure(*function),
            _ => e.operands().any(|part| self.is_foreign(part)),
        }
    }

    fn is_any_foreign(&mut self, args: &'b [Argument]) -> bool {
        args.iter().any(|arg| matches!(arg, Argument::Value(e) if self.is_foreign(e)))
    }

    fn is_foreign_call(&mut self, callee: &Callee, args: &'b [Argument], ty: &Type) -> bool {
        let f = match callee {
            Callee::Static(f) | Callee::Class { function: f, .. } | Callee::Opened { function: f, .. } => f.function,
            Callee::Requirement { protocol, requirement, .. } => {
                self.cx.defs.protocol_data(*protocol).requirements[*requirement as usize].function
            }
        };
        if superclass::fills_instance(self.cx, f) || gives_self(self.cx, f) {
            // The result of a call that returns `Self` is of the class of the receiver.
            return self.mentions_class(ty) && self.is_any_foreign(&args[..args.len().min(1)]);
        }
        let result = signature::signature(self.cx, f).result.clone();
        self.mentions_class(&result) || self.is_any_foreign(args)
    }

    fn is_foreign_closure(&mut self, f: FunctionId) -> bool {
        let BodyState::Checked(body) = self.cx.defs.function_data(f).memo.body.clone() else { return false };
        let mut inner = Search::of(self.cx, self.class, &body, true);
        let found = inner.flow.returned.clone().into_iter().any(|e| inner.is_foreign(e));
        let captured = std::mem::take(&mut inner.captured);
        found || captured.into_iter().any(|outer| self.is_foreign_variable(outer))
    }

    fn is_foreign_variable(&mut self, local: LocalId) -> bool {
        let index = local.0 as usize;
        if &*self.body.locals[index].name == "self" || !self.seen.insert(local) {
            return false;
        }
        if let Some(capture) = self.body.captures.iter().find(|c| c.inner == local) {
            self.captured.push(capture.outer);
        } else if index < self.body.params {
            return !self.is_closure;
        }
        let values = self.flow.values.get(&local).cloned().unwrap_or_default();
        values.into_iter().any(|value| self.is_foreign(value))
    }
}
