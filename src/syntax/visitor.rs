//! Visitor: the traversal of all expressions of a syntax tree, which may change them.

use super::ast::{
    Accessors, Arg, Block, Condition, Decl, DeclKind, Expr, ExprKind, File, FunctionDecl, Ident, KeyPathPart, Pattern,
    PatternKind, SequencePart, Stmt, StmtKind, StringPart,
};
use std::rc::Rc;

/// The operations of a traversal. An implementation visits the parts of an expression with [`inside`].
pub(super) trait Visitor {
    /// Visits an outermost expression, or a subexpression in a call from [`inside`].
    fn expr(&mut self, expr: &mut Expr);
    /// Notes the beginning of a block, before its statements are visited.
    fn enter_block(&mut self) {}
    /// Notes that a statement was visited.
    fn passed(&mut self, _: &Stmt) {}
    /// Visits the name of a declared function.
    fn function_name(&mut self, _: &mut Ident) {}
    /// Notes the beginning of a function or closure with the given parameters.
    fn enter_function(&mut self, _: &mut dyn Iterator<Item = &Ident>) {}
    /// Notes the beginning of a loop.
    fn enter_loop(&mut self, _: &Stmt) {}
    /// Notes the end of the innermost construct that was entered.
    fn leave(&mut self) {}
}

/// Visits a single statement and its expressions.
pub(super) fn one(visitor: &mut impl Visitor, item: &mut Stmt) {
    stmt(visitor, item);
}

pub(super) fn file(visitor: &mut impl Visitor, file: &mut File) {
    stmts(visitor, &mut file.items);
}

fn stmts(v: &mut impl Visitor, items: &mut [Stmt]) {
    v.enter_block();
    for item in items {
        stmt(v, item);
        v.passed(item);
    }
    v.leave();
}

fn block(v: &mut impl Visitor, block: &mut Block) {
    stmts(v, &mut block.items);
}

/// Visits the body of a function.
fn body<'a>(v: &mut impl Visitor, mut params: impl Iterator<Item = &'a Ident>, body: &mut Block) {
    v.enter_function(&mut params);
    block(v, body);
    v.leave();
}

fn stmt(v: &mut impl Visitor, item: &mut Stmt) {
    let is_loop = matches!(item.kind, StmtKind::While { .. } | StmtKind::Repeat { .. } | StmtKind::For { .. });
    if is_loop {
        v.enter_loop(item);
    }
    parts(v, item);
    if is_loop {
        v.leave();
    }
}

fn parts(v: &mut impl Visitor, item: &mut Stmt) {
    match &mut item.kind {
        StmtKind::Expr(e) | StmtKind::Throw(e) | StmtKind::Labeled { body: e, .. } => v.expr(e),
        StmtKind::Decl(d) => decl(v, d),
        StmtKind::Guard { conditions: c, body } | StmtKind::While { conditions: c, body, .. } => {
            conditions(v, c);
            block(v, body);
        }
        StmtKind::Repeat { body, condition, .. } => {
            block(v, body);
            v.expr(condition);
        }
        StmtKind::For { pattern: p, sequence, filter, body, .. } => {
            pattern(v, p);
            v.expr(sequence);
            optional(v, filter);
            block(v, body);
        }
        StmtKind::Return(value) => optional(v, value),
        StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Fallthrough => {}
        StmtKind::Defer(body) | StmtKind::Adjoint { body, .. } => block(v, body),
        StmtKind::Do { body, catches, .. } => {
            block(v, body);
            for catch in catches {
                for (p, guard) in &mut catch.patterns {
                    pattern(v, p);
                    optional(v, guard);
                }
                block(v, &mut catch.body);
            }
        }
    }
}

fn optional(v: &mut impl Visitor, expr: &mut Option<Expr>) {
    if let Some(expr) = expr {
        v.expr(expr);
    }
}

fn conditions(v: &mut impl Visitor, list: &mut [Condition]) {
    for condition in list {
        match condition {
            Condition::Expr(e) => v.expr(e),
            Condition::Optional { pattern: p, value, .. } => {
                pattern(v, p);
                optional(v, value);
            }
            Condition::Case { pattern: p, value, .. } => {
                pattern(v, p);
                v.expr(value);
            }
        }
    }
}

fn pattern(v: &mut impl Visitor, p: &mut Pattern) {
    match &mut p.kind {
        PatternKind::Wildcard | PatternKind::Bind { .. } | PatternKind::Is(_) => {}
        PatternKind::Tuple(elements) | PatternKind::Case { payload: Some(elements), .. } => {
            for (_, element) in elements {
                pattern(v, element);
            }
        }
        PatternKind::Case { payload: None, .. } => {}
        PatternKind::Some(inner) | PatternKind::As(inner, _) | PatternKind::Typed(inner, _) => pattern(v, inner),
        PatternKind::Expr(e) => shared(v, e),
    }
}

/// Visits a shared expression, which is changed in place: while a tree is folded, there is no other reference to the
/// expression.
fn shared(v: &mut impl Visitor, expr: &mut Rc<Expr>) {
    v.expr(Rc::make_mut(expr));
}

fn args(v: &mut impl Visitor, list: &mut [Arg]) {
    for arg in list {
        shared(v, &mut arg.value);
    }
}

