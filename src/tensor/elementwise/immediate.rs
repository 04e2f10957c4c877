//! Immediate evaluation: elementwise operations on small tensors, each computed at once. To prepare a pass over memory takes longer
//! than these operations themselves.

use super::super::reader::Operand;
use super::super::scalar::ScalarKind;
use super::super::strided::Tensor;
use super::chain::{Node, Steps};
use super::operation::{Binary, Comparison, Kept, Unary};
use super::real::Real;
use smallvec::SmallVec;

/// The largest number of scalars of small tensors. The intermediate values of a formula of so many scalars stay in the cache.
const MOST_SCALARS: usize = 256;

/// The steps for which the intermediate values have room from the start.
const USUAL_STEPS: usize = 6;

/// The values of all nodes.
#[derive(Debug)]
struct Values<'a, T> {
    all: SmallVec<[Value<'a, T>; 12]>,
    /// The blocks of the intermediate values, one after another.
    blocks: Vec<T>,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
enum Value<'a, T> {
    Operand(Operand<'a, T>),
    /// The block from a number on.
    Block(usize),
}

/// An elementwise formula of a tensor and some others: it adds the steps and returns the node of its value.
pub type Formula<'f, const REST: usize, E> = dyn Fn(&mut dyn Steps, Node, [Node; REST]) -> Result<Node, E> + 'f;

impl Tensor {
    /// Returns the kind of the scalars, if they are few real numbers and there already.
    #[inline]
    fn small_kind(&self) -> Option<ScalarKind> {
        let kind = self.data.computed()?.kind();
        (kind.is_real() && matches!(self.scalar_count(), 1..=MOST_SCALARS)).then_some(kind)
    }

    /// Returns the scalars repeated to the shape of a small tensor with a number of scalars, if none has to be moved for
    /// that.
    #[inline]
    fn small_operand<T: Real>(&self, target: &Tensor, count: usize) -> Option<Operand<'_, T>> {
        let scalars = T::scalars(self.data.computed()?)?;
        let is_alike = std::ptr::eq(self, target) || self.shape == target.shape;
        if is_alike && count > 1 && self.is_contiguous() {
            return Some(Operand::Slice(&scalars[self.offset..self.offset + count]));
        }
        let broadcasts = is_alike || self.scalar_count() == 1 && self.rank() <= target.rank();
        (broadcasts && self.is_repeated_number()).then(|| Operand::Scalar(scalars[self.offset]))
    }

    /// Applies an operation to each scalar of a small tensor; `None` for other tensors.
    pub fn small_unary(&self, operation: Unary) -> Option<Tensor> {
        match self.small_kind()? {
            ScalarKind::F32 => self.computed::<f32>(self, |block| f32::unary(operation, block)),
            _ => self.computed::<f64>(self, |block| f64::unary(operation, block)),
        }
    }

    /// Applies an operation to the scalars of two small tensors of the same kind, of which one has the shape of the result;
    /// `None` for other tensors.
    pub fn small_binary(&self, operation: Binary, other: &Tensor) -> Option<Tensor> {
        let target = if self.rank() < other.rank() || self.scalar_count() == 1 { other } else { self };
        let count = target.scalar_count();
        match target.small_kind()? {
            ScalarKind::F32 => {
                let other = other.small_operand(target, count)?;
                self.computed::<f32>(target, |block| f32::binary(operation, block, other, false))
            }
            _ => {
                let other = other.small_operand(target, count)?;
                self.computed::<f64>(target, |block| f64::binary(operation, block, other, false))
            }
        }
    }

    /// Returns a small tensor repeated to the shape of another one, with changed scalars.
    fn computed<T: Real>(&self, target: &Tensor, change: impl FnOnce(&mut [T])) -> Option<Tensor> {
        let count = target.scalar_count();
        let mut scalars = match self.small_operand::<T>(target, count)? {
            Operand::Slice(scalars) => scalars.to_vec(),
            Operand::Scalar(value) => vec![value; count],
        };
        change(&mut scalars);
        Some(Tensor::from_scalars(target.shape.clone(), scalars))
    }

    /// Adds another tensor to a small one in place; returns false if that is not possible.
    pub fn add_small(&mut self, other: &Tensor) -> bool {
        match self.small_kind() {
            Some(ScalarKind::F32) => self.add_scalars::<f32>(other),
            Some(_) => self.add_scalars::<f64>(other),
            None => false,
        }
    }

    /// Returns the value of a formula of a small tensor and others of the same shape or with one scalar; `None` for other tensors.
    ///
    /// # Errors
    /// Fails if the formula does.
    pub fn small_formula<const REST: usize, E>(
        &self,
        rest: [&Tensor; REST],
        formula: &Formula<'_, REST, E>,
    ) -> Result<Option<Tensor>, E> {
        match self.small_kind() {
            Some(ScalarKind::F32) => self.formula::<f32, REST, E>(rest, formula),
            Some(_) => self.formula::<f64, REST, E>(rest, formula),
            None => Ok(None),
        }
    }

    fn formula<T: Real, const REST: usize, E>(
        &self,
        rest: [&Tensor; REST],
        formula: &Formula<'_, REST, E>,
    ) -> Result<Option<Tensor>, E> {
        let count = self.scalar_count();
        let mut values: Values<'_, T> = Values { all: SmallVec::new(), blocks: vec![], count };
        for input in std::iter::once(self).chain(rest) {
            let Some(operand) = input.small_operand(self, count) else { return Ok(None) };
            values.all.push(Value::Operand(operand));
        }
        values.blocks.reserve_exact(USUAL_STEPS * count);
        let result = formula(&mut values, Node(0), std::array::from_fn(|at| Node(at as u32 + 1)))?;
        let scalars = values.take_scalars(result);
        Ok(Some(Tensor::from_scalars(self.shape.clone(), scalars)))
    }

    fn add_scalars<T: Real>(&mut self, other: &Tensor) -> bool {
        let Some(other) = other.small_operand::<T>(self, self.scalar_count()) else { return false };
        let Some(own) = self.whole_mut::<T>() else { return false };
        T::binary(Binary::Add, own, other, false);
        true
    }
}

