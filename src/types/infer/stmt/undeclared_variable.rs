//! Undeclared variables: assignments to names without a declaration, and to names of functions of the library.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::{Entry, Named};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::names::{members, name_lookup};

impl Infer<'_> {
    /// Reports an assignment to a name that is not declared, or that is only the name of functions of the library.
    pub(super) fn is_undeclared(&mut self, target: &ast::Expr) -> bool {
        let Ast::Ident { name, .. } = &target.kind else { return false };
        let message = match self.is_name(name) {
            false => format!("cannot find '{name}' in scope"),
            true if self.names_function_of_library(name) => function_of_library(name),
            true => return false,
        };
        let diagnostic = Diagnostic::error(Code::UnknownName, target.span, message)
            .fix("declare it as a constant", target.span.before(), "let ")
            .fix("declare it as a variable", target.span.before(), "var ");
        self.error(diagnostic);
        true
    }

    /// Reports a modification of a name that is only the name of functions of the library: `sum += x`.
    pub(crate) fn modifies_function(&mut self, target: &ast::Expr) -> bool {
        let Ast::Ident { name, .. } = &target.kind else { return false };
        if !self.names_function_of_library(name) {
            return false;
        }
        self.error(Diagnostic::error(Code::UnknownName, target.span, function_of_library(name)));
        true
    }

    /// Whether a name is only the name of functions of the library.
    fn names_function_of_library(&mut self, name: &str) -> bool {
        if self.find_local_quiet(name) || self.file == PRELUDE_FILE || self.names_type(name) {
            return false;
        }
        if let Some(own) = self.own_type()
            && [false, true].into_iter().any(|is_static| {
                let file = self.file;
                !members::members(self.cx, &own, name, is_static, file).is_empty()
            })
        {
            return false;
        }
        let file = self.file;
        let entries = name_lookup::entries(self.cx, name, file);
        let is_function =
            |entry: &Entry| matches!(entry.what, Named::Function(f) if self.cx.defs.function_data(f).is_prelude);
        !entries.is_empty() && entries.iter().all(is_function)
    }
}

fn function_of_library(name: &str) -> String {
    format!("cannot find a variable '{name}' in scope; a function of the library has this name")
}
