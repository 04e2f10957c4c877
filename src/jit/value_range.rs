//! Value ranges: between which bounds the integers of a loop lie, which decides whether their arithmetic can overflow.
//!
//! In: a loop of the bytecode. Out: the instructions that cannot overflow if certain registers are small before the loop, and not
//! negative.
//!
//! Promises: a range holds for every execution of an instruction. Only the counter of the loop, integers that the loop does not
//! change, and what is computed from them have ranges.

use super::Signatures;
use super::effects::{consumes_window, effects, window};
use super::flow::Flow;
use super::induction::{Body, Operand};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use hashbrown::HashMap;
use std::ops::RangeInclusive;

/// The limits of the registers before the loop that are tried, the largest first. The smallest one leaves room for the product of
/// two sums.
const LIMITS: [i64; 3] = [1 << 40, 1 << 31, 1 << 29];

/// A number that no count of elements exceeds, because the address space is smaller.
const MAX_COUNT: i128 = 1 << 48;

/// The arithmetic of a loop that needs no checks.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct ExactArithmetic {
    /// The registers that must be at least 0 and less than the limit before the loop.
    pub assumed: Vec<u16>,
    /// The limit, a power of two.
    pub limit: i64,
    /// The instructions that cannot overflow then, and the divisions of numbers that are not negative by positive numbers.
    pub instructions: Vec<usize>,
}

/// The smallest and the largest value of an integer, and the registers on which they depend.
#[derive(Clone, Debug)]
struct Range {
    low: i128,
    high: i128,
    assumed: Vec<u16>,
}

/// The ranges that are known at an instruction.
struct Ranges<'b, 'c> {
    body: &'b Body<'c>,
    limit: i64,
    /// The register that counts the iterations.
    counter: Option<u16>,
    /// The ranges of registers that hold from their only assignment on, which each iteration executes.
    lasting: HashMap<u16, Range>,
    /// What is known about the registers that were written since the last jump target.
    recent: HashMap<u16, Option<Range>>,
}

/// Returns the arithmetic of a loop that needs no checks.
pub fn exact_arithmetic(
    code: &Code,
    flow: &Flow,
    around: &RangeInclusive<usize>,
    signature: Signatures<'_>,
) -> ExactArithmetic {
    let body = Body::of(code, flow, around, signature);
    let mut best = ExactArithmetic::default();
    for limit in LIMITS {
        let found = Ranges::new(&body, limit).exact_arithmetic(flow, signature);
        if found.instructions.len() > best.instructions.len() {
            best = found;
        }
    }
    best
}

impl Range {
    fn constant(value: i64) -> Range {
        Range { low: value.into(), high: value.into(), assumed: vec![] }
    }

    /// Returns a range that depends on what two ranges depend on.
    fn of(a: &Range, b: &Range, low: i128, high: i128) -> Range {
        Range { low, high, assumed: [&a.assumed[..], &b.assumed].concat() }
    }

    fn is_representable(&self) -> bool {
        i128::from(i64::MIN) <= self.low && self.high <= i128::from(i64::MAX)
    }

    fn plus(&self, other: &Range) -> Range {
        Range::of(self, other, self.low + other.low, self.high + other.high)
    }

    fn minus(&self, other: &Range) -> Range {
        Range::of(self, other, self.low - other.high, self.high - other.low)
    }

    fn times(&self, other: &Range) -> Range {
        let bounds = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let [a, b, c, d] = bounds;
        Range::of(self, other, a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    }

    /// Whether the processor can divide by a number as if both were unsigned.
    fn is_unsigned_quotient(&self, divisor: &Range) -> bool {
        self.low >= 0 && divisor.low >= 1
    }
}

impl<'b, 'c> Ranges<'b, 'c> {
    fn new(body: &'b Body<'c>, limit: i64) -> Ranges<'b, 'c> {
        let mut ranges = Ranges { body, limit, counter: None, lasting: HashMap::new(), recent: HashMap::new() };
        // A counter that is only compared for equality with its end passes any number if it starts beyond the end.
        let last = body.code.instructions[*body.around.end()];
        let is_ordered = !matches!(last, Instruction::IfNeI { .. } | Instruction::IfNeIK { .. });
        if let Some(counter) = body.counter().filter(|_| is_ordered) {
            let mut range = Range { low: 0, high: limit.into(), assumed: vec![counter.register] };
            match counter.end {
                Operand::Register(end) => range.assumed.push(end),
                Operand::Constant(end) => {
                    range.low = range.low.min(end.into());
                    range.high = range.high.max(end.into());
                }
            }
            // The counter passes its end by at most one.
            if counter.step > 0 {
                range.high += 1;
            } else {
                range.low -= 1;
            }
            ranges.lasting.insert(counter.register, range);
            ranges.counter = Some(counter.register);
        }
        ranges
    }

