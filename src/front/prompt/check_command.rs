//! Check command: compares derivatives by reverse mode, by forward mode, and by finite differences, `:check f at 2`.

use crate::diagnostic::Diagnostic;
use crate::session::explain::derivation::aligned;
use crate::session::{Estimate, Point, Probe, Quantity, STEPS, Session};

/// The maximum number of numbers for which all comparisons are listed; if there are more numbers, each has one row.
const MAX_DETAILED: usize = 3;

/// The maximum number of rows.
const MAX_ROWS: usize = 20;

/// Compares the derivatives with respect to each number of the arguments.
///
/// # Errors
/// Returns the diagnostics when the function or the arguments do not compile, or the run fails.
pub(super) fn check(session: &mut Session, point: &Point<'_>) -> Result<Vec<String>, Vec<Diagnostic>> {
    let explained = session.explain(point)?;
    let inputs = &session.scalar_inputs(point, &explained.inputs)?;
    let probes = session.probe(point, inputs)?;
    if inputs.len() > MAX_DETAILED {
        return Ok(rows(inputs, &probes));
    }
    let mut lines = vec![];
    for (input, probe) in inputs.iter().zip(&probes) {
        if inputs.len() > 1 {
            lines.push(format!("  with respect to {}", input.name));
        }
        lines.extend(details(input.adjoint, probe));
    }
    Ok(lines)
}

/// Returns the index and the value of the central difference that is nearest to a derivative.
fn best(reverse: f64, central: &[f64]) -> (usize, f64) {
    let off = |x: f64| (x - reverse).abs();
    let best = central.iter().enumerate().min_by(|a, b| off(*a.1).total_cmp(&off(*b.1)));
    best.map_or((0, f64::NAN), |(at, x)| (at + 1, *x))
}

/// Returns one row for each number; if there are many, the numbers whose derivatives disagree come first.
fn rows(inputs: &[Quantity], probes: &[Probe]) -> Vec<String> {
    let mut rows = vec![];
    for (input, probe) in inputs.iter().zip(probes) {
        let (_, best) = best(input.adjoint, &probe.central);
        let verdict = verdict(input.adjoint, probe.forward, best, probe.limit);
        let row = [
            input.name.clone(),
            format!("{}", input.adjoint),
            format!("{}", probe.forward),
            format!("{best}"),
            verdict.trim().to_owned(),
        ];
        rows.push((!verdict.contains('✓'), row));
    }
    let disagree = rows.iter().filter(|(disagrees, _)| *disagrees).count();
    if rows.len() > MAX_ROWS {
        rows.sort_by_key(|(disagrees, _)| !disagrees);
    }
    let heading = ["", "reverse", "forward", "central difference", ""].map(str::to_owned);
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    let shown: Vec<[String; 5]> =
        std::iter::once(heading).chain(rows.into_iter().take(MAX_ROWS).map(|(_, row)| row)).collect();
    let mut lines = aligned(&shown, "  ");
    if left_out > 0 {
        let others = if disagree > MAX_ROWS {
            format!("{} of them disagree", disagree - MAX_ROWS)
        } else {
            "all agree".to_owned()
        };
        lines.push(format!("  … {left_out} more; {others}"));
    }
    lines
}

/// Compares the derivatives with respect to one number.
fn details(reverse: f64, probe: &Probe) -> Vec<String> {
    let Probe { forward, central, limit } = probe;
    let off = |x: f64| (x - reverse).abs();
    let (best_at, best) = best(reverse, central);
    let is_same =
        if forward.to_bits() == reverse.to_bits() { "identical bits".to_owned() } else { distance(off(*forward)) };
    let [limit_value, limit_off] = match limit {
        Some(limit) => [format!("{}", limit.derivative), distance(off(limit.derivative))],
        None => ["–".to_owned(), "inconclusive".to_owned()],
    };
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
    lines.push(verdict(reverse, *forward, best, *limit));
    lines
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
