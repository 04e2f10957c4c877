//! Explanation: the operations of one execution with values, partials and adjoints.
//!
//! All values were computed by the explained program, so they cannot disagree with its derivative.

pub mod derivation;
pub(crate) mod formula;
pub(crate) mod html_derivation;
pub(crate) mod latex_derivation;
pub(crate) mod loops;
pub mod point;
pub(crate) mod probe;
pub(crate) mod typesetting;
pub(crate) mod views;

use super::{Kink, Outcome, Session, Status};
use crate::diagnostic::Diagnostic;
use crate::native::formula::{Formula, partials};
use crate::native::{self, PrimitiveId};
use crate::session::explain::point::Point;
use crate::session::query::command_text::CommandText;
use crate::source::{GENERATED, Span};
use crate::types::TypeContext;
use crate::types::declare::interactive_session;
use crate::value::number_format::in_formula;
use crate::vm::{Count, NodeTensors, Trace, TraceOperation, TraceRow, TracedTensor};

/// An execution of a differentiated function, step by step.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The source text of the differentiated function.
    pub function: String,
    /// The arguments with respect to which the function was differentiated.
    pub inputs: Vec<Quantity>,
    /// The operations in execution order; empty when there are too many.
    pub operations: Vec<Operation>,
    /// The number of executed steps.
    pub steps: usize,
    /// The numbers of operations by symbol and source location.
    pub counts: Vec<Count>,
    /// The names and values of the function's results; a result that does not depend on the inputs has no name.
    pub results: Vec<(Option<String>, f64)>,
    /// The kinks that were found: the operation, its partials on the left and on the right, and the partial that is
    /// used.
    pub kinks: Vec<Kink>,
    /// The size of the tape in bytes.
    pub bytes: usize,
}

/// A number or a tensor of the execution with a name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Quantity {
    /// The name of the number in the explanation.
    pub name: String,
    /// The value of the number.
    pub value: f64,
    /// The adjoint of the number: the derivative of the result with respect to it.
    pub adjoint: f64,
    /// The value and the adjoint, where these are tensors.
    pub tensors: NodeTensors,
}

impl Quantity {
    /// Formats the value.
    pub fn value_text(&self) -> String {
        self.tensors.value.as_ref().map_or_else(|| derivation::short(self.value), tensor_text)
    }

    /// Formats the adjoint.
    pub fn adjoint_text(&self) -> String {
        self.tensors.adjoint.as_ref().map_or_else(|| derivation::short(self.adjoint), tensor_text)
    }

    /// Formats the difference between two values of the quantity, where these are tensors.
    fn change_text(&self, after: &Quantity) -> Option<String> {
        let (a, b) = (self.tensors.value.as_ref()?, after.tensors.value.as_ref()?);
        let scalars = a.scalars.iter().zip(&b.scalars).map(|(a, b)| b - a).collect();
        Some(tensor_text(&TracedTensor { shape: b.shape.clone(), scalars }))
    }
}

/// Formats a tensor: its scalars, or its shape if there are many.
fn tensor_text(tensor: &TracedTensor) -> String {
    let count: usize = tensor.shape.iter().product();
    match tensor.scalars.len() == count {
        true => nested(&tensor.shape, &tensor.scalars),
        false => format!("tensor of shape {:?}", tensor.shape),
    }
}

/// Formats scalars in nested brackets.
fn nested(shape: &[usize], scalars: &[f64]) -> String {
    let Some((size, inner)) = shape.split_first() else {
        return scalars.first().map_or(String::new(), |x| derivation::short(*x));
    };
    let step: usize = inner.iter().product();
    let parts = (0..*size).map(|k| nested(inner, scalars.get(k * step..(k + 1) * step).unwrap_or_default()));
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}

/// One operation of the execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// The result of the operation; the value is NaN if it was not recorded.
    pub quantity: Quantity,
    /// The operation as a formula with the names of its operands: `x * sin(x)`.
    pub formula: String,
    /// The name of the operation: `sin`, `*`.
    pub symbol: String,
    /// The differentiation rule of the operation.
    pub rule: String,
    /// The partials of the operation in the varied operands.
    pub partials: Vec<Partial>,
    /// The varied operands of an operation of tensors, whose partials are not listed.
    pub operands: Vec<String>,
    /// The source location of the operation.
    pub span: Span,
}

