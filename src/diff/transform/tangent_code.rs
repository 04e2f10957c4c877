//! Tangent code: computes, after each step, the tangents of its results.

use super::contribution::Term;
use super::varied_registers::Varied;
use super::{GraphBuilder, is_differentiated, shared_cosines};
use crate::ir::passes::dead_code::eliminate;
use crate::ir::passes::invariant_steps;
use crate::ir::{Block, Fallback, Function, Instruction, Op, Reg, Stride, Terminator};
use crate::value::Bank;
use hashbrown::HashMap;

/// The maximum number of constants in an array to which varying numbers are written.
const MAX_ZEROS: usize = 64;

/// Derives the tangent code of a function. Its parameters are those of the function, then a tangent for each number and
/// an object of tangents for each reference; its results are those of the function, then a tangent for each number and
/// an array of tangents for each array among them. The function may be adjoint code, whose tangent code computes products
/// with Hessians.
///
/// # Errors
/// The reason why the function cannot be transformed.
pub fn tangent(f: &Function) -> Result<Function, Fallback> {
    transform(f, Companion::Tangent)
}

/// The number that the code computes beside each varied number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Companion {
    /// The tangent, in tangent code.
    Tangent,
    /// The bits of the number of the node, in linearization code.
    Node,
}

/// Derives code that computes a companion of each varied number.
pub(super) fn transform(f: &Function, companion: Companion) -> Result<Function, Fallback> {
    if f.results.contains(&Bank::I) || f.results.len() != f.result_len {
        return Err(Fallback::NotNumbers);
    }
    let varied = Varied::of(f, true)?;
    let mut tangent_builder = TangentBuilder {
        f,
        companion,
        varied,
        builder: GraphBuilder::new(f),
        tangents: HashMap::new(),
        negatives: HashMap::new(),
        vectors: vec![],
        arrays: HashMap::new(),
    };
    let mut params = f.params.clone();
    for (k, param) in f.params.iter().enumerate().filter(|(k, _)| is_differentiated(f, *k)) {
        match f.registers[param.0 as usize].bank {
            Bank::F => params.push(tangent_builder.tangent(f.params[k])),
            Bank::I => {}
            Bank::R => {
                let vector = tangent_builder.builder.register(Bank::R);
                tangent_builder.vectors.push(vector);
                if tangent_builder.varied.is_local(*param) {
                    tangent_builder.arrays.insert(*param, vector);
                }
                params.push(vector);
            }
        }
    }
    let mut blocks = vec![];
    for block in &f.blocks {
        tangent_builder.negatives.clear();
        tangent_builder.builder.span = block.end_span;
        for step in &block.instructions {
            tangent_builder.step(step).ok_or(Fallback::NoPartial)?;
        }
        let end = match &block.end {
            Some(Terminator::Return(values)) => {
                let tangents: Option<Vec<Reg>> =
                    values.iter().map(|value| tangent_builder.tangent_of_result(*value)).collect();
                let tangents = tangents.ok_or(Fallback::NotNumbers)?;
                Some(Terminator::Return([&values[..], &tangents].concat()))
            }
            end => end.clone(),
        };
        let instructions = std::mem::take(&mut tangent_builder.builder.steps);
        blocks.push(Block { instructions, end, end_span: block.end_span });
    }
    let results = [&f.results[..], &f.results].concat();
    let mut tangent = Function {
        result_len: results.len(),
        results,
        params,
        registers: tangent_builder.builder.registers,
        blocks,
        rules: vec![],
        ..f.clone()
    };
    let count = tangent.blocks.len();
    shared_cosines::share(&mut tangent, count);
    eliminate(&mut tangent);
    invariant_steps::hoist(&mut tangent);
    Ok(tangent)
}

pub(super) struct TangentBuilder<'f> {
    f: &'f Function,
    pub(super) companion: Companion,
    pub(super) varied: Varied,
    pub(super) builder: GraphBuilder,
    tangents: HashMap<Reg, Reg>,
    /// Tangents that are the negatives of other tangents, as long as neither is written again in the block: a change of
    /// sign is cheaper than a step.
    negatives: HashMap<Reg, Reg>,
    /// The tangents of the reference arguments.
    vectors: Vec<Reg>,
    /// The tangents of the numbers in local arrays, by the register of the array.
    arrays: HashMap<Reg, Reg>,
}

