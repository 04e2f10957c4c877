//! Random programs as text.

mod things;

use super::kinds::Kind;
use super::{Body, Bound, Bounded, Condition, Expr, Helper, Pick, Program, Stmt};
use std::fmt::Write;

/// What every program may use.
pub(super) const COMMON: &str = include_str!("common.dscript");

const UNARY: &[&str] = &[
    "sin(#)",
    "cos(#)",
    "tanh(#)",
    "atan(#)",
    "-(#)",
    "bell(#)",
    "soft(#)",
    "far(#)",
    "inverse(#)",
    "exp(tanh(#))",
    "log1p(0.5 + sin(#) / 2)",
    "asinh(#)",
    "expm1(sin(#))",
    "pow(sin(#), 3)",
    "sin(#)^2",
    "pow(1.5 + sin(#), 2.5)",
    "(1.25 + cos(#)).squareRoot()",
    "Double(Float(0.5)) * (#)",
    "abs(#)",
    "tagged(\"left\", #)",
    "tagged(\"\\(1 + 1)\", #)",
    "measured(Ball(radius: 0.5), #)",
    "composed(adder(0.5), { t in t * t })(#)",
    "Figure.line(#).size(0.75)",
    "Optional(#).map({ t in t * t })!",
    "(1...3).reduce(#, { s, i in 0.5 * s + Double(i) * 0.25 })",
    "[#, 0.5].map({ $0 * $0 }).reduce(0.0, +)",
    "derivative(at: #, in: { t in sin(t) * t })",
    "gradient(at: #, in: { t in bell(t) })",
    "gradient(at: 0.25, in: { t in sin(t * (#)) })",
    "gradient(at: Pair(a: #, b: 0.5), in: { p in p.mix(0.75) }).b",
];

const BINARY: &[&str] = &[
    "(#1 + #2)",
    "(#1 - #2)",
    "(#1 * #2)",
    "(#1 + #2)",
    "(#1 * #2)",
    "(#1 / (1.5 + sin(#2)))",
    "hypot(#1, 1.5 + cos(#2))",
    "atan2(#1, 1.5 + cos(#2))",
    "pow(1.5 + sin(#1), tanh(#2))",
    "max(#1, #2)",
    "min(#1, #2)",
    "both(#1, #2).1",
    "measured(Ball(radius: #1), #2)",
    "Pair(a: #1, b: #2).twice(0.5)",
    "adder(#1)(#2)",
    "Holder(body: adder(#1), scale: #2)(0.5)",
    "[#1, #2].max()!",
    "[#1, #2].sorted()[0]",
    "zip([#1, 0.25], [#2, 0.5]).map({ p, q in p * q }).reduce(0.0, +)",
    "((try? attempt(false, #1)) ?? #2)",
    "[\"a\": #1, \"b\": #2].values.reduce(0.0, +)",
    "Figure.both(.line(#1), .box(#2, Pair(a: 0.5, b: 0.25))).size(0.75)",
    "Cell(#1).read(#2)",
];

/// The declarations of a program; its main function is `f`, of `arity` numbers.
pub fn program(program: &Program, arity: usize) -> String {
    let mut out = Writer { text: COMMON.to_string(), ..Writer::default() };
    for (k, helper) in program.helpers.iter().enumerate() {
        out.helper(k, helper);
    }
    let params: Vec<&str> = ["x", "y"].into_iter().take(arity).collect();
    out.function("f", &params, &program.main);
    out.text
}

#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
    next: usize,
    scope: Scope,
    helpers: Vec<(String, HelperKind)>,
    /// How often the innermost statement is run, to keep nested loops short.
    runs: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum HelperKind {
    Plain,
    Recursive(u8),
    InOut,
}

