//! Interactive session: lists the declarations of an input, and removes declarations of an input that failed.

use crate::source::Span;
use crate::syntax::PieceKind;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{
    Code, Entry, FunctionKind, GlobalData, GlobalMemo, MemberKind, Named, Owner, SignatureParam,
};
use crate::types::model::display;
use crate::types::model::function_table::FunctionData;
use crate::types::model::prelude_index;
use crate::types::model::queries;
use crate::types::model::syntax_walk;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, GlobalId};
use crate::types::names::completion_members::CompletionKind;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use hashbrown::HashMap;

/// The names declared in a session before an input was entered; by default, the names of an empty session.
#[derive(Default)]
pub struct Names {
    module: HashMap<Name, Vec<Entry>>,
    nominals: usize,
    protocols: usize,
    functions: usize,
    globals: usize,
}

/// A declaration that an input has made.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The declared name, with its argument labels, if any.
    pub name: String,
    /// The kind and the type of the declared entity.
    pub what: DeclaredEntity,
    /// The source location of the name.
    pub span: Span,
}

/// The entity that a declared name refers to.
#[derive(Clone, Debug)]
pub enum DeclaredEntity {
    /// A function, with its type.
    Function(String),
    /// A variable.
    Variable {
        /// The global variable that holds the value.
        global: GlobalId,
        /// The type of the variable's value.
        ty: Type,
    },
    /// A type or protocol, with the keyword that declares it.
    Type(&'static str),
}

/// Takes a snapshot of the names that are declared now.
pub fn names(cx: &TypeContext) -> Names {
    Names {
        module: cx.defs.module.clone(),
        nominals: cx.defs.nominals.len(),
        protocols: cx.defs.protocols.len(),
        functions: cx.defs.functions.len(),
        globals: cx.defs.globals.len(),
    }
}

/// Returns the top-level declarations that were entered after a snapshot, in source order.
pub fn declared_since(cx: &mut TypeContext, before: &Names) -> Vec<Declared> {
    let mut out = vec![];
    for i in before.functions..cx.defs.functions.len() {
        out.extend(declared_function(cx, FunctionId(i as u32)));
    }
    for i in before.globals..cx.defs.globals.len() {
        out.extend(declared_variable(cx, GlobalId(i as u32)));
    }
    for (i, data) in cx.defs.nominals.iter().enumerate().skip(before.nominals) {
        let is_seen = !data.is_prelude && is_entered(cx, &data.name, Named::Nominal(NominalId(i as u32)));
        let what = DeclaredEntity::Type(match data.kind {
            NominalKind::Struct => "struct",
            NominalKind::Enum => "enum",
            NominalKind::Class => "class",
        });
        out.extend(is_seen.then(|| Declared { name: data.name.to_string(), what, span: data.span }));
    }
    for (i, data) in cx.defs.protocols.iter().enumerate().skip(before.protocols) {
        if is_entered(cx, &data.name, Named::Protocol(ProtocolId(i as u32))) {
            out.push(Declared { name: data.name.to_string(), what: DeclaredEntity::Type("protocol"), span: data.span });
        }
    }
    out.sort_by_key(|declared| declared.span.start);
    out
}

fn declared_function(cx: &mut TypeContext, f: FunctionId) -> Option<Declared> {
    let data = cx.defs.function_data(f);
    let is_seen = data.owner == Owner::Module && data.kind == FunctionKind::Function && !data.is_prelude;
    if !is_seen || data.decl.is_none() || data.outer.is_some() || &*data.base_name == "_" {
        return None;
    }
    if data.base_name.starts_with('_') || !is_entered(cx, &data.base_name, Named::Function(f)) {
        return None;
    }
    let span = data.span;
    let signature = signature::signature(cx, f);
    let labeled = signature.params.iter().any(|p| p.label.is_some());
    let name = if labeled { cx.defs.full_name(f) } else { cx.defs.function_data(f).base_name.to_string() };
    let params: Vec<String> = signature.params.iter().map(|p| display::show(cx, &p.ty)).collect();
    let throws = if signature.throws { " throws" } else { "" };
    let ty = format!("({}){throws} -> {}", params.join(", "), display::show(cx, &signature.result));
    Some(Declared { name, what: DeclaredEntity::Function(ty), span })
}

fn declared_variable(cx: &mut TypeContext, global: GlobalId) -> Option<Declared> {
    let data = &cx.defs.globals[global.0 as usize];
    if data.is_prelude || data.owner != Owner::Module || data.name.starts_with('_') {
        return None;
    }
    if !is_entered(cx, &data.name, Named::Global(global)) {
        return None;
    }
    let (name, span) = (data.name.to_string(), data.span);
    let ty = queries::global_type(cx, global);
    Some(Declared { name, what: DeclaredEntity::Variable { global, ty }, span })
}

/// The name of the variable that holds the last displayed value.
const ANSWER: &str = "ans";

/// Returns the variable for a displayed value of a type: the current variable if it has this type, or a new variable.
/// `None` when the program declares the name.
pub fn answer(cx: &mut TypeContext, current: Option<GlobalId>, ty: &Type) -> Option<GlobalId> {
    let entries = cx.defs.module.get(ANSWER).map_or(&[][..], Vec::as_slice);
    if entries.iter().any(|entry| !matches!(entry.what, Named::Global(g) if Some(g) == current)) {
        return None;
    }
    let has_type = |g: &GlobalId| cx.defs.globals[g.0 as usize].memo.ty.as_ref() == Some(ty);
    if let Some(known) = current.filter(|g| !entries.is_empty() && has_type(g)) {
        return Some(known);
    }
    let global = GlobalId(cx.defs.globals.len() as u32);
    cx.defs.globals.push(GlobalData {
        name: ANSWER.into(),
        span: Span::default(),
        is_let: true,
        ty_expr: None,
        value: None,
        has_value: true,
        group: None,
        owner: Owner::Module,
        file: 0,
        is_lazy: false,
        is_shared: false,
        // The variable is not listed among the declarations of the program.
        is_prelude: true,
        decl: None,
        getter: None,
        setter: None,
        memo: GlobalMemo { ty: Some(ty.clone()), ..GlobalMemo::default() },
    });
    let entry = Entry { what: Named::Global(global), file: 0, is_private: false };
    cx.defs.module.insert(ANSWER.into(), vec![entry]);
    Some(global)
}

/// Whether a function uses a global variable.
pub fn is_shared(cx: &TypeContext, global: GlobalId) -> bool {
    cx.defs.globals[global.0 as usize].is_shared
}

/// Whether a name is declared at the top level or in the library, other than by functions: an assignment to the name of a
/// function declares a variable beside the function.
pub fn is_declared(cx: &TypeContext, name: &str) -> bool {
    let declares = |entries: &Vec<Entry>| entries.iter().any(|entry| !matches!(entry.what, Named::Function(_)));
    let is_answer = |entries: &Vec<Entry>| {
        let is_own = |entry: &Entry| matches!(entry.what, Named::Global(g) if cx.defs.globals[g.0 as usize].is_prelude);
        name == ANSWER && entries.iter().all(is_own)
    };
    let waiting = cx.defs.prelude.waiting(prelude_index::declaring(name));
    cx.defs.module.get(name).is_some_and(|entries| declares(entries) && !is_answer(entries))
        || cx.defs.library.get(name).is_some_and(declares)
        || waiting.iter().any(|piece| piece.kind == PieceKind::Other)
}

/// Returns the names of the variables declared after a snapshot.
pub fn variables_since(cx: &TypeContext, before: &Names) -> Vec<Name> {
    let new = cx.defs.globals.iter().skip(before.globals);
    new.filter(|data| !data.is_prelude && data.owner == Owner::Module).map(|data| data.name.clone()).collect()
}

/// A function that uses an earlier declaration of a name which an input has declared again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutdatedUse {
    /// The name of the function.
    pub function: String,
    /// The name that was declared again.
    pub name: String,
}

