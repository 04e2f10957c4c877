//! Jacobian code: adjoint code of a function that returns an array of a few numbers. Its reverse pass propagates the adjoints for
//! all rows of the Jacobian at once: each step that depends on the adjoints of the results is repeated for each row.

use super::adjoint_code::adjoint_with_seeds;
use super::{GraphBuilder, arithmetic, is_differentiated};
use crate::ir::passes::neutral_operands;
use crate::ir::{Block, Fallback, Function, Instruction, Op, Reg, Stride, Terminator, TransformedOp};
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};

/// The maximum number of rows. Each row repeats most of the reverse pass.
const MAX_ROWS: usize = 8;

/// Derives the Jacobian code of a function of numbers and arrays of numbers that returns an array of a few numbers. Its parameters
/// are those of the function, then for each row an array of zeros, one for each number of the arguments in their order. Its results
/// are the values, for each row the adjoints of the arguments that are numbers, and the rows with the adjoints of the numbers in
/// arrays.
///
/// # Errors
/// The reason why the function cannot be transformed.
pub fn jacobian(f: &Function) -> Result<Function, Fallback> {
    let f = with_numbers(f).ok_or(Fallback::NotNumbers)?;
    let is_supported =
        |(k, param): (usize, &Reg)| f.registers[param.0 as usize].bank != Bank::I && is_differentiated(&f, k);
    if !f.params.iter().enumerate().all(is_supported) {
        return Err(Fallback::NotNumbers);
    }
    let (code, seeds) = adjoint_with_seeds(&f)?;
    let objects = code.params[f.params.len()..].to_vec();
    let dependent = dependent_registers(&code, seeds.iter().chain(&objects));
    let mut builder = GraphBuilder::new(&code);
    let mut lanes = HashMap::new();
    let mut sorted: Vec<Reg> = dependent.into_iter().collect();
    sorted.sort_unstable();
    for reg in sorted {
        let bank = builder.registers[reg.0 as usize].bank;
        lanes.insert(reg, seeds.iter().map(|_| builder.register(bank)).collect());
    }
    let rows: Vec<Reg> = seeds.iter().map(|_| builder.register(Bank::R)).collect();
    lanes.extend(objects.iter().map(|object| (*object, rows.clone())));
    let mut replicator = Replicator { lanes, firsts: HashMap::new(), rows, builder };
    replicator.begin(&f.params, &objects, &seeds);
    let mut blocks = vec![];
    for block in &code.blocks {
        crate::cancel::check();
        blocks.push(replicator.block(block, &objects).ok_or(Fallback::Step)?);
    }
    let Replicator { builder, rows, .. } = replicator;
    let numbers = code.results.len() - rows.len() - objects.len();
    let results = [vec![Bank::F; rows.len() * (1 + numbers)], vec![Bank::R; rows.len()]].concat();
    let mut made = Function {
        params: [&f.params[..], &rows].concat(),
        result_len: results.len(),
        results,
        registers: builder.registers,
        blocks,
        ..code
    };
    neutral_operands::remove(&mut made);
    Ok(made)
}

/// Returns a function that returns the numbers of the result of the given function; `None` unless the result consists of a few
/// numbers and arrays, which every path creates with the same numbers of elements.
fn with_numbers(f: &Function) -> Option<Function> {
    if f.result_len != f.results.len() || f.results.contains(&Bank::I) {
        return None;
    }
    let mut counts: Option<Vec<usize>> = None;
    let mut builder = GraphBuilder::new(f);
    let mut returned = vec![];
    let mut made = f.clone();
    for block in &mut made.blocks {
        let Some(Terminator::Return(values)) = &mut block.end else { continue };
        let mut own = vec![];
        for (value, bank) in std::mem::take(values).into_iter().zip(&f.results) {
            if *bank == Bank::F {
                values.push(value);
            } else {
                values.extend(take_elements(&mut block.instructions, value, &mut builder)?);
            }
            own.push(values.len());
        }
        if *counts.get_or_insert_with(|| own.clone()) != own {
            return None;
        }
        returned = vec![Bank::F; values.len()];
    }
    if !(1..=MAX_ROWS).contains(&returned.len()) {
        return None;
    }
    made.registers = builder.registers;
    (made.result_len, made.results) = (returned.len(), returned);
    made.result_tangents.clear();
    Some(made)
}

/// Replaces the construction of an array at the end of a block by copies of its elements, and returns their registers.
fn take_elements(steps: &mut Vec<Instruction>, array: Reg, builder: &mut GraphBuilder) -> Option<Vec<Reg>> {
    let created = steps.iter().rposition(|step| step.op == Op::NewArray(Stride::NUMBERS) && step.outs == [array])?;
    let mut elements = vec![];
    for step in &mut steps[created + 1..] {
        if step.op == Op::Append(Stride::NUMBERS) && step.ins[0] == array {
            let element = builder.number();
            (step.op, step.outs, step.ins) = (Op::Copy, vec![element], vec![step.ins[1]]);
            elements.push(element);
        } else if step.ins.contains(&array) || step.outs.contains(&array) {
            return None;
        }
    }
    steps.remove(created);
    Some(elements)
}

