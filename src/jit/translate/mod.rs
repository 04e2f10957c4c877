//! Translation: builds the graph of the code generator from bytecode, one instruction after another.

mod adjoint_elements;
mod borrowed_elements;
mod calls;
mod derivatives;
mod entry;
mod exits;
mod inline_primitives;
mod integers;
mod jumps;
mod linearization;
mod local_arrays;
mod loop_versions;
mod natives;
mod numbers;
mod objects;
mod ranges;
mod recording;
mod reused_arrays;
mod views;

use super::context::offsets;
use super::convention;
use super::empty_registers::writes_to_empty;
use super::flow::Flow;
use super::inlining::Inlined;
use super::layout::Layout;
use super::rare::{RareFunction, RareFunctions, RareThunks};
use super::site::{Continuation, Site};
use super::treatment::{Treatment, treatment};
use super::{Callee, Helpers, Part, Program, Signature, Signatures};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use adjoint_elements::{AdjointElement, adjoint_elements};
use borrowed_elements::BorrowedElements;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, StackSlot, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use hashbrown::HashMap;
use local_arrays::KnownArrays;
use loop_versions::LeafLoop;
use reused_arrays::{ReusedArray, reused_arrays};
use std::ops::RangeInclusive;
use views::{Key, View};

/// The result of a translation, besides the graph.
pub struct Translated {
    /// The sites of the code.
    #[allow(clippy::vec_box, reason = "machine code contains the addresses of the sites")]
    pub sites: Vec<Box<Site>>,
    /// The number of words in the largest record of an exit.
    pub largest_record: usize,
    /// Whether the code counts a step when it is entered.
    pub counts_step: bool,
}

/// What a translation needs to know besides the function.
pub struct Environment<'t, 'p> {
    /// The program.
    pub program: &'t Program<'p>,
    /// The functions of the machine.
    pub helpers: &'t Helpers,
    /// The layout of objects, if it is known.
    pub layout: Option<&'t Layout>,
    /// The machine code that calls functions of the machine in rare cases.
    pub rare: &'t RareThunks,
    /// The calling convention.
    pub convention: CallConv,
}

/// A block that leaves, and is filled at the end.
struct PendingExit {
    block: Block,
    /// The instruction before which it leaves.
    at: usize,
    continuation: Continuation,
    /// The leaf loop in which it leaves.
    leaf_loop: Option<LeafLoop>,
}

/// Views by what they show.
type Views = Vec<(Key, View)>;

/// The state of the translation of one function or loop.
struct Translator<'t, 'f> {
    builder: &'t mut FunctionBuilder<'f>,
    code: &'t Code,
    /// The code with its inlined calls.
    inlined: &'t Inlined,
    signature: Signatures<'t>,
    helpers: &'t Helpers,
    layout: Option<&'t Layout>,
    globals: [u32; 3],
    rare: RareFunctions,
    rare_thunks: &'t RareThunks,
    convention: CallConv,
    flow: Flow,
    /// The instructions that are translated; a jump to another instruction leaves the code.
    region: RangeInclusive<usize>,
    is_function: bool,
    is_derivative: bool,
    /// The ends of the numbers and of the integers in the value stack of adjoint code.
    tops: [Variable; 2],
    /// The number of steps until the limits must be checked, in tangent and adjoint code, and in some loops.
    fuel: Variable,
    /// The address and the number of the next node of the tape, in code that appends nodes.
    tape: [Variable; 2],
    /// The address of the slots of the number registers, in derivative code.
    slots: Value,
    /// The nodes of number registers, as far as they are known at the current point.
    nodes: Vec<(u16, Value)>,
    /// Whether the code appends nodes to the tape.
    appends_nodes: bool,
    /// The nodes of which values are the bits, in linearization code.
    nodes_of_bits: Vec<(Value, Value)>,
    /// Values that are numbers of nodes, and therefore not 0.
    numbers: Vec<Value>,
    /// The addresses of the registers of numbers and integers, in the frame of tangent or adjoint code.
    frame: [Value; 2],
    /// The variables of the number and integer registers.
    variables: [Vec<Variable>; 2],
    /// The address of the registers of references.
    references: Value,
    /// The record of a function that calls others or executes single steps.
    link: Option<StackSlot>,
    /// The record of the caller.
    caller: Value,
    /// The instruction before which the record is created and the limits are checked.
    first_limited: usize,
    /// The function itself, if it calls itself.
    itself: Option<Callee>,
    /// The block that begins at each instruction, if any.
    blocks: Vec<Option<Block>>,
    /// The block that leaves before the instruction that is translated, if the instruction needs one.
    exit: Option<Block>,
    /// The block before each loop, by the first instruction of the loop.
    before_loops: Vec<(usize, Block)>,
    /// The views that are valid at the current point.
    views: Views,
    /// The instructions by which machine code adds to elements of arrays of arrays of adjoints in their place.
    adjoint_elements: HashMap<usize, AdjointElement>,
    /// The elements of arrays that are read where they are.
    borrowed_elements: BorrowedElements,
    /// The addresses of the references that are such elements, by the registers to which they would be loaded.
    borrowed: Vec<(u16, Value)>,
    /// The local arrays that are known at the current point.
    known_arrays: KnownArrays,
    /// The indices and counts that were compared on every way to the current point.
    checked: Vec<(Value, Value)>,
    /// The views that are valid everywhere in a loop.
    hoisted: Vec<(RangeInclusive<usize>, Views)>,
    /// The registers whose arrays are used again in the next iteration of a loop.
    reused_arrays: Vec<ReusedArray>,
    /// The blocks that leave before instructions, or at the entry, and are filled at the end.
    exits: Vec<PendingExit>,
    /// The leaf loop that is translated.
    leaf_loop: Option<LeafLoop>,
    #[allow(clippy::vec_box, reason = "machine code contains the addresses of the sites")]
    sites: Vec<Box<Site>>,
    largest_record: usize,
    /// The instructions whose index or sum is known to be in its range.
    in_range: Vec<bool>,
    /// The instructions that write a reference to an empty register.
    writes_to_empty: Vec<bool>,
    /// The instruction that is translated.
    at: usize,
    /// Whether the current block has ended.
    is_ended: bool,
}

