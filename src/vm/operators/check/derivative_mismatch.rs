//! Derivative mismatch: constructs the fault for a registered derivative that differs from the derivative of its
//! function.

use crate::bytecode::{Registered, RuleSite};
use crate::diagnostic::Code as Number;
use crate::value::number_format::in_formula;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::{Fault, Remark};
use crate::vm::operators::registered::RuleCall;
use crate::vm::state::machine::Machine;

/// The maximum number of coordinates of a point that are listed.
const MAX_LISTED: usize = 4;

/// The discrepancy that the check of a registered derivative has found.
pub(crate) enum Discrepancy {
    /// A number of the value at a point differs from the number that the original computes: the point, and both
    /// numbers.
    Value(String, f64, f64),
    /// The derivatives of one result with respect to one number or along a direction differ: the points, each with both
    /// derivatives.
    Partial { alone: Option<(Coordinate, Coordinate)>, points: Vec<(String, f64, f64)> },
}

/// A number in a parameter or in the result.
pub(crate) struct Coordinate {
    pub(crate) parameter: usize,
    pub(crate) number: usize,
    pub(crate) of: usize,
}

/// Formats a point.
pub(crate) fn point(x: &[f64]) -> String {
    let listed: Vec<String> = x.iter().take(MAX_LISTED).map(|x| in_formula(*x)).collect();
    let more = if x.len() > MAX_LISTED { format!(", … {} in all", x.len()) } else { String::new() };
    if x.len() == 1 { listed.concat() } else { format!("({}{more})", listed.join(", ")) }
}

/// Formats a number, with the digits that finite differences determine reliably.
fn rounded(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return in_formula(x);
    }
    in_formula(format!("{x:.5e}").parse().unwrap_or(x))
}

/// Returns the fault for a registered derivative that differs from the derivative of its function.
pub(crate) fn fault(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    call: RuleCall<'_>,
    discrepancy: Discrepancy,
) -> Result<Box<Fault>, Box<Fault>> {
    let RuleCall { site, rule } = call;
    let name = machine.original(compiler, site.function)?.name.clone();
    let kind = if rule.is_transpose { "transpose" } else { "derivative" };
    let there = Remark::There(rule.place, format!("registered here as its {kind}"));
    let fault = |message: String| Fault::new(Number::WrongDerivative, message);
    Ok(match discrepancy {
        Discrepancy::Value(x, given, value) => {
            let message = format!("the registered {kind} of '{name}' returns a different value than '{name}' itself");
            let here = format!("at {x}: {} instead of {}", rounded(given), rounded(value));
            fault(message).remark(Remark::Here(here)).remark(there)
        }
        Discrepancy::Partial { alone, points } => {
            let (claimed, difference) = points.first().map_or((0.0, 0.0), |(_, a, b)| (*a, *b));
            let message = format!(
                "the registered {kind} of '{name}' gives {}, but finite differences give {}",
                rounded(claimed),
                rounded(difference)
            );
            let what = what(site, rule, alone);
            fault(message).remark(Remark::Here(what)).remark(there).remark(Remark::Note(table(&points)))
        }
    })
}

/// Describes the derivative that was compared.
fn what(site: &RuleSite, rule: &Registered, alone: Option<(Coordinate, Coordinate)>) -> String {
    let names = site.names.iter().zip(&rule.wrt).filter(|(_, wrt)| **wrt).map(|(name, _)| format!("'{name}'"));
    let names: Vec<String> = names.collect();
    let Some((result, by)) = alone else { return format!("along one direction of {}", names.join(", ")) };
    let number = |part: &Coordinate| format!("number {} of ", part.number + 1);
    let name = names.get(by.parameter).map_or("", String::as_str);
    let by = format!("with respect to {}{name}", if by.of > 1 { number(&by) } else { String::new() });
    if result.of > 1 { format!("{}the result, {by}", number(&result)) } else { by }
}

/// Formats a table of points, each with the registered derivative and the finite difference.
fn table(points: &[(String, f64, f64)]) -> String {
    let rows: Vec<[String; 3]> = [["at".into(), "registered".into(), "differences".into()]]
        .into_iter()
        .chain(points.iter().map(|(x, a, b)| [x.clone(), rounded(*a), rounded(*b)]))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    rows.iter()
        .map(|[x, a, b]| format!("{x:first$}   {a:second$}   {b}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_listed_briefly() {
        assert_eq!(point(&[2.0]), "2");
        assert_eq!(point(&[1.0, 2.5]), "(1, 2.5)");
        assert_eq!(point(&[0.0; 9]), "(0, 0, 0, 0, … 9 in all)");
        assert_eq!(rounded(12.000000123), "12");
    }
}
