//! Unused values: warns about unused results, unused variables, and variables that are never mutated.

use super::Flow;
use super::usage::{Declared, Uses};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, TryKind};
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Callee, Expr, ExprKind, FunctionId, Local};
use crate::types::names::name_lookup;

impl Flow<'_, '_> {
    /// Warns about an expression statement whose value is not used.
    pub(super) fn warn_of_unused_result(&mut self, e: &Expr) {
        if !self.warns || e.span == Span::default() {
            return;
        }
        if let Some(message) = self.unused_result(e) {
            let mut diagnostic = Diagnostic::warning(Code::Unused, e.span, message);
            if let ExprKind::Call { callee: Callee::Static(f), .. } = &e.kind
                && &*self.cx.defs.function_data(f.function).base_name == "=="
            {
                diagnostic = diagnostic.help("to assign a value, write '='");
            }
            let body = self.cx.defs.function_data(self.function).body_without_result();
            if let Some([ast::Stmt { kind: ast::StmtKind::Expr(only), .. }]) = body.map(|body| body.items.as_slice())
                && only.span == e.span
                && let Some(body) = body.map(|body| body.span)
            {
                let ty = display::show(self.cx, &e.ty);
                diagnostic = diagnostic.fix(
                    format!("to return it, declare the result type: '-> {ty}'"),
                    body.before(),
                    format!("-> {ty} "),
                );
            }
            self.cx.sink.report(diagnostic);
        }
    }

    fn unused_result(&mut self, e: &Expr) -> Option<String> {
        if self.is_nothing(&e.ty) {
            return None;
        }
        Some(match &e.kind {
            ExprKind::Call { callee, .. } => self.unused_call(callee, &e.ty)?,
            ExprKind::CallValue { .. } => {
                format!("result of call to function returning '{}' is unused", display::show(self.cx, &e.ty))
            }
            ExprKind::Try { kind: TryKind::Optional, .. } => "result of 'try?' is unused".to_string(),
            ExprKind::Try { value, .. } | ExprKind::Quiet(value) => return self.unused_result(value),
            ExprKind::Chain { body, .. } | ExprKind::ChainPlace { body, .. } | ExprKind::Some(body) => {
                return self.unused_result(body);
            }
            ExprKind::Int(_) => "integer literal is unused".to_string(),
            ExprKind::Float(_) => "floating-point literal is unused".to_string(),
            ExprKind::Bool(_) => "boolean literal is unused".to_string(),
            ExprKind::Text(_) | ExprKind::Interpolation(_) => "string literal is unused".to_string(),
            ExprKind::Closure { .. } => "closure expression is unused".to_string(),
            ExprKind::Function(_) | ExprKind::Requirement(_) => "function is unused".to_string(),
            ExprKind::Statements { .. } | ExprKind::Error | ExprKind::Pending(_) => return None,
            _ => format!("expression of type '{}' is unused", display::show(self.cx, &e.ty)),
        })
    }

    fn unused_call(&mut self, callee: &Callee, ty: &Type) -> Option<String> {
        let f = self.called(callee);
        let data = self.cx.defs.function_data(f);
        if data.decl.as_ref().is_some_and(|d| d.attribute("discardableResult").is_some()) {
            return None;
        }
        let name = data.base_name.clone();
        Some(match data.kind {
            FunctionKind::Init { .. } => format!("result of '{}' initializer is unused", display::show(self.cx, ty)),
            FunctionKind::Getter | FunctionKind::Setter => {
                format!("expression of type '{}' is unused", display::show(self.cx, ty))
            }
            _ if crate::types::model::syntax_query::is_operator(&name) => {
                format!("result of operator '{name}' is unused")
            }
            _ => format!("result of call to '{}' is unused", self.cx.defs.full_name(f)),
        })
    }

    /// Returns the function or requirement that a call refers to.
    pub(super) fn called(&self, callee: &Callee) -> FunctionId {
        match callee {
            Callee::Static(f) | Callee::Class { function: f, .. } | Callee::Opened { function: f, .. } => f.function,
            Callee::Requirement { protocol, requirement, .. } => {
                self.cx.defs.protocol_data(*protocol).requirements[*requirement as usize].function
            }
        }
    }

