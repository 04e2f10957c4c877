//! Type variables: the table of the unknown types of the body that is being inferred.

use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::model::ty::{ProtocolId, Type, VarId};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;

/// The kind of a literal, which determines the possible types of the literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) enum Literal {
    /// An integer literal, which can have any numeric type.
    Int,
    /// A number with a decimal point.
    Float,
    /// A string literal of one character.
    Text,
    /// A string literal of no or several characters, which cannot be a `Character`.
    Words,
}

/// The state of a type variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarState {
    pub(crate) bound: Option<Type>,
    pub(crate) literal: Option<Literal>,
    /// Whether the type variable is an operand of arithmetic, so that its default is `Double`.
    pub(crate) numeric: bool,
    /// Whether the type variable is the type of a closure's parameter, which a literal alone does not decide.
    pub(crate) is_parameter: bool,
    /// Whether the type variable is the type of a collection literal's values, about which the literal tells nothing.
    pub(crate) is_empty_literal: bool,
    pub(crate) conforms: Vec<ConformanceConstraint>,
    /// The constraints on associated types of a literal's type, such as `Stride: SignedInteger`.
    pub(crate) associated: Vec<AssociatedConstraint>,
}

/// A constraint on an associated type of a type variable.
#[derive(Clone, Debug)]
pub(crate) struct AssociatedConstraint {
    /// The protocol that declares the associated type.
    pub(crate) of: ProtocolId,
    /// The name of the associated type.
    pub(crate) name: Name,
    pub(crate) constraint: ConformanceConstraint,
}

/// A protocol to which a type must conform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConformanceConstraint {
    pub(crate) protocol: ProtocolId,
    /// The source location that introduces the constraint.
    pub(crate) span: Span,
    /// The function to whose generic parameter the constraint applies.
    pub(crate) by: Option<FunctionId>,
}

/// A requirement of a called function: the function, and the index in its environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    pub(crate) function: FunctionId,
    pub(crate) index: usize,
}

/// Two types that must be equal.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    pub(crate) left: Type,
    pub(crate) right: Type,
    pub(crate) span: Span,
    /// The requirement of a called function that states the equation, if any.
    pub(crate) by: Option<Clause>,
}

/// A snapshot of the type variables to which inference can roll back.
pub(crate) struct Snapshot {
    trail: usize,
    equations: Vec<Equation>,
}

/// The type variables and the deferred equations of one inference.
#[derive(Clone, Default)]
pub(crate) struct TypeVars {
    states: Vec<VarState>,
    trail: Vec<(VarId, VarState)>,
    recording: u32,
    /// The equations with an associated type `T.Name` whose base `T` is unknown.
    pub(crate) equations: Vec<Equation>,
    /// The requirement on whose behalf types are being unified.
    pub(crate) by: Option<Clause>,
}

/// Replaces all bound type variables in a type.
pub(crate) fn zonk(cx: &TypeContext, ty: &Type) -> Type {
    ty.map(&mut |t| match t {
        Type::Var(v) => cx.vars.resolved_binding(*v).map(|b| zonk(cx, b)),
        _ => None,
    })
}

impl Literal {
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Literal::Text | Literal::Words)
    }

    /// Returns the name of the protocol of the types that can be written as a literal of this kind.
    pub(crate) fn protocol(self) -> &'static str {
        match self {
            Literal::Int => "ExpressibleByIntegerLiteral",
            Literal::Float => "ExpressibleByFloatLiteral",
            Literal::Text | Literal::Words => "ExpressibleByStringLiteral",
        }
    }

    /// Returns the name of the default type of a literal of this kind.
    pub(crate) fn usual(self) -> &'static str {
        match self {
            Literal::Int => "Int",
            Literal::Float => "Double",
            Literal::Text | Literal::Words => "String",
        }
    }
}

impl TypeVars {
    pub(crate) fn fresh(&mut self) -> Type {
        self.states.push(VarState::default());
        Type::Var(VarId(self.states.len() as u32 - 1))
    }

    pub(crate) fn fresh_literal(&mut self, literal: Literal) -> Type {
        self.states.push(VarState { literal: Some(literal), ..VarState::default() });
        Type::Var(VarId(self.states.len() as u32 - 1))
    }

    /// Creates the type variable for a parameter of a closure.
    pub(crate) fn fresh_parameter(&mut self) -> Type {
        self.states.push(VarState { is_parameter: true, ..VarState::default() });
        Type::Var(VarId(self.states.len() as u32 - 1))
    }

    pub(crate) fn var_count(&self) -> u32 {
        self.states.len() as u32
    }

    pub(crate) fn var(&self, v: VarId) -> &VarState {
        &self.states[v.0 as usize]
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.recording += 1;
        Snapshot { trail: self.trail.len(), equations: self.equations.clone() }
    }

    pub(crate) fn rollback(&mut self, to: Snapshot) {
        while self.trail.len() > to.trail {
            if let Some((v, state)) = self.trail.pop() {
                self.states[v.0 as usize] = state;
            }
        }
        self.equations = to.equations;
        self.recording -= 1;
    }

    pub(crate) fn keep(&mut self, to: Snapshot) {
        self.recording -= 1;
        if self.recording == 0 {
            self.trail.clear();
        }
        drop(to);
    }

    pub(crate) fn set_var(&mut self, v: VarId, state: VarState) {
        let old = std::mem::replace(&mut self.states[v.0 as usize], state);
        if self.recording > 0 {
            self.trail.push((v, old));
        }
    }

    /// Resolves a type variable to its representative, or to the type that is bound to it. The path is compressed,
    /// since otherwise a sum of many literals would be traversed for each literal.
    pub(crate) fn compress_path(&mut self, v: VarId) -> Type {
        let known = self.resolved_binding(v).cloned().unwrap_or(Type::Var(v));
        let mut at = v;
        while let Some(Type::Var(next)) = self.var(at).bound {
            if Type::Var(next) == known {
                break;
            }
            let state = VarState { bound: Some(known.clone()), ..self.var(at).clone() };
            self.set_var(at, state);
            at = next;
        }
        known
    }

    pub(crate) fn resolved_binding(&self, v: VarId) -> Option<&Type> {
        let mut found = self.var(v).bound.as_ref()?;
        while let Type::Var(next) = found
            && let Some(bound) = &self.var(*next).bound
        {
            found = bound;
        }
        Some(found)
    }

    pub(crate) fn show_var(&self, v: VarId) -> String {
        match (self.var(v).literal, self.var(v).numeric) {
            (Some(Literal::Int), _) => "Int".into(),
            (Some(Literal::Float), _) | (None, true) => "Double".into(),
            (Some(Literal::Text | Literal::Words), _) => "String".into(),
            (None, false) => "_".into(),
        }
    }

    /// Whether a deferred equation is about an associated type of a type variable.
    pub(crate) fn has_equation_of(&self, v: VarId) -> bool {
        let is_of = |ty: &Type| match ty {
            Type::Associated(of, ..) => **of == Type::Var(v),
            _ => false,
        };
        self.equations.iter().any(|equation| is_of(&equation.left) || is_of(&equation.right))
    }

    /// Defers an equation until its types are known.
    pub(crate) fn defer_equation(&mut self, left: Type, right: Type, span: Span) {
        let by = self.by;
        self.equations.push(Equation { left, right, span, by });
    }
}
