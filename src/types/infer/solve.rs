//! What waits for more to be known, and deciding it: first what is certain, then, when a statement ends, defaults.

use super::args::ArgNode;
use super::candidates::Candidate;
use super::{Context, Infer};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::solver::{Literal, Wish};
use crate::types::store::World;
use crate::types::tree::{Expr, ExprKind};
use crate::types::ty::{Type, VarId};
use std::collections::HashSet;
use std::rc::Rc;

/// Something that inference could not decide yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) kind: PendingKind,
    /// The type of the expression that will stand here.
    pub(super) result: Type,
    pub(super) span: Span,
    pub(super) context: Context,
}

#[derive(Clone, Debug)]
pub(super) enum PendingKind {
    /// A call of one of several functions.
    Overload { name: Ident, candidates: Vec<Candidate>, args: Vec<ArgNode>, expected: Option<Type> },
    /// An operator whose operands are not known.
    Operator { op: Ident, args: Vec<ArgNode>, expected: Option<Type> },
    /// `base.name`
    Member { base: Rc<Expr>, name: Ident },
    /// `base.name(arguments)`
    MemberCall { base: Rc<Expr>, name: Ident, args: Vec<ArgNode>, expected: Option<Type> },
    /// `base[arguments]`
    Subscript { base: Rc<Expr>, args: Vec<ArgNode> },
    /// `.name`, `.name(arguments)`
    Implicit { name: Ident, args: Option<Vec<ArgNode>> },
    /// A closure whose parameters are not known.
    Closure { closure: Rc<ast::Closure> },
    /// The name of several functions, of which the types around it take one.
    Reference { candidates: Vec<Candidate> },
    /// A value that becomes one of another type.
    Coerce { value: Rc<Expr>, to: Type },
    /// `nil` of a type that is not known.
    Nil,
}

/// How far to go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effort {
    /// Only what is certain.
    Certain,
    /// Numbers become `Double` or `Int`, the best of several candidates is taken.
    Default,
    /// Closures of one expression are looked into although their parameters are not known: what they do with a literal
    /// says what it is.
    Expressions,
    /// Where one of several functions would be clear only if literals were of another type than they are by themselves,
    /// and is not clear: all of them are meant.
    Literals,
    /// All closures are.
    Closures,
    /// Whatever is left gets an answer, or an error.
    Everything,
}

