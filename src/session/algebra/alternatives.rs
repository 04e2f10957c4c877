//! Alternatives: the rules of the e-graph, which return other forms of a sum that compute the same values.

use super::polynomial::{common_factor, divided, expanded};
use super::ratio::Ratio;
use super::sum::{Factor, Sum, Term};
use super::zeros::by_zeros;
use crate::native::{PrimitiveId, primitive_ids, primitive_table};

/// A rule of the e-graph: a name, and a function that returns other forms of a sum.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) forms: fn(&Sum) -> Vec<Sum>,
}

/// All rules of the e-graph.
pub(super) const RULES: &[Rule] = &[
    Rule { name: "expand", forms: |sum| expanded(sum).into_iter().collect() },
    Rule { name: "zeros", forms: |sum| by_zeros(sum).into_iter().collect() },
    Rule { name: "roots", forms: |sum| sum.0.iter().flat_map(one_root).filter(|_| sum.0.len() == 1).collect() },
    Rule { name: "factor", forms: |sum| factored(sum, false) },
    Rule { name: "one fraction", forms: |sum| factored(sum, true) },
    Rule { name: "inner fractions", forms: |sum| inner_factors(sum, true) },
    Rule { name: "inner factors", forms: |sum| inner_factors(sum, false) },
    Rule { name: "cancel", forms: |sum| sum.0.iter().flat_map(cancelled).filter(|_| sum.0.len() == 1).collect() },
    Rule { name: "squares", forms: squares },
    Rule { name: "double angles", forms: double_angles },
    Rule { name: "tangents", forms: tangents },
    Rule { name: "signs", forms: signs },
];

/// Returns the product of the common factor and the rest, with the rest unchanged and multiplied out.
fn factored(sum: &Sum, is_fraction: bool) -> Vec<Sum> {
    let Some((common, rest)) = common_factor(sum, is_fraction) else { return vec![] };
    let mut forms = vec![];
    if !common.factors.is_empty() || common.coefficient != Ratio::ONE {
        forms.push(grouped(&common, &rest));
    }
    let Some(rest) = expanded(&rest) else { return forms };
    let Some((more, rest)) = common_factor(&rest, is_fraction) else {
        forms.push(Sum::from(common).times(&rest));
        return forms;
    };
    let common = common.times(&more);
    let product = grouped(&common, &rest);
    forms.extend(product.0.iter().flat_map(cancelled).filter(|_| product.0.len() == 1));
    forms.push(product);
    forms
}

fn grouped(common: &Term, rest: &Sum) -> Sum {
    Sum::from(common.clone()).times(rest)
}

/// Returns a product whose sums are written as fractions, `1 / (1 + 1 / x) = x / (x + 1)`, or without their common factors,
/// `(2x + 2)² = 4(x + 1)²`.
fn inner_factors(sum: &Sum, is_fraction: bool) -> Vec<Sum> {
    let [term] = &sum.0[..] else { return vec![] };
    let mut forms = vec![];
    for (factor, exponent) in term.factors.iter().filter(|(_, exponent)| exponent.is_integer()) {
        let Factor::Group(inner) = factor else { continue };
        let Some((common, rest)) = common_factor(inner, is_fraction) else { continue };
        let has_divisor = common.factors.iter().any(|(_, e)| e.is_negative());
        let is_one = common.factors.is_empty() && common.coefficient == Ratio::ONE;
        if is_one || has_divisor != is_fraction {
            continue;
        }
        let rest = if is_fraction { expanded(&rest).unwrap_or(rest) } else { rest };
        let product = Sum::from(common).times(&rest).power(*exponent);
        forms.push(Sum::from(term.without(factor)).times(&product));
    }
    forms
}

/// Returns a term with two roots of sums as one root: `√(1 - x) · √(1 + x) = √(1 - x²)`. At most one of the two sums may be negative.
fn one_root(term: &Term) -> Option<Sum> {
    let is_root = |e: Ratio| !e.is_integer() && e.abs().compare(Ratio::ONE).is_lt();
    let mut roots = term.factors.iter().filter_map(|(factor, e)| match factor {
        Factor::Group(sum) if is_root(*e) => Some((factor, sum, *e)),
        _ => None,
    });
    let (first, a, exponent) = roots.next()?;
    let (second, ..) = roots.find(|(_, b, e)| *e == exponent && (a.is_positive() || b.is_positive()))?;
    let product = expanded(&Sum::factor(first.clone()).times(&Sum::factor(second.clone())))?;
    Some(Sum::from(term.without(first).without(second)).times(&product.power(exponent)))
}

