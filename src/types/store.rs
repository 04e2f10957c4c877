//! The tables behind a [`World`]: what was entered, and how far each entry has been worked out.

use super::copy_on_write::CopyOnWrite;
pub(super) use super::function_data::{
    BodyState, Code, FunctionData, FunctionKind, Registered, Signature, SignatureParam, blank_function,
};
use super::tree::{FunctionId, GlobalId};
use super::ty::{NominalId, ParamId, ProtocolId, Type};
use super::world::{Builtin, EnumCase, Nominal, Stored};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, Generics, Name, NominalKind, Requirement as AstRequirement, TypeExpr};
use crate::types::lifetime::ownership;
use hashbrown::HashMap;
use std::rc::Rc;

/// A group of members that were declared together: the body of a type, or an extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct GroupId(pub u32);

/// A type alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct AliasId(pub u32);

/// Everything that is declared in a session.
#[derive(Clone, Default)]
pub struct World {
    /// What was found wrong so far; taken by the session.
    pub diagnostics: Vec<Diagnostic>,
    /// For each place the numbers of the diagnostics about it, so that nothing is said twice.
    pub(super) said: HashMap<Span, Vec<usize>>,
    // The prompt keeps a copy of everything for an input that fails, and most entries are the same in both.
    pub(super) nominals: Vec<CopyOnWrite<NominalData>>,
    pub(super) protocols: Vec<CopyOnWrite<ProtocolData>>,
    pub(super) params: Vec<ParamData>,
    pub(super) functions: Vec<CopyOnWrite<FunctionData>>,
    /// Of functions that rethrow: see [`World::throwing_version`].
    pub(super) throwing_versions: HashMap<FunctionId, FunctionId>,
    /// Of initialisers that do not fail: see [`World::failable_version`].
    pub(super) failable_versions: HashMap<FunctionId, FunctionId>,
    /// The default values of parts of cases.
    pub(super) case_defaults: HashMap<(NominalId, u32, usize), FunctionId>,
    /// Default arguments that may say what a generic parameter is.
    pub(super) open_defaults: HashMap<FunctionId, super::infer::default::OpenDefault>,
    pub(super) globals: Vec<GlobalData>,
    /// The global that a name at a place of a script declares.
    pub(super) globals_at: HashMap<(Name, Span), GlobalId>,
    pub(super) aliases: Vec<AliasData>,
    pub(super) opaques: super::opaque::Opaques,
    pub(super) groups: Vec<Group>,
    /// Names at the top level of the user's files.
    pub(super) module: HashMap<Name, Vec<Entry>>,
    /// What names stood for before the text that is being checked declared them again (at the prompt): the initial value of
    /// a variable still sees it.
    pub(super) earlier: HashMap<Name, Vec<Entry>>,
    /// Names at the top level of the prelude, as far as they were loaded.
    pub(super) library: HashMap<Name, Vec<Entry>>,
    pub(super) prelude: CopyOnWrite<super::prelude::Prelude>,
    /// Types that synthesized code has numbered names for ([`World::name_for`]).
    pub(super) synthesized_types: Vec<Type>,
    /// Operators that are declared, for synthesized code and later inputs.
    pub(super) operators: crate::syntax::OperatorTable,
    /// Names of nominals and protocols of the prelude that the checker itself needs.
    pub(super) known: HashMap<&'static str, Entry>,
    /// The file that is being entered.
    pub(super) files: u32,
    /// Whether later inputs may declare a name again (at the prompt).
    pub is_interactive: bool,
    /// The generic surroundings of what is being looked at.
    pub(super) env: Rc<Env>,
    pub(super) vars: super::solver::Vars,
    /// Registered derivatives whose original was not looked up yet: the attribute's declaration and the function.
    pub(super) registrations: Vec<(Rc<Decl>, FunctionId)>,
    /// Functions that became functions of C, and where: they may capture nothing.
    pub(super) c_functions: Vec<(FunctionId, Span)>,
    /// Whether any registration counts in one file only, and whether any is for a requirement of a protocol.
    pub(super) has_private_rules: bool,
    /// Whether anything is done when an instance goes away.
    pub(super) sees_ends: bool,
    pub(super) registers_for_requirements: bool,
    /// The names of the parameters of closures that are kept in global variables, for `∂(f, x)`.
    pub(super) closure_names: HashMap<GlobalId, Vec<Name>>,
    /// Whether the value of the script's last expression is asked for, and its type when there is one.
    pub(super) wants_value: bool,
    pub(super) script_result: Option<Type>,
    /// The global variables that the script which is being checked declares.
    pub(super) script_globals: std::ops::Range<u32>,
    /// What a class puts in the place of a method that it inherits, and which methods are overridden anywhere.
    pub(super) overrides: HashMap<(FunctionId, NominalId), FunctionId>,
    pub(super) overridden: hashbrown::HashSet<FunctionId>,
    /// The texts, for what messages quote.
    pub(super) texts: Vec<(u32, Rc<str>)>,
    /// What they are called: the first position and the name of each.
    pub(super) text_names: Vec<(u32, Rc<str>)>,
    /// The generic surroundings of the function that declares the type which is being entered.
    pub(super) around: Option<Rc<Env>>,
    /// Uses of generic aliases that require something of their arguments: nobody looked yet whether it holds.
    pub(super) alias_uses: Vec<super::alias::AliasUse>,
    /// What those stand for of which it was said that it does not.
    pub(super) refused_by_alias: Vec<Type>,
    /// The types that are declared as property wrappers and as result builders, by their names.
    pub(super) wrappers: HashMap<Name, super::wrapper::Wrapper>,
    pub(super) builders: hashbrown::HashSet<Name>,
    /// Where local variables and parameters are declared whose type is written as `T!`.
    pub(super) unwrapping: hashbrown::HashSet<Span>,
    /// How many declarations wait for the type of another one, and what is wrong if there are too many.
    pub(super) waiting_types: usize,
    pub(super) waiting_error: Option<Diagnostic>,
    /// What stands for the type inside of an existential.
    pub(super) inside: Option<ParamId>,
    /// Conformances that are being looked up, against endless recursion.
    pub(super) conforming: Vec<(Type, ProtocolId)>,
    /// Generic types that do not fulfil what they require themselves, and of which that was said.
    pub(super) refused: Vec<Type>,
    /// Protocols whose inheritance is being worked out, to find those that refine themselves.
    pub(super) refining: Vec<ProtocolId>,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Named {
    Function(FunctionId),
    Global(GlobalId),
    Nominal(NominalId),
    Protocol(ProtocolId),
    Alias(AliasId),
}

/// A name at the top level, and who may see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) what: Named,
    pub(super) file: u32,
    pub(super) is_private: bool,
}

