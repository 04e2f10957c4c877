//! Types as the checker knows them.

use crate::syntax::ast::Name;
use std::rc::Rc;

/// A struct, enum or class: an index into [`TypeContext::nominals`](crate::types::TypeContext).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NominalId(pub u32);

/// A protocol: an index into [`TypeContext::protocols`](crate::types::TypeContext).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ProtocolId(pub u32);

/// A generic parameter: an index into [`TypeContext::params`](crate::types::TypeContext). `Self` of a protocol is one, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ParamId(pub u32);

/// What a function gives as `some P`: an index into [`TypeContext::opaques`](crate::types::TypeContext).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct OpaqueId(pub u32);

/// A variable of inference. Never in a finished tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Not known yet.
    Var(VarId),
    /// A generic parameter in its own body.
    Param(ParamId),
    /// `Name<A, B>`; every struct, enum and class, the built-in ones too (`Double`, `Array<T>`, `Optional<T>` …). The
    /// arguments of the types that it is nested in come first.
    Nominal(NominalId, Rc<[Type]>),
    /// `(a: A, B)`; `()` is the empty one.
    Tuple(Rc<[(Option<Name>, Type)]>),
    /// `(A, B) -> C`
    Function(Rc<FunctionType>),
    /// `T.TangentVector`: a type that a conformance of the first one to the protocol supplies. Only where the first
    /// one is not known well enough.
    Associated(Rc<Type>, ProtocolId, Name),
    /// `T.Type`
    Metatype(Rc<Type>),
    /// `any P<A> & Q`; `Any` is the one without anything.
    Existential(Rc<Existential>),
    /// `some P` in the result of a function, for given generic arguments of it: one type, which only the function knows.
    Opaque(OpaqueId, Rc<[Type]>),
    /// `Never`
    Never,
    /// What an error left behind; fits everywhere, so that one mistake is reported once.
    Error,
}

/// What is known of the values of a type whose own type was forgotten.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Existential {
    /// The class that they are instances of: `any Base & P`.
    pub class: Option<Type>,
    /// What their types conform to.
    pub protocols: Vec<ProtocolId>,
    /// The types that belong to theirs, by name and in the order of names: `any P<A>`.
    pub known: Vec<(Name, Type)>,
}

impl Existential {
    /// Whether nothing at all is known: `Any`.
    pub fn is_any(&self) -> bool {
        self.class.is_none() && self.protocols.is_empty()
    }

    /// The same about other types.
    fn map(&self, replace: &mut dyn FnMut(&Type) -> Option<Type>) -> Existential {
        Existential {
            class: self.class.as_ref().map(|t| t.map(replace)),
            protocols: self.protocols.clone(),
            known: self.known.iter().map(|(name, t)| (name.clone(), t.map(replace))).collect(),
        }
    }

    /// The types that it names.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        self.class.iter().chain(self.known.iter().map(|(_, t)| t))
    }
}

/// A function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionType {
    /// Its parameters.
    pub params: Vec<FunctionParam>,
    /// Its result.
    pub result: Type,
    /// Whether it may throw.
    pub throws: bool,
    /// What is promised about its derivative.
    pub strength: Strength,
}

/// A parameter of a function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionParam {
    /// Its type.
    pub ty: Type,
    /// `inout`
    pub is_inout: bool,
    /// `@noDerivative`
    pub no_derivative: bool,
    /// `@autoclosure`: an argument is wrapped in a closure without parameters.
    pub autoclosure: bool,
}

/// What a function type promises about the derivative of its values. Each fits where a weaker one is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Strength {
    /// Written as `@convention(c) (A) -> B`: it has captured nothing, and the body is opaque.
    C,
    /// Written as `(A) -> B`: the body is opaque.
    Plain,
    /// A function declaration, or a closure whose type nobody wrote down: as strong as its body.
    Open,
    /// `@differentiable`
    Differentiable,
    /// `@differentiable(linear)`
    Linear,
}

impl Type {
    /// `()`
    pub fn unit() -> Type {
        Type::Tuple(Rc::from([]))
    }

    /// `Any`
    pub fn any_value() -> Type {
        Type::any_of(&[])
    }

    /// `any P & Q`
    pub fn any_of(protocols: &[ProtocolId]) -> Type {
        Type::Existential(Rc::new(Existential { protocols: protocols.to_vec(), ..Existential::default() }))
    }

    /// Whether it is `()`.
    pub fn is_unit(&self) -> bool {
        matches!(self, Type::Tuple(fields) if fields.is_empty())
    }

    /// Replaces generic parameters.
    #[must_use]
    pub fn substitute(&self, by: &dyn Fn(ParamId) -> Option<Type>) -> Type {
        self.map(&mut |t| match t {
            Type::Param(p) => by(*p),
            _ => None,
        })
    }

    /// Rebuilds the type; `replace` says what a part becomes, or `None` to go on inside it.
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

    /// Whether some part of it fulfils a condition.
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
