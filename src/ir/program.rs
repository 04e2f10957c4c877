//! Program: the functions of a session, their shared tables, and the derivatives that are registered for functions.

use crate::ir::{Function, FunctionId, MethodId, Op};
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::{ShapeId, Shapes, TangentId, Tangents};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A rule: a derivative that is registered for a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// The parameters with respect to which the registered derivative differentiates, one flag for each of
    /// [`Function::parameters`].
    pub wrt: Vec<bool>,
    /// The function that is called: it takes the parameters of the original function, and returns the result of the
    /// original together with a linear function.
    pub function: FunctionId,
    /// The function that was registered: `function` calls it if the original changes parameters; otherwise it is
    /// `function` itself.
    pub registered: FunctionId,
    /// The kind of the linear function that `function` returns.
    pub kind: RuleKind,
    /// The tangent type of the result of the original function.
    pub result: TangentId,
    /// Whether the registered function may throw.
    pub throws: bool,
    /// Whether the registered derivative is intended to differ from the true derivative.
    pub differs: bool,
    /// Whether the function's own derivative code computes its tangents, for a transpose.
    pub has_own_tangent: bool,
    /// The source location of the registration.
    pub place: Span,
    /// The function that moves a value along a tangent vector, for each parameter whose type defines its own tangent
    /// vectors.
    pub movers: Rc<[Option<FunctionId>]>,
    /// The member of a superclass or a protocol for which the derivative was registered, if its value must be compared
    /// with the value of the function, which inherits the derivative.
    pub inherited: Option<Rc<str>>,
}

impl Rule {
    /// Creates a registered derivative whose function is called directly.
    pub fn new(wrt: Vec<bool>, function: FunctionId, kind: RuleKind, result: TangentId) -> Rule {
        Rule {
            wrt,
            function,
            registered: function,
            kind,
            result,
            throws: false,
            differs: false,
            has_own_tangent: false,
            place: Span::default(),
            movers: Rc::from([]),
            inherited: None,
        }
    }
}

/// The kind of linear function that a registered derivative returns besides the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RuleKind {
    /// A differential, which maps tangents of the arguments to the tangent of the result.
    Differential,
    /// A pullback, which maps the adjoint of the result to adjoints of the arguments.
    Pullback,
    /// The transpose of a linear function, which maps the adjoint of the result to the adjoints of the linear
    /// parameters.
    Transpose,
}

/// All functions that were compiled in a session, and their shared tables.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// The functions of the session; `None` for a function that is under construction.
    pub functions: Vec<Option<Rc<Function>>>,
    /// The shapes of values.
    pub shapes: Shapes,
    /// The tangent types of the session.
    pub tangents: Tangents,
    /// The number of global components in each bank.
    pub globals: [u32; 3],
    /// The names of the global variables that have one component.
    pub global_names: HashMap<(Bank, u32), Rc<str>>,
    /// The functions that describe a value of a type with a custom description, by
    /// [`DescriptionId`](crate::value::shape::DescriptionId): one function for a value alone, and one for a value
    /// inside another value; `None` if no value of the type is described.
    pub custom_descriptions: Vec<Option<[FunctionId; 2]>>,
    /// The names of the methods that are dispatched at run time.
    pub methods: Vec<Rc<str>>,
    /// The implementation of each such method for each type; the table is complete for all types of which values are
    /// created.
    pub dispatch: HashMap<(MethodId, ShapeId), FunctionId>,
    /// Whether the destruction of an instance has an effect, so that the time at which the last reference is dropped
    /// matters.
    pub sees_ends: bool,
}

impl Program {
    /// Returns the function with the given id; `None` while it is under construction.
    pub fn function(&self, id: FunctionId) -> Option<&Rc<Function>> {
        self.functions.get(id.0 as usize)?.as_ref()
    }

    /// Returns the function that a global variable always holds: a function without captured values that is stored at a
    /// single point of the program.
    pub fn function_in_global(&self, index: u32) -> Option<FunctionId> {
        let place = Op::StoreGlobal { bank: Bank::R, index };
        let blocks = self.functions.iter().flatten().flat_map(|function| &function.blocks);
        let mut stores = blocks.flat_map(|block| {
            let stores = block.instructions.iter().filter(|step| step.op == place);
            stores.map(|step| block.function_in(*step.ins.first()?))
        });
        stores.next().flatten().filter(|_| stores.next().is_none())
    }
}
