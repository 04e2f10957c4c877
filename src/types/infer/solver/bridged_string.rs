//! Bridged strings: the conversion between `String` and `NSString` by `as`.

use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Converts a string to the other type of strings, if `as` states that type.
    pub(crate) fn bridged_string(&mut self, mut value: Expr, wanted: &Type) -> Expr {
        let mut from = unification::shallow(self.cx, &value.ty);
        if self.is_bridged_string(wanted) && matches!(from, Type::Var(_)) {
            // Literals and their concatenation are strings of Swift.
            from = name_lookup::simple(self.cx, "String");
            value = self.coerce(value, &from);
        }
        let function = match (self.library_name(&from), self.library_name(wanted)) {
            (Some("String"), Some("NSString")) => "_foundationString",
            (Some("NSString"), Some("String")) => "_swiftString",
            _ => return value,
        };
        let span = value.span;
        self.library_call(function, vec![], vec![value], wanted.clone(), span)
    }

    /// Whether a type is the string type of Foundation.
    pub(crate) fn is_bridged_string(&self, ty: &Type) -> bool {
        self.library_name(ty) == Some("NSString")
    }

    /// Returns the name of a type of the library that has no generic parameters.
    fn library_name(&self, ty: &Type) -> Option<&str> {
        let Type::Nominal(n, args) = ty else { return None };
        let data = self.cx.defs.nominal_data(*n);
        (data.is_prelude && args.is_empty()).then_some(&*data.name)
    }
}
