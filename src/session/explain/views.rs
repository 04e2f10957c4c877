//! Explanation views: the explanation that a program requests of its own derivative.

use crate::native::library::{ExplainRequest, View};
use crate::plot::{Graph, Node};
use crate::session::explain::explained;
use crate::session::explain::{derivation, html, latex};
use crate::session::{Explained, Kink};
use crate::source::SourceMap;
use crate::vm::Trace;

/// A sweep as text, SVG, HTML and LaTeX; a form that there is not is empty.
pub(crate) fn render_explanation(
    (parameters, sources): (&[String], &SourceMap),
    (trace, kinks): (&Trace, &[Kink]),
    request: &ExplainRequest,
) -> Vec<String> {
    let explained = explained(&request.function, trace, parameters).with_kinks(kinks);
    let none = String::new;
    let (text, svg, html, latex) = match request.view {
        View::Explanation => {
            let page = html::explained(&explained, sources);
            (derivation::explain(&explained, sources), none(), page, latex::explained(&explained))
        }
        View::Tape => (derivation::tape(&explained, sources), none(), html::tape(&explained, sources), none()),
        View::Graph => {
            let graph = graph(&explained);
            (graph.text(), graph.svg(), html::graph(&explained, &graph), none())
        }
    };
    vec![text.join("\n"), svg, html.trim_end().to_owned(), latex]
}

/// Operations with the values that flow between them; nothing of an execution that is too long to be looked at.
pub fn graph(explained: &Explained) -> Graph {
    let inputs = explained.inputs.iter().map(|q| (q, String::new(), vec![]));
    let operations = explained.operations.iter().map(|operation| {
        let operands = operation.partials.iter().map(|partial| (partial.by.clone(), partial.value)).collect();
        (&operation.quantity, operation.symbol.clone(), operands)
    });
    let all: Vec<_> = inputs.chain(operations).collect();
    let place = |name: &str| all.iter().position(|(quantity, ..)| quantity.name == name);
    let node = |(quantity, symbol, operands): &(&crate::session::Quantity, String, Vec<(String, f64)>)| Node {
        name: quantity.name.clone(),
        operation: symbol.clone(),
        value: derivation::short(quantity.value),
        adjoint: derivation::short(quantity.adjoint),
        operands: operands.iter().filter_map(|(by, x)| Some((place(by)?, derivation::short(*x)))).collect(),
    };
    Graph { nodes: all.iter().map(node).collect() }
}
