//! Variable declarations: local variables of bodies, and variables of a script, which are globals.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{DeclKind, ExprKind as Ast};
use crate::types::declare::async_global;
use crate::types::declare::attributes;
use crate::types::declare::modifiers;
use crate::types::declare::modifiers::DeclarationScope;
use crate::types::generics::opaque_type;
use crate::types::generics::type_size;
use crate::types::generics::unification;
use crate::types::infer::expr::is_collection_or_tuple;
use crate::types::infer::stmt::place::assignment_inside;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::syntax_query::is_implicitly_unwrapped;
use crate::types::model::syntax_query::ownership;
use crate::types::model::syntax_query::{bound_names, is_opaque, strip};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Expr, ExprKind, PatternKind, Stmt, StmtKind};
use crate::types::names::name_lookup;
use crate::types::nominal::ownership;
use std::rc::Rc;

impl Infer<'_> {
    /// Checks the attributes and modifiers of a declaration inside of a body.
    pub(crate) fn check_prologue(&mut self, decl: &ast::Decl) {
        if self.file != PRELUDE_FILE && !self.is_top() {
            attributes::check_attributes(self.cx, decl, DeclarationScope::Function);
            modifiers::check_modifiers(self.cx, decl, DeclarationScope::Function);
        }
    }

    pub(crate) fn declaration(&mut self, decl: &Rc<ast::Decl>, out: &mut Vec<Stmt>) {
        match &decl.kind {
            // A lazy variable is initialized when it is first used.
            DeclKind::Variable { .. } if self.is_top() && decl.has("lazy") => {}
            DeclKind::Variable { is_let, bindings } => {
                for binding in bindings {
                    if self.is_top() && async_global::throws_where_read(self.cx, decl, binding) {
                        self.begin_task_of_global(binding, out);
                        continue;
                    }
                    let awaited = self.is_top() && decl.has("async");
                    let binding = &if awaited { attempted(binding) } else { binding.clone() };
                    let start = (self.pending.len(), self.cx.vars.var_count());
                    if self.is_top() || !self.variable_with_accessors(decl, *is_let, binding, out) {
                        self.variable(*is_let, ownership(decl), binding, decl.span, out);
                    }
                    self.resolve_statement(start);
                }
            }
            // The enclosing block has declared the type.
            DeclKind::Nominal(_) | DeclKind::TypeAlias { .. } => {}
            _ if self.is_top() => {}
            _ => {
                self.error(Diagnostic::error(
                    Code::WrongContext,
                    decl.span,
                    "this declaration is only allowed at the top level",
                ));
            }
        }
    }

    pub(crate) fn is_top(&mut self) -> bool {
        self.frame().kind == FrameKind::Script && self.frame().scopes.len() == 1
    }

    /// Infers one part `pattern: Type = value` of a `let` or `var` declaration.
    pub(crate) fn variable(
        &mut self,
        is_let: bool,
        ownership: Ownership,
        binding: &ast::Binding,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if self.is_top() && binding.accessors.as_ref().is_some_and(|a| a.get.is_some()) {
            return;
        }
        let start = (self.pending.len(), self.cx.vars.var_count());
        let written = match (&binding.ty, &binding.pattern.kind) {
            (Some(ty), _) | (None, ast::PatternKind::Typed(_, ty)) => Some(self.variable_type(ty)),
            _ => None,
        };
        let written_as = match &binding.pattern.kind {
            ast::PatternKind::Typed(_, ty) => Some(ty),
            _ => binding.ty.as_ref(),
        };
        if is_implicitly_unwrapped(written_as) {
            self.cx.defs.unwrapping.insert(strip(&binding.pattern).span);
        }
        let value = binding.value.as_ref().map(|value| {
            if let Some(inner) = assignment_inside(value)
                && written.as_ref().is_none_or(|ty| !ty.is_unit())
            {
                let before = self.cx.sink.source_text(Span::new(span.start, value.span.start));
                self.reject_assigned_value(inner, span, |target| format!("{before}{target}"));
                return self.error_expr(value.span);
            }
            let is_literal = is_collection_or_tuple(value);
            let before = std::mem::replace(&mut self.is_initializer, written.is_none() && is_literal);
            let found = self.expr(value, written.as_ref());
            self.is_initializer = before;
            match &written {
                Some(ty) => self.coerce(found, ty),
                None => found,
            }
        });
        if written.is_none() || written_as.is_some_and(is_opaque) {
            self.resolve_statement(start);
        }
        let value = match (value, &written) {
            (Some(value), None) if ownership == Ownership::Weak => Some(self.as_optional(value)),
            (value, _) => value,
        };
        if let (Some(ty), None) = (&written, &value)
            && unification::has_vars(self.cx, ty)
        {
            let ty_span = binding.ty.as_ref().map_or(binding.pattern.span, |t| t.span);
            let name = self.cx.sink.source_text(ty_span);
            let message = format!("reference to generic type '{name}' requires arguments in <…>");
            self.error(Diagnostic::error(Code::CannotInfer, ty_span, message));
        }
        let ty = match (&written, &value) {
            (Some(ty), _) => ty.clone(),
            (None, Some(value)) => value.ty.clone(),
            (None, None) => {
                let message = "type annotation missing in pattern";
                self.error(
                    Diagnostic::error(Code::CannotInfer, binding.pattern.span, message)
                        .help("write ': Type', or an initial value"),
                );
                Type::Error
            }
        };
        let resolved = unification::resolved(self.cx, &ty);
        let ty = if type_size::refuse_large(self.cx, &ty, binding.pattern.span)
            || !ownership::check_ownership(self.cx, ownership, is_let, &resolved, binding.pattern.span)
        {
            self.failed = true;
            Type::Error
        } else {
            ty
        };
        if self.is_top() {
            self.global_variable(binding, value, &ty, span, out);
            return;
        }
        let value = match value {
            None if name_lookup::is_optional(self.cx, &ty) && !is_let => {
                Some(Expr { kind: ExprKind::Nil, ty: ty.clone(), span })
            }
            other => other,
        };
        let once = is_let && value.is_none();
        let pattern = self.pattern(strip(&binding.pattern), &ty, !is_let || once);
        if let PatternKind::Bind(local) = pattern.kind {
            self.frame().locals[local.0 as usize].ownership = ownership;
        }
        if once {
            pattern.bound().iter().for_each(|local| self.frame().locals[local.0 as usize].once = true);
        }
        if !Infer::is_certain(&pattern) {
            self.error(Diagnostic::error(
                Code::WrongContext,
                binding.pattern.span,
                "this pattern may not match; use 'if case' or 'guard case'",
            ));
        }
        out.push(Stmt { kind: StmtKind::Let { pattern, value }, span });
    }

    /// Resolves the declared type of a variable; for `some P`, returns the type of the variable's value.
    fn variable_type(&mut self, ty: &ast::TypeExpr) -> Type {
        let found = self.resolve(ty);
        match &found {
            Type::Existential(bounds) if is_opaque(ty) => opaque_type::fresh_within(self.cx, bounds, ty.span),
            _ => found,
        }
    }

    /// Converts a value to an optional, unless the value is an optional.
    pub(crate) fn as_optional(&mut self, value: Expr) -> Expr {
        let ty = unification::resolved(self.cx, &value.ty.clone());
        if ty == Type::Error || name_lookup::is_optional(self.cx, &ty) {
            return value;
        }
        let wanted = name_lookup::applied(self.cx, "Optional", &[ty]);
        self.coerce(value, &wanted)
    }

    /// Infers a top-level variable of the script, which is a global.
    fn global_variable(
        &mut self,
        binding: &ast::Binding,
        value: Option<Expr>,
        ty: &Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut names = vec![];
        bound_names(&binding.pattern, &mut names);
        let globals: Vec<_> = names.iter().map(|(name, at, _)| self.global_at(name, *at)).collect();
        if let ([Some(global)], ast::PatternKind::Bind { .. }) = (globals.as_slice(), &strip(&binding.pattern).kind) {
            let ty = unification::resolved(self.cx, ty);
            self.set_global_type(*global, &ty);
            self.note_closure_names(*global, binding);
            let value = match value {
                Some(value) => value,
                None if !self.cx.defs.globals[global.0 as usize].is_let && name_lookup::is_optional(self.cx, &ty) => {
                    Expr { kind: ExprKind::Nil, ty, span }
                }
                None => return,
            };
            out.push(Stmt { kind: StmtKind::InitGlobal { global: *global, value }, span });
            return;
        }
        let pattern = self.in_scope(|infer| infer.pattern(strip(&binding.pattern), ty, false));
        // The locals only transfer the values to the globals, and are not declared by the program.
        let locals = pattern.bound();
        locals.iter().for_each(|local| self.frame().locals[local.0 as usize].name = "".into());
        let has_value = value.is_some();
        if let Some(value) = value {
            out.push(Stmt { kind: StmtKind::Let { pattern, value: Some(value) }, span });
        }
        for (global, local) in globals.into_iter().zip(locals) {
            let Some(global) = global else { continue };
            let value = self.local_expr(local, span);
            let ty = unification::resolved(self.cx, &value.ty.clone());
            self.set_global_type(global, &ty);
            if has_value {
                out.push(Stmt { kind: StmtKind::InitGlobal { global, value }, span });
            }
        }
    }

    /// Returns the global variable that a name at a source location of the script declares.
    fn global_at(&mut self, name: &ast::Name, span: Span) -> Option<crate::types::model::typed_tree::GlobalId> {
        self.cx.defs.globals_at.get(&(name.clone(), span)).copied()
    }

    fn set_global_type(&mut self, global: crate::types::model::typed_tree::GlobalId, ty: &Type) {
        if unification::has_vars(self.cx, ty) {
            self.open_globals.push(global);
        }
        self.cx.defs.globals[global.0 as usize].memo.ty = Some(ty.clone());
    }

    /// Completes the types of global variables, which other functions use: these number their type variables anew. A type that
    /// is unknown after an error in the initial value stays unknown.
    pub(super) fn complete_global_types(&mut self) {
        for global in std::mem::take(&mut self.open_globals) {
            let Some(ty) = self.cx.defs.globals[global.0 as usize].memo.ty.clone() else { continue };
            let ty = unification::resolved(self.cx, &ty);
            let ty = if unification::has_vars(self.cx, &ty) { Type::Error } else { ty };
            self.cx.defs.globals[global.0 as usize].memo.ty = Some(ty);
        }
    }

    fn note_closure_names(&mut self, global: crate::types::model::typed_tree::GlobalId, binding: &ast::Binding) {
        if let Some(ast::Expr { kind: Ast::Closure(closure), .. }) = &binding.value
            && let Some(params) = &closure.params
        {
            let names = params.iter().map(|p| p.name.name.clone()).collect();
            self.cx.defs.closure_names.insert(global, names);
        }
    }
}

/// Returns a binding whose value is marked with `try`: the value of an `async let` need not be marked.
fn attempted(binding: &ast::Binding) -> ast::Binding {
    let value = binding.value.clone().map(|value| {
        let span = value.span;
        ast::Expr { kind: Ast::Try { kind: ast::TryKind::Propagate, value: Rc::new(value) }, span }
    });
    ast::Binding { value, ..binding.clone() }
}
