//! Lowering: translation of checked bodies with concrete types to graphs.
//!
//! In: functions by id with concrete generic arguments, through `Declarations`. Out: graphs in a [`Program`], including
//! all reachable functions.
//!
//! Promises: each function is compiled once for each list of concrete types; calls are followed with a work list, never
//! by recursion; subexpressions of a place are evaluated once, from left to right; a value that is modified in place is
//! moved to registers first and has one owner.
//! Not here: passes over finished graphs (`passes`), derivatives (`diff`).
//!
//! One file per construct: statements and patterns in `control`, differential operators and registered derivatives in
//! `derivative`, and `expr`, `literal`, `cast`, `call`, `dispatch`, `primitive`, `function`, `closure`,
//! `global_variable`, `place`, `load`, `modification`, `exclusivity`, `effects`. `builder` has the basic operations
//! that these files use.

mod builder;
mod call;
mod cast;
mod closure;
pub(crate) mod control;
pub(crate) mod derivative;
mod description;
mod dispatch;
mod effects;
mod exclusivity;
mod expr;
mod extended_types;
mod function;
mod global_variable;
mod literal;
mod load;
mod modification;
mod place;
mod primitive;
#[cfg(test)]
mod tests;

use super::layout::Layouts;
use super::{Function, FunctionId, Program};
use crate::ir::passes::exclusivity_checks::Accesses;
use crate::source::Span;
use crate::types::model::declaration_info::Declarations;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{FunctionRef, GlobalId};
use description::Described;
use hashbrown::HashMap;
use std::rc::Rc;

/// The state of the lowering of a session: the graphs that were requested and the storage that was assigned so far.
#[derive(Clone, Default)]
pub struct Lowering {
    /// Shapes, tangents and layouts of concrete types.
    pub layouts: Layouts,
    /// The constructs that the machine does not support, with their source locations. The compiled code stops the
    /// program where it reaches such a construct.
    pub unsupported: Vec<(Span, String)>,
    functions: HashMap<Key, FunctionId>,
    globals: HashMap<GlobalId, global_variable::Storage>,
    /// The enclosing body of each closure and local function.
    parents: HashMap<typed_tree::FunctionId, typed_tree::FunctionId>,
    queue: Vec<(Key, FunctionId)>,
    dynamic: dispatch::Dynamic,
    /// The functions that were lowered since the last run of the passes.
    fresh: Vec<FunctionId>,
    interactive: bool,
    accesses: Accesses,
    described: Described,
}

/// The identity of a graph: its origin with concrete generic arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) struct Key {
    pub origin: Origin,
    pub generics: Vec<Type>,
    /// The file whose private derivatives are visible in the function.
    pub view: Option<u32>,
}

/// The origin of a graph: a function of the program, or a function that lowering generates.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) enum Origin {
    /// A function of the program; the graph reads its captured values, if any, from its function object.
    Function(typed_tree::FunctionId),
    /// A local function that is called directly: its captured values are passed as additional arguments.
    LocalFunction(typed_tree::FunctionId),
    /// The top-level code of a script.
    Script(typed_tree::FunctionId),
    /// A function that calls a captured function value which never throws, and returns the flag that no error was
    /// thrown. The generic argument is the type of the function value.
    NeverThrows,
    /// A function that computes the initial value of a lazy global variable.
    Initializer(GlobalId),
    /// A registered derivative that is built from registered transposes: returns the value of the function, and a
    /// pullback.
    RegisteredTranspose { of: typed_tree::FunctionId, parts: Rc<[Part]> },
    /// A thunk that has the signature of `like` and calls the function that replaces it at run time: an override, or a
    /// witness. The generic arguments are the arguments of `like`.
    Thunk { like: typed_tree::FunctionId, to: Rc<dispatch::ThunkTarget> },
    /// The pullback that a `RegisteredTranspose` returns.
    Pullback { of: typed_tree::FunctionId, parts: Rc<[Part]> },
    /// A registered derivative of a function with `inout` parameters, adapted to a function that returns the new values
    /// of these parameters.
    InoutDerivative { of: typed_tree::FunctionId, rule: Rc<crate::ir::lower::derivative::inout_derivative::InoutRule> },
    /// The linear function that an `InoutDerivative` returns.
    InoutDerivativeMap {
        of: typed_tree::FunctionId,
        rule: Rc<crate::ir::lower::derivative::inout_derivative::InoutRule>,
    },
    /// A function that reads or sets a stored property of a type that defines its own tangent vectors. The generic
    /// arguments are the type, and the type of the property.
    OpaqueProperty { name: Rc<str>, is_read: bool },
    /// The derivative of an `OpaqueProperty` for which the tangent vectors have a member. The generic arguments are the
    /// arguments of the `OpaqueProperty`.
    CounterpartRule(Rc<crate::ir::lower::derivative::counterpart::Access>),
    /// The linear function that a `CounterpartRule` returns.
    CounterpartMap(Rc<crate::ir::lower::derivative::counterpart::Access>),
    /// A function that allocates an instance of a class and calls an initializer to fill it: the derivative registered
    /// for the initializer belongs to this function.
    InstanceCreation(typed_tree::FunctionId),
}

