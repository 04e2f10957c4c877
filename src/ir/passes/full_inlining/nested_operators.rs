//! Nested operators: inlines the derivative of a known function of one number as tangent code, so that it can be
//! differentiated again, and the numbers of which a value consists.
//!
//! The tangent code of the inner function is part of the outer graph: the values that the inner function captured are
//! constants of the inner derivative, and may vary in the outer one. A partial derivative becomes the primitives of
//! which its formula consists.

use super::partial_formulas::PartialStep;
use super::{CallSite, CaptureSource, Continuation, Inliner, KnownClosure, MAX_STEPS, inlinable, returns, size};
use crate::ir::passes::clean;
use crate::ir::passes::fallback::Fallback;
use crate::ir::{
    Block, BlockId, Function, Instruction, Op, Operator, Program, Reg, Stride, Terminator, TransformedOp, Trap,
};
use crate::native::primitive_ids;
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::{Shape, TangentId, TangentKind};
use hashbrown::HashMap;

/// Derives tangent code from a graph without calls, in which the parameters beside the declared ones are constants.
pub type TangentTransform<'t> = &'t dyn Fn(&Function) -> Result<Function, Fallback>;

/// The maximum nesting depth of operators. Each nesting at least doubles the number of steps.
const MAX_NESTING: usize = 8;

/// A function whose graph is separate from the outer one, with the outer registers that it reads.
struct Separate {
    graph: Function,
    imported: Vec<Reg>,
}

/// The registers of a graph that stand for registers of the graph around it.
struct Imports<'o, 'p> {
    outer: &'o Inliner<'p>,
    known: HashMap<Reg, Reg>,
    /// The outer registers in the order in which they became parameters, with the parameters.
    params: Vec<(Reg, Reg)>,
}

impl Imports<'_, '_> {
    /// Returns the register that stands for an outer register, together with the knowledge about the function in it.
    fn register(&mut self, inner: &mut Inliner<'_>, outer: Reg) -> Reg {
        if let Some(known) = self.known.get(&outer) {
            return *known;
        }
        let param = inner.register(self.outer.registers[outer.0 as usize].bank);
        self.known.insert(outer, param);
        self.params.push((outer, param));
        if let Some(KnownClosure { function, captures }) = self.outer.values.get(&outer) {
            let captures = match captures {
                // The object is the register itself, or another one that holds the same function.
                CaptureSource::Object(object, known) => {
                    CaptureSource::Object(self.register(inner, *object), known.clone())
                }
                captures => self.captures(inner, captures),
            };
            inner.values.insert(param, KnownClosure { function: *function, captures });
        }
        param
    }

    fn captures(&mut self, inner: &mut Inliner<'_>, captures: &CaptureSource) -> CaptureSource {
        match captures {
            CaptureSource::Running(known) => CaptureSource::Running(known.clone()),
            CaptureSource::Object(object, known) => CaptureSource::Object(self.register(inner, *object), known.clone()),
            CaptureSource::Parts(parts) => {
                CaptureSource::Parts(parts.iter().map(|part| self.register(inner, *part)).collect())
            }
        }
    }
}

/// Whether a type is a single number of full precision.
fn is_number(program: &Program, at: TangentId) -> bool {
    let tangent = program.tangents.get(at);
    tangent.kind == TangentKind::Number && *program.shapes.get(tangent.vector) == Shape::Double
}

/// Whether a type is an array of numbers of full precision.
fn is_array_of_numbers(program: &Program, at: TangentId) -> bool {
    matches!(program.tangents.get(at).kind, TangentKind::Array(element) if is_number(program, element))
}

/// Returns the number of numbers of which a value consists; `None` for a type that may have other parts.
fn numbers_in(program: &Program, at: TangentId) -> Option<usize> {
    match &program.tangents.get(at).kind {
        TangentKind::Fields(fields) => {
            let in_field = |(k, (field, _, of)): (usize, &(u32, u32, TangentId))| {
                if *field as usize == k { numbers_in(program, *of) } else { None }
            };
            fields.iter().enumerate().map(in_field).sum()
        }
        _ => is_number(program, at).then_some(1),
    }
}

