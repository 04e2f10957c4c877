//! Module names: resolves names that are qualified with a module: `Swift.max`, `TensorFlow.gradient`, `MyModule.f`.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Ident, TypeExpr};
use crate::syntax::is_library_module;
use crate::types::model::declaration_tables::{Entry, Named};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::names::type_alias;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use std::path::{Component, Path};

/// Swift's name for the module of a script. The names of a program's files also refer to its module.
const PROGRAM: &str = "main";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Module {
    Library,
    Program,
}

/// Whether a file belongs to a module: it has the module's name, or it lies in the module's folder of a package.
fn is_of_module(file: &str, module: &str) -> bool {
    let path = Path::new(file);
    path.file_stem().is_some_and(|stem| stem == module) || is_in_module_folder(path, module)
}

/// Whether a file lies in the folder `Sources/NAME` of a module.
pub(crate) fn is_in_module_folder(path: &Path, module: &str) -> bool {
    let folders: Vec<Component> = path.parent().into_iter().flat_map(Path::components).collect();
    folders.windows(2).any(|pair| pair[0].as_os_str() == "Sources" && pair[1].as_os_str() == module)
}

/// Whether a name is the name of a file or of a module of the program: such a name refers to the program as a module.
pub(crate) fn is_program_module(cx: &TypeContext, name: &str) -> bool {
    cx.sink.text_names.iter().any(|(_, file)| is_of_module(file, name))
}

/// Returns the module that a name refers to, unless the name has another declaration.
pub(crate) fn module_named(cx: &mut TypeContext, name: &str, file: u32) -> Option<Module> {
    // Within the library, only the name of the library itself qualifies: members may hide its functions.
    if file == PRELUDE_FILE {
        return (name == "Swift").then_some(Module::Library);
    }
    let module = if is_library_module(name) {
        Module::Library
    } else if name == PROGRAM || is_program_module(cx, name) {
        Module::Program
    } else {
        return None;
    };
    name_lookup::entries(cx, name, file).is_empty().then_some(module)
}

/// Returns the declarations of a name that a module contains.
pub(crate) fn entries_in(cx: &mut TypeContext, module: Module, name: &str, file: u32) -> Vec<Entry> {
    match module {
        Module::Library => prelude::library_entries(cx, name),
        Module::Program => name_lookup::own_entries(cx, name, file),
    }
}

/// Returns the type with a given name that a module contains.
pub(crate) fn type_in(cx: &mut TypeContext, module: Module, name: &str, file: u32) -> Option<Named> {
    let entries = entries_in(cx, module, name, file);
    let is_type = |what: &Named| matches!(what, Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_));
    entries.into_iter().map(|e| e.what).find(is_type)
}

/// Resolves a type expression `Module.Name<A>`.
pub(crate) fn resolve_in_module(
    cx: &mut TypeContext,
    module: (&Ident, Module),
    ident: &Ident,
    generics: &[TypeExpr],
    scope: &TypeScope,
) -> Type {
    let found = match type_in(cx, module.1, &ident.name, scope.file) {
        Some(Named::Nominal(n)) => {
            Type::Nominal(n, cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect())
        }
        Some(Named::Protocol(p)) => Type::any_of(&[p]),
        Some(Named::Alias(a)) => return type_alias::apply_alias(cx, a, generics, scope, ident.span),
        Some(Named::Function(_) | Named::Global(_)) | None => {
            let message = format!("no type named '{}' in module '{}'", ident.name, module.0.name);
            cx.sink.report(Diagnostic::error(Code::UnknownType, ident.span, message));
            return Type::Error;
        }
    };
    type_expr::apply(cx, found, generics, scope, ident.span)
}
