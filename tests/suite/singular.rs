//! Tests of primitives at their singular points: all mechanisms compute the same derivative.

use crate::sink::Sink;
use dscript::native::primitive_table;
use dscript::session::{Input, Options, Session, Status};
use std::collections::HashSet;

/// A primitive, a function of `x` that uses it, and the point.
type Case = (&'static str, &'static str, &'static str);

/// The points at which a partial of a primitive is infinite or a convention.
#[rustfmt::skip]
const PRIMITIVES: &[Case] = &[
    ("double.mul", "x * (1 / x)", "0.0"), ("double.mul", "x * log(x)", "0.0"), ("double.mul", "x * 1e308 * 10 * zero", "1.0"),
    ("double.mul", "(x * 1e308) * 10 * 0", "1.0"), ("double.mul", "0 * sqrt(x)", "0.0"), ("double.mul", "sqrt(x) * zero + x", "0.0"),
    ("double.div", "1 / x", "0.0"), ("double.div", "1 / x", "-0.0"), ("double.div", "x / x", "0.0"),
    ("double.fma", "x.addingProduct(0, 1 / x)", "0.0"), ("double.fma", "x.addingProduct(zero, sqrt(x))", "0.0"),
    ("double.abs", "abs(x)", "0.0"), ("double.abs", "abs(x)", "-0.0"), ("double.sign", "sign(x) + x", "0.0"),
    ("double.copysign", "copysign(x, 1.0)", "0.0"), ("double.copysign", "copysign(x, -1.0)", "0.0"),
    ("double.min", "min(x, 2)", "2.0"), ("double.max", "max(x, 0)", "0.0"), ("double.max", "max(x, x * x)", "1.0"),
    ("double.relu", "relu(x)", "0.0"), ("double.relu", "relu(x)", "-0.0"),
    ("double.floor", "floor(x) + x", "1.0"), ("double.ceil", "ceil(x) + x", "1.0"), ("double.round", "round(x) + x", "0.5"),
    ("double.trunc", "trunc(x) + x", "1.0"), ("double.rint", "rint(x) + x", "0.5"),
    ("double.fmod", "fmod(x, 2)", "4.0"), ("double.remainder", "remainder(x, 2)", "4.0"),
    ("double.sqrt", "sqrt(x)", "0.0"), ("double.sqrt", "sqrt(x)", "-0.0"), ("double.sqrt", "sqrt(-x)", "0.0"),
    ("double.sqrt", "sqrt(x + x * x)", "0.0"), ("double.sqrt", "sqrt(x * x)", "0.0"), ("double.sqrt", "sqrt(x * (x + 2))", "0.0"),
    ("double.sqrt", "sqrt(x * x * x + 4 * x * x + x)", "0.0"), ("double.sqrt", "sqrt(x) * sqrt(x)", "0.0"),
    ("double.cbrt", "cbrt(x)", "0.0"), ("double.cbrt", "cbrt(x)", "-0.0"), ("double.cbrt", "cbrt(x * x * x)", "0.0"),
    ("double.pow", "pow(x, 0.0)", "0.0"), ("double.pow", "pow(x, 0.5)", "-0.0"), ("double.pow", "pow(0.0, x)", "1.5"),
    ("double.pow", "pow(0.0, x)", "0.0"), ("double.pow", "pow(-2.0, x)", "2.0"), ("double.pow", "pow(x, x)", "0.0"),
    ("double.powi", "x^0", "0.0"), ("double.powi", "x^(-1)", "0.0"), ("double.powi", "x^(-2)", "-0.0"),
    ("double.hypot", "hypot(x, 0.0)", "0.0"), ("double.hypot", "norm([x, 0.0])", "0.0"),
    ("double.asin", "asin(x)", "1.0"), ("double.asin", "asin(x)", "-1.0"), ("double.asin", "asin(pow(x, x))", "1.0"),
    ("double.asin", "asin(3 * x - 2 * x * x)", "1.0"), ("double.asin", "asin(x) + acos(x)", "1.0"),
    ("double.acos", "acos(x)", "1.0"), ("double.acos", "acos(x)", "-1.0"), ("double.acos", "acos(x * x - x + 1)", "1.0"),
    ("double.atan2", "atan2(x, x)", "0.0"), ("double.atan2", "atan2(x, 0.0)", "0.0"),
    ("double.acosh", "acosh(x)", "1.0"), ("double.acosh", "acosh(x * x)", "1.0"),
    ("double.atanh", "atanh(x)", "1.0"), ("double.atanh", "atanh(x)", "-1.0"),
    ("double.log", "log(x)", "0.0"), ("double.log", "log(x)", "-0.0"), ("double.log", "log(x)", "-1.0"),
    ("double.log", "log(x + x * x)", "0.0"), ("double.log", "log(x * x)", "0.0"),
    ("double.log2", "log2(x)", "-0.0"), ("double.log10", "log10(x)", "-0.0"), ("double.log1p", "log1p(x)", "-1.0"),
];

/// Returns a program that prints the derivative at a point by all mechanisms. `same` wraps the function in code that changes
/// only the mechanism.
fn ways(f: &str, at: &str) -> String {
    let same = |around: &str| around.replace("f(", &format!("({f_closure})(", f_closure = closure(f)));
    let f = closure(f);
    let whole = [
        f.clone(),
        same("{ x in 0 + f(x) * 1 }"),
        same("{ x in var a = [x]; a[0] += 0; return f(a[0]) }"),
        same("{ x in var t = [1: x]; t[1]! += 0; return f(t[1]!) }"),
        same("{ x in checkpoint { f(x) } }"),
        same("{ x in f(same(x)) }"),
        same("{ x in same(f(x)) }"),
    ];
    let mut lines = String::new();
    for g in whole {
        lines += &format!(
            "print(gradient(at: {at}, in: {g}), derivative(at: {at}, in: {g}), valueWithGradient(at: {at}, in: {g}).1, \
             pullback(at: {at}, in: {g})(1), differential(at: {at}, in: {g})(1), \
             gradient(at: 1) {{ z in z * withoutDerivative(at: gradient(at: {at}, in: {g})) }}, \
             derivative(at: 1) {{ z in z * withoutDerivative(at: derivative(at: {at}, in: {g})) }})\n"
        );
    }
    lines += &format!("print(jacobian(at: [{at}]) {{ v in [({f})(v[0])] }}[0][0])\n");
    lines += &format!("print(taylor(of: {f}, at: {at}, order: 1).coefficients[1])\n");
    lines
}

/// Returns a program that prints the second derivative by every combination of modes, and as a Taylor coefficient.
fn mixes(f: &str, at: &str) -> String {
    let f = closure(f);
    let mut lines = String::new();
    for outer in ["gradient", "derivative"] {
        for inner in ["gradient", "derivative"] {
            lines += &format!("print({outer}(at: {at}) {{ y in {inner}(at: y, in: {f}) }})\n");
        }
    }
    lines += &format!("print(2 * taylor(of: {f}, at: {at}, order: 2).coefficients[2])\n");
    lines
}

fn closure(f: &str) -> String {
    format!("{{ x -> Double in {f} }}")
}

const BEFORE: &str = "
let zero = 0.0
func same(_ x: Double) -> Double { x }
@derivative(of: same) func vjpSame(_ x: Double) -> (value: Double, pullback: (Double) -> Double) { (x, { v in v }) }
";

fn session() -> (Session, Sink) {
    let printed = Sink::default();
    let timeout = Some(std::time::Duration::from_secs(60));
    (Session::new(Options { timeout, ..Options::default() }, Box::new(printed.clone())), printed)
}

/// Returns the output of a program: run from source, and compiled first.
fn printed(text: &str) -> [String; 2] {
    let inputs = [Input { name: "program", text }];
    let (mut first, by_source) = session();
    let outcome = first.run(&inputs);
    assert_eq!(outcome.status, Status::Done, "{text}\n{:?}", outcome.diagnostics);
    let (bytes, _) = session().0.build(&inputs).unwrap_or_else(|outcome| panic!("{:?}", outcome.diagnostics));
    let (mut second, by_image) = session();
    let outcome = second.run_compiled("program.dsc", &bytes);
    assert_eq!(outcome.status, Status::Done, "{text}\n{:?}", outcome.diagnostics);
    [by_source, by_image].map(|sink| String::from_utf8_lossy(&sink.0.borrow()).into_owned())
}

/// Runs some lines for every case, and returns the disagreements in their output.
fn disagreements(lines: fn(&str, &str) -> String) -> Vec<String> {
    let mut wrong = vec![];
    for (_, f, at) in PRIMITIVES {
        let [by_source, by_image] = printed(&format!("{BEFORE}{}", lines(f, at)));
        let all: HashSet<&str> = by_source.split_whitespace().collect();
        if all.len() != 1 || by_source != by_image {
            wrong.push(format!("{f} at {at}:\n{by_source}{by_image}"));
        }
    }
    wrong
}

#[test]
fn all_mechanisms_compute_the_same_derivative() {
    let wrong = disagreements(ways);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_combinations_of_modes_compute_the_same_second_derivative() {
    let wrong = disagreements(mixes);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_primitive_with_a_singular_point_is_tested() {
    let tried: HashSet<&str> = PRIMITIVES.iter().map(|(name, ..)| *name).collect();
    for p in primitive_table::all().iter().filter(|p| !p.kink.is_empty() || p.one_sided.is_some()) {
        assert!(tried.contains(p.name), "{} is not tested", p.name);
    }
}
