//! Builder: registers, instructions and blocks of the graph that is lowered.

use super::place::Location;
use super::{Key, Lowering, Origin};
use crate::ir::differentiability::Tables;
use crate::ir::graph::{Block, BlockId, Function, Instruction, Op, Program, Reg, Register, Terminator, Trap};
use crate::ir::layout;
use crate::ir::lower::control::exits::Scope;
use crate::native;
use crate::source::Span;
use crate::types::model::declared::Declarations;
use crate::types::model::tree;
use crate::types::model::tree::{Body, LocalId};
use crate::types::model::ty::{ParamId, Type};
use crate::value::Bank;
use crate::value::shape::{ShapeId, TangentId};
use hashbrown::HashMap;
use std::rc::Rc;

/// The registers of a value, by component.
pub(super) type Value = Vec<Reg>;

/// What a register is for: whether it may be read later than it was handed out, and whether it may be emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// An intermediate value: used once.
    Temporary,
    /// A variable that does not change while it is in scope.
    Constant,
    /// A variable that may change between two reads.
    Variable,
}

/// Where a variable lives.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Not met yet.
    Absent,
    /// In registers, by component.
    Registers(Value),
    /// In a box, which closures share. `0`: the register that holds the box.
    Box(Reg),
    /// Elsewhere: what an optional chain found where it is.
    Place(Rc<Location>),
}

/// One function while it is lowered.
pub(super) struct Builder<'a> {
    pub lowering: &'a mut Lowering,
    pub d: &'a mut dyn Declarations,
    pub program: &'a mut Program,
    /// The graph that grows.
    pub out: Function,
    /// The block that instructions are added to.
    pub at: BlockId,
    /// Where the instructions that are added are in the source.
    pub span: Span,
    /// What each register is for.
    pub uses: Vec<Use>,
    /// The function that is lowered; closures inside have it as their parent.
    pub owner: tree::FunctionId,
    pub origin: Origin,
    /// The file whose private derivatives it has.
    pub view: Option<u32>,
    /// Its generic parameters and what they stand for.
    pub params: Vec<ParamId>,
    pub generics: Vec<Type>,
    concrete: HashMap<Type, Type>,
    pub body: Rc<Body>,
    pub locals: Vec<Slot>,
    /// Locals whose registers are fixed, because they are bound in several places.
    pub pinned: Vec<LocalId>,
    /// Global variables keep their references while they are changed: the change may fail, and the session goes on.
    pub careful: bool,
    /// Global variables of the script that live in its registers.
    pub script_globals: HashMap<tree::GlobalId, Value>,
    pub scopes: Vec<Scope>,
    /// Concrete type of the result.
    pub result: Type,
    pub throws: bool,
    /// A local function that is called on behalf of others, and what it captures.
    pub(super) passed_on: Option<(tree::FunctionId, Vec<Value>)>,
    /// Whether it is an initializer of a class.
    pub fills_instance: bool,
    /// The changes of what others can reach that go on here.
    pub held: Vec<u32>,
    /// Where the argument is whose place is opened.
    pub changed_at: Option<Span>,
    /// The parameters that go back to the caller.
    pub inouts: Vec<LocalId>,
}

impl<'a> Builder<'a> {
    /// An empty graph.
    pub fn new(lowering: &'a mut Lowering, d: &'a mut dyn Declarations, program: &'a mut Program, key: &Key) -> Self {
        let owner = match key.origin {
            Origin::Function(f) | Origin::LocalFunction(f) | Origin::Script(f) => f,
            // These have no text of their own, and nothing inside of them asks for it.
            Origin::NeverThrows
            | Origin::Initializer(_)
            | Origin::RegisteredTranspose { .. }
            | Origin::Thunk { .. }
            | Origin::Pullback { .. }
            | Origin::InoutDerivative { .. }
            | Origin::InoutDerivativeMap { .. }
            | Origin::OpaqueProperty { .. }
            | Origin::CounterpartRule(_)
            | Origin::CounterpartMap(_)
            | Origin::Allocation(_) => tree::FunctionId(u32::MAX),
        };
        Builder {
            lowering,
            d,
            program,
            out: Function {
                name: Rc::from(""),
                span: Span::default(),
                params: vec![],
                parameters: vec![],
                results: vec![],
                result_len: 0,
                result_tangents: vec![],
                captures: vec![],
                registers: vec![],
                blocks: vec![Block::default()],
                rules: vec![],
                is_prelude: false,
                is_opaque: false,
                throws: false,
                obstacle: None,
                reads: Default::default(),
            },
            at: BlockId(0),
            span: Span::default(),
            uses: vec![],
            owner,
            origin: key.origin.clone(),
            view: key.view,
            params: vec![],
            generics: key.generics.clone(),
            concrete: HashMap::new(),
            body: Rc::default(),
            locals: vec![],
            pinned: vec![],
            careful: false,
            script_globals: HashMap::new(),
            scopes: vec![],
            result: Type::unit(),
            throws: false,
            passed_on: None,
            fills_instance: false,
            held: vec![],
            changed_at: None,
            inouts: vec![],
        }
    }

