//! Rendering of random programs as text.

mod control;
mod expressions;
mod functions;
mod operations;
mod things;

use super::kinds::{Kind, PULLBACK};
use super::{Bounded, Pick, Program, Stmt};
use std::fmt::Write;

/// The common declarations of all programs.
pub(super) const COMMON: &str = concat!(
    include_str!("common/values.dscript"),
    include_str!("common/effects.dscript"),
    include_str!("common/generics.dscript"),
    include_str!("common/registered.dscript"),
    include_str!("common/members.dscript"),
);

/// Renders the declarations of a program; its main function is `f`, with `arity` parameters.
pub fn program(program: &Program, arity: usize) -> String {
    let is_arithmetic = program.is_arithmetic;
    let mut out = Writer { text: COMMON.to_string(), is_arithmetic, ..Writer::default() };
    for (k, helper) in program.helpers.iter().enumerate() {
        out.helper(k, helper);
    }
    let params: Vec<&str> = ["x", "y"].into_iter().take(arity).collect();
    out.function("f", &params, "", &program.main);
    out.text
}

#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
    next: usize,
    scope: Scope,
    helpers: Vec<(String, HelperKind)>,
    /// The number of executions of the innermost statement, which limits nested loops.
    runs: u32,
    is_arithmetic: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum HelperKind {
    Plain,
    Recursive(u8),
    Throwing,
    InOut,
}

/// The names in scope.
#[derive(Clone, Default)]
struct Scope {
    numbers: Vec<String>,
    variables: Vec<String>,
    arrays: Vec<(String, usize)>,
    structs: Vec<String>,
    closures: Vec<String>,
    counters: Vec<String>,
    things: Vec<(String, &'static Kind)>,
    /// The labels that can be exited, and whether they are loops.
    labels: Vec<(String, bool)>,
    is_in_loop: bool,
    returns: bool,
    throws: bool,
}

impl Scope {
    /// Creates a scope of numbers.
    fn of(numbers: &[&str]) -> Scope {
        Scope { numbers: numbers.iter().map(|name| name.to_string()).collect(), ..Scope::default() }
    }

    /// Removes the pullbacks, because a pullback that is created in a checkpoint cannot leave it or be called in another one.
    fn forget_pullbacks(&mut self) {
        self.things.retain(|(_, kind)| !std::ptr::eq(*kind, &PULLBACK));
    }

