//! Symbolic frame: the registers of a function that is followed, and the steps that only move and combine values.

use super::symbolic_value::{SymbolicObject, SymbolicValue};
use crate::ir::{Function, Instruction, Op, Operator, Reg, Stride};
use crate::native::{PrimitiveId, Value};
use crate::value::{Bank, Ref};
use std::rc::Rc;

/// The longest array that is followed.
const MAX_ELEMENTS: usize = 4096;

/// The registers of a function that is followed.
#[derive(Clone)]
pub(super) struct SymbolicFrame<'p> {
    /// The function.
    pub(super) function: &'p Function,
    registers: Vec<SymbolicValue>,
    captures: Rc<SymbolicObject>,
}

/// The arguments of a native function, bank by bank.
pub(super) struct KnownRegisters {
    pub(super) f: Vec<f64>,
    pub(super) i: Vec<i64>,
    pub(super) r: Vec<Ref>,
}

impl<'p> SymbolicFrame<'p> {
    /// Creates a frame in which nothing is known.
    pub(super) fn new(function: &'p Function) -> SymbolicFrame<'p> {
        SymbolicFrame::with_captures(function, Rc::default())
    }

    /// Creates the frame of a closure with the values that it captured.
    pub(super) fn with_captures(function: &'p Function, captures: Rc<SymbolicObject>) -> SymbolicFrame<'p> {
        SymbolicFrame { function, registers: vec![SymbolicValue::Unknown; function.registers.len()], captures }
    }

    pub(super) fn get(&self, reg: Reg) -> SymbolicValue {
        self.registers.get(reg.0 as usize).cloned().unwrap_or_default()
    }

    pub(super) fn set(&mut self, reg: Reg, value: SymbolicValue) {
        if let Some(register) = self.registers.get_mut(reg.0 as usize) {
            *register = value;
        }
    }

    /// Returns the bank of a register.
    pub(super) fn bank(&self, reg: Reg) -> Bank {
        self.function.registers.get(reg.0 as usize).map_or(Bank::R, |register| register.bank)
    }

    /// Sets the results of a step; `None` if they are not known.
    pub(super) fn set_results(&mut self, step: &Instruction, results: Option<Vec<SymbolicValue>>) {
        let mut results = results.unwrap_or_default().into_iter();
        for reg in &step.outs {
            self.set(*reg, results.next().unwrap_or_default());
        }
    }

    /// Returns the operands of a step with room for its results; `None` if an operand is not known.
    pub(super) fn arguments(&self, step: &Instruction) -> Option<KnownRegisters> {
        let mut known = KnownRegisters { f: vec![], i: vec![], r: vec![] };
        for reg in &step.ins {
            let value = self.get(*reg);
            match self.bank(*reg) {
                Bank::F => known.f.push(value.number()?),
                Bank::I => known.i.push(value.integer()?),
                Bank::R => known.r.push(value.reference()?),
            }
        }
        let results = |bank: Bank| step.outs.iter().filter(|reg| self.bank(**reg) == bank).count();
        known.f.resize(known.f.len().max(results(Bank::F)), 0.0);
        known.i.resize(known.i.len().max(results(Bank::I)), 0);
        known.r.resize(known.r.len().max(results(Bank::R)), Ref::Null);
        Some(known)
    }

    /// Returns the references among the operands of a step, with room for its results; `None` if one is not known.
    pub(super) fn references(&self, step: &Instruction) -> Option<KnownRegisters> {
        let references = step.ins.iter().filter(|reg| self.bank(**reg) == Bank::R);
        let r = references.map(|reg| self.get(*reg).reference()).collect::<Option<Vec<Ref>>>()?;
        let numbers = step.outs.iter().filter(|reg| self.bank(**reg) == Bank::F).count();
        Some(KnownRegisters { f: vec![0.0; numbers], i: vec![], r })
    }

    /// Forgets the registers that blocks write.
    pub(super) fn forget_results(&mut self, blocks: &[usize]) {
        let function = self.function;
        let steps = blocks.iter().flat_map(|block| &function.blocks[*block].instructions);
        for reg in steps.flat_map(|step| &step.outs) {
            self.set(*reg, SymbolicValue::Unknown);
        }
    }

    /// Executes a step that has no effect outside of the frame; the results of any other step are not known.
    pub(super) fn execute(&mut self, step: &Instruction) {
        let results = match &step.op {
            Op::Operator(Operator::WithoutDerivative { .. }) => step.ins.iter().map(|reg| self.get(*reg)).collect(),
            _ => vec![self.result(step).unwrap_or_default()],
        };
        self.set_results(step, Some(results));
    }

    fn result(&self, step: &Instruction) -> Option<SymbolicValue> {
        let operand = |k: usize| step.ins.get(k).map(|reg| self.get(*reg)).unwrap_or_default();
        let object = |k: usize| match operand(k) {
            SymbolicValue::Object(object) => Some(object),
            _ => None,
        };
        Some(match &step.op {
            Op::ConstF(number) => SymbolicValue::Number(*number),
            Op::ConstI(integer) => SymbolicValue::Integer(*integer),
            Op::Null => SymbolicValue::Reference(Ref::Null),
            Op::Constants(constants) if constants.len() <= MAX_ELEMENTS => {
                SymbolicValue::Object(Rc::new(SymbolicObject::of(&constants.cells())))
            }
            Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => operand(0),
            Op::Primitive(id) => self.primitive(*id, &step.ins)?,
            Op::Closure(id) => SymbolicValue::Closure(*id, Rc::new(self.record(&step.ins))),
            Op::Capture { bank, index } => self.captures.component(*bank, usize::from(*index)),
            Op::NewArray(_) => SymbolicValue::Object(Rc::default()),
            Op::NewRecord => SymbolicValue::Object(Rc::new(self.record(&step.ins))),
            Op::LoadRecord { bank, index } => object(0)?.component(*bank, usize::from(*index)),
            Op::StoreRecord { bank, index } => {
                let mut record = Rc::unwrap_or_clone(object(0)?);
                record.set(*bank, usize::from(*index), operand(1));
                SymbolicValue::Object(Rc::new(record))
            }
            Op::Append(_) => {
                let mut array = Rc::unwrap_or_clone(object(0).filter(|array| array.len < MAX_ELEMENTS)?);
                array.append(step.ins.iter().skip(1).map(|reg| (self.bank(*reg), self.get(*reg))));
                SymbolicValue::Object(Rc::new(array))
            }
            Op::Count => SymbolicValue::Integer(object(0)?.len as i64),
            Op::LoadElement { bank, offset, stride } => {
                let (array, index) = (object(0)?, usize::try_from(operand(1).integer()?).ok()?);
                (index < array.len).then(|| array.component(*bank, position(*bank, *stride, index, *offset)))?
            }
            Op::StoreElement { bank, offset, stride } => {
                let (array, index) = (object(0)?, usize::try_from(operand(1).integer()?).ok()?);
                let mut array = Rc::unwrap_or_clone(array);
                array.set(*bank, position(*bank, *stride, index, *offset), operand(2));
                SymbolicValue::Object(Rc::new(array))
            }
            _ => return None,
        })
    }

    fn record(&self, components: &[Reg]) -> SymbolicObject {
        let mut record = SymbolicObject::default();
        record.append(components.iter().map(|reg| (self.bank(*reg), self.get(*reg))));
        record
    }

    fn primitive(&self, id: PrimitiveId, operands: &[Reg]) -> Option<SymbolicValue> {
        let info = id.info();
        let values = || operands.iter().map(|reg| self.get(*reg));
        let numbers: Option<Vec<f64>> = values()
            .zip(info.operands)
            .filter(|(_, bank)| **bank == Bank::F)
            .map(|(value, _)| value.number())
            .collect();
        let integers: Option<Vec<i64>> = values()
            .zip(info.operands)
            .filter(|(_, bank)| **bank == Bank::I)
            .map(|(value, _)| value.integer())
            .collect();
        let (numbers, integers) = (numbers?, integers?);
        match (info.value, numbers.as_slice()) {
            (Value::Test1(test), [a]) => Some(SymbolicValue::Integer(i64::from(test(*a)))),
            (Value::Test2(test), [a, b]) => Some(SymbolicValue::Integer(i64::from(test(*a, *b)))),
            (Value::FtoI(convert), [a]) => convert(*a).ok().map(SymbolicValue::Integer),
            _ if info.result == Bank::I => info.integer(&integers).map(SymbolicValue::Integer),
            _ => info.number(&numbers, integers.first().copied().unwrap_or(0)).map(SymbolicValue::Number),
        }
    }
}

/// Returns the index of a component of an element in its bank.
fn position(bank: Bank, stride: Stride, index: usize, offset: u16) -> usize {
    let stride = match bank {
        Bank::F => stride.f,
        Bank::I => stride.i,
        Bank::R => stride.r,
    };
    index.saturating_mul(usize::from(stride)).saturating_add(usize::from(offset))
}
