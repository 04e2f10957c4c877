//! Pending expressions: the expressions that wait for more type information, and their resolution. Expressions are
//! resolved without guessing first; when a statement ends, defaults are chosen.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{Ident, Name};
use crate::types::generics::unification;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::{Context, Infer};
use crate::types::model::ty::{Type, VarId};
use crate::types::model::typed_tree::{Expr, ExprKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// An expression that inference cannot resolve yet.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) kind: PendingKind,
    /// The type that the resolved expression will have.
    pub(crate) result: Type,
    pub(crate) span: Span,
    pub(crate) context: Context,
}

#[derive(Clone, Debug)]
pub(crate) enum PendingKind {
    /// A call of one of several functions.
    Overload { name: Ident, candidates: Vec<Candidate>, args: Vec<ArgNode>, expected: Option<Type> },
    /// An operator whose operand types are unknown.
    Operator { op: Ident, args: Vec<ArgNode>, expected: Option<Type> },
    /// A member `base.name` of a base whose type is unknown.
    Member { base: Rc<Expr>, name: Ident },
    /// A call `base.name(arguments)` on a base whose type is unknown.
    MemberCall { base: Rc<Expr>, name: Ident, args: Vec<ArgNode>, expected: Option<Type> },
    /// A call `base(arguments)` of a value whose type is unknown.
    CallValue { base: Rc<Expr>, args: Vec<ArgNode>, expected: Option<Type> },
    /// A subscript `base[arguments]` of a base whose type is unknown.
    Subscript { base: Rc<Expr>, args: Vec<ArgNode> },
    /// An implicit member `.name` or `.name(arguments)` of an unknown type.
    Implicit { name: Ident, args: Option<Vec<ArgNode>> },
    /// A closure whose parameter types are unknown.
    Closure { closure: Rc<ast::Closure> },
    /// A reference to an overloaded function, resolved by the type of its context.
    Reference { candidates: Vec<Candidate> },
    /// A value to be converted to another type.
    Coerce { value: Rc<Expr>, to: Type },
    /// An expression `try? value` whose value may turn out to be optional.
    OptionalTry { value: Rc<Expr> },
    /// An array literal whose type a closure beside the literal may determine.
    ArrayLiteral { literal: Rc<ast::Expr> },
    /// A `nil` whose type is unknown.
    Nil,
}

impl PendingKind {
    /// Returns the value that is called, or whose member is looked up.
    pub(crate) fn base(&self) -> Option<&Rc<Expr>> {
        use PendingKind::{CallValue, Member, MemberCall, Subscript};
        match self {
            Member { base, .. } | MemberCall { base, .. } | CallValue { base, .. } | Subscript { base, .. } => {
                Some(base)
            }
            _ => None,
        }
    }
}

/// The extent to which a pass over the pending entries may resolve them by guessing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DefaultingPhase {
    /// Only entries with a certain resolution are resolved.
    Certain,
    /// Numbers are also defaulted to `Double` or `Int`, and the best of several candidates is chosen.
    Default,
    /// Closures of a single expression are inferred although their parameter types are unknown, since the expression
    /// may determine the type of a literal.
    Expressions,
    /// References to overloaded functions whose arguments are literals are resolved by the default types of the literals.
    References,
    /// Overloads of which some candidates fit only if literals do not have their default types are decided; a tie is
    /// reported as ambiguous.
    Literals,
    /// All closures are inferred.
    Closures,
    /// Every remaining pending entry is resolved or reported.
    Everything,
}

