//! Inference: types the body of one function, statement by statement, with type information flowing in both directions.
//!
//! In: the syntax of a body, the types of its parameters. Out: a [`Body`] in which every type is known.
//!
//! An expression that cannot be typed at once (because of an overload, a member, or the parameters of a closure)
//! becomes a [`Pending`] entry until more is known; at the end of a statement, the remaining entries are resolved by
//! defaulting. There is no search over combinations: each choice is made once.

pub(crate) mod call;
pub(crate) mod expr;
pub(crate) mod report;
pub(crate) mod solver;
pub(crate) mod stmt;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Name};
use crate::types::generics::type_arguments;
use crate::types::generics::unification;
use crate::types::infer::solver::pending_expression::Pending;
use crate::types::model::declaration_tables::{Env, Named, Owner};
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{
    Body, Capture, Expr, ExprKind, FunctionId, GlobalId, LabelId, Local, LocalId, Stmt,
};
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The checker of one function body, with the closures and local functions inside it.
pub(super) struct Infer<'w> {
    pub(super) cx: &'w mut TypeContext,
    owner: Owner,
    file: u32,
    /// The frames of the function, its closures and its local functions. The frame of a closure is retained until the
    /// enclosing statement is resolved, because pending expressions inside it may still capture variables.
    frames: Vec<Frame>,
    current: usize,
    pending: Vec<Option<Pending>>,
    solutions: Vec<Option<Expr>>,
    /// The indices of those entries of `pending` that are unresolved.
    waiting: BTreeSet<usize>,
    /// The indices of the pending entries that are array literals, some of which may be resolved.
    array_literals: Vec<usize>,
    /// The indices of the pending entries that are being resolved: the inference of their arguments must not attempt to
    /// resolve them again.
    attempted: Vec<usize>,
    /// The bodies of closures and local functions whose types are not all inferred.
    open: Vec<OpenBody>,
    failed: bool,
    /// Whether the defaulting at the end of a statement is in progress.
    defaulting: bool,
    /// The frame in which each local function is declared, and the frames of the uses of each local function.
    local_functions: HashMap<FunctionId, usize>,
    uses: Vec<(FunctionId, Vec<usize>)>,
    /// The types in which the first names of chains like `.name.member` are looked up, by the spans of these names.
    roots: Vec<(Span, Type)>,
    /// The source locations of postfix operators.
    postfix: Vec<Span>,
    /// The variables that each enclosing block declares anywhere, with their source locations.
    upcoming: Vec<HashMap<Name, Span>>,
    /// The variables shared by the patterns of one `case`, and the variables that the current pattern has bound.
    shared: Vec<(Name, LocalId)>,
    bound: Vec<(Name, LocalId)>,
    /// The types declared inside the function.
    local_nominals: Vec<crate::types::model::ty::NominalId>,
    /// The source locations of calls whose nonconforming generic arguments have been reported.
    unmet_in: Vec<Span>,
    /// Whether operators on numbers of unknown type are resolved by defaulting.
    defaulting_numbers: bool,
    /// The variables that are modified through an optional chain, with their frames.
    mutated: Vec<(usize, LocalId)>,
    /// The types in scope that are declared inside functions.
    local_types: Rc<HashMap<Name, Named>>,
    /// The values that are returned where the result type is opaque.
    given: Vec<crate::types::generics::opaque_type::Given>,
    /// The global variables whose types contained type variables when their statements were inferred.
    open_globals: Vec<GlobalId>,
    /// Whether candidates that lack a required conformance are accepted.
    forgives: bool,
    /// Whether a quotient of integer literals is a fraction, as it is in the exponent of a floating-point number, in a
    /// formula and in an expression at the prompt.
    fractions: bool,
    /// Whether `Int`s may be converted to `Double`.
    widens: bool,
    /// Whether the expression is a literal that is the value of a variable without a stated type.
    is_initializer: bool,
    /// Whether the body is a formula, in which an integer literal is a `Double` by default.
    in_formula: bool,
    /// The expression whose value is displayed, at the prompt.
    displayed: Option<Span>,
}

