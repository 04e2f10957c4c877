//! Plot request: parsing of `f, f' from -3 to 3 step 0.5 to curve.svg`, in which everything but the functions may be
//! absent.

use crate::front::list_syntax::listed;

/// A request for a plot or a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PlotRequest {
    /// The functions, expressions or data to show.
    pub(crate) subjects: Vec<String>,
    /// The bounds of the variable.
    pub(crate) bounds: Option<(String, String)>,
    /// The distance between the rows of a table.
    pub(crate) step: Option<String>,
    /// The file to write.
    pub(crate) file: Option<String>,
}

impl PlotRequest {
    /// Parses the words after a command.
    pub(crate) fn parse(text: &str) -> PlotRequest {
        let mut request = PlotRequest::default();
        let Some((subjects, rest)) = text.rsplit_once(" from ") else {
            let (rest, file) = split_file(text);
            request.file = file;
            return request.with_subjects(rest);
        };
        let (from, rest) = rest.split_once(" to ").unwrap_or((rest, ""));
        let (rest, file) = rest.split_once(" to ").map_or((rest, None), |(rest, file)| (rest, Some(file)));
        let (to, step) = rest.split_once(" step ").map_or((rest, None), |(to, step)| (to, Some(step)));
        let trimmed = |text: &str| text.trim().to_owned();
        request.file = file.map(trimmed);
        request.step = step.map(trimmed);
        request.bounds = Some((trimmed(from), trimmed(to)));
        request.subjects = non_empty(subjects);
        request
    }

    /// Parses functions, of which the last may be followed by bounds: `sin, -3...3`, `sin -3..3`.
    pub(crate) fn with_subjects(mut self, text: &str) -> PlotRequest {
        let mut subjects = non_empty(text);
        if let Some(last) = subjects.pop() {
            let (function, range) = last.rsplit_once(' ').unwrap_or(("", &last));
            match bounds(range).or_else(|| bounds(&last)) {
                Some(found) => {
                    let is_whole = bounds(range).is_none();
                    let function = if is_whole { "" } else { function.trim() };
                    self.bounds = Some(found);
                    subjects.extend((!function.is_empty()).then(|| function.to_owned()));
                }
                None => subjects.push(last),
            }
        }
        self.subjects = subjects;
        self
    }

    /// Returns the functions as slices.
    pub(crate) fn subjects(&self) -> Vec<&str> {
        self.subjects.iter().map(String::as_str).collect()
    }

    /// Returns the bounds as slices.
    pub(crate) fn bounds(&self) -> Option<(&str, &str)> {
        self.bounds.as_ref().map(|(from, to)| (from.as_str(), to.as_str()))
    }
}

fn non_empty(text: &str) -> Vec<String> {
    listed(text).into_iter().filter(|subject| !subject.is_empty()).collect()
}

/// Splits `f to curve.svg`; the word after `to` is a file if it has an extension.
fn split_file(text: &str) -> (&str, Option<String>) {
    match text.rsplit_once(" to ") {
        Some((rest, file)) if file.contains('.') => (rest, Some(file.trim().to_owned())),
        _ => (text, None),
    }
}

/// Parses bounds: `-3..3`, `0...2π`, also in parentheses.
pub(crate) fn bounds(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    let (from, to) = inner.split_once("...").or_else(|| inner.split_once(".."))?;
    let (from, to) = (from.trim(), to.trim());
    // The range of an index, as in `xs[0...2]`, is not the bounds of a plot.
    let is_bound = |text: &str| {
        let depth = text.chars().map(|c| i32::from("([{".contains(c)) - i32::from(")]}".contains(c))).sum::<i32>();
        !text.is_empty() && depth == 0 && !text.contains("..")
    };
    (is_bound(from) && is_bound(to)).then(|| (from.to_owned(), to.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, Option<String>, Option<String>, Option<String>) {
        let PlotRequest { subjects, bounds, step, file } = PlotRequest::parse(text);
        (subjects.join(" & "), bounds.map(|(from, to)| format!("{from} & {to}")), step, file)
    }

    #[test]
    fn everything_but_the_functions_may_be_absent() {
        let some = |text: &str| Some(text.to_owned());
        for (text, subjects, bounds, step, file) in [
            ("sin", "sin", None, None, None),
            ("f, f' from -3 to 3", "f & f'", some("-3 & 3"), None, None),
            ("f from 0 to 2π step 0.5", "f", some("0 & 2π"), some("0.5"), None),
            ("f from 0 to 1 to a.svg", "f", some("0 & 1"), None, some("a.svg")),
            ("sin to a.svg", "sin", None, None, some("a.svg")),
            ("sin, -3...3", "sin", some("-3 & 3"), None, None),
            ("g(x, 1), -0.5..1.5 to b.png", "g(x, 1)", some("-0.5 & 1.5"), None, some("b.png")),
            ("x^2 -2..2", "x^2", some("-2 & 2"), None, None),
            ("{ x in x + 1 }, -2 ... 2", "{ x in x + 1 }", some("-2 & 2"), None, None),
            ("xs[0...2]", "xs[0...2]", None, None, None),
            ("", "", None, None, None),
        ] {
            assert_eq!(parts(text), (subjects.to_owned(), bounds, step, file), "{text}");
        }
    }
}
