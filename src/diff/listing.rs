//! Listings: print the results of the analyses for `show --stage activity` and `show --stage derivative`.
//!
//! In: a function. Out: its listing, one line per step; for activity, each line starts with the properties of the step.
//!
//! Not here: the notation of a step (`ir/listing`).

use super::derivative::derivative;
use crate::diff::active_registers::ActiveRegisters;
use crate::ir::listing;
use crate::ir::{Function, Instruction, Program, Reg};
use crate::source::SourceMap;
use crate::value::Bank;
use std::fmt::Write;

/// Lists which steps of a function may vary with its arguments (`v`), which are useful for its results (`u`), and which
/// are both, so that derivative code moves slots there.
pub fn activity(program: &Program, f: &Function) -> String {
    let active = ActiveRegisters::of(program, f);
    // Writing to a String cannot fail.
    let mut text = format!("activity of {}\n", f.name);
    for (b, block) in f.blocks.iter().enumerate() {
        let _ = writeln!(text, "b{b}:");
        for step in &block.instructions {
            let shown = listing::instruction(program, f, step);
            let _ = writeln!(text, "  {:2}  {shown}", mark(program, f, &active, step));
        }
        let end = block.end.as_ref().map(listing::terminator).unwrap_or_default();
        let _ = writeln!(text, "      {end}");
    }
    text
}

/// Lists the derivative code of a function, where `d` marks the steps that move or combine slots.
pub fn derivative_code(program: &Program, f: &Function, sources: Option<&SourceMap>) -> String {
    listing::function(program, &derivative(program, f), sources)
}

fn mark(program: &Program, f: &Function, active: &ActiveRegisters, step: &Instruction) -> &'static str {
    let any = |is: &dyn Fn(Reg) -> bool| step.outs.iter().any(|r| is(*r));
    // A store is varied and useful where it moves slots, although it writes no register.
    let stores = step.outs.iter().all(|r| f.registers[r.0 as usize].bank != Bank::F);
    let is_active = stores && active.is_active_step(program, f, step);
    match (any(&|r| active.is_varied(r)), any(&|r| active.is_useful(r))) {
        _ if is_active => "vu",
        (true, true) => "vu",
        (true, false) => "v",
        (false, true) => " u",
        (false, false) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::test_graphs::{Builder, program};
    use crate::value::Bank::F;

    #[test]
    fn the_marks_precede_the_steps() {
        let mut b = Builder::new("f(_:)");
        let x = b.param("x", F);
        let two = b.constant(2.0);
        let y = b.primitive("double.mul", &[two, x]);
        b.primitive("double.sin", &[y]);
        b.ret(&[y]);
        let (program, id) = program(b);
        let f = program.function(id).unwrap();
        let text = activity(&program, f);
        let marks: Vec<_> = text.lines().skip(2).map(|line| line.get(2..4).unwrap_or("").trim_end()).collect();
        assert_eq!(marks, [" u", "vu", "v", ""], "{text}");
        assert!(derivative_code(&program, f, None).contains("  %2 = d double.mul %1, %0\n"));
    }
}
