//! Function bodies: inference of the statements of whole functions.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::syntax::ast;
use crate::types::conform::superclass;
use crate::types::generics::opaque_type;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::call::generic_default;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::declaration_tables::{BodyState, Code, FunctionKind, Owner, Signature};
use crate::types::model::queries;
use crate::types::model::syntax_query::single_expression;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{
    Body, Expr, ExprKind, FunctionId, LocalId, Pattern, PatternKind, Place, Projection, ProjectionKind, Root, Stmt,
    StmtKind,
};
use crate::types::names::name_lookup;
use crate::types::names::type_alias;
use crate::types::names::type_expr;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// The maximum number of declarations that wait for each other's types, since each waiting declaration uses stack
/// space.
const MOST_WAITING: usize = 2_000;

/// Returns the checked body of a function; the body is checked if necessary. `None` if the body has errors.
pub(in crate::types) fn check_body(cx: &mut TypeContext, f: FunctionId) -> Option<Rc<Body>> {
    generic_default::resolve_default(cx, f);
    match &cx.defs.function_data(f).memo.body {
        BodyState::Checked(body) => return Some(body.clone()),
        BodyState::Failed | BodyState::Checking => return None,
        BodyState::None => {}
    }
    let signature = signature::signature(cx, f);
    if let BodyState::Checked(body) = &cx.defs.function_data(f).memo.body {
        return Some(body.clone());
    }
    cx.defs.functions[f.0 as usize].memo.body = BodyState::Checking;
    let local_types = cx.defs.function_data(f).local_types.clone();
    let place = (cx.defs.function_data(f).owner, cx.defs.function_data(f).file);
    let (body, failed, nominals) = Infer::run(cx, signature.env.clone(), place, |infer| {
        if let Some(local_types) = local_types {
            infer.local_types = local_types;
        }
        let body = infer.function(f, &signature);
        type_alias::check_alias_uses(infer.cx);
        (body, infer.failed, std::mem::take(&mut infer.local_nominals))
    });
    for n in nominals {
        queries::check_nominal(cx, n);
    }
    if let (Some(body), false) = (&body, failed) {
        crate::types::flow::check(cx, f, body);
    }
    let failed = failed || body.is_none();
    cx.defs.functions[f.0 as usize].memo.body = match body {
        Some(body) if !failed => BodyState::Checked(Rc::new(body)),
        _ => BodyState::Failed,
    };
    match &cx.defs.function_data(f).memo.body {
        BodyState::Checked(body) => Some(body.clone()),
        _ => None,
    }
}

/// Infers the type of the single expression of which a function without parameters consists, or the generic arguments
/// that the declared type of this expression omits.
pub(in crate::types) fn check_expression_type(cx: &mut TypeContext, f: FunctionId) -> Option<Type> {
    in_turn(cx, f, |cx| expression_type(cx, f))
}

fn expression_type(cx: &mut TypeContext, f: FunctionId) -> Option<Type> {
    let signature = cx.defs.function_data(f).memo.signature.clone()?;
    let Code::Expression(value) = cx.defs.function_data(f).code.clone() else { return None };
    let place = (cx.defs.function_data(f).owner, cx.defs.function_data(f).file);
    let declared = cx.defs.function_data(f).ast_result.clone();
    let ty = Infer::run(cx, signature.env.clone(), place, |infer| {
        infer.push_frame(FrameKind::Function, Type::Error, false, Some(f));
        let vars = infer.cx.vars.var_count();
        let scope = infer.scope();
        let declared = declared.map(|ty| type_expr::resolve_type(infer.cx, &ty, &scope));
        let mut found = infer.expr(&value, declared.as_ref());
        if let Some(declared) = &declared {
            found = infer.coerce(found, declared);
        }
        infer.resolve_statement((0, vars));
        unification::resolved(infer.cx, &found.ty.clone())
    });
    (!ty.any(&mut |t| matches!(t, Type::Var(_)))).then_some(ty)
}

