//! Modified code objects of a compiled program, and a machine that runs them.
//!
//! In: words, random or from a fuzzer. [`WORDS`] words describe a modification; all values are valid. Code that passes the
//! verifier runs within limits.

use dscript::bytecode::operand::{Role, Table};
use dscript::bytecode::{Code, Instruction, LIST, Opcode};
use dscript::diff;
use dscript::emit::emit;
use dscript::ir::{FunctionId, Lowering, MethodId, Program};
use dscript::native::library::{self, Host};
use dscript::syntax;
use dscript::types::{check_module, context_with_prelude, operators};
use dscript::value::Components;
use dscript::value::shape::{DescriptionId, ShapeId, Shapes, Tangents};
use dscript::vm::{CodeSource, Fault, Limits, Machine, Reporter};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The number of words of a modification.
pub const WORDS: usize = 8;

/// The version of the code of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Version {
    Original,
    Derivative,
    BodyDerivative,
}

/// A compiled program, with all code that a run requires.
pub struct Subject {
    program: Program,
    script: FunctionId,
    codes: BTreeMap<(u32, Version), Rc<Code>>,
}

impl Subject {
    /// Compiles the program, and runs it without modifications.
    pub fn new() -> Subject {
        let text = include_str!("subject.dscript");
        let (mut types, mut sources) = context_with_prelude();
        let id = sources.add("subject.dscript", text.to_owned()).expect("a short text");
        let start = sources.get(id).start;
        let mut file = syntax::parse(text, start).file;
        let operators = operators(&types).clone();
        let problems = syntax::fold_file(&mut file, &operators);
        assert!(problems.is_empty(), "{problems:?}");
        let checked = check_module(&mut types, &[file], &[(start, text.into())], false);
        assert!(checked.ok, "{:?}", types.sink.diagnostics);
        let mut program = Program::default();
        let script = Lowering::new().script(&mut types, &mut program, checked.script);
        let mut subject = Subject { program, script, codes: BTreeMap::new() };
        let mut run = Tampered { subject: &subject, changes: &[], made: BTreeMap::new() };
        let result = run.run();
        assert!(result.is_ok(), "{result:?}");
        subject.codes = run.made;
        subject
    }

    /// Runs the program with modifications.
    pub fn run_with(&self, words: &[u16]) -> Result<(), Box<Fault>> {
        Tampered { subject: self, changes: words, made: BTreeMap::new() }.run()
    }
}

struct Tampered<'a> {
    subject: &'a Subject,
    changes: &'a [u16],
    made: BTreeMap<(u32, Version), Rc<Code>>,
}

impl Tampered<'_> {
    fn run(&mut self) -> Result<(), Box<Fault>> {
        let limits = Limits { depth: 200, steps: Some(20_000), ..Limits::default() };
        let host = Host { largest: 1 << 20, ..Host::silent() };
        let mut machine = Machine::new(host, limits, 8 << 20);
        machine.reserve_globals(self.subject.program.globals);
        let script = self.subject.script.0;
        machine.run(self, script, Components::default()).map(drop)
    }

    fn code(&mut self, function: u32, version: Version) -> Result<Rc<Code>, Box<Fault>> {
        let key = (function, version);
        let code = match self.subject.codes.get(&key) {
            Some(code) => code.clone(),
            None => self.compile(function, version)?,
        };
        let known: Vec<_> = self.subject.codes.keys().collect();
        let mut code = code;
        for change in self.changes.chunks_exact(WORDS) {
            if known.get(change[0] as usize % known.len().max(1)) == Some(&&key) {
                tamper(Rc::make_mut(&mut code), change);
            }
        }
        self.made.insert(key, code.clone());
        Ok(code)
    }

    fn compile(&self, function: u32, version: Version) -> Result<Rc<Code>, Box<Fault>> {
        let program = &self.subject.program;
        let id = FunctionId(function);
        let graph = program.function(id).ok_or_else(|| Fault::internal("no such function"))?;
        let code = match version {
            Version::Original => emit(program, graph, false),
            Version::Derivative => match diff::entry(id, graph) {
                Some(entry) => emit(program, &entry, true),
                None => emit(program, &diff::derivative(program, graph), true),
            },
            Version::BodyDerivative => emit(program, &diff::derivative(program, graph), true),
        };
        code.map(Rc::new).map_err(|why| Fault::internal(why.to_string()))
    }
}

impl Reporter for Tampered<'_> {
    fn custom_description(&mut self, own: DescriptionId, inside: bool) -> Result<u32, Box<Fault>> {
        let texts = self.subject.program.custom_descriptions.get(own.0 as usize).copied().flatten();
        texts.map(|texts| texts[usize::from(inside)].0).ok_or_else(|| Fault::internal("no such text"))
    }
}

