//! Native context: the arguments and results of a native function, and the host.

use super::host::Host;
use crate::native::tensor::{Operands, Operation, Recorder, TensorValue};
use crate::tensor::{ScalarKind, Shape as TensorShape, Tensor};
use crate::value::printing::CustomPart;
use crate::value::shape::{Layout, Shape, ShapeId, Shapes};
use crate::value::{Cells, Components, Ref, Slot, Text, dictionary::Dictionary};
use smallvec::SmallVec;
use std::rc::Rc;

/// The reason why a native function cannot continue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The message of the failure, which is one sentence.
    pub message: String,
    /// The names and values that explain the failure.
    pub values: Vec<(String, String)>,
    /// The help texts of the diagnostic.
    pub helps: Vec<String>,
    /// The shapes of the operands, in their order, if these do not fit the operation.
    pub shapes: Vec<String>,
}

/// The kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// An index lies outside of its collection.
    IndexOutOfRange,
    /// The result of an integer operation is out of range.
    Overflow,
    /// An integer was divided by zero.
    DivisionByZero,
    /// A precondition does not hold.
    Precondition,
    /// The shapes of tensors do not fit an operation.
    Shapes,
    /// A range ends before it starts.
    InvalidRange,
    /// A number has no corresponding value in the target type.
    InvalidConversion,
    /// The object would be larger than allowed.
    Memory,
    /// The tapes would be larger than allowed.
    Tape,
    /// More derivatives would be nested than allowed.
    Nesting,
    /// A function that must be linear is not.
    NotLinear,
    /// A number is not finite, and the program stops at such numbers.
    NotFinite,
    /// A derivative is computed at a kink, and the program stops at kinks.
    Kink,
    /// The work was canceled from outside.
    Cancelled,
    /// Input or output has failed.
    Input,
    /// A row of a data file that the program reads is malformed.
    BadRow,
    /// The program has no access to a file.
    Forbidden,
    /// The program exits with this status; this is not a failure.
    Exit(i32),
    /// The function was called in a way that the compiler never generates.
    Internal,
}

impl Failure {
    /// Creates a failure with a message of one sentence.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), values: vec![], helps: vec![], shapes: vec![] }
    }

    /// Adds a value that explains the failure.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl std::fmt::Display) -> Failure {
        self.values.push((name.into(), value.to_string()));
        self
    }

    /// Creates the failure for an index outside of a collection.
    pub fn index(what: &str, index: i64, count: usize) -> Failure {
        let message = match count {
            0 => format!("index {index} is out of range for an empty {what}"),
            1 => format!("index {index} is out of range for {} of 1 element (valid: 0)", article(what)),
            _ => format!(
                "index {index} is out of range for {} of {count} elements (valid: 0 to {})",
                article(what),
                count - 1
            ),
        };
        Failure::new(FailureKind::IndexOutOfRange, message).with("index", index).with("count", count)
    }
}

/// Returns the tensor to which the reference in a storage refers; the null reference is a zero of rank 0.
fn tensor_value(reference: Ref, slot: Slot) -> Result<TensorValue, Failure> {
    match reference {
        Ref::Tensor(tensor) => Ok(TensorValue { tensor, slot }),
        Ref::Null => Ok(TensorValue { tensor: Rc::new(Tensor::scalar(0.0)), slot }),
        _ => Err(internal()),
    }
}

fn article(what: &str) -> String {
    let an = what.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {what}", if an { "an" } else { "a" })
}

/// The indices of the components of an argument in the register banks.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    at: [usize; 3],
    layout: Layout,
}

/// The registers of a call, which hold both the arguments and the results.
#[derive(Debug)]
pub struct NativeRegisters<'a> {
    /// The registers of numbers.
    pub f: &'a mut [f64],
    /// The slots of the numbers; empty in original code.
    pub slots: &'a mut [Slot],
    /// The registers of integers.
    pub i: &'a mut [i64],
    /// The registers of references.
    pub r: &'a mut [Ref],
}

