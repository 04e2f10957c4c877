//! Key paths: the lists of the key paths of a type that conforms to `KeyPathIterable`.

use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;

/// Returns the stored properties with their types. Functions are not listed: they have no parts, and cannot be compared.
fn properties(cx: &mut TypeContext, n: NominalId) -> Vec<(Name, Type)> {
    let mut properties = vec![];
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        let ty = stored_property::stored_type(cx, n, i as u32);
        let stored = &cx.defs.nominal_data(n).stored[i];
        if !matches!(ty, Type::Function(_)) && stored.lazy.is_none() {
            properties.push((stored.name.clone(), ty));
        }
    }
    properties
}

/// Returns the text of the property that lists the key paths to the stored properties.
pub(super) fn all_key_paths(cx: &mut TypeContext, n: NominalId) -> String {
    let paths: Vec<String> = properties(cx, n).iter().map(|(name, _)| format!("\\Self.{name}")).collect();
    format!("var allKeyPaths: [PartialKeyPath<Self>] {{ [{}] }}", paths.join(", "))
}

/// Returns the text of the property that lists the key paths to the stored properties and their parts.
pub(super) fn nested_key_paths(cx: &mut TypeContext, n: NominalId) -> String {
    let iterable = name_lookup::protocol(cx, "KeyPathIterable");
    let mut text = String::from("var recursivelyAllKeyPaths: [PartialKeyPath<Self>] {\n");
    text.push_str("    var paths: [PartialKeyPath<Self>] = []\n");
    for (name, ty) in properties(cx, n) {
        let addition = match conformances::conforms_to(cx, &ty, iterable) {
            true => format!("    paths += self._withNestedPaths(\\Self.{name})\n"),
            false => format!("    paths.append(\\Self.{name})\n"),
        };
        text.push_str(&addition);
    }
    text.push_str("    return paths\n}\n");
    text
}
