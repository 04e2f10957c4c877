//! Queries: values of temporary text, tables of functions, and the parameters in which a function is differentiable.

pub(crate) mod command_text;
pub(crate) mod completion;
pub(crate) mod formatting;
pub(crate) mod highlighting;
pub(crate) mod inspection;
pub(crate) mod letters;
pub(crate) mod library_catalog;
pub(crate) mod library_reference;
pub(crate) mod library_search;
pub(crate) mod library_topics;
pub(crate) mod plot;
pub(crate) mod ranking;

use crate::diagnostic::Diagnostic;
use crate::session::query::command_text::CommandText;
use crate::session::query::library_catalog::Catalog;
use crate::session::{Input, Session};
use crate::source::GENERATED;
use crate::types::declare::interactive_session;
use crate::value::{Cells, Ref};
use std::rc::Rc;

/// The differentiability of a function with respect to one parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct ParameterInfo {
    /// The name of the parameter.
    pub name: String,
    /// The type of the parameter, in source syntax.
    pub ty: String,
    /// The reason why the function has no derivative in the parameter; `None` when it has one.
    pub obstacle: Option<String>,
    /// Whether the function is linear in the parameter.
    pub is_linear: bool,
}

impl Session {
    /// Returns the public declarations of the library.
    pub fn catalog(&mut self) -> Rc<Catalog> {
        let sources = &self.sources;
        Rc::clone(self.catalog.get_or_insert_with(|| Rc::new(Catalog::of(sources))))
    }

    /// Returns the array of strings that a program around parts of the input computes. The declarations of the program
    /// are discarded.
    ///
    /// # Errors
    /// Returns the diagnostics when the program does not compile or the run fails.
    pub(crate) fn texts(&mut self, name: &str, text: &CommandText<'_>) -> Result<Vec<String>, Vec<Diagnostic>> {
        let text_of = |value: &Ref| if let Ref::Text(text) = value { text.to_string() } else { String::new() };
        let array = self.array(text.text());
        let array = array.map_err(|diagnostics| self.at_input_parts(diagnostics, name, text))?;
        Ok(array.map_or(vec![], |array| array.r.iter().map(text_of).collect()))
    }

    /// Returns the array of numbers that a program around parts of the input computes. The declarations of the program
    /// are discarded.
    ///
    /// # Errors
    /// Returns the diagnostics when the program does not compile or the run fails.
    pub(crate) fn numbers_of(&mut self, name: &str, text: &CommandText<'_>) -> Result<Vec<f64>, Vec<Diagnostic>> {
        let array = self.array(text.text());
        let array = array.map_err(|diagnostics| self.at_input_parts(diagnostics, name, text))?;
        Ok(array.map_or(vec![], |array| array.f.to_vec()))
    }

    /// Returns the array that a generated text computes. Its declarations are discarded.
    pub(crate) fn array(&mut self, text: &str) -> Result<Option<Rc<Cells>>, Vec<Diagnostic>> {
        let names = interactive_session::names(&self.context);
        let compiled = self.compile_entered(GENERATED, text).map_err(|outcome| outcome.diagnostics)?;
        let result = self.computed(compiled.script);
        interactive_session::take_back(&mut self.context, names);
        match result {
            Ok(values) => Ok(match values.r.first() {
                Some(Ref::Cells(array)) => Some(Rc::clone(array)),
                _ => None,
            }),
            Err(fault) => Err(self.concluded(Err(fault), vec![]).diagnostics),
        }
    }