/// The context of one call: its arguments and results. Arguments are read in order, and all of them before the first
/// result is written.
#[derive(Debug)]
pub struct NativeContext<'a> {
    /// The table of the shapes of types.
    pub shapes: &'a Shapes,
    /// The shapes of the generic arguments of the call.
    pub types: &'a [ShapeId],
    /// The environment of the program.
    pub host: &'a mut Host,
    /// The program's descriptions of values with custom implementations. A function that needs descriptions stores the
    /// values in `requested`, returns no result, and is called again.
    pub custom_descriptions: Option<&'a [Text]>,
    /// The values whose descriptions the function requests.
    pub requested: Vec<CustomPart>,
    f: &'a mut [f64],
    slots: &'a mut [Slot],
    i: &'a mut [i64],
    r: &'a mut [Ref],
    taken: [usize; 3],
    returned: [usize; 3],
    recorder: &'a mut dyn Recorder,
    /// The shapes of the tensors among the arguments, for the message of a failure.
    tensor_shapes: SmallVec<[TensorShape; 2]>,
}

impl<'a> NativeContext<'a> {
    /// Creates the context of a call with the given registers. `types` are the shapes of the generic arguments.
    pub fn new(
        shapes: &'a Shapes,
        types: &'a [ShapeId],
        (host, recorder): (&'a mut Host, &'a mut dyn Recorder),
        registers: NativeRegisters<'a>,
    ) -> NativeContext<'a> {
        let NativeRegisters { f, slots, i, r } = registers;
        NativeContext {
            shapes,
            types,
            host,
            custom_descriptions: None,
            requested: vec![],
            f,
            slots,
            i,
            r,
            taken: [0; 3],
            returned: [0; 3],
            recorder,
            tensor_shapes: SmallVec::new(),
        }
    }

    /// Returns a failure with the shapes of the arguments, if it is about shapes. The operation itself may have compared other
    /// shapes, such as those of parts.
    pub fn with_argument_shapes(&self, failure: Failure) -> Failure {
        match failure.shapes.is_empty() {
            true => failure,
            false => Failure { shapes: self.tensor_shapes.iter().map(ToString::to_string).collect(), ..failure },
        }
    }

    /// Returns the shape of a generic argument.
    ///
    /// # Errors
    /// Fails if the call has fewer generic arguments.
    pub fn type_at(&self, k: usize) -> Result<ShapeId, Failure> {
        self.types.get(k).copied().ok_or_else(internal)
    }

    /// Reads the next argument of the call, a number.
    pub fn number(&mut self) -> f64 {
        self.taken[0] += 1;
        self.f.get(self.taken[0] - 1).copied().unwrap_or(f64::NAN)
    }

    /// Reads the next argument of the call, a number, with its slot.
    pub fn num(&mut self) -> (f64, Slot) {
        let slot = self.slots.get(self.taken[0]).copied().unwrap_or(Slot::NONE);
        (self.number(), slot)
    }

    /// Reads the next argument of the call, an integer or a Boolean.
    pub fn integer(&mut self) -> i64 {
        self.taken[1] += 1;
        self.i.get(self.taken[1] - 1).copied().unwrap_or(0)
    }

    /// Reads the next argument of the call, an integer, if there is one more argument.
    pub fn tag(&mut self) -> Option<i64> {
        (self.taken[1] < self.i.len()).then(|| self.integer())
    }

    /// Reads the next argument of the call, a reference.
    pub fn reference(&mut self) -> Ref {
        self.taken[2] += 1;
        self.r.get_mut(self.taken[2] - 1).map(std::mem::take).unwrap_or_default()
    }

    /// Reads the next argument, a string.
    ///
    /// # Errors
    /// Fails if the argument is not a string.
    pub fn text(&mut self) -> Result<Text, Failure> {
        match self.reference() {
            Ref::Text(text) => Ok(text),
            Ref::Null => Ok("".into()),
            _ => Err(internal()),
        }
    }

    /// Reads the next argument, an array.
    ///
    /// # Errors
    /// Fails if the argument is not an array, or if its elements have another layout.
    pub fn array(&mut self, layout: Layout) -> Result<Rc<Cells>, Failure> {
        match self.reference() {
            Ref::Cells(cells) if cells.fits(layout) => Ok(cells),
            Ref::Null => Ok(Rc::default()),
            _ => Err(internal()),
        }
    }

    /// Reads the next argument, a dictionary or set.
    ///
    /// # Errors
    /// Fails if the argument is not a dictionary or set, or if the keys or values have another layout.
    pub fn dictionary(&mut self, keys: Layout, values: Layout) -> Result<Rc<Dictionary>, Failure> {
        match self.reference() {
            Ref::Dictionary(d) if d.fits(keys, values) => Ok(d),
            Ref::Null => Ok(Rc::default()),
            _ => Err(internal()),
        }
    }

    /// Reads the next argument, the storage of a tensor. The null reference is a zero of rank 0.
    ///
    /// # Errors
    /// Fails if the argument is not a tensor.
    pub fn tensor(&mut self) -> Result<TensorValue, Failure> {
        let at = self.taken[0];
        self.taken[0] += 1;
        let slot = self.slots.get(at).copied().unwrap_or(Slot::NONE);
        let value = tensor_value(self.reference(), slot)?;
        self.tensor_shapes.push(value.tensor.shape().clone());
        Ok(value)
    }

    /// Reads the next argument, an array of the storages of tensors.
    ///
    /// # Errors
    /// Fails if the argument is not an array of tensors.
    pub fn tensors(&mut self) -> Result<Vec<TensorValue>, Failure> {
        let array = self.array(Layout { f: 1, i: 0, r: 1 })?;
        array.r.iter().enumerate().map(|(k, reference)| tensor_value(reference.clone(), array.slot(k))).collect()
    }

    /// Reads the next argument, an array of integers.
    ///
    /// # Errors
    /// Fails if the argument is not an array of integers.
    pub fn integers(&mut self) -> Result<Vec<i64>, Failure> {
        Ok(self.array(Layout { f: 0, i: 1, r: 0 })?.i.to_vec())
    }

    /// Returns the kind of scalars of a generic argument.
    ///
    /// # Errors
    /// Fails if no tensor has scalars of the type.
    pub fn scalar_kind(&self, k: usize) -> Result<ScalarKind, Failure> {
        Ok(match self.shapes.get(self.type_at(k)?) {
            Shape::Double => ScalarKind::F64,
            Shape::Float => ScalarKind::F32,
            Shape::Bool => ScalarKind::Bool,
            Shape::Int { bits, signed } => ScalarKind::integer(*bits, *signed).ok_or_else(internal)?,
            _ => return Err(internal()),
        })
    }

    /// Returns the evaluator of operations of tensors, which records operations on varied tensors.
    pub fn recorder(&mut self) -> &mut dyn Recorder {
        self.recorder
    }

    /// Applies an operation of tensors.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation, or if it cannot be recorded.
    pub fn apply(&mut self, operation: Operation, operands: Operands) -> Result<TensorValue, Failure> {
        self.recorder.apply(operation, operands)
    }

    /// Writes the next result, the storage of a tensor.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_tensor(&mut self, value: TensorValue) -> Result<(), Failure> {
        self.return_num(0.0, value.slot)?;
        self.return_reference(Ref::Tensor(value.tensor))
    }

    /// Writes the next result, an array of the storages of tensors.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_tensors(&mut self, values: Vec<TensorValue>) -> Result<(), Failure> {
        let mut cells = Cells::empty();
        for value in values {
            cells.push_num(0.0, value.slot);
            cells.r.push(Ref::Tensor(value.tensor));
            cells.len += 1;
        }
        self.return_reference(Ref::Cells(Rc::new(cells)))
    }

    /// Writes the next result, an array of integers.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_integers(&mut self, values: Vec<i64>) -> Result<(), Failure> {
        let mut cells = Cells::empty();
        cells.len = values.len();
        cells.i.extend(values);
        self.return_reference(Ref::Cells(Rc::new(cells)))
    }

    /// Reads the next argument, a value of any type.
    ///
    /// # Errors
    /// Fails if there are not enough components.
    pub fn value(&mut self, layout: Layout) -> Result<Argument, Failure> {
        let argument = Argument { at: self.taken, layout };
        self.taken[0] += layout.f as usize;
        self.taken[1] += layout.i as usize;
        self.taken[2] += layout.r as usize;
        let fits = self.taken[0] <= self.f.len() && self.taken[1] <= self.i.len() && self.taken[2] <= self.r.len();
        if fits { Ok(argument) } else { Err(internal()) }
    }

    /// Returns the components of an argument of the call.
    pub fn components(&self, argument: Argument) -> Components<'_> {
        let Argument { at: [f, i, r], layout } = argument;
        Components {
            f: &self.f[f..f + layout.f as usize],
            slots: self.slots.get(f..f + layout.f as usize).unwrap_or(&[]),
            i: &self.i[i..i + layout.i as usize],
            r: &self.r[r..r + layout.r as usize],
        }
    }

    /// Writes the next result, a number that is not varied.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_number(&mut self, value: f64) -> Result<(), Failure> {
        self.return_num(value, Slot::NONE)
    }

    /// Writes the next result, a number with its slot.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_num(&mut self, value: f64, slot: Slot) -> Result<(), Failure> {
        let at = self.returned[0];
        *self.f.get_mut(at).ok_or_else(internal)? = value;
        if let Some(place) = self.slots.get_mut(at) {
            *place = slot;
        }
        self.returned[0] += 1;
        Ok(())
    }

    /// Writes the next result, an integer or a Boolean.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_integer(&mut self, value: i64) -> Result<(), Failure> {
        *self.i.get_mut(self.returned[1]).ok_or_else(internal)? = value;
        self.returned[1] += 1;
        Ok(())
    }

    /// Writes the next result, a reference.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_reference(&mut self, value: Ref) -> Result<(), Failure> {
        *self.r.get_mut(self.returned[2]).ok_or_else(internal)? = value;
        self.returned[2] += 1;
        Ok(())
    }

    /// Writes the next result, a string.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_text(&mut self, value: impl Into<Text>) -> Result<(), Failure> {
        self.return_reference(Ref::Text(value.into()))
    }

    /// Writes the next result, the components of a value of any type.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_components(&mut self, value: Components<'_>) -> Result<(), Failure> {
        for (k, number) in value.f.iter().enumerate() {
            self.return_num(*number, value.slots.get(k).copied().unwrap_or(Slot::NONE))?;
        }
        value.i.iter().try_for_each(|i| self.return_integer(*i))?;
        value.r.iter().try_for_each(|r| self.return_reference(r.clone()))
    }

    /// Writes the next result, an optional: a tag, and the components of the value or default values in their place.
    ///
    /// # Errors
    /// Fails if there is no register for the result.
    pub fn return_optional(&mut self, layout: Layout, value: Option<Components<'_>>) -> Result<(), Failure> {
        self.return_integer(i64::from(value.is_some()))?;
        match value {
            Some(value) => self.return_components(value),
            None => {
                (0..layout.f).try_for_each(|_| self.return_number(0.0))?;
                (0..layout.i).try_for_each(|_| self.return_integer(0))?;
                (0..layout.r).try_for_each(|_| self.return_reference(Ref::Null))
            }
        }
    }
}

/// Returns the failure for a call that the compiler never generates.
pub fn internal() -> Failure {
    Failure::new(FailureKind::Internal, "a native function was called with arguments of the wrong types")
}
