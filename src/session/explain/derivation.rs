//! Derivation as text: the computation of a derivative at a point, step by step.

use crate::session::explain::loops::outline;
use crate::session::{Count, Explanation, Kink, Operation, Partial, Quantity};
use crate::source::{SourceMap, Span};
use crate::tape::step_observer::KinkPartials;
use crate::value::number_format::{in_formula, write_double};
use crate::value::opaque_vector;
use hashbrown::HashMap;
use std::rc::Rc;

/// The maximum number of steps that are listed individually; more steps are summarized by line.
const MAX_ROWS: usize = 60;

/// The maximum number of contributions to an adjoint that are listed, and the number of inputs that are listed if there
/// are too many.
const MAX_TERMS: usize = 6;

/// The maximum number of inputs that are listed individually.
const MAX_INPUTS: usize = 12;

/// Formats values, partials, and adjoints.
pub fn explain(explained: &Explanation, sources: &SourceMap) -> Vec<String> {
    if is_long(explained, sources) {
        return summary(explained, sources);
    }
    let result = match result(explained) {
        Ok(result) => result,
        Err(constant) => return vec![format!("  {constant}")],
    };
    let mut lines = aligned(&forward(explained, sources), "  ");
    lines.push(String::new());
    lines.push(format!("  {}", heading(&result)));
    lines.extend(aligned(&backward(explained, &result, sources), "  "));
    lines.extend(kinks(explained).map(|line| format!("  {line}")));
    lines
}

/// Whether there are too many steps for an explanation, even with abbreviated loops.
pub(crate) fn is_long(explained: &Explanation, sources: &SourceMap) -> bool {
    let is_listed = explained.operations.len() == explained.steps;
    !is_listed && explained.steps > MAX_ROWS
        || outline(explained, sources).iter().map(|section| section.operations.len()).sum::<usize>() > MAX_ROWS
}

/// Whether there are too many steps for a listing of the tape.
pub(crate) fn is_long_tape(explained: &Explanation) -> bool {
    explained.steps > MAX_ROWS
}

/// Returns the name of the result, or a sentence for a result that does not depend on the input.
pub(crate) fn result(explained: &Explanation) -> Result<String, String> {
    match &explained.results[..] {
        [(Some(name), _)] => Ok(name.clone()),
        [(None, value)] => Err(format!("the result is {} and does not depend on the input", short(*value))),
        _ => Ok("the result".to_owned()),
    }
}

/// Returns the heading of the list of adjoints.
pub(crate) fn heading(result: &str) -> String {
    format!("backward (how much does {result} change?)")
}

/// Returns the rows of the steps with their values, after a row of column names.
pub(crate) fn forward(explained: &Explanation, sources: &SourceMap) -> Vec<[String; 4]> {
    let mut rows = vec![["forward".to_owned(), "value".to_owned(), "how it changes".to_owned(), String::new()]];
    let inputs = &explained.inputs;
    for (k, input) in inputs.iter().enumerate() {
        match k {
            _ if inputs.len() <= MAX_INPUTS || k < MAX_TERMS || k + 1 == inputs.len() => {
                rows.push([format!("  {}", input.name), input.value_text(), String::new(), String::new()]);
            }
            MAX_TERMS => rows.push([
                format!("  … {} more", inputs.len() - MAX_TERMS - 1),
                String::new(),
                String::new(),
                String::new(),
            ]),
            _ => {}
        }
    }
    for section in outline(explained, sources) {
        let indent = if section.title.is_some() { "    " } else { "  " };
        rows.extend(section.title.map(|title| [format!("  {title}"), String::new(), String::new(), String::new()]));
        for operation in section.operations.iter().map(|k| &explained.operations[*k]) {
            let Operation { quantity, formula, rule, .. } = operation;
            rows.push([
                format!("{indent}{} = {formula}", quantity.name),
                quantity.value_text(),
                partials(operation),
                rule.clone(),
            ]);
        }
    }
    rows
}

/// Formats the kinks that were found, one line for each.
pub(crate) fn kinks(explained: &Explanation) -> impl Iterator<Item = String> {
    explained.kinks.iter().map(kink)
}

/// Formats a kink, and the partial derivative that is used at the kink.
fn kink(Kink { step, partials, .. }: &Kink) -> String {
    let Some(KinkPartials { left, right, taken }) = *partials else {
        return format!("a branch is exactly at its threshold, {step}: the derivative is that of the branch taken");
    };
    let side = |partial: f64| if partial.is_nan() { "none".to_owned() } else { short(partial) };
    let sides = format!("left {}, right {}", side(left), side(right));
    format!("kink at {step}: {sides}; by convention the derivative is {} there", short(taken))
}

