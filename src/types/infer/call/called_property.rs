//! Called properties: calls of a property whose value is a function, beside methods of the same name.

use crate::source::Span;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::Candidate;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::{FunctionType, Type};
use crate::types::model::typed_tree::{Expr, FunctionId};
use crate::types::names::{members, name_lookup};
use crate::types::nominal::stored_property;

impl Infer<'_> {
    /// Returns the property that a call denotes, and not the methods of the same name: the arguments fit the function
    /// that is its value, and no method, or a method at a higher cost.
    pub(super) fn called_property(
        &mut self,
        property: Expr,
        methods: &[Candidate],
        args: &mut [ArgNode],
        span: Span,
    ) -> Option<Expr> {
        let Type::Function(function) = unification::shallow(self.cx, &property.ty) else { return None };
        let passes = |arg: &ArgNode, is_inout: bool| matches!(arg.ast.kind, Ast::InOut(_)) == is_inout;
        let takes = args.len() == function.params.len()
            && args
                .iter()
                .zip(&function.params)
                .all(|(arg, param)| (arg.label.is_none() || arg.trailing) && passes(arg, param.is_inout));
        if !takes {
            return None;
        }
        let mut fitting = methods.to_vec();
        fitting.retain(|method| {
            let params = self.candidate_params(method);
            match_args(&params, args).is_ok_and(|slots| {
                slots
                    .iter()
                    .zip(&params)
                    .all(|(slot, param)| slot.given().iter().all(|at| passes(&args[*at], param.is_inout)))
            })
        });
        if fitting.is_empty() {
            return Some(property);
        }
        self.ready_args(args);
        self.ready_places(args);
        let cost = self.cost_of_function(&function, args, span)?;
        let costs = fitting.iter().filter_map(|method| self.try_candidate(method, args, None, span));
        let least = costs.min();
        least.is_none_or(|least| cost < least).then_some(property)
    }

    /// Returns the cost of calling a function value with the given arguments, `None` if they do not fit.
    fn cost_of_function(&mut self, function: &FunctionType, args: &[ArgNode], span: Span) -> Option<u32> {
        let snapshot = self.cx.vars.snapshot();
        let mut cost = Some(0);
        for (arg, param) in args.iter().zip(&function.params) {
            let added = self.arg_fits(arg, &param.ty, param.is_inout, span);
            cost = cost.zip(added).map(|(sum, added)| sum + added);
        }
        self.cx.vars.rollback(snapshot);
        cost
    }

    /// Whether a type may have methods and a property of the same name: the types of the library have none.
    pub(super) fn may_have_property(&self, owner: &Type) -> bool {
        !matches!(owner, Type::Nominal(n, _) if self.cx.defs.nominal_data(*n).is_prelude)
    }

    /// Whether the enclosing type has a property of this name that can be called.
    pub(super) fn has_own_callable_property(&mut self, name: &str) -> bool {
        let Some(own) = self.own_type() else { return false };
        let is_static = !self.has_self();
        self.has_callable_property(&own, name, is_static)
    }

    /// Whether a type has a property of this name that can be called.
    pub(super) fn has_callable_property(&mut self, owner: &Type, name: &str, is_static: bool) -> bool {
        for (member, (prefix, protocol), _) in members::members(self.cx, owner, name, is_static, self.file) {
            let ty = match (member, protocol) {
                (MemberKind::Global(g), _) => stored_property::global_type(self.cx, g),
                (MemberKind::Stored(i), _) => match self.owner_of_stored(owner, name, i) {
                    Some(n) => stored_property::stored_type(self.cx, n, i),
                    None => continue,
                },
                (MemberKind::Computed(get, _), _) => self.result_on(get, &prefix),
                (MemberKind::Requirement(r), Some(p)) => {
                    let function = self.cx.defs.protocol_data(p).requirements[r as usize].function;
                    self.result_on(function, &prefix)
                }
                _ => continue,
            };
            return self.is_callable_type(&ty);
        }
        false
    }

    /// Returns the result type of a getter, with the generic arguments `prefix` of the receiver's type.
    fn result_on(&mut self, getter: FunctionId, prefix: &[Type]) -> Type {
        let signature = signature::signature(self.cx, getter);
        let by = |p| signature.env.params.iter().position(|q| *q == p).and_then(|i| prefix.get(i).cloned());
        signature.result.substitute(&by)
    }

    pub(super) fn is_callable_type(&mut self, ty: &Type) -> bool {
        let file = self.file;
        let ty = unification::shallow(self.cx, ty);
        // A call of an optional function unwraps it, or states that it must be unwrapped.
        match name_lookup::optional_payload(self.cx, &ty).unwrap_or(ty) {
            Type::Function(_) | Type::Metatype(_) => true,
            Type::Nominal(n, _) if self.cx.defs.nominal_data(n).answers_calls => true,
            ty => !members::members(self.cx, &ty, "callAsFunction", false, file).is_empty(),
        }
    }
}
