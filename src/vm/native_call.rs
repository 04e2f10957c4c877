//! Native calls: calls functions of the native library, and the custom descriptions that such functions may need.

use crate::bytecode::NativeSite;
use crate::cancel;
use crate::native::library::{self, Native, NativeContext, NativeFunction, NativeRegisters, PureNative, PureOperation};
use crate::value::printing::CustomPart;
use crate::value::{Cells, Ref, Slot, Text};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next, Task};
use std::rc::Rc;

/// Calls a function of the native library. The arguments of the function are in the window, with their slots when
/// `slots` is set.
pub fn call(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    site: &NativeSite,
    slots: bool,
) -> Result<Next, Box<Fault>> {
    let function = match library::get(site.native) {
        Some(Native::Pure(native)) => {
            call_pure(machine, site, native)?;
            return Ok(Next::Return);
        }
        Some(Native::Step(function)) => {
            run(machine, compiler, (function, site), slots, None)?;
            clear_leftovers(machine, site);
            return Ok(Next::Return);
        }
        Some(Native::Derive) => {
            derive(machine, compiler);
            return Ok(Next::Return);
        }
        Some(Native::Coroutine(operation)) => return machine.switch(operation, slots),
        Some(Native::Function(function)) => function,
        None => return Err(Fault::internal("no such native function")),
    };
    let parts = attempt(machine, compiler, (function, site), slots, None)?;
    if parts.is_empty() {
        return Ok(Next::Return);
    }
    let arguments = machine.take_window(site.signature.params.map(usize::from), slots);
    let task =
        DescribePartsTask { function, site: site.clone(), slots, arguments, parts: parts.into_iter(), texts: vec![] };
    task.next(machine, compiler)
}

/// Requests the derivative of the function in the window as a formula.
fn derive(machine: &mut Machine, compiler: &mut dyn Compiler) {
    let (function, name, order) = (machine.take_reference(0), machine.take_reference(1), machine.integer(0));
    let forms = match (&function, &name) {
        (Ref::Closure(closure), Ref::Text(name)) => compiler.formula(closure.function, name, order),
        _ => vec![],
    };
    machine.set_reference(0, library::texts(forms));
}

/// Calls a pure native function of the strings and integers in the window.
pub fn call_pure(machine: &mut Machine, site: &NativeSite, native: &PureNative) -> Result<(), Box<Fault>> {
    let beyond = || Fault::internal("a native function read beyond the register window");
    let [_, from_i, from_r] = machine.window;
    let r = machine.stacks.r.get_mut(from_r..from_r + usize::from(site.signature.params[2])).ok_or_else(beyond)?;
    match native.operation {
        PureOperation::Query(query) => {
            let end = from_i + usize::from(site.signature.params[1].max(1));
            let i = machine.stacks.i.get_mut(from_i..end).ok_or_else(beyond)?;
            i[0] = query(r, i).ok_or_else(|| Fault::internal("a native function read an object of another kind"))?;
            r.iter_mut().for_each(|r| *r = Ref::Null);
        }
        PureOperation::Advance(advance) => {
            let (r, i) = (r.first_mut().ok_or_else(beyond)?, machine.stacks.i.get_mut(from_i).ok_or_else(beyond)?);
            advance(r, i)
                .ok_or_else(|| Fault::internal("a native function iterated over an object of another kind"))?;
        }
    }
    Ok(())
}

/// Calls a native function; returns the request, if any, that the function makes instead of returning results.
fn attempt(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (function, site): (&NativeFunction, &NativeSite),
    slots: bool,
    custom_descriptions: Option<&[Text]>,
) -> Result<Vec<CustomPart>, Box<Fault>> {
    let from = machine.window[2];
    let results = from..from + usize::from(site.signature.results[2]);
    // The objects that the function may modify in place, with their sizes before the call.
    let kept = machine.stacks.r.get(results.clone()).unwrap_or(&[]);
    let inputs: [(usize, i64); MAX_MODIFIED_IN_PLACE] =
        std::array::from_fn(|k| kept.get(k).map_or((0, 0), |inputs| (address(inputs), effort(inputs))));
    let requested = cancel::catch_cancelled(|| run(machine, compiler, (function, site), slots, custom_descriptions));
    let requested = requested.unwrap_or_else(|| Err(Fault::stopped()))?;
    if requested.is_empty() {
        // The limits are checked soon if the new objects are large.
        for result in machine.stacks.r.get(results).unwrap_or(&[]) {
            let before = inputs.iter().find(|(at, _)| *at != 0 && *at == address(result)).map_or(0, |(_, size)| *size);
            machine.fuel -= (effort(result) - before).max(0);
        }
        clear_leftovers(machine, site);
    }
    Ok(requested)
}

