//! Names with the module that declares them: `Swift.max`, `TensorFlow.gradient`, `MyModule.f`.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Ident, TypeExpr};
use crate::types::declare::prelude::PRELUDE_FILE;
use crate::types::model::tables::{Entry, Named, World};
use crate::types::model::ty::Type;
use crate::types::names::type_expr::TypeScope;
use std::path::Path;

/// Modules whose declarations are the library's. Of Swift's libraries for its own tests there is nothing: a program that
/// imports them brings its replacement along.
const LIBRARY: &[&str] = &[
    "Darwin",
    "DifferentiationUnittest",
    "Dispatch",
    "Foundation",
    "Glibc",
    "StdlibUnittest",
    "Swift",
    "TensorFlow",
    "_Differentiation",
];
/// Swift's name for the module of a script. A program is also called by the names of its files.
const PROGRAM: &str = "main";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Module {
    Library,
    Program,
}

impl World {
    /// Whether there is a module of that name in the library.
    pub(crate) fn is_library_module(name: &str) -> bool {
        LIBRARY.contains(&name)
    }

    /// The module that a name stands for, unless something else is called so.
    pub(crate) fn module_named(&mut self, name: &str, file: u32) -> Option<Module> {
        if file == PRELUDE_FILE {
            return None;
        }
        let module = if World::is_library_module(name) {
            Module::Library
        } else if name == PROGRAM || self.text_names.iter().any(|(_, text)| is_called(text, name)) {
            Module::Program
        } else {
            return None;
        };
        self.entries(name, file).is_empty().then_some(module)
    }

    /// What a module declares under a name.
    pub(crate) fn entries_in(&mut self, module: Module, name: &str, file: u32) -> Vec<Entry> {
        match module {
            Module::Library => self.library_entries(name),
            Module::Program => self.own_entries(name, file),
        }
    }

    /// The type that a module declares under a name.
    pub(crate) fn type_in(&mut self, module: Module, name: &str, file: u32) -> Option<Named> {
        let entries = self.entries_in(module, name, file);
        let is_type = |what: &Named| matches!(what, Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_));
        entries.into_iter().map(|e| e.what).find(is_type)
    }

    /// `Module.Name<A>`
    pub(crate) fn resolve_in_module(
        &mut self,
        module: (&Ident, Module),
        ident: &Ident,
        generics: &[TypeExpr],
        scope: &TypeScope,
    ) -> Type {
        let found = match self.type_in(module.1, &ident.name, scope.file) {
            Some(Named::Nominal(n)) => {
                Type::Nominal(n, self.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect())
            }
            Some(Named::Protocol(p)) => Type::any_of(&[p]),
            Some(Named::Alias(a)) => return self.apply_alias(a, generics, scope, ident.span),
            Some(Named::Function(_) | Named::Global(_)) | None => {
                let message = format!("no type named '{}' in module '{}'", ident.name, module.0.name);
                self.report(Diagnostic::error(Code::UnknownType, ident.span, message));
                return Type::Error;
            }
        };
        self.apply(found, generics, scope, ident.span)
    }
}

fn is_called(text: &str, name: &str) -> bool {
    Path::new(text).file_stem().is_some_and(|stem| stem == name)
}
