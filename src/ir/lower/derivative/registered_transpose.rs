//! Registered transposes: conversion of transposes, and of adjoints in the older notation, to registered pullbacks.
//!
//! In: a function with its registered derivatives. Out: its rules, and for each transpose or adjoint a function that
//! returns the value with a pullback, which captures the required values.
//!
//! The derivative of a function that is linear in each of several parameters (`*`) with respect to all of them is the
//! sum of its transposes.

use crate::ir::FunctionId;
use crate::ir::lower::builder::{Builder, Use, Value};
use crate::ir::lower::call::Operand;
use crate::ir::lower::derivative::inout_derivative::InoutRule;
use crate::ir::lower::{Key, Origin, Part};
use crate::ir::{Obstacle, Op, Parameter, Reg, Rule, RuleKind, Terminator};
use crate::types::model::declaration_info;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::ty::{FunctionType, Strength, Type};
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::FunctionRef;
use crate::value::Bank;
use std::rc::Rc;

/// The number of transposes above which the sums of all subsets of a function's transposes are no longer created.
const MAX_SUMS: usize = 32;

impl Builder<'_> {
    /// Creates the rules of a function from its registered derivatives, the most specific rule first.
    pub fn rules(&mut self, f: typed_tree::FunctionId, declared: &declaration_info::Function) {
        let of = FunctionRef { function: f, generics: self.generics.clone() };
        let registered = self.d.rules(&of, self.view);
        if registered.is_empty() {
            self.out.obstacle = self.d.unmet(&of, self.view).map(|unmet| Obstacle::Requirement(unmet.into()));
            self.out.is_opaque |= self.out.obstacle.is_some();
            return;
        }
        let Some(result) = self.results_together(declared) else { return };
        let movers: Rc<[Option<FunctionId>]> = declared.params.iter().map(|p| self.mover(&p.ty)).collect();
        let mut parts: Vec<Vec<Part>> = vec![];
        // Each transpose can be summed with all transposes for other parameters.
        let some_differ = registered.iter().any(|rule| rule.differs);
        // A registered primal computes the value instead of the original; a transpose needs no primal.
        let primals = registered.iter().filter(|rule| rule.primal.is_some());
        let of_primal = primals.filter_map(|rule| rule.inherited).next();
        for rule in registered {
            let kind = match rule.kind {
                RegisteredKind::Differential => RuleKind::Differential,
                RegisteredKind::Pullback => RuleKind::Pullback,
                RegisteredKind::Transpose | RegisteredKind::Adjoint => {
                    let takes_all = rule.kind == RegisteredKind::Adjoint;
                    let (function, wrt, primal) = (rule.function, rule.wrt, rule.primal);
                    parts.push(vec![Part { function, wrt, takes_all, primal }]);
                    continue;
                }
            };
            let declaration_info::Function { throws, span: place, .. } = *self.d.function(rule.function.function);
            let origin = Origin::Function(rule.function.function);
            let registered = self.lowering.request(self.program, origin, rule.function.generics.clone(), None);
            let mut function = registered;
            let is_apart = rule.kind == RegisteredKind::Pullback && self.unpacks_boxed(declared, &rule.function);
            if is_apart || declared.params.iter().any(|p| p.is_inout) {
                let rule = InoutRule { function: rule.function, wrt: rule.wrt.clone(), kind: rule.kind };
                let origin = Origin::InoutDerivative { of: f, rule: rule.into() };
                function = self.lowering.request(self.program, origin, self.generics.clone(), None);
            }
            self.out.rules.push(Rule {
                registered,
                throws,
                differs: rule.differs,
                place,
                movers: movers.clone(),
                inherited: rule.inherited.map(|original| self.d.function(original).name.clone()),
                ..Rule::new(rule.wrt, function, kind, result)
            });
        }
        let of_primal = of_primal.map(|original| self.d.function(original).name.clone());
        for parts in sums(parts) {
            let wrt = union(&parts);
            let place = parts.first().map_or(declared.span, |part| self.d.function(part.function.function).span);
            let kind = if parts.iter().any(|p| p.takes_all) { RuleKind::Pullback } else { RuleKind::Transpose };
            let origin = Origin::RegisteredTranspose { of: f, parts: parts.into() };
            let function = self.lowering.request(self.program, origin, self.generics.clone(), self.view);
            self.out.rules.push(Rule {
                differs: some_differ,
                place,
                movers: movers.clone(),
                inherited: of_primal.clone(),
                ..Rule::new(wrt, function, kind, result)
            });
        }
        // The sort is stable: of two registered derivatives for the same parameters, a derivative precedes a transpose.
        self.out.rules.sort_by_key(|rule| rule.wrt.iter().filter(|w| **w).count());
    }

    /// Returns the function that moves a value along a tangent vector, if the type defines its own tangent vectors.
    pub(crate) fn mover(&mut self, ty: &Type) -> Option<FunctionId> {
        let ty = self.concrete(ty);
        self.tangent_beside(&ty)?;
        let moved = self.d.prelude_function("_moved")?;
        Some(self.lowering.request(self.program, Origin::Function(moved), vec![ty], None))
    }

    /// Builds the body of an [`Origin::RegisteredTranspose`], which calls the function, and creates the closure of the
    /// pullback.
    pub fn registered_transpose(&mut self, key: &Key, of: typed_tree::FunctionId, parts: &Rc<[Part]>) {
        let declared = self.original(of);
        self.params = declared.generics.clone();
        self.name_like(&declared);
        let operands = self.parameters(&declared);
        let arguments: Vec<Value> = operands
            .iter()
            .map(|o| match o {
                Operand::Value(regs) | Operand::InOut(regs) => regs.clone(),
            })
            .collect();
        let result = self.concrete(&declared.result);
        let banks = self.banks(&result);
        let primal = parts.iter().find_map(|part| part.primal.clone());
        let (checkpoints, value) = match &primal {
            Some(primal) => self.call_primal(primal, operands, &banks),
            None => {
                let origin = if declared.fills_instance { Origin::InstanceCreation(of) } else { Origin::Function(of) };
                let id = self.lowering.request(self.program, origin, self.generics.clone(), key.view);
                (vec![], self.invoke(Op::Call(id), &[], operands, &banks, false).0)
            }
        };
        self.make_permanent(&value);
        let mut captured = vec![];
        for part in parts.iter() {
            captured
                .extend(arguments.iter().zip(&part.wrt).filter(|(_, w)| part.takes_all || !**w).flat_map(|(a, _)| a));
            if part.takes_all {
                captured.extend(checkpoints.iter().chain(&value));
            }
        }
        let origin = Origin::Pullback { of, parts: parts.clone() };
        let pullback = self.lowering.request(self.program, origin, self.generics.clone(), key.view);
        let pullback = self.value(Op::Closure(pullback), Bank::R, &captured);
        let mut components = value;
        components.push(pullback);
        let function = Type::Function(Rc::new(FunctionType {
            params: vec![],
            result: Type::unit(),
            throws: false,
            strength: Strength::Plain,
        }));
        let both = Type::Tuple(Rc::from([(None, result), (None, function)]));
        let components = self.pack(&both, components);
        self.return_results(components);
    }

    /// Calls a registered primal function; returns the intermediate values for the adjoint, and the result.
    fn call_primal(&mut self, primal: &FunctionRef, operands: Vec<Operand>, result: &[Bank]) -> (Value, Value) {
        let both = self.result_of(primal);
        let id = self.lowering.request(self.program, Origin::Function(primal.function), primal.generics.clone(), None);
        let banks = self.banks(&both);
        let (returned, _) = self.invoke(Op::Call(id), &[], operands, &banks, false);
        self.make_permanent(&returned);
        let mut checkpoints = self.unpack(&both, returned);
        let value = checkpoints.split_off(checkpoints.len() - result.len());
        self.make_permanent(&checkpoints);
        (checkpoints, value)
    }

    fn result_of(&mut self, f: &FunctionRef) -> Type {
        let declared = self.d.function(f.function);
        self.of_function(&declared, &f.generics, &declared.result)
    }

    /// Builds the body of an [`Origin::Pullback`], which maps the adjoint of the result to the adjoints of the
    /// parameters.
    pub fn pullback(&mut self, of: typed_tree::FunctionId, parts: &Rc<[Part]>) {
        let declared = self.original(of);
        self.params = declared.generics.clone();
        self.name_like(&declared);
        let types: Vec<Type> = declared.params.iter().map(|p| self.concrete(&p.ty)).collect();
        let result = self.concrete(&declared.result);
        let Some(vector) = self.d.tangent_vector(&result) else { return };
        let adjoint = self.parameter("v", &vector);
        let mut next = [0u16; 3];
        let mut adjoints: Vec<Option<Value>> = vec![None; types.len()];
        for part in parts.iter() {
            let mut operands = vec![];
            for (ty, _) in types.iter().zip(&part.wrt).filter(|(_, w)| part.takes_all || !**w) {
                let banks = self.banks(ty);
                operands.push(Operand::Value(self.receive(&banks, &mut next)));
            }
            if let Some(primal) = &part.primal
                && let Type::Tuple(both) = self.result_of(primal)
            {
                let banks = self.banks(&both[0].1);
                operands.push(Operand::Value(self.receive(&banks, &mut next)));
            }
            if part.takes_all {
                let banks = self.banks(&result);
                operands.push(Operand::Value(self.receive(&banks, &mut next)));
            }
            operands.push(Operand::Value(adjoint.clone()));
            let vectors: Vec<Type> = types
                .iter()
                .zip(&part.wrt)
                .filter(|(_, w)| **w)
                .map(|(ty, _)| self.d.tangent_vector(ty).unwrap_or_else(Type::unit))
                .collect();
            let mut returned = self.part_result(part, operands, &vectors).into_iter();
            for (place, _) in adjoints.iter_mut().zip(&part.wrt).filter(|(_, w)| **w) {
                *place = returned.next();
            }
        }
        let returned: Vec<(Type, Value)> = types
            .iter()
            .zip(adjoints)
            .filter_map(|(ty, a)| Some((self.d.tangent_vector(ty).unwrap_or_else(Type::unit), a?)))
            .collect();
        let components = returned.iter().flat_map(|(_, a)| a.clone()).collect();
        let components = match returned.as_slice() {
            [_] => components,
            several => {
                let all = Type::Tuple(several.iter().map(|(t, _)| (None, t.clone())).collect());
                self.pack(&all, components)
            }
        };
        self.return_results(components);
    }

    /// Calls the registered function of a part, a transpose or an adjoint; returns one value for each parameter.
    fn part_result(&mut self, part: &Part, operands: Vec<Operand>, vectors: &[Type]) -> Vec<Value> {
        let origin = Origin::Function(part.function.function);
        let id = self.lowering.request(self.program, origin, part.function.generics.clone(), None);
        let all = match vectors {
            [only] => only.clone(),
            several => Type::Tuple(several.iter().map(|t| (None, t.clone())).collect()),
        };
        let banks = self.banks(&all);
        let (value, _) = self.invoke(Op::Call(id), &[], operands, &banks, false);
        self.make_permanent(&value);
        if let [_] = vectors {
            return vec![value];
        }
        let mut components = self.unpack(&all, value).into_iter();
        vectors.iter().map(|t| components.by_ref().take(self.banks(t).len()).collect()).collect()
    }

    pub(crate) fn name_like(&mut self, declared: &declaration_info::Function) {
        self.out.name = declared.name.clone();
        self.out.span = declared.span;
        self.span = declared.span;
        self.out.is_prelude = declared.is_prelude;
    }

    pub(crate) fn parameter(&mut self, name: &str, ty: &Type) -> Value {
        let shape = self.shape(ty);
        let banks = self.banks_of(shape);
        let regs = self.regs(&banks);
        self.dedicate(&regs, name, Use::Constant);
        let tangent = self.tangent(ty);
        let (first, span) = (self.out.params.len(), self.span);
        self.out.parameters.push(Parameter { name: Rc::from(name), span, first, len: regs.len(), tangent, shape });
        self.out.params.extend(&regs);
        regs
    }

    pub(crate) fn return_results(&mut self, results: Vec<Reg>) {
        self.out.result_len = results.len();
        self.out.results = results.iter().map(|reg| self.bank(*reg)).collect();
        self.end(Terminator::Return(results));
    }
}

/// Returns the parameters with respect to which any of the parts differentiates.
fn union(parts: &[Part]) -> Vec<bool> {
    let count = parts.iter().map(|p| p.wrt.len()).max().unwrap_or(0);
    (0..count).map(|k| parts.iter().any(|p| p.wrt.get(k) == Some(&true))).collect()
}

/// Returns each registered transpose alone, and the sums of transposes for disjoint parameters, unless a single
/// transpose covers the same parameters.
fn sums(alone: Vec<Vec<Part>>) -> Vec<Vec<Part>> {
    let mut all = alone.clone();
    let mut at = 0;
    while at < all.len() && all.len() < MAX_SUMS {
        for other in &alone {
            let (a, b) = (union(&all[at]), union(other));
            let disjoint = a.iter().zip(&b).all(|(a, b)| !(a & b));
            let both: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a | b).collect();
            if disjoint && !all.iter().any(|parts| union(parts) == both) {
                let sum = all[at].iter().chain(other).cloned().collect();
                all.push(sum);
            }
        }
        at += 1;
    }
    all
}