    fn exact_arithmetic(mut self, flow: &Flow, signature: Signatures<'_>) -> ExactArithmetic {
        let Body { code, around, .. } = *self.body;
        let mut found = ExactArithmetic { limit: self.limit, ..ExactArithmetic::default() };
        for at in around.clone() {
            let is_entered = flow.targets.contains(&Some(at));
            if is_entered || at > *around.start() && code.instructions[at - 1].opcode().is_end() {
                self.recent.clear();
            }
            let result = self.result(at).filter(|(_, range)| range.is_representable());
            if let Some((_, range)) = &result
                && self.is_exact(&code.instructions[at])
            {
                found.instructions.push(at);
                found.assumed.extend(&range.assumed);
            }
            self.write(at, signature, result);
        }
        found.assumed.sort_unstable();
        found.assumed.dedup();
        found
    }

    /// Whether machine code needs no check for an instruction whose result has a range.
    fn is_exact(&self, instruction: &Instruction) -> bool {
        use Instruction as I;
        match *instruction {
            I::AddI { .. } | I::AddIK { .. } | I::SubI { .. } | I::MulI { .. } => true,
            I::LoopLtI { .. } | I::LoopLtIK { .. } => true,
            I::DivI { a, b, .. } | I::RemI { a, b, .. } => {
                self.of(a.0).zip(self.of(b.0)).is_some_and(|(a, b)| a.is_unsigned_quotient(&b))
            }
            _ => false,
        }
    }

    fn of(&self, register: u16) -> Option<Range> {
        if let Some(known) = self.recent.get(&register) {
            return known.clone();
        }
        let assumed = || Range { low: 0, high: self.limit.into(), assumed: vec![register] };
        self.lasting.get(&register).cloned().or_else(|| self.body.is_invariant(register).then(assumed))
    }

    /// Returns the register that an instruction writes, with the range of its new value, if that is known.
    fn result(&self, at: usize) -> Option<(u16, Range)> {
        use Instruction as I;
        let code = self.body.code;
        let constant = |k: i64| Some(Range::constant(k));
        let both = |a: u16, b: u16, apply: fn(&Range, &Range) -> Range| Some(apply(&self.of(a)?, &self.of(b)?));
        let (out, range) = match code.instructions[at] {
            I::MoveI { out, a } => (out.0, self.of(a.0)),
            I::SetI { out, value } => (out.0, constant(i64::from(value.0))),
            I::LoadI { out, k } => (out.0, constant(code.integers[usize::from(k)])),
            I::Count { out, .. } => (out.0, Some(Range { low: 0, high: MAX_COUNT, assumed: vec![] })),
            // The range of the counter holds after its assignment, too.
            I::AddIK { out, .. } if self.counter == Some(out.0) => (out.0, self.of(out.0)),
            I::LoopLtI { i, .. } | I::LoopLtIK { i, .. } if self.counter == Some(i.0) => (i.0, self.of(i.0)),
            I::AddIK { out, a, k } => (out.0, self.of(a.0).map(|a| a.plus(&Range::constant(k.0.into())))),
            I::AddI { out, a, b } => (out.0, both(a.0, b.0, Range::plus)),
            I::SubI { out, a, b } => (out.0, both(a.0, b.0, Range::minus)),
            I::MulI { out, a, b } => (out.0, both(a.0, b.0, Range::times)),
            I::DivI { out, a, b } => (out.0, both(a.0, b.0, quotient)),
            I::RemI { out, a, b } => (out.0, both(a.0, b.0, remainder)),
            _ => return None,
        };
        Some((out, range?))
    }

