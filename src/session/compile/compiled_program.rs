//! Compiled programs: serializes a compiled program, and runs a serialized program without its source.

use crate::bytecode::{Bytes, Code as Bytecode, Image, LIST};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{FunctionId, MethodId, Op, Program};
use crate::native::formula::FormulaRecord;
use crate::native::library::ExplainRequest;
use crate::session::compile::stored_graphs;
use crate::session::compile::stored_graphs::Graphs;
use crate::session::explain::formula;
use crate::session::explain::names_of_parameters;
use crate::session::explain::views;
use crate::session::run::lazy_compiler::LazyCompiler;
use crate::session::{Input, Outcome, Session, Status};
use crate::source::{SourceMap, Span};
use crate::types::TypeContext;
use crate::types::declare::interactive_session;
use crate::types::model::prelude_index;
use crate::value::Signature;
use crate::value::hashing::checksum;
use crate::value::shape::{DescriptionId, ShapeId, Shapes, Tangents};
use crate::vm::{CodeSource, Fault, FaultKind, Kink, Reporter, Trace, TransformKind};
use hashbrown::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// The error for a file that is not the output of this compiler.
const CONTRADICTION: &str = "the compiled program is inconsistent; build it again from its source";

/// The error for a compiled program without threshold marks, when kinks are errors.
const WITHOUT_THRESHOLDS: &str = "this compiled program cannot report branches that are differentiated exactly at \
                                  their thresholds; build it again from its source with '--strict-kinks'";

/// A compiled program that was loaded from a file.
struct Loaded<'p> {
    functions: Vec<[Option<Rc<Bytecode>>; 3]>,
    shapes: Shapes,
    tangents: Tangents,
    custom_descriptions: Vec<Option<[u32; 2]>>,
    methods: HashMap<(u32, ShapeId), u32>,
    /// The parameter names of the program's functions, for explanations.
    parameters: HashMap<String, Vec<String>>,
    /// The functions of the program as formulas, if it requests any.
    formulas: HashMap<u32, FormulaRecord>,
    /// The graphs from which tangent and adjoint code is derived.
    graphs: Graphs,
    globals: [u32; 3],
    /// The declared names of the library, and the source texts.
    known: (&'p mut TypeContext, &'p SourceMap),
}

/// Functions as formulas, by their ids.
type Formulas = Vec<(u32, FormulaRecord)>;

/// The data for explanations besides the code: source files, parameter names, and formulas.
type ExplanationData = (Vec<(String, String)>, Vec<(String, Vec<String>)>, Formulas);

impl Loaded<'_> {
    fn code(&self, function: u32, version: usize) -> Result<Rc<Bytecode>, Box<Fault>> {
        let versions = self.functions.get(function as usize);
        let code = versions.and_then(|v| v[version].clone());
        code.ok_or_else(|| Fault::new(Code::TooLarge, "a function of the compiled program is too large"))
    }
}

impl CodeSource for Loaded<'_> {
    fn original(&mut self, function: u32) -> Result<Rc<Bytecode>, Box<Fault>> {
        self.code(function, 0)
    }

    fn derivative(&mut self, function: u32) -> Result<Rc<Bytecode>, Box<Fault>> {
        self.code(function, 1)
    }

    fn body_derivative(&mut self, function: u32) -> Result<Rc<Bytecode>, Box<Fault>> {
        self.code(function, 2)
    }

    fn transformed(&mut self, function: &Signature, kind: TransformKind) -> Result<Option<Rc<Bytecode>>, Box<Fault>> {
        let Loaded { graphs, shapes, tangents, methods, globals, .. } = self;
        let program = || Program {
            shapes: shapes.clone(),
            tangents: tangents.clone(),
            globals: *globals,
            dispatch: methods.iter().map(|((m, shape), f)| ((MethodId(*m), *shape), FunctionId(*f))).collect(),
            ..Program::default()
        };
        graphs.transformed(program, function, kind)
    }

    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>> {
        let found = self.methods.get(&(u32::from(method), shape)).copied();
        found.ok_or_else(|| Fault::internal("a method that a type does not have"))
    }

    fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    fn tangents(&self) -> &Tangents {
        &self.tangents
    }
}

