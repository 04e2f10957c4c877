//! Differential operators: lowering of the differential operators that the machine implements.

use crate::ir::graph::{Op, Operator, Reg};
use crate::ir::lower::builder::{Builder, Value};
use crate::types::model::ty::Type;
use crate::value::shape::{Shape, Tangent, TangentId, TangentKind};
use crate::value::{Bank, JacobianForm};

impl Builder<'_> {
    /// Lowers a differential operator, given by the name of its primitive; `types` are the types of the operands.
    pub(crate) fn operator(&mut self, name: &str, operands: Vec<Value>, types: &[Type], result: &Type) -> Value {
        let function = types.iter().rev().find_map(|t| match t {
            Type::Function(f) => Some(f.clone()),
            _ => None,
        });
        let ins = operands.concat();
        match (name, function) {
            ("withoutDerivative", _) => {
                let ty = types.first().cloned().unwrap_or_else(Type::unit);
                // An explicit `withoutDerivative` is retained even for a constant: it states that the lost tangent is
                // intended.
                let of = self.tangent(&ty).unwrap_or_else(|| self.no_tangent(&ty));
                let banks = self.banks(&ty);
                self.operate(Operator::WithoutDerivative { of }, &ins, &banks)
            }
            ("applyAtOnce", _) => self.operate(Operator::ApplyAtOnce, &ins, &[Bank::I, Bank::R]),
            ("matrix", _) => self.operate(Operator::Matrix { sparse: false }, &ins, &[Bank::I, Bank::R]),
            ("sparseMatrix", _) => {
                self.operate(Operator::Matrix { sparse: true }, &ins, &[Bank::I, Bank::R, Bank::R, Bank::R])
            }
            ("coordinates", _) => {
                let of = self.tangent_of_all(types);
                self.operate(Operator::Coordinates { of }, &ins, &[Bank::R])
            }
            ("withDerivative", _) => match types.first().and_then(|t| self.tangent(t)) {
                Some(of) => {
                    let banks = self.banks(result);
                    self.operate(Operator::WithDerivative { of }, &ins, &banks)
                }
                None => operands.into_iter().next().unwrap_or_default(),
            },
            ("valueWithDifferential", Some(body)) => {
                let at = self.tangent_of_all(&types[..types.len() - 1]);
                let value = self.tangent_of_all(std::slice::from_ref(&body.result));
                let mut banks = self.banks(&body.result).to_vec();
                banks.push(Bank::R);
                let throws = body.throws;
                let operator = Operator::ValueWithDifferential { at, result: value, throws };
                self.operate_on_body(operator, &ins, banks, throws, result)
            }
            ("valueWithTangent", Some(body)) => {
                let at = self.tangent_of_all(&types[..(types.len() - 1) / 2]);
                let value = self.tangent_of_all(std::slice::from_ref(&body.result));
                let mut banks = self.banks(&body.result).to_vec();
                let vector = self.program.tangents.get(value).vector;
                banks.extend(self.banks_of(vector).iter());
                let throws = body.throws;
                let operator = Operator::ValueWithTangent { at, result: value, throws };
                self.operate_on_body(operator, &ins, banks, throws, result)
            }
            // Adjoint code exists only for functions that return a number: the result is `nil` for a tensor.
            ("valueWithGradient" | "gradient", Some(body)) if *self.banks(&body.result) != [Bank::F] => {
                let banks = self.banks(result).to_vec();
                self.nothing_found(body.throws, &banks)
            }
            ("valueWithGradient" | "gradient", Some(body)) => {
                let at = self.tangent_of_all(&types[..types.len() - 1]);
                let vector = self.program.tangents.get(at).vector;
                let value = name == "valueWithGradient";
                let mut banks = if value { vec![Bank::I, Bank::F] } else { vec![Bank::I] };
                banks.extend(self.banks_of(vector).iter());
                let throws = body.throws;
                self.operate_on_body(Operator::Gradient { at, value, throws }, &ins, banks, throws, result)
            }
            // A function with linearization code does not throw.
            ("jacobian" | "smallJacobian" | "sparseJacobian", Some(body)) => {
                let form = match name {
                    "smallJacobian" => JacobianForm::Small,
                    "sparseJacobian" => JacobianForm::Sparse,
                    _ => JacobianForm::Dense,
                };
                if body.throws {
                    return self.nothing_found(true, form.results());
                }
                let at = self.tangent_of_all(&types[..types.len() - 1]);
                let value = self.tangent_of_all(std::slice::from_ref(&body.result));
                self.operate(Operator::Jacobian { at, result: value, form }, &ins, form.results())
            }
            ("recompute", Some(body)) => {
                self.operate_on_body(Operator::Recompute { traced: false }, &ins, vec![], body.throws, result)
            }
            ("series", Some(body)) => {
                let value = self.tangent_of_all(std::slice::from_ref(&body.result));
                let throws = body.throws;
                let operator = Operator::Series { result: value, throws };
                self.operate_on_body(operator, &ins, vec![Bank::I, Bank::R], throws, result)
            }
            ("transpose", Some(body)) => {
                let from: Vec<Type> = body.params.iter().map(|p| p.ty.clone()).collect();
                let at = self.tangent_of_all(&from);
                let value = self.tangent_of_all(std::slice::from_ref(&body.result));
                self.operate(Operator::Transpose { at, result: value }, &ins, &[Bank::R])
            }
            _ => {
                self.refuse(format!("the operator `{name}` has no function"));
                self.nothing(result)
            }
        }
    }

    /// Marks a value that is stored in a `@noDerivative` property: results that depend on the value have no derivative
    /// if the value varies.
    pub fn mark_no_derivative(&mut self, value: Value, ty: &Type) -> Value {
        if self.tangent(ty).is_none() {
            return value;
        }
        let banks = self.banks(ty);
        self.operate(Operator::NoDerivative { is_property: true }, &value, &banks)
    }

    /// Adds the tangent type of a type that is not differentiable.
    fn no_tangent(&mut self, ty: &Type) -> TangentId {
        let value = self.shape(ty);
        let vector = self.program.shapes.add(Shape::Tuple(vec![]));
        self.program.tangents.add(Tangent { value, vector, kind: TangentKind::Nothing })
    }

    /// Adds a differential operator whose body may throw: the flag and the error precede the result of the operator.
    fn operate_on_body(
        &mut self,
        operator: Operator,
        ins: &[Reg],
        mut banks: Vec<Bank>,
        throws: bool,
        result: &Type,
    ) -> Value {
        if throws {
            banks.splice(0..0, [Bank::I, Bank::R]);
        }
        let mut parts = self.operate(operator, ins, &banks);
        let value = parts.split_off(if throws { 2 } else { 0 });
        parts.extend(self.pack(result, value));
        parts
    }

    /// Returns the result of an operator that does not succeed: `nil`, after no error if the operator may throw.
    fn nothing_found(&mut self, throws: bool, result: &[Bank]) -> Value {
        let no_error: &[Bank] = if throws { &[Bank::I, Bank::R] } else { &[] };
        self.zeros(&[no_error, result].concat())
    }

    pub(crate) fn operate(&mut self, operator: Operator, ins: &[Reg], banks: &[Bank]) -> Value {
        let outs = self.regs(banks);
        self.emit(Op::Operator(operator), &outs, ins);
        outs
    }
}
