//! Display: formats types and functions as strings, and finds names that are similar to an unknown name.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{Ident, Name};
use crate::syntax::foreign;
use crate::types::model::declaration_tables::{FunctionKind, Owner};
use crate::types::model::opaque_requirements;
use crate::types::model::ty::Existential;
use crate::types::model::ty::{Strength, Type};
use crate::types::model::type_context::Definitions;
use crate::types::model::type_context::TypeContext;
use crate::types::model::type_vars;
use crate::types::model::typed_tree::FunctionId;
use std::fmt::Write;

/// Types of Swift that do not exist in dscript, with alternatives.
const ABSENT: &[(&str, &str)] = &[("Mirror", "to customize how a type is printed, implement 'description'")];

/// Adds a suggestion to a diagnostic if `name` is a type of Swift that does not exist in dscript.
pub(crate) fn without(diagnostic: Diagnostic, name: &str) -> Diagnostic {
    match ABSENT.iter().find(|(absent, _)| *absent == name) {
        Some((_, instead)) => diagnostic.help(*instead),
        None => diagnostic,
    }
}

/// The maximum length of a name, in bytes, that is compared with other names: longer names are hardly typing errors.
const LONGEST: usize = 100;

/// The minimum length of a name, in letters, that is compared with other names: shorter names are similar to too many
/// others.
const SHORTEST: usize = 4;
/// The number of letters from which on a name may have two wrong letters.
const LONG: usize = 10;

/// Returns a quoted type after its indefinite article: `an 'Int'`, `a 'UInt'`.
pub(crate) fn with_article(ty: &str) -> String {
    let article = if ty.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
    format!("{article} '{ty}'")
}

/// Returns the candidate of which a name is a misspelling: one letter is missing, superfluous or wrong, two are
/// swapped, or only the case differs. A name that has a meaning in other languages is not a misspelling: `cot` is not
/// `cos`.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    if name.len() > LONGEST || foreign::is_known(name) {
        return None;
    }
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let is_long = wanted.len() >= SHORTEST;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.filter(|c| *c != name && c.len() <= LONGEST) {
        // The lowercase form may be slightly longer.
        if candidate.chars().count().abs_diff(name.chars().count()) > 2 {
            continue;
        }
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        let differs = usize::from(!(wanted.len() > 1 && letters == wanted));
        let is_same_kind = name.starts_with(char::is_uppercase) == candidate.starts_with(char::is_uppercase);
        let edits = if wanted.len() >= LONG { 2 } else { 1 };
        let may_differ =
            is_long && letters.len() >= SHORTEST && letters.len().abs_diff(wanted.len()) <= edits && is_same_kind;
        let needed = if differs > 0 && may_differ { foreign::distance(&wanted, &letters) } else { differs };
        if differs == 0 || may_differ && needed <= edits {
            best = best.filter(|best| *best <= (needed, candidate)).or(Some((needed, candidate)));
        }
    }
    best.map(|(_, candidate)| candidate.to_string())
}

/// Adds the known name that was probably meant, if any.
pub(crate) fn did_you_mean(diagnostic: Diagnostic, name: &Ident, known: &[String]) -> Diagnostic {
    match closest(&name.name, known.iter().map(String::as_str)) {
        Some(close) => meant(diagnostic, name, &close),
        None => diagnostic,
    }
}

/// Adds the suggestion to a diagnostic to replace a name by `close`.
pub(crate) fn meant(diagnostic: Diagnostic, name: &Ident, close: &str) -> Diagnostic {
    diagnostic.label(format!("did you mean '{close}'?")).fix(format!("use '{close}'"), name.span, close)
}

/// Formats a type in the syntax of the language.
pub fn show(cx: &TypeContext, ty: &Type) -> String {
    write_type(cx, &type_vars::zonk(cx, ty), true)
}

