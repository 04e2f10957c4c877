//! Listing: prints a tape for `dscript show --stage tape`.

use super::linear_map::LinearMap;
use super::wide_node::{CallKind, Wide, WideKind};
use std::fmt::{self, Display, Formatter};

/// The maximum number of records that are printed per tape, because the records of a long loop repeat.
const MAX_SHOWN: u32 = 1000;

impl Display for LinearMap {
    /// Prints a tape: the leaves, one line per record with its operands and partial derivatives, and the outputs.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let tape = &self.tape;
        match tape.leaves() {
            0 => writeln!(f, "no inputs")?,
            1 => writeln!(f, "%1  input")?,
            n => writeln!(f, "%1 … %{n}  inputs")?,
        }
        let mut wide = tape.wide().iter().peekable();
        for (n, node) in (tape.leaves() + 1..).zip(tape.chunks().iter().flatten()) {
            if n > tape.leaves() + MAX_SHOWN {
                writeln!(f, "… {} more records", tape.len() as u32 + 1 - n)?;
                break;
            }
            while wide.next_if(|w| n >= w.first + w.results).is_some() {}
            if let Some(w) = wide.peek().filter(|w| n >= w.first) {
                if n == w.first {
                    write_wide(w, f)?;
                }
                continue;
            }
            write!(f, "%{n} ")?;
            for (operand, partial) in [(node.a, node.pa), (node.b, node.pb)] {
                if operand != n {
                    write!(f, " + {partial} · %{operand}")?;
                }
            }
            writeln!(f)?;
        }
        for (k, node) in self.outputs.iter().enumerate() {
            match node {
                0 => writeln!(f, "output {k}: constant")?,
                node => writeln!(f, "output {k}: %{node}")?,
            }
        }
        Ok(())
    }
}

fn write_wide(wide: &Wide, f: &mut Formatter<'_>) -> fmt::Result {
    match wide.results {
        1 => write!(f, "%{}  ", wide.first)?,
        n => write!(f, "%{} … %{}  ", wide.first, wide.first + n - 1)?,
    }
    match &wide.kind {
        WideKind::Sum(operands) => {
            for (node, partial, _) in operands {
                write!(f, "+ {partial} · %{node} ")?;
            }
            writeln!(f)
        }
        WideKind::Block(block) => {
            write!(f, "recomputed from")?;
            block.operands.iter().try_for_each(|node| write!(f, " %{node}"))?;
            writeln!(f)
        }
        WideKind::Tensor(node) => {
            write!(f, "{}", wide.kind.name())?;
            node.operands.iter().try_for_each(|node| write!(f, " %{node}"))?;
            writeln!(f)
        }
        WideKind::Call(call) => {
            let what = match call.kind {
                CallKind::Pullback => "a registered pullback of",
                CallKind::Edit => "an edited adjoint of",
                CallKind::Constant => "a constant differential of",
                CallKind::Forwards => "a differential without a transpose of",
            };
            write!(f, "{what}")?;
            call.operands.iter().try_for_each(|node| write!(f, " %{node}"))?;
            writeln!(f)
        }
    }
}
