//! Tests of the table of primitives: all mechanisms compute the derivatives in the table, and the reference page
//! `docs/primitives.md` matches the table. `DSCRIPT_BLESS=1` rewrites the page.

use crate::harness::{all, blessing, difference, root};
use crate::sink::Sink;
use dscript::native::field::OrderOffset;
use dscript::native::formula::{Formula, partials};
use dscript::native::{Kink, Partial, Primitive, PrimitiveId, Rule, Single, Value, primitive_table};
use dscript::session::{Input, Options, Session, Status};
use dscript::value::Bank;
use std::fmt::Write;

/// The integer operands with which primitives are tested.
const ORDERS: &[i64] = &[0, 1, 2, 3, 5];

/// Kinks that are not in the table: a product 0·∞ to which a number is added.
const MORE_KINKS: &[(&str, Kink)] =
    &[("double.fma", Kink { at: &[0.0, f64::INFINITY, 1.0], partials: &[f64::NAN, f64::NAN, 1.0] })];

/// Returns the entry as an expression of the language; `None` when the library has no function for it.
fn expression(p: &Primitive, operands: &[String], n: i64) -> Option<String> {
    Some(match (p.name, operands) {
        ("double.polygamma", _) => return None,
        ("double.neg", [x]) => format!("-({x})"),
        ("float.round", [x]) => format!("Double(Float({x}))"),
        (_, [x]) if p.operands.contains(&Bank::I) => format!("{}({x}, Int({n}))", p.symbol),
        (_, [x, y]) if !p.symbol.starts_with(char::is_alphabetic) => format!("({x}) {} ({y})", p.symbol),
        _ => format!("{}({})", p.symbol, operands.join(", ")),
    })
}

fn literal(x: f64) -> String {
    match x {
        f64::INFINITY => "Double.infinity".to_owned(),
        f64::NEG_INFINITY => "(-Double.infinity)".to_owned(),
        x => format!("({x:?})"),
    }
}

/// Returns the value of a formula for the operands `x`, the integer operand `n` and the result `r`.
fn evaluate(formula: &Formula, x: &[f64], n: i64, r: f64) -> f64 {
    let at = |f: &Formula| evaluate(f, x, n, r);
    match formula {
        Formula::Operand(k) => x[usize::from(*k)],
        Formula::Result => r,
        Formula::Constant(c) => *c,
        Formula::Number(OrderOffset(by)) => (n + by) as f64,
        Formula::Apply(id, operands, OrderOffset(by)) => {
            let operands: Vec<f64> = operands.iter().map(at).collect();
            id.info().number(&operands, n + by).unwrap_or(f64::NAN)
        }
        Formula::Bound(_) => unreachable!("a sum or an integral in a partial derivative"),
        Formula::Select(parts) => at(if parts.0.map(at).holds() { &parts.1 } else { &parts.2 }),
    }
}

/// Returns a program that prints the derivatives by all mechanisms: `f` is a function of one number, and `at` its argument. The
/// first line contains first derivatives, the second line second derivatives.
fn lines(f: &str, at: &str) -> String {
    let beside = |inner: &str| format!("gradient(at: 1) {{ z in z * withoutDerivative(at: {inner}) }}");
    let first = [
        // Tangent code and adjoint code.
        format!("derivative(at: {at}, in: {f})"),
        format!("gradient(at: {at}, in: {f})"),
        // A tape, swept in both directions.
        format!("pullback(at: {at}, in: {f})(1)"),
        format!("differential(at: {at}, in: {f})(1)"),
        // Derivative code, inside another level.
        beside(&format!("derivative(at: {at}, in: {f})")),
        beside(&format!("gradient(at: {at}, in: {f})")),
        format!("taylor(of: {f}, at: {at}, order: 1).coefficients[1]"),
    ];
    let mut second = vec![format!("2 * taylor(of: {f}, at: {at}, order: 2).coefficients[2]")];
    for outer in ["gradient", "derivative"] {
        for inner in ["gradient", "derivative"] {
            second.push(format!("{outer}(at: {at}) {{ y in {inner}(at: y, in: {f}) }}"));
        }
    }
    format!("print({})\nprint({})\n", first.join(", "), second.join(", "))
}

