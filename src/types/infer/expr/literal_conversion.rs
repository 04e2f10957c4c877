//! Literal conversion: converts numeric and string literals to values of their types, once the types are known.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, StringPart};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::Candidate;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::display;
use crate::types::model::syntax_query::{characters, fits};
use crate::types::model::ty::{ProtocolId, Type};
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The indices of the requirements of the literal protocols: the requirement that takes the declared literal type, and
/// the default requirement, which takes an `Int` or a `Double`.
const DIRECT: u32 = 0;
const GENERAL: u32 = 1;

impl Infer<'_> {
    /// Infers `Type(literal)` as a literal of the type `Type`, if values of the type can be written as such literals. A
    /// collection literal is used in this way only if no initializer accepts it, or if it is an array of literals or of
    /// expressions whose types depend on that of the elements.
    pub(crate) fn coerced_literal(&mut self, ty: &Type, args: &[ArgNode], inits: &[Candidate]) -> Option<Expr> {
        let [arg] = args else { return None };
        if arg.label.is_some() || arg.trailing || arg.ready.is_some() || !matches!(ty, Type::Nominal(..)) {
            return None;
        }
        let takes = |infer: &mut Self, protocol: &'static str| {
            let protocol = name_lookup::protocol(infer.cx, protocol);
            conformances::conforms_to(infer.cx, ty, protocol)
        };
        let fits = match literal_kind(&arg.ast)? {
            Kind::Scalar(literal) => unification::accepts_literal(self.cx, ty, literal),
            Kind::Bool => takes(self, "ExpressibleByBooleanLiteral"),
            Kind::Nil => name_lookup::is_optional(self.cx, ty) || takes(self, "ExpressibleByNilLiteral"),
            collection => {
                let by_init = !contains_only_literals(&arg.ast)
                    && !takes_element_type(&arg.ast)
                    && !self.nests_elements(ty, &arg.ast)
                    && inits.iter().any(|init| match_args(&self.candidate_params(init), args).is_ok());
                !by_init
                    && match collection {
                        Kind::Array => takes(self, "ExpressibleByArrayLiteral"),
                        _ => takes(self, "ExpressibleByDictionaryLiteral"),
                    }
            }
        };
        if !fits {
            return None;
        }
        let value = self.expr(&arg.ast.clone(), Some(ty));
        Some(self.coerce(value, ty))
    }

    /// Converts a literal to a value of the inferred type.
    pub(crate) fn finish_literal(&mut self, e: &mut Expr) {
        let span = e.span;
        let builtin = match &e.ty {
            Type::Nominal(n, _) => self.cx.defs.nominal_data(*n).builtin,
            _ => None,
        };
        match (&e.kind, builtin) {
            (ExprKind::Int(n), Some(Builtin::Double | Builtin::Float)) => e.kind = ExprKind::Float(*n as f64),
            (ExprKind::Int(n), Some(Builtin::Int { bits, signed })) => {
                if !fits(*n, bits, signed) {
                    let message =
                        format!("integer literal '{n}' overflows when stored into '{}'", display::show(self.cx, &e.ty));
                    self.error(Diagnostic::error(Code::InvalidLiteral, span, message));
                }
            }
            (ExprKind::Float(_), Some(Builtin::Double | Builtin::Float))
            | (ExprKind::Text(_), Some(Builtin::String | Builtin::Character)) => {}
            _ => self.literal_of_own_type(e),
        }
        if let (ExprKind::Float(x), Some(Builtin::Float)) = (&mut e.kind, builtin) {
            *x = f64::from(*x as f32);
        }
    }

    /// Converts a literal by the initializer of its type: `let p: Polynomial = 3`.
    fn literal_of_own_type(&mut self, e: &mut Expr) {
        let (protocol, base, general) = match e.kind {
            ExprKind::Int(_) => ("ExpressibleByIntegerLiteral", "Int", GENERAL),
            ExprKind::Float(_) => ("ExpressibleByFloatLiteral", "Double", GENERAL),
            _ => ("ExpressibleByStringLiteral", "String", DIRECT),
        };
        let protocol = name_lookup::protocol(self.cx, protocol);
        if matches!(e.ty, Type::Error | Type::Var(_)) {
            return;
        }
        if !conformances::conforms_to(self.cx, &e.ty.clone(), protocol) {
            let double = name_lookup::protocol(self.cx, "ExpressibleByIntegerLiteral");
            if let (ExprKind::Float(_), true) = (&e.kind, conformances::conforms_to(self.cx, &e.ty.clone(), double)) {
                let message = format!("a floating-point literal cannot have type '{}'", display::show(self.cx, &e.ty));
                self.error(Diagnostic::error(Code::Mismatch, e.span, message));
            }
            return;
        }
        if let ExprKind::Int(n) = e.kind
            && self.wide_literal(e, n)
        {
            return;
        }
        let (requirement, ty) = match self.literal_before(&e.ty.clone(), protocol) {
            Some(ty) => (DIRECT, ty),
            None => (general, name_lookup::simple(self.cx, base)),
        };
        let mut literal = Expr { kind: e.kind.clone(), ty, span: e.span };
        self.finish_literal(&mut literal);
        let callee = Callee::Requirement { protocol, requirement, self_type: e.ty.clone(), generics: vec![] };
        e.kind = ExprKind::Call { callee, args: vec![Argument::Value(literal)] };
    }

    /// Converts a literal beyond the range of `Int` by its upper and its lower half, if its type is a wide integer.
    fn wide_literal(&mut self, e: &mut Expr, n: i128) -> bool {
        let wide = name_lookup::protocol(self.cx, "_WideInteger");
        if i64::try_from(n).is_ok() || !conformances::conforms_to(self.cx, &e.ty.clone(), wide) {
            return false;
        }
        let (ty, span) = (name_lookup::simple(self.cx, "Int"), e.span);
        let half = |bits: i128| {
            // The half keeps its bits.
            let kind = ExprKind::Int(i128::from(bits as i64));
            Argument::Value(Expr { kind, ty: ty.clone(), span })
        };
        let args = vec![half(n >> 64), half(n)];
        let callee = Callee::Requirement { protocol: wide, requirement: 0, self_type: e.ty.clone(), generics: vec![] };
        e.kind = ExprKind::Call { callee, args };
        true
    }

    /// Returns the type of the literal that the initializer of a type takes, if the literal's type is a built-in type
    /// other than the type itself.
    fn literal_before(&mut self, of: &Type, protocol: ProtocolId) -> Option<Type> {
        let name = self.cx.defs.protocol_data(protocol).associated.first()?.name.clone();
        let before = associated_type::normalize_type(self.cx, &Type::Associated(Rc::new(of.clone()), protocol, name));
        match &before {
            Type::Nominal(n, _) if self.cx.defs.nominal_data(*n).builtin.is_some() && before != *of => Some(before),
            _ => None,
        }
    }
}

