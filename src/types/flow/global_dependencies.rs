//! Global dependencies: the variables of the script that a function reads on every path, so that a call before their
//! initialization is certainly an error.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::flow::Flow;
use crate::types::model::queries;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{
    Argument, Body, Callee, Condition, Expr, ExprKind, FunctionId, GlobalId, Place, Root, Stmt, StmtKind,
};
use crate::types::nominal::stored_property;
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// Reports lazy variables whose initial value depends on the variable itself.
pub(in crate::types) fn check_circles(cx: &mut TypeContext, globals: std::ops::Range<u32>) {
    let mut reported: HashSet<GlobalId> = HashSet::new();
    let mut known = HashMap::new();
    for global in globals.map(GlobalId) {
        let data = &cx.defs.globals[global.0 as usize];
        if !data.is_lazy || data.is_prelude {
            continue;
        }
        stored_property::global_type(cx, global);
        let Some(initial) = stored_property::global_initial(cx, global) else { continue };
        let data = &cx.defs.globals[global.0 as usize];
        let (name, declared) = (data.name.clone(), data.span);
        let body = Body::default();
        let mut flow = Flow::new(cx, initial, &body);
        flow.reads = known;
        let reads = flow.reads(initial);
        // In a cycle of functions, only the entry of the function at which the query started is complete.
        known = if flow.reads_in_cycles { HashMap::new() } else { flow.reads };
        let own = reads.iter().find(|(needed, _)| *needed == global && !reported.contains(&global));
        if let Some((_, at)) = own {
            reported.extend(reads.iter().map(|(needed, _)| *needed));
            let diagnostic = Diagnostic::error(Code::Uninitialized, declared, "circular reference");
            cx.sink.report(diagnostic.also(*at, format!("'{name}' is used here to compute its own initial value")));
        }
    }
}

/// A read of a global variable, with the source location of the read.
pub(crate) type GlobalRead = (GlobalId, Span);

/// The global variables that a function reads, each with the source location of its first read.
#[derive(Default)]
struct GlobalReads {
    reads: Vec<GlobalRead>,
    seen: HashSet<GlobalId>,
}

impl GlobalReads {
    fn add(&mut self, need: GlobalRead) {
        if self.seen.insert(need.0) {
            self.reads.push(need);
        }
    }
}

impl Flow<'_, '_> {
    /// Checks the variables that a function called by the script reads.
    pub(crate) fn call_needs(&mut self, f: FunctionId, span: Span) {
        if !self.variables.has_globals() || !self.state.reachable {
            return;
        }
        for (global, at) in self.reads(f).iter().copied() {
            if let Some(part) = self.variables.global(global)
                && self.state.unset.has(part)
            {
                self.function_reads_unset(f, part, span, at);
            }
        }
    }

    /// Returns the global variables that a function reads on every path.
    fn reads(&mut self, f: FunctionId) -> Rc<[GlobalRead]> {
        if let Some(known) = self.reads.get(&f) {
            self.reads_in_cycles |= known.is_none();
            return known.clone().unwrap_or_default();
        }
        crate::cancel::check();
        // A recursive query of the entry adds no reads.
        self.reads.insert(f, None);
        let mut found = GlobalReads::default();
        if !self.cx.defs.function_data(f).is_prelude
            && let Some(body) = queries::check_body(self.cx, f)
        {
            self.statements_need(&body.statements, &mut found);
        }
        let found: Rc<[GlobalRead]> = found.reads.into();
        self.reads.insert(f, Some(found.clone()));
        found
    }

    /// Collects the reads of global variables that occur on every path, up to the first statement that branches.
    fn statements_need(&mut self, statements: &[Stmt], found: &mut GlobalReads) {
        for s in statements {
            match &s.kind {
                StmtKind::Expr(e) | StmtKind::InitGlobal { value: e, .. } => self.expr_needs(e, found),
                StmtKind::Let { value, .. } => value.iter().for_each(|e| self.expr_needs(e, found)),
                StmtKind::Assign { place, value } => {
                    self.expr_needs(value, found);
                    if !place.path.is_empty() {
                        self.place_needs(place, found);
                    }
                }
                StmtKind::Return(value) => {
                    value.iter().for_each(|e| self.expr_needs(e, found));
                    return;
                }
                StmtKind::If { conditions, .. }
                | StmtKind::Guard { conditions, .. }
                | StmtKind::While { conditions, .. } => {
                    if let Some(Condition::Bool(e) | Condition::Match { value: e, .. }) = conditions.first() {
                        self.expr_needs(e, found);
                    }
                    return;
                }
                StmtKind::For { sequence: e, .. } | StmtKind::Switch { subject: e, .. } | StmtKind::Throw(e) => {
                    self.expr_needs(e, found);
                    return;
                }
                StmtKind::LocalFunction(_) => {}
                StmtKind::Repeat { .. }
                | StmtKind::Block { .. }
                | StmtKind::Break(_)
                | StmtKind::Continue(_)
                | StmtKind::Defer(_)
                | StmtKind::Catch { .. } => return,
            }
        }
    }

    fn place_needs(&mut self, place: &Place, found: &mut GlobalReads) {
        match &place.root {
            Root::Global(global) => found.add((*global, place.span)),
            Root::Value(base) => self.expr_needs(base, found),
            Root::Local(_) | Root::Discard => {}
        }
    }

    fn expr_needs(&mut self, e: &Expr, found: &mut GlobalReads) {
        match &e.kind {
            ExprKind::Global(global) => {
                found.add((*global, e.span));
                if let Some(initial) = stored_property::global_initial(self.cx, *global) {
                    let inner = self.reads(initial);
                    inner.iter().for_each(|need| found.add(*need));
                }
            }
            ExprKind::Call { callee, args } => {
                self.arguments_need(args, found);
                if let Callee::Static(f) = callee {
                    let inner = self.reads(f.function);
                    inner.iter().for_each(|need| found.add(*need));
                }
            }
            ExprKind::CallValue { function, args } => {
                self.expr_needs(function, found);
                self.arguments_need(args, found);
            }
            ExprKind::Chain { base: first, .. } | ExprKind::Ternary { condition: first, .. } => {
                self.expr_needs(first, found);
            }
            ExprKind::Statements { statements, .. } => self.statements_need(statements, found),
            ExprKind::ChainPlace { place, .. } => self.place_needs(place, found),
            ExprKind::Assign { value, .. } => self.expr_needs(value, found),
            _ => e.operands().for_each(|operand| self.expr_needs(operand, found)),
        }
    }

    fn arguments_need(&mut self, args: &[Argument], found: &mut GlobalReads) {
        for arg in args {
            match arg {
                Argument::Value(e) => self.expr_needs(e, found),
                Argument::InOut(place) => self.place_needs(place, found),
            }
        }
    }
}