    // Types

    /// A type of the body with the generic arguments put in.
    pub fn concrete(&mut self, ty: &Type) -> Type {
        if !ty.any(&mut |t| matches!(t, Type::Param(_) | Type::Associated(..) | Type::Opaque(..))) {
            return ty.clone();
        }
        if let Some(found) = self.concrete.get(ty) {
            return found.clone();
        }
        let (params, generics) = (&self.params, &self.generics);
        let put = |p| params.iter().position(|q| *q == p).and_then(|i| generics.get(i).cloned());
        let concrete = self.d.normalize(&ty.substitute(&put));
        self.concrete.insert(ty.clone(), concrete.clone());
        concrete
    }

    /// The shape of a type of the body.
    pub fn shape(&mut self, ty: &Type) -> ShapeId {
        let ty = self.concrete(ty);
        self.lowering.layouts.shape(self.d, &mut self.program.shapes, &ty)
    }

    /// The shape with its box, if any, taken away.
    pub fn inner(&self, shape: ShapeId) -> ShapeId {
        layout::unboxed(&self.program.shapes, shape)
    }

    /// The banks of the components of a shape.
    pub fn banks_of(&mut self, shape: ShapeId) -> Rc<[Bank]> {
        self.lowering.layouts.components(&self.program.shapes, shape)
    }

    /// The banks of the components of a value of a type of the body.
    pub fn banks(&mut self, ty: &Type) -> Rc<[Bank]> {
        let shape = self.shape(ty);
        self.banks_of(shape)
    }

    /// How a type of the body differentiates.
    pub fn tangent(&mut self, ty: &Type) -> Option<TangentId> {
        let ty = self.concrete(ty);
        let mut tables = Tables { d: self.d, shapes: &mut self.program.shapes, tangents: &mut self.program.tangents };
        self.lowering.layouts.tangent(&mut tables, &ty)
    }

    /// How several values together differentiate.
    pub fn tangent_of_all(&mut self, types: &[Type]) -> TangentId {
        let types: Vec<Type> = types.iter().map(|t| self.concrete(t)).collect();
        let mut tables = Tables { d: self.d, shapes: &mut self.program.shapes, tangents: &mut self.program.tangents };
        self.lowering.layouts.tangent_of_all(&mut tables, &types)
    }

    /// How several results together differentiate, those whose types conform.
    pub fn tangent_of_results(&mut self, types: &[Type]) -> TangentId {
        let types: Vec<Type> = types.iter().map(|t| self.concrete(t)).collect();
        let mut tables = Tables { d: self.d, shapes: &mut self.program.shapes, tangents: &mut self.program.tangents };
        self.lowering.layouts.tangent_of_results(&mut tables, &types)
    }

    // Registers

    /// A new register for an intermediate value.
    pub fn reg(&mut self, bank: Bank) -> Reg {
        self.out.registers.push(Register { bank, name: None });
        self.uses.push(Use::Temporary);
        Reg(self.out.registers.len() as u32 - 1)
    }

    /// New registers for an intermediate value.
    pub fn regs(&mut self, banks: &[Bank]) -> Value {
        banks.iter().map(|bank| self.reg(*bank)).collect()
    }

    /// The bank of a register.
    pub fn bank(&self, reg: Reg) -> Bank {
        self.out.registers[reg.0 as usize].bank
    }

    /// Says that registers belong to a variable.
    pub fn dedicate(&mut self, value: &[Reg], name: &str, how: Use) {
        for reg in value {
            self.uses[reg.0 as usize] = how;
            if !name.is_empty() {
                self.out.registers[reg.0 as usize].name = Some(name.into());
            }
        }
    }

    /// What a register is for.
    pub fn use_of(&self, reg: Reg) -> Use {
        self.uses[reg.0 as usize]
    }

    // Instructions

    /// Adds an instruction.
    pub fn emit(&mut self, op: Op, outs: &[Reg], ins: &[Reg]) {
        crate::cancel::check();
        if self.has_ended() {
            // After a `return`: it is unreachable, and the block is dropped in the end.
            self.at = self.block();
        }
        let instruction = Instruction { op, outs: outs.to_vec(), ins: ins.to_vec(), span: self.span, active: false };
        self.out.blocks[self.at.0 as usize].instructions.push(instruction);
    }