/// Whether an expression is a literal, or an array literal of literals of any depth.
fn contains_only_literals(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Array(elements) => elements.iter().all(contains_only_literals),
        _ => matches!(literal_kind(e), Some(Kind::Scalar(_) | Kind::Bool)),
    }
}

/// Whether an array literal has an element like `.pi`, `-.pi` or `[.pi / 2, 1]`, whose type only the type of the elements
/// determines.
fn takes_element_type(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Array(elements) => elements.iter().any(|element| takes_element_type(element) || is_of_members(element)),
        _ => false,
    }
}

/// Whether an expression consists of implicit members, literals, and operators, with at least one implicit member.
fn is_of_members(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Implicit { .. } => true,
        Ast::Paren(inner) => is_of_members(inner),
        Ast::Prefix { operand, .. } => is_of_members(operand),
        Ast::Binary { lhs, rhs, .. } => {
            let is_part = |side: &ast::Expr| is_of_members(side) || contains_only_literals(side);
            is_part(lhs) && is_part(rhs) && (is_of_members(lhs) || is_of_members(rhs))
        }
        _ => false,
    }
}

/// The kind of a literal, by which the requirement of its literal protocol is chosen.
pub(crate) enum Kind {
    Scalar(Literal),
    Bool,
    Nil,
    Array,
    Dictionary,
}

/// Returns the kind of a literal; `None` for other expressions.
pub(crate) fn literal_kind(e: &ast::Expr) -> Option<Kind> {
    Some(match &e.kind {
        Ast::Int(_) => Kind::Scalar(Literal::Int),
        Ast::Float(_) => Kind::Scalar(Literal::Float),
        Ast::String(parts) => match parts.as_slice() {
            [] => Kind::Scalar(Literal::Words),
            [StringPart::Text(text)] if characters(text) == 1 => Kind::Scalar(Literal::Text),
            [StringPart::Text(_)] => Kind::Scalar(Literal::Words),
            _ => return None,
        },
        Ast::Bool(_) => Kind::Bool,
        Ast::Nil => Kind::Nil,
        Ast::Array(_) => Kind::Array,
        Ast::Dictionary(_) => Kind::Dictionary,
        Ast::Paren(inner) => return literal_kind(inner),
        Ast::Prefix { op, operand } if &*op.name == "-" && matches!(operand.kind, Ast::Int(_) | Ast::Float(_)) => {
            return literal_kind(operand);
        }
        _ => return None,
    })
}