/// What can be named.
#[derive(Clone, Default)]
struct Scope {
    numbers: Vec<String>,
    variables: Vec<String>,
    arrays: Vec<(String, usize)>,
    structs: Vec<String>,
    closures: Vec<String>,
    counters: Vec<String>,
    things: Vec<(String, &'static Kind)>,
    is_in_loop: bool,
}

fn chosen<T>(all: &[T], pick: Pick) -> Option<&T> {
    all.get((pick as usize).checked_rem(all.len())?)
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

    fn helper(&mut self, k: usize, helper: &Helper) {
        let name = format!("h{k}");
        let of = |names: &[&str]| Scope { numbers: names.iter().map(|n| n.to_string()).collect(), ..Scope::default() };
        let kind = match helper {
            Helper::Plain(body) => {
                self.function(&name, &["x", "y"], body);
                HelperKind::Plain
            }
            Helper::Recursive { last, step, times } => {
                self.scope = of(&["x"]);
                let last = self.expr(last);
                self.scope = of(&["x", "r"]);
                let step = self.expr(step);
                self.line(&format!("func {name}(_ x: Double, _ n: Int) -> Double {{"));
                self.line(&format!("    if n <= 0 {{ return {last} }}"));
                self.line(&format!("    let r = {name}(0.5 * x, n - 1)"));
                self.line(&format!("    return tanh({step})"));
                self.line("}");
                HelperKind::Recursive(*times)
            }
            Helper::InOut(expr) => {
                self.scope = of(&["a", "t"]);
                let value = self.expr(expr);
                self.line(&format!("func {name}(_ a: inout Double, _ t: Double) {{"));
                self.line(&format!("    a = sin({value})"));
                self.line("}");
                HelperKind::InOut
            }
        };
        self.helpers.push((name, kind));
    }

    fn function(&mut self, name: &str, params: &[&str], body: &Body) {
        let list: Vec<String> = params.iter().map(|p| format!("_ {p}: Double")).collect();
        self.line(&format!("func {name}({}) -> Double {{", list.join(", ")));
        self.scope = Scope { numbers: params.iter().map(|p| p.to_string()).collect(), ..Scope::default() };
        self.depth += 1;
        self.runs = 1;
        for statement in &body.statements {
            self.stmt(statement);
        }
        let result = self.expr(&body.result);
        let kept = self.kept();
        self.line(&format!("return {result}{kept}"));
        self.depth -= 1;
        self.line("}");
    }

    /// All that was stored, so that no statement is without consequence.
    fn kept(&self) -> String {
        let variables = self.scope.variables.iter().map(|v| format!(" + 0.5 * {v}"));
        let arrays = self.scope.arrays.iter().map(|(a, _)| format!(" + 0.25 * {a}.reduce(0.0, +)"));
        let structs = self.scope.structs.iter().map(|p| format!(" + 0.25 * {p}.mix(0.5)"));
        let things = self.scope.things.iter().map(|(name, kind)| format!(" + 0.25 * {}", kind.kept.replace('$', name)));
        variables.chain(arrays).chain(structs).chain(things).collect()
    }

    /// A block of its own: what is declared in it is out of scope behind it.
    fn block(&mut self, head: &str, body: &[Stmt], prepare: impl FnOnce(&mut Scope)) {
        self.line(head);
        let outer = self.scope.clone();
        prepare(&mut self.scope);
        self.depth += 1;
        for statement in body {
            self.stmt(statement);
        }
        self.depth -= 1;
        self.scope = outer;
    }

    /// A loop of at most `times` turns.
    fn turns(&mut self, times: u8, body: impl FnOnce(&mut Writer, u8)) {
        let outer = self.runs;
        let times = if outer * u32::from(times) > 8 { 1 } else { times };
        self.runs = outer * u32::from(times);
        body(self, times);
        self.runs = outer;
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
            | Stmt::ForIn(..) => self.control(statement),
            Stmt::Array(..)
            | Stmt::Store(..)
            | Stmt::AddElement(..)
            | Stmt::Append(..)
            | Stmt::CopyArray(..)
            | Stmt::Struct(..)
            | Stmt::StoreField(..)
            | Stmt::Mutate(..) => self.aggregate(statement),
            Stmt::Closure(..) | Stmt::Accumulate(..) | Stmt::InOut(..) | Stmt::LocalFunction(..) => {
                self.callable(statement);
            }
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

    fn control(&mut self, statement: &Stmt) {
        match statement {
            Stmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                self.block(&format!("if {condition} {{"), then, |_| {});
                self.block("} else {", otherwise, |_| {});
                self.line("}");
            }
            Stmt::For(times, body) => self.turns(*times, |w, times| {
                let i = w.fresh("i");
                w.block(&format!("for {i} in 0..<{times} {{"), body, |s| {
                    s.counters.push(i.clone());
                    s.is_in_loop = true;
                });
                w.line("}");
            }),
            Stmt::While(times, body) => self.turns(*times, |w, times| {
                let n = w.declare("var", "n", "0");
                w.line(&format!("while {n} < {times} {{"));
                w.block(&format!("    {n} += 1"), body, |s| {
                    s.counters.push(n.clone());
                    s.is_in_loop = true;
                });
                w.line("}");
            }),
            Stmt::Repeat(times, body) => self.turns(*times, |w, times| {
                let n = w.declare("var", "n", "0");
                w.line("repeat {");
                w.block(&format!("    {n} += 1"), body, |s| {
                    s.counters.push(n.clone());
                    s.is_in_loop = true;
                });
                w.line(&format!("}} while {n} < {times}"));
            }),
            Stmt::ForIn(pick, body) => {
                let Some((array, len)) = chosen(&self.scope.arrays, *pick).cloned() else { return };
                self.turns(len as u8, |w, times| {
                    let e = w.fresh("e");
                    w.block(&format!("for {e} in {array}.prefix({times}) {{"), body, |s| {
                        s.numbers.push(e.clone());
                        s.is_in_loop = true;
                    });
                    w.line("}");
                });
            }
            Stmt::Leave(condition, is_break) => {
                let condition = self.condition(condition);
                if self.scope.is_in_loop {
                    self.line(&format!("if {condition} {{ {} }}", if *is_break { "break" } else { "continue" }));
                }
            }
            Stmt::Return(condition, value) => {
                let (condition, value) = (self.condition(condition), self.expr(value));
                self.line(&format!("if {condition} {{ return {value} }}"));
            }
            Stmt::Switch(pick, zero, one, other) => {
                let Some(i) = chosen(&self.scope.counters, *pick).cloned() else {
                    return;
                };
                self.line(&format!("switch {i} % 3 {{"));
                for (head, body) in [("case 0:", zero), ("case 1, 5:", one), ("default:", other)] {
                    // Leaving the loop from here would leave the switch instead.
                    self.block(head, body, |s| s.is_in_loop = false);
                    // A case must not be empty.
                    self.line("    break");
                }
                self.line("}");
            }
            _ => unreachable!("only statements of control are sent here"),
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

    fn callable(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Closure(body) => {
                let t = self.fresh("t");
                let body = self.with_number(&t, |w| w.expr(body));
                let name = self.declare("let", "k", &format!("{{ ({t}: Double) -> Double in {body} }}"));
                self.scope.closures.push(name);
            }
            Stmt::Accumulate(start, first, second) => {
                let start = self.bounded(start);
                let (first, second) = (self.expr(first), self.expr(second));
                let total = self.declare("var", "v", &start);
                let t = self.fresh("t");
                let add = format!("{{ ({t}: Double) in {total} = sin({total} + {t}) }}");
                let add = self.declare("let", "g", &add);
                self.line(&format!("{add}({first})"));
                self.line(&format!("{add}({second})"));
                self.scope.numbers.push(total.clone());
                self.scope.variables.push(total);
            }
            Stmt::InOut(helper, variable, value) => {
                let value = self.expr(value);
                let helpers: Vec<&String> =
                    self.helpers.iter().filter(|(_, kind)| *kind == HelperKind::InOut).map(|(name, _)| name).collect();
                if let (Some(helper), Some(name)) =
                    (chosen(&helpers, *helper), chosen(&self.scope.variables, *variable))
                {
                    self.line(&format!("{helper}(&{name}, {value})"));
                }
            }
            Stmt::LocalFunction(body, argument) => {
                let (name, t) = (self.fresh("inner"), self.fresh("t"));
                let body = self.with_number(&t, |w| w.expr(body));
                let argument = self.expr(argument);
                self.line(&format!("func {name}(_ {t}: Double) -> Double {{ {body} }}"));
                self.number("let", &format!("tanh({name}({argument}))"));
            }
            _ => unreachable!("only statements about functions are sent here"),
        }
    }

    fn with_number(&mut self, name: &str, write: impl FnOnce(&mut Writer) -> String) -> String {
        self.scope.numbers.push(name.to_string());
        let text = write(self);
        self.scope.numbers.pop();
        text
    }

    fn element(&self, pick: Pick, index: Pick) -> Option<String> {
        let (name, len) = chosen(&self.scope.arrays, pick)?;
        // Now and then by a loop variable, otherwise by a literal.
        match chosen(&self.scope.counters, index) {
            Some(i) if index % 2 == 1 => Some(format!("{name}[{i} % {len}]")),
            _ => Some(format!("{name}[{}]", index as usize % len)),
        }
    }

    fn bounded(&mut self, Bounded(bound, expr): &Bounded) -> String {
        let value = self.expr(expr);
        match bound {
            Bound::Sin => format!("sin({value})"),
            Bound::Tanh => format!("tanh({value})"),
            Bound::Atan => format!("atan({value})"),
            Bound::Cos => format!("0.5 * cos({value})"),
        }
    }

    fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            // Two expressions that are equal whatever the numbers must not be told apart by rounding.
            Condition::Less(a, b) => format!("{} < {} + 0.0625", self.expr(a), self.expr(b)),
            Condition::Even(pick) => match chosen(&self.scope.counters, *pick) {
                Some(i) => format!("{i} % 2 == 0"),
                None => "0.25 < 0.5".into(),
            },
            Condition::Both(a, b) => format!("{} && {}", self.condition(a), self.condition(b)),
            Condition::Not(a) => format!("!({})", self.condition(a)),
        }
    }