impl<'p> Inliner<'p> {
    /// Inlines a differential operator that is applied to a known function of one number; returns `false` if the
    /// operator is not supported.
    pub(super) fn operator(
        &mut self,
        site: &mut CallSite<'_>,
        operator: &Operator,
        (outs, ins): (&[Reg], &[Reg]),
        step: &Instruction,
    ) -> bool {
        let program = self.program;
        match (operator, outs, ins) {
            (Operator::ValueWithTangent { at, result, throws: false }, &[value, tangent], &[x, dx, body])
                if is_number(program, *at) && is_number(program, *result) =>
            {
                self.tangent(site, (value, tangent), (x, dx, body), step.span)
            }
            (Operator::Gradient { at, throws: false, .. }, [succeeded, results @ ..], &[x, body])
                if is_number(program, *at) =>
            {
                let (value, tangent) = match *results {
                    [value, tangent] => (value, tangent),
                    [tangent] => (self.register(Bank::F), tangent),
                    _ => return self.refuse(site.at, Fallback::Derivative),
                };
                let one = self.register(Bank::F);
                self.push(site.at, Op::ConstF(1.0), vec![one], vec![], step.span);
                self.push(site.at, Op::ConstI(1), vec![*succeeded], vec![], step.span);
                self.certain.push(*succeeded);
                self.tangent(site, (value, tangent), (x, one, body), step.span)
            }
            (Operator::Coordinates { of }, &[out], &[array]) if is_array_of_numbers(program, *of) => {
                self.push(site.at, Op::Copy, vec![out], vec![array], step.span);
                true
            }
            (Operator::Coordinates { of }, &[out], numbers) if numbers_in(program, *of) == Some(numbers.len()) => {
                let stride = Stride { f: 1, i: 0, r: 0 };
                self.push(site.at, Op::NewArray(stride), vec![out], vec![], step.span);
                for number in numbers {
                    self.push(site.at, Op::Append(stride), vec![out], vec![out, *number], step.span);
                }
                true
            }
            _ => self.refuse(site.at, Fallback::of_step(&step.op)),
        }
    }

    /// Inlines the tangent code of a function of one number.
    fn tangent(
        &mut self,
        site: &mut CallSite<'_>,
        (value, tangent): (Reg, Reg),
        (x, dx, body): (Reg, Reg, Reg),
        span: Span,
    ) -> bool {
        let Some(closure) = self.values.get(&body).cloned() else {
            return self.refuse(site.at, Fallback::UnknownFunction);
        };
        let (code, imported) = match self.separate(&closure, site.at) {
            Ok(Separate { graph, imported }) => match (self.transform)(&graph) {
                Ok(mut code) => {
                    clean(&mut code);
                    (code, imported)
                }
                Err(why) => return self.refuse(site.at, why),
            },
            Err(why) => return self.refuse(site.at, why),
        };
        self.steps += size(&code);
        if self.steps > MAX_STEPS {
            return self.refuse(site.at, Fallback::TooLarge(MAX_STEPS));
        }
        let [y, dy] = [(); 2].map(|()| self.register(Bank::F));
        let args: Vec<Reg> = [x].into_iter().chain(imported).chain([dx]).collect();
        self.splice(site, &code, (&[y, dy], &args), span);
        self.require_finite(site, &[y, dy], span);
        // Adding 0 turns a negative zero into an ordinary zero, as a sweep does.
        let zero = self.register(Bank::F);
        self.push(site.at, Op::ConstF(0.0), vec![zero], vec![], span);
        self.push(site.at, Op::Copy, vec![value], vec![y], span);
        self.push(site.at, Op::Primitive(primitive_ids::ADD), vec![tangent], vec![dy, zero], span);
        true
    }