impl CodeSource for Tampered<'_> {
    fn original(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.code(function, Version::Original)
    }

    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.code(function, Version::Derivative)
    }

    fn body_derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.code(function, Version::BodyDerivative)
    }

    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>> {
        let found = self.subject.program.dispatch.get(&(MethodId(u32::from(method)), shape));
        found.map(|f| f.0).ok_or_else(|| Fault::internal("no such method"))
    }

    fn shapes(&self) -> &Shapes {
        &self.subject.program.shapes
    }

    fn tangents(&self) -> &Tangents {
        &self.subject.program.tangents
    }
}

/// Applies one modification: usually to an instruction, sometimes to the tables of the code object.
fn tamper(code: &mut Code, change: &[u16]) {
    if change[1] % 4 == 3 {
        return tamper_with_tables(code, change);
    }
    if code.instructions.is_empty() {
        return;
    }
    let at = change[2] as usize % code.instructions.len();
    let opcode = match change[1] % 2 {
        0 => Opcode::ALL[change[3] as usize % LIST.len()],
        _ => code.instructions[at].opcode(),
    };
    let roles = opcode.entry().operands.iter().zip(&change[4..]);
    let operands: Vec<i64> = roles.map(|((_, role), word)| operand(code, *role, *word)).collect();
    if let Some(instruction) = Instruction::build(opcode, &operands) {
        code.instructions[at] = instruction;
    }
}

/// Returns an operand that is probably wrong: mostly in range, sometimes slightly out of range.
fn operand(code: &Code, role: Role, random: u16) -> i64 {
    let random = i64::from(random);
    let below = |limit: usize| random % (limit as i64 + 2);
    match role {
        Role::Register(bank, _) => below(code.frame()[bank as usize]),
        Role::Table(Table::Numbers) => below(code.numbers.len()),
        Role::Table(_) | Role::Component | Role::Global => random % 4,
        Role::Function | Role::Shape => random % 64,
        Role::Jump => random % (2 * code.instructions.len() as i64) - code.instructions.len() as i64,
        Role::Primitive | Role::Arithmetic => random % 256,
        Role::Method => random % 4,
        Role::Immediate => random - 32768,
    }
}

/// Modifies the tables of the code object: counts of components, shapes, called functions.
fn tamper_with_tables(code: &mut Code, change: &[u16]) {
    let (index, bank, small) = (change[3] as usize, change[4] as usize % 3, change[5] % 8);
    fn any<T>(all: &mut [T], index: usize) -> Option<&mut T> {
        let len = all.len();
        all.get_mut(index.checked_rem(len)?)
    }
    match change[2] % 14 {
        0 => code.params[bank] = small,
        1 => code.results[bank] = small,
        2 => code.registers[bank] = change[5] % 64,
        3 => code.window[bank] = change[5] % 64,
        4 => code.inactive_from = change[5] % 64,
        5 => code.is_derivative = !code.is_derivative,
        6 => {
            if let Some(parts) = any(&mut code.parts, index) {
                parts[bank] = small;
            }
        }
        7 => {
            if let Some(closure) = any(&mut code.closures, index) {
                closure.captures[bank] = small;
            }
        }
        8 => {
            if let Some(closure) = any(&mut code.closures, index) {
                closure.function = u32::from(change[5]) % 64;
            }
        }
        9 => {
            let fits = |native: u16| !library::name(native).starts_with("io.");
            if let Some(site) = any(&mut code.natives, index).filter(|_| fits(change[5] % 128)) {
                site.native = change[5] % 128;
            }
        }
        10 => {
            if let Some(site) = any(&mut code.natives, index) {
                let counts =
                    if change[6].is_multiple_of(2) { &mut site.signature.params } else { &mut site.signature.results };
                counts[bank] = small;
            }
        }
        11 => {
            let shape = any(&mut code.natives, index).and_then(|site| any(&mut site.shapes, change[6] as usize));
            if let Some(shape) = shape {
                *shape = ShapeId(u32::from(change[5]) % 64);
            }
        }
        12 => {
            if let Some(site) = any(&mut code.operators, index) {
                let counts = if change[6].is_multiple_of(2) { &mut site.params } else { &mut site.results };
                counts[bank] = small;
            }
        }
        _ => {
            if let Some(site) = any(&mut code.rules, index) {
                match change[6] % 4 {
                    0 => site.results[bank] = small,
                    1 => site.params.truncate(small as usize),
                    2 => site.rules.iter_mut().for_each(|rule| rule.wrt.push(true)),
                    _ => site.function = u32::from(change[5]) % 64,
                }
            }
        }
    }
}
