//! Loads: lowering of reads of places.

use super::builder::{Builder, Value};
use super::effects::may_write;
use super::place::Location;
use crate::ir::graph::{Op, Reg};
use crate::ir::layout::cells;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Argument, Expr, ExprKind};
use crate::value::Bank;

impl Builder<'_> {
    /// Returns the place that an expression reads, so that only the needed components of the value are loaded.
    pub fn location(&mut self, e: &Expr) -> Location {
        match &e.kind {
            ExprKind::Local(local) => self.local_location(*local),
            ExprKind::Global(global) => self.global(*global),
            ExprKind::Field { base, index } | ExprKind::Element { base, index } => {
                let at = self.location(base);
                self.field_location(at, &base.ty, *index as usize)
            }
            ExprKind::Upcast(base) | ExprKind::Super(base) => self.location(base),
            ExprKind::Call { callee, args } => {
                let get = self.resolve(callee);
                match (get, args.as_slice()) {
                    (Some(get), [Argument::Value(array), Argument::Value(index)])
                        if self.is_primitive_target(&get, "array.get") =>
                    {
                        let mut at = self.location(array);
                        if may_write(index) {
                            let whole = self.load(&at);
                            at = Location::Registers(self.keep(whole));
                        }
                        let index = self.expr(index);
                        self.element_location(at, index[0], &e.ty)
                    }
                    _ => Location::Registers(self.expr_value(e)),
                }
            }
            _ => Location::Registers(self.expr_value(e)),
        }
    }

    /// Loads the value of a place. Registers of variables are returned without a copy.
    pub fn load(&mut self, at: &Location) -> Value {
        match at {
            Location::Registers(regs) => regs.clone(),
            Location::Box { object, cells, .. } => {
                self.note_access(at);
                self.each(cells, &[*object], |bank, index| Op::LoadBox { bank, index: index as u16 })
            }
            Location::Global { cells, .. } => {
                self.note_access(at);
                self.each(cells, &[], |bank, index| Op::LoadGlobal { bank, index })
            }
            Location::Element { array, index, stride, cells } => {
                let array = self.load(array);
                let stride = *stride;
                if cells.is_empty() {
                    self.emit(Op::CheckIndex, &[], &[array[0], *index]);
                }
                let op = |bank, offset| Op::LoadElement { bank, offset: offset as u16, stride };
                self.each(cells, &[array[0], *index], op)
            }
            Location::Record { record, cells } => {
                let record = self.load(record);
                self.each(cells, &[record[0]], |bank, index| Op::LoadRecord { bank, index: index as u16 })
            }
            Location::Accessor(accessor) if accessor.found.is_some() => accessor.found.clone().unwrap_or_default(),
            Location::Accessor(accessor) if self.getter_mutates(accessor) => {
                self.check(&accessor.base);
                let base = self.open(&accessor.base);
                let value = self.get(accessor, base.regs.clone());
                self.close(base);
                value
            }
            Location::Accessor(accessor) => {
                let base = self.load(&accessor.base);
                self.get(accessor, base)
            }
            Location::Part { whole, range } => self.load(whole)[range.clone()].to_vec(),
            Location::Unwrapped { optional, range } => {
                self.demand_value(optional);
                let payload = self.part((**optional).clone(), range.clone());
                self.load(&payload)
            }
            Location::Cut { inner, .. } => self.load(inner),
            Location::OpaqueProperty(opaque_property) => {
                let (vector, value) = (self.load(&opaque_property.vector), self.load(&opaque_property.value));
                self.read_opaque_property(&opaque_property.property, vector, value)
            }
            Location::OmittedProperty(omitted) => {
                let (owner, value) = (self.load(&omitted.owner), self.load(&omitted.value));
                self.read_opaque_property(&omitted.property, owner, value)
            }
            Location::Weak { inner, ownership } => {
                let value = self.load(inner);
                self.found(value, *ownership)
            }
            Location::Discard => vec![],
        }
    }

    /// Loads the contents of a box.
    pub fn load_box(&mut self, object: Reg, ty: &Type) -> Value {
        let banks = self.banks(ty);
        self.load(&Location::Box { object, cells: cells(&banks), stored: None })
    }

    fn each(&mut self, cells: &[(Bank, u32)], ins: &[Reg], op: impl Fn(Bank, u32) -> Op) -> Value {
        cells.iter().map(|(bank, index)| self.value(op(*bank, *index), *bank, ins)).collect()
    }
}
