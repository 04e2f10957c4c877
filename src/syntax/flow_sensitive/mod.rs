//! `gradient(y, wrt: x)` behind the statements that compute `y` from `x`: the operator that follows the flow of a program.
//!
//! What leads from `x` to `y` is cut out of the statements in front and becomes a function, so that this means
//! `gradient(at: x, in: { x in …; return y })`. A statement belongs to it when it declares or changes something that is
//! needed; what only prints or computes something else stays out. A function or closure belongs to it when it is called
//! there and reads or changes something of it.

mod names;

use self::names::{Names, declared, function};
use super::ast::{Arg, Block, Closure, ClosureParam, DeclKind, Expr, ExprKind, File, Ident, Name, Stmt, StmtKind};
use super::visit::{self, Visitor};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use hashbrown::HashMap;
use std::rc::Rc;

/// Whether an expression may be such an operator.
pub(super) fn is_used(expr: &Expr) -> bool {
    Use::of(expr).is_some()
}

/// Rewrites all such operators of a file.
pub(super) fn expand(file: &mut File) -> Vec<Diagnostic> {
    let mut expander = Expander { scopes: vec![], diagnostics: vec![] };
    visit::file(&mut expander, file);
    expander.diagnostics
}

/// An operator of a variable with respect to others.
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

/// What stands around an expression.
enum Scope {
    /// The statements of a block in front of the one that is visited.
    Block(Vec<Stmt>),
    /// A function or closure begins here.
    Function,
}

struct Expander {
    scopes: Vec<Scope>,
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
        visit::inside(self, expr);
    }

    fn enter_block(&mut self) {
        self.scopes.push(Scope::Block(vec![]));
    }

    fn passed(&mut self, item: &Stmt) {
        if let Some(Scope::Block(items)) = self.scopes.last_mut() {
            items.push(item.clone());
        }
    }

    fn enter_function(&mut self) {
        self.scopes.push(Scope::Function);
    }

    fn leave(&mut self) {
        self.scopes.pop();
    }
}

impl Expander {
    /// The variables around an expression, constants left out.
    fn variables(&self) -> Vec<Name> {
        let blocks = self.scopes.iter().filter_map(|scope| match scope {
            Scope::Block(items) => Some(items),
            Scope::Function => None,
        });
        let is_variable = |item: &&Stmt| match &item.kind {
            StmtKind::Decl(decl) => matches!(decl.kind, DeclKind::Variable { is_let: false, .. }),
            _ => false,
        };
        blocks.flatten().filter(is_variable).flat_map(declared).collect()
    }

    /// The functions and closures with names around an expression.
    fn functions(&self, variables: &[Name]) -> HashMap<Name, Called> {
        let mut all = HashMap::new();
        let inside = self.scopes.iter().rev().take_while(|scope| matches!(scope, Scope::Block(_)));
        for scope in inside {
            let Scope::Block(items) = scope else { continue };
            for item in items.iter().rev() {
                if let Some(name) = function(item) {
                    let Names { read, changed, .. } = Names::of(item, variables);
                    all.entry(name).or_insert_with(|| Called { item: item.clone(), read, changed });
                }
            }
        }
        all
    }

    /// The statements that lead to the variable, in their order; `None` when it is no variable that is computed here, such
    /// as a function whose parameters are named behind `wrt:`.
    fn slice(&mut self, used: &Use) -> Option<Vec<Stmt>> {
        let variables = self.variables();
        let wanted: Vec<Name> = used.wrt.iter().map(|x| x.name.clone()).collect();
        let mut cut = Cut {
            functions: self.functions(&variables),
            variables,
            needed: vec![used.of.name.clone()],
            wanted: wanted.clone(),
            slice: vec![],
            taken: vec![],
            declared: vec![],
            changed: vec![],
        };
        for scope in self.scopes.iter().rev() {
            match scope {
                Scope::Block(items) => items.iter().rev().for_each(|item| cut.look_at(item)),
                Scope::Function => break,
            }
            if cut.wanted.is_empty() {
                break;
            }
        }
        if !cut.declared.contains(&used.of.name) {
            return None;
        }
        cut.take_functions(&wanted);
        cut.slice.reverse();
        for (name, span) in cut.changed.iter().filter(|(name, _)| !cut.declared.contains(name)) {
            self.diagnostics.push(changed_before(used, name, *span));
        }
        Some(cut.slice)
    }
}

/// What leads to the variable changes something that was there before.
fn changed_before(used: &Use, name: &Name, span: Span) -> Diagnostic {
    let (x, y) = (&used.wrt[0].name, &used.of.name);
    if used.wrt.iter().any(|x| x.name == *name) {
        let message = format!("'{name}' is changed before '{y}' is computed from it");
        let help = format!("give what '{name}' becomes a name of its own, and differentiate with respect to that");
        return Diagnostic::error(Code::WithRespectTo, span, message).help(help);
    }
    let message = format!("'{name}' is changed between '{x}' and '{y}', and declared before them");
    Diagnostic::error(Code::WithRespectTo, span, message).help(format!("declare '{name}' behind '{x}'"))
}

