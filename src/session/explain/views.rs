//! Explanation views: the explanations that a program requests for its derivatives.

use crate::native::library::{ExplainRequest, View};
use crate::plot::{Graph, Node};
use crate::session::explain::explained;
use crate::session::explain::{derivation, html, latex};
use crate::session::{Explanation, Kink};
use crate::source::SourceMap;
use crate::vm::Trace;

/// Formats the explanation of a sweep as text, SVG, HTML and LaTeX; unavailable forms are empty.
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

/// Builds the computation graph of an execution. If the execution is too long to be displayed, the graph contains only
/// the inputs.
pub fn graph(explained: &Explanation) -> Graph {
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
