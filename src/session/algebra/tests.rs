//! Simplification tests: the printed forms of simplified formulas.

use super::{Style, simplified};
use crate::native::field::{Field, OrderOffset, Test};
use crate::native::formula::{Formula, folded};
use crate::native::{PrimitiveId, primitive_ids, primitive_table};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn x() -> Formula {
    Formula::Operand(0)
}

fn named(name: &str) -> PrimitiveId {
    primitive_table::primitive(name).unwrap()
}

fn c(c: f64) -> Formula {
    Formula::Constant(c)
}

fn power(base: Formula, n: i64) -> Formula {
    Formula::Apply(primitive_ids::POWI, vec![base], OrderOffset(n))
}

fn shown(formula: &Formula) -> String {
    simplified(formula, Style::default()).with_names(&["x", "y"], "", 0)
}

fn derived(formula: Formula) -> String {
    shown(&formula.derivative(0).unwrap())
}

#[test]
fn derivatives_are_written_as_people_write_them() {
    for (formula, text) in [
        (x() * x().sin(), "sin(x) + x * cos(x)"),
        (power(x(), 3) - c(2.0) * x(), "3 * x^2 - 2"),
        (c(1.0) / x(), "-1 / x^2"),
        (x().sqrt(), "1 / (2 * sqrt(x))"),
        ((-x()).exp() * x(), "exp(-x) * (1 - x)"),
        (power(x() + c(1.0), 2), "2 * x + 2"),
        ((x() + c(1.0)) * (x() + c(2.0)), "2 * x + 3"),
        (x().of(named("double.tanh"), f64::tanh), "1 / cosh(x)^2"),
        (x() / c(3.0) + power(x(), 2) / c(4.0), "x / 2 + 1 / 3"),
        (Formula::Operand(1).sin(), "0"),
        (x().of(named("double.asin"), f64::asin), "1 / sqrt(1 - x^2)"),
        (c(0.1) * power(x(), 2), "x / 5"),
        (x().of2(Formula::Operand(1), named("double.hypot"), f64::hypot), "x / hypot(x, y)"),
        (x().of2(Formula::Operand(1), named("double.max"), f64::max), "y < x ? 1 : 0"),
        (x().pow(Formula::Operand(1)), "y * x^(y - 1)"),
        (power(power(x(), 2) + c(1.0), 3), "6 * x * (x^2 + 1)^2"),
    ] {
        assert_eq!(derived(formula), text);
    }
}

#[test]
fn selections_move_outside() {
    let choice = Formula::select(Test::Less(c(0.0), x()), || power(x(), 2), || -x());
    assert_eq!(derived(c(3.0) * choice.clone() + x()), "x > 0 ? 6 * x + 1 : -2");
    assert_eq!(derived(choice.sin()), "x > 0 ? 2 * x * cos(x^2) : -cos(x)");
}

#[test]
fn the_domain_does_not_grow() {
    let y = Formula::Operand(1);
    for (formula, text) in [
        (x().sqrt() * x().sqrt(), "sqrt(x) * sqrt(x)"),
        (power(x(), 2).log(), "log(x^2)"),
        (power(x(), 2).sqrt(), "abs(x)"),
        ((x() * y.clone()).sqrt(), "sqrt(x * y)"),
        (x() / x(), "1"),
        ((x() - x()) / (x() - x()), "(x - x) / (x - x)"),
        (x().log().exp(), "exp(log(x))"),
        (x().exp().log(), "x"),
        (x().sqrt() * x().sqrt() / x().sqrt(), "sqrt(x)"),
        (c(8.0).sqrt(), "2 * sqrt(2)"),
    ] {
        assert_eq!(shown(&formula), text);
    }
}

/// Generates a formula of two variables that is defined in a part of the plane.
fn formulas() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        3 => Just(x()),
        3 => Just(Formula::Operand(1)),
        2 => (1..6_i32, prop::bool::ANY).prop_map(|(n, is_negative)| c(f64::from(if is_negative { -n } else { n }))),
        1 => Just(c(0.5)),
        1 => Just(c(std::f64::consts::PI)),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| a + b),
            pair.clone().prop_map(|(a, b)| a - b),
            pair.clone().prop_map(|(a, b)| a * b),
            pair.clone().prop_map(|(a, b)| a / b),
            pair.prop_map(|(a, b)| a.pow(b.sin())),
            (inner.clone(), prop_oneof![-3..0_i64, 2..4_i64]).prop_map(|(a, n)| power(a, n)),
            (inner.clone(), prop_oneof![Just(0.5), Just(1.5), Just(-0.5), Just(1.0 / 3.0)])
                .prop_map(|(a, e)| a.pow(c(e))),
            (inner, 0..11_usize).prop_map(|(a, k)| {
                let names = ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "atan"];
                Formula::Apply(named(&format!("double.{}", names[k])), vec![a], OrderOffset(0))
            }),
        ]
    })
}

fn value(formula: &Formula, at: [f64; 2]) -> f64 {
    match formula {
        Formula::Operand(k) => at[usize::from(*k)],
        Formula::Constant(c) => *c,
        Formula::Apply(id, operands, n) => {
            let operands: Vec<f64> = operands.iter().map(|operand| value(operand, at)).collect();
            // In floating point, 1 to the power of NaN is 1.
            if operands.iter().any(|operand| operand.is_nan()) {
                return f64::NAN;
            }
            primitive_table::info(*id).number(&operands, n.0).unwrap()
        }
        Formula::Result | Formula::Number(_) | Formula::Select(_) | Formula::Bound(_) => unreachable!("not generated"),
    }
}

/// Whether the value of a formula at a point is a number that rounding hardly influences: the value changes little when
/// the point changes.
fn is_stable(formula: &Formula, [x, y]: [f64; 2]) -> bool {
    let here = value(formula, [x, y]);
    let near = value(formula, [x * (1.0 + 1e-13), y * (1.0 - 1e-13)]);
    here.is_finite() && here.abs() < 1e9 && here.abs() > 1e-9 && (here - near).abs() <= 1e-9 * here.abs()
}

#[test]
fn a_simplified_formula_has_the_same_values() {
    let cases = std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // Each run generates the same formulas, unless random ones are requested.
    let mut runner = match std::env::var("DSCRIPT_SEED").as_deref() {
        Ok("random") => TestRunner::new(config),
        _ => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let points = proptest::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64), 6);
    let result = runner.run(&(formulas(), points), |(formula, points)| {
        // A product with the constant 0 is 0 by convention.
        let formula = folded(&formula);
        let short = simplified(&formula, Style::default());
        let text = || format!("{formula}   →   {short}");
        for (x, y) in points {
            let (before, after) = (value(&formula, [x, y]), value(&short, [x, y]));
            if is_stable(&formula, [x, y]) {
                let is_near = (before - after).abs() <= 1e-6 * before.abs();
                prop_assert!(is_near, "{}\n{before} and {after} at {x}, {y}", text());
            }
            // Outside of the domain of the original there is no value. An infinity may be the result of an overflow.
            let is_undefined = before.is_nan() && parts_are_finite(&formula, [x, y]);
            prop_assert!(!is_undefined || after.is_nan(), "{}\n{after} at {x}, {y}", text());
        }
        prop_assert_eq!(simplified(&short, Style::default()).to_string(), short.to_string(), "{}", text());
        Ok(())
    });
    result.unwrap();
}

/// Whether no part of a formula is infinite.
fn parts_are_finite(formula: &Formula, at: [f64; 2]) -> bool {
    !value(formula, at).is_infinite() && formula.parts().iter().all(|part| parts_are_finite(part, at))
}
