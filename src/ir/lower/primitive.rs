//! Primitive functions: functions without a body, which are operations of the machine, primitives or native functions.

use super::builder::{Builder, Value};
use super::call::Operand;
use super::place::stride;
use crate::ir::graph::{Op, Reg, Trap};
use crate::native;
use crate::native::library;
use crate::types::model::declaration_info::Function;
use crate::types::model::ty::Type;
use crate::value::Bank;

impl Builder<'_> {
    /// Applies a function without a body to its operands. The registers of `inout` operands are modified. A function
    /// that may throw returns the flag and the error first.
    pub fn apply_primitive(
        &mut self,
        name: &str,
        declared: &Function,
        generics: &[Type],
        operands: &[Operand],
    ) -> Value {
        let result = self.of_function(declared, generics, &declared.result);
        let regs = |i: usize| -> Value {
            match operands.get(i) {
                Some(Operand::Value(regs) | Operand::InOut(regs)) => regs.clone(),
                None => vec![],
            }
        };
        match name {
            "identity" | "double.copy" | "unsafe.cast" => regs(0),
            "array.new" => {
                let stride = self.stride_of(generics);
                vec![self.value(Op::NewArray(stride), Bank::R, &[])]
            }
            "array.count" => vec![self.value(Op::Count, Bank::I, &regs(0))],
            "array.get" => self.element(regs(0)[0], regs(1)[0], generics),
            "array.set" => {
                self.set_element(regs(0)[0], regs(2)[0], &regs(1), generics);
                vec![]
            }
            "array.append" => {
                let stride = self.stride_of(generics);
                let array = regs(0)[0];
                self.emit(Op::Append(stride), &[array], &[vec![array], regs(1)].concat());
                vec![]
            }
            "text.concat" => vec![self.concatenation(regs(0)[0], regs(1)[0])],
            "text.append" => {
                let text = regs(0)[0];
                self.emit(Op::AppendText, &[text], &[text, regs(1)[0]]);
                vec![]
            }
            "trap.failed" | "trap.range" | "trap.overflow" | "trap.index" | "trap.expected" => {
                let what = match name {
                    "trap.index" => "index",
                    "trap.range" => "range",
                    "trap.overflow" => "overflow",
                    "trap.expected" => "expected",
                    _ => "failed",
                };
                self.trap(Trap::Failed { what, message: regs(0).first().copied() });
                self.nothing(&result)
            }
            "type.new" => match generics {
                [of] => self.new_of_type(of, regs(0)),
                _ => self.nothing(&result),
            },
            "type.of" => self.type_of(generics, regs(0)),
            "valueWithDifferential"
            | "valueWithTangent"
            | "valueWithGradient"
            | "gradient"
            | "recompute"
            | "series"
            | "transpose"
            | "withoutDerivative"
            | "withDerivative"
            | "applyAtOnce"
            | "matrix"
            | "sparseMatrix"
            | "jacobian"
            | "smallJacobian"
            | "sparseJacobian"
            | "coordinates" => {
                let types = self.param_types(declared, generics);
                let values = (0..operands.len()).map(regs).collect();
                self.operator(name, values, &types, &result)
            }
            _ => match native::with_precision(name) {
                Some((id, rounded)) => {
                    let ins: Vec<Reg> = (0..operands.len()).flat_map(regs).collect();
                    let out = self.value(Op::Primitive(id), id.info().result, &ins);
                    vec![if rounded {
                        self.value(Op::Primitive(native::primitive_ids::TO_SINGLE), Bank::F, &[out])
                    } else {
                        out
                    }]
                }
                None => self.native(name, generics, operands, &result),
            },
        }
    }

    fn stride_of(&mut self, generics: &[Type]) -> crate::ir::graph::Stride {
        let banks = self.banks(generics.first().unwrap_or(&Type::unit()));
        stride(&banks)
    }

    fn element(&mut self, array: Reg, index: Reg, generics: &[Type]) -> Value {
        let banks = self.banks(generics.first().unwrap_or(&Type::unit()));
        let stride = stride(&banks);
        if banks.is_empty() {
            self.emit(Op::CheckIndex, &[], &[array, index]);
        }
        let cells = crate::ir::layout::cells(&banks).into_iter();
        cells
            .map(|(bank, offset)| {
                self.value(Op::LoadElement { bank, offset: offset as u16, stride }, bank, &[array, index])
            })
            .collect()
    }

    fn set_element(&mut self, array: Reg, index: Reg, value: &[Reg], generics: &[Type]) {
        let banks = self.banks(generics.first().unwrap_or(&Type::unit()));
        let stride = stride(&banks);
        for ((bank, offset), reg) in crate::ir::layout::cells(&banks).into_iter().zip(value) {
            let op = Op::StoreElement { bank, offset: offset as u16, stride };
            self.emit(op, &[array], &[array, index, *reg]);
        }
    }

    /// Calls a function of the native library, with the shapes of its generic arguments.
    fn native(&mut self, name: &str, generics: &[Type], operands: &[Operand], result: &Type) -> Value {
        let shapes = generics.iter().map(|t| self.shape(t)).collect();
        let banks = self.banks(result);
        let operands = operands
            .iter()
            .map(|o| match o {
                Operand::Value(regs) => Operand::Value(regs.clone()),
                Operand::InOut(regs) => Operand::InOut(regs.clone()),
            })
            .collect();
        let Some(name) = library::find(name).map(library::name) else {
            unreachable!("the library of primitives that the prelude names has '{name}'")
        };
        self.lowering.dynamic.mirrors |= name == "value.children";
        let (value, _) = self.invoke(Op::Native { name, shapes }, &[], operands, &banks, false);
        value
    }
}