/// Whether a function is declared as a formula: `f(x) = x^2`.
fn is_formula(cx: &TypeContext, f: FunctionId) -> bool {
    let decl = cx.defs.function_data(f).decl.as_ref();
    decl.is_some_and(|decl| matches!(decl.kind, ast::DeclKind::Formula { .. }))
}

/// Infers the result type of a formula.
pub(in crate::types) fn check_formula(cx: &mut TypeContext, f: FunctionId) -> Option<Type> {
    in_turn(cx, f, |cx| formula_type(cx, f))
}

/// Infers the type of a declaration; reports an error if too many declarations depend on it in a chain.
fn in_turn(cx: &mut TypeContext, f: FunctionId, infer: impl FnOnce(&mut TypeContext) -> Option<Type>) -> Option<Type> {
    if cx.memo.waiting_types == MOST_WAITING {
        let message = format!("type inference depends on a chain of more than {MOST_WAITING} declarations");
        let error = Diagnostic::error(DiagnosticCode::CannotInfer, cx.defs.function_data(f).span, message);
        cx.memo.waiting_error = Some(error.help("write the type of this declaration"));
        return None;
    }
    cx.memo.waiting_types += 1;
    let found = infer(cx);
    cx.memo.waiting_types -= 1;
    // Diagnostics are discarded while the type of a formula is inferred, so this error is reported afterwards.
    if cx.memo.waiting_types == 0
        && let Some(error) = cx.memo.waiting_error.take()
    {
        cx.sink.report(error);
    }
    found
}

fn formula_type(cx: &mut TypeContext, f: FunctionId) -> Option<Type> {
    let signature = cx.defs.function_data(f).memo.signature.clone()?;
    let Code::Expression(value) = cx.defs.function_data(f).code.clone() else { return None };
    let place = (cx.defs.function_data(f).owner, cx.defs.function_data(f).file);
    let (before, is_formula) = (cx.sink.diagnostics.len(), self::is_formula(cx, f));
    let ty = Infer::run(cx, signature.env.clone(), place, |infer| {
        let vars = infer.cx.vars.var_count();
        infer.push_frame(FrameKind::Function, Type::Error, false, Some(f));
        infer.add_signature_params(&signature);
        infer.in_formula = is_formula;
        let found = infer.with_fractions(is_formula, |infer| infer.expr(&value, None));
        infer.resolve_statement((0, vars));
        unification::resolved(infer.cx, &found.ty.clone())
    });
    // The body is checked again when the result type is known; errors are reported then.
    cx.sink.diagnostics.truncate(before);
    (ty != Type::Error && !ty.any(&mut |t| matches!(t, Type::Var(_)))).then_some(ty)
}

