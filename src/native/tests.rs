//! Primitive tests: properties of every entry of the table, so that a new entry needs no separate test.

use super::field::{OrderOffset, Test};
use super::formula::{self, Formula};
use super::*;
use crate::tensor::polygamma;
use hashbrown::HashSet;

/// Evaluates a formula over plain numbers.
fn evaluate(formula: &Formula, x: &[f64], n: i64, r: f64) -> f64 {
    let at = |f: &Formula| evaluate(f, x, n, r);
    match formula {
        Formula::Operand(k) => x[*k as usize],
        Formula::Result => r,
        Formula::Constant(c) => *c,
        Formula::Number(shift) => (n + shift.0) as f64,
        Formula::Apply(id, operands, OrderOffset(by)) => {
            let operands: Vec<f64> = operands.iter().map(at).collect();
            id.info().number(&operands, n + by).unwrap()
        }
        Formula::Bound(_) => unreachable!("a sum or an integral in a partial derivative"),
        Formula::Select(parts) => {
            let holds = match &parts.0 {
                Test::Equal(a, b) => at(a) == at(b),
                Test::Less(a, b) => at(a) < at(b),
                Test::AtMost(a, b) => at(a) <= at(b),
            };
            at(if holds { &parts.1 } else { &parts.2 })
        }
    }
}

/// The orders at which entries with an integer operand are tested.
const ORDERS: &[i64] = &[0, 1, 2, 3, 5];