fn printed(text: &str) -> Result<String, String> {
    let sink = Sink::default();
    let mut session = Session::new(Options::default(), Box::new(sink.clone()));
    let outcome = session.run(&[Input { name: "program", text }]);
    if outcome.status != Status::Done {
        return Err(format!("{text}\n{:?}", outcome.diagnostics));
    }
    Ok(String::from_utf8_lossy(&sink.0.borrow()).into_owned())
}

fn is_near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * b.abs().max(1.0)
}

/// A derivative of an entry that is computed by all mechanisms.
struct Question {
    /// The index of the operand.
    k: usize,
    x: Vec<f64>,
    n: i64,
    first: f64,
    /// The second derivative; `None` at kinks.
    second: Option<f64>,
}

fn questions(id: PrimitiveId) -> Vec<Question> {
    let p = id.info();
    let orders = if p.operands.contains(&Bank::I) { ORDERS } else { &[0] };
    let mut all = vec![];
    for x in p.domain.chunks(p.numbers()) {
        for (n, k) in orders.iter().flat_map(|n| (0..x.len()).map(move |k| (*n, k))) {
            let value = p.number(x, n).unwrap_or(f64::NAN);
            let first = p.partial_at(k, x, n, value).unwrap_or(f64::NAN);
            let applied = (0..x.len()).map(|k| Formula::Operand(k as u8)).collect();
            let formula = Formula::Apply(id, applied, OrderOffset(n));
            let twice = formula.derivative(k as u8).and_then(|first| first.derivative(k as u8));
            let second = twice.map_or(f64::NAN, |second| evaluate(&second, x, 0, value));
            all.push(Question { k, x: x.to_vec(), n, first, second: Some(second) });
        }
    }
    let more = MORE_KINKS.iter().filter(|(name, _)| *name == p.name).map(|(_, kink)| kink);
    for kink in p.kinks.iter().chain(more) {
        for (k, first) in kink.partials.iter().enumerate() {
            all.push(Question { k, x: kink.at.to_vec(), n: 0, first: *first, second: None });
        }
    }
    all
}

/// Checks that all mechanisms agree with an entry.
fn check(id: PrimitiveId) -> Result<(), String> {
    let p = id.info();
    let questions = questions(id);
    let mut program = String::new();
    for question in &questions {
        let mut operands: Vec<String> = question.x.iter().map(|x| literal(*x)).collect();
        operands[question.k] = "t".to_owned();
        let Some(body) = expression(p, &operands, question.n) else { return Ok(()) };
        program += &lines(&format!("{{ t -> Double in {body} }}"), &literal(question.x[question.k]));
    }
    let output = printed(&program)?;
    let numbers = |line: &str| -> Vec<f64> { line.split(' ').map(|x| x.parse().unwrap_or(f64::MAX)).collect() };
    let mut output = output.lines().map(numbers);
    for Question { k, x, n, first, second } in questions {
        let (ways, ways_of_second) = (output.next().unwrap_or_default(), output.next().unwrap_or_default());
        if ways.is_empty() || !ways.iter().all(|way| is_near(*way, first, 1e-14)) {
            return Err(format!("{}{x:?} n = {n} by operand {k}: {first} in the table, {ways:?}", p.name));
        }
        if let Some(second) = second
            && !ways_of_second.iter().all(|way| is_near(*way, second, 1e-10))
        {
            return Err(format!("{}{x:?} n = {n} by operand {k} twice: {second}, {ways_of_second:?}", p.name));
        }
        // The formula of a factor does not include the rule for 0·∞.
        if !matches!(p.partial(k), Partial::Factor(_)) {
            let value = p.number(&x, n).unwrap_or(f64::NAN);
            let formula = evaluate(&partials(id)[k], &x, n, value);
            if !is_near(formula, first, 0.0) {
                return Err(format!("{}{x:?} n = {n} by operand {k}: {formula} by its formula, not {first}", p.name));
            }
        }
    }
    Ok(())
}

