//! What a statement declares, reads and changes, by name.

use crate::source::Span;
use crate::syntax::ast::{
    Binding, Closure, DeclKind, Expr, ExprKind, FunctionDecl, Name, Pattern, PatternKind, Stmt, StmtKind,
};
use crate::syntax::visit::{self, Visitor};

/// The variables that a statement declares for those behind it, unless they are functions.
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

/// The closure that a binding gives a name.
fn closure(binding: &Binding) -> Option<&Closure> {
    match &binding.value.as_ref()?.kind {
        ExprKind::Closure(closure) => Some(closure),
        _ => None,
    }
}

fn bound(pattern: &Pattern, names: &mut Vec<Name>) {
    match &pattern.kind {
        PatternKind::Bind { name, .. } => names.push(name.clone()),
        PatternKind::Tuple(elements) => elements.iter().for_each(|(_, element)| bound(element, names)),
        PatternKind::Typed(inner, _) => bound(inner, names),
        _ => {}
    }
}

/// The function or closure with a name that a statement declares.
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

/// The parameters of the function or closure that a statement declares.
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

/// The names that a statement reads, and those of the variables that it changes.
pub(super) struct Names<'c> {
    /// What may be changed by methods.
    variables: &'c [Name],
    pub read: Vec<Name>,
    pub changed: Vec<(Name, Span)>,
    /// Variables and functions that are declared inside of the statement.
    inner: Vec<Name>,
}

impl<'c> Names<'c> {
    /// Those of a statement around which these variables stand.
    pub fn of(item: &Stmt, variables: &'c [Name]) -> Names<'c> {
        let mut names = Names { variables, read: vec![], changed: vec![], inner: vec![] };
        visit::one(&mut names, &mut item.clone());
        if function(item).is_some() {
            let own = parameters(item);
            names.read.retain(|name| !own.contains(name));
            names.changed.retain(|(name, _)| !own.contains(name));
        }
        names
    }
}

impl Visitor for Names<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        match &expr.kind {
            ExprKind::Ident { name, .. } => self.read.push(name.clone()),
            ExprKind::Assign { target, .. } => self.change(target),
            ExprKind::Binary { op, lhs, .. } if is_assignment(&op.name) => self.change(lhs),
            ExprKind::InOut(operand) => self.change(operand),
            ExprKind::Call { callee, .. } => {
                // A method may change the variable that it is called on.
                if let ExprKind::Member { base, .. } = &callee.kind
                    && root(base).is_some_and(|name| self.variables.contains(name))
                {
                    self.change(base);
                }
            }
            _ => {}
        }
        visit::inside(self, expr);
    }

    fn passed(&mut self, item: &Stmt) {
        let mut names = declared(item);
        self.inner.append(&mut names);
        self.inner.extend(function(item));
    }

    fn leave(&mut self) {
        let inner = std::mem::take(&mut self.inner);
        self.changed.retain(|(name, _)| !inner.contains(name));
        self.read.retain(|name| !inner.contains(name));
    }
}

impl Names<'_> {
    fn change(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Tuple(elements) => elements.iter().for_each(|(_, element)| self.change(element)),
            _ => self.changed.extend(root(target).map(|name| (name.clone(), target.span))),
        }
    }
}

/// The variable that a place is in.
fn root(place: &Expr) -> Option<&Name> {
    match &place.kind {
        ExprKind::Ident { name, .. } => Some(name),
        ExprKind::Member { base, .. } | ExprKind::Subscript { base, .. } => root(base),
        ExprKind::Paren(inner) | ExprKind::Force(inner) | ExprKind::Chain(inner) => root(inner),
        _ => None,
    }
}

fn is_assignment(op: &str) -> bool {
    op.ends_with('=') && !matches!(op, "==" | "!=" | "<=" | ">=" | "===" | "!==")
}
