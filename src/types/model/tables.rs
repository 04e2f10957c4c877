//! The tables behind a [`TypeContext`]: what was entered, and how far each entry has been worked out.

use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, Generics, Name, NominalKind, Requirement as AstRequirement, TypeExpr};
use crate::types::model::declared::{Builtin, EnumCase, Nominal, Stored};
pub(crate) use crate::types::model::function::{
    BodyState, Code, FunctionData, FunctionKind, Registered, Signature, SignatureParam, blank_function,
};
use crate::types::model::syntax_query::ownership;
use crate::types::model::tree::{FunctionId, GlobalId};
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use hashbrown::HashMap;
use std::rc::Rc;

/// A group of members that were declared together: the body of a type, or an extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GroupId(pub u32);

/// A type alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct AliasId(pub u32);

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    Function(FunctionId),
    Global(GlobalId),
    Nominal(NominalId),
    Protocol(ProtocolId),
    Alias(AliasId),
}

/// A name at the top level, and who may see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) what: Named,
    pub(crate) file: u32,
    pub(crate) is_private: bool,
}

/// Generic parameters with what is required of them, those of the environment included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Env {
    pub(crate) params: Vec<ParamId>,
    pub(crate) requirements: Vec<Requirement>,
    /// Where each of them is written.
    pub(crate) places: Vec<Span>,
}

impl Env {
    /// Adds a requirement that is not there yet.
    pub(crate) fn require(&mut self, requirement: Requirement, at: Span) {
        if !self.requirements.contains(&requirement) {
            self.requirements.push(requirement);
            self.places.push(at);
        }
    }
}

/// What is required of generic parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Requirement {
    Conforms(Type, ProtocolId),
    Same(Type, Type),
    Superclass(Type, Type),
}

impl Requirement {
    /// The same about other types.
    pub(crate) fn map(&self, by: &mut dyn FnMut(&Type) -> Type) -> Requirement {
        match self {
            Requirement::Conforms(t, p) => Requirement::Conforms(by(t), *p),
            Requirement::Same(a, b) => Requirement::Same(by(a), by(b)),
            Requirement::Superclass(a, b) => Requirement::Superclass(by(a), by(b)),
        }
    }
}

#[derive(Clone)]
pub(crate) struct ParamData {
    pub(crate) name: Name,
}

/// Whom members belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Owner {
    Module,
    Nominal(NominalId),
    Protocol(ProtocolId),
}

/// A group of members with its generic environment.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) owner: Owner,
    pub(crate) requirements: Vec<AstRequirement>,
    pub(crate) inherits: Vec<TypeExpr>,
    pub(crate) file: u32,
    pub(crate) is_prelude: bool,
    pub(crate) env: Option<Rc<Env>>,
    pub(crate) is_private: bool,
}

#[derive(Clone)]
pub(crate) struct NominalData {
    pub(crate) name: Name,
    pub(crate) kind: NominalKind,
    pub(crate) span: Span,
    pub(crate) parent: Owner,
    /// The group that it is a member of.
    pub(crate) outer: Option<GroupId>,
    /// Generic parameters of the types around it, then its own.
    pub(crate) params: Vec<ParamId>,
    pub(crate) own_params: usize,
    pub(crate) generics: Generics,
    pub(crate) group: GroupId,
    pub(crate) groups: Vec<GroupId>,
    /// Of how many of them the conformances were entered.
    pub(crate) groups_entered: usize,
    pub(crate) members: HashMap<Name, Vec<Member>>,
    pub(crate) stored: Vec<StoredData>,
    pub(crate) cases: Vec<CaseData>,
    pub(crate) conformances: Vec<Conformance>,
    /// How many of these there were when it was asked which protocols the type conforms to, and the answer.
    pub(crate) protocols: Option<(usize, Rc<[ProtocolId]>)>,
    pub(crate) superclass: Option<Type>,
    pub(crate) raw_type: Option<Type>,
    pub(crate) builtin: Option<Builtin>,
    pub(crate) style: Option<Name>,
    pub(crate) is_indirect: bool,
    pub(crate) is_final: bool,
    /// `private`: it is the type's around it alone.
    pub(crate) is_private: bool,
    /// For a type that is declared inside of a function: the types that are declared there.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    /// The generic environment of that function.
    pub(crate) around: Option<Rc<Env>>,
    /// `@dynamicMemberLookup`, `@dynamicCallable`
    pub(crate) looks_up: bool,
    pub(crate) answers_calls: bool,
    pub(crate) is_prelude: bool,
    pub(crate) file: u32,
    /// Whether it was looked at what a class overrides.
    pub(crate) linked: bool,
    pub(crate) info: Option<Rc<Nominal>>,
    pub(crate) has_init: bool,
    /// `deinit` of a class.
    pub(crate) deinit: Option<FunctionId>,
    pub(crate) memberwise: Option<FunctionId>,
    /// The initializer without parameters that a struct has beside it when all its properties have values.
    pub(crate) default_init: Option<FunctionId>,
    /// Which synthesized parts were made.
    pub(crate) synthesized: Vec<&'static str>,
}