/// A function or closure with a name, and what it reads and changes.
struct Called {
    item: Stmt,
    read: Vec<Name>,
    changed: Vec<(Name, Span)>,
}

/// A walk backwards through statements, which keeps those that matter.
struct Cut {
    /// What may be called.
    functions: HashMap<Name, Called>,
    /// What may be changed by methods.
    variables: Vec<Name>,
    /// What is read by what was kept.
    needed: Vec<Name>,
    /// What is differentiated by and was not met yet.
    wanted: Vec<Name>,
    /// What was kept, the last statement first.
    slice: Vec<Stmt>,
    /// The functions among that.
    taken: Vec<Name>,
    declared: Vec<Name>,
    changed: Vec<(Name, Span)>,
}

impl Cut {
    fn look_at(&mut self, item: &Stmt) {
        if self.wanted.is_empty() {
            return;
        }
        let declared = declared(item);
        let before = self.wanted.len();
        self.wanted.retain(|name| !declared.contains(name));
        if self.wanted.len() < before {
            return;
        }
        if let Some(name) = function(item) {
            // What it reads and changes counts where it is called.
            if self.needed.contains(&name) && !self.taken.contains(&name) {
                self.slice.push(item.clone());
                self.taken.push(name);
            }
            return;
        }
        let Names { mut read, mut changed, .. } = Names::of(item, &self.variables);
        self.follow_calls(&mut read, &mut changed);
        let matters = |name: &Name| self.needed.contains(name);
        if !declared.iter().any(matters) && !changed.iter().any(|(name, _)| matters(name)) {
            return;
        }
        self.slice.push(item.clone());
        self.declared.extend(declared);
        self.changed.append(&mut changed);
        self.needed.append(&mut read);
    }

    /// Adds what the functions read and change that are named there.
    fn follow_calls(&self, read: &mut Vec<Name>, changed: &mut Vec<(Name, Span)>) {
        let mut followed: Vec<Name> = vec![];
        let mut next = 0;
        while let Some(name) = read.get(next).cloned() {
            next += 1;
            if let Some(called) = self.functions.get(&name)
                && !followed.contains(&name)
            {
                followed.push(name);
                read.extend(called.read.iter().cloned());
                changed.extend(called.changed.iter().cloned());
            }
        }
    }

    /// Takes the functions, too, that are declared before the variables or behind what calls them.
    fn take_functions(&mut self, wanted: &[Name]) {
        let moves = |name: &Name| wanted.contains(name) || self.declared.contains(name);
        let mut more = vec![];
        for name in &self.needed {
            let Some(called) = self.functions.get(name).filter(|_| !self.taken.contains(name)) else { continue };
            let (mut read, mut changed) = (vec![name.clone()], vec![]);
            self.follow_calls(&mut read, &mut changed);
            if !more.contains(name) && (read.iter().any(moves) || changed.iter().any(|(name, _)| moves(name))) {
                more.push(name.clone());
                self.slice.push(called.item.clone());
            }
        }
        self.taken.append(&mut more);
    }
}

/// `(y, operator(at: x, in: { x in …; return y })).1`: the variable itself is read, too.
fn rewritten(used: &Use, mut slice: Vec<Stmt>, span: Span) -> Expr {
    let here = |kind| Expr { kind, span };
    let ident = |name: &str| Ident { name: name.into(), span };
    let name = |x: &Ident| Expr { kind: ExprKind::Ident { name: x.name.clone(), generics: vec![] }, span: x.span };
    slice.push(Stmt { kind: StmtKind::Return(Some(name(&used.of))), span });
    let params = used.wrt.iter().map(|x| ClosureParam { name: x.clone(), ty: None, is_inout: false }).collect();
    let closure = Closure {
        captures: vec![],
        params: Some(params),
        throws: false,
        result: None,
        attributes: vec![],
        body: Block { items: slice, span },
    };
    let arg =
        |label: Option<&str>, value: Expr| Arg { label: label.map(ident), value: Rc::new(value), trailing: false };
    let points = used.wrt.iter().enumerate().map(|(k, x)| arg((k == 0).then_some("at"), name(x)));
    let args = points.chain([arg(Some("in"), here(ExprKind::Closure(Rc::new(closure))))]).collect();
    let operator = here(ExprKind::Ident { name: used.operator.into(), generics: vec![] });
    let call = here(ExprKind::Call { callee: Rc::new(operator), args });
    let both = here(ExprKind::Tuple(vec![(None, name(&used.of)), (None, call)]));
    here(ExprKind::Member { base: Rc::new(both), name: ident("1"), generics: vec![] })
}
