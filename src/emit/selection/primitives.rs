//! Primitives: selection of the instructions for primitives.

use super::Selector;
use crate::bytecode::operand::*;
use crate::bytecode::{Instruction, Opcode};
use crate::emit::EncodeError;
use crate::emit::graph::Step;
use crate::native::{PrimitiveId, Value, primitive_ids};
use crate::value::Bank;
use std::sync::OnceLock;

impl Selector<'_> {
    pub(super) fn primitive(&mut self, id: PrimitiveId, step: &Step) -> Result<(), EncodeError> {
        use Instruction as I;
        let info = id.info();
        let out = self.n(step.outs[0]);
        let ins: Vec<u16> = step.ins.iter().map(|r| self.n(*r)).collect();
        if ins.len() != info.operands.len() {
            return Err(EncodeError::Operands(info.name));
        }
        let active = step.active && info.result == Bank::F;
        if let Some((opcode, swapped)) = dedicated_opcode(id, active) {
            let operands = if swapped { vec![out, ins[1], ins[0]] } else { [&[out], &ins[..]].concat() };
            self.writer.push_opcode(opcode, &operands);
            return Ok(());
        }
        let p = Prim(u8::try_from(id.0).map_err(|_| EncodeError::Primitive(info.name))?);
        let f = |k: usize| FIn(ins[k]);
        self.writer.push(match info.value {
            Value::F1(_) if active => I::DPrim1F { out: FOut(out), a: f(0), p },
            Value::F1(_) => I::Prim1F { out: FOut(out), a: f(0), p },
            Value::F2(_) if active => I::DPrim2F { out: FOut(out), a: f(0), b: f(1), p },
            Value::F2(_) => I::Prim2F { out: FOut(out), a: f(0), b: f(1), p },
            Value::F3(_) if active => I::DPrim3F { out: FOut(out), a: f(0), b: f(1), p },
            Value::F3(_) => I::Prim3F { out: FOut(out), a: f(0), b: f(1), p },
            Value::FI(_) if active => I::DPrimFI { out: FOut(out), a: f(0), n: IIn(ins[1]), p },
            Value::FI(_) => I::PrimFI { out: FOut(out), a: f(0), n: IIn(ins[1]), p },
            Value::ItoF(_) => I::PrimNumber { out: FOut(out), a: IIn(ins[0]), p },
            Value::FtoI(_) => I::PrimWhole { out: IOut(out), a: f(0), p },
            Value::Test1(_) => I::Prim1Test { out: IOut(out), a: f(0), p },
            Value::Test2(_) => I::Prim2Test { out: IOut(out), a: f(0), b: f(1), p },
            Value::I1(_) => I::Prim1I { out: IOut(out), a: IIn(ins[0]), p },
            Value::I2(_) => I::Prim2I { out: IOut(out), a: IIn(ins[0]), b: IIn(ins[1]), p },
        });
        if let Value::F3(_) = info.value {
            self.writer.push(I::Extra { c: f(2) });
        }
        if matches!(info.value, Value::ItoF(_)) && active && self.has_slot(step.outs[0]) {
            self.clear_slot(step.outs[0]);
        }
        Ok(())
    }
}

/// A dedicated instruction of a primitive, and whether its operands are exchanged.
type DedicatedOpcode = (Opcode, bool);

/// Returns the dedicated instruction of a primitive, if there is one.
fn dedicated_opcode(id: PrimitiveId, active: bool) -> Option<DedicatedOpcode> {
    /// The instructions of each primitive in original and in derivative code, indexed by primitive.
    static OPCODES: OnceLock<Vec<[Option<DedicatedOpcode>; 2]>> = OnceLock::new();
    let forms = OPCODES.get_or_init(|| {
        let mut forms = vec![[None; 2]; crate::native::primitive_table::all().len()];
        let mut enter = |id: PrimitiveId, active: bool, form: DedicatedOpcode| {
            forms[id.0 as usize][usize::from(active)] = Some(form);
        };
        for opcode in Opcode::ALL {
            if let Some(id) = opcode.entry().computes {
                enter(id, opcode.entry().active, (*opcode, false));
            }
        }
        let exchanged = [
            (primitive_ids::INT_GT, Opcode::LtI),
            (primitive_ids::INT_GE, Opcode::LeI),
            (primitive_ids::GT, Opcode::LtF),
            (primitive_ids::GE, Opcode::LeF),
        ];
        exchanged.into_iter().for_each(|(id, opcode)| enter(id, false, (opcode, true)));
        forms
    });
    forms.get(id.0 as usize)?[usize::from(active)]
}