/// Returns the registers whose values depend on the given registers, and those that share a step with them.
fn dependent_registers<'r>(code: &Function, from: impl Iterator<Item = &'r Reg>) -> HashSet<Reg> {
    let mut dependent: HashSet<Reg> = from.copied().collect();
    loop {
        let before = dependent.len();
        for step in code.blocks.iter().flat_map(|block| &block.instructions) {
            if step.ins.iter().chain(&step.outs).any(|reg| dependent.contains(reg)) {
                dependent.extend(&step.outs);
            }
        }
        if dependent.len() == before {
            return dependent;
        }
    }
}

/// Repeats the steps of adjoint code for each row.
struct Replicator {
    /// The registers that stand for a register in each row.
    lanes: HashMap<Reg, Vec<Reg>>,
    /// The index in the rows of the first number of each array among the arguments, by the object of its adjoints.
    firsts: HashMap<Reg, Reg>,
    /// The arrays of the rows.
    rows: Vec<Reg>,
    builder: GraphBuilder,
}

impl Replicator {
    /// Emits the adjoints of the results, and the indices in the rows.
    fn begin(&mut self, params: &[Reg], objects: &[Reg], seeds: &[Reg]) {
        for (k, seed) in seeds.iter().enumerate() {
            for row in 0..self.rows.len() {
                let seed = self.lanes[seed][row];
                self.builder.step(Op::ConstF(f64::from(u8::from(row == k))), &[seed], &[]);
            }
        }
        let mut objects = objects.iter();
        let mut numbers = 0;
        let mut elements: Option<Reg> = None;
        for param in params {
            if self.builder.registers[param.0 as usize].bank == Bank::F {
                numbers += 1;
                continue;
            }
            let first = self.builder.register(Bank::I);
            self.builder.step(Op::ConstI(numbers), &[first], &[]);
            if let Some(elements) = elements {
                self.builder.step(arithmetic("int.add"), &[first], &[first, elements]);
            }
            self.firsts.extend(objects.next().map(|object| (*object, first)));
            let (count, sum) = (self.builder.register(Bank::I), self.builder.register(Bank::I));
            self.builder.step(Op::Count, &[count], &[*param]);
            match elements {
                Some(elements) => self.builder.step(arithmetic("int.add"), &[sum], &[elements, count]),
                None => self.builder.step(Op::Copy, &[sum], &[count]),
            }
            elements = Some(sum);
        }
    }

    /// Returns a block whose steps are repeated for each row; `None` if a step cannot be repeated.
    fn block(&mut self, block: &Block, objects: &[Reg]) -> Option<Block> {
        for step in &block.instructions {
            self.builder.span = step.span;
            self.step(step)?;
        }
        let end = match &block.end {
            Some(Terminator::Return(results)) => Some(Terminator::Return(self.results(results, objects))),
            Some(Terminator::Branch { condition, .. }) if self.lanes.contains_key(condition) => return None,
            end => end.clone(),
        };
        let instructions = std::mem::take(&mut self.builder.steps);
        Some(Block { instructions, end, end_span: block.end_span })
    }

    fn step(&mut self, step: &Instruction) -> Option<()> {
        let is_dependent = |reg: &Reg| self.lanes.contains_key(reg);
        if !step.ins.iter().chain(&step.outs).any(is_dependent) {
            self.builder.steps.push(step.clone());
            return Some(());
        }
        let mut step = step.clone();
        match &step.op {
            Op::Transformed(TransformedOp::Push(_) | TransformedOp::Pop(_)) => return None,
            Op::Transformed(TransformedOp::AddElement { offset: 0, stride: Stride::NUMBERS })
                if let Some(first) = self.firsts.get(&step.ins[0]) =>
            {
                let index = self.builder.register(Bank::I);
                self.builder.step(arithmetic("int.add"), &[index], &[step.ins[1], *first]);
                step.ins[1] = index;
            }
            _ if step.ins.iter().chain(&step.outs).any(|reg| self.firsts.contains_key(reg)) => return None,
            _ => {}
        }
        for row in 0..self.rows.len() {
            let here = |reg: &Reg| self.lanes.get(reg).map_or(*reg, |rows| rows[row]);
            let (outs, ins) = (step.outs.iter().map(here).collect(), step.ins.iter().map(here).collect());
            self.builder.steps.push(Instruction { outs, ins, ..step.clone() });
        }
        Some(())
    }

    /// Returns the results of the code, given those of the adjoint code.
    fn results(&self, results: &[Reg], objects: &[Reg]) -> Vec<Reg> {
        let (values, adjoints) = results.split_at(self.rows.len());
        let numbers = &adjoints[..adjoints.len() - objects.len()];
        let here = |reg: &Reg, row: usize| self.lanes.get(reg).map_or(*reg, |rows| rows[row]);
        let adjoints = (0..self.rows.len()).flat_map(|row| numbers.iter().map(move |reg| here(reg, row)));
        values.iter().copied().chain(adjoints).chain(self.rows.iter().copied()).collect()
    }
}
