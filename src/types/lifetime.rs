//! What happens when an instance of a class goes away: `deinit`.

use super::store::{Group, GroupId, Owner, World};
use super::tree::FunctionRef;
use super::ty::Type;
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Block, Decl, FunctionDecl, Generics, Ident};
use std::rc::Rc;

impl World {
    /// `deinit { … }` in a type.
    pub(super) fn declare_deinit(&mut self, decl: &Rc<Decl>, body: &Block, group: GroupId) {
        let Group { owner, file, is_prelude, .. } = self.groups[group.0 as usize];
        let Owner::Nominal(class) = owner else { return };
        if !self.is_class(class) {
            let message = "deinitializers may only be declared within a class";
            let why = "a struct or enum is a value: copies of it come and go, and none is the last one";
            self.report(Diagnostic::error(Code::WrongContext, decl.span, message).note(why));
            return;
        }
        if self.nominal_data(class).group != group {
            let message = "deinitializers may only be declared in the body of the class, not in an extension";
            self.report(Diagnostic::error(Code::WrongContext, decl.span, message));
            return;
        }
        if self.nominal_data(class).deinit.is_some() {
            let message = "a class has one 'deinit' only";
            self.report(Diagnostic::error(Code::Redeclared, decl.span, message));
            return;
        }
        let function = FunctionDecl {
            name: Ident { name: "deinit".into(), span: decl.span },
            generics: Generics::default(),
            params: vec![],
            throws: false,
            rethrows: false,
            result: None,
            body: Some(body.clone()),
        };
        let id = self.declare_function(decl, &function, owner, Some(group), file, is_prelude);
        self.nominal_data_mut(class).deinit = Some(id);
        self.sees_ends = true;
    }

    /// What a class does when an instance goes away, then what the classes do that it inherits from.
    pub(super) fn deinits(&mut self, ty: &Type) -> Vec<FunctionRef> {
        let mut all = vec![];
        let mut class = Some(ty.clone());
        while let Some(Type::Nominal(n, args)) = class {
            if !self.is_class(n) {
                break;
            }
            if let Some(function) = self.nominal_data(n).deinit {
                all.push(FunctionRef { function, generics: args.to_vec() });
            }
            class = self.base_type(n, &args);
        }
        all
    }
}
