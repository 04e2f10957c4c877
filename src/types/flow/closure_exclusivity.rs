//! Closure exclusivity: checks the accesses of closures to captured variables. Such accesses conflict with a
//! modification of the captured variable during a call of the closure, and captured `inout` parameters must not outlive
//! their call.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::rethrowing_function::may_outlive_call;
use crate::types::conform::superclass;
use crate::types::flow::Flow;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Argument, Body, Capture, Expr, ExprKind, FunctionId, LocalId, Place, Projection, ProjectionKind, Root,
};
use std::rc::Rc;

impl<'b> Flow<'b, '_> {
    /// Notes the place that an expression reads.
    pub(crate) fn note_read(&mut self, e: &Expr) {
        if self.is_inner
            && let Some(place) = self.place_read(e)
        {
            self.note_access(place);
        }
    }

    /// Notes an access to a place, and the read of the instance that contains it.
    pub(crate) fn note_access(&mut self, place: Place) {
        if !self.is_inner {
            return;
        }
        if let Root::Value(base) = &place.root {
            self.note_read(&base.clone());
        }
        self.accesses.push(place);
    }

    /// Returns the place that an expression reads.
    fn place_read(&self, e: &Expr) -> Option<Place> {
        let whole = |root| Place { root, path: vec![], ty: e.ty.clone(), span: e.span };
        let (base, kind) = match &e.kind {
            ExprKind::Local(local) => return Some(whole(Root::Local(*local))),
            ExprKind::Global(global) => return Some(whole(Root::Global(*global))),
            ExprKind::Upcast(inner) | ExprKind::Super(inner) => return self.place_read(inner),
            ExprKind::Field { base, index } => (base, ProjectionKind::Field(*index)),
            ExprKind::Element { base, index } => (base, ProjectionKind::Element(*index)),
            ExprKind::Force(base) => (base, ProjectionKind::Force),
            _ => return None,
        };
        let is_instance = matches!(&base.ty, Type::Nominal(n, _) if superclass::is_class(self.cx, *n));
        let mut place = match is_instance {
            true => whole(Root::Value(base.clone())),
            false => self.place_read(base)?,
        };
        place.path.push(Projection { kind, ty: e.ty.clone(), span: e.span });
        Some(Place { ty: e.ty.clone(), span: e.span, ..place })
    }

    /// Returns the places in variables of this body and in global variables that a closure or local function accesses,
    /// directly or through local functions of this body.
    pub(crate) fn accesses_outside(
        &mut self,
        body: &Body,
        accesses: Vec<Place>,
        called: Vec<FunctionId>,
    ) -> Rc<[Place]> {
        let outer = |local: LocalId| body.captures.iter().find(|c| c.inner == local).map(|c| c.outer);
        let root = |root: Root| match root {
            Root::Local(local) => outer(local).map(Root::Local),
            Root::Value(mut base) => captured(&mut base, &outer).then_some(Root::Value(base)),
            root @ Root::Global(_) => Some(root),
            Root::Discard => None,
        };
        let own = accesses.into_iter().filter_map(|place| Some(Place { root: root(place.root)?, ..place }));
        let mut all: Vec<Place> = own.collect();
        for f in called {
            match self.accesses_of.get(&f) {
                Some(accesses) => all.extend(accesses.iter().cloned()),
                // The function may be declared in a scope farther outside.
                None if self.is_inner && !self.called_inside.contains(&f) => self.called_inside.push(f),
                None => {}
            }
        }
        all.into()
    }

    /// Returns the closure or local function to which an argument refers, if the parameter does not let the function
    /// escape.
    pub(crate) fn lent(&self, callee: Option<FunctionId>, index: usize, e: &Expr) -> Option<FunctionId> {
        let function = function_of(e)?;
        let Some(callee) = callee else { return Some(function) };
        let data = self.cx.defs.function_data(callee);
        let signature = data.memo.signature.as_ref()?;
        let at = index.checked_sub(usize::from(signature.self_type.is_some()))?;
        let is_function = matches!(signature.params.get(at)?.ty, Type::Function(_));
        (is_function && !may_outlive_call(data.ast_params.get(at)?)).then_some(function)
    }

    /// Returns the places that the non-escaping function arguments of a call access.
    pub(crate) fn accesses_of_lent(&self, callee: Option<FunctionId>, args: &[Argument]) -> Vec<Place> {
        let lent = args.iter().enumerate().filter_map(|(index, arg)| match arg {
            Argument::Value(e) => self.lent(callee, index, e),
            Argument::InOut(_) => None,
        });
        lent.filter_map(|f| self.accesses_of.get(&f)).flat_map(|accesses| accesses.iter().cloned()).collect()
    }

    /// Reports captured `inout` parameters of a closure or local function that may outlive the current call.
    pub(crate) fn check_escaping(&mut self, captures: &[Capture], what: &str, span: Span) {
        if !self.warns {
            return;
        }
        for capture in captures.iter().filter(|c| self.inouts.contains(&c.outer)) {
            let local = &self.body.locals[capture.outer.0 as usize];
            let (name, declared) = (local.name.clone(), local.span);
            let (kind, note) = match &*name {
                "self" => ("mutating 'self' parameter".to_owned(), String::new()),
                _ => (format!("'inout' parameter '{name}'"), format!("parameter '{name}' is declared 'inout'")),
            };
            let mut diagnostic =
                Diagnostic::error(Code::EscapingCapture, span, format!("escaping {what} captures {kind}"));
            if !note.is_empty() {
                diagnostic = diagnostic.also(declared, note);
            }
            self.cx.sink.report(diagnostic.help("copy it to a constant first, or capture its value with '[name] in'"));
        }
    }
}

/// Returns the function that an expression refers to: a closure, or a local function by its name.
pub(crate) fn function_of(e: &Expr) -> Option<FunctionId> {
    match &e.kind {
        ExprKind::Closure { function } => Some(*function),
        ExprKind::Function(f) => Some(f.function),
        ExprKind::ConvertFunction { value, .. } => function_of(value),
        _ => None,
    }
}

/// Replaces the captured variable at the beginning of a chain of properties by the outer variable. Returns whether the
/// expression is a chain of properties that begins with a global variable or a captured variable.
fn captured(e: &mut Expr, outer: &dyn Fn(LocalId) -> Option<LocalId>) -> bool {
    match &mut e.kind {
        ExprKind::Local(local) => match outer(*local) {
            Some(found) => {
                *local = found;
                true
            }
            None => false,
        },
        ExprKind::Global(_) => true,
        ExprKind::Field { base, .. } | ExprKind::Upcast(base) | ExprKind::Super(base) => captured(base, outer),
        _ => false,
    }
}
