//! Coding: the synthesized members of types that are `Encodable` or `Decodable`, and of keys.
//!
//! In: the stored properties of a struct or class, the cases of an enum. Out: `encode(to:)` and `init(from:)` as source
//! code. The keys are the names of the properties, or the cases of a nested enum `CodingKeys`.

use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::declare::synthesized_declarations;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::nominal::stored_property;
use std::fmt::Write;

/// Synthesizes a member of the given name that a conformance to `Encodable`, `Decodable` or `CodingKey` requires and
/// that the type does not declare.
pub(super) fn synthesize_coding(cx: &mut TypeContext, n: NominalId, name: &str, is_static: bool) {
    match (name, is_static) {
        ("encode", false) => synthesize_member(cx, n, name, "encode", "Encodable", "to"),
        ("init", true) => {
            synthesize_member(cx, n, name, "init(from:)", "Decodable", "from");
            synthesize_member(cx, n, name, "init(stringValue:)", "CodingKey", "stringValue");
        }
        ("stringValue", false) => synthesize_member(cx, n, name, "stringValue", "CodingKey", ""),
        _ => {}
    }
}

fn synthesize_member(
    cx: &mut TypeContext,
    n: NominalId,
    name: &str,
    key: &'static str,
    protocol: &'static str,
    label: &str,
) {
    let data = cx.defs.nominal_data(n);
    if data.builtin.is_some() || data.memo.synthesized.contains(&key) {
        return;
    }
    conformances::enter_conformances(cx, n);
    // No type conforms to a protocol that was not entered; the protocol is not entered for this check.
    if !cx.defs.library.contains_key(protocol) {
        return;
    }
    let Some(conformance) = conformances::declares(cx, n, protocol) else { return };
    if is_declared(cx, n, name, label) {
        return;
    }
    cx.defs.nominal_data_mut(n).memo.synthesized.push(key);
    let (group, place) = conformances::declaration_site(cx, n, conformance);
    let env = generic_env::group_env(cx, group);
    let text = type_context::with_env(cx, env, |cx| match key {
        "encode" => encode_text(cx, n),
        "stringValue" => key_text(cx, n),
        "init(stringValue:)" => key_init_text(cx, n),
        _ => decode_text(cx, n),
    });
    if let Some(text) = text {
        synthesized_declarations::declare_synthesized(cx, &text, group, place);
    }
}

/// Whether a type declares the member itself; methods and initializers are recognized by the label of their parameter.
pub(crate) fn is_declared(cx: &mut TypeContext, n: NominalId, name: &str, label: &str) -> bool {
    prelude::load_own_members(cx, n, name);
    let written = cx.defs.nominal_data(n).members.get(name).cloned().unwrap_or_default();
    written.iter().any(|member| match member.kind {
        MemberKind::Method(f) | MemberKind::Init(f) => {
            let signature = signature::signature(cx, f);
            matches!(signature.params.as_slice(), [only] if only.label.as_deref() == Some(label))
        }
        _ => true,
    })
}

/// An encoded value: a stored property, or a component of the payload of a case.
struct Coded {
    /// The name of the value.
    name: Name,
    /// The source text of the value's key.
    key: String,
    ty: Type,
    /// Whether the value is a constant with an initial value, which is not decoded.
    is_fixed: bool,
}

/// Returns the stored properties that are encoded; `None` if a property has neither a key nor an initial value, so that
/// it cannot be decoded.
fn coded_properties(cx: &mut TypeContext, n: NominalId) -> (Vec<Coded>, bool) {
    let keys = coding_keys(cx, n);
    let (mut coded, mut all_have_values) = (vec![], true);
    for i in 0..cx.defs.nominal_data(n).stored.len() as u32 {
        let ty = stored_property::stored_type(cx, n, i);
        let is_optional = name_lookup::is_optional(cx, &ty);
        let stored = &cx.defs.nominal_data(n).stored[i as usize];
        let own = stored.lazy.as_ref().map(|(name, _)| name).or(stored.wrapped.as_ref().map(|w| &w.name));
        if own.is_some() {
            // The value of a lazy or wrapped property is not a part of the data.
            continue;
        }
        let name = stored.name.clone();
        let has_value = stored.value.is_some() || is_optional && !stored.is_let;
        let key = match &keys {
            Some(keys) if keys.contains(&name) => format!("CodingKeys.`{name}`.stringValue"),
            Some(_) => {
                all_have_values &= has_value;
                continue;
            }
            None => format!("\"{name}\""),
        };
        let is_fixed = stored.is_let && stored.value.is_some();
        coded.push(Coded { name, key, ty, is_fixed });
    }
    (coded, all_have_values)
}

