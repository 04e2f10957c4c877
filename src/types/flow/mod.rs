//! Flow analysis: checks the order of events in a body. The analysis covers definite initialization of variables and
//! constants, missing returns, unreachable statements, infinite recursion, exclusivity of accesses, handling of errors,
//! and unused values.
//!
//! In: a body without type errors. Out: diagnostics.
//!
//! Method: one walk over the tree in the order of execution carries a [`State`] for each path that is still open and
//! joins the states where paths meet. A loop is walked once; the effect of its back edge is computed when the loop
//! ends.
//!
//! Promises: an error is reported only if some path in the source leads to it. Warnings are only for the program, not
//! for the library, and only if they are certain.
//! Not here: effects that depend on values known only at run time.

pub(crate) mod closure_exclusivity;
pub(crate) mod data_flow;
pub(crate) mod dynamic_self_result;
pub(crate) mod error_handling;
pub(crate) mod exclusivity;
mod exits;
mod expressions;
mod flow_state;
pub(crate) mod global_dependencies;
pub(crate) mod initialization;
mod places;
mod returns;
mod statements;
mod tracked_variables;
mod unused_values;
mod usage;

use crate::source::Span;
use crate::types::model::declaration_tables::{BodyState, FunctionKind};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{Body, Capture, FunctionId, GlobalId, LocalId, Pattern, Place, Stmt, StmtKind};
use exits::Scope;
use flow_state::State;
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;
use tracked_variables::Variables;
use usage::Usage;

pub(super) use crate::types::flow::global_dependencies::check_circles;

/// Checks a function's body and the closures and local functions inside it.
pub(super) fn check(cx: &mut TypeContext, function: FunctionId, body: &Body) {
    let globals = match cx.defs.function_data(function).kind {
        FunctionKind::Script => cx.module.script_globals.clone(),
        _ => 0..0,
    };
    let mut flow = Flow::new(cx, function, body);
    for global in globals {
        flow.follow_global(GlobalId(global));
    }
    flow.run();
}

/// The state of the walk over one body.
struct Flow<'b, 'w> {
    cx: &'w mut TypeContext,
    function: FunctionId,
    body: &'b Body,
    /// Whether warnings and errors about unhandled errors are reported; false for code of the library.
    warns: bool,
    variables: Variables,
    /// The state at the current point of the body.
    state: State,
    /// The enclosing scopes, the innermost scope last.
    scopes: Vec<Scope<'b>>,
    /// The assignments to constants, with their source locations; a loop examines the assignments in its body.
    settings: Vec<(u32, Span)>,
    /// The variable that an initializer initializes.
    filled: Option<LocalId>,
    /// The number of the part that represents the required call of another initializer, which is tracked like a
    /// property.
    led_to: Option<u32>,
    /// The variables that local functions capture, and whose declarations follow.
    upcoming: HashSet<LocalId>,
    /// The local functions declared in the enclosing scopes, with their captures.
    local_functions: HashMap<FunctionId, Rc<[Capture]>>,
    /// The variables that the functions called by the script read on every path.
    reads: HashMap<FunctionId, Option<Rc<[crate::types::flow::global_dependencies::GlobalRead]>>>,
    /// Whether the entry of a function in `reads` was queried while it was being computed.
    reads_in_cycles: bool,
    usage: Usage,
    /// The source location of the first call of the function itself.
    calls_itself: Option<Span>,
    /// The enclosing optional chains that modify their base in place: the variable bound to the unwrapped value, and
    /// the place of the base.
    chained: Vec<(LocalId, &'b Place)>,
    /// The number of enclosing `try` expressions.
    tried: u32,
    /// The number of expressions visited that may throw.
    thrown: u32,
    /// The number of throwing expressions without a `try`, each of which is reported.
    unmarked: u32,
    /// Whether the body is the version of a rethrowing function for arguments that do not throw. The handling of errors
    /// is checked in the throwing version.
    throws_elsewhere: bool,
    /// Whether the walk is in a `catch` that is unreachable in the version of a rethrowing function that is checked.
    is_never_caught: bool,
    /// The span of the enclosing operators with their operands. A missing `try` is inserted before this span.
    operation: Option<Span>,
    /// Whether some path ends without a call of the function itself.
    escapes: bool,
    /// The source location of the last call that never returns.
    never: Option<Span>,
    /// Whether the body is that of a closure or local function.
    is_inner: bool,
    /// Whether the walk is inside a place whose access has been noted.
    is_on_path: bool,
    /// The places that the body accesses.
    accesses: Vec<Place>,
    /// The functions that the body calls.
    called_inside: Vec<FunctionId>,
    /// The places in variables of this body and in global variables that closures and local functions access, by
    /// function.
    accesses_of: HashMap<FunctionId, Rc<[Place]>>,
    /// The variables that are `inout` parameters, or captured `inout` parameters.
    inouts: HashSet<LocalId>,
}

impl<'b, 'w> Flow<'b, 'w> {
    fn new(cx: &'w mut TypeContext, function: FunctionId, body: &'b Body) -> Flow<'b, 'w> {
        let data = cx.defs.function_data(function);
        let (warns, throws_elsewhere) = (!data.is_prelude, data.rethrows && !data.throws);
        Flow {
            cx,
            function,
            body,
            warns,
            variables: Variables::default(),
            state: State::start(),
            scopes: vec![],
            settings: vec![],
            filled: None,
            led_to: None,
            upcoming: HashSet::new(),
            local_functions: HashMap::new(),
            reads: HashMap::new(),
            reads_in_cycles: false,
            usage: Usage::of(body),
            calls_itself: None,
            chained: vec![],
            tried: 0,
            thrown: 0,
            unmarked: 0,
            throws_elsewhere,
            is_never_caught: false,
            operation: None,
            escapes: false,
            never: None,
            is_inner: false,
            is_on_path: false,
            accesses: vec![],
            called_inside: vec![],
            accesses_of: HashMap::new(),
            inouts: (0..body.params as u32).map(LocalId).filter(|l| body.locals[l.0 as usize].is_inout).collect(),
        }
    }