/// A partial of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Partial {
    /// The name of the operand in which the partial is taken.
    pub by: String,
    /// The formula of the partial, if there is one.
    pub formula: Option<String>,
    /// The value of the partial.
    pub value: f64,
}

impl Session {
    /// Explains the derivative of a function at a point.
    ///
    /// # Errors
    /// Returns the diagnostics when the function or the arguments do not compile, or the run fails.
    pub fn explain(&mut self, point: &Point<'_>) -> Result<Explanation, Vec<Diagnostic>> {
        let function = self.function_at(point)?;
        let arguments = point::arguments(point, &function);
        self.explain_at(point.function, &arguments, &function.text, &function.names)
    }

    /// Explains the derivative of the function `called` at a list of arguments. The explanation displays the function
    /// as `name`.
    pub(crate) fn explain_at(
        &mut self,
        name: &str,
        arguments: &CommandText<'_>,
        called: &CommandText<'_>,
        names: &[String],
    ) -> Result<Explanation, Vec<Diagnostic>> {
        let text = arguments.empty().code("valueWithPullback(at: ").append(arguments).code(", of: ").append(called);
        let text = text.code(").pullback(1)");
        let trace = self.trace(text.text());
        let mut trace = trace.map_err(|diagnostics| self.at_input_parts(diagnostics, point::NAME, &text))?;
        self.trace_at_input_parts(&mut trace, point::NAME, &text);
        let kinks = self.machine.take_kinks();
        Ok(explained(name, &trace, names).with_kinks(&kinks))
    }

    /// Runs a text that differentiates a function, and returns the trace of the last sweep.
    fn trace(&mut self, text: &str) -> Result<Trace, Vec<Diagnostic>> {
        let compiled = self.compile_entered(GENERATED, text).map_err(|outcome| outcome.diagnostics)?;
        self.machine.levels.watch(crate::tape::ObserverOptions { steps: true, kinks: true, ..self.observer_options });
        // The kinks of earlier runs do not belong to the explained derivative.
        self.machine.take_kinks();
        let Outcome { diagnostics, status, .. } = self.execute(compiled);
        self.machine.levels.watch(self.observer_options);
        let trace = self.machine.diagnosis.trace.take();
        if status == Status::Done { Ok(trace.unwrap_or_default()) } else { Err(diagnostics) }
    }

    /// Returns the value of a text that computes an array of numbers. The declarations of the text are discarded.
    ///
    /// # Errors
    /// Returns the diagnostics when the text does not compile or the run fails.
    pub fn numbers(&mut self, text: &str) -> Result<Vec<f64>, Vec<Diagnostic>> {
        let array = self.array(text)?;
        Ok(array.map_or(vec![], |array| array.f.to_vec()))
    }
}

impl Explanation {
    pub(super) fn with_kinks(self, kinks: &[Kink]) -> Explanation {
        Explanation { kinks: kinks.to_vec(), ..self }
    }
}

/// Returns the parameter names of a function, which is a closure or a name.
pub(super) fn names_of_parameters(context: &mut TypeContext, function: &str) -> Vec<String> {
    match function.strip_prefix('{').and_then(|rest| rest.split_once(" in ")) {
        Some((names, _)) => names.split(',').map(parameter).collect(),
        None => interactive_session::names_of_parameters(context, function),
    }
}

/// Returns the name of a parameter of a closure, without its type and without parentheses.
fn parameter(text: &str) -> String {
    let name = text.split(':').next().unwrap_or_default();
    name.trim_matches(|c: char| c.is_whitespace() || c == '(' || c == ')').to_owned()
}

/// The names that intermediate values get, in order.
const LETTERS: &[&str] = &["u", "v", "w", "p", "q", "r", "s", "t", "a", "b", "c", "d", "g", "h", "k", "m"];

/// The names of the nodes in an explanation.
struct Names {
    by_node: Vec<String>,
}

