//! Missing members: diagnostics for names that a type does not declare.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Ident, Name};
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::display::did_you_mean;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;

impl Infer<'_> {
    pub(crate) fn unknown_member(&mut self, base: &Expr, ty: &Type, name: &Ident) -> Expr {
        if let Some(found) = self.dynamic_member(base, ty, name) {
            return found;
        }
        if let Some(payload) = name_lookup::optional_payload(self.cx, ty)
            && !members::members(self.cx, &payload, &name.name, false, self.file).is_empty()
        {
            let message = format!(
                "value of optional type '{}' must be unwrapped to refer to member '{}' of wrapped base type '{}'",
                self.show(ty),
                name.name,
                self.show(&payload)
            );
            let diagnostic = Diagnostic::error(Code::OptionalNotUnwrapped, base.span, message)
                .fix("use optional chaining with '?', which returns 'nil' if there is no value", base.span.after(), "?")
                .fix("unwrap it with '!', which stops the program if it is 'nil'", base.span.after(), "!")
                .help("use 'if let' to use it only if there is a value");
            self.error(diagnostic);
            return self.error_expr(name.span);
        }
        if self.hidden_member(ty, &name.name, false, name.span) {
            return self.error_expr(name.span);
        }
        if let Some(diagnostic) = self.conforming_less(ty, name, None, name.span) {
            self.error(diagnostic);
            return self.error_expr(name.span);
        }
        let is_value = |m: &MemberKind| {
            matches!(m, MemberKind::Method(_) | MemberKind::Computed(..) | MemberKind::Global(_) | MemberKind::Case(_))
        };
        if members::members(self.cx, ty, &name.name, true, self.file).iter().any(|(m, ..)| is_value(m)) {
            return self.static_on_instance(ty, name, base.span);
        }
        let message = format!("value of type '{}' has no member '{}'", self.show(ty), name.name);
        let known = members::member_names(self.cx, ty);
        let diagnostic = Diagnostic::error(Code::UnknownMember, name.span, message);
        if self.is_int(ty) && base.span != Span::default() {
            let double = name_lookup::simple(self.cx, "Double");
            if !members::members(self.cx, &double, &name.name, false, self.file).is_empty() {
                let text = "convert the value to 'Double', which has this member";
                self.error(diagnostic.wrap(text, base.span, "Double(", ")"));
                return self.error_expr(name.span);
            }
        }
        let diagnostic = did_you_mean(diagnostic, name, &known);
        let diagnostic = self.with_properties(diagnostic, ty);
        let diagnostic = self.with_payload(diagnostic, ty, name);
        let diagnostic = self.with_array_parameter(diagnostic, base.span);
        self.error(diagnostic);
        self.error_expr(name.span)
    }

    /// Reports the use of a static member on a value, `value.name`; `at` is the source location to be replaced by the
    /// type.
    pub(crate) fn static_on_instance(&mut self, ty: &Type, name: &Ident, at: Span) -> Expr {
        let shown = self.show(ty);
        let message = format!("static member '{}' cannot be used on instance of type '{shown}'", name.name);
        let written = if at.start == at.end { format!("{shown}.") } else { shown };
        self.error(Diagnostic::error(Code::WrongContext, name.span, message).fix("use the type instead", at, written));
        self.error_expr(name.span)
    }

    /// Reports the use of an instance member on a type, `Type.name`.
    pub(crate) fn instance_on_type(&mut self, ty: &Type, name: &Ident) -> Expr {
        let message = format!(
            "instance member '{}' cannot be used on type '{}'; did you mean to use a value of this type instead?",
            name.name,
            self.show(ty)
        );
        self.fail(Code::WrongContext, name.span, message)
    }

    pub(crate) fn has_instance_member(&mut self, ty: &Type, name: &str) -> bool {
        let members = members::members(self.cx, ty, name, false, self.file);
        members.iter().any(|(m, ..)| {
            matches!(
                m,
                MemberKind::Stored(_) | MemberKind::Computed(..) | MemberKind::Method(_) | MemberKind::Requirement(_)
            )
        })
    }

    /// Adds a list of the properties of a small type to a diagnostic if no similar name is known.
    fn with_properties(&mut self, diagnostic: Diagnostic, ty: &Type) -> Diagnostic {
        const MOST: usize = 6;
        let names: Vec<String> = match unification::shallow(self.cx, ty) {
            Type::Nominal(n, _) if !self.cx.defs.nominal_data(n).is_prelude => {
                self.cx.defs.nominal_data(n).stored.iter().map(|s| format!("'{}'", s.name)).collect()
            }
            Type::Tuple(parts) => {
                let name = |(i, (label, _)): (usize, &(Option<Name>, Type))| match label {
                    Some(label) => format!("'{label}'"),
                    None => format!("'{i}'"),
                };
                parts.iter().enumerate().map(name).collect()
            }
            _ => return diagnostic,
        };
        if names.is_empty() || names.len() > MOST || !diagnostic.helps.is_empty() {
            return diagnostic;
        }
        diagnostic.note(format!("its members are {}", names.join(", ")))
    }

    /// Reports a static member or case that a type does not declare.
    pub(crate) fn no_static_member(&mut self, ty: &Type, name: &Ident) {
        if self.hidden_member(ty, &name.name, true, name.span) {
            return;
        }
        let message = format!("type '{}' has no member '{}'", self.show(ty), name.name);
        let known = members::member_names(self.cx, ty);
        let diagnostic = did_you_mean(Diagnostic::error(Code::UnknownMember, name.span, message), name, &known);
        let diagnostic = self.with_cases(diagnostic, ty, name);
        self.error(diagnostic);
    }

    /// Adds a list of the cases of an enum to a diagnostic if no similar name is known.
    fn with_cases(&mut self, diagnostic: Diagnostic, ty: &Type, name: &Ident) -> Diagnostic {
        const MOST: usize = 12;
        let Type::Nominal(n, _) = unification::shallow(self.cx, ty) else { return diagnostic };
        let data = self.cx.defs.nominal_data(n);
        let names: Vec<String> = data.cases.iter().map(|c| format!("'{}'", c.name)).collect();
        if names.is_empty() || !diagnostic.helps.is_empty() {
            return diagnostic;
        }
        if &*name.name == "allCases" {
            return diagnostic.help(format!("declare the conformance: 'extension {}: CaseIterable {{}}'", data.name));
        }
        if names.len() > MOST { diagnostic } else { diagnostic.note(format!("its cases are {}", names.join(", "))) }
    }

    /// Adds the pattern that extracts a payload to a diagnostic if the missing name is the label of a payload.
    fn with_payload(&mut self, diagnostic: Diagnostic, ty: &Type, name: &Ident) -> Diagnostic {
        let Type::Nominal(n, _) = unification::shallow(self.cx, ty) else { return diagnostic };
        for case in 0..self.cx.defs.nominal_data(n).cases.len() as u32 {
            let payload = stored_property::case_payload(self.cx, n, case);
            if payload.iter().any(|(label, _)| label.as_ref() == Some(&name.name)) {
                let of = self.cx.defs.nominal_data(n).cases[case as usize].name.clone();
                let binds = |(label, _): &(Option<Name>, Type)| match label {
                    Some(label) if *label == name.name => format!("let {label}"),
                    _ => "_".to_string(),
                };
                let parts: Vec<String> = payload.iter().map(binds).collect();
                let pattern = format!("if case .{of}({}) = …", parts.join(", "));
                return diagnostic.help(format!("extract it with a pattern: '{pattern}'"));
            }
        }
        diagnostic
    }
}
