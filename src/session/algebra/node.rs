//! Node: the operations of the e-graph, and the normal form of every class.

use super::cost::weight;
use super::function::apply;
use super::ratio::Ratio;
use super::sum::{Factor, Sum, Term};
use crate::native::{PrimitiveId, primitive_ids};
use egg::{Analysis, DidMerge, EGraph, Id, Language};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The maximum number of normal forms of a class.
const MAX_FORMS: usize = 5;

/// An operation of the e-graph. Sums and products have any number of operands, so that no rule needs to reorder them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Node {
    Number(Ratio),
    /// An irrational number, by its bits.
    Real(u64),
    Operand(u8),
    Opaque(u32),
    Add(Vec<Id>),
    Multiply(Vec<Id>),
    Quotient([Id; 2]),
    /// A power whose exponent is a positive number.
    Power(Ratio, [Id; 1]),
    /// A power with any other exponent.
    General([Id; 2]),
    Function(PrimitiveId, i64, Vec<Id>),
}

impl Language for Node {
    type Discriminant = std::mem::Discriminant<Node>;

    fn discriminant(&self) -> Self::Discriminant {
        std::mem::discriminant(self)
    }

    fn matches(&self, other: &Node) -> bool {
        let is_same = match (self, other) {
            (Node::Number(a), Node::Number(b)) => a == b,
            (Node::Real(a), Node::Real(b)) => a == b,
            (Node::Operand(a), Node::Operand(b)) => a == b,
            (Node::Opaque(a), Node::Opaque(b)) => a == b,
            (Node::Power(a, _), Node::Power(b, _)) => a == b,
            (Node::Function(a, n, _), Node::Function(b, m, _)) => (a, n) == (b, m),
            _ => self.discriminant() == other.discriminant(),
        };
        is_same && self.children().len() == other.children().len()
    }

    fn children(&self) -> &[Id] {
        match self {
            Node::Number(_) | Node::Real(_) | Node::Operand(_) | Node::Opaque(_) => &[],
            Node::Add(all) | Node::Multiply(all) | Node::Function(_, _, all) => all,
            Node::Quotient(pair) | Node::General(pair) => pair,
            Node::Power(_, base) => base,
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Node::Number(_) | Node::Real(_) | Node::Operand(_) | Node::Opaque(_) => &mut [],
            Node::Add(all) | Node::Multiply(all) | Node::Function(_, _, all) => all,
            Node::Quotient(pair) | Node::General(pair) => pair,
            Node::Power(_, base) => base,
        }
    }
}

/// The e-graph of formulas.
pub(super) type Graph = EGraph<Node, NormalForm>;

/// The analysis that stores the normal forms of every class, the shortest first.
#[derive(Default)]
pub(super) struct NormalForm {
    /// The number of each normal form.
    numbers: HashMap<Rc<Sum>, u32>,
    /// The rules that were applied, with the numbers of the normal forms to which they were applied.
    pub(super) done: HashSet<(&'static str, u32)>,
}

/// A normal form of a class. Normal forms are ordered by their weights.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Form {
    weight: u32,
    pub(super) number: u32,
    pub(super) sum: Rc<Sum>,
}

impl NormalForm {
    fn form(&mut self, sum: Sum) -> Form {
        let weight = weight(&sum);
        let sum = Rc::new(sum);
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(Rc::clone(&sum)).or_insert(next);
        Form { weight, number, sum }
    }
}

impl Analysis<Node> for NormalForm {
    type Data = Vec<Form>;

