//! Common subexpression elimination: a value is computed once in a block. `xs[i] * xs[i]` reads one element, and two
//! indices `2 * i` need one product.

use crate::ir::analysis::effects::{Effects, Memory, MemoryAccess, Transfer, effects, tied, transfer};
use crate::ir::analysis::flow_graph::count;
use crate::ir::graph::{Function, Instruction, Op, Reg};
use crate::value::Bank;

/// The maximum number of results that are remembered: in a long block without branches, a search through all results
/// would take too long.
const MAX_AVAILABLE: usize = 32;

/// An available expression: a step whose result has been computed and is still valid.
struct AvailableExpression {
    op: Op,
    ins: Vec<Reg>,
    out: Reg,
}

/// Replaces the second of two equal steps by a copy, if no operand has changed in between.
pub fn compute_once(function: &mut Function) {
    compute_once_where(function, &|_| false);
}

/// Loads each array out of an array of arrays once in a block, if nothing modifies the array of arrays; returns whether any
/// step was replaced. The references to the loaded arrays are kept for longer, so that other arrays of arrays are left out:
/// an array that is shared would be copied when it is modified.
pub(crate) fn load_once(function: &mut Function) -> bool {
    let constant = constant_arrays(function);
    let is_load = |step: &Instruction| {
        matches!(step.op, Op::LoadElement { bank: Bank::R, .. }) && constant[step.ins[0].0 as usize]
    };
    let mut elements = vec![false; function.registers.len()];
    let steps = function.blocks.iter().flat_map(|block| &block.instructions);
    steps.clone().filter(|step| is_load(step)).for_each(|step| elements[step.outs[0].0 as usize] = true);
    for step in steps.filter(|step| step.op != Op::Null && !is_load(step)) {
        step.outs.iter().for_each(|out| elements[out.0 as usize] = false);
    }
    if !elements.contains(&true) {
        return false;
    }
    let is_release = |step: &Instruction| step.op == Op::Null && elements[step.outs[0].0 as usize];
    function.blocks.iter_mut().for_each(|block| block.instructions.retain(|step| !is_release(step)));
    compute_once_where(function, &|step| is_load(step) && elements[step.outs[0].0 as usize]);
    true
}

/// Loads each global variable once in a block, in a function that changes none, and computes what depends on it once.
pub(crate) fn load_globals_once(function: &mut Function) {
    compute_once_where(function, &|step| matches!(step.op, Op::LoadGlobal { bank: Bank::F | Bank::I, .. }));
}

/// Returns for each register whether it always holds the same array, which nothing modifies.
fn constant_arrays(function: &Function) -> Vec<bool> {
    let mut constant: Vec<bool> = count(function).writes.into_iter().map(|writes| writes == 1).collect();
    let steps = function.blocks.iter().flat_map(|block| &block.instructions);
    for step in steps.filter(|step| step.op == Op::Take || tied(&step.op).is_some()) {
        constant[step.ins[0].0 as usize] = false;
    }
    constant
}

fn compute_once_where(function: &mut Function, also: &dyn Fn(&Instruction) -> bool) {
    for block in &mut function.blocks {
        crate::cancel::check();
        let mut available_expressions = AvailableExpressions::default();
        for step in &mut block.instructions {
            available_expressions.step(step, also(step));
        }
    }
}

/// The results that are available at a point of a block.
#[derive(Default)]
struct AvailableExpressions {
    available: Vec<AvailableExpression>,
    /// Registers that hold the same value as another register: the copy, and the original.
    same: Vec<(Reg, Reg)>,
    /// The registers that occur in the available expressions and in `same`: most steps write other registers and
    /// invalidate nothing.
    registers: RegisterFilter,
    /// Whether the list has results that were read from arrays, which a use of the array may invalidate.
    has_objects: bool,
}

/// A Bloom filter of registers: it excludes most registers that are not in the set.
#[derive(Default)]
struct RegisterFilter([u64; 4]);

impl RegisterFilter {
    fn add(&mut self, reg: Reg) {
        self.0[reg.0 as usize / 64 % 4] |= 1 << (reg.0 % 64);
    }

    fn may_contain(&self, reg: Reg) -> bool {
        self.0[reg.0 as usize / 64 % 4] >> (reg.0 % 64) & 1 == 1
    }
}