#[derive(Clone)]
pub(crate) struct StoredData {
    pub(crate) name: Name,
    pub(crate) ty: Option<Rc<TypeExpr>>,
    pub(crate) value: Option<Rc<Expr>>,
    pub(crate) is_let: bool,
    pub(crate) no_derivative: bool,
    /// `override` is written before it.
    pub(crate) overrides: bool,
    pub(crate) is_final: bool,
    pub(crate) decl: Rc<Decl>,
    pub(crate) span: Span,
    pub(crate) resolved: Option<Type>,
    pub(crate) resolving: bool,
    /// Computes the initial value.
    pub(crate) initial: Option<FunctionId>,
    /// Stores a value and calls the observers, if there are any.
    pub(crate) setter: Option<FunctionId>,
    /// For what a `lazy` property keeps: the property's name, and what computes its value.
    pub(crate) lazy: Option<(Name, FunctionId)>,
    /// For what keeps a wrapped property: how its value is wrapped.
    pub(crate) wrapped: Option<crate::types::model::tables::Wrapped>,
}

impl StoredData {
    /// A variable without type and value, for a declaration.
    pub(crate) fn of(name: Name, decl: Rc<Decl>) -> StoredData {
        StoredData {
            name,
            ty: None,
            value: None,
            is_let: false,
            no_derivative: false,
            overrides: false,
            is_final: false,
            span: decl.span,
            decl,
            resolved: None,
            resolving: false,
            initial: None,
            setter: None,
            lazy: None,
            wrapped: None,
        }
    }
}

#[derive(Clone)]
pub(crate) struct CaseData {
    pub(crate) name: Name,
    pub(crate) payload: Vec<(Option<Name>, Rc<TypeExpr>)>,
    /// What the parts are that are left out.
    pub(crate) defaults: Vec<Option<Rc<crate::syntax::ast::Expr>>>,
    pub(crate) span: Span,
    pub(crate) has_payload: bool,
    /// The raw value, where one is written.
    pub(crate) raw: Option<Rc<crate::syntax::ast::Expr>>,
}

/// A member of a type, by name.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) kind: MemberKind,
    pub(crate) is_static: bool,
    pub(crate) group: GroupId,
    pub(crate) file: u32,
    pub(crate) is_private: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MemberKind {
    Stored(u32),
    /// A computed property: getter and setter.
    Computed(FunctionId, Option<FunctionId>),
    Method(FunctionId),
    Init(FunctionId),
    Subscript(FunctionId, Option<FunctionId>),
    Case(u32),
    Global(GlobalId),
    Nominal(NominalId),
    Alias(AliasId),
    /// A requirement of a protocol; the number is that of [`ProtocolData::requirements`].
    Requirement(u32),
    AssociatedType,
}

