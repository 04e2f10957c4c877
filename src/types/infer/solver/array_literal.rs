//! Array literals of unknown type: a closure beside the literal may determine the type, as in
//! `gradient(at: [1, 2]) { f($0) }`.

use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, Name};
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot};
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::declaration_tables::SignatureParam;
use crate::types::model::syntax_query::result_expression;
use crate::types::model::syntax_walk::passes_on;
use crate::types::model::ty::{Type, VarId};
use crate::types::model::type_vars;
use crate::types::model::typed_tree::{Expr, ExprKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers an array literal for a parameter whose type is a type variable. The literal is pending if a closure among
    /// the arguments may determine the type. If the expected result of the call determines the type, the variable is
    /// bound. Returns `None` if the literal is to be inferred at once.
    pub(crate) fn open_array_literal(
        &mut self,
        arg: &ArgNode,
        param: &SignatureParam,
        others: (&[Slot], &[SignatureParam], &[ArgNode]),
    ) -> Option<Expr> {
        let is_literal = arg.ready.is_none() && matches!(arg.ast.kind, Ast::Array(_));
        if !is_literal || param.is_inout || param.autoclosure {
            return None;
        }
        let Type::Var(v) = unification::shallow(self.cx, &param.ty) else { return None };
        let is_passed_on = self.is_passed_on(v, others);
        if self.cx.vars.var(v).literal.is_some() || !is_passed_on && !self.cx.vars.has_equation_of(v) {
            return None;
        }
        let protocol = name_lookup::protocol(self.cx, "ExpressibleByArrayLiteral");
        if !unification::require(self.cx, &param.ty, protocol, arg.span)
            || unification::guess_variable(self.cx, v)
            || !is_passed_on
        {
            return None;
        }
        self.array_literals.push(self.pending.len());
        Some(self.wait(PendingKind::ArrayLiteral { literal: arg.ast.clone() }, param.ty.clone(), arg.span))
    }

    /// Returns the type of an array of literals whose method takes an optional value as an element:
    /// `["0", "1"].contains(text.first)`.
    pub(crate) fn array_of_optionals(&mut self, array: &Expr, method: &Ident, args: &mut [ArgNode]) -> Option<Type> {
        let Type::Nominal(_, elements) = unification::shallow(self.cx, &array.ty) else { return None };
        let (ExprKind::Array(_), [element]) = (&array.kind, &*elements) else { return None };
        let Type::Var(v) = unification::shallow(self.cx, element) else { return None };
        let literal = self.cx.vars.var(v).literal?;
        let is_value = |e: &ast::Expr| {
            matches!(e.kind, Ast::Ident { .. } | Ast::Member { .. } | Ast::Call { .. } | Ast::Subscript { .. })
        };
        if !args.iter().any(|arg| arg.ready.is_none() && is_value(&arg.ast)) {
            return None;
        }
        let labels: Vec<Option<Name>> = args.iter().map(|arg| arg.label.clone()).collect();
        let is_element = |ty: &Type| matches!(ty, Type::Var(w) if *w == v);
        let mut takes_element = vec![false; args.len()];
        for candidate in self.method_candidates(&array.ty, &method.name, false, None) {
            let params = self.candidate_params(&candidate);
            if params.len() != labels.len() || params.iter().zip(&labels).any(|(param, label)| param.label != *label) {
                continue;
            }
            let snapshot = self.cx.vars.snapshot();
            let instance = self.instantiate(&candidate, array.span);
            for (takes, param) in takes_element.iter_mut().zip(&instance.params) {
                *takes |= is_element(&unification::shallow(self.cx, &param.ty));
            }
            self.cx.vars.rollback(snapshot);
        }
        for (arg, _) in args.iter_mut().zip(takes_element).filter(|(_, takes)| *takes) {
            if arg.ready.is_some() || !is_value(&arg.ast) {
                continue;
            }
            let value = self.expr(&arg.ast.clone(), None);
            let value = self.decided(value);
            let ty = unification::shallow(self.cx, &value.ty);
            arg.ready = Some(Rc::new(value));
            if let Some(payload) = name_lookup::optional_payload(self.cx, &ty)
                && unification::accepts_literal(self.cx, &payload, literal)
            {
                return Some(name_lookup::applied(self.cx, "Array", std::slice::from_ref(&ty)));
            }
        }
        None
    }

    /// Whether a closure of one expression takes a parameter of the type `v` and passes it on to a function or an
    /// operator, which may determine the type.
    fn is_passed_on(&mut self, v: VarId, (slots, params, args): (&[Slot], &[SignatureParam], &[ArgNode])) -> bool {
        slots.iter().zip(params).any(|(slot, param)| {
            let Slot::Arg(i) = slot else { return false };
            let Ast::Closure(closure) = &args[*i].ast.kind else { return false };
            let Some(body) = result_expression(&closure.body) else { return false };
            let Type::Function(wanted) = unification::shallow(self.cx, &param.ty) else { return false };
            wanted.params.iter().enumerate().any(|(k, wanted)| {
                let name = match &closure.params {
                    Some(written) => written.get(k).filter(|w| w.ty.is_none()).map(|w| w.name.name.clone()),
                    None => Some(format!("${k}").into()),
                };
                unification::shallow(self.cx, &wanted.ty) == Type::Var(v)
                    && name.is_some_and(|name| passes_on(body, &name))
            })
        })
    }

    /// Whether the type of an argument depends on that of a pending array literal.
    pub(crate) fn awaits_array_literal(&mut self, args: &[ArgNode]) -> bool {
        self.array_literals.retain(|i| self.waiting.contains(i));
        let open: Vec<Type> =
            self.array_literals.iter().filter_map(|i| self.pending[*i].as_ref()).map(|p| p.result.clone()).collect();
        let open: Vec<Type> = open.iter().map(|ty| type_vars::zonk(self.cx, ty)).collect();
        !open.is_empty()
            && args.iter().filter_map(|arg| arg.ready.as_ref()).any(|ready| {
                type_vars::zonk(self.cx, &ready.ty).any(&mut |t| matches!(t, Type::Var(_)) && open.contains(t))
            })
    }

    /// Whether a pending closure may still determine the type of an array literal, which is the pending entry that is
    /// being resolved: a closure with a parameter of this type, or a closure of one expression inside it.
    fn has_closure_over(&self, ty: &Type) -> bool {
        let own = self.attempted.last().copied().unwrap_or_default();
        self.waiting.range(own..).filter_map(|i| self.pending[*i].as_ref()).any(|pending| {
            let PendingKind::Closure { closure } = &pending.kind else { return false };
            result_expression(&closure.body).is_some()
                || type_vars::zonk(self.cx, &pending.result).any(&mut |t| t == ty)
        })
    }

    /// Infers a pending array literal once its type is known; with `by_default` also as an array, unless a closure may
    /// still determine the type.
    pub(crate) fn attempt_array_literal(
        &mut self,
        literal: &ast::Expr,
        result: &Type,
        by_default: bool,
        last: bool,
    ) -> Option<Expr> {
        match self.known(result) {
            Some(ty) => {
                let value = self.expr(literal, Some(&ty));
                Some(self.coerce(value, &ty))
            }
            None => {
                let ty = unification::shallow(self.cx, result);
                (last || by_default && !self.has_closure_over(&ty)).then(|| self.expr(literal, None))
            }
        }
    }
}
