//! Copy on write: stores table entries that copies of a table share until one of the copies changes.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A value that is copied when it is changed while it is shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyOnWrite<T>(Rc<T>);

impl<T> From<T> for CopyOnWrite<T> {
    fn from(value: T) -> Self {
        CopyOnWrite(Rc::new(value))
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        Rc::make_mut(&mut self.0)
    }
}
