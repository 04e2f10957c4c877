//! Storage: the scalars of one or several tensors.

use super::super::memory::spare;
use super::super::scalar::{Buffer, Scalar, ScalarKind};
use super::expression::{Expression, LEAST_DEFERRED};
use super::pass;
use smallvec::SmallVec;
use std::cell::{OnceCell, RefCell};
use std::rc::{Rc, Weak};

/// The scalars of one or several tensors, which may be computed only when they are first read.
#[derive(Debug)]
pub(in crate::tensor) struct Storage {
    buffer: OnceCell<Buffer>,
    /// Most storages have no links, and take no memory for them.
    links: RefCell<Option<Box<Links>>>,
}

/// The connections of a storage with others.
#[derive(Debug, Default)]
struct Links {
    /// How the scalars are computed, until they are.
    expression: Option<Expression>,
    /// The storages that may be computed from this one.
    dependents: Vec<Weak<Storage>>,
    /// Whether the scalars were computed for another storage, and were not stored.
    is_recomputed: bool,
}

impl From<Buffer> for Storage {
    fn from(buffer: Buffer) -> Storage {
        Storage { buffer: OnceCell::from(buffer), links: RefCell::default() }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.buffer.get().is_some_and(spare::is_kept) {
            self.buffer.take().into_iter().for_each(spare::keep);
        }
    }
}

impl Storage {
    /// Creates a storage of which the scalars are computed when they are first read.
    pub(super) fn deferred(expression: Expression) -> Rc<Storage> {
        let is_linked = |source: &&Rc<Storage>| source.is_deferred() || source.len() >= LEAST_DEFERRED;
        let sources: SmallVec<[Rc<Storage>; 3]> = expression.sources().filter(is_linked).cloned().collect();
        let links = Links { expression: Some(expression), ..Links::default() };
        let storage = Rc::new(Storage { buffer: OnceCell::new(), links: RefCell::new(Some(Box::new(links))) });
        for source in sources {
            source.add_dependent(&storage);
        }
        storage
    }

    /// Whether the scalars are not computed yet.
    pub(in crate::tensor) fn is_deferred(&self) -> bool {
        self.buffer.get().is_none()
    }

    /// Returns the scalars if they are computed.
    #[inline]
    pub(in crate::tensor) fn computed(&self) -> Option<&Buffer> {
        self.buffer.get()
    }

    /// Returns the kind of the scalars.
    pub(in crate::tensor) fn kind(&self) -> ScalarKind {
        match self.buffer.get() {
            Some(buffer) => buffer.kind(),
            None => self.expression(Expression::kind).unwrap_or(ScalarKind::F64),
        }
    }

    /// Returns the number of scalars.
    pub(in crate::tensor) fn len(&self) -> usize {
        match self.buffer.get() {
            Some(buffer) => buffer.len(),
            None => self.expression(Expression::count).unwrap_or(0),
        }
    }

    /// Returns the number of bytes of the scalars.
    pub(in crate::tensor) fn bytes(&self) -> usize {
        match self.buffer.get() {
            Some(buffer) => buffer.bytes(),
            None => self.expression(|expression| expression.count() * expression.kind().size()).unwrap_or(0),
        }
    }

    /// Returns the scalars, which are computed now if they were not before.
    pub(in crate::tensor) fn buffer(this: &Rc<Storage>) -> &Buffer {
        if this.is_deferred() {
            pass::compute(this);
        }
        match this.buffer.get() {
            Some(buffer) => buffer,
            None => unreachable!("the pass has stored the scalars"),
        }
    }

    /// Returns the scalars for modification, if no other tensor shares them. Results that were not computed yet are computed from the
    /// present scalars first.
    pub(in crate::tensor) fn buffer_mut(this: &mut Rc<Storage>) -> Option<&mut Buffer> {
        Storage::buffer(this);
        if Rc::strong_count(this) > 1 && this.is_read_by_dependents_only(Rc::strong_count(this) - 1) {
            this.deferred_dependents().iter().for_each(|dependent| _ = Storage::buffer(dependent));
        }
        Rc::get_mut(this)?.buffer.get_mut()
    }

    /// Returns the scalars of a storage to which nothing else refers.
    pub(super) fn into_scalars<T: Scalar>(mut self) -> Option<Vec<T>> {
        T::scalars_mut(&mut self.buffer.take()?).map(std::mem::take)
    }

    /// Returns what a function returns for the expression, if the scalars are not computed yet.
    pub(in crate::tensor) fn expression<R>(&self, function: impl FnOnce(&Expression) -> R) -> Option<R> {
        self.links.borrow().as_ref()?.expression.as_ref().map(function)
    }

    /// Whether `others` references to this storage all belong to expressions.
    fn is_read_by_dependents_only(&self, others: usize) -> bool {
        self.references(&self.deferred_dependents()) == others
    }

    /// Returns the number of references to this storage in the expressions of some dependents.
    pub(super) fn references(&self, dependents: &[Rc<Storage>]) -> usize {
        let of = |dependent: &Rc<Storage>| {
            dependent.expression(|e| e.sources().filter(|source| std::ptr::eq(&***source, self)).count())
        };
        dependents.iter().filter_map(of).sum()
    }

    fn add_dependent(&self, dependent: &Rc<Storage>) {
        let mut links = self.links.borrow_mut();
        let all = &mut links.get_or_insert_default().dependents;
        // The list has at most twice as many entries as there are dependents.
        if all.len() == all.capacity() {
            all.retain(|known| known.strong_count() > 0);
        }
        if !all.iter().any(|known| std::ptr::eq(known.as_ptr(), Rc::as_ptr(dependent))) {
            all.push(Rc::downgrade(dependent));
        }
    }

    /// Returns the storages that are not computed yet and are computed from this one.
    pub(super) fn deferred_dependents(&self) -> Vec<Rc<Storage>> {
        let links = self.links.borrow();
        let all = links.iter().flat_map(|links| &links.dependents).filter_map(Weak::upgrade);
        all.filter(|dependent| dependent.is_deferred()).collect()
    }

    /// Notes that the scalars were computed and not stored, and returns whether they were before.
    pub(super) fn note_recomputed(&self) -> bool {
        let mut links = self.links.borrow_mut();
        links.as_mut().is_some_and(|links| std::mem::replace(&mut links.is_recomputed, true))
    }

    /// Removes the expression, so that its storages may be released.
    pub(super) fn release(&self) {
        let expression = self.links.borrow_mut().as_mut().and_then(|links| links.expression.take());
        for source in expression.iter().flat_map(Expression::sources) {
            if let Some(links) = source.links.borrow_mut().as_mut() {
                links.dependents.retain(|known| !std::ptr::eq(known.as_ptr(), self));
            }
        }
    }

    /// Stores the computed scalars.
    pub(super) fn store(&self, buffer: Buffer) {
        // Nothing reads a storage while it is computed.
        _ = self.buffer.set(buffer);
    }
}
