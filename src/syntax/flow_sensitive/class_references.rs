//! Class references: finds the names that may refer to class instances, judged by their declarations.
//!
//! Types are not known yet, so the analysis is conservative: a name may refer to an instance when its declaration
//! mentions a class, or another name that may refer to an instance.

use super::name_uses::{MUTATING, Names, bound, is_assignment, root};
use super::slice::Slice;
use super::{CHECK, Use};
use crate::source::Span;
use crate::syntax::ast::{
    Decl, DeclKind, Expr, ExprKind, File, FunctionDecl, Name, NominalKind, Stmt, StmtKind, TypeExpr, TypeExprKind,
};
use crate::syntax::visitor::{self, Visitor};
use hashbrown::HashSet;
use std::rc::Rc;

/// The names in a file that may refer to class instances.
pub(super) struct Instances {
    /// The names of types whose values may be or contain class instances.
    types: HashSet<Name>,
    /// All names that may refer to class instances.
    names: HashSet<Name>,
}

impl Instances {
    pub fn of(file: &mut File) -> Instances {
        let mut declarations = Declarations::default();
        visitor::file(&mut declarations, file);
        let mut names: HashSet<Name> = ["Reference", "Buffer", "AnyObject"].map(Name::from).into_iter().collect();
        names.extend(declarations.classes);
        let mut before = 0;
        while before < names.len() {
            before = names.len();
            for (name, mentioned) in &declarations.mentions {
                if mentioned.iter().any(|other| names.contains(other)) {
                    names.insert(name.clone());
                }
            }
        }
        let mut types = declarations.types;
        types.extend(["Reference", "Buffer", "AnyObject"].map(Name::from));
        Instances { types, names }
    }

    /// Returns the first excluded statement that may write to an instance that the slice reads, with the name that is
    /// read.
    pub fn written(&self, slice: &Slice, used: &Use) -> Option<(Name, Span)> {
        let given = |name: &Name| used.of.name == *name || used.wrt.iter().any(|x| x.name == *name);
        let name = slice.needed.iter().rev().find(|name| self.is_value(name) && !given(name))?;
        slice.passed.iter().rev().find(|item| self.may_write(item)).map(|item| (name.clone(), item.span))
    }

    fn is_value(&self, name: &Name) -> bool {
        self.names.contains(name) && !self.types.contains(name)
    }

    fn may_write(&self, item: &Stmt) -> bool {
        let mut writes = Writes { instances: self, leads: false, writes: false };
        visitor::one(&mut writes, &mut item.clone());
        writes.leads && writes.writes
    }
}

/// A search for statements that mention a name that may lead to an instance, and that assign or call something.
struct Writes<'i> {
    instances: &'i Instances,
    leads: bool,
    writes: bool,
}

impl Visitor for Writes<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        match &expr.kind {
            ExprKind::Ident { name, .. } => self.leads |= self.instances.is_value(name),
            ExprKind::Member { name, .. } => self.leads |= self.instances.is_value(&name.name),
            ExprKind::Assign { target, .. } => self.writes |= is_part(target),
            ExprKind::Binary { op, lhs, .. } => self.writes |= is_assignment(&op.name) && is_part(lhs),
            ExprKind::InOut(_) => self.writes = true,
            ExprKind::Call { callee, .. } => match &callee.kind {
                // An expanded gradient only reads its slice.
                ExprKind::Ident { name, .. } if &**name == CHECK => return,
                ExprKind::Ident { name, .. } => {
                    self.writes |= &**name != "print" && !self.instances.types.contains(name);
                }
                // A mutating method of a library collection changes only its receiver.
                ExprKind::Member { base, name, .. } => {
                    let is_own = MUTATING.contains(&&*name.name);
                    self.writes |= !(is_own && root(base).is_some_and(|name| !self.instances.is_value(name)));
                }
                _ => self.writes = true,
            },
            _ => {}
        }
        visitor::inside(self, expr);
    }
}

/// Whether the target of an assignment may be stored in an instance, that is, is not just a variable.
fn is_part(target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Ident { .. } | ExprKind::Discard => false,
        ExprKind::Tuple(elements) => elements.iter().any(|(_, element)| is_part(element)),
        _ => true,
    }
}

/// The names that the declarations of a file mention, by declared name.
#[derive(Default)]
struct Declarations {
    classes: Vec<Name>,
    types: HashSet<Name>,
    mentions: Vec<(Name, Vec<Name>)>,
}

