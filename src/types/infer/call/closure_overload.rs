//! Closure overloads: the choice between the overloads of the program and of the library by closure arguments.
//!
//! An overload of the program is preferred to an overload of the library. If the two differ in the result type of a
//! closure argument, the closure is inferred first, and an overload that the result of the closure does not fit is
//! excluded.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::conform::rethrowing_function;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::type_vars;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::Expr;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The source from which the type of a closure's parameter is determined.
#[derive(PartialEq)]
enum Source {
    /// The type of the closure's parameter is known.
    Type(Type),
    /// The type of the closure's parameter is the type of another argument, given by its index.
    Argument(usize),
}

/// The closure type that a candidate requires.
struct RequiredClosure {
    params: Vec<(Source, bool)>,
    result: Type,
}

/// Whether an argument is a closure without declared parameter types.
fn is_open_closure(arg: &ArgNode) -> bool {
    let Ast::Closure(closure) = &arg.ast.kind else { return false };
    arg.ready.is_none() && closure.params.iter().flatten().all(|param| param.ty.is_none())
}

impl Infer<'_> {
    /// Returns only the overloads of the library, if the overloads of the program do not fit the result of a closure
    /// when the floating-point literals among the arguments are of type `Double`: in `gradient(at: 2.0) { x in x * x }`
    /// the argument is a `Double`.
    pub(crate) fn by_own_literals(
        &mut self,
        candidates: Vec<Candidate>,
        args: &mut [ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Vec<Candidate> {
        let Some(at) = args.iter().position(is_open_closure) else { return candidates };
        if !self.has_both_origins(&candidates) {
            return candidates;
        }
        self.ready_args(args);
        let mut decided = args.to_vec();
        let mut literals = 0;
        for arg in &mut decided {
            let Some(ready) = &arg.ready else { continue };
            let Type::Var(var) = unification::shallow(self.cx, &ready.ty.clone()) else { continue };
            if self.cx.vars.var(var).literal == Some(Literal::Float) {
                let ty = name_lookup::simple(self.cx, "Double");
                arg.ready = Some(Rc::new(Expr { ty, ..(**ready).clone() }));
                literals += 1;
            }
        }
        if literals == 0 {
            return candidates;
        }
        let Some(params) = self.common_parameters(&candidates, &decided, at, span) else { return candidates };
        let result = self.cx.vars.fresh();
        let wanted = Type::Function(Rc::new(FunctionType { params, result, throws: false, strength: Strength::Open }));
        let Some(value) = self.infer_tentatively(&args[at], &wanted) else { return candidates };
        if unification::has_vars(self.cx, &value.ty) {
            return candidates;
        }
        decided[at].ready = Some(Rc::new(value));
        let expected = expected.and_then(|ty| self.known(ty));
        let mut fits = |c: &Candidate| self.try_candidate(c, &decided, expected.as_ref(), span).is_some();
        let fit: Vec<Candidate> = candidates.iter().filter(|c| fits(c)).cloned().collect();
        if fit.is_empty() || fit.iter().any(|c| self.is_of_script(c)) { candidates } else { fit }
    }

    /// Infers the closures among the arguments whose results decide between the candidates.
    pub(crate) fn ready_closures(&mut self, candidates: &[Candidate], args: &mut [ArgNode], span: Span) {
        let is_closure = |arg: &ArgNode| arg.ready.is_none() && matches!(arg.ast.kind, Ast::Closure(_));
        let of_script = candidates.iter().any(|c| self.is_of_script(c));
        if !of_script || candidates.len() < 2 || !args.iter().any(is_closure) {
            return;
        }
        self.ready_args(args);
        for i in 0..args.len() {
            if !is_closure(&args[i]) {
                continue;
            }
            let Some(params) = self.common_parameters(candidates, args, i, span) else { continue };
            let result = self.cx.vars.fresh();
            let ty = FunctionType { params, result, throws: false, strength: Strength::Open };
            let (before, failed) = (self.cx.sink.diagnostics.len(), self.failed);
            let value = self.expr(&args[i].ast.clone(), Some(&Type::Function(Rc::new(ty))));
            if self.cx.sink.diagnostics[before..].iter().any(Diagnostic::is_error) {
                // The closure may need an expected result type, which the overload of the program provides.
                self.cx.sink.diagnostics.truncate(before);
                self.failed = failed;
                continue;
            }
            args[i].ready = Some(self.set_aside(value));
        }
    }

    /// Removes the overloads of the program if a closure fits the parameters of none of these overloads, but fits
    /// overloads of the library.
    pub(crate) fn without_unfit_closures(
        &mut self,
        candidates: Vec<Candidate>,
        args: &[ArgNode],
        span: Span,
    ) -> Vec<Candidate> {
        let Some(at) = args.iter().position(is_open_closure) else { return candidates };
        if !self.has_both_origins(&candidates) {
            return candidates;
        }
        let fit: Vec<bool> = candidates.iter().map(|c| self.try_candidate(c, args, None, span).is_some()).collect();
        let fitting = |of_script: bool, infer: &Self| {
            let found = candidates.iter().zip(&fit).filter(|(c, fits)| **fits && infer.is_of_script(c) == of_script);
            found.map(|(c, _)| c.clone()).collect::<Vec<_>>()
        };
        let (of_script, of_library) = (fitting(true, self), fitting(false, self));
        if of_script.is_empty() || of_library.is_empty() || of_script.iter().any(|c| self.suits(c, args, at, span)) {
            return candidates;
        }
        candidates.into_iter().filter(|c| !self.is_of_script(c)).collect()
    }

    /// Removes the overloads that take a function which does not throw where a closure is given that throws, if other
    /// overloads remain.
    pub(crate) fn without_nonthrowing(&mut self, candidates: Vec<Candidate>, args: &[ArgNode]) -> Vec<Candidate> {
        let mut throwing = vec![];
        for (k, arg) in args.iter().enumerate() {
            if let Ast::Closure(closure) = &arg.ast.kind
                && self.may_throw(closure)
            {
                throwing.push(k);
            }
        }
        if throwing.is_empty() || candidates.len() < 2 {
            return candidates;
        }
        let mut fit = candidates.clone();
        fit.retain(|candidate| {
            // A function that rethrows has a version for functions that throw.
            let version = match candidate.target {
                Target::Function(f) => rethrowing_function::throwing_version(self.cx, f),
                Target::Requirement(..) | Target::Case(..) => None,
            };
            let target = version.map_or_else(|| candidate.target.clone(), Target::Function);
            let params = self.candidate_params(&Candidate { target, ..candidate.clone() });
            let slots = match_args(&params, args).unwrap_or_default();
            slots.iter().zip(&params).all(|(slot, param)| {
                let is_throwing = matches!(slot, Slot::Arg(k) if throwing.contains(k));
                !is_throwing || self.accepts_throwing(&param.ty)
            })
        });
        if fit.is_empty() { candidates } else { fit }
    }

    /// Whether a function that throws is a possible value of a type.
    fn accepts_throwing(&mut self, ty: &Type) -> bool {
        let payload = name_lookup::optional_payload(self.cx, ty);
        !matches!(payload.as_ref().unwrap_or(ty), Type::Function(f) if !f.throws)
    }

    /// Returns the first candidate with whose parameter types the closures among the arguments can be inferred.
    pub(crate) fn suited_by_closures<'c>(
        &mut self,
        candidates: &'c [Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Option<&'c Candidate> {
        let closures: Vec<usize> = (0..args.len()).filter(|k| is_open_closure(&args[*k])).collect();
        if closures.is_empty() {
            return None;
        }
        candidates.iter().find(|candidate| closures.iter().all(|at| self.suits(candidate, args, *at, span)))
    }

    /// Removes the candidates that take another result than a result builder computes from a closure, if other
    /// candidates remain.
    pub(crate) fn without_unfit_builders<'c, F>(
        &mut self,
        mut fitting: Vec<(F, &'c Candidate)>,
        args: &[ArgNode],
        span: Span,
    ) -> Vec<(F, &'c Candidate)> {
        let Some(at) = args.iter().position(is_open_closure) else { return fitting };
        let is_built = |infer: &mut Self, candidate: &Candidate| {
            let Target::Function(f) = candidate.target else { return false };
            let params = infer.candidate_params(candidate);
            let place = match_args(&params, args)
                .ok()
                .and_then(|slots| slots.iter().position(|slot| matches!(slot, Slot::Arg(k) if *k == at)));
            let declared = &infer.cx.defs.function_data(f).ast_params;
            place.and_then(|k| declared.get(k)).is_some_and(|param| !param.attributes.is_empty())
        };
        if !fitting.iter().all(|(_, candidate)| is_built(self, candidate)) {
            return fitting;
        }
        let suited: Vec<bool> = fitting.iter().map(|(_, candidate)| self.suits(candidate, args, at, span)).collect();
        if suited.contains(&true) {
            let mut suited = suited.into_iter();
            fitting.retain(|_| suited.next().unwrap_or(true));
        }
        fitting
    }

    /// Whether a closure can be inferred with the parameter types that a candidate requires.
    fn suits(&mut self, candidate: &Candidate, args: &[ArgNode], closure: usize, span: Span) -> bool {
        let snapshot = self.cx.vars.snapshot();
        let suits = self.suits_here(candidate, args, closure, span);
        self.cx.vars.rollback(snapshot);
        suits
    }

    fn suits_here(&mut self, candidate: &Candidate, args: &[ArgNode], closure: usize, span: Span) -> bool {
        let params = self.candidate_params(candidate);
        let Ok(slots) = match_args(&params, args) else { return false };
        let instance = self.instantiate(candidate, span);
        let place = slots.iter().position(|slot| matches!(slot, Slot::Arg(k) if *k == closure));
        let Some(place) = place else { return true };
        let Some(param) = instance.params.get(place) else { return true };
        let ty = self.param_value_type(param);
        let diagnostics = self.cx.sink.diagnostics.len();
        let built = self.built_argument(candidate, place, &slots[place], args);
        self.cx.sink.diagnostics.truncate(diagnostics);
        let closure = built.as_deref().unwrap_or(args)[closure].clone();
        self.infer_tentatively(&closure, &ty).is_some()
    }

    /// Infers a closure with an expected type; returns `None` if the closure does not fit. The diagnostics and pending
    /// expressions of the attempt are discarded.
    fn infer_tentatively(&mut self, closure: &ArgNode, wanted: &Type) -> Option<Expr> {
        let (diagnostics, failed) = (self.cx.sink.diagnostics.len(), self.failed);
        let (pending, solutions) = (self.pending.len(), self.solutions.len());
        let (open, nominals) = (self.open.len(), self.local_nominals.len());
        let variables = self.cx.vars.var_count();
        let mut value = self.expr(&closure.ast.clone(), Some(wanted));
        self.resolve_statement((pending, variables));
        value.ty = type_vars::zonk(self.cx, &value.ty);
        let suits = !self.cx.sink.diagnostics[diagnostics..].iter().any(Diagnostic::is_error);
        self.cx.sink.diagnostics.truncate(diagnostics);
        self.pending.truncate(pending);
        self.solutions.truncate(solutions);
        self.open.truncate(open);
        self.local_nominals.truncate(nominals);
        self.failed = failed;
        suits.then_some(value)
    }

    /// Whether some of the candidates are declared by the program, and others by the library.
    fn has_both_origins(&self, candidates: &[Candidate]) -> bool {
        let of_script = candidates.iter().filter(|c| self.is_of_script(c)).count();
        of_script > 0 && of_script < candidates.len()
    }

    pub(crate) fn is_of_script(&self, candidate: &Candidate) -> bool {
        matches!(candidate.target, Target::Function(f) if !self.cx.defs.function_data(f).is_prelude)
    }

    /// Returns the parameters of a closure, if all fitting candidates agree on the parameters and differ in the result.
    fn common_parameters(
        &mut self,
        candidates: &[Candidate],
        args: &[ArgNode],
        closure: usize,
        span: Span,
    ) -> Option<Vec<FunctionParam>> {
        let mut all: Vec<RequiredClosure> = vec![];
        for candidate in candidates {
            if self.try_candidate(candidate, args, None, span).is_some() {
                all.push(self.wanted_closure(candidate, args, closure, span)?);
            }
        }
        let (first, others) = all.split_first()?;
        let is_open = |ty: &Type| matches!(ty, Type::Var(_));
        let same_result = |other: &RequiredClosure| match (is_open(&first.result), is_open(&other.result)) {
            (true, true) => true,
            (false, false) => first.result == other.result,
            _ => false,
        };
        if others.iter().all(same_result) || others.iter().any(|other| other.params != first.params) {
            return None;
        }
        let param = |(source, is_inout): &(Source, bool)| {
            let ty = match source {
                Source::Type(ty) => ty.clone(),
                Source::Argument(k) => args[*k].ready.as_ref()?.ty.clone(),
            };
            Some(FunctionParam { ty, is_inout: *is_inout, no_derivative: false, autoclosure: false })
        };
        first.params.iter().map(param).collect()
    }

    /// Returns the closure type that a candidate requires, as far as the other arguments determine it.
    fn wanted_closure(
        &mut self,
        candidate: &Candidate,
        args: &[ArgNode],
        closure: usize,
        span: Span,
    ) -> Option<RequiredClosure> {
        let params = self.candidate_params(candidate);
        let slots = match_args(&params, args).ok()?;
        let snapshot = self.cx.vars.snapshot();
        let instance = self.instantiate(candidate, span);
        let mut wanted = None;
        for (slot, param) in slots.iter().zip(&instance.params) {
            match slot {
                Slot::Arg(k) if *k == closure => wanted = Some(self.param_value_type(param)),
                Slot::Arg(k) if args[*k].ready.is_some() => {
                    let ty = self.param_value_type(param);
                    self.arg_fits(&args[*k], &ty, param.is_inout, span);
                }
                _ => {}
            }
        }
        let found = wanted.and_then(|ty| self.wanted_function(&ty, args));
        self.cx.vars.rollback(snapshot);
        found
    }

    fn wanted_function(&mut self, ty: &Type, args: &[ArgNode]) -> Option<RequiredClosure> {
        let ty = name_lookup::optional_payload(self.cx, ty).unwrap_or_else(|| ty.clone());
        let Type::Function(f) = unification::shallow(self.cx, &ty) else { return None };
        let mut params = vec![];
        for param in &f.params {
            let ty = type_vars::zonk(self.cx, &param.ty);
            let source = match unification::has_vars(self.cx, &ty) {
                false => Source::Type(ty),
                true => Source::Argument(args.iter().position(|arg| {
                    arg.ready.as_ref().is_some_and(|ready| type_vars::zonk(self.cx, &ready.ty.clone()) == ty)
                })?),
            };
            params.push((source, param.is_inout));
        }
        Some(RequiredClosure { params, result: type_vars::zonk(self.cx, &f.result) })
    }
}
