//! The entries of functions in the tables behind a [`TypeContext`](crate::types::model::context::TypeContext).

use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, Generics, LazyBlock, Name, Param, TypeExpr};
use crate::types::model::declared::{Function, RegisteredKind};
use crate::types::model::differentiability::Promise;
use crate::types::model::tables::{Env, GroupId, Named, Owner};
use crate::types::model::tree::{Body, FunctionId};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use hashbrown::HashMap;
use std::rc::Rc;

/// What a function is made from.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// A `func`, `init` or accessor with a block.
    Block(Option<LazyBlock>),
    /// A single expression: a formula, a default argument, an initial value.
    Expression(Rc<Expr>),
    /// The memberwise initializer of a struct.
    Memberwise(NominalId),
    /// A closure or local function, whose body is made where it stands.
    Elsewhere,
    /// The top-level statements of the files.
    Script(Rc<Vec<(u32, crate::syntax::ast::Stmt)>>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FunctionKind {
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
pub(crate) struct FunctionData {
    pub(crate) base_name: Name,
    pub(crate) kind: FunctionKind,
    pub(crate) is_static: bool,
    pub(crate) is_mutating: bool,
    pub(crate) owner: Owner,
    pub(crate) group: Option<GroupId>,
    pub(crate) file: u32,
    pub(crate) is_prelude: bool,
    pub(crate) decl: Option<Rc<Decl>>,
    pub(crate) generics: Generics,
    pub(crate) ast_params: Rc<[Param]>,
    pub(crate) ast_result: Option<Rc<TypeExpr>>,
    pub(crate) throws: bool,
    /// Whether it throws what the functions throw that it is given, and nothing else.
    pub(crate) rethrows: bool,
    /// It gives a function that throws what a function throws that it is given.
    pub(crate) gives_throwing: bool,
    pub(crate) code: Code,
    pub(crate) span: Span,
    pub(crate) signature: Option<Rc<Signature>>,
    pub(crate) resolving: bool,
    pub(crate) body: BodyState,
    /// What was registered for it, the most specific first.
    pub(crate) registered: Vec<Registered>,
    /// What `@differentiable` on it promises, once that was asked.
    pub(crate) promise: Option<Option<Rc<Promise>>>,
    pub(crate) info: Option<Rc<Function>>,
    /// The setter that belongs to a getter.
    pub(crate) setter: Option<FunctionId>,
    pub(crate) primitive: Option<Name>,
    pub(crate) is_opaque: bool,
    pub(crate) fixity: Option<crate::syntax::ast::Fixity>,
    /// Requirement of a protocol that it declares.
    pub(crate) requirement: Option<(ProtocolId, u32)>,
    /// For a local function: its generic environment.
    pub(crate) outer: Option<Rc<Env>>,
    /// For a local function: the types that are declared in the bodies around it.
    pub(crate) local_types: Option<Rc<HashMap<Name, Named>>>,
    /// For an observer and its setter: what is observed, and accessed here as it is stored.
    pub(crate) observed: Option<crate::types::model::tables::Observed>,
    /// For the getter of a stored property that nobody observes: which field of its type it reads.
    pub(crate) reads: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) enum BodyState {
    None,
    Checking,
    Checked(Rc<Body>),
    Failed,
}

/// A function's types.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) env: Rc<Env>,
    /// `self` apart.
    pub(crate) params: Vec<SignatureParam>,
    pub(crate) self_type: Option<Type>,
    pub(crate) self_inout: bool,
    pub(crate) result: Type,
    pub(crate) throws: bool,
}

/// A function that was registered as derivative or transpose of another one.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) function: FunctionId,
    /// What each generic parameter of the original is to the registered function.
    pub(crate) arguments: Vec<Type>,
    /// Which parameters of the original it is about, one flag each.
    pub(crate) wrt: Vec<bool>,
    pub(crate) kind: RegisteredKind,
    /// It is meant to be another one than the derivative.
    pub(crate) differs: bool,
    /// What is called instead of the original, and gives an adjoint checkpoints.
    pub(crate) primal: Option<FunctionId>,
    /// The one file where it counts, if it is private.
    pub(crate) visible_in: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct SignatureParam {
    pub(crate) label: Option<Name>,
    pub(crate) name: Name,
    pub(crate) ty: Type,
    pub(crate) is_inout: bool,
    pub(crate) variadic: bool,
    pub(crate) autoclosure: bool,
    pub(crate) default: Option<FunctionId>,
    pub(crate) span: Span,
}

/// An empty function entry to be filled in.
pub(crate) fn blank_function(name: &Name, span: Span, file: u32, is_prelude: bool) -> FunctionData {
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