/// Calls `test` with every entry that has partial derivatives, at every point of the entry's domain.
fn on_domains(mut test: impl FnMut(PrimitiveId, &'static Primitive, &[f64], i64)) {
    for (k, p) in primitive_table::all().iter().enumerate() {
        let orders = if matches!(p.value, Value::FI(_)) { ORDERS } else { &[0] };
        for x in p.domain.chunks(p.numbers().max(1)) {
            for n in orders {
                test(PrimitiveId(k as u16), p, x, *n);
            }
        }
    }
}

#[test]
fn every_entry_is_documented_and_named_once() {
    let mut names = HashSet::new();
    for p in primitive_table::all() {
        assert!(p.doc.ends_with('.'), "{}", p.name);
        assert!(names.insert(p.name), "{} twice", p.name);
        assert_eq!(primitive(p.name).map(|id| id.info().name), Some(p.name));
        assert!(p.kinks.is_empty() || !p.kink.is_empty(), "{}", p.name);
        assert_eq!(p.domain.len() % p.numbers().max(1), 0, "{}", p.name);
        let smooth = p.result == crate::value::Bank::F && p.numbers() > 0;
        assert!(!smooth || !p.domain.is_empty() || p.name == "float.round", "{} has no domain", p.name);
    }
    assert_eq!(primitive("double.nothing"), None);
}

#[test]
fn entries_have_values_where_they_say() {
    let grid: Vec<f64> = (-40..=40).map(|k| f64::from(k) / 4.0).collect();
    for p in primitive_table::all()
        .iter()
        .filter(|p| p.numbers() > 0 && !matches!(p.value, Value::Test1(_) | Value::Test2(_)))
    {
        let has_value = |x: &[f64]| match p.value {
            Value::FtoI(f) => f(x[0] * 1e300).is_ok(),
            _ => p.number(x, 0).is_some_and(|value| !value.is_nan()),
        };
        let points = grid.iter().flat_map(|x| grid.iter().map(|y| [*x, *y, 1.0]));
        let everywhere = points.into_iter().all(|x| has_value(&x[..p.numbers()]));
        assert!(everywhere == p.defined.is_empty() || p.name == "double.bits", "{}: {}", p.name, p.defined);
    }
}

#[test]
fn partials_agree_with_central_differences() {
    on_domains(|_, p, x, n| {
        let value = p.number(x, n).unwrap();
        for k in 0..x.len() {
            let h = 1e-5 * x[k].abs().max(1.0);
            let at = |by: f64| {
                let mut moved = x.to_vec();
                moved[k] += by;
                p.number(&moved, n).unwrap()
            };
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let partial = p.partial_at(k, x, n, value).unwrap();
            if p.name == "double.pow" && x[0] < 0.0 {
                continue;
            }
            assert!(
                (partial - difference).abs() <= 1e-8 * partial.abs().max(value.abs()).max(1.0) * 10.0,
                "{}{x:?} n = {n}, operand {k}: partial derivative {partial}, difference {difference}",
                p.name
            );
        }
    });
}

#[test]
fn formulas_agree_with_the_code_of_partials() {
    on_domains(|id, p, x, n| {
        let value = p.number(x, n).unwrap();
        for (k, formula) in formula::partials(id).iter().enumerate() {
            let partial = p.partial_at(k, x, n, value).unwrap();
            let other = evaluate(formula, x, n, value);
            assert!(partial == other || (partial.is_nan() && other.is_nan()), "{}{x:?}: {partial} and {other}", p.name);
        }
    });
}

#[test]
fn conventions_hold_at_kinks() {
    for (k, p) in primitive_table::all().iter().enumerate() {
        for kink in p.kinks {
            let value = p.number(kink.at, 0).unwrap();
            for (operand, expected) in kink.partials.iter().enumerate() {
                let same = |partial: f64| partial == *expected || (partial.is_nan() && expected.is_nan());
                let partial = p.partial_at(operand, kink.at, 0, value).unwrap();
                assert!(same(partial), "{}{:?} in operand {operand}: {partial}", p.name, kink.at);
                // The formula of a factor is the other factor: its evaluation treats 0·∞ separately.
                let is_factor = matches!(p.partial(operand), Partial::Factor(_));
                if let Some(formula) = formula::partials(PrimitiveId(k as u16)).get(operand).filter(|_| !is_factor) {
                    assert!(same(evaluate(formula, kink.at, 0, value)), "{}{:?} as a formula", p.name, kink.at);
                }
            }
        }
    }
}

#[test]
fn formulas_read_as_in_a_textbook() {
    let text = |name: &str, k: usize| formula::partials(primitive(name).unwrap())[k].to_string();
    assert_eq!(text("double.sin", 0), "cos(x)");
    assert_eq!(text("double.sqrt", 0), "0.5 / result");
    assert_eq!(text("double.tan", 0), "1 + result * result");
    assert_eq!(text("double.asin", 0), "1 / sqrt((1 - x) * (1 + x))");
    assert_eq!(text("double.powi", 0), "n == 0 ? 0 : n * pow(x, n - 1)");
    assert_eq!(formula::partials(super::primitive_ids::DIV)[1].to_string(), "-(result / y)");
}

#[test]
fn polygamma_has_its_known_values() {
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{a} {b}");
    near(polygamma(1.0, 0), -0.577_215_664_901_532_9);
    near(polygamma(0.5, 0), -1.963_510_026_021_423_5);
    near(polygamma(1.0, 1), std::f64::consts::PI.powi(2) / 6.0);
    near(polygamma(0.5, 1), std::f64::consts::PI.powi(2) / 2.0);
    near(polygamma(1.0, 2), -2.404_113_806_319_188_6);
    near(polygamma(-0.5, 0), 0.036_489_973_978_576_52);
}

#[test]
fn integers_trap() {
    let apply = |name: &str, a: i64, b: i64| match primitive(name).unwrap().info().value {
        Value::I1(f) => f(a),
        Value::I2(f) => f(a, b),
        other => panic!("{other:?}"),
    };
    assert_eq!(apply("int.add", i64::MAX, 1), Err(Trap::Overflow));
    assert_eq!(apply("int.div", 1, 0), Err(Trap::DivisionByZero));
    assert_eq!(apply("int.div", i64::MIN, -1), Err(Trap::Overflow));
    assert_eq!(apply("int.rem", -7, 3), Ok(-1));
    assert_eq!(apply("int.shl", 1, 70), Ok(0));
    assert_eq!(apply("int.shr", -8, 1), Ok(-4));
    assert_eq!(apply("int.fitU8", 256, 0), Err(Trap::Overflow));
}

#[test]
fn one_sided_partials_agree_with_differences() {
    let points: &[(&str, &[f64])] = &[
        ("double.abs", &[0.0]),
        ("double.copysign", &[0.0, -2.0]),
        ("double.min", &[2.0, 2.0]),
        ("double.max", &[-1.0, -1.0]),
        ("double.relu", &[0.0]),
        ("double.sqrt", &[0.0]),
        ("double.cbrt", &[0.0]),
        ("double.pow", &[0.0, 0.5]),
        ("double.hypot", &[0.0, 0.0]),
        ("double.asin", &[1.0]),
        ("double.asin", &[-1.0]),
        ("double.acos", &[1.0]),
        ("double.acos", &[-1.0]),
        ("double.acosh", &[1.0]),
        ("double.sign", &[0.0]),
        ("double.floor", &[2.0]),
        ("double.ceil", &[-2.0]),
        ("double.round", &[0.5]),
        ("double.round", &[-1.5]),
        ("double.trunc", &[-3.0]),
        ("double.rint", &[0.5]),
        ("double.rint", &[1.5]),
        ("double.fmod", &[4.0, 2.0]),
        ("double.fmod", &[-4.0, 2.0]),
        ("double.remainder", &[1.0, 2.0]),
        ("double.remainder", &[3.0, 2.0]),
    ];
    for p in primitive_table::all().iter().filter(|p| p.one_sided.is_some()) {
        assert!(points.iter().any(|(name, _)| *name == p.name), "{} has no point", p.name);
        assert!(
            p.domain.chunks(p.numbers()).all(|x| p.one_sided.unwrap()(0, x).is_none()),
            "{} is smooth there",
            p.name
        );
    }
    for (name, x) in points {
        let p = primitive_table::primitive(name).unwrap().info();
        let sides = p.one_sided.unwrap()(0, x).unwrap();
        for (side, expected) in [-1e-9, 1e-9].into_iter().zip(sides) {
            let mut beside = x.to_vec();
            beside[0] += side;
            let partial = (p.number(&beside, 0).unwrap() - p.number(x, 0).unwrap()) / side;
            let same = if expected.is_finite() {
                (partial - expected).abs() < 1e-6
            } else {
                partial.is_nan() == expected.is_nan()
            };
            assert!(
                same && (expected.is_finite() || partial.is_nan() || partial.abs() > 1e4),
                "{name}{x:?}: {partial}"
            );
        }
    }
}