/// Returns the names of the cases of the nested enum `CodingKeys`, if the type declares one.
fn coding_keys(cx: &mut TypeContext, n: NominalId) -> Option<Vec<Name>> {
    let Type::Nominal(n, args) = cx.defs.declared_type(n) else { return None };
    let Type::Nominal(keys, _) = name_lookup::own_member_type(cx, n, &args, "CodingKeys")? else { return None };
    let data = cx.defs.nominal_data(keys);
    (data.kind == NominalKind::Enum).then(|| data.cases.iter().map(|case| case.name.clone()).collect())
}

/// Whether all values conform to a protocol.
fn all_conform(cx: &mut TypeContext, coded: &[Coded], protocol: &'static str) -> bool {
    let protocol = name_lookup::protocol(cx, protocol);
    coded.iter().all(|value| conformances::conforms_to(cx, &value.ty, protocol))
}

/// Whether the superclass of a class conforms to a protocol, so that the class inherits or overrides the member.
fn base_conforming(cx: &mut TypeContext, n: NominalId, protocol: &'static str) -> bool {
    let Some((base, args)) = superclass::superclass(cx, n) else { return false };
    let protocol = name_lookup::protocol(cx, protocol);
    conformances::conforms_to(cx, &Type::Nominal(base, args), protocol)
}

/// Returns the source of `encode(to:)`.
fn encode_text(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let mut text = String::from("func encode(to encoder: any Encoder) throws {\n");
    if cx.defs.nominal_data(n).kind == NominalKind::Enum {
        if cx.defs.nominal_data(n).raw_type.is_some() {
            return Some(text + "    try self.rawValue.encode(to: encoder)\n}\n");
        }
        text.push_str("    let container = encoder._keyed()\n    switch self {\n");
        for (name, payload) in payloads(cx, n) {
            if !all_conform(cx, &payload, "Encodable") {
                return None;
            }
            let values: Vec<String> = (0..payload.len()).map(|k| format!("let a{k}")).collect();
            let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
            let _ = writeln!(text, "    case .`{name}`{values}:\n        let payload = container._nested(\"{name}\")");
            for (k, value) in payload.iter().enumerate() {
                let _ = writeln!(text, "        try payload.{}(a{k}, {})", encoder_of(cx, value), value.key);
            }
            text.push_str("        _ = payload\n");
        }
        text.push_str("    }\n}\n");
        return Some(text);
    }
    let (coded, _) = coded_properties(cx, n);
    if base_conforming(cx, n, "Encodable") || !all_conform(cx, &coded, "Encodable") {
        return None;
    }
    text.push_str("    let container = encoder._keyed()\n");
    for value in &coded {
        let _ = writeln!(text, "    try container.{}(self.`{}`, {})", encoder_of(cx, value), value.name, value.key);
    }
    text.push_str("    _ = container\n}\n");
    Some(text)
}

