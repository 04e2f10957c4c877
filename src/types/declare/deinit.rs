//! Deinitializers: enters the `deinit` of a class.

use crate::diagnostic::Code;
use crate::syntax::ast::Block;
use crate::types::conform::superclass;
use crate::types::declare;
use crate::types::declare::Decl;
use crate::types::declare::Diagnostic;
use crate::types::declare::FunctionDecl;
use crate::types::declare::Generics;
use crate::types::declare::Ident;
use crate::types::declare::Rc;
use crate::types::model::declaration_tables::Group;
use crate::types::model::declaration_tables::GroupId;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::type_context::TypeContext;

/// Enters the deinitializer `deinit { … }` of a class.
pub(crate) fn declare_deinit(cx: &mut TypeContext, decl: &Rc<Decl>, body: &Block, group: GroupId) {
    let Group { owner, file, is_prelude, .. } = cx.defs.groups[group.0 as usize];
    let Owner::Nominal(class) = owner else { return };
    if !superclass::is_class(cx, class) {
        let message = "deinitializers may only be declared within a class";
        let why = "structs and enums are values, which are copied and have no last reference";
        let help = "declare the type as a 'final class', whose 'deinit' runs when its last reference ends";
        cx.sink.report(Diagnostic::error(Code::WrongContext, decl.span, message).note(why).help(help));
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
        thrown: None,
        result: None,
        body: Some(body.clone().into()),
    };
    let id = declare::declare_function(cx, decl, &function, owner, Some(group), file, is_prelude);
    cx.defs.nominal_data_mut(class).deinit = Some(id);
    cx.defs.sees_ends = true;
}
