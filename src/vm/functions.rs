//! The code of every function that was asked for.

use super::fault::Fault;
use crate::bytecode::{Code, verify};
use crate::value::shape::{Shapes, Tangents};
use std::rc::Rc;

/// Who compiles what is missing, and knows the types. `session` implements it, so that the machine need not see the
/// compiler.
pub trait Compiler {
    /// The original code of a function.
    ///
    /// # Errors
    /// When there is none, which is a mistake of our own.
    fn original(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// The derivative code of a function.
    ///
    /// # Errors
    /// When it has no derivative.
    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>>;

    /// What values look like.
    fn shapes(&self) -> &Shapes;

    /// How types differentiate.
    fn tangents(&self) -> &Tangents;
}

/// Original and derivative code by the number of the function. Code stays where it is as long as the machine lives, so
/// frames may point to it.
#[derive(Debug, Default)]
pub struct Functions {
    codes: [Vec<Option<Rc<Code>>>; 2],
}

impl Functions {
    /// The code, if it is there.
    #[inline(always)]
    pub fn get(&self, function: u32, derivative: bool) -> Option<&Rc<Code>> {
        match self.codes[usize::from(derivative)].get(function as usize) {
            Some(Some(code)) => Some(code),
            _ => None,
        }
    }

    /// The code, compiled and checked if it has to be.
    ///
    /// # Errors
    /// When the compiler has none, or it is malformed.
    #[cold]
    pub fn load(
        &mut self,
        compiler: &mut dyn Compiler,
        function: u32,
        derivative: bool,
    ) -> Result<&Rc<Code>, Box<Fault>> {
        /// More functions than any program has; a number beyond comes from a damaged code object.
        const MOST: u32 = 1 << 24;
        let code = if derivative { compiler.derivative(function)? } else { compiler.original(function)? };
        verify(&code).map_err(|why| Fault::internal(format!("malformed code of `{}`: {why}", code.name)))?;
        if code.is_derivative != derivative || function >= MOST {
            return Err(Fault::internal(format!("the wrong code of `{}`", code.name)));
        }
        let codes = &mut self.codes[usize::from(derivative)];
        if codes.len() <= function as usize {
            codes.resize(function as usize + 1, None);
        }
        Ok(codes[function as usize].insert(code))
    }
}
