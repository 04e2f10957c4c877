//! Nested operators: inlines derivatives and gradients of known functions as tangent and adjoint code, so that they can be
//! differentiated again, and the numbers of which a value consists.
//!
//! The code of the inner function is part of the outer graph: the values that the inner function captured are
//! constants of the inner derivative, and may vary in the outer one. A partial derivative becomes the primitives of
//! which its formula consists.

use super::partial_formulas::PartialStep;
use super::{CallSite, CaptureSource, Continuation, Inliner, KnownClosure, MAX_STEPS, inlinable, returns, size};
use crate::ir::passes::clean;
use crate::ir::passes::fallback::Fallback;
use crate::ir::{Block, BlockId, Function, Instruction, Op, Operator, Reg, Stride, Terminator, TransformedOp, Trap};
use crate::native::primitive_ids;
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::TangentId;
use hashbrown::HashMap;

/// The transforms that derive tangent and adjoint code from a graph without calls, in which the parameters beside the
/// declared ones are constants.
#[derive(Clone, Copy)]
pub struct Transforms {
    /// Derives tangent code.
    pub tangent: fn(&Function) -> Result<Function, Fallback>,
    /// Derives adjoint code, which returns the value if the second argument is true.
    pub adjoint: fn(&Function, bool) -> Result<Function, Fallback>,
}

/// The maximum nesting depth of operators. Each nesting at least doubles the number of steps.
const MAX_NESTING: usize = 8;

/// A function whose graph is separate from the outer one, with the outer registers that it reads.
struct ClosureGraph {
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

impl<'p> Inliner<'p> {
    /// Inlines a differential operator that is applied to a known function, or the numbers of a value; returns `false` if
    /// the operator is not supported.
    pub(super) fn operator(
        &mut self,
        site: &mut CallSite<'_>,
        operator: &Operator,
        (outs, ins): (&[Reg], &[Reg]),
        step: &Instruction,
    ) -> bool {
        let (tangents, shapes) = (&self.program.tangents, &self.program.shapes);
        let is_number = |at: &TangentId| tangents.is_number(shapes, *at);
        let components = |of: &TangentId| tangents.same_flat_components(shapes, *of);
        match (operator, outs, ins) {
            (Operator::ValueWithTangent { at, result, throws: false }, &[value, tangent], &[x, dx, body])
                if is_number(at) && is_number(result) =>
            {
                self.tangent(site, (value, tangent), (x, dx, body), step.span)
            }
            (Operator::Gradient { at, value, throws: false }, [succeeded, results @ ..], [x @ .., body])
                if components(at).is_some_and(|components| components.order.len() == x.len()) =>
            {
                let (value, gradient) = results.split_at(usize::from(*value));
                let value = value.first().copied();
                self.push(site.at, Op::ConstI(1), vec![*succeeded], vec![], step.span);
                self.ones.push(*succeeded);
                match (x, gradient) {
                    (&[x], &[tangent]) if is_number(at) => {
                        let value = value.unwrap_or_else(|| self.register(Bank::F));
                        let one = self.computed(site.at, Op::ConstF(1.0), vec![], step.span);
                        self.tangent(site, (value, tangent), (x, one, *body), step.span)
                    }
                    _ => self.gradient(site, (value, gradient), (x, *body), step),
                }
            }
            (Operator::Coordinates { of }, &[out], parts)
                if components(of).is_some_and(|components| components.order.len() == parts.len()) =>
            {
                self.coordinates(site, out, parts, step.span);
                true
            }
            _ => self.refuse(site.at, Fallback::of_step(&step.op)),
        }
    }

    /// Inlines the adjoint code of a function of numbers and arrays of numbers.
    fn gradient(
        &mut self,
        site: &mut CallSite<'_>,
        (value, gradient): (Option<Reg>, &[Reg]),
        (x, body): (&[Reg], Reg),
        step: &Instruction,
    ) -> bool {
        let (adjoint, span) = (self.transforms.adjoint, step.span);
        let Some((code, imported)) = self.transformed(site, body, &|graph| adjoint(graph, value.is_some())) else {
            return false;
        };
        let mut args: Vec<Reg> = x.iter().copied().chain(imported).collect();
        let arrays = x.iter().copied().filter(|r| self.registers[r.0 as usize].bank == Bank::R);
        let objects: Vec<Reg> = arrays.collect::<Vec<_>>().into_iter().map(|x| self.zeros(site, x, step)).collect();
        args.extend(&objects);
        let outs: Vec<Reg> = code.results.iter().map(|bank| self.register(*bank)).collect();
        self.splice(site, (&code, objects.len()), (&outs, &args), span);
        let (mut numbers, arrays): (Vec<Reg>, Vec<Reg>) =
            outs.iter().partition(|r| self.registers[r.0 as usize].bank == Bank::F);
        self.require_finite(site, &numbers, span);
        // The code may compute the value even if it is not requested.
        let adjoints = numbers.split_off(numbers.len() + arrays.len() - gradient.len());
        if let (Some(value), Some(found)) = (value, numbers.first()) {
            self.push(site.at, Op::Copy, vec![value], vec![*found], span);
        }
        let (mut adjoints, mut arrays) = (adjoints.into_iter(), arrays.into_iter());
        for out in gradient {
            let is_number = self.registers[out.0 as usize].bank == Bank::F;
            let Some(found) = (if is_number { adjoints.next() } else { arrays.next() }) else {
                return self.refuse(site.at, Fallback::Derivative);
            };
            if is_number {
                self.without_sign_of_zero(site.at, *out, found, span);
            } else {
                self.normalize(site, found, span);
                self.push(site.at, Op::Take, vec![*out], vec![found], span);
            }
        }
        true
    }

