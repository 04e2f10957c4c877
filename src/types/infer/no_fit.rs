//! Calls that fit no function: what is said about them.

use super::Infer;
use super::args::{ArgNode, Misfit, Slot, closure_arity, match_args};
use super::candidates::{Candidate, Target};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::names::closest;
use crate::types::store::{MemberKind, SignatureParam};
use crate::types::tree::Expr;
use crate::types::ty::{FunctionType, Type};
use std::rc::Rc;

impl Infer<'_> {
    pub(super) fn no_candidate(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Expr {
        let receiver = candidates.first().and_then(|c| c.receiver.clone());
        if let Some(receiver) = receiver
            && let Some(condition) = self.world.withheld(&receiver.ty, &name.name, false, &mut |world, member| {
                matches!(member, MemberKind::Method(f) if match_args(&world.signature(*f).params, args).is_ok())
            })
        {
            let message = format!("'{}' on '{}' requires that {condition}", name.name, self.show(&receiver.ty));
            self.error(Diagnostic::error(Code::NotConforming, name.span, message));
            self.check_anyway(args);
            return self.error_expr(span);
        }
        if let [only] = candidates {
            let params = self.candidate_params(only);
            let full = self.candidate_name(only);
            let declared = self.candidate_span(only);
            let diagnostic = match match_args(&params, args) {
                Err(Misfit::Missing(p)) => {
                    let param = &params[p];
                    let what = match &param.label {
                        Some(label) => format!("missing argument for parameter '{label}' in call"),
                        None => format!("missing argument for parameter #{} in call", p + 1),
                    };
                    Diagnostic::error(Code::WrongArguments, span.after(), what)
                }
                Err(Misfit::Extra(a)) => {
                    let what = match &args[a].label {
                        Some(label) => format!("extra argument '{label}' in call"),
                        None => "extra argument in call".to_string(),
                    };
                    let extra = Diagnostic::error(Code::WrongArguments, args[a].label_span, what);
                    let known: Vec<_> = params.iter().filter_map(|p| p.label.as_deref()).collect();
                    match args[a].label.as_ref().and_then(|l| closest(l, known.into_iter())) {
                        Some(close) => extra.fix(format!("did you mean '{close}:'?"), args[a].label_span, close),
                        None => extra,
                    }
                }
                Err(Misfit::Label(a)) => self.wrong_label(&params, args, a),
                Ok(_) => Diagnostic::error(Code::WrongArguments, span, "wrong arguments in call"),
            };
            let diagnostic = match declared {
                Some(declared) => diagnostic.also(declared, format!("'{full}' is declared here")),
                None => diagnostic.note(format!("it is declared as '{full}'")),
            };
            self.error(diagnostic);
        } else {
            let given = Self::label_text(&args.iter().map(|a| a.label.clone()).collect::<Vec<_>>());
            let message = format!("no '{}' takes the arguments ({given})", name.name);
            let mut diagnostic = Diagnostic::error(Code::NoOverload, span, message);
            diagnostic = self.list_candidates(diagnostic, candidates);
            self.error(diagnostic);
        }
        self.check_anyway(args);
        self.error_expr(span)
    }

    /// Labels that are missing, in another order, or wrong, with the edits that put them right.
    fn wrong_label(&mut self, params: &[SignatureParam], args: &[ArgNode], at: usize) -> Diagnostic {
        let labels: Vec<_> = args.iter().filter(|a| !a.trailing).map(|a| a.label.clone()).collect();
        let have = Self::label_text(&labels);
        let want = Self::label_text(&params.iter().map(|p| p.label.clone()).collect::<Vec<_>>());
        let arg = &args[at];
        let error = |message: String| Diagnostic::error(Code::WrongArguments, arg.label_span, message);
        if params.len() != args.len() {
            return error(format!("incorrect argument labels in call (have '{have}', expected '{want}')"));
        }
        let wrong: Vec<(&ArgNode, &SignatureParam)> =
            args.iter().zip(params).filter(|(a, p)| !a.trailing && a.label != p.label).collect();
        let edits = wrong.iter().map(|(a, p)| relabel(a, p)).collect();
        if wrong.iter().all(|(a, _)| a.label.is_none()) {
            let missing: String = wrong.iter().filter_map(|(_, p)| Some(format!("{}:", p.label.as_ref()?))).collect();
            let (label, it) = if wrong.len() == 1 { ("label", "the label") } else { ("labels", "the labels") };
            return error(format!("missing argument {label} '{missing}' in call")).edits(format!("add {it}"), edits);
        }
        if wrong.iter().all(|(_, p)| p.label.is_none()) {
            let extra: String = wrong.iter().filter_map(|(a, _)| Some(format!("{}:", a.label.as_ref()?))).collect();
            let (label, it) = if wrong.len() == 1 { ("label", "the label") } else { ("labels", "the labels") };
            let message = format!("extraneous argument {label} '{extra}' in call");
            return error(message).edits(format!("remove {it}"), edits);
        }
        let later = args[at..].iter().skip(1).find(|a| a.label.is_some() && a.label == params[at].label);
        if let (Some(later), Some(first)) = (later, &arg.label) {
            let name = later.label.as_deref().unwrap_or("_");
            return error(format!("argument '{name}' must precede argument '{first}'"));
        }
        let (label, it) = if wrong.len() == 1 { ("label", "the label") } else { ("labels", "the labels") };
        error(format!("incorrect argument {label} in call (have '{have}', expected '{want}')"))
            .edits(format!("correct {it}"), edits)
    }

    pub(super) fn no_fit(&mut self, name: &Ident, candidates: &[Candidate], args: &[ArgNode], span: Span) -> Expr {
        let broken = args.iter().any(|a| a.ready.as_ref().is_some_and(|r| r.ty == Type::Error));
        if broken {
            return self.error_expr(span);
        }
        if let [only] = candidates {
            return self.commit(name, only, args, None, span);
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
        let message = format!("no '{}' takes arguments of types ({})", name.name, given.join(", "));
        let mut diagnostic = Diagnostic::error(Code::NoOverload, span, message);
        diagnostic = self.list_candidates(diagnostic, candidates);
        self.error(diagnostic);
        self.error_expr(span)
    }

    /// Names the candidates; what a protocol offers as well as the type itself only once.
    fn list_candidates(&mut self, mut diagnostic: Diagnostic, candidates: &[Candidate]) -> Diagnostic {
        const MOST: usize = 6;
        let nearest = candidates.iter().map(|c| c.tier).min().unwrap_or(0);
        let own: Vec<String> =
            candidates.iter().filter(|c| c.tier == nearest).map(|c| self.candidate_name(c)).collect();
        let shown: Vec<&Candidate> = candidates
            .iter()
            .filter(|c| c.tier == nearest || !own.contains(&self.candidate_name(c)))
            .take(MOST)
            .collect();
        for candidate in shown {
            let text = self.describe_candidate(candidate);
            diagnostic = diagnostic.note(format!("there is {text}"));
        }
        diagnostic
    }

    /// A closure of the wrong arity for every candidate: what the first one asks for.
    fn closure_misfit(
        &mut self,
        candidates: &[Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Option<(FunctionType, usize, Span)> {
        let mut first = None;
        for candidate in candidates {
            let params = self.candidate_params(candidate);
            let slots = match_args(&params, args).ok()?;
            let snapshot = self.world.snapshot();
            let instance = self.instantiate(candidate, span);
            if let (Some(receiver), Some(own)) = (&candidate.receiver, &instance.self_type) {
                self.world.unify(&receiver.ty, own, span);
            }
            let mut misfit = None;
            for (slot, param) in slots.iter().zip(&instance.params) {
                let Slot::Arg(i) = slot else { continue };
                let Ast::Closure(closure) = &args[*i].ast.kind else { continue };
                let Some(arity) = closure_arity(closure) else { continue };
                let ty = self.world.zonk(&param.ty);
                if let Type::Function(f) = self.world.resolved(&ty)
                    && !(f.params.len() == arity || f.params.len() == 1 && arity > 1)
                {
                    misfit = Some(((*f).clone(), arity, args[*i].span));
                }
            }
            self.world.rollback(snapshot);
            first = first.or(Some(misfit?));
        }
        first
    }

    pub(super) fn ambiguous(&mut self, name: &Ident, tied: &[Candidate], span: Span) -> Expr {
        let mut diagnostic = Diagnostic::error(Code::Ambiguous, span, format!("ambiguous use of '{}'", name.name));
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

    pub(super) fn describe_candidate(&mut self, candidate: &Candidate) -> String {
        let f = match &candidate.target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.world.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(..) => return self.candidate_name(candidate),
        };
        let signature = self.world.signature(f);
        let params: Vec<String> = signature
            .params
            .iter()
            .map(|p| {
                let label = p.label.as_ref().map_or(String::new(), |l| format!("{l}: "));
                format!("{label}{}", self.world.show(&p.ty))
            })
            .collect();
        let name = self.world.function_data(f).base_name.clone();
        format!("'{name}({}) -> {}'", params.join(", "), self.world.show(&signature.result))
    }
}

/// The edit that gives an argument the label of a parameter.
fn relabel(arg: &ArgNode, param: &SignatureParam) -> (Span, String) {
    match (&arg.label, &param.label) {
        (None, label) => (arg.span.before(), label.as_ref().map_or(String::new(), |l| format!("{l}: "))),
        (Some(_), Some(label)) => (arg.label_span, label.to_string()),
        (Some(_), None) => (Span::new(arg.label_span.start, arg.span.start), String::new()),
    }
}
