//! Function table: stores the code of every function that was called, which is loaded on demand from a [`CodeSource`].

use crate::bytecode::operand::Role;
use crate::bytecode::{Code, Instruction, Operator, verify};
use crate::value::shape::{ShapeId, Shapes, Tangents};
use crate::value::{Cells, Closure, ClosureSignature, Ref, Signature};
use crate::vm::fault::Fault;
use crate::vm::machine_code::{MachineCode, PartCode};
use crate::vm::operator_cache::OperatorCache;
use crate::vm::threaded::translate;
use crate::vm::transformed_code::{TransformKind, TransformedCode};
use hashbrown::HashMap;
use std::cell::Cell;
use std::rc::Rc;

/// The properties of a function's code that calls and returns need, in one or two cache lines.
#[derive(Debug)]
pub struct Entry {
    /// The code of the function.
    pub code: Rc<Code>,
    /// The instruction with which a call begins: the first one of the function, or the one that enters its machine
    /// code.
    pub start: Cell<*const Instruction>,
    /// The number constants of the function.
    pub numbers: *const f64,
    /// The number of registers in each bank, including the window.
    pub frame: [u32; 3],
    /// The number of registers in each bank, without the window.
    pub own: [u32; 3],
    /// The number of references that the function returns.
    pub kept: u32,
    /// The range of number registers that carry no slots, in derivative code.
    pub inactive: (u32, u32),
    /// Whether the numbers of the code carry slots.
    pub is_derivative: bool,
    /// The number of the function, unless this is the derivative code of its own body, which is never called by number.
    pub number: Option<u32>,
    /// The machine code of the function, and how often the function was found running.
    pub machine_code: MachineCode,
    /// What each operator in the function remembers.
    pub operators: Box<[OperatorCache]>,
}

impl Entry {
    /// Creates the entry of verified code.
    pub fn of(code: Rc<Code>) -> Entry {
        Entry {
            start: Cell::new(code.instructions.as_ptr()),
            numbers: code.numbers.as_ptr(),
            frame: code.frame().map(|n| n as u32),
            own: code.registers.map(u32::from),
            kept: u32::from(code.results[2]),
            inactive: (u32::from(code.inactive_from), u32::from(code.registers[0])),
            is_derivative: code.is_derivative,
            number: None,
            machine_code: MachineCode::default(),
            operators: code.operators.iter().map(|_| OperatorCache::default()).collect(),
            code,
        }
    }
}

/// The instruction that enters machine code.
static ENTER: Instruction = Instruction::EnterCompiled {};

impl Entry {
    /// Makes calls of the function begin in machine code, which is compiled at the first call.
    pub fn enter_machine_code(&self) {
        self.start.set(&raw const ENTER);
    }

    /// Makes calls of the function begin with its first instruction.
    pub fn interpret(&self) {
        self.start.set(self.code.instructions.as_ptr());
    }
}

/// A source of code, which provides the code of functions on demand, and the types to which the code refers. `session`
/// implements this trait, so that the machine does not depend on the compiler.
pub trait CodeSource {
    /// Returns the original code of a function.
    ///
    /// # Errors
    /// Fails when there is no such code, which is a bug.
    fn original(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// Returns the derivative code of a function.
    ///
    /// # Errors
    /// Fails when the function has no derivative.
    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// Returns the derivative code of a function's own body, regardless of the derivatives registered for it.
    ///
    /// # Errors
    /// Fails when the function has no derivative.
    fn body_derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// Whether a tangent can be lost anywhere in the program, so that derivative code must track origins.
    ///
    /// # Errors
    /// Fails when the run is interrupted.
    fn may_lose_tangents(&mut self) -> Result<bool, Box<Fault>> {
        Ok(false)
    }

    /// Returns tangent or adjoint code of a function; `None` when the function cannot be transformed.
    ///
    /// # Errors
    /// Fails when the run is interrupted.
    fn transformed(&mut self, function: &Signature, kind: TransformKind) -> Result<Option<Rc<Code>>, Box<Fault>> {
        let _ = (function, kind);
        Ok(None)
    }

    /// Returns the function that implements a method for a type.
    ///
    /// # Errors
    /// Fails when there is no such function, which is a bug.
    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>>;

    /// Returns the table of shapes.
    fn shapes(&self) -> &Shapes;

    /// Returns the table of tangent types.
    fn tangents(&self) -> &Tangents;
}

/// The maximum number of functions, more than any program has; a higher number comes from a damaged code object.
const MAX_FUNCTIONS: u32 = 1 << 24;

/// The versions of a function's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The original code, as the program was written.
    Original,
    /// The derivative code of the function; for a function with registered derivatives, a call by a registered
    /// derivative.
    Derivative,
    /// The derivative code of the function's own body, regardless of registered derivatives.
    BodyDerivative,
}

