//! Emission: translation of graphs to bytecode, with register assignment, constants and jump targets.
//!
//! In: the graph of one function, original or derivative. Out: its [`Code`], verified by construction.
//!
//! Promises: a reference is moved at its last use and dropped where it is no longer live, so that an array with one
//! owner does not become shared; in derivative code a number register either always carries a slot or never.
//! Not here: activity (`diff`), the definition of the instructions (`bytecode`), their execution (`vm`).

mod call_sites;
mod code_writer;
mod fusion;
mod graph;
mod parallel_moves;
mod preparation;
mod register_assignment;
mod selection;
mod terminator;
mod text_fusion;
mod window;

use crate::bytecode::Code;
use crate::ir::analysis::control_flow::reverse_postorder;
use crate::ir::analysis::liveness::Liveness;
use crate::ir::{Function, Program};
use crate::source::Span;
use crate::value::Bank;
use code_writer::Writer;
use graph::{Graph, Reg};
use hashbrown::HashSet;
use selection::Selector;

/// The reason why a function cannot be encoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// The function has more registers than an instruction can address.
    TooManyRegisters,
    /// The native library has no function with the given name.
    Native(String),
    /// The primitive has no dedicated instruction and its id is too large for an operand.
    Primitive(&'static str),
    /// A primitive has an unsupported number of operands.
    Operands(&'static str),
    /// The program has more methods than an instruction can address.
    Methods,
    /// A near jump has a target that is too far away; this error is handled inside the module.
    Far,
    /// The graph violates an invariant.
    Unreachable,
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EncodeError::TooManyRegisters => f.write_str("the function has too many variables"),
            EncodeError::Methods => f.write_str("the program has too many dynamically dispatched methods"),
            EncodeError::Native(name) => write!(f, "there is no native function `{name}`"),
            EncodeError::Primitive(name) => write!(f, "the primitive `{name}` cannot be encoded"),
            EncodeError::Operands(name) => write!(f, "the primitive `{name}` has the wrong number of operands"),
            EncodeError::Far | EncodeError::Unreachable => f.write_str("the graph is malformed"),
        }
    }
}

/// The properties of a function that the parts of emission use.
#[derive(Debug)]
pub struct Context<'a> {
    program: &'a Program,
    graph: &'a Graph,
    /// The number registers that carry slots.
    active: &'a [bool],
    is_derivative: bool,
    /// The number of own number registers that carry slots; these registers come first.
    inactive_from: usize,
}

/// Emits the code of a function. `is_derivative` states that the graph was derived by `diff`.
///
/// # Errors
/// Fails if the function exceeds the limits of a code object or calls a native function that does not exist.
pub fn emit(program: &Program, function: &Function, is_derivative: bool) -> Result<Code, EncodeError> {
    let mut graph = Graph::of(function);
    preparation::prepare(&mut graph, &program.shapes, is_derivative);
    crate::cancel::check();
    let order = reverse_postorder(&graph);
    let live = Liveness::of(&graph);
    crate::cancel::check();
    let active = register_assignment::active_registers(&graph, is_derivative);
    let assignment = register_assignment::assign(&graph, &order, &live, &active);
    crate::cancel::check();
    let results = bank_counts(&function.results);
    // The register after the window is the scratch register for cyclic moves.
    let window = assignment.window.map(|n| n + 1);
    let own = [0, 1, 2].map(|b| assignment.own[b].max(usize::from(results[b])));
    let assignment = register_assignment::Assignment { own, ..assignment };
    if (0..3).any(|b| own[b] + window[b] > usize::from(u16::MAX)) {
        return Err(EncodeError::TooManyRegisters);
    }
    let params: Vec<Bank> = graph.params.iter().map(|p| graph.banks[*p]).collect();
    let inactive_from = assignment.inactive_from.min(own[0]);
    let head = Code {
        name: function.name.clone(),
        span: function.span,
        is_prelude: function.is_prelude,
        is_derivative,
        params: bank_counts(&params),
        results,
        registers: own.map(|n| n as u16),
        window: window.map(|n| n as u16),
        inactive_from: inactive_from as u16,
        reads: function.reads.clone(),
        ..Code::default()
    };
    let context = Context { program, graph: &graph, active: &active, is_derivative, inactive_from };
    let write = |long_jumps: bool| {
        let writer = Writer::new(head.clone(), &assignment, &graph.banks, long_jumps);
        write(Selector::new(writer, &context), &order, &live)
    };
    match write(false) {
        Err(EncodeError::Far) => write(true),
        done => done,
    }
}

