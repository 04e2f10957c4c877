//! Formula tests: simplification and differentiation of formulas, by the printed form.

use super::{Formula, simplified};
use crate::native::field::{Field, OrderOffset, Test};
use crate::native::{PrimitiveId, ids, table};

fn x() -> Formula {
    Formula::Operand(0)
}

fn named(name: &str) -> PrimitiveId {
    table::primitive(name).unwrap()
}

fn c(c: f64) -> Formula {
    Formula::Constant(c)
}

fn power(base: Formula, n: i64) -> Formula {
    Formula::Apply(ids::POWI, vec![base], OrderOffset(n))
}

fn derived(formula: Formula) -> String {
    simplified(&formula.derivative(0).unwrap()).with_names(&["x", "y"], "", 0)
}

#[test]
fn derivatives_are_written_as_people_write_them() {
    for (formula, text) in [
        (x() * x().sin(), "sin(x) + x * cos(x)"),
        (power(x(), 3) - c(2.0) * x(), "3 * x^2 - 2"),
        (c(1.0) / x(), "-1 / x^2"),
        (x().sqrt(), "1 / (2 * sqrt(x))"),
        ((-x()).exp() * x(), "exp(-x) - x * exp(-x)"),
        (power(x() + c(1.0), 2), "2 * (x + 1)"),
        ((x() + c(1.0)) * (x() + c(2.0)), "2 * x + 3"),
        (x().of(named("double.tanh"), f64::tanh), "1 - tanh(x)^2"),
        (x() / c(3.0) + power(x(), 2) / c(4.0), "1 / 3 + x / 2"),
        (Formula::Operand(1).sin(), "0"),
        (x().of(named("double.asin"), f64::asin), "1 / sqrt(1 - x^2)"),
        (c(0.1) * power(x(), 2), "0.2 * x"),
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
    assert_eq!(derived(choice.sin()), "x > 0 ? 2 * x * cos(x^2) : -cos(-x)");
}
