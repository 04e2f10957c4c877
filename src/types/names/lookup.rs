//! What names of the top level and of types stand for.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{TypeExpr, TypeExprKind};
use crate::types::declare::prelude::PRELUDE_FILE;
use crate::types::model::tables::{Entry, MemberKind, Named, Owner, World};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use std::rc::Rc;

impl World {
    /// What a name of the top level stands for, seen from a file: a user's declarations first.
    pub(crate) fn entries(&mut self, name: &str, file: u32) -> Vec<Entry> {
        let mut found = self.own_entries(name, file);
        found.extend(self.library_entries(name));
        found
    }

    /// What the program declares under a name, as far as a file sees it.
    pub(crate) fn own_entries(&self, name: &str, file: u32) -> Vec<Entry> {
        if file == PRELUDE_FILE {
            return vec![];
        }
        let of_module = self.module.get(name).into_iter().flatten();
        let of_module = of_module.chain(self.earlier.get(name).into_iter().flatten());
        of_module.filter(|e| !e.is_private || e.file == file).copied().collect()
    }

    pub(crate) fn type_entry(&mut self, name: &str, file: u32) -> Option<Named> {
        self.entries(name, file)
            .into_iter()
            .map(|e| e.what)
            .find(|what| matches!(what, Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_)))
    }

    /// A protocol of the prelude.
    pub(crate) fn protocol(&mut self, name: &'static str) -> ProtocolId {
        if let Some(Entry { what: Named::Protocol(p), .. }) = self.known.get(name) {
            return *p;
        }
        let entry = self.library_entries(name).into_iter().find(|e| matches!(e.what, Named::Protocol(_)));
        match entry {
            Some(entry @ Entry { what: Named::Protocol(p), .. }) => {
                self.known.insert(name, entry);
                p
            }
            _ => unreachable!("the prelude declares the protocol {name}"),
        }
    }

    /// A nominal type of the prelude.
    pub(crate) fn library_nominal(&mut self, name: &'static str) -> NominalId {
        if let Some(Entry { what: Named::Nominal(n), .. }) = self.known.get(name) {
            return *n;
        }
        let entry = self.library_entries(name).into_iter().find(|e| matches!(e.what, Named::Nominal(_)));
        match entry {
            Some(entry @ Entry { what: Named::Nominal(n), .. }) => {
                self.known.insert(name, entry);
                n
            }
            _ => unreachable!("the prelude declares the type {name}"),
        }
    }

    /// A built-in type without arguments.
    pub(crate) fn simple(&mut self, name: &'static str) -> Type {
        Type::Nominal(self.library_nominal(name), Rc::from([]))
    }

    /// A built-in type with arguments.
    pub(crate) fn applied(&mut self, name: &'static str, args: &[Type]) -> Type {
        Type::Nominal(self.library_nominal(name), args.into())
    }

    /// Whom an extension extends.
    pub(crate) fn extended_owner(&mut self, target: &TypeExpr, file: u32) -> Option<Owner> {
        let TypeExprKind::Named(path) = &target.kind else {
            let name = match &target.kind {
                TypeExprKind::Array(_) => "Array",
                TypeExprKind::Dictionary(..) => "Dictionary",
                TypeExprKind::Optional(_) => "Optional",
                _ => return None,
            };
            return Some(Owner::Nominal(self.library_nominal(name)));
        };
        let (first, rest) = path.split_first()?;
        let (entry, rest) = match (self.type_entry(&first.0.name, file), rest) {
            (None, [second, rest @ ..]) => {
                let module = self.module_named(&first.0.name, file)?;
                (self.type_in(module, &second.0.name, file)?, rest)
            }
            (entry, rest) => (entry?, rest),
        };
        let mut owner = match entry {
            Named::Nominal(n) => Owner::Nominal(n),
            Named::Protocol(p) => Owner::Protocol(p),
            Named::Alias(a) => match self.resolve_alias(a) {
                Type::Nominal(n, _) => Owner::Nominal(n),
                _ => return None,
            },
            Named::Function(_) | Named::Global(_) => return None,
        };
        for (ident, _) in rest {
            let Owner::Nominal(n) = owner else { return None };
            match self.member_type(&self.declared_type(n), &ident.name)? {
                Type::Nominal(inner, _) => owner = Owner::Nominal(inner),
                _ => return None,
            }
        }
        Some(owner)
    }

    /// Whether a type is written as `Never`, and that is not the name of another one.
    pub(crate) fn resolves_to_never(&mut self, target: &TypeExpr, file: u32) -> bool {
        let TypeExprKind::Named(path) = &target.kind else { return false };
        matches!(path.as_slice(), [(ident, _)] if &*ident.name == "Never") && self.type_entry("Never", file).is_none()
    }

    pub(crate) fn unknown_type_diagnostic(&self, ty: &TypeExpr) -> Diagnostic {
        Diagnostic::error(Code::UnknownType, ty.span, "cannot find the type to extend in scope")
    }

    /// `T.Name`
    pub(crate) fn member_type(&mut self, of: &Type, name: &str) -> Option<Type> {
        let of = self.shallow(of);
        if let Type::Nominal(n, args) = &of {
            if let Some(found) = self.own_member_type(*n, args, name) {
                return Some(found);
            }
            let data = self.nominal_data(*n);
            let own = data.params.len() - data.own_params;
            if let Some(i) = (own..data.params.len()).find(|i| &*self.params[data.params[*i].0 as usize].name == name) {
                return args.get(i).cloned();
            }
        }
        self.associated_type(&of, name).or_else(|| self.protocol_alias(&of, name))
    }

    /// A type alias in an extension of a protocol that a type conforms to.
    pub(crate) fn protocol_alias(&mut self, of: &Type, name: &str) -> Option<Type> {
        let protocols = self.protocols_of(of);
        let (p, alias) = protocols.iter().find_map(|p| {
            let members = self.protocol_data(*p).members.get(name)?;
            members.iter().find_map(|m| match m.kind {
                MemberKind::Alias(alias) => Some((*p, alias)),
                _ => None,
            })
        })?;
        let own = self.protocol_data(p).self_param;
        let target = self.resolve_alias(alias).substitute(&|q| (q == own).then(|| of.clone()));
        Some(self.normalize_type(&target))
    }

    /// A nested type or type alias that is declared in a nominal type.
    pub(crate) fn own_member_type(&mut self, n: NominalId, args: &[Type], name: &str) -> Option<Type> {
        let short = self.nominal_data(n).name.clone();
        if self.nominal_data(n).is_prelude || self.nominal_data(n).parent == Owner::Module {
            self.load_extensions(&short);
            self.load_members(&short, name);
        }
        let members = self.nominal_data(n).members.get(name)?;
        let kind = members
            .iter()
            .map(|m| m.kind.clone())
            .find(|k| matches!(k, MemberKind::Nominal(_) | MemberKind::Alias(_)))?;
        let found = match kind {
            MemberKind::Nominal(inner) => self.declared_type(inner),
            MemberKind::Alias(a) => self.resolve_alias(a),
            _ => return None,
        };
        let params = self.nominal_data(n).params.clone();
        let args: Vec<Type> = args.to_vec();
        let found = found.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()));
        Some(self.normalize_type(&found))
    }

    pub(crate) fn has_member_type(&mut self, n: NominalId, name: &str) -> bool {
        if self.nominal_data(n).is_prelude {
            let short = self.nominal_data(n).name.clone();
            self.load_extensions(&short);
            self.load_members(&short, name);
        }
        self.nominal_data(n)
            .members
            .get(name)
            .is_some_and(|m| m.iter().any(|m| matches!(m.kind, MemberKind::Nominal(_) | MemberKind::Alias(_))))
    }
}