/// Returns the functions declared before a snapshot that use names declared again since then.
pub fn outdated_uses(cx: &TypeContext, before: &Names, declared: &[Declared]) -> Vec<OutdatedUse> {
    let base = |declared: &Declared| declared.name.split('(').next().unwrap_or_default().to_owned();
    // An overload does not replace the earlier functions.
    let is_replaced = |name: &String| {
        let earlier = before.module.get(name.as_str()).into_iter().flatten();
        earlier.into_iter().any(|entry| !is_entered(cx, name, entry.what))
    };
    let again: Vec<String> = declared.iter().map(base).filter(is_replaced).collect();
    if again.is_empty() {
        return vec![];
    }
    let mut found = vec![];
    for (i, data) in cx.defs.functions[..before.functions].iter().enumerate() {
        if data.is_prelude || data.owner != Owner::Module || data.kind != FunctionKind::Function {
            continue;
        }
        if !is_entered(cx, &data.base_name, Named::Function(FunctionId(i as u32))) {
            continue;
        }
        let mut used = vec![];
        let mut note = |name: &str| {
            let is_parameter = data.ast_params.iter().any(|param| &*param.name.name == name);
            if !is_parameter && again.iter().any(|again| again == name) && !used.iter().any(|known| known == name) {
                used.push(name.to_owned());
            }
        };
        match &data.code {
            Code::Block(Some(body)) => syntax_walk::all_names(body, &mut note),
            Code::Expression(body) => syntax_walk::names_in(body, &mut note),
            _ => {}
        }
        found.extend(used.into_iter().map(|name| OutdatedUse { function: data.base_name.to_string(), name }));
    }
    found
}