    /// Appends the construction of an array of zeros with as many elements as another array.
    fn zeros(&mut self, site: &mut CallSite<'_>, array: Reg, step: &Instruction) -> Reg {
        let zero = self.computed(site.at, Op::ConstF(0.0), vec![], step.span);
        let (count, zeros) = (self.register(Bank::I), self.register(Bank::R));
        self.push(site.at, Op::Count, vec![count], vec![array], step.span);
        self.repeat(site, zeros, (&[zero], count), Stride::NUMBERS, step.span);
        zeros
    }

    /// Returns tangent or adjoint code of the function in a register, with the registers that it reads beside its
    /// parameters.
    fn transformed(
        &mut self,
        site: &CallSite<'_>,
        body: Reg,
        transform: &dyn Fn(&Function) -> Result<Function, Fallback>,
    ) -> Option<(Function, Vec<Reg>)> {
        let found = match self.values.get(&body).cloned() {
            Some(closure) => self.closure_graph(&closure, site.at),
            None => Err(Fallback::UnknownFunction),
        };
        let made = found.and_then(|ClosureGraph { graph, imported }| Ok((transform(&graph)?, imported)));
        match made {
            Ok((code, _)) if self.steps + size(&code) > MAX_STEPS => {
                self.refuse(site.at, Fallback::TooLarge(MAX_STEPS));
                None
            }
            Ok(made) => Some(made),
            Err(why) => {
                self.refuse(site.at, why);
                None
            }
        }
    }

    /// Appends a copy of a number that turns a negative zero into an ordinary zero, as a sweep does.
    fn without_sign_of_zero(&mut self, at: BlockId, out: Reg, number: Reg, span: Span) {
        let zero = self.computed(at, Op::ConstF(0.0), vec![], span);
        self.push(at, Op::Primitive(primitive_ids::ADD), vec![out], vec![number, zero], span);
    }

    /// Appends a loop that removes the signs of zeros in an array of numbers, and that ends the graph at a number that is
    /// not finite.
    fn normalize(&mut self, site: &mut CallSite<'_>, array: Reg, span: Span) {
        let stride = Stride::NUMBERS;
        self.for_each_index(site, array, span, |inliner, site, index| {
            let element = Op::LoadElement { bank: Bank::F, offset: 0, stride };
            let number = inliner.computed(site.at, element, vec![array, index], span);
            inliner.require_finite(site, &[number], span);
            let sum = inliner.register(Bank::F);
            inliner.without_sign_of_zero(site.at, sum, number, span);
            let store = Op::StoreElement { bank: Bank::F, offset: 0, stride };
            inliner.push(site.at, store, vec![array], vec![array, index, sum], span);
        });
    }

    /// Inlines the tangent code of a function of one number.
    fn tangent(
        &mut self,
        site: &mut CallSite<'_>,
        (value, tangent): (Reg, Reg),
        (x, dx, body): (Reg, Reg, Reg),
        span: Span,
    ) -> bool {
        let tangent_of = self.transforms.tangent;
        let transform = |graph: &Function| {
            let mut code = tangent_of(graph)?;
            clean(&mut code);
            Ok(code)
        };
        let Some((code, imported)) = self.transformed(site, body, &transform) else { return false };
        let [y, dy] = [(); 2].map(|()| self.register(Bank::F));
        let args: Vec<Reg> = [x].into_iter().chain(imported).chain([dx]).collect();
        self.splice(site, (&code, 0), (&[y, dy], &args), span);
        self.require_finite(site, &[y, dy], span);
        self.push(site.at, Op::Copy, vec![value], vec![y], span);
        self.without_sign_of_zero(site.at, tangent, dy, span);
        true
    }

    /// Returns a function with all its calls inlined as a graph of its own. Its parameters are those of the function,
    /// followed by one for each register of this graph that it reads.
    fn closure_graph(&mut self, closure: &KnownClosure, at: BlockId) -> Result<ClosureGraph, Fallback> {
        let id = closure.function;
        let f = inlinable(self.program, id)?;
        if f.throws {
            return Err(Fallback::Throws);
        }
        // The function may be one that is being inlined: the body of an operator is another one for each nesting.
        if self.nesting == MAX_NESTING {
            return Err(Fallback::Derivative);
        }
        let new = Inliner::new(self.program, self.transforms);
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
        Ok(ClosureGraph { graph, imported })
    }

    /// Appends a graph without calls to this one, and continues after it. The graph modifies the given number of objects,
    /// which are its last arguments.
    fn splice(
        &mut self,
        site: &mut CallSite<'_>,
        (code, objects): (&Function, usize),
        (outs, args): (&[Reg], &[Reg]),
        span: Span,
    ) {
        let first = self.copy_registers(code);
        let here = |r: &Reg| Reg(r.0 + first);
        let is_object = |k: usize| code.params.len() - k <= objects;
        for (k, (param, arg)) in code.params.iter().zip(args).enumerate() {
            // An array that the code modifies has one owner.
            let op = if is_object(k) { Op::Take } else { Op::Copy };
            self.push(site.at, op, vec![here(param)], vec![*arg], span);
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