    fn make(graph: &mut Graph, node: &Node, _: Id) -> Vec<Form> {
        let at = |id: &Id| shortest_form(graph, *id);
        let sum = match node {
            Node::Number(c) => Sum::constant(*c),
            Node::Real(bits) => Sum::factor(Factor::Real(*bits)),
            Node::Operand(k) => Sum::factor(Factor::Operand(*k)),
            Node::Opaque(k) => Sum::factor(Factor::Opaque(*k)),
            Node::Add(all) => Sum::of(all.iter().flat_map(|id| at(id).0.clone()).collect()),
            Node::Multiply(all) => all.iter().fold(Sum::constant(Ratio::ONE), |product, id| product.times(at(id))),
            Node::Quotient([a, b]) => at(a).times(&at(b).power(Ratio::integer(-1))),
            Node::Power(exponent, [base]) => at(base).power(*exponent),
            Node::General([base, exponent]) => apply(primitive_ids::POW, 0, &[at(base).clone(), at(exponent).clone()]),
            Node::Function(id, n, all) => apply(*id, *n, &all.iter().map(at).cloned().collect::<Vec<_>>()),
        };
        vec![graph.analysis.form(sum)]
    }

    fn merge(&mut self, own: &mut Vec<Form>, other: Vec<Form>) -> DidMerge {
        let mut all: Vec<Form> = own.iter().chain(&other).cloned().collect();
        all.sort_by_key(|form| (form.weight, form.number));
        all.dedup_by_key(|form| form.number);
        all.truncate(MAX_FORMS);
        // Operations on a class compute with its shortest form.
        let did = DidMerge(all.first() != own.first(), all.first() != other.first());
        *own = all;
        did
    }
}

/// Returns the shortest normal form of a class.
fn shortest_form(graph: &Graph, class: Id) -> &Sum {
    const ZERO: &Sum = &Sum(vec![]);
    graph[class].data.first().map_or(ZERO, |form| &form.sum)
}

/// Adds a sum to the e-graph, in the form in which the sum is displayed.
pub(super) fn add(graph: &mut Graph, sum: &Sum) -> Id {
    match &sum.0[..] {
        [] => graph.add(Node::Number(Ratio::ZERO)),
        [term] => add_term(graph, term),
        terms => {
            let mut all: Vec<Id> = terms.iter().map(|term| add_term(graph, term)).collect();
            all.sort();
            graph.add(Node::Add(all))
        }
    }
}

fn add_term(graph: &mut Graph, term: &Term) -> Id {
    let term = &with_root_below(term);
    let [mut above, mut below] = [vec![], vec![]];
    let Ratio { numerator: over, denominator: under } = term.coefficient;
    if over != 1 {
        above.push(graph.add(Node::Number(Ratio { numerator: over, denominator: i64::from(under != 0) })));
    }
    if under > 1 {
        below.push(graph.add(Node::Number(Ratio::integer(under))));
    }
    above.extend(add_powers(graph, term));
    for side in [Ratio::HALF, Ratio::HALF.negative()] {
        let roots = term.factors.iter().filter(|(factor, e)| *e == side && is_number(factor));
        let roots: Vec<Id> = roots.map(|(factor, _)| add_factor(graph, factor)).collect();
        if roots.len() > 1 {
            let product = add_product(graph, roots);
            let root = graph.add(Node::Power(Ratio::HALF, [product]));
            if side.is_negative() { &mut below } else { &mut above }.push(root);
        }
    }
    let is_joined = |factor: &Factor, e: Ratio| {
        is_number(factor) && term.factors.iter().any(|(other, own)| own == &e && other != factor && is_number(other))
    };
    for (factor, exponent) in &term.factors {
        if is_in_power(term, factor) || exponent.abs() == Ratio::HALF && is_joined(factor, *exponent) {
            continue;
        }
        let base = add_factor(graph, factor);
        let side = if exponent.is_negative() { &mut below } else { &mut above };
        side.push(match exponent.abs() {
            Ratio::ONE => base,
            exponent => graph.add(Node::Power(exponent, [base])),
        });
    }
    let above = add_product(graph, above);
    if below.is_empty() {
        return above;
    }
    let below = add_product(graph, below);
    graph.add(Node::Quotient([above, below]))
}

fn is_number(factor: &Factor) -> bool {
    matches!(factor, Factor::Integer(_) | Factor::Real(_))
}