    /// Adds an instruction with one result.
    pub fn value(&mut self, op: Op, bank: Bank, ins: &[Reg]) -> Reg {
        let out = self.reg(bank);
        self.emit(op, &[out], ins);
        out
    }

    /// An integer.
    pub fn int(&mut self, value: i64) -> Reg {
        self.value(Op::ConstI(value), Bank::I, &[])
    }

    /// What is in a component that is not used.
    pub fn zero(&mut self, bank: Bank) -> Reg {
        let out = self.reg(bank);
        self.set_zero(out);
        out
    }

    /// Empties a register.
    pub fn set_zero(&mut self, reg: Reg) {
        let op = match self.bank(reg) {
            Bank::F => Op::ConstF(0.0),
            Bank::I => Op::ConstI(0),
            Bank::R => Op::Null,
        };
        self.emit(op, &[reg], &[]);
    }

    /// A value of nothing but zeros.
    pub fn zeros(&mut self, banks: &[Bank]) -> Value {
        banks.iter().map(|bank| self.zero(*bank)).collect()
    }

    /// An entry of the table of primitives.
    pub fn primitive(&mut self, name: &str, ins: &[Reg]) -> Reg {
        match native::primitive(name) {
            Some(id) => self.value(Op::Primitive(id), id.info().result, ins),
            None => {
                self.refuse(format!("there is no primitive `{name}`"));
                self.zero(Bank::I)
            }
        }
    }

    /// Gives a value to registers. References that no other step needs are moved.
    pub fn assign(&mut self, to: &[Reg], from: &[Reg]) {
        // `(a, b) = (b, a)`: a register that is written before it is read must be read first.
        let mut from = from.to_vec();
        for i in 1..from.len() {
            if to[..i].contains(&from[i]) {
                let kept = self.reg(self.bank(from[i]));
                self.emit(Op::Copy, &[kept], &[from[i]]);
                from[i] = kept;
            }
        }
        for (to, from) in to.iter().zip(&from) {
            if to != from {
                self.emit(self.transfer(*from), &[*to], &[*from]);
            }
        }
    }

    /// Copies a value into registers of its own.
    pub fn copy(&mut self, from: &[Reg]) -> Value {
        from.iter().map(|reg| self.value(Op::Copy, self.bank(*reg), &[*reg])).collect()
    }

    /// The value in registers that no other step writes: itself when it is intermediate or constant.
    pub fn keep(&mut self, value: Value) -> Value {
        value
            .into_iter()
            .map(|reg| match self.use_of(reg) {
                Use::Temporary | Use::Constant => reg,
                Use::Variable => self.value(Op::Copy, self.bank(reg), &[reg]),
            })
            .collect()
    }

    /// How a value gets from one register to another.
    pub fn transfer(&self, from: Reg) -> Op {
        let movable = self.bank(from) == Bank::R && self.use_of(from) == Use::Temporary;
        if movable { Op::Take } else { Op::Copy }
    }

    // Blocks

    /// A new block.
    pub fn block(&mut self) -> BlockId {
        self.out.blocks.push(Block::default());
        BlockId(self.out.blocks.len() as u32 - 1)
    }

    /// Goes on in another block.
    pub fn go_on_in(&mut self, block: BlockId) {
        self.at = block;
    }

    /// Whether the current block has its end.
    pub fn has_ended(&self) -> bool {
        self.out.blocks[self.at.0 as usize].end.is_some()
    }

    /// Ends the block; a second end is after the first and does not count.
    pub fn end(&mut self, end: Terminator) {
        let block = &mut self.out.blocks[self.at.0 as usize];
        if block.end.is_none() {
            block.end = Some(end);
            block.end_span = self.span;
        }
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: BlockId) {
        self.end(Terminator::Jump(to));
    }

    /// Ends the block with a branch.
    pub fn branch(&mut self, condition: Reg, then: BlockId, otherwise: BlockId) {
        self.end(Terminator::Branch { condition, then, otherwise });
    }

    /// Stops the program, and goes on in a block that is never reached.
    pub fn trap(&mut self, trap: Trap) {
        self.end(Terminator::Trap(trap));
    }

    /// Goes on only where a condition holds, and stops the program otherwise.
    pub fn demand(&mut self, condition: Reg, trap: Trap) {
        let (good, bad) = (self.block(), self.block());
        self.branch(condition, good, bad);
        self.go_on_in(bad);
        self.trap(trap);
        self.go_on_in(good);
    }

    /// Stops the program at something that the machine does not have.
    pub fn refuse(&mut self, what: impl Into<String>) {
        self.lowering.refuse(self.span, what);
        self.trap(Trap::Unreachable);
    }

    /// A value of a type after something that was refused or never returns.
    pub fn nothing(&mut self, ty: &Type) -> Value {
        let banks = self.banks(ty);
        self.zeros(&banks)
    }
}
