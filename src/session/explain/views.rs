//! Explanation views: the explanations that a program requests for its derivatives.

use crate::native::library::{ExplainRequest, View};
use crate::plot::{Graph, Node};
use crate::session::explain::explained;
use crate::session::explain::{derivation, html_derivation, latex_derivation};
use crate::session::{Display, Explanation, Kink, Session};
use crate::source::SourceMap;
use crate::vm::Trace;

/// Formats the explanation of a sweep as text, SVG, HTML and LaTeX; unavailable forms are empty.
pub(crate) fn render_explanation(
    (parameters, sources): (&[String], &SourceMap),
    (trace, kinks): (&Trace, &[Kink]),
    request: &ExplainRequest,
) -> Vec<String> {
    let explained = explained(&request.function, trace, parameters).with_kinks(kinks);
    forms(&explained, sources, request.view).to_vec()
}

/// Formats an explanation as text, SVG, HTML and LaTeX; unavailable forms are empty.
fn forms(explained: &Explanation, sources: &SourceMap, view: View) -> [String; 4] {
    let none = String::new;
    let (text, svg, html, latex) = match view {
        View::Explanation => {
            let page = html_derivation::explained(explained, sources);
            (derivation::explain(explained, sources), none(), page, latex_derivation::explained(explained))
        }
        View::Tape => (derivation::tape(explained, sources), none(), html_derivation::tape(explained, sources), none()),
        View::Graph => {
            let graph = graph(explained);
            (graph.text(), graph.svg(), html_derivation::graph(explained, &graph), none())
        }
    };
    [text.join("\n"), svg, html.trim_end().to_owned(), latex]
}

impl Session {
    /// Returns a view of an explanation as a picture.
    pub fn view(&self, explained: &Explanation, view: View) -> Display {
        Display::of(forms(explained, &self.sources, view))
    }

    /// Shows a picture on the screen on which programs show theirs.
    pub fn display(&mut self, display: &Display) {
        self.machine.host.streams.screen.show(display);
    }
}

/// The maximum number of operations of a drawn graph.
const MAX_OPERATIONS: usize = 1000;

/// Builds the computation graph of an execution; if the execution is too long to be displayed, the graph contains only
/// the inputs.
pub fn graph(explained: &Explanation) -> Graph {
    let inputs = explained.inputs.iter().map(|q| (q, String::new(), vec![]));
    let is_short = explained.operations.len() <= MAX_OPERATIONS;
    let operations = explained.operations.iter().filter(|_| is_short).map(|operation| {
        let of_tensors = operation.operands.iter().map(|operand| (operand.clone(), String::new()));
        let partials = operation.partials.iter().map(|of| (of.by.clone(), derivation::short(of.value)));
        let operands = partials.chain(of_tensors).collect();
        (&operation.quantity, operation.symbol.clone(), operands)
    });
    let all: Vec<_> = inputs.chain(operations).collect();
    let place = |name: &str| all.iter().position(|(quantity, ..)| quantity.name == name);
    let node = |(quantity, symbol, operands): &(&crate::session::Quantity, String, Vec<(String, String)>)| Node {
        name: quantity.name.clone(),
        operation: symbol.clone(),
        value: quantity.value_text(),
        adjoint: quantity.adjoint_text(),
        operands: operands.iter().filter_map(|(by, x)| Some((place(by)?, x.clone()))).collect(),
    };
    Graph { nodes: all.iter().map(node).collect() }
}
