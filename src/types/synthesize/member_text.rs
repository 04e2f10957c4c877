//! Member text: the source code of synthesized members, which is entered like an extension of the type.

use super::{TangentProperty, in_the_way, moves_in_place, tangent_properties};
use super::{
    componentwise, custom_equality, custom_tangent, declared_member, enum_tangent, key_paths, pointwise_vector,
    subclass_tangent,
};
use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::nominal::initializers;
use crate::types::nominal::raw_value;
use std::fmt::Write;
use std::rc::Rc;

/// Returns the text of a member that a type does not declare, if it can be synthesized.
pub(super) fn synthesized_text(cx: &mut TypeContext, n: NominalId, key: &str) -> Option<String> {
    let kind = cx.defs.nominal_data(n).kind;
    if cx.defs.nominal_data(n).builtin.is_some() {
        return None;
    }
    match key {
        "move" => move_text(cx, n, kind),
        // `zero` of a number type is the literal 0.
        "zero" if is_made_from_integers(cx, n) => None,
        "zero" | "+" | "-" | "_mapped" | "_combined" | "scaled" if kind == NominalKind::Struct => {
            vector_text(cx, n, key)
        }
        "one" if kind == NominalKind::Struct && conformances::declares(cx, n, "_PointwiseVector").is_some() => {
            vector_text(cx, n, key)
        }
        "differentiableVectorView" if kind != NominalKind::Enum => pointwise_vector::vector_view(cx, n),
        "allKeyPaths" if kind != NominalKind::Enum => Some(key_paths::all_key_paths(cx, n)),
        "recursivelyAllKeyPaths" if kind != NominalKind::Enum => Some(key_paths::nested_key_paths(cx, n)),
        "==" => equality_text(cx, n, kind),
        "hash" => custom_equality::hash_of_parts(cx, n),
        "init" if kind == NominalKind::Class => initializers::inherited_initializers(cx, n),
        "rawValue" if kind == NominalKind::Enum => raw_value::raw_value_text(cx, n),
        "init" if kind == NominalKind::Enum => raw_value::raw_init_text(cx, n),
        "<" if kind == NominalKind::Enum && cx.defs.nominal_data(n).raw_type.is_none() => {
            Some("static func < (lhs: Self, rhs: Self) -> Bool { _less(lhs, rhs) }".to_string())
        }
        "allCases" if kind == NominalKind::Enum && cx.defs.nominal_data(n).cases.iter().all(|c| !c.has_payload) => {
            let cases = cx.defs.nominal_data(n).cases.iter().map(|c| format!(".{}", c.name)).collect::<Vec<_>>();
            Some(format!("static var allCases: [Self] {{ [{}] }}", cases.join(", ")))
        }
        _ => componentwise::member_text(cx, n, key),
    }
}

/// Returns the method that moves a value along a tangent vector, which moves the members.
fn move_text(cx: &mut TypeContext, n: NominalId, kind: NominalKind) -> Option<String> {
    let own = cx.defs.declared_type(n);
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let vector = Type::Associated(Rc::new(own.clone()), differentiable, "TangentVector".into());
    if associated_type::normalize_type(cx, &vector) == own {
        return None;
    }
    if declared_member::has_move_by(cx, n) {
        let text = "func move(along direction: TangentVector) { self.move(by: direction) }";
        return Some(if moves_in_place(cx, &own) { text.into() } else { format!("mutating {text}") });
    }
    if !custom_tangent::moves_by_members(cx, n, &own) {
        return None;
    }
    if kind == NominalKind::Enum {
        return Some(enum_tangent::move_of_enum(cx, n));
    }
    let mut varying = tangent_properties(cx, n, false);
    let inherited = subclass_tangent::move_of_base(cx, n, &mut varying);
    let mut text = String::from(if kind == NominalKind::Class { "func" } else { "mutating func" });
    text.push_str(" move(along direction: TangentVector) {\n");
    text.push_str(&inherited);
    for TangentProperty { name, place, .. } in varying {
        let _ = writeln!(text, "    self.{place}.move(along: direction.{name})");
    }
    text.push_str("}\n");
    Some(text)
}