const FLAGS: MemFlagsData = MemFlagsData::trusted();

/// Translates a part of a function; `None` when the part cannot be translated.
pub fn translate(
    builder: &mut FunctionBuilder<'_>,
    inlined: &Inlined,
    part: Part,
    environment: &Environment<'_, '_>,
) -> Option<Translated> {
    let code = &inlined.code;
    let Environment { program, helpers, layout, rare: rare_thunks, convention } = *environment;
    // A callee whose arguments or results do not fit the window is called by the interpreter.
    let checked = |callee: Callee| {
        let found = Signature::of((program.functions)(callee)?.0);
        let fits = |counts: [u16; 3]| {
            counts.iter().zip(code.window).all(|(count, window)| *count <= window)
                && counts.iter().all(|count| *count <= super::MAX_PASSED)
        };
        (fits(found.params) && fits(found.results)).then_some(found)
    };
    let flow = Flow::of(code, inlined.frame, &checked);
    let (region, start) = match part {
        Part::Function => (0..=code.instructions.len() - 1, 0),
        Part::Derivative => (0..=code.instructions.len() - 1, 0),
        Part::Loop(head) => {
            let head = *inlined.starts.get(head)?;
            (flow.loop_at(head)?, head)
        }
    };
    let frame = inlined.frame;
    let [tops, tape] = [(); 2].map(|()| [builder.declare_var(types::I64), builder.declare_var(types::I64)]);
    let fuel = builder.declare_var(types::I64);
    let mut declare = |count: usize, kind: Type| (0..count).map(|_| builder.declare_var(kind)).collect();
    let variables = [declare(frame[0], types::F64), declare(frame[1], types::I64)];
    let is_derivative = part == Part::Derivative;
    let adjoint_elements = if is_derivative { adjoint_elements(code, &flow) } else { HashMap::new() };
    let borrowed_elements = BorrowedElements::of(code, &flow, is_derivative);
    // Tangent and adjoint code keeps some references elsewhere.
    let writes_to_empty = if is_derivative { vec![] } else { writes_to_empty(code, &flow) };
    let reused_arrays = if is_derivative { reused_arrays(code, &flow) } else { vec![] };
    let mut translator = Translator {
        references: Value::from_u32(0),
        builder,
        code,
        inlined,
        signature: &checked,
        helpers,
        layout,
        globals: program.globals,
        rare: RareFunctions::of(helpers),
        rare_thunks,
        convention,
        flow,
        region,
        is_function: part == Part::Function,
        is_derivative,
        adjoint_elements,
        borrowed_elements,
        borrowed: vec![],
        frame: [Value::from_u32(0); 2],
        variables,
        tops,
        fuel,
        tape,
        slots: Value::from_u32(0),
        nodes: vec![],
        appends_nodes: code.is_derivative || code.is_linearization(),
        nodes_of_bits: vec![],
        numbers: vec![],
        link: None,
        caller: Value::from_u32(0),
        first_limited: start,
        itself: if part == Part::Function { itself(inlined, program) } else { None },
        blocks: vec![None; code.instructions.len()],
        exit: None,
        exits: vec![],
        leaf_loop: None,
        before_loops: vec![],
        views: vec![],
        known_arrays: KnownArrays::default(),
        checked: vec![],
        hoisted: vec![],
        reused_arrays,
        sites: vec![],
        largest_record: 0,
        in_range: vec![false; code.instructions.len()],
        writes_to_empty,
        at: start,
        is_ended: false,
    };
    translator.make_blocks(start);
    translator.enter(start);
    translator.translate_region();
    translator.fill_exits();
    let counts_step = translator.is_function && translator.link.is_some();
    Some(Translated { sites: translator.sites, largest_record: translator.largest_record, counts_step })
}

