//! Directives: lines of a cell that are meant for other kernels or for the notebook, such as `%install` and `#@title`.
//! They have no effect, so that notebooks for Swift run as they are.

use std::borrow::Cow;

/// The directives without effect, and the reason.
const DIRECTIVES: &[(&str, &str)] = &[
    ("%install", "the library is part of dscript, and other modules are files"),
    ("%install-location", "nothing is installed"),
    ("%install-extra-include-command", "nothing is installed"),
    ("%install-swiftpm-environment", "nothing is installed"),
    ("%install-swiftpm-flags", "nothing is installed"),
    ("%include", "values, plots and pictures are shown without it; a file is imported by 'import \"file.dscript\"'"),
    ("%matplotlib", "plots are shown without it"),
    ("%config", "plots are shown without it"),
    ("%load_ext", "dscript has no extensions"),
    ("%autoreload", "dscript has no extensions"),
];

/// The beginning of the annotations of a cell's form, which only the notebook shows.
const FORM: &str = "#@";

/// Replaces the directives in a cell by empty lines. Also returns a line for each directive that says why it has no
/// effect.
pub(super) fn without_directives(code: &str) -> (Cow<'_, str>, String) {
    let mut notes = String::new();
    if !code.lines().any(is_directive) {
        return (Cow::Borrowed(code), notes);
    }
    let mut out = String::new();
    let mut is_text = false;
    for line in code.split_inclusive('\n') {
        let ends = if line.ends_with('\n') { "\n" } else { "" };
        match directive(line) {
            Some((name, reason)) if !is_text => {
                notes += &format!("'{name}' has no effect: {reason}\n");
                out += ends;
            }
            None if !is_text && line.starts_with(FORM) => out += ends,
            _ => out += line,
        }
        // A string of several lines may contain lines that look like directives.
        is_text ^= line.matches("\"\"\"").count() % 2 == 1;
    }
    (Cow::Owned(out), notes)
}

fn is_directive(line: &str) -> bool {
    line.starts_with(FORM) || directive(line).is_some()
}

fn directive(line: &str) -> Option<(&'static str, &'static str)> {
    let word = line.split_whitespace().next().filter(|_| line.starts_with('%'))?;
    DIRECTIVES.iter().copied().find(|(name, _)| *name == word)
}

#[cfg(test)]
mod tests {
    use super::without_directives;

    #[test]
    fn directives_become_empty_lines() {
        let (code, notes) = without_directives("#@title A\n%install '.package' X\nlet x = 7\n%matplotlib inline");
        assert_eq!(code, "\n\nlet x = 7\n");
        assert_eq!(notes.lines().count(), 2);
        assert!(notes.starts_with("'%install' has no effect: "), "{notes}");
    }

    #[test]
    fn other_lines_are_kept() {
        for code in ["let a = 7\n% 2", "let s = \"\"\"\n%install x\n\"\"\"", "%unknown", "print(1)\n"] {
            let (kept, notes) = without_directives(code);
            assert_eq!((&*kept, notes.as_str()), (code, ""));
        }
    }
}
