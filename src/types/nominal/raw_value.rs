//! Raw values: determines the values of an enum's cases, explicit or implicit.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Expr, ExprKind, StringPart};
use crate::types::conform::conformances;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::display;
use crate::types::model::syntax_query::{characters, fits};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use hashbrown::{HashMap, HashSet};

/// The raw value of a case, as a literal.
#[derive(Clone, PartialEq, Debug)]
enum RawValue {
    Int(i128),
    Float(f64),
    Text(String),
}

/// A hash key for raw values. Large integers with a small difference may share a key.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(u64),
    Text(String),
}

/// The kind of a literal that can be a raw value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LiteralKind {
    Int,
    Float,
    Text,
}

impl RawValue {
    /// Whether two literals denote equal values, as `1` and `1.0` do.
    fn equals(&self, other: &RawValue) -> bool {
        match (self, other) {
            (RawValue::Int(n), RawValue::Float(x)) | (RawValue::Float(x), RawValue::Int(n)) => *n as f64 == *x,
            _ => self == other,
        }
    }

    /// Returns a hash key; equal raw values have equal keys.
    fn key(&self) -> Key {
        match self {
            RawValue::Int(n) => Key::Number((*n as f64).to_bits()),
            // Zero is equal to minus zero.
            RawValue::Float(x) => Key::Number((x + 0.0).to_bits()),
            RawValue::Text(text) => Key::Text(text.clone()),
        }
    }

    /// Returns the raw value that a literal denotes, which may have a minus sign.
    fn of(literal: &Expr) -> Option<RawValue> {
        match &literal.kind {
            ExprKind::Int(Some(value)) => i128::try_from(*value).ok().map(RawValue::Int),
            ExprKind::Float(value) => Some(RawValue::Float(*value)),
            ExprKind::String(parts) => match parts.as_slice() {
                [] => Some(RawValue::Text(String::new())),
                [StringPart::Text(text)] => Some(RawValue::Text(text.to_string())),
                _ => None,
            },
            ExprKind::Paren(inner) => RawValue::of(inner),
            ExprKind::Prefix { op, operand } if &*op.name == "-" => match RawValue::of(operand)? {
                RawValue::Int(value) => value.checked_neg().map(RawValue::Int),
                RawValue::Float(value) => Some(RawValue::Float(-value)),
                RawValue::Text(_) => None,
            },
            _ => None,
        }
    }

    /// Formats the raw value as a literal of the language.
    fn source(&self) -> String {
        match self {
            RawValue::Int(value) => value.to_string(),
            RawValue::Float(value) => format!("{value:?}"),
            RawValue::Text(text) => {
                let mut out = String::from("\"");
                for c in text.chars() {
                    match c {
                        '"' | '\\' => out.extend(['\\', c]),
                        c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
                        c => out.push(c),
                    }
                }
                out.push('"');
                out
            }
        }
    }
}

/// Returns the source of `rawValue` for an enum with raw values.
pub(crate) fn raw_value_text(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let (values, _) = raw_values(cx, n)?;
    let mut text = String::from("var rawValue: RawValue {\n    switch self {\n");
    for (case, value) in cx.defs.nominal_data(n).cases.iter().zip(&values) {
        text.push_str(&format!("    case .{}: return {}\n", case.name, value.source()));
    }
    text.push_str("    }\n}\n");
    Some(text)
}

/// Returns the source of `init?(rawValue:)` for an enum with raw values.
pub(crate) fn raw_init_text(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let (values, _) = raw_values(cx, n)?;
    let mut text = String::from("init?(rawValue: RawValue) {\n    switch rawValue {\n");
    let mut seen: HashSet<String> = HashSet::new();
    for (case, value) in cx.defs.nominal_data(n).cases.iter().zip(&values) {
        let literal = value.source();
        if !seen.contains(&literal) {
            text.push_str(&format!("    case {literal}: self = .{}\n", case.name));
            seen.insert(literal);
        }
    }
    text.push_str("    default: return nil\n    }\n}\n");
    Some(text)
}

/// Checks that an enum with raw values has a raw type, and that its raw values are distinct literals of this type.
pub(crate) fn check_raw_values(cx: &mut TypeContext, n: NominalId) {
    if cx.defs.nominal_data(n).raw_type.is_some() {
        if check_raw_type(cx, n) {
            let Some((values, problems)) = raw_values(cx, n) else { return };
            problems.into_iter().for_each(|problem| cx.sink.report(problem));
            check_literals(cx, n, &values);
        }
        return;
    }
    let spans: Vec<_> = cx.defs.nominal_data(n).cases.iter().filter_map(|c| c.raw.as_ref().map(|r| r.span)).collect();
    for span in spans {
        let message = "enum case cannot have a raw value if the enum does not have a raw type";
        let help = format!("declare a raw type, as in 'enum {}: Int'", cx.defs.nominal_data(n).name);
        cx.sink.report(Diagnostic::error(Code::Types, span, message).help(help));
    }
}

/// Checks that every raw value fits the raw type of the enum.
fn check_literals(cx: &mut TypeContext, n: NominalId, values: &[RawValue]) {
    let Some(raw_type) = cx.defs.nominal_data(n).raw_type.clone() else { return };
    let kinds = literal_kinds(cx, &raw_type);
    for (i, value) in values.iter().enumerate() {
        let case = &cx.defs.nominal_data(n).cases[i];
        let is_known = match &case.raw {
            Some(literal) => RawValue::of(literal).is_some(),
            None => matches!(value, RawValue::Int(_)) && kinds.contains(&LiteralKind::Int),
        };
        let span = written_span(case.raw.as_deref(), case.span);
        if let Some(message) = unfit(cx, value, &raw_type, &kinds).filter(|_| is_known) {
            cx.sink.report(Diagnostic::error(Code::Mismatch, span, message));
        }
    }
}

