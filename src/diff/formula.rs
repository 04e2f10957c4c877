//! Formula: represents a function of numbers as a formula. Its graph is evaluated once, with formulas in the registers.
//!
//! In: a function that computes with numbers alone. Out: the formula of its result; where the function branches, a selection.
//!
//! Promises: a formula computes the same value as the function. Where there is none, one sentence states the reason and the
//! location.
//! Not here: derivatives of formulas, and their simplification (`native::formula`).

mod call;
mod static_properties;
mod step;

use crate::ir::{BlockId, Function, FunctionId, Program, Reg, Terminator};
use crate::native::field::Test;
use crate::native::formula::{Formula, FunctionFormula};
use crate::source::Span;
use crate::value::Bank;

/// The maximum size of a formula.
const MAX_SIZE: usize = 400;

/// The maximum number of nested calls of one function: a function that exceeds it is recursive. Nested derivatives nest
/// calls of a function of the library several times.
const MAX_DEPTH: usize = 6;

/// The maximum number of evaluated steps, in all cases together.
const STEPS: usize = 20_000;

/// The reason why a function cannot be represented as a formula.
#[derive(Clone, PartialEq, Debug)]
pub struct NoFormula {
    /// The reason as a sentence without the line: `has a loop` for `line 3 has a loop`.
    pub reason: String,
    /// The source location of the step that no formula can express.
    pub span: Span,
}

/// The content of a register during the evaluation of a graph.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Number(Formula),
    Integer(i64),
    /// A truth value that depends on numbers, and whether it is the negation of the test.
    Truth(Test<Formula>, bool),
    /// A function object: the function, and its captured values.
    Function(FunctionId, Vec<Value>),
}

/// Converts a function to a formula.
///
/// # Errors
/// The reason why there is none.
pub fn formula(program: &Program, id: FunctionId) -> Result<FunctionFormula, NoFormula> {
    let mut evaluator = Evaluator::new(program);
    let Some(function) = program.function(id) else { return Err(evaluator.no("the function is not compiled")) };
    evaluator.place = function.span;
    evaluator.names = function.parameters.iter().map(|p| p.name.to_string()).collect();
    let parameters = evaluator.names.len();
    let are_numbers = function.params.len() == parameters && function.results == [Bank::F];
    if !are_numbers || function.params.iter().any(|reg| bank(function, *reg) != Bank::F) {
        return Err(evaluator.no("it does not map numbers to a number"));
    }
    let arguments = (0..parameters as u8).map(|k| Value::Number(Formula::Operand(k))).collect();
    match evaluator.run(id, arguments, &[])?.as_slice() {
        [Value::Number(formula)] => {
            Ok(FunctionFormula { formula: formula.clone(), names: evaluator.names, parameters })
        }
        _ => Err(evaluator.no("its result is not a number")),
    }
}

fn bank(function: &Function, reg: Reg) -> Bank {
    function.registers.get(reg.0 as usize).map_or(Bank::R, |register| register.bank)
}

/// The state of the evaluation of graphs.
struct Evaluator<'p> {
    program: &'p Program,
    /// The names of the operands of the formula.
    names: Vec<String>,
    /// The functions that are being evaluated, the innermost function last.
    open: Vec<FunctionId>,
    /// The current place in the program's own source text.
    place: Span,
    steps: usize,
}

/// The contents of the registers of a function.
type Registers = Vec<Option<Value>>;

