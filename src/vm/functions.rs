//! The code of every function that was asked for.

use super::fault::Fault;
use super::operators::{Kink, Trace};
use super::threaded::{Threaded, translate};
use crate::bytecode::operand::Role;
use crate::bytecode::{Code, Instruction, Operator, verify};
use crate::native::library::ExplainRequest;
use crate::value::shape::{OwnId, ShapeId, Shapes, Tangents};
use crate::value::{Cells, Closure, Ref, Signature};
use hashbrown::HashMap;
use std::rc::Rc;

/// What entering and leaving a function needs of its code, close together: a call touches one or two cache lines of it.
#[derive(Debug)]
pub struct Entry {
    /// The code itself.
    pub code: Rc<Code>,
    /// Its first instruction.
    pub start: *const Instruction,
    /// Its number constants.
    pub numbers: *const f64,
    /// Registers and window.
    pub frame: [u32; 3],
    /// Registers without the window.
    pub own: [u32; 3],
    /// How many references it gives back.
    pub kept: u32,
    /// Number registers without slots, when it is derivative code.
    pub inactive: (u32, u32),
    /// Whether its numbers carry slots.
    pub is_derivative: bool,
}

impl Entry {
    /// The entry of verified code.
    pub fn of(code: Rc<Code>) -> Entry {
        Entry {
            start: code.instructions.as_ptr(),
            numbers: code.numbers.as_ptr(),
            frame: code.frame().map(|n| n as u32),
            own: code.registers.map(u32::from),
            kept: u32::from(code.results[2]),
            inactive: (u32::from(code.inactive_from), u32::from(code.registers[0])),
            is_derivative: code.is_derivative,
            code,
        }
    }
}

/// Who compiles what is missing, and knows the types. `session` implements it, so that the machine need not see the
/// compiler.
pub trait Compiler {
    /// The original code of a function.
    ///
    /// # Errors
    /// When there is none, which is a mistake of our own.
    fn original(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// The derivative code of a function.
    ///
    /// # Errors
    /// When it has no derivative.
    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// The derivative code of a function's own body, whatever derivatives are registered for it.
    ///
    /// # Errors
    /// When it has no derivative.
    fn beneath(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// Whether a chain can break anywhere in the program, so that derivative code follows it.
    ///
    /// # Errors
    /// When somebody interrupts.
    fn chains_may_break(&mut self) -> Result<bool, Box<Fault>> {
        Ok(false)
    }

    /// Tangent or adjoint code of a function; nothing where there is none.
    ///
    /// # Errors
    /// When somebody interrupts.
    fn sweep(&mut self, function: &Signature, kind: Swept) -> Result<Option<Rc<Code>>, Box<Fault>> {
        let _ = (function, kind);
        Ok(None)
    }

    /// The function that writes a value as its type declares it, alone or inside of another value.
    ///
    /// # Errors
    /// When there is none, which is a mistake of our own.
    fn own_text(&mut self, own: OwnId, inside: bool) -> Result<u32, Box<Fault>>;

    /// Which function a method is for a type.
    ///
    /// # Errors
    /// When there is none, which is a mistake of our own.
    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>>;

    /// What a sweep looks like in the view that a program requested: the forms of a picture. Nothing where nobody
    /// knows the names.
    fn told(&mut self, trace: &Trace, kinks: &[Kink], request: &ExplainRequest) -> Vec<String> {
        let _ = (trace, kinks, request);
        vec![]
    }

    /// The derivative of a function as a formula: the forms of a picture. `name` is how the function is written,
    /// `order` how many times it is differentiated.
    fn derived(&mut self, function: u32, name: &str, order: i64) -> Vec<String> {
        let _ = (function, name, order);
        vec![]
    }

    /// What values look like.
    fn shapes(&self) -> &Shapes;

    /// How types differentiate.
    fn tangents(&self) -> &Tangents;
}

/// More functions than any program has; a number beyond comes from a damaged code object.
const MOST: u32 = 1 << 24;

/// Which code of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The code as it was written.
    Original,
    /// Its derivative; a call by rule where derivatives are registered.
    Derivative,
    /// The derivative of its own body, beneath what is registered.
    Beneath,
}

/// What code that needs no level gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swept {
    /// Value and tangent: tangent code.
    Tangent,
    /// Value and gradient: adjoint code.
    ValueWithGradient,
    /// The gradient alone: adjoint code without what only the value needs, if that cannot hide what is not finite.
    Gradient,
}

