//! Stored graphs: the graphs of a compiled program, from which tangent and adjoint code is derived on request.

use crate::bytecode;
use crate::cancel;
use crate::ir::{Function, Op, Program, Register, verifier};
use crate::native::primitive_table;
use crate::session::compile::differentiation_mechanism::transformed;
use crate::session::run::lazy_compiler::emitted;
use crate::value::Signature;
use crate::value::shape::TangentId;
use crate::vm::{Fault, TransformKind};
use std::rc::Rc;

/// Serializes the graphs of a program; the result is empty when the program does not use derivative operators.
pub(crate) fn stored(program: &Program) -> Result<Vec<u8>, String> {
    let steps = program.functions.iter().flatten().flat_map(|f| &f.blocks).flat_map(|block| &block.instructions);
    let uses = |op: &Op| matches!(op, Op::Operator(operator) if operator.differentiates_at_point());
    if !steps.into_iter().any(|step| uses(&step.op)) {
        return Ok(vec![]);
    }
    let functions: Vec<Option<Function>> = program.functions.iter().map(|f| f.as_deref().map(nameless)).collect();
    rmp_serde::to_vec(&functions).map_err(|error| error.to_string())
}

/// Returns a function without the names that only messages and listings need.
fn nameless(f: &Function) -> Function {
    let registers = f.registers.iter().map(|register| Register { name: None, ..register.clone() });
    Function { registers: registers.collect(), ..f.clone() }
}

/// The graphs of a compiled program, decoded on first use.
pub(crate) enum Graphs {
    /// The graphs in their encoded form.
    Stored(Vec<u8>),
    /// The decoded graphs, as a program that contains nothing else.
    Read(Box<Program>),
    /// There are no graphs, or they are invalid.
    Missing,
}

impl Graphs {
    /// Returns tangent or adjoint code of a function, if the function has such code. `program` returns the tables to
    /// which the graphs refer.
    pub(crate) fn transformed(
        &mut self,
        program: impl FnOnce() -> Program,
        function: &Signature,
        kind: TransformKind,
    ) -> Result<Option<Rc<bytecode::Code>>, Box<Fault>> {
        if let Graphs::Stored(bytes) = self {
            *self = read(bytes, program()).map_or(Graphs::Missing, |program| Graphs::Read(Box::new(program)));
        }
        let Graphs::Read(program) = self else { return Ok(None) };
        let made = cancel::catch_cancelled(|| transformed(program, function, kind)).ok_or_else(Fault::interrupted)?;
        Ok(made.ok().and_then(|code| emitted(program, &code, false).ok()))
    }
}

/// Decodes the graphs into a program; `None` when a graph is invalid.
fn read(bytes: &[u8], mut program: Program) -> Option<Program> {
    let functions: Vec<Option<Function>> = rmp_serde::from_slice(bytes).ok()?;
    program.functions = functions.into_iter().map(|f| f.map(Rc::new)).collect();
    let is_sound = |f: &Rc<Function>| refers_to_what_exists(&program, f) && verifier::verify(&program, f).is_empty();
    program.functions.iter().flatten().all(is_sound).then_some(program)
}

/// Whether all primitives and types exist to which a graph refers.
fn refers_to_what_exists(program: &Program, f: &Function) -> bool {
    let is_type = |id: &TangentId| program.tangents.contains(*id);
    f.parameters.iter().all(|p| program.shapes.contains(p.shape) && p.tangent.iter().all(is_type))
        && f.rules.iter().all(|rule| is_type(&rule.result))
        && f.blocks.iter().flat_map(|block| &block.instructions).all(|step| match &step.op {
            Op::Primitive(id) => usize::from(id.0) < primitive_table::all().len(),
            Op::NewInstance(shape) => program.shapes.contains(*shape),
            Op::Native { shapes, .. } => shapes.iter().all(|shape| program.shapes.contains(*shape)),
            Op::Operator(operator) => operator.tangents().iter().all(is_type),
            // Transformed steps occur only in code that is derived from graphs.
            Op::Transformed(_) => false,
            _ => true,
        })
}