impl<'a, T: Real> Values<'a, T> {
    fn push(&mut self, value: Value<'a, T>) -> Node {
        self.all.push(value);
        Node(self.all.len() as u32 - 1)
    }

    #[inline]
    fn operand(&self, node: Node) -> Operand<'_, T> {
        operand(&self.all, &self.blocks, self.count, node)
    }

    /// Takes the scalars of the result of a formula: an intermediate value leaves its memory to the result.
    fn take_scalars(&mut self, result: Node) -> Vec<T> {
        match self.all[result.0 as usize] {
            Value::Block(from) => {
                self.blocks.truncate(from + self.count);
                self.blocks.drain(..from);
                std::mem::take(&mut self.blocks)
            }
            Value::Operand(Operand::Slice(scalars)) => scalars.to_vec(),
            Value::Operand(Operand::Scalar(value)) => vec![value; self.count],
        }
    }

    /// Appends a copy of the value of a node to the blocks.
    #[inline]
    fn copy(&mut self, node: Node) -> usize {
        let at = self.blocks.len();
        match self.all[node.0 as usize] {
            Value::Block(from) => self.blocks.extend_from_within(from..from + self.count),
            Value::Operand(Operand::Slice(scalars)) => self.blocks.extend_from_slice(scalars),
            Value::Operand(Operand::Scalar(value)) => self.blocks.resize(at + self.count, value),
        }
        at
    }

    /// Applies an operation that changes the scalars of its first operand to a copy.
    #[inline]
    fn combined(&mut self, a: Node, b: Node, apply: impl Fn(&mut [T], Operand<'_, T>)) -> Node {
        if let (Operand::Scalar(a), Operand::Scalar(b)) = (self.operand(a), self.operand(b)) {
            let mut value = [a];
            apply(&mut value, Operand::Scalar(b));
            return self.push(Value::Operand(Operand::Scalar(value[0])));
        }
        let at = self.copy(a);
        let (before, block) = self.blocks.split_at_mut(at);
        apply(block, operand(&self.all, before, self.count, b));
        self.push(Value::Block(at))
    }
}

impl<T: Real> Steps for Values<'_, T> {
    fn constant(&mut self, value: f64) -> Node {
        self.push(Value::Operand(Operand::Scalar(T::nearest(value))))
    }

    fn unary(&mut self, operation: Unary, a: Node) -> Node {
        if let Operand::Scalar(value) = self.operand(a) {
            let mut value = [value];
            T::unary(operation, &mut value);
            return self.push(Value::Operand(Operand::Scalar(value[0])));
        }
        let at = self.copy(a);
        T::unary(operation, &mut self.blocks[at..]);
        self.push(Value::Block(at))
    }

    fn binary(&mut self, operation: Binary, a: Node, b: Node) -> Node {
        self.combined(a, b, |block, other| T::binary(operation, block, other, false))
    }

    fn compare(&mut self, operation: Comparison, a: Node, b: Node) -> Node {
        self.combined(a, b, |block, other| T::comparison(operation, block, other))
    }

    fn select(&mut self, mask: Node, chosen: Node, other: Node) -> Node {
        let at = self.copy(mask);
        let (before, block) = self.blocks.split_at_mut(at);
        let of = |node| operand(&self.all, before, self.count, node);
        T::select(block, of(chosen), of(other));
        self.push(Value::Block(at))
    }

    fn keep(&mut self, rule: Kept, value: Node, other: Node) -> Node {
        if let (Operand::Scalar(value), Operand::Scalar(other)) = (self.operand(value), self.operand(other)) {
            let mut kept = [value];
            T::keep_to(rule, &mut kept, &[value], Operand::Scalar(other));
            return self.push(Value::Operand(Operand::Scalar(kept[0])));
        }
        let value = match self.operand(value) {
            Operand::Slice(_) => value,
            Operand::Scalar(_) => {
                let at = self.copy(value);
                self.push(Value::Block(at))
            }
        };
        let at = self.blocks.len();
        self.blocks.resize(at + self.count, T::default());
        let (before, block) = self.blocks.split_at_mut(at);
        if let Operand::Slice(x) = operand(&self.all, before, self.count, value) {
            T::keep_to(rule, block, x, operand(&self.all, before, self.count, other));
        }
        self.push(Value::Block(at))
    }
}

/// Returns the value of a node.
#[inline]
fn operand<'b, T: Copy>(all: &[Value<'b, T>], blocks: &'b [T], count: usize, node: Node) -> Operand<'b, T> {
    match all[node.0 as usize] {
        Value::Operand(operand) => operand,
        Value::Block(from) => Operand::Slice(&blocks[from..from + count]),
    }
}