impl Visitor for Declarations {
    fn expr(&mut self, expr: &mut Expr) {
        visitor::inside(self, expr);
    }

    fn passed(&mut self, item: &Stmt) {
        match &item.kind {
            StmtKind::Decl(decl) => self.declaration(decl, item),
            StmtKind::For { pattern, sequence, .. } => {
                let mut names = vec![];
                bound(pattern, &mut names);
                let sequence = Stmt { kind: StmtKind::Expr(sequence.clone()), span: sequence.span };
                let mentioned = Names::of(&sequence, &[]).read;
                self.mentions.extend(names.into_iter().map(|name| (name, mentioned.clone())));
            }
            _ => {}
        }
    }
}

impl Declarations {
    fn declaration(&mut self, decl: &Rc<Decl>, item: &Stmt) {
        let mut mentioned = Names::of(item, &[]).read;
        match &decl.kind {
            DeclKind::Variable { bindings, .. } => {
                let mut names = vec![];
                for binding in bindings {
                    bound(&binding.pattern, &mut names);
                    binding.ty.iter().for_each(|ty| named(ty, &mut mentioned));
                }
                self.mentions.extend(names.into_iter().map(|name| (name, mentioned.clone())));
            }
            DeclKind::Function(function) => self.function(function, mentioned),
            DeclKind::Formula { name, .. } => self.mentions.push((name.name.clone(), mentioned)),
            DeclKind::Nominal(nominal) => {
                self.types.insert(nominal.name.name.clone());
                if nominal.kind == NominalKind::Class {
                    self.classes.push(nominal.name.name.clone());
                }
                self.members(&nominal.members, &mut mentioned);
                self.mentions.push((nominal.name.name.clone(), mentioned));
            }
            DeclKind::Protocol(protocol) => {
                self.types.insert(protocol.name.name.clone());
                protocol.inherits.iter().for_each(|ty| named(ty, &mut mentioned));
                self.mentions.push((protocol.name.name.clone(), mentioned));
            }
            DeclKind::Extension(extension) => self.members(&extension.members, &mut mentioned),
            _ => {}
        }
    }

    /// Collects the methods of a type, and the types of its properties.
    fn members(&mut self, members: &[Rc<Decl>], mentioned: &mut Vec<Name>) {
        for member in members {
            match &member.kind {
                DeclKind::Function(function) => {
                    let item = Stmt { kind: StmtKind::Decl(member.clone()), span: member.span };
                    self.function(function, Names::of(&item, &[]).read);
                }
                DeclKind::Variable { bindings, .. } => {
                    bindings.iter().filter_map(|b| b.ty.as_ref()).for_each(|ty| named(ty, mentioned));
                }
                DeclKind::Cases(cases) => {
                    let parts = cases.iter().flat_map(|case| case.payload.iter().flatten());
                    parts.for_each(|part| named(&part.ty, mentioned));
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, function: &FunctionDecl, mut mentioned: Vec<Name>) {
        for param in &function.params {
            let mut own = vec![];
            param.ty.iter().for_each(|ty| named(ty, &mut own));
            mentioned.extend(own.iter().cloned());
            self.mentions.push((param.name.name.clone(), own));
        }
        function.result.iter().for_each(|ty| named(ty, &mut mentioned));
        self.mentions.push((function.name.name.clone(), mentioned));
    }
}

/// Collects the names that occur in a type.
fn named(ty: &TypeExpr, names: &mut Vec<Name>) {
    match &ty.kind {
        TypeExprKind::Named(parts) => {
            for (name, arguments) in parts {
                names.push(name.name.clone());
                arguments.iter().for_each(|ty| named(ty, names));
            }
        }
        TypeExprKind::Dictionary(key, value) => {
            named(key, names);
            named(value, names);
        }
        TypeExprKind::Array(ty)
        | TypeExprKind::Optional(ty)
        | TypeExprKind::Unwrapped(ty)
        | TypeExprKind::Some(ty)
        | TypeExprKind::Any(ty)
        | TypeExprKind::Member(ty, _)
        | TypeExprKind::Metatype(ty)
        | TypeExprKind::Attributed(_, ty) => named(ty, names),
        TypeExprKind::Tuple(parts) => parts.iter().for_each(|(_, ty)| named(ty, names)),
        TypeExprKind::Composition(parts) => parts.iter().for_each(|ty| named(ty, names)),
        TypeExprKind::Function { params, result, .. } => {
            params.iter().for_each(|param| named(&param.ty, names));
            named(result, names);
        }
        TypeExprKind::Inferred => {}
    }
}