impl Names {
    fn of(trace: &Trace, parameters: &[String]) -> Names {
        let inputs = trace.inputs.len();
        let mut names: Vec<String> = (0..inputs).map(|i| name_of_input(trace, parameters, i)).collect();
        // The name of an argument that contains several numbers is also in use: `v` beside `v[0]`.
        let root = |name: &str| name.split(['.', '[']).next().unwrap_or_default().to_owned();
        let roots: Vec<String> = names.iter().map(|name| root(name)).collect();
        let is_free = |name: &&&str| !roots.iter().any(|own| own == **name);
        let result = ["y", "z"].iter().find(is_free).unwrap_or(&"result");
        let mut free = LETTERS.iter().filter(is_free).map(ToString::to_string).collect::<Vec<_>>().into_iter();
        let mut numbered = (1..).map(|n| format!("u{}", subscript(n)));
        names.resize(trace.rows.last().map_or(inputs, |row| row.node as usize), String::new());
        for row in &trace.rows {
            let output = trace.outputs.iter().position(|(node, _)| *node == row.node);
            let name = match output {
                Some(_) if trace.outputs.len() == 1 => Some((*result).to_owned()),
                Some(i) => Some(format!("{result}{}", subscript(i + 1))),
                None => free.next().or_else(|| numbered.next()),
            };
            names[row.node as usize - 1] = name.unwrap_or_default();
        }
        Names { by_node: names }
    }

    fn name(&self, node: u32) -> &str {
        (node as usize).checked_sub(1).and_then(|i| self.by_node.get(i)).map_or("?", String::as_str)
    }
}

/// Returns the name of an input: the name of its parameter, followed by the path inside the argument: `v[0]`,
/// `box.width`.
fn name_of_input(trace: &Trace, parameters: &[String], i: usize) -> String {
    let arguments = trace.paths.last().map_or(1, |(argument, _)| argument + 1);
    let own =
        |argument: usize| parameters.get(argument).filter(|name| !name.is_empty() && !name.starts_with(['$', '_']));
    let numbered = |argument: usize| match arguments {
        1 => "x".to_owned(),
        _ => format!("x{}", subscript(argument + 1)),
    };
    match trace.paths.get(i) {
        // Several arguments may be passed in one tuple.
        Some((_, path)) if arguments == 1 && parameters.len() > 1 => {
            let (argument, rest) = split_tuple(path);
            own(argument).map_or_else(|| format!("x{}", subscript(argument + 1)), Clone::clone) + rest
        }
        Some((argument, path)) => own(*argument).map_or_else(|| numbered(*argument), Clone::clone) + path,
        None => numbered(i),
    }
}

