//! Declaration tables: defines the entries of declarations in a [`TypeContext`], and the degree to which each entry is
//! resolved.

use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, Generics, Name, NominalKind, Requirement as AstRequirement, TypeExpr};
use crate::types::model::declaration_info::{Builtin, EnumCase, Nominal, Stored};
pub(crate) use crate::types::model::function_table::{
    BodyState, Code, FunctionData, FunctionKind, Registered, Signature, SignatureParam, blank_function,
};
use crate::types::model::syntax_query::ownership;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::typed_tree::{FunctionId, GlobalId};
use hashbrown::HashMap;
use std::rc::Rc;

/// A group of members that were declared together: the body of a type or an extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GroupId(pub u32);

/// The number of a type alias.
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

/// A declaration at the top level, and the files in which it is visible.
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
    /// The source location of each requirement.
    pub(crate) places: Vec<Span>,
}

impl Env {
    /// Adds a requirement unless it is present already.
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

/// The memoized results of queries about a group of members.
#[derive(Clone, Default)]
pub(crate) struct GroupMemo {
    /// The generic environment of the members in the group.
    pub(crate) env: Option<Rc<Env>>,
    /// Whether the requirements of the type's own generic parameters are being resolved.
    pub(crate) resolving: bool,
}

#[derive(Clone)]
pub(crate) struct NominalData {
    pub(crate) name: Name,
    pub(crate) kind: NominalKind,
    pub(crate) span: Span,
    pub(crate) parent: Owner,
    /// The group of which the type is a member, if it is nested.
    pub(crate) outer: Option<GroupId>,
    /// The generic parameters of the enclosing types, followed by those of the type itself.
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
    /// Whether the type is `private` and thus visible only in the enclosing type.
    pub(crate) is_private: bool,
    /// The types that are declared in the enclosing function, for a type that is declared inside a function.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    /// The generic environment of the enclosing function.
    pub(crate) enclosing_env: Option<Rc<Env>>,
    /// Whether the type is marked `@dynamicMemberLookup`, and whether the type is marked `@dynamicCallable`.
    pub(crate) looks_up: bool,
    pub(crate) answers_calls: bool,
    pub(crate) is_prelude: bool,
    pub(crate) file: u32,
    pub(crate) has_init: bool,
    /// The `deinit` of a class.
    pub(crate) deinit: Option<FunctionId>,
    pub(crate) memo: NominalMemo,
}

/// The memoized results of queries about a struct, enum or class.
#[derive(Clone, Default)]
pub(crate) struct NominalMemo {
    /// The number of groups of members whose conformances were entered.
    pub(crate) groups_entered: usize,
    /// The protocols that the type conforms to, and the number of conformances when this list was computed.
    pub(crate) protocols: Option<(usize, Rc<[ProtocolId]>)>,
    /// Whether the overrides of a class were determined.
    pub(crate) linked: bool,
    /// The type in the form that later stages read.
    pub(crate) info: Option<Rc<Nominal>>,
    /// The memberwise initializer of a struct.
    pub(crate) memberwise: Option<FunctionId>,
    /// The initializer without parameters that a struct has in addition if all its properties have initial values.
    pub(crate) default_init: Option<FunctionId>,
    /// The names of the parts that were synthesized.
    pub(crate) synthesized: Vec<&'static str>,
}

#[derive(Clone)]
pub(crate) struct StoredData {
    pub(crate) name: Name,
    pub(crate) ty: Option<Rc<TypeExpr>>,
    pub(crate) value: Option<Rc<Expr>>,
    pub(crate) is_let: bool,
    pub(crate) no_derivative: bool,
    /// Whether the property is declared with `override`.
    pub(crate) overrides: bool,
    pub(crate) is_final: bool,
    pub(crate) decl: Rc<Decl>,
    pub(crate) span: Span,
    /// The function that stores a value and calls the observers, if the property has observers.
    pub(crate) setter: Option<FunctionId>,
    /// The name of a `lazy` property and the function that computes its value, if the entry is the storage of a lazy
    /// property.
    pub(crate) lazy: Option<(Name, FunctionId)>,
    /// The way in which the value of a wrapped property is wrapped, if the entry is the storage of a wrapped property.
    pub(crate) wrapped: Option<Wrapped>,
    pub(crate) memo: StoredMemo,
}

/// The memoized results of queries about a stored property.
#[derive(Clone, Default)]
pub(crate) struct StoredMemo {
    pub(crate) resolved: Option<Type>,
    /// Whether the type of the property is being inferred.
    pub(crate) resolving: bool,
    /// The function that computes the initial value of the property.
    pub(crate) initial: Option<FunctionId>,
}

impl StoredData {
    /// Creates the entry of a stored variable without a type or a value.
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
    /// The default values of the payload's components.
    pub(crate) defaults: Vec<Option<Rc<crate::syntax::ast::Expr>>>,
    pub(crate) span: Span,
    pub(crate) has_payload: bool,
    /// The raw value of the case, if it is written explicitly.
    pub(crate) raw: Option<Rc<crate::syntax::ast::Expr>>,
}

/// A member of a type, found by name.
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
    /// A computed property, with its getter and its setter.
    Computed(FunctionId, Option<FunctionId>),
    Method(FunctionId),
    Init(FunctionId),
    Subscript(FunctionId, Option<FunctionId>),
    Case(u32),
    Global(GlobalId),
    Nominal(NominalId),
    Alias(AliasId),
    /// A requirement of a protocol, given by its index in [`ProtocolData::requirements`].
    Requirement(u32),
    AssociatedType,
}