/// Tangent or adjoint code of a function.
#[derive(Debug)]
pub struct Sweep {
    /// As the compiler gave it.
    pub code: Rc<Code>,
    /// As it runs.
    pub threaded: Threaded,
}

/// Original and derivative code by the number of the function. Entries stay where they are as long as the machine lives,
/// so frames may point to them.
#[derive(Debug, Default)]
pub struct Functions {
    entries: [Vec<Option<Box<Entry>>>; 3],
    /// Derivative code that was set aside: it is used again unless chains may break in the program as it is now.
    aside: [Vec<Option<Box<Entry>>>; 2],
    /// Derivative code that is out of date; it stays where it is, as all entries do.
    #[allow(clippy::vec_box, reason = "frames point to entries")]
    replaced: Vec<Box<Entry>>,
    /// For each method the functions that it was found to be, by type.
    methods: Vec<Vec<(ShapeId, Ref)>>,
    /// Function objects that captured nothing, by function: one of each is enough.
    plain: Vec<Option<Rc<Closure>>>,
    /// Tangent and adjoint code, where somebody has asked for it; nothing where there is none.
    sweeps: [HashMap<Signature, Option<Rc<Sweep>>>; 3],
}

impl Version {
    /// The derivative or not.
    #[inline(always)]
    pub fn of(derivative: bool) -> Version {
        if derivative { Version::Derivative } else { Version::Original }
    }
}

impl Functions {
    /// The code, if it is there.
    #[inline(always)]
    pub fn get(&self, function: u32, version: Version) -> Option<&Entry> {
        match self.entries[version as usize].get(function as usize) {
            Some(Some(entry)) => Some(entry),
            _ => None,
        }
    }

    /// Sets derivative code aside, because the program has grown. Whether it is still right is decided when some is
    /// asked for: that takes an analysis of the whole program.
    pub fn set_derivatives_aside(&mut self) {
        if self.aside.iter().all(Vec::is_empty) {
            let [_, derivative, body] = &mut self.entries;
            self.aside = [std::mem::take(derivative), std::mem::take(body)];
        }
    }

    /// Takes derivative code that was set aside back, or drops it for good.
    fn decide_on_derivatives(&mut self, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
        if self.aside.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let is_outdated = compiler.chains_may_break()?;
        let [derivative, body] = std::mem::take(&mut self.aside);
        if is_outdated {
            self.replaced.extend(derivative.into_iter().chain(body).flatten());
        } else {
            self.entries[Version::Derivative as usize] = derivative;
            self.entries[Version::Beneath as usize] = body;
        }
        Ok(())
    }

    /// A function object that captured nothing, if it was made before.
    #[inline(always)]
    pub fn known_plain(&self, function: u32) -> Option<Ref> {
        self.plain.get(function as usize)?.clone().map(Ref::Closure)
    }

    /// A function object that captured nothing.
    pub fn plain(&mut self, function: u32) -> Ref {
        let at = function as usize;
        if let Some(Some(known)) = self.plain.get(at) {
            return Ref::Closure(known.clone());
        }
        let new = Rc::new(Closure { function, captures: Cells::empty() });
        if function < MOST {
            self.plain.resize(self.plain.len().max(at + 1), None);
            self.plain[at] = Some(new.clone());
        }
        Ref::Closure(new)
    }

    /// What a method is for a type, if that was asked before.
    #[inline(always)]
    pub fn method(&self, method: u16, shape: ShapeId) -> Option<Ref> {
        let known = self.methods.get(usize::from(method))?;
        known.iter().find(|(of, _)| *of == shape).map(|(_, function)| function.clone())
    }

    /// What a method is for a type.
    ///
    /// # Errors
    /// When the compiler knows none.
    #[cold]
    pub fn load_method(&mut self, compiler: &mut dyn Compiler, method: u16, shape: ShapeId) -> Result<Ref, Box<Fault>> {
        let function = compiler.method(method, shape)?;
        let found = self.plain(function);
        let at = usize::from(method);
        if self.methods.len() <= at {
            self.methods.resize_with(at + 1, Vec::new);
        }
        self.methods[at].push((shape, found.clone()));
        Ok(found)
    }

