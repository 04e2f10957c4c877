//! Effects: the registers that an instruction reads and writes, with those of the window that it does not name.

use super::site::Register;
use super::{Callee, Signature, Signatures};
use crate::bytecode::operand::{Access, Role};
use crate::bytecode::{Code, Counts, Instruction};
use crate::value::Bank;

/// The banks in the order of [`Counts`].
pub const BANKS: [Bank; 3] = [Bank::F, Bank::I, Bank::R];

/// The registers that an instruction reads and writes.
#[derive(Default, Debug)]
pub struct Effects {
    /// The registers that are read.
    pub read: Vec<Register>,
    /// The registers that are written; of the references also those that are modified or emptied.
    pub written: Vec<Register>,
}

/// Returns the effects of the instruction at an index. The operands after an instruction belong to the instruction.
pub fn effects(code: &Code, at: usize, signature: Signatures<'_>) -> Effects {
    use Instruction as I;
    let mut found = Effects::default();
    let instruction = &code.instructions[at];
    if matches!(instruction, I::Extra { .. } | I::Extras { .. } | I::Element { .. }) {
        return found;
    }
    let trailer = code.instructions.get(at + 1);
    let trailer = trailer.filter(|next| matches!(next, I::Extra { .. } | I::Extras { .. }));
    for instruction in std::iter::once(instruction).chain(trailer) {
        instruction.visit(&mut |field| {
            let Role::Register(bank, access) = field.role else { return };
            let Ok(number) = u16::try_from(field.number) else { return };
            if access != Access::Out {
                found.read.push((bank, number));
            }
            if access != Access::In {
                found.written.push((bank, number));
            }
        });
    }
    let whole_window = code.window;
    let (read, written) = match *instruction {
        I::Call { .. } | I::DCall { .. } => match Callee::of(instruction).and_then(signature) {
            Some(Signature { params, results, .. }) => (params, [results[0], results[1], whole_window[2]]),
            None => (whole_window, whole_window),
        },
        I::CallValue { signature, .. } | I::DCallValue { signature, .. } => {
            let Signature { params, results, .. } = Signature::of_object(code, signature);
            (params, [results[0], results[1], whole_window[2]])
        }
        I::DCallRule { .. } => (whole_window, whole_window),
        I::Native { site } | I::DNative { site } => {
            let site = &code.natives[usize::from(site)].signature;
            (site.params, [site.results[0], site.results[1], whole_window[2]])
        }
        I::Operate { site } | I::DOperate { site } => {
            let site = &code.operators[usize::from(site)];
            (site.params, [site.results[0], site.results[1], whole_window[2]])
        }
        I::NewBox { parts, .. }
        | I::NewRecord { parts, .. }
        | I::Append { parts, .. }
        | I::DNewBox { parts, .. }
        | I::DNewRecord { parts, .. }
        | I::DAppend { parts, .. } => {
            let counts = code.parts[usize::from(parts)];
            (counts, [0, 0, counts[2]])
        }
        I::NewClosure { site, .. } | I::DNewClosure { site, .. } => {
            let counts = code.closures[usize::from(site)].captures;
            (counts, [0, 0, counts[2]])
        }
        I::Return {} | I::ReturnF { .. } | I::ReturnI { .. } | I::ReturnR { .. } | I::DReturnF { .. } => {
            found.read.extend(registers([0; 3], code.results));
            ([0; 3], [0; 3])
        }
        _ => ([0; 3], [0; 3]),
    };
    found.read.extend(window(code, read));
    found.written.extend(window(code, written));
    found
}

/// Whether an instruction uses up the whole window: the registers of other functions lie there.
pub fn consumes_window(instruction: &Instruction) -> bool {
    use Instruction as I;
    matches!(
        instruction,
        I::Call { .. }
            | I::CallValue { .. }
            | I::Native { .. }
            | I::Operate { .. }
            | I::DCall { .. }
            | I::DCallValue { .. }
            | I::DCallRule { .. }
            | I::DNative { .. }
            | I::DOperate { .. }
    )
}

/// Returns the first registers of the window.
pub fn window(code: &Code, counts: Counts) -> impl Iterator<Item = Register> + use<> {
    registers(code.registers, counts)
}

fn registers(from: Counts, counts: Counts) -> impl Iterator<Item = Register> {
    (0..3).flat_map(move |bank| (0..counts[bank]).map(move |k| (BANKS[bank], from[bank] + k)))
}