    /// Removes the exits, at the start of a construct from which no outer one can be left.
    fn forget_exits(&mut self) {
        self.labels.clear();
        (self.is_in_loop, self.returns, self.throws) = (false, false, false);
    }
}

fn chosen<T>(all: &[T], pick: Pick) -> Option<&T> {
    all.get((pick as usize).checked_rem(all.len())?)
}

fn chosen_of_both(all: [&[&'static str]; 2], pick: Pick) -> Option<&'static str> {
    chosen(&all.concat(), pick).copied()
}

impl Writer {
    fn line(&mut self, text: &str) {
        for line in text.lines() {
            // Writing to a String cannot fail.
            let _ = writeln!(self.text, "{:1$}{line}", "", self.depth * 4);
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// Returns a number that depends on everything stored, so that every statement has an effect.
    fn kept(&self) -> String {
        let variables = self.scope.variables.iter().map(|v| format!(" + 0.5 * {v}"));
        let arrays = self.scope.arrays.iter().map(|(a, _)| format!(" + 0.25 * {a}.reduce(0.0, +)"));
        let structs = self.scope.structs.iter().map(|p| format!(" + 0.25 * {p}.mix(0.5)"));
        let things = self.scope.things.iter().map(|(name, kind)| format!(" + 0.25 * {}", kind.kept.replace('$', name)));
        variables.chain(arrays).chain(structs).chain(things).collect()
    }

    fn declare(&mut self, keyword: &str, prefix: &str, value: &str) -> String {
        let name = self.fresh(prefix);
        self.line(&format!("{keyword} {name} = {value}"));
        name
    }

    fn number(&mut self, keyword: &str, value: &str) {
        let name = self.declare(keyword, if keyword == "let" { "c" } else { "v" }, value);
        self.scope.numbers.push(name.clone());
        if keyword == "var" {
            self.scope.variables.push(name);
        }
    }

    fn stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Let(value) => {
                let value = self.bounded(value);
                self.number("let", &value);
            }
            Stmt::Var(value) => {
                let value = self.bounded(value);
                self.number("var", &value);
            }
            Stmt::Assign(pick, value) => self.change(*pick, "=", value),
            Stmt::Add(pick, value) => self.change(*pick, "+=", value),
            Stmt::Swap(a, b) => {
                let variables = &self.scope.variables;
                if let (Some(a), Some(b)) = (chosen(variables, *a).cloned(), chosen(variables, *b).cloned())
                    && a != b
                {
                    self.line(&format!("({a}, {b}) = ({b}, {a})"));
                }
            }
            Stmt::Tuple(a, b) => {
                let (a, b) = (self.bounded(a), self.bounded(b));
                let (p, q) = (self.fresh("c"), self.fresh("c"));
                self.line(&format!("let ({p}, {q}) = ({a}, {b})"));
                self.scope.numbers.extend([p, q]);
            }
            Stmt::Optional(condition, some, otherwise) => {
                let (condition, some) = (self.condition(condition), self.bounded(some));
                let otherwise = self.bounded(otherwise);
                let name = self.fresh("o");
                self.line(&format!("let {name}: Double? = {condition} ? {some} : nil"));
                self.number("let", &format!("{name} ?? {otherwise}"));
            }
            Stmt::If(..)
            | Stmt::For(..)
            | Stmt::While(..)
            | Stmt::Repeat(..)
            | Stmt::Leave(..)
            | Stmt::Return(..)
            | Stmt::Switch(..)
            | Stmt::ForIn(..)
            | Stmt::Labeled(..)
            | Stmt::Catch(..)
            | Stmt::Throw(..)
            | Stmt::Defer(..)
            | Stmt::Checkpoint(..) => self.control(statement),
            Stmt::Array(..) if self.is_arithmetic => self.number("var", "0.25"),
            Stmt::Array(..)
            | Stmt::Store(..)
            | Stmt::AddElement(..)
            | Stmt::Append(..)
            | Stmt::CopyArray(..)
            | Stmt::Struct(..)
            | Stmt::StoreField(..)
            | Stmt::Mutate(..) => self.aggregate(statement),
            Stmt::Accumulate(..) | Stmt::Routine(..) | Stmt::Inner(..) if self.is_arithmetic => {
                self.number("var", "0.75")
            }
            Stmt::Closure(..)
            | Stmt::Accumulate(..)
            | Stmt::Routine(..)
            | Stmt::Inner(..)
            | Stmt::InOut(..)
            | Stmt::LocalFunction(..) => self.callable(statement),
            Stmt::Make(kind, how, filling) => self.make(*kind, *how, filling),
            Stmt::Alter(pick, how, filling) => self.alter(*pick, *how, filling),
            Stmt::AlterVariable(pick, how, filling) => self.alter_variable(*pick, *how, filling),
            Stmt::Open(pick, how, filling, first, second) => self.open(*pick, *how, filling, [first, second]),
        }
    }

    fn change(&mut self, pick: Pick, operator: &str, value: &Bounded) {
        let value = self.bounded(value);
        match chosen(&self.scope.variables, pick).cloned() {
            Some(name) => self.line(&format!("{name} {operator} {value}")),
            None => self.number("var", &value),
        }
    }

    fn aggregate(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Array(elements) => {
                let values: Vec<String> = elements.iter().map(|e| self.bounded(e)).collect();
                let name = self.declare("var", "a", &format!("[{}]", values.join(", ")));
                self.scope.arrays.push((name, values.len()));
            }
            Stmt::Store(pick, index, value) | Stmt::AddElement(pick, index, value) => {
                let value = self.bounded(value);
                let operator = if matches!(statement, Stmt::Store(..)) { "=" } else { "+=" };
                if let Some(place) = self.element(*pick, *index) {
                    self.line(&format!("{place} {operator} {value}"));
                }
            }
            Stmt::Append(pick, value) => {
                let value = self.bounded(value);
                if let Some((name, _)) = chosen(&self.scope.arrays, *pick).cloned() {
                    self.line(&format!("{name}.append({value})"));
                }
            }
            Stmt::CopyArray(pick, value) => {
                let value = self.bounded(value);
                if let Some((name, len)) = chosen(&self.scope.arrays, *pick).cloned() {
                    let copy = self.declare("var", "a", &name);
                    self.line(&format!("{copy}[0] = {value}"));
                    self.scope.arrays.push((copy, len));
                }
            }
            Stmt::Struct(a, b) => {
                let (a, b) = (self.bounded(a), self.bounded(b));
                let name = self.declare("var", "p", &format!("Pair(a: {a}, b: {b})"));
                self.scope.structs.push(name);
            }
            Stmt::StoreField(pick, first, value) => {
                let value = self.bounded(value);
                if let Some(name) = chosen(&self.scope.structs, *pick).cloned() {
                    self.line(&format!("{name}.{} = {value}", if *first { "a" } else { "b" }));
                }
            }
            Stmt::Mutate(pick, value) => {
                let value = self.expr(value);
                if let Some(name) = chosen(&self.scope.structs, *pick).cloned() {
                    self.line(&format!("{name}.push({value})"));
                }
            }
            _ => unreachable!("only statements on arrays and structs are sent here"),
        }
    }
}
