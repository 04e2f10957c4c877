//! Sum: the normal form of a formula, a sum of products of powers.

use super::ratio::Ratio;
use crate::native::{PrimitiveId, primitive_ids};

/// A sum of terms that differ in their factors, in a fixed order; an empty sum is 0.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(super) struct Sum(pub(super) Vec<Term>);

/// A coefficient times powers of different factors, which are in a fixed order.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Term {
    pub(super) factors: Vec<(Factor, Ratio)>,
    pub(super) coefficient: Ratio,
}

/// The base of a power.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Factor {
    /// An integer under a root.
    Integer(i64),
    /// An irrational number such as π, by its bits.
    Real(u64),
    Operand(u8),
    /// The factor `exp(t)` of a product `t`. `exp(k·t)` is stored as the power `exp(t)ᵏ`.
    Exponential(Term),
    /// A base raised to a product that is not a number.
    Power(Sum, Term),
    /// A primitive with its integer operand.
    Function(PrimitiveId, i64, Vec<Sum>),
    /// A sum, or a product under a root.
    Group(Sum),
    /// A part of the formula that has no normal form, by its number.
    Opaque(u32),
}

impl Factor {
    /// Whether the factor is positive wherever it is defined.
    pub(super) fn is_positive(&self) -> bool {
        match self {
            Factor::Integer(n) => *n > 0,
            Factor::Real(bits) => f64::from_bits(*bits) > 0.0,
            Factor::Exponential(_) => true,
            Factor::Function(id, ..) => matches!(*id, primitive_ids::COSH | primitive_ids::EXP),
            Factor::Group(sum) => sum.is_positive(),
            Factor::Operand(_) | Factor::Power(..) | Factor::Opaque(_) => false,
        }
    }

    /// Whether negative powers of the factor are written as quotients.
    pub(super) fn is_divisor(&self) -> bool {
        !matches!(self, Factor::Exponential(_) | Factor::Power(..))
    }
}

impl Term {
    pub(super) fn constant(coefficient: Ratio) -> Term {
        Term { factors: vec![], coefficient }
    }

    pub(super) fn scaled(&self, by: Ratio) -> Term {
        Term { factors: self.factors.clone(), coefficient: self.coefficient.times(by) }
    }

    fn is_valid(&self) -> bool {
        let is_valid = |(factor, e): &(Factor, Ratio)| {
            e.is_valid()
                && match factor {
                    Factor::Exponential(term) => term.is_valid(),
                    Factor::Power(base, term) => base.is_valid() && term.is_valid(),
                    Factor::Function(_, _, operands) => operands.iter().all(Sum::is_valid),
                    Factor::Group(sum) => sum.is_valid(),
                    Factor::Integer(_) | Factor::Real(_) | Factor::Operand(_) | Factor::Opaque(_) => true,
                }
        };
        self.coefficient.is_valid() && self.factors.iter().all(is_valid)
    }

    /// Returns the exponent of a factor.
    pub(super) fn exponent(&self, factor: &Factor) -> Ratio {
        self.factors.iter().find(|(own, _)| own == factor).map_or(Ratio::ZERO, |(_, e)| *e)
    }

    pub(super) fn times(&self, other: &Term) -> Term {
        let mut product =
            Term { factors: self.factors.clone(), coefficient: self.coefficient.times(other.coefficient) };
        for (factor, exponent) in &other.factors {
            product.multiply(factor, *exponent);
        }
        product.normalized()
    }

    /// Multiplies the term by a power, without restoring the order of the factors.
    fn multiply(&mut self, factor: &Factor, exponent: Ratio) {
        if let Some((_, own)) = self.factors.iter_mut().find(|(own, _)| own == factor) {
            *own = own.plus(exponent);
            return;
        }
        // A factor `1 - x` is combined with an existing factor `x - 1`, with the opposite sign.
        if let (Factor::Group(sum), true) = (factor, exponent.is_integer()) {
            let opposite = Factor::Group(sum.scaled(Ratio::integer(-1)));
            if let Some((_, own)) = self.factors.iter_mut().find(|(own, e)| *own == opposite && e.is_integer()) {
                *own = own.plus(exponent);
                if !exponent.is_even() {
                    self.coefficient = self.coefficient.negative();
                }
                return;
            }
        }
        self.factors.push((factor.clone(), exponent));
    }

    /// Restores the order of the factors, and evaluates powers that became trivial.
    fn normalized(mut self) -> Term {
        self.factors.retain(|(_, e)| !e.is_zero());
        let mut products = vec![];
        for (factor, exponent) in &mut self.factors {
            match factor {
                Factor::Integer(n) => {
                    let whole = exponent.floor();
                    self.coefficient = self.coefficient.times(Ratio::integer(*n).power(whole));
                    *exponent = exponent.minus(Ratio::integer(whole));
                }
                Factor::Function(primitive_ids::ABS, _, operands) if exponent.is_even() => {
                    products.extend(operands.iter().flat_map(|operand| operand.power(*exponent).0));
                    *exponent = Ratio::ZERO;
                }
                Factor::Group(sum) if sum.0.len() == 1 && exponent.is_integer() => {
                    products.extend(sum.power(*exponent).0);
                    *exponent = Ratio::ZERO;
                }
                _ => {}
            }
        }
        self.factors.retain(|(_, e)| !e.is_zero());
        self.factors.sort();
        products.iter().fold(self, |product, factor| product.times(factor))
    }

