//! Casts: `is`, `as?` and `as!`. A cast whose outcome the static types do not determine is checked at run time.

use super::builder::{Builder, Value};
use super::call::Operand;
use crate::ir::graph::{Op, Trap};
use crate::types::model::declaration_info::{Builtin, Declarations, NominalKind};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, FunctionRef};
use crate::value::Bank;

impl Builder<'_> {
    /// Lowers `value as? T`, which returns an optional, or `value as! T`.
    pub(super) fn cast(&mut self, value: &Expr, forced: bool, ty: &Type) -> Value {
        let given = self.expr(value);
        let (from, to) = (self.concrete(&value.ty), self.concrete(ty));
        let to = if forced { to } else { self.payload(&to).unwrap_or(to) };
        if !forced {
            return self.converted(&from, given, &to);
        }
        let optional = self.converted(&from, given.clone(), &to);
        let (good, bad) = (self.block(), self.block());
        self.branch(optional[0], good, bad);
        self.switch_to_block(bad);
        let failure = self.failure_of_cast(&from, given, &to);
        self.trap(failure);
        self.switch_to_block(good);
        optional[1..].to_vec()
    }

    /// Returns the trap for a forced cast that fails.
    fn failure_of_cast(&mut self, from: &Type, value: Value, to: &Type) -> Trap {
        let function = self.d.prelude_function("_castFailure").filter(|_| self.payload(from).is_none());
        let Some(function) = function else { return Trap::UnexpectedNil };
        let wanted = self.metatype(to);
        let operands = vec![Operand::Value(value), Operand::Value(wanted)];
        let generics = vec![from.clone(), to.clone()];
        let message = self.call_function(&FunctionRef { function, generics }, operands);
        Trap::Failed { what: "cast", message: message.first().copied() }
    }

    /// Casts a value of a concrete type; returns an optional, which has a value if the cast succeeds.
    pub(super) fn converted(&mut self, from: &Type, value: Value, to: &Type) -> Value {
        if let Some(payload) = self.payload(from)
            && from != to
        {
            return self.converted_optional(from, &payload, value, to);
        }
        let is_less = matches!(from, Type::Existential(_)) || self.is_dynamic_metatype(from) || self.is_class(from);
        if !is_less {
            return self.converted_exact(from, value, to);
        }
        // The dynamic type may be more specific than the static type. A cast that succeeds for the static type needs no
        // check.
        let fits = match (from, to) {
            (Type::Existential(_), Type::Existential(wanted)) => self.d.is_value_of(from, wanted),
            (Type::Metatype(of), Type::Metatype(wanted)) => from == to || self.is_metatype_of(of, wanted),
            (Type::Nominal(..), Type::Existential(wanted)) => self.d.is_value_of(from, wanted),
            (Type::Nominal(..), Type::Nominal(..)) => super::dispatch::is_class_of(self.d, from, to),
            _ => false,
        };
        match (fits, to) {
            (true, Type::Existential(_)) => {
                let erased = self.erased(from, value);
                self.some(erased)
            }
            (true, _) => self.some(value),
            (false, _) => {
                let erased = self.erased(from, value);
                self.inspected(erased, to)
            }
        }
    }

    /// Casts a value whose dynamic type is the given type; otherwise like [`Builder::converted`].
    pub(super) fn converted_exact(&mut self, from: &Type, value: Value, to: &Type) -> Value {
        if from == to {
            return self.some(value);
        }
        if let Some(payload) = self.payload(from) {
            return self.converted_optional(from, &payload, value, to);
        }
        if let Some(payload) = self.payload(to) {
            let inner = self.converted_exact(from, value, &payload);
            return self.wrapped(inner);
        }
        match (from, to) {
            (_, Type::Existential(e)) if self.d.is_value_of(from, e) => {
                let erased = self.erased(from, value);
                self.some(erased)
            }
            (Type::Metatype(of), Type::Metatype(wanted)) if self.is_metatype_of(of, wanted) => {
                let value = self.metatype_as(of, value, wanted);
                self.some(value)
            }
            (Type::Tuple(xs), Type::Tuple(ys))
                if xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|((l, _), (m, _))| l == m || m.is_none()) =>
            {
                self.converted_tuple(from, value, to)
            }
            (Type::Nominal(a, xs), Type::Nominal(b, ys)) if a == b => match self.converter(from) {
                Some(name) => {
                    let generics = xs.iter().chain(ys.iter()).cloned().collect();
                    self.call_converter(name, generics, value, to)
                }
                None => self.absent(to),
            },
            (Type::Nominal(..), Type::Nominal(..)) if super::dispatch::is_class_of(self.d, from, to) => {
                self.some(value)
            }
            (Type::Function(_), Type::Function(_)) => {
                let erased = self.boxed(from, &value);
                self.unpacked(&erased, to)
            }
            _ => self.absent(to),
        }
    }

    /// Casts a boxed value. The machine compares simple types; for all other types, there is a function for each type
    /// of which values are created.
    fn inspected(&mut self, value: Value, to: &Type) -> Value {
        let is_simple = match to {
            Type::Nominal(..) => self.payload(to).is_none() && self.converter(to).is_none(),
            Type::Function(_) => true,
            _ => false,
        };
        if is_simple {
            return self.unpacked(&value, to);
        }
        let Some(function) = self.d.prelude_function("_cast") else {
            self.refuse("a cast to a type that is only known at run time is not supported");
            return self.absent(to);
        };
        let method = self.method_of_cast(FunctionRef { function, generics: vec![to.clone()] });
        self.call_and_propagate(&method, vec![Operand::Value(value)])
    }

    /// Adds the body of a function that casts boxed values of one type.
    pub(super) fn cast_of_box(&mut self, from: Option<&Type>, operands: &[Operand], to: &Type) -> Value {
        let (Some(from), Some(Operand::Value(boxed))) = (from, operands.first()) else { return self.absent(to) };
        match from {
            // The boxed value itself is the metatype.
            Type::Metatype(_) if self.is_dynamic_metatype(from) => self.converted_exact(from, boxed.clone(), to),
            _ => {
                let value = self.unboxed(from, boxed);
                self.converted_exact(from, value, to)
            }
        }
    }

    /// Unboxes a value if it has the given type or is an instance of a subclass; returns an optional.
    fn unpacked(&mut self, boxed: &[crate::ir::graph::Reg], to: &Type) -> Value {
        let shape = self.shape(to);
        let mut banks = vec![Bank::I];
        banks.extend(self.banks_of(shape).iter());
        let optional = self.regs(&banks);
        self.emit(Op::Native { name: "any.as", shapes: vec![shape] }, &optional, boxed);
        optional
    }

    /// Converts a value to the type `Any`.
    pub(super) fn erased(&mut self, from: &Type, value: Value) -> Value {
        let is_boxed = matches!(from, Type::Existential(_)) || self.is_dynamic_metatype(from);
        if is_boxed { value } else { self.boxed(from, &value) }
    }

    fn absent(&mut self, to: &Type) -> Value {
        let mut banks = vec![Bank::I];
        banks.extend(self.banks(to).iter());
        self.zeros(&banks)
    }

    /// Casts the value inside an optional to another type.
    fn converted_optional(&mut self, from: &Type, payload: &Type, value: Value, to: &Type) -> Value {
        if let Type::Existential(e) = to
            && self.d.is_value_of(from, e)
        {
            let erased = self.boxed(from, &value);
            return self.some(erased);
        }
        let (value, wanted) = (self.keep(value), self.payload(to));
        self.make_permanent(&value);
        let (present, missing, after) = (self.block(), self.block(), self.block());
        let mut banks = vec![Bank::I];
        banks.extend(self.banks(to).iter());
        let result = self.regs(&banks);
        self.branch(value[0], present, missing);
        self.switch_to_block(present);
        let inner = value[1..].to_vec();
        let found = match &wanted {
            Some(wanted) => {
                let found = self.converted(payload, inner, wanted);
                self.wrapped(found)
            }
            None => self.converted(payload, inner, to),
        };
        self.assign(&result, &found);
        self.jump(after);
        self.switch_to_block(missing);
        // A `nil` is a value of every optional type, so the cast succeeds.
        let found = self.absent(to);
        self.assign(&result, &found);
        if wanted.is_some() {
            let present = self.int(1);
            self.assign(&result[..1], &[present]);
        }
        self.jump(after);
        self.switch_to_block(after);
        result
    }

    /// Wraps an optional in another optional, which has a value if the inner optional has a value.
    fn wrapped(&mut self, inner: Value) -> Value {
        let inner = self.keep(inner);
        self.make_permanent(&inner);
        let flag = self.copy(&inner[..1]);
        flag.into_iter().chain(inner).collect()
    }

    fn converted_tuple(&mut self, from: &Type, value: Value, to: &Type) -> Value {
        let (Type::Tuple(xs), Type::Tuple(ys)) = (from, to) else { return self.absent(to) };
        let (shape, parts) = (self.shape(from), self.unpack(from, value));
        let inner = self.inner(shape);
        let (mut all, mut fields) = (self.int(1), vec![]);
        for (i, ((_, x), (_, y))) in xs.iter().zip(ys.iter()).enumerate() {
            let range = self.lowering.layouts.field(&self.program.shapes, inner, i);
            let field = self.converted(x, parts[range].to_vec(), y);
            all = self.primitive("int.and", &[all, field[0]]);
            fields.extend_from_slice(&field[1..]);
        }
        let whole = self.pack(to, fields);
        std::iter::once(all).chain(whole).collect()
    }

    /// Returns the function of the prelude that casts the elements of a collection.
    fn converter(&mut self, ty: &Type) -> Option<&'static str> {
        let Type::Nominal(id, _) = ty else { return None };
        match self.d.nominal(*id).builtin? {
            Builtin::Array => Some("_castArray"),
            Builtin::Dictionary => Some("_castDictionary"),
            Builtin::Set => Some("_castSet"),
            _ => None,
        }
    }

    fn call_converter(&mut self, name: &str, generics: Vec<Type>, value: Value, to: &Type) -> Value {
        let Some(function) = self.d.prelude_function(name) else { return self.absent(to) };
        self.call_function(&FunctionRef { function, generics }, vec![Operand::Value(value)])
    }

    pub(super) fn payload(&mut self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Nominal(_, args) if is_optional(self.d, ty) => args.first().cloned(),
            _ => None,
        }
    }

    pub(super) fn is_class(&mut self, ty: &Type) -> bool {
        is_class(self.d, ty)
    }

    // Metatypes

    /// Whether a value of `T.Type` may represent another type than `T`, so that the type is known only at run time.
    pub(super) fn is_dynamic_metatype(&mut self, ty: &Type) -> bool {
        matches!(ty, Type::Metatype(of) if crate::ir::layout::is_dynamic(self.d, of))
    }

    /// Returns the value of `T.self`.
    pub(super) fn metatype(&mut self, of: &Type) -> Value {
        if !crate::ir::layout::is_dynamic(self.d, of) {
            return vec![];
        }
        self.boxed_metatype(of)
    }

    /// Whether every value of `of.Type` is a value of `wanted.Type`.
    fn is_metatype_of(&mut self, of: &Type, wanted: &Type) -> bool {
        match wanted {
            Type::Existential(e) => !matches!(of, Type::Existential(_)) && self.d.is_value_of(of, e),
            _ => super::dispatch::is_class_of(self.d, of, wanted),
        }
    }

    /// Converts a metatype to another metatype type.
    pub(super) fn metatype_as(&mut self, of: &Type, value: Value, wanted: &Type) -> Value {
        match value.is_empty() && crate::ir::layout::is_dynamic(self.d, wanted) {
            true => self.boxed_metatype(of),
            false => value,
        }
    }

    /// Lowers `type(of: value)`.
    pub(super) fn type_of(&mut self, generics: &[Type], value: Value) -> Value {
        let of = generics.first().cloned().unwrap_or(Type::Error);
        if !crate::ir::layout::is_dynamic(self.d, &of) {
            return vec![];
        }
        let Some(function) = self.d.prelude_function("_typeOf") else { return self.metatype(&of) };
        let method = self.method_of_type(FunctionRef { function, generics: vec![] });
        self.call_and_propagate(&method, vec![Operand::Value(value)])
    }

    /// Creates an uninitialized instance of the class that a metatype represents.
    pub(super) fn new_of_type(&mut self, of: &Type, metatype: Value) -> Value {
        let Some(function) = self.d.prelude_function("_new") else { return self.nothing(of) };
        let method = self.method_of_new(FunctionRef { function, generics: vec![of.clone()] });
        self.call_and_propagate(&method, vec![Operand::Value(metatype)])
    }

    /// Creates a value that represents a type at run time.
    pub(super) fn boxed_metatype(&mut self, of: &Type) -> Value {
        let shape = self.lowering.layouts.metatype(self.d, &mut self.program.shapes, of);
        // The type of a metatype is only printed and compared. Such a type is not a receiver of methods, which avoids
        // infinitely many types.
        if !matches!(of, Type::Metatype(_)) {
            self.note_type(shape);
        }
        vec![self.value(Op::Native { name: "any.box", shapes: vec![shape] }, Bank::R, &[])]
    }
}

