//! Formula: represents a function of numbers as a formula. Its graph is evaluated once, with formulas in the registers.
//!
//! In: a function that computes with numbers alone. Out: the formula of its result; where the function branches, a
//! selection.
//!
//! Promises: a formula computes the same value as the function. If a function cannot be converted, one sentence states
//! the reason and the location.
//! Not here: derivatives of formulas, and their simplification (`native::formula`).

mod arrays;
mod call;
mod integral;
mod loop_sum;
mod primitive;
mod static_properties;
mod step;

use crate::ir::{BlockId, Function, FunctionId, Program, Reg, Terminator};
use crate::native::field::Test;
use crate::native::formula::{Formula, FunctionFormula, Notation, folded};
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::Shape;
use std::rc::Rc;

/// The maximum size of a formula.
const MAX_SIZE: usize = 400;

/// The maximum number of nested calls of one function: a function that exceeds it is recursive. Nested derivatives nest
/// calls of a function of the library several times.
const MAX_DEPTH: usize = 6;

/// The maximum number of evaluated steps, in all cases together.
const STEPS: usize = 20_000;

/// The maximum number of nested branches on numbers.
const MAX_BRANCHES: usize = 10;

/// The reason why a function cannot be converted to a formula.
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
    /// An integer variable, by its name.
    IntegerVariable(Rc<str>),
    /// A Boolean that depends on numbers: a condition, and whether the Boolean is the negation of the condition.
    Truth(Test<Formula>, bool),
    /// A function object: the function, and its captured values.
    Function(FunctionId, Vec<Value>),
    /// An array: the components of its elements.
    Array(Vec<Vec<Value>>),
    /// An array that is a parameter, by its name: its elements have names such as `v[0]`.
    Elements(Rc<str>),
    /// A component that no formula reads, such as a message.
    Unread(Bank),
}

/// Converts a function to a formula.
///
/// # Errors
/// Returns the reason why the function cannot be converted.
pub fn formula(program: &Program, id: FunctionId) -> Result<FunctionFormula, NoFormula> {
    let mut evaluator = Evaluator::new(program);
    let Some(function) = program.function(id) else { return Err(evaluator.no("the function is not compiled")) };
    evaluator.place = function.span;
    let arguments = evaluator.arguments(program, function)?;
    let numbers = evaluator.names.len() as u8;
    match evaluator.run(id, arguments, &[])?.as_slice() {
        [Value::Number(formula)] => {
            let mut parameters: Vec<u8> = (0..numbers).collect();
            evaluator.elements.sort();
            parameters.extend(evaluator.elements.iter().map(|(_, _, k)| *k));
            let formula = folded(&loop_sum::unrolled(formula));
            Ok(FunctionFormula { formula, names: evaluator.names, parameters, notation: Notation::default() })
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
    /// The elements of array parameters that are read: the name of the array, the index, and the operand.
    elements: Vec<(Rc<str>, i64, u8)>,
    /// The source location of the current step in the user's program.
    place: Span,
    steps: usize,
    /// The number of branches on numbers around the current step.
    branches: usize,
}

/// The contents of the registers of a function.
type Registers = Vec<Option<Value>>;

impl<'p> Evaluator<'p> {
    fn new(program: &'p Program) -> Evaluator<'p> {
        Evaluator {
            program,
            names: vec![],
            open: vec![],
            elements: vec![],
            place: Span::default(),
            steps: 0,
            branches: 0,
        }
    }

    fn no(&self, reason: impl Into<String>) -> NoFormula {
        NoFormula { reason: reason.into(), span: self.place }
    }

    /// Returns the arguments of the function that is represented: its parameters by name.
    fn arguments(&mut self, program: &Program, function: &Function) -> Result<Vec<Value>, NoFormula> {
        let mut arguments = vec![];
        let numbers = |p: &&crate::ir::Parameter| {
            function.params.get(p.first).is_some_and(|reg| p.len == 1 && bank(function, *reg) == Bank::F)
        };
        // The operands of numbers come first, so that they are the first parameters.
        self.names = function.parameters.iter().filter(numbers).map(|p| p.name.to_string()).collect();
        for parameter in &function.parameters {
            let is_array = matches!(program.shapes.get(parameter.shape), Shape::Array(element)
                if *program.shapes.get(*element) == Shape::Double);
            arguments.push(match () {
                () if numbers(&parameter) => self.named(&parameter.name)?,
                () if is_array => Value::Elements(parameter.name.clone()),
                () => return Err(self.no("it does not map numbers to a number")),
            });
        }
        match function.results == [Bank::F] && arguments.len() == function.params.len() {
            true => Ok(arguments),
            false => Err(self.no("it does not map numbers to a number")),
        }
    }

    /// Returns the results of a function.
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
            // The steps before a trap compute its message.
            if let Some(Terminator::Trap(_)) = block.end {
                return Ok(None);
            }
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
                Value::IntegerVariable(name) => return Err(self.no(format!("it depends on the variable '{name}'"))),
                Value::Truth(test, is_opposite) => {
                    if static_properties::leaves_loop(function, at, [then, otherwise]) || self.branches == MAX_BRANCHES
                    {
                        return Err(self.no(match function.is_prelude {
                            true => format!("'{}' is computed by a loop", static_properties::called(function)),
                            false => "how often its loop runs depends on numbers".to_owned(),
                        }));
                    }
                    self.branches += 1;
                    let (yes, no) = if is_opposite { (otherwise, then) } else { (then, otherwise) };
                    let yes = self.walk(function, captures, yes, registers.clone());
                    let no = if yes.is_ok() { self.walk(function, captures, no, registers) } else { Ok(None) };
                    self.branches -= 1;
                    return self.either(&test, yes?, no?);
                }
                Value::Number(_) | Value::Function(..) | Value::Array(_) | Value::Elements(_) | Value::Unread(_) => {
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

    /// Returns a new operand, with a name that the body of the function does not use.
    fn variable(&mut self, name: &str) -> Result<u8, NoFormula> {
        let others = ["t", "s", "u", "v", "w", "k", "τ"];
        let is_free = |word: &&str| !self.names.iter().any(|own| own == word);
        let name = std::iter::once(name).chain(others).find(is_free).unwrap_or("τ").to_owned();
        self.names.push(name);
        u8::try_from(self.names.len() - 1).map_err(|_| self.no("the formula would be too long"))
    }

    /// Returns an operand that is represented by its name.
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
