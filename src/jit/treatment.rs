//! Treatment: how machine code executes each instruction.

use super::Part;
use super::flow::target;
use crate::bytecode::{Code, Instruction, Opcode};
use crate::native::library;

/// The smallest number of instructions for each one that the interpreter executes for machine code. Such a single step
/// takes longer than the instruction does in the interpreter's own loop.
const INSTRUCTIONS_PER_STEP: usize = 10;

/// Whether machine code of a part is expected to be faster than the interpreter.
pub fn is_worthwhile(code: &Code, part: Part) -> bool {
    let (first, last) = match part {
        Part::Loop(head) => {
            let jumps_back = |at: &usize| target(code, *at) == Some(head);
            (head, (head..code.instructions.len()).rev().find(jumps_back).unwrap_or(head))
        }
        Part::Function | Part::Derivative => (0, code.instructions.len().saturating_sub(1)),
    };
    let instructions = code.instructions.get(first..=last).unwrap_or_default();
    let count = |opcodes: &[Opcode]| instructions.iter().filter(|step| opcodes.contains(&step.opcode())).count();
    use Opcode as O;
    let created =
        count(&[O::NewBox, O::NewInstance, O::NewRecord]) + count(&[O::DNewBox, O::DNewRecord, O::DNewClosure]);
    let native = instructions.iter().filter(|step| needs_context(code, step)).count();
    // The other operators beside one that machine code applies are its fallback.
    let is_applied = instructions.iter().any(|step| is_applied(code, step));
    let operators = if is_applied { 0 } else { count(&[O::Operate]) };
    let called = native + operators + count(&[O::FindMethod, O::DNative, O::DOperate, O::DCallRule]);
    // A small function around one call is compiled, because machine code would have to leave to call it.
    let steps = if called <= 1 { created } else { created + called };
    steps * INSTRUCTIONS_PER_STEP <= instructions.len()
}

/// Whether an instruction calls a native function that needs the machine.
fn needs_context(code: &Code, step: &Instruction) -> bool {
    let Instruction::Native { site } = *step else { return false };
    library::direct(code.natives[usize::from(site)].native).is_none()
}

/// Whether an instruction is an operator that machine code applies.
fn is_applied(code: &Code, step: &Instruction) -> bool {
    let Instruction::Operate { site } = *step else { return false };
    code.operators[usize::from(site)].operator.uses_transformed_code()
}

/// The way in which machine code executes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// The instruction is translated.
    Translated,
    /// The instruction is translated if the layout of objects is known; otherwise it is a [`Treatment::Step`].
    Object,
    /// The instruction is translated in tangent and adjoint code, the only code in which it occurs.
    Derivative,
    /// The instruction is translated in derivative code, the only code in which it occurs: slots are read and written,
    /// and nodes are appended to the tape.
    Recorded,
    /// The interpreter executes this one instruction, and machine code continues unless functions were entered.
    Step,
    /// The instruction calls a function object, and is translated if the layout of objects is known; otherwise the
    /// interpreter executes it and continues after it.
    CallOfObject,
    /// Machine code leaves for the interpreter before the instruction.
    Leave,
}

/// Returns the treatment of an instruction. The list has no default, so that a new instruction must be classified.
pub fn treatment(opcode: Opcode) -> Treatment {
    use Opcode::*;
    match opcode {
        MoveF | MoveI | LoadF | LoadI | SetI | AddF | SubF | MulF | DivF | NegF | AbsF | SqrtF | RoundF | NumberOf
        | Prim1F | Prim2F | Prim3F | PrimFI | PrimNumber | PrimWhole | Prim1Test | Prim2Test | Prim1I | Prim2I
        | JoinLeftF | JoinRightF | JoinBothF | Extra | Extras | Element | AddI | AddIK | SubI | MulI | DivI | RemI
        | Not | EqI | NeI | LtI | LeI | EqF | NeF | LtF | LeF | Jump | If | Unless | IfEqI | IfNeI | IfLtI | IfLeI
        | IfEqIK | IfNeIK | IfLtIK | IfLeIK | IfGtIK | IfGeIK | IfEqF | IfNeF | IfLtF | IfLeF | UnlessLtF
        | UnlessLeF | LoopLtI | LoopLtIK | Call | DCall | DReturnF | Return | ReturnF | ReturnI | ReturnR => {
            Treatment::Translated
        }
        Share | Take | Clear | LoadBoxF | LoadBoxI | LoadBoxR | StoreBoxF | StoreBoxI | LoadRecordF | LoadRecordI
        | LoadRecordR | StoreRecordF | StoreRecordI | CaptureF | CaptureI | CaptureR | AppendF | AppendI | Count
        | CheckIndex | ElementF | ElementI | ElementR | PartF | PartI | PartR | SetElementF | SetElementI
        | SetPartF | SetPartI | TakePart | SetElementR | SetPartR | AppendR | LoadGlobalF | LoadGlobalI
        | LoadGlobalR | StoreGlobalF | StoreGlobalI | CheckAccess | CheckGlobalAccess | NewArray | NewClosure
        | LoadText | AppendText | Native | Operate => Treatment::Object,
        LoadArray | NewBox | NewInstance | FindMethod | NewRecord | StoreBoxR | TakeBox | StoreRecordR | TakeRecord
        | Append | StoreGlobalR | TakeGlobal | BeginAccess | BeginGlobalAccess | EndAccess | DPrim3F | DCallRule
        | DNative | DOperate | DNewBox | DNewRecord | DNewClosure | DStoreBoxF | DAppend | DStoreGlobalF => {
            Treatment::Step
        }
        CallValue | DCallValue => Treatment::CallOfObject,
        PartialF | PartialLeftF | PartialRightF | PartialFI | FlushF | AppendNode | AppendNode2 | PushF | PushI
        | PushKnown | PopF | PopI | AddElementF | AddPartF | Accumulate | AccumulateR | TakeAdjoint | ReadAdjoint
        | TakeAdjointR | AddArray | AddNodes => Treatment::Derivative,
        DMoveF | DLoadF | ClearSlot | DAddF | DSubF | DMulF | DDivF | DNegF | DPrim1F | DPrim2F | DPrimFI
        | DLoadBoxF | DLoadRecordF | DStoreRecordF | DCaptureF | DAppendF | DElementF | DPartF | DSetElementF
        | DSetPartF | DLoadGlobalF => Treatment::Recorded,
        // The failures are left to the interpreter.
        TrapNil | TrapFailed | TrapUncaught | TrapUnreachable | Resume | Halt | EnterCompiled => Treatment::Leave,
    }
}
