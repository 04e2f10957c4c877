//! Active rule: a registered derivative that is running.

/// A level for which a registered derivative is running.
pub(crate) struct ActiveRule {
    pub(crate) level: usize,
    /// The number of the original function, where the arguments were not stripped of the level.
    pub(crate) original: Option<u32>,
}

impl ActiveRule {
    /// Whether every number that the registered function computes is a constant of this level.
    pub(crate) fn is_stripped_of(&self, level: usize) -> bool {
        self.level == level && self.original.is_none()
    }
}
