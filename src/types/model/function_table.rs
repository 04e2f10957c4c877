//! Function tables: defines the entries of functions in a
//! [`TypeContext`](crate::types::model::type_context::TypeContext).

use crate::source::Span;
use crate::syntax::ast::{Block, Decl, Expr, Generics, LazyBlock, Name, Param, TypeExpr};
use crate::types::model::declaration_info::{Function, RegisteredKind};
use crate::types::model::declaration_tables::{Env, GroupId, Named, Owner};
use crate::types::model::differentiability::Differentiability;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::typed_tree::{Body, FunctionId};
use hashbrown::HashMap;
use std::rc::Rc;

/// The source of a function's body.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// The body is the block of a `func`, `init` or accessor.
    Block(Option<LazyBlock>),
    /// The body is a single expression: a formula, a default argument, an initial value.
    Expression(Rc<Expr>),
    /// The function is the memberwise initializer of a struct.
    Memberwise(NominalId),
    /// The function is a closure or local function, whose body is checked as a part of the enclosing body.
    Elsewhere,
    /// The body consists of the top-level statements of the files.
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
    /// The function is a test block.
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
    /// Whether the function throws only the errors that its function arguments throw.
    pub(crate) rethrows: bool,
    /// Whether the result of the function is a function that throws the errors of a function argument.
    pub(crate) gives_throwing: bool,
    pub(crate) code: Code,
    pub(crate) span: Span,
    /// The derivatives and transposes that are registered for the function, the most specific first.
    pub(crate) registered: Vec<Registered>,
    /// The setter that corresponds to a getter.
    pub(crate) setter: Option<FunctionId>,
    pub(crate) primitive: Option<Name>,
    pub(crate) is_opaque: bool,
    pub(crate) fixity: Option<crate::syntax::ast::Fixity>,
    /// The requirement of a protocol that the function declares.
    pub(crate) requirement: Option<(ProtocolId, u32)>,
    /// The generic environment of a local function.
    pub(crate) outer: Option<Rc<Env>>,
    /// The types that are declared in the enclosing bodies of a local function.
    pub(crate) local_types: Option<Rc<HashMap<Name, Named>>>,
    /// The property of which the function is an observer or the observing setter: its body accesses the property
    /// directly.
    pub(crate) observed: Option<crate::types::model::declaration_tables::Observed>,
    /// The index of the field that the function reads, if it is the getter of a stored property without observers.
    pub(crate) reads: Option<u32>,
    pub(crate) memo: FunctionMemo,
}

impl FunctionData {
    /// Returns the body of a function that declares no result type.
    pub(crate) fn body_without_result(&self) -> Option<&Block> {
        match &self.code {
            Code::Block(Some(body)) if self.kind == FunctionKind::Function && self.ast_result.is_none() => Some(body),
            _ => None,
        }
    }
}

/// The memoized answers of queries about a function.
#[derive(Clone, Default)]
pub(crate) struct FunctionMemo {
    pub(crate) signature: Option<Rc<Signature>>,
    /// Whether the signature of the function is being inferred.
    pub(crate) resolving: bool,
    pub(crate) body: BodyState,
    /// The differentiability that `@differentiable` on the function states.
    pub(crate) differentiability: Option<Option<Rc<Differentiability>>>,
    /// The function in the form that later stages read.
    pub(crate) info: Option<Rc<Function>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum BodyState {
    #[default]
    None,
    Checking,
    Checked(Rc<Body>),
    Failed,
}

/// The types of a function's parameters and result.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) env: Rc<Env>,
    /// The parameters of the function without `self`.
    pub(crate) params: Vec<SignatureParam>,
    pub(crate) self_type: Option<Type>,
    pub(crate) self_inout: bool,
    pub(crate) result: Type,
    pub(crate) throws: bool,
}

/// A function that is registered as a derivative or transpose of another function.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) function: FunctionId,
    /// The generic arguments of the original, in terms of the registered function's generic parameters.
    pub(crate) arguments: Vec<Type>,
    /// The parameters of the original with respect to which the registered function differentiates, one flag per
    /// parameter.
    pub(crate) wrt: Vec<bool>,
    pub(crate) kind: RegisteredKind,
    /// Whether the registered derivative deliberately differs from the true derivative.
    pub(crate) differs: bool,
    /// The function that is called instead of the original before an adjoint is computed, and that returns intermediate
    /// values.
    pub(crate) primal: Option<FunctionId>,
    /// The only file in which a private registration applies.
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

/// Returns a function entry without a body, whose fields the caller fills in.
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
        registered: vec![],
        setter: None,
        primitive: None,
        is_opaque: false,
        fixity: None,
        requirement: None,
        outer: None,
        local_types: None,
        observed: None,
        reads: None,
        memo: FunctionMemo::default(),
    }
}
