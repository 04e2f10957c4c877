//! Function application: infers the arguments of a call whose callee is chosen, with the types of the parameters.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::generics::opened_existential;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot, is_operand, match_args};
use crate::types::infer::call::candidates::{Candidate, Instance, Target};
use crate::types::infer::expr::implicit_member::implicit_root;
use crate::types::infer::expr::is_nil;
use crate::types::model::declaration_tables::{Requirement, SignatureParam};
use crate::types::model::syntax_walk::is_literal;
use crate::types::model::ty::{ProtocolId, Type};
use crate::types::model::type_vars::Clause;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionRef};
use crate::types::names::name_lookup;

/// The round in which an argument is inferred: literals follow the arguments that determine their types, closures
/// follow the arguments that determine their parameter types.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum ArgumentRound {
    First,
    Literal,
    Closure,
    Last,
}

impl Infer<'_> {
    /// Calls a candidate, and infers the remaining arguments with the types of the candidate's parameters.
    pub(crate) fn commit(
        &mut self,
        name: &Ident,
        candidate: &Candidate,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let widens = std::mem::take(&mut self.widens);
        let params = self.candidate_params(candidate);
        let slots = match match_args(&params, args) {
            Ok(slots) => slots,
            Err(_) => return self.no_candidate(name, std::slice::from_ref(candidate), args, span),
        };
        if let Some(refused) = self.refused_on_any(candidate, name) {
            return refused;
        }
        if let Some(refused) = self.refused_key_path(candidate, args, span) {
            return refused;
        }
        if let Target::Function(f) = candidate.target {
            self.check_call_access(f, args.is_empty(), name.span);
        }
        let forwards_no_argument = self.forwards_no_argument(candidate, &slots, args);
        let version = self.throwing_candidate(candidate, &slots, args).or_else(|| self.stopping_candidate(candidate));
        let candidate = version.as_ref().unwrap_or(candidate);
        self.note_thrown_by(candidate);
        let instance = self.instantiate_reporting(candidate, name, span);
        let mut result = instance.result.clone();
        if let Some(expected) = expected {
            self.hint(&result, expected, span);
        }
        self.take_optionals(&slots, &instance.params, args, span);
        self.take_superclasses(&slots, &instance.params, args, span);
        if widens {
            self.widen_variables(&slots, &instance.params, args, span);
        }
        let receiver = self.receiver_argument(candidate, &instance, name);
        let mut values: Vec<Option<Argument>> = vec![None; slots.len()];
        for now in [ArgumentRound::First, ArgumentRound::Literal, ArgumentRound::Closure, ArgumentRound::Last] {
            if now == ArgumentRound::Literal {
                self.take_written_types(&slots, &instance.params, args);
            }
            for (i, (slot, param)) in slots.iter().zip(&instance.params).enumerate() {
                if values[i].is_some() {
                    continue;
                }
                let round = match slot {
                    Slot::Arg(a) => self.round(&args[*a], param),
                    Slot::Variadic(all) if all.iter().any(|a| self.round(&args[*a], param) > ArgumentRound::First) => {
                        ArgumentRound::Literal
                    }
                    Slot::Variadic(_) | Slot::Whole(_) | Slot::Default => ArgumentRound::First,
                };
                if round <= now {
                    let built = self.built_argument(candidate, i, slot, args);
                    let args = built.as_deref().unwrap_or(args);
                    let open = match slot {
                        Slot::Arg(a) => self.open_array_literal(&args[*a], param, (&slots, &instance.params, args)),
                        Slot::Variadic(_) | Slot::Whole(_) | Slot::Default => None,
                    };
                    values[i] = Some(match open {
                        Some(literal) => Argument::Value(literal),
                        None => self.slot_argument(slot, param, args, &instance, span),
                    });
                }
            }
        }
        values.iter().flatten().for_each(|value| self.take_text_as_sequence(value, &result));
        self.progress_if_waiting();
        let values = receiver.into_iter().chain(values.into_iter().flatten()).collect::<Vec<_>>();
        let kind = match (&candidate.target, instance.callee) {
            (Target::Case(_, case), _) => {
                let payload = values.into_iter().filter_map(|a| match a {
                    Argument::Value(e) => Some(e),
                    Argument::InOut(_) => None,
                });
                ExprKind::Case { case: *case, payload: payload.collect() }
            }
            (_, Some(callee)) => ExprKind::Call { callee, args: values },
            (_, None) => ExprKind::Error,
        };
        if let Type::Function(f) = &result
            && f.strength == crate::types::model::ty::Strength::Open
        {
            result = Type::Function(f.clone());
        }
        if let Target::Function(f) = candidate.target
            && result.is_unit()
            && !self.cx.defs.function_data(f).is_prelude
        {
            self.cx.module.calls_without_result.push((f, span));
        }
        let call = Expr { kind, ty: result, span };
        if !forwards_no_argument {
            return call;
        }
        let ty = call.ty.clone();
        Expr { kind: ExprKind::Quiet(Box::new(call)), ty, span }
    }

    fn widen_variables(&mut self, slots: &[Slot], params: &[SignatureParam], args: &[ArgNode], span: Span) {
        for (slot, param) in slots.iter().zip(params) {
            let wanted = self.param_value_type(param);
            slot.given().iter().for_each(|i| self.widen_variable(&args[*i], &wanted, span));
        }
    }

    /// Makes a generic parameter optional whose argument is `nil`, or that is the type of several parameters, if an
    /// argument for one of them is optional.
    fn take_optionals(&mut self, slots: &[Slot], params: &[SignatureParam], args: &[ArgNode], span: Span) {
        for (slot, param) in slots.iter().zip(params) {
            let Slot::Arg(i) = slot else { continue };
            if is_nil(&args[*i].ast) && self.is_undetermined(&param.ty) {
                let payload = self.cx.vars.fresh();
                let optional = name_lookup::applied(self.cx, "Optional", &[payload]);
                unification::try_unify(self.cx, &param.ty, &optional, span);
            }
            if self.is_optional_for_variable(&args[*i], &param.ty)
                && params.iter().filter(|other| other.ty == param.ty).count() > 1
                && let Some(ty) = args[*i].ready.as_ref().map(|ready| ready.ty.clone())
            {
                unification::unify(self.cx, &param.ty, &ty, span);
            }
        }
    }

    /// Makes a generic parameter the nearest common superclass of the arguments whose type it is: `max(Cat(), Dog())`.
    fn take_superclasses(&mut self, slots: &[Slot], params: &[SignatureParam], args: &[ArgNode], span: Span) {
        let mut variables: Vec<(Type, Vec<Type>)> = vec![];
        for (slot, param) in slots.iter().zip(params) {
            let wanted = self.param_value_type(param);
            let wanted = unification::shallow(self.cx, &wanted);
            if !matches!(wanted, Type::Var(_)) {
                continue;
            }
            let types = slot.given().iter().filter_map(|i| args[*i].ready.as_ref().map(|ready| ready.ty.clone()));
            match variables.iter_mut().find(|(variable, _)| *variable == wanted) {
                Some((_, all)) => all.extend(types),
                None => variables.push((wanted, types.collect())),
            }
        }
        for (variable, types) in variables {
            let Some((first, rest)) = types.split_first() else { continue };
            let common = rest.iter().try_fold(first.clone(), |common, ty| {
                let is_same = unification::resolved(self.cx, ty) == unification::resolved(self.cx, &common);
                if is_same { Some(common) } else { self.joined_type(&common, ty) }
            });
            if let Some(common) = common.filter(|common| matches!(common, Type::Nominal(..)) && common != first) {
                unification::try_unify(self.cx, &variable, &common, span);
            }
        }
    }

    /// Whether an argument is known to be optional, and the expected type is a type variable.
    pub(crate) fn is_optional_for_variable(&mut self, arg: &ArgNode, wanted: &Type) -> bool {
        let Some(ready) = &arg.ready else { return false };
        let ty = ready.ty.clone();
        matches!(unification::shallow(self.cx, wanted), Type::Var(_))
            && name_lookup::optional_payload(self.cx, &ty).is_some()
    }

    /// Returns the round in which an argument of a call is inferred.
    fn round(&mut self, arg: &ArgNode, param: &SignatureParam) -> ArgumentRound {
        match arg.ast.kind {
            Ast::Closure(_) if !param.autoclosure => ArgumentRound::Closure,
            // The type of an array literal for a tangent vector is only known when the closures have determined their
            // parameter types.
            Ast::Array(_) if matches!(unification::resolved(self.cx, &param.ty), Type::Associated(..)) => {
                ArgumentRound::Last
            }
            _ if unification::has_vars(self.cx, &param.ty) && self.depends_on_arguments(arg) => ArgumentRound::Literal,
            _ => ArgumentRound::First,
        }
    }

    /// Whether an argument is a literal, an implicit member, or one of several functions: other arguments may determine
    /// its type.
    fn depends_on_arguments(&mut self, arg: &ArgNode) -> bool {
        if arg.ready.is_some() {
            return self.is_open_literal(arg);
        }
        matches!(arg.ast.kind, Ast::Array(_) | Ast::Dictionary(_) | Ast::Operator(_))
            || is_literal(&arg.ast)
            || implicit_root(&arg.ast).is_some()
            || self.names_several(&arg.ast)
            || self.names_bound_methods(&arg.ast)
    }

    /// Unifies the declared parameter types of closure arguments with the expected types, which determines the types of
    /// literals among the arguments: `gradient(at: [3, 4]) { (v: Vector) in … }`.
    fn take_written_types(&mut self, slots: &[Slot], params: &[SignatureParam], args: &[ArgNode]) {
        for (slot, param) in slots.iter().zip(params) {
            let Slot::Arg(i) = slot else { continue };
            let Ast::Closure(closure) = &args[*i].ast.kind else { continue };
            let (Some(written), Type::Function(wanted)) = (&closure.params, unification::shallow(self.cx, &param.ty))
            else {
                continue;
            };
            if written.len() != wanted.params.len() {
                continue;
            }
            for (written, wanted) in written.iter().zip(&wanted.params) {
                if let Some(ty) = &written.ty
                    && unification::has_vars(self.cx, &wanted.ty)
                {
                    let ty = self.resolve_quietly(ty);
                    unification::try_unify(self.cx, &ty, &wanted.ty, written.name.span);
                }
            }
        }
    }

    fn progress_if_waiting(&mut self) {
        // Pending arguments may be decidable now that the other arguments are known; this shortens chains of pending
        // expressions.
        if self.pending.iter().rev().take(4).any(Option::is_some) && !self.defaulting {
            let from = self.pending.len().saturating_sub(4);
            self.defaulting = true;
            self.progress(from);
            self.defaulting = false;
        }
    }

    /// Reports a requirement that cannot be called on an existential, because it depends on the erased type.
    pub(crate) fn refused_on_any(&mut self, candidate: &Candidate, name: &Ident) -> Option<Expr> {
        let Target::Requirement(p, r) = candidate.target else { return None };
        let of = candidate.prefix.first().cloned()?;
        let of = unification::shallow(self.cx, &of);
        let Type::Existential(e) = &of else { return None };
        if opened_existential::is_callable_on_any(self.cx, e, p, r) {
            return None;
        }
        let diagnostic = self.unusable_on_any(name, &of, None);
        self.error(diagnostic);
        Some(self.error_expr(name.span))
    }

    /// Creates the diagnostic for a member that depends on the type of the value in an existential; `p` is the protocol
    /// to which that type must conform, if the missing conformance is the reason.
    fn unusable_on_any(&mut self, name: &Ident, of: &Type, p: Option<ProtocolId>) -> Diagnostic {
        let message = format!("member '{}' cannot be used on value of type '{}'", name.name, self.show(of));
        let diagnostic = Diagnostic::error(Code::NotConforming, name.span, message)
            .help("use a generic parameter instead, which preserves the type");
        match p {
            Some(p) if p == name_lookup::protocol(self.cx, "Sequence") => {
                diagnostic.help("or convert it to an array with 'Array(…)'")
            }
            _ => diagnostic,
        }
    }

    /// Instantiates a candidate; reports a requirement that is not satisfied.
    pub(crate) fn instantiate_reporting(&mut self, candidate: &Candidate, name: &Ident, span: Span) -> Instance {
        let instance = self.instantiate(candidate, span);
        if let Some((index, requirement)) = &instance.missing {
            if matches!(candidate.target, Target::Function(f) if self.was_refused(f, &candidate.prefix)) {
                return instance;
            }
            let diagnostic = match (requirement, &candidate.target) {
                (Requirement::Conforms(of @ Type::Existential(_), p), _) if candidate.receiver.is_some() => {
                    self.unusable_on_any(name, of, Some(*p))
                }
                (_, Target::Case(..)) => return instance,
                (_, Target::Function(function)) => {
                    let clause = Clause { function: *function, index: *index };
                    unmet_requirement::unmet(self.cx, clause, requirement, span)
                }
                (_, Target::Requirement(p, r)) => {
                    let function = self.cx.defs.protocol_data(*p).requirements[*r as usize].function;
                    unmet_requirement::unmet(self.cx, Clause { function, index: *index }, requirement, span)
                }
            };
            self.error(diagnostic);
        }
        instance
    }

    fn receiver_argument(&mut self, candidate: &Candidate, instance: &Instance, name: &Ident) -> Option<Argument> {
        let receiver = candidate.receiver.as_ref()?;
        let own = instance.self_type.clone()?;
        let mut value = match instance.self_inout || !self.is_decided_call(receiver) {
            true => self.decided((**receiver).clone()),
            false => (**receiver).clone(),
        };
        if value.span == Span::default() {
            // The receiver of the call is implicit.
            value.span = name.span;
        }
        let ty = value.ty.clone();
        let fits = unification::unify(self.cx, &ty, &own, value.span);
        if instance.self_inout {
            let place = self.place_of(value, &format!("cannot use mutating member '{}' on immutable value", name.name));
            return Some(Argument::InOut(place));
        }
        let value = if fits { value } else { self.coerce(value, &own) };
        Some(Argument::Value(value))
    }

    fn slot_argument(
        &mut self,
        slot: &Slot,
        param: &SignatureParam,
        args: &[ArgNode],
        instance: &Instance,
        span: Span,
    ) -> Argument {
        match slot {
            Slot::Arg(i) => {
                let wanted = self.param_value_type(param);
                let wanted = if param.autoclosure { param.ty.clone() } else { wanted };
                self.argument(&args[*i], &wanted, param.is_inout, param.autoclosure)
            }
            Slot::Whole(i) => self.argument(&args[*i], &param.ty, false, false),
            Slot::Variadic(all) => {
                let wanted = self.param_value_type(param);
                let mut values = vec![];
                for i in all {
                    if let Argument::Value(e) = self.argument(&args[*i], &wanted, false, false) {
                        values.push(e);
                    }
                }
                Argument::Value(Expr { kind: ExprKind::Array(values), ty: param.ty.clone(), span })
            }
            Slot::Default => {
                let Some(function) = param.default else { return Argument::Value(self.error_expr(span)) };
                let wanted = param.ty.clone();
                if let Some(value) = self.call_site_default(function, &wanted, span) {
                    return Argument::Value(value);
                }
                self.take_default(param.default, &wanted, instance, span);
                let generics = self.default_generics(function, instance);
                let callee = Callee::Static(FunctionRef { function, generics });
                Argument::Value(Expr { kind: ExprKind::Call { callee, args: vec![] }, ty: param.ty.clone(), span })
            }
        }
    }

    fn default_generics(
        &mut self,
        function: crate::types::model::typed_tree::FunctionId,
        instance: &Instance,
    ) -> Vec<Type> {
        let count = signature::signature(self.cx, function).env.params.len();
        instance.generics.iter().take(count).cloned().collect()
    }

    /// Infers one argument for a parameter of a known type.
    pub(crate) fn argument(&mut self, arg: &ArgNode, wanted: &Type, is_inout: bool, autoclosure: bool) -> Argument {
        if is_inout {
            let place = match &arg.ast.kind {
                Ast::InOut(inner) => {
                    let is_operator = is_operand(inner, arg);
                    let value = match &arg.ready {
                        Some(ready) if !is_operator => self.decided((**ready).clone()),
                        _ => self.target(inner),
                    };
                    let stays = unification::unifies(self.cx, &value.ty, wanted);
                    let value = if stays { value } else { self.unwrapped(value) };
                    self.place_of(
                        value,
                        match is_operator {
                            true => "left side of mutating operator isn't mutable",
                            false => "cannot pass immutable value as inout argument",
                        },
                    )
                }
                _ => {
                    let error = |message: &str| Diagnostic::error(Code::Mismatch, arg.span, message);
                    let is_place =
                        matches!(&arg.ast.kind, Ast::Ident { .. } | Ast::Member { .. } | Ast::Subscript { .. });
                    self.error(match is_place {
                        true => error("passing a value to an 'inout' parameter requires '&'").fix(
                            "write '&'",
                            arg.span.before(),
                            "&",
                        ),
                        false => error("cannot pass immutable value as inout argument: it is a temporary value")
                            .help("store it in a variable first"),
                    });
                    return Argument::Value(self.error_expr(arg.span));
                }
            };
            // An `inout` argument is also written back, so the differentiability of both types must be equal.
            if !unification::unify(self.cx, &place.ty.clone(), wanted, arg.span)
                || self.states_less(&place.ty, wanted)
                || self.states_less(wanted, &place.ty)
            {
                self.mismatch(&place.ty.clone(), wanted, arg.span);
            }
            return Argument::InOut(place);
        }
        if matches!(arg.ast.kind, Ast::InOut(_)) {
            return Argument::Value(self.refuse_address(arg, wanted));
        }
        if autoclosure {
            let closure = self.autoclosure(&arg.ast.clone(), wanted);
            // The argument is inferred again inside the closure; this determines the types of the first inference.
            if let (Some(ready), Type::Function(f)) = (&arg.ready, unification::shallow(self.cx, wanted)) {
                unification::try_unify(self.cx, &ready.ty, &f.result, arg.span);
            }
            return Argument::Value(closure);
        }
        let value = match &arg.ready {
            Some(ready) => (**ready).clone(),
            None => self.expr(&arg.ast.clone(), Some(wanted)),
        };
        Argument::Value(self.coerce(value, wanted))
    }

    /// Unifies the result type of a call with the expected type if possible, so that the arguments are inferred with
    /// it.
    pub(crate) fn hint(&mut self, result: &Type, expected: &Type, span: Span) {
        let (result, mut expected) = (unification::shallow(self.cx, result), unification::shallow(self.cx, expected));
        if matches!(expected, Type::Var(_) | Type::Existential(_) | Type::Error)
            || matches!(result, Type::Var(_) if name_lookup::is_optional(self.cx, &expected))
            || self.may_be_tangent_of_array(&result, &expected)
        {
            return;
        }
        if !name_lookup::is_optional(self.cx, &result)
            && let Some(inner) = name_lookup::optional_payload(self.cx, &expected)
        {
            expected = inner;
        }
        let snapshot = self.cx.vars.snapshot();
        if unification::unify(self.cx, &result, &expected, span) {
            self.cx.vars.keep(snapshot);
        } else {
            self.cx.vars.rollback(snapshot);
        }
    }
}