    /// Tangent or adjoint code of a function, compiled and checked if it has to be; nothing where there is none.
    ///
    /// # Errors
    /// When it is malformed, or somebody interrupts.
    pub fn sweep(
        &mut self,
        compiler: &mut dyn Compiler,
        closure: &Closure,
        kind: Swept,
    ) -> Result<Option<Rc<Sweep>>, Box<Fault>> {
        let signature = Signature::of(closure);
        let known = &mut self.sweeps[kind as usize];
        if let Some(sweep) = known.get(&signature) {
            return Ok(sweep.clone());
        }
        let code = compiler.sweep(&signature, kind)?;
        if let Some(code) = &code {
            verify(code).map_err(|why| Fault::internal(format!("malformed code of `{}`: {why}", code.name)))?;
        }
        let made = code.and_then(|code| translate(&code).map(|threaded| Rc::new(Sweep { code, threaded })));
        known.insert(signature, made.clone());
        Ok(made)
    }

    /// From now on a function has no such code: it has come to something that it could not do.
    pub fn give_up_sweep(&mut self, closure: &Closure, kind: Swept) {
        self.sweeps[kind as usize].insert(Signature::of(closure), None);
    }

    /// The code, compiled and checked if it has to be.
    ///
    /// # Errors
    /// When the compiler has none, or it is malformed.
    #[cold]
    pub fn load(&mut self, compiler: &mut dyn Compiler, function: u32, version: Version) -> Result<&Entry, Box<Fault>> {
        if version != Version::Original {
            self.decide_on_derivatives(compiler)?;
        }
        let at = function as usize;
        if self.get(function, version).is_none() {
            let code = checked(compiler, function, version)?;
            let entries = &mut self.entries[version as usize];
            entries.resize_with(entries.len().max(at + 1), || None);
            entries[at] = Some(Box::new(Entry::of(code)));
        }
        self.get(function, version).ok_or_else(|| Fault::internal("code that was loaded and is not there"))
    }
}

/// The code of a function from the compiler, checked.
fn checked(compiler: &mut dyn Compiler, function: u32, version: Version) -> Result<Rc<Code>, Box<Fault>> {
    let code = match version {
        Version::Original => compiler.original(function)?,
        Version::Derivative => compiler.derivative(function)?,
        Version::Beneath => compiler.beneath(function)?,
    };
    verify(&code).map_err(|why| Fault::internal(format!("malformed code of `{}`: {why}", code.name)))?;
    if code.is_derivative != (version != Version::Original) || function >= MOST {
        return Err(Fault::internal(format!("the wrong code of `{}`", code.name)));
    }
    if !knows_types(compiler, &code) {
        return Err(Fault::internal(format!("the code of `{}` speaks of types that do not exist", code.name)));
    }
    Ok(code)
}

/// Whether everything that the code says of types exists.
fn knows_types(compiler: &dyn Compiler, code: &Code) -> bool {
    let (shapes, tangents) = (compiler.shapes(), compiler.tangents());
    let mut known = code.natives.iter().flat_map(|site| &site.shapes).all(|shape| shapes.contains(*shape));
    for instruction in &code.instructions {
        instruction.visit(&mut |field| {
            if field.role == Role::Shape {
                known &= u32::try_from(field.number).is_ok_and(|shape| shapes.contains(ShapeId(shape)));
            }
        });
    }
    let of_rules = code.rules.iter().flat_map(|site| {
        let params = site.params.iter().filter_map(|(_, tangent)| *tangent);
        params.chain(site.rules.iter().map(|rule| rule.result))
    });
    let of_operators = code.operators.iter().flat_map(|site| match site.operator {
        Operator::ValueWithDifferential { at, result, .. }
        | Operator::ValueWithTangent { at, result, .. }
        | Operator::Transpose { at, result } => vec![at, result],
        Operator::WithoutDerivative { of }
        | Operator::WithDerivative { of }
        | Operator::Coordinates { of }
        | Operator::Gradient { at: of, .. }
        | Operator::Broken { of } => vec![of],
        Operator::Series { result, .. } => vec![result],
        Operator::ApplyAtOnce
        | Operator::NoDerivative { .. }
        | Operator::Recompute { .. }
        | Operator::Threshold { .. }
        | Operator::SendBreak { .. }
        | Operator::ReceiveBreak { .. }
        | Operator::ForgetBreaks
        | Operator::GiveBreak { .. }
        | Operator::TakeBreak { .. }
        | Operator::JoinBreaks
        | Operator::KeepBreak { .. }
        | Operator::KeptBreak { .. } => vec![],
    });
    known && of_rules.chain(of_operators).all(|tangent| tangents.contains(tangent))
}
