//! Closure expressions: their types, captures and bodies.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, StmtKind as AstStmt};
use crate::types::generics::unification;
use crate::types::infer::call::arguments::{ArgNode, closure_arity};
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::infer::stmt::branch::ends_in_statements;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::declaration_tables::{BodyState, Code as FunctionCode, FunctionKind, blank_function};
use crate::types::model::syntax_query::named;
use crate::types::model::syntax_query::{result_expression, single_expression};
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Expr, ExprKind, FunctionId, Stmt, StmtKind};
use crate::types::names::name_lookup;
use crate::types::nominal::ownership;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers a closure expression; the expression is pending while the types of the closure's parameters are not
    /// known.
    pub(crate) fn closure(&mut self, closure: &Rc<ast::Closure>, expected: Option<&Type>, span: Span) -> Expr {
        let mut wanted = expected.and_then(|t| self.known(t));
        while let Some(inner) = wanted.as_ref().and_then(|t| name_lookup::optional_payload(self.cx, t)) {
            wanted = self.known(&inner);
        }
        let ty = self.closure_type(closure, wanted.as_ref(), span);
        if ty == Type::Error {
            return self.error_expr(span);
        }
        if self.closure_is_ready(&ty) {
            return self.closure_now(closure, &ty, span);
        }
        self.wait(PendingKind::Closure { closure: closure.clone() }, ty, span)
    }

    /// Returns the function type of a closure, as far as its syntax and the expected type determine it.
    fn closure_type(&mut self, closure: &ast::Closure, wanted: Option<&Type>, span: Span) -> Type {
        let wanted = match wanted {
            Some(Type::Function(f)) => Some(f.clone()),
            _ => None,
        };
        if let (Some(written), Some(wanted)) = (&closure.params, &wanted)
            && !self.takes(wanted, written.len())
        {
            return self.wrong_arity(wanted, written.len(), span);
        }
        let mut params: Vec<FunctionParam> = vec![];
        let plain = |ty: Type, is_inout: bool| FunctionParam { ty, is_inout, no_derivative: false, autoclosure: false };
        match &closure.params {
            // The closure has several parameters for the parts of one tuple, which `tuple_closure` handles.
            Some(written) if written.len() > 1 && wanted.as_ref().is_some_and(|w| w.params.len() == 1) => {
                params.extend(wanted.iter().flat_map(|w| w.params.iter().cloned()));
            }
            Some(written) => {
                for (i, param) in written.iter().enumerate() {
                    let from = wanted.as_ref().filter(|w| w.params.len() == written.len()).map(|w| w.params[i].clone());
                    let ty = match &param.ty {
                        Some(ty) => {
                            let ty = self.resolve(ty);
                            if let Some(from) = &from {
                                self.unify_or_report(&ty, &from.ty, param.name.span);
                            }
                            ty
                        }
                        None => from.as_ref().map_or_else(|| self.cx.vars.fresh_parameter(), |p| p.ty.clone()),
                    };
                    params.push(plain(ty, param.is_inout || from.is_some_and(|p| p.is_inout)));
                }
            }
            None => {
                let used = highest_anonymous(&closure.body).map_or(0, |n| n + 1);
                if let Some(w) = wanted.as_ref().filter(|w| used < w.params.len()) {
                    match used {
                        0 => self.check_nothing_ignored(closure, w, span),
                        _ => return self.wrong_arity(w, used, span),
                    }
                }
                let count = wanted.as_ref().map_or(used, |w| w.params.len());
                for i in 0..count {
                    let from = wanted.as_ref().and_then(|w| w.params.get(i));
                    match from {
                        Some(p) => params.push(plain(p.ty.clone(), p.is_inout)),
                        None => {
                            let ty = self.cx.vars.fresh_parameter();
                            params.push(plain(ty, false));
                        }
                    }
                }
            }
        }
        let result = match (&closure.result, &wanted) {
            (Some(ty), wanted) => {
                let ty = self.resolve(ty);
                if let Some(w) = wanted {
                    let hint = w.result.clone();
                    self.hint(&hint, &ty, span);
                }
                ty
            }
            // The value of the closure is converted to the expected result type.
            (None, Some(w)) => w.result.clone(),
            (None, None) => self.cx.vars.fresh(),
        };
        let throws = wanted.as_ref().is_some_and(|w| w.throws) || self.may_throw(closure);
        Type::Function(Rc::new(FunctionType { params, result, throws, strength: Strength::Open }))
    }

    /// Whether a closure with `written` parameters can have the expected function type: a single tuple may be
    /// destructured.
    fn takes(&mut self, wanted: &FunctionType, written: usize) -> bool {
        match wanted.params.as_slice() {
            [only] if written > 1 => {
                let ty = only.ty.clone();
                match unification::shallow(self.cx, &ty) {
                    Type::Tuple(parts) => parts.len() == written,
                    Type::Var(v) => self.cx.vars.var(v).literal.is_none(),
                    Type::Error => true,
                    _ => self.is_open(&ty),
                }
            }
            params => params.len() == written,
        }
    }

    pub(crate) fn wrong_arity(&mut self, wanted: &Rc<FunctionType>, written: usize, span: Span) -> Type {
        let ty = Type::Function(wanted.clone());
        let message = format!(
            "contextual closure type '{}' expects {}, but {} used in closure body",
            self.show(&ty),
            count(wanted.params.len()),
            if written == 1 { "1 was".to_string() } else { format!("{written} were") }
        );
        self.error(Diagnostic::error(Code::WrongArguments, span, message));
        Type::Error
    }

    /// Reports a closure that ignores its arguments implicitly: the closure must name its parameters, if only as `_`,
    /// unless the only parameter is `()`.
    fn check_nothing_ignored(&mut self, closure: &ast::Closure, wanted: &FunctionType, span: Span) {
        let given = wanted.params.len();
        let is_nothing = |infer: &mut Self, p: &FunctionParam| unification::shallow(infer.cx, &p.ty).is_unit();
        if matches!(wanted.params.as_slice(), [only] if is_nothing(self, only)) {
            return;
        }
        let message = format!(
            "contextual type for closure argument list expects {}, which cannot be implicitly ignored",
            count(given)
        );
        let names = vec!["_"; given].join(", ");
        let diagnostic = Diagnostic::error(Code::WrongArguments, span, message);
        let after_brace = Span::new(span.start + 1, span.start + 1);
        self.error(match closure.captures.is_empty() {
            true => {
                let space = if closure.body.items.is_empty() { " " } else { "" };
                diagnostic.fix("ignore it explicitly", after_brace, format!(" {names} in{space}"))
            }
            false => diagnostic.help(format!("write '{names}' between the capture list and 'in'")),
        });
    }

    /// Whether the types of all parameters of a closure are known.
    pub(crate) fn closure_is_ready(&mut self, ty: &Type) -> bool {
        let Type::Function(f) = unification::shallow(self.cx, ty) else { return false };
        f.params.iter().all(|p| {
            let ty = p.ty.clone();
            !unification::has_vars(self.cx, &ty)
        })
    }

    /// Checks the body of a closure whose parameter types are known.
    pub(crate) fn closure_now(&mut self, closure: &Rc<ast::Closure>, ty: &Type, span: Span) -> Expr {
        let Type::Function(f) = unification::shallow(self.cx, ty) else { return self.error_expr(span) };
        let names: Vec<(ast::Name, Span)> = match &closure.params {
            Some(params) if params.len() == f.params.len() => {
                params.iter().map(|p| (p.name.name.clone(), p.name.span)).collect()
            }
            // The closure has the form `{ (a, b) in … }` and takes one tuple.
            Some(params) if f.params.len() == 1 => return self.tuple_closure(closure, params, &f, span),
            Some(params) => {
                let message = format!("the closure takes {}, but is passed {}", count(params.len()), f.params.len());
                return self.fail(Code::WrongArguments, span, message);
            }
            None => {
                if let Some(n) = highest_anonymous(&closure.body)
                    && n >= f.params.len()
                {
                    if f.params.len() == 1 && matches!(unification::shallow(self.cx, &f.params[0].ty), Type::Tuple(_)) {
                        return self.spread_closure(closure, &f, span);
                    }
                    let message = format!("the closure uses ${n}, but takes only {}", count(f.params.len()));
                    return self.fail(Code::WrongArguments, span, message);
                }
                (0..f.params.len()).map(|i| (format!("${i}").into(), span)).collect()
            }
        };
        let captures: Vec<(ast::Name, Ownership, Expr)> = closure
            .captures
            .iter()
            .map(|c| {
                let start = (self.pending.len(), self.cx.vars.var_count());
                let value = match &c.value {
                    Some(value) => self.expr(value, None),
                    None => self.expr(
                        &ast::Expr {
                            kind: Ast::Ident { name: c.name.name.clone(), generics: vec![] },
                            span: c.name.span,
                        },
                        None,
                    ),
                };
                let ownership = c.ownership.as_ref().map_or(Ownership::Strong, |word| named(word));
                if ownership != Ownership::Strong {
                    self.resolve_statement(start);
                }
                let value = if ownership == Ownership::Weak { self.as_optional(value) } else { value };
                let ty = unification::resolved(self.cx, &value.ty.clone());
                let fits = ownership::check_ownership(self.cx, ownership, false, &ty, c.name.span);
                self.failed |= !fits;
                (c.name.name.clone(), ownership, value)
            })
            .collect();
        if !captures.is_empty() {
            return self.with_captures(captures, closure, ty, span);
        }
        let function = self.new_closure_function(span);
        let thrown = closure.thrown.as_ref().map(|ty| self.resolve(ty));
        self.push_frame(FrameKind::Closure, f.result.clone(), f.throws, Some(function));
        self.frame().thrown_here = thrown;
        self.add_params(&names, &f.params);
        let statements = self.closure_body(&closure.body, &f.result, span);
        let frame = self.leave_frame();
        self.open_body(function, frame, statements);
        let ty = Type::Function(Rc::new(FunctionType { strength: Strength::Open, ..(*f).clone() }));
        Expr { kind: ExprKind::Closure { function }, ty, span }
    }

    fn with_captures(
        &mut self,
        captures: Vec<(ast::Name, Ownership, Expr)>,
        closure: &Rc<ast::Closure>,
        ty: &Type,
        span: Span,
    ) -> Expr {
        let bare = Rc::new(ast::Closure { captures: vec![], ..(**closure).clone() });
        let mut captures = captures.into_iter();
        let Some((name, ownership, value)) = captures.next() else { return self.error_expr(span) };
        let rest: Vec<_> = captures.collect();
        let ty = ty.clone();
        self.with_temporary(value, |infer, local| {
            infer.frame().locals[local.0 as usize].ownership = ownership;
            infer.in_scope(|infer| {
                infer.bind(&name, local);
                if rest.is_empty() {
                    infer.closure_now(&bare, &ty, span)
                } else {
                    infer.with_captures(rest, &bare, &ty, span)
                }
            })
        })
    }

    fn add_params(&mut self, names: &[(ast::Name, Span)], params: &[FunctionParam]) {
        for ((name, span), param) in names.iter().zip(params) {
            let local = self.new_param(name, param.ty.clone(), param.is_inout, *span);
            self.frame().anonymous.push(local);
            if &**name != "_" {
                self.bind(name, local);
            }
        }
        self.frame().params = params.len();
    }

    /// Infers the statements of a closure's body: a single expression is its result.
    fn closure_body(&mut self, body: &ast::Block, result: &Type, span: Span) -> Vec<Stmt> {
        let known = self.known(result);
        let is_unit = known.as_ref().is_some_and(Type::is_unit);
        let only = if is_unit { single_expression(body) } else { result_expression(body) };
        if let Some(only) = only
            && !stands_as_statement(only, known.as_ref())
        {
            let value = self.expr(only, known.as_ref());
            if is_unit && !unification::shallow(self.cx, &value.ty.clone()).is_unit() {
                // A closure with the result type `()` may end with any value.
                let kind = StmtKind::Expr(value);
                return vec![Stmt { kind, span }];
            }
            let value = self.coerce(value, result);
            let span = value.span;
            return vec![Stmt { kind: StmtKind::Return(Some(value)), span }];
        }
        let mut gives = false;
        returns_value(&body.items, &mut gives);
        if !gives {
            let unit = Type::unit();
            unification::unify(self.cx, result, &unit, span);
        }
        let mut statements = self.body_statements(body);
        self.convert_postponed(&mut statements, result, span);
        statements
    }

    /// Infers `{ (a, b) in … }` or `{ a, b in … }` for a function whose only parameter is a tuple.
    fn tuple_closure(
        &mut self,
        closure: &ast::Closure,
        params: &[ast::ClosureParam],
        f: &FunctionType,
        span: Span,
    ) -> Expr {
        let name: ast::Name = "$tuple".into();
        let ident = |name: &ast::Name| ast::Expr { kind: Ast::Ident { name: name.clone(), generics: vec![] }, span };
        let parts = params
            .iter()
            .map(|p| {
                let kind = if &*p.name.name == "_" {
                    ast::PatternKind::Wildcard
                } else {
                    ast::PatternKind::Bind { name: p.name.name.clone(), mutable: false }
                };
                (None, ast::Pattern { kind, span: p.name.span })
            })
            .collect();
        let pattern = ast::Pattern { kind: ast::PatternKind::Tuple(parts), span };
        let binding = ast::Binding { pattern, ty: None, value: Some(ident(&name)), accessors: None };
        let kind = ast::DeclKind::Variable { is_let: true, bindings: vec![binding] };
        let decl = ast::Decl { kind, attributes: vec![], modifiers: vec![], span, documentation: None };
        let first = ast::Stmt { kind: AstStmt::Decl(Rc::new(decl)), span };
        let mut items = vec![first];
        items.extend(with_return(&closure.body).items);
        let param = ast::ClosureParam { name: ast::Ident { name, span }, ty: None, is_inout: false };
        let body = ast::Block { items, span: closure.body.span };
        let rewritten = ast::Closure { params: Some(vec![param]), body, ..closure.clone() };
        let ty = Type::Function(Rc::new(f.clone()));
        self.closure_now(&Rc::new(rewritten), &ty, span)
    }

    /// Infers `{ $0 + $1 }` for a function whose only parameter is a tuple.
    fn spread_closure(&mut self, closure: &ast::Closure, f: &FunctionType, span: Span) -> Expr {
        let Type::Tuple(parts) = unification::shallow(self.cx, &f.params[0].ty) else { return self.error_expr(span) };
        let params: Vec<ast::ClosureParam> = (0..parts.len())
            .map(|i| ast::ClosureParam {
                name: ast::Ident { name: format!("${i}").into(), span },
                ty: None,
                is_inout: false,
            })
            .collect();
        self.tuple_closure(closure, &params, f, span)
    }

    /// Infers an anonymous parameter of a closure: `$0`, `$1`, and so on.
    pub(crate) fn anonymous(&mut self, n: usize, span: Span) -> Expr {
        match self.frame().anonymous.get(n).copied() {
            Some(local) => self.local_expr(local, span),
            None => {
                let message = format!("'${n}' is only available in a closure that takes at least {}", count(n + 1));
                let diagnostic = Diagnostic::error(Code::UnknownName, span, message);
                let may_be_amount = n > 0 && self.frame().kind != FrameKind::Closure;
                self.error(match may_be_amount {
                    true => diagnostic.fix(format!("write an amount of money as '{n}'"), span, n.to_string()),
                    false => diagnostic,
                });
                self.error_expr(span)
            }
        }
    }

    /// Returns the type that is expected of a closure that is called where it is written. A number literal among the
    /// arguments determines the type of the parameter, as in `{ $0 + $1 }(1, 2)`. What several statements return has the type that is
    /// expected of the call, as in `let x: any P = { if isFirst { return A() }; return B() }()`.
    pub(crate) fn called_closure_type(
        &mut self,
        callee: &ast::Expr,
        args: &mut [ArgNode],
        expected: Option<&Type>,
    ) -> Option<Type> {
        let mut callee = callee;
        while let Ast::Paren(inner) = &callee.kind {
            callee = inner;
        }
        let Ast::Closure(closure) = &callee.kind else { return None };
        if closure_arity(closure).unwrap_or(0) != args.len() {
            return None;
        }
        self.ready_args(args);
        let mut params = vec![];
        for (i, arg) in args.iter().enumerate() {
            let is_written = closure.params.as_ref().is_some_and(|written| written[i].ty.is_some());
            let given = arg.ready.as_ref().map(|ready| ready.ty.clone()).filter(|_| !is_written);
            let ty = match given.filter(|ty| self.is_number_literal(ty)) {
                Some(ty) => ty,
                None => self.cx.vars.fresh_parameter(),
            };
            let is_inout = closure.params.as_ref().is_some_and(|written| written[i].is_inout);
            params.push(FunctionParam { ty, is_inout, no_derivative: false, autoclosure: false });
        }
        let is_value = single_expression(&closure.body).is_some_and(|only| !stands_as_statement(only, None));
        let expected = expected.and_then(|ty| self.known(ty)).filter(|_| !is_value);
        let result = match expected {
            Some(ty) if !unification::has_vars(self.cx, &ty) => ty,
            _ => self.cx.vars.fresh(),
        };
        Some(Type::Function(Rc::new(FunctionType { params, result, throws: false, strength: Strength::Open })))
    }

    /// Infers an argument of an `@autoclosure` parameter.
    pub(crate) fn autoclosure(&mut self, arg: &ast::Expr, wanted: &Type) -> Expr {
        let Type::Function(f) = unification::shallow(self.cx, wanted) else { return self.error_expr(arg.span) };
        let function = self.new_closure_function(arg.span);
        self.push_frame(FrameKind::Closure, f.result.clone(), f.throws, Some(function));
        let value = self.expr(arg, Some(&f.result));
        let value = self.coerce(value, &f.result);
        let span = value.span;
        let statements = vec![Stmt { kind: StmtKind::Return(Some(value)), span }];
        let frame = self.leave_frame();
        self.open_body(function, frame, statements);
        Expr { kind: ExprKind::Closure { function }, ty: wanted.clone(), span }
    }

    fn new_closure_function(&mut self, span: Span) -> FunctionId {
        let enclosing = self.frames.first().and_then(|f| f.function).map(|f| self.cx.defs.full_name(f));
        let name = match enclosing {
            Some(enclosing) => format!("closure in {enclosing}"),
            None => "closure".to_string(),
        };
        let is_prelude = self.file == crate::types::model::prelude_index::PRELUDE_FILE;
        let mut data = blank_function(&name.into(), span, self.file, is_prelude);
        data.kind = FunctionKind::Closure;
        data.owner = self.owner;
        data.code = FunctionCode::Elsewhere;
        data.memo.body = BodyState::Checking;
        data.outer = Some(self.cx.scope.env.clone());
        self.cx.defs.add_function(data)
    }
}

