//! Disassembler: the textual form of code, for `show --stage code`.

use super::operand::{Access, Role, Table};
use super::{Code, Counts, Field, Fused, Opcode, primitive};
use crate::value::Bank;
use crate::value::number_format::write_double;
use std::fmt::Write;

/// Prints the code of one function, one instruction per line.
pub fn disassemble(code: &Code) -> String {
    let mut out = String::new();
    let kind = if code.is_derivative { " (derivative)" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}{kind}", code.name);
    let counts = |c: super::Counts| format!("f {} · i {} · r {}", c[0], c[1], c[2]);
    let _ = writeln!(out, "  takes {}, gives {}", counts(code.params), counts(code.results));
    let _ = writeln!(out, "  registers {}, window {}", counts(code.registers), counts(code.window));
    for (at, instruction) in code.instructions.iter().enumerate() {
        let _ = write!(out, "{at:5}  {:<14}", instruction.opcode().entry().name);
        let mut first = true;
        instruction.visit(&mut |field| {
            out.push_str(if first { " " } else { ", " });
            first = false;
            operand(&mut out, code, at, field);
        });
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn operand(out: &mut String, code: &Code, at: usize, field: Field) {
    let n = field.number;
    let index = usize::try_from(n).unwrap_or(usize::MAX);
    let _ = match field.role {
        Role::Register(bank, access) => {
            let letter = match bank {
                Bank::F => 'f',
                Bank::I => 'i',
                Bank::R => 'r',
            };
            // The registers of the window are numbered from 0 again, which shows the index of an argument.
            let own = usize::from(code.registers[bank as usize]);
            let taken = if access == Access::Take { "↑" } else { "" };
            if index < own {
                write!(out, "{letter}{n}{taken}")
            } else {
                write!(out, "{letter}›{}{taken}", index - own)
            }
        }
        Role::Method => write!(out, "method {n}"),
        Role::Shape => write!(out, "shape {n}"),
        Role::Table(Table::Numbers) => {
            write_double(out, code.numbers.get(index).copied().unwrap_or(f64::NAN));
            Ok(())
        }
        Role::Table(Table::Integers) => write!(out, "{}", code.integers.get(index).copied().unwrap_or_default()),
        Role::Table(Table::Texts) => write!(out, "{:?}", code.texts.get(index).map_or("", |t| t)),
        Role::Table(Table::Arrays) => match code.arrays.get(index) {
            Some(all) => write!(out, "{all}"),
            None => Ok(()),
        },
        Role::Table(Table::Parts) => match code.parts.get(index) {
            Some([f, i, r]) => write!(out, "f {f} · i {i} · r {r}"),
            None => Ok(()),
        },
        Role::Table(Table::Signatures) => match code.signatures.get(index) {
            Some(signature) => write!(out, "{} → {}", listed(signature.params), listed(signature.results)),
            None => Ok(()),
        },
        Role::Table(Table::Closures) => match code.closures.get(index) {
            Some(site) => write!(out, "function {}", site.function),
            None => Ok(()),
        },
        Role::Table(Table::Natives) => match code.natives.get(index) {
            Some(site) => write!(out, "{}", crate::native::library::name(site.native)),
            None => Ok(()),
        },
        Role::Table(Table::Operators) => match code.operators.get(index) {
            Some(site) => write!(out, "{:?}", site.operator),
            None => Ok(()),
        },
        Role::Table(Table::Rules) => match code.rules.get(index) {
            Some(site) => write!(out, "function {}", site.function),
            None => Ok(()),
        },
        Role::Table(Table::Accesses) => match code.accesses.get(index) {
            Some(site) => write!(out, "{}", site.name),
            None => Ok(()),
        },
        Role::Jump => write!(out, "→ {}", at as i64 + 1 + n),
        Role::Primitive => {
            let name = u8::try_from(n).ok().and_then(primitive).map_or("?", |p| p.name);
            write!(out, "{name}")
        }
        Role::Arithmetic => {
            let how = Fused::of(n as u8);
            let (first, last) = (how.first.sign(), how.last.sign());
            match code.instructions[at].opcode() {
                Opcode::JoinBothF => write!(out, "{first} {last} {}", how.second.sign()),
                Opcode::JoinRightF => write!(out, "{last} {first}"),
                _ => write!(out, "{first} {last}"),
            }
        }
        Role::Function => write!(out, "function {n}"),
        Role::Global => write!(out, "global {n}"),
        Role::Component => write!(out, ".{n}"),
        Role::Immediate => write!(out, "{n}"),
    };
}
/// Returns the counts other than 0 with the names of their banks.
fn listed(counts: Counts) -> String {
    let counts = ["f", "i", "r"].into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let parts: Vec<String> = counts.map(|(bank, count)| format!("{bank} {count}")).collect();
    if parts.is_empty() { "()".to_string() } else { parts.join(" · ") }
}
