//! Type mismatches: diagnostics for values whose types differ from the expected types.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::{Owner, Requirement, VECTOR};
use crate::types::model::display::with_article;
use crate::types::model::ty::{Type, VarId};
use crate::types::model::type_vars::ConformanceConstraint;
use crate::types::model::type_vars::VarState;
use crate::types::names::name_lookup;

/// Advice for library functions whose argument does not conform to a protocol: the function, the protocol, and the
/// advice.
const ADVICE: &[(&str, &str, &str)] = &[
    ("gradient", "GradientResult", GRADIENT),
    ("valueWithGradient", "GradientResult", GRADIENT),
    ("derivative", "FloatingPoint", DERIVATIVE),
    ("valueWithDerivative", "FloatingPoint", DERIVATIVE),
    ("D", "FloatingPoint", DERIVATIVE),
];
const GRADIENT: &str = "a gradient needs a function that returns one number; for other results, use 'jacobian(at:in:)' or \
     'pullback(at:in:)'";
const DERIVATIVE: &str = "a derivative needs a function of one number; for other arguments, use 'gradient(at:in:)' or \
     'differential(at:in:)'";

/// A type that does not satisfy a conformance constraint of a variable.
pub(crate) struct UnsatisfiedConstraint {
    var: VarId,
    ty: Type,
    constraint: ConformanceConstraint,
}

