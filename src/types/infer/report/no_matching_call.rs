//! Calls without a matching function: diagnostics for arguments that no candidate accepts.

use crate::diagnostic::{Code, Diagnostic, Help};
use crate::source::Span;
use crate::syntax::ast::{ExprKind as Ast, Ident, Name};
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, ArgumentMismatch, Slot, closure_arity, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_tables::{Requirement, SignatureParam};
use crate::types::model::display;
use crate::types::model::display::closest;
use crate::types::model::ty::{FunctionType, Type};
use crate::types::model::type_vars;
use crate::types::model::typed_tree::Expr;
use crate::types::names::members;
use std::rc::Rc;

/// Returns the diagnostic for `gradient(y, wrt: x)` where `y` is not a variable computed from `x` before the call.
fn not_in_flow(name: &Ident, args: &[ArgNode], span: Span) -> Option<Diagnostic> {
    let [of, wrt, ..] = args else { return None };
    let is_operator = matches!(&*name.name, "gradient" | "valueWithGradient");
    if !is_operator || of.label.is_some() || wrt.label.as_deref() != Some("wrt") {
        return None;
    }
    let message = format!(
        "'{}(y, wrt: x)' needs two variables: 'y' must be declared with 'let' or 'var' before this call, in the same \
         function and file, and computed from the variable 'x'",
        name.name
    );
    let help = format!(
        "write the computation of 'y' as a function, and differentiate that: '{}(at: x) {{ x in … \
                 }}'",
        name.name
    );
    Some(Diagnostic::error(Code::NoOverload, span, message).help(help))
}

