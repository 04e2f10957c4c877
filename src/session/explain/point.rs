//! Point: a function or an expression with the arguments at which it is differentiated, as entered after a command:
//! `f at 2`, `x^2 * y at 1, 2`, `area at Box(width: 1)`, `f(2)`.

use crate::diagnostic::Diagnostic;
use crate::session::Session;
use crate::session::explain::names_of_parameters;
use crate::session::query::command_text::CommandText;
use crate::session::query::inspection::is_part_of_name;
use crate::session::query::parts_of;
use crate::syntax::variable_words;
use crate::types::declare::interactive_session;

/// The displayed name of the input of a command that explains.
pub(crate) const NAME: &str = "‹explain›";

/// Types whose values are not differentiable: arguments of these types are constant.
const CONSTANT_TYPES: &[&str] = &["Int", "Bool", "String", "Character", "UInt", "UInt8", "Int8", "Int32", "Int64"];

/// The result types of functions whose derivatives are explained.
const NUMBERS: &[&str] = &["Double", "Float"];

/// The result types of functions whose derivatives are explained if the result has rank 0.
const TENSORS: &[&str] = &["Tensor<Double>", "Tensor<Float>"];

/// The names of variables in expressions, in the order of the arguments.
const VARIABLES: &[&str] = &["x", "y", "z"];

/// A function with the arguments at which it is differentiated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point<'t> {
    /// The complete input.
    input: &'t str,
    /// The function, or an expression.
    pub function: &'t str,
    /// The arguments; each argument may be preceded by the name of its parameter: `x = 1`.
    arguments: Vec<(Option<&'t str>, &'t str)>,
}

impl<'t> Point<'t> {
    /// Parses `f at 1, 2` or `f(1, 2)`; `None` for other text.
    pub fn parse(input: &'t str) -> Option<Point<'t>> {
        let (function, arguments) = match input.rsplit_once(" at ") {
            Some((function, arguments)) => (function.trim(), arguments),
            None => called(input.trim())?,
        };
        let arguments: Vec<_> = listed(arguments).into_iter().map(named).collect();
        let is_empty = function.is_empty() || arguments.iter().any(|(_, argument)| argument.is_empty());
        (!is_empty).then_some(Point { input, function, arguments })
    }

    /// Returns the point as a part of a longer input, to which diagnostics refer.
    #[must_use]
    pub fn within(self, input: &'t str) -> Point<'t> {
        Point { input, ..self }
    }

    /// Returns the number of arguments.
    pub fn count(&self) -> usize {
        self.arguments.len()
    }

    /// Returns the source text of an argument; an integer becomes a `Double`, because integers are not differentiable.
    fn argument(&self, k: usize) -> CommandText<'t> {
        let (_, argument) = self.arguments[k];
        let text = CommandText::new(self.input).part(argument);
        if argument.parse::<i64>().is_ok() { text.code(".0") } else { text }
    }
}

/// Splits `f(1, 2)` into the callee and its arguments.
fn called(text: &str) -> Option<(&str, &str)> {
    let (function, arguments) = text.strip_suffix(')')?.split_once('(')?;
    let is_name = function.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && function.chars().all(|c| is_part_of_name(c) || "'′".contains(c));
    let mut depth = 0_i32;
    let stays_inside = arguments.chars().all(|c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        depth >= 0
    });
    (is_name && stays_inside).then_some((function, arguments))
}

/// Splits `x = 1` into the name and the argument.
fn named(part: &str) -> (Option<&str>, &str) {
    match part.split_once('=') {
        Some((name, value))
            if !name.trim().is_empty() && name.trim().chars().all(is_part_of_name) && !value.starts_with('=') =>
        {
            (Some(name.trim()), value.trim())
        }
        _ => (None, part),
    }
}

/// Splits a list at the commas outside brackets.
fn listed(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut is_quoted) = (vec![], 0, 0_i32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// A function in a generated program.
pub(crate) struct FunctionText<'t> {
    /// The source text of the function.
    pub(crate) text: CommandText<'t>,
    /// The names of the function's parameters, as far as they are known.
    pub(crate) names: Vec<String>,
    /// The indices of the arguments that the function takes; the other arguments are constant.
    pub(crate) taken: Vec<usize>,
    /// The types of the arguments that the function takes, if they are known.
    pub(crate) types: Option<Vec<String>>,
}

