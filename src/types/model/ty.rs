//! Types: the representation of types in the checker.

use crate::syntax::ast::Name;
use std::rc::Rc;

/// The number of a struct, enum or class: an index into `Definitions::nominals`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NominalId(pub u32);

/// The number of a protocol: an index into `Definitions::protocols`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ProtocolId(pub u32);

/// The number of a generic parameter: an index into `Definitions::params`. `Self` of a protocol is a generic parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ParamId(pub u32);

/// The number of an opaque result type (`some P`) of a function: an index into `Opaques::all`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct OpaqueId(pub u32);

/// The number of a type variable of inference. Type variables never occur in a finished tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A type of the language.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A type that is not inferred yet.
    Var(VarId),
    /// A generic parameter inside the declaration that has it.
    Param(ParamId),
    /// A nominal type `Name<A, B>`: a struct, enum or class, including built-in types (`Double`, `Array<T>`,
    /// `Optional<T>` …). The arguments of the enclosing types come first.
    Nominal(NominalId, Rc<[Type]>),
    /// A tuple type `(a: A, B)`; the empty tuple is `()`.
    Tuple(Rc<[(Option<Name>, Type)]>),
    /// A function type `(A, B) -> C`.
    Function(Rc<FunctionType>),
    /// An associated type such as `T.TangentVector`, which the conformance of the first type to the protocol supplies.
    /// An associated type remains only where the first type is not known well enough for its resolution.
    Associated(Rc<Type>, ProtocolId, Name),
    /// A metatype `T.Type`.
    Metatype(Rc<Type>),
    /// An existential `any P<A> & Q`; `Any` has no constraints.
    Existential(Rc<Existential>),
    /// An opaque type `some P` in the result of a function, for the given generic arguments of the function: one type,
    /// which is known only inside the function.
    Opaque(OpaqueId, Rc<[Type]>),
    /// The type `Never`, which has no values.
    Never,
    /// The type of an erroneous expression. This type is compatible with every type, so that a mistake is reported
    /// once.
    Error,
}

/// The constraints of an existential type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Existential {
    /// The class of which the values are instances: `any Base & P`.
    pub class: Option<Type>,
    /// The protocols to which the types of the values conform.
    pub protocols: Vec<ProtocolId>,
    /// The known associated types, sorted by name: `any P<A>`.
    pub known: Vec<(Name, Type)>,
}

impl Existential {
    /// Whether the existential is `Any`, that is, has no constraints.
    pub fn is_any(&self) -> bool {
        self.class.is_none() && self.protocols.is_empty()
    }

    /// Applies [`Type::map`] to the types that the existential contains.
    fn map(&self, replace: &mut dyn FnMut(&Type) -> Option<Type>) -> Existential {
        Existential {
            class: self.class.as_ref().map(|t| t.map(replace)),
            protocols: self.protocols.clone(),
            known: self.known.iter().map(|(name, t)| (name.clone(), t.map(replace))).collect(),
        }
    }

    /// Returns the types that the existential contains.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        self.class.iter().chain(self.known.iter().map(|(_, t)| t))
    }
}

/// A function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionType {
    /// The parameters of the function type.
    pub params: Vec<FunctionParam>,
    /// The result type of the function type.
    pub result: Type,
    /// Whether a function of the type may throw.
    pub throws: bool,
    /// The strength of the function type: its statement about the derivatives of its values.
    pub strength: Strength,
}

/// A parameter of a function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionParam {
    /// The type of the parameter.
    pub ty: Type,
    /// Whether the parameter is `inout`.
    pub is_inout: bool,
    /// Whether the parameter is marked `@noDerivative`.
    pub no_derivative: bool,
    /// Whether the parameter is marked `@autoclosure`: the argument is wrapped in a closure without parameters.
    pub autoclosure: bool,
}

/// The statement of a function type about the derivatives of its values. A value of a stronger type fits where a weaker
/// type is required.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Strength {
    /// The type is written as `@convention(c) (A) -> B`: its functions capture nothing, and their bodies are opaque.
    C,
    /// The type is written as `(A) -> B`: the bodies of its functions are opaque.
    Plain,
    /// The type belongs to a function declaration, or of a closure without a type annotation: as strong as the body.
    Open,
    /// The type is written with `@differentiable`.
    Differentiable,
    /// The type is written with `@differentiable(linear)`.
    Linear,
}

impl Type {
    /// Returns the type `()`.
    pub fn unit() -> Type {
        Type::Tuple(Rc::from([]))
    }

    /// Returns the type `Any`.
    pub fn any_value() -> Type {
        Type::any_of(&[])
    }

    /// Returns the type `any P & Q` for protocols.
    pub fn any_of(protocols: &[ProtocolId]) -> Type {
        Type::Existential(Rc::new(Existential { protocols: protocols.to_vec(), ..Existential::default() }))
    }

    /// Whether the type is `()`.
    pub fn is_unit(&self) -> bool {
        matches!(self, Type::Tuple(fields) if fields.is_empty())
    }

    /// Replaces the generic parameters in the type.
    #[must_use]
    pub fn substitute(&self, by: &dyn Fn(ParamId) -> Option<Type>) -> Type {
        self.map(&mut |t| match t {
            Type::Param(p) => by(*p),
            _ => None,
        })
    }

    /// Rebuilds the type with some of its parts replaced; `replace` returns the replacement of a part, or `None` to
    /// continue inside that part.
    #[must_use]
    pub fn map(&self, replace: &mut dyn FnMut(&Type) -> Option<Type>) -> Type {
        if let Some(t) = replace(self) {
            return t;
        }
        match self {
            Type::Nominal(_, args) if args.is_empty() => self.clone(),
            Type::Nominal(id, args) => Type::Nominal(*id, args.iter().map(|t| t.map(replace)).collect()),
            Type::Opaque(id, args) => Type::Opaque(*id, args.iter().map(|t| t.map(replace)).collect()),
            Type::Tuple(fields) => Type::Tuple(fields.iter().map(|(n, t)| (n.clone(), t.map(replace))).collect()),
            Type::Function(f) => Type::Function(Rc::new(FunctionType {
                params: f.params.iter().map(|p| FunctionParam { ty: p.ty.map(replace), ..p.clone() }).collect(),
                result: f.result.map(replace),
                throws: f.throws,
                strength: f.strength,
            })),
            Type::Associated(of, protocol, name) => Type::Associated(Rc::new(of.map(replace)), *protocol, name.clone()),
            Type::Metatype(of) => Type::Metatype(Rc::new(of.map(replace))),
            Type::Existential(e) if e.types().next().is_some() => Type::Existential(Rc::new(e.map(replace))),
            Type::Var(_) | Type::Param(_) | Type::Existential(_) | Type::Never | Type::Error => self.clone(),
        }
    }

    /// Whether some part of the type satisfies a predicate.
    pub fn any(&self, test: &mut dyn FnMut(&Type) -> bool) -> bool {
        if test(self) {
            return true;
        }
        match self {
            Type::Nominal(_, args) | Type::Opaque(_, args) => args.iter().any(|t| t.any(test)),
            Type::Tuple(fields) => fields.iter().any(|(_, t)| t.any(test)),
            Type::Function(f) => f.params.iter().any(|p| p.ty.any(test)) || f.result.any(test),
            Type::Associated(of, ..) | Type::Metatype(of) => of.any(test),
            Type::Existential(e) => e.types().any(|t| t.any(test)),
            Type::Var(_) | Type::Param(_) | Type::Never | Type::Error => false,
        }
    }
}
