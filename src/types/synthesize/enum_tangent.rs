//! Enum tangents: the tangent vector of an enum is an enum of the payloads' tangent vectors, with an additional case
//! for zero.

use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::declare::synthesized_declarations;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::nominal::stored_property;
use std::fmt::Write;
use std::rc::Rc;

/// A case of an enum and its counterpart in the enum's tangent vector.
struct TangentCase {
    name: Name,
    /// The label of each component of the payload and, if the component is differentiable, its type.
    parts: Vec<(Option<Name>, Option<Type>)>,
}

/// Synthesizes `TangentVector` for an enum that is declared differentiable and does not declare a tangent vector.
pub(crate) fn synthesize_enum_vector(cx: &mut TypeContext, n: NominalId) -> Option<Type> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let conformance = conformances::declares(cx, n, "Differentiable")?;
    let (group, place) = conformances::declaration_site(cx, n, conformance);
    let cases = tangent_cases(cx, n);
    let indirect = if cx.defs.nominal_data(n).is_indirect { "indirect " } else { "" };
    let mut text = format!(
        "{indirect}enum TangentVector: Differentiable, AdditiveArithmetic, ScalableVector, Equatable {{\n    typealias TangentVector = Self\n    case zero\n"
    );
    for case in &cases {
        let mut payload = vec![];
        for (label, ty) in &case.parts {
            let Some(ty) = ty else { continue };
            // The type is resolved on demand: the tangent vector of a recursive type does not exist yet.
            let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
            let label = label.as_ref().map_or(String::new(), |l| format!("{l}: "));
            payload.push(format!("{label}{}", type_expr::name_for(cx, vector)));
        }
        let payload = if payload.is_empty() { String::new() } else { format!("({})", payload.join(", ")) };
        let _ = writeln!(text, "    case {}{payload}", case.vector_name());
    }
    for op in ["+", "-"] {
        text.push_str(&sum_of_cases(&cases, op));
    }
    text.push_str(&comparison_of_cases(&cases));
    let _ = writeln!(
        text,
        "    func scaled(by factor: Double) -> Self {{\n        switch self {{\n        case .zero: return self"
    );
    for case in &cases {
        let (pattern, value) = (bind(case, "a"), rebuild(case, &|k| format!("a{k}.scaled(by: factor)")));
        let _ = writeln!(text, "        case {pattern}: return {value}");
    }
    text.push_str("        }\n    }\n}\n");
    synthesized_declarations::declare_synthesized(cx, &text, group, place);
    let declared = cx.defs.declared_type(n);
    let Type::Nominal(_, args) = &declared else { return None };
    name_lookup::own_member_type(cx, n, args, "TangentVector")
}

/// Returns the source of `move(along:)` for an enum, which moves the components of the payload and preserves the case.
pub(crate) fn move_of_enum(cx: &mut TypeContext, n: NominalId) -> String {
    let cases = tangent_cases(cx, n);
    let mut text = String::from(
        "mutating func move(along direction: TangentVector) {\n    switch (self, direction) {\n    case (_, .zero): break\n",
    );
    for case in cases.iter().filter(|c| c.moves()) {
        let own = match case.parts.iter().all(|(_, t)| t.is_some()) {
            true => bind(case, "a"),
            false => bind_all(case),
        };
        let _ = writeln!(text, "    case ({own}, {}):", bind(case, "d"));
        let mut at = 0;
        for (k, (_, ty)) in case.parts.iter().enumerate() {
            if ty.is_some() {
                let _ = writeln!(text, "        var m{k} = a{k}\n        m{k}.move(along: d{at})");
                at += 1;
            }
        }
        let parts: Vec<String> = case
            .parts
            .iter()
            .enumerate()
            .map(|(k, (label, ty))| {
                let label = label.as_ref().map_or(String::new(), |l| format!("{l}: "));
                format!("{label}{}{k}", if ty.is_some() { "m" } else { "a" })
            })
            .collect();
        let _ = writeln!(text, "        self = .{}({})", case.name, parts.join(", "));
    }
    let still: Vec<String> =
        cases.iter().filter(|c| !c.moves()).map(|c| format!("(.{}, .{})", c.name, c.vector_name())).collect();
    if !still.is_empty() {
        let _ = writeln!(text, "    case {}: break", still.join(", "));
    }
    text.push_str("    default: _failCases()\n    }\n}\n");
    text
}

