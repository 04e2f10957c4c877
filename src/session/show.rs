//! Every stage as text.

use super::{Input, Outcome, Session, Stage};

impl Session {
    /// One stage of a module as text.
    ///
    /// # Errors
    /// The outcome, when the module does not get so far.
    pub fn show(&mut self, stage: Stage, inputs: &[Input]) -> Result<String, Outcome> {
        if stage == Stage::Tree {
            let (files, _) = self.parse(inputs)?;
            return Ok(files.iter().map(crate::syntax::dump).collect());
        }
        let before = self.program.functions.len();
        let compiled = self.compile(inputs, false)?;
        Ok(match stage {
            Stage::Types => self.show_types(&compiled.checked),
            Stage::Tape => return self.show_tape(compiled),
            _ => self.show_functions(stage, before),
        })
    }

    fn show_types(&mut self, checked: &crate::types::Checked) -> String {
        let mut out = String::new();
        for (name, ty) in self.world.global_types() {
            out.push_str(&format!("{name}: {ty}\n"));
        }
        for f in &checked.functions {
            if let Some(line) = self.world.describe_function(*f) {
                out.push_str(&line);
                out.push('\n');
            }
        }
        out
    }

    fn show_functions(&mut self, stage: Stage, before: usize) -> String {
        let mut out = String::new();
        for id in before..self.program.functions.len() {
            let Some(function) = self.program.functions[id].clone() else { continue };
            if function.is_prelude {
                continue;
            }
            let program = &self.program;
            let text = match stage {
                Stage::Ir => crate::ir::listing::function(program, &function, Some(&self.sources)),
                Stage::Activity => crate::diff::listing::activity(program, &function),
                Stage::Derivative => crate::diff::listing::derivative_code(program, &function, Some(&self.sources)),
                Stage::Code => match crate::emit::emit(program, &function, false) {
                    Ok(code) => crate::bytecode::disassemble(&code),
                    Err(why) => why.to_string(),
                },
                Stage::Tree | Stage::Types | Stage::Tape => String::new(),
            };
            out.push_str(&text);
            out.push('\n');
        }
        out
    }
}