/// The fact that a nominal type conforms to a protocol, under the conditions of a group.
#[derive(Clone)]
pub(crate) struct Conformance {
    pub(crate) protocol: ProtocolId,
    pub(crate) group: GroupId,
    pub(crate) span: Span,
    pub(crate) memo: ConformanceMemo,
}

/// The memoized results of queries about a conformance.
#[derive(Clone, Default)]
pub(crate) struct ConformanceMemo {
    /// The types that the conformance supplies for the associated types of the protocol.
    pub(crate) type_witnesses: HashMap<Name, Type>,
    /// Whether the conformance was checked.
    pub(crate) checked: bool,
}

#[derive(Clone)]
pub(crate) struct ProtocolData {
    pub(crate) name: Name,
    pub(crate) self_param: ParamId,
    /// The primary associated types of the protocol, which `P<A>` specifies.
    pub(crate) primary: Vec<Name>,
    pub(crate) inherits: Vec<TypeExpr>,
    pub(crate) requirement_clauses: Vec<AstRequirement>,
    pub(crate) group: GroupId,
    pub(crate) groups: Vec<GroupId>,
    /// The requirements of the protocol, without the requirements of refined protocols.
    pub(crate) requirements: Vec<RequirementData>,
    pub(crate) associated: Vec<AssociatedData>,
    pub(crate) members: HashMap<Name, Vec<Member>>,
    pub(crate) file: u32,
    pub(crate) is_prelude: bool,
    /// The source location of the protocol's name.
    pub(crate) span: Span,
    pub(crate) memo: ProtocolMemo,
}

/// The memoized results of queries about a protocol.
#[derive(Clone, Default)]
pub(crate) struct ProtocolMemo {
    /// The protocols that the protocol refines, starting with the protocol itself.
    pub(crate) refines: Option<Rc<[ProtocolId]>>,
    /// The conditions in the `where` clauses of the protocol.
    pub(crate) clauses: Option<Rc<Clauses>>,
}

/// The conditions in the `where` clauses of a protocol.
#[derive(Default, Debug)]
pub(crate) struct Clauses {
    /// Pairs of types that are required to be equal.
    pub(crate) equal: Vec<(Type, Type)>,
    /// Types, each with a protocol to which the type must conform.
    pub(crate) conform: Vec<(Type, ProtocolId)>,
}

