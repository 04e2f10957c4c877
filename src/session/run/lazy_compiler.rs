//! Lazy compiler: compilation of each function when the machine first calls it.
//!
//! The lazy compiler works like a just-in-time compiler. The front end lowers a program to graphs once (`ir`); the
//! machine then runs bytecode, and requests missing code through [`CodeSource`]: the original code of a function, its
//! derivative code, or tangent and adjoint code. Each request passes a graph through one pipeline, `diff` (only for
//! derivatives), then `emit`; the machine verifies the result and retains it. So a function that is never called, or
//! never differentiated, costs nothing, and derivative code exists for exactly the functions that a level reaches.
//!
//! At run time the machine calls the session, which calls the compiler. The trait is declared by the machine, so the
//! static dependency points from the session to the machine.
//!
//! Promises: a request either returns code, or a [`Fault`] that stops the run; an interrupt or a deadline cancels a
//! long compilation in the same way as a long run.
//! Not here: programs in the compiled form, whose code is loaded (`session::compile::compiled_program`).

use crate::bytecode;
use crate::cancel;
use crate::diagnostic::Code;
use crate::diff;
use crate::emit;
use crate::ir::{Function, FunctionId, MethodId, Program};
use crate::native::library::ExplainRequest;
use crate::session::compile::differentiation_mechanism::transformed;
use crate::session::explain::{formula, names_of_parameters, views};
use crate::source::SourceMap;
use crate::types::TypeContext;
use crate::value::Signature;
use crate::value::shape::{DescriptionId, ShapeId, Shapes, Tangents};
use crate::vm::{CodeSource, Fault, Kink, Reporter, Trace, TransformKind};
use std::rc::Rc;

/// The compiler of a program that was lowered to graphs.
pub(crate) struct LazyCompiler<'p> {
    program: &'p Program,
    lost_tangents: diff::LostTangents<'p>,
    /// Whether comparisons on which branches depend are marked in derivative code.
    marks_thresholds: bool,
    /// The tables of names and source locations; absent where no explanation can be requested.
    known: Option<(&'p mut TypeContext, &'p SourceMap)>,
}

impl<'p> LazyCompiler<'p> {
    /// Creates the compiler of a program.
    pub(crate) fn new(program: &'p Program) -> LazyCompiler<'p> {
        LazyCompiler { program, lost_tangents: diff::LostTangents::new(program), marks_thresholds: false, known: None }
    }

    /// Sets whether the comparisons at which kinks are reported are marked.
    pub(crate) fn marking_thresholds(self, marks_thresholds: bool) -> LazyCompiler<'p> {
        LazyCompiler { marks_thresholds, ..self }
    }

    /// Creates the compiler of a program that may request explanations of its derivatives.
    pub(crate) fn with_sources(
        program: &'p Program,
        context: &'p mut TypeContext,
        sources: &'p SourceMap,
    ) -> LazyCompiler<'p> {
        LazyCompiler { known: Some((context, sources)), ..LazyCompiler::new(program) }
    }

    fn differentiated(&mut self, id: FunctionId, graph: &Function) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let differentiated = cancel::catch_cancelled(|| {
            let marked = self.lost_tangents.marked(id, graph);
            let graph = marked.as_ref().unwrap_or(graph);
            let thresholds =
                if self.marks_thresholds { diff::thresholds::marked(self.program, id, graph) } else { None };
            diff::derivative(self.program, thresholds.as_ref().unwrap_or(graph))
        });
        self.emit(&differentiated.ok_or_else(Fault::stopped)?, true)
    }

    fn emit(&self, function: &Function, is_derivative: bool) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        emitted(self.program, function, is_derivative)
    }

    fn graph(&self, function: u32) -> Result<&'p Rc<Function>, Box<Fault>> {
        self.program.function(FunctionId(function)).ok_or_else(|| Fault::internal("a function that was never compiled"))
    }
}

impl CodeSource for LazyCompiler<'_> {
    fn original(&mut self, function: u32) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let graph = self.graph(function)?;
        self.emit(graph, false)
    }

    fn derivative(&mut self, function: u32) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let graph = self.graph(function)?;
        match diff::entry(FunctionId(function), graph) {
            Some(entry) => self.emit(&entry, true),
            None => self.differentiated(FunctionId(function), graph),
        }
    }

    fn body_derivative(&mut self, function: u32) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let graph = self.graph(function)?;
        self.differentiated(FunctionId(function), graph)
    }

    fn may_lose_tangents(&mut self) -> Result<bool, Box<Fault>> {
        cancel::catch_cancelled(|| self.lost_tangents.may_lose_tangents()).ok_or_else(Fault::stopped)
    }

    fn transformed(
        &mut self,
        function: &Signature,
        kind: TransformKind,
    ) -> Result<Option<Rc<bytecode::Code>>, Box<Fault>> {
        let made = cancel::catch_cancelled(|| transformed(self.program, function, kind));
        let made = made.ok_or_else(Fault::stopped)?;
        // If transformed code cannot be encoded, the machine uses derivative code.
        Ok(made.ok().and_then(|code| self.emit(&code, false).ok()))
    }

    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>> {
        let id = MethodId(u32::from(method));
        match self.program.dispatch.get(&(id, shape)) {
            Some(function) => Ok(function.0),
            None => Err(Fault::internal("a method that a type does not have")),
        }
    }

    fn shapes(&self) -> &Shapes {
        &self.program.shapes
    }

    fn tangents(&self) -> &Tangents {
        &self.program.tangents
    }
}

impl Reporter for LazyCompiler<'_> {
    fn explain(&mut self, trace: &Trace, kinks: &[Kink], request: &ExplainRequest) -> Vec<String> {
        let Some((context, sources)) = &mut self.known else { return vec![] };
        let names = names_of_parameters(context, &request.function);
        views::render_explanation((&names, sources), (trace, kinks), request)
    }

    fn formula(&mut self, function: u32, name: &str, order: i64) -> Vec<String> {
        let Some((_, sources)) = &self.known else { return vec![] };
        let id = FunctionId(function);
        formula::forms(&formula::record(self.program, id, sources), name, order)
    }

    fn custom_description(&mut self, own: DescriptionId, inside: bool) -> Result<u32, Box<Fault>> {
        let texts = self.program.custom_descriptions.get(own.0 as usize).copied().flatten();
        let texts = texts.ok_or_else(|| Fault::internal("a type whose source was never compiled"))?;
        Ok(texts[usize::from(inside)].0)
    }
}

/// Emits the bytecode of a graph.
pub(crate) fn emitted(
    program: &Program,
    function: &Function,
    is_derivative: bool,
) -> Result<Rc<bytecode::Code>, Box<Fault>> {
    let emitted = cancel::catch_cancelled(|| emit::emit(program, function, is_derivative));
    emitted.ok_or_else(Fault::stopped)?.map(Rc::new).map_err(|why| {
        let message = format!("'{}' cannot be compiled: {why}", function.name);
        match why {
            emit::EncodeError::TooManyRegisters => {
                Box::new(Fault { span: function.span, ..*Fault::new(Code::TooLarge, message) })
            }
            _ => Fault::internal(message),
        }
    })
}
