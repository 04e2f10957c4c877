//! Initializers: determines which initializers a class declares and inherits.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{FunctionKind, MemberKind};
use crate::types::model::queries;
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::nominal::initializers::superclass::is_required;
use crate::types::nominal::overrides;
use crate::types::nominal::stored_property;
use std::fmt::Write;
use std::rc::Rc;

/// Returns the designated initializers of a class.
fn designated(cx: &mut TypeContext, n: NominalId) -> Vec<FunctionId> {
    queries::synthesize_member(cx, n, "init", true);
    let members = cx.defs.nominal_data(n).members.get("init").cloned().unwrap_or_default();
    let functions = members.into_iter().filter_map(|m| match m.kind {
        MemberKind::Init(f) => Some(f),
        _ => None,
    });
    functions.filter(|f| !superclass::is_convenience(cx, *f)).collect()
}

/// Whether a class declares a designated initializer; a synthesized `init(from:)` is not declared.
fn has_own_designated(cx: &TypeContext, n: NominalId) -> bool {
    let data = cx.defs.nominal_data(n);
    let decodes = data.memo.synthesized.contains(&"init(from:)");
    let is_synthesized = |f: FunctionId| {
        let params = &cx.defs.function_data(f).ast_params;
        decodes && params.len() == 1 && params[0].label.as_ref().is_some_and(|label| &*label.name == "from")
    };
    data.members.get("init").is_some_and(|all| {
        all.iter().any(|m| match m.kind {
            MemberKind::Init(f) => !superclass::is_convenience(cx, f) && !is_synthesized(f),
            _ => false,
        })
    })
}

/// Whether a class inherits the convenience initializers of its superclass: the class must have all designated
/// initializers to which the convenience initializers may delegate.
pub(crate) fn inherits_convenience(cx: &mut TypeContext, n: NominalId) -> bool {
    let Some((base, _)) = superclass::superclass(cx, n) else { return false };
    overrides::link_class(cx, n);
    designated(cx, base).into_iter().all(|f| cx.defs.overrides.contains_key(&(f, n)))
}

/// Returns the first stored property that a class declares without an initial value.
fn first_without_value(cx: &mut TypeContext, n: NominalId) -> Option<usize> {
    (0..cx.defs.nominal_data(n).stored.len()).find(|i| {
        // The type of a property with an initial value is not needed, and its inference may depend on variables of the
        // script that have no type yet.
        let stored = &cx.defs.nominal_data(n).stored[*i];
        if stored.value.is_some() {
            return false;
        }
        let is_let = stored.is_let;
        let ty = stored_property::stored_type(cx, n, *i as u32);
        is_let || !name_lookup::is_optional(cx, &ty)
    })
}

/// Returns the source of the initializers of a class that declares no initializer: the initializers of its superclass,
/// or an initializer without parameters.
pub(crate) fn inherited_initializers(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    if has_own_designated(cx, n) || first_without_value(cx, n).is_some() {
        return None;
    }
    let Some((base, args)) = superclass::superclass(cx, n) else { return Some("init() {}".into()) };
    let mut text = String::new();
    for f in designated(cx, base) {
        let signature = signature::signature(cx, f);
        let FunctionKind::Init { failable } = cx.defs.function_data(f).kind else { continue };
        let is_plain =
            |p: &crate::types::model::declaration_tables::SignatureParam| !p.is_inout && !p.variadic && !p.autoclosure;
        if signature.env.params.len() != args.len() || !signature.params.iter().all(is_plain) {
            continue;
        }
        let (mut params, mut given) = (vec![], vec![]);
        for (k, p) in signature.params.iter().enumerate() {
            let ty = conformances::substitute_nominal(cx, base, &args, &p.ty);
            let ty = type_expr::name_for(cx, ty);
            let label = p.label.as_deref().unwrap_or("_");
            params.push(format!("{label} p{k}: {ty}"));
            given.push(p.label.as_ref().map_or(format!("p{k}"), |label| format!("{label}: p{k}")));
        }
        let is_required = self::is_required(cx, f);
        let (word, mark) = (if is_required { "required" } else { "override" }, if failable { "?" } else { "" });
        let (throws, attempt) = if signature.throws { (" throws", "try ") } else { ("", "") };
        let (params, given) = (params.join(", "), given.join(", "));
        let _ = writeln!(text, "{word} init{mark}({params}){throws} {{ {attempt}super.init({given}) }}");
    }
    (!text.is_empty()).then_some(text)
}

/// Copies the default arguments of the superclass's initializers to the corresponding initializers of a class.
pub(crate) fn inherit_defaults(cx: &mut TypeContext, n: NominalId) {
    let Some((base, args)) = superclass::superclass(cx, n) else { return };
    let inherited = designated(cx, base);
    for f in designated(cx, n) {
        for g in &inherited {
            if overrides::same_parameters(cx, n, f, *g, &args) {
                let theirs = signature::signature(cx, *g);
                let mut mine = (*signature::signature(cx, f)).clone();
                for (a, b) in mine.params.iter_mut().zip(&theirs.params) {
                    a.default = a.default.or(b.default);
                }
                cx.defs.functions[f.0 as usize].memo.signature = Some(Rc::new(mine));
            }
        }
    }
}

/// Reports a class without initializers, and missing required initializers.
pub(crate) fn check_class(cx: &mut TypeContext, n: NominalId) {
    overrides::link_class(cx, n);
    if !superclass::is_class(cx, n) || !designated(cx, n).is_empty() {
        check_required(cx, n);
        return;
    }
    let data = cx.defs.nominal_data(n);
    let message = format!("class '{}' has no initializers", data.name);
    let mut diagnostic = Diagnostic::error(Code::Inheritance, data.span, message);
    if let Some(i) = first_without_value(cx, n) {
        let stored = &cx.defs.nominal_data(n).stored[i];
        let text = format!("stored property '{}' without initial value prevents synthesized initializers", stored.name);
        let help =
            format!("give '{0}' an initial value, or declare an initializer: 'init({0}: …) {{ … }}'", stored.name);
        diagnostic = diagnostic.note_at(stored.span, text).help(help);
    }
    cx.sink.report(diagnostic);
}

/// Reports initializers that the superclass requires and the class lacks.
fn check_required(cx: &mut TypeContext, n: NominalId) {
    let Some((base, _)) = superclass::superclass(cx, n) else { return };
    let mut inherited = designated(cx, base);
    if !inherits_convenience(cx, n) {
        let members = cx.defs.nominal_data(base).members.get("init").cloned().unwrap_or_default();
        inherited.extend(members.iter().filter_map(|m| match m.kind {
            MemberKind::Init(f) if superclass::is_convenience(cx, f) => Some(f),
            _ => None,
        }));
    }
    for f in inherited {
        let is_required = self::is_required(cx, f);
        if is_required && !cx.defs.overrides.contains_key(&(f, n)) {
            let (name, class) = (cx.defs.full_name(f), cx.defs.nominal_data(base).name.clone());
            let message = format!("'required' initializer '{name}' must be provided by subclass of '{class}'");
            let at = cx.defs.function_data(f).span;
            let span = cx.defs.nominal_data(n).span;
            cx.sink.report(Diagnostic::error(Code::Inheritance, span, message).also(at, "declared here"));
        }
    }
}
