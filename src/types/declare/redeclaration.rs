//! Redeclarations: reports names that are declared twice in one scope.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, Name};
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{FunctionKind, Member, MemberKind, Named, Owner};
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use hashbrown::HashMap;

/// The properties that distinguish functions with equal names.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    owner: Owner,
    is_static: bool,
    fixity: Option<crate::syntax::ast::Fixity>,
    /// The label and the type of each parameter, and whether the parameter is variadic.
    params: Vec<(Option<Name>, Type, bool)>,
    result: Type,
    /// The file of a private function.
    file: Option<u32>,
}

/// Creates the diagnostic for the second declaration of a name.
pub(crate) fn redeclared(name: &str, span: Span, before: Span) -> Diagnostic {
    let message = format!("invalid redeclaration of '{name}'");
    let diagnostic = Diagnostic::error(Code::Redeclared, span, message);
    if before == Span::default() {
        diagnostic
    } else {
        diagnostic.also(before, format!("'{name}' previously declared here"))
    }
}

/// Reports a property or case that has the name of another property or case in the same group of a type's members.
pub(crate) fn check_member(cx: &mut TypeContext, owner: Owner, name: &str, member: &Member) {
    let Owner::Nominal(n) = owner else { return };
    if cx.defs.nominal_data(n).is_prelude {
        return;
    }
    let Some(span) = variable_span(cx, owner, &member.kind) else { return };
    let known = cx.defs.nominal_data(n).members.get(name).into_iter().flatten();
    let before = known
        .filter(|m| m.is_static == member.is_static && m.group == member.group)
        .find_map(|m| variable_span(cx, owner, &m.kind));
    if let Some(before) = before {
        cx.sink.report(redeclared(name, span, before));
    }
}

/// Returns the span of a property or case; `None` for members that can be overloaded.
fn variable_span(cx: &TypeContext, owner: Owner, kind: &MemberKind) -> Option<Span> {
    let Owner::Nominal(n) = owner else { return None };
    match kind {
        MemberKind::Stored(i) => Some(cx.defs.nominal_data(n).stored[*i as usize].span),
        MemberKind::Computed(get, _) => Some(cx.defs.function_data(*get).span),
        MemberKind::Global(g) => Some(cx.defs.globals[g.0 as usize].span),
        MemberKind::Case(i) => Some(cx.defs.nominal_data(n).cases[*i as usize].span),
        _ => None,
    }
}

/// Reports functions entered since `first` whose name and shape equal those of another function. The later function is
/// removed from its scope.
pub(crate) fn check_functions(cx: &mut TypeContext, first: usize) {
    let mut known: HashMap<(Name, Shape), Span> = HashMap::new();
    for f in (first..cx.defs.functions.len()).map(|i| FunctionId(i as u32)) {
        crate::cancel::check();
        let Some(shape) = shape_of(cx, f) else { continue };
        let (name, span) = (cx.defs.function_data(f).base_name.clone(), cx.defs.function_data(f).span);
        match known.entry((name, shape)) {
            hashbrown::hash_map::Entry::Vacant(place) => {
                place.insert(span);
            }
            hashbrown::hash_map::Entry::Occupied(before) => {
                let diagnostic = redeclared(&cx.defs.full_name(f), span, *before.get());
                cx.sink.report(diagnostic);
                forget_function(cx, f);
            }
        }
    }
}

fn forget_function(cx: &mut TypeContext, f: FunctionId) {
    let (name, owner) = (cx.defs.function_data(f).base_name.clone(), cx.defs.function_data(f).owner);
    if let Some(entries) = cx.defs.module.get_mut(&name) {
        entries.retain(|e| e.what != Named::Function(f));
    }
    if let Owner::Nominal(n) = owner
        && let Some(members) = cx.defs.nominal_data_mut(n).members.get_mut(&name)
    {
        members.retain(|m| m.kind != MemberKind::Method(f) && m.kind != MemberKind::Init(f));
    }
}

/// Returns the shape of a function; `None` for functions without a name (closures, accessors, requirements, registered
/// derivatives) and for generic or constrained functions, which their requirements distinguish. Functions without
/// declared parameter types are compared by their labels alone.
fn shape_of(cx: &mut TypeContext, f: FunctionId) -> Option<Shape> {
    let data = cx.defs.function_data(f);
    let decl = data.decl.clone()?;
    let is_named = matches!(data.kind, FunctionKind::Function | FunctionKind::Init { .. });
    let has_conditions = data.group.is_some_and(|g| !cx.defs.groups[g.0 as usize].requirements.is_empty());
    let is_local = data.outer.is_some();
    let is_open = matches!(decl.kind, DeclKind::Formula { .. }) || data.ast_params.iter().any(|p| p.ty.is_none());
    if data.is_prelude || !is_named || has_conditions || is_local || data.requirement.is_some() {
        return None;
    }
    if &*data.base_name == "_" || !data.generics.params.is_empty() || decl.attribute("derivative").is_some() {
        return None;
    }
    let is_private = decl.has("private") || decl.has("fileprivate");
    let (owner, is_static, fixity) = (data.owner, data.is_static, data.fixity);
    let file = is_private.then_some(data.file);
    if is_open {
        let params =
            data.ast_params.iter().map(|p| (p.label.as_ref().map(|l| l.name.clone()), Type::Error, p.variadic));
        return Some(Shape { owner, is_static, fixity, params: params.collect(), result: Type::Error, file });
    }
    let signature = signature::signature(cx, f);
    let params = signature.params.iter().map(|p| (p.label.clone(), p.ty.clone(), p.variadic)).collect();
    // A failable initializer differs from another one in its result only.
    let is_init = matches!(cx.defs.function_data(f).kind, FunctionKind::Init { .. });
    let result = if is_init { Type::Error } else { signature.result.clone() };
    Some(Shape { owner, is_static, fixity, params, result, file })
}