/// A registered transpose or adjoint: a function that maps the adjoint of a result to the adjoints of some parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) struct Part {
    /// The function that maps the adjoint of the result.
    pub function: FunctionRef,
    /// The parameters of the original function whose adjoints the registered function returns.
    pub wrt: Vec<bool>,
    /// Whether the registered function takes all parameters and the result, or only the parameters whose adjoints are
    /// not returned.
    pub takes_all: bool,
    /// The primal function, which is called instead of the original: it returns the intermediate values that the
    /// adjoint also takes, and the result.
    pub primal: Option<FunctionRef>,
}

impl Lowering {
    /// Creates the state of a session without lowered functions.
    pub fn new() -> Lowering {
        Lowering::default()
    }

    /// Sets whether the session continues after a script, so that every variable of a script must outlive its code.
    pub fn set_interactive(&mut self, interactive: bool) {
        self.interactive = interactive;
        self.described.is_everything |= interactive;
    }

    /// Discards the map of lowered functions, because new derivatives were registered: the functions are lowered again
    /// when they are requested. Existing function values retain their graphs.
    pub fn forget_functions(&mut self) {
        self.functions.clear();
    }

    /// Returns the graph of a function for concrete generic arguments; lowers the function, and all functions that it
    /// reaches, if necessary.
    pub fn function(&mut self, d: &mut dyn Declarations, program: &mut Program, f: &FunctionRef) -> FunctionId {
        let id = self.request(program, Origin::Function(f.function), f.generics.clone(), None);
        self.finish(d, program);
        id
    }

    /// Returns the graphs of a function that exist so far, with their generic arguments.
    pub fn instances(&self, f: typed_tree::FunctionId) -> Vec<(FunctionId, Vec<Type>)> {
        let of = |key: &Key| matches!(key.origin, Origin::Function(g) | Origin::LocalFunction(g) if g == f);
        let mut found: Vec<_> = self
            .functions
            .iter()
            .filter(|(key, _)| of(key) && key.view.is_none())
            .map(|(key, id)| (*id, key.generics.clone()))
            .collect();
        found.sort_by_key(|(id, _)| id.0);
        found
    }

    /// Lowers the top-level code of a script and returns its graph.
    pub fn script(
        &mut self,
        d: &mut dyn Declarations,
        program: &mut Program,
        body: typed_tree::FunctionId,
    ) -> FunctionId {
        let id = self.request(program, Origin::Script(body), vec![], None);
        self.finish(d, program);
        id
    }

    /// Returns the id of a graph, which is queued for lowering if it is new.
    fn request(&mut self, program: &mut Program, origin: Origin, generics: Vec<Type>, view: Option<u32>) -> FunctionId {
        let key = Key { origin, generics, view };
        if let Some(id) = self.functions.get(&key) {
            return *id;
        }
        program.functions.push(None);
        let id = FunctionId(program.functions.len() as u32 - 1);
        self.functions.insert(key.clone(), id);
        self.queue.push((key, id));
        id
    }

    /// Lowers all requested graphs, and the graphs that these request, then runs the passes over the new graphs.
    fn finish(&mut self, d: &mut dyn Declarations, program: &mut Program) {
        program.sees_ends = d.sees_ends();
        loop {
            while let Some((key, id)) = self.queue.pop() {
                let function = function::lower(self, d, program, &key);
                self.described.add_of(&program.shapes, &function);
                program.functions[id.0 as usize] = Some(Rc::new(function));
                self.fresh.push(id);
            }
            self.find_methods(d, program);
            self.request_descriptions(d, program);
            if self.queue.is_empty() {
                break;
            }
        }
        let fresh = std::mem::take(&mut self.fresh);
        self.accesses.prune(program, &fresh, self.interactive, d.sees_ends());
        crate::ir::passes::finish(program, &fresh);
        // A type that is not supported has no components, which would violate the invariants of graphs.
        if cfg!(debug_assertions) && self.unsupported.is_empty() {
            for id in fresh {
                if let Some(function) = program.function(id) {
                    check(program, function);
                }
            }
        }
    }

    /// Records that the machine does not support a construct.
    fn refuse(&mut self, span: Span, what: impl Into<String>) {
        let entry = (span, what.into());
        if !self.unsupported.contains(&entry) {
            self.unsupported.push(entry);
        }
    }
}

fn check(program: &Program, function: &Function) {
    let faults = super::verifier::verify(program, function);
    debug_assert!(
        faults.is_empty(),
        "malformed graph:\n{}\n{}",
        faults.join("\n"),
        super::listing::function(program, function, None)
    );
}
