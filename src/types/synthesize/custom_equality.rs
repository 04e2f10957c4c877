//! Custom equality: determines the types with a custom `==`, and synthesizes equality and hashing of types that contain
//! them.

use crate::syntax::ast::NominalKind;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::conform::witness;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::nominal::stored_property;
use std::fmt::Write;

/// Whether values of a type are equal exactly if all their parts are equal, so that the machine can compare them.
pub(crate) fn is_equal_by_parts(cx: &mut TypeContext, ty: &Type) -> bool {
    equal_by_parts(cx, ty, &mut vec![])
}

fn equal_by_parts(cx: &mut TypeContext, ty: &Type, ancestors: &mut Vec<NominalId>) -> bool {
    match unification::resolved(cx, ty) {
        Type::Nominal(n, args) if cx.defs.nominal_data(n).builtin.is_some() => {
            args.iter().all(|arg| equal_by_parts(cx, arg, ancestors))
        }
        Type::Nominal(n, args) => {
            if ancestors.contains(&n) {
                return true;
            }
            if conformances::declares(cx, n, "Equatable").is_some() && writes_equality(cx, n, &args) {
                return false;
            }
            // A class inherits the equality of its superclass.
            if let Some(base) = superclass::base_type(cx, n, &args)
                && !equal_by_parts(cx, &base, ancestors)
            {
                return false;
            }
            ancestors.push(n);
            let parts = equal_parts(cx, n);
            let holds = parts.iter().all(|part| {
                let part = conformances::substitute_nominal(cx, n, &args, part);
                equal_by_parts(cx, &part, ancestors)
            });
            ancestors.pop();
            holds
        }
        Type::Tuple(parts) => parts.iter().all(|(_, part)| equal_by_parts(cx, part, ancestors)),
        Type::Param(_) | Type::Associated(..) | Type::Opaque(..) => false,
        _ => true,
    }
}

/// Returns the types of the parts of a type that `==` compares; none for a class, whose instances are compared by
/// identity.
fn equal_parts(cx: &mut TypeContext, n: NominalId) -> Vec<Type> {
    if cx.defs.nominal_data(n).kind == NominalKind::Class {
        return vec![];
    }
    let stored = cx.defs.nominal_data(n).stored.len() as u32;
    let mut parts: Vec<Type> = (0..stored).map(|i| stored_property::stored_type(cx, n, i)).collect();
    for case in 0..cx.defs.nominal_data(n).cases.len() as u32 {
        parts.extend(stored_property::case_payload(cx, n, case).into_iter().map(|(_, ty)| ty));
    }
    parts
}

/// Whether a type has a custom `==`.
fn writes_equality(cx: &mut TypeContext, n: NominalId, args: &std::rc::Rc<[Type]>) -> bool {
    let equatable = name_lookup::protocol(cx, "Equatable");
    let own = Type::Nominal(n, args.clone());
    let Some(FunctionRef { function, .. }) = witness::find_witness(cx, equatable, 0, &own, &[]) else { return false };
    match cx.defs.function_data(function).owner {
        Owner::Nominal(_) => !cx.defs.nominal_data(n).memo.synthesized.contains(&"=="),
        _ => true,
    }
}

/// Returns the source of `==` for an enum, case by case.
pub(crate) fn equality_of_cases(cx: &mut TypeContext, n: NominalId) -> String {
    let mut text = String::from("static func == (lhs: Self, rhs: Self) -> Bool {\n    switch (lhs, rhs) {\n");
    for (name, count) in case_sizes(cx, n) {
        let tests: Vec<String> = (0..count).map(|k| format!("a{k} == b{k}")).collect();
        let tests = if tests.is_empty() { "true".to_string() } else { tests.join(" && ") };
        let _ = writeln!(text, "    case (.{name}{}, .{name}{}): return {tests}", bind("a", count), bind("b", count));
    }
    if cx.defs.nominal_data(n).cases.len() > 1 {
        text.push_str("    default: return false\n");
    }
    text.push_str("    }\n}\n");
    text
}

/// Returns the source of `hash(into:)` for a type with parts that have a custom equality; `None` for all other types,
/// whose parts the machine hashes.
pub(crate) fn hash_of_parts(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let own = cx.defs.declared_type(n);
    let kind = cx.defs.nominal_data(n).kind;
    if kind == NominalKind::Class || is_equal_by_parts(cx, &own) || writes_equality_of(cx, &own) {
        return None;
    }
    let mut text = String::from("func hash(into hasher: inout Hasher) {\n");
    if kind == NominalKind::Enum {
        text.push_str("    switch self {\n");
        for (place, (name, count)) in case_sizes(cx, n).into_iter().enumerate() {
            let _ = write!(text, "    case .{name}{}: hasher.combine({place})", bind("a", count));
            for k in 0..count {
                let _ = write!(text, "; hasher.combine(a{k})");
            }
            text.push('\n');
        }
        text.push_str("    }\n");
    } else {
        for stored in &cx.defs.nominal_data(n).stored {
            let _ = writeln!(text, "    hasher.combine(self.{})", stored.name);
        }
    }
    text.push_str("}\n");
    Some(text)
}

fn writes_equality_of(cx: &mut TypeContext, own: &Type) -> bool {
    matches!(own, Type::Nominal(n, args) if writes_equality(cx, *n, args))
}

/// Returns the cases of an enum, each with the number of values in its payload.
fn case_sizes(cx: &mut TypeContext, n: NominalId) -> Vec<(String, usize)> {
    let count = cx.defs.nominal_data(n).cases.len() as u32;
    (0..count)
        .map(|case| {
            let size = stored_property::case_payload(cx, n, case).len();
            (cx.defs.nominal_data(n).cases[case as usize].name.to_string(), size)
        })
        .collect()
}

/// Returns the function that replaces a primitive for keys with a custom equality.
pub(crate) fn by_own_equality(cx: &mut TypeContext, primitive: &str, of: &Type) -> Option<FunctionId> {
    let name = match primitive {
        "dictionary.get" => "_getByOwn",
        "dictionary.set" => "_setByOwn",
        "dictionary.take" => "_takeByOwn",
        "dictionary.find" => "_findByOwn",
        "set.find" => "_findByOwnIn",
        "set.contains" => "_containsByOwn",
        "set.insert" => "_insertByOwn",
        "set.remove" => "_removeByOwn",
        "value.hash" => "_hashByOwn",
        _ => return None,
    };
    if is_equal_by_parts(cx, of) { None } else { prelude::library_function(cx, name) }
}

/// Formats the pattern `(let a0, let a1)` for a payload of `count` values.
fn bind(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|k| format!("let {name}{k}")).collect();
    if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) }
}