/// Returns the source of `init(from:)`.
fn decode_text(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let data = cx.defs.nominal_data(n);
    let (kind, type_name) = (data.kind, data.name.clone());
    let modifier = if kind == NominalKind::Class { "required " } else { "" };
    let mut text = format!("{modifier}init(from decoder: any Decoder) throws {{\n");
    if kind == NominalKind::Enum {
        if data.raw_type.is_some() {
            let _ = write!(
                text,
                "    let value = try RawValue(from: decoder)
    guard let found = Self(rawValue: value) else {{ throw decoder._noCase(_describe(value), \"{type_name}\") }}
    self = found
}}
"
            );
            return Some(text);
        }
        let cases = payloads(cx, n);
        let names: Vec<String> = cases.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let _ = writeln!(
            text,
            "    let container = try decoder._keyed()\n    switch try container._case([{}], \"{type_name}\") {{",
            names.join(", ")
        );
        for (name, payload) in cases {
            if !all_conform(cx, &payload, "Decodable") {
                return None;
            }
            let mut values = vec![];
            for value in &payload {
                let label = if value.name.starts_with('_') { String::new() } else { format!("{}: ", value.name) };
                values.push(format!("{label}try payload.{}({})", decoder_of(cx, value), value.key));
            }
            let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
            let _ = writeln!(
                text,
                "    case \"{name}\":\n        let payload = try container._nested(\"{name}\")\n        _ = payload\n        self = .`{name}`{values}"
            );
        }
        let _ = writeln!(text, "    default: throw decoder._noCase(\"\", \"{type_name}\")\n    }}\n}}");
        return Some(text);
    }
    let (coded, all_have_values) = coded_properties(cx, n);
    if base_conforming(cx, n, "Decodable") || !all_have_values || !all_conform(cx, &coded, "Decodable") {
        return None;
    }
    text.push_str("    let container = try decoder._keyed()\n");
    for value in coded.iter().filter(|value| !value.is_fixed) {
        let _ = writeln!(text, "    self.`{}` = try container.{}({})", value.name, decoder_of(cx, value), value.key);
    }
    text.push_str(if superclass::superclass(cx, n).is_some() { "    super.init()\n" } else { "" });
    text.push_str("    _ = container\n}\n");
    Some(text)
}

/// Returns the source of `stringValue` for an enum of keys without raw values.
fn key_text(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let data = cx.defs.nominal_data(n);
    if data.kind != NominalKind::Enum || data.raw_type.is_some() {
        return None;
    }
    let mut text = String::from("var stringValue: String {\n    switch self {\n");
    for case in &data.cases {
        let _ = writeln!(text, "    case .`{name}`: return \"{name}\"", name = case.name);
    }
    Some(text + "    }\n}\n")
}

/// Returns the source of `init(stringValue:)` of a key.
fn key_init_text(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let data = cx.defs.nominal_data(n);
    if data.kind != NominalKind::Enum || data.raw_type.is_some() {
        return None;
    }
    let mut text = String::from("init?(stringValue: String) {\n    switch stringValue {\n");
    for case in &data.cases {
        let _ = writeln!(text, "    case \"{name}\": self = .`{name}`", name = case.name);
    }
    Some(text + "    default: return nil\n    }\n}\n")
}

/// Returns the cases of an enum with the values in their payloads, with their labels or `_0`, `_1` … as keys.
fn payloads(cx: &mut TypeContext, n: NominalId) -> Vec<(Name, Vec<Coded>)> {
    let count = cx.defs.nominal_data(n).cases.len() as u32;
    let mut out = vec![];
    for case in 0..count {
        let mut values = vec![];
        for (k, (label, ty)) in stored_property::case_payload(cx, n, case).into_iter().enumerate() {
            let name = label.unwrap_or_else(|| format!("_{k}").into());
            values.push(Coded { key: format!("\"{name}\""), name, ty, is_fixed: false });
        }
        out.push((cx.defs.nominal_data(n).cases[case as usize].name.clone(), values));
    }
    out
}

fn encoder_of(cx: &mut TypeContext, value: &Coded) -> &'static str {
    if name_lookup::is_optional(cx, &value.ty) { "_encodeIfPresent" } else { "_encode" }
}

fn decoder_of(cx: &mut TypeContext, value: &Coded) -> &'static str {
    if name_lookup::is_optional(cx, &value.ty) { "_decodeIfPresent" } else { "_decode" }
}
