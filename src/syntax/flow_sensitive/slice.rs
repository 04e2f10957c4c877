//! Slice: finds the statements on which a variable depends.

use super::name_uses::{Effects, Names, declared, function};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Name, Stmt, StmtKind, TryKind};
use crate::syntax::visitor::{self, Visitor};
use hashbrown::HashMap;

/// A named function or closure, with its effects on variables.
pub(super) struct Called {
    pub item: Stmt,
    pub effects: Effects,
}

/// A backward walk over statements that collects the slice.
pub(super) struct Slice {
    /// The functions that the slice may call, and that may belong to the slice.
    functions: HashMap<Name, Called>,
    /// All functions that the slice may call.
    all_functions: HashMap<Name, Called>,
    /// The variables whose values methods may change.
    variables: Vec<Name>,
    /// The names that the slice reads.
    pub needed: Vec<Name>,
    /// The names after `wrt:` whose declarations have not been reached.
    pub wanted: Vec<Name>,
    /// The statements of the slice, the last one first.
    pub statements: Vec<Stmt>,
    /// The names of the functions in the slice.
    taken: Vec<Name>,
    pub declared: Vec<Name>,
    pub changed: Vec<(Name, Span)>,
    /// The names that excluded statements change: no earlier statement of the slice may read them.
    pub later: Vec<(Name, Span)>,
    /// The statements that are excluded from the slice.
    pub passed: Vec<Stmt>,
    /// The names that the loops change which the walk has left.
    in_rounds: Vec<(Name, Span)>,
    /// The names in `in_rounds` that statements of the slice before the loop declare or change.
    pub from_rounds: Vec<(Name, Span)>,
}

impl Slice {
    pub fn new(
        of: Name,
        wanted: Vec<Name>,
        variables: Vec<Name>,
        functions: HashMap<Name, Called>,
        all_functions: HashMap<Name, Called>,
    ) -> Slice {
        Slice {
            functions,
            all_functions,
            variables,
            needed: vec![of],
            wanted,
            statements: vec![],
            taken: vec![],
            declared: vec![],
            changed: vec![],
            later: vec![],
            passed: vec![],
            in_rounds: vec![],
            from_rounds: vec![],
        }
    }

    pub fn look_at(&mut self, item: &Stmt) {
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
            // The effects of a function count where the function is called.
            if self.needed.contains(&name) && !self.taken.contains(&name) {
                self.statements.push(item.clone());
                self.taken.push(name);
            }
            return;
        }
        let own = Names::of(item, &self.variables);
        let mut effects = own.clone();
        follow_calls(&self.functions, &mut effects);
        let matters = |name: &Name| self.needed.contains(name);
        if !declared.iter().any(matters) && !effects.changed.iter().any(|(name, _)| matters(name)) {
            let mut all = own;
            follow_calls(&self.all_functions, &mut all);
            self.later.append(&mut all.surely);
            self.passed.push(item.clone());
            return;
        }
        let is_here = |name: &Name| declared.contains(name) || effects.changed.iter().any(|(other, _)| other == name);
        self.from_rounds.extend(self.in_rounds.iter().filter(|(name, _)| is_here(name)).cloned());
        self.statements.push(item.clone());
        self.declared.extend(declared);
        self.changed.append(&mut effects.changed);
        self.needed.append(&mut effects.read);
    }

    /// Notes that the walk leaves the loop `item` and continues with the statements before the loop.
    pub fn leave_loop(&mut self, item: &Stmt) {
        let mut effects = Names::of(item, &self.variables);
        follow_calls(&self.all_functions, &mut effects);
        self.in_rounds.append(&mut effects.surely);
    }

    /// Adds the functions that are declared before the variables or after their callers.
    pub fn take_functions(&mut self, wanted: &[Name]) {
        let moves = |name: &Name| wanted.contains(name) || self.declared.contains(name);
        let mut more = vec![];
        for name in &self.needed {
            let Some(called) = self.functions.get(name).filter(|_| !self.taken.contains(name)) else { continue };
            let mut effects = Effects { read: vec![name.clone()], ..Effects::default() };
            follow_calls(&self.functions, &mut effects);
            let touches = effects.read.iter().any(moves) || effects.changed.iter().any(|(name, _)| moves(name));
            if !more.contains(name) && touches {
                more.push(name.clone());
                self.statements.push(called.item.clone());
            }
        }
        self.taken.append(&mut more);
    }
}

/// Adds the effects of all functions that are called, transitively.
fn follow_calls(functions: &HashMap<Name, Called>, effects: &mut Effects) {
    let mut followed: Vec<Name> = vec![];
    let mut next = 0;
    while let Some(name) = effects.read.get(next).cloned() {
        next += 1;
        if let Some(called) = functions.get(&name)
            && !followed.contains(&name)
        {
            followed.push(name);
            effects.extend(&called.effects);
        }
    }
}

/// Whether some statements may throw an error that they do not handle.
pub(super) fn throws(items: &[Stmt]) -> bool {
    let mut search = Search { functions: 0, throws: false, random: None };
    let handled = |item: &Stmt| matches!(&item.kind, StmtKind::Do { catches, .. } if !catches.is_empty());
    for item in items.iter().filter(|item| function(item).is_none() && !handled(item)) {
        visitor::one(&mut search, &mut item.clone());
    }
    search.throws
}

/// Returns the span at which some statements draw a random number from the generator of the system.
pub(super) fn random(items: &[Stmt]) -> Option<Span> {
    let mut search = Search { functions: 0, throws: false, random: None };
    items.iter().for_each(|item| visitor::one(&mut search, &mut item.clone()));
    search.random
}

/// A search for expressions whose second execution may differ from the first.
struct Search {
    /// The number of enclosing functions.
    functions: usize,
    throws: bool,
    random: Option<Span>,
}

impl Visitor for Search {
    fn expr(&mut self, expr: &mut Expr) {
        match &expr.kind {
            ExprKind::Try { kind: TryKind::Propagate, .. } => self.throws |= self.functions == 0,
            ExprKind::Call { callee, args } => {
                let drawn = match &callee.kind {
                    ExprKind::Member { name, .. } | ExprKind::Implicit { name, .. } => {
                        matches!(&*name.name, "random" | "randomElement" | "shuffle" | "shuffled")
                    }
                    _ => false,
                };
                if drawn && !args.iter().any(|arg| arg.label.as_ref().is_some_and(|label| &*label.name == "using")) {
                    self.random.get_or_insert(expr.span);
                }
            }
            ExprKind::Closure(_) => {
                self.functions += 1;
                visitor::inside(self, expr);
                self.functions -= 1;
                return;
            }
            _ => {}
        }
        visitor::inside(self, expr);
    }
}