    /// Whether values of a type carry no information that could be used.
    fn is_nothing(&mut self, ty: &Type) -> bool {
        match name_lookup::optional_payload(self.cx, ty) {
            Some(payload) => self.is_nothing(&payload),
            None => ty.is_unit() || matches!(ty, Type::Never | Type::Error | Type::Metatype(_)),
        }
    }

    /// Warns after the walk about variables that are never read or never mutated.
    pub(super) fn warn_of_unused_variables(&mut self) {
        for (i, local) in self.body.locals.iter().enumerate().skip(self.body.params) {
            let uses = self.usage.of[i].clone();
            let Some(declared) = uses.declared else { continue };
            // A call of a member of a statically known type does not read the variable.
            let is_type = matches!(local.ty, Type::Metatype(_));
            if is_type || local.name.is_empty() || local.name.starts_with('$') || local.span == Span::default() {
                continue;
            }
            if !uses.read {
                let diagnostic = self.unused_variable(local, &uses, declared);
                self.cx.sink.report(diagnostic);
            } else if local.mutable
                && !uses.written
                && may_be_constant(declared)
                && local.ownership != Ownership::Weak
                && self.is_declared_by_name(local)
            {
                let diagnostic = self.never_mutated(local, declared);
                self.cx.sink.report(diagnostic);
            }
        }
    }

    fn unused_variable(&self, local: &Local, uses: &Uses, declared: Declared) -> Diagnostic {
        let name = &local.name;
        let what = if local.mutable && !local.once { "variable" } else { "immutable value" };
        let warning = |message| Diagnostic::warning(Code::UnusedVariable, local.span, message);
        if uses.written && !local.once {
            return warning(format!("variable '{name}' was written to, but never read"));
        }
        match declared {
            Declared::WithValue { statement, value } => {
                let diagnostic = warning(format!(
                    "initialization of {what} '{name}' was never used; consider replacing with assignment to '_' or \
                     removing it"
                ));
                match self.keyword(statement, local) {
                    Some(_) => diagnostic.fix("assign to '_'", Span::new(statement.start, value.start), "_ = "),
                    None => diagnostic,
                }
            }
            Declared::Unwrapped => {
                warning(format!("value '{name}' was defined but never used; consider replacing with boolean test"))
                    .help("to test for a value without using it, compare with 'nil'")
            }
            Declared::WithoutValue => warning(format!("{what} '{name}' was never used; consider removing it")),
            Declared::Element | Declared::Matched => warning(format!(
                "{what} '{name}' was never used; consider replacing with '_' or removing it"
            ))
            .fix("replace it with '_'", local.span, "_"),
        }
    }

    /// Whether the program declares a variable, and not a property wrapper whose storage is the variable.
    fn is_declared_by_name(&self, local: &Local) -> bool {
        self.cx.sink.source_text(local.span).trim_matches('`') == &*local.name
    }

    fn never_mutated(&self, local: &Local, declared: Declared) -> Diagnostic {
        let message = format!("variable '{}' was never mutated; consider changing to 'let' constant", local.name);
        let diagnostic = Diagnostic::warning(Code::NeverMutated, local.span, message);
        match declared {
            Declared::WithValue { statement, .. } => match self.keyword(statement, local) {
                Some(keyword) => diagnostic.fix("change 'var' to 'let'", keyword, "let"),
                None => diagnostic,
            },
            _ => diagnostic,
        }
    }

    /// Returns the span of the `let` or `var` with which a statement begins, if the statement declares the variable
    /// first.
    fn keyword(&self, statement: Span, local: &Local) -> Option<Span> {
        let (at, word) = self.cx.sink.word_before(local.span)?;
        (matches!(&*word, "let" | "var") && at.start == statement.start).then_some(at)
    }
}

/// Whether a variable could be declared with `let`. The variables of a pattern share one `var`, and a variable without
/// an initial value is assigned later.
fn may_be_constant(declared: Declared) -> bool {
    match declared {
        Declared::WithValue { .. } | Declared::Element | Declared::Unwrapped => true,
        Declared::WithoutValue | Declared::Matched => false,
    }
}
