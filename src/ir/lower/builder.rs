//! Builder: the registers, instructions and blocks of the graph under construction.

use super::place::Location;
use super::{Key, Lowering, Origin};
use crate::ir::differentiability::Tables;
use crate::ir::layout;
use crate::ir::lower::control::exits::Scope;
use crate::ir::{Block, BlockId, Function, Instruction, Op, Program, Reg, Register, Terminator, Trap};
use crate::native;
use crate::source::Span;
use crate::types::model::declaration_info::Declarations;
use crate::types::model::ty::{ParamId, Type};
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{Body, LocalId};
use crate::value::Bank;
use crate::value::shape::{ShapeId, TangentId};
use hashbrown::HashMap;
use std::rc::Rc;

/// The registers that hold the components of a value.
pub(super) type Value = Vec<Reg>;

/// The purpose of a register: whether the register may be read after the expression that returned it, and whether its
/// reference may be moved out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// An intermediate value, which is used once.
    Temporary,
    /// A variable that does not change while it is in scope, or an intermediate value that is used several times.
    Constant,
    /// A variable that may change between two reads.
    Variable,
}

/// The storage of a local variable.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// The local variable was not yet encountered.
    Absent,
    /// The local variable is stored in registers, one for each component.
    Registers(Value),
    /// The local variable is stored in a box, which closures share. `0` is the register that holds the box.
    Box(Reg),
    /// The local variable represents a value at another place: the value that an optional chain unwrapped and accesses
    /// in place.
    Place(Rc<Location>),
}

/// The state of the lowering of one function.
pub(super) struct Builder<'a> {
    pub lowering: &'a mut Lowering,
    pub d: &'a mut dyn Declarations,
    pub program: &'a mut Program,
    /// The graph under construction.
    pub out: Function,
    /// The block to which instructions are added.
    pub at: BlockId,
    /// The source location of the added instructions.
    pub span: Span,
    /// The purpose of each register.
    pub uses: Vec<Use>,
    /// The function that is lowered; it is the parent of the closures inside it.
    pub owner: typed_tree::FunctionId,
    pub origin: Origin,
    /// The file whose private derivatives are visible in the lowered function.
    pub view: Option<u32>,
    /// The generic parameters of the lowered function, and their arguments.
    pub params: Vec<ParamId>,
    pub generics: Vec<Type>,
    concrete: HashMap<Type, Type>,
    pub body: Rc<Body>,
    pub locals: Vec<Slot>,
    /// The variables whose registers are fixed, because several patterns bind them.
    pub pinned: Vec<LocalId>,
    /// Whether global variables retain their references during a modification, because the modification may fail and
    /// the session continues.
    pub copies_globals: bool,
    /// The global variables of the script that are stored in its registers.
    pub script_globals: HashMap<typed_tree::GlobalId, Value>,
    pub scopes: Vec<Scope>,
    /// The concrete type of the function's result.
    pub result: Type,
    pub throws: bool,
    /// The local function whose captured values the lowered function receives as parameters and passes on, and these
    /// values.
    pub(super) passed_on: Option<(typed_tree::FunctionId, Vec<Value>)>,
    /// Whether the function is an initializer of a class.
    pub fills_instance: bool,
    /// The numbers of the modifications of shared storage that are in progress.
    pub held: Vec<u32>,
    /// The source location of the argument whose place is opened for modification.
    pub changed_at: Option<Span>,
    /// The `inout` parameters, whose values are returned to the caller.
    pub inouts: Vec<LocalId>,
}

