//! Formula view: derivatives as formulas, as text and as LaTeX.

use crate::diagnostic::Diagnostic;
use crate::diff::formula::formula;
use crate::ir::{Function, FunctionId, Parameter, Program};
use crate::native::field::Test;
use crate::native::formula::{Formula, FormulaRecord, FunctionFormula, Notation};
use crate::session::Session;
use crate::session::algebra::{Style, simplified};
use crate::session::explain::typesetting;
use crate::session::query::command_text::CommandText;
use crate::session::query::parts_of;
use crate::source::{SourceMap, Span};
use crate::value::shape::Shape;

/// The maximum size of a derivative before simplification, in nodes of its formula.
const MAX_SIZE: usize = 100_000;

/// The maximum length of a displayed formula in bytes.
const MAX_LENGTH: usize = 1200;

/// The maximum order of a derivative that is displayed as a formula.
const MAX_ORDER: i64 = 6;

/// Returns what is known of a function of which formulas are requested.
pub(crate) fn record(program: &Program, id: FunctionId, sources: &SourceMap) -> FormulaRecord {
    FormulaRecord { formula: function_formula(program, id, sources), example: example(program, id) }
}

/// Returns a function as a formula, or the reason why there is none.
fn function_formula(program: &Program, id: FunctionId, sources: &SourceMap) -> Result<FunctionFormula, String> {
    let function = program.function(id).filter(|f| !f.is_prelude);
    let notation = function.map_or(Notation::default(), |f| Notation::of(sources.text(extent(f, sources))));
    match formula(program, id) {
        Ok(known) => Ok(FunctionFormula { notation, ..known }),
        Err(no) => Err(match sources.place(no.span.start).filter(|_| function.is_some()) {
            Some(place) => format!("{} (line {})", no.reason, place.line),
            None => no.reason,
        }),
    }
}

/// Returns the part of the source text that contains a function with its body.
fn extent(function: &Function, sources: &SourceMap) -> Span {
    let steps = function.blocks.iter().flat_map(|block| &block.instructions).map(|step| step.span);
    let is_inside = |span: &Span| span.start >= function.span.start && sources.same_source(*span, function.span);
    steps.filter(is_inside).fold(function.span, Span::to)
}

/// An equation for a derivative, as one line of text and of LaTeX.
struct Equation {
    /// The name of the derivative, as text and as LaTeX.
    name: [String; 2],
    formula: Formula,
}

/// Returns the derivative of a function as text, SVG, HTML and LaTeX, or the reason why there is none as text.
pub(crate) fn forms(record: &FormulaRecord, name: &str, order: i64) -> Vec<String> {
    let shown = record
        .formula
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|function_formula| Ok((function_formula, rows(function_formula, name, order)?)));
    match shown {
        Ok((function_formula, rows)) => {
            vec![text(function_formula, &rows), String::new(), String::new(), set(function_formula, &rows)]
        }
        Err(why) => vec![refusal(&record.example, (name, &why))],
    }
}

/// Returns the sentence that states why there is no formula. `point` is an example of arguments.
fn refusal(point: &str, (name, why): (&str, &str)) -> String {
    let (of, call) = match is_name(name) {
        true => (format!(" for {name}'"), format!(":explain {name} at {point}")),
        false => (String::new(), ":explain".to_owned()),
    };
    format!("there is no formula{of}: {why}; use '{call}' to see how the derivative is computed at a point")
}

