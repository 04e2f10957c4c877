//! Varied registers: determines the registers that vary with the arguments, and the parameter from which an array or
//! record originates.

use crate::diff::dependence_transfer;
use crate::diff::dependence_transfer::DependenceTransfer;
use crate::diff::transform::is_differentiated;
use crate::ir::passes::full_inlining::written_once;
use crate::ir::{Fallback, Function, Instruction, Op, Reg, TransformedOp};
use crate::value::Bank;

/// The origin of the object that a reference refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Origin {
    /// The object contains no varied value.
    #[default]
    Elsewhere,
    /// The object is a parameter, given by its index among the reference arguments.
    Param(usize),
    /// The object is an array that the function itself makes or modifies, with numbers that may vary.
    Local,
    /// The object may contain a varied value, and is not known to be a parameter.
    Mixed,
}

/// The varied registers of a function.
#[derive(Debug)]
pub struct Varied {
    numbers: Vec<bool>,
    origins: Vec<Origin>,
    /// The registers that only one step writes.
    single: Vec<bool>,
    /// The registers that hold arrays, as far as the steps that use them show it.
    arrays: Vec<bool>,
    /// Whether the function may be adjoint code, whose own steps are followed.
    follows_adjoints: bool,
    /// Whether varied numbers are pushed onto the value stack.
    stack: bool,
}