impl Infer<'_> {
    /// Unifies two types, or reports why the types cannot be unified.
    pub(crate) fn unify_or_report(&mut self, found: &Type, wanted: &Type, span: Span) {
        let snapshot = self.cx.vars.snapshot();
        if unification::unify(self.cx, wanted, found, span) {
            self.cx.vars.keep(snapshot);
            return;
        }
        self.cx.vars.rollback(snapshot);
        self.mismatch(found, wanted, span);
    }

    /// Reports a value of one type where another type is expected.
    pub(crate) fn mismatch(&mut self, found: &Type, wanted: &Type, span: Span) {
        self.failed = true;
        if matches!(found, Type::Error) || matches!(wanted, Type::Error) {
            return;
        }
        if let Some(unmet) = self.unmet(found, wanted) {
            self.report_unmet(&unmet, span);
            self.accept_anyway(unmet, found, wanted);
            return;
        }
        let mut diagnostic = self.conversion(found, wanted, span);
        let double = name_lookup::simple(self.cx, "Double");
        let doubles = name_lookup::applied(self.cx, "Array", std::slice::from_ref(&double));
        if unification::resolved(self.cx, found) == double && unification::resolved(self.cx, wanted) == doubles {
            diagnostic = self.with_array_parameter(diagnostic, span);
        }
        self.error(diagnostic);
    }

    fn conversion(&mut self, found: &Type, wanted: &Type, span: Span) -> Diagnostic {
        let (found_text, wanted_text) = (self.show(found), self.show(wanted));
        let message = format!("cannot convert value of type '{found_text}' to expected type '{wanted_text}'");
        if let (Type::Function(f), Type::Function(g)) =
            (unification::shallow(self.cx, found), unification::shallow(self.cx, wanted))
            && f.params.len() != g.params.len()
        {
            let (have, want) = (f.params.len(), g.params.len());
            let message = format!("expected a function of {}, but this one takes {have}", arguments(want));
            return Diagnostic::error(Code::Mismatch, span, message).note(format!("its type is '{found_text}'"));
        }
        let diagnostic = Diagnostic::error(Code::Mismatch, span, message);
        if let (Type::Opaque(..), Type::Opaque(..)) =
            (unification::shallow(self.cx, found), unification::shallow(self.cx, wanted))
        {
            return diagnostic.note("every 'some' in the program is a distinct type");
        }
        let inner = name_lookup::optional_payload(self.cx, found);
        if let Some(inner) = inner
            && unification::resolved(self.cx, &inner) == unification::resolved(self.cx, wanted)
        {
            let message =
                format!("value of optional type '{found_text}' must be unwrapped to a value of type '{wanted_text}'");
            let diagnostic = Diagnostic::error(Code::OptionalNotUnwrapped, span, message);
            return self.advise_unwrapping(diagnostic, &inner, span);
        }
        if self.is_subclass(wanted, found) {
            let text = format!(
                "'as? {wanted_text}' returns an optional, and 'as! {wanted_text}' stops the program if the cast fails"
            );
            return diagnostic.help(text);
        }
        if self.raw_type_of(wanted).is_some_and(|raw| unification::unifies(self.cx, found, &raw)) {
            let open = format!("{wanted_text}(rawValue: ");
            return diagnostic.wrap("convert the raw value to a case, or 'nil' if there is none", span, open, ")");
        }
        if self.raw_type_of(found).is_some_and(|raw| unification::unifies(self.cx, wanted, &raw)) {
            return diagnostic.fix("use its raw value", span.after(), ".rawValue");
        }
        if let Type::Function(f) = unification::shallow(self.cx, found)
            && f.params.is_empty()
            && unification::unifies(self.cx, &f.result, wanted)
        {
            return diagnostic.fix("call it", span.after(), "()");
        }
        if found_text == "String" && wanted_text == "Character" {
            return diagnostic.help("a 'Character' is a string of exactly one character");
        }
        if self.cx.sink.source_text(span).starts_with('&') {
            return diagnostic.help(format!("a variable that is passed with '&' must be of type '{wanted_text}'"));
        }
        match (is_number(&found_text), is_number(&wanted_text)) {
            (true, false) if wanted_text == "Bool" => diagnostic.fix("compare it with 0", span.after(), " != 0"),
            (true, true) if is_floating(&found_text) && !is_floating(&wanted_text) => diagnostic.help(format!(
                "'{wanted_text}(…)' drops the fraction, and '{wanted_text}(x.rounded())' rounds; to keep it, use {}",
                with_article(&found_text)
            )),
            (true, true) => diagnostic.wrap(format!("convert it to '{wanted_text}'"), span, wanted_text + "(", ")"),
            (true, false) if wanted_text == "String" && self.cx.sink.source_text(span).parse::<f64>().is_ok() => {
                diagnostic.wrap("write it as a string", span, "\"", "\"")
            }
            (true, false) if wanted_text == "String" => diagnostic.wrap("convert it to a string", span, "String(", ")"),
            (false, true) if found_text == "String" => diagnostic
                .help(format!("'{wanted_text}(…)' parses a number from a string, and returns 'nil' if there is none")),
            _ => diagnostic,
        }
    }

    /// Returns the type of the raw values of an enum.
    fn raw_type_of(&mut self, ty: &Type) -> Option<Type> {
        match unification::shallow(self.cx, ty) {
            Type::Nominal(n, _) => self.cx.defs.nominal_data(n).raw_type.clone(),
            _ => None,
        }
    }

    /// Adds the ways of unwrapping an optional to a diagnostic.
    pub(crate) fn advise_unwrapping(&mut self, diagnostic: Diagnostic, payload: &Type, span: Span) -> Diagnostic {
        let default = match self.show(payload).as_str() {
            "String" => "\"\"",
            text if is_number(text) => "0",
            _ => "…",
        };
        if self.cx.sink.source_text(span).starts_with("try") {
            // The operand of `try?` extends as far as possible, so the whole expression is put in parentheses.
            return diagnostic
                .wrap("use a default value if it is 'nil'", span, "(", &format!(") ?? {default}"))
                .help("or use 'try!', which stops the program if an error is thrown");
        }
        let diagnostic = match default {
            "…" => diagnostic.help("provide a default value for 'nil' with '??'"),
            _ => diagnostic.wrap("use a default value if it is 'nil'", span, "(", &format!(" ?? {default})")),
        };
        diagnostic
            .fix("unwrap it with '!', which stops the program if it is 'nil'", span.after(), "!")
            .help("use 'if let' to use it only if there is a value")
    }

    /// Returns the first component of a type that does not satisfy a constraint of its counterpart.
    pub(crate) fn unmet(&mut self, found: &Type, wanted: &Type) -> Option<UnsatisfiedConstraint> {
        match (unification::shallow(self.cx, found), unification::shallow(self.cx, wanted)) {
            (Type::Var(x), Type::Var(y)) => self.unmet_literal(x, y).or_else(|| self.unmet_literal(y, x)),
            (ty, Type::Var(var)) | (Type::Var(var), ty) => {
                let constraints = self.cx.vars.var(var).conforms.clone();
                let constraint =
                    constraints.into_iter().find(|constraint| !unification::satisfies(self.cx, &ty, constraint))?;
                Some(UnsatisfiedConstraint { var, ty, constraint })
            }
            (Type::Nominal(m, xs), Type::Nominal(n, ys)) if m == n => {
                xs.iter().zip(ys.iter()).find_map(|(x, y)| self.unmet(x, y))
            }
            (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() => {
                xs.iter().zip(ys.iter()).find_map(|((_, x), (_, y))| self.unmet(x, y))
            }
            (Type::Function(f), Type::Function(g)) if f.params.len() == g.params.len() => {
                let params = f.params.iter().zip(&g.params).find_map(|(p, q)| self.unmet(&p.ty, &q.ty));
                params.or_else(|| self.unmet(&f.result, &g.result))
            }
            _ => None,
        }
    }

    /// Returns a literal none of whose possible types satisfies a constraint of a variable, reported with its default
    /// type.
    fn unmet_literal(&mut self, literal: VarId, var: VarId) -> Option<UnsatisfiedConstraint> {
        let kind = self.cx.vars.var(literal).literal?;
        let constraints = self.cx.vars.var(var).conforms.clone();
        let constraint = constraints
            .into_iter()
            .find(|constraint| !unification::literal_may_conform(self.cx, kind, constraint.protocol))?;
        let ty = name_lookup::simple(self.cx, kind.usual());
        Some(UnsatisfiedConstraint { var, ty, constraint })
    }

    /// Reports one nonconforming type for each call: other nonconforming types often follow from the first.
    fn report_unmet(&mut self, unmet: &UnsatisfiedConstraint, span: Span) {
        let call = unmet.constraint.span;
        if unmet.constraint.by.is_some() && self.unmet_in.contains(&call) {
            return;
        }
        self.unmet_in.push(call);
        let diagnostic = self.not_conforming(&unmet.ty, &unmet.constraint, span);
        self.error(diagnostic);
    }

    /// Returns the diagnostic for a type that does not satisfy a conformance constraint.
    pub(crate) fn not_conforming(&mut self, ty: &Type, constraint: &ConformanceConstraint, span: Span) -> Diagnostic {
        let protocol = self.cx.defs.protocol_data(constraint.protocol).name.clone();
        if &*protocol == "AnyObject" {
            let message = format!(
                "argument type '{}' expected to be an instance of a class or class-constrained type",
                self.show(ty)
            );
            return Diagnostic::error(Code::NotConforming, span, message);
        }
        if let (Type::Existential(_), true) =
            (ty, conformances::protocols_of(self.cx, ty).contains(&constraint.protocol))
        {
            let message = format!("type '{}' cannot conform to '{protocol}'", self.show(ty));
            let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
            return diagnostic.note("only concrete types such as structs, enums and classes can conform to protocols");
        }
        if &*protocol == "RangeExpression" && matches!(&*self.show(ty), "Double" | "Float") {
            let given = self.show(ty);
            return self.fractional_index(&given, span);
        }
        if let Some(diagnostic) = self.uncountable_range(ty, &protocol, span) {
            return diagnostic;
        }
        let message = format!("type '{}' does not conform to protocol '{protocol}'", self.show(ty));
        let mut diagnostic = Diagnostic::error(Code::NotConforming, span, message);
        let by = constraint.by.map(|f| self.cx.defs.function_data(f)).filter(|f| f.is_prelude);
        let advice = by.and_then(|by| ADVICE.iter().find(|(f, p, _)| *f == &*by.base_name && *p == &*protocol));
        let differentiates = matches!(&*protocol, "Differentiable" | "GradientResult");
        if let (Type::Function(_), Some(_), true) = (ty, by, differentiates) {
            diagnostic = diagnostic
                .note(
                    "captured values also contribute to the derivative, but the type of a function does not mention \
                       them",
                )
                .help("differentiate the result of the function instead: '{ x in f(x)(y) }' for a fixed 'y'");
        } else if let Some((.., advice)) = advice {
            diagnostic = diagnostic.help(*advice);
        } else if &*protocol == "Differentiable" {
            diagnostic = self.advise_differentiable(diagnostic, ty);
        } else if &*protocol == "VectorProtocol" && self.is_synthesized_vector(ty) {
            diagnostic = diagnostic.help(
                "write 'import TensorFlow' at the beginning of the file: synthesized tangent vectors of numbers and \
                 tensors then conform",
            );
        } else {
            diagnostic = unmet_requirement::with_declaration(self.cx, diagnostic, ty, constraint.protocol);
        }
        self.with_origin(diagnostic, constraint)
    }

    /// Adds the location at which a function requires the conformance of its generic parameter.
    fn with_origin(&mut self, diagnostic: Diagnostic, constraint: &ConformanceConstraint) -> Diagnostic {
        let Some(f) = constraint.by.filter(|f| !self.cx.defs.function_data(*f).is_prelude) else { return diagnostic };
        let signature = signature::signature(self.cx, f);
        let env = &signature.env;
        let of = env.requirements.iter().zip(&env.places).find_map(|(r, at)| match r {
            Requirement::Conforms(Type::Param(p), q) if *q == constraint.protocol => Some((*p, *at)),
            _ => None,
        });
        let Some((param, written)) = of else { return diagnostic };
        let at = if written == Span::default() { self.cx.defs.function_data(f).span } else { written };
        let param = self.cx.defs.params[param.0 as usize].name.clone();
        let protocol = self.cx.defs.protocol_data(constraint.protocol).name.clone();
        diagnostic.also(at, format!("'{}' requires that '{param}' conform to '{protocol}'", self.cx.defs.full_name(f)))
    }

    /// Whether a type is a synthesized tangent vector, in a module without vectors of components.
    fn is_synthesized_vector(&mut self, ty: &Type) -> bool {
        let Type::Nominal(n, _) = ty else { return false };
        let (vector, file) = (self.cx.defs.nominal_data(*n), self.cx.defs.nominal_data(*n).file);
        let Owner::Nominal(of) = vector.parent else { return false };
        let is_synthesized = self.cx.defs.nominal_data(of).memo.synthesized.contains(&VECTOR);
        is_synthesized && name_lookup::type_entry(self.cx, "_PointwiseVector", file).is_none()
    }

    fn advise_differentiable(&mut self, diagnostic: Diagnostic, ty: &Type) -> Diagnostic {
        let text = self.show(ty);
        match ty {
            _ if is_number(&text) => {
                diagnostic.help("integers have no derivatives; convert the value with 'Double(…)'")
            }
            Type::Nominal(n, _) if !self.cx.defs.nominal_data(*n).is_prelude => {
                let (name, at) = (self.cx.defs.nominal_data(*n).name.clone(), self.cx.defs.nominal_data(*n).span);
                diagnostic.also(at, format!("declared here; add ': Differentiable' after '{name}'"))
            }
            _ => diagnostic,
        }
    }

    /// Removes the constraints that were reported and unifies the types, so that nothing further is reported where the
    /// type is used.
    fn accept_anyway(&mut self, unmet: UnsatisfiedConstraint, found: &Type, wanted: &Type) {
        let mut next = Some(unmet);
        while let Some(UnsatisfiedConstraint { var, constraint, .. }) = next {
            let state = self.cx.vars.var(var).clone();
            let conforms = state.conforms.iter().filter(|w| w.protocol != constraint.protocol).copied().collect();
            self.cx.vars.set_var(var, VarState { conforms, ..state });
            next = self.unmet(found, wanted);
        }
        let snapshot = self.cx.vars.snapshot();
        if unification::unify(self.cx, found, wanted, Span::default()) {
            self.cx.vars.keep(snapshot);
        } else {
            self.cx.vars.rollback(snapshot);
        }
    }
}

fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".into() } else { format!("{count} arguments") }
}

fn is_floating(name: &str) -> bool {
    matches!(name, "Double" | "Float")
}

fn is_number(name: &str) -> bool {
    matches!(name, "Int" | "Double" | "Float" | "Int32" | "Int64" | "UInt8" | "UInt")
}
