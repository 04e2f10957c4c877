//! Calls that fit no function: what is said about them.

use super::Infer;
use super::args::{ArgNode, Misfit, match_args};
use super::candidates::{Candidate, Target};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Ident;
use crate::types::store::SignatureParam;
use crate::types::tree::Expr;
use crate::types::ty::Type;

impl Infer<'_> {
    pub(super) fn no_candidate(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Expr {
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
                    Diagnostic::error(Code::WrongArguments, args[a].span, "extra argument in call")
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
            for candidate in candidates.iter().take(6) {
                let text = self.describe_candidate(candidate);
                diagnostic = diagnostic.note(format!("there is {text}"));
            }
            self.error(diagnostic);
        }
        self.check_anyway(args);
        self.error_expr(span)
    }

    fn wrong_label(&mut self, params: &[SignatureParam], args: &[ArgNode], at: usize) -> Diagnostic {
        let have = Self::label_text(&args.iter().filter(|a| !a.trailing).map(|a| a.label.clone()).collect::<Vec<_>>());
        let want = Self::label_text(&params.iter().map(|p| p.label.clone()).collect::<Vec<_>>());
        let arg = &args[at];
        if arg.label.is_none() && params.len() == args.len() {
            let missing = params.get(at).and_then(|p| p.label.clone()).unwrap_or_else(|| "_".into());
            let message = format!("missing argument label '{missing}:' in call");
            return Diagnostic::error(Code::WrongArguments, arg.span, message).fix(
                "add the label",
                arg.span.before(),
                format!("{missing}: "),
            );
        }
        let message = format!("incorrect argument labels in call (have '{have}', expected '{want}')");
        Diagnostic::error(Code::WrongArguments, arg.span, message)
    }

    pub(super) fn no_fit(&mut self, name: &Ident, candidates: &[Candidate], args: &[ArgNode], span: Span) -> Expr {
        let broken = args.iter().any(|a| a.ready.as_ref().is_some_and(|r| r.ty == Type::Error));
        if broken {
            return self.error_expr(span);
        }
        if let [only] = candidates {
            return self.commit(name, only, args, None, span);
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
        for candidate in candidates.iter().take(6) {
            let text = self.describe_candidate(candidate);
            diagnostic = diagnostic.note(format!("there is {text}"));
        }
        self.error(diagnostic);
        self.error_expr(span)
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
