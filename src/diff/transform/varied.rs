//! Varied registers: the registers that vary with the arguments, and the parameter that an array or record is.

use crate::diff::transfer;
use crate::diff::transfer::DependenceTransfer;
use crate::ir::passes::inline_all::written_once;
use crate::ir::{Fallback, Function, Instruction, Op, Reg, TransformedOp};
use crate::value::Bank;

/// Where a reference comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Origin {
    /// Nothing that varies is in it.
    #[default]
    Elsewhere,
    /// It is a parameter, by its place among the references that are given.
    Param(usize),
    /// Something that varies may be in it.
    Mixed,
}

/// What varies in a function.
#[derive(Debug)]
pub struct Varied {
    numbers: Vec<bool>,
    origins: Vec<Origin>,
    /// Which registers one step alone writes.
    single: Vec<bool>,
}

impl Varied {
    /// What varies in a function.
    ///
    /// # Errors
    /// The reason, where numbers that vary go through what tangent and adjoint code cannot follow.
    pub fn of(f: &Function) -> Result<Varied, Fallback> {
        let n = f.registers.len();
        let mut varied =
            Varied { numbers: vec![false; n], origins: vec![Origin::Elsewhere; n], single: written_once(f) };
        let mut references = 0;
        for (k, param) in f.params.iter().enumerate() {
            let differentiates =
                f.parameters.iter().any(|p| (p.first..p.first + p.len).contains(&k) && p.tangent.is_some());
            match f.registers[param.0 as usize].bank {
                Bank::F => varied.numbers[param.0 as usize] = true,
                Bank::I => {}
                Bank::R => {
                    if differentiates {
                        varied.origins[param.0 as usize] = Origin::Param(references);
                    }
                    references += 1;
                }
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            crate::cancel::check();
            for step in f.blocks.iter().flat_map(|b| &b.instructions) {
                changed |= varied.spread(f, step)?;
            }
        }
        Ok(varied)
    }

    /// Whether a number varies.
    pub fn is(&self, reg: Reg) -> bool {
        self.numbers[reg.0 as usize]
    }

    /// Which of the references that are given is in a register: always the same one, as it was given.
    pub fn param(&self, reg: Reg) -> Option<usize> {
        match self.origins[reg.0 as usize] {
            Origin::Param(k) => Some(k),
            Origin::Elsewhere | Origin::Mixed => None,
        }
    }

    /// Whether nothing that varies is reached through a reference.
    fn is_constant(&self, reg: Reg) -> bool {
        self.origins[reg.0 as usize] == Origin::Elsewhere
    }

    /// Whether a step gives a number that varies.
    pub fn is_step(&self, step: &Instruction) -> bool {
        match &step.op {
            Op::Primitive(id) => {
                transfer::primitive(*id) == DependenceTransfer::Smooth && step.ins.iter().any(|r| self.is(*r))
            }
            Op::Copy => self.is(step.ins[0]),
            Op::LoadElement { bank: Bank::F, .. } | Op::LoadRecord { bank: Bank::F, .. } => {
                self.param(step.ins[0]).is_some()
            }
            _ => false,
        }
    }

    /// What a step makes of what is known by now; the reason where it cannot be followed.
    fn spread(&mut self, f: &Function, step: &Instruction) -> Result<bool, Fallback> {
        let moves = step.ins.iter().any(|r| self.is(*r));
        let behind = step.ins.iter().any(|r| !self.is_constant(*r));
        match &step.op {
            Op::Primitive(id) if moves && transfer::primitive(*id) == DependenceTransfer::Break => {
                return Err(Fallback::LostTangent(id.info().name));
            }
            Op::Transformed(TransformedOp::RequireConstant) if moves || behind => return Err(Fallback::NoDerivative),
            // What was loaded of what is mixed is not known to be of any parameter.
            Op::LoadElement { bank: Bank::F, .. } | Op::LoadRecord { bank: Bank::F, .. }
                if self.origins[step.ins[0].0 as usize] == Origin::Mixed =>
            {
                return Err(Fallback::MixedStorage);
            }
            Op::LoadBox { .. } | Op::Transformed(TransformedOp::CaptureOf { .. }) if behind => {
                return Err(Fallback::VaryingCapture);
            }
            _ => {}
        }
        let mut changed = false;
        let gives = self.is_step(step);
        for out in &step.outs {
            let at = out.0 as usize;
            match f.registers[at].bank {
                Bank::F => changed |= gives && !std::mem::replace(&mut self.numbers[at], true),
                Bank::I => {}
                Bank::R => {
                    let origin = match &step.op {
                        Op::Copy | Op::Take => self.origins[step.ins[0].0 as usize],
                        Op::Null => continue,
                        Op::Transformed(TransformedOp::DropTangent | TransformedOp::RequireConstant) => {
                            Origin::Elsewhere
                        }
                        _ if moves || behind => Origin::Mixed,
                        _ => Origin::Elsewhere,
                    };
                    let joined = self.joined(*out, origin);
                    changed |= std::mem::replace(&mut self.origins[at], joined) != joined;
                }
            }
        }
        Ok(changed)
    }

    /// What is known of a register that now may hold something of that origin, too.
    fn joined(&self, reg: Reg, origin: Origin) -> Origin {
        let known = self.origins[reg.0 as usize];
        match (known, origin) {
            _ if known == origin => known,
            (Origin::Elsewhere, Origin::Param(_)) if self.single[reg.0 as usize] => origin,
            _ => Origin::Mixed,
        }
    }
}
