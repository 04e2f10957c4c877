//! Interactive input: determines the names that each input declares, and what remains after an input that fails.

use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::Program;
use crate::ir::lower::Lowering;
use crate::session::run::implicit_declaration;
use crate::session::run::lazy_compiler::LazyCompiler;
use crate::session::{Compiled, Input, Outcome, Session, Status};
use crate::syntax::declared_tests::TestCases;
use crate::types::TypeContext;
use crate::types::declare::interactive_session;
use crate::types::declare::interactive_session::{Declared, DeclaredEntity, Names, OutdatedUse};
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::GlobalId;
use crate::value::{Bank, Cells, Components, Ref, Slot};
use std::path::PathBuf;

/// The result of an entered text.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The diagnostics of the entered text, in the order of source locations.
    pub diagnostics: Vec<Diagnostic>,
    /// The status of the request.
    pub status: Status,
    /// The declarations in the order of the text, followed by the value of the last expression.
    pub shown: Vec<DisplayItem>,
    /// The functions that still use what the text has declared again.
    pub outdated: Vec<OutdatedUse>,
}

impl Answer {
    /// Returns the notes about functions that still use what the text has declared again.
    pub(crate) fn outdated_notes(&self) -> impl Iterator<Item = String> {
        self.outdated.iter().map(|OutdatedUse { function, name }| {
            format!("'{function}' still uses the earlier '{name}'; enter '{function}' again to use the new one")
        })
    }
}

/// A declaration or a value, as displayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DisplayItem {
    /// The name of the declaration; the value of an expression has none.
    pub name: Option<String>,
    /// The type of the value, or the keyword that declares a type.
    pub ty: String,
    /// The value in source syntax.
    pub value: Option<String>,
}

/// Whether a text is complete, so that it can be entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completeness {
    /// The text is complete and has no syntax errors.
    Complete,
    /// The text is incomplete: it is the beginning of a longer text.
    Incomplete,
    /// The text is invalid, whatever follows it.
    Invalid,
}

/// The state that a session restores when a text does not compile.
#[derive(Clone)]
pub(crate) struct SessionSnapshot {
    context: TypeContext,
    lowering: Lowering,
    program: Program,
    imported: Vec<PathBuf>,
    test_cases: TestCases,
}

impl Session {
    /// Enters a text into a session that is [interactive](crate::session::Options::interactive): it may use and
    /// redeclare earlier declarations.
    ///
    /// A text that does not compile leaves the session unchanged. If a text fails while it runs, the variables that
    /// have been initialized remain, and so do functions and types, unless they use an uninitialized variable.
    pub fn enter(&mut self, name: &str, text: &str) -> Answer {
        let names = interactive_session::names(&self.context);
        let compiled = self.compile_entered(name, text).or_else(|rejected| {
            // A variable that an assignment declared may get a value of another type.
            let redeclares = !self.assigned.is_empty() && implicit_declaration::assigns_one_of(text, &self.assigned);
            if !redeclares {
                return Err(rejected);
            }
            self.redeclares_assigned = true;
            let compiled = self.compile_entered(name, text);
            self.redeclares_assigned = false;
            compiled.map_err(|_| rejected)
        });
        match compiled {
            Ok(compiled) => {
                self.note_assigned(text, &names);
                // The checks restart for every text, and the kinks of earlier texts are discarded.
                self.machine.levels.watch(self.observer_options);
                self.machine.take_kinks();
                self.execute_entered(compiled, &names)
            }
            Err(Outcome { diagnostics, status, .. }) => Answer { diagnostics, status, shown: vec![], outdated: vec![] },
        }
    }

    /// Compiles a text that may have a value; a text that does not compile leaves the session unchanged.
    pub(crate) fn compile_entered(&mut self, name: &str, text: &str) -> Result<Compiled, Outcome> {
        let snapshot = self.snapshot();
        let input = Input { name, text };
        let mut compiled = self.compile_written(&[input], true);
        let integers = match compiled {
            Ok(_) => self.integer_quotients(&snapshot.context, input),
            Err(_) => vec![],
        };
        if !integers.is_empty() {
            self.restore(snapshot.clone());
            self.context.module.integer_quotients = integers;
            compiled = self.compile_written(&[input], true);
            self.context.module.integer_quotients.clear();
        }
        if compiled.is_err() {
            self.restore(snapshot);
        }
        compiled
    }

