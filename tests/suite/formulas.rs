//! Tests of derivatives as formulas: for random formulas, at random points, they agree with the derivatives that the machine
//! computes from the same text. `DSCRIPT_CASES` sets the number of formulas (100).

use dscript::Session;
use dscript::session::{Options, Status};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;

/// Generates an expression in `x` and `y` that is smooth and defined everywhere.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => Just("x".to_owned()),
        3 => Just("y".to_owned()),
        1 => (1..6_i32).prop_map(|n| n.to_string()),
        1 => (1..40_i32).prop_map(|n| format!("{:?}", f64::from(n) / 8.0)),
        1 => Just("π".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("({a} + {b})")),
            pair.clone().prop_map(|(a, b)| format!("({a} - {b})")),
            pair.clone().prop_map(|(a, b)| format!("({a} * {b})")),
            pair.clone().prop_map(|(a, b)| format!("({a} / (1.5 + sin({b})))")),
            pair.clone().prop_map(|(a, b)| format!("(2 + cos({a}))^sin({b})")),
            pair.clone().prop_map(|(a, b)| format!("max({a}, {b})")),
            pair.clone().prop_map(|(a, b)| format!("atan2({a} + 9, {b})")),
            (pair, inner.clone()).prop_map(|((a, b), c)| format!("({a} < 0.3 ? {b} : {c})")),
            (inner.clone(), 2..4_i32).prop_map(|(a, n)| format!("({a})^{n}")),
            inner.clone().prop_map(|a| format!("(-{a})")),
            (inner, 0..9_usize).prop_map(|(a, k)| {
                let name = ["sin", "cos", "tanh", "atan", "asinh", "erf", "abs", "relu", "cbrt"][k];
                format!("{name}({a})")
            }),
        ]
    })
}

/// Returns the formulas of both partials; `None` when they are too long.
fn derived(session: &mut Session) -> Option<[String; 2]> {
    let text = session.derive("f", 1).expect("a function of numbers").text;
    let mut rows = text.lines().filter_map(|line| line.split_once(" = "));
    match (rows.next(), rows.next()) {
        (Some((_, x)), Some((_, y))) => Some([x.to_owned(), y.to_owned()]),
        _ => {
            assert!(text.contains("too long"), "{text}");
            None
        }
    }
}

fn enter(session: &mut Session, text: &str) -> String {
    let answer = session.enter("‹›", text);
    assert_eq!(answer.status, Status::Done, "{text}\n{:?}", answer.diagnostics);
    answer.shown.last().and_then(|shown| shown.value.clone()).unwrap_or_default()
}

#[test]
fn formulas_agree_with_derivatives() {
    let options = Options { interactive: true, ..Options::default() };
    let session = RefCell::new(Session::new(options, Box::new(std::io::sink())));
    let cases = std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // The same formulas in each run, unless new ones are requested.
    let mut runner = match std::env::var("DSCRIPT_SEED").as_deref() {
        Ok("random") => TestRunner::new(config),
        _ => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let found = runner.run(&(expression(), -2.0..2.0, -2.0..2.0), |(body, x, y)| {
        let session = &mut *session.borrow_mut();
        enter(session, &format!("f(x, y) = {body} + 0 * x * y"));
        let Some([by_x, by_y]) = derived(session) else { return Ok(()) };
        enter(session, &format!("fx(x, y) = {by_x} + 0 * x * y"));
        enter(session, &format!("fy(x, y) = {by_y} + 0 * x * y"));
        let check = format!(
            "let (_x, _y) = ({x:?}, {y:?}); let _g = gradient(at: _x, _y, of: f); \
             [_g.0 - fx(_x, _y), _g.1 - fy(_x, _y), 1 + abs(_g.0) + abs(_g.1)]"
        );
        let numbers = session.numbers(&check).expect("three numbers");
        let [dx, dy, size] = numbers[..] else { panic!("{numbers:?}") };
        // At a singular point one partial may be NaN, and then `size` is NaN.
        let is_near = |d: f64| !d.is_finite() || !size.is_finite() || d.abs() <= 1e-9 * size;
        prop_assert!(is_near(dx) && is_near(dy), "off by {dx} and {dy}: {by_x}, {by_y}");
        Ok(())
    });
    found.unwrap();
}
