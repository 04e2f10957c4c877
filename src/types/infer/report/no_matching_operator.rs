//! Operators without a match: diagnostics for operand types that no operator accepts.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Ident;
use crate::types::conform::superclass;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::expr::implicit_member::implicit_root;
use crate::types::infer::expr::operator::is_comparison;
use crate::types::model::display::with_article;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind};
use crate::types::names::members;
use crate::types::names::name_lookup;

/// The verbs and prepositions for operators in messages.
const VERBS: &[(&str, &str, &str)] = &[
    ("+", "add", "to"),
    ("-", "subtract", "from"),
    ("*", "multiply", "by"),
    ("/", "divide", "by"),
    ("%", "divide", "by"),
    ("^", "raise", "to the power of"),
    ("==", "compare", "with"),
    ("!=", "compare", "with"),
    ("<", "compare", "with"),
    (">", "compare", "with"),
    ("<=", "compare", "with"),
    (">=", "compare", "with"),
];

impl Infer<'_> {
    /// Reports an operand `.name` where the type of the other operand has no member of this name.
    pub(crate) fn no_case_of_operand(&mut self, operand: &ArgNode, beside: &ArgNode) -> Option<Expr> {
        let (_, name) = implicit_root(&operand.ast)?;
        let mut ty = beside.ready.as_ref()?.ty.clone();
        while let Some(inner) = name_lookup::optional_payload(self.cx, &ty) {
            ty = inner;
        }
        let ty = unification::shallow(self.cx, &ty);
        if !matches!(ty, Type::Nominal(..)) || !members::members(self.cx, &ty, &name.name, true, self.file).is_empty() {
            return None;
        }
        self.no_static_member(&ty, name);
        Some(self.error_expr(operand.span))
    }

    pub(crate) fn no_operator(&mut self, op: &Ident, args: &[ArgNode], types: &[Type], span: Span) -> Expr {
        let shown: Vec<String> = args
            .iter()
            .map(|a| match &a.ready {
                Some(e) => self.show(&e.ty.clone()),
                None => "_".into(),
            })
            .collect();
        let shown = match (shown.as_slice(), args) {
            // An implicit member has the type of the other operand.
            ([a, b], [x, y]) if is_implicit(x) || is_implicit(y) => {
                let known = if a == "_" { b } else { a };
                vec![known.clone(), known.clone()]
            }
            _ => shown,
        };
        if shown.iter().any(|s| s == "_") && types.contains(&Type::Error) {
            return self.error_expr(span);
        }
        if let [a, b] = args
            && let Some(refused) = self.no_case_of_operand(a, b).or_else(|| self.no_case_of_operand(b, a))
        {
            return refused;
        }
        if let ([pattern, subject], [left, right]) = (shown.as_slice(), args)
            && right.is_matched()
        {
            let message = format!("a pattern of type '{pattern}' cannot match values of type '{subject}'");
            return self.fail(Code::Mismatch, left.span, message);
        }
        let at = if op.span == Span::default() { span } else { op.span };
        if let ([a, b], [left, right]) = (shown.as_slice(), args) {
            let verb = VERBS.iter().find(|(o, ..)| *o == &*op.name);
            let message = match verb {
                Some(("-", ..)) => format!("cannot subtract '{b}' from '{a}'"),
                Some((_, verb, word)) => format!("cannot {verb} '{a}' {word} '{b}'"),
                None => format!("operator '{}' cannot be applied to '{a}' and '{b}'", op.name),
            };
            let mut diagnostic = Diagnostic::error(Code::Mismatch, at, message)
                .also(left.span, format!("'{a}'"))
                .also(right.span, format!("'{b}'"));
            let numbers = ["Int", "Double", "Float"];
            if a != b && numbers.contains(&a.as_str()) && numbers.contains(&b.as_str()) {
                diagnostic = self.advise_number(diagnostic, op, [(left, a), (right, b)]);
            }
            diagnostic = self.advise_tensor(diagnostic, op, [(left, a), (right, b)]);
            diagnostic = self.advise_move(diagnostic, op, [left, right], span);
            if &*op.name == "^" && self.has_exclusive_or(left) {
                diagnostic = diagnostic.help("'^' is exponentiation; for exclusive or, use the method 'xor(_:)'");
            }
            if &*op.name == "+" && (a == "String") != (b == "String") {
                let (other, ty) = if a == "String" { (right, b) } else { (left, a) };
                let text = self.cx.sink.source_text(other.span);
                diagnostic = match ty.as_str() {
                    "()" => diagnostic.help("'()' is the result of a function that returns nothing"),
                    _ => diagnostic.fix("convert it to a string", other.span, format!("String({text})")),
                };
            }
            for arg in [left, right] {
                let ty = arg.ready.as_ref().map(|ready| unification::shallow(self.cx, &ready.ty));
                if let Some(Type::Function(f)) = ty
                    && f.params.is_empty()
                {
                    diagnostic = diagnostic.fix("call it", arg.span.after(), "()");
                }
            }
            let equality = matches!(&*op.name, "==" | "!=");
            if a == b && (equality || is_comparison(&op.name)) {
                let protocol = if equality { "Equatable" } else { "Comparable" };
                let known = if left.ready.is_some() { left } else { right };
                diagnostic = self.explain_missing(diagnostic, known, protocol);
            } else if let Some(Type::Param(p)) = types.first()
                && a == b
            {
                let protocol = if matches!(&*op.name, "+" | "-") { "AdditiveArithmetic" } else { "Numeric" };
                let name = self.cx.defs.params[p.0 as usize].name.clone();
                diagnostic = diagnostic.help(format!("add a constraint on '{name}': '<{name}: {protocol}>'"));
            }
            for arg in [left, right] {
                let ty = arg.ready.as_ref().map_or(Type::Error, |e| e.ty.clone());
                if let Some(payload) = name_lookup::optional_payload(self.cx, &ty) {
                    let (optional, inner) = (self.show(&ty), self.show(&payload));
                    diagnostic.code = Code::OptionalNotUnwrapped;
                    diagnostic.message =
                        format!("value of optional type '{optional}' must be unwrapped to a value of type '{inner}'");
                    diagnostic = self.advise_unwrapping(diagnostic, &payload, arg.span);
                    break;
                }
            }
            self.error(diagnostic);
        } else {
            let message = format!("operator '{}' cannot be applied to '{}'", op.name, shown.join("', '"));
            let diagnostic = Diagnostic::error(Code::Mismatch, at, message);
            self.error(match &*op.name == "~" && shown.first().is_some_and(|ty| ty == "Bool") {
                true => diagnostic.fix("'not' is written '!'", op.span, "!"),
                false => diagnostic,
            });
        }
        self.error_expr(span)
    }
}

