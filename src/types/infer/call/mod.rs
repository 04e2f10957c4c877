//! Calls: inference of calls, the choice of the called function, and its arguments.

pub(crate) mod application;
pub(crate) mod arguments;
pub(crate) mod arity;
mod called_property;
pub(crate) mod candidates;
pub(crate) mod closure_overload;
pub(crate) mod custom_interpolation;
pub(crate) mod delegating_initializer;
pub(crate) mod dynamic_member;
pub(crate) mod expectation;
pub(crate) mod generic_default;
pub(crate) mod overload_resolution;
mod parenthesized_callee;
mod pending_result;
pub(crate) mod result_builder;
pub(crate) mod specificity;
pub(crate) mod super_call;
pub(crate) mod throwing_version;
pub(crate) mod wrapped_element;

use super::{Infer, LocalEntity};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::types::conform::superclass;
use crate::types::generics::unification;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::call::parenthesized_callee::named_callee;
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::declaration_tables::{Entry, Named};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Argument, Expr, ExprKind};
use crate::types::names::{members, name_lookup};
use crate::types::nominal::stored_property;
use crate::types::synthesize;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers a call expression `callee(arguments)`.
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Arg], expected: Option<&Type>, span: Span) -> Expr {
        if args.iter().any(|arg| self.refuses_assigned(callee, arg)) {
            return self.error_expr(span);
        }
        let args: Vec<ArgNode> = args.iter().map(ArgNode::new).collect();
        let callee = named_callee(callee);
        match &callee.kind {
            Ast::Ident { name, generics } => {
                let ident = Ident { name: name.clone(), span: callee.span };
                self.call_name(callee, &ident, generics, args, expected, span)
            }
            Ast::Member { base, name, generics } if generics.is_empty() && name.name.parse::<u32>().is_err() => {
                if let Some(ty) = self.type_expression(callee) {
                    return self.call_init(&ty, None, args, expected, span);
                }
                if let Some(ty) = self.type_expression(base) {
                    let on = self.written_metatype(base).map(Rc::new);
                    return self.call_static(&ty, on.as_ref(), name, args, expected, span);
                }
                if let Some(local) = self.delegated(callee) {
                    return self.delegate(local, args, false, span);
                }
                if &*name.name == "init" && matches!(base.kind, Ast::Super) {
                    return self.super_init(args, base.span, false, span);
                }
                if let Some(module) = self.module_of(base) {
                    return self.call_in_module(module, name, args, expected, span);
                }
                let mut args = args;
                let mut receiver = self.expr(base, None);
                if let Some(ty) = self.array_of_optionals(&receiver, name, &mut args) {
                    receiver = self.expr(base, Some(&ty));
                }
                self.call_member(receiver, name, args, expected, span)
            }
            Ast::Implicit { name, .. } => {
                let expected = self.implicit_type(callee.span, expected);
                self.implicit_or_wait(name, Some(args), expected, span)
            }
            Ast::Operator(_) => self.call_operator(callee, args, expected, span),
            Ast::Nabla(function) => {
                let gradient = self.nabla(function, Some(args.len()), callee.span);
                self.call_value(gradient, args, expected, span)
            }
            _ => {
                if let Some(ty) = self.type_expression(callee) {
                    return self.call_init(&ty, None, args, expected, span);
                }
                let mut args = args;
                let ty = self.called_closure_type(callee, &mut args, expected);
                let function = self.expr(callee, ty.as_ref());
                self.call_value(function, args, expected, span)
            }
        }
    }

    /// Reports an argument that is an assignment to an unknown name: `f(x = 2)`. If the function is unknown as well, only
    /// that is reported.
    fn refuses_assigned(&mut self, callee: &ast::Expr, arg: &ast::Arg) -> bool {
        let Ast::Assign { target, value } = &arg.value.kind else { return false };
        let Ast::Ident { name, .. } = &target.kind else { return false };
        if arg.label.is_some() || self.is_name(name) {
            return false;
        }
        if let Ast::Ident { name, .. } = &callee.kind
            && !self.is_name(name)
        {
            self.unknown_name(&Ident { name: name.clone(), span: callee.span });
            return true;
        }
        let written = self.cx.sink.source_text(value.span);
        let label = format!("write '{name}: {written}'");
        let message = "the label of an argument is followed by ':', not '='";
        self.error(Diagnostic::error(Code::WrongArguments, arg.value.span, message).help(label));
        true
    }

    fn call_name(
        &mut self,
        callee: &ast::Expr,
        name: &Ident,
        generics: &[ast::TypeExpr],
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        if generics.is_empty() {
            match self.find_local(&name.name) {
                Some(LocalEntity::Local(local)) => {
                    let function = self.local_expr(local, name.span);
                    return self.call_value(function, args, expected, span);
                }
                Some(LocalEntity::Computed(get, set)) => {
                    let function = self.computed_local(get, set, name.span);
                    return self.call_value(function, args, expected, span);
                }
                Some(LocalEntity::LocalFunctions(functions)) => {
                    self.capture_for(&functions);
                    let candidates = self.local_candidates(&functions);
                    return self.call_overloaded(name, candidates, args, expected, span);
                }
                None => {}
            }
            if let Some(candidates) = self.own_member_candidates(&name.name) {
                let is_property = self.has_own_callable_property(&name.name);
                if is_property && !candidates.is_empty() {
                    let property = self.expr(callee, None);
                    if let Some(function) = self.called_property(property, &candidates, &mut args, span) {
                        return self.call_value(function, args, expected, span);
                    }
                }
                // The name denotes a method of the enclosing type, unless only a top-level function of this name fits.
                let global = self.function_candidates(&name.name);
                let fits = |infer: &mut Self, list: &[Candidate]| {
                    list.iter().any(|c| {
                        let params = infer.candidate_params(c);
                        match_args(&params, &args).is_ok()
                    })
                };
                if !candidates.is_empty() && (fits(self, &candidates) || !fits(self, &global)) {
                    return self.call_overloaded(name, candidates, args, expected, span);
                }
                if candidates.is_empty() && (global.is_empty() || is_property) {
                    let function = self.expr(callee, None);
                    return self.call_value(function, args, expected, span);
                }
            }
        }
        if let Some(ty) = self.type_expression(callee) {
            let on = self.written_metatype(callee).map(Rc::new);
            return self.call_init(&ty, on.as_ref(), args, expected, span);
        }
        let candidates = self.called_candidates(&name.name, &args);
        if candidates.is_empty() || self.is_callable_variable(name) {
            let function = self.expr(callee, None);
            return self.call_value(function, args, expected, span);
        }
        self.call_overloaded(name, candidates, args, expected, span)
    }

    /// Whether a callable variable of the program hides the library's functions of this name.
    fn is_callable_variable(&mut self, name: &Ident) -> bool {
        let file = self.file;
        let first = name_lookup::own_entries(self.cx, &name.name, file).into_iter().next();
        let Some(Named::Global(g)) = first.map(|e| e.what) else { return false };
        // In its own initial value, the name denotes the function.
        if self.cx.defs.globals[g.0 as usize].memo.resolving {
            return false;
        }
        let ty = stored_property::global_type(self.cx, g);
        self.is_callable_type(&ty)
    }

    /// Returns the top-level functions named `name`.
    pub(super) fn function_candidates(&mut self, name: &str) -> Vec<Candidate> {
        let entries = name_lookup::entries(self.cx, name, self.file);
        self.candidates_of(&entries)
    }

    /// Returns the top-level functions that a call with the given arguments may denote.
    fn called_candidates(&mut self, name: &str, args: &[ArgNode]) -> Vec<Candidate> {
        let labels: Vec<Option<&str>> = args.iter().map(|arg| arg.label.as_deref()).collect();
        let entries = name_lookup::called_entries(self.cx, name, &labels, self.file);
        self.candidates_of(&entries)
    }

    fn candidates_of(&self, entries: &[Entry]) -> Vec<Candidate> {
        let mut out = vec![];
        for entry in entries {
            if let Named::Function(f) = entry.what {
                if matches!(
                    self.cx.defs.function_data(f).kind,
                    crate::types::model::declaration_tables::FunctionKind::Getter
                ) {
                    continue;
                }
                let tier = u32::from(self.cx.defs.function_data(f).is_prelude);
                out.push(Candidate { target: Target::Function(f), prefix: Rc::from([]), receiver: None, tier });
            }
        }
        out
    }

    /// Returns the methods named `name` of the enclosing type that can be called without `self.`; `None` outside of
    /// types, or if the type has no such member.
    fn own_member_candidates(&mut self, name: &str) -> Option<Vec<Candidate>> {
        let own = self.own_type()?;
        if self.has_self() {
            if !members::members(self.cx, &own, name, false, self.file).is_empty() {
                let local = self.self_local()?;
                let receiver = Rc::new(self.local_expr(local, Span::default()));
                return Some(self.method_candidates(&own, name, false, Some(&receiver)));
            }
            if self.file != PRELUDE_FILE {
                return None;
            }
        }
        let has_any = !members::members(self.cx, &own, name, true, self.file).is_empty();
        let on = self.own_metatype(Span::default()).map(Rc::new);
        has_any.then(|| self.method_candidates(&own, name, true, on.as_ref()))
    }

    /// Whether a variable `self` is in scope.
    pub(super) fn has_self(&mut self) -> bool {
        self.self_type().is_some_and(|ty| !matches!(ty, Type::Metatype(_)))
    }

    /// Returns the local variable of `self`, if one is in scope.
    pub(super) fn self_local_quiet(&mut self) -> Option<crate::types::model::typed_tree::LocalId> {
        if self.has_self() { self.self_local() } else { None }
    }

    /// Infers a call of a function value, or of a value whose type has `callAsFunction`.
    pub(super) fn call_value(
        &mut self,
        function: Expr,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let function = self.decided(function);
        let function = self.unwrapped(function);
        if self.awaits_parameters(&function.ty, &args) {
            let result = self.cx.vars.fresh();
            let kind = PendingKind::CallValue { base: Rc::new(function), args, expected: expected.cloned() };
            return self.wait(kind, result, span);
        }
        self.call_known_value(function, args, expected, span)
    }

    /// Whether an argument of a function value is an array literal, and the type of its parameter is not known yet, as
    /// in `pullback(at: x) { x in x[mask] }([1, 2])`.
    pub(crate) fn awaits_parameters(&mut self, function: &Type, args: &[ArgNode]) -> bool {
        let Type::Function(ty) = unification::shallow(self.cx, function) else { return false };
        args.iter()
            .zip(&ty.params)
            .any(|(arg, param)| matches!(arg.ast.kind, Ast::Array(_)) && unification::has_vars(self.cx, &param.ty))
    }

    /// Infers the call of a value; the types of parameters that are not known yet are those of the arguments.
    pub(crate) fn call_known_value(
        &mut self,
        function: Expr,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        match unification::shallow(self.cx, &function.ty.clone()) {
            Type::Function(ty) => {
                if args.len() != ty.params.len() {
                    return self.wrong_number_of_arguments(&ty, &args, span);
                }
                self.refuse_labels(&args);
                if let Some(expected) = expected {
                    self.hint(&ty.result, expected, span);
                }
                let mut values: Vec<Option<Argument>> = vec![None; args.len()];
                for late in [false, true] {
                    for (i, (arg, param)) in args.iter().zip(&ty.params).enumerate() {
                        if matches!(arg.ast.kind, Ast::Closure(_)) == late {
                            values[i] = Some(self.argument(arg, &param.ty, param.is_inout, param.autoclosure));
                        }
                    }
                }
                let args = values.into_iter().flatten().collect();
                if ty.throws {
                    self.frame().thrown.push(None);
                }
                Expr { kind: ExprKind::CallValue { function: Box::new(function), args }, ty: ty.result.clone(), span }
            }
            Type::Var(_) if self.awaits_callee(&function) => {
                let result = self.cx.vars.fresh();
                let kind = PendingKind::CallValue { base: Rc::new(function), args, expected: expected.cloned() };
                self.wait(kind, result, span)
            }
            Type::Var(_) => self.call_unknown(function, &args, expected, span),
            Type::Error => {
                self.check_anyway(&args);
                self.error_expr(span)
            }
            Type::Metatype(of) => {
                let on = Rc::new(function);
                self.call_init(&of, Some(&on), args, expected, span)
            }
            ty => {
                let name = Ident { name: "callAsFunction".into(), span: function.span };
                let receiver = Rc::new(function.clone());
                let candidates = self.method_candidates(&ty, "callAsFunction", false, Some(&receiver));
                if candidates.is_empty() {
                    if let Some(found) = self.dynamic_call(&function, &ty, &args, span) {
                        return found;
                    }
                    if self.hidden_member(&ty, "callAsFunction", false, function.span) {
                        self.check_anyway(&args);
                        return self.error_expr(span);
                    }
                    return self.not_callable(&function, &ty, &args, span);
                }
                self.call_overloaded(&name, candidates, args, expected, span)
            }
        }
    }

    /// Infers a call of a value of unknown type, which must be a function of as many parameters as there are arguments.
    pub(crate) fn call_unknown(
        &mut self,
        function: Expr,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        use crate::types::model::ty::{FunctionParam, FunctionType, Strength};
        let params: Vec<FunctionParam> = args
            .iter()
            .map(|_| FunctionParam {
                ty: self.cx.vars.fresh(),
                is_inout: false,
                no_derivative: false,
                autoclosure: false,
            })
            .collect();
        let result = self.cx.vars.fresh();
        let ty = Type::Function(Rc::new(FunctionType { params, result, throws: false, strength: Strength::Open }));
        if !unification::unify(self.cx, &function.ty.clone(), &ty, span) {
            if self.failed {
                // The type is unknown because of an error that is reported already.
                self.check_anyway(args);
                return self.error_expr(span);
            }
            let of = function.ty.clone();
            return self.not_callable(&function, &of, args, span);
        }
        self.call_value(function, args.to_vec(), expected, span)
    }

    /// Infers the arguments of an unknown callee, only to report errors in the arguments.
    pub(crate) fn check_anyway(&mut self, args: &[ArgNode]) {
        for arg in args {
            if !arg.waits() && arg.ready.is_none() {
                self.expr(&arg.ast.clone(), None);
            }
        }
    }

    /// Infers the creation of a value, `Type(arguments)`.
    pub(super) fn call_init(
        &mut self,
        ty: &Type,
        on: Option<&Rc<Expr>>,
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let ty = unification::shallow(self.cx, ty);
        let name = Ident { name: "init".into(), span };
        let expected = expected.filter(|expected| !self.is_converted(&ty, &mut args, expected));
        if let Some(expected) = expected {
            self.hint(&ty, expected, span);
        }
        if on.is_none() && matches!(&ty, Type::Existential(e) if !e.is_any()) {
            let shown = self.show(&ty);
            let message = format!("protocol '{}' cannot be instantiated", shown.trim_start_matches("any "));
            let diagnostic = Diagnostic::error(Code::NotCallable, span, message);
            self.error(diagnostic.help("create an instance of a type that conforms to it"));
            self.check_anyway(&args);
            return self.error_expr(span);
        }
        if let Some(tuple) = self.created_tuple(&ty, &args, span) {
            return tuple;
        }
        let mut candidates = self.method_candidates(&ty, "init", true, on);
        candidates.retain(|candidate| self.file == PRELUDE_FILE || !self.is_internal(candidate));
        if let Some(refused) = self.keep_required(&ty, on, &mut candidates, span) {
            self.check_anyway(&args);
            return refused;
        }
        if candidates.is_empty() {
            // A class of the program without initializers is reported where it is declared.
            let is_reported = matches!(&ty, Type::Nominal(n, _)
                if superclass::is_class(self.cx, *n) && !self.cx.defs.nominal_data(*n).is_prelude);
            if ty == Type::Error || is_reported {
                self.check_anyway(&args);
                return self.error_expr(span);
            }
            let message =
                format!("'{}' cannot be constructed because it has no accessible initializers", self.show(&ty));
            return self.fail(Code::NotCallable, span, message);
        }
        if let Some(value) = self.coerced_literal(&ty, &args, &candidates) {
            return Expr { span, ..value };
        }
        self.call_overloaded(&name, candidates, args, expected, span)
    }

    /// Infers a call of a static member, `Type.name(arguments)`.
    pub(super) fn call_static(
        &mut self,
        ty: &Type,
        on: Option<&Rc<Expr>>,
        name: &Ident,
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let ty = unification::shallow(self.cx, ty);
        if &*name.name == "init" {
            return self.call_init(&ty, on, args, expected, span);
        }
        if let Some(refused) = self.static_of_protocol(&ty, on, name, span) {
            self.check_anyway(&args);
            return refused;
        }
        if &*name.name == "_memberwise"
            && let Type::Nominal(n, prefix) = &ty
        {
            let f = synthesize::memberwise_init(self.cx, *n);
            let candidate = Candidate { target: Target::Function(f), prefix: prefix.clone(), receiver: None, tier: 0 };
            return self.call_overloaded(name, vec![candidate], args, expected, span);
        }
        let candidates = self.method_candidates(&ty, &name.name, true, on);
        if candidates.is_empty() {
            // `Type.method(value)` returns a function; any other arguments were meant for a call on a value.
            let takes_value = matches!(args.as_slice(), [only] if only.label.is_none() && !only.trailing);
            if !takes_value && self.has_instance_member(&ty, &name.name) {
                self.check_anyway(&args);
                return self.instance_on_type(&ty, name);
            }
            let function = self.static_member_of(&ty, on, name, None, span);
            return self.call_value(function, args, expected, span);
        }
        if self.may_have_property(&ty) && self.has_callable_property(&ty, &name.name, true) {
            let property = self.static_member_of(&ty, on, name, None, name.span);
            if let Some(function) = self.called_property(property, &candidates, &mut args, span) {
                return self.call_value(function, args, expected, span);
            }
        }
        self.call_overloaded(name, candidates, args, expected, span)
    }

    /// Infers a call of a member, `base.name(arguments)`, on a base whose type may not be known yet.
    pub(super) fn call_member(
        &mut self,
        base: Expr,
        name: &Ident,
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let base = self.resolved_base(base, &name.name);
        let ty = unification::shallow(self.cx, &base.ty.clone());
        match &ty {
            Type::Error => {
                self.check_anyway(&args);
                return self.error_expr(span);
            }
            _ if self.is_open(&ty) => {
                let result = self.cx.vars.fresh();
                let kind = PendingKind::MemberCall {
                    base: Rc::new(base),
                    name: name.clone(),
                    args,
                    expected: expected.cloned(),
                };
                return self.wait(kind, result, span);
            }
            Type::Metatype(of) => {
                let of = (**of).clone();
                let on = Rc::new(base);
                return self.call_static(&of, Some(&on), name, args, expected, span);
            }
            _ => {}
        }
        let receiver = self.shared(base);
        let candidates = self.method_candidates(&ty, &name.name, false, Some(&receiver));
        if candidates.is_empty() {
            let base = self.decided((*receiver).clone());
            // An integer literal gets the type that has the member: `3.squareRoot()`.
            if let ExprKind::Int(_) = base.kind {
                let double = name_lookup::simple(self.cx, "Double");
                if !members::members(self.cx, &double, &name.name, false, self.file).is_empty() {
                    let value = match base.kind {
                        ExprKind::Int(n) => n as f64,
                        _ => 0.0,
                    };
                    let base = Expr { kind: ExprKind::Float(value), ty: double, span: base.span };
                    return self.call_member(base, name, args, expected, span);
                }
            }
            let function = self.member(base, name, None, name.span);
            return self.call_value(function, args, expected, span);
        }
        if self.may_have_property(&ty) && self.has_callable_property(&ty, &name.name, false) {
            let property = self.member((*receiver).clone(), name, None, name.span);
            if let Some(function) = self.called_property(property, &candidates, &mut args, span) {
                return self.call_value(function, args, expected, span);
            }
        }
        self.call_overloaded(name, candidates, args, expected, span)
    }

    /// Reports a call in a `defer` statement whose error would leave the statement.
    pub(super) fn throws_here(&mut self, span: Span) {
        if self.frame().catching == 0 && self.frame().in_defer {
            self.error(Diagnostic::error(Code::WrongContext, span, crate::types::infer::stmt::out_of_defer("throw")));
        }
    }
}