/// Returns an example of the arguments of a function: `2, 3`, or `[2, 3]` for an array.
fn example(program: &Program, id: FunctionId) -> String {
    let Some(function) = program.function(id) else { return "2".to_owned() };
    let is_array = |p: &Parameter| matches!(program.shapes.get(p.shape), Shape::Array(_));
    let values = function.parameters.iter().zip(2..);
    let values = values.map(|(p, n): (_, i64)| if is_array(p) { format!("[{n}, {}]", n + 1) } else { n.to_string() });
    values.collect::<Vec<_>>().join(", ")
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the equations of all derivatives of a given order.
fn rows(function_formula: &FunctionFormula, name: &str, order: i64) -> Result<Vec<Equation>, String> {
    if !(1..=MAX_ORDER).contains(&order) {
        return Err(format!("the order must be an integer from 1 to {MAX_ORDER}, not {order}"));
    }
    let style = Style {
        decimals: function_formula.notation.decimals,
        variables: &function_formula.parameters,
        derivative_of: Some(&function_formula.formula),
    };
    let mut rows = vec![];
    for by in choices(&function_formula.parameters, order) {
        let mut formula = function_formula.formula.clone();
        for k in &by {
            let derivative = formula.derivative(*k);
            formula = derivative.map_err(|primitive| format!("'{}' has no derivative", primitive.symbol))?;
            if formula.size() > MAX_SIZE {
                return Err("its derivative would be too long".into());
            }
            formula = simplified(&formula, style);
        }
        if about(&formula, function_formula).len() > MAX_LENGTH {
            return Err("its derivative would be too long".into());
        }
        rows.push(Equation { name: names(function_formula, name, &by), formula });
    }
    Ok(rows)
}

/// Returns the parameters of all derivatives of an order: combinations with repetition.
fn choices(parameters: &[u8], order: i64) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..order {
        let longer = |by: &Vec<usize>| {
            let by = by.clone();
            (by.last().copied().unwrap_or(0)..parameters.len()).map(move |k| [by.clone(), vec![k]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.into_iter().map(|by| by.into_iter().filter_map(|k| parameters.get(k).copied()).collect()).collect()
}

fn about(formula: &Formula, function_formula: &FunctionFormula) -> String {
    let names: Vec<&str> = function_formula.names.iter().map(String::as_str).collect();
    formula.in_notation(&names, "", 0, function_formula.notation)
}

/// Converts a formula to LaTeX, by way of its textual form.
fn set_in_latex(formula: &Formula, function_formula: &FunctionFormula) -> String {
    let names: Vec<&str> = function_formula.names.iter().map(String::as_str).collect();
    typesetting::formula(&formula.with_names(&names, "", 0))
}

/// Returns the name of a derivative as text and as LaTeX: `f'(x)`, `∂f/∂x`, `d/dx (x^2)`.
fn names(function_formula: &FunctionFormula, name: &str, by: &[u8]) -> [String; 2] {
    let word = |k: u8| function_formula.names.get(usize::from(k)).map_or("?", String::as_str);
    let is_named = is_name(name);
    let single = match function_formula.parameters[..] {
        // An element of an array is one of several variables, so its name is part of the notation.
        [k] if !word(k).contains('[') => Some(k),
        _ => None,
    };
    if let (true, Some(k)) = (is_named, single) {
        let text = format!("{name}{}({})", "'".repeat(by.len()), word(k));
        return [text.clone(), typesetting::formula(&text)];
    }
    let d = if single.is_some() { ["d", r"\mathrm{d}"] } else { ["∂", r"\partial "] };
    let mut counted: Vec<(u8, usize)> = vec![];
    for k in by {
        match counted.last_mut().filter(|(own, _)| own == k) {
            Some((_, count)) => *count += 1,
            None => counted.push((*k, 1)),
        }
    }
    let below = |d: &str, power: &dyn Fn(usize) -> String, set: &dyn Fn(&str) -> String| -> String {
        counted.iter().map(|(k, count)| format!("{d}{}{}", set(word(*k)), power(*count))).collect()
    };
    let exponent = |n: usize| if n == 1 { String::new() } else { format!("^{n}") };
    let small = |n: usize| match n {
        1 => String::new(),
        n => n.to_string().chars().map(superscript).collect(),
    };
    let body = about(&function_formula.formula, function_formula);
    let under = below(d[0], &small, &ToString::to_string);
    let under_set = below(d[1], &exponent, &typesetting::formula);
    let (above, above_set) = (format!("{}{}", d[0], small(by.len())), format!("{}{}", d[1], exponent(by.len())));
    match is_named {
        true => [
            format!("{above}{name}/{under}"),
            format!(r"\frac{{{above_set}{}}}{{{under_set}}}", typesetting::formula(name)),
        ],
        false => [
            format!("{above}/{under} ({body})"),
            format!(
                r"\frac{{{above_set}}}{{{under_set}}} \left({}\right)",
                set_in_latex(&function_formula.formula, function_formula)
            ),
        ],
    }
}

fn superscript(digit: char) -> char {
    match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(digit),
    }
}

/// Formats one line for each derivative, followed by the conventions at kinks.
fn text(function_formula: &FunctionFormula, rows: &[Equation]) -> String {
    let width = rows.iter().map(|row| row.name[0].chars().count()).max().unwrap_or(0);
    let line = |Equation { name: [name, _], formula }: &Equation| {
        format!("{name:<width$} = {}", about(formula, function_formula))
    };
    let kinks = function_formula.formula.kinks();
    let notes = kinks.iter().map(|primitive| format!("at a kink of '{}': {}", primitive.symbol, primitive.kink));
    rows.iter().map(line).chain(notes).collect::<Vec<_>>().join("\n")
}

fn set(function_formula: &FunctionFormula, rows: &[Equation]) -> String {
    let line =
        |Equation { name: [_, name], formula }: &Equation| format!("{name} &= {}", cases(formula, function_formula));
    let lines: Vec<String> = rows.iter().map(line).collect();
    format!("$$\\begin{{aligned}}\n{}\n\\end{{aligned}}$$", lines.join(" \\\\\n"))
}

/// Formats a formula in LaTeX, with its cases as lines.
fn cases(formula: &Formula, function_formula: &FunctionFormula) -> String {
    let mut lines = vec![];
    let mut rest = formula;
    while let Formula::Select(parts) = rest {
        let (test, then, otherwise) = &**parts;
        lines.push(format!(r"{} & \text{{if }} {}", cases(then, function_formula), condition(test, function_formula)));
        rest = otherwise;
    }
    let rest = set_in_latex(rest, function_formula);
    if lines.is_empty() {
        return rest;
    }
    lines.push(format!(r"{rest} & \text{{otherwise}}"));
    format!(r"\begin{{cases}} {} \end{{cases}}", lines.join(r" \\ "))
}

fn condition(test: &Test<Formula>, function_formula: &FunctionFormula) -> String {
    let (a, sign, b) = match test {
        Test::Equal(a, b) => (a, "=", b),
        Test::Less(a @ Formula::Constant(_), b) => (b, ">", a),
        Test::AtMost(a @ Formula::Constant(_), b) => (b, r"\ge", a),
        Test::Less(a, b) => (a, "<", b),
        Test::AtMost(a, b) => (a, r"\le", b),
    };
    let set = |formula: &Formula| set_in_latex(formula, function_formula);
    format!("{} {sign} {}", set(a), set(b))
}

/// A derivative as a formula, or the reason why there is no formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Derived {
    /// The formula with the name of the derivative, or the reason why there is no formula.
    pub text: String,
    /// The formula in LaTeX; empty when there is no formula.
    pub latex: String,
}

/// Whether a type is a function from one to four numbers, or from an array of numbers, to a number. A type that is no
/// function is accepted here, and is rejected when the function is compiled.
fn is_of_numbers(ty: &str) -> bool {
    parts_of(ty).is_none_or(|(types, result)| {
        let are_numbers = types.iter().all(|ty| ty == "Double") && types.len() <= 4;
        result == "Double" && (are_numbers || types.len() == 1 && types.iter().all(|ty| ty == "[Double]"))
    })
}

impl Session {
    /// Returns the derivative of order `order` of a function, or of an expression in `x`, as a formula. The letters of an expression that
    /// are not declared are constants, and the only letter of an expression without `x` is its variable.
    ///
    /// # Errors
    /// Returns the diagnostics when the function does not compile.
    pub fn derive(&mut self, input: &str, order: usize) -> Result<Derived, Vec<Diagnostic>> {
        let function = self.as_function(input);
        self.derive_with(input, &function, &[], order).or_else(|diagnostics| {
            if function != input
                && let Some(errors) = self.choice_of_variable(":derive", input)
            {
                return Err(errors);
            }
            match &self.constants(&function)[..] {
                [] => Err(diagnostics),
                // A name alone is that of a function.
                [name] if *name == input => Err(diagnostics),
                constants => self.derive_with(input, &function, constants, order).or(Err(diagnostics)),
            }
        })
    }

    /// Returns the derivative of a function, which is written around the input. Some names stand for numbers.
    fn derive_with(
        &mut self,
        input: &str,
        function: &str,
        constants: &[&str],
        order: usize,
    ) -> Result<Derived, Vec<Diagnostic>> {
        if let Ok(Some(ty)) = self.type_of(function)
            && !is_of_numbers(&ty)
        {
            let text = format!(
                "there is no formula: '{function}' is not a function of one to four numbers or of an array of numbers, \
                 but has type {ty}"
            );
            return Ok(Derived { text, latex: String::new() });
        }
        let declared: String = constants.iter().map(|name| format!("let {name} = 1.0; ")).collect();
        let text = CommandText::new(input).code(&declared).code("let _d = derive(").around(function, input);
        let text = text.code(&format!(", order: {order}); [_d.text, _d.latex]"));
        let mut forms = self.texts("‹derive›", &text)?.into_iter();
        Ok(Derived { text: forms.next().unwrap_or_default(), latex: forms.next().unwrap_or_default() })
    }
}
