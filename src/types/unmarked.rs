//! Calls in a generic function that promises a derivative, of what has none for all types: requirements that promise none, and
//! functions whose registered derivatives require more than is known.
//!
//! In: a checked body with generic parameters. Out: an error for each such call that lies on a way from what the function is
//! differentiated by to its result.
//!
//! Promises: a condition is not a way, and nothing goes through `withoutDerivative`. Calls inside of closures and of
//! functions that are called are not looked at: they promise nothing.

use super::store::World;
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
        for (call, varies) in ways.calls_on_the_way() {
            let saved = std::mem::replace(&mut self.env, signature.env.clone());
            let differentiable = self.protocol("Differentiable");
            if !matches!(call.ty, Type::Function(_)) && self.conforms_to(&call.ty, differentiable) {
                self.report_unmarked(call, &varies);
            }
            self.env = saved;
        }
    }

    fn report_unmarked(&mut self, call: &Expr, varies: &[bool]) {
        let ExprKind::Call { callee, args } = &call.kind else { return };
        let error = || Diagnostic::error(Code::NoDerivative, call.span, "expression is not differentiable");
        let (protocol, requirement) = match callee {
            Callee::Requirement { protocol, requirement, .. } => (*protocol, *requirement),
            Callee::Static(f) => {
                let registered = &self.function_data(f.function).registered;
                if registered.iter().all(|r| self.function_data(r.function).is_prelude) {
                    return;
                }
                if let Some(unmet) = self.unmet_here(f, self.file_of(call.span)) {
                    let message = format!(
                        "function call is not differentiable because generic requirements are not met: {unmet}"
                    );
                    self.report(error().note_at(call.span, message));
                }
                return;
            }
            Callee::Class { .. } | Callee::Opened { .. } => return,
        };
        let data = self.protocol_data(protocol);
        let (function, is_prelude) = (data.requirements[requirement as usize].function, data.is_prelude);
        if is_prelude || !self.function_data(function).registered.is_empty() {
            return;
        }
        let promised = self.promised_parameters(function);
        let at = self.function_data(function).span;
        if promised.is_empty() {
            let message =
                "member is not differentiable because the corresponding protocol requirement is not '@differentiable'";
            let diagnostic = error()
                .note_at(call.span, message)
                .also(at, "the requirement")
                .help("mark the requirement with '@differentiable'");
            self.report(diagnostic);
            return;
        }
        let differentiable = self.protocol("Differentiable");
        let mut moves = vec![];
        for (arg, varies) in args.iter().zip(varies) {
            let Argument::Value(e) = arg else { return };
            moves.push(*varies && !matches!(e.ty, Type::Function(_)) && self.conforms_to(&e.ty, differentiable));
        }
        let covers = |wrt: &[bool]| wrt.len() != moves.len() || moves.iter().zip(wrt).all(|(moves, wrt)| wrt | !moves);
        if !promised.iter().any(|(_, wrt)| covers(wrt)) {
            let message = "member is differentiable only with respect to a smaller subset of arguments";
            self.report(error().note_at(call.span, message).also(at, "the requirement"));
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

    /// The calls with something that varies, whose results reach what is returned; of each, which of its arguments vary.
    fn calls_on_the_way(&self) -> Vec<(&'b Expr, Vec<bool>)> {
        let mut open = self.returned.clone();
        let mut seen = HashSet::new();
        let mut calls: Vec<(&'b Expr, Vec<bool>)> = vec![];
        while let Some(e) = open.pop() {
            if let ExprKind::Call { callee: Callee::Requirement { .. } | Callee::Static(_), args } = &e.kind
                && self.does_vary(e)
            {
                let varies = |arg: &'b Argument| matches!(arg, Argument::Value(e) if self.does_vary(e));
                calls.push((e, args.iter().map(varies).collect()));
            }
            open.extend(self.parts(e));
            if let Some(local) = Self::local(e)
                && seen.insert(local)
            {
                open.extend(self.values.get(&local).into_iter().flatten());
            }
        }
        calls.sort_by_key(|(e, _)| e.span.start);
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
