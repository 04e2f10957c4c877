//! Thrown types: the type of the errors that a function or a `do` statement throws, `throws(E)`.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::DeclKind;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::syntax_walk;
use crate::types::model::ty::Type;
use crate::types::model::type_context;
use crate::types::model::typed_tree::{Expr, ExprKind, FunctionId, LocalId, Pattern, PatternKind, Stmt, StmtKind};
use crate::types::names::type_expr::{self, TypeScope};

impl Infer<'_> {
    /// Returns the type that `throws(E)` names in the declaration of a function, unless it depends on generic parameters.
    pub(crate) fn thrown_type(&mut self, f: FunctionId) -> Option<Type> {
        let data = self.cx.defs.function_data(f);
        let decl = data.decl.clone()?;
        let (DeclKind::Function(function) | DeclKind::Init { function, .. }) = &decl.kind else { return None };
        let written = function.thrown.as_ref()?;
        let locals = data.local_types.clone().unwrap_or_default();
        let scope = TypeScope { locals, ..TypeScope::of(data.owner, data.file) };
        let env = signature::signature(self.cx, f).env.clone();
        let ty = type_context::with_env(self.cx, env, |cx| type_expr::resolve_type(cx, written, &scope));
        let is_plain = matches!(ty, Type::Nominal(..)) && !ty.any(&mut |part| matches!(part, Type::Param(_)));
        is_plain.then_some(ty)
    }

    /// Returns the type of the errors that may be thrown at the current statement, if it is named.
    pub(super) fn thrown_here(&mut self) -> Option<Type> {
        if let Some(ty) = self.frame().thrown_here.clone() {
            return Some(ty);
        }
        let is_caught = self.frame().catching > 0;
        let function = self.frame().function.filter(|_| !is_caught)?;
        self.thrown_type(function)
    }

    /// Notes that an error is thrown.
    pub(super) fn note_thrown(&mut self, error: &Expr) {
        let ty = unification::shallow(self.cx, &error.ty.clone());
        self.frame().thrown.push(matches!(ty, Type::Nominal(..)).then_some(ty));
    }

    /// Notes that a function is called that may throw.
    pub(crate) fn note_thrown_by(&mut self, candidate: &Candidate) {
        if !self.candidate_throws(candidate) {
            return;
        }
        let thrown = match candidate.target {
            Target::Function(f) => self.thrown_type(f),
            Target::Requirement(..) | Target::Case(..) => None,
        };
        self.frame().thrown.push(thrown);
    }

    /// Infers the body of a `do` statement with `catch` clauses; returns the type of all errors that it throws, if it is
    /// known.
    pub(super) fn catching_body(
        &mut self,
        written: Option<&ast::TypeExpr>,
        body: &ast::Block,
    ) -> (Vec<Stmt>, Option<Type>) {
        let written = written.map(|ty| self.resolve(ty)).filter(|ty| matches!(ty, Type::Nominal(..)));
        let around = std::mem::take(&mut self.frame().thrown);
        let outside = std::mem::replace(&mut self.frame().thrown_here, written.clone());
        self.frame().catching += 1;
        let statements = self.block(body);
        self.frame().catching -= 1;
        self.frame().thrown_here = outside;
        let thrown = std::mem::replace(&mut self.frame().thrown, around);
        // An error that the clauses do not catch is thrown again.
        self.frame().thrown.push(None);
        let common = || match thrown.split_first() {
            Some((Some(first), others)) if others.iter().all(|other| other.as_ref() == Some(first)) => {
                syntax_walk::only_calls_throw(body).then(|| first.clone())
            }
            _ => None,
        };
        let ty = written.or_else(common);
        (statements, ty)
    }

    /// Declares the constant `error` of a `catch` clause with the type of the errors.
    pub(super) fn typed_error(&mut self, error: LocalId, ty: &Type, span: Span, out: &mut Vec<Stmt>) -> LocalId {
        // A constant without a name may be unused.
        let local = self.new_local("", ty.clone(), false, span);
        let any = self.local_type(error);
        let value = Expr { kind: ExprKind::Local(error), ty: any, span };
        let cast = ExprKind::Cast { value: Box::new(value), forced: true };
        let value = Some(Expr { kind: cast, ty: ty.clone(), span });
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: ty.clone(), span };
        out.push(Stmt { kind: StmtKind::Let { pattern, value }, span });
        local
    }

    /// Returns the patterns of a `catch` clause, which match errors of a type: `.case` becomes `.case as E`.
    pub(super) fn typed_patterns(
        &mut self,
        patterns: &[(ast::Pattern, Option<ast::Expr>)],
        ty: &Type,
    ) -> Vec<(ast::Pattern, Option<ast::Expr>)> {
        let typed = patterns.iter().map(|(pattern, guard)| {
            let ast::PatternKind::Case { base: None, .. } = &pattern.kind else {
                return (pattern.clone(), guard.clone());
            };
            let ast::ExprKind::Type(written) = self.type_written(ty, pattern.span).kind else {
                return (pattern.clone(), guard.clone());
            };
            let kind = ast::PatternKind::As(Box::new(pattern.clone()), written);
            (ast::Pattern { kind, span: pattern.span }, guard.clone())
        });
        typed.collect()
    }
}
