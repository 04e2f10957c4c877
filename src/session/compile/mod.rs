//! Compiler pipeline: the stages from source text to checked and lowered modules, with the diagnostics of
//! differentiation.

mod argument_labels;
pub(crate) mod compiled_program;
pub(crate) mod differentiation_mechanism;
mod foreign_attempt;
mod foreign_code;
mod foreign_edit;
mod foreign_scope;
pub(crate) mod imports;
mod package_module;
pub(crate) mod program_file;
mod quotient_edits;
pub(crate) mod stage_listings;
mod statement_errors;
pub(crate) mod stored_graphs;

use crate::cancel;
use crate::cancel::{Deadline, Reason};
use crate::diagnostic::{Code, Diagnostic};
use crate::diff::{Checker, mark_own_tangents};
use crate::ir::FunctionId;
use crate::session::compile::imports::ModuleFiles;
use crate::session::run::implicit_declaration;
use crate::session::{Compiled, Input, Outcome, Session, Status};
use crate::source::Span;
use crate::syntax;
use crate::types::Differentiability;
use crate::types::declare::interactive_session;
use crate::types::derivative::differentiability;
use crate::types::derivative::sample_instantiation;
use crate::types::generics::local_function;
use crate::types::model::declaration_info::Declarations;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::FunctionRef;
use crate::types::module_check;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Session {
    /// Compiles the files of a module; returns an outcome when there are errors or the work is canceled. The session
    /// then contains the declarations up to that point: a caller that continues with it must [restore
    /// it](Session::restore).
    pub(crate) fn compile(&mut self, inputs: &[Input], wants_value: bool) -> Result<Compiled, Outcome> {
        self.timed(|session| session.compiled(inputs, wants_value))
    }

    /// Compiles texts that the user has written like [`compile`](Session::compile), and explains errors in foreign
    /// code. Edits that do not compile are not offered for quotients.
    pub(crate) fn compile_written(&mut self, inputs: &[Input], wants_value: bool) -> Result<Compiled, Outcome> {
        let before = self.context.clone();
        let imported_before = self.imported.clone();
        self.timed(|session| {
            let compiled = session.compiled(inputs, wants_value);
            // The attempts to explain and to edit the texts read the imported files again.
            let imported = std::mem::replace(&mut session.imported, imported_before);
            let result = match compiled {
                Ok(mut compiled) => {
                    session.check_quotient_edits(&before, inputs, wants_value, &mut compiled.diagnostics);
                    Ok(compiled)
                }
                Err(outcome) if outcome.status == Status::Rejected => {
                    Err(rejected(session.explain_foreign_code(&before, inputs, wants_value, outcome.diagnostics)))
                }
                Err(outcome) => Err(outcome),
            };
            session.imported = imported;
            result
        })
    }

    /// Returns the error for a tangent vector that a type defines although it has values already.
    fn defines_vector_late(&mut self, ty: &Type) -> Diagnostic {
        let name = self.context.type_name(ty);
        let message = format!("'{name}' has values already, which have no space for its own tangent vectors");
        let help = format!("declare '{name}' again, in one input with the extension");
        Diagnostic::error(Code::Unsupported, self.last_text(), message).help(help)
    }

    /// Compiles within the time limit.
    fn timed(&mut self, compile: impl FnOnce(&mut Session) -> Result<Compiled, Outcome>) -> Result<Compiled, Outcome> {
        let began = Instant::now();
        let compiled = self.stoppable("compiling", compile);
        // The time limit of the run includes the time of the compilation.
        self.machine.passed = began.elapsed();
        compiled
    }

    /// Runs work that the interrupt flag and the time limit can cancel. `what` is the name of the work in the
    /// diagnostic.
    pub(crate) fn stoppable<T>(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Session) -> Result<T, Outcome>,
    ) -> Result<T, Outcome> {
        let interrupt = Arc::clone(&self.interrupt);
        let deadline = self.machine.limits.time.and_then(|allowed| Deadline::new(allowed, Duration::ZERO));
        let done =
            cancel::under(&interrupt, deadline, || cancel::catch_cancelled(|| work(self)).ok_or_else(cancel::reason));
        done.unwrap_or_else(|reason| Err(self.stopped(what, reason)))
    }

    fn stopped(&mut self, what: &str, reason: Option<Reason>) -> Outcome {
        self.context.sink.diagnostics.clear();
        let (code, status, message) = match reason {
            Some(Reason::Late(allowed)) => {
                let message = format!("{what} took longer than {} s", allowed.as_secs_f64());
                (Code::TimeLimit, Status::TimeLimit, message)
            }
            Some(Reason::Interrupted) | None => {
                (Code::Interrupted, Status::Interrupted, format!("interrupted while {what}"))
            }
        };
        let diagnostic = Diagnostic::error(code, self.last_text(), message);
        Outcome { diagnostics: vec![diagnostic], status, value: None }
    }

    fn compiled(&mut self, inputs: &[Input], wants_value: bool) -> Result<Compiled, Outcome> {
        let (files, texts) = self.parse(inputs)?;
        let checked = module_check::check_module(&mut self.context, &files, &texts, wants_value);
        let mut diagnostics = std::mem::take(&mut self.context.sink.diagnostics);
        if !checked.ok || diagnostics.iter().any(Diagnostic::is_error) {
            return Err(rejected(diagnostics));
        }
        if checked.registers {
            self.lowering.forget_functions();
        }
        if checked.extends {
            let conflicts = self.lowering.update_extended_types(&mut self.context, &mut self.program);
            if let Some(ty) = conflicts.first() {
                return Err(rejected(vec![self.defines_vector_late(ty)]));
            }
            self.machine.functions.forget_methods();
        }
        let compiled_before = self.program.functions.len();
        let script = self.lowering.script(&mut self.context, &mut self.program, checked.script);
        diagnostics.append(&mut self.check_derivatives(&checked.functions, compiled_before));
        diagnostics.append(&mut self.context.sink.diagnostics);
        for (span, what) in std::mem::take(&mut self.lowering.unsupported) {
            diagnostics.push(Diagnostic::error(Code::Unsupported, span, what));
        }
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.append(&mut self.check_shapes(script, compiled_before));
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(rejected(diagnostics));
        }
        if self.deny_warnings && !diagnostics.is_empty() {
            return Err(Outcome { diagnostics, status: Status::Denied, value: None });
        }
        Ok(Compiled { checked, script, diagnostics })
    }

    /// Parses source texts and arranges their operators by precedence.
    #[expect(clippy::type_complexity, reason = "trees with their sources")]
    pub(crate) fn parse(&mut self, inputs: &[Input]) -> Result<(Vec<syntax::ast::File>, Vec<(u32, Rc<str>)>), Outcome> {
        let ModuleFiles { mut files, texts, mut diagnostics, paths, is_full, .. } = self.load_files(inputs);
        if is_full {
            return Err(rejected(vec![no_room()]));
        }
        let mut operators = module_check::operators(&self.context).clone();
        for file in &files {
            diagnostics.extend(operators.declare(file));
        }
        for file in &mut files {
            diagnostics.extend(syntax::fold_file(file, &operators));
        }
        if self.context.module.is_interactive {
            self.declare_assigned(&mut files);
        }
        module_check::set_operators(&mut self.context, operators);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(rejected(diagnostics));
        }
        diagnostics.into_iter().for_each(|warning| self.context.sink.report(warning));
        self.imported.extend(paths);
        Ok((files, texts))
    }

    /// Converts assignments to names that are not declared to declarations.
    fn declare_assigned(&self, files: &mut [syntax::ast::File]) {
        let is_declared = |name: &str| {
            let is_redeclared = self.redeclares_assigned && self.assigned.contains(name);
            !is_redeclared && interactive_session::is_declared(&self.context, name)
        };
        // The entered text comes after the files that it imports.
        if let Some(file) = files.last_mut() {
            implicit_declaration::declare_assigned(file, &is_declared);
        }
    }

    /// Checks that the functions declared `@differentiable` are differentiable. Only the functions from `first` on are
    /// checked: earlier ones were checked when their text was compiled.
    fn check_derivatives(&mut self, functions: &[typed_tree::FunctionId], first: usize) -> Vec<Diagnostic> {
        let mut declared = vec![];
        for f in functions {
            let differentiability = module_check::declared_differentiability(&mut self.context, *f);
            // An inner function is lowered together with the outer function that contains it.
            if !module_check::is_inside(&self.context, *f) && self.context.function(*f).generics.is_empty() {
                self.lower(*f);
            }
            if let Some(differentiability) = differentiability.filter(|p| !p.default) {
                // The local function may have no callers.
                if local_function::is_local(&mut self.context, *f) && self.lowering.instances(*f).is_empty() {
                    self.lower(*f);
                }
                declared.push((*f, differentiability, None));
            }
        }
        for kept in differentiability::differentiable_witnesses(&mut self.context) {
            let witness = kept.witness.function;
            if self.context.function(witness).generics.is_empty() {
                self.lower(witness);
            } else if module_check::is_default_implementation(&self.context, witness) {
                self.lowering.function(&mut self.context, &mut self.program, &kept.witness);
            }
            declared.push((witness, kept.differentiability, Some(kept.requirement)));
        }
        declared.retain(|(f, differentiability, _)| {
            !module_check::has_registered_creation(&mut self.context, *f, &differentiability.wrt)
        });
        let mut out = std::mem::take(&mut self.context.sink.diagnostics);
        let mut instances = vec![];
        for (f, differentiability, requirement) in declared {
            let mut seen: Vec<Vec<Type>> = vec![];
            for (id, generics) in self.lowering.instances(f) {
                // A recursive local function has two instances: the function itself, and the instance that the function
                // calls.
                if !seen.contains(&generics) && differentiability::attribute_applies(&mut self.context, f, &generics) {
                    instances.push((id, differentiability.clone(), requirement));
                }
                seen.push(generics);
            }
        }
        let end = self.program.functions.len();
        let samples = self.sample_uncalled(functions);
        let sampled_end = self.program.functions.len();
        mark_own_tangents(&mut self.program, first);
        let mut checker = Checker::new(&self.program).rejecting_unknown_linearity(self.rejects_unknown_linearity);
        for id in first..end {
            checker.check(FunctionId(id as u32), &mut out);
        }
        for (id, differentiability, requirement) in instances {
            checker.check_declaration(id, differentiability.linear, &differentiability.wrt, requirement, &mut out);
        }
        let first = out.len();
        for id in end..sampled_end {
            checker.check(FunctionId(id as u32), &mut out);
        }
        for (id, differentiability) in samples {
            checker.check_declaration(id, differentiability.linear, &differentiability.wrt, None, &mut out);
        }
        // A warning may be caused by the sample types only.
        let found = out.split_off(first);
        out.extend(found.into_iter().filter(Diagnostic::is_error));
        out
    }

    /// Lowers the generic functions without callers for sample types. Returns the lowered functions that are declared
    /// differentiable and must be checked: these functions and the functions declared inside them.
    fn sample_uncalled(&mut self, functions: &[typed_tree::FunctionId]) -> Vec<(FunctionId, Rc<Differentiability>)> {
        let unsupported = self.lowering.unsupported.len();
        let first = self.program.functions.len();
        // An inner function may have callers in its outer function.
        let (inner, outer): (Vec<_>, Vec<_>) =
            functions.iter().copied().partition(|f| module_check::is_inside(&self.context, *f));
        for f in outer {
            self.lower_sample(f);
        }
        for f in inner {
            if local_function::is_local_function(&self.context, f)
                && module_check::declared_differentiability(&mut self.context, f).is_some()
            {
                self.lower_sample(f);
            }
        }
        self.lowering.unsupported.truncate(unsupported);
        let mut samples = vec![];
        for f in functions {
            let Some(differentiability) =
                module_check::declared_differentiability(&mut self.context, *f).filter(|p| !p.default)
            else {
                continue;
            };
            for (id, generics) in self.lowering.instances(*f) {
                if id.0 as usize >= first && differentiability::attribute_applies(&mut self.context, *f, &generics) {
                    samples.push((id, differentiability.clone()));
                }
            }
        }
        samples
    }

    fn lower_sample(&mut self, f: typed_tree::FunctionId) {
        if !self.context.function(f).generics.is_empty()
            && self.lowering.instances(f).is_empty()
            && let Some(sample) = sample_instantiation::generic_sample(&mut self.context, f)
        {
            self.lowering.function(&mut self.context, &mut self.program, &sample);
        }
    }

    fn lower(&mut self, f: typed_tree::FunctionId) {
        let f = FunctionRef { function: f, generics: vec![] };
        self.lowering.function(&mut self.context, &mut self.program, &f);
    }
}

pub(crate) fn rejected(diagnostics: Vec<Diagnostic>) -> Outcome {
    let internal = diagnostics.iter().any(|d| d.code == Code::Internal);
    Outcome { diagnostics, status: if internal { Status::Internal } else { Status::Rejected }, value: None }
}

/// Returns the diagnostic for an exhausted space of source offsets.
pub(crate) fn no_room() -> Diagnostic {
    Diagnostic::error(Code::Input, Span::default(), "the sources of this session are larger than 4 GiB")
}