impl Infer<'_> {
    /// Puts something aside; gives the expression that stands for it.
    pub(super) fn wait(&mut self, kind: PendingKind, result: Type, span: Span) -> Expr {
        let context = self.context();
        self.waiting.insert(self.pending.len());
        self.pending.push(Some(Pending { kind, result: result.clone(), span, context }));
        self.solutions.push(None);
        Expr { kind: ExprKind::Pending(self.pending.len() as u32 - 1), ty: result, span }
    }

    /// Keeps an expression that may be looked at several times before its place is known; what stands for it is small,
    /// so that a long sum is not copied at each of its operators.
    pub(super) fn set_aside(&mut self, e: Expr) -> Rc<Expr> {
        use ExprKind::{Bool, Float, Global, Int, Local, Pending, Text};
        if matches!(e.kind, Int(_) | Float(_) | Text(_) | Bool(_) | Local(_) | Global(_) | Pending(_)) {
            return Rc::new(e);
        }
        let (ty, span) = (e.ty.clone(), e.span);
        self.pending.push(None);
        self.solutions.push(Some(e));
        Rc::new(Expr { kind: ExprKind::Pending(self.pending.len() as u32 - 1), ty, span })
    }

    /// The expression itself, where it was decided already.
    pub(super) fn decided(&self, e: Expr) -> Expr {
        let mut at = &e;
        while let ExprKind::Pending(id) = at.kind
            && let Some(Some(found)) = self.solutions.get(id as usize)
        {
            at = found;
        }
        if std::ptr::eq(at, &e) { e } else { at.clone() }
    }

    /// Decides what can be decided for certain since `from`.
    pub(super) fn progress(&mut self, from: usize) {
        while self.pass(from, Effort::Certain) {}
    }

    /// Decides everything that waits since `from` and gives every variable since `vars` a type.
    pub(super) fn settle(&mut self, from: usize, vars: u32) {
        loop {
            self.progress(from);
            if self.pass(from, Effort::Default)
                || self.pass(from, Effort::Expressions)
                || self.default_operands(vars)
                || self.default_arguments()
                || self.pass(from, Effort::Literals)
                || self.default_literals(vars)
            {
                continue;
            }
            if self.world.guess_equation() || self.pass(from, Effort::Closures) || self.default_numbers(vars) {
                continue;
            }
            if !self.pass(from, Effort::Everything) {
                break;
            }
        }
        for v in vars..self.world.var_count() {
            let state = self.world.var(VarId(v)).clone();
            if state.bound.is_none() && (state.literal.is_some() || state.numeric) {
                self.default_var(VarId(v));
            }
        }
        if let Err(equation) = self.world.retry_equations() {
            self.contradiction(&equation);
        }
    }

    /// One round over what waits; whether something was decided.
    fn pass(&mut self, from: usize, effort: Effort) -> bool {
        match self.world.retry_equations() {
            Ok(true) => return true,
            Ok(false) => {}
            Err(equation) => self.contradiction(&equation),
        }
        let mut any = false;
        let mut next = from;
        while let Some(i) = self.waiting.range(next..).next().copied() {
            next = i + 1;
            if effort >= Effort::Default {
                self.ready_pending(i);
            }
            if let Some(pending) = self.pending[i].clone() {
                let found = self.in_context(&pending.context.clone(), |infer| infer.attempt(&pending, effort));
                if let Some(found) = found {
                    self.pending[i] = None;
                    self.waiting.remove(&i);
                    self.finish_pending(i, &pending, found);
                    any = true;
                    if effort != Effort::Certain {
                        return true;
                    }
                }
            }
        }
        any
    }

    /// Infers the collections among the arguments of a call that waits; once, since each time makes new variables.
    fn ready_pending(&mut self, i: usize) {
        let Some(Pending { kind: PendingKind::Overload { args, .. }, context, .. }) = &self.pending[i] else { return };
        let (mut args, context) = (args.clone(), context.clone());
        self.in_context(&context, |infer| infer.ready_collections(&mut args));
        if let Some(Pending { kind: PendingKind::Overload { args: waiting, .. }, .. }) = &mut self.pending[i] {
            *waiting = args;
        }
    }

    fn finish_pending(&mut self, i: usize, pending: &Pending, found: Expr) {
        let ty = found.ty.clone();
        if !self.world.unify(&ty, &pending.result, pending.span) {
            let coerced = self.in_context(&pending.context, |infer| infer.coerce(found, &pending.result));
            self.solutions[i] = Some(coerced);
        } else {
            self.solutions[i] = Some(found);
        }
    }

    fn attempt(&mut self, pending: &Pending, effort: Effort) -> Option<Expr> {
        let span = pending.span;
        let last = effort == Effort::Everything;
        match &pending.kind {
            PendingKind::Overload { name, candidates, args, expected } => {
                let expected = expected.clone().or_else(|| self.known(&pending.result));
                {
                    let by_default = effort >= Effort::Default;
                    if by_default && effort < Effort::Closures && self.closure_decides(args) {
                        return None;
                    }
                    let last = last || effort == Effort::Literals && self.needs_other_literals(candidates, args, span);
                    let natural = match by_default {
                        true => {
                            let useful = self.useful_around(candidates, &pending.result, span);
                            self.with_natural_literals(&useful, args, expected.as_ref(), span)
                        }
                        false => candidates.clone(),
                    };
                    self.choose(name, &natural, args, expected.as_ref(), span, by_default, last)
                }
            }
            PendingKind::Operator { op, args, expected } => {
                let expected = expected.clone().or_else(|| self.known(&pending.result));
                if effort >= Effort::Default {
                    self.prefer_double(op, args, span);
                }
                self.try_operator(op, args, expected.as_ref(), span, last)
            }
            PendingKind::Member { base, name } => {
                let ty = self.world.shallow(&base.ty.clone());
                let is_open = self.is_open(&ty);
                match ty {
                    _ if is_open && !last => None,
                    _ if is_open => Some(self.cannot_infer(base.span, &name.name)),
                    _ => Some(self.member((**base).clone(), name, None, span)),
                }
            }
            PendingKind::MemberCall { base, name, args, expected } => {
                let ty = self.world.shallow(&base.ty.clone());
                let is_open = self.is_open(&ty);
                match ty {
                    _ if is_open && !last => None,
                    _ if is_open => Some(self.cannot_infer(base.span, &name.name)),
                    _ => Some(self.call_member((**base).clone(), name, args.clone(), expected.as_ref(), span)),
                }
            }
            PendingKind::Subscript { base, args } => {
                let ty = self.world.shallow(&base.ty.clone());
                let is_open = self.is_open(&ty);
                match ty {
                    _ if is_open && !last => None,
                    _ if is_open => Some(self.cannot_infer(base.span, "subscript")),
                    _ => Some(self.subscript((**base).clone(), args.clone(), span)),
                }
            }
            PendingKind::Implicit { name, args } => match self.known(&pending.result) {
                Some(expected) => Some(self.implicit(name, args.clone(), &expected, span)),
                None if last => {
                    let message = format!("cannot infer the type that '.{}' belongs to", name.name);
                    Some(self.fail(Code::CannotInfer, span, message))
                }
                None => None,
            },
            PendingKind::Closure { closure } => {
                let ty = pending.result.clone();
                let is_expression = crate::types::written::single_expression(&closure.body).is_some();
                let dares = effort >= Effort::Closures || effort == Effort::Expressions && is_expression;
                if dares || self.closure_is_ready(closure, &ty) {
                    return Some(self.closure_now(closure, &ty, span));
                }
                None
            }
            PendingKind::Reference { candidates } => {
                self.attempt_reference(candidates, &pending.result, effort >= Effort::Closures, span)
            }
            PendingKind::Coerce { value, to } => {
                let (from, to) = (self.world.shallow(&value.ty.clone()), self.world.shallow(to));
                let waits =
                    matches!(from, Type::Var(_)) || matches!(from, Type::Associated(..)) && self.world.has_vars(&from);
                if waits && !last {
                    return None;
                }
                if matches!(to, Type::Var(_)) && !last {
                    return None;
                }
                Some(self.coerce_now((**value).clone(), &to))
            }
            PendingKind::Nil => match self.known(&pending.result) {
                Some(ty) => Some(self.nil(ty, span)),
                None if last => {
                    let diagnostic = Diagnostic::error(Code::CannotInfer, span, "'nil' requires a contextual type");
                    self.error(diagnostic.help("write the type that a value would have, as in 'let x: Int? = nil'"));
                    Some(self.error_expr(span))
                }
                None => None,
            },
        }
    }

    /// Whether nothing is known of a type yet, not even which members it has.
    pub(super) fn is_open(&mut self, ty: &Type) -> bool {
        matches!(ty, Type::Var(_)) || matches!(ty, Type::Associated(..)) && self.world.has_vars(ty)
    }

    /// The type, if it is known at its outside.
    pub(super) fn known(&mut self, ty: &Type) -> Option<Type> {
        let ty = self.world.shallow(ty);
        (!self.is_open(&ty)).then_some(ty)
    }

    fn cannot_infer(&mut self, span: Span, member: &str) -> Expr {
        let diagnostic = Diagnostic::error(
            Code::CannotInfer,
            span,
            format!("the type of this value is not known, so '{member}' cannot be found"),
        )
        .help("write its type");
        self.error(diagnostic);
        self.error_expr(span)
    }

    /// A parameter without a type that arithmetic is done with is a `Double`. What is itself the result of something that
    /// waits may still become anything.
    fn default_operands(&mut self, vars: u32) -> bool {
        let open = |world: &World, v: &u32| {
            let state = world.var(VarId(*v));
            state.bound.is_none() && state.literal.is_none() && state.numeric
        };
        let operands: Vec<u32> = (vars..self.world.var_count()).filter(|v| open(self.world, v)).collect();
        if operands.is_empty() {
            return false;
        }
        let waiting: Vec<Type> =
            self.waiting.iter().filter_map(|i| self.pending[*i].as_ref()).map(|p| p.result.clone()).collect();
        let mut results: HashSet<VarId> = HashSet::new();
        for mut ty in waiting {
            // Also what is in an optional: `first!` of what is not known.
            while let Some(payload) = self.world.optional_payload(&ty) {
                ty = payload;
            }
            if let Type::Var(v) = self.world.shallow(&ty) {
                results.insert(v);
            }
        }
        let free = operands.into_iter().map(VarId).find(|v| !results.contains(v));
        if let Some(v) = free {
            self.default_var(v);
        }
        free.is_some()
    }

    /// Gives literals their default types, since nothing certain is left: those with a point first, because what they
    /// decide may make a `Double` of the others.
    fn default_literals(&mut self, vars: u32) -> bool {
        let early: &[Literal] = &[Literal::Float, Literal::Text, Literal::Words];
        for kinds in [early, &[Literal::Int]] {
            let mut any = false;
            for v in vars..self.world.var_count() {
                let state = self.world.var(VarId(v)).clone();
                if state.bound.is_none() && state.literal.is_some_and(|l| kinds.contains(&l)) {
                    self.default_var(VarId(v));
                    any = true;
                }
            }
            if any {
                return true;
            }
        }
        false
    }

    /// What is given to one of several functions, of which one takes a `Double` there, is a `Double` when nothing says
    /// what else it is: `{ x in sin(x) }`.
    fn default_arguments(&mut self) -> bool {
        for i in self.waiting.clone() {
            let Some(Pending { kind: PendingKind::Overload { candidates, args, .. }, span, .. }) = &self.pending[i]
            else {
                continue;
            };
            let (candidates, args, span) = (candidates.clone(), args.clone(), *span);
            let open = args.iter().find_map(|arg| match self.world.shallow(&arg.ready.as_ref()?.ty) {
                Type::Var(v) if self.world.var(v).literal.is_none() => Some(v),
                _ => None,
            });
            let Some(v) = open else { continue };
            let double = self.world.simple("Double");
            let snapshot = self.world.snapshot();
            let fits = self.world.unify(&Type::Var(v), &double, span)
                && candidates.iter().any(|c| self.try_candidate(c, &args, None, span).is_some());
            if fits {
                self.world.keep(snapshot);
                return true;
            }
            self.world.rollback(snapshot);
        }
        false
    }

    fn default_numbers(&mut self, vars: u32) -> bool {
        for v in vars..self.world.var_count() {
            let state = self.world.var(VarId(v)).clone();
            if state.bound.is_none() && (state.numeric || self.needs_number(&state.conforms)) {
                self.default_var(VarId(v));
                return true;
            }
        }
        false
    }

    fn needs_number(&mut self, conforms: &[Wish]) -> bool {
        conforms.iter().any(|wish| {
            matches!(
                &*self.world.protocol_data(wish.protocol).name,
                "FloatingPoint"
                    | "Numeric"
                    | "BinaryFloatingPoint"
                    | "SignedNumeric"
                    | "Real"
                    | "Differentiable"
                    | "AdditiveArithmetic"
            )
        })
    }

    /// The first default type that fits everything that is asked of the variable.
    pub(super) fn default_var(&mut self, v: VarId) {
        let state = self.world.var(v).clone();
        let names: &[&'static str] = match state.literal {
            Some(Literal::Int) if state.numeric => &["Int", "Double"],
            Some(Literal::Int) => &["Int", "Double"],
            Some(Literal::Float) => &["Double"],
            Some(Literal::Text) => &["String", "Character"],
            Some(Literal::Words) => &["String"],
            None => &["Double"],
        };
        for name in names {
            let ty = self.world.simple(name);
            let snapshot = self.world.snapshot();
            if self.world.unify(&Type::Var(v), &ty, Span::default()) {
                self.world.keep(snapshot);
                return;
            }
            self.world.rollback(snapshot);
        }
        // Nothing fits: take the usual type, and let what asks for more complain.
        let ty = self.world.simple(names[0]);
        let conforms = state.conforms.clone();
        self.world.set_var(v, crate::types::solver::VarState { conforms: vec![], ..state });
        if !self.world.unify(&Type::Var(v), &ty, Span::default()) {
            // Never asked again, so that inference ends.
            let state = self.world.var(v).clone();
            self.world.set_var(v, crate::types::solver::VarState { bound: Some(Type::Error), ..state });
            self.failed = true;
        }
        if let Some(wish) = conforms.into_iter().find(|wish| !self.world.conforms_to(&ty, wish.protocol)) {
            let diagnostic = self.not_conforming(&ty, &wish, wish.span);
            self.error(diagnostic);
        }
    }
}
