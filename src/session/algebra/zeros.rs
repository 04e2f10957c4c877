//! Zeros: polynomials in one variable as products of the factors that belong to their rational zeros.

use super::polynomial::expanded;
use super::ratio::{Ratio, gcd};
use super::sum::{Factor, Sum, Term};

/// The largest degree of a polynomial that is factored.
const MAX_DEGREE: usize = 12;

/// The largest first and last coefficient, of which all divisors are tried.
const MAX_COEFFICIENT: i128 = 5000;

/// The coefficients of a polynomial, from the constant one on; the last one is not 0.
type Polynomial = Vec<i128>;

/// Returns a sum that is a polynomial in one variable, or in one function, as a product: `x³ - x` is `x · (x - 1) · (x + 1)`; `None` if
/// it has no rational zeros.
pub(super) fn by_zeros(sum: &Sum) -> Option<Sum> {
    // The sums in a product are factored on their own.
    let sum = expanded(sum).filter(|_| sum.0.len() > 1)?;
    let variable = variable(&sum)?;
    let (coefficient, polynomial) = polynomial(&sum, &variable)?;
    let factors = factored(polynomial);
    if factors.len() < 2 {
        return None;
    }
    let product = factors.iter().fold(Term::constant(coefficient), |product, factor| {
        let factor = of_polynomial(factor, &variable);
        factor.term().map_or(product.clone(), |factor| product.times(&factor))
    });
    Some(Sum::from(product))
}

/// Returns the only factor of all terms.
fn variable(sum: &Sum) -> Option<Factor> {
    let mut factors = sum.0.iter().flat_map(|term| term.factors.iter().map(|(factor, _)| factor));
    let first = factors.next()?;
    let is_variable = matches!(first, Factor::Operand(_) | Factor::Function(..));
    (is_variable && factors.all(|other| other == first)).then(|| first.clone())
}

/// Returns a polynomial with integer coefficients without a common divisor, and the number by which it is multiplied.
fn polynomial(sum: &Sum, variable: &Factor) -> Option<(Ratio, Polynomial)> {
    let under = sum.0.iter().try_fold(1i128, |all, term| {
        let under = i128::from(term.coefficient.denominator);
        (under > 0).then(|| all * under / gcd(all, under)).filter(|all| *all < MAX_COEFFICIENT)
    })?;
    let mut polynomial = vec![];
    for term in &sum.0 {
        let exponent = term.exponent(variable);
        let degree = usize::try_from(exponent.numerator).ok().filter(|n| exponent.is_integer() && *n <= MAX_DEGREE)?;
        if polynomial.len() <= degree {
            polynomial.resize(degree + 1, 0);
        }
        polynomial[degree] = i128::from(term.coefficient.numerator) * under / i128::from(term.coefficient.denominator);
    }
    let over = polynomial.iter().filter(|c| **c != 0).fold(0, |all, c| gcd(all, *c));
    if over == 0 || polynomial.len() < 3 {
        return None;
    }
    polynomial.iter_mut().for_each(|c| *c /= over);
    Some((Ratio::new(over, under), polynomial))
}

/// Returns the factors of a polynomial: those of its rational zeros, those of the rational zeros of a polynomial in the square of the
/// variable, and the rest.
fn factored(mut polynomial: Polynomial) -> Vec<Polynomial> {
    let mut factors = vec![];
    while polynomial.len() > 2 {
        let found = zero(&polynomial).map(|(over, under)| vec![-over, under]);
        let Some(factor) = found.or_else(|| factor_in_squares(&polynomial)) else { break };
        let Some(quotient) = divided(&polynomial, &factor) else { break };
        factors.push(factor);
        polynomial = quotient;
    }
    if polynomial != [1] {
        factors.push(polynomial);
    }
    factors
}

/// Returns a factor `q · x² - p` of a polynomial in the square of the variable.
fn factor_in_squares(polynomial: &[i128]) -> Option<Polynomial> {
    if polynomial.len() < 5 || polynomial.iter().skip(1).step_by(2).any(|c| *c != 0) {
        return None;
    }
    let in_squares: Polynomial = polynomial.iter().step_by(2).copied().collect();
    zero(&in_squares).map(|(over, under)| vec![-over, 0, under])
}