/// Returns a member that treats a struct as a vector of its fields.
fn vector_text(cx: &mut TypeContext, n: NominalId, key: &str) -> Option<String> {
    let fields: Vec<Name> = cx.defs.nominal_data(n).stored.iter().map(|s| s.name.clone()).collect();
    let memberwise = |part: &dyn Fn(&Name) -> String| {
        let parts = fields.iter().map(|f| format!("{f}: {}", part(f))).collect::<Vec<_>>();
        format!("Self._memberwise({})", parts.join(", "))
    };
    Some(match key {
        "zero" | "one" => {
            let value = memberwise(&|_| format!(".{key}"));
            format!("static var {key}: Self {{ {value} }}")
        }
        "_mapped" => {
            let others = pointwise_vector::components_with_functions(cx, n);
            let mapped = memberwise(&|f| match others.contains(f) {
                true => format!("_mappedVector(self.{f}, operation)"),
                false => format!("self.{f}._mapped(operation)"),
            });
            format!("func _mapped(_ operation: _Pointwise) -> Self {{ {mapped} }}")
        }
        "_combined" => {
            let others = pointwise_vector::components_with_functions(cx, n);
            let combined = memberwise(&|f| match others.contains(f) {
                true => format!("_combinedVectors(self.{f}, operation, other.{f})"),
                false => format!("self.{f}._combined(operation, other.{f})"),
            });
            format!("func _combined(_ operation: _PointwisePair, _ other: Self) -> Self {{ {combined} }}")
        }
        "scaled" => {
            let by_scalar = componentwise::member_text(cx, n, key);
            let is_scalable = conformances::declares(cx, n, "Scalable").is_some()
                || conformances::declares(cx, n, "Differentiable").is_some();
            if !is_scalable {
                return by_scalar;
            }
            let scaled = memberwise(&|f| format!("self.{f}.scaled(by: factor)"));
            let text = format!("func scaled(by factor: Double) -> Self {{ {scaled} }}");
            // A method for scalars that are `Double`s is the same method.
            match by_scalar.filter(|_| !componentwise::has_double_scalars(cx, n)) {
                Some(by_scalar) => format!("{text}\n{by_scalar}\n"),
                None => text,
            }
        }
        operator => {
            let value = memberwise(&|f| format!("lhs.{f} {operator} rhs.{f}"));
            format!("static func {operator} (lhs: Self, rhs: Self) -> Self {{ {value} }}")
        }
    })
}

/// Returns the equality of structs and enums whose parts can be compared.
fn equality_text(cx: &mut TypeContext, n: NominalId, kind: NominalKind) -> Option<String> {
    if kind == NominalKind::Class || !in_the_way(cx, n, "Equatable").is_empty() {
        return None;
    }
    let own = cx.defs.declared_type(n);
    if kind == NominalKind::Enum && !custom_equality::is_equal_by_parts(cx, &own) {
        return Some(custom_equality::equality_of_cases(cx, n));
    }
    let fields = cx.defs.nominal_data(n).stored.iter().map(|s| format!("lhs.`{0}` == rhs.`{0}`", s.name));
    let fields: Vec<String> = fields.collect();
    let equal = match kind {
        NominalKind::Struct if !fields.is_empty() => fields.join(" && "),
        _ => "_equal(lhs, rhs)".to_string(),
    };
    Some(format!("static func == (lhs: Self, rhs: Self) -> Bool {{ {equal} }}"))
}

fn is_made_from_integers(cx: &mut TypeContext, n: NominalId) -> bool {
    let literal = name_lookup::protocol(cx, "ExpressibleByIntegerLiteral");
    conformances::find_conformance(cx, n, literal).is_some()
}