/// That a nominal type conforms to a protocol, under the conditions of a group.
#[derive(Clone)]
pub(crate) struct Conformance {
    pub(crate) protocol: ProtocolId,
    pub(crate) group: GroupId,
    pub(crate) memberwise: bool,
    pub(crate) types: HashMap<Name, Type>,
    pub(crate) span: Span,
    pub(crate) checked: bool,
}

#[derive(Clone)]
pub(crate) struct ProtocolData {
    pub(crate) name: Name,
    pub(crate) self_param: ParamId,
    /// The associated types that `P<A>` gives.
    pub(crate) primary: Vec<Name>,
    pub(crate) inherits: Vec<TypeExpr>,
    pub(crate) requirement_clauses: Vec<AstRequirement>,
    pub(crate) group: GroupId,
    pub(crate) groups: Vec<GroupId>,
    /// Its own requirements, then nothing else; those of refined protocols stay with them.
    pub(crate) requirements: Vec<RequirementData>,
    pub(crate) associated: Vec<AssociatedData>,
    pub(crate) members: HashMap<Name, Vec<Member>>,
    pub(crate) refines: Option<Rc<[ProtocolId]>>,
    /// What its `where` clauses say to be equal.
    pub(crate) clauses: Option<Rc<Clauses>>,
    pub(crate) file: u32,
    pub(crate) is_prelude: bool,
    /// Where its name stands.
    pub(crate) span: Span,
}

/// What the `where` clauses of a protocol say.
#[derive(Default, Debug)]
pub(crate) struct Clauses {
    /// Types that are equal.
    pub(crate) equal: Vec<(Type, Type)>,
    /// Types that conform to protocols.
    pub(crate) conform: Vec<(Type, ProtocolId)>,
}

/// One requirement. Getters and setters of properties and subscripts are requirements of their own.
#[derive(Clone)]
pub(crate) struct RequirementData {
    pub(crate) name: Name,
    pub(crate) kind: RequirementKind,
    /// Its signature, with `Self` as a generic parameter.
    pub(crate) function: FunctionId,
    pub(crate) is_static: bool,
    /// For a getter the requirement that is its setter.
    pub(crate) setter: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RequirementKind {
    Method,
    Init,
    Getter,
    Setter,
    SubscriptGetter,
    SubscriptSetter,
}

#[derive(Clone)]
pub(crate) struct AssociatedData {
    pub(crate) name: Name,
    pub(crate) bound: Option<TypeExpr>,
    pub(crate) default: Option<TypeExpr>,
    pub(crate) requirements: Vec<AstRequirement>,
    /// What the bound says, once it is resolved.
    pub(crate) conforms: Option<Rc<[ProtocolId]>>,
}

#[derive(Clone)]
pub(crate) struct AliasData {
    pub(crate) name: Name,
    pub(crate) generics: Generics,
    pub(crate) params: Vec<ParamId>,
    pub(crate) target: Rc<TypeExpr>,
    pub(crate) group: Option<GroupId>,
    pub(crate) owner: Owner,
    pub(crate) file: u32,
    /// Of one that a function declares: the types and the generic parameters around it, which are not known elsewhere.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    pub(crate) around: Option<Rc<Env>>,
    /// The generic environment of its target, once it is resolved.
    pub(crate) env: Option<Rc<Env>>,
    pub(crate) resolved: Option<Type>,
    pub(crate) resolving: bool,
    /// `private`: it is the type's around it alone.
    pub(crate) is_private: bool,
    pub(crate) span: Span,
}

#[derive(Clone)]
pub(crate) struct GlobalData {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) is_let: bool,
    pub(crate) ty: Option<Type>,
    pub(crate) ty_expr: Option<Rc<TypeExpr>>,
    pub(crate) value: Option<Rc<Expr>>,
    /// Whether a value is written where it is declared.
    pub(crate) has_value: bool,
    pub(crate) group: Option<GroupId>,
    pub(crate) owner: Owner,
    pub(crate) file: u32,
    pub(crate) lazy: Option<FunctionId>,
    pub(crate) is_lazy: bool,
    pub(crate) is_shared: bool,
    pub(crate) resolving: bool,
    pub(crate) is_prelude: bool,
    pub(crate) decl: Option<Rc<Decl>>,
    /// Gives the value, where a function is needed for it.
    pub(crate) getter: Option<FunctionId>,
    /// Stores a value and calls the observers, if there are any.
    pub(crate) setter: Option<FunctionId>,
}

