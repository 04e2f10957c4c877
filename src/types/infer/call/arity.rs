//! Arity: excludes functions that cannot accept the arguments of a call by their declared numbers of parameters, before
//! their types are resolved, and reports calls of function values with another number of arguments.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{ExprKind as Ast, Param, TypeExprKind};
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::ty::{FunctionType, Type};
use crate::types::model::typed_tree::Expr;

impl Infer<'_> {
    /// Returns the candidates that may accept the number of arguments; if possible, only the candidates that also
    /// accept the arities of function arguments.
    pub(crate) fn with_arity(&mut self, candidates: &[Candidate], args: &[ArgNode]) -> Vec<Candidate> {
        let arities: Vec<Option<usize>> = args.iter().map(|arg| self.arity_of(arg)).collect();
        let mut counted = candidates.to_vec();
        counted
            .retain(|candidate| self.declared_params(candidate).is_none_or(|params| accepts_count(params, args.len())));
        let any = |accepts: fn(usize, usize) -> bool, candidate: &Candidate| {
            self.declared_params(candidate).is_none_or(|params| accepts_arities(params, &arities, accepts))
        };
        let mut fitting = counted.clone();
        // A function of one parameter may receive a tuple instead.
        fitting.retain(|candidate| any(|declared, given| declared < 2 || declared == given, candidate));
        // If no candidate accepts the number of arguments, the diagnostic is about all candidates.
        let is_exact = fitting.iter().any(|candidate| any(|declared, given| declared == given, candidate));
        if is_exact { fitting } else { counted }
    }

    /// Returns the number of parameters of an argument that is known to be a function.
    fn arity_of(&mut self, arg: &ArgNode) -> Option<usize> {
        match (&arg.ready, &arg.ast.kind) {
            (Some(ready), _) => match unification::shallow(self.cx, &ready.ty.clone()) {
                Type::Function(f) => Some(f.params.len()),
                _ => None,
            },
            (None, Ast::Closure(closure)) => closure.params.as_ref().map(Vec::len),
            (None, _) => None,
        }
    }

    /// Returns the declared parameters of a candidate, unless some of them are variadic.
    fn declared_params(&self, candidate: &Candidate) -> Option<&[Param]> {
        let Target::Function(f) = candidate.target else { return None };
        let data = self.cx.defs.function_data(f);
        // Functions without a declaration have parameters that are not written, and an inherited initializer has
        // default arguments that are not written.
        let is_written = data.decl.is_some() && !data.ast_params.is_empty() && data.kind == FunctionKind::Function;
        Some(&*data.ast_params).filter(|params| is_written && params.iter().all(|p| !p.variadic))
    }
}

fn accepts_count(params: &[Param], count: usize) -> bool {
    let required = params.iter().filter(|p| p.default.is_none()).count();
    (required..=params.len()).contains(&count)
}

/// Whether all parameters of function types accept functions of the given arities.
fn accepts_arities(params: &[Param], arities: &[Option<usize>], accepts: fn(usize, usize) -> bool) -> bool {
    params.len() != arities.len()
        || params.iter().zip(arities).all(|(param, arity)| match (declared_arity(param), arity) {
            (Some(declared), Some(given)) => accepts(declared, *given),
            _ => true,
        })
}

fn declared_arity(param: &Param) -> Option<usize> {
    let mut ty = param.ty.as_ref()?;
    while let TypeExprKind::Attributed(_, inner) = &ty.kind {
        ty = inner;
    }
    match &ty.kind {
        TypeExprKind::Function { params, .. } => Some(params.len()),
        _ => None,
    }
}

impl Infer<'_> {
    /// Reports the call of a function value with another number of arguments than the function takes.
    pub(super) fn wrong_number_of_arguments(&mut self, function: &FunctionType, args: &[ArgNode], span: Span) -> Expr {
        let (want, have) = (function.params.len(), args.len());
        let what = if have < want { "missing" } else { "extra" };
        let message = format!("{what} arguments in call: {want} expected, {have} given");
        let mut diagnostic = Diagnostic::error(Code::WrongArguments, span, message);
        if let ([param], [first, .., last]) = (&function.params[..], args)
            && let Type::Tuple(parts) = unification::shallow(self.cx, &param.ty)
            && parts.len() == have
        {
            diagnostic = diagnostic.wrap("the function takes one tuple", first.span.to(last.span), "(", ")");
        }
        self.error(diagnostic);
        self.error_expr(span)
    }
}
