//! `#gradient`: the older notations `#gradient` and `#valueAndGradient` for the gradient of a function with respect to
//! some of its parameters.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::expr::calculus_notation::{KnownParameter, call_with, closure_of_call, ident};
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::typed_tree::{Expr, FunctionId};
use crate::types::names::members;
use std::rc::Rc;

/// A variable with respect to which a function is differentiated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrt {
    /// The receiver of a method, `self`.
    Receiver,
    /// A parameter of the function, by index.
    Parameter(usize),
}

/// The receiver of a method that is differentiated.
struct Receiver {
    method: FunctionId,
    name: Ident,
    /// The instance, or the type (`M.f`); with a type, the instance is an additional parameter.
    base: ast::Expr,
    ty: Type,
    is_type: bool,
}

/// The function that a gradient operator differentiates.
struct Target<'e> {
    function: &'e ast::Expr,
    receiver: Option<Receiver>,
    parameters: Vec<KnownParameter>,
}

impl Infer<'_> {
    /// Infers `#gradient(of: f, wrt: .0, .1)` and `#isolation`.
    pub(crate) fn hash_operator(
        &mut self,
        name: &Ident,
        args: &[ast::Arg],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        if let Some(expectation) = self.expectation(name, args, span) {
            return expectation;
        }
        // Tasks never run at the same time, so no code is isolated.
        if &*name.name == "isolation" && args.is_empty() {
            return self.expr(&ast::Expr { kind: ast::ExprKind::Nil, span }, expected);
        }
        let operator = match &*name.name {
            "gradient" => "gradient",
            "valueAndGradient" => "valueWithGradient",
            other => return self.fail(Code::Unsupported, name.span, format!("'#{other}' is not supported yet")),
        };
        let Some((function, rest)) = args.split_first() else {
            let message = format!("'#{}' needs a function", name.name);
            return self.fail(Code::WrongArguments, span, message);
        };
        if let Some(label) = function.label.as_ref().filter(|l| &*l.name != "of") {
            return self.fail(Code::WrongArguments, label.span, "the label of the function must be 'of:' or omitted");
        }
        let function = &function.value;
        let receiver = self.receiver_of(function);
        if rest.is_empty() && !receiver.as_ref().is_some_and(|r| r.is_type) {
            let value = self.expr(function, None);
            return self.apply_prelude_to(value, operator, "of", span);
        }
        let parameters = match &receiver {
            Some(receiver) => Some(self.declared_parameters(receiver.method)),
            None => self.parameters_of(function),
        };
        let Some(parameters) = parameters else {
            let message = "the parameters of this function are not known";
            return self.fail(Code::WithRespectTo, function.span, message);
        };
        let target = Target { function, receiver, parameters };
        let mut wrt: Vec<Wrt> = vec![];
        for (k, arg) in rest.iter().enumerate() {
            match self.wrt_argument(arg, k == 0, &target) {
                Ok(by) => wrt.push(by),
                Err(problem) => {
                    self.error(*problem);
                    return self.error_expr(span);
                }
            }
        }
        if rest.is_empty() {
            wrt.push(Wrt::Receiver);
            wrt.extend((0..target.parameters.len()).map(Wrt::Parameter));
        }
        if wrt.is_sorted_by(|a, b| a < b) {
            return self.with_respect_to(operator, target, &wrt, span);
        }
        self.fail(Code::WithRespectTo, rest[0].value.span, "parameters must be specified in original order")
    }

    /// Returns the receiver of a method; `None` if the expression does not denote an instance method.
    fn receiver_of(&mut self, function: &ast::Expr) -> Option<Receiver> {
        let Ast::Member { base, name, .. } = &function.kind else { return None };
        let (ty, is_type) = match self.type_expression(base) {
            Some(ty) => (ty, true),
            None => (self.expr(base, None).ty, false),
        };
        let ty = unification::shallow(self.cx, &ty);
        let members = members::members(self.cx, &ty, &name.name, false, self.file);
        let method = members.iter().find_map(|(kind, ..)| match kind {
            MemberKind::Method(method) => Some(*method),
            _ => None,
        })?;
        Some(Receiver { method, name: name.clone(), base: (**base).clone(), ty, is_type })
    }

    fn wrt_argument(&mut self, arg: &ast::Arg, is_first: bool, target: &Target) -> Result<Wrt, Box<Diagnostic>> {
        let fits = match &arg.label {
            Some(label) => is_first && matches!(&*label.name, "wrt" | "withRespectTo"),
            None => !is_first,
        };
        let error = |span, message: &str| Err(Box::new(Diagnostic::error(Code::WithRespectTo, span, message)));
        if !fits {
            return error(arg.value.span, "parameters must follow 'wrt:', as in 'wrt: .0, .1'");
        }
        let index = match &arg.value.kind {
            Ast::Implicit { name, .. } => name.name.parse::<usize>().ok(),
            Ast::Ident { name, .. } if &**name == "self" => {
                return match target.receiver {
                    Some(_) => Ok(Wrt::Receiver),
                    None => error(arg.value.span, "only an instance method has 'self'"),
                };
            }
            Ast::Ident { name, .. } => target.parameters.iter().position(|p| p.name == *name),
            _ => None,
        };
        let Some(index) = index else {
            return error(arg.value.span, "a parameter must be given by index, as in '.0', or by name");
        };
        match target.parameters.get(index) {
            Some(_) => Ok(Wrt::Parameter(index)),
            None => error(arg.value.span, "parameter index is larger than total number of parameters"),
        }
    }

    /// Infers `{ p0, p1 in operator(at: p1, in: { q1 in f(p0, q1) }) }`, with the receiver as an additional first
    /// parameter if the receiver is not known.
    fn with_respect_to(&mut self, operator: &str, target: Target<'_>, wrt: &[Wrt], span: Span) -> Expr {
        let Target { function, receiver, parameters } = target;
        let unknown = receiver.as_ref().filter(|r| r.is_type).map(|r| r.ty.clone());
        let throws = match &receiver {
            Some(receiver) => signature::signature(self.cx, receiver.method).throws,
            None => self.is_throwing(function),
        };
        let own = match (&receiver, &unknown) {
            (Some(receiver), None) => receiver.base.clone(),
            _ => ident("$s", span),
        };
        let outer: Vec<String> = (0..parameters.len()).map(|i| format!("$p{i}")).collect();
        let inner = |by: &Wrt| match by {
            Wrt::Receiver => "$t".to_string(),
            Wrt::Parameter(i) => format!("$q{i}"),
        };
        let varied = |by: Wrt, constant: ast::Expr| {
            if wrt.contains(&by) { ident(&inner(&by), span) } else { constant }
        };
        let arguments = outer.iter().enumerate().map(|(i, p)| varied(Wrt::Parameter(i), ident(p, span))).collect();
        let callee = match receiver {
            Some(Receiver { name, .. }) => {
                let base = Rc::new(varied(Wrt::Receiver, own.clone()));
                ast::Expr { kind: Ast::Member { base, name, generics: vec![] }, span: function.span }
            }
            None => function.clone(),
        };
        let names: Vec<String> = wrt.iter().map(inner).collect();
        let body = closure_of_call(&names, call_with(&callee, &parameters, arguments, span), throws, span);
        let label = |name: &str| Some(Ident { name: name.into(), span });
        let mut args: Vec<ast::Arg> = vec![];
        for by in wrt {
            let label = label("at").filter(|_| args.is_empty());
            let value = match by {
                Wrt::Receiver => own.clone(),
                Wrt::Parameter(i) => ident(&outer[*i], span),
            };
            args.push(ast::Arg { label, value: Rc::new(value), trailing: false });
        }
        args.push(ast::Arg { label: label("in"), value: Rc::new(body), trailing: false });
        let call = ast::Expr { kind: Ast::Call { callee: Rc::new(ident(operator, span)), args }, span };
        let names: Vec<String> = unknown.iter().map(|_| "$s".to_string()).chain(outer).collect();
        let closure = closure_of_call(&names, call, throws, span);
        let types = unknown.into_iter().chain(parameters.into_iter().map(|p| p.ty));
        let params = types.map(|ty| {
            // A generic parameter of the function may not be in scope here.
            let is_generic = ty.any(&mut |t| matches!(t, Type::Param(q) if !self.cx.scope.env.params.contains(q)));
            let ty = if is_generic { self.cx.vars.fresh() } else { ty };
            FunctionParam { ty, is_inout: false, no_derivative: false, autoclosure: false }
        });
        let params = params.collect();
        let result = self.cx.vars.fresh();
        let wanted = FunctionType { params, result, throws, strength: Strength::Open };
        self.expr(&closure, Some(&Type::Function(Rc::new(wanted))))
    }
}