/// Returns a rational zero of a polynomial, as numerator and denominator.
fn zero(polynomial: &[i128]) -> Option<(i128, i128)> {
    let (first, last) = (*polynomial.first()?, *polynomial.last()?);
    if first == 0 {
        return Some((0, 1));
    }
    let unders = divisors(last)?;
    let candidates = divisors(first)?.into_iter().flat_map(|over| [over, -over]);
    candidates
        .flat_map(|over| unders.iter().map(move |under| (over, *under)))
        .find(|(over, under)| gcd(*over, *under) == 1 && divided(polynomial, &[-over, *under]).is_some())
}

/// Returns the positive divisors of a number that is not too large.
fn divisors(n: i128) -> Option<Vec<i128>> {
    let n = n.abs();
    (1..=MAX_COEFFICIENT).contains(&n).then(|| (1..=n).filter(|d| n % d == 0).collect())
}

/// Divides a polynomial by a factor of lower degree; `None` if there is a remainder, or if a coefficient is not an integer.
fn divided(polynomial: &[i128], factor: &[i128]) -> Option<Polynomial> {
    let (lead, degree) = (*factor.last()?, factor.len() - 1);
    let mut rest = polynomial.to_vec();
    let mut quotient = vec![0; rest.len() - degree];
    for at in (0..quotient.len()).rev() {
        let above = rest[at + degree];
        if above % lead != 0 {
            return None;
        }
        quotient[at] = above / lead;
        for (k, c) in factor.iter().enumerate() {
            rest[at + k] = rest[at + k].checked_sub(c.checked_mul(quotient[at])?)?;
        }
    }
    rest.iter().all(|c| *c == 0).then_some(quotient)
}

fn of_polynomial(polynomial: &[i128], variable: &Factor) -> Sum {
    let term = |(degree, c): (usize, &i128)| {
        let factors = if degree == 0 { vec![] } else { vec![(variable.clone(), Ratio::integer(degree as i64))] };
        Term { factors, coefficient: Ratio::new(*c, 1) }
    };
    Sum::of(polynomial.iter().enumerate().map(term).collect())
}

#[cfg(test)]
mod tests {
    use super::{factored, polynomial, variable};
    use crate::session::algebra::ratio::Ratio;
    use crate::session::algebra::sum::{Factor, Sum};

    #[test]
    fn polynomials_are_divided_by_the_factors_of_their_zeros() {
        let factors = |polynomial: &[i128]| factored(polynomial.to_vec());
        assert_eq!(factors(&[0, -1, 0, 1]), [vec![0, 1], vec![-1, 1], vec![1, 1]]);
        assert_eq!(factors(&[-27, 36, 30, -28, 5]), [vec![1, 1], vec![-3, 1], vec![-3, 1], vec![-3, 5]]);
        assert_eq!(factors(&[1, 0, 9, 0, 15, 0, 7]), [vec![1, 0, 1], vec![1, 0, 1], vec![1, 0, 7]]);
        assert_eq!(factors(&[11, -12, 3]), [vec![11, -12, 3]], "no rational zero");
        assert_eq!(factors(&[1, 0, 0, 0, 1]), [vec![1, 0, 0, 0, 1]]);
        assert_eq!(factors(&[-3, 1]), [vec![-3, 1]]);
    }

    #[test]
    fn coefficients_are_integers_without_a_common_divisor() {
        let x = Sum::factor(Factor::Operand(0));
        let sum = x.power(Ratio::integer(2)).scaled(Ratio::new(2, 3)).plus(&x.scaled(Ratio::integer(4)));
        let operand = variable(&sum).unwrap();
        assert_eq!(polynomial(&sum, &operand), Some((Ratio::new(2, 3), vec![0, 6, 1])));
        assert_eq!(polynomial(&x.power(Ratio::HALF), &operand), None);
        assert_eq!(variable(&x.plus(&Sum::factor(Factor::Operand(1)))), None);
    }
}
