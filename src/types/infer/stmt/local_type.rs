//! Types that a block declares.

use crate::syntax::ast;
use crate::syntax::ast::{DeclKind, StmtKind as AstStmt};
use crate::types::infer::Infer;
use crate::types::model::tables::{AliasId, Named, Owner};
use std::rc::Rc;

impl Infer<'_> {
    /// Enters the types of a block, so that each may name all of them.
    pub(crate) fn declare_local_types(&mut self, items: &[ast::Stmt]) {
        let (first, first_alias) = (self.world.nominals.len(), self.world.aliases.len());
        self.world.around = Some(self.world.env.clone());
        for item in items {
            let AstStmt::Decl(decl) = &item.kind else { continue };
            match &decl.kind {
                DeclKind::Nominal(nominal) => {
                    let id = self.world.declare_nominal(decl, nominal, Owner::Module, None, self.file, false);
                    Rc::make_mut(&mut self.local_types).insert(nominal.name.name.clone(), Named::Nominal(id));
                    self.local_nominals.push(id);
                }
                DeclKind::TypeAlias { name, generics, target } => {
                    let id = self.world.declare_alias(name, generics, target, self.owner, None, self.file);
                    Rc::make_mut(&mut self.local_types).insert(name.name.clone(), Named::Alias(id));
                }
                _ => {}
            }
        }
        self.world.around = None;
        // What is declared inside of them sees the same.
        let (locals, env) = (self.local_types.clone(), self.world.env.clone());
        self.world.nominals.iter_mut().skip(first).for_each(|data| data.locals = locals.clone());
        for alias in self.world.aliases.iter_mut().skip(first_alias) {
            alias.locals = locals.clone();
            alias.around = Some(env.clone());
        }
        for alias in first_alias..self.world.aliases.len() {
            self.world.resolve_alias(AliasId(alias as u32));
        }
    }
}
