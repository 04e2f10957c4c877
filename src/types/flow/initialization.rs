//! Definite initialization: diagnostics for values that are used before they are initialized, or initialized twice.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::superclass;
use crate::types::flow::Flow;
use crate::types::flow::places::Use;
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{FunctionId, LocalId};

/// The message for uses of `self` in a convenience initializer before it calls another initializer.
const BEFORE_OTHER: &str = "'self' used before 'self.init' call or assignment to 'self'";

impl Flow<'_, '_> {
    /// Reports that parts of a variable are uninitialized on some path.
    pub(crate) fn uninitialized(&mut self, local: Option<LocalId>, missing: &[u32], span: Span, how: Use) {
        let is_self = local.is_some() && local == self.filled;
        let mut diagnostic = Diagnostic::error(Code::Uninitialized, span, self.headline(local, missing, span, how));
        let is_convenience = self.led_to.is_some() && superclass::is_convenience(self.cx, self.function);
        for number in missing.iter().filter(|_| !is_convenience) {
            let part = self.variables.part(*number);
            let text = if is_self && &*part.name != "self" {
                format!("'{}' not initialized", part.name)
            } else {
                format!("{} declared here", if part.once || part.has_value { "constant" } else { "variable" })
            };
            if part.declared != Span::default() {
                diagnostic = diagnostic.also(part.declared, text);
            }
        }
        self.cx.sink.report(diagnostic);
        self.assume_set(missing);
    }

    /// Reports a call of a function that reads a variable of the script on every path before the variable is
    /// initialized.
    pub(crate) fn function_reads_unset(&mut self, f: FunctionId, number: u32, span: Span, at: Span) {
        let part = self.variables.part(number);
        let when = if part.declared.start > span.start { "declared" } else { "initialized" };
        let message = format!("'{}' uses '{}' before it is {when}", self.cx.defs.full_name(f), part.name);
        let diagnostic = Diagnostic::error(Code::Uninitialized, span, message)
            .also(at, format!("'{}' is used here", part.name))
            .also(part.declared, format!("'{}' is declared here", part.name));
        self.cx.sink.report(diagnostic);
        self.assume_set(&[number]);
    }

    /// Reports a use of a local function before the declaration of a variable that the function captures.
    pub(crate) fn function_uses_later(&mut self, f: FunctionId, local: LocalId, span: Span) {
        let variable = &self.body.locals[local.0 as usize];
        let message = format!("'{}' uses '{}' before it is declared", self.cx.defs.full_name(f), variable.name);
        let declared = format!("'{}' is declared here", variable.name);
        self.cx.sink.report(Diagnostic::error(Code::Uninitialized, span, message).also(variable.span, declared));
    }

    fn headline(&self, local: Option<LocalId>, missing: &[u32], span: Span, how: Use) -> String {
        if local.is_some() && local == self.filled {
            return match self.led_to.filter(|call| missing.contains(call)) {
                Some(call) if missing.len() == 1 || superclass::is_convenience(self.cx, self.function) => {
                    self.headline_of_call(&self.variables.part(call).name, how)
                }
                _ => self.headline_of_self(how),
            };
        }
        if local.is_none() && self.is_own_of_convenience(missing[0]) {
            return BEFORE_OTHER.into();
        }
        let part = self.variables.part(missing[0]);
        let name = match local {
            Some(local) => &*self.body.locals[local.0 as usize].name,
            None => &part.name,
        };
        if local.is_none() && part.declared.start > span.start {
            return format!("use of variable '{name}' before its declaration");
        }
        let what = if part.once { "constant" } else { "variable" };
        match how {
            Use::Captured => format!("{what} '{name}' captured by a closure before being initialized"),
            Use::InFunction(f) => {
                let function = &self.cx.defs.function_data(f).base_name;
                format!("{what} '{name}' used by function '{function}' before being initialized")
            }
            Use::ByReference => format!("{what} '{name}' passed by reference before being initialized"),
            Use::Part if self.is_struct(local) => {
                format!("struct '{name}' must be completely initialized before a member is stored to")
            }
            Use::Value | Use::Part | Use::Receiver(_) | Use::Returned => {
                format!("{what} '{name}' used before being initialized")
            }
        }
    }

    fn headline_of_self(&self, how: Use) -> String {
        let what = match how {
            Use::Returned => return "return from initializer without initializing all stored properties".into(),
            Use::Captured => "'self' captured by a closure".into(),
            Use::Receiver(f) => format!("'self' used in {}", self.access(f)),
            Use::ByReference => "'self' passed by reference".into(),
            Use::InFunction(_) | Use::Part | Use::Value => "'self' used".into(),
        };
        format!("{what} before all stored properties are initialized")
    }

    /// Reports a property that is uninitialized when the initializer of the superclass is called.
    pub(crate) fn unset_at_super_init(&mut self, number: u32, span: Span) {
        let part = self.variables.part(number);
        let message = format!("property '{}' not initialized at super.init call", part.name);
        let diagnostic = Diagnostic::error(Code::Uninitialized, span, message);
        self.cx.sink.report(diagnostic.also(part.declared, format!("'{}' is declared here", part.name)));
        self.assume_set(&[number]);
    }

    pub(crate) fn called_again(&mut self, span: Span) {
        let message = "'super.init' called multiple times in initializer";
        self.cx.sink.report(Diagnostic::error(Code::Uninitialized, span, message));
    }

    /// Returns the message for a use of `self` for which only the call of another initializer is missing.
    fn headline_of_call(&self, call: &str, how: Use) -> String {
        match how {
            Use::Returned => format!("'{call}' isn't called on all paths before returning from initializer"),
            Use::Receiver(f) => format!("'self' used in {} before '{call}' call", self.access(f)),
            _ if superclass::is_convenience(self.cx, self.function) => BEFORE_OTHER.into(),
            _ => format!("'self' used before '{call}' call"),
        }
    }

    /// Whether a part is a property of the instance that a convenience initializer initializes.
    fn is_own_of_convenience(&self, part: u32) -> bool {
        let own = self.filled.and_then(|local| self.variables.local(local));
        self.led_to.is_some()
            && superclass::is_convenience(self.cx, self.function)
            && own.is_some_and(|all| all.contains(&part))
    }

    fn access(&self, f: FunctionId) -> String {
        let data = self.cx.defs.function_data(f);
        let what = match data.kind {
            FunctionKind::Getter | FunctionKind::Setter => "property access",
            _ => "method call",
        };
        format!("{what} '{}'", data.base_name)
    }

    fn is_struct(&self, local: Option<LocalId>) -> bool {
        local.is_some_and(|l| matches!(self.body.locals[l.0 as usize].ty, Type::Nominal(..)))
    }

    /// Reports an assignment to a constant that may already be initialized on some path.
    pub(crate) fn set_again(&mut self, part: u32, span: Span) {
        let part = self.variables.part(part);
        let message = format!("immutable value '{}' may only be initialized once", part.name);
        let text = if part.has_value {
            "initial value already provided in 'let' declaration"
        } else {
            "declared as 'let' here"
        };
        let diagnostic = Diagnostic::error(Code::Immutable, span, message).also(part.declared, text);
        let diagnostic = self.cx.sink.let_to_var(diagnostic, part.declared);
        self.cx.sink.report(diagnostic);
    }
}
