//! Curves: samples of functions for a chart.

use crate::diagnostic::{Code, Diagnostic};
use crate::plot::{Chart, Mark, Series};
use crate::session::Session;
use crate::source::Span;

/// The number of intervals between the sampled points of a curve.
const POINTS: usize = 400;

impl Session {
    /// Samples functions of one number, or expressions in `x`, between two bounds.
    ///
    /// # Errors
    /// Returns the diagnostics when a function or a bound is invalid, or the run fails.
    pub fn curves(&mut self, functions: &[&str], from: &str, to: &str) -> Result<Chart, Vec<Diagnostic>> {
        let bounds = self.numbers(&format!("[Double({from}), Double({to})]"))?;
        let [from, to] = bounds[..] else { unreachable!("an array of two numbers") };
        if from == to || !(to - from).is_finite() {
            let message = format!("a curve needs two different finite bounds, not {from} and {to}");
            return Err(vec![Diagnostic::error(Code::Input, self.last_text(), message)]);
        }
        let mut series = vec![];
        for function in functions {
            let body = self.as_function(function);
            let scale = format!("{from:?} + {:?} * Double(k)", (to - from) / POINTS as f64);
            let values = self
                .numbers(&format!("let _f: (Double) -> Double = {body}; (0...{POINTS}).map {{ k in _f({scale}) }}"))?;
            let x = |k: usize| from + (to - from) * k as f64 / POINTS as f64;
            let points = values.into_iter().enumerate().map(|(k, y)| (x(k), y)).collect();
            series.push(Series { name: (*function).to_owned(), mark: Mark::Line, points });
        }
        Ok(Chart { title: String::new(), x: from.min(to)..=from.max(to), series })
    }

    /// Returns the span of the last text, as a location for diagnostics.
    pub(crate) fn last_text(&self) -> Span {
        let last = self.sources.written().last();
        last.map_or(Span::default(), |source| Span::new(source.start, source.start + source.text.len() as u32))
    }

    /// Returns the text of a function unchanged, and converts an expression in `x` to a function of `x`.
    pub(crate) fn as_function(&mut self, text: &str) -> String {
        let is_function = text.starts_with('{')
            || match self.type_of(&format!("let _f: (Double) -> Double = {text}; _f")) {
                Ok(_) => true,
                Err(_) => self.type_of(text).is_ok_and(|ty| ty.is_some_and(|ty| ty.contains("->"))),
            };
        if is_function { text.to_owned() } else { format!("{{ x in {text} }}") }
    }
}
