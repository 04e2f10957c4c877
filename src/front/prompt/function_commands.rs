//! Function commands: runs the commands for the derivative, the differentiability, a table of values, and the compiler
//! stages of a function.

use crate::front::plot_request::PlotRequest;
use crate::front::prompt::diagnostics::print_diagnostics;
use crate::front::prompt::{Flow, Prompt};
use crate::session::explain::derivation;
use crate::session::{Display, ParameterInfo, Point, Stage, closest};

/// Runs a derivative command with arguments such as `f tex`: a function or an expression in `x`, optionally with
/// primes, and optionally in LaTeX.
pub(crate) fn derive(prompt: &mut Prompt, rest: &str) -> Flow {
    let (text, is_set) = rest.strip_suffix(" tex").map_or((rest, false), |text| (text.trim_end(), true));
    let function = text.trim_end_matches(['\'', '′']);
    if function.is_empty() {
        return prompt.print_error("expected a function or an expression in x, such as 'f' or 'x * sin(x)'");
    }
    if let Some(reason) = no_formula(function) {
        return prompt.print_error(&reason);
    }
    let order = 1 + text[function.len()..].chars().count();
    match prompt.session.derive(function, order) {
        Ok(derived) if derived.latex.is_empty() => prompt.print_error(&derived.text),
        Ok(derived) => {
            let text = if is_set { derived.latex.clone() } else { derived.text };
            prompt.show_display(&Display::of([text, String::new(), String::new(), derived.latex]))
        }
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Returns a sentence if the argument of a derivative command is a definition, or has a point, an order or a variable.
fn no_formula(text: &str) -> Option<String> {
    let order = text.strip_suffix(" twice").map(|function| (function, "2"));
    if let Some((function, order)) = order.or_else(|| text.split_once(" order ")) {
        let order: usize = order.trim().parse().ok().filter(|order| (1..=9).contains(order)).unwrap_or(2);
        return Some(format!("each prime is one more derivative: :derive {function}{}", "'".repeat(order - 1)));
    }
    let variable = [" with respect to ", " wrt ", " by "].iter().find_map(|word| text.split_once(word));
    if let Some((function, variable)) = variable {
        return Some(match function.chars().all(|c| c.is_alphanumeric() || c == '_') {
            true => format!("':derive {function}' shows the derivatives by all parameters"),
            false => format!("the variable is written before the expression: ':derive {{ {variable} in {function} }}'"),
        });
    }
    if let Some((function, point)) = text.split_once(" at ") {
        return Some(format!("a formula has no point; ':explain {function} at {point}' computes the derivative there"));
    }
    let (name, value) = text.split_once('=').filter(|(name, value)| {
        !name.ends_with(['=', '<', '>', '!']) && !value.starts_with('=') && !name.contains('{')
    })?;
    let (name, value) = (name.trim(), value.trim());
    Some(match name.split_once('(') {
        Some((function, _)) => format!("enter the definition '{name} = {value}' first, and then ':derive {function}'"),
        None => format!("a formula is written without '{name} =': ':derive {value}'"),
    })
}

/// Runs a differentiability command with the argument `f`, or `f at 2`, for which it also prints the value and the
/// derivative.
pub(crate) fn diff(prompt: &mut Prompt, rest: &str) -> Flow {
    let point = Point::parse(rest);
    let function = point.as_ref().map_or(rest, |point| point.function);
    if function.is_empty() {
        return prompt.print_error("expected a function and optionally a point, such as 'f' or 'f at 2'");
    }
    let infos = match prompt.session.differentiable(function) {
        Ok(Some(infos)) => infos,
        Ok(None) => return prompt.print_error(&format!("'{function}' is not a function")),
        Err(diagnostics) => return print_diagnostics(prompt, &diagnostics),
    };
    verdict(&infos).iter().for_each(|line| prompt.print_line(line));
    if infos.iter().any(|one| one.obstacle.is_none()) {
        match prompt.session.mechanisms(function) {
            Ok(lines) => lines.iter().for_each(|line| prompt.print_line(line)),
            Err(diagnostics) => return print_diagnostics(prompt, &diagnostics),
        }
    }
    let Some(point) = point else { return Flow::Next };
    match prompt.session.explain(&point) {
        Ok(explained) => {
            derivation::derivatives(&explained).iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Formats a line such as `differentiable in x, y; linear in y`, and a line for each other parameter.
fn verdict(infos: &[ParameterInfo]) -> Vec<String> {
    let names = |has: &dyn Fn(&ParameterInfo) -> bool| {
        infos.iter().filter(|one| has(one)).map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (smooth, linear) = (names(&|one| one.obstacle.is_none()), names(&|one| one.is_linear));
    let first = match (smooth.is_empty(), linear.is_empty()) {
        (true, _) => "not differentiable in any parameter".to_owned(),
        (false, true) => format!("differentiable in {smooth}"),
        (false, false) => format!("differentiable in {smooth}; linear in {linear}"),
    };
    let other = |one: &ParameterInfo| Some(format!("not in {} ({}): {}", one.name, one.ty, one.obstacle.as_ref()?));
    std::iter::once(first).chain(infos.iter().filter_map(other)).collect()
}

/// Runs `f, f' from -3 to 3 step 0.5`: functions, and optionally bounds and a step.
pub(crate) fn table(prompt: &mut Prompt, rest: &str) -> Flow {
    let request = PlotRequest::parse(rest);
    if request.subjects.is_empty() {
        return prompt.print_error("expected a function, such as 'sin', 'x^2' or 'f, f' from -3 to 3 step 0.5'");
    }
    match prompt.session.table(&request.subjects(), request.bounds(), request.step.as_deref()) {
        Ok(display) => prompt.show_display(&display),
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Runs a stage command with arguments such as `ir f`: a stage, and a function or an expression in `x`.
pub(crate) fn show(prompt: &mut Prompt, rest: &str) -> Flow {
    let (word, function) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let Some(stage) = Stage::ALL.iter().copied().find(|stage| stage.name() == word) else {
        let close = closest(word, Stage::ALL.iter().map(|stage| stage.name()));
        let close = close.map_or(String::new(), |close| format!("; did you mean '{close}'?"));
        let first = if word.is_empty() { "expected a stage and a function" } else { "there is no such stage" };
        let stages = Stage::ALL
            .iter()
            .map(|stage| format!("\n  :show {:<18} {}", format!("{} f", stage.name()), stage.summary()));
        return prompt.print_error(&format!("{first}{close}{}", stages.collect::<String>()));
    };
    let function = function.trim();
    if function.is_empty() {
        return prompt.print_error(&format!("expected a function, such as ':show {word} f'"));
    }
    if stage == Stage::Tape {
        return prompt.print_error(&format!("the tape depends on the point; use ':tape {function} at 2'"));
    }
    match prompt.session.show_function(stage, function) {
        Ok(text) => {
            text.trim_end().lines().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}
