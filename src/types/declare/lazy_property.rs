//! Lazy properties (`lazy var`): properties whose value is computed on the first read.
//!
//! Such a property has hidden storage of an optional type, a getter that computes the value once, and a setter.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Accessors, Binding, Decl, Ident, Name, PatternKind, StmtKind, TypeExpr};
use crate::types::declare;
use crate::types::declare::member;
use crate::types::declare::member::{Property, value_param};
use crate::types::declare::property_observers;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::{
    Code, FunctionData, FunctionKind, Group, Member, MemberKind, Named, Owner, StoredData,
};
use crate::types::model::declaration_tables::{GroupId, blank_function};
use crate::types::model::syntax_query::strip;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The name of the parameter of a lazy property's setter, which programs cannot use.
const NEW: &str = "new value";

/// The message for a lazy variable without an initial value.
const MISSING_INITIAL: &str = "lazy properties must have an initializer";

/// Reports a lazy variable at the top level without an initial value.
pub(crate) fn report_missing_initial(cx: &mut TypeContext, span: Span) {
    cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, span, MISSING_INITIAL));
}

/// Enters a `lazy var`. Returns `false` if it must be entered as a property that is not lazy; errors are reported.
pub(crate) fn declare_lazy(cx: &mut TypeContext, property: &Property) -> bool {
    let Property { decl, is_let, binding, name, ty, like } = *property;
    let Group { owner, file, is_prelude, .. } = cx.defs.groups[like.group.0 as usize];
    let problem = match (&binding.value, owner) {
        _ if is_let => "'lazy' cannot be used on a let",
        _ if like.is_static => "'lazy' cannot be used on an already-lazy global",
        _ if binding.accessors.as_ref().is_some_and(|a| a.get.is_some()) => {
            "'lazy' cannot be used on a computed property"
        }
        (None, _) => MISSING_INITIAL,
        (Some(value), Owner::Nominal(n)) if member::holds_stored(cx, n, like.group) => {
            let at = MemberSite { n, group: like.group, file, is_prelude };
            let initial = lazy_initial(cx, at, name, Rc::new(value.clone()), ty);
            let storage = lazy_storage(cx, at, decl, name, initial);
            let observers = binding.accessors.as_ref();
            let (get, set) = lazy_accessors(cx, at, (decl, name, ty), initial, &storage, observers);
            member::add_member(
                cx,
                owner,
                &name.name,
                Member { kind: MemberKind::Computed(get, Some(set)), ..like.clone() },
            );
            return true;
        }
        // The property is declared where no stored property is allowed; the error is the same as for other stored
        // properties.
        _ => return false,
    };
    let diagnostic = Diagnostic::error(DiagnosticCode::WrongContext, name.span, problem);
    cx.sink.report(if is_let { diagnostic.help("write 'lazy var'") } else { diagnostic });
    false
}

/// Enters a `lazy var` at the top level of a script: hidden storage and a computed variable. Returns `false` if it is
/// entered as a variable whose initial value is computed at its first use.
pub(crate) fn declare_lazy_global(cx: &mut TypeContext, decl: &Rc<Decl>, binding: &Binding, file: u32) -> bool {
    let PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else { return false };
    let (Some(value), None) = (&binding.value, &binding.accessors) else { return false };
    // An input at the prompt may declare the variable again.
    if cx.module.is_interactive {
        return false;
    }
    let ident = Ident { name: name.clone(), span: binding.pattern.span };
    let function = |name: &str| blank_function(&name.into(), ident.span, file, false);
    let initial_name = format!("initial value of {name}");
    let mut initial = function(&initial_name);
    initial.code = Code::Expression(Rc::new(value.clone()));
    initial.ast_result = binding.ty.clone().map(Rc::new);
    let initial = cx.defs.add_function(initial);
    declare::enter_hidden(cx, &initial_name.as_str().into(), initial, file);
    let storage = format!("storage of {name}");
    // The type of the storage is that of a choice of which `nil` is always taken.
    let text = format!("true ? nil : `{initial_name}`()");
    let unset = match property_observers::written_block(cx, &text, ident.span).items.pop().map(|item| item.kind) {
        Some(StmtKind::Expr(unset)) => unset,
        _ => return false,
    };
    declare::add_hidden_global(cx, &storage.as_str().into(), unset, decl, ident.span, file);
    let text = format!(
        "if let `known` = `{storage}` {{ return `known` }}\n\
         let `value` = `{initial_name}`()\n`{storage}` = `value`\nreturn `value`\n"
    );
    let accessor = |kind| FunctionData {
        kind,
        decl: Some(decl.clone()),
        observed: Some(Observed::Result(initial)),
        ..function(name)
    };
    let mut get = accessor(FunctionKind::Getter);
    get.ast_result = binding.ty.clone().map(Rc::new);
    get.code = Code::Block(Some(property_observers::written_block(cx, &text, ident.span).into()));
    let mut set = accessor(FunctionKind::Setter);
    set.ast_params = Rc::from([value_param(Ident { name: NEW.into(), span: ident.span }, binding.ty.as_ref())]);
    let stores = format!("`{storage}` = `{NEW}`\n");
    set.code = Code::Block(Some(property_observers::written_block(cx, &stores, ident.span).into()));
    let (get, set) = (cx.defs.add_function(get), cx.defs.add_function(set));
    cx.defs.functions[get.0 as usize].setter = Some(set);
    declare::enter(cx, &ident, Named::Function(get), file, decl.has("private") || decl.has("fileprivate"), false);
    true
}

