//! The older operators `#gradient` and `#valueAndGradient`: of a function, with respect to some of its parameters.

use super::Infer;
use super::notation::{KnownParameter, call_with, closure_of, ident};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::types::tree::Expr;
use crate::types::ty::{FunctionParam, FunctionType, Strength, Type};
use std::rc::Rc;

impl Infer<'_> {
    /// `#gradient(of: f, wrt: .0, .1)`
    pub(super) fn hash_operator(&mut self, name: &Ident, args: &[ast::Arg], span: Span) -> Expr {
        let operator = match &*name.name {
            "gradient" => "gradient",
            "valueAndGradient" => "valueWithGradient",
            other => return self.fail(Code::Unsupported, name.span, format!("'#{other}' is not supported yet")),
        };
        let Some((function, rest)) = args.split_first() else {
            let message = format!("'#{}' is of a function", name.name);
            return self.fail(Code::WrongArguments, span, message);
        };
        if let Some(label) = function.label.as_ref().filter(|l| &*l.name != "of") {
            return self.fail(Code::WrongArguments, label.span, "the function has the label 'of:' or none");
        }
        let function = &function.value;
        if rest.is_empty() {
            return self.apply_prelude(operator, "of", function, span);
        }
        let Some(parameters) = self.parameters_of(function) else {
            let message = "the parameters of this function are not known";
            return self.fail(Code::WithRespectTo, function.span, message);
        };
        let mut wrt = vec![];
        for (k, arg) in rest.iter().enumerate() {
            match self.wrt_argument(arg, k == 0, &parameters) {
                Ok(index) => wrt.push(index),
                Err(problem) => {
                    self.error(*problem);
                    return self.error_expr(span);
                }
            }
        }
        if wrt.is_sorted_by(|a, b| a < b) {
            return self.with_respect_to(operator, function, parameters, &wrt, span);
        }
        self.fail(Code::WithRespectTo, rest[0].value.span, "parameters must be specified in original order")
    }

    fn wrt_argument(
        &mut self,
        arg: &ast::Arg,
        is_first: bool,
        parameters: &[KnownParameter],
    ) -> Result<usize, Box<Diagnostic>> {
        let fits = match &arg.label {
            Some(label) => is_first && matches!(&*label.name, "wrt" | "withRespectTo"),
            None => !is_first,
        };
        let error = |span, message: &str| Err(Box::new(Diagnostic::error(Code::WithRespectTo, span, message)));
        if !fits {
            return error(arg.value.span, "parameters are named behind 'wrt:', like '.0, .1'");
        }
        let index = match &arg.value.kind {
            Ast::Implicit { name, .. } => name.name.parse::<usize>().ok(),
            Ast::Ident { name, .. } => parameters.iter().position(|p| p.name == *name),
            _ => None,
        };
        let Some(index) = index else {
            return error(arg.value.span, "parameters are named by number, like '.0', or by name");
        };
        match parameters.get(index) {
            Some(_) => Ok(index),
            None => error(arg.value.span, "parameter index is larger than total number of parameters"),
        }
    }

    /// `{ p0, p1 in operator(at: p1, in: { q1 in f(p0, q1) }) }`
    fn with_respect_to(
        &mut self,
        operator: &str,
        function: &ast::Expr,
        parameters: Vec<KnownParameter>,
        wrt: &[usize],
        span: Span,
    ) -> Expr {
        let outer: Vec<String> = (0..parameters.len()).map(|i| format!("$p{i}")).collect();
        let inner: Vec<String> = wrt.iter().map(|i| format!("$q{i}")).collect();
        let arguments = (0..parameters.len())
            .map(|i| ident(&if wrt.contains(&i) { format!("$q{i}") } else { format!("$p{i}") }, span))
            .collect();
        let body = closure_of(&inner, call_with(function, &parameters, arguments, span), span);
        let label = |name: &str| Some(Ident { name: name.into(), span });
        let mut args: Vec<ast::Arg> = vec![];
        for i in wrt {
            let label = label("at").filter(|_| args.is_empty());
            args.push(ast::Arg { label, value: Rc::new(ident(&outer[*i], span)), trailing: false });
        }
        args.push(ast::Arg { label: label("in"), value: Rc::new(body), trailing: false });
        let call = ast::Expr { kind: Ast::Call { callee: Rc::new(ident(operator, span)), args }, span };
        let closure = closure_of(&outer, call, span);
        let params = parameters.into_iter().map(|p| {
            // A generic parameter of the function is not one of the surroundings.
            let is_generic = p.ty.any(&mut |t| matches!(t, Type::Param(q) if !self.world.env.params.contains(q)));
            let ty = if is_generic { self.world.fresh() } else { p.ty };
            FunctionParam { ty, is_inout: false, no_derivative: false, autoclosure: false }
        });
        let params = params.collect();
        let result = self.world.fresh();
        let wanted = FunctionType { params, result, throws: false, strength: Strength::Open };
        self.expr(&closure, Some(&Type::Function(Rc::new(wanted))))
    }
}