/// Formats a type in the syntax of the language. `full` writes `Foo.TangentVector` instead of `TangentVector`, and
/// `[Int]` instead of `Array<Int>`.
pub(crate) fn write_type(cx: &TypeContext, ty: &Type, full: bool) -> String {
    match ty {
        Type::Var(v) => cx.vars.show_var(*v),
        Type::Param(p) => cx.defs.params[p.0 as usize].name.to_string(),
        Type::Nominal(n, args) => show_nominal(cx, *n, args, full),
        Type::Tuple(parts) => {
            let parts = parts.iter().map(|(label, t)| match label {
                Some(label) => format!("{label}: {}", write_type(cx, t, full)),
                None => write_type(cx, t, full),
            });
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        }
        Type::Function(f) => {
            let mut out = String::from(match f.strength {
                Strength::C => "@convention(c) ",
                Strength::Plain | Strength::Open => "",
                Strength::Differentiable => "@differentiable ",
                Strength::Linear => "@differentiable(linear) ",
            });
            let params = f.params.iter().map(|p| {
                let mut text = String::new();
                if p.no_derivative {
                    text.push_str("@noDerivative ");
                }
                if p.autoclosure {
                    text.push_str("@autoclosure ");
                }
                if p.is_inout {
                    text.push_str("inout ");
                }
                text + &write_type(cx, &p.ty, full)
            });
            let params = params.collect::<Vec<_>>().join(", ");
            let throws = if f.throws { " throws" } else { "" };
            let _ = write!(out, "({params}){throws} -> {}", write_type(cx, &f.result, full));
            out
        }
        Type::Associated(of, _, name) => format!("{}.{name}", write_type(cx, of, full)),
        Type::Metatype(of) => format!("{}.Type", write_type(cx, of, full)),
        Type::Existential(e) => write_existential(cx, e, full),
        Type::Opaque(id, args) => {
            let bounds = write_existential(cx, &opaque_requirements::requirements_of_opaque(cx, *id, args), full);
            bounds.replacen("any ", "some ", 1)
        }
        Type::Never => "Never".to_string(),
        Type::Error => "_".to_string(),
    }
}

fn show_nominal(cx: &TypeContext, n: crate::types::model::ty::NominalId, args: &[Type], full: bool) -> String {
    let data = cx.defs.nominal_data(n);
    let own = &args[args.len().saturating_sub(data.own_params)..];
    // Only messages use `[Int]`; `print` writes `Array<Int>`.
    match (&*data.name, own) {
        _ if !full => {}
        ("Array", [of]) if data.is_prelude => return format!("[{}]", write_type(cx, of, full)),
        ("Dictionary", [k, v]) if data.is_prelude => {
            return format!("[{}: {}]", write_type(cx, k, full), write_type(cx, v, full));
        }
        ("Optional", [of]) if data.is_prelude => {
            let inner = write_type(cx, of, full);
            return if matches!(of, Type::Function(_)) { format!("({inner})?") } else { format!("{inner}?") };
        }
        _ => {}
    }
    let mut out = String::new();
    if full && let Owner::Nominal(parent) = data.parent {
        out = show_nominal(cx, parent, &args[..args.len() - own.len()], full) + ".";
    }
    out.push_str(&data.name);
    if !own.is_empty() {
        let args = own.iter().map(|t| write_type(cx, t, full)).collect::<Vec<_>>().join(", ");
        let _ = write!(out, "<{args}>");
    }
    out
}

impl Definitions {
    /// Returns a function's name with its labels: `move(along:)`, `init(_:)`, `+`.
    pub(crate) fn full_name(&self, id: FunctionId) -> String {
        let data = self.function_data(id);
        match data.kind {
            FunctionKind::Getter | FunctionKind::Setter if &*data.base_name != "subscript" => {
                return data.base_name.to_string();
            }
            FunctionKind::Closure | FunctionKind::Script | FunctionKind::Test => return data.base_name.to_string(),
            _ => {}
        }
        if crate::types::model::syntax_query::is_operator(&data.base_name) {
            return data.base_name.to_string();
        }
        let label = |label: Option<&Name>| label.map_or_else(|| "_:".to_string(), |label| format!("{label}:"));
        let labels: String = match &data.memo.signature {
            Some(signature) => signature.params.iter().map(|p| label(p.label.as_ref())).collect(),
            None => data.ast_params.iter().map(|p| label(p.label.as_ref().map(|l| &l.name))).collect(),
        };
        format!("{}({labels})", data.base_name)
    }
}

/// Formats an existential in the syntax of the language.
pub(crate) fn write_existential(cx: &TypeContext, e: &Existential, full: bool) -> String {
    if e.is_any() {
        return "Any".to_string();
    }
    let class = e.class.iter().map(|class| write_type(cx, class, full));
    let protocols = e.protocols.iter().map(|p| {
        let data = cx.defs.protocol_data(*p);
        let given = |name: &Name| e.known.iter().find(|(known, _)| known == name);
        let given: Vec<String> =
            data.primary.iter().map_while(|name| given(name).map(|(_, t)| write_type(cx, t, full))).collect();
        if given.is_empty() { data.name.to_string() } else { format!("{}<{}>", data.name, given.join(", ")) }
    });
    format!("any {}", class.chain(protocols).collect::<Vec<_>>().join(" & "))
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_finger_is_found() {
        let names = ["sqrt", "sin", "print", "gradient"];
        assert_eq!(closest("sqtr", names.into_iter()).as_deref(), Some("sqrt"));
        assert_eq!(closest("PRINT", names.into_iter()).as_deref(), Some("print"));
        assert_eq!(closest("sinh", names.into_iter()), None);
        assert_eq!(closest("banana", names.into_iter()), None);
    }
}
