//! Conditional compilation: evaluates `#if canImport(Glibc)` and selects the active lines.

use crate::syntax::is_library_module;

/// The modules of the library that Swift has on other systems only.
const OF_OTHER_SYSTEMS: [&str; 4] = ["CoreFoundation", "CoreGraphics", "Darwin", "simd"];

/// A directive: a line that starts with `#`.
pub(super) enum Directive<'t> {
    /// The directive `#if condition`.
    If(&'t str),
    /// The directive `#elseif condition`.
    ElseIf(&'t str),
    /// The directive `#else`.
    Else,
    /// The directive `#endif`.
    End,
}

/// Reads a directive from the text after its `#`.
pub(super) fn directive(text: &str) -> Option<Directive<'_>> {
    let line = text.split('\n').next().unwrap_or("");
    let line = line.split("//").next().unwrap_or("").trim_end();
    let end = line.bytes().position(|b| !b.is_ascii_alphabetic()).unwrap_or(line.len());
    let condition = &line[end..];
    match &line[..end] {
        "if" => Some(Directive::If(condition)),
        "elseif" => Some(Directive::ElseIf(condition)),
        "else" => Some(Directive::Else),
        "endif" => Some(Directive::End),
        _ => None,
    }
}

/// Whether the condition of a directive holds. An unknown condition does not hold.
pub(super) fn holds(condition: &str) -> bool {
    // A condition is a single line; a condition of more than 1000 bytes does not hold.
    let mut reader = Reader { rest: condition.get(..1000).unwrap_or(condition).trim(), depth: 0 };
    condition.len() <= 1000 && reader.either()
}

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

impl<'t> Reader<'t> {
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let end = self.rest.bytes().position(|b| !b.is_ascii_alphanumeric() && b != b'_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn either(&mut self) -> bool {
        let mut value = self.both();
        while self.take("||") {
            value |= self.both();
        }
        value
    }

    fn both(&mut self) -> bool {
        let mut value = self.one();
        while self.take("&&") {
            value &= self.one();
        }
        value
    }

    fn one(&mut self) -> bool {
        let mut negated = false;
        while self.take("!") {
            negated = !negated;
        }
        self.depth += 1;
        let value = if self.depth < 64 && self.take("(") {
            let value = self.either();
            self.take(")");
            value
        } else {
            self.named()
        };
        self.depth -= 1;
        value != negated
    }

    fn named(&mut self) -> bool {
        let name = self.word();
        if !self.take("(") {
            return name == "true";
        }
        let argument = self.rest.split(')').next().unwrap_or("");
        self.rest = self.rest.get(argument.len() + 1..).unwrap_or("");
        match (name, argument.trim()) {
            ("canImport", module) => is_library_module(module) && !OF_OTHER_SYSTEMS.contains(&module),
            ("os", system) => system == "Linux",
            // The language is newer than all versions with which programs compare.
            ("swift" | "compiler", version) => !version.starts_with('<'),
            // Programs have the number types of this architecture, without `Float80`, on all systems.
            ("arch", architecture) => architecture == "arm64",
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn conditions() {
        for yes in [
            "canImport(XCTest)",
            "!swift(<5.9)",
            "canImport(Glibc)",
            "os(Linux) && !DEBUG",
            "!(canImport(Darwin) || false)",
            "swift(>=5.3)",
            " true",
        ] {
            assert!(holds(yes), "{yes}");
        }
        for no in ["canImport(Darwin)", "DEBUG", "os(macOS) || os(iOS)", "!canImport(Foundation)", "", "((((", "!"] {
            assert!(no == "!" || !holds(no), "{no}");
        }
    }
}