impl Varied {
    /// Analyzes a function. `follows_adjoints` states whether varied numbers may go through steps of adjoint code.
    ///
    /// # Errors
    /// The reason why varied numbers go through steps that tangent and adjoint code cannot follow.
    pub fn of(f: &Function, follows_adjoints: bool) -> Result<Varied, Fallback> {
        let n = f.registers.len();
        let mut varied = Varied {
            numbers: vec![false; n],
            origins: vec![Origin::Elsewhere; n],
            single: written_once(f),
            arrays: arrays(f),
            follows_adjoints,
            stack: false,
        };
        let mut references = 0;
        for (k, param) in f.params.iter().enumerate() {
            if !is_differentiated(f, k) {
                continue;
            }
            match f.registers[param.0 as usize].bank {
                Bank::F => varied.numbers[param.0 as usize] = true,
                Bank::I => {}
                Bank::R => {
                    varied.origins[param.0 as usize] = Origin::Param(references);
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

    /// Whether a number register varies with the arguments.
    pub fn is(&self, reg: Reg) -> bool {
        self.numbers[reg.0 as usize]
    }

    /// Whether numbers on the value stack may vary.
    pub fn has_varied_stack(&self) -> bool {
        self.stack
    }

    /// Returns the index of the reference argument that a register holds; the register must always hold the same
    /// argument, unchanged.
    pub fn param(&self, reg: Reg) -> Option<usize> {
        match self.origins[reg.0 as usize] {
            Origin::Param(k) => Some(k),
            Origin::Elsewhere | Origin::Local | Origin::Mixed => None,
        }
    }

    /// Whether a register holds arrays that the function itself makes or modifies.
    pub fn is_local(&self, reg: Reg) -> bool {
        self.origins[reg.0 as usize] == Origin::Local
    }

    /// Whether the numbers of the array or record in a register may vary.
    fn holds_varied(&self, reg: Reg) -> bool {
        matches!(self.origins[reg.0 as usize], Origin::Param(_) | Origin::Local)
    }

    /// Whether no varied value is reached through a reference.
    fn is_constant(&self, reg: Reg) -> bool {
        self.origins[reg.0 as usize] == Origin::Elsewhere
    }

    /// Whether a step produces a varied number, or stores numbers in a local array.
    pub fn is_step(&self, step: &Instruction) -> bool {
        match &step.op {
            Op::Primitive(id) => {
                dependence_transfer::primitive(*id) == DependenceTransfer::Smooth
                    && step.ins.iter().any(|r| self.is(*r))
            }
            Op::Copy => self.is(step.ins[0]),
            Op::LoadElement { bank: Bank::F, .. } => self.holds_varied(step.ins[0]),
            Op::LoadRecord { bank: Bank::F, .. } => self.param(step.ins[0]).is_some(),
            Op::Append(_) | Op::StoreElement { bank: Bank::F | Bank::R, .. } => self.is_local(step.outs[0]),
            Op::LoadElement { bank: Bank::R, .. } | Op::TakeElement { .. } => self.is_local(step.outs[0]),
            Op::Transformed(TransformedOp::Pop(Bank::F)) => self.stack,
            Op::Transformed(TransformedOp::TakeAdjoint { .. } | TransformedOp::ReadAdjoint { .. }) => {
                self.holds_varied(step.ins[0])
            }
            Op::Transformed(TransformedOp::Flush) => self.is(step.ins[0]),
            _ => false,
        }
    }

    /// Propagates the current facts through a step and returns whether the facts changed; the error is the reason why
    /// the step cannot be followed.
    fn spread(&mut self, f: &Function, step: &Instruction) -> Result<bool, Fallback> {
        let varies = step.ins.iter().any(|r| self.is(*r));
        let varies_inside = step.ins.iter().any(|r| !self.is_constant(*r));
        match &step.op {
            Op::Primitive(id) if varies && dependence_transfer::primitive(*id) == DependenceTransfer::Lose => {
                return Err(Fallback::LostTangent(id.info().name));
            }
            Op::Transformed(TransformedOp::RequireConstant) if varies || varies_inside => {
                return Err(Fallback::NoDerivative);
            }
            Op::LoadBox { .. } | Op::Transformed(TransformedOp::CaptureOf { .. }) if varies_inside => {
                return Err(Fallback::VaryingCapture);
            }
            Op::Transformed(
                TransformedOp::DropTangent | TransformedOp::RequireConstant | TransformedOp::CaptureOf { .. },
            ) => {}
            Op::Transformed(TransformedOp::Partial { .. }) if varies => return Err(Fallback::NoPartial),
            // A step of adjoint code.
            Op::Transformed(_) if (varies || varies_inside) && !self.follows_adjoints => {
                return Err(Fallback::Derivative);
            }
            // A number loaded from mixed storage does not belong to a known parameter.
            Op::LoadElement { bank: Bank::F, .. } | Op::LoadRecord { bank: Bank::F, .. }
                if self.origins[step.ins[0].0 as usize] == Origin::Mixed =>
            {
                return Err(Fallback::MixedStorage);
            }
            Op::LoadRecord { bank: Bank::F, .. } if self.is_local(step.ins[0]) => return Err(Fallback::MixedStorage),
            _ => {}
        }
        let mut changed = false;
        if let Op::Transformed(TransformedOp::Push(Bank::F)) = &step.op {
            changed |= varies && !std::mem::replace(&mut self.stack, true);
        }
        if self.follows_adjoints {
            for source in self.sources(step) {
                self.origins[source.0 as usize] = Origin::Local;
                changed = true;
            }
        }
        let yields = self.is_step(step);
        for (k, out) in step.outs.iter().enumerate() {
            let at = out.0 as usize;
            match f.registers[at].bank {
                Bank::F => changed |= yields && !std::mem::replace(&mut self.numbers[at], true),
                Bank::I => {}
                Bank::R => {
                    let origin = match &step.op {
                        Op::Copy | Op::Take => self.origins[step.ins[0].0 as usize],
                        Op::Null => continue,
                        Op::Transformed(TransformedOp::DropTangent | TransformedOp::RequireConstant) => {
                            Origin::Elsewhere
                        }
                        Op::LoadElement { .. } | Op::TakeElement { .. } if k == 0 => {
                            self.origin_of_element(step.ins[0])
                        }
                        Op::TakeElement { .. } => self.origins[step.ins[0].0 as usize],
                        Op::Append(_) | Op::StoreElement { .. } if step.ins[1..].iter().any(|r| self.is_mixed(*r)) => {
                            Origin::Mixed
                        }
                        Op::Append(_)
                        | Op::StoreElement { .. }
                        | Op::Transformed(TransformedOp::AddElement { .. } | TransformedOp::Accumulate { .. }) => {
                            if varies || step.ins[1..].iter().any(|r| self.holds_varied(*r)) {
                                Origin::Local
                            } else {
                                self.origins[step.ins[0].0 as usize]
                            }
                        }
                        Op::Transformed(TransformedOp::TakeAdjointArray { .. }) if k == 0 => {
                            self.origin_of_element(step.ins[0])
                        }
                        Op::Transformed(TransformedOp::TakeAdjoint { .. } | TransformedOp::TakeAdjointArray { .. }) => {
                            self.origins[step.ins[0].0 as usize]
                        }
                        Op::Transformed(TransformedOp::AddArray | TransformedOp::AccumulateArray { .. })
                            if varies_inside =>
                        {
                            Origin::Local
                        }
                        _ if varies || varies_inside => Origin::Mixed,
                        _ => Origin::Elsewhere,
                    };
                    let joined = self.joined(*out, origin);
                    changed |= std::mem::replace(&mut self.origins[at], joined) != joined;
                }
            }
        }
        Ok(changed)
    }

    /// Returns the origin of an array that is an element of the array in a register.
    fn origin_of_element(&self, array: Reg) -> Origin {
        match self.origins[array.0 as usize] {
            Origin::Param(_) | Origin::Local => Origin::Local,
            origin @ (Origin::Elsewhere | Origin::Mixed) => origin,
        }
    }

    /// Whether a register holds a reference that cannot be followed.
    fn is_mixed(&self, reg: Reg) -> bool {
        self.origins[reg.0 as usize] == Origin::Mixed
    }

    /// Returns the arrays without varied numbers that become, by a step, an array or an element of an array to which varied
    /// numbers are added elsewhere: they need arrays of tangents from the beginning.
    fn sources(&self, step: &Instruction) -> Vec<Reg> {
        let sources = match &step.op {
            Op::Copy | Op::Take => &step.ins[..],
            Op::LoadElement { bank: Bank::R, .. } | Op::TakeElement { .. } => &step.ins[..1],
            Op::Append(_) => &step.ins[1..],
            Op::StoreElement { bank: Bank::R, .. } => &step.ins[2..],
            _ => return vec![],
        };
        if !self.is_local(step.outs[0]) {
            return vec![];
        }
        let is_copy = matches!(step.op, Op::Copy | Op::Take);
        let is_source = |reg: &Reg| self.is_constant(*reg) && (is_copy || self.arrays[reg.0 as usize]);
        sources.iter().copied().filter(is_source).collect()
    }

    /// Returns the origin of a register that may now also hold a reference of another origin.
    fn joined(&self, reg: Reg, origin: Origin) -> Origin {
        let known = self.origins[reg.0 as usize];
        match (known, origin) {
            (Origin::Mixed, _) | (_, Origin::Mixed) => Origin::Mixed,
            (Origin::Elsewhere, Origin::Elsewhere) => known,
            // A register that always holds the same parameter, which nothing modifies, stands for the parameter.
            (Origin::Elsewhere | Origin::Param(_), Origin::Param(_)) if self.single[reg.0 as usize] => origin,
            _ => Origin::Local,
        }
    }
}

/// Returns for each register whether it holds arrays: a step reads or writes their elements, or they are copied from or to
/// such a register.
fn arrays(f: &Function) -> Vec<bool> {
    let mut arrays = vec![false; f.registers.len()];
    let steps = || f.blocks.iter().flat_map(|block| &block.instructions);
    for step in steps() {
        match &step.op {
            Op::NewArray(_) | Op::Constants(_) => arrays[step.outs[0].0 as usize] = true,
            Op::Append(_)
            | Op::Count
            | Op::CheckIndex
            | Op::LoadElement { .. }
            | Op::StoreElement { .. }
            | Op::TakeElement { .. } => arrays[step.ins[0].0 as usize] = true,
            _ => {}
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for step in steps().filter(|step| matches!(step.op, Op::Copy | Op::Take)) {
            let [to, from] = [step.outs[0], step.ins[0]].map(|reg| reg.0 as usize);
            changed |= arrays[to] != arrays[from] && f.registers[to].bank == Bank::R;
            arrays[to] |= arrays[from];
            arrays[from] |= arrays[to];
        }
    }
    arrays
}
