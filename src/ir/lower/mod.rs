//! Lowering: checked bodies with concrete types to graphs.
//!
//! In: functions by number with concrete generic arguments, through `Declarations`. Out: graphs in a [`Program`],
//! everything reachable included.
//!
//! Promises: each function is compiled once for each list of concrete types; calls are followed with a work list, never
//! by recursion; subexpressions of a place are evaluated once, from left to right; what is changed in place is moved
//! there first and has one owner.
//! Not here: passes over finished graphs (`simplify.rs`, `inline.rs`), derivatives (`diff`).
//!
//! One file per construct: `statement`, `loops`, `switch`, `pattern`, `expr`, `literal`, `call`, `primitive`, `operator`,
//! `closure`, `place`, `load`, `change`, `access`, `global`, `exits`, `effects`. `build` has the small steps that all of them are made of.

mod access;
mod build;
mod call;
mod cast;
mod change;
mod closure;
pub(crate) mod control;
pub(crate) mod derivative;
mod dispatch;
mod effects;
mod expr;
mod function;
mod global;
mod literal;
mod load;
mod place;
mod primitive;
#[cfg(test)]
mod tests;

use super::graph::{Function, FunctionId, Program};
use super::layout::Layouts;
use crate::ir::passes::exclusivity_checks::Accesses;
use crate::source::Span;
use crate::types::model::declared::Declarations;
use crate::types::model::tree;
use crate::types::model::tree::{FunctionRef, GlobalId};
use crate::types::model::ty::Type;
use hashbrown::HashMap;
use std::rc::Rc;

/// What was lowered in a session, and where things are.
#[derive(Clone, Default)]
pub struct Lowering {
    /// Shapes, tangents and layouts of concrete types.
    pub layouts: Layouts,
    /// What could not be lowered, with its place: constructs that the machine does not have yet. The code stops the
    /// program where it gets there.
    pub unsupported: Vec<(Span, String)>,
    functions: HashMap<Key, FunctionId>,
    globals: HashMap<GlobalId, global::Storage>,
    /// For closures and local functions the body that they are written in.
    parents: HashMap<tree::FunctionId, tree::FunctionId>,
    queue: Vec<(Key, FunctionId)>,
    dynamic: dispatch::Dynamic,
    /// What was lowered since the passes over finished graphs ran.
    fresh: Vec<FunctionId>,
    interactive: bool,
    accesses: Accesses,
}

/// What a graph was made from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) struct Key {
    pub origin: Origin,
    pub generics: Vec<Type>,
    /// The file whose private derivatives it has.
    pub view: Option<u32>,
}

/// What a graph is made from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) enum Origin {
    /// A function; what it captures, if anything, it has as a closure.
    Function(tree::FunctionId),
    /// A local function that is called directly: what it captures is given as further arguments.
    LocalFunction(tree::FunctionId),
    /// The top-level code of a script.
    Script(tree::FunctionId),
    /// Calls the function value that it captures, and says that nothing was thrown. The generic argument is the type of
    /// that function.
    NeverThrows,
    /// Computes the initial value of a global variable unless it is there.
    Initializer(GlobalId),
    /// What registered transposes are as a registered derivative: the value of the function, and a pullback.
    RegisteredTranspose { of: tree::FunctionId, parts: Rc<[Part]> },
    /// A function as another one that it replaces while the program runs: an override, or what fulfils a
    /// requirement. The generic arguments are those of `like`.
    Thunk { like: tree::FunctionId, to: Rc<dispatch::ThunkTarget> },
    /// That pullback.
    Pullback { of: tree::FunctionId, parts: Rc<[Part]> },
    /// A registered derivative of a function that changes parameters, as that of one that gives their new values back.
    InoutDerivative { of: tree::FunctionId, rule: Rc<crate::ir::lower::derivative::inout_derivative::Changing> },
    /// The linear function that it returns.
    InoutDerivativeMap { of: tree::FunctionId, rule: Rc<crate::ir::lower::derivative::inout_derivative::Changing> },
    /// Reads or sets a stored property of a type that says itself what its tangent vectors are. The generic arguments are
    /// the type and that of the property.
    OpaqueProperty { name: Rc<str>, is_read: bool },
    /// The derivative of that, where the vectors have a member for the property. The generic arguments are the same.
    CounterpartRule(Rc<crate::ir::lower::derivative::counterpart::Access>),
    /// The linear function that it returns.
    CounterpartMap(Rc<crate::ir::lower::derivative::counterpart::Access>),
    /// Makes an instance of a class, and has an initializer fill it: what a derivative registered for the initializer is
    /// about.
    Allocation(tree::FunctionId),
}