impl<'a> Builder<'a> {
    /// Creates a builder with an empty graph.
    pub fn new(lowering: &'a mut Lowering, d: &'a mut dyn Declarations, program: &'a mut Program, key: &Key) -> Self {
        let owner = match key.origin {
            Origin::Function(f) | Origin::LocalFunction(f) | Origin::Script(f) => f,
            // Such functions have no source text, and no expression inside them needs the owner.
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
            | Origin::InstanceCreation(_) => typed_tree::FunctionId(u32::MAX),
        };
        Builder {
            lowering,
            d,
            program,
            out: Function::empty("", Span::default()),
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
            copies_globals: false,
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

    /// Returns a type that occurs in the body of the lowered function, with the generic arguments substituted.
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

    /// Returns the shape of a type that occurs in the body of the lowered function.
    pub fn shape(&mut self, ty: &Type) -> ShapeId {
        let ty = self.concrete(ty);
        self.lowering.layouts.shape(self.d, &mut self.program.shapes, &ty)
    }

    /// Returns the shape of the value in a box; a shape that is not boxed is returned unchanged.
    pub fn inner(&self, shape: ShapeId) -> ShapeId {
        layout::unboxed(&self.program.shapes, shape)
    }

    /// Returns the banks of the components of a shape.
    pub fn banks_of(&mut self, shape: ShapeId) -> Rc<[Bank]> {
        self.lowering.layouts.components(&self.program.shapes, shape)
    }

    /// Returns the banks of the components of a value whose type occurs in the body of the lowered function.
    pub fn banks(&mut self, ty: &Type) -> Rc<[Bank]> {
        let shape = self.shape(ty);
        self.banks_of(shape)
    }

    /// Returns the tangent type of a type that occurs in the body of the lowered function, if the type is
    /// differentiable.
    pub fn tangent(&mut self, ty: &Type) -> Option<TangentId> {
        let ty = self.concrete(ty);
        let mut tables = Tables { d: self.d, shapes: &mut self.program.shapes, tangents: &mut self.program.tangents };
        self.lowering.layouts.tangent(&mut tables, &ty)
    }

    /// Returns the tangent type of several values together.
    pub fn tangent_of_all(&mut self, types: &[Type]) -> TangentId {
        let types: Vec<Type> = types.iter().map(|t| self.concrete(t)).collect();
        let mut tables = Tables { d: self.d, shapes: &mut self.program.shapes, tangents: &mut self.program.tangents };
        self.lowering.layouts.tangent_of_all(&mut tables, &types)
    }

    /// Returns the tangent type of several results together; results whose types are not differentiable count as
    /// constant.
    pub fn tangent_of_results(&mut self, types: &[Type]) -> TangentId {
        let types: Vec<Type> = types.iter().map(|t| self.concrete(t)).collect();
        let mut tables = Tables { d: self.d, shapes: &mut self.program.shapes, tangents: &mut self.program.tangents };
        self.lowering.layouts.tangent_of_results(&mut tables, &types)
    }

    // Registers

    /// Allocates a register for an intermediate value.
    pub fn reg(&mut self, bank: Bank) -> Reg {
        self.out.registers.push(Register { bank, name: None });
        self.uses.push(Use::Temporary);
        Reg(self.out.registers.len() as u32 - 1)
    }

    /// Allocates the registers of an intermediate value.
    pub fn regs(&mut self, banks: &[Bank]) -> Value {
        banks.iter().map(|bank| self.reg(*bank)).collect()
    }

    /// Returns the bank of a register.
    pub fn bank(&self, reg: Reg) -> Bank {
        self.out.registers[reg.0 as usize].bank
    }

    /// Dedicates the registers of a value to a variable.
    pub fn dedicate(&mut self, value: &[Reg], name: &str, how: Use) {
        for reg in value {
            self.uses[reg.0 as usize] = how;
            if !name.is_empty() {
                self.out.registers[reg.0 as usize].name = Some(name.into());
            }
        }
    }

    /// Returns the purpose of a register.
    pub fn use_of(&self, reg: Reg) -> Use {
        self.uses[reg.0 as usize]
    }

    // Instructions

    /// Adds an instruction.
    pub fn emit(&mut self, op: Op, outs: &[Reg], ins: &[Reg]) {
        crate::cancel::check();
        if self.has_ended() {
            // The instruction follows a `return`: it is unreachable, and its block is removed after the function was
            // lowered.
            self.at = self.block();
        }
        let instruction = Instruction { op, outs: outs.to_vec(), ins: ins.to_vec(), span: self.span, active: false };
        self.out.blocks[self.at.0 as usize].instructions.push(instruction);
    }

    /// Adds an instruction with one result and returns the register of the result.
    pub fn value(&mut self, op: Op, bank: Bank, ins: &[Reg]) -> Reg {
        let out = self.reg(bank);
        self.emit(op, &[out], ins);
        out
    }

    /// Adds an integer constant and returns its register.
    pub fn int(&mut self, value: i64) -> Reg {
        self.value(Op::ConstI(value), Bank::I, &[])
    }

    /// Adds the default value of a component that is not used, and returns its register.
    pub fn zero(&mut self, bank: Bank) -> Reg {
        let out = self.reg(bank);
        self.set_zero(out);
        out
    }

    /// Sets a register to the default value of its bank.
    pub fn set_zero(&mut self, reg: Reg) {
        let op = match self.bank(reg) {
            Bank::F => Op::ConstF(0.0),
            Bank::I => Op::ConstI(0),
            Bank::R => Op::Null,
        };
        self.emit(op, &[reg], &[]);
    }

    /// Adds a value whose components all have default values.
    pub fn zeros(&mut self, banks: &[Bank]) -> Value {
        banks.iter().map(|bank| self.zero(*bank)).collect()
    }

    /// Adds the operation of the primitive with the given name.
    pub fn primitive(&mut self, name: &str, ins: &[Reg]) -> Reg {
        match native::primitive(name) {
            Some(id) => self.value(Op::Primitive(id), id.info().result, ins),
            None => {
                self.refuse(format!("there is no primitive `{name}`"));
                self.zero(Bank::I)
            }
        }
    }

    /// Assigns a value to registers. References that no other step uses are moved instead of copied.
    pub fn assign(&mut self, to: &[Reg], from: &[Reg]) {
        // `(a, b) = (b, a)`: a source register that is written before it is read must be copied first.
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

    /// Copies a value into new registers.
    pub fn copy(&mut self, from: &[Reg]) -> Value {
        from.iter().map(|reg| self.value(Op::Copy, self.bank(*reg), &[*reg])).collect()
    }

    /// Copies a value into registers that no other step writes. Registers of intermediate values and constants are
    /// returned without a copy.
    pub fn keep(&mut self, value: Value) -> Value {
        value
            .into_iter()
            .map(|reg| match self.use_of(reg) {
                Use::Temporary | Use::Constant => reg,
                Use::Variable => self.value(Op::Copy, self.bank(reg), &[reg]),
            })
            .collect()
    }

    /// Returns the operation that transfers a value out of a register: a move if the register holds an intermediate
    /// reference, otherwise a copy.
    pub fn transfer(&self, from: Reg) -> Op {
        let movable = self.bank(from) == Bank::R && self.use_of(from) == Use::Temporary;
        if movable { Op::Take } else { Op::Copy }
    }

    // Blocks

    /// Adds an empty block to the graph.
    pub fn block(&mut self) -> BlockId {
        self.out.blocks.push(Block::default());
        BlockId(self.out.blocks.len() as u32 - 1)
    }

    /// Adds the following instructions to another block.
    pub fn switch_to_block(&mut self, block: BlockId) {
        self.at = block;
    }

    /// Whether the current block has a terminator.
    pub fn has_ended(&self) -> bool {
        self.out.blocks[self.at.0 as usize].end.is_some()
    }

    /// Terminates the current block. A second terminator is unreachable and is ignored.
    pub fn end(&mut self, end: Terminator) {
        let block = &mut self.out.blocks[self.at.0 as usize];
        if block.end.is_none() {
            block.end = Some(end);
            block.end_span = self.span;
        }
    }

    /// Terminates the current block with a jump.
    pub fn jump(&mut self, to: BlockId) {
        self.end(Terminator::Jump(to));
    }

    /// Terminates the current block with a branch.
    pub fn branch(&mut self, condition: Reg, then: BlockId, otherwise: BlockId) {
        self.end(Terminator::Branch { condition, then, otherwise });
    }

    /// Terminates the current block with a trap; the instructions that follow are unreachable.
    pub fn trap(&mut self, trap: Trap) {
        self.end(Terminator::Trap(trap));
    }

    /// Adds a check: the program continues if the condition holds, and stops otherwise.
    pub fn demand(&mut self, condition: Reg, trap: Trap) {
        let (passed, failed) = (self.block(), self.block());
        self.branch(condition, passed, failed);
        self.switch_to_block(failed);
        self.trap(trap);
        self.switch_to_block(passed);
    }

    /// Reports that a construct is unsupported, and stops the program where it reaches the construct.
    pub fn refuse(&mut self, what: impl Into<String>) {
        self.lowering.refuse(self.span, what);
        self.trap(Trap::Unreachable);
    }

    /// Returns a value of a type for code that is unreachable.
    pub fn nothing(&mut self, ty: &Type) -> Value {
        let banks = self.banks(ty);
        self.zeros(&banks)
    }
}