/// Checks that the raw type is expressible by a literal and that the enum has cases.
fn check_raw_type(cx: &mut TypeContext, n: NominalId) -> bool {
    let Some(raw) = cx.defs.nominal_data(n).raw_type.clone().filter(|raw| *raw != Type::Error) else { return false };
    let (group, span) = (cx.defs.nominal_data(n).group, cx.defs.nominal_data(n).span);
    let at = cx.defs.groups[group.0 as usize].inherits.first().map_or(span, |ty| ty.span);
    if literal_kinds(cx, &raw).is_empty() {
        let text = display::show(cx, &raw);
        let message = format!("raw type '{text}' is not expressible by a string, integer, or floating-point literal");
        let help = "a raw type must be 'Int', 'String', 'Double', 'Character' or a similar type";
        cx.sink.report(Diagnostic::error(Code::Types, at, message).help(help));
        return false;
    }
    if cx.defs.nominal_data(n).cases.is_empty() {
        let message = "an enum with no cases cannot declare a raw type";
        cx.sink.report(Diagnostic::error(Code::Types, at, message));
        return false;
    }
    true
}

/// Returns the kinds of literals by which a type is expressible.
fn literal_kinds(cx: &mut TypeContext, ty: &Type) -> Vec<LiteralKind> {
    let kinds = [
        ("ExpressibleByIntegerLiteral", LiteralKind::Int),
        ("ExpressibleByFloatLiteral", LiteralKind::Float),
        ("ExpressibleByStringLiteral", LiteralKind::Text),
    ];
    let made = kinds.into_iter().filter(|(name, _)| {
        let protocol = name_lookup::protocol(cx, name);
        conformances::conforms_to(cx, ty, protocol)
    });
    made.map(|(_, kind)| kind).collect()
}

/// Returns the reason why a literal cannot be a value of the raw type.
fn unfit(cx: &mut TypeContext, value: &RawValue, raw_type: &Type, kinds: &[LiteralKind]) -> Option<String> {
    let builtin = match raw_type {
        Type::Nominal(n, _) => cx.defs.nominal_data(*n).builtin,
        _ => None,
    };
    let (kind, name) = match value {
        RawValue::Int(_) => (LiteralKind::Int, "Int"),
        RawValue::Float(_) => (LiteralKind::Float, "Double"),
        RawValue::Text(_) => (LiteralKind::Text, "String"),
    };
    match (value, builtin) {
        (RawValue::Int(n), Some(Builtin::Int { bits, signed })) if !fits(*n, bits, signed) => {
            Some(format!("integer literal '{n}' overflows when stored into '{}'", display::show(cx, raw_type)))
        }
        (RawValue::Text(text), Some(Builtin::Character)) if characters(text) != 1 => {
            Some(format!("cannot convert value of type 'String' to raw type '{}'", display::show(cx, raw_type)))
        }
        _ if kinds.contains(&kind) => None,
        _ => Some(format!("cannot convert value of type '{name}' to raw type '{}'", display::show(cx, raw_type))),
    }
}

/// Returns the raw value of each case, and diagnostics for the invalid raw values.
fn raw_values(cx: &mut TypeContext, n: NominalId) -> Option<(Vec<RawValue>, Vec<Diagnostic>)> {
    let raw_type = cx.defs.nominal_data(n).raw_type.clone()?;
    let (text, character) = (name_lookup::library_nominal(cx, "String"), name_lookup::library_nominal(cx, "Character"));
    let is_text = raw_type == cx.defs.declared_type(text);
    let is_named = is_text || raw_type == cx.defs.declared_type(character);
    let (mut values, mut problems): (Vec<RawValue>, Vec<Diagnostic>) = (vec![], vec![]);
    let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
    for case in &cx.defs.nominal_data(n).cases {
        if case.has_payload {
            let message = "enum with raw type cannot have cases with arguments";
            problems.push(Diagnostic::error(Code::Types, case.span, message));
        }
        let written = case.raw.as_ref().map(|literal| (RawValue::of(literal), literal.span));
        let value = match (written, values.last()) {
            (Some((Some(value), _)), _) => value,
            (Some((None, span)), _) => {
                problems.push(Diagnostic::error(Code::Types, span, "raw value for enum case must be a literal"));
                RawValue::Int(values.len() as i128)
            }
            (None, _) if is_text => RawValue::Text(case.name.to_string()),
            (None, Some(RawValue::Int(before))) if !is_named => RawValue::Int(before + 1),
            (None, None) if !is_named => RawValue::Int(0),
            (None, before) => {
                let after = before.is_some() && !is_named;
                let message = if after {
                    "enum case must declare a raw value when the preceding raw value is not an integer"
                } else {
                    "enum case must declare a raw value"
                };
                problems.push(Diagnostic::error(Code::Types, case.span, message));
                RawValue::Int(values.len() as i128)
            }
        };
        let alike = by_key.entry(value.key()).or_default();
        if let Some(first) = alike.iter().copied().find(|k| values[*k].equals(&value)) {
            let span = written_span(case.raw.as_deref(), case.span);
            let other = &cx.defs.nominal_data(n).cases[first];
            let diagnostic = Diagnostic::error(Code::Types, span, "raw value for enum case is not unique");
            problems.push(diagnostic.note_at(other.span, format!("'{}' has the same raw value", other.name)));
        }
        alike.push(values.len());
        values.push(value);
    }
    Some((values, problems))
}

fn written_span(literal: Option<&Expr>, case: crate::source::Span) -> crate::source::Span {
    literal.map_or(case, |literal| literal.span)
}
