//! Inout derivatives: wrappers that convert registered derivatives of functions with `inout` parameters to derivatives
//! of functions that return the new values.
//!
//! In: `(inout x, y) -> (value:, pullback: (seed, inout dx) -> dy)`. Out: `(x, y) -> (value, x, pullback')`, where
//! `pullback'` is `(seed, dx) -> (dx, dy)`; so that the machine only needs derivatives of results.

use crate::ir::graph::{Op, Reg};
use crate::ir::lower::builder::{Builder, Use, Value};
use crate::ir::lower::call::{Operand, changed};
use crate::ir::lower::{Key, Origin};
use crate::types::model::declaration_info;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::ty::{FunctionType, Strength, Type};
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::FunctionRef;
use crate::value::Bank;
use crate::value::shape::TangentId;
use std::rc::Rc;

/// A registered derivative of a function with `inout` parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) struct InoutRule {
    /// The registered function.
    pub function: FunctionRef,
    /// The parameters of the original function with respect to which the derivative differentiates.
    pub wrt: Vec<bool>,
    /// Whether the registered function returns a pullback or a differential.
    pub kind: RegisteredKind,
}

impl Builder<'_> {
    /// Returns the tangent type of the result of a function together with the parameters that the function changes.
    pub(crate) fn results_together(&mut self, declared: &declaration_info::Function) -> Option<TangentId> {
        if !declared.params.iter().any(|p| p.is_inout) {
            return self.tangent(&declared.result);
        }
        let types = results(declared);
        Some(self.tangent_of_results(&types))
    }

    /// Builds the body of an [`Origin::InoutDerivative`], which calls the registered function of a function with
    /// `inout` parameters.
    pub(crate) fn inout_derivative_rule(&mut self, key: &Key, of: typed_tree::FunctionId, rule: &Rc<InoutRule>) {
        let declared = self.original(of);
        self.params = declared.generics.clone();
        self.name_like(&declared);
        let operands = self.parameters(&declared);
        let changed = changed(&operands);
        let throws = self.d.function(rule.function.function).throws;
        let result = self.concrete(&declared.result);
        let both = Type::Tuple(Rc::from([(None, result.clone()), (None, some_function())]));
        let banks = self.banks(&both);
        let origin = Origin::Function(rule.function.function);
        let id = self.lowering.request(self.program, origin, rule.function.generics.clone(), None);
        let (returned, thrown) = self.invoke(Op::Call(id), &[], operands, &banks, throws);
        self.make_permanent(&returned);
        self.out.throws = throws;
        let mut error: Vec<Reg> = vec![];
        if let Some((flag, thrown)) = thrown {
            self.dedicate(&[flag, thrown], "", Use::Constant);
            error.extend([flag, thrown]);
            self.return_nothing(&declared, &result, &error, &changed);
        }
        let mut components = self.unpack(&both, returned);
        let map = components.pop().into_iter().collect::<Vec<_>>();
        let origin = Origin::InoutDerivativeMap { of, rule: rule.clone() };
        let id = self.lowering.request(self.program, origin, key.generics.clone(), key.view);
        let map = self.value(Op::Closure(id), Bank::R, &map);
        components.extend(changed);
        components.push(map);
        self.return_all(&declared, error, components);
    }

    /// Returns the thrown error and the new values of the parameters, if the registered function has thrown an error.
    fn return_nothing(&mut self, declared: &declaration_info::Function, result: &Type, error: &[Reg], changed: &[Reg]) {
        let (failed, succeeded) = (self.block(), self.block());
        self.branch(error[0], failed, succeeded);
        self.switch_to_block(failed);
        let mut components = self.nothing(result);
        components.extend(changed);
        components.push(self.zero(Bank::R));
        self.return_all(declared, error.to_vec(), components);
        self.switch_to_block(succeeded);
    }

    fn return_all(&mut self, declared: &declaration_info::Function, error: Vec<Reg>, components: Value) {
        let mut types: Vec<Type> = results(declared).iter().map(|t| self.concrete(t)).collect();
        types.push(some_function());
        let packed = self.pack(&tuple(types), components);
        self.return_results(error.into_iter().chain(packed).collect());
    }

    /// Builds the body of an [`Origin::InoutDerivativeMap`], the linear function that an adapted derivative returns.
    pub(crate) fn inout_derivative_map(&mut self, of: typed_tree::FunctionId, rule: &InoutRule) {
        let declared = self.original(of);
        self.params = declared.generics.clone();
        self.name_like(&declared);
        self.out.name = "closure".into();
        let map = self.receive(&[Bank::R], &mut [0; 3]);
        self.make_permanent(&map);
        if rule.kind == RegisteredKind::Pullback {
            self.functional_pullback(&declared, rule, &map);
        } else {
            self.functional_differential(&declared, rule, &map);
        }
    }

    /// Builds the body of a pullback, which maps adjoints of all results to adjoints of all parameters.
    fn functional_pullback(&mut self, declared: &declaration_info::Function, rule: &InoutRule, map: &[Reg]) {
        let (mut seeds, mut changed) = (vec![], vec![]);
        let mut adjoints: Vec<Option<Value>> = vec![None; declared.params.len()];
        if let Some(mut seed) = self.vector_parameter(&declared.result) {
            if let Some(vector) = self.vector_in_parts(declared, &rule.function) {
                seed = self.unpack(&vector, seed);
            }
            seeds.push(Operand::Value(seed));
        }
        for (k, param) in declared.params.iter().enumerate().filter(|(_, p)| p.is_inout) {
            let Some(vector) = self.vector_parameter(&param.ty) else { continue };
            if rule.is_by(k) {
                self.dedicate(&vector, "", Use::Variable);
                adjoints[k] = Some(vector.clone());
                changed.push(Operand::InOut(vector));
            } else {
                seeds.push(Operand::Value(vector));
            }
        }
        let only_read = |k: &usize| rule.is_by(*k) && !declared.params[*k].is_inout;
        let only_read: Vec<usize> = (0..declared.params.len()).filter(only_read).collect();
        let vectors = only_read.iter().filter_map(|k| self.vector(&declared.params[*k].ty)).collect();
        seeds.append(&mut changed);
        let returned = self.call_map(map, seeds, vectors);
        for (k, adjoint) in only_read.into_iter().zip(returned) {
            adjoints[k] = Some(adjoint);
        }
        let differentiable = declared.params.iter().zip(adjoints).filter_map(|(p, a)| Some((self.vector(&p.ty)?, a?)));
        let (vectors, adjoints): (Vec<Type>, Vec<Value>) = differentiable.unzip();
        let components = adjoints.concat();
        let components = match &vectors[..] {
            [_] => components,
            _ => self.pack(&tuple(vectors), components),
        };
        self.return_results(components);
    }

    /// Returns the tangent vector of a tuple result, as separate elements if a registered pullback takes the vector
    /// element by element.
    fn vector_in_parts(&mut self, declared: &declaration_info::Function, registered: &FunctionRef) -> Option<Type> {
        let vector = self.vector(&declared.result)?;
        let Type::Tuple(parts) = &vector else { return None };
        let derivative = self.d.function(registered.function);
        let Type::Tuple(returned) = &derivative.result else { return None };
        let Type::Function(pullback) = &returned.get(1)?.1 else { return None };
        let first = self.of_function(&derivative, &registered.generics, &pullback.params.first()?.ty);
        let is_whole =
            matches!(&first, Type::Tuple(all) if all.iter().map(|(_, t)| t).eq(parts.iter().map(|(_, t)| t)));
        (!is_whole && parts.len() > 1).then_some(vector)
    }

    /// Whether a registered pullback takes the elements of a tuple separately, although the tuple would be boxed.
    pub(crate) fn unpacks_boxed(&mut self, declared: &declaration_info::Function, registered: &FunctionRef) -> bool {
        let Some(vector) = self.vector_in_parts(declared, registered) else { return false };
        let Type::Tuple(parts) = &vector else { return false };
        let apart: usize = parts.iter().map(|(_, ty)| self.banks(ty).len()).sum();
        apart != self.banks(&vector).len()
    }

    /// Builds the body of a differential, which maps tangents of the parameters to tangents of all results.
    fn functional_differential(&mut self, declared: &declaration_info::Function, rule: &InoutRule, map: &[Reg]) {
        let mut operands = vec![];
        let mut changed: Vec<Option<Value>> = vec![None; declared.params.len()];
        for (k, param) in declared.params.iter().enumerate().filter(|(k, _)| rule.is_by(*k)) {
            let Some(vector) = self.vector_parameter(&param.ty) else { continue };
            operands.push(match param.is_inout {
                true => {
                    self.dedicate(&vector, "", Use::Variable);
                    changed[k] = Some(vector.clone());
                    Operand::InOut(vector)
                }
                false => Operand::Value(vector),
            });
        }
        let not_by = declared.params.iter().enumerate().filter(|(k, p)| p.is_inout && !rule.is_by(*k));
        let mut only_given: Vec<Type> = vec![declared.result.clone()];
        only_given.extend(not_by.map(|(_, p)| p.ty.clone()));
        let vectors = only_given.iter().filter_map(|ty| self.vector(ty)).collect();
        let mut returned = self.call_map(map, operands, vectors).into_iter();
        let mut components = vec![];
        let inouts = declared.params.iter().zip(changed).filter(|(p, _)| p.is_inout).map(|(p, c)| (&p.ty, c));
        for (ty, vector) in std::iter::once((&declared.result, None)).chain(inouts) {
            match vector {
                Some(vector) => components.extend(vector),
                None if self.vector(ty).is_some() => components.extend(returned.next().into_iter().flatten()),
                None => {}
            }
        }
        self.return_results(components);
    }

    /// Calls the linear function of the registered derivative; its results are tangent vectors of the given types.
    fn call_map(&mut self, map: &[Reg], operands: Vec<Operand>, vectors: Vec<Type>) -> Vec<Value> {
        let all = match &vectors[..] {
            [only] => only.clone(),
            _ => tuple(vectors.clone()),
        };
        let banks = self.banks(&all);
        let (value, _) = self.invoke(Op::CallValue, map, operands, &banks, false);
        self.make_permanent(&value);
        if let [_] = vectors[..] {
            return vec![value];
        }
        let mut components = self.unpack(&all, value).into_iter();
        vectors.iter().map(|t| components.by_ref().take(self.banks(t).len()).collect()).collect()
    }

    /// Adds a parameter for the tangent vector of a type, if the type has one.
    fn vector_parameter(&mut self, ty: &Type) -> Option<Value> {
        let vector = self.vector(ty)?;
        Some(self.parameter("", &vector))
    }

    fn vector(&mut self, ty: &Type) -> Option<Type> {
        let ty = self.concrete(ty);
        self.d.tangent_vector(&ty).filter(|_| !ty.is_unit())
    }
}

impl InoutRule {
    fn is_by(&self, parameter: usize) -> bool {
        self.wrt.get(parameter) == Some(&true)
    }
}

/// Returns the types of a function's result and of the parameters that the function changes.
fn results(declared: &declaration_info::Function) -> Vec<Type> {
    let changed = declared.params.iter().filter(|p| p.is_inout).map(|p| p.ty.clone());
    std::iter::once(declared.result.clone()).filter(|t| !t.is_unit()).chain(changed).collect()
}

fn tuple(types: Vec<Type>) -> Type {
    Type::Tuple(types.into_iter().map(|t| (None, t)).collect())
}

/// Returns a function type to represent the linear function, which is not called through this type.
fn some_function() -> Type {
    let function = FunctionType { params: vec![], result: Type::unit(), throws: false, strength: Strength::Plain };
    Type::Function(Rc::new(function))
}
