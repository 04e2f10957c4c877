//! Questions about the order in which things happen in a body: is a variable set before it is read, is a constant set
//! once, does every path give a value, which statements are never reached, does a function call itself on every path,
//! does a call change one variable in two ways; and what is left unused.
//!
//! In: a body without type errors. Out: diagnostics.
//!
//! The way: one walk over the tree in the order of execution carries a [`State`] along, one for each path that is still
//! open, and joins them where paths meet. A loop is walked once: what its back edge adds is accounted for when it ends.
//!
//! Promises: an error is reported only where some path of the text leads to it; warnings are for the user's own texts
//! alone, and only where they are certain.
//! Not here: what a program does with values that are known only while it runs.

pub(crate) mod captured_access;
pub(crate) mod data_flow;
pub(crate) mod dynamic_self_result;
pub(crate) mod exclusivity;
mod exits;
mod expressions;
pub(crate) mod global_dependencies;
pub(crate) mod initialization;
mod places;
mod returns;
mod state;
mod statements;
pub(crate) mod throws;
mod unused;
mod usage;
mod variables;

use crate::source::Span;
use crate::types::model::context::TypeContext;
use crate::types::model::tables::{BodyState, FunctionKind};
use crate::types::model::tree::{Body, Capture, FunctionId, GlobalId, LocalId, Place, Stmt};
use exits::Scope;
use hashbrown::{HashMap, HashSet};
use state::State;
use std::rc::Rc;
use usage::Usage;
use variables::Variables;

pub(super) use crate::types::flow::global_dependencies::check_circles;

/// Looks at a function's body, and at the closures and local functions inside it.
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

/// The walk through one body.
struct Flow<'b, 'w> {
    cx: &'w mut TypeContext,
    function: FunctionId,
    body: &'b Body,
    /// Whether warnings are wanted: not for the library.
    warns: bool,
    variables: Variables,
    /// Where the walk is.
    state: State,
    /// What surrounds it, the innermost last.
    scopes: Vec<Scope<'b>>,
    /// Constants that were set, where; so that a loop can find its own.
    settings: Vec<(u32, Span)>,
    /// The variable that an initializer fills.
    filled: Option<LocalId>,
    /// The call of another initializer that must come, followed like a property.
    led_to: Option<u32>,
    /// Local functions that are declared around here, with what they capture.
    local_functions: HashMap<FunctionId, Rc<[Capture]>>,
    /// What the functions that the script calls read in any case.
    needs: HashMap<FunctionId, Option<Rc<[crate::types::flow::global_dependencies::Need]>>>,
    /// Whether one of them was asked for while it was looked at.
    needs_in_circles: bool,
    usage: Usage,
    /// The first call of the function itself.
    calls_itself: Option<Span>,
    /// The optional chains around that change what they find: the variable that stands for it, and where it is.
    chained: Vec<(LocalId, &'b Place)>,
    /// How many `try` are around.
    tried: u32,
    /// How many places were seen from which an error may come.
    thrown: u32,
    /// How many of them lack their `try`, which was reported.
    unmarked: u32,
    /// Whether it is the version of a function that is given nothing that throws: its text is looked at in the other one.
    throws_elsewhere: bool,
    /// Whether it handles errors of which there are none in this version.
    is_never_caught: bool,
    /// The operators around an operand, as a whole: a `try` stands before all of it.
    operation: Option<Span>,
    /// Whether a path ends without such a call.
    escapes: bool,
    /// The last call that never returned.
    never: Option<Span>,
    /// Whether it is the body of a closure or local function.
    is_inner: bool,
    /// Whether the walk is on its way to a part of a place that was noted.
    is_on_way: bool,
    /// What it accesses, where it is.
    accesses: Vec<Place>,
    /// The functions that it calls.
    called_inside: Vec<FunctionId>,
    /// What the closures and local functions in it access of its variables and of global ones.
    accesses_of: HashMap<FunctionId, Rc<[Place]>>,
    /// The variables that are `inout` parameters, or captured ones.
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
            local_functions: HashMap::new(),
            needs: HashMap::new(),
            needs_in_circles: false,
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
            is_on_way: false,
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

    /// Looks at the body of a closure or local function; what it does with captured variables is done with them here.
    /// Gives what it captures, and which global variables it reads.
    fn inner(&mut self, function: FunctionId) -> (Rc<[Capture]>, HashSet<GlobalId>) {
        let BodyState::Checked(body) = self.cx.defs.function_data(function).body.clone() else {
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
        // With its `try`, the closure would throw.
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

    /// Enters the local functions of a block, which may be called before the place where they stand.
    fn enter_functions(&mut self, statements: &[Stmt]) {
        for s in statements {
            if let crate::types::model::tree::StmtKind::LocalFunction(f) = &s.kind
                && let BodyState::Checked(body) = &self.cx.defs.function_data(*f).body
            {
                self.local_functions.insert(*f, body.captures.clone().into());
            }
        }
    }
}
