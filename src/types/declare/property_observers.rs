//! Property observers: desugars `willSet` and `didSet` of properties and variables to a setter.
//!
//! An observed value is stored like any other. A setter stores the value and calls the observers; each observer is a
//! separate function, so that its `return` leaves only that observer. The setter and the observers access the stored
//! value directly: their assignments to it are not observed.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Accessors, Binding, Block, Ident, LazyBlock, Name, Param, TypeExpr};
use crate::types::declare;
use crate::types::declare::member;
use crate::types::declare::member::value_param;
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::{
    Code, FunctionKind, GlobalData, Group, GroupId, Member, MemberKind, Owner, blank_function,
};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, GlobalId};
use crate::types::names::prelude;
use std::rc::Rc;

/// The context of an observed property or variable: the type that owns it, and its declaration.
#[derive(Clone, Copy)]
pub(crate) struct ObservedDeclaration {
    pub(crate) owner: Owner,
    pub(crate) group: Option<GroupId>,
    pub(crate) file: u32,
    pub(crate) is_static: bool,
    /// The storage of the observed value; `None` for a property that a subclass observes without storing it.
    pub(crate) observed: Option<Observed>,
}

/// The names of the variables of an observing setter, which programs cannot use.
const NEW: &str = "new value";
const OLD: &str = "old value";

/// Whether accessors are observers of a stored value; reports invalid combinations of accessors.
pub(crate) fn observes(cx: &mut TypeContext, accessors: Option<&Accessors>, name: &Ident, is_let: bool) -> bool {
    let Some(accessors) = accessors else { return false };
    let word = match (&accessors.will_set, &accessors.did_set) {
        (Some(_), _) => "willSet",
        (None, Some(_)) => "didSet",
        (None, None) => return false,
    };
    let problem = if accessors.get.is_some() {
        format!("'{word}' cannot be provided together with a getter")
    } else if accessors.set.is_some() {
        format!("'{word}' cannot be provided together with a setter")
    } else if is_let {
        "'let' declarations cannot be observing properties".to_string()
    } else {
        return true;
    };
    cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, name.span, problem));
    false
}

/// Enters the observers of a property, and the setter that calls them.
pub(crate) fn declare_observers(
    cx: &mut TypeContext,
    accessors: &Accessors,
    name: &Ident,
    ty: Option<&TypeExpr>,
    at: ObservedDeclaration,
) -> FunctionId {
    let body = observing_block(cx, accessors, name, ty, at);
    let mut set = observing(cx, &name.name, name.span, at, true);
    set.kind = FunctionKind::Setter;
    set.ast_params = Rc::from([value_param(Ident { name: NEW.into(), span: name.span }, ty)]);
    set.code = Code::Block(Some(body.into()));
    cx.defs.add_function(set)
}

/// Returns the accessors of a property that a subclass observes: they call the accessors of the superclass and the
/// observers.
pub(crate) fn overriding_observers(
    cx: &mut TypeContext,
    accessors: &Accessors,
    name: &Ident,
    ty: Option<&TypeExpr>,
    group: GroupId,
) -> Accessors {
    let Group { owner, file, .. } = cx.defs.groups[group.0 as usize];
    let at = ObservedDeclaration { owner, group: Some(group), file, is_static: false, observed: None };
    let set = observing_block(cx, accessors, name, ty, at);
    let get = written_block(cx, &format!("super.`{}`", name.name), name.span);
    let value = Ident { name: NEW.into(), span: name.span };
    Accessors { get: Some(get.into()), set: Some((Some(value), set.into())), ..Accessors::default() }
}

/// Enters the observers of a stored value; returns the body of the setter that calls them.
fn observing_block(
    cx: &mut TypeContext,
    accessors: &Accessors,
    name: &Ident,
    ty: Option<&TypeExpr>,
    at: ObservedDeclaration,
) -> Block {
    let base = match (at.owner, at.observed) {
        (_, None) => "super.",
        (Owner::Module, _) => "",
        _ if at.is_static => "Self.",
        _ => "self.",
    };
    let place = format!("{base}`{}`", name.name);
    observing_block_at(cx, accessors, name, ty, at, (&place, &place))
}

