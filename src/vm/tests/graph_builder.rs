//! Graph builder: constructs graphs, and a machine to run them.

use crate::bytecode::{Code, verify};
use crate::emit::emit;
use crate::ir::*;
use crate::native::library::Host;
use crate::native::primitive;
use crate::source::Span;
use crate::value::shape::{ShapeId, Shapes, Tangents};
use crate::value::{Bank, Cells, Components};
use crate::vm::{CodeSource, Fault, Limits, Machine, Reporter};
use std::rc::Rc;

/// A function that is constructed instruction by instruction.
pub struct Builder {
    pub function: Function,
    at: usize,
}

impl Builder {
    pub fn new(name: &str, params: &[Bank], results: &[Bank]) -> Builder {
        let registers = params.iter().map(|bank| Register { bank: *bank, name: None }).collect();
        let function = Function {
            params: (0..params.len() as u32).map(Reg).collect(),
            results: results.to_vec(),
            result_len: results.len(),
            registers,
            ..Function::empty(name, Span::default())
        };
        Builder { function, at: 0 }
    }

    pub fn reg(&mut self, bank: Bank) -> Reg {
        self.function.registers.push(Register { bank, name: None });
        Reg(self.function.registers.len() as u32 - 1)
    }

    pub fn block(&mut self) -> BlockId {
        self.function.blocks.push(Block::default());
        BlockId(self.function.blocks.len() as u32 - 1)
    }

    pub fn switch_to_block(&mut self, block: BlockId) {
        self.at = block.0 as usize;
    }

    pub fn op(&mut self, op: Op, outs: &[Reg], ins: &[Reg]) {
        let line = self.at as u32 * 1000 + self.function.blocks[self.at].instructions.len() as u32;
        self.function.blocks[self.at].instructions.push(Instruction {
            op,
            outs: outs.to_vec(),
            ins: ins.to_vec(),
            span: Span::new(line, line + 1),
            active: false,
        });
    }

    pub fn new_op(&mut self, bank: Bank, op: Op, ins: &[Reg]) -> Reg {
        let out = self.reg(bank);
        self.op(op, &[out], ins);
        out
    }

    pub fn prim(&mut self, name: &str, ins: &[Reg]) -> Reg {
        let id = primitive(name).unwrap();
        self.new_op(id.info().result, Op::Primitive(id), ins)
    }

    pub fn set(&mut self, variable: Reg, value: Reg) {
        self.op(Op::Copy, &[variable], &[value]);
    }

    pub fn int(&mut self, value: i64) -> Reg {
        self.new_op(Bank::I, Op::ConstI(value), &[])
    }

    pub fn num(&mut self, value: f64) -> Reg {
        self.new_op(Bank::F, Op::ConstF(value), &[])
    }

    pub fn end(&mut self, end: Terminator) {
        self.function.blocks[self.at].end = Some(end);
    }

    /// Appends `for i in from..<to { body }`; the counter is passed to the body.
    pub fn count(&mut self, from: Reg, to: Reg, body: impl FnOnce(&mut Builder, Reg)) {
        let i = self.reg(Bank::I);
        self.set(i, from);
        let [head, inside, exit] = [self.block(), self.block(), self.block()];
        self.end(Terminator::Jump(head));
        self.switch_to_block(head);
        let condition = self.prim("int.lt", &[i, to]);
        self.end(Terminator::Branch { condition, then: inside, otherwise: exit });
        self.switch_to_block(inside);
        body(self, i);
        let one = self.int(1);
        let next = self.prim("int.add", &[i, one]);
        self.set(i, next);
        self.end(Terminator::Jump(head));
        self.switch_to_block(exit);
    }

    /// Marks every step that writes or stores a number as active, as a conservative `diff` would.
    pub fn all_active(&self) -> Function {
        let mut function = self.function.clone();
        let is_number = |r: &Reg| self.function.registers[r.0 as usize].bank == Bank::F;
        for i in function.blocks.iter_mut().flat_map(|b| &mut b.instructions) {
            i.active = i.outs.iter().chain(&i.ins).any(is_number);
        }
        function
    }
}

