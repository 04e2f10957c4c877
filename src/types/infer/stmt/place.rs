//! Places: conversion of a value expression to the place from which the value was read, so that the place can be
//! written to.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::{FunctionKind, Owner};
use crate::types::model::syntax_query::is_operator;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Argument, Callee, Expr, ExprKind, FunctionRef, GlobalId, LocalId, Pattern, PatternKind, Place, Projection,
    ProjectionKind, Root, Stmt, StmtKind,
};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The beginning of the message for an assignment to an expression that is not a place.
const ASSIGN: &str = "cannot assign to value";

impl Infer<'_> {
    /// Returns the place from which a value was read. For a value that was not read from a place, reports an error that
    /// begins with `beginning`.
    pub(crate) fn place_of(&mut self, value: Expr, beginning: &str) -> Place {
        let value = self.decided(value);
        let (span, ty) = (value.span, value.ty.clone());
        match value.kind {
            ExprKind::Local(local) => {
                let variable = self.frame().locals[local.0 as usize].clone();
                if !variable.mutable || variable.once {
                    self.immutable(&variable.name, variable.span, span, beginning);
                }
                let current = self.current;
                if variable.name.is_empty() || variable.name.starts_with("$chain") {
                    self.mutated.push((current, local));
                }
                Place { root: Root::Local(local), path: vec![], ty, span }
            }
            ExprKind::Global(global) => {
                let data = &self.cx.defs.globals[global.0 as usize];
                let (is_let, is_prelude, name, declared) = (data.is_let, data.is_prelude, data.name.clone(), data.span);
                if is_let && is_prelude {
                    let diagnostic = constant_of_library(&name, span, beginning);
                    self.error(diagnostic.help("choose another name"));
                } else if is_let {
                    self.immutable(&name, declared, span, beginning);
                }
                self.check_global_access(global, true, span);
                if let Some(set) = self.observing_setter(Observed::Global(global)) {
                    return self.observed_global(global, set, ty, span);
                }
                Place { root: Root::Global(global), path: vec![], ty, span }
            }
            ExprKind::Field { base, index } => self.field_place(*base, index, ty, span, beginning),
            ExprKind::Element { base, index } => {
                let mut place = self.place_of(*base, beginning);
                place.path.push(Projection { kind: ProjectionKind::Element(index), ty: ty.clone(), span });
                Place { ty, span, ..place }
            }
            ExprKind::Force(base) => {
                let mut place = self.place_of(*base, beginning);
                place.path.push(Projection { kind: ProjectionKind::Force, ty: ty.clone(), span });
                Place { ty, span, ..place }
            }
            ExprKind::Call { callee, args } => self.accessor_place(callee, args, ty, span, beginning),
            ExprKind::Error => Place { root: Root::Discard, path: vec![], ty, span },
            ExprKind::Pending(_) => {
                let diagnostic = Diagnostic::error(
                    Code::CannotInfer,
                    span,
                    "the type of the value that is modified here is not known",
                );
                self.error(diagnostic.help("write its type where it is declared"));
                Place { root: Root::Discard, path: vec![], ty, span }
            }
            _ => {
                self.error(Diagnostic::error(Code::Immutable, span, format!("{beginning}: it is a temporary value")));
                Place { root: Root::Discard, path: vec![], ty, span }
            }
        }
    }

    fn field_place(&mut self, base: Expr, index: u32, ty: Type, span: Span, beginning: &str) -> Place {
        let base_ty = unification::shallow(self.cx, &base.ty.clone());
        let Type::Nominal(n, _) = &base_ty else {
            return Place { root: Root::Discard, path: vec![], ty, span };
        };
        let is_class = superclass::is_class(self.cx, *n);
        let (owner, own) = superclass::stored_owner(self.cx, *n, index);
        let stored = &self.cx.defs.nominal_data(owner).stored[own];
        let (name, is_let, declared) = (stored.name.clone(), stored.is_let, stored.span);
        if is_let && self.cx.defs.nominal_data(owner).is_prelude {
            self.error(constant_of_library(&name, span, beginning));
        } else if is_let {
            self.immutable(&name, declared, span, beginning);
        }
        self.check_stored_access(owner, own as u32, true, span);
        let observed = Observed::Stored(owner, own as u32);
        let is_own = self.is_self(&base);
        if let Some(set) = self.observing_setter(observed).filter(|_| !(is_own && self.accesses_directly(observed))) {
            return self.observed_field(base, observed, set, (ty, span), beginning);
        }
        let mut place = if is_class {
            let root = Root::Value(Box::new(base));
            Place { root, path: vec![], ty: base_ty, span }
        } else {
            self.place_of(base, beginning)
        };
        place.path.push(Projection { kind: ProjectionKind::Field(index), ty: ty.clone(), span });
        Place { ty, span, ..place }
    }

    /// Returns the place to which an assignment stores. The place may be a constant without a value; the analysis of
    /// definite initialization checks that it has no value.
    fn assigned_place(&mut self, target: &ast::Expr) -> Place {
        if self.is_undeclared(target) {
            return Place { root: Root::Discard, path: vec![], ty: Type::Error, span: target.span };
        }
        let target = self.target(target);
        let (span, ty) = (target.span, target.ty.clone());
        match self.initialized_place(&target) {
            Some((root, path)) => Place { root, path, ty, span },
            None => self.place_of(target, ASSIGN),
        }
    }

    /// Returns the place of a constant without a value, of a property of the `self` that an initializer initializes, or
    /// of an element of a constant tuple without a value.
    fn initialized_place(&mut self, target: &Expr) -> Option<(Root, Vec<Projection>)> {
        let (span, ty) = (target.span, target.ty.clone());
        match &target.kind {
            ExprKind::Local(local) if self.is_own_constant(*local) => Some((Root::Local(*local), vec![])),
            ExprKind::Global(global) if self.is_own_global(*global) => Some((Root::Global(*global), vec![])),
            ExprKind::Field { base, index } if self.initializes(base) && self.fills(base, *index) => {
                let step = Projection { kind: ProjectionKind::Field(*index), ty, span };
                Some(match (&base.kind, self.is_class(&base.ty.clone())) {
                    (ExprKind::Local(local), false) => (Root::Local(*local), vec![step]),
                    _ => (Root::Value(base.clone()), vec![step]),
                })
            }
            ExprKind::Element { base, index } if self.is_unset_constant(base) => {
                let (root, mut path) = self.initialized_place(base)?;
                path.push(Projection { kind: ProjectionKind::Element(*index), ty, span });
                Some((root, path))
            }
            _ => None,
        }
    }

    /// Whether a value is an element of a local constant or of a constant property that is declared without a value.
    fn is_unset_constant(&mut self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Element { base, .. } => self.is_unset_constant(base),
            ExprKind::Local(local) => self.is_own_constant(*local),
            ExprKind::Field { base, index } => {
                let Type::Nominal(n, _) = unification::shallow(self.cx, &base.ty) else { return false };
                let (owner, own) = superclass::stored_owner(self.cx, n, *index);
                let stored = &self.cx.defs.nominal_data(owner).stored[own];
                stored.is_let && stored.value.is_none()
            }
            _ => false,
        }
    }

    /// Infers the expression that is modified. The value to be stored does not influence which of several subscripts is
    /// chosen.
    pub(crate) fn target(&mut self, target: &ast::Expr) -> Expr {
        let start = (self.pending.len(), self.cx.vars.var_count());
        let found = self.expr(target, None);
        let target = self.decided(found);
        if !matches!(target.kind, ExprKind::Pending(_)) {
            return target;
        }
        self.resolve_statement(start);
        self.decided(target)
    }

    /// Whether a variable is a `let` without a value that the current body itself declares.
    fn is_own_constant(&mut self, local: LocalId) -> bool {
        let frame = self.frame();
        frame.locals[local.0 as usize].once && !frame.captures.iter().any(|c| c.inner == local)
    }

    /// Whether a global variable is a `let` without a value, and the current body is the script that declares it.
    fn is_own_global(&mut self, global: GlobalId) -> bool {
        let data = &self.cx.defs.globals[global.0 as usize];
        data.is_let && !data.has_value && self.frame().kind == FrameKind::Script
    }

    /// Whether a value is the `self` that the current initializer initializes.
    pub(crate) fn initializes(&mut self, base: &Expr) -> bool {
        let current = self.frame().init_self;
        matches!(base.kind, ExprKind::Local(local) if current == Some(local))
    }

    /// Whether an assignment in an initializer stores to a property directly: the property belongs to the type of the
    /// initializer, which is not a convenience initializer, or is a variable that has no setter.
    fn fills(&mut self, base: &Expr, index: u32) -> bool {
        let Type::Nominal(n, _) = unification::shallow(self.cx, &base.ty.clone()) else { return true };
        let (owner, own) = superclass::stored_owner(self.cx, n, index);
        let stored = &self.cx.defs.nominal_data(owner).stored[own];
        let (is_let, has_setter, is_own) =
            (stored.is_let, stored.setter.is_some(), self.owner == Owner::Nominal(owner));
        if is_let { is_own } else { !has_setter || is_own && !self.is_convenience() }
    }

    fn accessor_place(&mut self, callee: Callee, args: Vec<Argument>, ty: Type, span: Span, beginning: &str) -> Place {
        let (setter, has_self, mutating) = match &callee {
            Callee::Static(f) | Callee::Class { function: f, .. } | Callee::Opened { function: f, .. } => {
                let setter = self.cx.defs.function_data(f.function).setter;
                let mutating = setter.is_some_and(|s| signature::signature(self.cx, s).self_inout);
                let setter = setter.map(|s| {
                    let function = FunctionRef { function: s, generics: f.generics.clone() };
                    match &callee {
                        Callee::Class { class, .. } => Callee::Class { class: *class, function },
                        Callee::Opened { generic, param, .. } => {
                            Callee::Opened { function, generic: *generic, param: *param }
                        }
                        _ => Callee::Static(function),
                    }
                });
                let has_self = signature::signature(self.cx, f.function).self_type.is_some();
                (setter, has_self, mutating)
            }
            Callee::Requirement { protocol, requirement, self_type, generics } => {
                let data = &self.cx.defs.protocol_data(*protocol).requirements[*requirement as usize];
                let (setter, function) = (data.setter, data.function);
                let changes = setter.map(|s| self.cx.defs.protocol_data(*protocol).requirements[s as usize].function);
                let mutating = changes.is_some_and(|s| signature::signature(self.cx, s).self_inout);
                let setter = setter.map(|requirement| Callee::Requirement {
                    protocol: *protocol,
                    requirement,
                    self_type: self_type.clone(),
                    generics: generics.clone(),
                });
                (setter, signature::signature(self.cx, function).self_type.is_some(), mutating)
            }
        };
        let Some(set) = setter else {
            self.get_only(&callee, span, beginning);
            return Place { root: Root::Discard, path: vec![], ty, span };
        };
        if let Callee::Static(f) | Callee::Class { function: f, .. } = &set {
            self.check_function_access(f.function, span);
        }
        let mut args = args.into_iter();
        let mut place = if has_self {
            match args.next() {
                Some(Argument::Value(base)) => {
                    let is_class = self.is_class(&base.ty.clone());
                    if mutating && !is_class {
                        self.place_of(base, beginning)
                    } else {
                        let ty = base.ty.clone();
                        Place { root: Root::Value(Box::new(base)), path: vec![], ty, span }
                    }
                }
                Some(Argument::InOut(place)) => place,
                None => Place { root: Root::Discard, path: vec![], ty: ty.clone(), span },
            }
        } else {
            let unit = self.unit(span);
            Place { root: Root::Value(Box::new(unit)), path: vec![], ty: Type::unit(), span }
        };
        let rest = args
            .filter_map(|a| match a {
                Argument::Value(e) => Some(e),
                Argument::InOut(_) => None,
            })
            .collect();
        let kind = ProjectionKind::Accessor { get: callee, set, args: rest, mutating };
        place.path.push(Projection { kind, ty: ty.clone(), span });
        Place { ty, span, ..place }
    }

    /// Reports an assignment to a value that can only be read.
    fn get_only(&mut self, callee: &Callee, span: Span, beginning: &str) {
        let (f, is_requirement) = match callee {
            Callee::Static(f) | Callee::Class { function: f, .. } | Callee::Opened { function: f, .. } => {
                (f.function, self.cx.defs.function_data(f.function).requirement.is_some())
            }
            Callee::Requirement { protocol, requirement, .. } => {
                (self.cx.defs.protocol_data(*protocol).requirements[*requirement as usize].function, true)
            }
        };
        let what = self.cx.defs.full_name(f);
        let data = self.cx.defs.function_data(f);
        let (is_getter, is_subscript) = (data.kind == FunctionKind::Getter, &*data.base_name == "subscript");
        let assigns = beginning == ASSIGN;
        let why = match (is_getter, is_subscript) {
            (false, _) if assigns && is_operator(&what) => {
                "'=' assigns a value to a name; an equation is solved with 'solve({ x in … }, near: 1)'".to_owned()
            }
            (false, _) => format!("{beginning}: '{what}' returns a value, not a variable"),
            (true, true) if assigns => format!("cannot assign through subscript: '{what}' is get-only"),
            (true, true) => format!("{beginning}: '{what}' is get-only"),
            (true, false) if assigns => format!("cannot assign to property: '{what}' is a get-only property"),
            (true, false) => format!("{beginning}: '{what}' is a get-only property"),
        };
        let diagnostic = Diagnostic::error(Code::Immutable, span, why);
        let diagnostic = match data.span {
            declared if data.is_prelude || declared == Span::default() => diagnostic,
            declared => diagnostic.also(declared, format!("'{what}' is declared here")),
        };
        self.error(match (is_getter && !data.is_prelude, is_requirement) {
            (true, true) => diagnostic.help("declare it in the protocol with '{ get set }'"),
            (true, false) => diagnostic.help("add a setter: 'get { … } set { … }'"),
            (false, _) => diagnostic,
        });
    }

    fn is_class(&mut self, ty: &Type) -> bool {
        match unification::shallow(self.cx, ty) {
            Type::Nominal(n, _) => superclass::is_class(self.cx, n),
            ty @ (Type::Param(_) | Type::Associated(..) | Type::Opaque(..)) => conformances::is_object(self.cx, &ty),
            _ => false,
        }
    }

    fn immutable(&mut self, name: &str, declared: Span, span: Span, beginning: &str) {
        if name == "self" {
            let diagnostic = Diagnostic::error(Code::Immutable, span, format!("{beginning}: 'self' is immutable"));
            let help = "mark the method 'mutating' to make 'self' mutable";
            let method = self.frames.first().and_then(|f| f.function).map(|f| self.cx.defs.function_data(f).span);
            let word = method.and_then(|name| self.cx.sink.word_before(name)).filter(|(_, word)| word == "func");
            self.error(match word {
                Some((at, _)) => diagnostic.fix(help, at.before(), "mutating "),
                None => diagnostic.help(help),
            });
            return;
        }
        if name.is_empty() && declared != Span::default() {
            let copied = self.cx.sink.source_text(declared);
            let message = format!("{beginning}: '{copied}' was captured by value");
            let diagnostic = Diagnostic::error(Code::Immutable, span, message).also(declared, "captured by value here");
            self.error(diagnostic.help("remove it from the capture list to modify the variable itself"));
            return;
        }
        let what = if name.is_empty() { "this value" } else { name };
        let diagnostic = Diagnostic::error(Code::Immutable, span, format!("{beginning}: '{what}' is a 'let' constant"));
        let diagnostic = if declared == Span::default() {
            diagnostic
        } else {
            let diagnostic = diagnostic.also(declared, format!("'{what}' is declared here"));
            self.made_variable(diagnostic, what, declared)
        };
        self.error(diagnostic);
    }

    /// Adds a suggestion to a diagnostic that states how the declaration can be made mutable.
    fn made_variable(&mut self, diagnostic: Diagnostic, name: &str, declared: Span) -> Diagnostic {
        let parameters = self.frames.iter().flat_map(|f| &f.locals[..f.params]);
        if parameters.into_iter().any(|l| l.span == declared) {
            let own = self.own_type();
            if own.is_some_and(|own| self.has_self() && self.has_instance_member(&own, name)) {
                let span = diagnostic.primary.span;
                return diagnostic.fix(format!("assign to the property '{name}'"), span.before(), "self.");
            }
            return diagnostic.help(format!(
                "parameters are constants: modify a copy, 'var {name} = {name}', or declare the \
                               parameter 'inout'"
            ));
        }
        self.cx.sink.let_to_var(diagnostic, declared)
    }

    /// Reports an assignment whose value is used, as in `a = b = 3`. `statement` returns the statement at `span` with the
    /// target of the inner assignment as its value.
    pub(crate) fn reject_assigned_value(
        &mut self,
        inner: &ast::Expr,
        span: Span,
        statement: impl FnOnce(&str) -> String,
    ) {
        let Ast::Assign { target, .. } = &inner.kind else { return };
        let (assignment, target) = (self.cx.sink.source_text(inner.span), self.cx.sink.source_text(target.span));
        let edit = format!("{assignment}; {}", statement(&target));
        let diagnostic = Diagnostic::error(Code::Mismatch, inner.span, "an assignment has no value");
        self.error(diagnostic.fix("assign one after the other", span, edit));
    }

    /// Infers an assignment `target = value`.
    pub(crate) fn assignment(&mut self, target: &ast::Expr, value: &ast::Expr, span: Span) -> Expr {
        let unit = Type::unit();
        if matches!(target.kind, Ast::Discard) {
            let value = self.expr(value, None);
            let place = Place { root: Root::Discard, path: vec![], ty: value.ty.clone(), span: target.span };
            return Expr { kind: ExprKind::Assign { place: Box::new(place), value: Box::new(value) }, ty: unit, span };
        }
        if let Ast::Tuple(parts) = &target.kind {
            return self.tuple_assignment(parts, value, span);
        }
        if let Some(filled) = self.fill_wrapped(target, value, span) {
            return filled;
        }
        if let Some(done) = self.chained_change(target, |infer, target| infer.assignment(target, value, span), span) {
            return done;
        }
        let place = self.assigned_place(target);
        let wanted = place.ty.clone();
        if wanted == Type::Error {
            // The type of the variable has been reported, so a value that depends on it is not checked.
            self.check_anyway(&[ArgNode::unlabeled(Rc::new(value.clone()))]);
            return self.error_expr(span);
        }
        if let Some(inner) = assignment_inside(value)
            && !wanted.is_unit()
        {
            let text = self.cx.sink.source_text(target.span).to_string();
            self.reject_assigned_value(inner, span, |value| format!("{text} = {value}"));
            return self.error_expr(span);
        }
        let value = self.expr(value, Some(&wanted));
        let value = self.coerce(value, &wanted);
        Expr { kind: ExprKind::Assign { place: Box::new(place), value: Box::new(value) }, ty: unit, span }
    }

    /// Infers `a?.b = value` or `a? += value`, which modifies the payload of `a`, if any. Returns `None` for a target
    /// without `?`.
    pub(crate) fn chained_change(
        &mut self,
        target: &ast::Expr,
        change: impl FnOnce(&mut Self, &ast::Expr) -> Expr,
        span: Span,
    ) -> Option<Expr> {
        crate::types::infer::expr::optional_chain::chained(target, false)?;
        let mut target = target.clone();
        let name = format!("$chain{}", self.frame().locals.len());
        let base = crate::types::infer::expr::optional_chain::take_chain(&mut target, &name, false)?;
        let base = self.expr(&base, None);
        if base.ty == Type::Error {
            return Some(base);
        }
        let Some(payload) = name_lookup::optional_payload(self.cx, &base.ty.clone()) else {
            let message = "cannot use optional chaining on a value that is not optional";
            return Some(self.fail(Code::Mismatch, base.span, message));
        };
        // A modification of an instance does not modify the variable that refers to the instance.
        let is_instance = !matches!(target.kind, Ast::Ident { .. }) && self.is_instance(&payload);
        let found = match is_instance {
            true => Err(base),
            false => Ok(self.place_of(base, ASSIGN)),
        };
        let local = self.new_local("", payload, true, span);
        let body = self.in_scope(|infer| {
            infer.bind(&name.as_str().into(), local);
            change(infer, &target)
        });
        let flatten = name_lookup::is_optional(self.cx, &body.ty.clone());
        let ty = name_lookup::applied(self.cx, "Optional", &[Type::unit()]);
        let body = Box::new(body);
        let kind = match found {
            Ok(place) => ExprKind::ChainPlace { place, local, body, flatten },
            Err(base) => ExprKind::Chain { base: Box::new(base), local, body, flatten },
        };
        Some(Expr { kind, ty, span })
    }

    /// Whether a value of a type refers to an instance of a class.
    pub(crate) fn is_instance(&mut self, ty: &Type) -> bool {
        let ty = unification::shallow(self.cx, ty);
        !self.is_open(&ty) && conformances::is_object(self.cx, &ty)
    }

    /// Infers `(a, b) = value`: all operands are evaluated before anything is stored, the indices on the left first.
    fn tuple_assignment(&mut self, parts: &[(Option<ast::Ident>, ast::Expr)], value: &ast::Expr, span: Span) -> Expr {
        let mut places = vec![];
        let mut statements = vec![];
        let wanted = self.assigned_parts(parts, &[], &mut places, &mut statements);
        let value = self.expr(value, Some(&wanted));
        let value = self.coerce(value, &wanted);
        let local = self.temporary(value, &mut statements);
        for (path, place) in places {
            let mut part = self.local_expr(local, span);
            for index in path {
                let ty = match unification::shallow(self.cx, &part.ty) {
                    Type::Tuple(parts) => parts.get(index as usize).map_or(Type::Error, |(_, ty)| ty.clone()),
                    _ => Type::Error,
                };
                part = Expr { kind: ExprKind::Element { base: Box::new(part), index }, ty, span };
            }
            statements.push(Stmt { kind: StmtKind::Assign { place, value: part }, span });
        }
        let result = self.new_local("", Type::unit(), true, span);
        Expr { kind: ExprKind::Statements { statements, result }, ty: Type::unit(), span }
    }

    /// Infers the places on the left of an assignment to a tuple, each with the indices that lead to its value; returns the
    /// type of the tuple.
    fn assigned_parts(
        &mut self,
        parts: &[(Option<ast::Ident>, ast::Expr)],
        path: &[u32],
        places: &mut Vec<(Vec<u32>, Place)>,
        statements: &mut Vec<Stmt>,
    ) -> Type {
        let mut types = vec![];
        for (index, (_, part)) in (0..).zip(parts) {
            let path = [path, &[index]].concat();
            if let Ast::Tuple(inner) = &part.kind {
                types.push((None, self.assigned_parts(inner, &path, places, statements)));
                continue;
            }
            let mut place = if matches!(part.kind, Ast::Discard) {
                let ty = self.cx.vars.fresh();
                Place { root: Root::Discard, path: vec![], ty, span: part.span }
            } else {
                self.assigned_place(part)
            };
            self.evaluate_first(&mut place, statements);
            types.push((None, place.ty.clone()));
            places.push((path, place));
        }
        Type::Tuple(types.into())
    }

    /// Evaluates the operands of a place, such as indices, before anything else.
    fn evaluate_first(&mut self, place: &mut Place, statements: &mut Vec<Stmt>) {
        let roots = match &mut place.root {
            Root::Value(base) => Some(&mut **base),
            _ => None,
        };
        let arguments = place.path.iter_mut().flat_map(|step| match &mut step.kind {
            ProjectionKind::Accessor { args, .. } => args.iter_mut(),
            _ => [].iter_mut(),
        });
        for e in roots.into_iter().chain(arguments) {
            let is_fixed = match e.kind {
                ExprKind::Int(_) | ExprKind::Text(_) | ExprKind::Tuple(_) => true,
                ExprKind::Local(local) => !self.frame().locals[local.0 as usize].mutable,
                _ => false,
            };
            if !is_fixed {
                let local = self.temporary(e.clone(), statements);
                *e = self.local_expr(local, e.span);
            }
        }
    }

    /// Stores a value in a temporary variable without a name.
    fn temporary(&mut self, value: Expr, statements: &mut Vec<Stmt>) -> LocalId {
        let (span, ty) = (value.span, value.ty.clone());
        let local = self.new_local("", ty.clone(), false, span);
        let pattern = Pattern { kind: PatternKind::Bind(local), ty, span };
        statements.push(Stmt { kind: StmtKind::Let { pattern, value: Some(value) }, span });
        local
    }
}

/// Returns the diagnostic for a modification of a constant that the library declares.
fn constant_of_library(name: &str, span: Span, beginning: &str) -> Diagnostic {
    Diagnostic::error(Code::Immutable, span, format!("{beginning}: '{name}' is a constant of the library"))
}

/// Returns the assignment of which an expression consists, with or without parentheses.
pub(crate) fn assignment_inside(value: &ast::Expr) -> Option<&ast::Expr> {
    match &value.kind {
        Ast::Paren(inner) => assignment_inside(inner),
        Ast::Assign { .. } => Some(value),
        _ => None,
    }
}