/// Enters the function that computes the value of a lazy property.
fn lazy_initial(
    cx: &mut TypeContext,
    at: MemberSite,
    name: &Ident,
    value: Rc<crate::syntax::ast::Expr>,
    ty: Option<&TypeExpr>,
) -> FunctionId {
    let full: Name = format!("initial value of {}", name.name).into();
    let mut initial = at.function(&full, name, at.is_prelude);
    initial.code = Code::Expression(value);
    initial.ast_result = ty.cloned().map(Rc::new);
    let f = cx.defs.add_function(initial);
    member::add_member(cx, Owner::Nominal(at.n), &full, at.member(MemberKind::Method(f)));
    f
}

/// Enters the storage of a lazy property, which is an optional; returns the name of the storage.
fn lazy_storage(cx: &mut TypeContext, at: MemberSite, decl: &Rc<Decl>, name: &Ident, initial: FunctionId) -> Name {
    let storage: Name = format!("$__lazy_storage_$_{}", name.name).into();
    let lazy = Some((name.name.clone(), initial));
    let stored = StoredData { lazy, ..StoredData::of(storage.clone(), decl.clone()) };
    let index = cx.defs.nominal_data(at.n).stored.len() as u32;
    cx.defs.nominal_data_mut(at.n).stored.push(stored);
    member::add_member(cx, Owner::Nominal(at.n), &storage, at.member(MemberKind::Stored(index)));
    storage
}

fn lazy_accessors(
    cx: &mut TypeContext,
    at: MemberSite,
    (decl, name, ty): (&Rc<Decl>, &Ident, Option<&TypeExpr>),
    initial: FunctionId,
    storage: &Name,
    observers: Option<&Accessors>,
) -> (FunctionId, FunctionId) {
    let accessor = |kind| FunctionData {
        kind,
        decl: Some(decl.clone()),
        observed: Some(Observed::Result(initial)),
        ..at.function(&name.name, name, true)
    };
    let text = format!(
        "if let `known` = self.`{storage}` {{ return `known` }}\n\
         let `value` = self.`initial value of {}`()\nself.`{storage}` = `value`\nreturn `value`\n",
        name.name
    );
    let mut get = accessor(FunctionKind::Getter);
    get.ast_result = ty.cloned().map(Rc::new);
    get.code = Code::Block(Some(property_observers::written_block(cx, &text, name.span).into()));
    let mut set = accessor(FunctionKind::Setter);
    set.ast_params = Rc::from([value_param(Ident { name: NEW.into(), span: name.span }, ty)]);
    let stored = format!("self.`{storage}`");
    let body = match observers {
        Some(observers) => {
            let observed = property_observers::observed_in(cx, at.group, false, Some(Observed::Result(initial)));
            let read = format!("self.`{}`", name.name);
            property_observers::observing_block_at(cx, observers, name, ty, observed, (&read, &stored))
        }
        None => property_observers::written_block(cx, &format!("{stored} = `{NEW}`\n"), name.span),
    };
    set.code = Code::Block(Some(body.into()));
    let (get, set) = (cx.defs.add_function(get), cx.defs.add_function(set));
    cx.defs.functions[get.0 as usize].setter = Some(set);
    (get, set)
}

/// Returns the type of a lazy property's storage.
pub(crate) fn lazy_type(cx: &mut TypeContext, initial: FunctionId) -> Type {
    let value = signature::signature(cx, initial).result.clone();
    if value == Type::Error { Type::Error } else { name_lookup::applied(cx, "Optional", &[value]) }
}

/// The type, and the group of its members, to which members are added.
#[derive(Clone, Copy)]
struct MemberSite {
    n: NominalId,
    group: GroupId,
    file: u32,
    is_prelude: bool,
}

impl MemberSite {
    /// Creates a method that may mutate `self`.
    fn function(self, full: &Name, name: &Ident, is_prelude: bool) -> FunctionData {
        FunctionData {
            owner: Owner::Nominal(self.n),
            group: Some(self.group),
            is_mutating: true,
            ..blank_function(full, name.span, self.file, is_prelude)
        }
    }

    fn member(self, kind: MemberKind) -> Member {
        Member { kind, is_static: false, group: self.group, file: self.file, is_private: false }
    }
}