impl Session {
    /// Returns the function of a point as source text.
    ///
    /// # Errors
    /// Returns a diagnostic when the function does not take the arguments.
    pub(crate) fn function_at<'t>(&mut self, point: &Point<'t>) -> Result<FunctionText<'t>, Vec<Diagnostic>> {
        let Point { input, function, .. } = *point;
        let count = point.count();
        let all: Vec<usize> = (0..count).collect();
        let Some(ty) = self.function_type(function, count) else { return self.expression_at(point) };
        let names = names_of_parameters(&mut self.context, function);
        let Some((types, result)) = parts_of(&ty) else {
            return Ok(FunctionText { text: CommandText::new(input).part(function), names, taken: all, types: None });
        };
        let is_tensor = TENSORS.contains(&result.as_str());
        if !is_tensor && !NUMBERS.contains(&result.as_str()) {
            let message = format!(
                "'{function}' returns '{result}'; the derivative of a function that returns a number is explained"
            );
            return Err(self.input_error(NAME, input, function, message));
        }
        if types.len() != count {
            let example: Vec<String> = (1..=types.len()).map(|n| n.to_string()).collect();
            let number = |n: usize| if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") };
            let message = format!(
                "'{function}' takes {}, and the point has {}: write '{function} at {}'",
                number(types.len()),
                count,
                example.join(", ")
            );
            return Err(self.input_error(NAME, input, function, message));
        }
        let is_constant = |k: &usize| CONSTANT_TYPES.contains(&types[*k].as_str());
        let taken: Vec<usize> = all.iter().copied().filter(|k| !is_constant(k)).collect();
        let is_constant_only = taken.is_empty();
        let taken = if is_constant_only { all.clone() } else { taken };
        let types_of_taken = Some(taken.iter().map(|k| types[*k].clone()).collect());
        if taken.len() == count && !is_tensor {
            let text = CommandText::new(input).part(function);
            return Ok(FunctionText { text, names, taken: all, types: types_of_taken });
        }
        let is_constant = |k: &usize| !is_constant_only && is_constant(k);
        let labels = interactive_session::labels_of_parameters(&mut self.context, function);
        let name = |k: usize| names.get(k).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| format!("_p{k}"));
        let parameters: Vec<String> = taken.iter().map(|k| format!("{}: {}", name(*k), types[*k])).collect();
        let mut text =
            CommandText::new(input).code(&format!("{{ ({}) in ", parameters.join(", "))).part(function).code("(");
        for k in 0..count {
            let comma = if k > 0 { ", " } else { "" };
            let label = labels.get(k).cloned().flatten().map_or(String::new(), |label| format!("{label}: "));
            text = text.code(&format!("{comma}{label}"));
            text = if is_constant(&k) { text.part(point.arguments[k].1) } else { text.code(&name(k)) };
        }
        let names = taken.iter().map(|k| name(*k)).collect();
        let text = text.code(if is_tensor { ")._shownNumber() }" } else { ") }" });
        Ok(FunctionText { text, names, taken, types: types_of_taken })
    }

    /// Returns the type of a text that denotes a function of `count` arguments; `None` for any other expression.
    fn function_type(&mut self, function: &str, count: usize) -> Option<String> {
        let is_closure = function.starts_with('{');
        let numbers = vec!["Double"; count].join(", ");
        let expected = format!("({numbers}) -> Double");
        if self.type_of(&format!("let _f: {expected} = {function}; _f")).is_ok() {
            return Some(expected);
        }
        match self.type_of(function) {
            ty if is_closure => Some(ty.ok().flatten().filter(|ty| parts_of(ty).is_some()).unwrap_or_default()),
            Ok(ty) => ty.filter(|ty| parts_of(ty).is_some()),
            // The text is the name of an overloaded or generic function, or an unknown name other than a variable.
            Err(_) => {
                let is_word = function.chars().all(|c| is_part_of_name(c) || "'′.".contains(c));
                (is_word && !VARIABLES.contains(&function)).then(String::new)
            }
        }
    }

    /// Returns an expression as a function of its variables.
    fn expression_at<'t>(&mut self, point: &Point<'t>) -> Result<FunctionText<'t>, Vec<Diagnostic>> {
        let Point { input, function, .. } = *point;
        let count = point.count();
        let given: Vec<String> = point.arguments.iter().filter_map(|(name, _)| name.map(str::to_owned)).collect();
        let names = if given.len() == count { given } else { self.variables_of(function, count) };
        if names.len() != count {
            let has = match &names[..] {
                [] => "no variables".to_owned(),
                [only] => format!("the variable {only}"),
                several => format!("the variables {}", several.join(", ")),
            };
            let message =
                format!("the expression has {has}, and the point has {count} numbers; name them: 'x = 1, y = 2'");
            return Err(self.input_error(NAME, input, function, message));
        }
        let types: Vec<Option<String>> = (0..count).map(|k| self.type_of_argument(point, k)).collect();
        let parameters = match types.iter().cloned().collect::<Option<Vec<String>>>() {
            Some(types) => {
                let typed = names.iter().zip(types).map(|(name, ty)| format!("{name}: {ty}"));
                format!("({})", typed.collect::<Vec<_>>().join(", "))
            }
            None => names.join(", "),
        };
        let start = CommandText::new(input).code(&format!("{{ {parameters} in "));
        let text = start.clone().part(function).code(" }");
        let ty = self.type_of(text.text()).ok().flatten();
        let text = match ty.as_deref().and_then(parts_of) {
            Some((_, result)) if TENSORS.contains(&result.as_str()) => {
                start.code("(").part(function).code(")._shownNumber() }")
            }
            _ => text,
        };
        Ok(FunctionText { text, names, taken: (0..count).collect(), types: None })
    }

    /// Returns the type of an argument, with `Double` for integers.
    fn type_of_argument(&mut self, point: &Point<'_>, k: usize) -> Option<String> {
        let ty = self.type_of(point.arguments[k].1).ok().flatten()?;
        let is_of_integers = ty.trim_matches(['[', ']']) == "Int";
        Some(if is_of_integers { ty.replace("Int", "Double") } else { ty })
    }

    /// Returns the variables of an expression, in the order of its arguments.
    fn variables_of(&mut self, expression: &str, count: usize) -> Vec<String> {
        let words = variable_words(expression);
        let usual: Vec<String> =
            VARIABLES.iter().filter(|name| words.contains(*name)).map(ToString::to_string).collect();
        let mut free: Vec<String> = words.iter().map(ToString::to_string).collect();
        free.retain(|word| !interactive_session::is_declared(&self.context, word));
        free.sort();
        free.dedup();
        match count {
            _ if free.len() == count => free,
            _ if usual.len() == count => usual,
            1 if free.is_empty() => vec!["x".to_owned()],
            _ => free,
        }
    }

    /// Returns a function or an expression as the source text of a function.
    pub(crate) fn function_text(&mut self, function: &str) -> String {
        let is_function = function.starts_with('{')
            || self.type_of(function).is_ok_and(|ty| ty.as_deref().and_then(parts_of).is_some());
        if is_function {
            return function.to_owned();
        }
        let mut names = variable_words(function);
        names.retain(|word| VARIABLES.contains(word) || !interactive_session::is_declared(&self.context, word));
        names.sort_unstable();
        names.dedup();
        let is_word = function.chars().all(is_part_of_name) && !VARIABLES.contains(&function);
        if names.is_empty() || is_word {
            return function.to_owned();
        }
        format!("{{ {} in {function} }}", names.join(", "))
    }
}

