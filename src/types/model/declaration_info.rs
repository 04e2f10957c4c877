//! Declarations: nominal types, protocols, functions and globals in the form that `ir` reads, and the queries about
//! these declarations.
//!
//! Declarations of the prelude are entered when their name is first looked up, and a body is checked when it is first
//! requested ([`Declarations::body`]). The bodies of the user's files are checked immediately.

use crate::source::Span;
use crate::syntax::ast::Name;
pub use crate::syntax::ast::NominalKind;
use crate::types::model::ty::{Existential, NominalId, ParamId, ProtocolId, Type};
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Body, FunctionId, FunctionRef, GlobalId};
use std::rc::Rc;

/// A nominal type: a struct, enum or class.
#[derive(Clone, Debug)]
pub struct Nominal {
    /// The name of the type, without the names of the enclosing types.
    pub name: Name,
    /// Whether the type is a struct, an enum or a class.
    pub kind: NominalKind,
    /// The generic parameters of the type, preceded by the generic parameters of the enclosing types.
    pub params: Vec<ParamId>,
    /// The stored properties of the type in order (after [`Declarations::nominal`]), preceded by the inherited
    /// properties in the case of a class.
    pub stored: Vec<Stored>,
    /// The cases of the type, if it is an enum.
    pub cases: Vec<EnumCase>,
    /// The built-in type that the type represents, if any.
    pub builtin: Option<Builtin>,
    /// Whether the type is declared `indirect`, or is a struct or enum that contains itself.
    pub is_indirect: bool,
    /// The superclass of the type, if it is a class.
    pub superclass: Option<Type>,
    /// The string in `@style(…)`: `range`, `closedRange`, `vector`, `transparent`.
    pub style: Option<Name>,
    /// Whether the prelude declares the type.
    pub is_prelude: bool,
    /// The source location of the type's name.
    pub span: Span,
}

/// A stored property of a nominal type. Its type is expressed in the generic parameters of the nominal type.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The name of the property.
    pub name: Name,
    /// The type of the property.
    pub ty: Type,
    /// Whether the property is a constant, declared with `let`.
    pub is_let: bool,
    /// Whether the property is marked `@noDerivative`.
    pub no_derivative: bool,
    /// For the storage of a wrapped property: the name of the wrapped property, and the path of stored properties
    /// through all wrappers to its value; the path is empty if a wrapper computes the value.
    pub wrapped: Option<(Name, Vec<u32>)>,
    /// Whether the property retains the instance to which it refers.
    pub ownership: Ownership,
    /// The source location of the property.
    pub span: Span,
}

/// A case of an enum. Types are expressed in the generic parameters of the enum.
#[derive(Clone, Debug)]
pub struct EnumCase {
    /// The name of the case.
    pub name: Name,
    /// The components of the case's payload, with their labels.
    pub payload: Vec<(Option<Name>, Type)>,
    /// The source location of the case.
    pub span: Span,
}

/// The built-in types of the virtual machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// The type `Double`.
    Double,
    /// The type `Float`.
    Float,
    /// An integer type: `Int`, `Int8` … `UInt64`.
    Int {
        /// The number of bits of the integer type, 8 to 64.
        bits: u8,
        /// Whether the integer type is signed.
        signed: bool,
    },
    /// The type `Bool`.
    Bool,
    /// The type `String`.
    String,
    /// The type `Character`.
    Character,
    /// The storage of a tensor.
    TensorStorage,
    /// The type `Array<Element>`.
    Array,
    /// The type `Dictionary<Key, Value>`.
    Dictionary,
    /// The type `Set<Element>`.
    Set,
    /// The type `Optional<Wrapped>`: case 0 is `none`, case 1 is `some`.
    Optional,
}