/// Returns the function itself as a callee, if original code calls it.
fn itself(inlined: &Inlined, program: &Program<'_>) -> Option<Callee> {
    let owner = inlined.activations[0].owner;
    let mut callees = inlined.code.instructions.iter().filter_map(Callee::of).filter(|callee| !callee.is_derivative);
    callees.find(|callee| (program.functions)(*callee).is_some_and(|(_, found)| found == owner))
}

impl Translator<'_, '_> {
    /// Creates the blocks of the instructions to which the code jumps.
    fn make_blocks(&mut self, start: usize) {
        let targets = self.region.clone().filter_map(|at| self.flow.targets[at]);
        let heads: Vec<usize> = targets.filter(|target| self.region.contains(target)).chain([start]).collect();
        for head in heads {
            if self.blocks[head].is_none() {
                self.blocks[head] = Some(self.builder.create_block());
            }
        }
        let loops: Vec<usize> = self.flow.loops.iter().map(|around| *around.start()).collect();
        for head in loops.into_iter().filter(|head| self.region.contains(head)) {
            let before = self.builder.create_block();
            self.before_loops.push((head, before));
        }
    }

    fn translate_region(&mut self) {
        self.translate_range(self.region.clone());
        if !self.is_ended {
            // A loop ends with a conditional jump to its head, so the code after the loop follows.
            let next = self.region.end() + 1;
            self.leave_before(next);
            self.is_ended = true;
        }
    }

    fn translate_range(&mut self, range: RangeInclusive<usize>) {
        for at in range {
            self.at = at;
            self.begin_block(at);
            if self.is_ended {
                continue;
            }
            if at == self.first_limited && at != *self.region.start() {
                self.create_link();
                self.check_limits();
                self.finish_exit(0, Continuation::Entry);
            }
            let instruction = self.code.instructions[at];
            match treatment(instruction.opcode()) {
                _ if self.borrowed_element(&instruction, at) => {}
                _ if self.is_derivative && self.local_array(&instruction, at) => {}
                Treatment::Derivative if self.is_derivative => self.derivative(at, &instruction),
                Treatment::Recorded if self.recorded(at, &instruction) => {}
                Treatment::Translated => self.translate(at, &instruction),
                Treatment::Object if self.object(at, &instruction) => {}
                Treatment::Object | Treatment::Recorded | Treatment::Step => self.step(at),
                Treatment::CallOfObject if self.layout.is_some() && !self.is_derivative => self.call(at, &instruction),
                Treatment::CallOfObject if !self.is_derivative => self.step_and_leave(at),
                Treatment::CallOfObject | Treatment::Derivative | Treatment::Leave => {
                    self.leave_before(at);
                    self.is_ended = true;
                }
            }
            self.finish_exit(self.borrowed_elements.resumed_at(at), Continuation::Before);
            self.invalidate_views(at);
            self.forget_arrays(at);
            self.finish_leaf_loop(at);
        }
    }