/// A requirement of a protocol. The getter and the setter of a property or subscript are separate requirements.
#[derive(Clone)]
pub(crate) struct RequirementData {
    pub(crate) name: Name,
    pub(crate) kind: RequirementKind,
    /// The function that represents the signature of the requirement, with `Self` as a generic parameter.
    pub(crate) function: FunctionId,
    pub(crate) is_static: bool,
    /// The requirement that is the setter, if this requirement is a getter.
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

/// The memoized results of queries about an associated type.
#[derive(Clone, Default)]
pub(crate) struct AssociatedMemo {
    /// The protocols that the bound of the associated type names.
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
    /// The types and generic parameters in scope, for an alias that a function declares; these are not stored
    /// elsewhere.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    pub(crate) enclosing_env: Option<Rc<Env>>,
    /// Whether the alias is `private` and thus visible only in the enclosing type.
    pub(crate) is_private: bool,
    pub(crate) span: Span,
    pub(crate) memo: AliasMemo,
}

/// The memoized results of queries about a type alias.
#[derive(Clone, Default)]
pub(crate) struct AliasMemo {
    /// The type to which the alias refers.
    pub(crate) resolved: Option<Type>,
    /// Whether the type to which the alias refers is being resolved.
    pub(crate) resolving: bool,
    /// The generic environment of the type to which the alias refers.
    pub(crate) env: Option<Rc<Env>>,
}

#[derive(Clone)]
pub(crate) struct GlobalData {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) is_let: bool,
    pub(crate) ty_expr: Option<Rc<TypeExpr>>,
    pub(crate) value: Option<Rc<Expr>>,
    /// Whether the declaration of the variable has an initial value.
    pub(crate) has_value: bool,
    pub(crate) group: Option<GroupId>,
    pub(crate) owner: Owner,
    pub(crate) file: u32,
    pub(crate) is_lazy: bool,
    pub(crate) is_shared: bool,
    pub(crate) is_prelude: bool,
    pub(crate) decl: Option<Rc<Decl>>,
    /// The function that computes the value of the variable, if a getter is required.
    pub(crate) getter: Option<FunctionId>,
    /// The function that stores a value and calls the observers, if the variable has observers.
    pub(crate) setter: Option<FunctionId>,
    pub(crate) memo: GlobalMemo,
}

/// The memoized results of queries about a global variable.
#[derive(Clone, Default)]
pub(crate) struct GlobalMemo {
    pub(crate) ty: Option<Type>,
    /// Whether the type of the variable is being inferred.
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
    /// The type to which the alias refers with these arguments.
    pub(crate) whole: Type,
    pub(crate) env: Rc<Env>,
    pub(crate) span: Span,
}

/// The storage of an observed property or variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Observed {
    /// The value is stored in a stored property of a type, given by its index.
    Stored(NominalId, u32),
    /// The value is stored in a variable at the top level, or in a static property.
    Global(GlobalId),
    /// The value has no storage: it is returned by a function and stored elsewhere.
    Result(FunctionId),
}

/// The properties of a property wrapper that follow from its declaration.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    /// The number of the wrapper's generic parameters.
    pub(crate) params: usize,
    /// Whether the wrapper has `init(wrappedValue:)`, and whether the wrapper has an initializer that can be called
    /// without arguments.
    pub(crate) takes_value: bool,
    /// Whether `init(wrappedValue:)` takes the value as an autoclosure.
    pub(crate) defers_value: bool,
    pub(crate) takes_nothing: bool,
    /// Whether the wrapper has an initializer whose first parameter is not the wrapped value.
    pub(crate) takes_other: bool,
    /// The ways in which `wrappedValue` and `projectedValue` can be accessed.
    pub(crate) value: Accessible,
    pub(crate) projected: Option<Accessible>,
}

/// The way in which a property is wrapped, which is stored with the property's storage.
#[derive(Clone, Debug)]
pub(crate) struct Wrapped {
    /// The name of the property that is wrapped.
    pub(crate) name: Name,
    /// The function that creates the wrapper from the wrapped value.
    pub(crate) wrap: Option<FunctionId>,
    /// The function that computes the initial wrapped value.
    pub(crate) initial: Option<FunctionId>,
    /// The function that returns the argument of the memberwise initializer if none is given: the initial wrapped value,
    /// or a function that computes it.
    pub(crate) default: Option<FunctionId>,
    /// The number of wrappers around the value.
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
    /// The default argument is not checked yet: the function, and the index of its parameter.
    Unknown(FunctionId, usize),
    /// The default argument determines the generic parameter.
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
    /// The constraints of the opaque type, as an existential.
    pub(crate) bounds: Type,
    /// The underlying type of the opaque type, in terms of `params`.
    pub(crate) underlying: Option<Type>,
}

/// The entry in `synthesized` for a tangent vector.
pub(crate) const VECTOR: &str = "a tangent vector";
