//! Calls: who is called, with which arguments.

use super::args::{ArgNode, Misfit, Slot, match_args};
use super::candidates::{Candidate, Instance, Target};
use super::solve::PendingKind;
use super::{Found, FrameKind, Infer};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::types::store::{Named, SignatureParam};
use crate::types::tree::{Argument, Callee, Expr, ExprKind, FunctionRef};
use crate::types::ty::Type;
use std::rc::Rc;

impl Infer<'_> {
    /// `callee(arguments)`
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Arg], expected: Option<&Type>, span: Span) -> Expr {
        let args: Vec<ArgNode> = args.iter().map(ArgNode::new).collect();
        match &callee.kind {
            Ast::Ident { name, generics } => {
                let ident = Ident { name: name.clone(), span: callee.span };
                self.call_name(callee, &ident, generics, args, expected, span)
            }
            Ast::Member { base, name, generics } if generics.is_empty() && name.name.parse::<u32>().is_err() => {
                if let Some(ty) = self.type_expression(callee) {
                    return self.call_init(&ty, args, expected, span);
                }
                if let Some(ty) = self.type_expression(base) {
                    return self.call_static(&ty, name, args, expected, span);
                }
                if &*name.name == "init"
                    && matches!(&base.kind, Ast::Ident { name, .. } if &**name == "self")
                    && let Some(local) = self.frame().init_self
                {
                    return self.delegate(local, args, span);
                }
                if matches!(base.kind, Ast::Super) {
                    return self.fail(Code::Unsupported, base.span, "classes cannot be inherited from yet");
                }
                if let Ast::Chain(_) = &base.kind {
                    // The whole postfix expression is evaluated inside the chain; see `optional_chain`.
                }
                let base = self.expr(base, None);
                self.call_member(base, name, args, expected, span)
            }
            Ast::Implicit { name, .. } => match expected.and_then(|t| self.known(t)) {
                Some(expected) => self.implicit(name, Some(args), &expected, span),
                None => {
                    let result = expected.cloned().unwrap_or_else(|| self.world.fresh());
                    self.wait(PendingKind::Implicit { name: name.clone(), args: Some(args) }, result, span)
                }
            },
            _ => {
                if let Some(ty) = self.type_expression(callee) {
                    return self.call_init(&ty, args, expected, span);
                }
                let function = self.expr(callee, None);
                self.call_value(function, args, expected, span)
            }
        }
    }

    /// `self.init(…)`: another initialiser fills `self`.
    fn delegate(&mut self, local: crate::types::tree::LocalId, args: Vec<ArgNode>, span: Span) -> Expr {
        use crate::types::tree::{Place, Root};
        let own = self.local_type(local);
        let value = self.call_init(&own, args, Some(&own), span);
        let value = self.coerce(value, &own);
        let place = Place { root: Root::Local(local), path: vec![], ty: own, span };
        Expr { kind: ExprKind::Assign { place: Box::new(place), value: Box::new(value) }, ty: Type::unit(), span }
    }

    fn call_name(
        &mut self,
        callee: &ast::Expr,
        name: &Ident,
        generics: &[ast::TypeExpr],
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        if generics.is_empty() {
            match self.find_local(&name.name) {
                Some(Found::Local(local)) => {
                    let function = self.local_expr(local, name.span);
                    return self.call_value(function, args, expected, span);
                }
                Some(Found::LocalFunctions(functions)) => {
                    self.capture_for(&functions);
                    let candidates = functions
                        .iter()
                        .map(|f| Candidate {
                            target: Target::Function(*f),
                            prefix: self.world.env.params.iter().map(|p| Type::Param(*p)).collect(),
                            receiver: None,
                            tier: 0,
                        })
                        .collect();
                    return self.call_overloaded(name, candidates, args, expected, span);
                }
                None => {}
            }
            if let Some(candidates) = self.own_member_candidates(&name.name) {
                // A method of the type around here, unless only a function of the same name fits.
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
                if candidates.is_empty() && global.is_empty() {
                    // A property that holds a function.
                    let function = self.expr(callee, None);
                    return self.call_value(function, args, expected, span);
                }
            }
        }
        if let Some(ty) = self.type_expression(callee) {
            return self.call_init(&ty, args, expected, span);
        }
        let candidates = self.function_candidates(&name.name);
        if candidates.is_empty() {
            let function = self.expr(callee, None);
            return self.call_value(function, args, expected, span);
        }
        self.call_overloaded(name, candidates, args, expected, span)
    }

    /// The functions of that name at the top level.
    pub(super) fn function_candidates(&mut self, name: &str) -> Vec<Candidate> {
        let file = self.file;
        let mut out = vec![];
        for entry in self.world.entries(name, file) {
            if let Named::Function(f) = entry.what {
                if matches!(self.world.function_data(f).kind, crate::types::store::FunctionKind::Getter) {
                    continue;
                }
                let tier = u32::from(self.world.function_data(f).is_prelude);
                out.push(Candidate { target: Target::Function(f), prefix: Rc::from([]), receiver: None, tier });
            }
        }
        out
    }

    /// The methods of the type around here that can be called without `self.`; `None` outside of types, or when there is
    /// nothing of that name.
    fn own_member_candidates(&mut self, name: &str) -> Option<Vec<Candidate>> {
        let own = self.own_type()?;
        let mut found = vec![];
        let mut any = false;
        if let Some(local) = self.self_local_quiet() {
            let receiver = Rc::new(self.local_expr(local, Span::default()));
            found = self.method_candidates(&own, name, false, Some(&receiver));
            any |= !self.world.members(&own, name, false, self.file).is_empty();
            if found.is_empty() {
                // Only now is `self` not captured for nothing.
                any |= false;
            }
        }
        if found.is_empty() {
            found = self.method_candidates(&own, name, true, None);
            any |= !self.world.members(&own, name, true, self.file).is_empty();
        }
        any.then_some(found)
    }

    /// `self`, if there is one in scope.
    pub(super) fn self_local_quiet(&mut self) -> Option<crate::types::tree::LocalId> {
        let path = self.path();
        let exists = path.iter().any(|f| self.frames[*f].scopes.iter().any(|s| s.contains_key("self")));
        if exists { self.self_local() } else { None }
    }

    /// A call of a function value, or of a value whose type has `callAsFunction`.
    pub(super) fn call_value(
        &mut self,
        function: Expr,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let function = self.decided(&function);
        match self.world.shallow(&function.ty.clone()) {
            Type::Function(ty) => {
                if args.len() != ty.params.len() {
                    let (want, have) = (ty.params.len(), args.len());
                    let what = if have < want { "missing" } else { "extra" };
                    let message = format!("{what} arguments in call: {want} expected, {have} given");
                    return self.fail(Code::WrongArguments, span, message);
                }
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
                if ty.throws {
                    self.needs_try(span);
                }
                let args = values.into_iter().flatten().collect();
                Expr { kind: ExprKind::CallValue { function: Box::new(function), args }, ty: ty.result.clone(), span }
            }
            Type::Var(_) => self.call_unknown(function, &args, expected, span),
            Type::Error => {
                self.check_anyway(&args);
                self.error_expr(span)
            }
            Type::Metatype(of) => self.call_init(&of, args, expected, span),
            ty => {
                let name = Ident { name: "callAsFunction".into(), span: function.span };
                let receiver = Rc::new(function.clone());
                let candidates = self.method_candidates(&ty, "callAsFunction", false, Some(&receiver));
                if candidates.is_empty() {
                    let message = format!("cannot call value of non-function type '{}'", self.show(&ty));
                    let mut diagnostic = Diagnostic::error(Code::NotCallable, function.span, message);
                    if is_number(&self.show(&ty)) {
                        diagnostic = diagnostic.fix("to multiply, write '*'", function.span.after(), " * ");
                    }
                    self.error(diagnostic);
                    self.check_anyway(&args);
                    return self.error_expr(span);
                }
                self.call_overloaded(&name, candidates, args, expected, span)
            }
        }
    }

    /// A call of a value of unknown type: it is a function of as many parameters as there are arguments.
    fn call_unknown(&mut self, function: Expr, args: &[ArgNode], expected: Option<&Type>, span: Span) -> Expr {
        use crate::types::ty::{FunctionParam, FunctionType, Strength};
        let params: Vec<FunctionParam> = args
            .iter()
            .map(|_| FunctionParam {
                ty: self.world.fresh(),
                is_inout: false,
                no_derivative: false,
                autoclosure: false,
            })
            .collect();
        let result = self.world.fresh();
        let ty = Type::Function(Rc::new(FunctionType { params, result, throws: false, strength: Strength::Open }));
        self.world.unify(&function.ty.clone(), &ty, span);
        self.call_value(function, args.to_vec(), expected, span)
    }

    /// Looks at arguments for their own mistakes, when it is not known what they are for.
    pub(super) fn check_anyway(&mut self, args: &[ArgNode]) {
        for arg in args {
            if !arg.waits() && arg.ready.is_none() {
                self.expr(&arg.ast.clone(), None);
            }
        }
    }

    /// `Type(arguments)`
    pub(super) fn call_init(&mut self, ty: &Type, mut args: Vec<ArgNode>, expected: Option<&Type>, span: Span) -> Expr {
        let ty = self.world.shallow(ty);
        let name = Ident { name: "init".into(), span };
        if let Some(expected) = expected {
            self.hint(&ty, expected, span);
        }
        let candidates = self.method_candidates(&ty, "init", true, None);
        if candidates.is_empty() {
            if ty == Type::Error {
                self.check_anyway(&args);
                return self.error_expr(span);
            }
            let message =
                format!("'{}' cannot be constructed because it has no accessible initializers", self.show(&ty));
            return self.fail(Code::NotCallable, span, message);
        }
        // `Double(3)`: the literal becomes a number of that type at once.
        if let ([arg], Type::Nominal(n, _)) = (args.as_mut_slice(), &ty)
            && arg.label.is_none()
            && let Some(builtin) = self.world.nominal_data(*n).builtin
        {
            use crate::types::world::Builtin;
            let literal = match &arg.ast.kind {
                Ast::Int(_) => matches!(builtin, Builtin::Double | Builtin::Float | Builtin::Int { .. }),
                Ast::Float(_) => matches!(builtin, Builtin::Double | Builtin::Float),
                _ => false,
            };
            if literal {
                return self.expr(&arg.ast.clone(), Some(&ty));
            }
        }
        self.call_overloaded(&name, candidates, args, expected, span)
    }

    /// `Type.name(arguments)`
    pub(super) fn call_static(
        &mut self,
        ty: &Type,
        name: &Ident,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let ty = self.world.shallow(ty);
        if &*name.name == "init" {
            return self.call_init(&ty, args, expected, span);
        }
        if &*name.name == "_memberwise"
            && let Type::Nominal(n, prefix) = &ty
        {
            let f = self.world.memberwise_init(*n);
            let candidate = Candidate { target: Target::Function(f), prefix: prefix.clone(), receiver: None, tier: 0 };
            return self.call_overloaded(name, vec![candidate], args, expected, span);
        }
        let candidates = self.method_candidates(&ty, &name.name, true, None);
        if candidates.is_empty() {
            let function = self.static_member(&ty, name, span);
            return self.call_value(function, args, expected, span);
        }
        self.call_overloaded(name, candidates, args, expected, span)
    }

    /// `base.name(arguments)` for a base whose type may not be known yet.
    pub(super) fn call_member(
        &mut self,
        base: Expr,
        name: &Ident,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let base = self.decided(&base);
        let ty = self.world.shallow(&base.ty.clone());
        match &ty {
            Type::Error => {
                self.check_anyway(&args);
                return self.error_expr(span);
            }
            _ if self.is_open(&ty) => {
                let result = self.world.fresh();
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
                return self.call_static(&of, name, args, expected, span);
            }
            _ => {}
        }
        let receiver = Rc::new(base.clone());
        let candidates = self.method_candidates(&ty, &name.name, false, Some(&receiver));
        if candidates.is_empty() {
            // An integer literal takes the type that has the member: `3.squareRoot()`.
            if let ExprKind::Int(_) = base.kind {
                let double = self.world.simple("Double");
                if !self.world.members(&double, &name.name, false, self.file).is_empty() {
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
        self.call_overloaded(name, candidates, args, expected, span)
    }

    /// A call of one of several functions: at once when it is clear which, otherwise later.
    pub(super) fn call_overloaded(
        &mut self,
        name: &Ident,
        candidates: Vec<Candidate>,
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let fitting: Vec<Candidate> = candidates
            .iter()
            .filter(|c| {
                let params = self.candidate_params(c);
                match_args(&params, &args).is_ok()
            })
            .cloned()
            .collect();
        let fitting = self.favored(fitting);
        match fitting.as_slice() {
            [] => self.no_candidate(name, &candidates, &args, span),
            [only] => self.commit(name, only, &args, expected, span),
            _ => {
                self.ready_args(&mut args);
                let known = expected.and_then(|t| self.known(t));
                if let Some(found) = self.choose(name, &fitting, &args, known.as_ref(), span, false, false) {
                    return found;
                }
                let result = self.world.fresh();
                let kind = PendingKind::Overload {
                    name: name.clone(),
                    candidates: fitting,
                    args,
                    expected: expected.cloned(),
                };
                self.wait(kind, result, span)
            }
        }
    }

    /// Takes the only candidate that fits; with `by_default` the best one; with `last` reports when there is none.
    #[expect(clippy::too_many_arguments, reason = "the state of one decision")]
    pub(super) fn choose(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
        by_default: bool,
        last: bool,
    ) -> Option<Expr> {
        let mut fitting: Vec<(u32, &Candidate)> = vec![];
        for candidate in candidates {
            if let Some(score) = self.try_candidate(candidate, args, expected, span) {
                fitting.push((score, candidate));
            }
        }
        if fitting.is_empty() && expected.is_some() {
            // Nothing gives what is expected; say what is wrong with the result rather than with the call.
            for candidate in candidates {
                if let Some(score) = self.try_candidate(candidate, args, None, span) {
                    fitting.push((score, candidate));
                }
            }
        }
        if fitting.is_empty() {
            return Some(self.no_fit(name, candidates, args, span));
        }
        fitting.sort_by_key(|(score, _)| *score);
        let known = args.iter().all(|a| match &a.ready {
            Some(e) => {
                let ty = e.ty.clone();
                !self.world.has_vars(&ty)
            }
            None => true,
        });
        let clear = fitting.len() == 1 || fitting[0].0 < fitting[1].0;
        if fitting.len() == 1 || (clear && (known || by_default)) {
            let chosen = fitting[0].1.clone();
            return Some(self.commit(name, &chosen, args, expected, span));
        }
        if last || (by_default && known) {
            let tied: Vec<Candidate> =
                fitting.iter().filter(|(s, _)| *s == fitting[0].0).map(|(_, c)| (*c).clone()).collect();
            if let Some(best) = self.most_special(&tied) {
                return Some(self.commit(name, &best, args, expected, span));
            }
            if let Some(newest) = self.newest(&tied) {
                return Some(self.commit(name, &newest, args, expected, span));
            }
            // A trailing closure fits two spellings of one function: the first one is meant.
            if args.iter().any(|a| a.trailing)
                && let Some(first) = tied.first()
            {
                return Some(self.commit(name, &first.clone(), args, expected, span));
            }
            return Some(self.ambiguous(name, &tied, span));
        }
        None
    }

    /// Leaves out what is marked as second choice, when there is a first.
    fn favored(&mut self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let second = |infer: &Self, c: &Candidate| match &c.target {
            Target::Function(f) => {
                let decl = infer.world.function_data(*f).decl.as_ref();
                decl.is_some_and(|d| d.attribute("_disfavoredOverload").is_some())
            }
            Target::Requirement(..) | Target::Case(..) => false,
        };
        if candidates.iter().all(|c| second(self, c)) {
            return candidates;
        }
        candidates.into_iter().filter(|c| !second(self, c)).collect()
    }

    /// Of several candidates that fit equally well, the one whose surroundings require the most.
    fn most_special(&mut self, tied: &[Candidate]) -> Option<Candidate> {
        let mut weights: Vec<(usize, usize)> = vec![];
        for (i, candidate) in tied.iter().enumerate() {
            let f = match &candidate.target {
                Target::Function(f) => *f,
                Target::Requirement(p, r) => self.world.protocol_data(*p).requirements[*r as usize].function,
                Target::Case(..) => return Some(candidate.clone()),
            };
            let signature = self.world.signature(f);
            let generic = signature.env.params.len();
            let same = signature
                .env
                .requirements
                .iter()
                .filter(|r| matches!(r, crate::types::store::Requirement::Same(..)))
                .count();
            weights.push((signature.env.requirements.len() + 2 * same + 100usize.saturating_sub(generic * 10), i));
        }
        weights.sort_unstable_by(|a, b| b.cmp(a));
        match weights.as_slice() {
            [(a, i), (b, _), ..] if a > b => tied.get(*i).cloned(),
            [(_, i)] => tied.get(*i).cloned(),
            _ => None,
        }
    }

    /// At the prompt a later definition replaces an earlier one.
    fn newest(&mut self, tied: &[Candidate]) -> Option<Candidate> {
        if !self.world.is_interactive {
            return None;
        }
        let key = |c: &Candidate| match c.target {
            Target::Function(f) => f.0,
            Target::Requirement(..) | Target::Case(..) => 0,
        };
        tied.iter().max_by_key(|c| key(c)).cloned()
    }

    /// Calls a candidate: infers the arguments that waited, with what the parameters ask for.
    pub(super) fn commit(
        &mut self,
        name: &Ident,
        candidate: &Candidate,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let params = self.candidate_params(candidate);
        let slots = match match_args(&params, args) {
            Ok(slots) => slots,
            Err(_) => return self.no_candidate(name, std::slice::from_ref(candidate), args, span),
        };
        let instance = self.instantiate_reporting(candidate, name, span);
        let mut result = instance.result.clone();
        if let Some(expected) = expected {
            self.hint(&result, expected, span);
        }
        let receiver = self.receiver_argument(candidate, &instance, name);
        let mut values: Vec<Option<Argument>> = vec![None; slots.len()];
        for late in [false, true] {
            for (i, (slot, param)) in slots.iter().zip(&instance.params).enumerate() {
                let is_late = match slot {
                    Slot::Arg(a) => matches!(args[*a].ast.kind, Ast::Closure(_)) && !param.autoclosure,
                    Slot::Variadic(_) | Slot::Default => false,
                };
                if is_late == late && values[i].is_none() {
                    values[i] = Some(self.slot_argument(slot, param, args, &instance, span));
                }
            }
        }
        if instance.throws {
            self.needs_try(span);
        }
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
            && f.strength == crate::types::ty::Strength::Open
        {
            result = Type::Function(f.clone());
        }
        Expr { kind, ty: result, span }
    }

    fn progress_if_waiting(&mut self) {
        // Arguments that were put aside may be decidable now that the others are known; this keeps chains short.
        if self.pending.iter().rev().take(4).any(Option::is_some) && !self.settling {
            let from = self.pending.len().saturating_sub(4);
            self.settling = true;
            self.progress(from);
            self.settling = false;
        }
    }

    fn instantiate_reporting(&mut self, candidate: &Candidate, name: &Ident, span: Span) -> Instance {
        let instance = self.instantiate(candidate, span);
        if !instance.holds {
            let message = format!("'{}' requires more of its generic arguments than they fulfil", name.name);
            self.error(Diagnostic::error(Code::NotConforming, span, message));
        }
        instance
    }

    fn receiver_argument(&mut self, candidate: &Candidate, instance: &Instance, name: &Ident) -> Option<Argument> {
        let receiver = candidate.receiver.as_ref()?;
        let own = instance.self_type.clone()?;
        let value = self.decided(receiver);
        let ty = value.ty.clone();
        let fits = self.world.unify(&ty, &own, value.span);
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
                let generics = self.default_generics(function, instance);
                let callee = Callee::Static(FunctionRef { function, generics });
                Argument::Value(Expr { kind: ExprKind::Call { callee, args: vec![] }, ty: param.ty.clone(), span })
            }
        }
    }

    fn default_generics(&mut self, function: crate::types::tree::FunctionId, instance: &Instance) -> Vec<Type> {
        let count = self.world.signature(function).env.params.len();
        instance.generics.iter().take(count).cloned().collect()
    }

    /// One argument for a parameter of a known type.
    pub(super) fn argument(&mut self, arg: &ArgNode, wanted: &Type, is_inout: bool, autoclosure: bool) -> Argument {
        if is_inout {
            let place = match &arg.ast.kind {
                Ast::InOut(inner) => {
                    let value = self.expr(inner, None);
                    self.place_of(value, "cannot pass immutable value as inout argument")
                }
                _ => {
                    let diagnostic = Diagnostic::error(
                        Code::Mismatch,
                        arg.span,
                        "passing a value to an 'inout' parameter requires '&'",
                    );
                    self.error(diagnostic.fix("write '&'", arg.span.before(), "&"));
                    return Argument::Value(self.error_expr(arg.span));
                }
            };
            if !self.world.unify(&place.ty.clone(), wanted, arg.span) {
                self.mismatch(&place.ty.clone(), wanted, arg.span);
            }
            return Argument::InOut(place);
        }
        if matches!(arg.ast.kind, Ast::InOut(_)) {
            let message = "'&' is only allowed for an 'inout' parameter";
            return Argument::Value(self.fail(Code::Mismatch, arg.span, message));
        }
        if autoclosure {
            return Argument::Value(self.autoclosure(&arg.ast.clone(), wanted));
        }
        let value = match &arg.ready {
            Some(ready) => (**ready).clone(),
            None => self.expr(&arg.ast.clone(), Some(wanted)),
        };
        Argument::Value(self.coerce(value, wanted))
    }

    /// Makes a result what is expected, if it can be, so that arguments are inferred with it.
    pub(super) fn hint(&mut self, result: &Type, expected: &Type, span: Span) {
        let (result, mut expected) = (self.world.shallow(result), self.world.shallow(expected));
        if matches!(expected, Type::Var(_) | Type::Existential(_) | Type::Error)
            || matches!(result, Type::Var(_) if self.world.is_optional(&expected))
        {
            return;
        }
        if !self.world.is_optional(&result)
            && let Some(inner) = self.world.optional_payload(&expected)
        {
            expected = inner;
        }
        let snapshot = self.world.snapshot();
        if self.world.unify(&result, &expected, span) {
            self.world.keep(snapshot);
        } else {
            self.world.rollback(snapshot);
        }
    }

    fn no_candidate(&mut self, name: &Ident, candidates: &[Candidate], args: &[ArgNode], span: Span) -> Expr {
        if let [only] = candidates {
            let params = self.candidate_params(only);
            let full = self.candidate_name(only);
            let declared = self.candidate_span(only);
            let diagnostic = match match_args(&params, args) {
                Err(Misfit::Missing(p)) => {
                    let param = &params[p];
                    let what = match &param.label {
                        Some(label) => format!("missing argument for parameter '{label}' in call"),
                        None => format!("missing argument for parameter #{} in call", p + 1),
                    };
                    Diagnostic::error(Code::WrongArguments, span.after(), what)
                }
                Err(Misfit::Extra(a)) => {
                    Diagnostic::error(Code::WrongArguments, args[a].span, "extra argument in call")
                }
                Err(Misfit::Label(a)) => self.wrong_label(&params, args, a),
                Ok(_) => Diagnostic::error(Code::WrongArguments, span, "wrong arguments in call"),
            };
            let diagnostic = match declared {
                Some(declared) => diagnostic.also(declared, format!("'{full}' is declared here")),
                None => diagnostic.note(format!("it is declared as '{full}'")),
            };
            self.error(diagnostic);
        } else {
            let given = Self::label_text(&args.iter().map(|a| a.label.clone()).collect::<Vec<_>>());
            let message = format!("no '{}' takes the arguments ({given})", name.name);
            let mut diagnostic = Diagnostic::error(Code::NoOverload, span, message);
            for candidate in candidates.iter().take(6) {
                let text = self.describe_candidate(candidate);
                diagnostic = diagnostic.note(format!("there is {text}"));
            }
            self.error(diagnostic);
        }
        self.check_anyway(args);
        self.error_expr(span)
    }

    fn wrong_label(&mut self, params: &[SignatureParam], args: &[ArgNode], at: usize) -> Diagnostic {
        let have = Self::label_text(&args.iter().filter(|a| !a.trailing).map(|a| a.label.clone()).collect::<Vec<_>>());
        let want = Self::label_text(&params.iter().map(|p| p.label.clone()).collect::<Vec<_>>());
        let arg = &args[at];
        if arg.label.is_none() && params.len() == args.len() {
            let missing = params.get(at).and_then(|p| p.label.clone()).unwrap_or_else(|| "_".into());
            let message = format!("missing argument label '{missing}:' in call");
            return Diagnostic::error(Code::WrongArguments, arg.span, message).fix(
                "add the label",
                arg.span.before(),
                format!("{missing}: "),
            );
        }
        let message = format!("incorrect argument labels in call (have '{have}', expected '{want}')");
        Diagnostic::error(Code::WrongArguments, arg.span, message)
    }

    fn no_fit(&mut self, name: &Ident, candidates: &[Candidate], args: &[ArgNode], span: Span) -> Expr {
        let broken = args.iter().any(|a| a.ready.as_ref().is_some_and(|r| r.ty == Type::Error));
        if broken {
            return self.error_expr(span);
        }
        if let [only] = candidates {
            return self.commit(name, only, args, None, span);
        }
        let given: Vec<String> = args
            .iter()
            .map(|a| match &a.ready {
                Some(e) => self.show(&e.ty.clone()),
                None => "_".to_string(),
            })
            .collect();
        let message = format!("no '{}' takes arguments of types ({})", name.name, given.join(", "));
        let mut diagnostic = Diagnostic::error(Code::NoOverload, span, message);
        for candidate in candidates.iter().take(6) {
            let text = self.describe_candidate(candidate);
            diagnostic = diagnostic.note(format!("there is {text}"));
        }
        self.error(diagnostic);
        self.error_expr(span)
    }

    fn ambiguous(&mut self, name: &Ident, tied: &[Candidate], span: Span) -> Expr {
        let mut diagnostic = Diagnostic::error(Code::Ambiguous, span, format!("ambiguous use of '{}'", name.name));
        for candidate in tied.iter().take(6) {
            let text = self.describe_candidate(candidate);
            diagnostic = match self.candidate_span(candidate) {
                Some(at) => diagnostic.note_at(at, format!("found this candidate: {text}")),
                None => diagnostic.note(format!("found this candidate: {text}")),
            };
        }
        self.error(diagnostic);
        self.error_expr(span)
    }

    pub(super) fn describe_candidate(&mut self, candidate: &Candidate) -> String {
        let f = match &candidate.target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.world.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(..) => return self.candidate_name(candidate),
        };
        let signature = self.world.signature(f);
        let params: Vec<String> = signature
            .params
            .iter()
            .map(|p| {
                let label = p.label.as_ref().map_or(String::new(), |l| format!("{l}: "));
                format!("{label}{}", self.world.show(&p.ty))
            })
            .collect();
        let name = self.world.function_data(f).base_name.clone();
        format!("'{name}({}) -> {}'", params.join(", "), self.world.show(&signature.result))
    }

    /// Notes that something can throw here.
    pub(super) fn needs_try(&mut self, span: Span) {
        if self.frame().catching == 0 && !self.frame().throws {
            if self.frame().kind == FrameKind::Closure {
                self.frame().throws = true;
                return;
            }
            if self.frame().kind == FrameKind::Script {
                return;
            }
            self.error(Diagnostic::error(Code::WrongContext, span, "errors thrown from here are not handled"));
        }
    }
}

fn is_number(name: &str) -> bool {
    matches!(name, "Int" | "Double" | "Float")
}