/// The original and derivative code of functions, by function number. Entries are never moved or dropped as long as the
/// machine lives, so frames may point to them.
#[derive(Debug, Default)]
pub struct Functions {
    entries: [Vec<Option<Box<Entry>>>; 3],
    /// Derivative code that was set aside, and is used again unless tangents may be lost in the current program.
    aside: [Vec<Option<Box<Entry>>>; 2],
    /// Outdated derivative code. Like all entries, it is never dropped.
    #[allow(clippy::vec_box, reason = "frames point to entries")]
    replaced: Vec<Box<Entry>>,
    /// The functions that implement each method, by type.
    methods: Vec<Vec<(ShapeId, Ref)>>,
    /// Function objects without captures, by function: one object for each function is enough.
    plain: Vec<Option<Rc<Closure>>>,
    /// Tangent and adjoint code by kind and function, once it was requested; `None` for a function that cannot be
    /// transformed.
    transformed: [HashMap<Signature, Option<Rc<TransformedCode>>>; 5],
}

/// Whether a function, or one of its callees, stores numbers that are reachable from elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    /// The function and its callees store no such numbers.
    Nothing,
    /// A function that is passed as an argument may store such numbers.
    Argument,
    /// The function or one of its callees may store such numbers.
    Something,
}

impl Version {
    /// Returns the version that is original or derivative code.
    #[inline(always)]
    pub fn of(derivative: bool) -> Version {
        if derivative { Version::Derivative } else { Version::Original }
    }
}

impl Functions {
    /// Returns a version of the code of a function, if it is loaded.
    #[inline(always)]
    pub fn get(&self, function: u32, version: Version) -> Option<&Entry> {
        match self.entries[version as usize].get(function as usize) {
            Some(Some(entry)) => Some(entry),
            _ => None,
        }
    }

    /// Sets derivative code aside, because the program has grown. The next request decides whether the code is still
    /// correct, because this decision takes an analysis of the whole program.
    pub fn set_derivatives_aside(&mut self) {
        if self.aside.iter().all(Vec::is_empty) {
            let [_, derivative, body] = &mut self.entries;
            self.aside = [std::mem::take(derivative), std::mem::take(body)];
        }
    }

    /// Restores derivative code that was set aside, or discards it.
    fn decide_on_derivatives(&mut self, source: &mut dyn CodeSource) -> Result<(), Box<Fault>> {
        if self.aside.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let is_outdated = source.may_lose_tangents()?;
        let [derivative, body] = std::mem::take(&mut self.aside);
        if is_outdated {
            self.replaced.extend(derivative.into_iter().chain(body).flatten());
        } else {
            self.entries[Version::Derivative as usize] = derivative;
            self.entries[Version::BodyDerivative as usize] = body;
        }
        Ok(())
    }

    /// Returns a function object without captures, if it was created before.
    #[inline(always)]
    pub fn known_plain(&self, function: u32) -> Option<Ref> {
        self.plain.get(function as usize)?.clone().map(Ref::Closure)
    }

    /// Returns a function object without captures.
    pub fn plain(&mut self, function: u32) -> Ref {
        let at = function as usize;
        if let Some(Some(known)) = self.plain.get(at) {
            return Ref::Closure(known.clone());
        }
        let new = Rc::new(Closure { function, captures: Cells::empty() });
        if function < MAX_FUNCTIONS {
            self.plain.resize(self.plain.len().max(at + 1), None);
            self.plain[at] = Some(new.clone());
        }
        Ref::Closure(new)
    }

    /// Discards the methods that were looked up.
    pub fn forget_methods(&mut self) {
        self.methods.clear();
    }

    /// Returns the function that implements a method for a type, if it was looked up before.
    #[inline(always)]
    pub fn method(&self, method: u16, shape: ShapeId) -> Option<Ref> {
        let known = self.methods.get(usize::from(method))?;
        known.iter().find(|(of, _)| *of == shape).map(|(_, function)| function.clone())
    }

    /// Returns the function that implements a method for a type.
    ///
    /// # Errors
    /// Fails when the compiler has no such function.
    #[cold]
    pub fn load_method(&mut self, source: &mut dyn CodeSource, method: u16, shape: ShapeId) -> Result<Ref, Box<Fault>> {
        let function = source.method(method, shape)?;
        let found = self.plain(function);
        let at = usize::from(method);
        if self.methods.len() <= at {
            self.methods.resize_with(at + 1, Vec::new);
        }
        self.methods[at].push((shape, found.clone()));
        Ok(found)
    }

