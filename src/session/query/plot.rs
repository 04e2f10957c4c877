//! Plots: pictures and tables of the functions, expressions and data that a command names.
//!
//! A command is translated to a program. Errors are reported at the text of the user, never at the translation.

use crate::diagnostic::{Code, Diagnostic};
use crate::session::query::command_text::{self, CommandText};
use crate::session::query::parts_of;
use crate::session::{Display, Input, Session};
use crate::source::{GENERATED, Span};

/// The range of a plot without bounds.
const DEFAULT_BOUNDS: (&str, &str) = ("-10", "10");

/// The subject of a plot, as source text.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Subject {
    /// A function of one number, which is plotted as a curve.
    Function(String),
    /// A function of two numbers, which is plotted as a heat map.
    Field(String),
    /// A function of two numbers whose zeros form the plotted curve.
    Equation(String),
    /// A value that provides a picture.
    Picture(String),
    /// An array of numbers or points.
    Data(String),
}

impl Session {
    /// Plots functions of one number, expressions in `x`, equations in `x` and `y`, or data.
    ///
    /// # Errors
    /// Returns the diagnostics when a text or a bound is invalid, or the run fails.
    pub fn plot(&mut self, texts: &[&str], bounds: Option<(&str, &str)>) -> Result<Display, Vec<Diagnostic>> {
        let subjects = texts.iter().map(|text| self.subject(text)).collect::<Result<Vec<_>, _>>()?;
        let range = self.range(bounds.unwrap_or(DEFAULT_BOUNDS))?;
        let functions: Option<Vec<&str>> = subjects.iter().map(Subject::function).collect();
        let program = match (functions, subjects.as_slice()) {
            (Some(functions), _) => format!("plot([{}], {range}, names: {texts:?})", functions.join(", ")),
            (None, [Subject::Field(body)]) => format!("plot(contours: {body}, {range}, {range})"),
            (None, [Subject::Equation(body)]) => {
                format!("plot(implicit: {body}, {range}, {range}, name: {:?})", texts.concat())
            }
            (None, [Subject::Data(body)]) => format!("plot({body})"),
            (None, [Subject::Picture(body)]) => body.clone(),
            (None, _) => {
                let message = "only functions of one number can be plotted together; plot the others one at a time";
                return Err(vec![self.at_text(&texts.join(", "), message)]);
            }
        };
        let forms =
            format!("let _p = ({program}).picture; [_p.text, _p.svg, _p.html, _p.latex, _p.json, _p._terminal]");
        self.pictured(&texts.join(", "), &forms)
    }

    /// Tabulates functions of one number, or expressions in `x`, between two bounds.
    ///
    /// # Errors
    /// Returns the diagnostics when a function, a bound or the step is invalid, or the run fails.
    pub fn table(
        &mut self,
        texts: &[&str],
        bounds: Option<(&str, &str)>,
        step: Option<&str>,
    ) -> Result<Display, Vec<Diagnostic>> {
        let mut functions = vec![];
        for text in texts {
            match self.subject(text)? {
                Subject::Function(body) => functions.push(body),
                _ => {
                    let message = format!("'{text}' is not a function of one number or an expression in x");
                    return Err(vec![self.at_text(text, &message)]);
                }
            }
        }
        let range = self.range(bounds.unwrap_or(DEFAULT_BOUNDS))?;
        let step = match step {
            Some(step) => format!(", step: {:?}", self.number(step)?),
            None => String::new(),
        };
        let functions = functions.join(", ");
        let program =
            format!("let _t = table([{functions}], {range}{step}, names: {texts:?}); [_t.description, \"\", _t.html]");
        self.pictured(&texts.join(", "), &program)
    }

    /// Runs a translated command that computes the forms of a picture.
    fn pictured(&mut self, text: &str, program: &str) -> Result<Display, Vec<Diagnostic>> {
        self.texts(command_text::NAME, &CommandText::new(text).code(program)).map(Display::of)
    }

    /// Returns a range of numbers in source syntax.
    fn range(&mut self, (from, to): (&str, &str)) -> Result<String, Vec<Diagnostic>> {
        if from.is_empty() || to.is_empty() {
            let message = "an interval has two bounds: 'from -3 to 3'";
            return Err(vec![self.at_text(if from.is_empty() { to } else { from }, message)]);
        }
        let (low, high) = (self.number(from)?, self.number(to)?);
        if low == high || !(high - low).is_finite() {
            let message = format!("a plot needs two different finite bounds, not {low} and {high}");
            return Err(vec![self.at_text(&format!("{from} to {to}"), &message)]);
        }
        Ok(format!("({:?})...({:?})", low.min(high), low.max(high)))
    }

    /// Returns the value of a text that computes a number.
    fn number(&mut self, text: &str) -> Result<f64, Vec<Diagnostic>> {
        self.compiles(&[text])?;
        let value = self.numbers(&format!("[Double({text})]"));
        match value.as_deref() {
            Ok([value]) => Ok(*value),
            _ => Err(vec![self.at_text(text, &format!("'{text}' is not a number"))]),
        }
    }