/// A program that calls the function of a point with one argument, which contains all numbers.
pub(crate) struct JoinedText<'t> {
    /// The single argument: a value, or a tuple of values.
    pub(crate) argument: CommandText<'t>,
    /// The function that takes the single argument.
    pub(crate) function: CommandText<'t>,
}

/// Combines the arguments of a function into one argument.
pub(crate) fn joined<'t>(point: &Point<'t>, function: &FunctionText<'t>) -> JoinedText<'t> {
    let start = || CommandText::new(point.input);
    let typed = |argument: CommandText<'t>| match &function.types {
        Some(types) => argument.code(&format!(" as ({})", types.join(", "))),
        None => argument,
    };
    let [first, others @ ..] = &function.taken[..] else {
        return JoinedText { argument: start().code("()"), function: start().append(&function.text) };
    };
    if others.is_empty() {
        return JoinedText { argument: typed(point.argument(*first)), function: function.text.clone() };
    }
    let mut argument = start().code("(").append(&point.argument(*first));
    for k in others {
        argument = argument.code(", ").append(&point.argument(*k));
    }
    let numbers = (0..function.taken.len()).map(|k| format!("_p.{k}")).collect::<Vec<_>>().join(", ");
    let call = start().code("{ _p in (").append(&function.text).code(&format!(")({numbers}) }}"));
    JoinedText { argument: typed(argument.code(")")), function: call }
}

/// Returns the arguments that the function takes, as a list.
pub(crate) fn arguments<'t>(point: &Point<'t>, function: &FunctionText<'t>) -> CommandText<'t> {
    let mut list = CommandText::new(point.input);
    for (n, k) in function.taken.iter().enumerate() {
        list = if n > 0 { list.code(", ") } else { list };
        list = list.append(&point.argument(*k));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, Vec<String>)> {
        let point = Point::parse(text)?;
        let arguments = point.arguments.iter().map(|(name, argument)| match name {
            Some(name) => format!("{name}={argument}"),
            None => (*argument).to_owned(),
        });
        Some((point.function.to_owned(), arguments.collect()))
    }

    #[test]
    fn a_point_is_a_function_with_arguments() {
        let of = |function: &str, arguments: &[&str]| {
            Some((function.to_owned(), arguments.iter().map(ToString::to_string).collect()))
        };
        assert_eq!(parsed("f at 2"), of("f", &["2"]));
        assert_eq!(parsed("x^2 * y at 1, 2"), of("x^2 * y", &["1", "2"]));
        assert_eq!(parsed("g at [1, 2], Line(a: 1, b: 2)"), of("g", &["[1, 2]", "Line(a: 1, b: 2)"]));
        assert_eq!(parsed("f'(2)"), of("f'", &["2"]));
        assert_eq!(parsed("x * y at y = 1, x = 2"), of("x * y", &["y=1", "x=2"]));
        for text in ["f", "f at", "at 2", "f at 1,", "f(1) + g(2)"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
