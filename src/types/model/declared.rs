//! Everything that is declared: nominal types, protocols, functions, globals, and what follows from the declarations.
//!
//! Declarations of the prelude are entered when their name is first looked up; bodies are checked when they are first
//! asked for ([`Declarations::body`]), those of a user's own files at once.

use crate::source::Span;
use crate::syntax::ast::Name;
pub use crate::syntax::ast::NominalKind;
use crate::types::model::tree::Ownership;
use crate::types::model::tree::{Body, FunctionId, FunctionRef, GlobalId};
use crate::types::model::ty::{Existential, NominalId, ParamId, ProtocolId, Type};
use std::rc::Rc;

/// A struct, enum or class.
#[derive(Clone, Debug)]
pub struct Nominal {
    /// Its name, without those of the types around it.
    pub name: Name,
    /// Which kind.
    pub kind: NominalKind,
    /// Its generic parameters, those of the types around it first.
    pub params: Vec<ParamId>,
    /// Its stored properties in order (after [`Declarations::nominal`]); of a class the inherited ones come first.
    pub stored: Vec<Stored>,
    /// The cases of an enum.
    pub cases: Vec<EnumCase>,
    /// For a type that the machine knows.
    pub builtin: Option<Builtin>,
    /// `indirect`, or a struct or enum that contains itself.
    pub is_indirect: bool,
    /// The superclass.
    pub superclass: Option<Type>,
    /// Text in `@style(…)`: `range`, `closedRange`, `vector`, `transparent`.
    pub style: Option<Name>,
    /// Whether the prelude declares it.
    pub is_prelude: bool,
    /// Where its name stands.
    pub span: Span,
}

/// A stored property. Its type is in terms of the nominal's parameters.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// `let`
    pub is_let: bool,
    /// `@noDerivative`
    pub no_derivative: bool,
    /// Of what keeps a wrapped property: that property's name, and which of the stored properties of the wrapper the value is,
    /// through all wrappers; nothing when a wrapper computes it.
    pub wrapped: Option<(Name, Vec<u32>)>,
    /// Whether it keeps what it refers to.
    pub ownership: Ownership,
    /// Where.
    pub span: Span,
}

/// A case of an enum. Types are in terms of the nominal's parameters.
#[derive(Clone, Debug)]
pub struct EnumCase {
    /// Its name.
    pub name: Name,
    /// Its payload with labels.
    pub payload: Vec<(Option<Name>, Type)>,
    /// Where.
    pub span: Span,
}

/// The types that the machine knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// `Double`
    Double,
    /// `Float`
    Float,
    /// `Int`, `Int8` … `UInt64`
    Int {
        /// 8 to 64
        bits: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// `Bool`
    Bool,
    /// `String`
    String,
    /// `Character`
    Character,
    /// `Array<Element>`
    Array,
    /// `Dictionary<Key, Value>`
    Dictionary,
    /// `Set<Element>`
    Set,
    /// `Optional<Wrapped>`: case 0 is `none`, case 1 is `some`.
    Optional,
}

/// A function, method, initializer, accessor, closure or default argument.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name as diagnostics and backtraces write it: `smooth(_:by:)`, `Point.+`, `closure in loss(_:)`.
    pub name: Rc<str>,
    /// Its generic parameters, those of the types and functions around it first.
    pub generics: Vec<ParamId>,
    /// Its parameters, `self` first. A static method or initialiser has no `self`; an initialiser returns what it makes.
    pub params: Vec<Param>,
    /// Its result.
    pub result: Type,
    /// Whether it may throw.
    pub throws: bool,
    /// For what has no body: the name of the primitive, native function or operator that does it
    /// (`double.add`, `array.append`, `valueWithDifferential`).
    pub primitive: Option<Name>,
    /// A C function whose insides nobody knows: no derivative unless one is registered.
    pub is_opaque: bool,
    /// Whether it is an initializer of a class, which gets the instance that it fills as `self` and gives it back.
    pub fills_instance: bool,
    /// Whether the prelude declares it.
    pub is_prelude: bool,
    /// For the getter of a stored property that nobody observes: which field of its type it reads.
    pub reads: Option<u32>,
    /// Where its name (or brace) stands.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name inside.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// `inout`, and `self` of a mutating method.
    pub is_inout: bool,
    /// Where.
    pub span: Span,
}

/// A derivative or transpose that is registered for a function, for concrete types.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The function that was registered.
    pub function: FunctionRef,
    /// Which parameters of the original it is about, one flag each.
    pub wrt: Vec<bool>,
    /// What it supplies.
    pub kind: RegisteredKind,
    /// It is meant to be another one than the derivative.
    pub differs: bool,
    /// What is called instead of the original for an adjoint: it gives checkpoints and the result.
    pub primal: Option<FunctionRef>,
    /// The member of a superclass or a protocol that it was registered for, where the function has inherited it from there.
    pub inherited: Option<FunctionId>,
}

/// What a registered function supplies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegisteredKind {
    /// Returns `(value:, differential:)`.
    Differential,
    /// Returns `(value:, pullback:)`.
    Pullback,
    /// Is the transpose: takes the parameters that stay, then the adjoint of the result.
    Transpose,
    /// Is the adjoint of the older spelling: takes all parameters, the result and its adjoint.
    Adjoint,
}

