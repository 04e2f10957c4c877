//! Fractions: a quotient of integer literals in the exponent of a floating-point number is itself a floating-point
//! number, so that `x^(1/3)` is the cube root of `x`. A quotient of integer literals in a formula or in an expression
//! at the prompt is a floating-point number, too.

use crate::syntax::ast::{Expr, ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_info::Builtin;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers the operands of `^`: the base first, because its type determines whether a quotient in the exponent is a
    /// fraction.
    pub(crate) fn ready_power(&mut self, op: &Ident, args: &mut [ArgNode]) {
        let ("^", [base, exponent]) = (&*op.name, args) else { return };
        let (from, vars) = (self.pending.len(), self.cx.vars.var_count());
        self.ready_args(std::slice::from_mut(base));
        if has_quotient(&exponent.ast) {
            self.resolve_operand(base, from, vars);
        }
        let is_floating = base
            .ready
            .as_ref()
            .is_some_and(|value| self.has_roots(&value.ty) || self.fractions && self.is_integer(&value.ty));
        self.ready_exponent(is_floating, exponent);
    }

    /// Infers the arguments of the library's `pow`, whose base is a floating-point number unless it is known to have
    /// another type.
    pub(crate) fn ready_pow(&mut self, name: &Ident, candidates: &[Candidate], args: &mut [ArgNode]) {
        let ("pow", [base, exponent]) = (&*name.name, args) else { return };
        let is_library = |candidate: &Candidate| match candidate.target {
            Target::Function(f) => self.cx.defs.function_data(f).is_prelude,
            Target::Requirement(p, _) => self.cx.defs.protocol_data(p).is_prelude,
            Target::Case(..) => false,
        };
        if exponent.label.is_some() || !candidates.iter().all(is_library) {
            return;
        }
        self.ready_args(std::slice::from_mut(base));
        let is_floating = match base.ready.as_ref().map(|value| unification::shallow(self.cx, &value.ty)) {
            Some(known @ (Type::Nominal(..) | Type::Param(_) | Type::Associated(..))) => {
                unification::accepts_literal(self.cx, &known, Literal::Float)
            }
            _ => true,
        };
        self.ready_exponent(is_floating, exponent);
    }

    fn ready_exponent(&mut self, of_floating: bool, exponent: &mut ArgNode) {
        self.with_fractions(of_floating, |infer| infer.ready_args(std::slice::from_mut(exponent)));
    }

    /// Calls `run` while quotients of integer literals are treated as fractions if `are_there`.
    pub(crate) fn with_fractions<T>(&mut self, are_there: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.fractions, are_there);
        let out = run(self);
        self.fractions = outer;
        out
    }

    /// Calls `run` for an expression that is not part of the enclosing exponent or formula.
    pub(crate) fn without_fractions<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.with_fractions(false, run)
    }

    /// Returns the operands of an operation on integer literals whose result is a fraction, with floating-point
    /// literals instead of integer literals: the operands of a quotient, or the base of a negative power.
    pub(crate) fn fraction(&self, op: &Ident, lhs: &Rc<Expr>, rhs: &Rc<Expr>) -> Option<[Rc<Expr>; 2]> {
        match &*op.name {
            "/" if self.fractions && is_integer(lhs) && is_integer(rhs) => {
                Some([Rc::new(with_point(lhs)), Rc::new(with_point(rhs))])
            }
            // A negative power of an integer is not an integer.
            "^" if is_integer(lhs) && is_negative_literal(rhs) => Some([Rc::new(with_point(lhs)), rhs.clone()]),
            _ => None,
        }
    }

    /// Unifies the type of an exponent that contains a quotient of literals with the type of the base, if the base is a
    /// floating-point number or a literal.
    pub(crate) fn default_exponent(&mut self, op: &Ident, args: &[ArgNode]) {
        let ("^", [base, exponent]) = (&*op.name, args) else { return };
        let (Some(of), Some(value)) = (&base.ready, &exponent.ready) else { return };
        let (of, ty) = (of.ty.clone(), value.ty.clone());
        let is_literal = |infer: &mut Self, ty: &Type| matches!(unification::shallow(infer.cx, ty), Type::Var(v) if infer.cx.vars.var(v).literal.is_some());
        let shares_type = is_literal(self, &of) || self.is_floating(&of);
        if shares_type && is_literal(self, &ty) && has_quotient(&exponent.ast) {
            unification::unify(self.cx, &ty, &of, exponent.span);
        }
    }

    /// Whether a type is the type variable of an integer literal.
    pub(crate) fn is_integer_literal(&mut self, ty: &Type) -> bool {
        matches!(unification::shallow(self.cx, ty), Type::Var(v) if self.cx.vars.var(v).literal == Some(Literal::Int))
    }

    /// Whether a type is `Int`, or the type variable of an integer literal.
    fn is_integer(&mut self, ty: &Type) -> bool {
        self.is_int(ty) || self.is_integer_literal(ty)
    }

    /// Whether the powers of a type include roots: it is a type of floating-point or complex numbers.
    fn has_roots(&mut self, ty: &Type) -> bool {
        self.is_floating(ty)
            || match unification::shallow(self.cx, ty) {
                known @ Type::Nominal(..) if !unification::has_vars(self.cx, &known) => {
                    let protocol = name_lookup::protocol(self.cx, "ElementaryFunctions");
                    conformances::conforms_to(self.cx, &known, protocol)
                }
                _ => false,
            }
    }

    /// Whether a type is a floating-point type, or the type of a floating-point literal.
    pub(crate) fn is_floating(&mut self, ty: &Type) -> bool {
        match unification::shallow(self.cx, ty) {
            Type::Var(v) => self.cx.vars.var(v).literal == Some(Literal::Float),
            Type::Nominal(n, _) => {
                matches!(self.cx.defs.nominal_data(n).builtin, Some(Builtin::Double | Builtin::Float))
            }
            ty @ (Type::Param(_) | Type::Associated(..)) if !unification::has_vars(self.cx, &ty) => {
                let protocol = name_lookup::protocol(self.cx, "FloatingPoint");
                conformances::conforms_to(self.cx, &ty, protocol)
            }
            _ => false,
        }
    }
}

