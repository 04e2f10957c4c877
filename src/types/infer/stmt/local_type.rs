//! Local types: the types that a block declares.

use crate::syntax::ast;
use crate::syntax::ast::{DeclKind, StmtKind as AstStmt};
use crate::types::declare;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::{AliasId, Named, Owner};
use crate::types::model::type_context;
use crate::types::names::type_alias;
use std::rc::Rc;

impl Infer<'_> {
    /// Declares the types of a block, so that these types may refer to each other.
    pub(crate) fn declare_local_types(&mut self, items: &[ast::Stmt]) {
        let (first, first_alias) = (self.cx.defs.nominals.len(), self.cx.defs.aliases.len());
        for item in items {
            let AstStmt::Decl(decl) = &item.kind else { continue };
            match &decl.kind {
                DeclKind::Nominal(nominal) => {
                    let (env, file) = (self.cx.scope.env.clone(), self.file);
                    let id = type_context::with_enclosing_env(self.cx, env, |cx| {
                        declare::declare_nominal(cx, decl, nominal, Owner::Module, None, file, false)
                    });
                    Rc::make_mut(&mut self.local_types).insert(nominal.name.name.clone(), Named::Nominal(id));
                    self.local_nominals.push(id);
                }
                DeclKind::TypeAlias { name, generics, target } => {
                    let id = declare::declare_alias(self.cx, name, generics, target, self.owner, None, self.file);
                    Rc::make_mut(&mut self.local_types).insert(name.name.clone(), Named::Alias(id));
                }
                _ => {}
            }
        }
        // The local types are also in scope in the declarations inside of them.
        let (locals, env) = (self.local_types.clone(), self.cx.scope.env.clone());
        self.cx.defs.nominals.iter_mut().skip(first).for_each(|data| data.locals = locals.clone());
        for alias in self.cx.defs.aliases.iter_mut().skip(first_alias) {
            alias.locals = locals.clone();
            alias.enclosing_env = Some(env.clone());
        }
        for alias in first_alias..self.cx.defs.aliases.len() {
            type_alias::resolve_alias(self.cx, AliasId(alias as u32));
        }
    }
}