/// Divides numerator and denominator of a term by a sum that is a factor of both.
fn cancelled(term: &Term) -> Vec<Sum> {
    let groups = |is_negative: bool| {
        term.factors.iter().filter_map(move |(factor, e)| match factor {
            Factor::Group(sum) if e.is_integer() && e.is_negative() == is_negative && sum.0.len() > 1 => Some(sum),
            _ => None,
        })
    };
    let mut forms = vec![];
    for above in groups(false) {
        let Some(over) = expanded(above) else { continue };
        for below in groups(true) {
            let Some(under) = expanded(below) else { continue };
            if let Some(quotient) = divided(&over, &under) {
                // above = below · quotient
                let once = |sum: &Sum, e: i64| Sum::factor(Factor::Group(sum.clone())).power(Ratio::integer(e));
                let rest = Sum::from(term.clone()).times(&once(above, -1)).times(&once(below, 1));
                forms.push(rest.times(&quotient));
            } else if let Some(quotient) = divided(&under, &over) {
                let once = |sum: &Sum, e: i64| Sum::factor(Factor::Group(sum.clone())).power(Ratio::integer(e));
                let rest = Sum::from(term.clone()).times(&once(above, -1)).times(&once(below, 1));
                forms.push(rest.times(&quotient.power(Ratio::integer(-1))));
            }
        }
    }
    forms
}

/// Returns the functions of one number with the given symbol in a sum.
fn functions(sum: &Sum, symbol: &str) -> Vec<(PrimitiveId, Sum)> {
    let mut found = vec![];
    for (factor, _) in sum.0.iter().flat_map(|term| &term.factors) {
        if let Factor::Function(id, 0, operands) = factor
            && let ([operand], true) = (&operands[..], primitive_table::info(*id).symbol == symbol)
            && !found.contains(&(*id, operand.clone()))
        {
            found.push((*id, operand.clone()));
        }
    }
    found
}

fn function(id: PrimitiveId, operand: &Sum) -> Factor {
    Factor::Function(id, 0, vec![operand.clone()])
}

fn power(factor: Factor, n: i64) -> Sum {
    Sum::factor(factor).power(Ratio::integer(n))
}

/// Replaces the squares of a factor by a sum, and multiplies out.
fn with_squares(sum: &Sum, factor: &Factor, square: &Sum) -> Option<Sum> {
    let two = Ratio::integer(2);
    let mut result = Sum::default();
    for term in &sum.0 {
        let exponent = term.exponent(factor);
        let mut rest = Sum::from(term.clone());
        if exponent.is_integer() && exponent.numerator >= 2 {
            let pairs = exponent.numerator / 2;
            rest = rest.times(&Sum::factor(factor.clone()).power(two.times(Ratio::integer(-pairs))));
            for _ in 0..pairs.min(4) {
                rest = rest.distributed(square);
            }
            if pairs > 4 {
                return None;
            }
        }
        result = result.plus(&rest);
    }
    expanded(&result)
}

/// Applies `sin² + cos² = 1`, `cosh² - sinh² = 1`, `1 + tan² = 1 / cos²`, `1 - tanh² = 1 / cosh²`, in both directions.
fn squares(sum: &Sum) -> Vec<Sum> {
    let Some(sum) = expanded(sum) else { return vec![] };
    let one = Sum::constant(Ratio::ONE);
    let mut forms = vec![];
    let mut replace = |symbol: &str, square: &dyn Fn(&Sum) -> Sum| {
        for (id, operand) in functions(&sum, symbol) {
            forms.extend(with_squares(&sum, &function(id, &operand), &square(&operand)));
        }
    };
    replace("sin", &|u| one.minus(&power(function(primitive_ids::COS, u), 2)));
    replace("cos", &|u| one.minus(&power(function(primitive_ids::SIN, u), 2)));
    replace("sinh", &|u| power(function(primitive_ids::COSH, u), 2).minus(&one));
    replace("cosh", &|u| power(function(primitive_ids::SINH, u), 2).plus(&one));
    replace("tan", &|u| power(function(primitive_ids::COS, u), -2).minus(&one));
    replace("tanh", &|u| one.minus(&power(function(primitive_ids::COSH, u), -2)));
    forms
}

