//! Test graphs: graphs built by hand, for the tests of this folder.

use crate::ir::{Block, BlockId, Function, FunctionId, Instruction, Op, Parameter, Program, Reg, Register, Terminator};
use crate::native;
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::{Shape, Tangent, TangentKind};
use std::rc::Rc;

/// A builder of one function. Every step has a distinct source location: the `k`-th step is at `10k..10k+5`.
pub struct Builder {
    pub function: Function,
    current: usize,
    steps: u32,
}

impl Builder {
    pub fn new(name: &str) -> Builder {
        let function = Function::empty(name, Span::new(1000, 1001));
        Builder { function, current: 0, steps: 0 }
    }

    pub fn reg(&mut self, bank: Bank) -> Reg {
        self.function.registers.push(Register { bank, name: None });
        Reg(self.function.registers.len() as u32 - 1)
    }

    /// Adds a parameter of one component; [`add_to`](Builder::add_to) sets the tangent types of numbers.
    pub fn param(&mut self, name: &str, bank: Bank) -> Reg {
        let reg = self.reg(bank);
        let first = self.function.params.len();
        self.function.params.push(reg);
        let span = Span::new(2000 + first as u32, 2001 + first as u32);
        let shape = crate::value::shape::ShapeId(0);
        self.function.parameters.push(Parameter { name: name.into(), span, first, len: 1, tangent: None, shape });
        reg
    }

    pub fn block(&mut self) -> BlockId {
        self.function.blocks.push(Block::default());
        BlockId(self.function.blocks.len() as u32 - 1)
    }

    pub fn at(&mut self, block: BlockId) {
        self.current = block.0 as usize;
    }

    pub fn step(&mut self, op: Op, ins: &[Reg], outs: &[Reg]) -> Span {
        self.steps += 10;
        let span = Span::new(self.steps, self.steps + 5);
        let step = Instruction { op, outs: outs.to_vec(), ins: ins.to_vec(), span, active: false };
        self.function.blocks[self.current].instructions.push(step);
        span
    }

    pub fn op_to(&mut self, op: Op, ins: &[Reg], outs: &[Reg]) {
        self.step(op, ins, outs);
    }

    pub fn op(&mut self, op: Op, ins: &[Reg], bank: Bank) -> Reg {
        let out = self.reg(bank);
        self.step(op, ins, &[out]);
        out
    }

    pub fn constant(&mut self, value: f64) -> Reg {
        self.op(Op::ConstF(value), &[], Bank::F)
    }

    pub fn primitive(&mut self, name: &str, ins: &[Reg]) -> Reg {
        self.apply(native::primitive(name).unwrap_or_else(|| panic!("no primitive {name}")), ins)
    }

    pub fn apply(&mut self, id: native::PrimitiveId, ins: &[Reg]) -> Reg {
        self.op(Op::Primitive(id), ins, id.info().result)
    }

    fn end(&mut self, end: Terminator) {
        self.function.blocks[self.current].end = Some(end);
    }

    pub fn jump(&mut self, to: BlockId) {
        self.end(Terminator::Jump(to));
    }

    pub fn branch(&mut self, condition: Reg, then: BlockId, otherwise: BlockId) {
        self.end(Terminator::Branch { condition, then, otherwise });
    }

    pub fn ret(&mut self, regs: &[Reg]) {
        self.function.results = regs.iter().map(|r| self.function.registers[r.0 as usize].bank).collect();
        self.function.result_len = regs.len();
        self.end(Terminator::Return(regs.to_vec()));
    }

    /// Adds the function that was built to a program.
    pub fn add_to(mut self, program: &mut Program) -> FunctionId {
        let double = program.shapes.add(Shape::Double);
        let number = program.tangents.add(Tangent { value: double, vector: double, kind: TangentKind::Number });
        let array = program.shapes.add(Shape::Array(double));
        let numbers = Tangent { value: array, vector: array, kind: TangentKind::Array(number) };
        let numbers = program.tangents.add(numbers);
        let int = program.shapes.add(Shape::Int { bits: 64, signed: true });
        for parameter in &mut self.function.parameters {
            let bank = self.function.registers[self.function.params[parameter.first].0 as usize].bank;
            (parameter.shape, parameter.tangent) = match bank {
                Bank::F => (double, Some(number)),
                Bank::I => (int, None),
                Bank::R => (array, Some(numbers)),
            };
        }
        program.functions.push(Some(Rc::new(self.function)));
        FunctionId(program.functions.len() as u32 - 1)
    }
}

/// Returns a program that consists of one function.
pub fn program(builder: Builder) -> (Program, FunctionId) {
    let mut program = Program::default();
    let id = builder.add_to(&mut program);
    (program, id)
}