fn is_entered(cx: &TypeContext, name: &str, what: Named) -> bool {
    cx.defs.module.get(name).is_some_and(|entries| entries.iter().any(|entry| entry.what == what))
}

/// Removes the names that were declared after a snapshot.
pub fn take_back(cx: &mut TypeContext, before: Names) {
    cx.defs.module = before.module;
}

/// Removes names that an input declared before its run stopped at the source location `stopped`. Variables initialized
/// before this location are retained, and so are all other declarations, except functions that use an uninitialized
/// variable.
pub fn keep_until(cx: &mut TypeContext, before: &Names, script: FunctionId, stopped: u32) {
    let limit = match &cx.defs.function_data(script).code {
        Code::Script(items) => items
            .iter()
            .map(|(_, item)| item.span)
            .find(|span| span.start <= stopped && stopped <= span.end)
            .map_or(0, |span| span.start),
        _ => 0,
    };
    let lost: Vec<usize> =
        (before.globals..cx.defs.globals.len()).filter(|i| cx.defs.globals[*i].span.start >= limit).collect();
    if lost.iter().any(|i| cx.defs.globals[*i].is_shared) {
        cx.defs.module.clone_from(&before.module);
        return;
    }
    for i in lost {
        let name = cx.defs.globals[i].name.clone();
        match before.module.get(&name) {
            Some(entries) => cx.defs.module.insert(name, entries.clone()),
            None => cx.defs.module.remove(&name),
        };
    }
}

/// Formats the type of a variable for the prompt; a closure stored in a variable still has the names of its parameters.
pub fn show_variable(cx: &TypeContext, global: GlobalId, ty: &Type) -> String {
    let shown = display::show(cx, ty);
    let (Some(names), Type::Function(function)) = (cx.defs.closure_names.get(&global), ty) else { return shown };
    let params = names.iter().zip(&function.params).map(|(name, p)| format!("{name}: {}", display::show(cx, &p.ty)));
    let throws = if function.throws { " throws" } else { "" };
    format!("({}){throws} -> {}", params.collect::<Vec<_>>().join(", "), display::show(cx, &function.result))
}

