//! How long instances of classes live: `deinit`, and the variables that do not keep them (`weak`, `unowned`).

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Block, Decl, FunctionDecl, Generics, Ident};
use crate::types::conform::conformances;
use crate::types::declare;
use crate::types::model::context::TypeContext;
use crate::types::model::display;
use crate::types::model::tables::{Group, GroupId, Owner};
use crate::types::model::tree::{FunctionRef, Ownership};
use crate::types::model::ty::Type;
use crate::types::nominal::superclass;
use crate::types::synthesize;
use std::rc::Rc;

/// `deinit { … }` in a type.
pub(crate) fn declare_deinit(cx: &mut TypeContext, decl: &Rc<Decl>, body: &Block, group: GroupId) {
    let Group { owner, file, is_prelude, .. } = cx.defs.groups[group.0 as usize];
    let Owner::Nominal(class) = owner else { return };
    if !superclass::is_class(cx, class) {
        let message = "deinitializers may only be declared within a class";
        let why = "structs and enums are values, which are copied and have no last reference";
        cx.sink.report(Diagnostic::error(Code::WrongContext, decl.span, message).note(why));
        return;
    }
    if cx.defs.nominal_data(class).group != group {
        let message = "deinitializers may only be declared in the body of the class, not in an extension";
        cx.sink.report(Diagnostic::error(Code::WrongContext, decl.span, message));
        return;
    }
    if cx.defs.nominal_data(class).deinit.is_some() {
        let message = "a class can only have one 'deinit'";
        cx.sink.report(Diagnostic::error(Code::Redeclared, decl.span, message));
        return;
    }
    let function = FunctionDecl {
        name: Ident { name: "deinit".into(), span: decl.span },
        generics: Generics::default(),
        params: vec![],
        throws: false,
        rethrows: false,
        result: None,
        body: Some(body.clone().into()),
    };
    let id = declare::declare_function(cx, decl, &function, owner, Some(group), file, is_prelude);
    cx.defs.nominal_data_mut(class).deinit = Some(id);
    cx.defs.sees_ends = true;
}

/// A variable that does not keep its instance: its type, and what is wrong with it, which is said.
pub(crate) fn check_ownership(cx: &mut TypeContext, ownership: Ownership, is_let: bool, ty: &Type, span: Span) -> bool {
    if ownership == Ownership::Strong || *ty == Type::Error {
        return true;
    }
    cx.defs.sees_ends = true;
    let word = if ownership == Ownership::Weak { "weak" } else { "unowned" };
    if ownership == Ownership::Weak && is_let {
        let message = "'weak' must be a mutable variable, because it may change at runtime";
        let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        cx.sink.report(diagnostic.help("write 'var' instead of 'let'"));
        return false;
    }
    let payload = synthesize::optional_payload(cx, ty);
    if ownership == Ownership::Weak && payload.is_none() {
        let message = format!("'weak' variable should have optional type '{}?'", display::show(cx, ty));
        let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        cx.sink.report(diagnostic.note("it becomes 'nil' when the instance is deallocated"));
        return false;
    }
    let object = payload.unwrap_or_else(|| ty.clone());
    if !conformances::is_object(cx, &object) {
        let shown = display::show(cx, &object);
        let message = format!("'{word}' may only be applied to class and class-bound protocol types, not '{shown}'");
        let mut diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        if let Type::Existential(_) = object {
            let name = shown.trim_start_matches("any ");
            diagnostic = diagnostic.help(format!("write 'protocol {name}: AnyObject' where it is declared"));
        }
        cx.sink.report(diagnostic);
        return false;
    }
    true
}

/// What a class does when an instance goes away, then what the classes do that it inherits from.
pub(crate) fn deinits(cx: &mut TypeContext, ty: &Type) -> Vec<FunctionRef> {
    let mut all = vec![];
    let mut class = Some(ty.clone());
    while let Some(Type::Nominal(n, args)) = class {
        if !superclass::is_class(cx, n) {
            break;
        }
        if let Some(function) = cx.defs.nominal_data(n).deinit {
            all.push(FunctionRef { function, generics: args.to_vec() });
        }
        class = superclass::base_type(cx, n, &args);
    }
    all
}

/// `weak` or `unowned` before a declaration.
pub(crate) fn ownership(decl: &Decl) -> Ownership {
    decl.modifiers.iter().map(|m| named(&m.name)).find(|o| *o != Ownership::Strong).unwrap_or_default()
}

/// What a word says about it.
pub(crate) fn named(word: &str) -> Ownership {
    match word {
        "weak" => Ownership::Weak,
        _ if word.starts_with("unowned") => Ownership::Unowned,
        _ => Ownership::Strong,
    }
}