/// Applies `2 sin u cos u = sin 2u`, `cos² u = (1 + cos 2u) / 2`, `sin² u = (1 - cos 2u) / 2`; and the corresponding
/// identities of `sinh` and `cosh`.
fn double_angles(sum: &Sum) -> Vec<Sum> {
    let Some(sum) = expanded(sum) else { return vec![] };
    let mut forms = vec![];
    for (sine, cosine, sign) in
        [(primitive_ids::SIN, primitive_ids::COS, -1), (primitive_ids::SINH, primitive_ids::COSH, 1)]
    {
        for (_, u) in functions(&sum, primitive_table::info(sine).symbol) {
            let (s, c, double) = (function(sine, &u), function(cosine, &u), u.scaled(Ratio::integer(2)));
            let half = |sum: Sum| sum.scaled(Ratio::HALF);
            let of_products: Vec<Term> = sum
                .0
                .iter()
                .map(|term| {
                    let pairs = [&s, &c].map(|factor| term.exponent(factor));
                    match pairs.iter().all(|e| e.is_integer() && e.numerator > 0) {
                        true => {
                            let sine_of_double = half(Sum::factor(function(sine, &double)));
                            let inverse = power(s.clone(), -1).times(&power(c.clone(), -1));
                            let product = Sum::from(term.clone()).times(&inverse).times(&sine_of_double);
                            product.term().unwrap_or_else(|| term.clone())
                        }
                        false => term.clone(),
                    }
                })
                .collect();
            let of_products = Sum::of(of_products);
            let cosine_of_double = Sum::factor(function(cosine, &double));
            let one = Sum::constant(Ratio::ONE);
            let cosine_square = half(one.plus(&cosine_of_double));
            let sine_square = half(cosine_of_double.minus(&one)).scaled(Ratio::integer(sign));
            let both =
                with_squares(&of_products, &c, &cosine_square).and_then(|sum| with_squares(&sum, &s, &sine_square));
            forms.extend(both);
            forms.push(of_products);
        }
    }
    forms
}

/// Applies `sin u / cos u = tan u`, `sinh u / cosh u = tanh u`, in both directions.
fn tangents(sum: &Sum) -> Vec<Sum> {
    let [term] = &sum.0[..] else { return vec![] };
    let mut forms = vec![];
    for (tangent, sine, cosine) in [
        ("double.tan", primitive_ids::SIN, primitive_ids::COS),
        ("double.tanh", primitive_ids::SINH, primitive_ids::COSH),
    ] {
        let Some(tangent) = primitive_table::primitive(tangent) else { continue };
        for (_, u) in functions(sum, primitive_table::info(sine).symbol) {
            let [s, c] = [sine, cosine].map(|id| term.exponent(&function(id, &u)));
            if s.is_integer() && c.is_integer() && s.numerator * c.numerator < 0 {
                let n = s.numerator.signum() * s.numerator.abs().min(c.numerator.abs());
                let quotient = power(function(sine, &u), -n).times(&power(function(cosine, &u), n));
                forms.push(Sum::from(term.clone()).times(&quotient).times(&power(function(tangent, &u), n)));
            }
        }
        for (_, u) in functions(sum, primitive_table::info(tangent).symbol) {
            let n = term.exponent(&function(tangent, &u));
            if n.is_integer() {
                let quotient = power(function(sine, &u), n.numerator).times(&power(function(cosine, &u), -n.numerator));
                forms.push(Sum::from(term.clone()).times(&power(function(tangent, &u), -n.numerator)).times(&quotient));
            }
        }
    }
    forms
}

/// Applies `u · sign u = |u|`.
fn signs(sum: &Sum) -> Vec<Sum> {
    let mut forms = vec![];
    for (sign, u) in functions(sum, primitive_table::info(primitive_ids::SIGN).symbol) {
        let (Some(factor), sign) = (single(&u), function(sign, &u)) else { continue };
        let magnitude = power(function(primitive_ids::ABS, &u), 1);
        let terms = sum.0.iter().map(|term| {
            let (n, has_sign) = (term.exponent(&factor), term.exponent(&sign) == Ratio::ONE);
            match has_sign && n.is_integer() && n.numerator > 0 {
                true => {
                    let rest = power(factor.clone(), -1).times(&power(sign.clone(), -1)).times(&magnitude);
                    Sum::from(term.clone()).times(&rest)
                }
                false => Sum::from(term.clone()),
            }
        });
        forms.push(terms.fold(Sum::default(), |all, term| all.plus(&term)));
    }
    forms
}

/// Returns the factor of which a sum consists; a sum of several terms is one factor, a group.
fn single(sum: &Sum) -> Option<Factor> {
    match &sum.term()?.factors[..] {
        [(factor, Ratio::ONE)] => Some(factor.clone()),
        _ => None,
    }
}
