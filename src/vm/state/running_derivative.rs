//! Running derivative: a registered derivative that is running.

/// A registered derivative that is running, and the level for which it was chosen.
pub(crate) struct RunningDerivative {
    pub(crate) level: usize,
    /// The number of the original function, if the slots of the level were not stripped from the arguments.
    pub(crate) original: Option<u32>,
}

impl RunningDerivative {
    /// Whether every number that the registered function computes is a constant of this level.
    pub(crate) fn is_stripped_of(&self, level: usize) -> bool {
        self.level == level && self.original.is_none()
    }
}