    /// Notes what an instruction writes.
    fn write(&mut self, at: usize, signature: Signatures<'_>, result: Option<(u16, Range)>) {
        let code = self.body.code;
        let lost = consumes_window(&code.instructions[at]).then(|| window(code, code.window));
        let written = effects(code, at, signature).written.into_iter().chain(lost.into_iter().flatten());
        for (_, register) in written.filter(|(bank, _)| *bank == Bank::I) {
            self.recent.insert(register, None);
        }
        let Some((out, range)) = result else { return };
        if self.body.is_always_executed(at) && self.body.is_written_once(out) {
            self.lasting.insert(out, range.clone());
        }
        self.recent.insert(out, Some(range));
    }
}

/// Returns the range of the quotient of two integers, whose absolute value is at most that of the dividend.
fn quotient(a: &Range, b: &Range) -> Range {
    if a.is_unsigned_quotient(b) {
        return Range::of(a, b, 0, a.high);
    }
    let most = a.low.abs().max(a.high.abs());
    Range::of(a, b, -most, most)
}

/// Returns the range of the remainder of a division of two integers.
fn remainder(a: &Range, b: &Range) -> Range {
    if a.is_unsigned_quotient(b) {
        return Range::of(a, b, 0, a.high.min(b.high - 1));
    }
    quotient(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::operand::{Far, IChange, IIn, IOut, Immediate, Small, To};
    use Instruction as I;

    /// Returns the exact arithmetic of a loop from the second instruction to the last but one.
    fn found(body: &[Instruction]) -> ExactArithmetic {
        let code = Code {
            instructions: [&[I::SetI { out: IOut(0), value: Immediate(0) }], body, &[I::Return {}]].concat(),
            registers: [0, 8, 0],
            ..Code::default()
        };
        let flow = Flow::of(&code, [0, 8], &|_| None);
        exact_arithmetic(&code, &flow, &flow.loops[0].clone(), &|_| None)
    }

    fn next(length: i16) -> Instruction {
        I::LoopLtI { i: IChange(0), n: IIn(1), to: To(-length) }
    }

    #[test]
    fn sums_and_products_of_the_counter_and_of_invariants_are_exact() {
        let sum = I::AddI { out: IOut(3), a: IIn(0), b: IIn(2) };
        let product = I::MulI { out: IOut(3), a: IIn(3), b: IIn(3) };
        let half = I::DivI { out: IOut(3), a: IIn(3), b: IIn(4) };
        let two = I::SetI { out: IOut(4), value: Immediate(2) };
        let expected = ExactArithmetic { assumed: vec![0, 1, 2], limit: 1 << 29, instructions: vec![1, 2, 4, 5] };
        assert_eq!(found(&[sum, product, two, half, next(5)]), expected);
    }

    #[test]
    fn sums_over_iterations_and_counters_without_an_order_are_checked() {
        let total = I::AddI { out: IOut(3), a: IIn(3), b: IIn(0) };
        assert_eq!(found(&[total, next(2)]).instructions, [2]);
        let increment = I::AddIK { out: IOut(0), a: IIn(0), k: Small(1) };
        assert!(found(&[increment, I::IfNeI { a: IIn(0), b: IIn(1), to: To(-2) }]).instructions.is_empty());
        assert_eq!(found(&[increment, I::IfLtI { a: IIn(0), b: IIn(1), to: To(-2) }]).instructions, [1]);
    }

    #[test]
    fn what_one_branch_writes_is_unknown_after_the_branches() {
        let product = I::MulI { out: IOut(3), a: IIn(0), b: IIn(0) };
        let skip = I::IfLtIK { a: IIn(0), k: Small(9), to: To(1) };
        let sum = I::AddIK { out: IOut(5), a: IIn(3), k: Small(1) };
        assert_eq!(found(&[skip, product, sum, next(4)]).instructions, [2, 4]);
        assert_eq!(found(&[product, skip, sum, next(4)]).instructions, [1, 3, 4]);
        let far = I::Jump { to: Far(0) };
        assert_eq!(found(&[product, far, sum, next(4)]).instructions, [1, 3, 4]);
    }

    #[test]
    fn divisions_of_negative_numbers_are_checked() {
        let three = I::SetI { out: IOut(4), value: Immediate(3) };
        let shifted = I::AddIK { out: IOut(3), a: IIn(0), k: Small(-5) };
        let quotient = I::DivI { out: IOut(5), a: IIn(3), b: IIn(4) };
        assert_eq!(found(&[three, shifted, quotient, next(4)]).instructions, [2, 4]);
        let remainder = I::RemI { out: IOut(5), a: IIn(0), b: IIn(4) };
        assert_eq!(found(&[three, remainder, next(3)]).instructions, [2, 3]);
        // The divisor may be 0.
        assert_eq!(found(&[I::RemI { out: IOut(5), a: IIn(0), b: IIn(2) }, next(2)]).instructions, [2]);
    }
}