/// Generic parameters with what is required of them, those of the surroundings included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Env {
    pub(super) params: Vec<ParamId>,
    pub(super) requirements: Vec<Requirement>,
    /// Where each of them is written.
    pub(super) places: Vec<Span>,
}

impl Env {
    /// Adds a requirement that is not there yet.
    pub(super) fn require(&mut self, requirement: Requirement, at: Span) {
        if !self.requirements.contains(&requirement) {
            self.requirements.push(requirement);
            self.places.push(at);
        }
    }
}

/// What is required of generic parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Requirement {
    Conforms(Type, ProtocolId),
    Same(Type, Type),
    Superclass(Type, Type),
}

impl Requirement {
    /// The same about other types.
    pub(super) fn map(&self, by: &mut dyn FnMut(&Type) -> Type) -> Requirement {
        match self {
            Requirement::Conforms(t, p) => Requirement::Conforms(by(t), *p),
            Requirement::Same(a, b) => Requirement::Same(by(a), by(b)),
            Requirement::Superclass(a, b) => Requirement::Superclass(by(a), by(b)),
        }
    }
}

#[derive(Clone)]
pub(super) struct ParamData {
    pub(super) name: Name,
}

/// Whom members belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) enum Owner {
    Module,
    Nominal(NominalId),
    Protocol(ProtocolId),
}

/// A group of members with its generic surroundings.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) owner: Owner,
    pub(super) requirements: Vec<AstRequirement>,
    pub(super) inherits: Vec<TypeExpr>,
    pub(super) file: u32,
    pub(super) is_prelude: bool,
    pub(super) env: Option<Rc<Env>>,
    pub(super) is_private: bool,
}