pub(crate) fn stored_info(data: &StoredData, places: Vec<u32>) -> Stored {
    Stored {
        name: data.name.clone(),
        ty: data.resolved.clone().unwrap_or(Type::Error),
        is_let: data.is_let,
        no_derivative: data.no_derivative,
        wrapped: data.wrapped.as_ref().map(|wrapped| (wrapped.name.clone(), places)),
        ownership: ownership(&data.decl),
        span: data.span,
    }
}

pub(crate) fn case_info(data: &CaseData, payload: Vec<(Option<Name>, Type)>) -> EnumCase {
    EnumCase { name: data.name.clone(), payload, span: data.span }
}

/// A generic alias with its arguments, and the generic environment in which it is written. Whether the arguments conform
/// cannot be asked while types are resolved: that takes the types.
#[derive(Clone)]
pub(crate) struct AliasUse {
    pub(crate) alias: AliasId,
    pub(crate) args: Vec<Type>,
    /// What it stands for.
    pub(crate) whole: Type,
    pub(crate) env: Rc<Env>,
    pub(crate) span: Span,
}

/// What is stored where somebody watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Observed {
    /// A stored property of a type, by its number there.
    Stored(NominalId, u32),
    /// A variable at the top level, or a static property.
    Global(GlobalId),
    /// Nothing that is stored: what a function computes, which is kept somewhere else.
    Result(FunctionId),
}

/// What a property wrapper offers, by its declaration.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    /// How many generic parameters it has.
    pub(crate) params: usize,
    /// Whether `init(wrappedValue:)` is there, and an initializer that can go without arguments.
    pub(crate) takes_value: bool,
    pub(crate) takes_nothing: bool,
    /// Whether an initializer takes something else than the wrapped value.
    pub(crate) takes_other: bool,
    /// How `wrappedValue` and `projectedValue` are accessed.
    pub(crate) value: Accessible,
    pub(crate) projected: Option<Accessible>,
}

/// For what keeps a wrapped property.
#[derive(Clone, Debug)]
pub(crate) struct Wrapped {
    /// The property's name.
    pub(crate) name: Name,
    /// Makes the wrapper from the wrapped value.
    pub(crate) wrap: Option<FunctionId>,
    /// The wrapped value to begin with.
    pub(crate) initial: Option<FunctionId>,
    /// How many wrappers are around the value.
    pub(crate) depth: usize,
}

/// How a property can be accessed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accessible {
    pub(crate) settable: bool,
    /// Whether reading and writing changes the value that it belongs to.
    pub(crate) reading_mutates: bool,
    pub(crate) writing_mutates: bool,
}

/// A default argument that may have a type of its own.
#[derive(Clone, Copy)]
pub(crate) enum OpenDefault {
    /// Nobody looked yet: the function and its parameter.
    Unknown(FunctionId, usize),
    /// It says what the generic parameter is.
    Decides,
}

/// The opaque types of a session.
#[derive(Clone, Default)]
pub(crate) struct Opaques {
    pub(crate) all: Vec<Opaque>,
    /// The function whose result is being resolved.
    pub(crate) function: Option<FunctionId>,
    /// Whether the types behind are asked for, too: when bodies are checked they are not.
    pub(crate) are_known: bool,
}

#[derive(Clone)]
pub(crate) struct Opaque {
    pub(crate) function: FunctionId,
    /// The generic parameters of the function and its environment.
    pub(crate) params: Vec<ParamId>,
    /// What is known of it: an existential.
    pub(crate) bounds: Type,
    /// What it is, in terms of the parameters.
    pub(crate) underlying: Option<Type>,
}

/// Marks a type whose tangent vector nobody wrote.
pub(crate) const VECTOR: &str = "a tangent vector";