/// Returns the names that the program declares at the top level, with their kinds.
pub fn declared_names(cx: &TypeContext) -> Vec<(String, CompletionKind)> {
    let kind = |entry: &Entry| match entry.what {
        Named::Function(f) if cx.defs.function_data(f).kind == FunctionKind::Getter => CompletionKind::Property,
        Named::Function(f) if cx.defs.function_data(f).ast_params.is_empty() => CompletionKind::Call,
        Named::Function(_) => CompletionKind::CallWithArguments,
        Named::Global(_) => CompletionKind::Property,
        Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => CompletionKind::Type,
    };
    let entered = cx.defs.module.iter().filter(|(name, _)| !name.starts_with('_'));
    entered.filter_map(|(name, entries)| Some((name.to_string(), kind(entries.last()?)))).collect()
}

/// Returns the spans of all declarations of a name: at the top level, or in a type for `Type.member`.
pub fn places_of(cx: &mut TypeContext, name: &str) -> Vec<Span> {
    let Some((owner, member)) = name.rsplit_once('.') else {
        let entries = name_lookup::entries(cx, name, 0);
        return entries.iter().map(|entry| cx.defs.entry_span(entry)).collect();
    };
    let Some(Named::Nominal(n)) = name_lookup::type_entry(cx, owner, 0) else { return vec![] };
    prelude::load_all_own_members(cx, n);
    let data = cx.defs.nominal_data(n);
    let members = data.members.get(member).into_iter().flatten();
    let place = |kind: &MemberKind| match kind {
        MemberKind::Stored(i) => Some(data.stored[*i as usize].span),
        MemberKind::Case(i) => Some(data.cases[*i as usize].span),
        MemberKind::Computed(f, _) | MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Subscript(f, _) => {
            Some(cx.defs.function_data(*f).span)
        }
        MemberKind::Global(g) => Some(cx.defs.globals[g.0 as usize].span),
        MemberKind::Nominal(n) => Some(cx.defs.nominal_data(*n).span),
        MemberKind::Alias(a) => Some(cx.defs.aliases[a.0 as usize].span),
        MemberKind::Requirement(_) | MemberKind::AssociatedType => None,
    };
    members.filter_map(|member| place(&member.kind)).collect()
}

/// Removes earlier functions that functions entered since `first` replace at the prompt, because both accept the same
/// calls.
pub(crate) fn replace_functions(cx: &mut TypeContext, first: usize) {
    if !cx.module.is_interactive {
        return;
    }
    for f in (first..cx.defs.functions.len()).map(|i| FunctionId(i as u32)) {
        replace_members(cx, f, first);
        let name = cx.defs.function_data(f).base_name.clone();
        let Some(entries) = cx.defs.module.get(&name).filter(|all| all.iter().any(|e| e.what == Named::Function(f)))
        else {
            continue;
        };
        let earlier = entries.iter().filter_map(|entry| match entry.what {
            Named::Function(g) if (g.0 as usize) < first => Some(g),
            _ => None,
        });
        let earlier: Vec<FunctionId> = earlier.collect();
        for g in earlier {
            if is_called_like(cx, f, g)
                && let Some(entries) = cx.defs.module.get_mut(&name)
            {
                entries.retain(|entry| entry.what != Named::Function(g));
            }
        }
    }
}

/// Removes earlier members of a type that the member `f`, entered in an extension, replaces.
fn replace_members(cx: &mut TypeContext, f: FunctionId, first: usize) {
    let data = cx.defs.function_data(f);
    let (name, owner) = (data.base_name.clone(), data.owner);
    let members = |cx: &TypeContext| match owner {
        Owner::Nominal(n) => cx.defs.nominal_data(n).members.get(&name).cloned(),
        Owner::Protocol(p) => cx.defs.protocol_data(p).members.get(&name).cloned(),
        Owner::Module => None,
    };
    let Some(mut kept) = members(cx).filter(|all| all.len() > 1) else { return };
    let Some(own) = kept.iter().find(|member| function_of(&member.kind) == Some(f)).cloned() else { return };
    // Synthesized members of a type of the program belong to the library, too.
    let is_of_program = matches!(owner, Owner::Nominal(n) if !cx.defs.nominal_data(n).is_prelude);
    let count = kept.len();
    kept.retain(|member| {
        let Some(g) = function_of(&member.kind).filter(|g| (g.0 as usize) < first) else { return true };
        let is_same_kind = std::mem::discriminant(&member.kind) == std::mem::discriminant(&own.kind);
        let is_declared = is_of_program || !cx.defs.function_data(g).is_prelude;
        !(is_same_kind && member.is_static == own.is_static && is_declared && is_called_like(cx, f, g))
    });
    if kept.len() == count {
        return;
    }
    if let Owner::Nominal(n) = owner {
        // The member that replaces a synthesized one is not synthesized.
        cx.defs.nominal_data_mut(n).memo.synthesized.retain(|part| *part != &*name);
    }
    match owner {
        Owner::Nominal(n) => cx.defs.nominal_data_mut(n).members.insert(name, kept),
        Owner::Protocol(p) => cx.defs.protocols[p.0 as usize].members.insert(name, kept),
        Owner::Module => None,
    };
}

