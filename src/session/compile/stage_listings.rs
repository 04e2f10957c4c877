//! Stage listings: the output of every stage of the compiler as text.

use crate::diagnostic::Diagnostic;
use crate::ir::{Fallback, Function, FunctionId, Op};
use crate::session::compile::differentiation_mechanism::transformed;
use crate::session::query::command_text::{self, CommandText};
use crate::session::{Input, Outcome, Session, Stage};
use crate::source::{GENERATED, Span};
use crate::types::declare::interactive_session;
use crate::types::module_check;
use crate::value::{Bank, Signature};
use crate::vm::TransformKind;

impl Session {
    /// Returns the listing of a stage for a module.
    ///
    /// # Errors
    /// Returns the outcome when the module does not reach the stage.
    pub fn show(&mut self, stage: Stage, inputs: &[Input]) -> Result<String, Outcome> {
        if stage == Stage::Tree {
            let (files, _) = self.parse(inputs)?;
            return Ok(files.iter().map(crate::syntax::dump).collect());
        }
        let first = self.program.functions.len();
        let compiled = self.compile(inputs, false)?;
        Ok(match stage {
            Stage::Types => self.show_types(&compiled.checked),
            Stage::Tape => return self.show_tape(compiled),
            Stage::Mechanism => {
                let own = self.own_functions(first);
                return self.executed_mechanisms(compiled, &own);
            }
            _ => self.show_functions(stage, first),
        })
    }

    /// Returns the listing of a stage for a function that was entered before or that is written in `typed`, and for the
    /// closures in it. The session is unchanged.
    ///
    /// # Errors
    /// Returns the diagnostics when the function does not compile.
    pub fn show_function(&mut self, stage: Stage, typed: &str) -> Result<String, Vec<Diagnostic>> {
        let function = self.as_function(typed);
        let program = CommandText::new(typed).around(&function, typed);
        match stage {
            Stage::Tree => return self.tree_of(&function, &program),
            Stage::Types => {
                let ty = self.type_around(&function, typed)?.unwrap_or_default();
                return Ok(format!("{function}: {ty}"));
            }
            _ => {}
        }
        let snapshot = self.snapshot();
        let compiled = self.compile(&[Input { name: GENERATED, text: &function }], true);
        let text = compiled.map(|compiled| {
            let mut found = self.functions_in(compiled.script);
            let mut at = 0;
            while let Some(id) = found.get(at).copied() {
                let inner = self.functions_in(id).into_iter().filter(|id| !found.contains(id));
                found.extend(inner.filter(|id| !self.is_of_library(*id)).collect::<Vec<_>>());
                at += 1;
            }
            found.into_iter().map(|id| self.show_graph(stage, id) + "\n").collect::<String>()
        });
        self.restore(snapshot);
        text.map_err(|outcome| self.at_input_parts(outcome.diagnostics, command_text::NAME, &program))
    }

    /// Returns the syntax tree of the text that declared a function, or of the function as written.
    fn tree_of(&mut self, function: &str, program: &CommandText<'_>) -> Result<String, Vec<Diagnostic>> {
        let place = interactive_session::places_of(&mut self.context, function)
            .into_iter()
            .find(|span| *span != Span::default())
            .filter(|span| !self.sources.is_prelude(*span));
        let source = place.and_then(|span| self.sources.source_of(span)).map(|id| self.sources.get(id));
        let text = source.map(|source| source.text.to_string());
        let text = text.unwrap_or_else(|| function.to_owned());
        let snapshot = self.snapshot();
        let parsed = self.parse(&[Input { name: GENERATED, text: &text }]);
        self.restore(snapshot);
        let (files, _) =
            parsed.map_err(|outcome| self.at_input_parts(outcome.diagnostics, command_text::NAME, program))?;
        Ok(files.iter().map(crate::syntax::dump).collect())
    }

