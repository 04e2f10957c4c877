//! Overload resolution: chooses the function to which a call refers among several functions of the same name.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Ident;
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot, closure_arity, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::call::specificity::Fit;
use crate::types::infer::report::availability;
use crate::types::infer::report::no_matching_call::nearest_tier;
use crate::types::infer::solver::pending_expression::{Pending, PendingKind};
use crate::types::model::syntax_query::result_expression;
use crate::types::model::ty::{Type, VarId};
use crate::types::model::type_vars;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{Expr, ExprKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers a call of one of several functions; if the choice is not clear yet, the call becomes pending.
    pub(crate) fn call_overloaded(
        &mut self,
        name: &Ident,
        candidates: Vec<Candidate>,
        mut args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let mut fitting = self.with_arity(&candidates, &args);
        fitting.retain(|c| {
            let params = self.candidate_params(c);
            match_args(&params, &args).is_ok()
        });
        let fitting = self.accessible(fitting);
        let fitting = self.without_nonthrowing(fitting, &args);
        self.ready_pow(name, &fitting, &mut args);
        let fitting = self.by_own_literals(fitting, &mut args, expected, span);
        self.ready_closures(&fitting, &mut args, span);
        let fitting = self.without_unfit_closures(fitting, &args, span);
        let fitting = self.favored_or_second(fitting, &mut args, expected, span);
        let fitting = self.unshadowed(fitting, span);
        match fitting.as_slice() {
            [] => {
                let meant = self.favored(candidates);
                self.no_candidate(name, &meant, &args, span)
            }
            [only] => match self.closure_misfit(&fitting, &args, span) {
                Some((wanted, arity, at)) => {
                    self.wrong_arity(&Rc::new(wanted), arity, at);
                    self.error_expr(span)
                }
                None => {
                    self.ready_shared(only, &mut args);
                    let widens = self.only_widened(only, &args, span);
                    self.with_widening(widens, |infer| infer.commit(name, only, &args, expected, span))
                }
            },
            _ => {
                let functions = self.references_to_methods(&fitting, &args);
                let others = args.iter_mut().enumerate().filter(|(k, _)| !functions.contains(k));
                others.for_each(|(_, arg)| self.ready_args(std::slice::from_mut(arg)));
                self.ready_places(&mut args);
                let known = expected.and_then(|t| self.known(t));
                if let Some(found) = self.choose(name, &fitting, &args, known.as_ref(), span, false, false) {
                    return found;
                }
                let result = self.common_result(&fitting).or_else(|| self.common_optional(&fitting));
                let result = result.unwrap_or_else(|| self.cx.vars.fresh());
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

    /// Returns the indices of the arguments that name a property and a method, where all candidates require a function.
    fn references_to_methods(&mut self, candidates: &[Candidate], args: &[ArgNode]) -> Vec<usize> {
        let names: Vec<usize> = (0..args.len()).filter(|k| self.names_property_and_method(&args[*k].ast)).collect();
        let takes_function = |infer: &mut Self, candidate: &Candidate, at: usize| {
            let params = infer.candidate_params(candidate);
            let slots = match_args(&params, args).unwrap_or_default();
            let place = slots.iter().position(|slot| matches!(slot, Slot::Arg(k) if *k == at));
            place.is_some_and(|place| matches!(params[place].ty, Type::Function(_)))
        };
        names.into_iter().filter(|at| candidates.iter().all(|c| takes_function(self, c, *at))).collect()
    }

    /// Unifies the type of a pending call of overloaded functions with the result type of all candidates that fit, if it
    /// is the same for all of them: all subscripts of an array that take a range return a slice.
    pub(crate) fn take_common_result(&mut self, value: &Expr) {
        let ExprKind::Pending(i) = value.kind else { return };
        let Some(Pending { kind: PendingKind::Overload { candidates, args, .. }, result, span, .. }) =
            &self.pending[i as usize]
        else {
            return;
        };
        let (candidates, args, result, span) = (candidates.clone(), args.clone(), result.clone(), *span);
        if let Some(common) = self.common_fitting_result(&candidates, &args, span) {
            unification::unify(self.cx, &result, &common, span);
        }
    }

    /// Returns the result type of all candidates that fit, if it is the same for all of them and does not depend on the
    /// choice.
    fn common_fitting_result(&mut self, candidates: &[Candidate], args: &[ArgNode], span: Span) -> Option<Type> {
        let mut ordered: Vec<&Candidate> = candidates.iter().collect();
        ordered.sort_by_key(|candidate| candidate.tier);
        let mut common: Option<(u32, Type, Vec<Type>)> = None;
        for candidate in ordered {
            let snapshot = self.cx.vars.snapshot();
            let instance = self.instantiate(candidate, span);
            let result = unification::resolved(self.cx, &instance.result);
            let params = instance.params.iter().map(|p| unification::resolved(self.cx, &p.ty)).collect();
            self.cx.vars.rollback(snapshot);
            // A default of a protocol that takes the same arguments is never chosen.
            let is_redundant = |(tier, known, of): &(u32, Type, Vec<Type>)| {
                *known == result || *tier < candidate.tier && *of == params
            };
            if common.as_ref().is_some_and(is_redundant) || self.try_candidate(candidate, args, None, span).is_none() {
                continue;
            }
            if common.is_some() || unification::has_vars(self.cx, &result) {
                return None;
            }
            common = Some((candidate.tier, result, params));
        }
        common.map(|(_, result, _)| result)
    }

    /// Makes the type of a pending call an optional if all candidates that fit return an optional: `Int("2")` is an
    /// optional before the literal has a type.
    pub(crate) fn take_optional_result(&mut self, value: &Expr) {
        let ExprKind::Pending(i) = value.kind else { return };
        let Some(Pending { kind: PendingKind::Overload { candidates, args, .. }, span, .. }) =
            &self.pending[i as usize]
        else {
            return;
        };
        let (candidates, args, span) = (candidates.clone(), args.clone(), *span);
        let fitting: Vec<&Candidate> =
            candidates.iter().filter(|c| self.try_candidate(c, &args, None, span).is_some()).collect();
        let mut gives_optional = |candidate: &Candidate| {
            let snapshot = self.cx.vars.snapshot();
            let given = self.instantiate(candidate, span).result;
            let is_optional = name_lookup::is_optional(self.cx, &given);
            self.cx.vars.rollback(snapshot);
            is_optional
        };
        if !fitting.is_empty() && fitting.into_iter().all(&mut gives_optional) {
            let payload = self.cx.vars.fresh();
            let optional = name_lookup::applied(self.cx, "Optional", &[payload]);
            unification::unify(self.cx, &value.ty, &optional, span);
        }
    }

    /// Returns the candidates that fit when the literals among the arguments have their default types, or at least the
    /// integer literals; all of the candidates if none fits.
    pub(crate) fn with_natural_literals(
        &mut self,
        candidates: &[Candidate],
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Vec<Candidate> {
        let types: Vec<Type> = args.iter().filter_map(|a| a.ready.as_ref().map(|e| e.ty.clone())).collect();
        // A closure may need a literal of another type.
        let is_inferred = args.iter().all(|arg| arg.ready.is_some());
        for is_complete in [is_inferred, false] {
            let snapshot = self.cx.vars.snapshot();
            let mut natural = vec![];
            let has_others = is_complete && (self.default_texts(&types, span) | self.default_fractions(&types, span));
            if self.default_integers(&types, span) | has_others {
                natural.extend_from_slice(candidates);
                natural.retain(|candidate| self.try_candidate(candidate, args, expected, span).is_some());
            }
            self.cx.vars.rollback(snapshot);
            if !natural.is_empty() {
                return natural;
            }
        }
        candidates.to_vec()
    }

    /// Returns the candidates that fit when all literals in the arguments have their default types, also those inside
    /// other literals: `f(["a"])` prefers a collection of strings to one of characters. Returns all of the candidates
    /// if none fits.
    fn with_usual_literals(
        &mut self,
        candidates: Vec<Candidate>,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Vec<Candidate> {
        let types: Vec<Type> = args.iter().filter_map(|a| a.ready.as_ref().map(|e| e.ty.clone())).collect();
        let mut literals = vec![];
        for ty in types {
            unification::resolved(self.cx, &ty).any(&mut |t| {
                literals.extend(match t {
                    Type::Var(v) => Some(*v),
                    _ => None,
                });
                false
            });
        }
        let snapshot = self.cx.vars.snapshot();
        for v in literals {
            if let Some(literal) = self.cx.vars.var(v).literal {
                let usual = if self.in_formula && literal == Literal::Int { "Double" } else { literal.usual() };
                let usual = name_lookup::simple(self.cx, usual);
                unification::unify(self.cx, &Type::Var(v), &usual, span);
            }
        }
        let mut fitting = candidates.clone();
        fitting.retain(|candidate| self.try_candidate(candidate, args, expected, span).is_some());
        self.cx.vars.rollback(snapshot);
        if fitting.is_empty() { candidates } else { fitting }
    }

    /// Whether some of the candidates fit now, and none of them fits once the literals among the arguments have their
    /// default types.
    pub(crate) fn needs_other_literals(&mut self, candidates: &[Candidate], args: &[ArgNode], span: Span) -> bool {
        let snapshot = self.cx.vars.snapshot();
        let fits = |infer: &mut Self| candidates.iter().any(|c| infer.try_candidate(c, args, None, span).is_some());
        let fits_now = fits(self);
        let types: Vec<Type> = args.iter().filter_map(|a| a.ready.as_ref().map(|e| e.ty.clone())).collect();
        let mut any = false;
        for ty in types {
            if let Type::Var(v) = unification::shallow(self.cx, &ty)
                && let Some(literal) = self.cx.vars.var(v).literal
            {
                let usual = name_lookup::simple(self.cx, literal.usual());
                any |= unification::unify(self.cx, &ty, &usual, span);
            }
        }
        let needs_others = any && fits_now && !fits(self);
        self.cx.vars.rollback(snapshot);
        needs_others
    }

    /// Whether a pending closure determines the type of a literal among the arguments as soon as its body is inferred:
    /// in `Double(bytes.reduce(0, +))` the 0 is a byte.
    pub(crate) fn closure_decides(&mut self, args: &[ArgNode]) -> bool {
        let mut literals = vec![];
        for ready in args.iter().filter_map(|a| a.ready.as_ref()) {
            if let Type::Var(v) = unification::shallow(self.cx, &ready.ty)
                && self.cx.vars.var(v).literal.is_some()
            {
                literals.push(v);
            }
        }
        if literals.is_empty() {
            return false;
        }
        let closures = self.waiting.iter().filter_map(|i| match &self.pending[*i] {
            Some(Pending { kind: PendingKind::Closure { closure }, result, .. }) => Some((closure, result)),
            _ => None,
        });
        let mentions = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Var(v) if literals.contains(v)));
        closures.into_iter().any(|(closure, ty)| {
            let ty = type_vars::zonk(self.cx, ty);
            self.is_expression_closure(closure, &ty) && mentions(&ty)
        })
    }

    /// Whether a closure is a single expression, and does not destructure a tuple, for which a separate statement is
    /// required.
    pub(crate) fn is_expression_closure(&self, closure: &ast::Closure, ty: &Type) -> bool {
        let takes_apart = match type_vars::zonk(self.cx, ty) {
            Type::Function(f) => f.params.len() == 1 && closure_arity(closure).is_some_and(|count| count > 1),
            _ => false,
        };
        result_expression(&closure.body).is_some() && !takes_apart
    }

    /// Whether an argument is a member of a literal, or results from such a member by pending calls, while the type of
    /// the literal is not decided.
    pub(crate) fn awaits_literal(&mut self, args: &[ArgNode]) -> bool {
        let mut open = vec![];
        self.open_arguments(args, &mut open);
        let mut seen = vec![];
        let mut next = 0;
        while let Some(v) = open.get(next).copied() {
            next += 1;
            for i in self.waiting.iter().copied() {
                let Some(pending) = &self.pending[i] else { continue };
                let makes = |ty: &Type| matches!(ty, Type::Var(w) if *w == v);
                if seen.contains(&i) || !type_vars::zonk(self.cx, &pending.result).any(&mut |ty| makes(ty)) {
                    continue;
                }
                seen.push(i);
                if let PendingKind::Overload { args, .. } | PendingKind::Operator { args, .. } = &pending.kind {
                    self.open_arguments(args, &mut open);
                }
                match pending.kind.base().map(|base| type_vars::zonk(self.cx, &base.ty)) {
                    Some(Type::Var(v)) if self.cx.vars.var(v).literal.is_some() => return true,
                    Some(Type::Var(v)) => open.push(v),
                    _ => {}
                }
            }
        }
        false
    }

    /// Adds the types of those arguments whose types are type variables that no literal constrains.
    fn open_arguments(&self, args: &[ArgNode], open: &mut Vec<VarId>) {
        for ready in args.iter().filter_map(|a| a.ready.as_ref()) {
            if let Type::Var(v) = type_vars::zonk(self.cx, &ready.ty)
                && self.cx.vars.var(v).literal.is_none()
                && !open.contains(&v)
            {
                open.push(v);
            }
        }
    }

    /// Returns the candidates whose result fits the pending calls that take it as an argument: inside `Character(…)`,
    /// the overload of `UnicodeScalar(65)` that is not optional. Returns all candidates if none fits.
    pub(crate) fn fitting_enclosing_calls(
        &mut self,
        candidates: &[Candidate],
        result: &Type,
        span: Span,
    ) -> Vec<Candidate> {
        let Type::Var(own) = unification::shallow(self.cx, result) else { return candidates.to_vec() };
        let mut enclosing_calls = vec![];
        // The argument is the call itself, or a closure that returns its value.
        let mentions = |ty: &Type| ty.any(&mut |t| *t == Type::Var(own));
        for i in self.waiting.iter().copied() {
            if let Some(Pending { kind: PendingKind::Overload { candidates, args, .. }, .. }) = &self.pending[i]
                && args.iter().any(|a| a.ready.as_ref().is_some_and(|e| mentions(&type_vars::zonk(self.cx, &e.ty))))
            {
                enclosing_calls.push((candidates.clone(), args.clone()));
            }
        }
        if enclosing_calls.is_empty() {
            return candidates.to_vec();
        }
        let mut useful = candidates.to_vec();
        useful.retain(|candidate| {
            let snapshot = self.cx.vars.snapshot();
            let given = self.instantiate(candidate, span).result;
            let fits = unification::unify(self.cx, result, &given, span)
                && enclosing_calls
                    .iter()
                    .all(|(all, args)| all.iter().any(|c| self.try_candidate(c, args, None, span).is_some()));
            self.cx.vars.rollback(snapshot);
            fits
        });
        if useful.is_empty() { candidates.to_vec() } else { useful }
    }

    /// Commits to the only candidate that fits; with `by_default` to the candidate that fits best; with `last` reports
    /// an ambiguous call.
    #[expect(clippy::too_many_arguments, reason = "the state of one decision")]
    pub(crate) fn choose(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
        by_default: bool,
        last: bool,
    ) -> Option<Expr> {
        let mut fitting = self.fitting(candidates, args, expected, span);
        let mut widens = false;
        if fitting.is_empty() {
            fitting = self.with_widening(true, |infer| infer.fitting(candidates, args, expected, span));
            widens = !fitting.is_empty();
        }
        if fitting.is_empty() {
            // A candidate that fits except for a missing conformance yields a better diagnostic than a list of all
            // candidates.
            self.forgives = true;
            fitting = self.fitting(candidates, args, expected, span);
            self.forgives = false;
            let nearest = nearest_tier(name, candidates);
            fitting.retain(|(_, candidate)| candidate.tier <= nearest);
        }
        if fitting.is_empty() {
            return Some(self.no_fit(name, candidates, args, span));
        }
        let known = args.iter().all(|a| a.ready.as_ref().is_none_or(|e| !unification::has_vars(self.cx, &e.ty)));
        if fitting.len() > 1 && (known || by_default || last) {
            fitting = self.without_unfit_builders(fitting, args, span);
            fitting = self.without_more_general(fitting, args);
        }
        fitting.sort_by_key(|(fit, _)| fit.score);
        let clear = fitting.len() == 1 || fitting[0].0.score < fitting[1].0.score;
        if fitting.len() == 1 || (clear && (known || by_default)) {
            let chosen = fitting[0].1.clone();
            return Some(self.with_widening(widens, |infer| infer.commit(name, &chosen, args, expected, span)));
        }
        if last || (by_default && known) {
            let tied: Vec<Candidate> =
                fitting.iter().filter(|(s, _)| s.score == fitting[0].0.score).map(|(_, c)| (*c).clone()).collect();
            let tied = self.with_usual_literals(tied, args, expected, span);
            if let Some(best) = self.most_special(&tied) {
                return Some(self.with_widening(widens, |infer| infer.commit(name, &best, args, expected, span)));
            }
            if let Some(suited) = self.suited_by_closures(&tied, args, span) {
                return Some(self.commit(name, suited, args, expected, span));
            }
            // A trailing closure may fit two overloads that differ in labels only: the first overload is chosen.
            if args.iter().any(|a| a.trailing)
                && let Some(first) = tied.first()
            {
                return Some(self.commit(name, &first.clone(), args, expected, span));
            }
            return Some(self.ambiguous(name, &tied, args, span));
        }
        None
    }

    /// Returns the candidates that fit the arguments of a call, with their scores.
    fn fitting<'c>(
        &mut self,
        candidates: &'c [Candidate],
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Vec<(Fit, &'c Candidate)> {
        let mut fitting = vec![];
        // If no candidate returns the expected type, the diagnostic is about the result rather than about the call.
        let attempts = [expected, None];
        for expected in &attempts[..if expected.is_some() { 2 } else { 1 }] {
            for candidate in candidates {
                if let Some(fit) = self.rate(candidate, args, *expected, span) {
                    fitting.push((fit, candidate));
                }
            }
            if !fitting.is_empty() {
                break;
            }
        }
        fitting
    }

    /// Removes the disfavored overloads of a function, unless no other overload fits the arguments and the expected type.
    fn favored_or_second(
        &mut self,
        all: Vec<Candidate>,
        args: &mut [ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Vec<Candidate> {
        let favored = self.favored(all.clone());
        if favored.len() == all.len() {
            return all;
        }
        self.ready_args(args);
        let expected = expected.filter(|ty| !unification::has_vars(self.cx, ty));
        let mut fits = |some: &[Candidate], expected: Option<&Type>| {
            some.iter().any(|c| self.try_candidate(c, args, expected, span).is_some())
        };
        let is_second = [expected, None].into_iter().any(|ty| !fits(&favored, ty) && fits(&all, ty));
        if is_second { all } else { favored }
    }

    /// Removes the unavailable overloads and those marked `@_disfavoredOverload` if there are other overloads.
    pub(crate) fn favored(&mut self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let second = |infer: &Self, c: &Candidate| match &c.target {
            Target::Function(f) => {
                let decl = infer.cx.defs.function_data(*f).decl.as_ref();
                decl.is_some_and(|d| d.attribute("_disfavoredOverload").is_some() || availability::is_unavailable(d))
            }
            Target::Requirement(..) | Target::Case(..) => false,
        };
        // A declaration of the program does not take precedence over a disfavored overload of the library.
        let has_first = |infer: &Self, of_script: bool| {
            candidates.iter().any(|c| !second(infer, c) && infer.is_of_script(c) == of_script)
        };
        let has_first = [has_first(self, false), has_first(self, true)];
        let is_kept = |c: &Candidate| !second(self, c) || !has_first[usize::from(self.is_of_script(c))];
        candidates.iter().filter(|c| is_kept(c)).cloned().collect()
    }

    /// Removes the members of a protocol that the type itself declares with the same types, and the requirements that a
    /// refining protocol repeats, so that the call is not ambiguous and its arguments are inferred with their types.
    fn unshadowed(&mut self, candidates: Vec<Candidate>, span: Span) -> Vec<Candidate> {
        let is_requirement = |c: &Candidate| matches!(c.target, Target::Requirement(..));
        let several_requirements = candidates.iter().filter(|c| is_requirement(c)).count() > 1;
        if candidates.len() < 2 || !several_requirements && candidates.iter().all(|c| c.tier == candidates[0].tier) {
            return candidates;
        }
        let types: Vec<Option<Vec<Type>>> = candidates.iter().map(|c| self.plain_types(c, span)).collect();
        let is_shadowed = |infer: &mut Self, i: usize| {
            types[i].is_some()
                && (0..types.len()).any(|k| {
                    let is_nearer = candidates[k].tier < candidates[i].tier
                        || candidates[k].tier == candidates[i].tier && infer.refines(&candidates[k], &candidates[i]);
                    is_nearer && types[k] == types[i]
                })
        };
        let kept: Vec<bool> = (0..candidates.len()).map(|i| !is_shadowed(self, i)).collect();
        candidates.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(candidate, _)| candidate).collect()
    }

    /// Whether a candidate is a requirement of a protocol that refines the protocol of another requirement.
    fn refines(&mut self, candidate: &Candidate, other: &Candidate) -> bool {
        match (&candidate.target, &other.target) {
            (Target::Requirement(p, _), Target::Requirement(q, _)) => {
                p != q && conformances::refined(self.cx, *p).contains(q)
            }
            _ => false,
        }
    }

    /// Returns the types of a candidate's parameters and result, if it has no generic parameters apart from those of
    /// its environment.
    fn plain_types(&mut self, candidate: &Candidate, span: Span) -> Option<Vec<Type>> {
        let f = match &candidate.target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(..) => return None,
        };
        if signature::signature(self.cx, f).env.params.len() > candidate.prefix.len() {
            return None;
        }
        let snapshot = self.cx.vars.snapshot();
        let instance = self.instantiate(candidate, span);
        let types = instance.params.iter().map(|p| &p.ty).chain([&instance.result]);
        let types = types.map(|ty| unification::resolved(self.cx, ty)).collect();
        self.cx.vars.rollback(snapshot);
        instance.missing.is_none().then_some(types)
    }

    /// Returns, among several candidates that fit equally well, the candidate whose generic environment requires most:
    /// more conditions, or more refined protocols.
    pub(crate) fn most_special(&mut self, tied: &[Candidate]) -> Option<Candidate> {
        let mut weights: Vec<((usize, usize), usize)> = vec![];
        for (i, candidate) in tied.iter().enumerate() {
            let f = match &candidate.target {
                Target::Function(f) => *f,
                Target::Requirement(p, r) => self.cx.defs.protocol_data(*p).requirements[*r as usize].function,
                Target::Case(..) => return Some(candidate.clone()),
            };
            let signature = signature::signature(self.cx, f);
            let generic = signature.env.params.len();
            let same = signature
                .env
                .requirements
                .iter()
                .filter(|r| matches!(r, crate::types::model::declaration_tables::Requirement::Same(..)))
                .count();
            let mut refined = 0;
            for requirement in &signature.env.requirements {
                if let crate::types::model::declaration_tables::Requirement::Conforms(_, p) = requirement {
                    refined += conformances::refined(self.cx, *p).len();
                }
            }
            let count = signature.env.requirements.len() + 2 * same + 100usize.saturating_sub(generic * 10);
            weights.push(((count, refined), i));
        }
        weights.sort_unstable_by(|a, b| b.cmp(a));
        match weights.as_slice() {
            [(a, i), (b, _), ..] if a > b => tied.get(*i).cloned(),
            [(_, i)] => tied.get(*i).cloned(),
            _ => None,
        }
    }
}