    /// Returns a function with all its calls inlined as a graph of its own. Its parameters are those of the function,
    /// followed by one for each register of this graph that it reads.
    fn separate(&mut self, closure: &KnownClosure, at: BlockId) -> Result<Separate, Fallback> {
        let id = closure.function;
        let f = inlinable(self.program, id)?;
        if f.throws {
            return Err(Fallback::Throws);
        }
        // The function may be one that is being inlined: the body of an operator is another one for each nesting.
        if self.nesting == MAX_NESTING {
            return Err(Fallback::Derivative);
        }
        let new = Inliner::new(self.program, self.transform);
        let mut inner = Inliner { nesting: self.nesting + 1, steps: self.steps, ..new };
        let first = inner.copy_registers(f);
        let mut imports = Imports { outer: self, known: HashMap::new(), params: vec![] };
        let captures = imports.captures(&mut inner, &closure.captures);
        let params = imports.params;
        inner.function(id, f, first, &captures, None);
        let (imported, imports): (Vec<Reg>, Vec<Reg>) = params.into_iter().unzip();
        let why = inner.reasons();
        let mut graph = inner.graph(f, first);
        graph.params.extend(imports);
        clean(&mut graph);
        if !returns(&graph) {
            return Err(why.into_iter().next().unwrap_or(Fallback::NoReturn));
        }
        // Reasons on paths of the inner function are reasons on paths of the outer one.
        for why in why {
            self.refuse(at, why);
        }
        Ok(Separate { graph, imported })
    }

    /// Appends a graph without calls to this one, and continues after it.
    fn splice(&mut self, site: &mut CallSite<'_>, code: &Function, (outs, args): (&[Reg], &[Reg]), span: Span) {
        let first = self.copy_registers(code);
        let here = |r: &Reg| Reg(r.0 + first);
        for (param, arg) in code.params.iter().zip(args) {
            self.push(site.at, Op::Copy, vec![here(param)], vec![*arg], span);
        }
        let after = BlockId(self.blocks.len() as u32);
        let entry = after.0 + 1;
        self.blocks.extend((0..=code.blocks.len()).map(|_| Block::default()));
        self.blocks[site.at.0 as usize].end = Some(Terminator::Jump(BlockId(entry)));
        let number = |b: &BlockId| BlockId(b.0 + entry);
        let continuation = Continuation { outs, to: after };
        for (b, block) in code.blocks.iter().enumerate() {
            crate::cancel::check();
            let mut at = BlockId(entry + b as u32);
            for step in &block.instructions {
                let outs: Vec<Reg> = step.outs.iter().map(here).collect();
                let ins: Vec<Reg> = step.ins.iter().map(here).collect();
                match step.op {
                    Op::Transformed(TransformedOp::Partial { primitive, operand }) => {
                        at = self.partial(at, PartialStep { primitive, operand, out: outs[0], ins: &ins }, step.span);
                    }
                    _ => self.push(at, step.op.clone(), outs, ins, step.span),
                }
            }
            let end = match &block.end {
                Some(Terminator::Jump(to)) => Terminator::Jump(number(to)),
                Some(Terminator::Branch { condition, then, otherwise }) => {
                    Terminator::Branch { condition: here(condition), then: number(then), otherwise: number(otherwise) }
                }
                Some(Terminator::Return(values)) => {
                    let values: Vec<Reg> = values.iter().map(here).collect();
                    self.results(at, &continuation, &values, block.end_span)
                }
                Some(Terminator::Trap(_)) | None => Terminator::Trap(Trap::Unsupported),
            };
            let last = &mut self.blocks[at.0 as usize];
            (last.end, last.end_span) = (Some(end), block.end_span);
        }
        site.at = after;
    }

    /// Appends a test after which all given numbers are finite. Otherwise the graph ends: on the tape, a zero tangent
    /// may stop an infinite partial derivative.
    fn require_finite(&mut self, site: &mut CallSite<'_>, numbers: &[Reg], span: Span) {
        for number in numbers {
            let [zero, difference] = [(); 2].map(|()| self.register(Bank::F));
            let is_finite = self.register(Bank::I);
            self.push(site.at, Op::Primitive(primitive_ids::SUB), vec![difference], vec![*number, *number], span);
            self.push(site.at, Op::ConstF(0.0), vec![zero], vec![], span);
            self.push(site.at, Op::Primitive(primitive_ids::EQ), vec![is_finite], vec![difference, zero], span);
            let next = self.blocks.len() as u32;
            let [after, failed] = [0, 1].map(|k| BlockId(next + k));
            self.blocks.extend([Block::default(), Block::default()]);
            let end = Terminator::Branch { condition: is_finite, then: after, otherwise: failed };
            self.blocks[site.at.0 as usize].end = Some(end);
            self.blocks[failed.0 as usize].end = Some(Terminator::Trap(Trap::Unsupported));
            site.at = after;
        }
    }
}
