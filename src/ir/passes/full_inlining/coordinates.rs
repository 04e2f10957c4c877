//! Coordinates: inlines the construction of an array of all numbers in a value.

use super::{CallSite, Inliner};
use crate::ir::{Block, BlockId, Op, Reg, Stride, Terminator};
use crate::native::primitive_ids;
use crate::source::Span;
use crate::value::Bank;

/// The stride of an array of numbers.
pub(super) const NUMBERS: Stride = Stride { f: 1, i: 0, r: 0 };

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
        self.push(site.at, Op::NewArray(NUMBERS), vec![out], vec![], span);
        for component in components {
            if is_number(self, *component) {
                self.push(site.at, Op::Append(NUMBERS), vec![out], vec![out, *component], span);
            } else {
                self.append_all(site, out, *component, span);
            }
        }
    }

    /// Appends a loop that appends the numbers of an array to another array.
    fn append_all(&mut self, site: &mut CallSite<'_>, out: Reg, array: Reg, span: Span) {
        self.for_each_index(site, array, span, |inliner, site, index| {
            let load = Op::LoadElement { bank: Bank::F, offset: 0, stride: NUMBERS };
            let number = inliner.computed(site.at, load, vec![array, index], span);
            inliner.push(site.at, Op::Append(NUMBERS), vec![out], vec![out, number], span);
        });
    }

    /// Appends a loop over the indices of an array; `body` appends the steps of an iteration.
    pub(super) fn for_each_index(
        &mut self,
        site: &mut CallSite<'_>,
        array: Reg,
        span: Span,
        body: impl FnOnce(&mut Self, &mut CallSite<'_>, Reg),
    ) {
        let [index, one, count, is_first, is_next] = [(); 5].map(|()| self.register(Bank::I));
        let (before, next) = (site.at, self.blocks.len() as u32);
        let [first, after] = [0, 1].map(|k| BlockId(next + k));
        self.blocks.extend([Block::default(), Block::default()]);
        let end = |condition| Some(Terminator::Branch { condition, then: first, otherwise: after });
        self.push(before, Op::ConstI(0), vec![index], vec![], span);
        self.push(before, Op::ConstI(1), vec![one], vec![], span);
        self.push(before, Op::Count, vec![count], vec![array], span);
        self.push(before, Op::Primitive(primitive_ids::INT_LT), vec![is_first], vec![index, count], span);
        self.blocks[before.0 as usize].end = end(is_first);
        site.at = first;
        body(self, site, index);
        self.push(site.at, Op::Primitive(primitive_ids::INT_ADD), vec![index], vec![index, one], span);
        self.push(site.at, Op::Primitive(primitive_ids::INT_LT), vec![is_next], vec![index, count], span);
        self.blocks[site.at.0 as usize].end = end(is_next);
        site.at = after;
    }
}