/// Splits `.1[0]` into the index of the element and the rest.
fn split_tuple(path: &str) -> (usize, &str) {
    let Some(rest) = path.strip_prefix('.') else { return (0, path) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().map_or((0, path), |argument| (argument, &rest[end..]))
}

/// Formats a number as a subscript: ₁₂.
fn subscript(n: usize) -> String {
    let digit = |c: char| c.to_digit(10).and_then(|d| char::from_u32(0x2080 + d)).unwrap_or(c);
    n.to_string().chars().map(digit).collect()
}

pub(super) fn explained(function: &str, trace: &Trace, parameters: &[String]) -> Explanation {
    let names = Names::of(trace, parameters);
    let inputs = trace.inputs.iter().zip(1..).map(|((value, adjoint), node)| Quantity {
        name: names.name(node).to_owned(),
        value: *value,
        adjoint: *adjoint,
        tensors: trace.tensors.get(&node).cloned().unwrap_or_default(),
    });
    let name = |node: u32| (node != 0).then(|| names.name(node).to_owned());
    Explanation {
        function: function.to_owned(),
        inputs: inputs.collect(),
        operations: trace.rows.iter().map(|row| operation(row, &names, trace.tensors.get(&row.node))).collect(),
        steps: trace.steps,
        counts: trace.counts.clone(),
        results: trace.outputs.iter().map(|(node, value)| (name(*node), *value)).collect(),
        kinks: vec![],
        bytes: trace.bytes,
    }
}

fn operation(row: &TraceRow, names: &Names, tensors: Option<&NodeTensors>) -> Operation {
    let own = names.name(row.node);
    let partials = |formula: &dyn Fn(usize) -> Option<String>| -> Vec<Partial> {
        let partial = |(i, (node, value)): (usize, &(u32, f64))| Partial {
            by: names.name(*node).to_owned(),
            formula: formula(i),
            value: *value,
        };
        row.partials.iter().enumerate().map(partial).collect()
    };
    let tensors = tensors.cloned().unwrap_or_default();
    let quantity = |value| Quantity { name: own.to_owned(), value, adjoint: row.adjoint, tensors: tensors.clone() };
    match &row.operation {
        TraceOperation::Primitive { id, operands, n, value, span } => {
            let words: Vec<String> = operands
                .iter()
                .map(|(node, x)| if *node == 0 { in_formula(*x) } else { names.name(*node).to_owned() })
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // Only varied operands have partials.
            let varied: Vec<usize> = (0..operands.len()).filter(|i| operands[*i].0 != 0).collect();
            let formula = |i: usize| varied.get(i).and_then(|i| partial_formula(*id, *i, &words, own, *n));
            Operation {
                quantity: quantity(*value),
                formula: written(*id, &words, *n),
                symbol: id.info().symbol.to_owned(),
                rule: rule(*id, varied.len(), operands.len()),
                partials: partials(&formula),
                operands: vec![],
                span: *span,
            }
        }
        TraceOperation::Sum(value) => Operation {
            quantity: quantity(value.unwrap_or(f64::NAN)),
            formula: format!("sum of {} products", row.partials.len()),
            symbol: "sum".to_owned(),
            rule: "sum and product rule".to_owned(),
            partials: partials(&|_| None),
            operands: vec![],
            span: Span::default(),
        },
        TraceOperation::Tensor { name, operands, value, span } => {
            let word = |(node, constant): &(u32, Option<TracedTensor>)| match constant {
                Some(constant) => tensor_text(constant),
                None => names.name(*node).to_owned(),
            };
            let words: Vec<String> = operands.iter().map(word).collect();
            let mut varied: Vec<u32> = operands.iter().map(|(node, _)| *node).filter(|node| *node != 0).collect();
            varied.dedup();
            Operation {
                quantity: quantity(*value),
                formula: called_with(name, &words.iter().map(String::as_str).collect::<Vec<_>>()),
                symbol: name.to_string(),
                rule: "operation of tensors".to_owned(),
                partials: vec![],
                operands: varied.iter().map(|node| names.name(*node).to_owned()).collect(),
                span: *span,
            }
        }
        TraceOperation::Called { name, operands, value, span } => {
            let words: Vec<&str> = operands.iter().map(|node| names.name(*node)).collect();
            let rule = match &**name {
                "withDerivative" => "adjoint is edited",
                "checkpoint" => "recomputed in the reverse pass",
                _ => "registered derivative",
            };
            Operation {
                quantity: quantity(*value),
                formula: format!("{name}({})", words.join(", ")),
                symbol: name.to_string(),
                rule: rule.to_owned(),
                partials: partials(&|_| None),
                operands: vec![],
                span: *span,
            }
        }
        TraceOperation::Other => Operation {
            quantity: quantity(f64::NAN),
            formula: "another step".to_owned(),
            symbol: "other".to_owned(),
            rule: String::new(),
            partials: partials(&|_| None),
            operands: vec![],
            span: Span::default(),
        },
    }
}

/// Formats an operation with its operands in the syntax of the language.
fn written(id: PrimitiveId, words: &[&str], n: i64) -> String {
    match (id.info().symbol, words) {
        ("pow", [x]) => format!("{x}^{n}"),
        (name, words) => called_with(name, words),
    }
}

/// Formats an operation with its operands by its name.
fn called_with(name: &str, words: &[&str]) -> String {
    match (name, words) {
        ("-" | "neg" | "negate", [x]) => format!("-{x}"),
        ("pow", [x, p]) => format!("{x}^{p}"),
        (sign @ ("+" | "-" | "*" | "/"), [a, b]) => format!("{a} {sign} {b}"),
        (name, words) => format!("{name}({})", words.join(", ")),
    }
}

/// Returns the partial of a primitive in one of its operands as a formula over the names of the operands.
fn partial_formula(id: PrimitiveId, i: usize, words: &[&str], result: &str, n: i64) -> Option<String> {
    match id.partial(i) {
        native::Partial::Constant(_) => None,
        _ => partials(id).get(i).map(|formula: &Formula| formula.with_names(words, result, n)),
    }
}

fn rule(id: PrimitiveId, varied: usize, operands: usize) -> String {
    let is_scaled = operands == 2 && varied == 1;
    match id.info().symbol {
        "+" if is_scaled => "constant is added".to_owned(),
        "+" | "-" if operands == 2 => "sum rule".to_owned(),
        "*" if is_scaled => "constant factor".to_owned(),
        "*" => "product rule".to_owned(),
        "/" => "quotient rule".to_owned(),
        "pow" => "power rule".to_owned(),
        "neg" | "-" => "constant factor".to_owned(),
        name => format!("derivative of {name}"),
    }
}