#[derive(Clone)]
pub(super) struct NominalData {
    pub(super) name: Name,
    pub(super) kind: NominalKind,
    pub(super) span: Span,
    pub(super) parent: Owner,
    /// The group that it is a member of.
    pub(super) outer: Option<GroupId>,
    /// Generic parameters of the types around it, then its own.
    pub(super) params: Vec<ParamId>,
    pub(super) own_params: usize,
    pub(super) generics: Generics,
    pub(super) group: GroupId,
    pub(super) groups: Vec<GroupId>,
    /// Of how many of them the conformances were entered.
    pub(super) groups_entered: usize,
    pub(super) members: HashMap<Name, Vec<Member>>,
    pub(super) stored: Vec<StoredData>,
    pub(super) cases: Vec<CaseData>,
    pub(super) conformances: Vec<Conformance>,
    /// How many of these there were when it was asked which protocols the type conforms to, and the answer.
    pub(super) protocols: Option<(usize, Rc<[ProtocolId]>)>,
    pub(super) superclass: Option<Type>,
    pub(super) raw_type: Option<Type>,
    pub(super) builtin: Option<Builtin>,
    pub(super) style: Option<Name>,
    pub(super) is_indirect: bool,
    pub(super) is_final: bool,
    /// `private`: it is the type's around it alone.
    pub(super) is_private: bool,
    /// For a type that is declared inside of a function: the types that are declared there.
    pub(super) locals: Rc<HashMap<Name, Named>>,
    /// The generic surroundings of that function.
    pub(super) around: Option<Rc<Env>>,
    /// `@dynamicMemberLookup`, `@dynamicCallable`
    pub(super) looks_up: bool,
    pub(super) answers_calls: bool,
    pub(super) is_prelude: bool,
    pub(super) file: u32,
    /// Whether it was looked at what a class overrides.
    pub(super) linked: bool,
    pub(super) info: Option<Rc<Nominal>>,
    pub(super) has_init: bool,
    /// `deinit` of a class.
    pub(super) deinit: Option<FunctionId>,
    pub(super) memberwise: Option<FunctionId>,
    /// The initialiser without parameters that a struct has beside it when all its properties have values.
    pub(super) default_init: Option<FunctionId>,
    /// Which synthesized parts were made.
    pub(super) synthesized: Vec<&'static str>,
}

#[derive(Clone)]
pub(super) struct StoredData {
    pub(super) name: Name,
    pub(super) ty: Option<Rc<TypeExpr>>,
    pub(super) value: Option<Rc<Expr>>,
    pub(super) is_let: bool,
    pub(super) no_derivative: bool,
    /// `override` is written before it.
    pub(super) overrides: bool,
    pub(super) is_final: bool,
    pub(super) decl: Rc<Decl>,
    pub(super) span: Span,
    pub(super) resolved: Option<Type>,
    pub(super) resolving: bool,
    /// Computes the initial value.
    pub(super) initial: Option<FunctionId>,
    /// Stores a value and calls the observers, if there are any.
    pub(super) setter: Option<FunctionId>,
    /// For what a `lazy` property keeps: the property's name, and what computes its value.
    pub(super) lazy: Option<(Name, FunctionId)>,
    /// For what keeps a wrapped property: how its value is wrapped.
    pub(super) wrapped: Option<super::wrapper::Wrapped>,
}