/// A function that takes the adjoint of a result to those of some parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) struct Part {
    /// The function.
    pub function: FunctionRef,
    /// The parameters of the original whose adjoints it gives.
    pub wrt: Vec<bool>,
    /// Whether it takes all parameters and the result, or only the parameters that it does not give the adjoints of.
    pub takes_all: bool,
    /// What is called instead of the original: it gives checkpoints, which the function takes, too, and the result.
    pub primal: Option<FunctionRef>,
}

impl Lowering {
    /// Nothing lowered yet.
    pub fn new() -> Lowering {
        Lowering::default()
    }

    /// Whether the code of a session goes on later, so that every variable of a script must outlive its code.
    pub fn set_interactive(&mut self, interactive: bool) {
        self.interactive = interactive;
    }

    /// From now on functions are lowered again when they are needed: more is registered for them than when they were
    /// lowered. Function values that were made before keep the graphs that they have.
    pub fn forget_functions(&mut self) {
        self.functions.clear();
    }

    /// The graph of a function for concrete generic arguments; lowers it and all that it reaches when they are new.
    pub fn function(&mut self, d: &mut dyn Declarations, program: &mut Program, f: &FunctionRef) -> FunctionId {
        let id = self.request(program, Origin::Function(f.function), f.generics.clone(), None);
        self.finish(d, program);
        id
    }

    /// The graphs of a function that were made so far, with their generic arguments.
    pub fn instances(&self, f: tree::FunctionId) -> Vec<(FunctionId, Vec<Type>)> {
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

    /// The graph of the top-level code of a script.
    pub fn script(&mut self, d: &mut dyn Declarations, program: &mut Program, body: tree::FunctionId) -> FunctionId {
        let id = self.request(program, Origin::Script(body), vec![], None);
        self.finish(d, program);
        id
    }

    /// The number of a graph, which is lowered later when it is new.
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

    /// Lowers what was requested and what that requests, then runs the passes over the new graphs.
    fn finish(&mut self, d: &mut dyn Declarations, program: &mut Program) {
        program.sees_ends = d.sees_ends();
        loop {
            while let Some((key, id)) = self.queue.pop() {
                let function = function::lower(self, d, program, &key);
                program.functions[id.0 as usize] = Some(Rc::new(function));
                self.fresh.push(id);
            }
            self.find_methods(d, program);
            self.request_own_texts(d, program);
            if self.queue.is_empty() {
                break;
            }
        }
        let fresh = std::mem::take(&mut self.fresh);
        self.accesses.prune(program, &fresh, self.interactive, d.sees_ends());
        crate::ir::passes::finish(program, &fresh);
        // A type that was refused has no components.
        if cfg!(debug_assertions) && self.unsupported.is_empty() {
            for id in fresh {
                if let Some(function) = program.function(id) {
                    check(program, function);
                }
            }
        }
    }

    /// What writes the values of types that say themselves how, for those whose shape has become known.
    fn request_own_texts(&mut self, d: &mut dyn Declarations, program: &mut Program) {
        while let Some(ty) = self.layouts.own.get(program.own_texts.len()).cloned() {
            let texts = d.own_texts(&ty).unwrap_or_else(|| unreachable!("queried before its number was assigned"));
            let texts = texts.map(|f| self.request(program, Origin::Function(f.function), f.generics, None));
            program.own_texts.push(texts);
        }
    }

    /// Remembers that something is not supported.
    fn refuse(&mut self, span: Span, what: impl Into<String>) {
        let entry = (span, what.into());
        if !self.unsupported.contains(&entry) {
            self.unsupported.push(entry);
        }
    }
}

fn check(program: &Program, function: &Function) {
    let faults = super::verify::verify(program, function);
    debug_assert!(
        faults.is_empty(),
        "malformed graph:\n{}\n{}",
        faults.join("\n"),
        super::listing::function(program, function, None)
    );
}
