//! Type expressions: expressions that denote types.

use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::{MemberKind, Owner};
use crate::types::model::ty::Type;
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::names::nested_access;
use crate::types::names::type_alias;
use crate::types::names::type_expr;

impl Infer<'_> {
    /// Returns the type that an expression denotes, if any.
    pub(crate) fn type_expression(&mut self, e: &ast::Expr) -> Option<Type> {
        match &e.kind {
            Ast::Ident { name, generics } => {
                if self.find_local_quiet(name) || !self.names_type(name) {
                    return None;
                }
                let ident = Ident { name: name.clone(), span: e.span };
                let ty =
                    ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident, generics.clone())]), span: e.span };
                Some(self.resolve(&ty))
            }
            Ast::Member { base, .. } if self.module_of(base).is_some() => self.type_of_module(e),
            Ast::Member { base, name, generics } => {
                let base = self.type_expression(base)?;
                let of = unification::shallow(self.cx, &base);
                let values = members::members(self.cx, &of, &name.name, true, self.file);
                let is_value = values.iter().any(|(m, ..)| {
                    !matches!(m, MemberKind::Nominal(_) | MemberKind::Alias(_) | MemberKind::AssociatedType)
                });
                if is_value || matches!(&*name.name, "self" | "init") {
                    return None;
                }
                let member = name_lookup::member_type(self.cx, &of, &name.name)?;
                if let Some(level) = nested_access::hidden_type(self.cx, &of, &name.name, self.owner, self.file) {
                    self.inaccessible(&name.name, level, name.span);
                }
                let scope = self.scope();
                if let Some(applied) = type_alias::apply_member_alias(self.cx, &of, name, &member, generics, &scope) {
                    return Some(applied);
                }
                if let (Type::Nominal(n, args), false) = (&member, generics.is_empty()) {
                    let given: Vec<Type> = generics.iter().map(|g| self.resolve(g)).collect();
                    let outer = args.len().saturating_sub(given.len());
                    return Some(Type::Nominal(*n, args.iter().take(outer).cloned().chain(given).collect()));
                }
                if let Type::Nominal(n, args) = &member {
                    // Omitted generic arguments of the nested type are inferred.
                    let own = self.cx.defs.nominal_data(*n).params.clone();
                    let args: Vec<Type> = args
                        .iter()
                        .zip(own.iter())
                        .map(|(a, p)| {
                            if *a == Type::Param(*p) && !self.cx.scope.env.params.contains(p) {
                                self.cx.vars.fresh()
                            } else {
                                a.clone()
                            }
                        })
                        .collect();
                    return Some(Type::Nominal(*n, args.into()));
                }
                Some(member)
            }
            Ast::Type(ty) => Some(self.resolve(ty)),
            // The expression has the form `Int?.none`.
            Ast::Chain(inner) => {
                let of = self.type_expression(inner)?;
                Some(name_lookup::applied(self.cx, "Optional", &[of]))
            }
            Ast::Array(items) => {
                let [item] = items.as_slice() else { return None };
                let of = self.type_expression(item)?;
                Some(name_lookup::applied(self.cx, "Array", &[of]))
            }
            Ast::Dictionary(items) => {
                let [(key, value)] = items.as_slice() else { return None };
                let (key, value) = (self.type_expression(key)?, self.type_expression(value)?);
                Some(name_lookup::applied(self.cx, "Dictionary", &[key, value]))
            }
            Ast::Paren(inner) => self.type_expression(inner),
            Ast::Tuple(parts) if parts.len() > 1 => {
                let mut types = vec![];
                for (label, part) in parts {
                    types.push((label.as_ref().map(|l| l.name.clone()), self.type_expression(part)?));
                }
                Some(Type::Tuple(types.into()))
            }
            _ => None,
        }
    }

    pub(crate) fn find_local_quiet(&mut self, name: &str) -> bool {
        let path = self.path();
        path.iter().any(|f| self.frames[*f].scopes.iter().any(|s| s.contains_key(name)))
    }

    pub(crate) fn names_type(&mut self, name: &str) -> bool {
        if matches!(name, "Self" | "Any" | "AnyClass" | "Never") {
            return name != "Self" || self.owner != Owner::Module;
        }
        if type_expr::synthesized_type(self.cx, name).is_some() {
            return true;
        }
        let env = self.cx.scope.env.clone();
        if env.params.iter().any(|p| &*self.cx.defs.params[p.0 as usize].name == name)
            || self.local_types.contains_key(name)
        {
            return true;
        }
        let mut owner = self.owner;
        loop {
            match owner {
                Owner::Nominal(n) => {
                    let own = self.cx.defs.declared_type(n);
                    if &*self.cx.defs.nominal_data(n).name == name {
                        return true;
                    }
                    let Type::Nominal(_, args) = &own else { return false };
                    if name_lookup::own_member_type(self.cx, n, args, name).is_some()
                        || name_lookup::inherited_member_type(self.cx, n, args, name).is_some()
                        || associated_type::associated_type(self.cx, &own, name).is_some()
                        || name_lookup::protocol_alias(self.cx, &own, name).is_some()
                    {
                        return true;
                    }
                    owner = self.cx.defs.nominal_data(n).parent;
                }
                Owner::Protocol(p) => {
                    let own = Type::Param(self.cx.defs.protocol_data(p).self_param);
                    if name_lookup::member_type(self.cx, &own, name).is_some() {
                        return true;
                    }
                    break;
                }
                Owner::Module => break,
            }
        }
        let file = self.file;
        name_lookup::type_entry(self.cx, name, file).is_some()
    }

    /// Returns the enclosing type in terms of its own generic parameters; `Self` in a protocol.
    pub(crate) fn own_type(&mut self) -> Option<Type> {
        match self.owner {
            Owner::Nominal(n) => Some(self.cx.defs.declared_type(n)),
            Owner::Protocol(p) => Some(Type::Param(self.cx.defs.protocol_data(p).self_param)),
            Owner::Module => None,
        }
    }
}
