//! Members: properties, subscripts, static members, methods as values.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::expr::function_reference::split_labels;
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::{MemberKind, RequirementKind};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::typed_tree::{Argument, Expr, ExprKind, FunctionId};
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;
use std::rc::Rc;

impl Infer<'_> {
    /// Resolves the base of a member. The type of a string literal is `String`. A value of type `T!` is unwrapped, and
    /// a value that is known to be an instance of a class is converted to the class, if the resulting type has the
    /// member.
    pub(crate) fn resolved_base(&mut self, base: Expr, name: &str) -> Expr {
        let base = self.decided(base);
        if let (ExprKind::Text(_), Type::Var(v)) = (&base.kind, unification::shallow(self.cx, &base.ty)) {
            self.default_var(v);
        }
        self.take_double_for_member(&base, name);
        if let Some(payload) = self.inside_unwrapped(&base)
            && !members::members(self.cx, &payload, name, false, self.file).is_empty()
        {
            return self.unwrapped(base);
        }
        let ty = unification::shallow(self.cx, &base.ty);
        match existential::known_class(self.cx, &ty) {
            Some(class) if !members::members(self.cx, &class, name, false, self.file).is_empty() => {
                self.coerce(base, &class)
            }
            _ => base,
        }
    }

    /// Makes an integer literal a `Double` if only a `Double` has the member: `3.squareRoot()`.
    fn take_double_for_member(&mut self, base: &Expr, name: &str) {
        let (ExprKind::Int(_), Type::Var(v)) = (&base.kind, unification::shallow(self.cx, &base.ty)) else { return };
        let (int, double) = (name_lookup::simple(self.cx, "Int"), name_lookup::simple(self.cx, "Double"));
        let mut has = |ty: &Type| !members::members(self.cx, ty, name, false, self.file).is_empty();
        if !has(&int) && has(&double) {
            unification::try_unify(self.cx, &Type::Var(v), &double, base.span);
        }
    }

    /// Infers a member `base.name` as a value.
    pub(crate) fn member(&mut self, base: Expr, name: &Ident, expected: Option<&Type>, span: Span) -> Expr {
        let (full, (name, labels)) = (name, split_labels(name));
        let name = &name;
        let mut base = self.resolved_base(base, &name.name);
        let ty = unification::shallow(self.cx, &base.ty.clone());
        let is_open = self.is_open(&ty);
        match &ty {
            Type::Error => return self.error_expr(span),
            _ if is_open => {
                let result = self.cx.vars.fresh();
                let name = full;
                return self.wait(PendingKind::Member { base: Rc::new(base), name: name.clone() }, result, span);
            }
            Type::Metatype(of) => {
                let of = (**of).clone();
                let on = Rc::new(base);
                return self.static_member_of(&of, Some(&on), full, expected, span);
            }
            Type::Tuple(parts) => {
                let index = match name.name.parse::<usize>() {
                    Ok(i) => Some(i).filter(|i| *i < parts.len()),
                    Err(_) => parts.iter().position(|(l, _)| l.as_ref() == Some(&name.name)),
                };
                if let Some(i) = index {
                    let kind = ExprKind::Element { base: Box::new(base), index: i as u32 };
                    return Expr { kind, ty: parts[i].1.clone(), span };
                }
            }
            _ => {}
        }
        if let Type::Function(_) = &ty
            && &*name.name == "derivative"
        {
            return self.unknown_member(&base, &ty, name);
        }
        let members = members::members(self.cx, &ty, &name.name, false, self.file);
        let count = members.len();
        for (at, (member, (prefix, protocol), _)) in members.into_iter().enumerate() {
            match member {
                MemberKind::Stored(index) => {
                    let Some(n) = self.owner_of_stored(&ty, &name.name, index) else { continue };
                    self.check_stored_access(n, index, false, name.span);
                    let field = stored_property::stored_type(self.cx, n, index);
                    let field = conformances::substitute_nominal(self.cx, n, &prefix, &field);
                    let field = associated_type::normalize_type(self.cx, &field);
                    if self.prefers_method(&field, (&ty, full, false), expected, span) {
                        continue;
                    }
                    if let Some(get) = self.overridden_accessor(n, index, &base) {
                        let receiver = Some(Rc::new(base.clone()));
                        let candidate = Candidate { target: Target::Function(get), prefix, receiver, tier: 0 };
                        return self.getter_call(&candidate, base, name, span);
                    }
                    let index = superclass::inherited_count(self.cx, n) + index;
                    return Expr { kind: ExprKind::Field { base: Box::new(base), index }, ty: field, span };
                }
                MemberKind::Computed(get, _) => {
                    let receiver = self.shared(base);
                    base = (*receiver).clone();
                    let candidate =
                        Candidate { target: Target::Function(get), prefix, receiver: Some(receiver), tier: 0 };
                    // A member whose requirements are not satisfied is not available.
                    let is_last = at + 1 == count;
                    if !is_last && self.try_candidate(&candidate, &[], None, span).is_none() {
                        continue;
                    }
                    let value = self.instantiate(&candidate, span).result;
                    if self.prefers_method(&value, (&ty, full, false), expected, span) {
                        continue;
                    }
                    self.check_function_access(get, name.span);
                    return self.getter_call(&candidate, base, name, span);
                }
                MemberKind::Requirement(r) => {
                    let Some(p) = protocol else { continue };
                    if self.cx.defs.protocol_data(p).requirements[r as usize].kind == RequirementKind::Getter {
                        let receiver = self.shared(base);
                        base = (*receiver).clone();
                        let candidate =
                            Candidate { target: Target::Requirement(p, r), prefix, receiver: Some(receiver), tier: 0 };
                        if let Some(refused) = self.refused_on_any(&candidate, name) {
                            return refused;
                        }
                        return self.getter_call(&candidate, base, name, span);
                    }
                }
                MemberKind::Method(_) => {}
                _ => {}
            }
        }
        let receiver = Rc::new(base.clone());
        let methods = self.method_candidates(&ty, &name.name, false, Some(&receiver));
        let methods = self.with_labels(methods, labels);
        if !methods.is_empty() {
            return self.method_value(base, name, &methods, expected, span);
        }
        self.unknown_member(&base, &ty, name)
    }

    /// Whether a name denotes a method and not the property with the same name: the name has labels, or a function is
    /// expected, and only a method has the expected type.
    fn prefers_method(
        &mut self,
        property: &Type,
        (owner, name, is_static): (&Type, &Ident, bool),
        expected: Option<&Type>,
        span: Span,
    ) -> bool {
        let (base, labels) = split_labels(name);
        if labels.is_some() {
            return true;
        }
        let Some(expected @ Type::Function(_)) = expected.and_then(|t| self.known(t)) else { return false };
        let methods = self.method_candidates(owner, &base.name, is_static, None);
        !methods.is_empty()
            && !self.can_convert(property, &expected)
            && methods.iter().any(|method| self.may_be(method, Some(&expected), span))
    }

    /// Returns the getter of a stored property that subclasses override.
    fn overridden_accessor(&mut self, n: NominalId, index: u32, base: &Expr) -> Option<FunctionId> {
        if !superclass::is_class(self.cx, n) || matches!(base.kind, ExprKind::Super(_)) || self.initializes(base) {
            return None;
        }
        if self.is_self(base) && self.accesses_directly(Observed::Stored(n, index)) {
            return None;
        }
        let get = stored_property::known_accessor(self.cx, n, index)?;
        self.cx.defs.overridden.contains(&get).then_some(get)
    }

    pub(crate) fn owner_of_stored(
        &mut self,
        ty: &Type,
        name: &str,
        index: u32,
    ) -> Option<crate::types::model::ty::NominalId> {
        let Type::Nominal(n, _) = ty else { return None };
        let mut n = *n;
        loop {
            let stored = &self.cx.defs.nominal_data(n).stored;
            if stored.get(index as usize).is_some_and(|s| &*s.name == name) {
                return Some(n);
            }
            match self.cx.defs.nominal_data(n).superclass.clone()? {
                Type::Nominal(b, _) => n = b,
                _ => return None,
            }
        }
    }

    /// Creates a call of a getter.
    pub(crate) fn getter_call(&mut self, candidate: &Candidate, base: Expr, name: &Ident, span: Span) -> Expr {
        let instance = self.instantiate_reporting(candidate, name, span);
        let Some(callee) = instance.callee else { return self.error_expr(span) };
        let ty = associated_type::normalize_type(self.cx, &instance.result.clone());
        let mut args = vec![];
        if let (Some(own), true) = (&instance.self_type, instance.self_inout) {
            let base = self.decided(base);
            let place = self.place_of(base, "cannot use mutating getter on immutable value");
            unification::unify(self.cx, &place.ty.clone(), own, span);
            args.push(Argument::InOut(place));
        } else if let Some(own) = &instance.self_type {
            let base_ty = base.ty.clone();
            let base = if unification::unify(self.cx, &base_ty, own, span) { base } else { self.coerce(base, own) };
            args.push(Argument::Value(base));
        }
        Expr { kind: ExprKind::Call { callee, args }, ty, span }
    }

    /// Infers a method without a call, `value.method`, as a closure that captures the value.
    fn method_value(
        &mut self,
        base: Expr,
        name: &Ident,
        candidates: &[Candidate],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let expected = expected.and_then(|t| self.known(t));
        let fitting = candidates.iter().find(|c| self.may_be(c, expected.as_ref(), span)).unwrap_or(&candidates[0]);
        let params = self.candidate_params(fitting);
        let names: Vec<String> = (0..params.len()).map(|i| format!("$m{i}")).collect();
        let receiver = format!("$receiver{}", self.frame().locals.len());
        let ident = |name: &str| ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span };
        let args = params
            .iter()
            .zip(&names)
            .map(|(p, n)| ast::Arg {
                label: p.label.as_ref().map(|l| Ident { name: l.clone(), span }),
                value: match p.is_inout {
                    true => ast::Expr { kind: Ast::InOut(ident(n).into()), span }.into(),
                    false => ident(n).into(),
                },
                trailing: false,
            })
            .collect();
        // The body of the closure does not determine which of its parameters are `inout`.
        let expected = match params.iter().any(|p| p.is_inout) {
            true => expected.or_else(|| self.opened(fitting, span).map(|(ty, _)| ty)),
            false => expected,
        };
        let base_of_call = match (&base.kind, &base.ty) {
            (ExprKind::Metatype, Type::Metatype(of)) => self.type_written(of, span),
            _ => ident(&receiver),
        };
        let callee = Ast::Member { base: Rc::new(base_of_call), name: name.clone(), generics: vec![] };
        let call = ast::Expr { kind: Ast::Call { callee: Rc::new(ast::Expr { kind: callee, span }), args }, span };
        let throws = self.candidate_throws(fitting);
        let closure = crate::types::infer::expr::calculus_notation::closure_of_call(&names, call, throws, span);
        self.with_temporary(base, |infer, local| {
            infer.in_scope(|infer| {
                infer.bind(&receiver.as_str().into(), local);
                infer.expr(&closure, expected.as_ref())
            })
        })
    }

    /// Infers a static member or a case, `Type.name`, as a value; `on` is the metatype value, if an expression instead
    /// of a name denotes the type.
    pub(crate) fn static_member_of(
        &mut self,
        ty: &Type,
        on: Option<&Rc<Expr>>,
        name: &Ident,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let (full, (name, labels)) = (name, split_labels(name));
        let name = &name;
        let ty = unification::shallow(self.cx, ty);
        if ty == Type::Error {
            return self.error_expr(span);
        }
        if let Some(refused) = self.static_of_protocol(&ty, on, name, span) {
            return refused;
        }
        for (member, (prefix, protocol), _) in members::members(self.cx, &ty, &name.name, true, self.file) {
            match member {
                MemberKind::Global(g) => {
                    self.check_global_access(g, false, name.span);
                    let of = stored_property::global_type(self.cx, g);
                    let of = match &ty {
                        Type::Nominal(n, _) => conformances::substitute_nominal(self.cx, *n, &prefix, &of),
                        _ => of,
                    };
                    if self.prefers_method(&of, (&ty, full, true), expected, span) {
                        continue;
                    }
                    return Expr { kind: ExprKind::Global(g), ty: of, span };
                }
                MemberKind::Case(case) => {
                    if let Some(expected) = expected {
                        self.hint(&ty, expected, span);
                    }
                    return self.case_value(&ty, case, span);
                }
                MemberKind::Computed(get, _) => {
                    self.check_function_access(get, name.span);
                    let target = Target::Function(get);
                    let receiver = self.static_receiver(&target, &ty, on);
                    return self.static_getter(&Candidate { target, prefix, receiver, tier: 0 }, name, span);
                }
                MemberKind::Requirement(r) => {
                    let Some(p) = protocol else { continue };
                    if self.cx.defs.protocol_data(p).requirements[r as usize].kind == RequirementKind::Getter {
                        let target = Target::Requirement(p, r);
                        let receiver = self.static_receiver(&target, &ty, on);
                        return self.static_getter(&Candidate { target, prefix, receiver, tier: 0 }, name, span);
                    }
                }
                _ => {}
            }
        }
        let functions = self.method_candidates(&ty, &name.name, true, on);
        let functions = self.with_labels(functions, labels);
        if functions.first().is_some_and(|c| c.receiver.is_some()) {
            let named = || Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty.clone())), span };
            let base = on.map_or_else(named, |on| (**on).clone());
            return self.method_value(base, name, &functions, expected, span);
        }
        if let Some(value) = self.reference(&functions, expected, span) {
            return value;
        }
        if !self.method_candidates(&ty, &name.name, false, None).is_empty() {
            return self.unbound_method(&ty, name, expected, span);
        }
        if self.has_instance_member(&ty, &name.name) {
            return self.instance_on_type(&ty, name);
        }
        self.no_static_member(&ty, name);
        self.error_expr(span)
    }

    fn static_getter(&mut self, candidate: &Candidate, name: &Ident, span: Span) -> Expr {
        if let Some(on) = &candidate.receiver {
            return self.getter_call(candidate, (**on).clone(), name, span);
        }
        let instance = self.instantiate(candidate, span);
        let Some(callee) = instance.callee else { return self.error_expr(span) };
        let ty = associated_type::normalize_type(self.cx, &instance.result.clone());
        Expr { kind: ExprKind::Call { callee, args: vec![] }, ty, span }
    }

    /// Infers a case of an enum: a value, or a function of the payload of the case.
    fn case_value(&mut self, ty: &Type, case: u32, span: Span) -> Expr {
        let Type::Nominal(n, _) = ty else { return self.error_expr(span) };
        if self.cx.defs.nominal_data(*n).cases[case as usize].has_payload {
            return self.case_reference(ty, case, span);
        }
        Expr { kind: ExprKind::Case { case, payload: vec![] }, ty: ty.clone(), span }
    }

    /// Infers a subscript expression `base[arguments]`.
    pub(crate) fn subscript(
        &mut self,
        base: Expr,
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let base = self.resolved_base(base, "subscript");
        let ty = unification::shallow(self.cx, &base.ty.clone());
        let is_open = self.is_open(&ty);
        match &ty {
            Type::Error => {
                self.check_anyway(&args);
                return self.error_expr(span);
            }
            _ if is_open => {
                let result = self.cx.vars.fresh();
                return self.wait(PendingKind::Subscript { base: Rc::new(base), args }, result, span);
            }
            _ => {}
        }
        let (is_static, of) = match &ty {
            Type::Metatype(of) => (true, (**of).clone()),
            _ => (false, ty.clone()),
        };
        if let ([arg], false) = (args.as_mut_slice(), is_static)
            && arg.label.as_deref() == Some("keyPath")
        {
            self.decide_root(&of, arg);
        }
        let base_span = base.span;
        let mut members = members::members(self.cx, &of, "subscript", is_static, self.file);
        if let ([arg], false, true) = (args.as_slice(), is_static, members.is_empty())
            && arg.label.as_deref() == Some("keyPath")
            && let (Ast::KeyPath { root, path }, None) = (&arg.ast.kind, &arg.ready)
            && root.as_ref().is_none_or(|root| self.resolve(root) == of)
            && let Some(place) = self.along_key_path(&base, path, span)
        {
            return place;
        }
        let receiver = self.shared(base);
        let mut candidates = vec![];
        if let ([arg], false) = (args.as_mut_slice(), is_static)
            && arg.label.as_deref() == Some("keyPath")
        {
            members.extend(members::keyed_members(self.cx, &of));
            if let (Ast::KeyPath { root, path }, None) = (&arg.ast.kind, &arg.ready) {
                let root = root.as_ref().map_or_else(|| of.clone(), |root| self.resolve(root));
                arg.ready = Some(Rc::new(self.key_path_of(&root, path, None, arg.span)));
            }
        }
        for (member, (prefix, protocol), distance) in members {
            let target = match (member, protocol) {
                (MemberKind::Subscript(get, _), _) => Target::Function(get),
                (MemberKind::Requirement(r), Some(p)) => {
                    if self.cx.defs.protocol_data(p).requirements[r as usize].kind != RequirementKind::SubscriptGetter {
                        continue;
                    }
                    Target::Requirement(p, r)
                }
                _ => continue,
            };
            let receiver = (!is_static).then(|| receiver.clone());
            candidates.push(Candidate { target, prefix, receiver, tier: distance });
        }
        if candidates.is_empty() {
            if let Some(payload) = name_lookup::optional_payload(self.cx, &ty) {
                let message = format!(
                    "value of optional type '{}' must be unwrapped to refer to member 'subscript' of wrapped base type '{}'",
                    self.show(&ty),
                    self.show(&payload)
                );
                let diagnostic = Diagnostic::error(Code::OptionalNotUnwrapped, base_span, message)
                    .fix("use optional chaining with '?'", base_span.after(), "?")
                    .fix("unwrap it with '!', which stops the program if it is 'nil'", base_span.after(), "!")
                    .help("unwrap it first with 'if let'");
                self.error(diagnostic);
                return self.error_expr(span);
            }
            if self.hidden_member(&ty, "subscript", is_static, span) {
                return self.error_expr(span);
            }
            let shown = self.show(&ty);
            let message = format!("value of type '{shown}' has no subscripts");
            let mut diagnostic = Diagnostic::error(Code::UnknownMember, span, message);
            if shown == "String" {
                diagnostic = diagnostic.help("to access characters by number, use 'Array(text)[i]'");
            }
            diagnostic = self.with_array_parameter(diagnostic, base_span);
            self.error(diagnostic);
            return self.error_expr(span);
        }
        // The parameters of a subscript have no labels unless a label and a name are written, as in Swift.
        self.ready_args(&mut args);
        let name = Ident { name: "subscript".into(), span };
        // The expected type decides between subscripts of which one has a generic parameter as its result.
        let expected = expected.filter(|_| candidates.iter().any(|candidate| self.returns_own_parameter(candidate)));
        self.call_overloaded(&name, candidates, args, expected, span)
    }

    /// Whether the result type of a candidate contains a generic parameter that the candidate itself declares.
    fn returns_own_parameter(&mut self, candidate: &Candidate) -> bool {
        let Target::Function(f) = candidate.target else { return false };
        let signature = signature::signature(self.cx, f);
        let own = signature.env.params.get(candidate.prefix.len()..).unwrap_or_default();
        signature.result.any(&mut |ty| matches!(ty, Type::Param(param) if own.contains(param)))
    }
}