impl RegisteredKind {
    /// Which mode it is made for: a differential for forward mode, what goes back for reverse mode. A transpose stands for
    /// both, and beside either.
    pub(crate) fn mode(self) -> Option<Mode> {
        match self {
            RegisteredKind::Differential => Some(Mode::Forward),
            RegisteredKind::Pullback | RegisteredKind::Adjoint => Some(Mode::Reverse),
            RegisteredKind::Transpose => None,
        }
    }
}

/// A mode of differentiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Forward,
    Reverse,
}

/// A global variable or static stored property.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// `let`
    pub is_let: bool,
    /// A static stored property or a global of the prelude: the function that computes its initial value when it is first
    /// read. Variables of a script are initialized where they stand.
    pub lazy: Option<FunctionId>,
    /// Whether a function or closure uses it, so that it cannot live in a register of the script.
    pub is_shared: bool,
    /// Whether it keeps what it refers to.
    pub ownership: Ownership,
    /// Where.
    pub span: Span,
}

/// Questions that `ir` asks about concrete types. [`TypeContext`](crate::types::TypeContext) answers them.
pub trait Declarations {
    /// The nominal type with that number, its stored properties and cases known.
    fn nominal(&mut self, id: NominalId) -> Rc<Nominal>;
    /// The function with that number.
    fn function(&mut self, id: FunctionId) -> Rc<Function>;
    /// The global with that number.
    fn global(&mut self, id: GlobalId) -> Rc<Global>;
    /// The checked body; `None` when it has errors, which were reported.
    fn body(&mut self, id: FunctionId) -> Option<Rc<Body>>;
    /// The function that fulfils a requirement for a concrete type.
    fn witness(&mut self, protocol: ProtocolId, requirement: u32, of: &Type, generics: &[Type]) -> Option<FunctionRef>;
    /// What a method is for instances of a concrete class: the override that is nearest to it, or the method itself.
    fn override_of(&mut self, method: &FunctionRef, of: &Type) -> FunctionRef;
    /// Whether a function is a method that a subclass may override; if so, whether one does.
    fn overridden(&mut self, method: FunctionId) -> Option<bool>;
    /// The requirement of a protocol as a function, whose first generic parameter is `Self`.
    fn requirement(&mut self, protocol: ProtocolId, requirement: u32) -> FunctionId;
    /// What is registered for a function and applies to its generic arguments, as far as a file sees it.
    fn rules(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule>;
    /// What is required by everything that is registered for a function, and does not hold for its generic arguments.
    fn unmet(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String>;
    /// The file of a place, when more is registered for the function there than elsewhere.
    fn view(&mut self, of: &FunctionRef, at: Span) -> Option<u32>;
    /// Resolves [`Type::Associated`] of concrete types, deeply.
    fn normalize(&mut self, ty: &Type) -> Type;
    /// Whether a concrete type conforms.
    fn conforms(&mut self, ty: &Type, protocol: ProtocolId) -> bool;
    /// Whether the values of a concrete type are values of an existential.
    fn is_value_of(&mut self, ty: &Type, of: &Existential) -> bool;
    /// `T.TangentVector` of a concrete type; `None` when it is not differentiable.
    fn tangent_vector(&mut self, ty: &Type) -> Option<Type>;
    /// The tangent vector of a struct or enum that says itself what it is, where its parts are not those of the value by
    /// name.
    fn own_vector(&mut self, ty: &Type) -> Option<Type>;
    /// Whether the tangent vector of a struct or class, which says itself what that is, has the type's properties by name,
    /// but none of this name.
    fn leaves_out(&mut self, ty: &Type, property: &str) -> bool;
    /// A nominal type of the prelude by name (`Range`, `Array`).
    fn prelude_nominal(&mut self, name: &str) -> Option<NominalId>;
    /// A function of the prelude by its base name, for what lowering itself needs (`_describe`).
    fn prelude_function(&mut self, name: &str) -> Option<FunctionId>;
    /// What stands for a primitive when its first generic argument is a type that says itself when its values are equal.
    fn by_own_equality(&mut self, primitive: &str, of: &Type) -> Option<FunctionId>;
    /// For the getter of a subscript whose value is moved while it is changed: the function that moves it out, and, when
    /// it is an optional, the one that says whether there is a value.
    fn moving(&mut self, getter: FunctionId) -> Option<(FunctionId, Option<FunctionId>)>;
    /// The functions that write a value of a concrete type as it declares itself, alone and inside of another value;
    /// `None` when it does not.
    fn own_texts(&mut self, ty: &Type) -> Option<[FunctionRef; 2]>;
    /// What a class does when an instance goes away, then what the classes do that it inherits from.
    fn deinits(&mut self, ty: &Type) -> Vec<FunctionRef>;
    /// Whether the program can see when an instance goes away: then variables hold what is in them until their scopes
    /// end, and not only as long as somebody looks.
    fn sees_ends(&self) -> bool;
    /// How a type is written in the language, for names of shapes: `Pair<Double, Int>`; no module, nested types without
    /// the type around them.
    fn type_name(&mut self, ty: &Type) -> String;
}
