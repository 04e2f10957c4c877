//! Array functions: inlines functions of the native library that make and modify arrays, as loops over their elements.

use super::{CallSite, Inliner};
use crate::ir::{Block, BlockId, Op, Reg, Stride, Terminator, Trap};
use crate::native::primitive_ids;
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::ShapeId;

impl Inliner<'_> {
    /// Appends the steps of a function of the native library, given the type of the elements; returns `false` if it is not
    /// such a function.
    pub(super) fn array_function(
        &mut self,
        site: &mut CallSite<'_>,
        name: &str,
        element: ShapeId,
        (outs, ins): (&[Reg], &[Reg]),
        span: Span,
    ) -> bool {
        let layout = self.program.shapes.layout(element);
        let [Ok(f), Ok(i), Ok(r)] = [layout.f, layout.i, layout.r].map(u16::try_from) else { return false };
        let stride = Stride { f, i, r };
        match (name, outs, ins) {
            // A capacity has no effect on values.
            ("array.reserve", [array], [from, ..]) => self.moved(site, *array, *from, span),
            ("array.repeating", [array], [element @ .., count]) => {
                self.repeat(site, *array, (element, *count), stride, span);
            }
            ("array.appendContents", [array], [from, more]) => {
                let count = self.computed_integer(site, Op::Count, &[*more], span);
                self.moved(site, *array, *from, span);
                self.append_elements(site, *array, (*more, count), stride, span);
            }
            ("array.concat", [out], [first, second]) => {
                let array = self.register(Bank::R);
                self.push(site.at, Op::NewArray(stride), vec![array], vec![], span);
                for part in [*first, *second] {
                    let count = self.computed_integer(site, Op::Count, &[part], span);
                    self.append_elements(site, array, (part, count), stride, span);
                }
                self.push(site.at, Op::Take, vec![*out], vec![array], span);
            }
            ("array.slice", [out], [from, lower, upper]) => {
                self.slice(site, *out, (*from, *lower, *upper), stride, span);
            }
            ("array.reversed", [out], [from]) => {
                let array = self.register(Bank::R);
                self.push(site.at, Op::NewArray(stride), vec![array], vec![], span);
                let [count, one] = [Op::Count, Op::ConstI(1)].map(|op| {
                    let ins = if op == Op::Count { &[*from][..] } else { &[] };
                    self.computed_integer(site, op, ins, span)
                });
                let subtraction = Op::Primitive(primitive_ids::INT_SUB);
                let last = self.computed_integer(site, subtraction.clone(), &[count, one], span);
                let zero = self.computed_integer(site, Op::ConstI(0), &[], span);
                self.for_range(site, (zero, count), span, |inliner, site, index| {
                    let place = inliner.computed_integer(site, subtraction, &[last, index], span);
                    inliner.append_element(site, array, (*from, place), stride, span);
                });
                self.push(site.at, Op::Take, vec![*out], vec![array], span);
            }
            ("array.swap", [array], [from, i, j]) => {
                self.moved(site, *array, *from, span);
                let elements = [*i, *j].map(|index| self.load_element(site, (*array, index), stride, span));
                for (index, element) in [*j, *i].into_iter().zip(elements) {
                    self.store_element(site, (*array, index), &element, stride, span);
                }
            }
            ("array.insert", [array], [from, element @ .., index]) => {
                self.insert(site, *array, (*from, element, *index), stride, span);
            }
            ("array.remove", [element @ .., array], [from, index]) => {
                self.remove(site, (element, *array), (*from, *index), stride, span);
            }
            ("array.removeAll", [out], [_]) => {
                let array = self.register(Bank::R);
                self.push(site.at, Op::NewArray(stride), vec![array], vec![], span);
                self.push(site.at, Op::Take, vec![*out], vec![array], span);
            }
            _ => return false,
        }
        true
    }

    /// Appends a step that computes an integer; returns its register.
    pub(super) fn computed_integer(&mut self, site: &CallSite<'_>, op: Op, ins: &[Reg], span: Span) -> Reg {
        let out = self.register(Bank::I);
        self.push(site.at, op, vec![out], ins.to_vec(), span);
        out
    }

    /// Moves an array to another register, if that is another one.
    fn moved(&mut self, site: &CallSite<'_>, to: Reg, from: Reg, span: Span) {
        if to != from {
            self.push(site.at, Op::Take, vec![to], vec![from], span);
        }
    }

    /// Appends a loop over the integers of a range; `body` appends the steps of an iteration.
    pub(super) fn for_range(
        &mut self,
        site: &mut CallSite<'_>,
        (first, end): (Reg, Reg),
        span: Span,
        body: impl FnOnce(&mut Self, &mut CallSite<'_>, Reg),
    ) {
        let [index, is_first, is_next] = [(); 3].map(|()| self.register(Bank::I));
        let one = self.computed_integer(site, Op::ConstI(1), &[], span);
        self.push(site.at, Op::Copy, vec![index], vec![first], span);
        self.push(site.at, Op::Primitive(primitive_ids::INT_LT), vec![is_first], vec![index, end], span);
        let [inside, after] = self.new_blocks();
        let branch = |condition| Some(Terminator::Branch { condition, then: inside, otherwise: after });
        self.blocks[site.at.0 as usize].end = branch(is_first);
        site.at = inside;
        body(self, site, index);
        self.push(site.at, Op::Primitive(primitive_ids::INT_ADD), vec![index], vec![index, one], span);
        self.push(site.at, Op::Primitive(primitive_ids::INT_LT), vec![is_next], vec![index, end], span);
        self.blocks[site.at.0 as usize].end = branch(is_next);
        site.at = after;
    }

    fn new_blocks<const N: usize>(&mut self) -> [BlockId; N] {
        let next = self.blocks.len() as u32;
        self.blocks.extend((0..N).map(|_| Block::default()));
        std::array::from_fn(|k| BlockId(next + k as u32))
    }

    /// Continues only if a condition holds. Otherwise the function runs again on the tape, which reports the failure.
    fn require(&mut self, site: &mut CallSite<'_>, condition: Reg) {
        let [valid, failed] = self.new_blocks();
        self.blocks[site.at.0 as usize].end = Some(Terminator::Branch { condition, then: valid, otherwise: failed });
        self.blocks[failed.0 as usize].end = Some(Terminator::Trap(Trap::Unsupported));
        site.at = valid;
    }

    fn require_at_most(&mut self, site: &mut CallSite<'_>, a: Reg, b: Reg, span: Span) {
        let condition = self.computed_integer(site, Op::Primitive(primitive_ids::INT_LE), &[a, b], span);
        self.require(site, condition);
    }

    /// Appends the creation of an array of equal elements.
    pub(super) fn repeat(
        &mut self,
        site: &mut CallSite<'_>,
        out: Reg,
        (element, count): (&[Reg], Reg),
        stride: Stride,
        span: Span,
    ) {
        let zero = self.computed_integer(site, Op::ConstI(0), &[], span);
        self.require_at_most(site, zero, count, span);
        self.push(site.at, Op::NewArray(stride), vec![out], vec![], span);
        self.for_range(site, (zero, count), span, |inliner, site, _| {
            inliner.push(site.at, Op::Append(stride), vec![out], [&[out], element].concat(), span);
        });
    }

    /// Appends the creation of an array of the elements in a range of another array.
    fn slice(
        &mut self,
        site: &mut CallSite<'_>,
        out: Reg,
        (from, lower, upper): (Reg, Reg, Reg),
        stride: Stride,
        span: Span,
    ) {
        let zero = self.computed_integer(site, Op::ConstI(0), &[], span);
        let count = self.computed_integer(site, Op::Count, &[from], span);
        for (a, b) in [(zero, lower), (lower, upper), (upper, count)] {
            self.require_at_most(site, a, b, span);
        }
        let array = self.register(Bank::R);
        self.push(site.at, Op::NewArray(stride), vec![array], vec![], span);
        self.for_range(site, (lower, upper), span, |inliner, site, index| {
            inliner.append_element(site, array, (from, index), stride, span);
        });
        self.push(site.at, Op::Take, vec![out], vec![array], span);
    }

    /// Appends the creation of an array with another element before the given one.
    fn insert(
        &mut self,
        site: &mut CallSite<'_>,
        out: Reg,
        (from, element, index): (Reg, &[Reg], Reg),
        stride: Stride,
        span: Span,
    ) {
        let zero = self.computed_integer(site, Op::ConstI(0), &[], span);
        let count = self.computed_integer(site, Op::Count, &[from], span);
        self.require_at_most(site, zero, index, span);
        self.require_at_most(site, index, count, span);
        let array = self.register(Bank::R);
        self.push(site.at, Op::NewArray(stride), vec![array], vec![], span);
        self.append_elements(site, array, (from, index), stride, span);
        self.push(site.at, Op::Append(stride), vec![array], [&[array], element].concat(), span);
        self.for_range(site, (index, count), span, |inliner, site, index| {
            inliner.append_element(site, array, (from, index), stride, span);
        });
        self.push(site.at, Op::Take, vec![out], vec![array], span);
    }

    /// Appends the creation of an array without one of the elements, which is the other result.
    fn remove(
        &mut self,
        site: &mut CallSite<'_>,
        (removed, out): (&[Reg], Reg),
        (from, index): (Reg, Reg),
        stride: Stride,
        span: Span,
    ) {
        let [zero, one] = [0, 1].map(|k| self.computed_integer(site, Op::ConstI(k), &[], span));
        let count = self.computed_integer(site, Op::Count, &[from], span);
        let next = self.computed_integer(site, Op::Primitive(primitive_ids::INT_ADD), &[index, one], span);
        self.require_at_most(site, zero, index, span);
        self.require_at_most(site, next, count, span);
        let element = self.load_element(site, (from, index), stride, span);
        let array = self.register(Bank::R);
        self.push(site.at, Op::NewArray(stride), vec![array], vec![], span);
        self.append_elements(site, array, (from, index), stride, span);
        self.for_range(site, (next, count), span, |inliner, site, index| {
            inliner.append_element(site, array, (from, index), stride, span);
        });
        self.push(site.at, Op::Take, vec![out], vec![array], span);
        for (to, (bank, _, component)) in removed.iter().zip(element) {
            let op = if bank == Bank::R { Op::Take } else { Op::Copy };
            self.push(site.at, op, vec![*to], vec![component], span);
        }
    }

    /// Appends a loop that appends the first elements of an array to another array.
    pub(super) fn append_elements(
        &mut self,
        site: &mut CallSite<'_>,
        array: Reg,
        (from, count): (Reg, Reg),
        stride: Stride,
        span: Span,
    ) {
        let zero = self.computed_integer(site, Op::ConstI(0), &[], span);
        self.for_range(site, (zero, count), span, |inliner, site, index| {
            inliner.append_element(site, array, (from, index), stride, span);
        });
    }

    /// Appends an element of an array to another array.
    fn append_element(
        &mut self,
        site: &CallSite<'_>,
        array: Reg,
        (from, index): (Reg, Reg),
        stride: Stride,
        span: Span,
    ) {
        let element = self.load_element(site, (from, index), stride, span);
        let components: Vec<Reg> = element.into_iter().map(|(_, _, component)| component).collect();
        self.push(site.at, Op::Append(stride), vec![array], [&[array], &components[..]].concat(), span);
    }

    /// Loads all components of an element; returns their banks, offsets and registers.
    fn load_element(
        &mut self,
        site: &CallSite<'_>,
        (array, index): (Reg, Reg),
        stride: Stride,
        span: Span,
    ) -> Vec<(Bank, u16, Reg)> {
        let banks = [(Bank::F, stride.f), (Bank::I, stride.i), (Bank::R, stride.r)];
        let places = banks.into_iter().flat_map(|(bank, count)| (0..count).map(move |offset| (bank, offset)));
        let load = |(bank, offset)| {
            let component = self.register(bank);
            self.push(site.at, Op::LoadElement { bank, offset, stride }, vec![component], vec![array, index], span);
            (bank, offset, component)
        };
        places.map(load).collect()
    }

    fn store_element(
        &mut self,
        site: &CallSite<'_>,
        (array, index): (Reg, Reg),
        element: &[(Bank, u16, Reg)],
        stride: Stride,
        span: Span,
    ) {
        for (bank, offset, component) in element {
            let op = Op::StoreElement { bank: *bank, offset: *offset, stride };
            self.push(site.at, op, vec![array], vec![array, index, *component], span);
        }
    }
}
