//! Declaration tables: the declarations in a [`TypeContext`], and how far each entry is resolved.

use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, Generics, Name, NominalKind, Requirement as AstRequirement, TypeExpr};
use crate::types::model::declaration_info::{Builtin, EnumCase, Nominal, Stored};
pub(crate) use crate::types::model::function::{
    BodyState, Code, FunctionData, FunctionKind, Registered, Signature, SignatureParam, blank_function,
};
use crate::types::model::syntax_query::ownership;
use crate::types::model::tree::{FunctionId, GlobalId};
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use hashbrown::HashMap;
use std::rc::Rc;

/// A group of members that were declared together: the body of a type or an extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GroupId(pub u32);

/// A type alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct AliasId(pub u32);

/// The declaration that a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    Function(FunctionId),
    Global(GlobalId),
    Nominal(NominalId),
    Protocol(ProtocolId),
    Alias(AliasId),
}

/// A name at the top level, and where it is visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) what: Named,
    pub(crate) file: u32,
    pub(crate) is_private: bool,
}

/// The generic parameters in scope and their requirements, including those of enclosing declarations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Env {
    pub(crate) params: Vec<ParamId>,
    pub(crate) requirements: Vec<Requirement>,
    /// The span of each requirement.
    pub(crate) places: Vec<Span>,
}

impl Env {
    /// Adds a requirement unless it is present.
    pub(crate) fn require(&mut self, requirement: Requirement, at: Span) {
        if !self.requirements.contains(&requirement) {
            self.requirements.push(requirement);
            self.places.push(at);
        }
    }
}

/// A requirement on generic parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Requirement {
    Conforms(Type, ProtocolId),
    Same(Type, Type),
    Superclass(Type, Type),
}

impl Requirement {
    /// Applies `by` to the types in the requirement.
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

/// The declaration that members belong to.
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
    pub(crate) is_private: bool,
    pub(crate) memo: GroupMemo,
}

/// Answers of queries about a group of members.
#[derive(Clone, Default)]
pub(crate) struct GroupMemo {
    /// The generic environment of its members.
    pub(crate) env: Option<Rc<Env>>,
}

#[derive(Clone)]
pub(crate) struct NominalData {
    pub(crate) name: Name,
    pub(crate) kind: NominalKind,
    pub(crate) span: Span,
    pub(crate) parent: Owner,
    /// The group that it is a member of, if it is nested.
    pub(crate) outer: Option<GroupId>,
    /// The generic parameters of the enclosing types, followed by its own.
    pub(crate) params: Vec<ParamId>,
    pub(crate) own_params: usize,
    pub(crate) generics: Generics,
    pub(crate) group: GroupId,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) members: HashMap<Name, Vec<Member>>,
    pub(crate) stored: Vec<StoredData>,
    pub(crate) cases: Vec<CaseData>,
    pub(crate) conformances: Vec<Conformance>,
    pub(crate) superclass: Option<Type>,
    pub(crate) raw_type: Option<Type>,
    pub(crate) builtin: Option<Builtin>,
    pub(crate) style: Option<Name>,
    pub(crate) is_indirect: bool,
    pub(crate) is_final: bool,
    /// Whether it is `private` and thus visible only in the enclosing type.
    pub(crate) is_private: bool,
    /// For a type that is declared inside a function: the types that are declared in that function.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    /// The generic environment of that function.
    pub(crate) enclosing_env: Option<Rc<Env>>,
    /// `@dynamicMemberLookup`, `@dynamicCallable`
    pub(crate) looks_up: bool,
    pub(crate) answers_calls: bool,
    pub(crate) is_prelude: bool,
    pub(crate) file: u32,
    pub(crate) has_init: bool,
    /// `deinit` of a class.
    pub(crate) deinit: Option<FunctionId>,
    pub(crate) memo: NominalMemo,
}

/// Answers of queries about a struct, enum or class.
#[derive(Clone, Default)]
pub(crate) struct NominalMemo {
    /// The number of groups whose conformances were entered.
    pub(crate) groups_entered: usize,
    /// The protocols that the type conforms to, and the number of conformances when they were computed.
    pub(crate) protocols: Option<(usize, Rc<[ProtocolId]>)>,
    /// Whether the overrides of a class were determined.
    pub(crate) linked: bool,
    /// The type as later stages see it.
    pub(crate) info: Option<Rc<Nominal>>,
    /// The memberwise initializer of a struct.
    pub(crate) memberwise: Option<FunctionId>,
    /// The initializer without parameters that a struct has in addition if all its properties have initial values.
    pub(crate) default_init: Option<FunctionId>,
    /// The parts that were synthesized.
    pub(crate) synthesized: Vec<&'static str>,
}

