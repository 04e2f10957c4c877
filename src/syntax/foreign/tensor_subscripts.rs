//! Subscripts of tensors as in NumPy and PyTorch: `x[:, 1:]`, `x[::2]`, `x[None]`, `x[..., -1]`.

use super::pattern::Code;
use super::token::Kind;
use super::{Replacement, Search, generic};
use std::ops::Range;

impl Search<'_> {
    /// Returns the subscript around the error with ranges in the place of slices.
    pub(super) fn tensor_subscripts(&self) -> Vec<Replacement> {
        let code = &self.code;
        let mut found = vec![];
        for open in code.brackets_around(self.focus + 1).filter(|open| code.word(*open) == Some("[")) {
            let Some(end) = code.closed(open).filter(|_| code.adjacent(open)) else { continue };
            let parts = components(code, open + 1..end - 1);
            found.extend(reversal(code, open, end, &parts));
            let written: Option<Vec<String>> = parts.iter().map(|part| component(code, part.clone())).collect();
            let Some(written) = written else { continue };
            // A single slice from one place to another has the same notation for an array, which is more likely.
            let colons = parts[0].clone().filter(|at| code.word(*at) == Some(":")).count();
            if parts.len() == 1 && colons == 1 {
                continue;
            }
            let Some(operand) = operand_before(code, open) else { continue };
            let range = code.tokens[operand].from..code.tokens[end - 1].to;
            let before = &code.text[range.start..code.tokens[open].to];
            let here = format!("{before}{}]", written.join(", "));
            let foreign = &code.text[range.clone()];
            if here == foreign {
                continue;
            }
            found.push(Replacement { message: generic(foreign, &here), ..Replacement::certain(range, here) });
        }
        found
    }
}

/// Returns the first token of the operand before a bracket: a name with members, calls and subscripts.
fn operand_before(code: &Code, open: usize) -> Option<usize> {
    let mut at = open;
    while code.adjacent(at) {
        let last = at - 1;
        if code.is(last, Kind::Close) {
            at = (0..last).rev().find(|first| code.is(*first, Kind::Open) && code.closed(*first) == Some(at))?;
        } else if code.is(last, Kind::Word) || code.word(last) == Some(".") {
            at = last;
        } else {
            break;
        }
    }
    (at < open).then_some(at)
}

/// Returns the reversal along an axis that a subscript such as `x[:, ::-1]` stands for.
fn reversal(code: &Code, open: usize, end: usize, parts: &[Range<usize>]) -> Option<Replacement> {
    let written = |part: &Range<usize>| code.slice(part.start, part.end).replace(' ', "");
    let axis = parts.iter().position(|part| written(part) == "::-1").filter(|_| parts.len() > 1)?;
    if parts.iter().enumerate().any(|(i, part)| i != axis && written(part) != ":") {
        return None;
    }
    let range = code.tokens[operand_before(code, open)?].from..code.tokens[end - 1].to;
    let here = format!("{}.reversed(inAxes: {axis})", &code.text[range.start..code.tokens[open - 1].to]);
    let message = generic(&code.text[range.clone()], &here);
    Some(Replacement { message, ..Replacement::certain(range, here) })
}

/// Returns the ranges of the components of a subscript, which are separated by commas.
fn components(code: &Code, inside: Range<usize>) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut first = inside.start;
    let mut at = inside.start;
    while at < inside.end {
        if code.word(at) == Some(",") {
            found.push(first..at);
            first = at + 1;
        }
        at = code.closed(at).filter(|end| *end > at + 1).unwrap_or(at + 1);
    }
    found.push(first..inside.end);
    found
}

/// Writes a component of a subscript: an index, a slice, an ellipsis or a new axis.
fn component(code: &Code, part: Range<usize>) -> Option<String> {
    let text = code.slice(part.start, part.end);
    match text {
        "" => return None,
        "..." => return Some("TensorRange.ellipsis".to_owned()),
        "None" | "np.newaxis" | "jnp.newaxis" | "tf.newaxis" => return Some("TensorRange.newAxis".to_owned()),
        _ => {}
    }
    // The parts of a slice; `::` is one token.
    let mut bounds = vec![String::new()];
    let mut from = part.start;
    for at in part.clone() {
        let colons = match code.word(at) {
            Some(":") => 1,
            Some("::") => 2,
            _ => continue,
        };
        if let Some(last) = bounds.last_mut() {
            code.slice(from, at).clone_into(last);
        }
        bounds.extend(std::iter::repeat_n(String::new(), colons));
        from = at + 1;
    }
    if let Some(last) = bounds.last_mut() {
        code.slice(from, part.end).clone_into(last);
    }
    let bracketed = |bound: &String| if bound.starts_with('-') { format!("({bound})") } else { bound.clone() };
    match bounds.as_slice() {
        [index] => Some(index.clone()),
        [start, end] => Some(range(start, &bracketed(end))),
        [_, _, step] if step.starts_with('-') => None,
        [start, end, step] if step.is_empty() => Some(range(start, &bracketed(end))),
        [start, end, step] => Some(format!("{} .. {step}", range(start, &bracketed(end)))),
        _ => None,
    }
}

/// Writes a range between two bounds, of which both may be missing.
fn range(start: &str, end: &str) -> String {
    match (start, end) {
        ("", "") => "0...".to_owned(),
        (start, "") => format!("{start}..."),
        ("", end) => format!("..<{end}"),
        (start, end) => format!("{start}..<{end}"),
    }
}