impl Infer<'_> {
    pub(crate) fn no_candidate(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Expr {
        if &*name.name == "init" && self.hidden_init(candidates, args, span) {
            self.check_anyway(args);
            return self.error_expr(span);
        }
        if let Some(diagnostic) = not_in_flow(name, args, span) {
            self.error(diagnostic);
            self.check_anyway(args);
            return self.error_expr(span);
        }
        if let Some(diagnostic) = self.too_many_arguments(name, candidates, args, span) {
            self.error(diagnostic);
            self.check_anyway(args);
            return self.error_expr(span);
        }
        if let Some(diagnostic) = self.misplaced_closure(name, candidates, args) {
            self.error(diagnostic);
            self.check_anyway(args);
            return self.error_expr(span);
        }
        let receiver = candidates.iter().find_map(|c| c.receiver.clone());
        if let Some(receiver) = receiver
            && let Some(diagnostic) = self.conforming_less(&receiver.ty.clone(), name, Some(args), span)
        {
            self.error(diagnostic);
            self.check_anyway(args);
            return self.error_expr(span);
        }
        if let [only] = candidates {
            let params = self.candidate_params(only);
            let full = self.candidate_name(only);
            let declared = self.candidate_span(only);
            let diagnostic = match match_args(&params, args) {
                Err(ArgumentMismatch::Missing(p)) => {
                    let param = &params[p];
                    let what = match &param.label {
                        Some(label) => format!("missing argument for parameter '{label}' in call"),
                        None => format!("missing argument for parameter #{} in call", p + 1),
                    };
                    Diagnostic::error(Code::WrongArguments, span.after(), what)
                }
                // Arguments without labels do not match parameters with default values.
                Err(ArgumentMismatch::Extra(a)) if args[a].label.is_none() && args.len() <= params.len() => {
                    self.wrong_label(&params[..args.len()], args, a)
                }
                Err(ArgumentMismatch::Extra(a)) => {
                    let message = match &args[a].label {
                        Some(label) => format!("extra argument '{label}' in call"),
                        None => "extra argument in call".to_string(),
                    };
                    let place = args[a].label_span.unwrap_or(args[a].span);
                    let extra = Diagnostic::error(Code::WrongArguments, place, message);
                    let known = params.iter().filter_map(|p| p.label.as_deref());
                    match args[a].label.as_ref().and_then(|label| closest(label, known)) {
                        Some(close) => extra.fix(format!("did you mean '{close}:'?"), place, close),
                        None => extra,
                    }
                }
                Err(ArgumentMismatch::Label(a)) => self.wrong_label(&params, args, a),
                Ok(_) => Diagnostic::error(Code::WrongArguments, span, "wrong arguments in call"),
            };
            let diagnostic = match declared {
                Some(declared) => diagnostic.also(declared, format!("'{full}' is declared here")),
                None => diagnostic.note(format!("it is declared as '{full}'")),
            };
            self.error(diagnostic);
        } else {
            let given = Self::label_text(&args.iter().map(|a| a.label.clone()).collect::<Vec<_>>());
            let message = format!("{} accepts arguments ({given})", self.none_of(name, candidates));
            let diagnostic = Diagnostic::error(Code::NoOverload, span, message);
            let diagnostic = self.with_nearest(diagnostic, candidates, args);
            self.error(diagnostic);
        }
        self.check_anyway(args);
        self.error_expr(span)
    }

    /// Returns the diagnostic for a method whose declaration requires conformances that the type lacks.
    pub(crate) fn conforming_less(
        &mut self,
        of: &Type,
        name: &Ident,
        args: Option<&[ArgNode]>,
        span: Span,
    ) -> Option<Diagnostic> {
        for (clause, put) in members::methods_beyond(self.cx, of, &name.name) {
            let params = signature::signature(self.cx, clause.function).params.clone();
            let is_broken = matches!(&put, Requirement::Conforms(Type::Error, _));
            if args.is_some_and(|args| match_args(&params, args).is_err()) || is_broken {
                continue;
            }
            let at = if name.span == Span::default() { span } else { name.span };
            return Some(unmet_requirement::unmet(self.cx, clause, &put, at));
        }
        None
    }

    fn wrong_label(&mut self, params: &[SignatureParam], args: &[ArgNode], at: usize) -> Diagnostic {
        let error = |span, message| Diagnostic::error(Code::WrongArguments, span, message);
        let arg = &args[at];
        let place = arg.label_span.unwrap_or(arg.span);
        let have = Self::label_text(&args.iter().filter(|a| !a.trailing).map(|a| a.label.clone()).collect::<Vec<_>>());
        let want = Self::label_text(&params.iter().map(|p| p.label.clone()).collect::<Vec<_>>());
        let message = format!("incorrect argument labels in call (have '{have}', expected '{want}')");
        // Parameters with default values and without arguments are left out.
        let left_out = |p: &&SignatureParam| p.default.is_some() && args.iter().all(|a| a.label != p.label);
        let all = params.len() == args.len();
        let params: Vec<SignatureParam> = params.iter().filter(|p| all || !left_out(p)).cloned().collect();
        let params = params.as_slice();
        if params.len() != args.len() || args.iter().any(|a| a.trailing) {
            return error(place, message);
        }
        if let Some(diagnostic) = self.wrong_order(params, args) {
            return diagnostic;
        }
        let wrong: Vec<(&ArgNode, &SignatureParam)> =
            args.iter().zip(params).filter(|(a, p)| a.label != p.label).collect();
        let labels = |of: &dyn Fn(&(&ArgNode, &SignatureParam)) -> Option<Name>| {
            let labels: String = wrong.iter().filter_map(of).map(|label| format!("{label}:")).collect();
            (if wrong.len() == 1 { "label" } else { "labels" }, labels)
        };
        let edits = wrong.iter().map(|(a, p)| relabeled(a, p)).collect();
        let help = |text: &str| Help { text: text.into(), edits };
        let mut diagnostic;
        if wrong.iter().all(|(a, _)| a.label.is_none()) {
            let (word, missing) = labels(&|(_, p)| p.label.clone());
            diagnostic = error(arg.span, format!("missing argument {word} '{missing}' in call"));
            diagnostic.helps.push(help(&format!("add the {word}")));
        } else if wrong.iter().all(|(_, p)| p.label.is_none()) {
            let (word, extra) = labels(&|(a, _)| a.label.clone());
            diagnostic = error(place, format!("extraneous argument {word} '{extra}' in call"));
            diagnostic.helps.push(help(&format!("remove the {word}")));
        } else {
            diagnostic = error(place, message);
            diagnostic.helps.push(help("use the labels of the declaration"));
        }
        diagnostic
    }

    /// Returns the diagnostic for arguments whose labels are correct but in the wrong order.
    fn wrong_order(&mut self, params: &[SignatureParam], args: &[ArgNode]) -> Option<Diagnostic> {
        let whole = |arg: &ArgNode| arg.label_span.map_or(arg.span, |label| label.to(arg.span));
        let mut edits = vec![];
        let mut first = None;
        for (param, arg) in params.iter().zip(args) {
            let mut meant = args.iter().filter(|a| a.label == param.label);
            let (meant, None) = (meant.next()?, meant.next()) else { return None };
            if arg.label != param.label {
                first.get_or_insert((meant, arg));
                edits.push((whole(arg), self.cx.sink.source_text(whole(meant))));
            }
        }
        let (early, late) = first?;
        let name = |arg: &ArgNode| arg.label.as_ref().map_or("_".to_string(), ToString::to_string);
        let message = format!("argument '{}' must precede argument '{}'", name(early), name(late));
        let mut diagnostic = Diagnostic::error(Code::WrongArguments, whole(early), message);
        diagnostic.helps.push(Help { text: "use the order of the declaration".into(), edits });
        Some(diagnostic)
    }

    pub(crate) fn no_fit(&mut self, name: &Ident, candidates: &[Candidate], args: &[ArgNode], span: Span) -> Expr {
        let broken = args.iter().any(|a| a.ready.as_ref().is_some_and(|r| r.ty == Type::Error));
        if broken {
            return self.error_expr(span);
        }
        let nearest = nearest_tier(name, candidates);
        let by_hand: Vec<&Candidate> =
            candidates.iter().filter(|c| c.tier <= nearest && !self.takes_place(c)).collect();
        if let [only] = by_hand.as_slice() {
            return self.commit(name, only, args, None, span);
        }
        if let Some(diagnostic) = self.too_many_arguments(name, candidates, args, span) {
            self.error(diagnostic);
            return self.error_expr(span);
        }
        if let Some((wanted, arity, at)) = self.closure_misfit(candidates, args, span) {
            self.wrong_arity(&Rc::new(wanted), arity, at);
            return self.error_expr(span);
        }
        let given: Vec<String> = args
            .iter()
            .map(|a| match &a.ready {
                Some(e) => self.show(&e.ty.clone()),
                None => "_".to_string(),
            })
            .collect();
        if let ([arg], "subscript", ["Double" | "Float"]) =
            (args, &*name.name, given.iter().map(String::as_str).collect::<Vec<_>>().as_slice())
            && candidates.iter().any(|c| self.takes_number(c))
        {
            let diagnostic = self.fractional_index(&given[0], arg.span);
            self.error(diagnostic);
            return self.error_expr(span);
        }
        let message = format!("{} accepts arguments of types ({})", self.none_of(name, candidates), given.join(", "));
        let mut diagnostic = Diagnostic::error(Code::NoOverload, span, message);
        diagnostic = self.with_nearest(diagnostic, candidates, args);
        let receivers: Vec<Type> = candidates.iter().filter_map(|c| Some(c.receiver.as_ref()?.ty.clone())).collect();
        let of_text = receivers.iter().any(|ty| self.show(ty) == "String");
        if of_text && &*name.name == "subscript" && given == ["Int"] {
            diagnostic = diagnostic.help("to access characters by number, use 'Array(text)[i]'");
        }
        self.error(diagnostic);
        self.error_expr(span)
    }

    /// Whether a candidate takes one integer.
    fn takes_number(&mut self, candidate: &Candidate) -> bool {
        match self.candidate_params(candidate).as_slice() {
            [only] => self.show(&only.ty.clone()) == "Int",
            _ => false,
        }
    }

    /// Returns the diagnostic for an index that is not an integer.
    pub(crate) fn fractional_index(&self, given: &str, span: Span) -> Diagnostic {
        let message = format!("an index is an 'Int', not a '{given}'");
        let index = format!("Int({})", self.cx.sink.source_text(span));
        Diagnostic::error(Code::NoOverload, span, message).fix("drop the fraction", span, index)
    }

    /// Returns the beginning of a message about candidates none of which fits: "no 'f'", "no initializer of 'T'".
    fn none_of(&mut self, name: &Ident, candidates: &[Candidate]) -> String {
        let kind = match &*name.name {
            "init" => "initializer",
            "subscript" => "subscript",
            name => return format!("no '{name}'"),
        };
        let of = candidates.iter().find_map(|c| c.receiver.as_ref()).map(|receiver| match &receiver.ty {
            Type::Metatype(of) => (**of).clone(),
            of => of.clone(),
        });
        match of.map(|of| self.show(&of)) {
            Some(of) => format!("no {kind} of '{of}'"),
            None => format!("no {kind}"),
        }
    }

    /// Whether a candidate takes an index of a collection, or a range of indices, which collections return and programs
    /// do not write.
    fn takes_place(&mut self, candidate: &Candidate) -> bool {
        match self.candidate_params(candidate).as_slice() {
            [only] if only.label.is_none() => only.ty.any(&mut |ty| match ty {
                Type::Nominal(n, _) => &*self.cx.defs.nominal_data(*n).name == "Index",
                _ => false,
            }),
            _ => false,
        }
    }

    /// Returns a closure argument whose arity is wrong for every candidate: the function type that the first candidate
    /// expects, the arity of the closure, and its span.
    pub(crate) fn closure_misfit(
        &mut self,
        candidates: &[Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Option<(FunctionType, usize, Span)> {
        let mut first = None;
        if !args.iter().any(|a| matches!(a.ast.kind, Ast::Closure(_))) {
            return None;
        }
        for candidate in candidates {
            let params = self.candidate_params(candidate);
            let slots = match_args(&params, args).ok()?;
            let snapshot = self.cx.vars.snapshot();
            let instance = self.instantiate(candidate, span);
            if let (Some(receiver), Some(own)) = (&candidate.receiver, &instance.self_type) {
                unification::unify(self.cx, &receiver.ty, own, span);
            }
            let mut misfit = None;
            for (slot, param) in slots.iter().zip(&instance.params) {
                let Slot::Arg(i) = slot else { continue };
                let Ast::Closure(closure) = &args[*i].ast.kind else { continue };
                let Some(arity) = closure_arity(closure) else { continue };
                let ty = type_vars::zonk(self.cx, &param.ty);
                if let Type::Function(f) = unification::resolved(self.cx, &ty)
                    && !(f.params.len() == arity || f.params.len() == 1 && arity > 1)
                {
                    misfit = Some(((*f).clone(), arity, args[*i].span));
                }
            }
            self.cx.vars.rollback(snapshot);
            first = first.or(Some(misfit?));
        }
        first
    }

    /// Reports that several candidates accept the arguments.
    pub(crate) fn ambiguous(&mut self, name: &Ident, tied: &[Candidate], args: &[ArgNode], span: Span) -> Expr {
        let is_wrong = |arg: &ArgNode| arg.ready.as_ref().is_some_and(|value| value.ty == Type::Error);
        if args.iter().any(is_wrong) {
            // An error in an argument has already been reported.
            self.failed = true;
            return self.error_expr(span);
        }
        let mut results: Vec<Type> = tied.iter().map(|c| self.candidate_result(c)).collect();
        results.dedup();
        let way_out = match results.as_slice() {
            [ty, _, ..] => Some(format!("state the type, as in 'let x: {} = …'", self.show(ty))),
            _ => self.deciding_argument(tied, args),
        };
        self.report_ambiguous(name, tied, way_out, span)
    }

    /// Reports that a reference to an overloaded function is ambiguous.
    pub(crate) fn ambiguous_reference(&mut self, tied: &[Candidate], span: Span) -> Expr {
        let name = match &tied[0].target {
            Target::Function(f) => self.cx.defs.function_data(*f).base_name.clone(),
            Target::Requirement(..) | Target::Case(..) => self.candidate_name(&tied[0]).as_str().into(),
        };
        let types: Vec<Option<Type>> = tied.iter().map(|c| self.candidate_type(c)).collect();
        let way_out = match &types[0] {
            Some(ty) if types.iter().any(|other| *other != types[0]) => {
                format!("state the type, as in 'let f: {} = …'", self.show(ty))
            }
            _ => format!("write its labels, as in '{}'", self.candidate_name(&tied[0])),
        };
        self.report_ambiguous(&Ident { name, span }, tied, Some(way_out), span)
    }

    /// Suggests a type for the first argument whose parameter types differ among the candidates.
    fn deciding_argument(&mut self, tied: &[Candidate], args: &[ArgNode]) -> Option<String> {
        let params: Vec<Vec<SignatureParam>> = tied.iter().map(|c| self.candidate_params(c)).collect();
        let (first, others) = params.split_first()?;
        let slots = match_args(first, args).ok()?;
        let is_plain = |ty: &Type| !ty.any(&mut |t| matches!(t, Type::Param(_) | Type::Var(_)));
        let (i, param) = first.iter().enumerate().find(|(i, param)| {
            let differs = |other: &Vec<SignatureParam>| other.get(*i).is_some_and(|p| p.ty != param.ty);
            is_plain(&param.ty) && others.iter().any(differs)
        })?;
        let Some(Slot::Arg(given)) = slots.get(i) else { return None };
        let text = self.cx.sink.source_text(args[*given].span);
        let text = if is_one_word(&text) { text } else { format!("({text})") };
        Some(format!("state the type of an argument, as in '{text} as {}'", self.show(&param.ty)))
    }

    fn report_ambiguous(&mut self, name: &Ident, tied: &[Candidate], way_out: Option<String>, span: Span) -> Expr {
        let mut diagnostic = Diagnostic::error(Code::Ambiguous, span, format!("ambiguous use of '{}'", name.name));
        if let Some(way_out) = way_out {
            diagnostic = diagnostic.help(way_out);
        }
        for candidate in tied.iter().take(6) {
            let text = self.describe_candidate(candidate);
            diagnostic = match self.candidate_span(candidate) {
                Some(at) => diagnostic.note_at(at, format!("found this candidate: {text}")),
                None => diagnostic.note(format!("found this candidate: {text}")),
            };
        }
        self.error(diagnostic);
        self.error_expr(span)
    }

    /// Returns the declared result type of a candidate.
    pub(crate) fn candidate_result(&mut self, candidate: &Candidate) -> Type {
        let function = match candidate.target {
            Target::Function(f) => f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(p).requirements[r as usize].function,
            Target::Case(..) => return Type::Error,
        };
        signature::signature(self.cx, function).result.clone()
    }

    /// Returns the type of a candidate as a function value.
    fn candidate_type(&mut self, candidate: &Candidate) -> Option<Type> {
        let Target::Function(f) = candidate.target else { return None };
        let signature = signature::signature(self.cx, f);
        Some(signature::function_type(&signature))
    }

    pub(crate) fn describe_candidate(&mut self, candidate: &Candidate) -> String {
        let f = match &candidate.target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(..) => return self.candidate_name(candidate),
        };
        let signature = signature::signature(self.cx, f);
        let params: Vec<String> = signature
            .params
            .iter()
            .map(|p| {
                let label = p.label.as_ref().map_or(String::new(), |l| format!("{l}: "));
                format!("{label}{}", display::show(self.cx, &p.ty))
            })
            .collect();
        let name = self.cx.defs.function_data(f).base_name.clone();
        format!("'{name}({}) -> {}'", params.join(", "), display::show(self.cx, &signature.result))
    }
}

/// Whether source text is a single name or literal.
fn is_one_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "._\"".contains(c))
}

/// Returns the edit that replaces the label of an argument by the label of its parameter.
fn relabeled(arg: &ArgNode, param: &SignatureParam) -> (Span, String) {
    let label = param.label.as_ref().map_or_else(String::new, |label| format!("{label}: "));
    let start = arg.label_span.map_or(arg.span.start, |s| s.start);
    (Span::new(start, arg.span.start), label)
}

/// Returns the highest distance of a candidate that the caller may have meant: the subscripts of a protocol are not meant
/// if the type itself has subscripts.
pub(crate) fn nearest_tier(name: &Ident, candidates: &[Candidate]) -> u32 {
    let nearest = candidates.iter().map(|candidate| candidate.tier).min();
    nearest.filter(|_| &*name.name == "subscript").unwrap_or(u32::MAX)
}
