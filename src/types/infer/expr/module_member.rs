//! Members of modules: `Swift.max(1, 2)`, `TensorFlow.gradient`.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_tables::{FunctionKind, Named};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::members;
use crate::types::names::members::MemberOf;
use crate::types::names::module_name;
use crate::types::names::module_name::Module;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the module that an expression names, unless the program declares this name.
    pub(crate) fn module_of<'a>(&mut self, e: &'a ast::Expr) -> Option<(&'a ast::Name, Module)> {
        let Ast::Ident { name, generics } = &e.kind else { return None };
        let module = module_name::module_named(self.cx, name, self.file).filter(|_| generics.is_empty())?;
        let is_nearer = self.find_local_quiet(name) || self.is_own_member(name) || self.names_type(name);
        (!is_nearer).then_some((name, module))
    }

    /// Whether a name without a base may denote a member of the enclosing type.
    pub(crate) fn is_own_member(&mut self, name: &str) -> bool {
        self.own_members(name).is_some()
    }

    /// Returns the members of the enclosing type that a name without a base denotes: those of instances, or the static ones if
    /// there are none.
    pub(crate) fn own_members(&mut self, name: &str) -> Option<Vec<MemberOf>> {
        let own = self.own_type()?;
        let found =
            [false, true].into_iter().map(|is_static| members::members(self.cx, &own, name, is_static, self.file));
        found.into_iter().find(|members| !members.is_empty())
    }

    /// Returns the functions named `name` that a module declares.
    pub(crate) fn functions_in(&mut self, module: Module, name: &str) -> Vec<Candidate> {
        let mut out = vec![];
        for entry in module_name::entries_in(self.cx, module, name, self.file) {
            let Named::Function(f) = entry.what else { continue };
            if self.cx.defs.function_data(f).kind == FunctionKind::Getter {
                continue;
            }
            let tier = u32::from(self.cx.defs.function_data(f).is_prelude);
            out.push(Candidate { target: Target::Function(f), prefix: Rc::from([]), receiver: None, tier });
        }
        out
    }

    /// Infers a call of a function of a module, `Module.name(arguments)`.
    pub(crate) fn call_in_module(
        &mut self,
        module: (&ast::Name, Module),
        name: &Ident,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let candidates = self.functions_in(module.1, &name.name);
        if !candidates.is_empty() {
            return self.call_overloaded(name, candidates, args, expected, span);
        }
        let function = self.member_of_module(module.0, module.1, name, None);
        self.call_value(function, args, expected, span)
    }

    /// Infers a member of a module, `Module.name`, as a value.
    pub(crate) fn member_of_module(
        &mut self,
        module_name: &ast::Name,
        module: Module,
        name: &Ident,
        expected: Option<&Type>,
    ) -> Expr {
        let base = name.name.split('(').next().unwrap_or(&name.name);
        let mut entries = module_name::entries_in(self.cx, module, base, self.file);
        if base.len() < name.name.len() {
            entries.retain(|e| matches!(e.what, Named::Function(f) if self.cx.defs.full_name(f) == *name.name));
        }
        match self.entries_value(&entries, name, expected) {
            Ok(value) => value,
            Err(Some(declared)) => self.before_declaration(name, declared),
            Err(None) => {
                let message = format!("module '{module_name}' has no member named '{}'", name.name);
                self.error(Diagnostic::error(Code::UnknownName, name.span, message));
                self.error_expr(name.span)
            }
        }
    }

    /// Returns the type that an expression `Module.Type<A>` denotes, if the module declares this type.
    pub(crate) fn type_of_module(&mut self, e: &ast::Expr) -> Option<Type> {
        let Ast::Member { base, name, generics } = &e.kind else { return None };
        let (module_name, module) = self.module_of(base)?;
        module_name::type_in(self.cx, module, &name.name, self.file)?;
        let module_name = Ident { name: module_name.clone(), span: base.span };
        let path = vec![(module_name, vec![]), (name.clone(), generics.clone())];
        Some(self.resolve(&ast::TypeExpr { kind: ast::TypeExprKind::Named(path), span: e.span }))
    }
}
