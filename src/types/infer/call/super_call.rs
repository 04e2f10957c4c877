//! Calls on `super`: access to members of the superclass, and calls of its initializers.

use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Ident;
use crate::types::conform::superclass;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind, Stmt, StmtKind};
use std::rc::Rc;

impl Infer<'_> {
    /// Infers the expression `super`.
    pub(crate) fn super_value(&mut self, span: Span) -> Expr {
        let Some(base) = self.superclass() else {
            let message = "'super' cannot be used here: there is no superclass";
            return self.fail(Code::Inheritance, span, message);
        };
        match self.self_local() {
            Some(local) => {
                let value = self.local_expr(local, span);
                let ty = match value.ty {
                    Type::Metatype(_) => Type::Metatype(Rc::new(base)),
                    _ => base,
                };
                Expr { kind: ExprKind::Super(Box::new(value)), ty, span }
            }
            None => self.fail(Code::WrongContext, span, "'super' cannot be used here: there is no 'self'"),
        }
    }

    fn superclass(&mut self) -> Option<Type> {
        match self.own_type()? {
            Type::Nominal(n, _) => superclass::superclass(self.cx, n).map(|(base, args)| Type::Nominal(base, args)),
            _ => None,
        }
    }

    /// Infers a call `super.init(…)` of an initializer of the superclass.
    pub(crate) fn super_init(&mut self, args: Vec<ArgNode>, at: Span, forced: bool, span: Span) -> Expr {
        let Some(_) = self.frame().init_self else {
            let message = "'super.init' cannot be called outside of an initializer";
            return self.fail(Code::WrongContext, span, message);
        };
        if self.is_convenience() {
            let message = "convenience initializer must delegate with 'self.init' rather than chaining to a superclass initializer with 'super.init'";
            return self.fail(Code::Inheritance, span, message);
        }
        let receiver = self.super_value(at);
        if receiver.ty == Type::Error {
            return receiver;
        }
        let base = receiver.ty.clone();
        let candidates = self.method_candidates(&base, "init", true, Some(&Rc::new(receiver)));
        let (leading, designated): (Vec<Candidate>, Vec<Candidate>) = candidates
            .into_iter()
            .partition(|c| matches!(c.target, Target::Function(f) if superclass::is_convenience(self.cx, f)));
        let mut fits = |all: &[Candidate]| {
            all.iter().any(|c| {
                let params = self.candidate_params(c);
                match_args(&params, &args).is_ok()
            })
        };
        if fits(&leading) && !fits(&designated) {
            let message = format!("must call a designated initializer of the superclass '{}'", self.show(&base));
            return self.fail(Code::Inheritance, span, message);
        }
        let name = Ident { name: "init".into(), span };
        let start = (self.pending.len(), self.cx.vars.var_count());
        let value = self.call_overloaded(&name, designated, args, None, span);
        let value = self.forced(value, forced, start);
        self.led_on(value, span)
    }

    pub(crate) fn is_convenience(&mut self) -> bool {
        let function = self.frame().function;
        function.is_some_and(|f| superclass::is_convenience(self.cx, f))
    }

    /// Calls the initializer of the superclass at the end of an initializer without an explicit call, if the superclass
    /// has an initializer that can be called without arguments.
    pub(crate) fn implicit_super_init(&mut self, body: &ast::Block, end: Span) -> Option<Stmt> {
        let base = self.superclass()?;
        if self.is_convenience() || crate::types::model::syntax_walk::calls_super_init(&body.items) {
            return None;
        }
        let candidates = self.method_candidates(&base, "init", true, None);
        let takes_nothing = candidates.iter().any(|c| {
            let params = self.candidate_params(c);
            match_args(&params, &[]).is_ok()
        });
        if !takes_nothing {
            return None;
        }
        let start = self.pending.len();
        let vars = self.cx.vars.var_count();
        let call = self.super_init(vec![], end, false, end);
        self.resolve_statement((start, vars));
        Some(Stmt { kind: StmtKind::Expr(call), span: end })
    }
}