fn function_of(kind: &MemberKind) -> Option<FunctionId> {
    match kind {
        MemberKind::Computed(f, _) | MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Subscript(f, _) => {
            Some(*f)
        }
        _ => None,
    }
}

/// Whether two functions have equal labels and equal parameter types, except for the constraints of generic parameters:
/// a function whose constraints were corrected replaces the earlier one. Members for different arguments of a type are
/// different members.
fn is_called_like(cx: &mut TypeContext, f: FunctionId, g: FunctionId) -> bool {
    let form = |data: &FunctionData| (data.fixity, data.generics.params.len());
    if form(cx.defs.function_data(f)) != form(cx.defs.function_data(g)) || has_other_conditions(cx, f, g) {
        return false;
    }
    let (f, g) = (signature::signature(cx, f), signature::signature(cx, g));
    let corresponding = |p| {
        let position = g.env.params.iter().position(|q| *q == p)?;
        f.env.params.get(position).map(|q| Type::Param(*q))
    };
    let is_alike = |a: &SignatureParam, b: &SignatureParam| {
        a.label == b.label && a.variadic == b.variadic && a.ty == b.ty.substitute(&corresponding)
    };
    f.params.len() == g.params.len() && f.params.iter().zip(&g.params).all(|(a, b)| is_alike(a, b))
}

/// Whether two functions are members of extensions with different requirements.
fn has_other_conditions(cx: &mut TypeContext, f: FunctionId, g: FunctionId) -> bool {
    let [f, g] = [f, g].map(|function| cx.defs.function_data(function).group);
    let (Some(f), Some(g)) = (f, g) else { return false };
    generic_env::has_other_requirements(cx, f, g)
}

/// Returns the parameter names of the functions and closure variables that the module declares, by the name of the
/// function.
pub fn parameters_of_functions(cx: &mut TypeContext) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<String> = cx.defs.module.keys().map(ToString::to_string).collect();
    names.sort_unstable();
    let with_parameters = names.into_iter().map(|name| (names_of_parameters(cx, &name), name));
    with_parameters.filter(|(parameters, _)| !parameters.is_empty()).map(|(p, name)| (name, p)).collect()
}

/// Returns the argument labels of a function's parameters; empty if the function does not exist.
pub fn labels_of_parameters(cx: &mut TypeContext, function: &str) -> Vec<Option<String>> {
    let entries = name_lookup::entries(cx, function, 0);
    let function = entries.iter().find_map(|entry| if let Named::Function(f) = entry.what { Some(f) } else { None });
    let Some(function) = function else { return vec![] };
    signature::signature(cx, function).params.iter().map(|p| p.label.as_ref().map(ToString::to_string)).collect()
}

/// Returns the parameter names of a top-level function, or of a closure stored in a variable.
pub fn names_of_parameters(cx: &mut TypeContext, function: &str) -> Vec<String> {
    for entry in name_lookup::entries(cx, function, 0) {
        match entry.what {
            Named::Function(f) => {
                return signature::signature(cx, f).params.iter().map(|p| p.name.to_string()).collect();
            }
            Named::Global(g) => {
                let names = cx.defs.closure_names.get(&g);
                return names.into_iter().flatten().map(ToString::to_string).collect();
            }
            Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
        }
    }
    vec![]
}