    /// Returns whether a text is complete, incomplete or invalid.
    pub fn completeness(text: &str) -> Completeness {
        let parsed = crate::syntax::parse(text, 0);
        match parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            _ if parsed.incomplete && !ends_with_percentage(text) => Completeness::Incomplete,
            true => Completeness::Invalid,
            false => Completeness::Complete,
        }
    }

    pub(crate) fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            context: self.context.clone(),
            lowering: self.lowering.clone(),
            program: self.program.clone(),
            imported: self.imported.clone(),
            test_cases: self.test_cases.clone(),
        }
    }

    pub(crate) fn restore(&mut self, snapshot: SessionSnapshot) {
        let SessionSnapshot { context, lowering, program, imported, test_cases } = snapshot;
        (self.context, self.lowering, self.program) = (context, lowering, program);
        (self.imported, self.test_cases) = (imported, test_cases);
    }

    fn execute_entered(&mut self, compiled: Compiled, names: &Names) -> Answer {
        let Compiled { checked, script, diagnostics } = compiled;
        let text = checked.value.as_ref().and_then(|ty| self.text_function(self.display_function(), ty));
        let computed = self.computed(script);
        let described = computed.and_then(|values| {
            let mut compiler = LazyCompiler::new(&self.program);
            let text = text.map(|text| self.machine.run(&mut compiler, text.0, values.all())).transpose()?;
            Ok((values, text))
        });
        let (values, result) = match described {
            Ok((values, text)) => (Some(values), Ok(text)),
            Err(fault) => (None, Err(fault)),
        };
        let stopped = result.as_ref().err().map(|fault| fault.backtrace.last().map_or(fault.span, |call| call.span));
        let Outcome { diagnostics, status, value } = self.concluded(result, diagnostics);
        if let Some(span) = stopped {
            interactive_session::keep_until(&mut self.context, names, checked.script, span.start);
        }
        let mut shown = vec![];
        let declared = interactive_session::declared_since(&mut self.context, names);
        let outdated = interactive_session::outdated_uses(&self.context, names, &declared);
        for declared in declared {
            shown.push(self.shown(declared));
        }
        if let (Some(value), Some(ty)) = (value, &checked.value) {
            let value = Some(value).filter(|_| !matches!(ty, Type::Function(_)));
            if let (Some(values), Some(_)) = (values, &value) {
                self.store_answer(ty, &values);
            }
            shown.push(DisplayItem { name: None, ty: display::show(&self.context, ty), value });
        }
        Answer { diagnostics, status, shown, outdated }
    }

    pub(crate) fn shown(&mut self, declared: Declared) -> DisplayItem {
        let Declared { name, what, .. } = declared;
        let (ty, value) = match what {
            DeclaredEntity::Function(ty) => (ty, None),
            DeclaredEntity::Type(word) => (word.to_owned(), None),
            DeclaredEntity::Variable { global, ty } => {
                (interactive_session::show_variable(&self.context, global, &ty), self.text_of_variable(global, &ty))
            }
        };
        DisplayItem { name: Some(name), ty, value }
    }

    /// Returns the value of a global variable in source syntax; a variable that holds a function has none.
    fn text_of_variable(&mut self, global: GlobalId, ty: &Type) -> Option<String> {
        if matches!(ty, Type::Function(_)) {
            return None;
        }
        let value = self.value_of(global)?;
        let text = self.text_function(self.display_function(), ty)?;
        let mut compiler = LazyCompiler::new(&self.program);
        let text = self.machine.run(&mut compiler, text.0, value.all()).ok()?;
        match text.r.first() {
            Some(Ref::Text(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Returns the function of the prelude that formats values for display.
    fn display_function(&self) -> &'static str {
        if self.abbreviates { "_describeInSession" } else { "_describeInFull" }
    }

    /// Records which variables of an input were declared by an assignment, and which by a declaration.
    fn note_assigned(&mut self, text: &str, names: &Names) {
        let assigned = implicit_declaration::assigned_names(text);
        for name in interactive_session::variables_since(&self.context, names) {
            if assigned.contains(&*name) {
                self.assigned.insert(name);
            } else {
                self.assigned.remove(&name);
            }
        }
    }

    /// Stores a displayed value in the variable `ans`, unless the program declares that name.
    fn store_answer(&mut self, ty: &Type, value: &Cells) {
        let Some(answer) = interactive_session::answer(&mut self.context, self.answer, ty) else { return };
        if self.answer != Some(answer) {
            if let Some(earlier) =
                self.answer.filter(|earlier| !interactive_session::is_shared(&self.context, *earlier))
            {
                self.write_global(earlier, &Cells::empty());
            }
            self.lowering.allocate(&mut self.context, &mut self.program, (answer, ty));
            self.machine.reserve_globals(self.program.globals);
            self.answer = Some(answer);
        }
        self.write_global(answer, value);
    }

    /// Writes the components of a value to a global variable; missing components become zero.
    fn write_global(&mut self, global: GlobalId, value: &Cells) {
        let (mut f, mut i, mut r) = (value.f.iter(), value.i.iter(), value.r.iter());
        let globals = &mut self.machine.globals;
        for (bank, at) in self.lowering.storage(global).into_iter().flatten() {
            let at = *at as usize;
            match bank {
                Bank::F => {
                    globals.f[at] = f.next().copied().unwrap_or_default();
                    if let Some(slot) = globals.slots.get_mut(at) {
                        *slot = Slot::NONE;
                    }
                }
                Bank::I => globals.i[at] = i.next().copied().unwrap_or_default(),
                Bank::R => globals.r[at] = r.next().cloned().unwrap_or(Ref::Null),
            }
        }
    }

    fn value_of(&self, global: GlobalId) -> Option<Cells> {
        let (mut f, mut i, mut r) = (vec![], vec![], vec![]);
        let globals = &self.machine.globals;
        for (bank, at) in self.lowering.storage(global)? {
            let at = *at as usize;
            match bank {
                Bank::F => f.push(*globals.f.get(at)?),
                Bank::I => i.push(*globals.i.get(at)?),
                Bank::R => r.push(globals.r.get(at)?.clone()),
            }
        }
        Some(Cells::record(Components { f: &f, slots: &[], i: &i, r: &r }))
    }
}

/// Whether a text ends with a percentage, `10%`, rather than with an operator whose right operand follows.
fn ends_with_percentage(text: &str) -> bool {
    text.trim_end().strip_suffix('%').is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
}