impl Reporter for Loaded<'_> {
    fn explain(&mut self, trace: &Trace, kinks: &[Kink], request: &ExplainRequest) -> Vec<String> {
        let (context, sources) = &mut self.known;
        let own = self.parameters.get(&request.function);
        let names = own.cloned().unwrap_or_else(|| names_of_parameters(context, &request.function));
        views::render_explanation((&names, sources), (trace, kinks), request)
    }

    fn formula(&mut self, function: u32, name: &str, order: i64) -> Vec<String> {
        let unknown =
            || FormulaRecord { formula: Err("it belongs to the library".to_owned()), example: "2".to_owned() };
        let known = self.formulas.get(&function).cloned().unwrap_or_else(unknown);
        formula::forms(&known, name, order)
    }

    fn custom_description(&mut self, own: DescriptionId, inside: bool) -> Result<u32, Box<Fault>> {
        let texts = self.custom_descriptions.get(own.0 as usize).copied().flatten();
        Ok(texts.ok_or_else(|| Fault::internal("a type whose source was never compiled"))?[usize::from(inside)])
    }
}

impl Session {
    /// Whether a file is a compiled program, complete or not.
    pub fn is_compiled(bytes: &[u8]) -> bool {
        Image::is_compiled(bytes)
    }

    /// Compiles the files of a module, and returns the compiled form.
    ///
    /// # Errors
    /// Returns the outcome when the files do not compile.
    pub fn build(&mut self, inputs: &[Input]) -> Result<(Vec<u8>, Vec<Diagnostic>), Outcome> {
        let compiled = self.compile_written(inputs, false)?;
        match self.compiled_form(compiled.script) {
            Ok(bytes) => Ok((bytes, compiled.diagnostics)),
            Err(fault) => Err(self.concluded(Err(fault), compiled.diagnostics)),
        }
    }

    /// Runs a program. If it ended without an error, also returns its compiled form, unless the compiler reported something or
    /// read other files.
    pub fn run_and_store(&mut self, input: &Input) -> (Outcome, Option<Vec<u8>>) {
        let compiled = match self.compile_written(std::slice::from_ref(input), false) {
            Ok(compiled) => compiled,
            Err(outcome) => return (outcome, None),
        };
        let (script, is_alone) = (compiled.script, compiled.diagnostics.is_empty() && !self.requests_files);
        let outcome = self.execute(compiled);
        let is_stored = is_alone && matches!(outcome.status, Status::Done | Status::Exited(_));
        let bytes = is_stored.then(|| self.compiled_form(script).ok()).flatten();
        (outcome, bytes)
    }

    /// Returns the compiled form of the compiled program with the given script.
    fn compiled_form(&mut self, script: FunctionId) -> Result<Vec<u8>, Box<Fault>> {
        // Imported files are included, in the order in which they were read.
        let files = self.sources.written().map(|source| (source.name.to_string(), source.text.to_string())).collect();
        let parameters = interactive_session::parameters_of_functions(&mut self.context);
        let formulas = self.formulas();
        let marks_thresholds = self.observer_options.kinks;
        let image = image(&self.program, (files, parameters, formulas), script, marks_thresholds)?;
        stored_graphs::stored(&self.program)
            .and_then(|graphs| Image { graphs: Bytes(graphs), ..image }.to_bytes(identity()))
            .map_err(|why| Fault::new(Code::Input, why))
    }

    /// Returns all functions of the program as formulas, if the program requests any.
    fn formulas(&self) -> Formulas {
        let functions = &self.program.functions;
        let steps = functions.iter().flatten().flat_map(|f| &f.blocks).flat_map(|block| &block.instructions);
        if !steps.into_iter().any(|step| matches!(step.op, Op::Native { name: "derive", .. })) {
            return vec![];
        }
        let written = |f| (f, formula::record(&self.program, FunctionId(f), &self.sources));
        (0..functions.len() as u32).map(written).collect()
    }

    /// Runs a program that [`build`](Session::build) has compiled.
    ///
    /// `file` is the name of the compiled program in diagnostics.
    pub fn run_compiled(&mut self, file: &str, bytes: &[u8]) -> Outcome {
        match Image::from_bytes(bytes, identity()) {
            Ok(image) => self.run_image(file, image),
            Err(damage) => self.refused_file(file, &damage.to_string()),
        }
    }

    /// Runs a program by a compiled form that [`run_and_store`](Session::run_and_store) has returned. Returns `None` if it is
    /// damaged, or belongs to another program or version.
    pub fn run_stored(&mut self, input: &Input, bytes: &[u8]) -> Option<Outcome> {
        let image = Image::from_bytes(bytes, identity()).ok()?;
        let is_same = matches!(&image.files[..], [(name, text)] if name == input.name && text == input.text);
        is_same.then(|| self.run_image(input.name, image))
    }