impl AvailableExpressions {
    fn step(&mut self, step: &mut Instruction, is_also_repeatable: bool) {
        let repeats = is_also_repeatable || is_repeatable(step);
        let may_invalidate =
            self.has_objects && !reads_only(step) || step.outs.iter().any(|out| self.registers.may_contain(*out));
        if !repeats && !may_invalidate {
            return;
        }
        let ins: Vec<Reg> = step.ins.iter().map(|r| self.original(*r)).collect();
        let computed =
            repeats.then(|| AvailableExpression { op: step.op.clone(), ins: ins.clone(), out: step.outs[0] });
        let before = computed.as_ref().and_then(|computed| {
            self.available.iter().find(|k| is_equal(&k.op, &computed.op) && k.ins == computed.ins).map(|k| k.out)
        });
        // A constant is not replaced by a copy: passes that search for constants do not look through copies.
        if let Some(before) = before
            && !is_constant(&step.op)
        {
            step.op = Op::Copy;
            step.ins = vec![before];
        }
        if may_invalidate {
            self.invalidate(step, &ins);
        }
        match (before, computed) {
            (Some(before), _) if !step.outs.contains(&before) => {
                [step.outs[0], before].into_iter().for_each(|reg| self.registers.add(reg));
                self.same.push((step.outs[0], before));
            }
            (None, Some(computed)) if !computed.ins.contains(&computed.out) => {
                computed.ins.iter().chain([&computed.out]).for_each(|reg| self.registers.add(*reg));
                self.has_objects |= reads_object(&computed.op);
                self.available.push(computed);
            }
            _ => {}
        }
        if self.available.len() > MAX_AVAILABLE {
            self.available.remove(0);
        }
        if self.same.len() > MAX_AVAILABLE {
            self.same.remove(0);
        }
    }

    /// Drops the results that are invalid after a step that reads `ins`.
    fn invalidate(&mut self, step: &Instruction, ins: &[Reg]) {
        self.available.retain(|k| !invalidates(step, ins, k));
        self.same.retain(|(copy, original)| !step.outs.contains(copy) && !step.outs.contains(original));
        self.registers = RegisterFilter::default();
        let available = self.available.iter().flat_map(|k| k.ins.iter().chain([&k.out]));
        let same = self.same.iter().flat_map(|(copy, original)| [copy, original]);
        available.chain(same).for_each(|reg| self.registers.add(*reg));
        self.has_objects = self.available.iter().any(|k| reads_object(&k.op));
    }

    fn original(&self, reg: Reg) -> Reg {
        self.same.iter().find(|(copy, _)| *copy == reg).map_or(reg, |(_, original)| *original)
    }
}

/// Whether the result of a step is determined by its operands, as long as they are not written. A step that failed is
/// not repeated.
fn is_repeatable(step: &Instruction) -> bool {
    let reads_number = matches!(step.op, Op::LoadElement { bank: Bank::F | Bank::I, .. } | Op::Count);
    is_constant(&step.op) || reads_number || matches!(transfer(&step.op), Transfer::Primitive(_))
}

fn is_constant(op: &Op) -> bool {
    matches!(op, Op::ConstF(_) | Op::ConstI(_))
}

fn is_equal(a: &Op, b: &Op) -> bool {
    match (a, b) {
        // Zeros with different signs are different numbers.
        (Op::ConstF(a), Op::ConstF(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Whether a step only reads the arrays among its operands.
fn reads_only(step: &Instruction) -> bool {
    let Effects { memory, access, .. } = effects(&step.op);
    matches!((memory, access), (Memory::None, MemoryAccess::None) | (Memory::Array, MemoryAccess::Read))
}

fn reads_object(op: &Op) -> bool {
    let Effects { memory, access, .. } = effects(op);
    (memory, access) == (Memory::Array, MemoryAccess::Read)
}

/// Whether a result is overwritten or outdated after a step that reads `ins`. A step that does not only read an array
/// may modify or move the array.
fn invalidates(step: &Instruction, ins: &[Reg], available: &AvailableExpression) -> bool {
    let uses_object =
        reads_object(&available.op) && available.ins.first().is_some_and(|r| ins.contains(r) || step.ins.contains(r));
    step.outs.iter().any(|out| *out == available.out || available.ins.contains(out))
        || (uses_object && !reads_only(step))
}
