//! Availability: reports uses of declarations marked `@available(*, unavailable)` or `@available(*, deprecated)`.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::syntax::ast::{AttributeArgs, Decl};
use crate::types::infer::Infer;

/// What `@available(*, …)` says about a declaration.
struct Restriction<'d> {
    severity: Severity,
    message: Option<&'d str>,
    renamed: Option<&'d str>,
}

impl Infer<'_> {
    /// Reports the use of a declaration that is unavailable or deprecated.
    pub(crate) fn check_availability(&mut self, decl: &Decl, name: &str, span: Span) {
        let Some(restriction) = restriction(decl) else { return };
        if self.is_unwritten() || self.is_inside_restricted(restriction.severity) {
            return;
        }
        let state = match restriction.severity {
            Severity::Error => "unavailable",
            Severity::Warning => "deprecated",
        };
        let text = match (restriction.message, restriction.renamed) {
            (Some(message), _) => format!("'{name}' is {state}: {message}"),
            (None, Some(renamed)) => format!("'{name}' is {state}: it is now called '{renamed}'"),
            (None, None) => format!("'{name}' is {state}"),
        };
        let mut diagnostic = Diagnostic::error(Code::Unavailable, span, text);
        diagnostic.severity = restriction.severity;
        self.cx.sink.report(diagnostic);
    }

    /// Whether the function that is checked is itself unavailable, or deprecated where `severity` is a warning.
    fn is_inside_restricted(&self, severity: Severity) -> bool {
        self.frames.iter().filter_map(|frame| frame.function).any(|f| {
            let decl = self.cx.defs.function_data(f).decl.as_ref();
            decl.and_then(|decl| restriction(decl))
                .is_some_and(|r| r.severity == Severity::Error || severity == Severity::Warning)
        })
    }
}

/// Whether a declaration is unavailable or deprecated.
pub(crate) fn is_restricted(decl: &Decl) -> bool {
    restriction(decl).is_some()
}

/// Whether a declaration is unavailable.
pub(crate) fn is_unavailable(decl: &Decl) -> bool {
    restriction(decl).is_some_and(|restriction| restriction.severity == Severity::Error)
}

/// Returns the restriction for all platforms that a declaration's attribute `@available` states.
fn restriction(decl: &Decl) -> Option<Restriction<'_>> {
    let mut attributes = decl.attributes.iter().filter(|a| &*a.name.name == "available");
    attributes.find_map(|a| if let AttributeArgs::Text(text) = &a.args { parse(text) } else { None })
}

/// Parses the arguments of `@available`: `*, unavailable, message: "…", renamed: "…"`.
fn parse(text: &str) -> Option<Restriction<'_>> {
    let arguments = arguments(text.trim().trim_start_matches('(').trim_end_matches(')'));
    if arguments.first() != Some(&"*") {
        return None;
    }
    let has = |word: &str| arguments.contains(&word);
    let severity = match (has("unavailable"), has("deprecated")) {
        (true, _) => Severity::Error,
        (false, true) => Severity::Warning,
        (false, false) => return None,
    };
    let labeled = |label: &str| {
        let value = arguments.iter().find_map(|a| a.strip_prefix(label)?.trim_start().strip_prefix(':'))?;
        value.trim().strip_prefix('"')?.strip_suffix('"')
    };
    Some(Restriction { severity, message: labeled("message"), renamed: labeled("renamed") })
}

/// Splits arguments at the commas outside string literals.
fn arguments(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = text.split(|c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    parts.map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::{Severity, parse};

    #[test]
    fn arguments_are_split_outside_strings() {
        let parsed = parse(r#"(*, unavailable, message: "one, two", renamed: "g(x:)")"#);
        let parsed = parsed.map(|r| (r.severity, r.message, r.renamed));
        assert_eq!(parsed, Some((Severity::Error, Some("one, two"), Some("g(x:)"))));
    }

    #[test]
    fn versions_of_platforms_restrict_nothing() {
        assert!(parse("macOS 10.15, *").is_none());
        assert!(parse("*").is_none());
        assert!(parse("swift, deprecated: 5.0").is_none());
    }
}
