//! Requirements that promise no derivative, called from a function that promises one.
//!
//! In: a checked body with generic parameters. Out: an error for each call of an unmarked requirement that lies on a way
//! from what the function is differentiated by to its result.
//!
//! Promises: a condition is not a way, and nothing goes through `withoutDerivative`. Calls inside of closures and of
//! functions that are called are not looked at: they promise nothing.

use super::store::{Signature, World};
use super::tree::{
    Argument, Body, Callee, Case, Expr, ExprKind, FunctionId, LocalId, Pattern, PatternKind, Root, Stmt, StmtKind,
};
use super::ty::Type;
use crate::diagnostic::{Code, Diagnostic};
use hashbrown::{HashMap, HashSet};

/// What is known of the variables of a body.
struct Ways<'b> {
    /// Variables that vary with what the function is differentiated by.
    varies: HashSet<LocalId>,
    /// What variables are given.
    values: HashMap<LocalId, Vec<&'b Expr>>,
    returned: Vec<&'b Expr>,
    cut: Option<FunctionId>,
}

impl World {
    /// Reports the unmarked requirements that a promised generic function depends on.
    pub(super) fn check_called_requirements(&mut self, f: FunctionId, body: &Body) {
        let Some(promise) = self.promise(f).filter(|p| !p.default) else { return };
        let signature = self.signature(f);
        if signature.env.params.is_empty() {
            return;
        }
        let mut ways = Ways {
            varies: (0..).map(LocalId).zip(&promise.wrt).filter(|(_, w)| **w).map(|(local, _)| local).collect(),
            values: HashMap::new(),
            returned: vec![],
            cut: self.library_function("withoutDerivative"),
        };
        ways.statements(&body.statements);
        while ways.spread() {}
        for call in ways.calls_on_the_way() {
            self.report_unmarked(call, &signature);
        }
    }

    fn report_unmarked(&mut self, call: &Expr, signature: &Signature) {
        let ExprKind::Call { callee: Callee::Requirement { protocol, requirement, .. }, .. } = &call.kind else {
            return;
        };
        let data = self.protocol_data(*protocol);
        let (function, is_prelude) = (data.requirements[*requirement as usize].function, data.is_prelude);
        if is_prelude || self.promise(function).is_some() || !self.function_data(function).registered.is_empty() {
            return;
        }
        let differentiable = self.protocol("Differentiable");
        let saved = std::mem::replace(&mut self.env, signature.env.clone());
        let moves = !matches!(call.ty, Type::Function(_)) && self.conforms_to(&call.ty, differentiable);
        self.env = saved;
        if moves {
            let at = self.function_data(function).span;
            let message =
                "member is not differentiable because the corresponding protocol requirement is not '@differentiable'";
            let diagnostic = Diagnostic::error(Code::NoDerivative, call.span, "expression is not differentiable")
                .note_at(call.span, message)
                .also(at, "the requirement")
                .help("mark the requirement with '@differentiable'");
            self.report(diagnostic);
        }
    }
}

impl<'b> Ways<'b> {
    fn statements(&mut self, statements: &'b [Stmt]) {
        for s in statements {
            self.statement(s);
        }
    }

    fn statement(&mut self, s: &'b Stmt) {
        match &s.kind {
            StmtKind::Let { pattern, value: Some(value) } => self.bind(pattern, value),
            StmtKind::Assign { place, value } => {
                if let Root::Local(local) = place.root {
                    self.values.entry(local).or_default().push(value);
                }
                self.inside(value);
            }
            StmtKind::Return(Some(value)) => {
                self.returned.push(value);
                self.inside(value);
            }
            StmtKind::If { then, otherwise, .. } => {
                self.statements(then);
                self.statements(otherwise);
            }
            StmtKind::Guard { otherwise, .. } => self.statements(otherwise),
            StmtKind::While { body, .. }
            | StmtKind::Repeat { body, .. }
            | StmtKind::Block { body, .. }
            | StmtKind::Defer(body) => self.statements(body),
            StmtKind::For { pattern, sequence, body, .. } => {
                self.bind(pattern, sequence);
                self.statements(body);
            }
            StmtKind::Switch { local, subject, cases, .. } => {
                self.values.entry(*local).or_default().push(subject);
                self.cases(subject, cases);
            }
            StmtKind::Catch { body, cases, .. } => {
                self.statements(body);
                cases.iter().for_each(|c| self.statements(&c.body));
            }
            StmtKind::Expr(e) => self.inside(e),
            StmtKind::Let { value: None, .. }
            | StmtKind::Return(None)
            | StmtKind::InitGlobal { .. }
            | StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::Throw(_)
            | StmtKind::LocalFunction(_) => {}
        }
    }