impl<'p> Evaluator<'p> {
    fn new(program: &'p Program) -> Evaluator<'p> {
        Evaluator { program, names: vec![], open: vec![], place: Span::default(), steps: 0 }
    }

    fn no(&self, reason: impl Into<String>) -> NoFormula {
        NoFormula { reason: reason.into(), span: self.place }
    }

    /// Evaluates a function and returns its results.
    fn run(&mut self, id: FunctionId, arguments: Vec<Value>, captures: &[Value]) -> Result<Vec<Value>, NoFormula> {
        let Some(function) = self.program.function(id).cloned() else {
            return Err(self.no("the function is not compiled"));
        };
        if self.open.iter().filter(|open| **open == id).count() >= MAX_DEPTH {
            return Err(self.no(format!("'{}' calls itself", static_properties::called(&function))));
        }
        if let Some(reason) = static_properties::obstacle(&function) {
            return Err(self.no(reason));
        }
        if let Some(place) = static_properties::cycle(&function) {
            return Err(match function.is_prelude {
                true => self.no(format!("'{}' is computed by a loop", static_properties::called(&function))),
                false => NoFormula { reason: "it contains a loop".into(), span: place },
            });
        }
        let mut registers: Registers = vec![None; function.registers.len()];
        for (reg, argument) in function.params.iter().zip(arguments) {
            static_properties::put(&mut registers, *reg, argument);
        }
        let place = self.place;
        self.open.push(id);
        let results = self.walk(&function, captures, BlockId(0), registers);
        self.open.pop();
        self.place = place;
        results?.ok_or_else(|| self.no("it never returns a value"))
    }

    /// Evaluates the steps from a block on and returns the results; `None` when the program stops.
    fn walk(
        &mut self,
        function: &Function,
        captures: &[Value],
        mut at: BlockId,
        mut registers: Registers,
    ) -> Result<Option<Vec<Value>>, NoFormula> {
        loop {
            let Some(block) = function.blocks.get(at.0 as usize) else { return Err(self.no("it never returns")) };
            for instruction in &block.instructions {
                self.steps += 1;
                if self.steps > STEPS {
                    return Err(self.no("it is too long"));
                }
                if !function.is_prelude {
                    self.place = instruction.span;
                }
                self.step(function, captures, instruction, &mut registers)?;
            }
            let condition = match block.end.as_ref() {
                Some(Terminator::Jump(next)) => {
                    at = *next;
                    continue;
                }
                Some(Terminator::Return(results)) => {
                    return results.iter().map(|reg| self.value(&registers, *reg)).collect::<Result<_, _>>().map(Some);
                }
                Some(Terminator::Branch { condition, then, otherwise }) => (*condition, *then, *otherwise),
                Some(Terminator::Trap(_)) | None => return Ok(None),
            };
            let (condition, then, otherwise) = condition;
            match self.value(&registers, condition)? {
                Value::Integer(n) => at = if n != 0 { then } else { otherwise },
                Value::Truth(test, is_opposite) => {
                    let (yes, no) = if is_opposite { (otherwise, then) } else { (then, otherwise) };
                    let yes = self.walk(function, captures, yes, registers.clone())?;
                    let no = self.walk(function, captures, no, registers)?;
                    return self.either(&test, yes, no);
                }
                Value::Number(_) | Value::Function(..) => {
                    return Err(self.no("it branches on something other than numbers"));
                }
            }
        }
    }

    /// Combines the results of the two branches of a condition; a branch that stops the program is no case of the
    /// formula.
    fn either(
        &self,
        test: &Test<Formula>,
        yes: Option<Vec<Value>>,
        no: Option<Vec<Value>>,
    ) -> Result<Option<Vec<Value>>, NoFormula> {
        let (Some(yes), Some(no)) = (yes.clone(), no.clone()) else { return Ok(yes.or(no)) };
        let pairs = yes.into_iter().zip(no).map(|pair| match pair {
            (Value::Number(a), Value::Number(b)) => self.number(Formula::Select(Box::new((test.clone(), a, b)))),
            (a, b) if a == b => Ok(a),
            _ => Err(self.no("its branches give values other than numbers")),
        });
        pairs.collect::<Result<_, _>>().map(Some)
    }

    fn value(&self, registers: &Registers, reg: Reg) -> Result<Value, NoFormula> {
        let value = registers.get(reg.0 as usize).cloned().flatten();
        value.ok_or_else(|| self.no("it uses values other than numbers"))
    }

    /// Returns a formula as a value, unless the formula is too long to read.
    fn number(&self, formula: Formula) -> Result<Value, NoFormula> {
        if formula.size() > MAX_SIZE {
            return Err(self.no("the formula would be too long"));
        }
        Ok(Value::Number(formula))
    }

    /// Returns the operand with the given name as a formula.
    fn named(&mut self, name: &str) -> Result<Value, NoFormula> {
        let at = self.names.iter().position(|word| word == name).unwrap_or(self.names.len());
        if at == self.names.len() {
            self.names.push(name.to_owned());
        }
        match u8::try_from(at) {
            Ok(at) => Ok(Value::Number(Formula::Operand(at))),
            Err(_) => Err(self.no("the formula would be too long")),
        }
    }
}