    fn run_image(&mut self, file: &str, image: Image) -> Outcome {
        if self.observer_options.stops_at_kinks && !image.marks_thresholds {
            return self.refused_file(file, WITHOUT_THRESHOLDS);
        }
        let restored = Shapes::restored(image.shapes)
            .and_then(|shapes| Tangents::restored(image.tangents, &shapes).map(|tangents| (shapes, tangents)));
        let Some((shapes, tangents)) = restored else {
            return self.refused_file(file, CONTRADICTION);
        };
        if image.files.iter().any(|(name, text)| self.sources.add(name, text.clone()).is_none()) {
            return self.refused_file(file, "the sources of the compiled program are larger than 4 GiB");
        }
        self.machine.reserve_globals(image.globals);
        self.machine.diagnosis.progress = self.loops.map(|report| self.progress_reporter(report));
        let mut compiler = Loaded {
            functions: image.functions,
            shapes,
            tangents,
            custom_descriptions: image.custom_descriptions,
            methods: image.methods.into_iter().map(|(method, shape, f)| ((method, shape), f)).collect(),
            parameters: image.parameters.into_iter().collect(),
            formulas: image.formulas.into_iter().collect(),
            graphs: if image.graphs.0.is_empty() { Graphs::Missing } else { Graphs::Stored(image.graphs.0) },
            globals: image.globals,
            known: (&mut self.context, &self.sources),
        };
        let result = self.machine.run(&mut compiler, image.script, Default::default());
        match result {
            // The compiler would not have produced such code.
            Err(fault) if matches!(fault.kind, FaultKind::Error(Code::Internal)) => {
                self.refused_file(file, CONTRADICTION)
            }
            result => self.concluded(result.map(|_| None), vec![]),
        }
    }

    /// Reports a compiled program that cannot run. The program has no source text, so the location is the file as a
    /// whole.
    fn refused_file(&mut self, file: &str, why: &str) -> Outcome {
        let source = self.sources.add(file, "");
        let start = source.map_or(0, |source| self.sources.get(source).start);
        refused(Span::new(start, start), why)
    }
}

/// Returns a checksum of everything with which a compiled program must agree: instructions, primitives, and library.
fn identity() -> u32 {
    let mut hash = HashedBytes(Vec::with_capacity(1 << 14));
    env!("CARGO_PKG_VERSION").hash(&mut hash);
    LIST.hash(&mut hash);
    crate::native::primitive_table::all().iter().for_each(|primitive| primitive.name.hash(&mut hash));
    crate::native::library::names().for_each(|name| name.hash(&mut hash));
    prelude_index::checksum().hash(&mut hash);
    hash.finish() as u32
}

/// The bytes of hashed values, which are the same for all runs of the compiler. A checksum of them as a whole is computed in a fraction of
/// the time that checksums of the parts take.
struct HashedBytes(Vec<u8>);

impl Hasher for HashedBytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        checksum(&self.0).into()
    }
}

/// Builds the image of a compiled program.
fn image(
    program: &Program,
    (files, parameters, formulas): ExplanationData,
    script: FunctionId,
    marks_thresholds: bool,
) -> Result<Image, Box<Fault>> {
    let mut compiler = LazyCompiler::new(program).marking_thresholds(marks_thresholds);
    let mut functions = vec![];
    for f in 0..program.functions.len() as u32 {
        functions.push([
            unless_too_large(compiler.original(f))?,
            unless_too_large(compiler.derivative(f))?,
            unless_too_large(compiler.body_derivative(f))?,
        ]);
    }
    let mut methods: Vec<(u32, ShapeId, u32)> =
        program.dispatch.iter().map(|((MethodId(method), shape), function)| (*method, *shape, function.0)).collect();
    methods.sort_unstable();
    Ok(Image {
        files,
        functions,
        shapes: program.shapes.stored(),
        tangents: program.tangents.stored(),
        globals: program.globals,
        custom_descriptions: program
            .custom_descriptions
            .iter()
            .map(|pair| pair.map(|pair| pair.map(|f| f.0)))
            .collect(),
        methods,
        parameters,
        formulas,
        marks_thresholds,
        graphs: Bytes::default(),
        script: script.0,
    })
}

/// Omits code that exceeds the limits of the machine. This is an error only if the code is requested.
fn unless_too_large(code: Result<Rc<Bytecode>, Box<Fault>>) -> Result<Option<Rc<Bytecode>>, Box<Fault>> {
    match code {
        Ok(code) => Ok(Some(code)),
        Err(fault) if matches!(fault.kind, FaultKind::Error(Code::TooLarge)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn refused(span: Span, why: &str) -> Outcome {
    let diagnostic = Diagnostic::error(Code::Input, span, why);
    Outcome { diagnostics: vec![diagnostic], status: Status::Rejected, value: None }
}
