//! Extraction: the form of a class with the lowest cost.
//!
//! The cost of a sum depends on its context: as a factor, a sum needs parentheses. So every class has a best form for each context,
//! which the extractor of the crate does not support.

use super::cost::Cost;
use super::node::{Graph, Node};
use super::ratio::Ratio;
use egg::{Id, Language, RecExpr};
use std::collections::BTreeMap;

/// The context of a form: alone, as an operand of a product or a quotient, or as the base of a power.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Term,
    Operand,
    Base,
}

/// The best known form of each class in each context.
type Forms = BTreeMap<(Id, Place), (Cost, Node)>;

/// Returns the form of a class with the lowest cost.
pub(super) fn extracted(graph: &Graph, root: Id) -> RecExpr<Node> {
    let mut forms = Forms::new();
    loop {
        let mut is_changed = false;
        for class in graph.classes() {
            for node in &class.nodes {
                let Some(cost) = cost(graph, &forms, node) else { continue };
                let places = [(Place::Term, cost), (Place::Operand, cost.as_operand()), (Place::Base, cost.as_base())];
                for (place, cost) in places {
                    let known = forms.get(&(class.id, place));
                    if known.is_none_or(|(known, _)| cost.weight < known.weight) {
                        forms.insert((class.id, place), (cost, node.clone()));
                        is_changed = true;
                    }
                }
            }
        }
        if !is_changed {
            break;
        }
    }
    let mut result = RecExpr::default();
    build(graph, &forms, (graph.find(root), Place::Term), &mut result);
    result
}

fn cost(graph: &Graph, forms: &Forms, node: &Node) -> Option<Cost> {
    let of = |(at, id): (usize, &Id)| forms.get(&(graph.find(*id), place(node, at))).map(|(cost, _)| *cost);
    let all: Option<Vec<Cost>> = node.children().iter().enumerate().map(of).collect();
    Some(Cost::of(node, &all?))
}

/// Returns the context of an operand of a node.
fn place(node: &Node, at: usize) -> Place {
    match node {
        Node::Multiply(_) | Node::Quotient(_) => Place::Operand,
        Node::Power(e, _) if *e != Ratio::HALF => Place::Base,
        Node::General(_) if at == 0 => Place::Base,
        _ => Place::Term,
    }
}

/// Adds the best form of a class to an expression.
fn build(graph: &Graph, forms: &Forms, (class, place_of_class): (Id, Place), result: &mut RecExpr<Node>) -> Id {
    let Some((_, node)) = forms.get(&(class, place_of_class)) else {
        return result.add(Node::Number(Ratio::ZERO));
    };
    let operands = node.children().iter().enumerate();
    let operands: Vec<Id> =
        operands.map(|(at, id)| build(graph, forms, (graph.find(*id), place(node, at)), result)).collect();
    let mut node = node.clone();
    node.children_mut().copy_from_slice(&operands);
    result.add(node)
}