    fn run(&mut self) {
        self.begin_instance();
        self.block(&self.body.statements);
        self.check_result();
        dynamic_self_result::check_own_result(self.cx, self.function, self.body);
        if self.warns {
            self.warn_of_recursion();
            self.warn_of_unused_variables();
        }
    }

    /// Checks the body of a closure or local function and adds the uses of captured variables to those of this body.
    /// Returns the captures of the function and the global variables that it reads.
    fn inner(&mut self, function: FunctionId) -> (Rc<[Capture]>, HashSet<GlobalId>) {
        let BodyState::Checked(body) = self.cx.defs.function_data(function).memo.body.clone() else {
            return (Rc::from([]), HashSet::new());
        };
        let throws_elsewhere = self.throws_elsewhere;
        let mut inner = Flow::new(self.cx, function, &body);
        inner.throws_elsewhere |= throws_elsewhere;
        inner.is_inner = true;
        let is_inout = |c: &&Capture| self.inouts.contains(&c.outer);
        inner.inouts.extend(body.captures.iter().filter(is_inout).map(|c| c.inner));
        inner.run();
        let (accesses, called) = (std::mem::take(&mut inner.accesses), std::mem::take(&mut inner.called_inside));
        // With the missing `try`, the closure itself would throw errors.
        let unmarked = inner.unmarked;
        self.thrown += unmarked;
        let mut usage = std::mem::take(&mut inner.usage);
        for capture in &body.captures {
            self.usage.include(capture.outer, &usage, capture.inner);
        }
        let accesses = self.accesses_outside(&body, accesses, called);
        if self.is_inner {
            self.accesses.extend(accesses.iter().cloned());
        }
        self.accesses_of.insert(function, accesses);
        let globals = std::mem::take(&mut usage.globals);
        self.usage.globals.extend(&globals);
        (body.captures.clone().into(), globals)
    }

    /// Enters the local functions of a block, which may be called before their declarations.
    fn enter_functions(&mut self, statements: &[Stmt]) {
        let mut captured = HashSet::new();
        for s in statements {
            if let StmtKind::LocalFunction(f) = &s.kind
                && let BodyState::Checked(body) = &self.cx.defs.function_data(*f).memo.body
            {
                captured.extend(body.captures.iter().map(|capture| capture.outer));
                self.local_functions.insert(*f, body.captures.clone().into());
            }
        }
        if captured.is_empty() {
            return;
        }
        for s in statements {
            if let StmtKind::Let { pattern, .. } = &s.kind {
                self.upcoming.extend(pattern.bound().into_iter().filter(|local| captured.contains(local)));
            }
        }
    }

    /// Records that the variables of a pattern are declared.
    fn reach_declaration(&mut self, pattern: &Pattern) {
        if !self.upcoming.is_empty() {
            for local in pattern.bound() {
                self.upcoming.remove(&local);
            }
        }
    }
}