/// Formats the kinks that were found on one line; `None` when there were none.
pub fn observed_kinks(kinks: &[Kink]) -> Option<String> {
    let (first, others) = kinks.split_first()?;
    let first = kink(first);
    Some(match others.len() {
        0 => first,
        1 => format!("{first} (and one more kink)"),
        more => format!("{first} (and {more} more kinks)"),
    })
}

/// Formats the value and the derivatives of the function, and the mode of differentiation.
pub fn derivatives(explained: &Explanation) -> Vec<String> {
    let Explanation { function, inputs, results, steps, bytes, .. } = explained;
    let is_name = function.chars().all(|c| c.is_alphanumeric() || c == '_');
    let value = |input: &Quantity| match input.tensors.value {
        Some(_) => input.value_text(),
        None => in_formula(input.value),
    };
    let point = inputs.iter().map(value).collect::<Vec<_>>().join(", ");
    let f = if is_name { function } else { "f" };
    let mut rows = vec![];
    if let [(_, value)] = results[..] {
        rows.push([format!("{f}({point})"), format!("= {}", text_of(value)), String::new()]);
    }
    for (k, input) in inputs.iter().enumerate() {
        let left = if inputs.len() == 1 { format!("{f}'({point})") } else { format!("∂{f}/∂{}", input.name) };
        let adjoint = if input.tensors.adjoint.is_some() { input.adjoint_text() } else { text_of(input.adjoint) };
        let how = if k == 0 { how(*steps, *bytes) } else { String::new() };
        rows.push([left, format!("= {adjoint}"), how]);
    }
    let kinks = kinks(explained).map(|kink| format!("  {kink}"));
    aligned(&rows, "  ").into_iter().chain(kinks).collect()
}

fn how(steps: usize, bytes: usize) -> String {
    let s = if steps == 1 { "" } else { "s" };
    format!("reverse mode: {steps} step{s}, {bytes} bytes")
}

fn text_of(x: f64) -> String {
    let mut text = String::new();
    write_double(&mut text, x);
    text
}

/// Formats the partials of an operation, such as `∂u/∂x = cos(x) = -0.416147`, for every varied operand.
fn partials(operation: &Operation) -> String {
    let formula = |partial: &Partial| {
        let value = short(partial.value);
        let formula = partial.formula.as_ref().filter(|formula| **formula != value);
        let formula = formula.map_or(String::new(), |formula| format!("{formula} = "));
        format!("∂{}/∂{} = {formula}{value}", operation.quantity.name, partial.by)
    };
    operation.partials.iter().map(formula).collect::<Vec<_>>().join(",  ")
}

/// Returns the adjoint of each number as the sum of the contributions of the steps that use it.
pub(crate) fn backward(explained: &Explanation, result: &str, sources: &SourceMap) -> Vec<[String; 2]> {
    let Explanation { inputs, operations, .. } = explained;
    let mut users: HashMap<&str, Vec<(&Operation, &Partial)>> = HashMap::new();
    let mut tensor_users: HashMap<&str, Vec<&str>> = HashMap::new();
    for operation in operations.iter().rev() {
        for partial in &operation.partials {
            users.entry(&partial.by).or_default().push((operation, partial));
        }
        for operand in &operation.operands {
            tensor_users.entry(operand).or_default().push(&operation.quantity.name);
        }
    }
    let rows_of = |quantity: &Quantity, indent: &str| {
        let rows = match quantity.name == result {
            true => vec![[format!("  {} = 1", bar(result)), String::new()]],
            false => match (users.get(&*quantity.name), tensor_users.get(&*quantity.name)) {
                (None, Some(of)) => vec![[
                    format!(
                        "  {} from {}",
                        bar(&quantity.name),
                        summed(&of.iter().map(|name| bar(name)).collect::<Vec<_>>())
                    ),
                    format!("= {}", quantity.adjoint_text()),
                ]],
                (of, _) => adjoint_rows(quantity, of.map_or(&[][..], Vec::as_slice)),
            },
        };
        rows.into_iter().map(|[left, right]| [format!("{indent}{left}"), right]).collect::<Vec<_>>()
    };
    let mut rows = vec![];
    for section in outline(explained, sources).iter().rev() {
        rows.extend(section.title.iter().map(|title| [format!("  {title}"), String::new()]));
        let indent = if section.title.is_some() { "  " } else { "" };
        rows.extend(section.operations.iter().rev().flat_map(|k| rows_of(&operations[*k].quantity, indent)));
    }
    let is_listed = |k: usize| inputs.len() <= MAX_INPUTS || k < MAX_TERMS || k + 1 == inputs.len();
    for (k, input) in inputs.iter().enumerate() {
        if is_listed(k) {
            rows.extend(rows_of(input, ""));
        } else if k == MAX_TERMS {
            rows.push([format!("  … {} more", inputs.len() - MAX_TERMS - 1), String::new()]);
        }
    }
    rows
}

