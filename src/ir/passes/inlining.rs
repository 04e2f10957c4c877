//! Inlining: replaces calls of small functions of the standard library, and of other functions that only move values,
//! by their bodies, so that `+=` or `count` have no overhead.
//!
//! Only straight-line functions without captures or registered derivatives are inlined. The inlined steps get the
//! source location of the call, at which failures are reported.

use crate::ir::analysis::effects::{Effects, Memory, MemoryAccess, Transfer, effects, tied, transfer};
use crate::ir::analysis::flow_graph::{Counts, count};
use crate::ir::{Function, FunctionId, Instruction, Op, Program, Reg, Register, Terminator};
use crate::source::Span;
use crate::value::Bank;
use hashbrown::HashMap;

/// The maximum number of steps of a function that is inlined.
const MAX_INLINED_STEPS: usize = 12;

/// Inlines calls of small functions; returns whether there were any such calls.
pub fn inline(program: &Program, id: FunctionId, function: &mut Function) -> bool {
    let counts = count(function);
    let mut any = false;
    for b in 0..function.blocks.len() {
        crate::cancel::check();
        let calls = function.blocks[b].instructions.iter().any(|i| callee(program, id, i).is_some());
        if !calls {
            continue;
        }
        any = true;
        let steps = std::mem::take(&mut function.blocks[b].instructions);
        let mut result = Vec::with_capacity(steps.len() + MAX_INLINED_STEPS);
        for step in steps {
            match callee(program, id, &step) {
                Some(callee) => {
                    let mut site = InlineSite { registers: &mut function.registers, counts: &counts, out: &mut result };
                    site.expand(callee, &step);
                }
                None => result.push(step),
            }
        }
        function.blocks[b].instructions = result;
    }
    any
}

/// Returns the callee of a step if it can be inlined.
fn callee<'p>(program: &'p Program, caller: FunctionId, step: &Instruction) -> Option<&'p Function> {
    let Op::Call(id) = step.op else { return None };
    let f = program.function(id).filter(|_| id != caller)?;
    let [block] = &f.blocks[..] else { return None };
    let straight = matches!(block.end, Some(Terminator::Return(_))) && block.instructions.len() <= MAX_INLINED_STEPS;
    // Calls of a user's function remain, since backtraces and messages refer to them, unless the function cannot fail,
    // such as a default argument or an initializer that only stores its arguments.
    let silent = f.is_prelude || block.instructions.iter().all(|step| is_silent(&step.op));
    let simple = silent && !f.is_opaque && f.rules.is_empty() && f.captures.is_empty();
    (straight && simple).then_some(f)
}

/// Whether a step can neither fail nor appear in a message: it only moves values between registers and boxes.
fn is_silent(op: &Op) -> bool {
    let Effects { memory, access, may_fail } = effects(op);
    let moves_only = match memory {
        Memory::None => access != MemoryAccess::Pin && !matches!(transfer(op), Transfer::Primitive(_)),
        Memory::Text => access == MemoryAccess::Read,
        Memory::Box => matches!(access, MemoryAccess::Read | MemoryAccess::Write),
        _ => false,
    };
    moves_only && !may_fail
}

/// A call that is being replaced by the body of the callee.
struct InlineSite<'c> {
    registers: &'c mut Vec<Register>,
    counts: &'c Counts,
    out: &'c mut Vec<Instruction>,
}

impl InlineSite<'_> {
    fn expand(&mut self, callee: &Function, call: &Instruction) {
        // The map from registers of the callee to registers of the caller. Arguments represent parameters until the
        // parameters are written; every write gets a new register.
        let mut here: HashMap<Reg, Reg> = callee.params.iter().copied().zip(call.ins.iter().copied()).collect();
        let mut own: Vec<Reg> = vec![];
        for step in &callee.blocks[0].instructions {
            let fixed = tied(&step.op);
            let mut step = step.clone();
            if fixed.is_some() || step.op == Op::Take {
                // A register that the body modifies or empties must not be a register of the caller.
                let input = fixed.map_or(0, |(_, input)| input);
                let reg = here[&step.ins[input]];
                if !own.contains(&reg) {
                    let moved = self.take(callee, step.ins[input], reg, call.span);
                    own.push(moved);
                    here.insert(step.ins[input], moved);
                }
            }
            let ins: Vec<Reg> = step.ins.iter().map(|r| here[r]).collect();
            for (i, out) in step.outs.iter_mut().enumerate() {
                let stays = fixed.is_some_and(|(o, _)| o == i);
                let emptied = step.op == Op::Null && here.get(out).is_some_and(|r| own.contains(r));
                if !stays && !emptied {
                    let new = self.register(callee.registers[out.0 as usize].bank);
                    own.push(new);
                    here.insert(*out, new);
                }
                *out = here[out];
            }
            step.ins = ins;
            step.span = call.span;
            self.out.push(step);
        }
        let Some(Terminator::Return(results)) = &callee.blocks[0].end else { return };
        let mut values: Vec<Reg> = results.iter().map(|r| here[r]).collect();
        // All results of the body are read before the first result is written.
        for (i, value) in values.iter_mut().enumerate().skip(1) {
            if call.outs[..i].contains(value) {
                let copied = self.register(self.registers[value.0 as usize].bank);
                self.step(Op::Copy, copied, *value, call.span);
                *value = copied;
                own.push(copied);
            }
        }
        for (i, (out, value)) in call.outs.iter().zip(&values).enumerate() {
            let once = !values[i + 1..].contains(value) && own.contains(value);
            let reference = self.registers[value.0 as usize].bank == Bank::R;
            self.step(if once && reference { Op::Take } else { Op::Copy }, *out, *value, call.span);
        }
    }

    fn register(&mut self, bank: Bank) -> Reg {
        self.registers.push(Register { bank, name: None });
        Reg(self.registers.len() as u32 - 1)
    }

    fn step(&mut self, op: Op, out: Reg, from: Reg, span: Span) {
        self.out.push(Instruction { op, outs: vec![out], ins: vec![from], span, active: false });
    }

    /// Transfers an argument to a new register; the argument is moved if only this call reads it.
    fn take(&mut self, callee: &Function, param: Reg, arg: Reg, span: Span) -> Reg {
        let bank = callee.registers[param.0 as usize].bank;
        let new = self.register(bank);
        // The argument must also be written in this block: otherwise a loop around the call may read it again.
        let once = |all: &[u32]| all.get(arg.0 as usize).is_none_or(|n| *n == 1);
        let is_new = self.out.iter().any(|step| step.outs.contains(&arg));
        let movable = bank == Bank::R && is_new && once(&self.counts.reads) && once(&self.counts.writes);
        let op = if movable { Op::Take } else { Op::Copy };
        self.step(op, new, arg, span);
        new
    }
}