fn count(arguments: usize) -> String {
    format!("{arguments} argument{}", if arguments == 1 { "" } else { "s" })
}

/// Returns the largest `n` such that a closure's body uses `$n`.
pub(crate) fn highest_anonymous(body: &ast::Block) -> Option<usize> {
    let mut highest = None;
    crate::types::model::syntax_walk::names(body, &mut |name| {
        if let Some(n) = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            highest = highest.max(Some(n));
        }
    });
    highest
}

/// Returns a body that returns its value, if it consists of one expression.
pub(crate) fn with_return(body: &ast::Block) -> ast::Block {
    match single_expression(body) {
        Some(only) => {
            let items = vec![ast::Stmt { kind: AstStmt::Return(Some(only.clone())), span: only.span }];
            ast::Block { items, span: body.span }
        }
        None => body.clone(),
    }
}

/// Sets `out` if a `return` with a value occurs in the statements.
fn returns_value(items: &[ast::Stmt], out: &mut bool) {
    crate::types::model::syntax_walk::returns(items, &mut |value| *out |= value.is_some());
}

/// Whether an `if` or `switch` that is the whole body of a closure is a statement: that is, the result is `()`, or a
/// branch has no value.
fn stands_as_statement(only: &ast::Expr, result: Option<&Type>) -> bool {
    matches!(only.kind, Ast::If { .. } | Ast::Switch { .. })
        && (result.is_some_and(Type::is_unit) || ends_in_statements(only))
}