impl Infer<'_> {
    /// Adds a pending entry; returns the expression that refers to the entry.
    pub(crate) fn wait(&mut self, kind: PendingKind, result: Type, span: Span) -> Expr {
        let context = self.context();
        self.waiting.insert(self.pending.len());
        self.pending.push(Some(Pending { kind, result: result.clone(), span, context }));
        self.solutions.push(None);
        Expr { kind: ExprKind::Pending(self.pending.len() as u32 - 1), ty: result, span }
    }

    /// Stores an expression that may be inspected several times before its context is known. The returned reference is
    /// small, so that a long sum is not copied at each of its operators.
    pub(crate) fn set_aside(&mut self, e: Expr) -> Rc<Expr> {
        use ExprKind::{Bool, Float, Global, Int, Local, Pending, Text};
        if matches!(e.kind, Int(_) | Float(_) | Text(_) | Bool(_) | Local(_) | Global(_) | Pending(_)) {
            return Rc::new(e);
        }
        let (ty, span) = (e.ty.clone(), e.span);
        self.pending.push(None);
        self.solutions.push(Some(e));
        Rc::new(Expr { kind: ExprKind::Pending(self.pending.len() as u32 - 1), ty, span })
    }

    /// Shares the base of a member among several candidates. The call in the base is stored, so that a chain of calls
    /// is not copied at each of its members.
    pub(crate) fn shared(&mut self, base: Expr) -> Rc<Expr> {
        match base.kind {
            ExprKind::Call { .. } | ExprKind::CallValue { .. } => self.set_aside(base),
            _ => Rc::new(base),
        }
    }

    /// Whether a called value results from a call or a member that is not resolved yet. If all functions that may be
    /// called return functions, the arguments of the second call can decide which.
    pub(crate) fn awaits_callee(&mut self, e: &Expr) -> bool {
        let id = match e.kind {
            ExprKind::Pending(id) => id,
            // The result of a generic function, as in `xs.map { … }[0](x)`.
            ref kind => return matches!(kind, ExprKind::Call { .. } | ExprKind::CallValue { .. }),
        };
        match self.pending.get(id as usize).and_then(Option::as_ref).map(|pending| &pending.kind) {
            Some(PendingKind::Overload { candidates, .. }) => {
                let candidates = candidates.clone();
                !candidates.iter().all(|c| matches!(self.candidate_result(c), Type::Function(_)))
            }
            Some(kind) => kind.base().is_some(),
            None => false,
        }
    }

    /// Whether an expression is not resolved yet and may turn out to be optional.
    pub(crate) fn may_resolve_to_optional(&mut self, e: &Expr) -> bool {
        let ExprKind::Pending(id) = e.kind else { return false };
        match self.pending.get(id as usize).and_then(Option::as_ref).map(|pending| &pending.kind) {
            Some(PendingKind::Overload { candidates, .. }) => {
                let candidates = candidates.clone();
                let results: Vec<Type> = candidates.iter().map(|c| self.candidate_result(c)).collect();
                results
                    .iter()
                    .any(|result| matches!(result, Type::Param(_)) || name_lookup::is_optional(self.cx, result))
            }
            Some(kind) => kind.base().is_some(),
            None => false,
        }
    }

    /// Whether an expression refers to a resolved call.
    pub(crate) fn is_decided_call(&self, e: &Expr) -> bool {
        let ExprKind::Pending(id) = e.kind else { return false };
        let found = self.solutions.get(id as usize).and_then(Option::as_ref);
        found.is_some_and(|found| matches!(found.kind, ExprKind::Call { .. } | ExprKind::CallValue { .. }))
    }

    /// Returns the resolution of a pending expression that has been resolved; otherwise the expression itself.
    pub(crate) fn decided(&self, e: Expr) -> Expr {
        let mut at = &e;
        while let ExprKind::Pending(id) = at.kind
            && let Some(Some(found)) = self.solutions.get(id as usize)
        {
            at = found;
        }
        if std::ptr::eq(at, &e) { e } else { at.clone() }
    }

    /// Resolves those pending entries since `from` whose resolution is certain.
    pub(crate) fn progress(&mut self, from: usize) {
        while self.pass(from, DefaultingPhase::Certain) {}
    }

    /// Resolves all pending entries since `from`, and binds all literals and numbers among the type variables since
    /// `vars`.
    pub(crate) fn resolve_pending(&mut self, from: usize, vars: u32) {
        loop {
            self.progress(from);
            if self.pass(from, DefaultingPhase::Default)
                || self.pass(from, DefaultingPhase::Expressions)
                || self.pass(from, DefaultingPhase::References)
                || self.default_operands(vars)
                || self.default_arguments()
                || self.pass(from, DefaultingPhase::Literals)
                || unification::guess_equation(self.cx, true)
                || self.default_literals(vars)
            {
                continue;
            }
            if unification::guess_equation(self.cx, false)
                || self.default_empty_literals(vars, false)
                || self.pass(from, DefaultingPhase::Closures)
                || self.default_empty_literals(vars, true)
                || self.default_numbers(vars)
            {
                continue;
            }
            if !self.pass(from, DefaultingPhase::Everything) {
                break;
            }
        }
        for v in vars..self.cx.vars.var_count() {
            let state = self.cx.vars.var(VarId(v));
            if state.bound.is_none() && (state.literal.is_some() || state.numeric) {
                self.default_var(VarId(v));
            }
        }
        if let Err(equation) = unification::retry_equations(self.cx) {
            self.contradiction(&equation);
        }
    }

    /// Runs one pass over the pending entries; returns whether an entry was resolved.
    fn pass(&mut self, from: usize, phase: DefaultingPhase) -> bool {
        match unification::retry_equations(self.cx) {
            Ok(true) => return true,
            Ok(false) => {}
            Err(equation) => self.contradiction(&equation),
        }
        let mut any = false;
        let mut next = from;
        while let Some(i) = self.waiting.range(next..).next().copied() {
            crate::cancel::check();
            next = i + 1;
            if self.attempted.contains(&i) || phase < DefaultingPhase::Everything && self.is_blocked(i) {
                continue;
            }
            if phase >= DefaultingPhase::Default {
                self.ready_pending(i);
            }
            if let Some(pending) = self.pending[i].clone() {
                self.attempted.push(i);
                let found = self.in_context(&pending.context.clone(), |infer| infer.attempt(&pending, phase));
                self.attempted.pop();
                if let Some(found) = found {
                    self.pending[i] = None;
                    self.waiting.remove(&i);
                    self.finish_pending(i, &pending, found);
                    any = true;
                    if phase != DefaultingPhase::Certain {
                        return true;
                    }
                }
            }
        }
        any
    }

    /// Whether a pending entry waits for a base whose type is unknown. In a long chain all entries but the first are
    /// blocked, so the check must be cheaper than an attempt.
    fn is_blocked(&mut self, i: usize) -> bool {
        let Some(Pending { kind, .. }) = &self.pending[i] else { return false };
        let base = match kind {
            PendingKind::Coerce { value, .. } | PendingKind::OptionalTry { value } => Some(value),
            kind => kind.base(),
        };
        let Some(base) = base else { return false };
        let ty = unification::shallow(self.cx, &base.ty);
        self.is_open(&ty)
    }

    /// Infers the collection literals among the arguments of a pending call, once, since each inference creates new
    /// variables.
    fn ready_pending(&mut self, i: usize) {
        let Some(Pending { kind: PendingKind::Overload { args, candidates, .. }, context, .. }) = &self.pending[i]
        else {
            return;
        };
        let (mut args, candidates, context) = (args.clone(), candidates.clone(), context.clone());
        for k in 0..args.len() {
            if self.common_literal_type(&candidates, &args, k).is_none() {
                self.in_context(&context, |infer| infer.ready_collections(&mut args[k..=k]));
            }
        }
        if let Some(Pending { kind: PendingKind::Overload { args: waiting, .. }, .. }) = &mut self.pending[i] {
            *waiting = args;
        }
    }

    fn finish_pending(&mut self, i: usize, pending: &Pending, found: Expr) {
        let ty = found.ty.clone();
        if !unification::unify(self.cx, &ty, &pending.result, pending.span) {
            let coerced = self.in_context(&pending.context, |infer| infer.coerce(found, &pending.result));
            self.solutions[i] = Some(coerced);
            return;
        }
        let wanted = unification::shallow(self.cx, &pending.result);
        self.solutions[i] = Some(match (unification::shallow(self.cx, &ty), &wanted) {
            // The labels of a tuple are those of the type to which the call is converted.
            (Type::Tuple(own), Type::Tuple(others)) if has_other_labels(&own, others) => {
                Expr { ty: wanted, ..self.decided(found) }
            }
            _ => found,
        });
    }

    fn attempt(&mut self, pending: &Pending, phase: DefaultingPhase) -> Option<Expr> {
        let span = pending.span;
        let last = phase == DefaultingPhase::Everything;
        match &pending.kind {
            PendingKind::Overload { name, candidates, args, expected } => {
                let by_default = phase >= DefaultingPhase::Default;
                let expected = expected.clone().or_else(|| self.known(&pending.result));
                let expected = expected.or_else(|| self.beside_point(&pending.result).filter(|_| by_default));
                let expected = expected.or_else(|| self.constrained_variable(&pending.result));
                {
                    let waits = |infer: &mut Self| {
                        infer.closure_decides(args) || infer.awaits_literal(args) || infer.awaits_array_literal(args)
                    };
                    if by_default && phase < DefaultingPhase::Closures && waits(self) {
                        return None;
                    }
                    let last =
                        last || phase == DefaultingPhase::Literals && self.needs_other_literals(candidates, args, span);
                    let natural = match by_default {
                        true => {
                            let useful = self.fitting_enclosing_calls(candidates, &pending.result, span);
                            self.with_natural_literals(&useful, args, expected.as_ref(), span)
                        }
                        false => candidates.clone(),
                    };
                    self.choose(name, &natural, args, expected.as_ref(), span, by_default, last)
                }
            }
            PendingKind::Operator { op, args, expected } => {
                let expected = expected.clone().or_else(|| self.known(&pending.result));
                let expected = expected.or_else(|| self.shared_with_operand(&pending.result, args));
                if phase >= DefaultingPhase::Default {
                    let waits = |infer: &mut Self| infer.awaits_literal(args) || infer.awaits_array_literal(args);
                    if phase < DefaultingPhase::Closures && waits(self) {
                        return None;
                    }
                    self.prefer_double(op, args, span);
                    self.prefer_integer(op, args, span);
                }
                self.try_operator(op, args, expected.as_ref(), span, last)
            }
            PendingKind::Member { base, name } => {
                let ty = unification::shallow(self.cx, &base.ty.clone());
                let is_open = self.is_open(&ty);
                match ty {
                    _ if is_open => Some(self.cannot_infer(base.span, &name.name)),
                    _ => Some(self.member((**base).clone(), name, None, span)),
                }
            }
            PendingKind::MemberCall { base, name, args, expected } => {
                let ty = unification::shallow(self.cx, &base.ty.clone());
                let is_open = self.is_open(&ty);
                match ty {
                    _ if is_open => Some(self.cannot_infer(base.span, &name.name)),
                    _ => Some(self.call_member((**base).clone(), name, args.clone(), expected.as_ref(), span)),
                }
            }
            PendingKind::CallValue { base, args, expected } => {
                let (base, args, expected) = ((**base).clone(), args.clone(), expected.as_ref());
                match self.known(&base.ty) {
                    Some(ty) if phase < DefaultingPhase::References && self.awaits_parameters(&ty, &args) => None,
                    Some(Type::Function(_)) => {
                        let base = self.decided(base);
                        Some(self.call_known_value(base, args, expected, span))
                    }
                    Some(_) => Some(self.call_value(base, args, expected, span)),
                    None => Some(self.call_unknown(base, &args, expected, span)),
                }
            }
            PendingKind::Subscript { base, args } => {
                let ty = unification::shallow(self.cx, &base.ty.clone());
                let is_open = self.is_open(&ty);
                match ty {
                    _ if is_open => Some(self.cannot_infer(base.span, "subscript")),
                    _ => Some(self.subscript((**base).clone(), args.clone(), None, span)),
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
                let is_expression = phase == DefaultingPhase::Expressions
                    && self.is_expression_closure(closure, &ty)
                    && !self.follows_closure(&ty);
                let dares = phase >= DefaultingPhase::Closures || is_expression;
                if dares || self.closure_is_ready(&ty) {
                    return Some(self.closure_now(closure, &ty, span));
                }
                None
            }
            PendingKind::Reference { candidates } => {
                let dares = phase >= DefaultingPhase::Closures
                    || phase >= DefaultingPhase::References && self.takes_literals(candidates, &pending.result, span);
                self.attempt_reference(candidates, &pending.result, dares, span)
            }
            PendingKind::Coerce { value, to } => {
                let to = unification::shallow(self.cx, to);
                let is_open = match &to {
                    Type::Var(_) => true,
                    Type::Existential(e) => self.conformance_is_open(&value.ty, e),
                    _ => false,
                };
                if is_open && !last {
                    return None;
                }
                Some(self.coerce_now((**value).clone(), &to))
            }
            PendingKind::OptionalTry { value } => {
                let is_known = self.known(&value.ty).is_some();
                (is_known || last).then(|| self.optional_try_now((**value).clone(), span))
            }
            PendingKind::ArrayLiteral { literal } => {
                let by_default = phase >= DefaultingPhase::Default;
                self.attempt_array_literal(literal, &pending.result, by_default, phase >= DefaultingPhase::Literals)
            }
            PendingKind::Nil => match self.known(&pending.result) {
                Some(ty) => Some(self.nil(ty, span)),
                None if last => {
                    let diagnostic = Diagnostic::error(Code::CannotInfer, span, "'nil' requires a contextual type");
                    self.error(diagnostic.help("write the optional type, as in 'let x: Int? = nil'"));
                    Some(self.error_expr(span))
                }
                None => None,
            },
        }
    }

    /// Returns the type of an operator's result if it is unknown and equal to that of an operand, so that only overloads
    /// that return the type of this operand fit: the `+` in `tensors.reduce(.zero, +)`.
    fn shared_with_operand(&mut self, result: &Type, args: &[ArgNode]) -> Option<Type> {
        let result = unification::shallow(self.cx, result);
        let Type::Var(v) = result else { return None };
        let is_shared = |infer: &mut Self, arg: &ArgNode| {
            arg.ready.as_ref().is_some_and(|ready| unification::shallow(infer.cx, &ready.ty) == result)
        };
        (self.cx.vars.var(v).literal.is_none() && args.iter().any(|arg| is_shared(self, arg))).then(|| result.clone())
    }

    /// Returns the type if it is a type variable about which only conformance constraints are known.
    fn constrained_variable(&mut self, ty: &Type) -> Option<Type> {
        let ty = unification::shallow(self.cx, ty);
        matches!(&ty, Type::Var(v) if !self.cx.vars.var(*v).conforms.is_empty()).then_some(ty)
    }

    /// Whether a type is so unknown that its members cannot be looked up.
    pub(crate) fn is_open(&mut self, ty: &Type) -> bool {
        matches!(ty, Type::Var(_)) || matches!(ty, Type::Associated(..)) && unification::has_vars(self.cx, ty)
    }

    /// Returns the type, if its outermost type constructor is known.
    pub(crate) fn known(&mut self, ty: &Type) -> Option<Type> {
        let ty = unification::shallow(self.cx, ty);
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
}

fn has_other_labels(own: &[(Option<Name>, Type)], others: &[(Option<Name>, Type)]) -> bool {
    own.iter().zip(others).any(|((label, _), (other, _))| label != other)
}