    /// Returns the differentiability of a function in each of its parameters; `None` for a value that is not a
    /// function.
    ///
    /// # Errors
    /// Returns the diagnostics when the function does not compile.
    pub fn differentiable(&mut self, typed: &str) -> Result<Option<Vec<ParameterInfo>>, Vec<Diagnostic>> {
        let function = &*self.function_text(typed);
        let Some((types, result)) = self.type_around(function, typed)?.as_deref().and_then(parts_of) else {
            return Ok(None);
        };
        let mut names = crate::session::explain::names_of_parameters(&mut self.context, function);
        if names.len() != types.len() || names.iter().any(String::is_empty) {
            names = (1..=types.len()).map(|n| if types.len() == 1 { "x".into() } else { format!("x{n}") }).collect();
        }
        let labels = interactive_session::labels_of_parameters(&mut self.context, function);
        // The linearity of a function in a variable is unknown.
        let is_known = function.starts_with('{') || !labels.is_empty();
        let call = call(function, &names, &labels);
        let mut infos = vec![];
        for (k, (name, ty)) in names.iter().zip(&types).enumerate() {
            let others = (0..types.len()).filter(|other| *other != k);
            let others: Vec<String> = others.map(|other| format!("{}: {}", names[other], types[other])).collect();
            let mut differentiability = |strength: &str| {
                let inner =
                    format!("let _d: @differentiable{strength} ({ty}) -> {result} = {{ {name} in {call} }}; _ = _d");
                let head =
                    if others.is_empty() { String::new() } else { format!("({}) -> Void in ", others.join(", ")) };
                self.obstacle(&format!("let _a = {{ {head}{inner} }}"))
            };
            let obstacle = differentiability("");
            let is_linear = is_known && obstacle.is_none() && differentiability("(linear)").is_none();
            infos.push(ParameterInfo { name: name.clone(), ty: ty.clone(), obstacle, is_linear });
        }
        Ok(Some(infos))
    }

    /// Returns the first error of a text in one sentence, if any; the session is unchanged.
    fn obstacle(&mut self, text: &str) -> Option<String> {
        let snapshot = self.snapshot();
        self.rejects_unknown_linearity = true;
        let compiled = self.compile(&[Input { name: GENERATED, text }], false);
        self.rejects_unknown_linearity = false;
        self.restore(snapshot);
        let outcome = compiled.err()?;
        let error = outcome.diagnostics.into_iter().find(Diagnostic::is_error)?;
        let why = error.notes.iter().find(|note| note.span.is_none()).map(|note| note.text.clone());
        let why = why.unwrap_or(error.message);
        // If the type of the parameter is not differentiable, only that condition is reported.
        match why.strip_prefix("parameter type ").and_then(|rest| rest.split_once(", but ")) {
            Some((unmet, _)) => Some(unmet.to_owned()),
            None => Some(why),
        }
    }
}

/// Returns the body of a closure, or a call of a named function with its parameters as arguments.
fn call(function: &str, names: &[String], labels: &[Option<String>]) -> String {
    let written = function.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if let Some((_, body)) = written.and_then(|rest| rest.split_once(" in ")) {
        return body.trim().to_owned();
    }
    let argument = |(k, name): (usize, &String)| match labels.get(k).cloned().flatten() {
        Some(label) => format!("{label}: {name}"),
        None => name.clone(),
    };
    let arguments = names.iter().enumerate().map(argument).collect::<Vec<_>>().join(", ");
    if function.starts_with('{') { format!("({function})({arguments})") } else { format!("{function}({arguments})") }
}

/// Returns the parameter types and the result type of a function type in source syntax.
pub(crate) fn parts_of(ty: &str) -> Option<(Vec<String>, String)> {
    let ty = ty.rsplit_once("@differentiable ").map_or(ty, |(_, ty)| ty);
    let mut depth = 0;
    let close = ty.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    })?;
    let (inside, rest) = (ty.get(1..close.0)?, ty.get(close.0 + 1..)?);
    let result = rest.trim_start().strip_prefix("->")?.trim().to_owned();
    let mut types = vec![String::new()];
    let mut depth = 0;
    for c in inside.chars() {
        depth += i32::from("([<".contains(c)) - i32::from(")]>".contains(c));
        match (c, types.last_mut()) {
            (',', _) if depth == 0 => types.push(String::new()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    let is_name = |text: &str| text.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
    let types = types.iter().map(|ty| match ty.split_once(": ") {
        Some((name, ty)) if is_name(name) => ty.trim().to_owned(),
        _ => ty.trim().to_owned(),
    });
    Some((types.filter(|ty| !ty.is_empty()).collect(), result))
}

#[cfg(test)]
mod tests {
    use super::parts_of;

    #[test]
    fn the_type_of_a_function_has_parts() {
        let parts = |ty| parts_of(ty).map(|(types, result)| (types.join(" and "), result));
        let of = |types: &str, result: &str| Some((types.to_owned(), result.to_owned()));
        assert_eq!(parts("(Double, Int) -> Double"), of("Double and Int", "Double"));
        assert_eq!(parts("(x: Double) -> (Double) -> Double"), of("Double", "(Double) -> Double"));
        assert_eq!(
            parts("([String: Double], (Int, Int)) -> [Double]"),
            of("[String: Double] and (Int, Int)", "[Double]")
        );
        assert_eq!(parts("Double"), None);
    }
}