/// Moves the root of an integer to other roots in the denominator: `√2 / (2√π)` is `1 / √(2π)`.
fn with_root_below(term: &Term) -> Term {
    let mut term = term.clone();
    let has_root =
        term.factors.iter().any(|(factor, e)| matches!(factor, Factor::Real(_)) && *e == Ratio::HALF.negative());
    let Some((Factor::Integer(n), e)) =
        term.factors.iter_mut().find(|(factor, _)| matches!(factor, Factor::Integer(_)))
    else {
        return term;
    };
    let moved = term.coefficient.times(Ratio::integer(*n));
    if has_root && *e == Ratio::HALF && moved.denominator < term.coefficient.denominator {
        *e = Ratio::HALF.negative();
        term.coefficient = moved;
    }
    term
}

fn add_product(graph: &mut Graph, mut all: Vec<Id>) -> Id {
    match &all[..] {
        [] => graph.add(Node::Number(Ratio::ONE)),
        [one] => *one,
        _ => {
            all.sort();
            graph.add(Node::Multiply(all))
        }
    }
}

/// Whether a factor is written as part of an exponential or of a power with a general exponent.
fn is_in_power(term: &Term, factor: &Factor) -> bool {
    match factor {
        Factor::Exponential(_) | Factor::Power(..) => true,
        _ => term.factors.iter().any(|(own, _)| matches!(own, Factor::Power(base, _) if is_base(base, factor))),
    }
}

fn is_base(base: &Sum, factor: &Factor) -> bool {
    match &base.0[..] {
        [Term { factors, coefficient: Ratio::ONE }] => matches!(&factors[..], [(own, Ratio::ONE)] if own == factor),
        _ => matches!(factor, Factor::Group(sum) if sum == base),
    }
}

/// Adds the exponentials of a term as one exponential, and its powers of a common base as one power.
fn add_powers(graph: &mut Graph, term: &Term) -> Vec<Id> {
    let mut exponentials = vec![];
    let mut powers: Vec<(&Sum, Vec<Term>)> = vec![];
    for (factor, exponent) in &term.factors {
        match factor {
            Factor::Exponential(inner) => exponentials.push(inner.scaled(*exponent)),
            Factor::Power(base, inner) => {
                let part = inner.scaled(*exponent);
                match powers.iter_mut().find(|(own, _)| *own == base) {
                    Some((_, parts)) => parts.push(part),
                    None => powers.push((base, vec![part])),
                }
            }
            _ => {}
        }
    }
    let mut all = vec![];
    if !exponentials.is_empty() {
        let exponent = add(graph, &Sum::of(exponentials));
        all.push(graph.add(Node::Function(primitive_ids::EXP, 0, vec![exponent])));
    }
    for (base, mut parts) in powers {
        let numbers = term.factors.iter().filter(|(factor, _)| is_base(base, factor));
        parts.extend(numbers.map(|(_, exponent)| Term::constant(*exponent)));
        let pair = [add(graph, base), add(graph, &Sum::of(parts))];
        all.push(graph.add(Node::General(pair)));
    }
    all
}

fn add_factor(graph: &mut Graph, factor: &Factor) -> Id {
    match factor {
        Factor::Integer(n) => graph.add(Node::Number(Ratio::integer(*n))),
        Factor::Real(bits) => graph.add(Node::Real(*bits)),
        Factor::Operand(k) => graph.add(Node::Operand(*k)),
        Factor::Opaque(k) => graph.add(Node::Opaque(*k)),
        Factor::Group(sum) => add(graph, sum),
        Factor::Function(id, n, operands) => {
            let operands = operands.iter().map(|operand| add(graph, operand)).collect();
            graph.add(Node::Function(*id, *n, operands))
        }
        Factor::Exponential(_) | Factor::Power(..) => {
            let term = Term { factors: vec![(factor.clone(), Ratio::ONE)], coefficient: Ratio::ONE };
            add_term(graph, &term)
        }
    }
}