    /// Begins the block of an instruction, if a block begins there: before a loop, the block that computes what the
    /// loop does not change.
    fn begin_block(&mut self, at: usize) {
        let Some(block) = self.blocks[at] else { return };
        if let Some(before) = self.block_before(at) {
            if !self.is_ended {
                self.builder.ins().jump(before, &[]);
            }
            self.continue_in(before);
            self.restore_views(at);
            if self.is_derivative {
                self.store_fuel();
            }
            if let Some(around) = self.flow.loop_at(at) {
                self.enter_leaf_loop(&around);
                self.hoist_arrays(&around);
                self.hoist_views(&around);
                self.split_loop(&around);
            }
            if self.is_derivative {
                self.load_fuel();
            }
            self.is_ended = false;
        }
        if !self.is_ended {
            self.builder.ins().jump(block, &[]);
        }
        self.builder.switch_to_block(block);
        let is_repeated = self.region.clone().any(|from| from >= at && self.flow.targets[from] == Some(at));
        if !is_repeated {
            self.builder.seal_block(block);
        }
        self.restore_views(at);
        self.is_ended = false;
    }

    /// Returns the block before the loop that begins at an instruction.
    fn block_before(&self, head: usize) -> Option<Block> {
        self.before_loops.iter().find(|(at, _)| *at == head).map(|(_, block)| *block)
    }

    /// Translates an instruction without references.
    fn translate(&mut self, at: usize, instruction: &Instruction) {
        use Instruction as I;
        match *instruction {
            I::Call { .. } | I::DCall { .. } => self.call(at, instruction),
            I::DReturnF { a } => {
                let node = self.node(a.0);
                self.return_(at, instruction, Some(node));
            }
            I::Return {} | I::ReturnF { .. } | I::ReturnI { .. } | I::ReturnR { .. } => {
                self.return_(at, instruction, None)
            }
            _ if self.number(at, instruction) || self.integer(instruction) => {}
            _ => self.jump_instruction(at, instruction),
        }
    }

    fn get(&mut self, (bank, register): (Bank, u16)) -> Value {
        let variable = self.variables[bank as usize][usize::from(register)];
        self.builder.use_var(variable)
    }

    fn set(&mut self, (bank, register): (Bank, u16), value: Value) {
        let variable = self.variables[bank as usize][usize::from(register)];
        self.builder.def_var(variable, value);
    }

    fn f(&mut self, register: u16) -> Value {
        self.get((Bank::F, register))
    }

    fn i(&mut self, register: u16) -> Value {
        self.get((Bank::I, register))
    }

    fn load_context(&mut self, kind: Type, offset: i32) -> Value {
        let context = self.builder.ins().get_pinned_reg(types::I64);
        self.builder.ins().load(kind, FLAGS, context, offset)
    }

    fn store_context(&mut self, value: Value, offset: i32) {
        let context = self.builder.ins().get_pinned_reg(types::I64);
        self.builder.ins().store(FLAGS, value, context, offset);
    }

    fn constant(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    /// Calls a function for rare cases; returns its outcome.
    fn call_rare(&mut self, function: RareFunction, arguments: [Value; 2]) -> Value {
        let address = self.constant(function.address as i64);
        self.store_context(address, offsets::STATUS);
        let signature = self.builder.import_signature(convention::of_rare());
        let thunk = self.constant(self.rare_thunks.address(function) as i64);
        self.builder.ins().call_indirect(signature, thunk, &arguments);
        self.load_context(types::I64, offsets::STATUS)
    }

    /// Calls a function of the machine or a shim at a constant address.
    fn call_address(&mut self, address: usize, arguments: &[Value], result: Type) -> Value {
        let mut signature = convention::of_helper(0, self.convention);
        for argument in arguments {
            let kind = self.builder.func.dfg.value_type(*argument);
            signature.params.push(cranelift_codegen::ir::AbiParam::new(kind));
        }
        signature.returns[0].value_type = result;
        let signature = self.builder.import_signature(signature);
        let address = self.constant(address as i64);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call)[0]
    }

    /// Returns the registers that may hold references at the end of the function, other than those of its results.
    fn held_references(&self) -> Vec<u16> {
        let written = self.flow.references_written.iter().flatten().copied();
        let mut held: Vec<u16> = written.chain(0..self.code.params[2]).collect();
        held.retain(|register| *register >= self.code.results[2]);
        held.sort_unstable();
        held.dedup();
        held
    }
}

fn kind_of(bank: Bank) -> Type {
    if bank == Bank::F { types::F64 } else { types::I64 }
}
