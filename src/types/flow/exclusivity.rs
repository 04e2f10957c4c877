//! Exclusivity: checks that the places that a call modifies overlap neither each other nor the accesses of closures.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::flow::Flow;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, Place, Projection, ProjectionKind, Root};
use std::borrow::Cow;

impl Flow<'_, '_> {
    /// Checks that no two `inout` arguments of a call overlap, and that no closure argument accesses a place that the
    /// call modifies.
    pub(crate) fn check_exclusive(&mut self, callee: Option<&Callee>, args: &[Argument]) {
        let places: Vec<Cow<'_, Place>> =
            args.iter().filter_map(changed).map(|place| self.beyond_chain(place)).filter(|p| is_held(p)).collect();
        for (i, second) in places.iter().enumerate() {
            if let Some(first) = places[..i].iter().find(|first| overlap(first, second)) {
                self.overlapping(callee, first, second);
                return;
            }
        }
        if places.is_empty() {
            return;
        }
        let known = callee.map(|callee| self.called(callee));
        let mut accesses = self.accesses_of_lent(known, args);
        // The callee may be a local function that accesses its captures. Accesses of global variables are checked at
        // run time.
        let of_callee = known.and_then(|f| self.accesses_of.get(&f)).into_iter().flat_map(|all| all.iter());
        accesses.extend(of_callee.filter(|place| !matches!(place.root, Root::Global(_))).cloned());
        for place in &places {
            if let Some(access) = accesses.iter().find(|access| overlap(access, place)) {
                self.overlapping(None, access, place);
                return;
            }
        }
    }

    /// Translates a place inside the value that an optional chain modifies in place to a place in the base of the
    /// chain.
    fn beyond_chain<'p>(&self, place: &'p Place) -> Cow<'p, Place> {
        let Root::Local(found) = place.root else { return Cow::Borrowed(place) };
        let Some((_, before)) = self.chained.iter().rev().find(|(local, _)| *local == found) else {
            return Cow::Borrowed(place);
        };
        let mut whole = self.beyond_chain(before).into_owned();
        whole.path.push(Projection { kind: ProjectionKind::Force, ty: place.ty.clone(), span: before.span });
        whole.path.extend(place.path.iter().cloned());
        whole.span = before.span.to(place.span);
        Cow::Owned(whole)
    }

    fn overlapping(&mut self, callee: Option<&Callee>, first: &Place, second: &Place) {
        let (steps, others) = (stored_steps(first), stored_steps(second));
        let (whole, shorter) = if steps.len() <= others.len() { (first, steps) } else { (second, others) };
        let name = self.place_name(whole, shorter);
        let are_elements = [first, second].iter().all(|p| stored_steps(p).len() + 1 == p.path.len());
        let way_out = match callee {
            Some(Callee::Static(f)) if are_elements && &*self.cx.defs.function_data(f.function).base_name == "swap" => {
                "calling MutableCollection.swapAt(_:_:)"
            }
            _ => "copying to a local variable",
        };
        let message =
            format!("overlapping accesses to '{name}', but modification requires exclusive access; consider {way_out}");
        let diagnostic = Diagnostic::error(Code::Overlapping, second.span, message);
        self.cx.sink.report(diagnostic.also(first.span, "conflicting access is here"));
    }

    /// Returns the source text of a variable, or of the stored part that `steps` reach.
    fn place_name(&mut self, place: &Place, steps: &[Projection]) -> String {
        let written = |flow: &mut Self, span: Span| flow.cx.sink.source_text(span);
        match (&place.root, steps.last()) {
            (_, Some(step)) => written(self, step.span),
            (Root::Local(local), None) => self.body.locals[local.0 as usize].name.to_string(),
            (Root::Global(global), None) => self.cx.defs.globals[global.0 as usize].name.to_string(),
            (Root::Value(_) | Root::Discard, None) => written(self, place.span),
        }
    }
}

fn changed(arg: &Argument) -> Option<&Place> {
    match arg {
        Argument::InOut(place) => Some(place),
        Argument::Value(_) => None,
    }
}

/// Whether a call accesses a place for its whole duration. A nonmutating setter accesses the place only at the end of
/// the call.
fn is_held(place: &Place) -> bool {
    place.path.iter().all(|step| !matches!(step.kind, ProjectionKind::Accessor { mutating: false, .. }))
}

/// Returns the stored projections of a place, up to the first computed projection, which accesses everything before it.
fn stored_steps(place: &Place) -> &[Projection] {
    let is_computed = |step: &Projection| matches!(step.kind, ProjectionKind::Accessor { .. });
    let end = place.path.iter().position(is_computed).unwrap_or(place.path.len());
    &place.path[..end]
}

fn overlap(a: &Place, b: &Place) -> bool {
    let same_root = match (&a.root, &b.root) {
        (Root::Local(a), Root::Local(b)) => a == b,
        (Root::Global(a), Root::Global(b)) => a == b,
        (Root::Value(a), Root::Value(b)) => same_instance(a, b),
        _ => false,
    };
    same_root && stored_steps(a).iter().zip(stored_steps(b)).all(|(a, b)| same_step(a, b))
}

fn same_step(a: &Projection, b: &Projection) -> bool {
    match (&a.kind, &b.kind) {
        (ProjectionKind::Field(a), ProjectionKind::Field(b))
        | (ProjectionKind::Element(a), ProjectionKind::Element(b)) => a == b,
        (ProjectionKind::Force, ProjectionKind::Force) => true,
        _ => false,
    }
}

/// Whether two expressions certainly evaluate to the same instance of a class: the same variable with the same
/// projections.
fn same_instance(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Local(a), ExprKind::Local(b)) => a == b,
        (ExprKind::Global(a), ExprKind::Global(b)) => a == b,
        (ExprKind::Field { base: a, index: i }, ExprKind::Field { base: b, index: j }) => i == j && same_instance(a, b),
        (ExprKind::Upcast(a), ExprKind::Upcast(b)) => same_instance(a, b),
        _ => false,
    }
}