impl Infer<'_> {
    fn function(&mut self, f: FunctionId, signature: &Rc<Signature>) -> Option<Body> {
        let code = self.cx.defs.function_data(f).code.clone();
        let (kind, span) = (self.cx.defs.function_data(f).kind, self.cx.defs.function_data(f).span);
        let frame_kind = if kind == FunctionKind::Script { FrameKind::Script } else { FrameKind::Function };
        self.push_frame(frame_kind, signature.result.clone(), signature.throws, Some(f));
        self.add_signature_params(signature);
        let mut statements = match code {
            Code::Block(None) => {
                if self.cx.defs.function_data(f).primitive.is_some()
                    || self.cx.defs.function_data(f).requirement.is_some()
                {
                    return None;
                }
                self.error(Diagnostic::error(DiagnosticCode::WrongContext, span, "expected a body in braces"));
                return None;
            }
            Code::Block(Some(body)) => match kind {
                FunctionKind::Init { .. } => {
                    let extended = self.body_with_variables(f, &body, false);
                    self.initializer(extended.as_ref().unwrap_or(&body), signature)
                }
                FunctionKind::Function | FunctionKind::Getter => {
                    let built = self.building_attributes(f).and_then(|decl| self.built_body(&decl.attributes, &body));
                    let result = signature.result.clone();
                    let extended = self.body_with_variables(f, built.as_ref().unwrap_or(&body), !result.is_unit());
                    self.function_statements(extended.as_ref().or(built.as_ref()).unwrap_or(&body), &result)
                }
                _ => self.function_statements(&body, &signature.result.clone()),
            },
            Code::Expression(value) => {
                let vars = self.cx.vars.var_count();
                let result = self.opened_result(&signature.result, value.span);
                let is_formula = self::is_formula(self.cx, f);
                self.in_formula = is_formula;
                if is_formula && self.cx.module.is_interactive && self.cx.module.wants_value {
                    self.displayed = Some(value.span);
                }
                let found = self.with_fractions(is_formula, |infer| infer.expr(&value, Some(&result)));
                let found = self.coerce(found, &result);
                self.resolve_statement((0, vars));
                let span = found.span;
                vec![Stmt { kind: StmtKind::Return(Some(found)), span }]
            }
            Code::Memberwise(n) => self.memberwise(n, signature),
            Code::Script(items) => self.script(&items),
            Code::Elsewhere => return None,
        };
        let given = std::mem::take(&mut self.given);
        opaque_type::agree_on_opaque(self.cx, given);
        self.complete_global_types();
        self.complete_captures();
        self.close_bodies();
        self.finish_statements(&mut statements);
        let frame = self.current;
        let mut body = self.body_of(frame, statements);
        self.finish_locals(&mut body);
        Some(body)
    }

    /// Creates the body of a memberwise initializer: the arguments become the stored properties; a `let` with an
    /// initial value retains this value.
    fn memberwise(&mut self, n: crate::types::model::ty::NominalId, signature: &Signature) -> Vec<Stmt> {
        let span = self.cx.defs.nominal_data(n).span;
        let mut fields = vec![];
        let mut next = 0;
        for i in 0..self.cx.defs.nominal_data(n).stored.len() as u32 {
            let ty = stored_property::stored_type(self.cx, n, i);
            let stored = &self.cx.defs.nominal_data(n).stored[i as usize];
            if stored.is_let && stored.value.is_some() {
                let value = self.initial_value(n, i, &ty);
                fields.push(value);
                continue;
            }
            let wrap = stored_property::wrapping(stored).map(|(wrap, _)| wrap);
            let given = signature.params[next as usize].ty.clone();
            let given = Expr { kind: ExprKind::Local(LocalId(next)), ty: given, span };
            fields.push(match wrap {
                Some(wrap) => self.wrapped_value(n, wrap, given, ty),
                None => given,
            });
            next += 1;
        }
        let value = Expr { kind: ExprKind::Struct { fields }, ty: signature.result.clone(), span };
        vec![Stmt { kind: StmtKind::Return(Some(value)), span }]
    }

    /// Returns the call of `wrap` that constructs the property wrapper from the wrapped value.
    pub(crate) fn wrapped_value(
        &mut self,
        n: crate::types::model::ty::NominalId,
        wrap: FunctionId,
        value: Expr,
        ty: Type,
    ) -> Expr {
        let span = value.span;
        let generics = self.cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect();
        let callee = crate::types::model::typed_tree::Callee::Static(crate::types::model::typed_tree::FunctionRef {
            function: wrap,
            generics,
        });
        Expr {
            kind: ExprKind::Call { callee, args: vec![crate::types::model::typed_tree::Argument::Value(value)] },
            ty,
            span,
        }
    }

    fn initial_value(&mut self, n: crate::types::model::ty::NominalId, index: u32, ty: &Type) -> Expr {
        let span = self.cx.defs.nominal_data(n).stored[index as usize].span;
        let Some(function) = stored_property::stored_initial(self.cx, n, index) else {
            return Expr { kind: ExprKind::Nil, ty: ty.clone(), span };
        };
        let generics = self.cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect();
        let callee = crate::types::model::typed_tree::Callee::Static(crate::types::model::typed_tree::FunctionRef {
            function,
            generics,
        });
        Expr { kind: ExprKind::Call { callee, args: vec![] }, ty: ty.clone(), span }
    }

    /// Infers the body of an initializer, which initializes a variable `self` and returns it.
    fn initializer(&mut self, body: &ast::Block, signature: &Signature) -> Vec<Stmt> {
        let span = body.span;
        let own = match self.own_type() {
            Some(own) => own,
            None => return vec![],
        };
        let mut statements = vec![];
        // An initializer of a class receives the instance as `self`.
        let is_class = signature.self_type.is_some();
        let local = if is_class { LocalId(0) } else { self.new_local("self", own.clone(), true, span) };
        self.frame().init_self = Some(local);
        if !is_class {
            self.bind(&"self".into(), local);
            let pattern = Pattern { kind: PatternKind::Bind(local), ty: own.clone(), span };
            statements.push(Stmt { kind: StmtKind::Let { pattern, value: None }, span });
        }
        // A delegating initializer leaves the initial values to the other initializer.
        if let (Owner::Nominal(n), Type::Nominal(..), false) =
            (self.owner, &own, crate::types::model::syntax_walk::delegates(&body.items))
        {
            for i in 0..self.cx.defs.nominal_data(n).stored.len() as u32 {
                let ty = stored_property::stored_type(self.cx, n, i);
                let stored = &self.cx.defs.nominal_data(n).stored[i as usize];
                let starts_as_nil = !stored.is_let && stored.value.is_none();
                if stored.value.is_none() && !(starts_as_nil && name_lookup::is_optional(self.cx, &ty)) {
                    continue;
                }
                let value = self.initial_value(n, i, &ty);
                let index = superclass::inherited_count(self.cx, n) + i;
                let path = vec![Projection { kind: ProjectionKind::Field(index), ty: ty.clone(), span }];
                let root =
                    if is_class { Root::Value(Box::new(self.local_expr(local, span))) } else { Root::Local(local) };
                let place = Place { root, path, ty, span };
                statements.push(Stmt { kind: StmtKind::Assign { place, value }, span });
            }
        }
        match single_expression(body).filter(|only| matches!(only.kind, ast::ExprKind::Nil)) {
            // The body consists of `nil` only, as in `init?() { nil }`.
            Some(nil) => {
                let kind = ast::StmtKind::Return(Some(nil.clone()));
                statements.extend(self.statements(&[ast::Stmt { kind, span: nil.span }]));
            }
            None => statements.extend(self.statements(&body.items)),
        }
        let end = span.last();
        if is_class {
            statements.extend(self.implicit_super_init(body, end));
        }
        let value = self.local_expr(local, end);
        let value = self.coerce(value, &signature.result.clone());
        statements.push(Stmt { kind: StmtKind::Return(Some(value)), span: end });
        statements
    }

    /// Infers the top level: the statements of all files in order.
    fn script(&mut self, items: &[(u32, ast::Stmt)]) -> Vec<Stmt> {
        let mut out = vec![];
        let mut at = 0;
        while at < items.len() {
            let file = items[at].0;
            let end = items[at..].iter().position(|(f, _)| *f != file).map_or(items.len(), |n| at + n);
            self.file = file;
            let part: Vec<ast::Stmt> = items[at..end].iter().map(|(_, s)| s.clone()).collect();
            out.extend(self.statements(&part));
            at = end;
        }
        self.last_value(&mut out);
        out
    }

    /// Makes the value of the last statement the result of the script, if the statement is an expression and a value is
    /// requested.
    fn last_value(&mut self, statements: &mut [Stmt]) {
        if let Some(last) = statements.last_mut()
            && let StmtKind::Expr(value) = &last.kind
        {
            let ty = unification::resolved(self.cx, &value.ty.clone());
            if !ty.is_unit() && ty != Type::Never && ty != Type::Error && self.cx.module.wants_value {
                self.displayed = Some(value.span);
                last.kind = StmtKind::Return(Some(value.clone()));
                self.frames[0].result = ty.clone();
                self.cx.module.script_result = Some(ty);
            }
        }
    }
}