    /// Determines the kind of subject that a text denotes.
    fn subject(&mut self, text: &str) -> Result<Subject, Vec<Diagnostic>> {
        if let Some((left, right)) = equation(text) {
            let body = format!("({left}) - ({right})");
            for text in [left, right, &body] {
                let compiled = self.compiles(&["let (x, y) = (0.5, 0.5)", text]);
                compiled.map_err(|errors| self.with_values(errors, text))?;
            }
            // `y = x^2` is the graph of a function.
            if left.trim() == "y" && self.is_of(&format!("{{ x in {right} }}"), 1) {
                return Ok(Subject::Function(format!("{{ x in {right} }}")));
            }
            return Ok(Subject::Equation(format!("{{ x, y in {body} }}")));
        }
        if self.is_of(text, 1) {
            return Ok(Subject::Function(text.to_owned()));
        }
        if self.is_of(text, 2) {
            return Ok(Subject::Field(text.to_owned()));
        }
        if let Some(function) = self.with_scalar_result(text) {
            return Ok(Subject::Function(function));
        }
        let has_type = |session: &mut Session, text: &str, wanted: &str| {
            session.type_of(text).is_ok_and(|ty| ty.as_deref() == Some(wanted))
        };
        // The text is checked in an array, because a picture that is a statement is displayed and has no value.
        if has_type(self, &format!("[({text}).picture]"), "[Picture]") {
            return Ok(Subject::Picture(text.to_owned()));
        }
        if has_type(self, &format!("[plot({text})]"), "[Plot]") {
            return Ok(Subject::Data(text.to_owned()));
        }
        let (of_x, of_both) = (format!("{{ x in {text} }}"), format!("{{ x, y in {text} }}"));
        if self.is_of(&of_x, 1) {
            return Ok(Subject::Function(of_x));
        }
        if self.is_of(&of_both, 2) {
            return Ok(Subject::Field(of_both));
        }
        let of_letter = format!("{{ {} in {text} }}", self.variable(text).unwrap_or("x"));
        if of_letter != of_x && self.is_of(&of_letter, 1) {
            return Ok(Subject::Function(of_letter));
        }
        if let Some(function) = self.with_scalar_result(&format!("{{ (x: Double) in {text} }}")) {
            return Ok(Subject::Function(function));
        }
        let value = self.compiles(&["let x = 0.5", text]);
        let value = value.map_err(|errors| self.with_values(self.in_notation(errors, text), text))?;
        let ty = value.map_or(String::new(), |ty| format!(", but has type '{ty}'"));
        let message =
            format!("'{text}' is not a function of one number, an expression in x, or an array of numbers{ty}");
        Err(vec![self.at_text(text, &message)])
    }

    /// Whether a text is a function from numbers to a number.
    fn is_of(&mut self, text: &str, parameters: usize) -> bool {
        let types = vec!["Double"; parameters].join(", ");
        self.type_of(&format!("let _f: ({types}) -> Double = {text}; _f")).is_ok()
    }

    /// Returns the function of one number whose values are the scalars of the tensors of rank 0 that a text's function returns.
    fn with_scalar_result(&mut self, text: &str) -> Option<String> {
        let ty = self.type_of(text).ok()??;
        let (parameters, result) = parts_of(&ty)?;
        let number = match parameters.as_slice() {
            [parameter] if ["Double", "Float"].contains(&&**parameter) => parameter.to_string(),
            _ => return None,
        };
        let scalar = if result.starts_with("Tensor<") { ".scalarized()" } else { "" };
        let function = format!("{{ (x: Double) in Double(({text})({number}(x)){scalar}) }}");
        self.is_of(&function, 1).then_some(function)
    }

    /// Checks texts that the user wrote, of which all but the last are declarations, and returns the type of the last.
    fn compiles(&mut self, texts: &[&str]) -> Result<Option<String>, Vec<Diagnostic>> {
        let snapshot = self.snapshot();
        let inputs: Vec<Input<'_>> = texts
            .iter()
            .enumerate()
            .map(|(k, text)| Input { name: if k + 1 < texts.len() { GENERATED } else { command_text::NAME }, text })
            .collect();
        let compiled = self.compile(&inputs, true);
        let answer = match compiled {
            Ok(compiled) => {
                let ty = compiled.checked.value;
                Ok(ty.map(|ty| crate::types::model::display::show(&self.context, &ty)))
            }
            Err(outcome) => Err(outcome.diagnostics),
        };
        self.restore(snapshot);
        answer
    }

    /// Explains the errors of a text that is written in another notation, such as `sin x`.
    fn in_notation(&self, errors: Vec<Diagnostic>, text: &str) -> Vec<Diagnostic> {
        let explained = errors.iter().find(|error| error.code <= Code::ExpectedBrace).and_then(|error| {
            let source = self.sources.get(self.sources.source_of(error.primary.span)?);
            command_text::notation_error(text, source.start, error)
        });
        explained.map_or(errors, |explained| vec![explained])
    }

