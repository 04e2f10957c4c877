//! Literals: lowering of numbers, strings, arrays, dictionaries, structs and cases of enums, from their parts.

use super::builder::{Builder, Value};
use super::call::Operand;
use super::place::stride;
use crate::ir::graph::{Op, Reg, Trap};
use crate::ir::layout::cells;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind, FunctionRef};
use crate::value::shape::Shape;
use crate::value::{Bank, Constants};
use hashbrown::HashSet;

impl Builder<'_> {
    /// Lowers a number literal. A literal of type `Float` is rounded.
    pub fn number(&mut self, x: f64, ty: &Type) -> Value {
        let shape = self.shape(ty);
        let x = match self.program.shapes.get(shape) {
            Shape::Float => f64::from(x as f32),
            _ => x,
        };
        vec![self.value(Op::ConstF(x), Bank::F, &[])]
    }

    /// Builds a value of a type from its components, in a record or an instance if the type requires one.
    pub fn pack(&mut self, ty: &Type, components: Value) -> Value {
        let shape = self.shape(ty);
        match self.program.shapes.get(shape) {
            Shape::Boxed(_) => vec![self.value(Op::NewRecord, Bank::R, &components)],
            Shape::Class { .. } => self.instance(shape, &components),
            _ => components,
        }
    }

    /// Returns the components of a value of a type, loaded from the record if the value is stored in a record.
    pub fn unpack(&mut self, ty: &Type, value: Value) -> Value {
        let shape = self.shape(ty);
        let inner = self.inner(shape);
        if inner == shape {
            return value;
        }
        let banks = self.banks_of(inner);
        cells(&banks)
            .into_iter()
            .map(|(bank, index)| self.value(Op::LoadRecord { bank, index: index as u16 }, bank, &value))
            .collect()
    }

    /// Returns the builtin type that a type represents, if any.
    pub fn builtin(&mut self, ty: &Type) -> Option<Builtin> {
        match self.concrete(ty) {
            Type::Nominal(id, _) => self.d.nominal(id).builtin,
            _ => None,
        }
    }

    pub(super) fn array(&mut self, parts: &[Expr], ty: &Type) -> Value {
        let shape = self.shape(ty);
        let Shape::Array(element) = *self.program.shapes.get(shape) else {
            self.refuse("an array literal is only supported for arrays");
            return self.nothing(ty);
        };
        if let Some(known) = constants(parts) {
            return vec![self.value(Op::Constants(known.into()), Bank::R, &[])];
        }
        let banks = self.banks_of(element);
        let stride = stride(&banks);
        let array = self.value(Op::NewArray(stride), Bank::R, &[]);
        // Elements are appended one after another, so that a long literal does not need a register for every element.
        for part in parts {
            let mut ins = vec![array];
            ins.extend(self.expr(part));
            self.emit(Op::Append(stride), &[array], &ins);
        }
        vec![array]
    }

    pub(super) fn dictionary(&mut self, pairs: &[(Expr, Expr)], ty: &Type) -> Value {
        let shape = self.shape(ty);
        let Shape::Dictionary(key, value) = *self.program.shapes.get(shape) else {
            self.refuse("a dictionary literal is only supported for dictionaries");
            return self.nothing(ty);
        };
        let shapes = vec![key, value];
        let native = |name| Op::Native { name, shapes: shapes.clone() };
        let mut dictionary = self.value(native("dictionary.new"), Bank::R, &[]);
        let generics = match self.concrete(ty) {
            Type::Nominal(_, generics) => generics.to_vec(),
            _ => vec![],
        };
        let by_own = generics.first().and_then(|key| self.d.by_own_equality("dictionary.set", key));
        for (key, value) in pairs {
            let pair = self.exprs([key, value]);
            let present = [vec![self.int(1)], pair[1].clone()].concat();
            if let Some(function) = by_own {
                let set = FunctionRef { function, generics: generics.clone() };
                let operands =
                    [Operand::InOut(vec![dictionary]), Operand::Value(pair[0].clone()), Operand::Value(present)];
                self.call_function(&set, operands.into());
                continue;
            }
            let ins = [vec![dictionary], pair[0].clone(), present].concat();
            dictionary = self.value(native("dictionary.set"), Bank::R, &ins);
        }
        if pairs.len() > 1 && !are_distinct(pairs) {
            let count = self.value(native("dictionary.count"), Bank::I, &[dictionary]);
            let written = self.int(pairs.len() as i64);
            let all = self.primitive("int.eq", &[count, written]);
            let message = self.value(Op::Text("a dictionary literal contains duplicate keys".into()), Bank::R, &[]);
            self.demand(all, Trap::Failed { what: "failed", message: Some(message) });
        }
        vec![dictionary]
    }

    pub(super) fn structure(&mut self, fields: &[Expr], ty: &Type) -> Value {
        let mut values = self.exprs(fields);
        if let Type::Nominal(id, _) = self.concrete(ty) {
            let nominal = self.d.nominal(id);
            for (i, value) in values.iter_mut().enumerate() {
                let Some(stored) = nominal.stored.get(i) else { continue };
                if stored.no_derivative {
                    *value = self.mark_no_derivative(std::mem::take(value), &fields[i].ty);
                }
                *value = self.weak_reference(std::mem::take(value), stored.ownership);
            }
        }
        let vector = self.vector_beside(ty, &values);
        values.push(vector);
        self.pack(ty, values.concat())
    }

    pub(super) fn case(&mut self, case: u32, payload: &[Expr], ty: &Type) -> Value {
        let values = self.exprs(payload);
        if self.builtin(ty) == Some(Builtin::Optional) {
            return match values.into_iter().next() {
                Some(value) if case == 1 => self.some(value),
                _ => self.nothing(ty),
            };
        }
        let shape = self.shape(ty);
        let inner = self.inner(shape);
        let banks = self.banks_of(inner);
        let (value_shape, beside) = self.beside(inner);
        let places = self.lowering.layouts.payload(&self.program.shapes, value_shape, case as usize);
        let mut components: Vec<Option<Reg>> = vec![None; banks.len()];
        components[0] = Some(self.int(i64::from(case)));
        for (value, places) in values.iter().zip(&places) {
            for (reg, place) in value.iter().zip(places) {
                components[*place] = Some(*reg);
            }
        }
        if let Some(beside) = beside {
            let vector = self.vector_beside_case(ty, case, &values);
            components.splice(beside, vector.into_iter().map(Some));
        }
        let components = components
            .into_iter()
            .zip(banks.iter())
            .map(|(reg, bank)| match reg {
                Some(reg) => reg,
                None => self.zero(*bank),
            })
            .collect();
        self.pack(ty, components)
    }
}

/// Returns the elements of an array literal whose elements are all constants.
fn constants(parts: &[Expr]) -> Option<Constants> {
    let integer = |part: &Expr| match part.kind {
        ExprKind::Int(n) => Some(n as i64),
        ExprKind::Bool(b) => Some(i64::from(b)),
        _ => None,
    };
    let number = |part: &Expr| match part.kind {
        ExprKind::Float(x) => Some(x),
        _ => None,
    };
    match parts.first()?.kind {
        ExprKind::Float(_) => parts.iter().map(number).collect::<Option<_>>().map(Constants::Numbers),
        _ => parts.iter().map(integer).collect::<Option<_>>().map(Constants::Integers),
    }
}

/// Whether the keys of a dictionary literal are distinct literals.
fn are_distinct(pairs: &[(Expr, Expr)]) -> bool {
    let (mut integers, mut texts) = (HashSet::new(), HashSet::new());
    pairs.iter().all(|(key, _)| match &key.kind {
        ExprKind::Int(n) => integers.insert(*n),
        ExprKind::Text(text) => texts.insert(text.clone()),
        _ => false,
    })
}