impl TangentBuilder<'_> {
    /// Returns the register of the tangent of a varied number.
    pub(super) fn tangent(&mut self, reg: Reg) -> Reg {
        let builder = &mut self.builder;
        *self.tangents.entry(reg).or_insert_with(|| builder.number())
    }

    /// Invalidates the negatives of a tangent that is written.
    pub(super) fn forget(&mut self, tangent: Reg) {
        self.negatives.retain(|negative, positive| *negative != tangent && *positive != tangent);
    }

    pub(super) fn tangent_or_zero(&mut self, reg: Reg) -> Reg {
        if self.varied.is(reg) { self.tangent(reg) } else { self.builder.emit(Op::ConstF(0.0), &[]) }
    }

    /// Returns the register of the tangents of a result; `None` for an object whose numbers do not vary.
    fn tangent_of_result(&mut self, reg: Reg) -> Option<Reg> {
        match self.f.registers[reg.0 as usize].bank {
            Bank::R => self.vector(reg),
            Bank::F | Bank::I => Some(self.tangent_or_zero(reg)),
        }
    }

    fn step(&mut self, step: &Instruction) -> Option<()> {
        self.builder.span = step.span;
        if let Op::Transformed(op) = &step.op
            && self.step_of_adjoint(step, op)
        {
            return Some(());
        }
        if step.outs.iter().any(|out| self.varied.is_local(*out)) {
            return self.array_step(step);
        }
        let is_varied = self.varied.is_step(step);
        let out = step.outs.first().copied();
        let (Some(out), true) = (out, is_varied) else {
            self.builder.steps.push(step.clone());
            // The step computes a constant, but another step writes a varied number to the same register: the tangent
            // of the register becomes zero.
            for out in &step.outs {
                if self.f.registers[out.0 as usize].bank == Bank::F && self.varied.is(*out) {
                    let tangent = self.tangent(*out);
                    self.forget(tangent);
                    self.builder.step(Op::ConstF(0.0), &[tangent], &[]);
                }
            }
            return Some(());
        };
        let tangent = self.tangent(out);
        match &step.op {
            Op::Copy => {
                let from = self.tangent(step.ins[0]);
                self.forget(tangent);
                self.builder.steps.push(step.clone());
                self.builder.copy(tangent, from);
            }
            Op::LoadElement { .. } | Op::LoadRecord { .. } => {
                let vector = self.vector(step.ins[0])?;
                let mut ins = step.ins.clone();
                ins[0] = vector;
                self.forget(tangent);
                self.builder.steps.push(step.clone());
                self.builder.step(step.op.clone(), &[tangent], &ins);
            }
            Op::Primitive(id) => {
                // The operands of the step are still needed after it, and their tangents are needed until all terms are
                // computed.
                let value = if step.ins.contains(&out) { self.builder.number() } else { out };
                self.builder.step(step.op.clone(), &[value], &step.ins);
                if self.companion == Companion::Node {
                    self.node(tangent, *id, step, value)?;
                    self.builder.copy(out, value);
                    return Some(());
                }
                let mut sum = None;
                for (k, operand) in step.ins.iter().enumerate() {
                    if !self.varied.is(*operand) {
                        continue;
                    }
                    let factor = self.tangent(*operand);
                    let positive = self.negatives.get(&factor).copied();
                    let factor = positive.unwrap_or(factor);
                    let term = self.builder.term((*id, k), &step.ins, value, factor)?;
                    let term = if positive.is_some() { term.negative() } else { term };
                    sum = Some(self.builder.sum(sum, term));
                }
                let sum = sum?;
                self.forget(tangent);
                if let Term::Minus(positive) = sum
                    && positive != tangent
                {
                    self.negatives.insert(tangent, positive);
                }
                let sum = self.builder.value(sum);
                self.builder.copy(tangent, sum);
                self.builder.copy(out, value);
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the register of the tangents of the numbers in an array or record; `None` if the numbers are constant.
    pub(super) fn vector(&mut self, reg: Reg) -> Option<Reg> {
        if let Some(k) = self.varied.param(reg) {
            return self.vectors.get(k).copied();
        }
        let builder = &mut self.builder;
        self.varied.is_local(reg).then(|| *self.arrays.entry(reg).or_insert_with(|| builder.register(Bank::R)))
    }

    /// Returns the register of the tangents of an array, or an empty register for an object without varied numbers.
    fn vector_or_none(&mut self, reg: Reg) -> Reg {
        if let Some(vector) = self.vector(reg) {
            return vector;
        }
        let none = self.builder.register(Bank::R);
        self.builder.step(Op::Null, &[none], &[]);
        none
    }

    /// Emits a step that writes or modifies a local array, and the same for the array of its tangents.
    fn array_step(&mut self, step: &Instruction) -> Option<()> {
        self.builder.steps.push(step.clone());
        let (out, from) = (step.outs[0], step.ins.first().copied());
        let vector = self.vector(out)?;
        match &step.op {
            Op::NewArray(stride) => {
                self.builder.step(Op::NewArray(Stride { i: 0, ..*stride }), &[vector], &[]);
            }
            Op::Append(stride) => {
                let mut ins = vec![vector];
                for component in &step.ins[1..] {
                    match self.f.registers[component.0 as usize].bank {
                        Bank::F => ins.push(self.tangent_or_zero(*component)),
                        Bank::I => {}
                        Bank::R => ins.push(self.vector_or_none(*component)),
                    }
                }
                self.builder.step(Op::Append(Stride { i: 0, ..*stride }), &[vector], &ins);
            }
            Op::LoadElement { .. } => {
                let array = self.vector(from?)?;
                self.builder.step(step.op.clone(), &[vector], &[array, step.ins[1]]);
            }
            Op::TakeElement { .. } => {
                let array = self.vector(from?)?;
                self.builder.step(step.op.clone(), &[vector, array], &[array, step.ins[1]]);
            }
            Op::StoreElement { bank: Bank::R, .. } => {
                let element = self.vector_or_none(step.ins[2]);
                self.builder.step(step.op.clone(), &[vector], &[vector, step.ins[1], element]);
            }
            Op::StoreElement { bank: Bank::F, .. } => {
                let tangent = self.tangent_or_zero(step.ins[2]);
                self.builder.step(step.op.clone(), &[vector], &[vector, step.ins[1], tangent]);
            }
            Op::StoreElement { .. } => {}
            Op::Null => self.builder.step(Op::Null, &[vector], &[]),
            Op::Copy | Op::Take => {
                let from = from?;
                let op = if self.varied.is_local(from) { step.op.clone() } else { Op::Copy };
                let tangents = self.vector(from)?;
                self.builder.step(op, &[vector], &[tangents]);
            }
            Op::Constants(constants) if constants.len() <= MAX_ZEROS => {
                let stride = Stride::NUMBERS;
                self.builder.step(Op::NewArray(stride), &[vector], &[]);
                let zero = self.builder.emit(Op::ConstF(0.0), &[]);
                (0..constants.len()).for_each(|_| self.builder.step(Op::Append(stride), &[vector], &[vector, zero]));
            }
            // The tangents of another array of constants would have to be as many zeros.
            _ => return None,
        }
        Some(())
    }
}
