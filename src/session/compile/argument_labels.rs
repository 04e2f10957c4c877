//! Argument labels: calls of functions of the library with the labels of their declarations.

use crate::session::Session;
use crate::syntax::foreign::{self, Replacement, WrittenCall};
use crate::types::signature_help::{self, Callable};

/// The maximum number of calls that are offered.
const MAX_CALLS: usize = 10;
/// The label of a function whose zeros are drawn, so that it is no other way to draw a function.
const CURVE: &str = "implicit";
/// The labels of arguments whose meaning is clear from their order.
const COORDINATES: [&str; 3] = ["f", "x", "y"];

impl Session {
    /// Returns the calls around an offset of a text with other labels: those of the declarations with as many
    /// parameters, in the order of the arguments. Type checking decides which of them is meant.
    pub(super) fn relabeled(&mut self, text: &str, at: usize) -> Vec<Replacement> {
        let mut found: Vec<Replacement> = vec![];
        for call in foreign::calls(text, at) {
            let mut written: Vec<(usize, String)> = vec![];
            for callable in signature_help::callables(&mut self.context, &call.name) {
                written.extend(with_labels(&call, &callable));
            }
            // The declaration that shares most labels with the call comes first.
            written.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
            for (_, code) in written {
                let is_known = found.iter().any(|other| other.code.as_ref() == Some(&code));
                if !is_known && text.get(call.range.clone()) != Some(&code) {
                    let message = format!("'{}' is called as '{code}'", call.name);
                    let labeled = Replacement::certain(call.range.clone(), code);
                    found.push(Replacement { message, is_guess: true, ..labeled });
                }
            }
        }
        found.truncate(MAX_CALLS);
        found
    }
}

/// Writes a call with the labels of a declaration, and counts the labels that it shares with the call.
fn with_labels(call: &WrittenCall, callable: &Callable) -> Option<(usize, String)> {
    let count = call.arguments.len();
    let parameters: Vec<_> = match callable.parameters.len() == count {
        true => callable.parameters.iter().collect(),
        false => {
            let is_given =
                |label: &Option<String>| call.arguments.iter().any(|(given, _)| given.is_some() && given == label);
            callable.parameters.iter().filter(|p| !p.has_default || is_given(&p.label)).collect()
        }
    };
    if parameters.len() != count || count == 0 {
        return None;
    }
    // Such a call would ignore what a label states, or use an argument as an option of the function.
    let changes_meaning = parameters.iter().zip(&call.arguments).any(|(parameter, (given, _))| {
        let is_dropped = given.as_deref().is_some_and(|given| !COORDINATES.contains(&given));
        match &parameter.label {
            None => is_dropped,
            Some(label) => given.as_ref() != Some(label) && (parameter.has_default || label == CURVE),
        }
    });
    if changes_meaning {
        return None;
    }
    let is_shared = |(parameter, (given, _)): &(&&signature_help::Parameter, &(Option<String>, String))| {
        given.is_some() && parameter.label == *given
    };
    let shared = parameters.iter().zip(&call.arguments).filter(is_shared).count();
    let arguments = parameters.iter().zip(&call.arguments).map(|(parameter, (_, value))| match &parameter.label {
        Some(label) => format!("{label}: {value}"),
        None => value.clone(),
    });
    let arguments: Vec<String> = arguments.collect();
    Some((shared, format!("{}({})", call.name, arguments.join(", "))))
}