impl StoredData {
    /// A variable without type and value, for a declaration.
    pub(super) fn of(name: Name, decl: Rc<Decl>) -> StoredData {
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
pub(super) struct CaseData {
    pub(super) name: Name,
    pub(super) payload: Vec<(Option<Name>, Rc<TypeExpr>)>,
    /// What the parts are that are left out.
    pub(super) defaults: Vec<Option<Rc<crate::syntax::ast::Expr>>>,
    pub(super) span: Span,
    pub(super) has_payload: bool,
    /// The raw value, where one is written.
    pub(super) raw: Option<Rc<crate::syntax::ast::Expr>>,
}

/// A member of a type, by name.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) kind: MemberKind,
    pub(super) is_static: bool,
    pub(super) group: GroupId,
    pub(super) file: u32,
    pub(super) is_private: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum MemberKind {
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
pub(super) struct Conformance {
    pub(super) protocol: ProtocolId,
    pub(super) group: GroupId,
    pub(super) memberwise: bool,
    pub(super) types: HashMap<Name, Type>,
    pub(super) span: Span,
    pub(super) checked: bool,
}

#[derive(Clone)]
pub(super) struct ProtocolData {
    pub(super) name: Name,
    pub(super) self_param: ParamId,
    /// The associated types that `P<A>` gives.
    pub(super) primary: Vec<Name>,
    pub(super) inherits: Vec<TypeExpr>,
    pub(super) requirement_clauses: Vec<AstRequirement>,
    pub(super) group: GroupId,
    pub(super) groups: Vec<GroupId>,
    /// Its own requirements, then nothing else; those of refined protocols stay with them.
    pub(super) requirements: Vec<RequirementData>,
    pub(super) associated: Vec<AssociatedData>,
    pub(super) members: HashMap<Name, Vec<Member>>,
    pub(super) refines: Option<Rc<[ProtocolId]>>,
    /// What its `where` clauses say to be equal.
    pub(super) clauses: Option<Rc<Clauses>>,
    pub(super) file: u32,
    pub(super) is_prelude: bool,
    /// Where its name stands.
    pub(super) span: Span,
}

/// What the `where` clauses of a protocol say.
#[derive(Default, Debug)]
pub(super) struct Clauses {
    /// Types that are equal.
    pub(super) equal: Vec<(Type, Type)>,
    /// Types that conform to protocols.
    pub(super) conform: Vec<(Type, ProtocolId)>,
}

/// One requirement. Getters and setters of properties and subscripts are requirements of their own.
#[derive(Clone)]
pub(super) struct RequirementData {
    pub(super) name: Name,
    pub(super) kind: RequirementKind,
    /// Its signature, with `Self` as a generic parameter.
    pub(super) function: FunctionId,
    pub(super) is_static: bool,
    /// For a getter the requirement that is its setter.
    pub(super) setter: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RequirementKind {
    Method,
    Init,
    Getter,
    Setter,
    SubscriptGetter,
    SubscriptSetter,
}

#[derive(Clone)]
pub(super) struct AssociatedData {
    pub(super) name: Name,
    pub(super) bound: Option<TypeExpr>,
    pub(super) default: Option<TypeExpr>,
    pub(super) requirements: Vec<AstRequirement>,
    /// What the bound says, once it is resolved.
    pub(super) conforms: Option<Rc<[ProtocolId]>>,
}

#[derive(Clone)]
pub(super) struct AliasData {
    pub(super) name: Name,
    pub(super) generics: Generics,
    pub(super) params: Vec<ParamId>,
    pub(super) target: Rc<TypeExpr>,
    pub(super) group: Option<GroupId>,
    pub(super) owner: Owner,
    pub(super) file: u32,
    /// Of one that a function declares: the types and the generic parameters around it, which are not known elsewhere.
    pub(super) locals: Rc<HashMap<Name, Named>>,
    pub(super) around: Option<Rc<Env>>,
    /// The generic surroundings of its target, once it is resolved.
    pub(super) env: Option<Rc<Env>>,
    pub(super) resolved: Option<Type>,
    pub(super) resolving: bool,
    /// `private`: it is the type's around it alone.
    pub(super) is_private: bool,
    pub(super) span: Span,
}

#[derive(Clone)]
pub(super) struct GlobalData {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) is_let: bool,
    pub(super) ty: Option<Type>,
    pub(super) ty_expr: Option<Rc<TypeExpr>>,
    pub(super) value: Option<Rc<Expr>>,
    /// Whether a value is written where it is declared.
    pub(super) has_value: bool,
    pub(super) group: Option<GroupId>,
    pub(super) owner: Owner,
    pub(super) file: u32,
    pub(super) lazy: Option<FunctionId>,
    pub(super) is_lazy: bool,
    pub(super) is_shared: bool,
    pub(super) resolving: bool,
    pub(super) is_prelude: bool,
    pub(super) decl: Option<Rc<Decl>>,
    /// Gives the value, where a function is needed for it.
    pub(super) getter: Option<FunctionId>,
    /// Stores a value and calls the observers, if there are any.
    pub(super) setter: Option<FunctionId>,
}

impl World {
    pub(super) fn function_data(&self, id: FunctionId) -> &FunctionData {
        &self.functions[id.0 as usize]
    }

    pub(super) fn nominal_data(&self, id: NominalId) -> &NominalData {
        &self.nominals[id.0 as usize]
    }

    pub(super) fn nominal_data_mut(&mut self, id: NominalId) -> &mut NominalData {
        &mut self.nominals[id.0 as usize]
    }

    pub(super) fn protocol_data(&self, id: ProtocolId) -> &ProtocolData {
        &self.protocols[id.0 as usize]
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let here = self.said.entry(diagnostic.primary.span).or_default();
        // Some may have been taken back, or handed on, since.
        if here.iter().all(|i| self.diagnostics.get(*i) != Some(&diagnostic)) {
            here.push(self.diagnostics.len());
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether what was found wrong so far is so little that a further suggestion may be read: to look for a name that is
    /// close to an unknown one takes time, and of many diagnostics only the first are shown.
    pub(super) fn still_suggests(&self) -> bool {
        const ENOUGH: usize = 100;
        self.diagnostics.len() < ENOUGH
    }

    pub(super) fn new_param(&mut self, name: &Name) -> ParamId {
        self.params.push(ParamData { name: name.clone() });
        ParamId(self.params.len() as u32 - 1)
    }

    pub(super) fn add_function(&mut self, data: FunctionData) -> FunctionId {
        self.functions.push(data.into());
        FunctionId(self.functions.len() as u32 - 1)
    }

    /// `Name<P1, P2>` inside its own declaration.
    pub(super) fn declared_type(&self, id: NominalId) -> Type {
        Type::Nominal(id, self.nominal_data(id).params.iter().map(|p| Type::Param(*p)).collect())
    }

    pub(super) fn stored_info(&self, data: &StoredData, places: Vec<u32>) -> Stored {
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

    pub(super) fn case_info(&self, data: &CaseData, payload: Vec<(Option<Name>, Type)>) -> EnumCase {
        EnumCase { name: data.name.clone(), payload, span: data.span }
    }
}