    /// Raises the term to an integer power.
    fn power(&self, n: i64) -> Term {
        let factors = self.factors.iter().map(|(f, e)| (f.clone(), e.times(Ratio::integer(n)))).collect();
        Term { factors, coefficient: self.coefficient.power(n) }.normalized()
    }

    /// Returns the inverse of the term.
    pub(super) fn inverse(&self) -> Term {
        self.power(-1)
    }

    pub(super) fn without(&self, factor: &Factor) -> Term {
        let factors = self.factors.iter().filter(|(own, _)| own != factor).cloned().collect();
        Term { factors, coefficient: self.coefficient }
    }
}

impl From<Term> for Sum {
    fn from(term: Term) -> Sum {
        Sum::of(vec![term])
    }
}

impl Sum {
    pub(super) fn constant(c: Ratio) -> Sum {
        Sum::of(vec![Term::constant(c)])
    }

    pub(super) fn factor(factor: Factor) -> Sum {
        Sum::from(Term { factors: vec![(factor, Ratio::ONE)], coefficient: Ratio::ONE })
    }

    /// Merges like terms and drops those that are 0. A nested sum among other terms becomes part of the sum.
    pub(super) fn of(terms: Vec<Term>) -> Sum {
        let is_among_others = terms.len() > 1;
        let mut flat: Vec<Term> = vec![];
        for term in terms {
            match &term.factors[..] {
                [(Factor::Group(inner), Ratio::ONE)] if is_among_others || term.coefficient == Ratio::ONE => {
                    flat.extend(inner.0.iter().map(|part| part.scaled(term.coefficient)));
                }
                _ => flat.push(term),
            }
        }
        flat.sort();
        let mut merged: Vec<Term> = vec![];
        for term in flat {
            match merged.last_mut().filter(|last| last.factors == term.factors) {
                Some(last) => last.coefficient = last.coefficient.plus(term.coefficient),
                None => merged.push(term),
            }
        }
        merged.retain(|term| !term.coefficient.is_zero());
        Sum(merged)
    }

    /// Returns the value of the sum, if the sum is a number.
    pub(super) fn as_constant(&self) -> Option<Ratio> {
        match &self.0[..] {
            [] => Some(Ratio::ZERO),
            [term] if term.factors.is_empty() => Some(term.coefficient),
            _ => None,
        }
    }

    /// Whether all numbers were computed without an overflow.
    pub(super) fn is_valid(&self) -> bool {
        self.0.iter().all(Term::is_valid)
    }

