//! Empty registers: the instructions that write a reference to a register which is known to be empty, so that nothing must be
//! dropped.

use super::flow::Flow;
use crate::bytecode::operand::{Access, Role};
use crate::bytecode::{Code, Instruction};
use crate::native::library;
use crate::value::Bank;

/// Returns for each instruction whether it writes a reference to a register that is empty before.
pub fn writes_to_empty(code: &Code, flow: &Flow) -> Vec<bool> {
    let mut is_target = vec![false; code.instructions.len()];
    for target in flow.targets.iter().flatten() {
        if let Some(found) = is_target.get_mut(*target) {
            *found = true;
        }
    }
    let mut empty: Vec<u16> = vec![];
    let mut found = vec![];
    for (at, instruction) in code.instructions.iter().enumerate() {
        if is_target[at] {
            empty.clear();
        }
        found.push(written(instruction).is_some_and(|register| empty.contains(&register)));
        empty.retain(|register| !flow.references_written[at].contains(register));
        empty.extend(emptied(code, instruction));
    }
    found
}

/// Returns the register to which an instruction writes a reference without reading what was there.
fn written(instruction: &Instruction) -> Option<u16> {
    let mut found = None;
    instruction.visit(&mut |field| {
        if field.role == Role::Register(Bank::R, Access::Out) {
            found = u16::try_from(field.number).ok();
        }
    });
    found
}

/// Returns the registers of references that are empty after an instruction.
fn emptied(code: &Code, instruction: &Instruction) -> Vec<u16> {
    match *instruction {
        Instruction::Take { out, a } if out.0 != a.0 => vec![a.0],
        Instruction::Native { site } => {
            let site = &code.natives[usize::from(site)];
            // A function that needs no context clears its arguments, also where its fast path does not apply.
            let clears = library::direct(site.native).is_some();
            let arguments = site.signature.results[2]..site.signature.params[2];
            arguments.filter(|_| clears).map(|register| code.registers[2] + register).collect()
        }
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::operand::{IIn, RIn, ROut, RTake, To};

    #[test]
    fn a_register_is_empty_after_a_move_until_it_is_written_or_a_jump_leads_there() {
        let take = |out, a| Instruction::Take { out: ROut(out), a: RTake(a) };
        let share = |out, a| Instruction::Share { out: ROut(out), a: RIn(a) };
        let instructions = vec![
            take(0, 1),
            take(1, 0),
            share(0, 1),
            share(0, 1),
            take(2, 0),
            Instruction::Unless { a: IIn(0), to: To(1) },
            take(0, 1),
            share(1, 2),
        ];
        let code = Code { instructions, registers: [0, 1, 3], ..Code::default() };
        let flow = Flow::of(&code, [0, 1], &|_| None);
        assert_eq!(writes_to_empty(&code, &flow), [false, true, true, false, false, false, true, false]);
    }
}
