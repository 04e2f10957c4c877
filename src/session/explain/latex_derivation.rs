//! Derivation in LaTeX: the steps of a computation, typeset for a notebook.

use crate::session::explain::derivation::short;
use crate::session::explain::typesetting::formula;
use crate::session::{Explanation, Operation, Partial};

/// The maximum number of steps that are typeset.
const MAX_STEPS: usize = 40;

/// Formats the steps of a computation with their values and partials, followed by the derivatives.
pub(crate) fn explained(explained: &Explanation) -> String {
    if explained.operations.is_empty() || explained.steps > MAX_STEPS {
        return String::new();
    }
    let mut rows: Vec<String> = vec![];
    for input in &explained.inputs {
        rows.push(format!("{} &= {}", formula(&input.name), input.value_text()));
    }
    for Operation { quantity, formula: text, partials, .. } in &explained.operations {
        let row = |Partial { by, formula: text, value }: &Partial| {
            let text = text.as_ref().map_or(String::new(), |text| format!("{} = ", formula(text)));
            let (y, x) = (formula(&quantity.name), formula(by));
            format!(r"\frac{{\partial {y}}}{{\partial {x}}} = {text}{}", short(*value))
        };
        let partials: Vec<String> = partials.iter().map(row).collect();
        let (name, value) = (formula(&quantity.name), quantity.value_text());
        rows.push(format!("{name} &= {} = {value} & {}", formula(text), partials.join(r",\quad ")));
    }
    for input in &explained.inputs {
        rows.push(format!(r"\bar{{{}}} &= {}", formula(&input.name), input.adjoint_text()));
    }
    format!("$$\\begin{{aligned}}\n{}\n\\end{{aligned}}$$", rows.join(" \\\\\n"))
}