/// Enters the observers of a value; returns the body of the setter, which reads and stores the value by the expressions
/// `read` and `stored`.
pub(crate) fn observing_block_at(
    cx: &mut TypeContext,
    accessors: &Accessors,
    name: &Ident,
    ty: Option<&TypeExpr>,
    at: ObservedDeclaration,
    (read, stored): (&str, &str),
) -> Block {
    let (mut before, mut after) = (String::new(), String::new());
    if let Some((own, body)) = &accessors.will_set {
        let call = declare_observer(cx, "willSet", (own.as_ref(), "newValue"), body, name, ty, at);
        before = format!("{call}(`{NEW}`)\n");
    }
    if let Some((own, body)) = &accessors.did_set {
        let reads = own.is_some() || crate::types::model::syntax_walk::mentions(body, "oldValue");
        let param = if reads { (own.as_ref(), "oldValue") } else { (None, "") };
        let call = declare_observer(cx, "didSet", param, body, name, ty, at);
        if reads {
            before = format!("let `{OLD}` = {read}\n{before}");
        }
        after = if reads { format!("{call}(`{OLD}`)\n") } else { format!("{call}()\n") };
    }
    written_block(cx, &format!("{before}{stored} = `{NEW}`\n{after}"), name.span)
}

/// Enters the observers of a variable at the top level or of a static property, if the variable has any.
pub(crate) fn observe_global(cx: &mut TypeContext, g: GlobalId, binding: &Binding, name: &Ident) {
    let GlobalData { is_let, owner, group, file, .. } = cx.defs.globals[g.0 as usize];
    let Some(accessors) = &binding.accessors else { return };
    if !observes(cx, Some(accessors), name, is_let) {
        return;
    }
    let at = ObservedDeclaration { owner, group, file, is_static: true, observed: Some(Observed::Global(g)) };
    let ty = cx.defs.globals[g.0 as usize].ty_expr.clone();
    let setter = declare_observers(cx, accessors, name, ty.as_deref(), at);
    let global = &mut cx.defs.globals[g.0 as usize];
    global.setter = Some(setter);
    global.is_shared = true;
}

/// Enters an observer; returns the function in the syntax of a call.
fn declare_observer(
    cx: &mut TypeContext,
    word: &str,
    (own, usual): (Option<&Ident>, &str),
    body: &LazyBlock,
    name: &Ident,
    ty: Option<&TypeExpr>,
    at: ObservedDeclaration,
) -> String {
    let full: Name = format!("{word} of {}", name.name).into();
    let mut observer = observing(cx, &full, name.span, at, false);
    let param = match own {
        Some(own) => Some(own.clone()),
        None if usual.is_empty() => None,
        None => Some(Ident { name: usual.into(), span: name.span }),
    };
    observer.ast_params = param.into_iter().map(|param| value_param(param, ty)).collect::<Vec<Param>>().into();
    observer.code = Code::Block(Some(body.clone()));
    let f = cx.defs.add_function(observer);
    match (at.owner, at.group) {
        (Owner::Module, _) | (_, None) => {
            declare::enter_hidden(cx, &full, f, at.file);
            format!("`{full}`")
        }
        (owner, Some(group)) => {
            let kind = MemberKind::Method(f);
            let member = Member { kind, is_static: at.is_static, group, file: at.file, is_private: false };
            member::add_member(cx, owner, &full, member);
            format!("{}.`{full}`", if at.is_static { "Self" } else { "self" })
        }
    }
}

fn observing(
    cx: &TypeContext,
    name: &Name,
    span: Span,
    at: ObservedDeclaration,
    is_unwritten: bool,
) -> crate::types::model::declaration_tables::FunctionData {
    let is_prelude = is_unwritten || at.group.is_some_and(|g| cx.defs.groups[g.0 as usize].is_prelude);
    let mut data = blank_function(name, span, at.file, is_prelude);
    data.owner = at.owner;
    data.group = at.group;
    data.is_static = at.is_static;
    data.is_mutating = !at.is_static;
    data.observed = at.observed;
    data
}

/// Parses synthesized statements; `place` becomes the source location of the statements.
pub(crate) fn written_block(cx: &mut TypeContext, text: &str, place: Span) -> Block {
    Block { items: prelude::written_items(cx, text, place), span: place }
}

/// Returns the setter that stores an observed value and calls the observers.
pub(crate) fn observing_setter(cx: &TypeContext, observed: Observed) -> Option<FunctionId> {
    match observed {
        Observed::Stored(n, index) => cx.defs.nominal_data(n).stored[index as usize].setter,
        Observed::Global(g) => cx.defs.globals[g.0 as usize].setter,
        Observed::Result(_) => None,
    }
}

/// Returns the context for an observed member of a group.
pub(crate) fn observed_in(
    cx: &TypeContext,
    group: GroupId,
    is_static: bool,
    observed: Option<Observed>,
) -> ObservedDeclaration {
    let Group { owner, file, .. } = cx.defs.groups[group.0 as usize];
    ObservedDeclaration { owner, group: Some(group), file, is_static, observed }
}
