//! The raw values of an enum: those that are written, and those that follow from them.

use super::store::World;
use super::ty::NominalId;
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Expr, ExprKind, StringPart};

/// A raw value as it is known before anything is checked.
#[derive(Clone, PartialEq, Debug)]
enum Raw {
    Int(i128),
    Float(f64),
    Text(String),
}

impl Raw {
    /// A literal, perhaps with a minus sign.
    fn of(literal: &Expr) -> Option<Raw> {
        match &literal.kind {
            ExprKind::Int(Some(value)) => i128::try_from(*value).ok().map(Raw::Int),
            ExprKind::Float(value) => Some(Raw::Float(*value)),
            ExprKind::String(parts) => match parts.as_slice() {
                [] => Some(Raw::Text(String::new())),
                [StringPart::Text(text)] => Some(Raw::Text(text.to_string())),
                _ => None,
            },
            ExprKind::Paren(inner) => Raw::of(inner),
            ExprKind::Prefix { op, operand } if &*op.name == "-" => match Raw::of(operand)? {
                Raw::Int(value) => value.checked_neg().map(Raw::Int),
                Raw::Float(value) => Some(Raw::Float(-value)),
                Raw::Text(_) => None,
            },
            _ => None,
        }
    }

    /// As a literal of the language.
    fn source(&self) -> String {
        match self {
            Raw::Int(value) => value.to_string(),
            Raw::Float(value) => format!("{value:?}"),
            Raw::Text(text) => {
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

impl World {
    /// `rawValue` of an enum with raw values.
    pub(super) fn raw_value_text(&mut self, n: NominalId) -> Option<String> {
        let (values, problems) = self.raw_values(n)?;
        problems.into_iter().for_each(|problem| self.report(problem));
        let mut text = String::from("var rawValue: RawValue {\n    switch self {\n");
        for (case, value) in self.nominal_data(n).cases.iter().zip(&values) {
            text.push_str(&format!("    case .{}: return {}\n", case.name, value.source()));
        }
        text.push_str("    }\n}\n");
        Some(text)
    }

    /// `init?(rawValue:)` of an enum with raw values.
    pub(super) fn raw_init_text(&mut self, n: NominalId) -> Option<String> {
        let (values, _) = self.raw_values(n)?;
        let mut text = String::from("init?(rawValue: RawValue) {\n    switch rawValue {\n");
        let mut seen: Vec<&Raw> = vec![];
        for (case, value) in self.nominal_data(n).cases.iter().zip(&values) {
            if !seen.contains(&value) {
                text.push_str(&format!("    case {}: self = .{}\n", value.source(), case.name));
                seen.push(value);
            }
        }
        text.push_str("    default: return nil\n    }\n}\n");
        Some(text)
    }

    /// A raw value needs a raw type.
    pub(super) fn check_raw_values(&mut self, n: NominalId) {
        if self.nominal_data(n).raw_type.is_some() {
            return;
        }
        let spans: Vec<_> = self.nominal_data(n).cases.iter().filter_map(|c| c.raw.as_ref().map(|r| r.span)).collect();
        for span in spans {
            let message = "enum case cannot have a raw value if the enum does not have a raw type";
            let help = format!("name one: enum {}: Int", self.nominal_data(n).name);
            self.report(Diagnostic::error(Code::Types, span, message).help(help));
        }
    }

    /// One raw value for each case, and what is wrong with those that are written.
    fn raw_values(&mut self, n: NominalId) -> Option<(Vec<Raw>, Vec<Diagnostic>)> {
        let raw_type = self.nominal_data(n).raw_type.clone()?;
        let (text, character) = (self.library_nominal("String"), self.library_nominal("Character"));
        let is_text = raw_type == self.declared_type(text);
        let is_named = is_text || raw_type == self.declared_type(character);
        let (mut values, mut problems): (Vec<Raw>, Vec<Diagnostic>) = (vec![], vec![]);
        for case in &self.nominal_data(n).cases {
            if case.has_payload {
                let message = "enum with raw type cannot have cases with arguments";
                problems.push(Diagnostic::error(Code::Types, case.span, message));
            }
            let written = case.raw.as_ref().map(|literal| (Raw::of(literal), literal.span));
            let value = match (written, values.last()) {
                (Some((Some(value), _)), _) => value,
                (Some((None, span)), _) => {
                    problems.push(Diagnostic::error(Code::Types, span, "raw value for enum case must be a literal"));
                    Raw::Int(values.len() as i128)
                }
                (None, _) if is_text => Raw::Text(case.name.to_string()),
                (None, Some(Raw::Int(before))) if !is_named => Raw::Int(before + 1),
                (None, None) if !is_named => Raw::Int(0),
                (None, before) => {
                    let after = before.is_some() && !is_named;
                    let message = if after {
                        "enum case must declare a raw value when the preceding raw value is not an integer"
                    } else {
                        "enum case must declare a raw value"
                    };
                    problems.push(Diagnostic::error(Code::Types, case.span, message));
                    Raw::Int(values.len() as i128)
                }
            };
            if let Some(first) = values.iter().position(|v| *v == value) {
                let span = written_span(case.raw.as_deref(), case.span);
                let other = &self.nominal_data(n).cases[first];
                let diagnostic = Diagnostic::error(Code::Types, span, "raw value for enum case is not unique");
                problems.push(diagnostic.note_at(other.span, format!("'{}' has it, too", other.name)));
            }
            values.push(value);
        }
        Some((values, problems))
    }
}

fn written_span(literal: Option<&Expr>, case: crate::source::Span) -> crate::source::Span {
    literal.map_or(case, |literal| literal.span)
}