/// A function, method, initializer, accessor, closure or default argument.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name of the function as written in diagnostics and backtraces: `smooth(_:by:)`, `Point.+`, `closure in
    /// loss(_:)`.
    pub name: Rc<str>,
    /// The generic parameters of the function, preceded by the generic parameters of the enclosing types and functions.
    pub generics: Vec<ParamId>,
    /// The parameters of the function, `self` first. A static method or initializer has no `self`; an initializer
    /// returns the new value.
    pub params: Vec<Param>,
    /// The result type of the function.
    pub result: Type,
    /// Whether the function may throw.
    pub throws: bool,
    /// The name of the primitive, native function or operator that implements a function without a body (`double.add`,
    /// `array.append`, `valueWithDifferential`).
    pub primitive: Option<Name>,
    /// Whether the implementation of the function is unknown, as for a C function: such a function has no derivative
    /// unless one is registered.
    pub is_opaque: bool,
    /// Whether the function is an initializer of a class, which receives the new instance as `self` and returns it.
    pub fills_instance: bool,
    /// Whether the prelude declares the function.
    pub is_prelude: bool,
    /// The index of the field that the function reads, if it is the getter of a stored property without observers.
    pub reads: Option<u32>,
    /// The source location of the function's name, or of its opening brace.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name of the parameter inside the function.
    pub name: Name,
    /// The type of the parameter.
    pub ty: Type,
    /// Whether the parameter is `inout`, as `self` of a mutating method is.
    pub is_inout: bool,
    /// The source location of the parameter.
    pub span: Span,
}

/// A rule: a derivative or transpose that is registered for a function, instantiated for concrete types.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The registered function.
    pub function: FunctionRef,
    /// The parameters of the original with respect to which the registered function differentiates, one flag per
    /// parameter.
    pub wrt: Vec<bool>,
    /// The kind of function that was registered.
    pub kind: RegisteredKind,
    /// Whether the registered derivative deliberately differs from the true derivative.
    pub differs: bool,
    /// The function that is called instead of the original before an adjoint is computed: it returns intermediate
    /// values and the result.
    pub primal: Option<FunctionRef>,
    /// The member of a superclass or a protocol for which the derivative was registered, if the function inherits the
    /// derivative.
    pub inherited: Option<FunctionId>,
}

/// The kind of a registered function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegisteredKind {
    /// The function returns `(value:, differential:)`.
    Differential,
    /// The function returns `(value:, pullback:)`.
    Pullback,
    /// The function is the transpose: it takes the parameters that are not differentiated, then the adjoint of the
    /// result.
    Transpose,
    /// The function is the adjoint in the older spelling: it takes all parameters, the result and the adjoint of the
    /// result.
    Adjoint,
}

impl RegisteredKind {
    /// Returns the mode that the registered function supports: forward mode for a differential, reverse mode for a
    /// pullback or an adjoint. A transpose supports both modes, and may be registered together with either.
    pub(crate) fn mode(self) -> Option<Mode> {
        match self {
            RegisteredKind::Differential => Some(Mode::Forward),
            RegisteredKind::Pullback | RegisteredKind::Adjoint => Some(Mode::Reverse),
            RegisteredKind::Transpose => None,
        }
    }
}

/// A mode of differentiation: forward or reverse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Forward,
    Reverse,
}

/// A global variable or static stored property.
#[derive(Clone, Debug)]
pub struct Global {
    /// The name of the global variable.
    pub name: Name,
    /// The type of the global variable.
    pub ty: Type,
    /// Whether the global variable is a constant, declared with `let`.
    pub is_let: bool,
    /// The function that computes the initial value on the first read, for a static stored property or a global of the
    /// prelude. Variables of a script are initialized by their declaration.
    pub lazy: Option<FunctionId>,
    /// Whether a function or closure uses the global variable, so that it cannot be in a register of the script.
    pub is_shared: bool,
    /// Whether the global variable retains the instance to which it refers.
    pub ownership: Ownership,
    /// The source location of the global variable.
    pub span: Span,
}

