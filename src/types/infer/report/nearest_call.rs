//! Nearest call: the declaration that a call without a match most likely meant, written as a call.

use crate::diagnostic::Diagnostic;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::display;
use crate::types::model::function_table::SignatureParam;
use crate::types::model::ty::Type;

impl Infer<'_> {
    /// Adds the nearest candidate to a diagnostic, with its span if the program declares it.
    pub(crate) fn with_nearest(
        &mut self,
        diagnostic: Diagnostic,
        candidates: &[Candidate],
        args: &[ArgNode],
    ) -> Diagnostic {
        let mut nearest: Option<(usize, &Candidate)> = None;
        for candidate in candidates {
            let distance = self.distance_to(candidate, args);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, candidate));
            }
        }
        let Some((_, candidate)) = nearest else { return diagnostic };
        let call = self.describe_call(candidate);
        match self.candidate_span(candidate) {
            Some(at) => diagnostic.note_at(at, format!("the nearest declaration is '{call}'")),
            None => diagnostic.help(format!("it is called as '{call}'")),
        }
    }

    /// Estimates the number of changes after which a call would match a candidate.
    fn distance_to(&mut self, candidate: &Candidate, args: &[ArgNode]) -> usize {
        let params = self.candidate_params(candidate);
        let needed = params.iter().filter(|p| p.default.is_none() && !p.variadic).count();
        let lacking = needed.saturating_sub(args.len()) + args.len().saturating_sub(params.len());
        let is_label = |arg: &ArgNode| params.iter().any(|p| p.label == arg.label);
        let strange = args.iter().filter(|arg| arg.label.is_some() && !is_label(arg)).count();
        let unlike = usize::from(match_args(&params, args).is_err());
        let mut mismatched = 0;
        for (param, arg) in params.iter().zip(args) {
            let Some(ready) = arg.ready.as_ref().map(|ready| ready.ty.clone()) else { continue };
            let is_function = |ty: &Type| matches!(ty, Type::Function(_));
            let differs = match (&param.ty, &ready) {
                (param, arg) if is_function(param) != is_function(arg) => !matches!(param, Type::Param(_)),
                (Type::Nominal(..), Type::Nominal(..)) if !is_generic(&param.ty) => param.ty != ready,
                _ => false,
            };
            mismatched += usize::from(differs);
        }
        let tier = usize::min(candidate.tier as usize, 9);
        ((4 * lacking + 2 * strange + unlike + 2 * mismatched) * 10 + tier) * 20 + usize::min(params.len(), 19)
    }

    /// Writes a candidate as a call: with its labels and the types of its parameters; a parameter of generic type is
    /// represented by its name.
    pub(crate) fn describe_call(&mut self, candidate: &Candidate) -> String {
        let name = match &candidate.target {
            Target::Function(f) => self.cx.defs.function_data(*f).base_name.clone(),
            Target::Requirement(p, r) => {
                let f = self.cx.defs.protocol_data(*p).requirements[*r as usize].function;
                self.cx.defs.function_data(f).base_name.clone()
            }
            Target::Case(..) => return self.candidate_name(candidate),
        };
        let params: Vec<SignatureParam> = self.candidate_params(candidate);
        let shown: Vec<String> = params
            .iter()
            .map(|p| {
                let label = p.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
                let dots = if p.variadic { "..." } else { "" };
                match is_generic(&p.ty) || matches!(p.ty, Type::Function(_)) {
                    true => format!("{label}{}{dots}", p.name),
                    false => {
                        let word = if p.is_inout { "inout " } else { "" };
                        format!("{label}{word}{}{dots}", display::show(self.cx, &p.ty))
                    }
                }
            })
            .collect();
        let shown = shown.join(", ");
        match &*name {
            "init" => match candidate.receiver.as_ref().map(|r| r.ty.clone()) {
                Some(Type::Metatype(of)) => format!("{}({shown})", display::show(self.cx, &of)),
                _ => format!("init({shown})"),
            },
            "subscript" => format!("[{shown}]"),
            _ => format!("{name}({shown})"),
        }
    }
}

fn is_generic(ty: &Type) -> bool {
    ty.any(&mut |t| matches!(t, Type::Param(_) | Type::Associated(..) | Type::Var(_)))
}
