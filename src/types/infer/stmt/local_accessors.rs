//! Local variables with accessors: computed, observed, `lazy` and wrapped variables of a body.
//!
//! Their accessors are local functions, which capture the variables that store the values.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{Accessors, Block, DeclKind, FunctionDecl, Generics, Ident, LazyBlock, Param, TypeExpr};
use crate::types::declare;
use crate::types::declare::member::value_param;
use crate::types::declare::property_observers;
use crate::types::declare::property_wrapper;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::{Binding, Infer};
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::syntax_query::{coerced, strip};
use crate::types::model::syntax_walk::mentions;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Callee, Expr, ExprKind, FunctionId, FunctionRef, Stmt};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The names of parameters and variables that only accessors refer to.
const NEW: &str = "new value";
const OLD: &str = "old value";

impl Infer<'_> {
    /// Declares a local variable that has accessors; returns `false` if the variable has none.
    pub(crate) fn variable_with_accessors(
        &mut self,
        decl: &Rc<ast::Decl>,
        is_let: bool,
        binding: &ast::Binding,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let written = match &binding.pattern.kind {
            ast::PatternKind::Typed(_, ty) => Some(ty),
            _ => binding.ty.as_ref(),
        };
        let ast::PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else { return false };
        let ident = Ident { name: name.clone(), span: strip(&binding.pattern).span };
        declare::check_has_getter(self.cx, binding, &ident);
        if let Some(wrapped) = property_wrapper::wrapped_local(self.cx, decl, is_let, binding, &ident, written) {
            let Some(wrapped) = wrapped else { return true };
            self.variable(false, Ownership::Strong, &wrapped.storage, decl.span, out);
            let forwards = [(Some(wrapped.value), "", "wrappedValue"), (wrapped.projected, "$", "projectedValue")];
            for (settable, sign, of) in forwards {
                let Some(settable) = settable else { continue };
                let ident = Ident { name: format!("{sign}{}", ident.name).into(), span: ident.span };
                self.forward(&ident, &format!("`_{name}`.{of}"), settable, out);
            }
            return true;
        }
        match &binding.accessors {
            Some(accessors) if accessors.get.is_some() => {
                declare::check_computed(self.cx, decl, is_let, binding);
                if let Some(ty) = written {
                    let ty = self.resolve(ty);
                    self.accessors(&ident, accessors.clone(), &ty, out);
                }
                true
            }
            accessors if decl.has("async") => match &binding.value {
                Some(value) if is_let && accessors.is_none() => {
                    self.async_constant(&ident, written, value, out);
                    true
                }
                _ => {
                    self.reject_async_variable(is_let, ident.span);
                    false
                }
            },
            accessors if decl.has("lazy") => {
                let problem = match &binding.value {
                    _ if is_let => "'lazy' cannot be used on a let",
                    _ if accessors.is_some() => "'lazy' variables of a function cannot have observers",
                    None => "lazy properties must have an initializer",
                    Some(value) => {
                        self.lazy_variable(&ident, written, value, out);
                        return true;
                    }
                };
                self.error(Diagnostic::error(Code::WrongContext, ident.span, problem));
                false
            }
            Some(accessors) if property_observers::observes(self.cx, Some(accessors), &ident, is_let) => {
                self.observed_variable(&ident, accessors, binding, out);
                true
            }
            _ => false,
        }
    }

    /// Creates a call of the getter of a variable that has accessors.
    pub(crate) fn computed_local(&mut self, get: FunctionId, set: Option<FunctionId>, span: Span) -> Expr {
        let all: Vec<FunctionId> = std::iter::once(get).chain(set).collect();
        self.capture_for(&all);
        let signature = signature::signature(self.cx, get);
        let generics = signature.env.params.iter().map(|p| Type::Param(*p)).collect();
        let callee = Callee::Static(FunctionRef { function: get, generics });
        Expr { kind: ExprKind::Call { callee, args: vec![] }, ty: signature.result.clone(), span }
    }

    /// Declares the accessors of a local variable, and binds the variable's name to these accessors.
    pub(super) fn accessors(&mut self, ident: &Ident, accessors: Accessors, ty: &Type, out: &mut Vec<Stmt>) {
        let span = ident.span;
        let result = self.type_expr(ty, span);
        let Some(body) = accessors.get else { return };
        let get = self.accessor(ident, accessors.get_throws, vec![], Some(result.clone()), body, out);
        self.cx.defs.functions[get.0 as usize].kind = FunctionKind::Getter;
        let set = accessors.set.map(|(new_value, body)| {
            let name = new_value.unwrap_or(Ident { name: "newValue".into(), span });
            let set = self.accessor(ident, false, vec![value_param(name, Some(&result))], None, body, out);
            self.cx.defs.functions[set.0 as usize].kind = FunctionKind::Setter;
            set
        });
        self.cx.defs.functions[get.0 as usize].setter = set;
        if let Some(scope) = self.frame().scopes.last_mut() {
            Rc::make_mut(scope).insert(ident.name.clone(), Binding::Computed(get, set));
        }
    }

    /// Declares an accessor: a local function whose name is not bound.
    fn accessor(
        &mut self,
        ident: &Ident,
        throws: bool,
        params: Vec<Param>,
        result: Option<TypeExpr>,
        body: LazyBlock,
        out: &mut Vec<Stmt>,
    ) -> FunctionId {
        let span = ident.span;
        let function = FunctionDecl {
            name: ident.clone(),
            generics: Generics::default(),
            params,
            throws,
            rethrows: false,
            thrown: None,
            result,
            body: Some(body),
        };
        let decl = ast::Decl {
            kind: DeclKind::Function(function.clone()),
            attributes: vec![],
            modifiers: vec![],
            span,
            documentation: None,
        };
        let id = self.declare_local_function(&Rc::new(decl), &function);
        let declared = self.local_function(id);
        out.push(declared);
        id
    }

    /// Declares an observed variable. The observers of the variable refer to the stored variable, all other code to the
    /// accessors.
    fn observed_variable(&mut self, ident: &Ident, accessors: &Accessors, binding: &ast::Binding, out: &mut Vec<Stmt>) {
        let (name, span) = (&ident.name, ident.span);
        let start = (self.pending.len(), self.cx.vars.var_count());
        self.variable(false, Ownership::Strong, &ast::Binding { accessors: None, ..binding.clone() }, span, out);
        self.resolve_statement(start);
        let Some(crate::types::infer::LocalEntity::Local(local)) = self.find_local(name) else { return };
        let ty = self.local_type(local);
        let ty = unification::resolved(self.cx, &ty);
        let param = self.type_expr(&ty, span);
        let (mut before, mut after) = (String::new(), String::new());
        if let Some((own, body)) = &accessors.will_set {
            let new = own.clone().unwrap_or(Ident { name: "newValue".into(), span });
            let call =
                self.observer(&format!("willSet of {name}"), vec![value_param(new, Some(&param))], body, span, out);
            before = format!("{call}(`{NEW}`)\n");
        }
        if let Some((own, body)) = &accessors.did_set {
            let full = format!("didSet of {name}");
            if own.is_some() || mentions(body, "oldValue") {
                let old = own.clone().unwrap_or(Ident { name: "oldValue".into(), span });
                let call = self.observer(&full, vec![value_param(old, Some(&param))], body, span, out);
                before = format!("let `{OLD}` = `{name}`\n{before}");
                after = format!("{call}(`{OLD}`)\n");
            } else {
                after = format!("{}()\n", self.observer(&full, vec![], body, span, out));
            }
        }
        let get = property_observers::written_block(self.cx, &format!("return `{name}`\n"), span);
        let set = property_observers::written_block(self.cx, &format!("{before}`{name}` = `{NEW}`\n{after}"), span);
        let accessors = Self::written_accessors(get, Some(set), span);
        self.accessors(ident, accessors, &ty, out);
    }

    /// Declares an observer; returns its quoted name, by which the setter calls the observer.
    fn observer(
        &mut self,
        full: &str,
        params: Vec<Param>,
        body: &LazyBlock,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> String {
        let ident = Ident { name: full.into(), span };
        let f = self.accessor(&ident, false, params, None, body.clone(), out);
        if let Some(scope) = self.frame().scopes.last_mut() {
            Rc::make_mut(scope).insert(ident.name, Binding::Functions(vec![f]));
        }
        format!("`{full}`")
    }

    /// Declares a lazy variable: a closure computes the value, which is stored when it is first read.
    fn lazy_variable(&mut self, ident: &Ident, written: Option<&TypeExpr>, value: &ast::Expr, out: &mut Vec<Stmt>) {
        let (name, span) = (&ident.name, ident.span);
        let value = coerced(value, written);
        let initial = format!("initial value of {name}");
        let closure = crate::types::model::syntax_query::closure_of(&[], value, span);
        self.hidden_variable(&initial, None, closure, span, out);
        let Some(crate::types::infer::LocalEntity::Local(local)) = self.find_local(&initial) else { return };
        let ty = self.local_type(local);
        let Type::Function(function) = unification::resolved(self.cx, &ty) else { return };
        let ty = function.result.clone();
        let optional = name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&ty));
        let storage = format!("storage of {name}");
        let nil = ast::Expr { kind: ast::ExprKind::Nil, span };
        self.hidden_variable(&storage, Some(&optional), nil, span, out);
        let text = format!(
            "if let `known` = `{storage}` {{ return `known` }}\nlet `value` = `{initial}`()\n\
             `{storage}` = `value`\nreturn `value`\n"
        );
        let get = property_observers::written_block(self.cx, &text, span);
        let set = property_observers::written_block(self.cx, &format!("`{storage}` = `{NEW}`\n"), span);
        let accessors = Self::written_accessors(get, Some(set), span);
        self.accessors(ident, accessors, &ty, out);
    }

    /// Declares a variable whose name programs cannot use.
    pub(super) fn hidden_variable(
        &mut self,
        name: &str,
        ty: Option<&Type>,
        value: ast::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let kind = ast::PatternKind::Bind { name: name.into(), mutable: false };
        let binding = ast::Binding {
            pattern: ast::Pattern { kind, span },
            ty: ty.map(|ty| self.type_expr(ty, span)),
            value: Some(value),
            accessors: None,
        };
        let start = (self.pending.len(), self.cx.vars.var_count());
        self.variable(ty.is_none(), Ownership::Strong, &binding, span, out);
        self.resolve_statement(start);
    }

    /// Declares a local variable that forwards to a property of another variable.
    fn forward(&mut self, ident: &Ident, place: &str, settable: bool, out: &mut Vec<Stmt>) {
        let span = ident.span;
        let get = property_observers::written_block(self.cx, &format!("return {place}\n"), span);
        let Some(ast::StmtKind::Return(Some(value))) = get.items.first().map(|item| item.kind.clone()) else { return };
        let start = (self.pending.len(), self.cx.vars.var_count());
        let found = self.expr(&value, None);
        self.resolve_statement(start);
        let ty = unification::resolved(self.cx, &found.ty.clone());
        let set = settable.then(|| property_observers::written_block(self.cx, &format!("{place} = `{NEW}`\n"), span));
        self.accessors(ident, Self::written_accessors(get, set, span), &ty, out);
    }

    fn written_accessors(get: Block, set: Option<Block>, span: Span) -> Accessors {
        let set = set.map(|set| (Some(Ident { name: NEW.into(), span }), set.into()));
        Accessors { get: Some(get.into()), set, ..Accessors::default() }
    }

    fn type_expr(&mut self, ty: &Type, span: Span) -> TypeExpr {
        match self.type_written(ty, span).kind {
            ast::ExprKind::Type(written) => written,
            _ => TypeExpr { kind: ast::TypeExprKind::Inferred, span },
        }
    }
}