#[test]
fn all_mechanisms_use_the_partial_derivatives_of_the_table() {
    let ids: Vec<PrimitiveId> = (0..primitive_table::all().len() as u16).map(PrimitiveId).collect();
    let ids: Vec<PrimitiveId> = ids.into_iter().filter(|id| !id.info().partials().is_empty()).collect();
    assert!(ids.len() > 40, "{} entries have partial derivatives", ids.len());
    all(&ids, |id| check(*id));
}

/// Returns the type of a bank in a signature.
fn type_name(bank: Bank) -> &'static str {
    match bank {
        Bank::F => "Double",
        Bank::I => "Int",
        Bank::R => "reference",
    }
}

fn signature(p: &Primitive) -> String {
    let operands: Vec<&str> = p.operands.iter().map(|bank| type_name(*bank)).collect();
    let result = match p.value {
        Value::Test1(_) | Value::Test2(_) => "Bool",
        _ => type_name(p.result),
    };
    format!("`({}) -> {result}`", operands.join(", "))
}

/// Returns the partials as formulas, named by the operands if there are several.
fn derivatives(id: PrimitiveId) -> String {
    let formulas = partials(id);
    match id.info().rule {
        Rule::Flat => "0".to_owned(),
        Rule::Opaque(_) => "none".to_owned(),
        Rule::Partials(_) => {
            let name = |k: usize| ["x", "y", "z"][k];
            let one = |(k, formula): (usize, &Formula)| match formulas.len() {
                1 => format!("`{formula}`"),
                _ => format!("{}: `{formula}`", name(k)),
            };
            formulas.iter().enumerate().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

const INTRODUCTION: &str = "# Primitives

This page is generated from the table in `src/native/`; `DSCRIPT_BLESS=1 cargo test --test suite primitives::` rewrites it.

A primitive is a function that the machine computes directly. Its entry in the table defines its value and its partial
derivatives, and all mechanisms of differentiation use that definition. In the formulas `x`, `y` and `z` are the operands, `n` is an
integer operand, and `result` is the result. [Kinks and singular points](kinks.md) explains the conventions.

`float.sin` is the variant of `double.sin` for single precision: it is computed in double precision and rounded. Entries marked with *
need no rounding, entries marked with † have no such variant.

```dscript
print(derivative(at: 0.0) { x in sin(x) }, gradient(at: 3.0, 2.0) { x, y in x / y })  // prints: 1.0 (0.5, -0.75)
```
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let ids: Vec<PrimitiveId> = (0..primitive_table::all().len() as u16).map(PrimitiveId).collect();
    let is_real = |id: &&PrimitiveId| id.info().numbers() > 0;
    let text = |text: &'static str| if text.is_empty() { "–" } else { text };
    page += "\n## Functions of numbers\n\n";
    page += "| primitive | signature | documentation | partial derivatives | defined where | at kinks |\n";
    page += "| --- | --- | --- | --- | --- | --- |\n";
    for id in ids.iter().filter(is_real) {
        let p = id.info();
        let mark = match p.single {
            _ if !p.name.starts_with("double.") => "",
            Single::Rounded => "",
            Single::Exact => " *",
            Single::None => " †",
        };
        let (signature, derivatives) = (signature(p), derivatives(*id));
        let (doc, defined, kink) = (p.doc, text(p.defined), text(p.kink));
        writeln!(page, "| `{}`{mark} | {signature} | {doc} | {derivatives} | {defined} | {kink} |", p.name).unwrap();
    }
    page += "\n## Functions of integers and truth values\n\nThey have no derivatives.\n\n";
    page += "| primitive | signature | documentation |\n| --- | --- | --- |\n";
    for p in ids.iter().filter(|id| !is_real(id)).map(|id| id.info()) {
        writeln!(page, "| `{}` | {} | {} |", p.name, signature(p), p.doc).unwrap();
    }
    page
}

#[test]
fn the_page_of_primitives_is_current() {
    let path = root().join("docs/primitives.md");
    let page = page();
    if blessing() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/primitives.md:\n{}", difference(&written, &page));
}
