//! Name uses: collects the names that a statement declares, reads and changes.

use crate::source::Span;
use crate::syntax::ast::{
    Binding, Closure, DeclKind, Expr, ExprKind, FunctionDecl, Name, Pattern, PatternKind, Stmt, StmtKind,
};
use crate::syntax::visitor::{self, Visitor};

/// Returns the variables that a statement declares, without variables that are bound to closures.
pub(super) fn declared(item: &Stmt) -> Vec<Name> {
    let mut names = vec![];
    if let StmtKind::Decl(decl) = &item.kind
        && let DeclKind::Variable { bindings, .. } = &decl.kind
    {
        for binding in bindings {
            if closure(binding).is_none() {
                bound(&binding.pattern, &mut names);
            }
        }
    }
    names
}

/// Returns the closure that a binding names.
fn closure(binding: &Binding) -> Option<&Closure> {
    match &binding.value.as_ref()?.kind {
        ExprKind::Closure(closure) => Some(closure),
        _ => None,
    }
}

pub(super) fn bound(pattern: &Pattern, names: &mut Vec<Name>) {
    match &pattern.kind {
        PatternKind::Bind { name, .. } => names.push(name.clone()),
        PatternKind::Tuple(elements) => elements.iter().for_each(|(_, element)| bound(element, names)),
        PatternKind::Typed(inner, _) => bound(inner, names),
        _ => {}
    }
}

/// Returns the name of the function or closure that a statement declares.
pub(super) fn function(item: &Stmt) -> Option<Name> {
    let StmtKind::Decl(decl) = &item.kind else { return None };
    match &decl.kind {
        DeclKind::Function(FunctionDecl { name, .. }) | DeclKind::Formula { name, .. } => Some(name.name.clone()),
        DeclKind::Variable { bindings, .. } => match &bindings[..] {
            [binding] if closure(binding).is_some() => {
                let mut names = vec![];
                bound(&binding.pattern, &mut names);
                names.pop()
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the parameters of the function or closure that a statement declares.
fn parameters(item: &Stmt) -> Vec<Name> {
    let StmtKind::Decl(decl) = &item.kind else { return vec![] };
    match &decl.kind {
        DeclKind::Function(FunctionDecl { params, .. }) | DeclKind::Formula { params, .. } => {
            params.iter().map(|p| p.name.name.clone()).collect()
        }
        DeclKind::Variable { bindings, .. } => {
            let params = bindings.iter().filter_map(|b| closure(b)?.params.as_ref());
            params.flatten().map(|p| p.name.name.clone()).collect()
        }
        _ => vec![],
    }
}

/// The names of the mutating methods of the library.
pub(super) const MUTATING: [&str; 27] = [
    "append",
    "clamp",
    "formIntersection",
    "formRemainder",
    "formSquareRoot",
    "formSymmetricDifference",
    "formTruncatingRemainder",
    "formUnion",
    "insert",
    "merge",
    "move",
    "negate",
    "next",
    "partition",
    "popFirst",
    "popLast",
    "remove",
    "removeAll",
    "removeFirst",
    "removeLast",
    "removeSubrange",
    "removeValue",
    "replaceSubrange",
    "reverse",
    "shuffle",
    "sort",
    "toggle",
];

/// The effects of a statement on variables.
#[derive(Clone, Default)]
pub(super) struct Effects {
    pub read: Vec<Name>,
    /// The names that the statement changes, or whose values a method may change.
    pub changed: Vec<(Name, Span)>,
    /// The names that the statement certainly changes when it runs.
    pub surely: Vec<(Name, Span)>,
}

impl Effects {
    pub fn extend(&mut self, other: &Effects) {
        self.read.extend(other.read.iter().cloned());
        self.changed.extend(other.changed.iter().cloned());
        self.surely.extend(other.surely.iter().cloned());
    }

    /// Removes names that inner declarations shadow.
    fn hide(&mut self, names: &[Name]) {
        self.read.retain(|name| !names.contains(name));
        self.changed.retain(|(name, _)| !names.contains(name));
        self.surely.retain(|(name, _)| !names.contains(name));
    }
}

/// A walk that collects the effects of a statement by name.
pub(super) struct Names<'c> {
    /// The variables whose values methods may change.
    variables: &'c [Name],
    effects: Effects,
    /// Variables and functions that are declared inside the statement.
    inner: Vec<Name>,
}

impl<'c> Names<'c> {
    /// Computes the effects of a statement, given the variables in scope.
    pub fn of(item: &Stmt, variables: &'c [Name]) -> Effects {
        let mut names = Names { variables, effects: Effects::default(), inner: vec![] };
        visitor::one(&mut names, &mut item.clone());
        let mut effects = names.effects;
        if function(item).is_some() {
            effects.hide(&parameters(item));
        }
        effects
    }
}

impl Visitor for Names<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        match &expr.kind {
            ExprKind::Ident { name, .. } => self.effects.read.push(name.clone()),
            ExprKind::Assign { target, .. } => self.change(target, true),
            ExprKind::Binary { op, lhs, .. } if is_assignment(&op.name) => self.change(lhs, true),
            ExprKind::InOut(operand) => self.change(operand, true),
            ExprKind::Call { callee, .. } => {
                // A method may change the value of its receiver.
                if let ExprKind::Member { base, name, .. } = &callee.kind
                    && root(base).is_some_and(|name| self.variables.contains(name))
                {
                    self.change(base, MUTATING.contains(&&*name.name));
                }
            }
            _ => {}
        }
        visitor::inside(self, expr);
    }

    fn passed(&mut self, item: &Stmt) {
        let mut names = declared(item);
        self.inner.append(&mut names);
        self.inner.extend(function(item));
    }

    fn leave(&mut self) {
        let inner = std::mem::take(&mut self.inner);
        self.effects.hide(&inner);
    }
}

impl Names<'_> {
    fn change(&mut self, target: &Expr, surely: bool) {
        if let ExprKind::Tuple(elements) = &target.kind {
            elements.iter().for_each(|(_, element)| self.change(element, surely));
        } else if let Some(name) = root(target) {
            self.effects.changed.push((name.clone(), target.span));
            if surely {
                self.effects.surely.push((name.clone(), target.span));
            }
        }
    }
}

/// Returns the variable from which a place starts.
pub(super) fn root(place: &Expr) -> Option<&Name> {
    match &place.kind {
        ExprKind::Ident { name, .. } => Some(name),
        ExprKind::Member { base, .. } | ExprKind::Subscript { base, .. } => root(base),
        ExprKind::Paren(inner) | ExprKind::Force(inner) | ExprKind::Chain(inner) => root(inner),
        _ => None,
    }
}

pub(super) fn is_assignment(op: &str) -> bool {
    op.ends_with('=') && !matches!(op, "==" | "!=" | "<=" | ">=" | "===" | "!==")
}