/// The queries of `ir` about declarations and concrete types. [`TypeContext`](crate::types::TypeContext) implements
/// them.
pub trait Declarations {
    /// Returns the nominal type with the given id, with its stored properties and cases resolved.
    fn nominal(&mut self, id: NominalId) -> Rc<Nominal>;
    /// Returns the function with the given id.
    fn function(&mut self, id: FunctionId) -> Rc<Function>;
    /// Returns the global variable with the given id.
    fn global(&mut self, id: GlobalId) -> Rc<Global>;
    /// Returns the checked body of a function; `None` when the body has errors, which were reported.
    fn body(&mut self, id: FunctionId) -> Option<Rc<Body>>;
    /// Returns the witness of a requirement for a concrete type.
    fn witness(&mut self, protocol: ProtocolId, requirement: u32, of: &Type, generics: &[Type]) -> Option<FunctionRef>;
    /// Returns the implementation of a method for instances of a concrete class: the nearest override, or the method
    /// itself.
    fn override_of(&mut self, method: &FunctionRef, of: &Type) -> FunctionRef;
    /// Returns whether a subclass overrides a method that it may override; `None` for other functions.
    fn overridden(&mut self, method: FunctionId) -> Option<bool>;
    /// Returns the requirement of a protocol as a function with `Self` as its first generic parameter.
    fn requirement(&mut self, protocol: ProtocolId, requirement: u32) -> FunctionId;
    /// Returns the derivatives and transposes that are registered for a function, apply to its generic arguments and
    /// are visible in the file `view`.
    fn rules(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule>;
    /// Returns the requirement of a registered derivative that the generic arguments do not satisfy, if no registered
    /// derivative applies.
    fn unmet(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String>;
    /// Returns the file of a span, if additional derivatives of the function are visible in that file.
    fn view(&mut self, of: &FunctionRef, at: Span) -> Option<u32>;
    /// Resolves all associated types ([`Type::Associated`]) in a concrete type.
    fn normalize(&mut self, ty: &Type) -> Type;
    /// Whether a concrete type conforms to a protocol.
    fn conforms(&mut self, ty: &Type, protocol: ProtocolId) -> bool;
    /// Whether values of a concrete type are values of an existential.
    fn is_value_of(&mut self, ty: &Type, of: &Existential) -> bool;
    /// Returns `T.TangentVector` of a concrete type; `None` if the type is not differentiable.
    fn tangent_vector(&mut self, ty: &Type) -> Option<Type>;
    /// Returns the tangent vector of a struct or enum that declares its tangent vector, if the members of the vector do
    /// not correspond by name to the members of the type.
    fn own_vector(&mut self, ty: &Type) -> Option<Type>;
    /// Whether the declared tangent vector of a struct or class corresponds to the type's properties by name, but has
    /// no property with the given name.
    fn leaves_out(&mut self, ty: &Type, property: &str) -> bool;
    /// Returns a nominal type of the prelude by name (`Range`, `Array`).
    fn prelude_nominal(&mut self, name: &str) -> Option<NominalId>;
    /// Returns a function of the prelude by its base name, for use by lowering (`_describe`).
    fn prelude_function(&mut self, name: &str) -> Option<FunctionId>;
    /// Returns the function that replaces a primitive if its first generic argument is a type with a custom equality.
    fn by_own_equality(&mut self, primitive: &str, of: &Type) -> Option<FunctionId>;
    /// Returns the functions that move the value of a subscript out of its container during a mutation, given the
    /// getter of the subscript: the function that moves the value out and, for an optional, the function that returns
    /// whether there is a value.
    fn moving(&mut self, getter: FunctionId) -> Option<(FunctionId, Option<FunctionId>)>;
    /// Returns the functions that convert a value of a concrete type with a custom description to a string, alone and
    /// inside another value; `None` if the type has no custom description.
    fn custom_descriptions(&mut self, ty: &Type) -> Option<[FunctionRef; 2]>;
    /// Returns the `deinit` of a class, followed by the `deinit`s of its superclasses.
    fn deinits(&mut self, ty: &Type) -> Vec<FunctionRef>;
    /// Whether the program can observe the end of an instance: if so, variables hold their values to the ends of their
    /// scopes.
    fn sees_ends(&self) -> bool;
    /// Returns the name of a type in the syntax of the language, for names of shapes: `Pair<Double, Int>`. The name
    /// contains neither the module nor enclosing types.
    fn type_name(&mut self, ty: &Type) -> String;
}
