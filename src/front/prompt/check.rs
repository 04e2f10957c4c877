//! `:check f at 2`: the derivative by reverse mode, by forward mode, and by differences.

use super::derivation::aligned;
use crate::diagnostic::Diagnostic;
use crate::session::Session;

/// The steps of the differences, in tenths of the one before.
const STEPS: i32 = 12;

/// The columns of Richardson's extrapolation.
const COLUMNS: usize = 6;

/// What the ways to a derivative say about each argument.
///
/// # Errors
/// What is wrong with the function or the arguments.
pub(super) fn check(
    session: &mut Session,
    function: &str,
    arguments: &[String],
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let explained = session.explain(function, &arguments.join(", "))?;
    let mut lines = vec![];
    for (i, input) in explained.inputs.iter().enumerate().take(arguments.len()) {
        if explained.inputs.len() == arguments.len() && arguments.len() > 1 {
            lines.push(format!("  by {}", input.name));
        }
        lines.extend(one(session, function, arguments, i, input.adjoint)?);
    }
    Ok(lines)
}

fn one(
    session: &mut Session,
    function: &str,
    arguments: &[String],
    i: usize,
    reverse: f64,
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let along = (0..arguments.len()).map(|k| if k == i { "1" } else { "0" }).collect::<Vec<_>>().join(", ");
    let moved = |sign: &str, h: &str| {
        let moved = |(k, a): (usize, &String)| if k == i { format!("{a} {sign} {h}") } else { a.clone() };
        arguments.iter().enumerate().map(moved).collect::<Vec<_>>().join(", ")
    };
    let difference = format!("{{ h in (_f({}) - _f({})) / (2 * h) }}", moved("+", "h"), moved("-", "h"));
    let forward = format!("[differential(at: {}, in: _f)({along})]", arguments.join(", "));
    let tenths = (1..=STEPS).map(|n| format!("1e-{n}")).collect::<Vec<_>>().join(", ");
    let halves = (0..COLUMNS).map(|n| format!("{}", 0.1 / f64::from(1 << n))).collect::<Vec<_>>().join(", ");
    let definition = format!("let _f = {function}; let _d: (Double) -> Double = {difference}");
    let forward = session.numbers(&format!("{definition}; {forward}"))?;
    let central = session.numbers(&format!("{definition}; [{tenths}].map(_d)"))?;
    let halved = session.numbers(&format!("{definition}; [{halves}].map(_d)"))?;

    let off = |x: f64| (x - reverse).abs();
    let best = central.iter().enumerate().min_by(|a, b| off(*a.1).total_cmp(&off(*b.1)));
    let (best_at, best) = best.map_or((0, f64::NAN), |(at, x)| (at + 1, *x));
    let limit = extrapolated(&halved);
    let forward = forward.first().copied().unwrap_or(f64::NAN);
    let is_same = if forward.to_bits() == reverse.to_bits() { "same bits".to_owned() } else { distance(off(forward)) };
    let rows = [
        ["AD, reverse".to_owned(), format!("{reverse}"), String::new()],
        ["AD, forward".to_owned(), format!("{forward}"), is_same],
        [
            format!("central difference h=1e-{best_at}"),
            format!("{best}"),
            format!("{}   ← best of {STEPS} steps", distance(off(best))),
        ],
        ["extrapolated (Richardson)".to_owned(), format!("{limit}"), distance(off(limit))],
    ];
    let mut lines = aligned(&rows, "  ");
    lines.push(verdict(reverse, forward, best, limit));
    Ok(lines)
}

fn distance(x: f64) -> String {
    if x == 0.0 { "the same".to_owned() } else { format!("off by {x:.1e}") }
}

/// The limit of differences whose step is halved each time; the error is a series in the square of the step.
fn extrapolated(halved: &[f64]) -> f64 {
    let mut column = halved.to_vec();
    let mut best = column.last().copied().unwrap_or(f64::NAN);
    let mut smallest = f64::INFINITY;
    let mut factor = 4.0;
    while column.len() > 1 {
        let next: Vec<f64> = column.windows(2).map(|pair| (factor * pair[1] - pair[0]) / (factor - 1.0)).collect();
        if let (Some(last), Some(before)) = (next.last(), column.last())
            && (last - before).abs() < smallest
        {
            smallest = (last - before).abs();
            best = *last;
        }
        column = next;
        factor *= 4.0;
    }
    best
}

fn verdict(reverse: f64, forward: f64, best: f64, limit: f64) -> String {
    let scale = reverse.abs().max(1e-300);
    let error = (best - reverse).abs().min((limit - reverse).abs()) / scale;
    let modes = (forward - reverse).abs() / scale;
    if modes > 1e-9 && (forward - reverse).abs() > 1e-12 {
        return "  ✗ forward and reverse mode disagree".to_owned();
    }
    if error < 1e-4 || (best - reverse).abs() < 1e-9 {
        let digits = (-error.max(1e-15).log10()).floor().max(1.0);
        return format!("  ✓ agree to {digits} digits");
    }
    "  ✗ the differences say something else: is there a kink or a jump, or a registered derivative that is wrong?"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extrapolation_finds_the_limit() {
        let halved: Vec<f64> =
            (0..6).map(|n| 0.1 / f64::from(1 << n)).map(|h| (h.exp() - (-h).exp()) / (2.0 * h)).collect();
        assert!((extrapolated(&halved) - 1.0).abs() < 1e-13);
    }
}
