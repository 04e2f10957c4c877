//! Joined arithmetic of derivative code. What moves with at most two numbers in all is recorded as one operation, whose
//! partial derivatives are those of the whole: a tape then has a node for a statement, and not for each sign in it.

use super::record::Sink;
use super::registers::Registers;
use crate::bytecode::operand::{FIn, FOut, Ways};
use crate::bytecode::{Arithmetic, Joined};
use crate::native::partial::product_partial;
use crate::tape::{Levels, Mode, Num};

/// The most nodes that one joined step takes.
const NODES: u32 = 3;

/// `None`, and nothing done, where the steps must be recorded one by one.
type Done = Option<()>;

/// A `match` over the first so many numbers of [`Joined`], each arm with the number known at compile time.
macro_rules! specialised {
    ($number:expr, $f:ident $args:tt, $($known:literal)*) => {
        match $number {
            $($known => $f::<$known> $args,)*
            // The verifier has checked the number.
            _ => None,
        }
    };
}

/// `out = (a ∘ b) ∘ c`
#[inline(always)]
pub fn left(levels: &mut Levels, at: Registers, out: FOut, operands: [FIn; 3], how: Ways) -> Done {
    let [a, b, c] = operands;
    specialised!(how.0, left_by(levels, at, out, a, b, c), 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

/// `out = a ∘ (b ∘ c)`
#[inline(always)]
pub fn right(levels: &mut Levels, at: Registers, out: FOut, operands: [FIn; 3], how: Ways) -> Done {
    let [a, b, c] = operands;
    specialised!(how.0, right_by(levels, at, out, a, b, c), 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

/// `out = (a ∘ b) ∘ (c ∘ d)`
#[inline(always)]
pub fn both(levels: &mut Levels, at: Registers, out: FOut, operands: [FIn; 4], how: Ways) -> Done {
    let [a, b, c, d] = operands;
    specialised!(how.0, both_by(levels, at, out, a, b, c, d),
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
}

// Not inlined: the dispatch loop stays small, and what each of them needs in registers does not leave the loop without.

#[inline(never)]
fn left_by<const HOW: u8>(levels: &mut Levels, at: Registers, out: FOut, a: FIn, b: FIn, c: FIn) -> Done {
    let how = const { Joined::of(HOW) };
    let (left, right) = (Side::of(how.first, at.num(a), at.num(b)), Side::number(at.num(c)));
    joined(levels, how.last, left, right, sink(at, out))
}

#[inline(never)]
fn right_by<const HOW: u8>(levels: &mut Levels, at: Registers, out: FOut, a: FIn, b: FIn, c: FIn) -> Done {
    let how = const { Joined::of(HOW) };
    let (left, right) = (Side::number(at.num(a)), Side::of(how.first, at.num(b), at.num(c)));
    joined(levels, how.last, left, right, sink(at, out))
}

#[inline(never)]
fn both_by<const HOW: u8>(levels: &mut Levels, at: Registers, out: FOut, a: FIn, b: FIn, c: FIn, d: FIn) -> Done {
    let how = const { Joined::of(HOW) };
    let left = Side::of(how.first, at.num(a), at.num(b));
    let right = Side::of(how.second, at.num(c), at.num(d));
    joined(levels, how.last, left, right, sink(at, out))
}

/// Writes a result with its slot.
#[inline(always)]
fn sink(mut at: Registers, out: FOut) -> impl Sink {
    move |value, epoch, payload| {
        at.set_f(out, value);
        at.set_slot(out, epoch, payload);
    }
}

/// An operand of the last operation: a number, or what an operation gives.
#[derive(Clone, Copy)]
struct Side {
    op: Option<Arithmetic>,
    x: Num,
    y: Num,
    value: f64,
}

impl Side {
    #[inline(always)]
    fn number(x: Num) -> Side {
        Side { op: None, x, y: Num::default(), value: x.value }
    }

    #[inline(always)]
    fn of(op: Arithmetic, x: Num, y: Num) -> Side {
        Side { op: Some(op), x, y, value: op.apply(x.value, y.value) }
    }

    /// Adds the nodes that it moves with in the single reverse level, and the partial derivatives in them times another
    /// one.
    #[inline(always)]
    fn add_to(&self, terms: &mut Terms, epoch: u64, partial: f64) {
        match self.op {
            None => terms.add(node(self.x, epoch), partial),
            Some(op) => {
                let (px, py) = partials(op, self.x.value, self.y.value, self.value);
                terms.add(node(self.x, epoch), partial * px);
                terms.add(node(self.y, epoch), partial * py);
            }
        }
    }

    /// The nodes that it moves with in the single reverse level.
    #[inline(always)]
    fn terms(&self, epoch: u64) -> Terms {
        let mut terms = Terms::default();
        self.add_to(&mut terms, epoch, 1.0);
        terms
    }

    /// How it moves in the single forward level, if it does.
    #[inline(always)]
    fn tangent(&self, epoch: u64) -> Option<f64> {
        match self.op {
            None => tangent(self.x, epoch),
            Some(op) => {
                moved(op, (self.x.value, tangent(self.x, epoch)), (self.y.value, tangent(self.y, epoch)), self.value)
            }
        }
    }
}

/// The nodes that something moves with, and the partial derivatives in them; 0 for none.
#[derive(Clone, Copy, Default)]
struct Terms {
    a: u32,
    b: u32,
    pa: f64,
    pb: f64,
    /// There are more than two.
    are_more: bool,
}

impl Terms {
    #[inline(always)]
    fn add(&mut self, node: u32, partial: f64) {
        if node == 0 {
            return;
        }
        if self.a == 0 || self.a == node {
            self.a = node;
            self.pa += partial;
        } else if self.b == 0 || self.b == node {
            self.b = node;
            self.pb += partial;
        } else {
            self.are_more = true;
        }
    }

    /// Whether no partial derivative is infinite or NaN. There a zero adjoint stops at one of the steps, and the whole
    /// has no steps.
    #[inline(always)]
    fn are_finite(&self) -> bool {
        self.pa * 0.0 + self.pb * 0.0 == 0.0
    }
}

#[inline(always)]
fn joined(levels: &mut Levels, last: Arithmetic, left: Side, right: Side, out: impl Sink) -> Done {
    let value = last.apply(left.value, right.value);
    match levels.mode() {
        Mode::SingleReverse => {
            let epoch = levels.single_epoch();
            match reverse(levels, epoch, last, (left, right), value)? {
                0 => out.put(value, 0, 0),
                node => out.put(value, epoch, u64::from(node)),
            }
        }
        Mode::SingleForward => {
            let epoch = levels.single_epoch();
            let (x, y) = ((left.value, left.tangent(epoch)), (right.value, right.tangent(epoch)));
            match moved(last, x, y, value) {
                Some(tangent) => out.put(value, epoch, tangent.to_bits()),
                None => out.put(value, 0, 0),
            }
        }
        Mode::Inactive => out.put(value, 0, 0),
        Mode::General => return None,
    }
    Some(())
}

/// Records it in the single reverse level; gives its node, 0 for a constant.
#[inline(always)]
fn reverse(levels: &mut Levels, epoch: u64, last: Arithmetic, (left, right): (Side, Side), value: f64) -> Option<u32> {
    let (px, py) = partials(last, left.value, right.value, value);
    let mut whole = Terms::default();
    left.add_to(&mut whole, epoch, px);
    right.add_to(&mut whole, epoch, py);
    if whole.a == 0 {
        return Some(0);
    }
    // What is infinite or NaN is recorded step by step: a zero adjoint stops at one of them.
    if value * 0.0 != 0.0 || !whole.are_finite() {
        return None;
    }
    if whole.are_more {
        return reverse_apart(levels, (left.terms(epoch), px), (right.terms(epoch), py));
    }
    levels.push_single(whole.a, whole.b, whole.pa, whole.pb)
}

/// What moves with three numbers or four: each operand of the last operation is recorded by itself.
#[inline(always)]
fn reverse_apart(levels: &mut Levels, (x, px): (Terms, f64), (y, py): (Terms, f64)) -> Option<u32> {
    if !x.are_finite() || !y.are_finite() || !levels.has_room(NODES) {
        return None;
    }
    let is_usual = |partial: f64, side: Terms| partial * 0.0 == 0.0 && (side.b != 0 || partial * side.pa * 0.0 == 0.0);
    if !is_usual(px, x) || !is_usual(py, y) {
        return None;
    }
    let (x, y) = (one(levels, x)?, one(levels, y)?);
    levels.push_single(x.0, y.0, px * x.1, py * y.1)
}

/// A single node that stands for one or two.
#[inline(always)]
fn one(levels: &mut Levels, terms: Terms) -> Option<(u32, f64)> {
    if terms.b == 0 {
        Some((terms.a, terms.pa))
    } else {
        Some((levels.push_single(terms.a, terms.b, terms.pa, terms.pb)?, 1.0))
    }
}

/// The node of a number in the single reverse level; 0 for a constant.
#[inline(always)]
fn node(x: Num, epoch: u64) -> u32 {
    if x.slot.epoch == epoch { x.slot.payload as u32 } else { 0 }
}

/// The tangent of a number in the single forward level, if it moves.
#[inline(always)]
fn tangent(x: Num, epoch: u64) -> Option<f64> {
    (x.slot.epoch == epoch).then(|| f64::from_bits(x.slot.payload))
}

/// How the result of an operation moves, if it does. A partial derivative of zero adds nothing, whatever the tangent.
#[inline(always)]
fn moved(op: Arithmetic, (x, dx): (f64, Option<f64>), (y, dy): (f64, Option<f64>), value: f64) -> Option<f64> {
    let (px, py) = match op {
        Arithmetic::Mul => (product_partial(y, x), product_partial(x, y)),
        _ => partials(op, x, y, value),
    };
    let share = |partial: f64, tangent: Option<f64>| match tangent {
        Some(tangent) if partial != 0.0 => partial * tangent,
        _ => 0.0,
    };
    (dx.is_some() || dy.is_some()).then(|| share(px, dx) + share(py, dy))
}

/// The partial derivatives of an operation in its operands.
#[inline(always)]
fn partials(op: Arithmetic, x: f64, y: f64, value: f64) -> (f64, f64) {
    match op {
        Arithmetic::Add => (1.0, 1.0),
        Arithmetic::Sub => (1.0, -1.0),
        Arithmetic::Mul => (y, x),
        Arithmetic::Div => (1.0 / y, -(value / y)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{PrimitiveId, ids};
    use crate::tape::{Direction, LinearMap};
    use crate::value::Slot;

    fn id(op: Arithmetic) -> PrimitiveId {
        [ids::ADD, ids::SUB, ids::MUL, ids::DIV][op as usize]
    }

    /// `(a ∘ b) ∘ (c ∘ d)` in a new level, joined or step by step: the number, and how it moves.
    fn outcome(direction: Direction, how: Joined, which: [usize; 4], x: [f64; 3], is_joined: bool) -> (f64, Vec<f64>) {
        let mut levels = Levels::new(1 << 30);
        levels.open(direction).unwrap();
        let mut numbers: Vec<Num> = match direction {
            Direction::Reverse => x.iter().map(|x| levels.leaf(Num::constant(*x)).unwrap()).collect(),
            Direction::Forward => {
                let along =
                    |(k, x): (usize, &f64)| levels.dual(Num::constant(*x), Num::constant(1.0 + k as f64)).unwrap();
                x.iter().enumerate().map(along).collect()
            }
        };
        numbers.push(Num::constant(3.0));
        // The first record makes the room that joined steps need.
        levels.record(id(Arithmetic::Add), &[numbers[0], numbers[1]]).unwrap();
        let [a, b, c, d] = which.map(|k| numbers[k]);
        let mut y = Num::default();
        let put = |value, epoch, payload| y = Num { value, slot: Slot { epoch, payload } };
        let (left, right) = (Side::of(how.first, a, b), Side::of(how.second, c, d));
        if !is_joined || joined(&mut levels, how.last, left, right, put).is_none() {
            let left = levels.record(id(how.first), &[a, b]).unwrap();
            let right = levels.record(id(how.second), &[c, d]).unwrap();
            y = levels.record(id(how.last), &[left, right]).unwrap();
        }
        match direction {
            Direction::Forward => (y.value, vec![levels.tangent(0, y).value]),
            Direction::Reverse => {
                let map = LinearMap::close(&mut levels, &mut [y]);
                let adjoints = map.pull_back(&mut levels, &[Num::constant(1.0)]).unwrap();
                (y.value, adjoints.iter().map(|x| x.value).collect())
            }
        }
    }

    const CHOICES: [[usize; 4]; 8] = [
        [0, 1, 2, 3],
        [0, 0, 0, 0],
        [0, 1, 1, 0],
        [0, 1, 2, 0],
        [3, 3, 1, 2],
        [3, 0, 1, 2],
        [2, 3, 1, 0],
        [3, 3, 3, 3],
    ];

    fn check(x: [f64; 3]) {
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs()) || a == b || a.is_nan() && b.is_nan();
        for (number, which) in (0..Joined::COUNT as u8).flat_map(|n| CHOICES.map(|which| (n, which))) {
            for direction in [Direction::Forward, Direction::Reverse] {
                let how = Joined::of(number);
                let [(y, moved), (z, expected)] = [true, false].map(|j| outcome(direction, how, which, x, j));
                let agree = same(y, z) && moved.iter().zip(&expected).all(|(a, b)| same(*a, *b));
                assert!(agree, "{direction:?} {how:?} {which:?} at {x:?}: {moved:?}, and step by step {expected:?}");
            }
        }
    }

    #[test]
    fn joined_steps_move_as_they_do_one_by_one() {
        check([1.5, -2.25, 0.75]);
    }

    #[test]
    fn what_is_not_finite_is_as_it_is_step_by_step() {
        for x in [[0.0, 1.0, f64::INFINITY], [0.0, 0.0, 1.0], [1e300, 1e300, 0.0], [f64::NAN, 1.0, 2.0]] {
            check(x);
        }
    }
}
