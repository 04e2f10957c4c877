//! The files of a module are entered together: what one of them declares, the others name.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Decl, DeclKind, File, StmtKind};
use crate::types::model::tables::World;
use std::rc::Rc;

impl World {
    /// Types first, then everything else, whichever file is given first: an extension needs to know whom it extends. What
    /// it extends may stand in another extension, which comes later.
    pub(crate) fn enter_files(&mut self, files: &[(u32, &File)]) {
        for (_, file) in files {
            self.enter_imports(file);
        }
        let mut late = vec![];
        for are_types in [true, false] {
            for (number, file) in files {
                for decl in declarations(file).filter(|d| declares_type(&d.kind) == are_types) {
                    match self.is_known_yet(decl, *number) {
                        true => self.declare_top(decl, *number, false),
                        false => late.push((decl, *number)),
                    }
                }
            }
        }
        self.enter_late(late);
    }

    /// Enters extensions of types that were not there when their turn came, in the order in which the types turn up.
    fn enter_late(&mut self, mut late: Vec<(&Rc<Decl>, u32)>) {
        while let Some(next) = late.iter().position(|(decl, file)| self.is_known_yet(decl, *file)) {
            let (decl, file) = late.remove(next);
            self.declare_top(decl, file, false);
        }
        for (decl, file) in late {
            self.declare_top(decl, file, false);
        }
    }

    /// Whether the type that a declaration extends, if it does, was entered.
    fn is_known_yet(&mut self, decl: &Decl, file: u32) -> bool {
        let DeclKind::Extension(extension) = &decl.kind else { return true };
        self.extended_owner(&extension.target, file).is_some()
    }

    /// The modules that a file imports, and the single declarations: those are there.
    fn enter_imports(&mut self, file: &File) {
        for decl in declarations(file) {
            let DeclKind::Import { kind, path, file: None } = &decl.kind else { continue };
            let Some((module, rest)) = path.split_first() else { continue };
            if !self.import_module(&module.name) {
                if self.names_file(&module.name) {
                    continue;
                }
                let message = format!("no such module '{}'", module.name);
                self.report(Diagnostic::error(Code::UnknownName, module.span, message));
            } else if let (Some(kind), [name]) = (kind, rest)
                && self.library_entries(&name.name).is_empty()
            {
                let what = if &*kind.name == "func" { "function" } else { &*kind.name };
                let message = format!("{what} '{}' does not exist in module '{}'", name.name, module.name);
                self.report(Diagnostic::error(Code::UnknownName, name.span, message));
            }
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
