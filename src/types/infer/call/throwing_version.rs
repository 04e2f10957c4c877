//! Throwing versions: determines which version of a rethrowing function is called, and which closures throw.

use crate::syntax::ast;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::conform::rethrowing_function;
use crate::types::conform::stopping_version;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the throwing version of a candidate that rethrows, if an argument is a function that throws.
    pub(crate) fn throwing_candidate(
        &mut self,
        candidate: &Candidate,
        slots: &[Slot],
        args: &[ArgNode],
    ) -> Option<Candidate> {
        let Target::Function(f) = candidate.target else { return None };
        if !self.cx.defs.function_data(f).rethrows || !self.is_given_throwing(f, slots, args) {
            return None;
        }
        let version = rethrowing_function::throwing_version(self.cx, f)?;
        Some(Candidate { target: Target::Function(version), ..candidate.clone() })
    }

    /// Returns the version of a candidate that stops the program instead of throwing, if the candidate has such a
    /// version and the call is not marked with `try`.
    pub(crate) fn stopping_candidate(&mut self, candidate: &Candidate) -> Option<Candidate> {
        let Target::Function(f) = candidate.target else { return None };
        if self.frame().tried > 0 {
            return None;
        }
        let version = stopping_version::stopping_version(self.cx, f)?;
        Some(Candidate { target: Target::Function(version), ..candidate.clone() })
    }

    /// Whether a call throws nothing although its callee is declared to throw: the callee rethrows, has no separate
    /// version for functions that do not throw, and receives no function that throws.
    pub(crate) fn forwards_no_argument(&mut self, candidate: &Candidate, slots: &[Slot], args: &[ArgNode]) -> bool {
        let f = match candidate.target {
            Target::Function(f) => f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(p).requirements[r as usize].function,
            Target::Case(..) => return false,
        };
        let data = self.cx.defs.function_data(f);
        data.rethrows && data.throws && !self.is_given_throwing(f, slots, args)
    }

    /// Whether one of the functions that are passed as arguments of a call throws.
    fn is_given_throwing(&mut self, f: FunctionId, slots: &[Slot], args: &[ArgNode]) -> bool {
        let signature = signature::signature(self.cx, f);
        let functions = slots.iter().zip(&signature.params);
        let functions = functions.filter(|(_, p)| matches!(p.ty, Type::Function(_)));
        let mut given = functions.filter_map(|(slot, param)| match slot {
            Slot::Arg(i) => Some((args.get(*i)?, param.autoclosure)),
            Slot::Variadic(_) | Slot::Whole(_) | Slot::Default => None,
        });
        given.any(|(arg, is_wrapped)| match is_wrapped {
            true => self.throws_wrapped(arg),
            false => self.gives_throwing(arg),
        })
    }

    /// Whether the function that an expression denotes throws.
    pub(crate) fn is_throwing(&mut self, function: &ast::Expr) -> bool {
        let span = function.span;
        let (label, label_span, ast) = (None, None, Rc::new(function.clone()));
        self.gives_throwing(&ArgNode { label, label_span, ast, trailing: false, ready: None, is_whole: false, span })
    }

    /// Whether an argument that is wrapped in an autoclosure throws.
    fn throws_wrapped(&mut self, arg: &ArgNode) -> bool {
        let throws = crate::types::model::syntax_walk::tries(&arg.ast);
        let closure =
            crate::types::infer::expr::calculus_notation::closure_of_call(&[], (*arg.ast).clone(), throws, arg.span);
        matches!(&closure.kind, Ast::Closure(closure) if self.may_throw(closure))
    }

    fn gives_throwing(&mut self, arg: &ArgNode) -> bool {
        if let Ast::Closure(closure) = &arg.ast.kind {
            return self.may_throw(closure);
        }
        // The generic arguments of a case that is inferred without an expected type may stay unknown.
        if self.names_case(&arg.ast) {
            return false;
        }
        let mut arg = arg.clone();
        if matches!(arg.ast.kind, Ast::Ident { .. } | Ast::Member { .. }) {
            self.ready_args(std::slice::from_mut(&mut arg));
        }
        let Some(ready) = &arg.ready else { return false };
        matches!(unification::shallow(self.cx, &ready.ty.clone()), Type::Function(f) if f.throws)
    }

    /// Whether a closure throws. In a function that rethrows, a call of a function parameter throws only in the
    /// throwing version. Such a call is marked with `try` in the source of a program, and is not marked in the source
    /// of the library.
    pub(crate) fn may_throw(&mut self, closure: &ast::Closure) -> bool {
        let Some(enclosing) = self.frames.first().and_then(|f| f.function) else { return closure.throws };
        let data = self.cx.defs.function_data(enclosing);
        match (data.rethrows, data.throws || data.gives_throwing) {
            (true, false) => closure.throws && !self.uses_given(closure),
            (true, true) => closure.throws || self.uses_given(closure),
            (false, _) => closure.throws,
        }
    }

    /// Whether a closure uses a function parameter of the enclosing function.
    fn uses_given(&self, closure: &ast::Closure) -> bool {
        let frame = &self.frames[0];
        frame.locals[..frame.params].iter().any(|local| {
            matches!(local.ty, Type::Function(_))
                && crate::types::model::syntax_walk::mentions(&closure.body, &local.name)
        })
    }
}
