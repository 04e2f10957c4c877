//! Module files: enters the declarations of all files of a module together, since each file may use the declarations of
//! the others.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Decl, DeclKind, File, StmtKind};
use crate::types::declare;
use crate::types::model::type_context::TypeContext;
use crate::types::names::module_name;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

/// Enters the types of all files first and everything else afterward, in any order of the files, because an extension
/// needs its extended type. An extension of a type that a later extension declares is deferred.
pub(crate) fn enter_files(cx: &mut TypeContext, files: &[(u32, &File)]) {
    for (_, file) in files {
        enter_imports(cx, file);
    }
    let mut late = vec![];
    for are_types in [true, false] {
        for (number, file) in files {
            for decl in declarations(file).filter(|d| declares_type(&d.kind) == are_types) {
                match is_known_yet(cx, decl, *number) {
                    true => declare::declare_top(cx, decl, *number, false),
                    false => late.push((decl, *number)),
                }
            }
        }
    }
    enter_late(cx, late);
}

/// Enters the deferred extensions, each as soon as its extended type has been entered.
fn enter_late(cx: &mut TypeContext, mut late: Vec<(&Rc<Decl>, u32)>) {
    while let Some(next) = late.iter().position(|(decl, file)| is_known_yet(cx, decl, *file)) {
        let (decl, file) = late.remove(next);
        declare::declare_top(cx, decl, file, false);
    }
    for (decl, file) in late {
        declare::declare_top(cx, decl, file, false);
    }
}

/// Whether the type that a declaration extends has been entered; true for all other declarations.
fn is_known_yet(cx: &mut TypeContext, decl: &Decl, file: u32) -> bool {
    let DeclKind::Extension(extension) = &decl.kind else { return true };
    name_lookup::extended_owner(cx, &extension.target, file).is_some()
}

/// Modules of Swift that do not exist here, and what to write instead.
const ABSENT: &[(&str, &str)] = &[
    ("Combine", "values that change over time are an 'AsyncStream', whose elements 'for await' waits for"),
    ("PythonKit", NO_PYTHON),
    ("Python", NO_PYTHON),
    ("Accelerate", "arrays and tensors have these operations, as in 'dot(xs, ys)' and 'xs.sum()'"),
    ("PackageDescription", "'dscript test' in the folder of a package runs its tests"),
    ("SwiftUI", NO_WINDOWS),
    ("PlaygroundSupport", NO_WINDOWS),
    ("SpriteKit", NO_WINDOWS),
];
const NO_PYTHON: &str =
    "there are no values of Python; 'plot' draws, 'readCSV' reads tables, and 'TensorFlow' has tensors";
const NO_WINDOWS: &str = "programs print, and draw with 'plot'; there are no windows";
/// Modules of windows that re-export `Foundation`, which is the only part of them that many programs use.
const RE_EXPORTING: &[&str] = &["AppKit", "Cocoa", "UIKit"];

/// Enters the modules that a file imports, and checks that declarations imported by name exist.
fn enter_imports(cx: &mut TypeContext, file: &File) {
    for decl in declarations(file) {
        let DeclKind::Import { kind, path, file: None } = &decl.kind else { continue };
        let Some((module, rest)) = path.split_first() else { continue };
        if !prelude::import_module(cx, &module.name) {
            if module_name::is_program_module(cx, &module.name) {
                continue;
            }
            if RE_EXPORTING.contains(&&*module.name) {
                prelude::import_module(cx, "Foundation");
                let message = format!("'{}' is imported as 'Foundation'", module.name);
                cx.sink.report(Diagnostic::warning(Code::OtherMeaning, module.span, message).help(NO_WINDOWS));
                continue;
            }
            let message = format!("no such module '{}'", module.name);
            let diagnostic = Diagnostic::error(Code::UnknownName, module.span, message);
            let is_tested = decl.attribute("testable").is_some();
            let importer = cx.sink.text_name(module.span);
            let help = match ABSENT.iter().find(|(name, _)| *name == &*module.name) {
                _ if is_tested => format!("give its file, too: 'dscript {}.swift {importer}'", module.name),
                Some((_, help)) => (*help).to_owned(),
                None => format!(
                    "a module of the library has a name like 'Foundation' or 'TensorFlow'; a file is imported by its \
                     path: 'import \"{}.dscript\"'",
                    module.name
                ),
            };
            cx.sink.report(diagnostic.help(help));
        } else if let (Some(kind), [name]) = (kind, rest)
            && prelude::library_entries(cx, &name.name).is_empty()
        {
            let what = if &*kind.name == "func" { "function" } else { &*kind.name };
            let message = format!("{what} '{}' does not exist in module '{}'", name.name, module.name);
            cx.sink.report(Diagnostic::error(Code::UnknownName, name.span, message));
        }
    }
}

fn declarations(file: &File) -> impl Iterator<Item = &Rc<Decl>> {
    file.items.iter().filter_map(|s| match &s.kind {
        StmtKind::Decl(decl) => Some(decl),
        _ => None,
    })
}

fn declares_type(kind: &DeclKind) -> bool {
    matches!(kind, DeclKind::Nominal(_) | DeclKind::Protocol(_) | DeclKind::TypeAlias { .. })
}
