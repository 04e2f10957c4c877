//! The entries of functions in the tables behind a [`World`](super::store::World).

use super::promise::Promise;
use super::store::{Env, GroupId, Named, Owner};
use super::tree::{Body, FunctionId};
use super::ty::{NominalId, ProtocolId, Type};
use super::world::{Function, RegisteredKind};
use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, Generics, LazyBlock, Name, Param, TypeExpr};
use hashbrown::HashMap;
use std::rc::Rc;

/// What a function is made from.
#[derive(Clone, Debug)]
pub(super) enum Code {
    /// A `func`, `init` or accessor with a block.
    Block(Option<LazyBlock>),
    /// A single expression: a formula, a default argument, an initial value.
    Expression(Rc<Expr>),
    /// The memberwise initialiser of a struct.
    Memberwise(NominalId),
    /// A closure or local function, whose body is made where it stands.
    Elsewhere,
    /// The top-level statements of the files.
    Script(Rc<Vec<(u32, crate::syntax::ast::Stmt)>>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FunctionKind {
    Function,
    Init {
        failable: bool,
    },
    Getter,
    Setter,
    Closure,
    Script,
    /// A test block.
    Test,
}

#[derive(Clone)]
pub(super) struct FunctionData {
    pub(super) base_name: Name,
    pub(super) kind: FunctionKind,
    pub(super) is_static: bool,
    pub(super) is_mutating: bool,
    pub(super) owner: Owner,
    pub(super) group: Option<GroupId>,
    pub(super) file: u32,
    pub(super) is_prelude: bool,
    pub(super) decl: Option<Rc<Decl>>,
    pub(super) generics: Generics,
    pub(super) ast_params: Rc<[Param]>,
    pub(super) ast_result: Option<Rc<TypeExpr>>,
    pub(super) throws: bool,
    /// Whether it throws what the functions throw that it is given, and nothing else.
    pub(super) rethrows: bool,
    /// It gives a function that throws what a function throws that it is given.
    pub(super) gives_throwing: bool,
    pub(super) code: Code,
    pub(super) span: Span,
    pub(super) signature: Option<Rc<Signature>>,
    pub(super) resolving: bool,
    pub(super) body: BodyState,
    /// What was registered for it, the most specific first.
    pub(super) registered: Vec<Registered>,
    /// What `@differentiable` on it promises, once that was asked.
    pub(super) promise: Option<Option<Rc<Promise>>>,
    pub(super) info: Option<Rc<Function>>,
    /// The setter that belongs to a getter.
    pub(super) setter: Option<FunctionId>,
    pub(super) primitive: Option<Name>,
    pub(super) is_opaque: bool,
    pub(super) fixity: Option<crate::syntax::ast::Fixity>,
    /// Requirement of a protocol that it declares.
    pub(super) requirement: Option<(ProtocolId, u32)>,
    /// For a local function: its generic surroundings.
    pub(super) outer: Option<Rc<Env>>,
    /// For a local function: the types that are declared in the bodies around it.
    pub(super) local_types: Option<Rc<HashMap<Name, Named>>>,
    /// For an observer and its setter: what is observed, and accessed here as it is stored.
    pub(super) observed: Option<super::observe::Observed>,
    /// For the getter of a stored property that nobody observes: which field of its type it reads.
    pub(super) reads: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) enum BodyState {
    None,
    Checking,
    Checked(Rc<Body>),
    Failed,
}

/// A function's types.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) env: Rc<Env>,
    /// `self` apart.
    pub(super) params: Vec<SignatureParam>,
    pub(super) self_type: Option<Type>,
    pub(super) self_inout: bool,
    pub(super) result: Type,
    pub(super) throws: bool,
}

/// A function that was registered as derivative or transpose of another one.
#[derive(Clone, Debug)]
pub(super) struct Registered {
    pub(super) function: FunctionId,
    /// What each generic parameter of the original is to the registered function.
    pub(super) arguments: Vec<Type>,
    /// Which parameters of the original it is about, one flag each.
    pub(super) wrt: Vec<bool>,
    pub(super) kind: RegisteredKind,
    /// It is meant to be another one than the derivative.
    pub(super) differs: bool,
    /// What is called instead of the original, and gives an adjoint checkpoints.
    pub(super) primal: Option<FunctionId>,
    /// The one file where it counts, if it is private.
    pub(super) visible_in: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct SignatureParam {
    pub(super) label: Option<Name>,
    pub(super) name: Name,
    pub(super) ty: Type,
    pub(super) is_inout: bool,
    pub(super) variadic: bool,
    pub(super) autoclosure: bool,
    pub(super) default: Option<FunctionId>,
    pub(super) span: Span,
}

/// An empty function entry to be filled in.
pub(super) fn blank_function(name: &Name, span: Span, file: u32, is_prelude: bool) -> FunctionData {
    FunctionData {
        base_name: name.clone(),
        kind: FunctionKind::Function,
        is_static: false,
        is_mutating: false,
        owner: Owner::Module,
        group: None,
        file,
        is_prelude,
        decl: None,
        generics: Generics::default(),
        ast_params: Rc::from([]),
        ast_result: None,
        throws: false,
        rethrows: false,
        gives_throwing: false,
        code: Code::Block(None),
        span,
        signature: None,
        resolving: false,
        body: BodyState::None,
        registered: vec![],
        promise: None,
        info: None,
        setter: None,
        primitive: None,
        is_opaque: false,
        fixity: None,
        requirement: None,
        outer: None,
        local_types: None,
        observed: None,
        reads: None,
    }
}
