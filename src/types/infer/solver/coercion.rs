//! Coercions: implicit conversions to an optional, to an existential, to a superclass, to `Double`, and between
//! function types.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Name;
use crate::types::conform::superclass;
use crate::types::generics::existential;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::solver::nested_differentiability::takes_back_marks;
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::differentiability::Differentiability;
use crate::types::model::ty::{Existential, FunctionType, ProtocolId, Strength, Type, VarId};
use crate::types::model::type_vars;
use crate::types::model::type_vars::{ConformanceConstraint, Literal};
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionRef};
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

impl Infer<'_> {
    /// Converts a value to the expected type, or defers the conversion until the types are known.
    pub(crate) fn coerce(&mut self, value: Expr, to: &Type) -> Expr {
        let (from, wanted) = (unification::shallow(self.cx, &value.ty.clone()), unification::shallow(self.cx, to));
        let span = value.span;
        match (&from, &wanted) {
            (Type::Error, _) | (_, Type::Error) => value,
            (Type::Var(v), Type::Nominal(..)) if name_lookup::is_optional(self.cx, &wanted) => {
                let value = self.decided(value);
                if self.cx.vars.var(*v).literal.is_some() || self.could_be_payload(&value) {
                    // The optional contains the literal as its payload. For another value of unknown type, the
                    // conversion waits until it is known whether the type is optional.
                    if self.cx.vars.var(*v).literal.is_some() {
                        let payload = name_lookup::optional_payload(self.cx, &wanted).unwrap_or(Type::Error);
                        let inner = self.coerce(value, &payload);
                        return Expr { kind: ExprKind::Some(Box::new(inner)), ty: wanted, span };
                    }
                    return self.wait(PendingKind::Coerce { value: Rc::new(value), to: wanted.clone() }, wanted, span);
                }
                self.coerce_now(value, &wanted)
            }
            (Type::Var(v), _)
                if self.is_any_hashable(&wanted)
                    && (self.cx.vars.var(*v).literal.is_some() || matches!(value.kind, ExprKind::Pending(_))) =>
            {
                self.wait(PendingKind::Coerce { value: Rc::new(value), to: wanted.clone() }, wanted, span)
            }
            (Type::Associated(..), _)
                if unification::has_vars(self.cx, &from)
                    && (matches!(wanted, Type::Existential(_))
                        || name_lookup::is_optional(self.cx, &wanted)
                        || self.may_be_tangent_of_array(&from, &wanted)) =>
            {
                self.wait(PendingKind::Coerce { value: Rc::new(value), to: wanted.clone() }, wanted, span)
            }
            (Type::Var(_) | Type::Nominal(..), Type::Existential(e))
                if matches!(from, Type::Var(_)) || self.conformance_is_open(&from, e) =>
            {
                if self.only_integer_conforms(&from, &e.protocols) {
                    return self.coerce_now(value, &wanted);
                }
                self.wait(PendingKind::Coerce { value: Rc::new(value), to: wanted.clone() }, wanted, span)
            }
            _ => self.coerce_now(value, &wanted),
        }
    }

    /// Whether the conformance of a type to the protocols of an existential may depend on the number literals in the type.
    pub(super) fn conformance_is_open(&mut self, from: &Type, to: &Existential) -> bool {
        to.known.is_empty() && !to.protocols.is_empty() && !self.number_literals(from).is_empty()
    }

    /// Returns the type variables of number literals in a type.
    fn number_literals(&mut self, ty: &Type) -> Vec<VarId> {
        let mut found = vec![];
        unification::resolved(self.cx, ty).any(&mut |part| {
            found.extend(match part {
                Type::Var(v) => Some(*v),
                _ => None,
            });
            false
        });
        found.retain(|v| matches!(self.cx.vars.var(*v).literal, Some(Literal::Int | Literal::Float)));
        found
    }

    /// Whether a type, or its arguments, are those of integer literals in a formula, and it conforms to some protocols if they
    /// are of type `Int`, but not if they are of type `Double`; makes them `Int` in this case.
    fn only_integer_conforms(&mut self, ty: &Type, protocols: &[ProtocolId]) -> bool {
        let literals = self.number_literals(ty);
        if !self.in_formula || literals.is_empty() {
            return false;
        }
        let snapshot = self.cx.vars.snapshot();
        let conforms = self.conforms_with(ty, &literals, "Double", protocols);
        self.cx.vars.rollback(snapshot);
        if conforms {
            return false;
        }
        let snapshot = self.cx.vars.snapshot();
        let conforms = self.conforms_with(ty, &literals, "Int", protocols);
        if conforms {
            self.cx.vars.keep(snapshot);
        } else {
            self.cx.vars.rollback(snapshot);
        }
        conforms
    }

    /// Whether a type conforms to some protocols once its literals are of a type.
    fn conforms_with(&mut self, ty: &Type, literals: &[VarId], scalar: &'static str, protocols: &[ProtocolId]) -> bool {
        let scalar = name_lookup::simple(self.cx, scalar);
        let is_bound = literals.iter().all(|v| unification::unify(self.cx, &Type::Var(*v), &scalar, Span::default()));
        let ty = unification::resolved(self.cx, ty);
        is_bound && protocols.iter().all(|p| existential::can_erase(self.cx, &ty, *p))
    }

    fn could_be_payload(&self, value: &Expr) -> bool {
        matches!(
            value.kind,
            ExprKind::Pending(_) | ExprKind::Call { .. } | ExprKind::CallValue { .. } | ExprKind::Local(_)
        )
    }

    pub(crate) fn coerce_now(&mut self, value: Expr, to: &Type) -> Expr {
        let (from, wanted) = (unification::shallow(self.cx, &value.ty.clone()), unification::shallow(self.cx, to));
        let span = value.span;
        if let (Type::Function(f), Type::Function(g)) = (&from, &wanted) {
            let value = self.decided(value);
            return self.convert_function(value, &f.clone(), &g.clone(), span);
        }
        if let (Type::Tuple(xs), Type::Tuple(ys)) = (&from, &wanted)
            && self.begins_to_throw(&from, &wanted)
        {
            let value = self.decided(value);
            return self.convert_tuple(value, xs, ys);
        }
        if matches!(from, Type::Nominal(..)) && self.begins_to_throw(&from, &wanted) {
            let value = self.decided(value);
            return self.convert_contained(value, &wanted, span);
        }
        let snapshot = self.cx.vars.snapshot();
        if unification::unify(self.cx, &from, &wanted, span) {
            self.cx.vars.keep(snapshot);
            // A pending expression is copied only if its type must change, for example the labels of a tuple.
            if type_vars::zonk(self.cx, &value.ty) == type_vars::zonk(self.cx, to) {
                return value;
            }
            let found = value.ty.clone();
            if self.requires_more(&found, to) || self.begins_to_throw(to, &found) {
                self.mismatch(&found, to, span);
                return Expr { kind: ExprKind::Error, ty: wanted, span };
            }
            return Expr { ty: to.clone(), ..self.decided(value) };
        }
        self.cx.vars.rollback(snapshot);
        let value = self.decided(value);
        if from == Type::Never {
            return Expr { ty: wanted, ..value };
        }
        if let Some(payload) = name_lookup::optional_payload(self.cx, &wanted) {
            let from_optional = name_lookup::is_optional(self.cx, &from);
            let payload_optional = name_lookup::is_optional(self.cx, &payload);
            if !from_optional || payload_optional {
                let inner = self.coerce(value, &payload);
                return Expr { kind: ExprKind::Some(Box::new(inner)), ty: wanted, span };
            }
        }
        if let (Some(given), Some(payload)) =
            (name_lookup::optional_payload(self.cx, &from), name_lookup::optional_payload(self.cx, &wanted))
            && !self.is_upcast(&given, &payload)
            && self.can_convert(&given, &payload)
        {
            let local = self.new_local("", given, false, span);
            let inner = self.local_expr(local, span);
            let body = Box::new(self.coerce(inner, &payload));
            let kind = ExprKind::Chain { base: Box::new(value), local, body, flatten: false };
            return Expr { kind, ty: wanted, span };
        }
        if let Some((given, element)) = self.elements_to_convert(&from, &wanted)
            && let Some(function) = prelude::library_function(self.cx, "_convertedElements")
        {
            let callee = Callee::Static(FunctionRef { function, generics: vec![given, element] });
            let kind = ExprKind::Call { callee, args: vec![Argument::Value(value)] };
            return Expr { kind, ty: wanted, span };
        }
        if self.is_tangent_of_array(&from, &wanted) {
            return self.tangent_as_array(value, &wanted);
        }
        if let Some(payload) = self.inside_unwrapped(&value)
            && !self.can_convert(&from, &wanted)
            && self.can_convert(&payload, &wanted)
        {
            let value = self.unwrapped(value);
            return self.coerce(value, &wanted);
        }
        match (&from, &wanted) {
            (_, Type::Existential(e)) => {
                if let Some(p) = e.protocols.iter().copied().find(|p| !existential::can_erase(self.cx, &from, *p)) {
                    let diagnostic =
                        self.not_conforming(&from, &ConformanceConstraint { protocol: p, span, by: None }, span);
                    self.error(diagnostic);
                    return self.error_expr(span);
                }
                if !existential::is_value_of(self.cx, &from, e) {
                    self.mismatch(&from, &wanted, span);
                    return Expr { kind: ExprKind::Error, ty: wanted, span };
                }
                Expr { kind: ExprKind::Erase(Box::new(value)), ty: wanted, span }
            }
            (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() && self.can_convert(&from, &wanted) => {
                self.convert_tuple(value, xs, ys)
            }
            (Type::Metatype(of), Type::Metatype(to)) if self.is_metatype_of(of, to) => {
                Expr { kind: ExprKind::Erase(Box::new(value)), ty: wanted, span }
            }
            // The static type does not determine the class of the instance.
            (Type::Existential(_) | Type::Param(_) | Type::Associated(..) | Type::Opaque(..), Type::Nominal(..))
                if existential::is_instance_of(self.cx, &from, &wanted) =>
            {
                Expr { kind: ExprKind::Cast { value: Box::new(value), forced: true }, ty: wanted, span }
            }
            (Type::Nominal(..), Type::Nominal(..)) if self.is_upcast(&from, &wanted) => {
                Expr { kind: ExprKind::Upcast(Box::new(value)), ty: wanted, span }
            }
            _ if self.can_become_hashable(&from, &wanted) => self.hashable_value(value),
            _ if self.can_widen(&from, &wanted) => self.widened(value, &wanted),
            _ if self.needs_widening(&from, &wanted) => {
                self.with_widening(true, |infer| infer.coerce_now(value, &wanted))
            }
            _ => {
                self.mismatch(&from, &wanted, span);
                Expr { kind: ExprKind::Error, ty: wanted, span }
            }
        }
    }

    /// Converts the components of a tuple one by one.
    fn convert_tuple(&mut self, value: Expr, from: &[(Option<Name>, Type)], to: &Rc<[(Option<Name>, Type)]>) -> Expr {
        let (span, wanted) = (value.span, Type::Tuple(to.clone()));
        if let ExprKind::Tuple(parts) = value.kind {
            let parts = parts.into_iter().zip(to.iter()).map(|(part, (_, ty))| self.coerce(part, ty)).collect();
            return Expr { kind: ExprKind::Tuple(parts), ty: wanted, span };
        }
        self.with_temporary(value, |infer, local| {
            let mut parts = vec![];
            for (index, ((_, given), (_, ty))) in from.iter().zip(to.iter()).enumerate() {
                let base = Box::new(infer.local_expr(local, span));
                let kind = ExprKind::Element { base, index: index as u32 };
                parts.push(infer.coerce(Expr { kind, ty: given.clone(), span }, ty));
            }
            Expr { kind: ExprKind::Tuple(parts), ty: wanted, span }
        })
    }

    /// Returns the element types of two array types if elements of the first are to be converted to existentials.
    fn elements_to_convert(&mut self, from: &Type, to: &Type) -> Option<(Type, Type)> {
        let (Type::Nominal(n, xs), Type::Nominal(m, ys)) = (from, to) else { return None };
        let is_array = n == m && self.cx.defs.nominal_data(*n).builtin == Some(Builtin::Array);
        let (given, wanted) = (unification::shallow(self.cx, xs.first()?), unification::shallow(self.cx, ys.first()?));
        let is_erased = is_array && matches!(wanted, Type::Existential(_)) && given != wanted;
        (is_erased && !matches!(given, Type::Var(_)) && self.can_convert(&given, &wanted)).then_some((given, wanted))
    }

    /// Whether every value of a type is a value of another type without conversion: an instance of a subclass,
    /// directly, or inside an optional, an array or the values of a dictionary.
    fn is_upcast(&mut self, from: &Type, to: &Type) -> bool {
        if self.is_subclass(from, to) {
            return true;
        }
        let (from, to) = (unification::shallow(self.cx, from), unification::shallow(self.cx, to));
        let (Type::Nominal(n, xs), Type::Nominal(m, ys)) = (&from, &to) else { return false };
        let holds = self.cx.defs.nominal_data(*n).builtin;
        if n != m || !matches!(holds, Some(Builtin::Optional | Builtin::Array | Builtin::Dictionary)) {
            return false;
        }
        match (xs.split_last(), ys.split_last()) {
            (Some((x, keys)), Some((y, others))) => self.are_equal(keys, others) && self.is_upcast(x, y),
            _ => false,
        }
    }

    /// Whether types are equal, as far as their type variables are determined.
    pub(super) fn are_equal(&mut self, types: &[Type], others: &[Type]) -> bool {
        let mut resolved =
            |types: &[Type]| types.iter().map(|ty| unification::resolved(self.cx, ty)).collect::<Vec<_>>();
        resolved(types) == resolved(others)
    }

    /// Whether every value of `of.Type` is a value of `to.Type`.
    fn is_metatype_of(&mut self, of: &Type, to: &Type) -> bool {
        match unification::shallow(self.cx, to) {
            Type::Existential(e) => existential::is_value_of(self.cx, of, &e),
            to => self.is_subclass(of, &to) || existential::is_instance_of(self.cx, of, &to),
        }
    }

    pub(crate) fn is_subclass(&mut self, from: &Type, to: &Type) -> bool {
        let mut at = from.clone();
        while let Type::Nominal(n, args) = &at {
            let Some(base) = superclass::base_type(self.cx, *n, args) else { return false };
            at = base;
            let snapshot = self.cx.vars.snapshot();
            if unification::unify(self.cx, &at, to, Span::default()) {
                self.cx.vars.keep(snapshot);
                return true;
            }
            self.cx.vars.rollback(snapshot);
        }
        false
    }

    fn convert_function(&mut self, value: Expr, f: &FunctionType, g: &FunctionType, span: Span) -> Expr {
        let wanted = Type::Function(Rc::new(g.clone()));
        if self.spreads(f, g) {
            return self.spread_function(value, f, &wanted, span);
        }
        let plain = |f: &FunctionType| Type::Function(Rc::new(FunctionType { strength: Strength::Plain, ..f.clone() }));
        let snapshot = self.cx.vars.snapshot();
        let fits = unification::unify(self.cx, &plain(f), &plain(g), span);
        if fits {
            self.cx.vars.keep(snapshot);
        } else {
            self.cx.vars.rollback(snapshot);
            let is_opaque = f.strength == Strength::Plain && g.strength >= Strength::Differentiable;
            if (!f.throws || g.throws) && !is_opaque && self.converts_by_parts(f, g) {
                let names: Vec<String> = (0..f.params.len()).map(|i| format!("$t{i}")).collect();
                return self.wrapped_function(value, (&names, &names), g.throws, &wanted, span);
            }
            let found = value.ty.clone();
            if self.needs_widening(&found, &wanted) {
                return self.with_widening(true, |infer| infer.convert_function(value, f, g, span));
            }
            self.mismatch(&found, &wanted, span);
            return Expr { kind: ExprKind::Error, ty: wanted, span };
        }
        if f.throws && !g.throws {
            return self.throwing_function(&value, &wanted);
        }
        let found = value.ty.clone();
        if self.begins_to_throw(&wanted, &found) {
            self.mismatch(&found, &wanted, span);
            return Expr { kind: ExprKind::Error, ty: wanted, span };
        }
        if self.begins_to_throw(&found, &wanted) {
            let names: Vec<String> = (0..f.params.len()).map(|i| format!("$t{i}")).collect();
            return self.wrapped_function(value, (&names, &names), g.throws, &wanted, span);
        }
        let is_refused = g.strength > Strength::Open && takes_back_marks(f, g);
        if is_refused || self.requires_more(&Type::Function(Rc::new(f.clone())), &wanted) {
            let found = value.ty.clone();
            self.mismatch(&found, &wanted, span);
            return Expr { kind: ExprKind::Error, ty: wanted, span };
        }
        let marks = |f: &FunctionType| f.params.iter().map(|p| !p.no_derivative).collect::<Vec<_>>();
        let is_checked = match (f.strength, g.strength) {
            (from, Strength::C) if from != Strength::C => return self.c_function(value, &wanted, span),
            (_, Strength::C | Strength::Plain) | (Strength::Linear, Strength::Linear | Strength::Differentiable) => {
                false
            }
            (Strength::Differentiable, Strength::Differentiable) => false,
            (from, Strength::Open) => {
                return Expr { ty: Type::Function(Rc::new(FunctionType { strength: from, ..g.clone() })), ..value };
            }
            (Strength::Open, _) => true,
            (Strength::Differentiable, Strength::Linear) => {
                let message = "a '@differentiable' function cannot be converted to a '@differentiable(linear)' one";
                return self.fail(Code::NotLinear, span, message);
            }
            (Strength::C | Strength::Plain, _) => return self.opaque_function(&value, g, span),
        };
        if !is_checked {
            if f.strength == g.strength && marks(f) == marks(g) {
                return Expr { ty: wanted, ..value };
            }
            let kind = ExprKind::ConvertFunction { value: Box::new(value), differentiability: None };
            return Expr { kind, ty: wanted, span };
        }
        let linear = g.strength == Strength::Linear;
        let differentiability = Differentiability { wrt: marks(g), linear, default: false };
        let kind = ExprKind::ConvertFunction { value: Box::new(value), differentiability: Some(differentiability) };
        Expr { kind, ty: wanted, span }
    }

    /// Whether a function value can be wrapped so that its parameters and its result are converted: from a subclass to
    /// its base, or from a value to an optional or existential.
    fn converts_by_parts(&mut self, f: &FunctionType, g: &FunctionType) -> bool {
        let is_inout = |f: &FunctionType| f.params.iter().any(|p| p.is_inout || p.autoclosure);
        if f.params.len() != g.params.len() || is_inout(f) || is_inout(g) {
            return false;
        }
        // Type variables that the parameters determine also occur in the result.
        let snapshot = self.cx.vars.snapshot();
        let mut fits = |from: &Type, to: &Type| {
            unification::try_unify(self.cx, from, to, Span::default()) || self.can_convert(from, to)
        };
        let all_fit = f.params.iter().zip(&g.params).all(|(own, given)| fits(&given.ty, &own.ty));
        let all_fit = all_fit && fits(&f.result, &g.result);
        self.cx.vars.rollback(snapshot);
        all_fit
    }

    /// Whether a function of several parameters is passed as a function of one tuple, `zip(a, b).map(max)`, or one
    /// without parameters as a function of `()`.
    fn spreads(&mut self, f: &FunctionType, g: &FunctionType) -> bool {
        let [only] = g.params.as_slice() else { return false };
        let ty = only.ty.clone();
        f.params.len() != 1
            && matches!(unification::shallow(self.cx, &ty), Type::Tuple(parts) if parts.len() == f.params.len())
    }

    fn spread_function(&mut self, value: Expr, f: &FunctionType, wanted: &Type, span: Span) -> Expr {
        let names: Vec<String> = (0..f.params.len()).map(|i| format!("$s{i}")).collect();
        if names.is_empty() {
            return self.wrapped_function(value, (&["$s".to_string()], &[]), f.throws, wanted, span);
        }
        self.wrapped_function(value, (&names, &names), f.throws, wanted, span)
    }

    /// Builds a closure that calls a function with some of the closure's own parameters.
    fn wrapped_function(
        &mut self,
        value: Expr,
        (params, passed): (&[String], &[String]),
        throws: bool,
        wanted: &Type,
        span: Span,
    ) -> Expr {
        let ident = |name: &str| ast::Expr { kind: ast::ExprKind::Ident { name: name.into(), generics: vec![] }, span };
        let function = format!("$function{}", self.frame().locals.len());
        let args = passed.iter().map(|n| ast::Arg { label: None, value: Rc::new(ident(n)), trailing: false });
        let args = args.collect();
        let call = ast::ExprKind::Call { callee: Rc::new(ident(&function)), args };
        let closure = crate::types::infer::expr::calculus_notation::closure_of_call(
            params,
            ast::Expr { kind: call, span },
            throws,
            span,
        );
        self.with_temporary(value, |infer, local| {
            infer.in_scope(|infer| {
                infer.bind(&function.as_str().into(), local);
                let value = infer.expr(&closure, Some(wanted));
                infer.coerce(value, wanted)
            })
        })
    }

    /// Reports a throwing function where a function that does not throw is expected.
    fn throwing_function(&mut self, value: &Expr, wanted: &Type) -> Expr {
        let (from, to) = (self.show(&value.ty), self.show(wanted));
        let message = format!("invalid conversion of throwing function of type '{from}' to non-throwing type '{to}'");
        let mut diagnostic = Diagnostic::error(Code::Mismatch, value.span, message);
        if matches!(value.kind, ExprKind::Closure { .. }) {
            diagnostic = diagnostic.help("handle errors inside the closure with 'do' and 'catch', 'try?' or 'try!'");
        }
        self.error(diagnostic);
        self.error_expr(value.span)
    }

    /// Reports the conversion of a plain function value to a differentiable function type: the body of the function is
    /// not known.
    fn opaque_function(&mut self, value: &Expr, g: &FunctionType, span: Span) -> Expr {
        let declared = match &value.kind {
            ExprKind::Local(local) => Some(self.frame().locals[local.0 as usize].span),
            ExprKind::Global(global) => Some(self.cx.defs.globals[global.0 as usize].span),
            _ => None,
        };
        let what = if g.strength == Strength::Linear { "@differentiable(linear)" } else { "@differentiable" };
        let mut diagnostic = Diagnostic::error(
            Code::OpaqueClosure,
            span,
            format!(
                "cannot differentiate an opaque closure: a plain function value cannot be converted to a '{what}' one"
            ),
        )
        .label("the body of this function is not known here");
        if let Some(declared) = declared {
            diagnostic =
                diagnostic.note_at(declared, "value defined here").help(format!("declare its type as '{what}'"));
        }
        diagnostic =
            diagnostic.note(format!("a '{what}' function can only be formed from a 'func', an 'init' or a closure"));
        self.error(diagnostic);
        self.error_expr(span)
    }

    /// Whether a value of one type can be converted to another type, as far as the types are known. Leaves the type
    /// variables unchanged.
    pub(crate) fn can_convert(&mut self, from: &Type, to: &Type) -> bool {
        let (from, to) = (unification::shallow(self.cx, from), unification::shallow(self.cx, to));
        let snapshot = self.cx.vars.snapshot();
        let same = unification::unify(self.cx, &from, &to, Span::default());
        self.cx.vars.rollback(snapshot);
        if same {
            return match (&from, &to) {
                (Type::Function(f), Type::Function(g)) => {
                    g.strength <= Strength::Open
                        || !takes_back_marks(f, g) && (f.strength >= g.strength || f.strength <= Strength::Open)
                }
                _ => true,
            };
        }
        if from == Type::Never {
            return true;
        }
        if let (Type::Function(f), Type::Function(g)) = (&from, &to)
            && self.spreads(f, g)
        {
            let (Type::Tuple(parts), (f, g)) = (unification::shallow(self.cx, &g.params[0].ty), (f.clone(), g.clone()))
            else {
                return false;
            };
            let snapshot = self.cx.vars.snapshot();
            let mut fits = |from: &Type, to: &Type| {
                unification::try_unify(self.cx, from, to, Span::default()) || self.can_widen(from, to)
            };
            let fits =
                f.params.iter().zip(parts.iter()).all(|(p, (_, t))| fits(t, &p.ty)) && fits(&f.result, &g.result);
            self.cx.vars.rollback(snapshot);
            return fits;
        }
        if let (Type::Function(f), Type::Function(g)) = (&from, &to) {
            let is_opaque = f.strength == Strength::Plain && g.strength >= Strength::Differentiable;
            return (!f.throws || g.throws) && !is_opaque && self.converts_by_parts(&f.clone(), &g.clone());
        }
        if let Some(payload) = name_lookup::optional_payload(self.cx, &to)
            && (!name_lookup::is_optional(self.cx, &from) || name_lookup::is_optional(self.cx, &payload))
            && self.can_convert(&from, &payload)
        {
            return true;
        }
        if self.can_become_hashable(&from, &to) {
            return true;
        }
        match (&from, &to) {
            (_, Type::Existential(e)) => {
                let snapshot = self.cx.vars.snapshot();
                let is_value = existential::is_value_of(self.cx, &from, e);
                self.cx.vars.rollback(snapshot);
                is_value
            }
            (Type::Existential(_) | Type::Param(_) | Type::Associated(..) | Type::Opaque(..), Type::Nominal(..)) => {
                existential::is_instance_of(self.cx, &from, &to)
            }
            (Type::Metatype(of), Type::Metatype(to)) => self.is_metatype_of(of, to),
            (Type::Tuple(xs), Type::Tuple(ys)) => {
                xs.len() == ys.len()
                    && xs
                        .iter()
                        .zip(ys.iter())
                        .all(|((l, x), (m, y))| (l == m || l.is_none() || m.is_none()) && self.can_convert(x, y))
            }
            (Type::Nominal(..), Type::Nominal(..)) => {
                self.is_upcast(&from, &to)
                    || self.is_tangent_of_array(&from, &to)
                    || match (
                        name_lookup::optional_payload(self.cx, &from),
                        name_lookup::optional_payload(self.cx, &to),
                    ) {
                        (Some(from), Some(to)) => self.can_convert(&from, &to),
                        _ => self.elements_to_convert(&from, &to).is_some() || self.can_widen(&from, &to),
                    }
            }
            _ => self.can_widen(&from, &to),
        }
    }
}
