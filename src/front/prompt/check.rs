//! Check command: compares derivatives by reverse mode, by forward mode, and by finite differences, `:check f at 2`.

use crate::diagnostic::Diagnostic;
use crate::session::explain::derivation::aligned;
use crate::session::{Estimate, Quantity, Session, unit};

/// The number of step sizes of the finite differences, each a tenth of the one before.
const STEPS: i32 = 12;

/// Compares the derivatives of a function with respect to each argument.
///
/// # Errors
/// Returns the diagnostics when the function or the arguments do not compile, or the run fails.
pub(super) fn check(
    session: &mut Session,
    function: &str,
    arguments: &[String],
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let explained = session.explain(function, &arguments.join(", "))?;
    let mut lines = vec![];
    for (i, input) in explained.inputs.iter().enumerate().take(arguments.len()) {
        if explained.inputs.len() == arguments.len() && arguments.len() > 1 {
            lines.push(format!("  with respect to {}", input.name));
        }
        lines.extend(one(session, function, arguments, i, input)?);
    }
    Ok(lines)
}

/// Compares the derivatives of a function with respect to the argument number `i`.
fn one(
    session: &mut Session,
    function: &str,
    arguments: &[String],
    i: usize,
    input: &Quantity,
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let reverse = input.adjoint;
    let along = (0..arguments.len()).map(|k| if k == i { "1" } else { "0" }).collect::<Vec<_>>().join(", ");
    let moved = |by: &str| {
        let moved = |(k, a): (usize, &String)| if k == i { format!("{a} + {by}") } else { a.clone() };
        format!("_f({})", arguments.iter().enumerate().map(moved).collect::<Vec<_>>().join(", "))
    };
    let quotient = format!("{{ h in ({} - {}) / (2 * h) }}", moved("h"), moved("(-h)"));
    let forward = format!("differential(at: {}, in: _f)({along})", arguments.join(", "));
    let tenths = (1..=STEPS).map(|n| format!("1e-{n}")).collect::<Vec<_>>().join(", ");
    let text =
        format!("let _f = {function}; let _d: (Double) -> Double = {quotient}; [{forward}] + [{tenths}].map(_d)");
    let numbers = session.numbers(&text)?;
    let (forward, central) = numbers.split_first().map_or((f64::NAN, &[][..]), |(first, rest)| (*first, rest));
    let size = unit(input.value);
    let limit =
        session.difference(&format!("{{ t in let _f = {function}; return {} }}", moved(&format!("t * {size:?}"))))?;
    let limit =
        limit.map(|found| Estimate { derivative: found.derivative / size, error_bound: found.error_bound / size });

    let off = |x: f64| (x - reverse).abs();
    let best = central.iter().enumerate().min_by(|a, b| off(*a.1).total_cmp(&off(*b.1)));
    let (best_at, best) = best.map_or((0, f64::NAN), |(at, x)| (at + 1, *x));
    let is_same =
        if forward.to_bits() == reverse.to_bits() { "identical bits".to_owned() } else { distance(off(forward)) };
    let extrapolated = match &limit {
        Some(limit) => [format!("{}", limit.derivative), distance(off(limit.derivative))],
        None => ["–".to_owned(), "inconclusive".to_owned()],
    };
    let [limit_value, limit_off] = extrapolated;
    let rows = [
        ["AD, reverse".to_owned(), format!("{reverse}"), String::new()],
        ["AD, forward".to_owned(), format!("{forward}"), is_same],
        [
            format!("central difference h=1e-{best_at}"),
            format!("{best}"),
            format!("{}   ← best of {STEPS} steps", distance(off(best))),
        ],
        ["extrapolated (Richardson)".to_owned(), limit_value, limit_off],
    ];
    let mut lines = aligned(&rows, "  ");
    lines.push(verdict(reverse, forward, best, limit));
    Ok(lines)
}

fn distance(x: f64) -> String {
    if x == 0.0 { "identical".to_owned() } else { format!("off by {x:.1e}") }
}

/// The relative difference that is allowed between the modes, which round in a different order.
const ROUNDED: f64 = 1e-9;
/// The relative uncertainty above which finite differences are inconclusive.
const MAX_UNCERTAINTY: f64 = 1e-2;

fn verdict(reverse: f64, forward: f64, best: f64, limit: Option<Estimate>) -> String {
    let scale = if reverse == 0.0 { 1.0 } else { reverse.abs() };
    let is_same = forward.to_bits() == reverse.to_bits() || (forward - reverse).abs() <= ROUNDED * scale;
    if !is_same {
        return "  ✗ forward and reverse mode disagree".to_owned();
    }
    match limit.filter(|limit| limit.error_bound <= MAX_UNCERTAINTY * scale) {
        None => "  ? the finite differences are inconclusive: there may be a kink, a jump, or noise".to_owned(),
        Some(limit) if limit.excludes(reverse) => {
            "  ✗ the finite differences disagree; is a registered derivative incorrect?".to_owned()
        }
        Some(limit) => {
            let error = (best - reverse).abs().min((limit.derivative - reverse).abs()) / scale;
            format!("  ✓ agree to {} digits", (-error.max(1e-15).log10()).floor())
        }
    }
}