/// A table of functions that are compiled on demand.
pub struct TestProgram {
    pub program: Program,
    pub derivatives: Vec<Option<Function>>,
}

impl TestProgram {
    pub fn new(functions: Vec<Builder>) -> TestProgram {
        let derivatives = functions.iter().map(|b| Some(b.all_active())).collect();
        let functions = functions.into_iter().map(|b| Some(Rc::new(b.function))).collect();
        TestProgram { program: Program { functions, ..Program::default() }, derivatives }
    }

    pub fn code(&self, function: u32, derivative: bool) -> Code {
        let code = match (&self.derivatives[function as usize], derivative) {
            (Some(function), true) => emit(&self.program, function, true),
            _ => emit(&self.program, self.program.functions[function as usize].as_ref().unwrap(), false),
        };
        let code = code.unwrap();
        verify(&code).unwrap();
        code
    }
}

impl Reporter for TestProgram {}

impl CodeSource for TestProgram {
    fn original(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        Ok(Rc::new(self.code(function, false)))
    }

    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        Ok(Rc::new(self.code(function, true)))
    }

    fn body_derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.derivative(function)
    }

    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>> {
        let found = self.program.dispatch.get(&(MethodId(u32::from(method)), shape));
        found.map(|f| f.0).ok_or_else(|| Fault::internal("no such method"))
    }

    fn shapes(&self) -> &Shapes {
        &self.program.shapes
    }

    fn tangents(&self) -> &Tangents {
        &self.program.tangents
    }
}

pub fn machine() -> Machine {
    Machine::new(Host::silent(), Limits::default(), 1 << 30)
}

/// Runs the first of some functions.
pub fn run(functions: Vec<Builder>, f: &[f64], i: &[i64]) -> Result<Cells, Box<Fault>> {
    machine().run(&mut TestProgram::new(functions), 0, Components { f, slots: &[], i, r: &[] })
}

pub const F: Bank = Bank::F;
pub const I: Bank = Bank::I;
pub const R: Bank = Bank::R;
pub const NUMBERS: Stride = Stride { f: 1, i: 0, r: 0 };
pub const _SHAPE: ShapeId = ShapeId(0);

/// Builds `func logistic(r, x, n) { for _ in 0..<n { x = r * x * (1 - x) }; return x }`.
pub fn logistic() -> Builder {
    let mut b = Builder::new("logistic", &[F, F, I], &[F]);
    let (r, x, n) = (Reg(0), b.reg(F), Reg(2));
    b.set(x, Reg(1));
    let zero = b.int(0);
    b.count(zero, n, |b, _| {
        let rx = b.prim("double.mul", &[r, x]);
        let one = b.num(1.0);
        let rest = b.prim("double.sub", &[one, x]);
        let next = b.prim("double.mul", &[rx, rest]);
        b.set(x, next);
    });
    b.end(Terminator::Return(vec![x]));
    b
}

/// Builds `func fib(n) { n < 2 ? n : fib(n - 1) + fib(n - 2) }` as the function with the number `itself`.
pub fn fib(itself: u32) -> Builder {
    let mut b = Builder::new("fib", &[I], &[I]);
    let n = Reg(0);
    let two = b.int(2);
    let condition = b.prim("int.lt", &[n, two]);
    let [small, large] = [b.block(), b.block()];
    b.end(Terminator::Branch { condition, then: small, otherwise: large });
    b.switch_to_block(small);
    b.end(Terminator::Return(vec![n]));
    b.switch_to_block(large);
    let one = b.int(1);
    let first = b.prim("int.sub", &[n, one]);
    let first = b.new_op(I, Op::Call(FunctionId(itself)), &[first]);
    let two = b.int(2);
    let second = b.prim("int.sub", &[n, two]);
    let second = b.new_op(I, Op::Call(FunctionId(itself)), &[second]);
    let sum = b.prim("int.add", &[first, second]);
    b.end(Terminator::Return(vec![sum]));
    b
}
