//! Terminators: emission of the returns, traps, branches and jumps that end blocks.

use super::graph::{Compare, End, Reg, Test};
use super::register_assignment::{Place, window_places};
use super::selection::Selector;
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::ir::Trap;
use crate::value::Bank;

impl Selector<'_> {
    /// Writes the terminator of a block; `next` is the block that is written after this block.
    pub fn end(&mut self, end: &End, next: Option<usize>) {
        match end {
            End::Jump(to) => {
                if Some(*to) != next {
                    self.writer.jump(*to);
                }
            }
            End::Branch { test, ins, then, otherwise } => self.branch(*test, ins, *then, *otherwise, next),
            End::Return(results) => self.return_values(results),
            End::Trap { trap, message } => self.trap(trap, *message),
        }
    }

    fn branch(&mut self, test: Test, ins: &[Reg], then: usize, otherwise: usize, next: Option<usize>) {
        let operands: Vec<u16> = ins.iter().map(|r| self.writer.number(*r)).collect();
        if then == otherwise {
            if Some(then) != next {
                self.writer.jump(then);
            }
        } else if Some(then) == next {
            self.test(test, &operands, false, otherwise);
        } else {
            self.test(test, &operands, true, then);
            if Some(otherwise) != next {
                self.writer.jump(otherwise);
            }
        }
    }

    /// Writes a conditional jump to a block, which is taken if the condition evaluates to `wanted`.
    fn test(&mut self, test: Test, operands: &[u16], wanted: bool, to: usize) {
        let instruction = match test {
            Test::True if wanted => Instruction::If { a: IIn(operands[0]), to: To(0) },
            Test::True => Instruction::Unless { a: IIn(operands[0]), to: To(0) },
            Test::Ints(compare) => {
                let compare = if wanted { compare } else { compare.negated() };
                compare_ints(compare, operands[0], operands[1])
            }
            Test::IntWith(compare, k) => {
                let compare = if wanted { compare } else { compare.negated() };
                compare_with(compare, operands[0], k)
            }
            Test::Numbers(compare) => compare_numbers(compare, wanted, operands[0], operands[1]),
        };
        let joined =
            if self.writer.is_backward(to) && !self.writer.long_jumps { self.counting_loop(instruction) } else { None };
        self.writer.branch(joined.unwrap_or(instruction), to);
    }

    /// Combines `i = i + 1` and the branch that is taken while `i < n` into one instruction.
    fn counting_loop(&mut self, branch: Instruction) -> Option<Instruction> {
        let (a, joined) = match branch {
            Instruction::IfLtI { a, b, .. } if a != b => (a, Instruction::LoopLtI { i: IChange(a.0), n: b, to: To(0) }),
            Instruction::IfLtIK { a, k, .. } => (a, Instruction::LoopLtIK { i: IChange(a.0), k, to: To(0) }),
            _ => return None,
        };
        if *self.writer.last()? != (Instruction::AddIK { out: IOut(a.0), a, k: Small(1) }) {
            return None;
        }
        self.writer.code.instructions.pop();
        self.writer.code.spans.pop();
        Some(joined)
    }

    fn return_values(&mut self, results: &[Reg]) {
        let banks = &self.context.graph.banks;
        if let [result] = results {
            let a = self.writer.number(*result);
            self.writer.push(match banks[*result] {
                Bank::F if self.context.is_derivative => Instruction::DReturnF { a: FIn(a) },
                Bank::F => Instruction::ReturnF { a: FIn(a) },
                Bank::I => Instruction::ReturnI { a: IIn(a) },
                Bank::R => Instruction::ReturnR { a: RTake(a) },
            });
            return;
        }
        let targets = window_places(banks, results);
        for bank in [Bank::F, Bank::I, Bank::R] {
            let moves: Vec<(Place, Place)> = (results.iter().zip(&targets))
                .filter(|(reg, _)| banks[**reg] == bank)
                .map(|(reg, target)| (Place::Own(*target), self.writer.place(*reg)))
                .collect();
            self.return_bank(bank, &moves);
        }
        self.writer.push(Instruction::Return {});
    }

    /// Moves the results of one bank to their registers. The slots are moved too, whatever else the registers were used
    /// for.
    fn return_bank(&mut self, bank: Bank, moves: &[(Place, Place)]) {
        let scratch = self.writer.scratch(bank);
        for m in super::parallel_moves::in_sequence(moves, scratch) {
            if bank == Bank::F && self.context.is_derivative {
                let (out, a) = (self.writer.at(bank, m.to), self.writer.at(bank, m.from));
                self.writer.push(Instruction::DMoveF { out: FOut(out), a: FIn(a) });
            } else {
                self.transfer(bank, m.to, m.from, m.last);
            }
        }
    }

    fn trap(&mut self, trap: &Trap, message: Option<Reg>) {
        let instruction = match trap {
            // The message of the trap `Unsupported` is never shown.
            Trap::UnexpectedNil | Trap::Unsupported => Instruction::TrapNil {},
            Trap::Unreachable => Instruction::TrapUnreachable {},
            Trap::Failed { what, .. } => {
                let what = self.writer.text(&(*what).into());
                Instruction::TrapFailed { message: self.message(message), what }
            }
            Trap::Uncaught(_) => Instruction::TrapUncaught { message: self.message(message) },
        };
        self.writer.push(instruction);
    }

    fn message(&mut self, message: Option<Reg>) -> RIn {
        match message {
            Some(reg) => RIn(self.writer.number(reg)),
            None => {
                let place = self.writer.scratch(Bank::R);
                let scratch = self.writer.at(Bank::R, place);
                self.writer.push(Instruction::Clear { a: ROut(scratch) });
                RIn(scratch)
            }
        }
    }
}