impl Infer<'_> {
    /// Adds advice on how to convert operands of different numeric types to one type.
    fn advise_number(
        &mut self,
        mut diagnostic: Diagnostic,
        op: &Ident,
        [(left, a), (right, b)]: [(&ArgNode, &String); 2],
    ) -> Diagnostic {
        let changes_left = matches!(left.ast.kind, ast::ExprKind::InOut(_));
        let is_fractional = |ty: &String| matches!(ty.as_str(), "Double" | "Float");
        let combines_bits = matches!(op.name.trim_end_matches('='), "&" | "|" | "<<" | ">>");
        let to_left = match combines_bits {
            true => is_fractional(a),
            false => a == "Int" || (a == "Float" && b == "Double"),
        };
        let (of, to) = if to_left { (left, b) } else { (right, a) };
        diagnostic = match changes_left && std::ptr::eq(of, left) {
            true => {
                let stored = with_article(b);
                let help =
                    format!("'{}' cannot store {stored} in a variable of type '{a}'; declare it as {stored}", op.name);
                diagnostic.help(help)
            }
            false => {
                let text = self.cx.sink.source_text(of.span);
                diagnostic.fix(format!("convert to '{to}' here"), of.span, format!("{to}({text})"))
            }
        };
        for (shown, arg) in [(a, left), (b, right)] {
            if let Some((name, declared)) = self.variable_of(arg) {
                diagnostic = diagnostic.also(declared, format!("'{name}' is '{shown}'"));
            }
        }
        diagnostic
    }

    /// Whether the type of an operand has `xor`, which other languages write as `^`.
    fn has_exclusive_or(&mut self, operand: &ArgNode) -> bool {
        let Some(ty) = operand.ready.as_ref().map(|e| e.ty.clone()) else { return false };
        let ty = unification::shallow(self.cx, &ty);
        !members::members(self.cx, &ty, "xor", false, self.file).is_empty()
    }

    /// Returns the variable that an operand refers to, with the span of its declaration.
    fn variable_of(&mut self, arg: &ArgNode) -> Option<(ast::Name, Span)> {
        let (name, span) = match &arg.ready.as_ref()?.kind {
            ExprKind::Local(local) => {
                let local = &self.frame().locals[local.0 as usize];
                (local.name.clone(), local.span)
            }
            ExprKind::Global(global) => {
                let global = &self.cx.defs.globals[global.0 as usize];
                (global.name.clone(), global.span)
            }
            _ => return None,
        };
        (!name.is_empty() && !name.starts_with('$') && span != Span::default()).then_some((name, span))
    }

    /// Explains how a type becomes comparable: by a conformance of the type or of its generic parameter.
    fn explain_missing(&mut self, diagnostic: Diagnostic, arg: &ArgNode, protocol: &'static str) -> Diagnostic {
        let Some(ready) = &arg.ready else { return diagnostic };
        let ty = ready.ty.clone();
        match unification::shallow(self.cx, &ty) {
            Type::Nominal(..) if self.conforms_in_part(&ty, protocol) => {
                let p = name_lookup::protocol(self.cx, protocol);
                unmet_requirement::with_declaration(self.cx, diagnostic, &ty, p)
            }
            Type::Nominal(n, _) if !self.cx.defs.nominal_data(n).is_prelude => {
                let (shown, at) = (self.show(&ty), self.cx.defs.nominal_data(n).span);
                let name = self.cx.defs.nominal_data(n).name.clone();
                let diagnostic = match superclass::is_class(self.cx, n) {
                    true => diagnostic.help("to test whether two references are the same instance, use '==='"),
                    false => diagnostic,
                };
                diagnostic
                    .note_at(at, format!("'{shown}' does not conform to protocol '{protocol}'"))
                    .help(format!("declare the conformance: 'extension {name}: {protocol} {{}}'"))
            }
            Type::Param(p) => {
                let name = self.cx.defs.params[p.0 as usize].name.clone();
                diagnostic.help(format!("add a constraint on '{name}': '<{name}: {protocol}>'"))
            }
            Type::Associated(..) => {
                let name = self.show(&ty);
                diagnostic.help(format!("add a constraint on '{name}': 'where {name}: {protocol}'"))
            }
            _ => diagnostic,
        }
    }
}

impl Infer<'_> {
    /// Whether a type has a conditional conformance to a protocol.
    fn conforms_in_part(&mut self, ty: &Type, protocol: &'static str) -> bool {
        let (ty, p) = (unification::shallow(self.cx, ty), name_lookup::protocol(self.cx, protocol));
        unmet_requirement::conforms_under_conditions(self.cx, &ty, p)
    }
}

fn is_implicit(arg: &ArgNode) -> bool {
    arg.ready.is_none() && implicit_root(&arg.ast).is_some()
}
