//! LaTeX: converts formulas from text to LaTeX.

use crate::native::table;
use crate::session::explain::derivation::short;
use crate::session::{Explanation, Operation, Partial};

/// The maximum number of steps that are typeset.
const MAX_STEPS: usize = 40;

/// Formats the steps of a computation with their values and partials, followed by the derivatives.
pub(crate) fn explained(explained: &Explanation) -> String {
    if explained.operations.is_empty() || explained.steps > MAX_STEPS {
        return String::new();
    }
    let mut rows: Vec<String> = vec![];
    for input in &explained.inputs {
        rows.push(format!("{} &= {}", formula(&input.name), short(input.value)));
    }
    for Operation { quantity, formula: text, partials, .. } in &explained.operations {
        let row = |Partial { by, formula: text, value }: &Partial| {
            let text = text.as_ref().map_or(String::new(), |text| format!("{} = ", formula(text)));
            let (y, x) = (formula(&quantity.name), formula(by));
            format!(r"\frac{{\partial {y}}}{{\partial {x}}} = {text}{}", short(*value))
        };
        let partials: Vec<String> = partials.iter().map(row).collect();
        let (name, value) = (formula(&quantity.name), short(quantity.value));
        rows.push(format!("{name} &= {} = {value} & {}", formula(text), partials.join(r",\quad ")));
    }
    for input in &explained.inputs {
        rows.push(format!(r"\bar{{{}}} &= {}", formula(&input.name), short(input.adjoint)));
    }
    format!("$$\\begin{{aligned}}\n{}\n\\end{{aligned}}$$", rows.join(" \\\\\n"))
}

/// Converts a formula of the language to LaTeX.
pub(crate) fn formula(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        match c {
            _ if c.is_ascii_alphabetic() => {
                let word = &rest[..length];
                rest = &rest[length..];
                let in_braces = table::latex(word).and_then(|command| command.strip_suffix("{}"));
                match (in_braces, inside(rest)) {
                    (Some(command), Some((operand, after))) => {
                        out.push_str(&format!("{command}{{{}}}", formula(operand)));
                        rest = after;
                    }
                    _ => out.push_str(&name(word)),
                }
                continue;
            }
            '*' => out.push_str(r"\cdot"),
            '^' => {
                let exponent = &rest[1..];
                let end = exponent.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(exponent.len());
                let (operand, after) = inside(exponent).unwrap_or(exponent.split_at(end));
                out.push_str(&format!("^{{{}}}", formula(operand)));
                rest = after;
                continue;
            }
            '₀'..='₉' => {
                let digit = char::from_digit(c as u32 - '₀' as u32, 10).unwrap_or(c);
                out.push_str(&format!("_{{{digit}}}"));
            }
            _ => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Splits text that begins with a parenthesis into the content of the parentheses and the rest.
fn inside(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| (&text[1..at], &text[at + 1..]));
        }
    }
    None
}

fn name(word: &str) -> String {
    match table::latex(word).filter(|command| !command.ends_with('}')) {
        Some(command) => command.to_owned(),
        _ if word.chars().count() > 1 => format!(r"\mathrm{{{word}}}"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::formula;

    #[test]
    fn formulas_are_set() {
        for (text, latex) in [
            ("x * sin(x)", r"x \cdot \sin(x)"),
            ("2 * x^10", r"2 \cdot x^{10}"),
            ("1 / (2 * sqrt(a + b))", r"1 / (2 \cdot \sqrt{a + b})"),
            ("x₁ + u₁₂", "x_{1} + u_{1}_{2}"),
            ("erf(x)^(n - 1)", r"\mathrm{erf}(x)^{n - 1}"),
        ] {
            assert_eq!(formula(text), latex);
        }
    }
}