fn compare_ints(compare: Compare, a: u16, b: u16) -> Instruction {
    let (x, y, to) = (IIn(a), IIn(b), To(0));
    match compare {
        Compare::Eq => Instruction::IfEqI { a: x, b: y, to },
        Compare::Ne => Instruction::IfNeI { a: x, b: y, to },
        Compare::Lt => Instruction::IfLtI { a: x, b: y, to },
        Compare::Le => Instruction::IfLeI { a: x, b: y, to },
        Compare::Gt => Instruction::IfLtI { a: y, b: x, to },
        Compare::Ge => Instruction::IfLeI { a: y, b: x, to },
    }
}

fn compare_with(compare: Compare, a: u16, k: i16) -> Instruction {
    let (a, k, to) = (IIn(a), Small(k), To(0));
    match compare {
        Compare::Eq => Instruction::IfEqIK { a, k, to },
        Compare::Ne => Instruction::IfNeIK { a, k, to },
        Compare::Lt => Instruction::IfLtIK { a, k, to },
        Compare::Le => Instruction::IfLeIK { a, k, to },
        Compare::Gt => Instruction::IfGtIK { a, k, to },
        Compare::Ge => Instruction::IfGeIK { a, k, to },
    }
}

/// Returns the branch for a comparison of numbers. All comparisons with NaN are false, so `>=` is not the negation of
/// `<`.
fn compare_numbers(compare: Compare, wanted: bool, a: u16, b: u16) -> Instruction {
    let (x, y, to) = (FIn(a), FIn(b), To(0));
    match (compare, wanted) {
        (Compare::Eq, true) | (Compare::Ne, false) => Instruction::IfEqF { a: x, b: y, to },
        (Compare::Ne, true) | (Compare::Eq, false) => Instruction::IfNeF { a: x, b: y, to },
        (Compare::Lt, true) => Instruction::IfLtF { a: x, b: y, to },
        (Compare::Le, true) => Instruction::IfLeF { a: x, b: y, to },
        (Compare::Gt, true) => Instruction::IfLtF { a: y, b: x, to },
        (Compare::Ge, true) => Instruction::IfLeF { a: y, b: x, to },
        (Compare::Lt, false) => Instruction::UnlessLtF { a: x, b: y, to },
        (Compare::Le, false) => Instruction::UnlessLeF { a: x, b: y, to },
        (Compare::Gt, false) => Instruction::UnlessLtF { a: y, b: x, to },
        (Compare::Ge, false) => Instruction::UnlessLeF { a: y, b: x, to },
    }
}
