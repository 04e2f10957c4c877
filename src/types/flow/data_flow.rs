//! Data flow: determines how values propagate through the variables and results of a body.
//!
//! In: a checked body. Out: the values assigned to each variable, the returned values, and the operands of each value.
//!
//! Not here: conditions. Conditions select among values and are operands of no value.

use crate::types::model::typed_tree::{
    Argument, Body, Callee, Case, Condition, Expr, ExprKind, FunctionId, LocalId, Pattern, PatternKind, Root, Stmt,
    StmtKind,
};
use hashbrown::{HashMap, HashSet};

/// The data flow of a function body.
#[derive(Default)]
pub(crate) struct DataFlow<'b> {
    /// The variables that depend on the differentiated parameters.
    pub(crate) varies: HashSet<LocalId>,
    /// The values that are assigned to each variable.
    pub(crate) values: HashMap<LocalId, Vec<&'b Expr>>,
    /// The values that the body returns.
    pub(crate) returned: Vec<&'b Expr>,
    /// A function whose result depends on none of its arguments.
    pub(crate) cut: Option<FunctionId>,
}

impl<'b> DataFlow<'b> {
    pub(crate) fn of(body: &'b Body) -> DataFlow<'b> {
        let mut flow = DataFlow::default();
        flow.statements(&body.statements);
        flow
    }

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
            StmtKind::If { conditions, then, otherwise } => {
                self.conditions(conditions);
                self.statements(then);
                self.statements(otherwise);
            }
            StmtKind::Guard { conditions, otherwise, .. } => {
                self.conditions(conditions);
                self.statements(otherwise);
            }
            StmtKind::While { conditions, body, .. } => {
                self.conditions(conditions);
                self.statements(body);
            }
            StmtKind::Repeat { body, .. } | StmtKind::Block { body, .. } | StmtKind::Defer(body) => {
                self.statements(body)
            }
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

    fn conditions(&mut self, conditions: &'b [Condition]) {
        for condition in conditions {
            if let Condition::Match { pattern, value } = condition {
                self.bind(pattern, value);
            }
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

    /// Visits the statements inside an expression, and the optional that each optional chain binds.
    fn inside(&mut self, e: &'b Expr) {
        match &e.kind {
            ExprKind::Statements { statements, .. } => self.statements(statements),
            ExprKind::Chain { base, local, .. } => self.values.entry(*local).or_default().push(base),
            _ => {}
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

    /// Returns the operands from which the value of an expression is computed.
    pub(crate) fn parts(&self, e: &'b Expr) -> Vec<&'b Expr> {
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

    /// Returns the local variable whose value an expression is.
    pub(crate) fn local(e: &Expr) -> Option<LocalId> {
        match &e.kind {
            ExprKind::Local(local) | ExprKind::Statements { result: local, .. } => Some(*local),
            _ => None,
        }
    }

    /// Whether an expression depends on the differentiated parameters. `known` memoizes the results for examined
    /// expressions, so that the examination of a deep expression takes linear time.
    fn does_vary(&self, e: &'b Expr, known: &mut HashMap<*const Expr, bool>) -> bool {
        if let Some(varies) = known.get(&std::ptr::from_ref(e)) {
            return *varies;
        }
        let varies = Self::local(e).is_some_and(|l| self.varies.contains(&l))
            || self.parts(e).into_iter().any(|part| self.does_vary(part, known));
        known.insert(e, varies);
        varies
    }

    /// Propagates varied values by one step: marks further variables as varied, and returns whether any variable was
    /// marked.
    pub(crate) fn spread(&mut self) -> bool {
        let mut known = HashMap::new();
        let is_new = |(local, values): &(&LocalId, &Vec<&'b Expr>)| {
            !self.varies.contains(*local) && values.iter().any(|v| self.does_vary(v, &mut known))
        };
        let new: Vec<LocalId> = self.values.iter().filter(is_new).map(|(local, _)| *local).collect();
        self.varies.extend(&new);
        !new.is_empty()
    }

    /// Returns the calls with varied arguments whose results reach a returned value, each with flags for its varied
    /// arguments.
    pub(crate) fn calls_on_path(&self) -> Vec<(&'b Expr, Vec<bool>)> {
        let mut open = self.returned.clone();
        let (mut seen, mut known) = (HashSet::new(), HashMap::new());
        let mut calls: Vec<(&'b Expr, Vec<bool>)> = vec![];
        while let Some(e) = open.pop() {
            if let ExprKind::Call { callee: Callee::Requirement { .. } | Callee::Static(_), args } = &e.kind
                && self.does_vary(e, &mut known)
            {
                let varies = |arg: &'b Argument| matches!(arg, Argument::Value(e) if self.does_vary(e, &mut known));
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