/// The state of the inference of one body: the body of a function, a closure or a local function.
struct Frame {
    kind: FrameKind,
    parent: Option<usize>,
    locals: Vec<Local>,
    params: usize,
    captures: Vec<Capture>,
    scopes: Scopes,
    /// The type of the values that the `return` statements of the body return.
    result: Type,
    /// The type of the returned values whose conversion waits for those of other `return` statements.
    postponed_result: Option<Type>,
    throws: bool,
    labels: Vec<Label>,
    next_label: u32,
    /// The cases of `switch` statements that a `fallthrough` inside another statement leaves.
    left_cases: Vec<LabelId>,
    /// The anonymous parameters `$0`, `$1` … of a closure.
    anonymous: Vec<LocalId>,
    function: Option<FunctionId>,
    /// The variable `self` that an initializer initializes.
    init_self: Option<LocalId>,
    /// The number of enclosing constructs that catch errors.
    catching: u32,
    /// The number of enclosing `try`s.
    tried: u32,
    /// The types of the errors that were thrown in the enclosing `do`; `None` for an error of any type.
    thrown: Vec<Option<Type>>,
    /// The type of the errors that may be thrown here, if the enclosing `do` or the function names it.
    thrown_here: Option<Type>,
    /// Whether the current statement is inside a `defer`.
    in_defer: bool,
    /// Whether the current statement is inside an `if` or `switch` that is used as a value.
    in_value: bool,
}

/// A nested body that waits until all its types are inferred.
struct OpenBody {
    function: FunctionId,
    frame: usize,
    statements: Vec<Stmt>,
    /// The generic environment of the body.
    env: Rc<Env>,
}

/// The names in scope in one body, the innermost scope last. The scopes are shared, so that pending entries can store
/// them.
type Scopes = Vec<Rc<HashMap<Name, Binding>>>;

/// The context of a pending entry: the enclosing frames with the names in scope.
type Context = Vec<(usize, Scopes)>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FrameKind {
    Function,
    Closure,
    LocalFunction,
    /// The body is the top level of a script, whose variables are globals.
    Script,
}

#[derive(Clone, Debug)]
pub(crate) enum Binding {
    Local(LocalId),
    Functions(Vec<FunctionId>),
    /// A variable with accessors: the functions of the getter and, if there is one, of the setter.
    Computed(FunctionId, Option<FunctionId>),
}

struct Label {
    name: Option<Name>,
    id: LabelId,
    kind: LabelKind,
}

/// The kind of statement that a label names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LabelKind {
    /// `break` and `continue` without a label refer to the innermost loop.
    Loop,
    /// `break` without a label also leaves a `switch`.
    Switch,
    /// A block is only left by its label.
    Block,
    /// `fallthrough` leaves the body of a case of a `switch`.
    Case,
}

/// The local variable or function to which a name refers.
enum LocalEntity {
    Local(LocalId),
    LocalFunctions(Vec<FunctionId>),
    Computed(FunctionId, Option<FunctionId>),
}

