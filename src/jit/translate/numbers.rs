//! Numbers: arithmetic of numbers, and primitives.

use super::super::context::offsets;
use super::super::shims;
use super::Translator;
use crate::bytecode::operand::{FIn, Number, Prim};
use crate::bytecode::{Arithmetic, Fused, Instruction, primitive};
use crate::native::Value as Function;
use crate::value::Bank;

use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Translator<'_, '_> {
    fn number_constant(&mut self, k: Number) -> Value {
        let bits = self.code.numbers[usize::from(k)].to_bits();
        match self.constant_of_loop(bits) {
            Some(value) => value,
            None => self.builder.ins().f64const(Ieee64::with_bits(bits)),
        }
    }

    /// Translates an instruction that computes a number, or applies a primitive; returns whether it is one.
    pub(super) fn number(&mut self, at: usize, instruction: &Instruction) -> bool {
        use Instruction as I;
        let (out, value) = match *instruction {
            I::MoveF { out, a } => (out, self.f(a.0)),
            I::LoadF { out, k } => (out, self.number_constant(k)),
            I::AddF { out, a, b } => (out, self.arithmetic(Arithmetic::Add, a, b)),
            I::SubF { out, a, b } => (out, self.arithmetic(Arithmetic::Sub, a, b)),
            I::MulF { out, a, b } => (out, self.arithmetic(Arithmetic::Mul, a, b)),
            I::DivF { out, a, b } => (out, self.arithmetic(Arithmetic::Div, a, b)),
            I::NegF { out, a } => {
                let a = self.f(a.0);
                (out, self.builder.ins().fneg(a))
            }
            I::AbsF { out, a } => {
                let a = self.f(a.0);
                (out, self.builder.ins().fabs(a))
            }
            I::SqrtF { out, a } => {
                let a = self.f(a.0);
                (out, self.builder.ins().sqrt(a))
            }
            I::RoundF { out, a } => {
                let a = self.f(a.0);
                let single = self.builder.ins().fdemote(types::F32, a);
                (out, self.builder.ins().fpromote(types::F64, single))
            }
            I::NumberOf { out, a } => {
                let a = self.i(a.0);
                (out, self.builder.ins().fcvt_from_sint(types::F64, a))
            }
            I::JoinLeftF { out, a, b, how } => {
                let how = Fused::of(how.0);
                let first = self.arithmetic(how.first, a, b);
                let c = self.f(self.extra(at));
                (out, self.apply(how.last, first, c))
            }
            I::JoinRightF { out, a, b, how } => {
                let how = Fused::of(how.0);
                let first = self.arithmetic(how.first, b, FIn(self.extra(at)));
                let a = self.f(a.0);
                (out, self.apply(how.last, a, first))
            }
            I::JoinBothF { out, a, b, how } => {
                let how = Fused::of(how.0);
                let first = self.arithmetic(how.first, a, b);
                let (c, d) = match self.code.instructions.get(at + 1) {
                    Some(I::Extras { c, d }) => (*c, *d),
                    _ => (a, b),
                };
                let second = self.arithmetic(how.second, c, d);
                (out, self.apply(how.last, first, second))
            }
            I::Prim1F { out, a, p } => {
                let a = self.f(a.0);
                (out, self.primitive(p, &[a]))
            }
            I::Prim2F { out, a, b, p } => {
                let operands = [self.f(a.0), self.f(b.0)];
                (out, self.primitive(p, &operands))
            }
            I::Prim3F { out, a, b, p } => {
                let operands = [self.f(a.0), self.f(b.0), self.f(self.extra(at))];
                (out, self.primitive(p, &operands))
            }
            I::PrimFI { out, a, n, p } => {
                let operands = [self.f(a.0), self.i(n.0)];
                (out, self.primitive(p, &operands))
            }
            I::PrimNumber { out, a, p } => {
                let a = self.i(a.0);
                (out, self.primitive(p, &[a]))
            }
            I::Extra { .. } | I::Extras { .. } | I::Element { .. } => return true,
            _ => return false,
        };
        self.set((Bank::F, out.0), value);
        true
    }

    /// Returns the register of the third operand of an instruction.
    pub(super) fn extra(&self, at: usize) -> u16 {
        match self.code.instructions.get(at + 1) {
            Some(Instruction::Extra { c }) => c.0,
            _ => 0,
        }
    }

    fn arithmetic(&mut self, operation: Arithmetic, a: FIn, b: FIn) -> Value {
        let (a, b) = (self.f(a.0), self.f(b.0));
        self.apply(operation, a, b)
    }

    pub(super) fn apply(&mut self, operation: Arithmetic, a: Value, b: Value) -> Value {
        match operation {
            Arithmetic::Add => self.builder.ins().fadd(a, b),
            Arithmetic::Sub => self.builder.ins().fsub(a, b),
            Arithmetic::Mul => self.builder.ins().fmul(a, b),
            Arithmetic::Div => self.builder.ins().fdiv(a, b),
        }
    }

    /// Applies a primitive that cannot fail, by way of its shim unless it is inline.
    pub(super) fn primitive(&mut self, p: Prim, operands: &[Value]) -> Value {
        if let Some(value) = self.inline_primitive(p, operands) {
            return value;
        }
        let (shim, function, result) = match primitive(p.0).map(|primitive| primitive.value) {
            Some(Function::F1(f)) => (shims::one as *const () as usize, f as usize, types::F64),
            Some(Function::F2(f)) => (shims::two as *const () as usize, f as usize, types::F64),
            Some(Function::F3(f)) => (shims::three as *const () as usize, f as usize, types::F64),
            Some(Function::FI(f)) => (shims::with_integer as *const () as usize, f as usize, types::F64),
            Some(Function::ItoF(f)) => (shims::of_integer as *const () as usize, f as usize, types::F64),
            Some(Function::Test1(f)) => (shims::test_one as *const () as usize, f as usize, types::I64),
            Some(Function::Test2(f)) => (shims::test_two as *const () as usize, f as usize, types::I64),
            // The verifier has checked that the primitive fits the instruction.
            Some(Function::FtoI(_) | Function::I1(_) | Function::I2(_)) | None => return self.constant(0),
        };
        let function = self.constant(function as i64);
        let arguments: Vec<Value> = std::iter::once(function).chain(operands.iter().copied()).collect();
        self.call_address(shim, &arguments, result)
    }

    /// Applies a primitive with an integer result, which may fail; then the interpreter reports the failure.
    pub(super) fn failing_primitive(&mut self, p: Prim, operands: &[Value]) -> Value {
        if let Some(value) = self.inline_primitive(p, operands) {
            return value;
        }
        let (shim, function) = match primitive(p.0).map(|primitive| primitive.value) {
            Some(Function::FtoI(f)) => (shims::whole as *const () as usize, f as usize),
            Some(Function::I1(f)) => (shims::integer as *const () as usize, f as usize),
            Some(Function::I2(f)) => (shims::two_integers as *const () as usize, f as usize),
            _ => return self.constant(0),
        };
        let function = self.constant(function as i64);
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let out = self.builder.ins().iadd_imm_s(context, i64::from(offsets::PASSED));
        let arguments: Vec<Value> =
            std::iter::once(function).chain(operands.iter().copied()).chain(std::iter::once(out)).collect();
        let succeeded = self.call_address(shim, &arguments, types::I64);
        self.leave_unless(succeeded);
        self.load_context(types::I64, offsets::PASSED)
    }
}