#[derive(Clone)]
pub(crate) struct StoredData {
    pub(crate) name: Name,
    pub(crate) ty: Option<Rc<TypeExpr>>,
    pub(crate) value: Option<Rc<Expr>>,
    pub(crate) is_let: bool,
    pub(crate) no_derivative: bool,
    /// Whether it is declared with `override`.
    pub(crate) overrides: bool,
    pub(crate) is_final: bool,
    pub(crate) decl: Rc<Decl>,
    pub(crate) span: Span,
    /// The function that stores a value and calls the observers, if there are any.
    pub(crate) setter: Option<FunctionId>,
    /// For the storage of a `lazy` property: the property's name, and the function that computes its value.
    pub(crate) lazy: Option<(Name, FunctionId)>,
    /// For the storage of a wrapped property: how its value is wrapped.
    pub(crate) wrapped: Option<Wrapped>,
    pub(crate) memo: StoredMemo,
}

/// Answers of queries about a stored property.
#[derive(Clone, Default)]
pub(crate) struct StoredMemo {
    pub(crate) resolved: Option<Type>,
    /// Whether the type is being inferred.
    pub(crate) resolving: bool,
    /// The function that computes the initial value.
    pub(crate) initial: Option<FunctionId>,
}

impl StoredData {
    /// Creates the entry of a variable without a type or a value.
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
            setter: None,
            lazy: None,
            wrapped: None,
            memo: StoredMemo::default(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct CaseData {
    pub(crate) name: Name,
    pub(crate) payload: Vec<(Option<Name>, Rc<TypeExpr>)>,
    /// The default values of the components.
    pub(crate) defaults: Vec<Option<Rc<crate::syntax::ast::Expr>>>,
    pub(crate) span: Span,
    pub(crate) has_payload: bool,
    /// The raw value, if it is written explicitly.
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
    /// A requirement of a protocol; the number is an index into [`ProtocolData::requirements`].
    Requirement(u32),
    AssociatedType,
}

/// The fact that a nominal type conforms to a protocol, under the conditions of a group.
#[derive(Clone)]
pub(crate) struct Conformance {
    pub(crate) protocol: ProtocolId,
    pub(crate) group: GroupId,
    pub(crate) memberwise: bool,
    pub(crate) span: Span,
    pub(crate) memo: ConformanceMemo,
}

/// Answers of queries about a conformance.
#[derive(Clone, Default)]
pub(crate) struct ConformanceMemo {
    /// The types that it supplies for the associated types of the protocol.
    pub(crate) type_witnesses: HashMap<Name, Type>,
    /// Whether it was checked.
    pub(crate) checked: bool,
}

#[derive(Clone)]
pub(crate) struct ProtocolData {
    pub(crate) name: Name,
    pub(crate) self_param: ParamId,
    /// The primary associated types, which `P<A>` specifies.
    pub(crate) primary: Vec<Name>,
    pub(crate) inherits: Vec<TypeExpr>,
    pub(crate) requirement_clauses: Vec<AstRequirement>,
    pub(crate) group: GroupId,
    pub(crate) groups: Vec<GroupId>,
    /// Its own requirements, without those of the protocols that it refines.
    pub(crate) requirements: Vec<RequirementData>,
    pub(crate) associated: Vec<AssociatedData>,
    pub(crate) members: HashMap<Name, Vec<Member>>,
    pub(crate) file: u32,
    pub(crate) is_prelude: bool,
    /// The span of its name.
    pub(crate) span: Span,
    pub(crate) memo: ProtocolMemo,
}

/// Answers of queries about a protocol.
#[derive(Clone, Default)]
pub(crate) struct ProtocolMemo {
    /// The protocols that it refines, itself first.
    pub(crate) refines: Option<Rc<[ProtocolId]>>,
    /// The conditions in its `where` clauses.
    pub(crate) clauses: Option<Rc<Clauses>>,
}

/// The conditions in the `where` clauses of a protocol.
#[derive(Default, Debug)]
pub(crate) struct Clauses {
    /// Pairs of types that are equal.
    pub(crate) equal: Vec<(Type, Type)>,
    /// Types with a protocol that each conforms to.
    pub(crate) conform: Vec<(Type, ProtocolId)>,
}

/// A requirement. The getter and the setter of a property or subscript are separate requirements.
#[derive(Clone)]
pub(crate) struct RequirementData {
    pub(crate) name: Name,
    pub(crate) kind: RequirementKind,
    /// Its signature, with `Self` as a generic parameter.
    pub(crate) function: FunctionId,
    pub(crate) is_static: bool,
    /// For a getter: the requirement that is its setter.
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
    pub(crate) memo: AssociatedMemo,
}

/// Answers of queries about an associated type.
#[derive(Clone, Default)]
pub(crate) struct AssociatedMemo {
    /// The protocols that its bound names.
    pub(crate) bounds: Option<Rc<[ProtocolId]>>,
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
    /// For an alias that a function declares: the types and generic parameters in scope, which are not known elsewhere.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    pub(crate) enclosing_env: Option<Rc<Env>>,
    /// Whether it is `private` and thus visible only in the enclosing type.
    pub(crate) is_private: bool,
    pub(crate) span: Span,
    pub(crate) memo: AliasMemo,
}

/// Answers of queries about a type alias.
#[derive(Clone, Default)]
pub(crate) struct AliasMemo {
    /// The type that it refers to.
    pub(crate) resolved: Option<Type>,
    /// Whether that type is being resolved.
    pub(crate) resolving: bool,
    /// The generic environment of its target.
    pub(crate) env: Option<Rc<Env>>,
}

#[derive(Clone)]
pub(crate) struct GlobalData {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) is_let: bool,
    pub(crate) ty_expr: Option<Rc<TypeExpr>>,
    pub(crate) value: Option<Rc<Expr>>,
    /// Whether its declaration has an initial value.
    pub(crate) has_value: bool,
    pub(crate) group: Option<GroupId>,
    pub(crate) owner: Owner,
    pub(crate) file: u32,
    pub(crate) is_lazy: bool,
    pub(crate) is_shared: bool,
    pub(crate) is_prelude: bool,
    pub(crate) decl: Option<Rc<Decl>>,
    /// The function that computes the value, if one is required.
    pub(crate) getter: Option<FunctionId>,
    /// The function that stores a value and calls the observers, if there are any.
    pub(crate) setter: Option<FunctionId>,
    pub(crate) memo: GlobalMemo,
}

/// Answers of queries about a global variable.
#[derive(Clone, Default)]
pub(crate) struct GlobalMemo {
    pub(crate) ty: Option<Type>,
    /// Whether the type is being inferred.
    pub(crate) resolving: bool,
    /// The function that computes the initial value of a lazy variable.
    pub(crate) lazy: Option<FunctionId>,
}

pub(crate) fn stored_info(data: &StoredData, places: Vec<u32>) -> Stored {
    Stored {
        name: data.name.clone(),
        ty: data.memo.resolved.clone().unwrap_or(Type::Error),
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

/// A use of a generic alias with its arguments and the generic environment of the use. The conformances of the
/// arguments are checked later, because conformance checks need resolved types.
#[derive(Clone)]
pub(crate) struct AliasUse {
    pub(crate) alias: AliasId,
    pub(crate) args: Vec<Type>,
    /// The type that the alias with these arguments refers to.
    pub(crate) whole: Type,
    pub(crate) env: Rc<Env>,
    pub(crate) span: Span,
}

/// The storage of an observed property or variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Observed {
    /// A stored property of a type, by index.
    Stored(NominalId, u32),
    /// A variable at the top level, or a static property.
    Global(GlobalId),
    /// No storage: the result of a function, whose value is stored elsewhere.
    Result(FunctionId),
}

/// The properties of a property wrapper that follow from its declaration.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    /// The number of its generic parameters.
    pub(crate) params: usize,
    /// Whether it has `init(wrappedValue:)`, and an initializer that can be called without arguments.
    pub(crate) takes_value: bool,
    pub(crate) takes_nothing: bool,
    /// Whether it has an initializer whose first parameter is not the wrapped value.
    pub(crate) takes_other: bool,
    /// The access to `wrappedValue` and `projectedValue`.
    pub(crate) value: Accessible,
    pub(crate) projected: Option<Accessible>,
}

/// The wrapping of a property, stored with the property's storage.
#[derive(Clone, Debug)]
pub(crate) struct Wrapped {
    /// The name of the wrapped property.
    pub(crate) name: Name,
    /// The function that creates the wrapper from the wrapped value.
    pub(crate) wrap: Option<FunctionId>,
    /// The function that computes the initial wrapped value.
    pub(crate) initial: Option<FunctionId>,
    /// The number of wrappers that enclose the value.
    pub(crate) depth: usize,
}

/// The ways in which a property can be accessed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accessible {
    pub(crate) settable: bool,
    /// Whether reading and writing mutate the value that has the property.
    pub(crate) reading_mutates: bool,
    pub(crate) writing_mutates: bool,
}

/// A default argument that may determine a generic parameter.
#[derive(Clone, Copy)]
pub(crate) enum OpenDefault {
    /// Not checked yet: the function, and the index of its parameter.
    Unknown(FunctionId, usize),
    /// It determines the generic parameter.
    Decides,
}

/// The opaque types of a session.
#[derive(Clone, Default)]
pub(crate) struct Opaques {
    pub(crate) all: Vec<Opaque>,
}

#[derive(Clone)]
pub(crate) struct Opaque {
    pub(crate) function: FunctionId,
    /// The generic parameters of the function and of its environment.
    pub(crate) params: Vec<ParamId>,
    /// Its constraints, as an existential.
    pub(crate) bounds: Type,
    /// The underlying type, in terms of `params`.
    pub(crate) underlying: Option<Type>,
}

/// The mark of a type whose tangent vector is synthesized.
pub(crate) const VECTOR: &str = "a tangent vector";
