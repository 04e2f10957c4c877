//! Rendering of helper functions, the main function, closures and local functions.

use super::super::{Body, Expr, Helper, Pick, Stmt};
use super::{HelperKind, Scope, Writer, chosen};

/// The operators, with the expression that extracts the derivative from their results.
const OPERATORS: &[(&str, &str)] = &[
    ("gradient", ""),
    ("derivative", ""),
    ("valueWithGradient", ".gradient"),
    ("pullback", "(0.5)"),
    ("differential", "(0.75)"),
    ("valueWithDerivative", ".value"),
];

impl Writer {
    pub(super) fn helper(&mut self, k: usize, helper: &Helper) {
        let name = format!("h{k}");
        let kind = match helper {
            Helper::Plain(body) => {
                self.function(&name, &["x", "y"], "", body);
                HelperKind::Plain
            }
            Helper::Throwing(body) if self.is_arithmetic => {
                self.function(&name, &["x", "y"], "", body);
                HelperKind::Plain
            }
            Helper::Throwing(body) => {
                self.function(&name, &["x", "y"], "throws ", body);
                HelperKind::Throwing
            }
            Helper::Recursive { last, step, times } => {
                self.scope = Scope::of(&["x"]);
                let last = self.expr(last);
                self.scope = Scope::of(&["x", "r"]);
                let step = self.expr(step);
                self.line(&format!("func {name}(_ x: Double, _ n: Int) -> Double {{"));
                self.line(&format!("    if n <= 0 {{ return {last} }}"));
                self.line(&format!("    let r = {name}(0.5 * x, n - 1)"));
                self.line(&format!("    return tanh({step})"));
                self.line("}");
                HelperKind::Recursive(*times)
            }
            Helper::InOut { before, value, calls } => {
                self.line(&format!("func {name}(_ a: inout Double, _ t: Double) {{"));
                self.in_out(before, value, calls);
                self.line("}");
                HelperKind::InOut
            }
        };
        self.helpers.push((name, kind));
    }

    /// Renders the body of a function that changes `a`. Closures use a copy of `a`, because they must not capture it.
    fn in_out(&mut self, before: &[Stmt], value: &Expr, calls: &[(Pick, Expr)]) {
        self.depth += 1;
        self.line("let s = a");
        self.scope = Scope::of(&["s", "t"]);
        self.runs = 1;
        before.iter().for_each(|statement| self.stmt(statement));
        let value = self.expr(value);
        let kept = self.kept();
        self.line(&format!("a = sin({value}{kept})"));
        for (pick, argument) in calls {
            let argument = self.expr(argument);
            match self.changing(*pick) {
                Some(helper) => self.line(&format!("{helper}(&a, {argument})")),
                None => self.line(&format!("nudge(&a, {argument})")),
            }
        }
        self.depth -= 1;
    }

    /// Returns a helper function with an `inout` parameter.
    fn changing(&self, pick: Pick) -> Option<String> {
        let all = self.helpers.iter().filter(|(_, kind)| *kind == HelperKind::InOut).map(|(name, _)| name);
        chosen(&all.collect::<Vec<_>>(), pick).map(|name| name.to_string())
    }

    pub(super) fn function(&mut self, name: &str, params: &[&str], effect: &str, body: &Body) {
        let list: Vec<String> = params.iter().map(|p| format!("_ {p}: Double")).collect();
        self.line(&format!("func {name}({}) {effect}-> Double {{", list.join(", ")));
        self.scope = Scope { returns: true, throws: !effect.is_empty(), ..Scope::of(params) };
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

    pub(super) fn callable(&mut self, statement: &Stmt) {
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
            Stmt::InOut(helper, place, value) => {
                let value = self.expr(value);
                if let (Some(helper), Some(place)) = (self.changing(*helper), self.place(*place)) {
                    self.line(&format!("{helper}(&{place}, {value})"));
                }
            }
            Stmt::Routine(body, result) => {
                let name = self.fresh("k");
                let things = self.scope.things.clone();
                self.scope.forget_pullbacks();
                self.closure(&format!("let {name} = {{"), body, result);
                self.scope.things = things;
                self.line("}");
                self.scope.closures.push(name);
            }
            Stmt::Inner(operator, at, body, result) => {
                let at = self.bounded(at);
                let Some((operator, part)) = chosen(OPERATORS, *operator) else { return };
                let name = self.fresh("c");
                self.closure(&format!("let {name} = tanh({operator}(at: {at}, in: {{"), body, result);
                self.line(&format!("}}){part})"));
                self.scope.numbers.push(name);
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

    /// Renders a closure with statements, up to its closing brace.
    fn closure(&mut self, head: &str, body: &[Stmt], result: &Expr) {
        let t = self.fresh("t");
        let outer = (self.scope.clone(), self.runs);
        self.runs *= 2;
        self.scope.forget_exits();
        self.scope.returns = true;
        self.scope.numbers.push(t.clone());
        self.line(&format!("{head} ({t}: Double) -> Double in"));
        self.depth += 1;
        body.iter().for_each(|statement| self.stmt(statement));
        let result = self.expr(result);
        self.line(&format!("return sin({result})"));
        self.depth -= 1;
        (self.scope, self.runs) = outer;
    }

    /// Returns a place that can be passed `inout`: a variable, an element or a field.
    fn place(&self, pick: Pick) -> Option<String> {
        let scope = &self.scope;
        let element = || self.element(pick / 3, pick);
        let field = || chosen(&scope.structs, pick / 3).map(|name| format!("{name}.a"));
        let variable = || chosen(&scope.variables, pick / 3).cloned();
        match pick % 3 {
            0 => element().or_else(field).or_else(variable),
            1 => field().or_else(variable),
            _ => variable(),
        }
    }
}
