//! Flow-sensitive gradient: the expansion of `gradient(y, wrt: x)` after the statements that compute `y` from `x`.
//!
//! The slice of the preceding statements that computes `y` from `x` becomes a closure, so that the expression means
//! `gradient(at: x, in: { x in …; return y })`. A statement belongs to the slice when it declares or changes a name
//! that the slice reads; statements that only print or compute other values do not belong to it. A function or closure
//! belongs to the slice when the slice calls the function, and the function reads or changes a variable of the slice.
//!
//! The values that the slice reads must not change between the first execution of its statements and the gradient
//! expression. A program that changes these values is rejected; changes that cannot be detected statically are found at
//! run time, when the two values of `y` differ.

mod class_references;
mod name_uses;
mod slice;
mod slice_diagnostics;

use self::class_references::Instances;
use self::name_uses::{Names, declared, function};
use self::slice::{Called, Slice};
use super::ast::{
    Arg, Block, Closure, ClosureParam, DeclKind, Expr, ExprKind, File, Ident, Name, Stmt, StmtKind, StringPart, TryKind,
};
use super::visitor::{self, Visitor};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use hashbrown::HashMap;
use std::rc::Rc;

/// Whether an expression has the form of the operator `gradient(y, wrt: x)`.
pub(super) fn is_used(expr: &Expr) -> bool {
    Use::of(expr).is_some()
}

/// Expands all operators of the form `gradient(y, wrt: x)` in a file.
pub(super) fn expand(file: &mut File) -> Vec<Diagnostic> {
    let mut expander = Expander { scopes: vec![], instances: Instances::of(file), diagnostics: vec![] };
    visitor::file(&mut expander, file);
    expander.diagnostics
}

/// A use of the operator: the gradient of a variable with respect to other variables.
struct Use {
    operator: &'static str,
    of: Ident,
    wrt: Vec<Ident>,
}

impl Use {
    fn of(expr: &Expr) -> Option<Use> {
        let (name, args) = match &expr.kind {
            ExprKind::Hash { name, args } => (&name.name, args),
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Ident { name, .. } => (name, args),
                _ => return None,
            },
            _ => return None,
        };
        let operator = match (&**name, &expr.kind) {
            ("gradient", _) => "gradient",
            ("valueAndGradient", ExprKind::Hash { .. }) | ("valueWithGradient", ExprKind::Call { .. }) => {
                "valueWithGradient"
            }
            _ => return None,
        };
        let [of, wrt, more @ ..] = &args[..] else { return None };
        let labels = of.label.is_none()
            && wrt.label.as_ref().is_some_and(|label| &*label.name == "wrt")
            && more.iter().all(|arg| arg.label.is_none() && !arg.trailing);
        let variable = |arg: &Arg| match &arg.value.kind {
            ExprKind::Ident { name, generics } if generics.is_empty() => {
                Some(Ident { name: name.clone(), span: arg.value.span })
            }
            _ => None,
        };
        let wrt: Option<Vec<Ident>> = std::iter::once(wrt).chain(more).map(variable).collect();
        (labels && args.len() <= 4).then_some(Use { operator, of: variable(of)?, wrt: wrt? })
    }
}

/// A construct that encloses an expression.
enum Scope {
    /// A block, with the statements before the current statement.
    Block(Vec<Stmt>),
    /// A loop statement.
    Loop(Box<Stmt>),
    /// A function or closure, with the names of its parameters.
    Function(Vec<Name>),
}

struct Expander {
    scopes: Vec<Scope>,
    instances: Instances,
    diagnostics: Vec<Diagnostic>,
}

impl Visitor for Expander {
    fn expr(&mut self, expr: &mut Expr) {
        if let Some(used) = Use::of(expr)
            && let Some(slice) = self.slice(&used)
        {
            *expr = rewritten(&used, slice, expr.span);
            return;
        }
        visitor::inside(self, expr);
    }

    fn enter_block(&mut self) {
        self.scopes.push(Scope::Block(vec![]));
    }

    fn passed(&mut self, item: &Stmt) {
        if let Some(Scope::Block(items)) = self.scopes.last_mut() {
            items.push(item.clone());
        }
    }

    fn enter_function(&mut self, params: &mut dyn Iterator<Item = &Ident>) {
        self.scopes.push(Scope::Function(params.map(|p| p.name.clone()).collect()));
    }

    fn enter_loop(&mut self, item: &Stmt) {
        self.scopes.push(Scope::Loop(Box::new(item.clone())));
    }

    fn leave(&mut self) {
        self.scopes.pop();
    }
}