impl<'w> Infer<'w> {
    fn new(cx: &'w mut TypeContext, owner: Owner, file: u32) -> Infer<'w> {
        let local_types = match owner {
            Owner::Nominal(n) => cx.defs.nominal_data(n).locals.clone(),
            Owner::Module | Owner::Protocol(_) => Rc::default(),
        };
        Infer {
            cx,
            owner,
            file,
            frames: vec![],
            current: 0,
            pending: vec![],
            solutions: vec![],
            waiting: BTreeSet::new(),
            array_literals: vec![],
            attempted: vec![],
            open: vec![],
            failed: false,
            defaulting: false,
            local_functions: HashMap::new(),
            uses: vec![],
            unmet_in: vec![],
            roots: vec![],
            postfix: vec![],
            upcoming: vec![],
            shared: vec![],
            bound: vec![],
            local_nominals: vec![],
            defaulting_numbers: false,
            mutated: vec![],
            given: vec![],
            open_globals: vec![],
            forgives: false,
            fractions: false,
            widens: false,
            is_initializer: false,
            in_formula: false,
            displayed: None,
            local_types,
        }
    }

    /// Runs the inference of one body, with a separate table of type variables.
    pub(super) fn run<A>(
        cx: &mut TypeContext,
        env: Rc<Env>,
        (owner, file): (Owner, u32),
        then: impl FnOnce(&mut Infer) -> A,
    ) -> A {
        type_context::with_env(cx, env, |cx| {
            type_context::with_type_vars(cx, |cx| then(&mut Infer::new(cx, owner, file)))
        })
    }

    /// Runs a part of the inference in another generic environment.
    fn with_env<A>(&mut self, env: Rc<Env>, then: impl FnOnce(&mut Self) -> A) -> A {
        let outer = std::mem::replace(&mut self.cx.scope.env, env);
        let result = then(self);
        self.cx.scope.env = outer;
        result
    }

    fn frame(&mut self) -> &mut Frame {
        &mut self.frames[self.current]
    }

    fn push_frame(&mut self, kind: FrameKind, result: Type, throws: bool, function: Option<FunctionId>) {
        let parent = (!self.frames.is_empty()).then_some(self.current);
        self.frames.push(Frame {
            kind,
            parent,
            locals: vec![],
            params: 0,
            captures: vec![],
            scopes: vec![Rc::default()],
            result,
            postponed_result: None,
            throws,
            labels: vec![],
            next_label: 0,
            left_cases: vec![],
            anonymous: vec![],
            function,
            init_self: None,
            catching: 0,
            tried: 0,
            thrown: vec![],
            thrown_here: None,
            in_defer: false,
            in_value: false,
        });
        self.current = self.frames.len() - 1;
    }

    /// Returns from the frame of a nested body to the enclosing body; the result is the index of the frame that was
    /// left.
    fn leave_frame(&mut self) -> usize {
        let left = self.current;
        self.current = self.frames[left].parent.unwrap_or(0);
        left
    }

    /// Takes the completed body out of the frame in which it was inferred.
    fn body_of(&mut self, frame: usize, statements: Vec<Stmt>) -> Body {
        let frame = &mut self.frames[frame];
        Body {
            locals: std::mem::take(&mut frame.locals),
            params: frame.params,
            captures: std::mem::take(&mut frame.captures),
            statements,
        }
    }

    /// Returns the indices of the frames from the outermost to the current one.
    fn path(&self) -> Vec<usize> {
        let mut path = vec![self.current];
        let mut at = self.current;
        while let Some(parent) = self.frames[at].parent {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        path
    }

    fn context(&self) -> Context {
        self.path().into_iter().map(|f| (f, self.frames[f].scopes.clone())).collect()
    }

    /// Runs a part of the inference in the context of a pending entry.
    fn in_context<T>(&mut self, context: &Context, run: impl FnOnce(&mut Self) -> T) -> T {
        let current = self.current;
        let saved: Context = context.iter().map(|(f, _)| (*f, self.frames[*f].scopes.clone())).collect();
        for (f, scopes) in context {
            self.frames[*f].scopes = scopes.clone();
        }
        self.current = context.last().map_or(current, |(f, _)| *f);
        let out = self.without_fractions(run);
        for (f, scopes) in saved {
            self.frames[f].scopes = scopes;
        }
        self.current = current;
        out
    }

    fn scope(&self) -> TypeScope {
        TypeScope { owner: self.owner, file: self.file, locals: self.local_types.clone(), open: true }
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.failed = true;
        self.cx.sink.report(diagnostic);
    }

    fn fail(&mut self, code: Code, span: Span, message: impl Into<String>) -> Expr {
        self.error(Diagnostic::error(code, span, message));
        self.error_expr(span)
    }

    fn error_expr(&mut self, span: Span) -> Expr {
        self.failed = true;
        Expr { kind: ExprKind::Error, ty: Type::Error, span }
    }

    /// Creates a local variable of the current body that has no name in scope.
    fn new_local(&mut self, name: &str, ty: Type, mutable: bool, span: Span) -> LocalId {
        let frame = self.frame();
        frame.locals.push(Local::new(name, ty, mutable, span));
        LocalId(frame.locals.len() as u32 - 1)
    }

    /// Creates a parameter of the current body that has no name in scope.
    fn new_param(&mut self, name: &str, ty: Type, is_inout: bool, span: Span) -> LocalId {
        let local = self.new_local(name, ty, is_inout, span);
        self.frame().locals[local.0 as usize].is_inout = is_inout;
        local
    }

    /// Brings a local variable into scope under a name.
    fn bind(&mut self, name: &Name, local: LocalId) {
        if let Some(scope) = self.frame().scopes.last_mut() {
            Rc::make_mut(scope).insert(name.clone(), Binding::Local(local));
        }
    }

    fn local_type(&mut self, local: LocalId) -> Type {
        self.frame().locals[local.0 as usize].ty.clone()
    }

    fn local_expr(&mut self, local: LocalId, span: Span) -> Expr {
        let ty = self.local_type(local);
        Expr { kind: ExprKind::Local(local), ty, span }
    }

    fn in_scope<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.frame().scopes.push(Rc::default());
        let types = self.local_types.clone();
        let out = run(self);
        self.local_types = types;
        self.frame().scopes.pop();
        out
    }

    /// Finds a variable or local function, and captures a variable that belongs to an enclosing body.
    fn find_local(&mut self, name: &str) -> Option<LocalEntity> {
        let path = self.path();
        for depth in (0..path.len()).rev() {
            let found = self.frames[path[depth]].scopes.iter().rev().find_map(|scope| scope.get(name)).cloned();
            match found {
                Some(Binding::Local(local)) => return Some(LocalEntity::Local(self.capture(&path[depth..], local))),
                Some(Binding::Functions(functions)) => return Some(LocalEntity::LocalFunctions(functions)),
                Some(Binding::Computed(get, set)) => return Some(LocalEntity::Computed(get, set)),
                None => {}
            }
        }
        None
    }

    /// Returns the local functions that a name denotes; none if it denotes a variable. Nothing is captured.
    fn local_functions_named(&mut self, name: &str) -> Vec<FunctionId> {
        let path = self.path();
        let mut scopes = path.iter().rev().flat_map(|frame| self.frames[*frame].scopes.iter().rev());
        match scopes.find_map(|scope| scope.get(name)) {
            Some(Binding::Functions(functions)) => functions.clone(),
            _ => vec![],
        }
    }

    /// Captures a variable of the outermost frame of a path in all other frames; returns the captured variable of the
    /// innermost frame.
    fn capture(&mut self, path: &[usize], mut local: LocalId) -> LocalId {
        for pair in path.windows(2) {
            let (outer, inner) = (pair[0], pair[1]);
            if let Some(known) = self.frames[inner].captures.iter().find(|c| c.outer == local) {
                local = known.inner;
                continue;
            }
            let variable = &mut self.frames[outer].locals[local.0 as usize];
            variable.captured = true;
            let copy = Local { is_inout: false, captured: false, ..variable.clone() };
            let frame = &mut self.frames[inner];
            frame.locals.push(copy);
            let captured = LocalId(frame.locals.len() as u32 - 1);
            frame.captures.push(Capture { outer: local, inner: captured });
            local = captured;
        }
        local
    }

    /// Returns the variable `self` of the enclosing method.
    fn self_local(&mut self) -> Option<LocalId> {
        match self.find_local("self") {
            Some(LocalEntity::Local(local)) => Some(local),
            _ => None,
        }
    }

    fn unit(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Tuple(vec![]), ty: Type::unit(), span }
    }

    fn resolve(&mut self, ty: &ast::TypeExpr) -> Type {
        let scope = self.scope();
        let before = self.cx.sink.diagnostics.len();
        let resolved = type_expr::resolve_type(self.cx, ty, &scope);
        type_arguments::check_arguments(self.cx, &resolved, ty.span);
        self.failed |= self.cx.sink.diagnostics.len() > before && resolved == Type::Error;
        resolved
    }

    fn bool_type(&mut self) -> Type {
        name_lookup::simple(self.cx, "Bool")
    }

    /// Creates a label for a loop, `switch` or block, which is in scope while `run` runs.
    fn labeled<T>(
        &mut self,
        name: Option<&ast::Ident>,
        kind: LabelKind,
        run: impl FnOnce(&mut Self, LabelId) -> T,
    ) -> T {
        let frame = self.frame();
        let id = LabelId(frame.next_label);
        frame.next_label += 1;
        frame.labels.push(Label { name: name.map(|n| n.name.clone()), id, kind });
        let out = run(self, id);
        self.frame().labels.pop();
        out
    }

    fn show(&mut self, ty: &Type) -> String {
        let ty = unification::resolved(self.cx, ty);
        display::show(self.cx, &ty)
    }
}