    fn variable(&self, pick: Pick) -> String {
        chosen(&self.scope.numbers, pick).cloned().unwrap_or_else(|| "0.5".into())
    }

    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Constant(sixteenths) => {
                let value = f64::from(*sixteenths) / 16.0;
                if value < 0.0 { format!("({value:?})") } else { format!("{value:?}") }
            }
            Expr::Variable(pick) => self.variable(*pick),
            Expr::Element(pick, index) => self.element(*pick, *index).unwrap_or_else(|| self.variable(*index)),
            Expr::Field(pick, field) => match chosen(&self.scope.structs, *pick) {
                Some(name) => format!("{name}.{}", ["a", "b", "sum"][*field as usize % 3]),
                None => self.variable(*field),
            },
            Expr::Unary(f, x) => {
                let x = self.expr(x);
                UNARY[*f as usize % UNARY.len()].replace('#', &x)
            }
            Expr::Binary(f, x, y) => {
                let (x, y) = (self.expr(x), self.expr(y));
                BINARY[*f as usize % BINARY.len()].replace("#1", &x).replace("#2", &y)
            }
            Expr::Call(pick, x, y) => {
                let (x, y) = (self.expr(x), self.expr(y));
                let helpers: Vec<&(String, HelperKind)> =
                    self.helpers.iter().filter(|(_, kind)| *kind != HelperKind::InOut).collect();
                match chosen(&helpers, *pick) {
                    Some((name, HelperKind::Recursive(times))) => format!("{name}({x}, {times})"),
                    Some((name, _)) => format!("{name}({x}, {y})"),
                    None => format!("({x} - {y})"),
                }
            }
            Expr::CallClosure(pick, x) => {
                let x = self.expr(x);
                match chosen(&self.scope.closures, *pick) {
                    Some(name) => format!("{name}({x})"),
                    None => format!("sin({x})"),
                }
            }
            Expr::Method(pick, x) => {
                let x = self.expr(x);
                match chosen(&self.scope.structs, *pick) {
                    Some(name) => format!("{name}.mix({x})"),
                    None => format!("cos({x})"),
                }
            }
            Expr::Temporary(x, y) => format!("Pair(a: {}, b: {}).mix(0.5)", self.expr(x), self.expr(y)),
            Expr::Ternary(condition, x, y) => {
                format!("({} ? {} : {})", self.condition(condition), self.expr(x), self.expr(y))
            }
            Expr::MapReduce(pick, x) => {
                let Some((array, _)) = chosen(&self.scope.arrays, *pick).cloned() else { return self.expr(x) };
                let t = self.fresh("t");
                let body = self.with_number(&t, |w| w.expr(x));
                format!("{array}.map({{ ({t}: Double) -> Double in {t} * {body} }}).reduce(0.0, +)")
            }
            Expr::Generic(condition, x, y) => {
                format!("pick({}, {}, {})", self.condition(condition), self.expr(x), self.expr(y))
            }
            Expr::HigherOrder(x, body) => {
                let x = self.expr(x);
                let t = self.fresh("t");
                let body = self.with_number(&t, |w| w.expr(body));
                format!("apply({x}, {{ {t} in {body} }})")
            }
            Expr::Read(pick, how, x) => self.read(*pick, *how, x),
        }
    }
}
