//! `show --stage activity` and `show --stage derivative`: what the analyses found, as text.
//!
//! In: a function. Out: its listing, a line a step; in front of each what is known of it.
//!
//! Not here: how a step is written (`ir/listing`).

use super::derivative::derivative;
use super::possible::Possible;
use crate::ir::{Function, Instruction, Program, Reg, Terminator};
use crate::value::Bank;
use std::fmt::Write;

/// Which steps of a function may vary with its arguments (`v`), which are useful for its results (`u`), and which are
/// both, so that derivative code moves slots there (`vu`).
pub fn activity(program: &Program, f: &Function) -> String {
    let possible = Possible::of(program, f);
    let legend = "v: may vary with the arguments, u: useful for the results, vu: active";
    list(f, &format!("activity of {}  ({legend})", f.name), |step| {
        let any = |is: &dyn Fn(Reg) -> bool| step.outs.iter().any(|r| is(*r));
        let varied = any(&|r| possible.is_varied(r));
        let useful = any(&|r| possible.is_useful(r));
        let stores = step.outs.iter().all(|r| f.registers[r.0 as usize].bank != Bank::F);
        match (varied, useful) {
            _ if stores && possible.is_active_step(program, f, step) => "vu",
            (true, true) => "vu",
            (true, false) => "v",
            (false, true) => " u",
            (false, false) => "",
        }
    })
}

/// The derivative code of a function; `d` marks the steps that move or combine slots.
pub fn derivative_code(program: &Program, f: &Function) -> String {
    let code = derivative(program, f);
    list(&code, &format!("derivative of {}", f.name), |step| if step.active { "d" } else { "" })
}

fn list(f: &Function, title: &str, mark: impl Fn(&Instruction) -> &'static str) -> String {
    let mut text = format!("{title}\n");
    let names = |regs: &[Reg]| regs.iter().map(|r| name(f, *r)).collect::<Vec<_>>().join(", ");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "parameters {}", names(&f.params));
    for (k, block) in f.blocks.iter().enumerate() {
        let _ = writeln!(text, "block {k}:");
        for step in &block.instructions {
            let outs = if step.outs.is_empty() { String::new() } else { format!("{} = ", names(&step.outs)) };
            let _ = writeln!(text, "  {:2}  {outs}{} {}", mark(step), operation(step), names(&step.ins));
        }
        let end = match &block.end {
            Some(Terminator::Jump(to)) => format!("jump {}", to.0),
            Some(Terminator::Branch { condition, then, otherwise }) => {
                format!("branch {} then {} otherwise {}", name(f, *condition), then.0, otherwise.0)
            }
            Some(Terminator::Return(regs)) => format!("return {}", names(regs)),
            Some(Terminator::Trap(trap)) => format!("trap {trap:?}"),
            None => String::new(),
        };
        let _ = writeln!(text, "      {end}");
    }
    text
}

fn name(f: &Function, reg: Reg) -> String {
    match &f.registers[reg.0 as usize].name {
        Some(name) => format!("%{}:{name}", reg.0),
        None => format!("%{}", reg.0),
    }
}

fn operation(step: &Instruction) -> String {
    match &step.op {
        crate::ir::Op::Primitive(id) => id.info().name.into(),
        op => format!("{op:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{Builder, program};
    use crate::value::Bank::F;

    #[test]
    fn the_marks_stand_before_the_steps() {
        let mut b = Builder::new("f(_:)");
        let x = b.param("x", F);
        let two = b.constant(2.0);
        let y = b.primitive("double.mul", &[two, x]);
        b.primitive("double.sin", &[y]);
        b.ret(&[y]);
        let (program, id) = program(b);
        let f = program.function(id).unwrap();
        let text = activity(&program, f);
        let marks: Vec<_> = text.lines().skip(3).map(|line| line.get(2..4).unwrap_or("").trim_end()).collect();
        assert_eq!(marks, [" u", "vu", "v", ""], "{text}");
        assert!(derivative_code(&program, f).contains("  d   %2 = double.mul %1, %0\n"));
    }
}