/// Visits the direct subexpressions of an expression.
pub(super) fn inside(v: &mut impl Visitor, expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Nil
        | ExprKind::Ident { .. }
        | ExprKind::Super
        | ExprKind::Discard
        | ExprKind::Implicit { .. }
        | ExprKind::Operator(_)
        | ExprKind::Type(_)
        | ExprKind::Error => {}
        ExprKind::String(parts) => {
            for part in parts {
                if let StringPart::Interpolation(list) = part {
                    args(v, list);
                }
            }
        }
        ExprKind::Member { base: e, .. }
        | ExprKind::Paren(e)
        | ExprKind::Prefix { operand: e, .. }
        | ExprKind::Postfix { operand: e, .. }
        | ExprKind::Is { value: e, .. }
        | ExprKind::As { value: e, .. }
        | ExprKind::InOut(e)
        | ExprKind::Force(e)
        | ExprKind::Chain(e)
        | ExprKind::Try { value: e, .. }
        | ExprKind::Prime { function: e, .. }
        | ExprKind::Nabla(e)
        | ExprKind::Partial { function: e, .. } => shared(v, e),
        ExprKind::Call { callee: e, args: list } | ExprKind::Subscript { base: e, args: list } => {
            shared(v, e);
            args(v, list);
        }
        ExprKind::Closure(closure) => {
            let closure = Rc::make_mut(closure);
            for capture in &mut closure.captures {
                optional(v, &mut capture.value);
            }
            body(v, closure.params.iter().flatten().map(|p| &p.name), &mut closure.body);
        }
        ExprKind::Array(elements) => elements.iter_mut().for_each(|e| v.expr(e)),
        ExprKind::Dictionary(pairs) => {
            for (key, value) in pairs {
                v.expr(key);
                v.expr(value);
            }
        }
        ExprKind::Tuple(elements) => elements.iter_mut().for_each(|(_, e)| v.expr(e)),
        ExprKind::Sequence(parts) => {
            for part in parts {
                match part {
                    SequencePart::Operand(e) => v.expr(e),
                    SequencePart::Ternary(e, _) => shared(v, e),
                    SequencePart::Operator { .. }
                    | SequencePart::Assign(_)
                    | SequencePart::Is(_)
                    | SequencePart::As(..) => {}
                }
            }
        }
        ExprKind::Binary { lhs, rhs, .. } => {
            shared(v, lhs);
            shared(v, rhs);
        }
        ExprKind::Assign { target, value } => {
            shared(v, target);
            shared(v, value);
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            shared(v, condition);
            shared(v, then);
            shared(v, otherwise);
        }
        ExprKind::If { conditions: c, then, otherwise } => {
            conditions(v, c);
            block(v, then);
            if let Some(otherwise) = otherwise {
                shared(v, otherwise);
            }
        }
        ExprKind::Block(b) => block(v, b),
        ExprKind::Switch { value, cases } => {
            shared(v, value);
            for case in cases {
                for (p, guard) in &mut case.patterns {
                    pattern(v, p);
                    optional(v, guard);
                }
                block(v, &mut case.body);
            }
        }
        ExprKind::KeyPath { path, .. } => {
            for part in path {
                if let KeyPathPart::Subscript(list, _) = part {
                    args(v, list);
                }
            }
        }
        ExprKind::Hash { args: list, .. } => args(v, list),
    }
}

fn decl(v: &mut impl Visitor, d: &mut Rc<Decl>) {
    match &mut Rc::make_mut(d).kind {
        DeclKind::Variable { bindings, .. } => {
            for binding in bindings {
                pattern(v, &mut binding.pattern);
                optional(v, &mut binding.value);
                if let Some(a) = &mut binding.accessors {
                    accessors(v, a);
                }
            }
        }
        DeclKind::Function(f) => {
            v.function_name(&mut f.name);
            function(v, f);
        }
        DeclKind::Init { function: f, .. } => function(v, f),
        DeclKind::Formula { body, .. } => v.expr(body),
        DeclKind::Nominal(n) => n.members.iter_mut().for_each(|m| decl(v, m)),
        DeclKind::Protocol(p) => p.members.iter_mut().for_each(|m| decl(v, m)),
        DeclKind::Extension(e) => e.members.iter_mut().for_each(|m| decl(v, m)),
        DeclKind::Deinit(block) | DeclKind::Test { body: block, .. } => body(v, std::iter::empty(), block),
        DeclKind::Subscript { function: f, accessors: a } => {
            function(v, f);
            accessors(v, a);
        }
        DeclKind::Cases(cases) => {
            for case in cases {
                optional(v, &mut case.raw);
                case.payload.iter_mut().flatten().for_each(|part| optional(v, &mut part.default));
            }
        }
        DeclKind::TypeAlias { .. }
        | DeclKind::AssociatedType { .. }
        | DeclKind::Import { .. }
        | DeclKind::Operator { .. }
        | DeclKind::PrecedenceGroup { .. } => {}
    }
}

fn function(v: &mut impl Visitor, f: &mut FunctionDecl) {
    for param in &mut f.params {
        optional(v, &mut param.default);
    }
    if let Some(block) = &mut f.body {
        body(v, f.params.iter().map(|p| &p.name), block);
    }
}

fn accessors(v: &mut impl Visitor, a: &mut Accessors) {
    if let Some(get) = &mut a.get {
        body(v, std::iter::empty(), get);
    }
    for (_, block) in [&mut a.set, &mut a.will_set, &mut a.did_set].into_iter().flatten() {
        body(v, std::iter::empty(), block);
    }
}