/// Returns the rows of one adjoint: the sum of the contributions as formulas, and as numbers. A partial that is 1 is
/// omitted; if all partials are 1, the numbers are omitted, too.
fn adjoint_rows(quantity: &Quantity, users: &[(&Operation, &Partial)]) -> Vec<[String; 2]> {
    let (mut words, mut numbers, mut sum) = (vec![], vec![], 0.0);
    for (operation, partial) in users {
        let Quantity { name, adjoint, .. } = &operation.quantity;
        if partial.value == 1.0 {
            words.push(bar(name));
            numbers.push(short(*adjoint));
        } else {
            words.push(format!("{} · ∂{name}/∂{}", bar(name), quantity.name));
            numbers.push(format!("{} · {}", short(*adjoint), bracketed(partial.value)));
        }
        sum += adjoint * partial.value;
    }
    let value = format!("= {}", short(quantity.adjoint));
    let rest = quantity.adjoint - sum;
    // The rest is contributed by steps with several results.
    if rest.abs() > 1e-9 * quantity.adjoint.abs().max(sum.abs()) {
        words.push("…".to_owned());
        numbers.push(short(rest));
    }
    let is_copy = matches!(users, [(_, partial)] if partial.value == 1.0) && words.len() == 1;
    match words.is_empty() {
        true => vec![],
        false if is_copy => vec![[format!("  {} = {}", bar(&quantity.name), words[0]), value]],
        false => vec![
            [format!("  {} = {}", bar(&quantity.name), summed(&words)), String::new()],
            [format!("    = {}", summed(&numbers)), value],
        ],
    }
}

/// Joins terms by plus signs; if there are many terms, only some are listed.
fn summed(terms: &[String]) -> String {
    match terms {
        [first @ .., last] if terms.len() > MAX_TERMS => {
            let shown = &first[..MAX_TERMS / 2];
            format!("{} + … {} more … + {last}", shown.join(" + "), first.len() - shown.len())
        }
        _ => terms.join(" + "),
    }
}

/// Formats the nodes of the tape, with the adjoint of each number.
pub fn tape(explained: &Explanation, sources: &SourceMap) -> Vec<String> {
    if is_long_tape(explained) {
        return summary(explained, sources);
    }
    let mut lines = aligned(&entries(explained, sources), "  ");
    lines.push(format!("  {}", size(explained)));
    lines
}

/// Returns the rows of the table of tape nodes, after a row of column names.
pub(crate) fn entries(explained: &Explanation, sources: &SourceMap) -> Vec<[String; 7]> {
    let mut rows = vec![["#", "op", "what", "value", "partials", "adjoint", "source"].map(str::to_owned)];
    for (i, input) in explained.inputs.iter().enumerate() {
        let (value, adjoint) = (input.value_text(), input.adjoint_text());
        rows.push([
            i.to_string(),
            String::new(),
            input.name.clone(),
            value,
            String::new(),
            adjoint,
            "input".to_owned(),
        ]);
    }
    for (i, operation) in explained.operations.iter().enumerate() {
        let Operation { quantity, formula, symbol, partials, .. } = operation;
        let partials = partials.iter().map(|p| format!("{}: {}", p.by, short(p.value))).collect::<Vec<_>>();
        rows.push([
            (explained.inputs.len() + i).to_string(),
            symbol.clone(),
            format!("{} = {formula}", quantity.name),
            quantity.value_text(),
            partials.join("  "),
            quantity.adjoint_text(),
            place(operation, sources),
        ]);
    }
    rows
}

/// Formats a summary: the numbers of operations by line, and the adjoints of the inputs.
fn summary(explained: &Explanation, sources: &SourceMap) -> Vec<String> {
    let mut lines = aligned(&sums(explained, sources), "  ");
    lines.extend(adjoints(explained).map(|line| format!("  {line}")));
    lines.push(format!("  {}", size(explained)));
    lines
}

/// Formats the inputs and their adjoints.
pub(crate) fn adjoints(explained: &Explanation) -> impl Iterator<Item = String> {
    let left_out = explained.inputs.len().saturating_sub(MAX_ROWS);
    let line = |input: &Quantity| {
        format!("{} = {}   {} = {}", input.name, input.value_text(), bar(&input.name), input.adjoint_text())
    };
    let note = (left_out > 0).then(|| format!("… {left_out} more"));
    explained.inputs.iter().take(MAX_ROWS).map(line).chain(note)
}

/// Returns the rows of the numbers of operations by line, after a row of column names.
pub(crate) fn sums(explained: &Explanation, sources: &SourceMap) -> Vec<[String; 3]> {
    // Operations at different source locations of one line are counted together.
    let mut sums: Vec<(String, &Rc<str>, usize)> = vec![];
    for Count { symbol, span, times } in &explained.counts {
        let line = line(*span, sources);
        match sums.iter_mut().find(|(known, what, _)| *known == line && *what == symbol) {
            Some((_, _, sum)) => *sum += times,
            None => sums.push((line, symbol, *times)),
        }
    }
    let mut rows = vec![["times", "op", "line"].map(str::to_owned)];
    rows.extend(sums.into_iter().map(|(line, symbol, times)| [times.to_string(), symbol.to_string(), line]));
    rows
}