    /// Whether all coefficients are negative.
    pub(super) fn is_negative(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|term| term.coefficient.is_negative())
    }

    /// Whether the sum is positive wherever it is defined, as far as its form shows: `x^2 + 1`, `exp(x)`.
    pub(super) fn is_positive(&self) -> bool {
        let is_positive = |(factor, _): &(Factor, Ratio)| factor.is_positive();
        self.is_nonnegative()
            && self.0.iter().any(|term| term.factors.iter().all(is_positive) && !term.coefficient.is_zero())
    }

    /// Whether the sum is nowhere negative, as far as its form shows.
    pub(super) fn is_nonnegative(&self) -> bool {
        let is_nonnegative = |(factor, e): &(Factor, Ratio)| e.is_even() || !e.is_integer() || factor.is_positive();
        let mut terms = self.0.iter();
        terms.all(|term| !term.coefficient.is_negative() && term.factors.iter().all(is_nonnegative))
    }

    pub(super) fn scaled(&self, by: Ratio) -> Sum {
        Sum::of(self.0.iter().map(|term| term.scaled(by)).collect())
    }

    pub(super) fn plus(&self, other: &Sum) -> Sum {
        Sum::of(self.0.iter().chain(&other.0).cloned().collect())
    }

    pub(super) fn minus(&self, other: &Sum) -> Sum {
        self.plus(&other.scaled(Ratio::integer(-1)))
    }

    pub(super) fn times(&self, other: &Sum) -> Sum {
        match (self.term(), other.term()) {
            (Some(a), Some(b)) => Sum::from(a.times(&b)),
            _ => Sum::default(),
        }
    }

    /// Multiplies every term by every other term.
    pub(super) fn distributed(&self, other: &Sum) -> Sum {
        Sum::of(self.0.iter().flat_map(|a| other.0.iter().map(move |b| a.times(b))).collect())
    }

    /// Returns the sum as one term, in which a sum of several terms is a factor with integer coefficients; `None` for
    /// 0.
    pub(super) fn term(&self) -> Option<Term> {
        match &self.0[..] {
            [] => None,
            [term] => Some(term.clone()),
            terms => {
                let under = terms.iter().fold(1, |all, term| lcm(all, term.coefficient.denominator));
                let inner = self.scaled(Ratio::integer(under));
                let coefficient = Ratio::integer(under).inverse();
                Some(Term { factors: vec![(Factor::Group(inner), Ratio::ONE)], coefficient })
            }
        }
    }

    /// Raises the sum to a power.
    pub(super) fn power(&self, exponent: Ratio) -> Sum {
        match self.term() {
            _ if exponent.is_zero() => Sum::constant(Ratio::ONE),
            _ if exponent == Ratio::ONE => self.clone(),
            None if exponent.is_negative() => {
                Sum::from(Term { factors: vec![(Factor::Real(0), exponent)], coefficient: Ratio::ONE })
            }
            None => Sum::default(),
            Some(term) if exponent.is_integer() => Sum::from(term.power(exponent.numerator)),
            Some(_) => self.root(exponent),
        }
    }

    /// Raises the sum to a power that is not an integer. A product is split only where its factors cannot be negative.
    fn root(&self, exponent: Ratio) -> Sum {
        let group = |sum: &Sum| Term { factors: vec![(Factor::Group(sum.clone()), exponent)], coefficient: Ratio::ONE };
        let [term] = &self.0[..] else {
            let Some(Term { coefficient, factors }) = self.term() else { return Sum::default() };
            let under = root_of_number(coefficient, exponent).filter(|root| root.factors.is_empty());
            return Sum::from(match (under, factors.first()) {
                (Some(root), Some((Factor::Group(inner), _))) => group(inner).times(&root),
                _ => group(self),
            });
        };
        let Some(number) = root_of_number(term.coefficient.abs(), exponent) else { return Sum::from(group(self)) };
        let (positive, rest): (Vec<_>, Vec<_>) = term.factors.iter().cloned().partition(|(f, _)| f.is_positive());
        let outside = positive.into_iter().map(|(f, e)| (f, e.times(exponent))).collect();
        let outside = Term { factors: outside, coefficient: Ratio::ONE }.normalized().times(&number);
        let sign = if term.coefficient.is_negative() { Ratio::integer(-1) } else { Ratio::ONE };
        let inside = match &rest[..] {
            [] if sign == Ratio::ONE => Term::constant(Ratio::ONE),
            [(factor, e)] if sign == Ratio::ONE => match power_of_power(factor, *e, exponent) {
                Some(power) => power,
                None => group(&Sum(vec![Term { factors: rest, coefficient: sign }])),
            },
            _ => group(&Sum(vec![Term { factors: rest, coefficient: sign }])),
        };
        Sum::from(outside.times(&inside))
    }
}

/// Returns `(factor^inner)^outer` as a power, if both are equal wherever they are defined: `√(x²)` is `|x|`.
fn power_of_power(factor: &Factor, inner: Ratio, outer: Ratio) -> Option<Term> {
    let product = inner.times(outer);
    let base = match factor {
        _ if inner == Ratio::ONE || inner == Ratio::integer(-1) => factor.clone(),
        _ if inner.is_even() => Factor::Function(primitive_ids::ABS, 0, vec![Sum::factor(factor.clone())]),
        _ if !product.is_integer() => factor.clone(),
        _ => return None,
    };
    Some(Term { factors: vec![(base, product)], coefficient: Ratio::ONE }.normalized())
}

/// Returns a power of a positive number as a coefficient and powers of integers; `None` where the result is not exact.
fn root_of_number(c: Ratio, exponent: Ratio) -> Option<Term> {
    let parts = [(c.numerator, exponent), (c.denominator, exponent.negative())];
    let mut product = Term::constant(Ratio::ONE);
    for (n, exponent) in parts.into_iter().filter(|(n, _)| *n != 1) {
        let (whole, rest) = split(n, exponent.denominator)?;
        product = product.times(&Term::constant(Ratio::integer(whole).power(exponent.numerator)));
        if rest != 1 {
            let factors = vec![(Factor::Integer(rest), exponent)];
            product = product.times(&Term { factors, coefficient: Ratio::ONE }.normalized());
        }
    }
    Some(product)
}

/// Splits `n` into `a^k · b` with the largest small `a`.
fn split(n: i64, k: i64) -> Option<(i64, i64)> {
    if n <= 0 {
        return None;
    }
    let k = u32::try_from(k).ok()?;
    let (mut whole, mut rest) = (1i64, n);
    for a in 2..=100i64 {
        let Some(power) = a.checked_pow(k) else { break };
        while rest % power == 0 {
            (whole, rest) = (whole * a, rest / power);
        }
    }
    Some((whole, rest))
}

fn lcm(a: i64, b: i64) -> i64 {
    let divisor = super::ratio::gcd(i128::from(a), i128::from(b));
    i64::try_from(i128::from(a) * i128::from(b) / divisor).unwrap_or(1)
}