impl Expander {
    /// Returns the variables that are in scope, without constants.
    fn variables(&self) -> Vec<Name> {
        let blocks = self.scopes.iter().filter_map(|scope| match scope {
            Scope::Block(items) => Some(items),
            Scope::Loop(_) | Scope::Function(_) => None,
        });
        let is_variable = |item: &&Stmt| match &item.kind {
            StmtKind::Decl(decl) => matches!(decl.kind, DeclKind::Variable { is_let: false, .. }),
            _ => false,
        };
        blocks.flatten().filter(is_variable).flat_map(declared).collect()
    }

    /// Returns the named functions and closures that are in scope: the functions of the enclosing function, or all
    /// functions if `everywhere`.
    fn functions(&self, variables: &[Name], everywhere: bool) -> HashMap<Name, Called> {
        let mut all = HashMap::new();
        let inside = self.scopes.iter().rev().take_while(|scope| everywhere || !matches!(scope, Scope::Function(_)));
        for scope in inside {
            let Scope::Block(items) = scope else { continue };
            for item in items.iter().rev() {
                if let Some(name) = function(item) {
                    let called = || Called { item: item.clone(), effects: Names::of(item, variables) };
                    all.entry(name).or_insert_with(called);
                }
            }
        }
        all
    }

    /// Returns the statements that compute the variable, in source order; `None` when the name does not denote a
    /// variable that the enclosing function computes, but for example a function whose parameters are listed after
    /// `wrt:`.
    fn slice(&mut self, used: &Use) -> Option<Vec<Stmt>> {
        let variables = self.variables();
        let wanted: Vec<Name> = used.wrt.iter().map(|x| x.name.clone()).collect();
        let (near, all) = (self.functions(&variables, false), self.functions(&variables, true));
        let mut slice = Slice::new(used.of.name.clone(), wanted.clone(), variables, near, all);
        let mut parameters: &[Name] = &[];
        let mut outside = vec![];
        for (k, scope) in self.scopes.iter().enumerate().rev() {
            match scope {
                Scope::Block(items) => items.iter().rev().for_each(|item| slice.look_at(item)),
                Scope::Loop(item) => slice.leave_loop(item),
                Scope::Function(params) => {
                    parameters = params;
                    outside = self.scopes[..k].iter().collect();
                    break;
                }
            }
            if slice.wanted.is_empty() {
                break;
            }
        }
        if !slice.declared.contains(&used.of.name) {
            return None;
        }
        slice.take_functions(&wanted);
        slice.statements.reverse();
        let is_outside = |name: &&Name| {
            !parameters.contains(name)
                && outside.iter().any(|scope| match scope {
                    Scope::Block(items) => items.iter().flat_map(declared).any(|other| other == **name),
                    _ => false,
                })
        };
        let far = slice.wanted.iter().find(is_outside).cloned();
        self.diagnostics.extend(slice_diagnostics::refusals(used, &slice, far.as_ref(), &self.instances));
        Some(slice.statements)
    }
}

/// The name of the library function that compares the two values of a variable.
const CHECK: &str = "_sameFlow";

/// Builds `_sameFlow(valueWithGradient(at: x, in: { x in …; return y }), y, "y", "x")`, or its gradient.
fn rewritten(used: &Use, mut slice: Vec<Stmt>, span: Span) -> Expr {
    let throws = slice::throws(&slice);
    let here = |kind| Expr { kind, span };
    let ident = |name: &str| Ident { name: name.into(), span };
    let name = |x: &Ident| Expr { kind: ExprKind::Ident { name: x.name.clone(), generics: vec![] }, span: x.span };
    slice.push(Stmt { kind: StmtKind::Return(Some(name(&used.of))), span });
    let params = used.wrt.iter().map(|x| ClosureParam { name: x.clone(), ty: None, is_inout: false }).collect();
    let closure = Closure::plain(Some(params), throws, Block { items: slice, span });
    let arg =
        |label: Option<&str>, value: Expr| Arg { label: label.map(ident), value: Rc::new(value), trailing: false };
    let points = used.wrt.iter().enumerate().map(|(k, x)| arg((k == 0).then_some("at"), name(x)));
    let args = points.chain([arg(Some("in"), here(ExprKind::Closure(Rc::new(closure))))]).collect();
    let call = |function: &str, args: Vec<Arg>| {
        let callee = Rc::new(here(ExprKind::Ident { name: function.into(), generics: vec![] }));
        here(ExprKind::Call { callee, args })
    };
    let text = |x: &Ident| arg(None, here(ExprKind::String(vec![StringPart::Text(x.name.clone())])));
    let mut again = call("valueWithGradient", args);
    if throws {
        again = here(ExprKind::Try { kind: TryKind::Propagate, value: Rc::new(again) });
    }
    let checked = call(CHECK, vec![arg(None, again), arg(None, name(&used.of)), text(&used.of), text(&used.wrt[0])]);
    match used.operator {
        "gradient" => here(ExprKind::Member { base: Rc::new(checked), name: ident("gradient"), generics: vec![] }),
        _ => checked,
    }
}
