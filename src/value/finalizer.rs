//! Finalizer: the code that runs when an instance is destroyed (`deinit`), and weak references.
//!
//! Code of a program cannot run while an object is dropped. So the contents of the instance move to another instance,
//! which is queued until the machine runs its finalizers; the program cannot distinguish the two, because it holds no
//! reference.

use crate::value::shape::ShapeId;
use crate::value::{AnyValue, BoxCells, Cells, Closure, Ref};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

/// The functions that run when an instance is destroyed. The list takes one machine word when it is empty.
#[derive(Default)]
pub struct Finalizer(Cell<Option<Box<Plan>>>);

#[derive(Default)]
struct Plan {
    /// Whether an initializer has completed the instance: before that no finalizer runs.
    is_initialized: bool,
    /// The functions of the finalizer, in the order in which they run.
    functions: Vec<Rc<Closure>>,
}

/// A finalizer function that has not run yet, and the instance for which it runs.
pub type PendingFinalizer = (Rc<Closure>, Ref);

thread_local! {
    static PENDING: RefCell<VecDeque<PendingFinalizer>> = const { RefCell::new(VecDeque::new()) };
    static ANY: Cell<bool> = const { Cell::new(false) };
}

impl Finalizer {
    /// Adds a function to the finalizer, which runs after the functions that were added earlier.
    pub fn add(&self, function: Rc<Closure>) {
        let mut plan = self.0.take().unwrap_or_default();
        plan.functions.push(function);
        self.0.set(Some(plan));
    }

    /// Marks the instance as completed by an initializer.
    pub fn mark_initialized(&self) {
        let mut plan = self.0.take();
        if let Some(plan) = &mut plan {
            plan.is_initialized = true;
        }
        self.0.set(plan);
    }
}

impl std::fmt::Debug for Finalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Finalizer")
    }
}

impl Drop for BoxCells {
    fn drop(&mut self) {
        let Some(plan) = self.finalizer.0.take().filter(|plan| plan.is_initialized) else { return };
        let rest =
            BoxCells { cells: std::mem::take(&mut self.cells), shape: self.shape, finalizer: Finalizer::default() };
        let rest = Ref::Box(Rc::new(rest));
        // While a thread ends, finalizers do not run, and the thread-local queue may no longer exist.
        let _ = PENDING.try_with(|ended| {
            ended.borrow_mut().extend(plan.functions.into_iter().map(|function| (function, rest.clone())))
        });
        let _ = ANY.try_with(|any| any.set(true));
    }
}

/// A weak reference to an instance. `any` is the shape of the value when the value is an existential.
#[derive(Debug)]
pub struct WeakReference {
    instance: Weak<BoxCells>,
    any: Option<ShapeId>,
}

impl WeakReference {
    /// Creates a weak reference to an instance.
    pub fn of(object: Ref) -> Ref {
        let (instance, any) = match &object {
            Ref::Box(instance) => (Rc::downgrade(instance), None),
            Ref::Any(value) => match value.cells.r.first() {
                Some(Ref::Box(instance)) => (Rc::downgrade(instance), Some(value.shape)),
                _ => return object,
            },
            _ => return object,
        };
        Ref::Machine(Rc::new(WeakReference { instance, any }))
    }

    /// Returns the instance to which a weak reference refers, if the instance still exists.
    pub fn find(reference: &Ref) -> Option<Ref> {
        let Ref::Machine(object) = reference else { return None };
        let weak = object.downcast_ref::<WeakReference>()?;
        let instance = Ref::Box(weak.instance.upgrade()?);
        Some(match weak.any {
            Some(shape) => Ref::Any(Rc::new(AnyValue { shape, cells: Cells::references(vec![instance]) })),
            None => instance,
        })
    }
}

impl WeakReference {
    /// Returns a weak reference of the same kind to another instance.
    pub fn to(&self, instance: &Rc<BoxCells>) -> Ref {
        Ref::Machine(Rc::new(WeakReference { instance: Rc::downgrade(instance), any: self.any }))
    }

    /// Returns the instance to which this weak reference refers, if the instance still exists.
    pub fn instance(&self) -> Option<Rc<BoxCells>> {
        self.instance.upgrade()
    }
}

/// Whether a finalizer is pending.
#[inline]
pub fn any() -> bool {
    ANY.try_with(Cell::get).unwrap_or(false)
}

/// Removes the pending finalizers from the queue and returns them.
pub fn take() -> VecDeque<PendingFinalizer> {
    let _ = ANY.try_with(|any| any.set(false));
    PENDING.try_with(RefCell::take).unwrap_or_default()
}

/// Returns the instances whose finalizers are pending.
pub fn waiting() -> Vec<Rc<BoxCells>> {
    let instance = |(_, rest): &PendingFinalizer| match rest {
        Ref::Box(instance) => Some(Rc::clone(instance)),
        _ => None,
    };
    PENDING.try_with(|ended| ended.borrow().iter().filter_map(instance).collect()).unwrap_or_default()
}

/// Returns finalizers to the front of the queue.
pub fn requeue(mut waiting: VecDeque<PendingFinalizer>) {
    let _ = PENDING.try_with(|ended| {
        waiting.append(&mut ended.borrow_mut());
        let _ = ANY.try_with(|any| any.set(!waiting.is_empty()));
        ended.replace(waiting)
    });
}

/// Discards all pending finalizers at the end of a run.
pub fn forget() {
    while any() {
        // Dropping the finalizers may queue the finalizers of instances that they contain.
        drop(take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(k: i64, last: &[u32]) -> Ref {
        let object =
            BoxCells { cells: RefCell::new(Cells::integers(vec![k])), shape: None, finalizer: Finalizer::default() };
        last.iter().for_each(|f| object.finalizer.add(Rc::new(Closure { function: *f, captures: Cells::empty() })));
        object.finalizer.mark_initialized();
        Ref::Box(Rc::new(object))
    }

    #[test]
    fn what_was_in_an_instance_waits_once() {
        drop(instance(1, &[]));
        assert!(!any());
        let shared = instance(2, &[7, 8]);
        drop(shared.clone());
        assert!(!any());
        drop(shared);
        assert!(any());
        for ((closure, rest), function) in take().iter().zip([7, 8]) {
            let Ref::Box(rest) = rest else { panic!("an instance") };
            assert_eq!((closure.function, rest.cells.borrow().i[0]), (function, 2));
        }
        assert!(!any());
    }

    #[test]
    fn what_was_never_filled_goes_in_silence() {
        let object = BoxCells { cells: RefCell::default(), shape: None, finalizer: Finalizer::default() };
        object.finalizer.add(Rc::new(Closure { function: 7, captures: Cells::empty() }));
        drop(object);
        assert!(!any());
    }

    #[test]
    fn a_finished_run_leaves_no_pending_finalizer() {
        let inner = instance(1, &[7]);
        let Ref::Box(outer) = instance(2, &[7]) else { panic!("an instance") };
        outer.cells.borrow_mut().r.push(inner);
        drop(outer);
        forget();
        assert!(!any());
    }
}