    fn cases(&mut self, subject: &'b Expr, cases: &'b [Case]) {
        for case in cases {
            for (pattern, _) in &case.patterns {
                self.bind(pattern, subject);
            }
            self.statements(&case.body);
        }
    }

    /// Statements that give a value stand inside of expressions.
    fn inside(&mut self, e: &'b Expr) {
        if let ExprKind::Statements { statements, .. } = &e.kind {
            self.statements(statements);
        }
        for part in self.parts(e) {
            self.inside(part);
        }
    }

    fn bind(&mut self, pattern: &Pattern, value: &'b Expr) {
        match &pattern.kind {
            PatternKind::Bind(local) => self.values.entry(*local).or_default().push(value),
            PatternKind::Tuple(parts) | PatternKind::Case { payload: parts, .. } => {
                parts.iter().for_each(|p| self.bind(p, value));
            }
            PatternKind::Some(inner) | PatternKind::Is { pattern: inner, .. } => self.bind(inner, value),
            PatternKind::Wildcard | PatternKind::Nil | PatternKind::Test { .. } => {}
        }
        self.inside(value);
    }

    /// The parts of an expression that its value is made of.
    fn parts(&self, e: &'b Expr) -> Vec<&'b Expr> {
        match &e.kind {
            ExprKind::Call { callee: Callee::Static(f), .. } if Some(f.function) == self.cut => vec![],
            ExprKind::Call { args, .. } => values_of(args),
            ExprKind::CallValue { function, args } => {
                let mut parts = values_of(args);
                parts.push(&**function);
                parts
            }
            ExprKind::Ternary { then, otherwise, .. } => vec![&**then, &**otherwise],
            ExprKind::Chain { base, body, .. } => vec![&**base, &**body],
            ExprKind::Is { .. } | ExprKind::Interpolation(_) => vec![],
            ExprKind::Dictionary(pairs) => pairs.iter().map(|(_, value)| value).collect(),
            _ => e.operands().collect(),
        }
    }

    /// The variable that an expression is the value of.
    fn local(e: &Expr) -> Option<LocalId> {
        match &e.kind {
            ExprKind::Local(local) | ExprKind::Statements { result: local, .. } => Some(*local),
            _ => None,
        }
    }

    fn does_vary(&self, e: &'b Expr) -> bool {
        Self::local(e).is_some_and(|l| self.varies.contains(&l)) || self.parts(e).into_iter().any(|p| self.does_vary(p))
    }

    /// Finds further variables that vary; whether there were any.
    fn spread(&mut self) -> bool {
        let is_new = |(local, values): &(&LocalId, &Vec<&'b Expr>)| {
            !self.varies.contains(*local) && values.iter().any(|v| self.does_vary(v))
        };
        let new: Vec<LocalId> = self.values.iter().filter(is_new).map(|(local, _)| *local).collect();
        self.varies.extend(&new);
        !new.is_empty()
    }

    /// The calls of requirements with something that varies, whose results reach what is returned.
    fn calls_on_the_way(&self) -> Vec<&'b Expr> {
        let mut open = self.returned.clone();
        let mut seen = HashSet::new();
        let mut calls: Vec<&'b Expr> = vec![];
        while let Some(e) = open.pop() {
            if let ExprKind::Call { callee: Callee::Requirement { .. }, .. } = &e.kind
                && self.does_vary(e)
            {
                calls.push(e);
            }
            open.extend(self.parts(e));
            if let Some(local) = Self::local(e)
                && seen.insert(local)
            {
                open.extend(self.values.get(&local).into_iter().flatten());
            }
        }
        calls.sort_by_key(|e| e.span.start);
        calls
    }
}

fn values_of(args: &[Argument]) -> Vec<&Expr> {
    let mut values = vec![];
    for arg in args {
        if let Argument::Value(e) = arg {
            values.push(e);
        }
    }
    values
}