    /// Returns the functions that are used as values in a function, in order.
    pub(super) fn functions_in(&self, id: FunctionId) -> Vec<FunctionId> {
        let blocks = self.program.function(id).map_or(&[][..], |function| &function.blocks);
        let steps = blocks.iter().flat_map(|block| &block.instructions);
        let functions = steps.filter_map(|step| match step.op {
            Op::Closure(id) => Some(id),
            Op::LoadGlobal { bank: Bank::R, index } => self.program.function_in_global(index),
            _ => None,
        });
        functions.collect()
    }

    fn is_of_library(&self, id: FunctionId) -> bool {
        self.program.function(id).is_none_or(|function| function.is_prelude)
    }

    fn show_types(&mut self, checked: &crate::types::Checked) -> String {
        let mut out = String::new();
        for (name, ty) in module_check::global_types(&mut self.context) {
            out.push_str(&format!("{name}: {ty}\n"));
        }
        for f in &checked.functions {
            if let Some(line) = module_check::describe_function(&mut self.context, *f) {
                out.push_str(&line);
                out.push('\n');
            }
        }
        out
    }

    /// Returns the functions of the program, without those of the library, compiled from index `first` on.
    fn own_functions(&self, first: usize) -> Vec<FunctionId> {
        let functions = (first..self.program.functions.len()).map(|id| FunctionId(id as u32));
        functions.filter(|id| !self.is_of_library(*id)).collect()
    }

    fn show_functions(&mut self, stage: Stage, first: usize) -> String {
        let own = self.own_functions(first).into_iter();
        own.map(|id| self.show_graph(stage, id) + "\n").collect()
    }

    /// Returns tangent or adjoint code, or the reason why the function has no such code.
    fn transformed_code(&self, id: FunctionId, kind: TransformKind) -> Result<Function, Fallback> {
        transformed(&self.program, &Signature { function: id.0, captured: vec![] }, kind)
    }

    /// Returns the listing of a stage after type checking.
    fn show_graph(&self, stage: Stage, id: FunctionId) -> String {
        let program = &self.program;
        let Some(function) = program.function(id) else { return String::new() };
        let graph = |function: &Function| crate::ir::listing::function(program, function, Some(&self.sources));
        let code = |function: &Function, is_derivative| match crate::emit::emit(program, function, is_derivative) {
            Ok(code) => crate::bytecode::disassemble(&code),
            Err(why) => why.to_string(),
        };
        let none = |code: &str, why: &Fallback| format!("{}: there is no {code} code because {why}\n", function.name);
        match stage {
            Stage::Ir => graph(function),
            Stage::Activity => crate::diff::listing::activity(program, function),
            Stage::Derivative => crate::diff::listing::derivative_code(program, function, Some(&self.sources)),
            Stage::Code => code(function, false),
            Stage::DerivativeCode => code(&crate::diff::derivative(program, function), true),
            Stage::Tangent => match self.transformed_code(id, TransformKind::Tangent) {
                Ok(made) => graph(&made),
                Err(why) => none("tangent", &why),
            },
            Stage::TangentCode => match self.transformed_code(id, TransformKind::Tangent) {
                Ok(made) => code(&made, false),
                Err(why) => none("tangent", &why),
            },
            Stage::Adjoint => match self.transformed_code(id, TransformKind::ValueWithGradient) {
                Ok(made) => graph(&made),
                Err(why) => none("adjoint", &why),
            },
            Stage::AdjointCode => match self.transformed_code(id, TransformKind::ValueWithGradient) {
                Ok(made) => code(&made, false),
                Err(why) => none("adjoint", &why),
            },
            Stage::Linearization => match self.transformed_code(id, TransformKind::Linearization) {
                Ok(made) => graph(&made),
                Err(why) => none("linearization", &why),
            },
            Stage::Mechanism => self.mechanisms_of(id),
            Stage::Tree | Stage::Types | Stage::Tape => String::new(),
        }
    }
}
