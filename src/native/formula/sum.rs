//! Sum: the normal form of a formula, a sum of terms that are products of powers.

use super::Formula;
use super::simplify::sum;
use crate::native::field::OrderOffset;
use crate::native::ids;

/// A sum of terms that differ in their factors; an empty sum is 0.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Sum(Vec<Term>);

/// A term: a coefficient times powers of factors.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Term {
    coefficient: Fraction,
    factors: Vec<(Formula, i64)>,
}

/// A coefficient: a number, or a quotient of integers where both are exact.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fraction {
    over: f64,
    under: f64,
}

/// The bound below which all integers are exactly representable.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

impl Fraction {
    const ONE: Fraction = Fraction { over: 1.0, under: 1.0 };

    fn new(over: f64, under: f64) -> Fraction {
        let is_exact = |x: f64| x == x.trunc() && x.abs() < MAX_EXACT_INTEGER;
        if !is_exact(over) || !is_exact(under) {
            // `0.5 / 2` is evaluated; `0.1 / 3` is better left as a quotient.
            return if under.abs() == 1.0 || is_exact(over / under * 4096.0) {
                Fraction { over: over / under, under: 1.0 }
            } else {
                Fraction { over, under }
            };
        }
        let divisor = gcd(over.abs(), under.abs()) * under.signum();
        Fraction { over: over / divisor, under: under / divisor }
    }

    fn plus(self, other: Fraction) -> Fraction {
        Fraction::new(self.over * other.under + other.over * self.under, self.under * other.under)
    }

    fn times(self, other: Fraction) -> Fraction {
        Fraction::new(self.over * other.over, self.under * other.under)
    }
}

fn gcd(mut a: f64, mut b: f64) -> f64 {
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    if a == 0.0 { 1.0 } else { a }
}

impl Term {
    pub(super) fn constant(c: f64) -> Term {
        Term { coefficient: Fraction::new(c, 1.0), factors: vec![] }
    }

    fn is_like(&self, other: &Term) -> bool {
        self.factors.len() == other.factors.len() && self.factors.iter().all(|factor| other.factors.contains(factor))
    }

    fn times(mut self, other: Term) -> Term {
        self.coefficient = self.coefficient.times(other.coefficient);
        for (base, n) in other.factors {
            match self.factors.iter_mut().find(|(own, _)| *own == base) {
                Some((_, own)) => *own = own.saturating_add(n),
                None => self.factors.push((base, n)),
            }
        }
        self.factors.retain(|(_, n)| *n != 0);
        self.factors.sort_by_key(|(base, _)| rank(base));
        self
    }

    fn is_negative(&self) -> bool {
        self.coefficient.over < 0.0
    }

    fn negative(mut self) -> Term {
        self.coefficient.over = -self.coefficient.over;
        self
    }

    /// Converts the term to a quotient of two products.
    fn into_formula(self) -> Formula {
        let Fraction { mut over, mut under } = self.coefficient;
        let (above, below): (Vec<_>, Vec<_>) = self.factors.into_iter().partition(|(_, n)| *n > 0);
        let inverse = 1.0 / over;
        if !below.is_empty() && over != 1.0 && inverse == inverse.trunc() && over != -1.0 {
            (over, under) = (inverse.signum(), under * inverse.abs());
        }
        let mut above: Vec<Formula> = above.into_iter().map(|(base, n)| raised(base, n)).collect();
        match (over, above.first_mut()) {
            (1.0, Some(_)) => {}
            (-1.0, Some(first)) => *first = -first.clone(),
            _ => above.insert(0, Formula::Constant(over)),
        }
        let mut below: Vec<Formula> = below.into_iter().map(|(base, n)| raised(base, n.saturating_neg())).collect();
        if under != 1.0 {
            below.insert(0, Formula::Constant(under));
        }
        let above = above.into_iter().reduce(|a, b| a * b).unwrap_or(Formula::Constant(1.0));
        match below.into_iter().reduce(|a, b| a * b) {
            Some(below) => above / below,
            None => above,
        }
    }
}

/// Returns the sort key of a factor in a product: numbers, named operands, functions, sums, selections.
fn rank(factor: &Formula) -> u8 {
    match factor {
        Formula::Constant(_) => 0,
        Formula::Operand(_) | Formula::Result | Formula::Number(_) => 1,
        Formula::Apply(..) if is_sum(factor) => 3,
        Formula::Apply(_, operands, _) if operands.iter().all(|part| matches!(part, Formula::Constant(_))) => 0,
        Formula::Apply(..) => 2,
        Formula::Select(_) => 4,
    }
}