/// Whether a cast from a type to another can succeed for some value.
pub(super) fn may_succeed(d: &mut dyn Declarations, from: &Type, to: &Type) -> bool {
    match (from, to) {
        (_, Type::Existential(e)) if d.is_value_of(from, e) => true,
        (Type::Nominal(_, given), Type::Nominal(_, wanted)) if is_optional(d, from) && is_optional(d, to) => {
            may_succeed(d, &given[0], &wanted[0])
        }
        (Type::Nominal(_, given), _) if is_optional(d, from) => may_succeed(d, &given[0], to),
        (_, Type::Nominal(_, wanted)) if is_optional(d, to) => may_succeed(d, from, &wanted[0]),
        (Type::Existential(_), _) => true,
        (_, Type::Existential(_)) => is_class(d, from),
        (Type::Nominal(a, _), Type::Nominal(b, _)) => a == b || is_class(d, from) && is_class(d, to),
        (Type::Tuple(_), Type::Tuple(_)) | (Type::Metatype(_), Type::Metatype(_)) => true,
        _ => from == to,
    }
}

fn is_optional(d: &mut dyn Declarations, ty: &Type) -> bool {
    matches!(ty, Type::Nominal(id, _) if d.nominal(*id).builtin == Some(Builtin::Optional))
}

fn is_class(d: &mut dyn Declarations, ty: &Type) -> bool {
    matches!(ty, Type::Nominal(id, _) if d.nominal(*id).kind == NominalKind::Class)
}