/// Runs a native function on the window.
#[inline(always)]
fn run(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (function, site): (&NativeFunction, &NativeSite),
    slots: bool,
    custom_descriptions: Option<&[Text]>,
) -> Result<Vec<CustomPart>, Box<Fault>> {
    let range = |b: usize| machine.window[b]..machine.window[b] + usize::from(site.window[b]);
    let (f, i, r) = (range(0), range(1), range(2));
    let stacks = &mut machine.stacks;
    let beside: &mut [Slot] = if slots { &mut stacks.slots[f.clone()] } else { &mut [] };
    let registers = NativeRegisters { f: &mut stacks.f[f], slots: beside, i: &mut stacks.i[i], r: &mut stacks.r[r] };
    let mut context =
        NativeContext::new(compiler.shapes(), &site.shapes, (&mut machine.host, &mut machine.levels), registers);
    context.custom_descriptions = custom_descriptions;
    match (function.call)(&mut context) {
        Ok(()) => Ok(context.requested),
        Err(failure) => Err(context.with_argument_shapes(failure).into()),
    }
}

/// Clears the argument registers that no result has overwritten, because their references would keep the objects
/// shared.
fn clear_leftovers(machine: &mut Machine, site: &NativeSite) {
    let from = machine.window[2];
    let leftovers = from + usize::from(site.signature.results[2])..from + usize::from(site.signature.params[2]);
    for leftover in machine.stacks.r.get_mut(leftovers).unwrap_or(&mut []) {
        *leftover = Ref::Null;
    }
}

/// The number of leading reference arguments that a native function may modify in place.
const MAX_MODIFIED_IN_PLACE: usize = 2;

/// Returns the number of steps that the creation of an object counts as, in proportion to its size: a program that
/// doubles a string ten times has performed more than ten steps.
pub fn effort(object: &Ref) -> i64 {
    let size = match object {
        Ref::Text(text) => text.len(),
        Ref::Cells(cells) => 8 * (cells.f.len() + cells.i.len() + cells.r.len()),
        Ref::Tensor(tensor) => tensor.buffer_size(),
        _ => 0,
    };
    (size / library::BYTES_PER_STEP) as i64
}

/// Returns the address of an object; 0 for an object that has no size.
fn address(object: &Ref) -> usize {
    match object {
        Ref::Text(text) => text.address(),
        Ref::Cells(cells) => Rc::as_ptr(cells) as usize,
        Ref::Tensor(tensor) => Rc::as_ptr(tensor) as usize,
        _ => 0,
    }
}

/// A native function that is suspended until the descriptions of parts of its arguments are available.
struct DescribePartsTask {
    function: &'static NativeFunction,
    site: NativeSite,
    slots: bool,
    arguments: Cells,
    parts: std::vec::IntoIter<CustomPart>,
    texts: Vec<Text>,
}

impl DescribePartsTask {
    fn next(mut self, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        if let Some(part) = self.parts.next() {
            let callee = Callee::Function(compiler.custom_description(part.own, part.inside)?);
            machine.set_window(part.value.all());
            return Ok(Next::Call { callee, derivative: self.slots, then: Some(Box::new(self)) });
        }
        machine.set_window(self.arguments.all());
        attempt(machine, compiler, (self.function, &self.site), self.slots, Some(&self.texts))?;
        Ok(Next::Return)
    }
}

impl Task for DescribePartsTask {
    fn resume(mut self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        match machine.take_reference(0) {
            Ref::Text(text) => self.texts.push(text),
            Ref::Null => self.texts.push("".into()),
            _ => return Err(Fault::internal("a description is not a string")),
        }
        self.next(machine, compiler)
    }
}