fn is_sum(formula: &Formula) -> bool {
    match formula {
        Formula::Apply(id, ..) => matches!(*id, ids::ADD | ids::SUB),
        _ => false,
    }
}

fn raised(base: Formula, n: i64) -> Formula {
    match n {
        1 => base,
        n => Formula::Apply(ids::POWI, vec![base], OrderOffset(n)),
    }
}

impl From<Term> for Sum {
    fn from(term: Term) -> Sum {
        Sum(vec![term]).collected()
    }
}

impl Sum {
    pub(super) fn factor(factor: Formula) -> Sum {
        Sum(vec![Term { coefficient: Fraction::ONE, factors: vec![(factor, 1)] }])
    }

    pub(super) fn plus(mut self, other: Sum) -> Sum {
        self.0.extend(other.0);
        self.collected()
    }

    pub(super) fn negative(self) -> Sum {
        Sum(self.0.into_iter().map(Term::negative).collect())
    }

    pub(super) fn times(self, other: Sum) -> Sum {
        if let (true, Some((a, b))) = (self.0.len() == 2, self.halves(&other)) {
            return Sum(vec![a.clone().times(a), b.clone().times(b).negative()]).collected();
        }
        match (self.into_term(), other.into_term()) {
            (Some(a), Some(b)) => Sum::from(a.times(b)),
            _ => Sum::default(),
        }
    }

    /// Returns `a` and `b` if one sum is `a + b` and the other is `a - b`.
    fn halves(&self, other: &Sum) -> Option<(Term, Term)> {
        let [[a, b], [c, d]] = [<&[Term; 2]>::try_from(&self.0[..]).ok()?, <&[Term; 2]>::try_from(&other.0[..]).ok()?];
        let opposite = |x: &Term, y: &Term| *x == y.clone().negative();
        match () {
            () if a == c && opposite(b, d) => Some((a.clone(), b.clone())),
            () if b == d && opposite(a, c) => Some((b.clone(), a.clone())),
            () => None,
        }
    }

    pub(super) fn power(self, n: i64) -> Sum {
        let base = match self.into_term() {
            _ if n == 0 => return Sum::from(Term::constant(1.0)),
            None if n > 0 => return Sum::default(),
            None => return Sum(vec![Term { coefficient: Fraction::ONE, factors: vec![(Formula::Constant(0.0), n)] }]),
            Some(term) => term,
        };
        let factors = base.factors.into_iter().map(|(base, own)| (base, own.saturating_mul(n))).collect();
        let power = |x: f64| x.powi(n.unsigned_abs().min(1 << 20) as i32);
        let (over, under) = (power(base.coefficient.over), power(base.coefficient.under));
        let coefficient = if n > 0 { Fraction::new(over, under) } else { Fraction::new(under, over) };
        Sum(vec![Term { coefficient, factors }])
    }

    /// Converts a sum to one term; a sum of several terms becomes a factor. `None` if the sum is 0.
    fn into_term(mut self) -> Option<Term> {
        match self.0.len() {
            0 => None,
            1 => self.0.pop(),
            _ => Some(Term { coefficient: Fraction::ONE, factors: vec![(self.into_formula(), 1)] }),
        }
    }

    /// Merges like terms and drops terms that are 0. A nested sum with other terms beside it is expanded.
    fn collected(self) -> Sum {
        let is_among_others = self.0.len() > 1;
        let mut terms: Vec<Term> = vec![];
        for term in self.0 {
            let inner = match &term.factors[..] {
                [(inner, 1)] if is_among_others && is_sum(inner) => sum(inner).0,
                _ => {
                    add(&mut terms, term);
                    continue;
                }
            };
            for part in inner {
                add(&mut terms, Term { coefficient: part.coefficient.times(term.coefficient), ..part });
            }
        }
        terms.retain(|term| term.coefficient.over != 0.0);
        Sum(terms)
    }

    pub(super) fn into_formula(self) -> Formula {
        let mut terms = self.0;
        if terms.first().is_some_and(Term::is_negative)
            && let Some(at) = terms.iter().position(|term| !term.is_negative())
        {
            let first = terms.remove(at);
            terms.insert(0, first);
        }
        let mut terms = terms.into_iter();
        let first = terms.next().map_or(Formula::Constant(0.0), Term::into_formula);
        terms.fold(first, |sum, term| match term.is_negative() {
            true => sum - term.negative().into_formula(),
            false => sum + term.into_formula(),
        })
    }
}

fn add(terms: &mut Vec<Term>, term: Term) {
    match terms.iter_mut().find(|own| own.is_like(&term)) {
        Some(own) => own.coefficient = own.coefficient.plus(term.coefficient),
        None => terms.push(term),
    }
}