fn bank_counts(banks: &[Bank]) -> [u16; 3] {
    let mut counts = [0_u16; 3];
    banks.iter().for_each(|b| counts[*b as usize] = counts[*b as usize].saturating_add(1));
    counts
}

fn write(mut selector: Selector<'_>, order: &[usize], live: &Liveness) -> Result<Code, EncodeError> {
    let graph = selector.context.graph;
    let stale = stale_references(graph, order, live, &selector.writer);
    let mut kill_points = KillPoints { graph, needed: vec![false; graph.banks.len()] };
    for (k, &at) in order.iter().enumerate() {
        let block = &graph.blocks[at];
        crate::cancel::check();
        selector.writer.begin(at);
        selector.writer.span = block.steps.first().map_or(block.end_span, |s| s.span);
        stale[at].iter().for_each(|r| selector.clear(*r));
        let (killed, dead) = kill_points.of(at, live);
        // A function that returns here drops all references; the order does not matter if it cannot be observed.
        let returns = matches!(block.end, graph::End::Return(_)) && !selector.context.program.sees_ends;
        let matters = block.steps.iter().rposition(|s| s.uses_window() || changes_reference(graph, s));
        for (n, step) in block.steps.iter().enumerate() {
            let needed = !returns || matters.is_some_and(|m| m > n);
            let dead: &[Reg] = if needed { &dead[n] } else { &[] };
            selector.step(step, killed[n].clone(), dead, needed)?;
        }
        selector.writer.span = if block.end_span == Span::default() { selector.writer.span } else { block.end_span };
        selector.end(&block.end, order.get(k + 1).copied());
    }
    selector.writer.finish()
}

fn changes_reference(graph: &Graph, step: &graph::Step) -> bool {
    step.outs.iter().any(|r| graph.banks[*r] == Bank::R && step.ins.contains(r))
}

/// A search for the steps of a block after which references are no longer live and must be dropped.
struct KillPoints<'g> {
    graph: &'g Graph,
    /// The registers that are live at the current step.
    needed: Vec<bool>,
}

impl KillPoints<'_> {
    /// Returns for each step of a block the references that it reads for the last time, and those that it writes
    /// but that are never read.
    fn of(&mut self, at: usize, live: &Liveness) -> (Vec<Vec<Reg>>, Vec<Vec<Reg>>) {
        let KillPoints { graph, needed } = self;
        let block = &graph.blocks[at];
        let is_reference = |r: &Reg| graph.banks[*r] == Bank::R;
        live.exit(at).chain(block.end.ins().iter().copied()).for_each(|r| needed[r] = true);
        let (mut killed, mut dead) = (vec![vec![]; block.steps.len()], vec![vec![]; block.steps.len()]);
        for (n, step) in block.steps.iter().enumerate().rev() {
            dead[n] = step.outs.iter().copied().filter(is_reference).filter(|r| !needed[*r]).collect();
            step.outs.iter().for_each(|r| needed[*r] = false);
            for reg in step.ins.iter().copied().filter(is_reference) {
                // A register that the step modifies holds its reference afterwards; a register that receives the result
                // of a call holds a different reference.
                let changed = step.outs.contains(&reg) && !step.is_call();
                if !changed && !std::mem::replace(&mut needed[reg], true) {
                    killed[n].push(reg);
                }
            }
            step.ins.iter().for_each(|r| needed[*r] = true);
        }
        // Only these registers are live before the first step; the next block starts with an empty set.
        live.entry(at).for_each(|r| needed[r] = false);
        (killed, dead)
    }
}

/// Returns the references that are not live in a block although they were live in a predecessor: they are dropped at
/// the beginning of the block.
fn stale_references(graph: &Graph, order: &[usize], live: &Liveness, writer: &Writer<'_>) -> Vec<Vec<Reg>> {
    let mut stale = vec![vec![]; graph.blocks.len()];
    let references: Vec<bool> = graph.banks.iter().map(|b| *b == Bank::R).collect();
    let mut seen = HashSet::new();
    let mut note = |to: usize, reg: Reg| {
        if !references[reg] || live.enters(to, reg) || !seen.insert((to, reg)) {
            return;
        }
        let place = writer.place(reg);
        let is_used = live.entry(to).any(|r| references[r] && writer.place(r) == place);
        if !is_used {
            stale[to].push(reg);
        }
    };
    for &at in order {
        let block = &graph.blocks[at];
        for to in block.end.targets() {
            live.exit(at).for_each(|r| note(to, r));
        }
    }
    graph.params.iter().chain(&graph.closure).for_each(|r| note(0, *r));
    stale
}
