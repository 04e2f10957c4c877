//! Truncated quotients: a warning for quotients of integer literals that drop a remainder, and a note for quotients of
//! other integers in an expression whose value is displayed, and in the statements of an interactive session.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::type_context::NotedQuotient;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionRef};
use crate::types::names::name_lookup;
use crate::types::names::prelude;

impl Infer<'_> {
    /// Warns about `7 / 2` with the value 3, since 3.5 is usually intended. A quotient of other integers of which a
    /// note may be necessary is replaced by a call that prints a note if a remainder is dropped.
    pub(crate) fn check_quotient(&mut self, callee: &mut Callee, args: &mut Vec<Argument>, span: Span) {
        self.check_division(callee, args, span);
        let ([Argument::Value(left), Argument::Value(right)], Callee::Static(function)) = (args.as_slice(), &*callee)
        else {
            return;
        };
        let is_library = self.cx.defs.function_data(function.function).is_prelude && self.file != PRELUDE_FILE;
        let name = self.cx.defs.function_data(function.function).base_name.clone();
        if is_library && matches!(&*name, "^" | "pow") {
            self.check_exponent(left, right);
        }
        if !is_library || &*name != "/" {
            return;
        }
        match (integer(left), integer(right)) {
            (Some(n), Some(d)) => self.warn_of_quotient([n, d], left.span, span),
            _ if self.notes_quotient(span) && self.is_int(&left.ty) => self.note_quotient(callee, args),
            _ => {}
        }
    }

    /// Replaces `n /= 2`, if this is all that was entered at the prompt, by a call that prints a note if a remainder is
    /// dropped.
    fn check_division(&mut self, callee: &mut Callee, args: &mut Vec<Argument>, span: Span) {
        let ([Argument::InOut(place), Argument::Value(right)], Callee::Static(function)) = (args.as_slice(), &*callee)
        else {
            return;
        };
        let data = self.cx.defs.function_data(function.function);
        let is_division = data.is_prelude && self.file != PRELUDE_FILE && &*data.base_name == "/=";
        let whole = Span::new(place.span.start, right.span.end);
        let is_entered = is_division
            && self.notes_quotient(span)
            && self.cx.sink.text_at(whole).is_some_and(|(_, text)| text.trim() == self.cx.sink.source_text(whole));
        let (of, position) = (place.ty.clone(), whole.start);
        if !is_entered || !self.is_int(&of) {
            return;
        }
        let advice = "for a floating-point result, declare the variable as 'Double'".to_owned();
        if let Some(function) = prelude::library_function(self.cx, "_notedDivision") {
            self.push_note(args, whole, advice, position);
            *callee = Callee::Static(FunctionRef { function, generics: vec![] });
        }
    }

    /// Adds the arguments of a call that may print a note: the source text, what to write instead, and the position.
    fn push_note(&mut self, args: &mut Vec<Argument>, span: Span, advice: String, position: u32) {
        let string = name_lookup::simple(self.cx, "String");
        let written = self.cx.sink.source_text(span).to_owned();
        for text in [written, advice] {
            args.push(Argument::Value(Expr { kind: ExprKind::Text(text.into()), ty: string.clone(), span }));
        }
        let ty = name_lookup::simple(self.cx, "Int");
        args.push(Argument::Value(Expr { kind: ExprKind::Int(i128::from(position)), ty, span }));
    }

    /// Whether a quotient belongs to an expression whose value is displayed, or to the statements of an interactive session.
    fn notes_quotient(&self, span: Span) -> bool {
        let is_script = self.frames.first().is_some_and(|frame| frame.kind == FrameKind::Script);
        let is_entered = is_script && self.cx.module.is_interactive && self.cx.module.wants_value;
        is_entered || self.displayed.is_some_and(|all| all.contains(span))
    }

    /// Warns about a quotient of integers in the exponent of a `Double`, as in `x^(1/n)`.
    fn check_exponent(&mut self, base: &Expr, exponent: &Expr) {
        if !self.is_double(&base.ty) || !self.is_int(&exponent.ty) {
            return;
        }
        let Some([left, right]) = self.quotient_in(exponent) else { return };
        if integer(&left).is_some() && integer(&right).is_some() {
            // The quotient of literals has a warning of its own.
            return;
        }
        let span = Span::new(left.span.start, right.span.end);
        let (written, edit) = (self.cx.sink.source_text(span), self.quotient_as_double(&left, span));
        let message = format!("integer division drops the remainder: the exponent '{written}' is an integer");
        let diagnostic = Diagnostic::warning(Code::TruncatedQuotient, span, message);
        self.cx.sink.report(diagnostic.fix("for a floating-point exponent, divide as 'Double'", span, edit));
    }

    fn warn_of_quotient(&mut self, [n, d]: [i128; 2], left: Span, span: Span) {
        if d == 0 || n % d == 0 {
            return;
        }
        let written = self.cx.sink.source_text(span);
        let message = format!("integer division drops the remainder: '{written}' is {}", n / d);
        // A decimal point follows the digits, which may be in parentheses: `(-7) / 2`.
        let digits = self.cx.sink.source_text(left).trim_end_matches([' ', ')']).len();
        let point = Span::new(left.start, left.start + digits as u32).after();
        let diagnostic = Diagnostic::warning(Code::TruncatedQuotient, span, message)
            .fix("for a floating-point result, write a decimal point", point, ".0")
            .fix("for an integer result, write it as a literal", span, (n / d).to_string());
        self.cx.sink.report(diagnostic);
    }

    /// Replaces `n / d` by a call with three additional arguments: the source text, what to write instead, and the
    /// position.
    fn note_quotient(&mut self, callee: &mut Callee, args: &mut Vec<Argument>) {
        let [Argument::Value(left), Argument::Value(right)] = args.as_slice() else { return };
        let Some(function) = prelude::library_function(self.cx, "_notedQuotient") else { return };
        let span = Span::new(left.span.start, right.span.end);
        let offset = self.cx.sink.text_at(span).map_or(span.start, |(start, _)| span.start - start);
        let must_be_integer = self.cx.module.integer_quotients.contains(&offset);
        // The dividend of `sum += 1/n` is never the number of some items, so the remainder is probably relevant.
        if must_be_integer && integer(left).is_none() {
            return;
        }
        let edit = self.quotient_as_double(left, span);
        let advice = match must_be_integer {
            true => "for a floating-point result, declare the variables as 'Double'".to_owned(),
            false => format!("for a floating-point result, write '{edit}'"),
        };
        self.cx.module.noted_quotients.push(NotedQuotient { span, offset, edit });
        self.push_note(args, span, advice, span.start);
        *callee = Callee::Static(FunctionRef { function, generics: vec![] });
    }

    /// Returns the source text of a quotient, with its left operand as a `Double`.
    pub(crate) fn quotient_as_double(&self, left: &Expr, span: Span) -> String {
        let operand = self.cx.sink.source_text(left.span);
        let rest = self.cx.sink.source_text(Span::new(left.span.end, span.end));
        match integer(left) {
            Some(n) => format!("{n}.0{rest}"),
            None if operand.starts_with('(') => format!("Double{operand}{rest}"),
            None => format!("Double({operand}){rest}"),
        }
    }
}

fn integer(e: &Expr) -> Option<i128> {
    match e.kind {
        ExprKind::Int(n) => Some(n),
        _ => None,
    }
}