    /// Returns tangent or adjoint code of a function, compiled and verified at the first request; `None` when the
    /// function cannot be transformed.
    ///
    /// # Errors
    /// Fails when the code is malformed, or the run is interrupted.
    pub fn transformed(
        &mut self,
        source: &mut dyn CodeSource,
        closure: &Closure,
        kind: TransformKind,
    ) -> Result<Option<Rc<TransformedCode>>, Box<Fault>> {
        let known = &mut self.transformed[kind as usize];
        if let Some(transformed) = known.get(&ClosureSignature::of(closure)) {
            return Ok(transformed.clone());
        }
        let signature = Signature::of(closure);
        let code = source.transformed(&signature, kind)?;
        if let Some(code) = &code {
            verify(code).map_err(|why| Fault::internal(format!("malformed code of `{}`: {why}", code.name)))?;
        }
        let made = code.and_then(|code| {
            let appends_nodes = code.is_linearization();
            translate(&code).map(|threaded| {
                let machine_code = PartCode::default();
                Rc::new(TransformedCode { code, appends_nodes, threaded, machine_code, is_discarded: Cell::new(false) })
            })
        });
        known.insert(signature, made.clone());
        Ok(made)
    }

    /// Returns the functions for which tangent or adjoint code was requested, and whether the code exists and reached
    /// its end in every run.
    pub fn requested(&self, kind: TransformKind) -> impl Iterator<Item = (&Signature, bool)> {
        self.transformed[kind as usize].iter().map(|(signature, code)| (signature, code.is_some()))
    }

    /// Discards the tangent or adjoint code of a function permanently, because the code reached an operation that it
    /// cannot execute.
    pub fn discard_transformed(&mut self, closure: &Closure, kind: TransformKind) {
        let known = self.transformed[kind as usize].insert(Signature::of(closure), None);
        known.into_iter().flatten().for_each(|code| code.is_discarded.set(true));
    }

    /// Returns a version of the code of a function, compiled and verified at the first request.
    ///
    /// # Errors
    /// Fails when the compiler has no such code, or the code is malformed.
    #[cold]
    pub fn load(&mut self, source: &mut dyn CodeSource, function: u32, version: Version) -> Result<&Entry, Box<Fault>> {
        if version != Version::Original {
            self.decide_on_derivatives(source)?;
        }
        let at = function as usize;
        if self.get(function, version).is_none() {
            let code = checked(source, function, version)?;
            let entries = &mut self.entries[version as usize];
            entries.resize_with(entries.len().max(at + 1), || None);
            let number = (version != Version::BodyDerivative).then_some(function);
            entries[at] = Some(Box::new(Entry { number, ..Entry::of(code) }));
        }
        self.get(function, version).ok_or_else(|| Fault::internal("code that was loaded is missing"))
    }
}

/// Loads the code of a function from the code source and verifies it.
fn checked(source: &mut dyn CodeSource, function: u32, version: Version) -> Result<Rc<Code>, Box<Fault>> {
    let code = match version {
        Version::Original => source.original(function)?,
        Version::Derivative => source.derivative(function)?,
        Version::BodyDerivative => source.body_derivative(function)?,
    };
    verify(&code).map_err(|why| Fault::internal(format!("malformed code of `{}`: {why}", code.name)))?;
    if code.is_derivative != (version != Version::Original) || function >= MAX_FUNCTIONS {
        return Err(Fault::internal(format!("wrong code for `{}`", code.name)));
    }
    if !knows_types(source, &code) {
        return Err(Fault::internal(format!("the code of `{}` refers to types that do not exist", code.name)));
    }
    Ok(code)
}

/// Whether all types that the code refers to exist.
fn knows_types(source: &dyn CodeSource, code: &Code) -> bool {
    let (shapes, tangents) = (source.shapes(), source.tangents());
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
        | Operator::Jacobian { at, result, .. }
        | Operator::Transpose { at, result } => vec![at, result],
        Operator::WithoutDerivative { of }
        | Operator::WithDerivative { of }
        | Operator::Coordinates { of }
        | Operator::Gradient { at: of, .. }
        | Operator::LoseTangent { of } => vec![of],
        Operator::Series { result, .. } => vec![result],
        Operator::ApplyAtOnce
        | Operator::Matrix { .. }
        | Operator::NoDerivative { .. }
        | Operator::Recompute { .. }
        | Operator::Threshold { .. }
        | Operator::SendResultOrigin { .. }
        | Operator::ReceiveResultOrigin { .. }
        | Operator::ForgetOrigins
        | Operator::SendArgumentOrigin { .. }
        | Operator::ReceiveArgumentOrigin { .. }
        | Operator::JoinOrigins
        | Operator::StoreOrigin { .. }
        | Operator::LoadOrigin { .. } => vec![],
    });
    known && of_rules.chain(of_operators).all(|tangent| tangents.contains(tangent))
}
