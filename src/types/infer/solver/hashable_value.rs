//! Hashable values: the implicit conversion of a value to `AnyHashable`, and the value inside in a cast.

use crate::types::conform::conformances;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Whether a type is `AnyHashable` of the library.
    pub(crate) fn is_any_hashable(&self, ty: &Type) -> bool {
        let Type::Nominal(n, _) = ty else { return false };
        let data = self.cx.defs.nominal_data(*n);
        data.is_prelude && &*data.name == "AnyHashable"
    }

    /// Whether a value of a type is converted implicitly because an `AnyHashable` is expected.
    pub(super) fn can_become_hashable(&mut self, from: &Type, to: &Type) -> bool {
        if !self.is_any_hashable(to) || self.is_any_hashable(from) || matches!(from, Type::Var(_)) {
            return false;
        }
        let hashable = name_lookup::protocol(self.cx, "Hashable");
        conformances::conforms_to(self.cx, from, hashable)
    }

    /// Converts a value to `AnyHashable`.
    pub(super) fn hashable_value(&mut self, value: Expr) -> Expr {
        let (from, span) = (value.ty.clone(), value.span);
        let to = name_lookup::simple(self.cx, "AnyHashable");
        self.library_call("_hashableValue", vec![from], vec![value], to, span)
    }

    /// Returns the value inside an `AnyHashable` that is cast or matched; other values are returned unchanged.
    pub(crate) fn inside_hashable(&mut self, value: Expr) -> Expr {
        if !self.is_any_hashable(&value.ty) {
            return value;
        }
        let (span, any) = (value.span, Type::Existential(Rc::default()));
        self.library_call("_valueInside", vec![], vec![value], any, span)
    }
}
