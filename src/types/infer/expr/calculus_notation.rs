//! Calculus notation: `f'` (of a matrix, its transpose), `∇f`, `∂(f, x)`, and operators as values.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::{Infer, LocalEntity};
use crate::types::model::declaration_tables::Named;
use crate::types::model::display::with_article;
use crate::types::model::syntax_query;
use crate::types::model::ty::{Strength, Type};
use crate::types::model::typed_tree::{Expr, FunctionId};
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// A parameter of a named function that is differentiated.
pub(crate) struct KnownParameter {
    pub(crate) name: ast::Name,
    pub(crate) label: Option<ast::Name>,
    pub(crate) ty: Type,
}

impl KnownParameter {
    /// Creates a parameter of a function value, whose name is not known.
    fn unnamed(ty: Type) -> KnownParameter {
        KnownParameter { name: "_".into(), label: None, ty }
    }
}

impl Infer<'_> {
    /// Infers the derivative of a function, `f'`.
    pub(crate) fn prime(&mut self, function: &ast::Expr, order: u32, span: Span) -> Expr {
        let overload = self.overload_with(function, 1);
        let mut value = self.expr(function, overload.as_ref());
        if self.is_transposable(&value.ty.clone()) {
            for _ in 0..order {
                value = self.apply_prelude_to(value, "_transposed", "of", span);
            }
            return value;
        }
        if let Type::Function(f) = unification::shallow(self.cx, &value.ty.clone())
            && f.params.len() != 1
        {
            return self.prime_of_several(function, f.params.len());
        }
        if let Some(refused) = self.refused_notation(function, &value) {
            return refused;
        }
        for _ in 0..order {
            value = self.apply_prelude_to(value, "derivative", "of", span);
        }
        value
    }

    /// Reports the notation of a derivative after a variable that holds a number or a text.
    fn refused_notation(&mut self, operand: &ast::Expr, value: &Expr) -> Option<Expr> {
        const WITHOUT: [&str; 5] = ["Double", "Float", "Int", "String", "Bool"];
        let (Ast::Ident { name, .. }, Some(ty)) = (&operand.kind, self.known(&value.ty.clone())) else { return None };
        let shown = self.show(&ty);
        if !WITHOUT.contains(&&*shown) {
            return None;
        }
        let message = format!("a derivative belongs to a function, and '{name}' is {}", with_article(&shown));
        let diagnostic = Diagnostic::error(Code::WithRespectTo, operand.span, message);
        self.error(diagnostic.help("define a function, as in 'f(x) = x^2', then write 'f''"));
        Some(self.error_expr(operand.span))
    }

    /// Whether `x'` of a value of this type is its transpose rather than a derivative.
    fn is_transposable(&mut self, ty: &Type) -> bool {
        self.known(ty).is_some_and(|ty| {
            name_lookup::visible_protocol(self.cx, "Transposable")
                .is_some_and(|protocol| conformances::conforms_to(self.cx, &ty, protocol))
        })
    }

    /// Reports `f'` for a function that does not take one number; suggests the gradient and a partial derivative.
    fn prime_of_several(&mut self, function: &ast::Expr, count: usize) -> Expr {
        let (name, first) = match &function.kind {
            Ast::Ident { name, .. } => {
                let first = self.parameters_of(function).and_then(|all| all.into_iter().next());
                (name.to_string(), first.map_or("x".into(), |p| p.name.to_string()))
            }
            _ => ("f".into(), "x".to_string()),
        };
        let message = format!("the notation f' needs a function of one number, but '{name}' takes {count}");
        let diagnostic = Diagnostic::error(Code::WithRespectTo, function.span, message)
            .help(format!("for the gradient, write '∇{name}'"))
            .help(format!("for a partial derivative, write '∂({name}, {first})'"));
        self.error(diagnostic);
        self.error_expr(function.span)
    }

    /// Infers the gradient of a function, `∇f`, which is called with `count` arguments if this is known.
    pub(crate) fn nabla(&mut self, function: &ast::Expr, count: Option<usize>, span: Span) -> Expr {
        let overload = count.and_then(|count| self.overload_with(function, count));
        let value = self.expr(function, overload.as_ref());
        self.apply_prelude_to(value, "gradient", "of", span)
    }

    /// Returns the type of the only function with a number of parameters among the functions of the program with a name.
    fn overload_with(&mut self, function: &ast::Expr, count: usize) -> Option<Type> {
        let overloads = self.overloads_of(function);
        if overloads.len() < 2 {
            return None;
        }
        let mut fitting = overloads.into_iter().map(|f| signature::signature(self.cx, f));
        let found = fitting.by_ref().find(|signature| signature.params.len() == count)?;
        let is_only = fitting.all(|signature| signature.params.len() != count);
        (is_only && found.env.params.is_empty()).then(|| signature::function_type(&found))
    }

    /// Returns the functions of the program with a name.
    fn overloads_of(&mut self, function: &ast::Expr) -> Vec<FunctionId> {
        let Ast::Ident { name, .. } = &function.kind else { return vec![] };
        match self.find_local(name) {
            Some(LocalEntity::LocalFunctions(functions)) => return functions,
            Some(_) => return vec![],
            None => {}
        }
        let file = self.file;
        let entries = name_lookup::entries(self.cx, name, file);
        let functions: Vec<FunctionId> = entries
            .iter()
            .filter_map(|entry| match entry.what {
                Named::Function(f) if !self.cx.defs.function_data(f).is_prelude => Some(f),
                _ => None,
            })
            .collect();
        if functions.len() == entries.len() { functions } else { vec![] }
    }

    pub(crate) fn apply_prelude_to(&mut self, value: Expr, name: &'static str, label: &str, span: Span) -> Expr {
        let arg = ArgNode {
            label: Some(label.into()),
            label_span: None,
            ast: Rc::new(ast::Expr { kind: Ast::Error, span: value.span }),
            trailing: false,
            ready: Some(Rc::new(value)),
            is_whole: false,
            span,
        };
        let mut candidates = vec![];
        for entry in prelude::library_entries(self.cx, name) {
            if let Named::Function(f) = entry.what {
                candidates.push(crate::types::infer::call::candidates::Candidate {
                    target: crate::types::infer::call::candidates::Target::Function(f),
                    prefix: Rc::from([]),
                    receiver: None,
                    tier: 1,
                });
            }
        }
        self.call_overloaded(&Ident { name: name.into(), span }, candidates, vec![arg], None, span)
    }

    /// Infers `∂(f, x)`: the derivative with respect to one parameter, as a function of all parameters.
    pub(crate) fn partial(&mut self, function: &ast::Expr, parameter: &Ident, span: Span) -> Expr {
        let overloads: Vec<_> = self.overloads_of(function).into_iter().map(|f| self.declared_parameters(f)).collect();
        let with_parameter = overloads.into_iter().filter(|all| all.iter().any(|p| p.name == parameter.name));
        // A partial derivative is rather that of the function with more parameters.
        let found = with_parameter.max_by_key(Vec::len).or_else(|| self.parameters_of(function));
        let Some(parameters) = found else {
            let message = "the names of the parameters of this function are not known";
            return self.fail(Code::WithRespectTo, function.span, message);
        };
        let Some(at) = parameters.iter().position(|p| p.name == parameter.name) else {
            let known = parameters.iter().map(|p| format!("'{}'", p.name)).collect::<Vec<_>>().join(", ");
            let message = format!("the function has no parameter '{}'; its parameters are {known}", parameter.name);
            return self.fail(Code::WithRespectTo, parameter.span, message);
        };
        let text_params = closure_parameters(function, &parameters);
        let ident = |name: &str| ident(name, span);
        let inner_args =
            text_params.iter().enumerate().map(|(i, p)| if i == at { ident("$dp") } else { ident(p) }).collect();
        let throws = self.is_throwing(function);
        let call = call_with(function, &parameters, inner_args, span);
        let inner = closure_of_call(&["$dp".to_string()], call, throws, span);
        let labeled = |label: &str, value| ast::Arg {
            label: Some(Ident { name: label.into(), span }),
            value: Rc::new(value),
            trailing: false,
        };
        let args = vec![labeled("at", ident(&text_params[at])), labeled("in", inner)];
        let body = ast::Expr { kind: Ast::Call { callee: Rc::new(ident("derivative")), args }, span };
        let outer = closure_of_call(&text_params, body, throws, span);
        let params = parameters
            .into_iter()
            .map(|KnownParameter { ty, .. }| crate::types::model::ty::FunctionParam {
                ty,
                is_inout: false,
                no_derivative: false,
                autoclosure: false,
            })
            .collect();
        let result = self.cx.vars.fresh();
        let wanted = crate::types::model::ty::FunctionType { params, result, throws, strength: Strength::Open };
        self.expr(&outer, Some(&Type::Function(Rc::new(wanted))))
    }

    /// Returns the parameters of a function that is given by name.
    pub(crate) fn parameters_of(&mut self, function: &ast::Expr) -> Option<Vec<KnownParameter>> {
        let name = match &function.kind {
            Ast::Ident { name, .. } => name,
            // A partial derivative has the parameters of its function, in their order.
            Ast::Partial { function, .. } => {
                let all = self.parameters_of(function)?;
                return Some(all.into_iter().map(|p| KnownParameter { label: None, ..p }).collect());
            }
            _ => return None,
        };
        match self.find_local(name) {
            Some(LocalEntity::LocalFunctions(functions)) => {
                return functions.first().map(|f| self.declared_parameters(*f));
            }
            Some(LocalEntity::Local(local)) => {
                let ty = self.local_type(local);
                return match unification::shallow(self.cx, &ty) {
                    Type::Function(f) => Some(f.params.iter().map(|p| KnownParameter::unnamed(p.ty.clone())).collect()),
                    _ => None,
                };
            }
            Some(LocalEntity::Computed(..)) => return None,
            None => {}
        }
        let file = self.file;
        for entry in name_lookup::entries(self.cx, name, file) {
            match entry.what {
                Named::Function(f) => return Some(self.declared_parameters(f)),
                Named::Global(g) => {
                    let names = self.cx.defs.closure_names.get(&g).cloned();
                    if let (Some(names), Type::Function(f)) = (names, stored_property::global_type(self.cx, g)) {
                        let named = names.into_iter().zip(&f.params);
                        return Some(
                            named.map(|(name, p)| KnownParameter { name, label: None, ty: p.ty.clone() }).collect(),
                        );
                    }
                }
                Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        None
    }

    pub(crate) fn declared_parameters(
        &mut self,
        f: crate::types::model::typed_tree::FunctionId,
    ) -> Vec<KnownParameter> {
        let signature = signature::signature(self.cx, f);
        let named = |p: &crate::types::model::declaration_tables::SignatureParam| KnownParameter {
            name: p.name.clone(),
            label: p.label.clone(),
            ty: p.ty.clone(),
        };
        signature.params.iter().map(named).collect()
    }

    /// Infers an operator that is used as a value, such as `+`.
    pub(crate) fn operator_value(&mut self, name: &ast::Name, expected: Option<&Type>, span: Span) -> Expr {
        let operand = match expected.and_then(|t| self.known(t)) {
            Some(Type::Function(f)) if f.params.len() == 1 => match unification::shallow(self.cx, &f.params[0].ty) {
                Type::Tuple(parts) => parts.len(),
                _ => 1,
            },
            _ => 2,
        };
        let params: Vec<String> = (0..operand).map(|i| format!("$op{i}")).collect();
        let ident = |name: &str| ident(name, span);
        let op = Ident { name: name.clone(), span };
        let body = if operand == 2 {
            Ast::Binary { op, lhs: Rc::new(ident(&params[0])), rhs: Rc::new(ident(&params[1])), juxtaposed: false }
        } else {
            Ast::Prefix { op, operand: Rc::new(ident("$op0")) }
        };
        let closure = syntax_query::closure_of(&params, ast::Expr { kind: body, span }, span);
        self.expr(&closure, expected)
    }
}

/// Returns the names of the parameters of a closure that calls a function with all of its arguments: those of the
/// function, with an underscore if the closure uses the name for something else.
fn closure_parameters(function: &ast::Expr, parameters: &[KnownParameter]) -> Vec<String> {
    let named = |(i, parameter): (usize, &KnownParameter)| {
        let mut name = if &*parameter.name == "_" { format!("x{}", i + 1) } else { parameter.name.to_string() };
        while name == "derivative" || is_named(function, &name) {
            name.push('_');
        }
        name
    };
    parameters.iter().enumerate().map(named).collect()
}

/// Whether a function that is given by name, or a partial derivative of it, has a name.
fn is_named(function: &ast::Expr, of: &str) -> bool {
    match &function.kind {
        Ast::Ident { name, .. } => &**name == of,
        Ast::Partial { function, .. } => is_named(function, of),
        _ => false,
    }
}

/// Creates an expression that consists of a name.
pub(crate) fn ident(name: &str, span: Span) -> ast::Expr {
    ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span }
}

/// Creates a call of a function with arguments for all of its parameters.
pub(crate) fn call_with(
    function: &ast::Expr,
    parameters: &[KnownParameter],
    arguments: Vec<ast::Expr>,
    span: Span,
) -> ast::Expr {
    let label = |p: &KnownParameter| p.label.clone().map(|name| Ident { name, span });
    let args = parameters
        .iter()
        .zip(arguments)
        .map(|(p, value)| ast::Arg { label: label(p), value: Rc::new(value), trailing: false })
        .collect();
    ast::Expr { kind: Ast::Call { callee: Rc::new(function.clone()), args }, span }
}

/// Creates the closure `{ params in call }`, which throws if the call throws.
pub(crate) fn closure_of_call(params: &[String], call: ast::Expr, throws: bool, span: Span) -> ast::Expr {
    if !throws {
        return syntax_query::closure_of(params, call, span);
    }
    let tried = Ast::Try { kind: ast::TryKind::Propagate, value: Rc::new(call) };
    let mut closure = syntax_query::closure_of(params, ast::Expr { kind: tried, span }, span);
    if let Ast::Closure(made) = &mut closure.kind {
        Rc::make_mut(made).throws = true;
    }
    closure
}
