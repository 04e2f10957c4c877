//! Rendering of numbers and conditions.

use super::super::{Bound, Bounded, Condition, Expr, Pick};
use super::operations::{ARITHMETIC, ARITHMETIC_OF_TWO, BINARY, UNARY};
use super::{HelperKind, Writer, chosen, chosen_of_both};

impl Writer {
    pub(super) fn with_number(&mut self, name: &str, write: impl FnOnce(&mut Writer) -> String) -> String {
        self.scope.numbers.push(name.to_string());
        let text = write(self);
        self.scope.numbers.pop();
        text
    }

    pub(super) fn element(&self, pick: Pick, index: Pick) -> Option<String> {
        let (name, len) = chosen(&self.scope.arrays, pick)?;
        // The index is sometimes a loop variable, otherwise a literal.
        match chosen(&self.scope.counters, index) {
            Some(i) if index % 2 == 1 => Some(format!("{name}[{i} % {len}]")),
            _ => Some(format!("{name}[{}]", index as usize % len)),
        }
    }

    pub(super) fn bounded(&mut self, Bounded(bound, expr): &Bounded) -> String {
        let value = self.expr(expr);
        match bound {
            Bound::Sin => format!("sin({value})"),
            Bound::Tanh => format!("tanh({value})"),
            Bound::Atan => format!("atan({value})"),
            Bound::Cos => format!("0.5 * cos({value})"),
        }
    }

    pub(super) fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            // Two expressions that are always equal must not compare differently because of rounding.
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

    pub(super) fn expr(&mut self, expr: &Expr) -> String {
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
                let all = [ARITHMETIC, if self.is_arithmetic { &[] } else { UNARY }];
                chosen_of_both(all, *f).map_or_else(String::new, |template| template.replace('#', &x))
            }
            Expr::Binary(f, x, y) => {
                let (x, y) = (self.expr(x), self.expr(y));
                let all = [ARITHMETIC_OF_TWO, if self.is_arithmetic { &[] } else { BINARY }];
                let template = chosen_of_both(all, *f).unwrap_or_default();
                template.replace("#1", &x).replace("#2", &y)
            }
            Expr::Call(pick, x, y) => {
                let (x, y) = (self.expr(x), self.expr(y));
                let helpers: Vec<&(String, HelperKind)> =
                    self.helpers.iter().filter(|(_, kind)| *kind != HelperKind::InOut).collect();
                match chosen(&helpers, *pick) {
                    Some((name, HelperKind::Throwing)) if pick % 2 == 0 => format!("((try? {name}({x}, {y})) ?? {x})"),
                    Some((name, HelperKind::Throwing)) => {
                        format!("caught({{ try {name}({x}, {y}) }}, {{ error in weight(error) }})")
                    }
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