/// Whether an expression consists of integer literals and operators, without a quotient.
fn is_integer(e: &Expr) -> bool {
    match &e.kind {
        Ast::Int(_) => true,
        Ast::Paren(inner) => is_integer(inner),
        Ast::Prefix { op, operand } => matches!(&*op.name, "-" | "+") && is_integer(operand),
        Ast::Binary { op, lhs, rhs, .. } => {
            matches!(&*op.name, "+" | "-" | "*" | "^") && is_integer(lhs) && is_integer(rhs)
        }
        _ => false,
    }
}

/// Whether an expression is an integer literal with a minus sign.
fn is_negative_literal(e: &Expr) -> bool {
    match &e.kind {
        Ast::Paren(inner) => is_negative_literal(inner),
        Ast::Prefix { op, operand } => &*op.name == "-" && matches!(operand.kind, Ast::Int(_)),
        _ => false,
    }
}

/// Whether an expression consists of operators with a quotient of integer literals among their operands.
fn has_quotient(e: &Expr) -> bool {
    match &e.kind {
        Ast::Paren(inner) | Ast::Prefix { operand: inner, .. } => has_quotient(inner),
        Ast::Binary { op, lhs, rhs, .. } => {
            &*op.name == "/" && is_integer(lhs) && is_integer(rhs) || has_quotient(lhs) || has_quotient(rhs)
        }
        Ast::Ternary { then, otherwise, .. } => has_quotient(then) || has_quotient(otherwise),
        _ => false,
    }
}

/// Returns a copy of an expression in which integer literals are replaced by floating-point literals.
fn with_point(e: &Expr) -> Expr {
    let kind = match &e.kind {
        Ast::Int(Some(value)) => Ast::Float(*value as f64),
        Ast::Paren(inner) => Ast::Paren(Rc::new(with_point(inner))),
        Ast::Prefix { op, operand } => Ast::Prefix { op: op.clone(), operand: Rc::new(with_point(operand)) },
        Ast::Binary { op, lhs, rhs, juxtaposed } => Ast::Binary {
            op: op.clone(),
            lhs: Rc::new(with_point(lhs)),
            rhs: Rc::new(with_point(rhs)),
            juxtaposed: *juxtaposed,
        },
        other => other.clone(),
    };
    Expr { kind, span: e.span }
}