    /// Returns an error at a text that the user wrote.
    fn at_text(&mut self, text: &str, message: &str) -> Diagnostic {
        let id = self.sources.add(command_text::NAME, text.to_owned());
        let span = id.map_or(Span::default(), |_| self.last_text());
        Diagnostic::error(Code::Input, span, message)
    }

    /// Returns the span of the last text, as a location for diagnostics.
    pub(crate) fn last_text(&self) -> Span {
        let last = self.sources.written().last();
        last.map_or(Span::default(), |source| Span::new(source.start, source.start + source.text.len() as u32))
    }

    /// Returns the text of a function unchanged, and converts an expression to a function of `x`, or of its only letter.
    pub(crate) fn as_function(&mut self, text: &str) -> String {
        let is_function = text.starts_with('{')
            || match self.type_of(&format!("let _f: (Double) -> Double = {text}; _f")) {
                Ok(_) => true,
                Err(_) => self.type_of(text).is_ok_and(|ty| ty.is_some_and(|ty| ty.contains("->"))),
            };
        if is_function {
            return text.to_owned();
        }
        // Beside an integer variable, `x` would be an integer.
        let x = self.variable(text).unwrap_or("x");
        let (plain, of_numbers) = (format!("{{ {x} in {text} }}"), format!("{{ ({x}: Double) in {text} }}"));
        let mut is_of = |function: &str, parameter: &str| match self.type_of(function) {
            Ok(Some(ty)) => parts_of(&ty).is_some_and(|(parameters, _)| parameters == [parameter]),
            _ => false,
        };
        if is_of(&plain, "Int") && is_of(&of_numbers, "Double") { of_numbers } else { plain }
    }
}

impl Subject {
    /// Returns the text of a function of one number.
    fn function(&self) -> Option<&str> {
        match self {
            Subject::Function(text) => Some(text),
            _ => None,
        }
    }
}

/// Splits an equation at the sign `=` that is outside of brackets and not part of another operator.
fn equation(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '=' if depth == 0 && !"=<>!+-*/^".contains(before) && !text[at + 1..].starts_with('=') => {
                return Some((text[..at].trim(), text[at + 1..].trim()));
            }
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Options;

    fn session() -> Session {
        let options = Options { interactive: true, ..Options::default() };
        let mut session = Session::new(options, Box::new(std::io::sink()));
        session.enter(
            "‹1›",
            "f(x) = x^2\ng(x, y) = x * y\nlet xs = [1.0, 3, 2]\nlet n = 3\nfunc bad(_ x: Double) -> Double { [x][5] }",
        );
        session
    }

    fn svg(texts: &[&str], bounds: Option<(&str, &str)>) -> String {
        let display = session().plot(texts, bounds).expect("it is plotted");
        display.forms.iter().find(|(media, _)| media == "image/svg+xml").expect("it is a drawing").1.clone()
    }

    fn error(texts: &[&str], bounds: Option<(&str, &str)>) -> String {
        let mut session = session();
        let diagnostics = session.plot(texts, bounds).expect_err("it is refused");
        crate::diagnostic::render(&diagnostics, session.sources(), crate::diagnostic::Form::Full, false, 100, false)
    }

    #[test]
    fn equations_have_two_sides() {
        assert_eq!(equation("x^2 + y^2 = 1"), Some(("x^2 + y^2", "1")));
        for other in ["x == 1", "x <= 1", "f(a: { b = 1 })", "x^2"] {
            assert_eq!(equation(other), None, "{other}");
        }
    }

    #[test]
    fn functions_expressions_equations_and_data_are_plotted() {
        for subject in ["sin", "sin(x)", "f", "f'", "x^2", "5", "{ t in t }", "y = x^2", "n * x"] {
            let svg = svg(&[subject], None);
            assert!(svg.contains("stroke-width=\"2.5\""), "{subject}: {svg}");
        }
        for subject in ["x * y", "g"] {
            assert!(svg(&[subject], Some(("-2", "2"))).contains("stroke-width=\"2\""), "{subject}");
        }
        for subject in ["x^2 + y^2 = 1", "xs", "plot(xs)", "[1, 2, 3]"] {
            assert!(svg(&[subject], None).contains("stroke-width=\"2.5\""), "{subject}");
        }
        assert!(svg(&["f", "f'"], Some(("-π", "2π"))).contains(">f'<"));
    }

    #[test]
    fn errors_are_at_the_text_of_the_user() {
        for (texts, bounds, part) in [
            (&["sin q"][..], None, "sin q"),
            (&["nonsense(x)"], None, "nonsense(x)"),
            (&["\"text\""], None, "is not a function of one number"),
            (&["x"], Some(("1", "1")), "two different finite bounds"),
            (&["x"], Some(("1", "wrong")), "wrong"),
            (&["bad"], None, "out of range"),
            (&["f", "xs"], None, "one at a time"),
        ] {
            let error = error(texts, bounds);
            assert!(error.contains(part), "{error}");
            for generated in ["_f", "_p", "plot([", "picture", "‹generated›", "Double("] {
                assert!(!error.contains(generated), "{error}");
            }
        }
    }
}
