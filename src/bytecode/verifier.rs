//! Verifier: checks a code object once, so that the machine need not repeat the checks.

use super::operand::{Role, Table};
use super::{Code, Counts, Fused, Instruction, Opcode, Trailer, primitive, window as window_of};
use crate::native::Value;
use crate::value::Bank;

/// The reason why a code object is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The index of the instruction that violates a rule, if the violation concerns one instruction.
    pub at: Option<usize>,
    /// A description of the violation.
    pub reason: String,
}

impl std::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(f, "instruction {at}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// Checks that register numbers, jump targets, constants and sites are in range, and that the code ends.
///
/// # Errors
/// Returns the first violation.
pub fn verify(code: &Code) -> Result<(), VerifyError> {
    let wrong = |reason: &str| Err(VerifyError { at: None, reason: reason.into() });
    if code.spans.len() != code.instructions.len() {
        return wrong("every instruction needs a span");
    }
    if code.frame().iter().any(|n| *n > usize::from(u16::MAX)) {
        return wrong("too many registers");
    }
    if !within(code.params, code.frame()) || !within(code.results, code.frame()) {
        return wrong("parameters or results are outside the registers");
    }
    if code.inactive_from > code.registers[0] {
        return wrong("the inactive registers begin outside the registers");
    }
    let window = code.window.map(usize::from);
    let sites = (code.parts.iter().copied())
        .chain(code.closures.iter().map(|c| c.captures))
        .chain(code.signatures.iter().flat_map(|s| [s.params, s.results]))
        .chain(code.natives.iter().flat_map(|n| [n.signature.params, n.signature.results]))
        .chain(code.operators.iter().flat_map(|o| [o.params, o.results]));
    if !sites.into_iter().all(|counts| within(counts, window)) {
        return wrong("a call site needs a larger window than there is");
    }
    if code.natives.iter().any(|n| n.window != window_of(n.signature.params, n.signature.results)) {
        return wrong("the window of a native call has another size than its arguments and results");
    }
    for (at, instruction) in code.instructions.iter().enumerate() {
        check(code, at, instruction).map_err(|reason| VerifyError { at: Some(at), reason })?;
    }
    match code.instructions.last() {
        Some(last) if last.opcode().is_end() => Ok(()),
        _ => wrong("the code does not end"),
    }
}

fn within(counts: Counts, limit: [usize; 3]) -> bool {
    counts.iter().zip(limit).all(|(count, limit)| usize::from(*count) <= limit)
}

fn check(code: &Code, at: usize, instruction: &Instruction) -> Result<(), String> {
    let opcode = instruction.opcode();
    if opcode.entry().active && !code.is_derivative {
        return Err("it handles slots, but the code is not derivative code".into());
    }
    if matches!(opcode, Opcode::Resume | Opcode::Halt | Opcode::EnterCompiled) {
        return Err("it is reserved for the machine itself".into());
    }
    let following = code.instructions.get(at + 1);
    let complete = match opcode.trailer() {
        Trailer::None => true,
        Trailer::Extra => matches!(following, Some(Instruction::Extra { .. })),
        Trailer::Extras => matches!(following, Some(Instruction::Extras { .. })),
        Trailer::Element => matches!(following, Some(Instruction::Element { .. })),
    };
    if !complete {
        return Err("its trailing operands are missing".into());
    }
    let mut result = Ok(());
    instruction.visit(&mut |field| {
        if let Err(reason) = operand(code, at, opcode, field.role, field.number) {
            result = Err(format!("operand `{}`: {reason}", field.name));
        }
    });
    result
}

fn operand(code: &Code, at: usize, opcode: Opcode, role: Role, number: i64) -> Result<(), &'static str> {
    let index = usize::try_from(number);
    let below = |limit: usize| index.is_ok_and(|n| n < limit);
    let is_valid = match role {
        Role::Register(bank, _) => below(code.frame()[bank as usize]),
        Role::Table(table) => below(match table {
            Table::Numbers => code.numbers.len(),
            Table::Integers => code.integers.len(),
            Table::Texts => code.texts.len(),
            Table::Arrays => code.arrays.len(),
            Table::Parts => code.parts.len(),
            Table::Signatures => code.signatures.len(),
            Table::Closures => code.closures.len(),
            Table::Natives => code.natives.len(),
            Table::Operators => code.operators.len(),
            Table::Rules => code.rules.len(),
            Table::Accesses => code.accesses.len(),
        }),
        Role::Jump => {
            let target = i64::try_from(at).map_or(-1, |at| at + 1 + number);
            usize::try_from(target).is_ok_and(|t| t < code.instructions.len())
        }
        Role::Primitive => u8::try_from(number).is_ok_and(|p| primitive(p).is_some_and(|p| fits(opcode, p.value))),
        Role::Arithmetic => below(match opcode {
            Opcode::JoinBothF => Fused::COUNT,
            _ => Fused::COUNT_OF_TWO,
        }),
        // Functions and global variables are added at run time, and components belong to objects: the machine checks
        // these operands when they are used.
        Role::Immediate | Role::Component | Role::Function | Role::Method | Role::Shape | Role::Global => true,
    };
    if is_valid { Ok(()) } else { Err("out of range") }
}

/// Whether an instruction can compute a primitive whose value has the given kind.
fn fits(opcode: Opcode, value: Value) -> bool {
    use Opcode::*;
    matches!(
        (opcode, value),
        (Prim1F | DPrim1F, Value::F1(_))
            | (Prim2F | DPrim2F, Value::F2(_))
            | (Prim3F | DPrim3F, Value::F3(_))
            | (PrimFI | DPrimFI, Value::FI(_))
            | (PrimNumber, Value::ItoF(_))
            | (PrimWhole, Value::FtoI(_))
            | (Prim1Test, Value::Test1(_))
            | (Prim2Test, Value::Test2(_))
            | (PartialF, Value::F1(_))
            | (PartialLeftF | PartialRightF, Value::F2(_))
            | (PartialFI, Value::FI(_))
            | (Prim1I, Value::I1(_))
            | (Prim2I, Value::I2(_))
    )
}

/// The indices of the banks in [`Counts`].
const _: () = assert!(Bank::F as usize == 0 && Bank::I as usize == 1 && Bank::R as usize == 2);

#[cfg(test)]
mod tests {
    use super::super::operand::*;
    use super::*;

    fn code(instructions: Vec<Instruction>) -> Code {
        let spans = vec![Default::default(); instructions.len()];
        Code { instructions, spans, registers: [2, 1, 0], numbers: vec![1.0], ..Code::default() }
    }

    #[test]
    fn valid_code_passes_and_invalid_code_fails() {
        use Instruction::*;
        let valid = code(vec![LoadF { out: FOut(0), k: Number(0) }, ReturnF { a: FIn(0) }]);
        assert_eq!(verify(&valid), Ok(()));
        let invalid = [
            vec![LoadF { out: FOut(2), k: Number(0) }, ReturnF { a: FIn(0) }],
            vec![LoadF { out: FOut(0), k: Number(1) }, ReturnF { a: FIn(0) }],
            vec![LoadF { out: FOut(0), k: Number(0) }],
            vec![Jump { to: Far(1) }],
            vec![Jump { to: Far(-2) }],
            vec![ClearSlot { a: FIn(0) }, Return {}],
            vec![Halt {}],
            vec![PartF { out: FOut(0), array: RIn(0), index: IIn(0) }, Return {}],
            vec![],
        ];
        for instructions in invalid {
            assert!(verify(&code(instructions.clone())).is_err(), "{instructions:?}");
        }
    }
}