fn tangent_cases(cx: &mut TypeContext, n: NominalId) -> Vec<TangentCase> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let mut cases = vec![];
    for i in 0..cx.defs.nominal_data(n).cases.len() as u32 {
        let name = cx.defs.nominal_data(n).cases[i as usize].name.clone();
        let mut parts = vec![];
        for (label, ty) in stored_property::case_payload(cx, n, i) {
            let moves = !matches!(ty, Type::Function(_)) && conformances::conforms_to(cx, &ty, differentiable);
            parts.push((label, moves.then_some(ty)));
        }
        cases.push(TangentCase { name, parts });
    }
    cases
}

impl TangentCase {
    fn moves(&self) -> bool {
        self.parts.iter().any(|(_, ty)| ty.is_some())
    }

    /// Returns the name of the case in the tangent vector, where `zero` is reserved.
    fn vector_name(&self) -> &str {
        if &*self.name == "zero" { "_zero" } else { &self.name }
    }

    fn differentiable_parts(&self) -> usize {
        self.parts.iter().filter(|(_, ty)| ty.is_some()).count()
    }
}

/// Formats the pattern `.name(let a0, let a1)` for a case of the tangent vector.
fn bind(case: &TangentCase, letter: &str) -> String {
    let parts: Vec<String> = (0..case.differentiable_parts()).map(|k| format!("let {letter}{k}")).collect();
    with_payload(case.vector_name(), &parts)
}

/// Formats the pattern for a case of the enum itself, including components that are not differentiable.
fn bind_all(case: &TangentCase) -> String {
    let parts: Vec<String> = (0..case.parts.len()).map(|k| format!("let a{k}")).collect();
    with_payload(&case.name, &parts)
}

/// Formats the expression `.name(label: part, …)` for a case of the tangent vector.
fn rebuild(case: &TangentCase, part: &dyn Fn(usize) -> String) -> String {
    let differentiable_parts = case.parts.iter().filter(|(_, ty)| ty.is_some());
    let parts: Vec<String> = differentiable_parts
        .enumerate()
        .map(|(k, (label, _))| format!("{}{}", label.as_ref().map_or(String::new(), |l| format!("{l}: ")), part(k)))
        .collect();
    with_payload(case.vector_name(), &parts)
}

fn with_payload(name: &str, parts: &[String]) -> String {
    if parts.is_empty() { format!(".{name}") } else { format!(".{name}({})", parts.join(", ")) }
}

fn sum_of_cases(cases: &[TangentCase], op: &str) -> String {
    let left = if op == "+" { "rhs" } else { "rhs.scaled(by: -1)" };
    let mut text = format!(
        "    static func {op} (lhs: Self, rhs: Self) -> Self {{\n        switch (lhs, rhs) {{\n        case (_, .zero): return lhs\n        case (.zero, _): return {left}\n"
    );
    for case in cases {
        let sum = rebuild(case, &|k| format!("a{k} {op} b{k}"));
        let _ = writeln!(text, "        case ({}, {}): return {sum}", bind(case, "a"), bind(case, "b"));
    }
    text.push_str("        default: _failCases()\n        }\n    }\n");
    text
}

/// Generates the function `==` of the tangent vector: `.zero` is equal to every case whose payload is zero.
fn comparison_of_cases(cases: &[TangentCase]) -> String {
    let all = |case: &TangentCase, part: &dyn Fn(usize) -> String| match case.differentiable_parts() {
        0 => "true".to_owned(),
        count => (0..count).map(part).collect::<Vec<_>>().join(" && "),
    };
    let mut text = String::from(
        "    static func == (lhs: Self, rhs: Self) -> Bool {\n        switch (lhs, rhs) {\n        case (.zero, .zero): return true\n",
    );
    for case in cases {
        let (a, b) = (bind(case, "a"), bind(case, "b"));
        let (is_zero, are_equal) = (all(case, &|k| format!("a{k} == .zero")), all(case, &|k| format!("a{k} == b{k}")));
        let _ = writeln!(text, "        case ({a}, .zero), (.zero, {a}): return {is_zero}");
        let _ = writeln!(text, "        case ({a}, {b}): return {are_equal}");
    }
    if cases.len() > 1 {
        text.push_str("        default: return lhs == .zero && rhs == .zero\n");
    }
    text.push_str("        }\n    }\n");
    text
}