/// Formats the size of the tape.
pub(crate) fn size(explained: &Explanation) -> String {
    let entries = explained.inputs.len() + explained.steps;
    format!("{entries} {}, {} bytes", if entries == 1 { "entry" } else { "entries" }, explained.bytes)
}

/// Formats every intermediate value at two points, and the ratio of the change to the change of the input; only the
/// changes, if several inputs change.
pub fn nudge(before: &Explanation, after: &Explanation, sources: &SourceMap) -> Vec<String> {
    let is_same = before.operations.len() == after.operations.len()
        && before.operations.iter().zip(&after.operations).all(|(a, b)| a.symbol == b.symbol);
    if !is_same {
        return vec!["  the two take different paths through the program".to_owned()];
    }
    if is_long(before, sources) {
        return vec!["  the computation is too long to be shown".to_owned()];
    }
    let moves = before.inputs.iter().zip(&after.inputs).map(|(a, b)| b.value - a.value);
    let moves: Vec<f64> = moves.filter(|step| *step != 0.0).collect();
    let step = if let [step] = moves[..] { Some(step).filter(|step| !opaque_vector::is(*step)) } else { None };
    let row = |name: String, a: &Quantity, b: &Quantity| {
        let ratio = match (step, a.change_text(b)) {
            (Some(step), None) => short((b.value - a.value) / step),
            _ => String::new(),
        };
        let change = a.change_text(b).unwrap_or_else(|| short(b.value - a.value));
        [name, a.value_text(), b.value_text(), change, ratio]
    };
    let ratio = if step.is_some() { "change / step" } else { "" };
    let mut rows = vec![["", "before", "after", "change", ratio].map(str::to_owned)];
    for (a, b) in before.inputs.iter().zip(&after.inputs).take(MAX_ROWS) {
        rows.push(row(a.name.clone(), a, b));
    }
    for section in outline(before, sources) {
        let indent = if section.title.is_some() { "  " } else { "" };
        rows.extend(section.title.map(|title| [title, String::new(), String::new(), String::new(), String::new()]));
        for k in section.operations {
            let (a, b) = (&before.operations[k], &after.operations[k]);
            let name = format!("{indent}{} = {}", a.quantity.name, a.formula);
            rows.push(row(name, &a.quantity, &b.quantity));
        }
    }
    aligned(&rows, "  ")
}

fn place(operation: &Operation, sources: &SourceMap) -> String {
    let place = sources.place(operation.span.start);
    place.map_or(String::new(), |place| format!("{}:{}:{}", place.name, place.line, place.column))
}

fn line(span: Span, sources: &SourceMap) -> String {
    let place = sources.place(span.start);
    place.map_or(String::new(), |place| format!("{}:{}", place.name, place.line))
}

/// Adds a bar to a name, which denotes the adjoint of the named number.
fn bar(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| format!("{first}\u{304}{}", letters.as_str()))
}

fn bracketed(x: f64) -> String {
    if x < 0.0 { format!("({})", short(x)) } else { short(x) }
}

/// Formats a number with at most six significant digits.
pub fn short(x: f64) -> String {
    if opaque_vector::is(x) {
        return "tensor".to_owned();
    }
    if x == x.trunc() && x.abs() < 1e6 {
        return format!("{}", x.trunc());
    }
    if !x.is_finite() || x.abs() < 1e-4 || x.abs() >= 1e6 {
        let text = format!("{x:.5e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        return if x.is_finite() { format!("{mantissa}e{exponent}") } else { text };
    }
    let before = x.abs().log10().floor() as i32;
    let text = format!("{x:.*}", (5 - before).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Aligns the columns of a table of text.
pub fn aligned<const N: usize>(rows: &[[String; N]], indent: &str) -> Vec<String> {
    let width = |text: &str| unicode_width::UnicodeWidthStr::width(text);
    let widths: [usize; N] = std::array::from_fn(|k| rows.iter().map(|row| width(&row[k])).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, w)| format!("{cell}{}", " ".repeat(w - width(cell))));
        format!("{indent}{}", cells.collect::<Vec<_>>().join("   ").trim_end()).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let shown = [0.0, -3.0, 0.9092974268256817, -0.4161468365471424, 1234.5678, 1e-9, 2.5e7, f64::NAN].map(short);
        assert_eq!(shown, ["0", "-3", "0.909297", "-0.416147", "1234.57", "1e-9", "2.5e7", "NaN"]);
    }
}
