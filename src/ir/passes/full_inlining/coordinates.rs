//! Coordinates: inlines the construction of an array of all numbers in a value.

use super::{CallSite, Inliner};
use crate::ir::{Op, Reg, Stride};
use crate::source::Span;
use crate::value::Bank;

impl Inliner<'_> {
    /// Appends the construction of the array `out` of the numbers in the components of a value, which are numbers and arrays of
    /// numbers.
    pub(super) fn coordinates(&mut self, site: &mut CallSite<'_>, out: Reg, components: &[Reg], span: Span) {
        let is_number = |inliner: &Self, r: Reg| inliner.registers[r.0 as usize].bank == Bank::F;
        if let [array] = components
            && !is_number(self, *array)
        {
            self.push(site.at, Op::Copy, vec![out], vec![*array], span);
            return;
        }
        self.push(site.at, Op::NewArray(Stride::NUMBERS), vec![out], vec![], span);
        for component in components {
            if is_number(self, *component) {
                self.push(site.at, Op::Append(Stride::NUMBERS), vec![out], vec![out, *component], span);
            } else {
                self.append_all(site, out, *component, span);
            }
        }
    }

    /// Appends the numbers of an array to another array.
    fn append_all(&mut self, site: &mut CallSite<'_>, out: Reg, array: Reg, span: Span) {
        let count = self.computed_integer(site, Op::Count, &[array], span);
        self.append_elements(site, out, (array, count), Stride::NUMBERS, span);
    }

    /// Appends a loop over the indices of an array; `body` appends the steps of an iteration.
    pub(super) fn for_each_index(
        &mut self,
        site: &mut CallSite<'_>,
        array: Reg,
        span: Span,
        body: impl FnOnce(&mut Self, &mut CallSite<'_>, Reg),
    ) {
        let zero = self.computed_integer(site, Op::ConstI(0), &[], span);
        let count = self.computed_integer(site, Op::Count, &[array], span);
        self.for_range(site, (zero, count), span, body);
    }
}
