//! Names as values.

use super::{Found, Infer};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::names::did_you_mean;
use crate::types::store::{FunctionKind, MemberKind, Named};
use crate::types::tree::{Callee, Expr, ExprKind, FunctionRef};
use crate::types::ty::Type;
use std::rc::Rc;

impl Infer<'_> {
    /// A name as a value.
    pub(super) fn name(&mut self, ident: &Ident, generics: &[ast::TypeExpr], expected: Option<&Type>) -> Expr {
        let (name, span) = (ident.name.split('(').next().unwrap_or(&ident.name), ident.span);
        if name.len() < ident.name.len() && !name.is_empty() {
            // `f(_:by:)`: a function by its full name.
            return self.full_name_value(ident, name, expected);
        }
        match self.find_local(name) {
            Some(Found::Local(local)) => return self.local_expr(local, span),
            Some(Found::LocalFunctions(functions)) => {
                self.capture_for(&functions);
                return self.function_value(&functions, expected, span);
            }
            None => {}
        }
        if let Some(n) = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            return self.anonymous(n, span);
        }
        if let Some(own) = self.own_type() {
            if !self.world.members(&own, name, false, self.file).is_empty()
                && let Some(local) = self.self_local_quiet()
            {
                let receiver = self.local_expr(local, span);
                return self.member(receiver, ident, expected, span);
            }
            let statics = self.world.members(&own, name, true, self.file);
            if statics
                .iter()
                .any(|(m, ..)| !matches!(m, MemberKind::Nominal(_) | MemberKind::Alias(_) | MemberKind::AssociatedType))
            {
                return self.static_member_of(&own, ident, expected, span);
            }
        }
        if name == "self" {
            return self.fail(
                Code::UnknownName,
                span,
                "cannot find 'self' in scope; it is available inside of types only",
            );
        }
        let file = self.file;
        let entries = self.world.entries(name, file);
        let mut functions = vec![];
        let mut hidden = None;
        for entry in entries {
            match entry.what {
                Named::Global(g) if functions.is_empty() => {
                    let global = &self.world.globals[g.0 as usize];
                    let is_undecided = global.ty.is_none() && !global.is_lazy;
                    let is_top = self.frames[0].kind == super::FrameKind::Script && self.frames.len() == 1;
                    if is_undecided && (is_top || global.ty_expr.is_none()) {
                        hidden = Some(global.span);
                        continue;
                    }
                    let ty = self.world.global_type(g);
                    if self.current != 0 || self.frames[0].kind != super::FrameKind::Script {
                        self.world.globals[g.0 as usize].is_shared = true;
                    }
                    return Expr { kind: ExprKind::Global(g), ty, span };
                }
                Named::Function(f) if self.world.function_data(f).kind == FunctionKind::Getter => {
                    let ty = self.world.signature(f).result.clone();
                    let callee = Callee::Static(FunctionRef { function: f, generics: vec![] });
                    return Expr { kind: ExprKind::Call { callee, args: vec![] }, ty, span };
                }
                Named::Function(f) => functions.push(f),
                Named::Global(_) | Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        if !functions.is_empty() {
            return self.function_value(&functions, expected, span);
        }
        if let (Some(declared), true) = (hidden, generics.is_empty()) {
            return self.before_declaration(ident, declared);
        }
        if self.names_type(name) {
            let ty = ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident.clone(), generics.to_vec())]), span };
            let ty = self.resolve(&ty);
            return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
        }
        self.unknown_name(ident)
    }

    fn full_name_value(&mut self, ident: &Ident, base: &str, expected: Option<&Type>) -> Expr {
        let file = self.file;
        let mut functions = vec![];
        for entry in self.world.entries(base, file) {
            if let Named::Function(f) = entry.what
                && self.world.full_name(f) == *ident.name
            {
                functions.push(f);
            }
        }
        if functions.is_empty() {
            self.unknown_name(ident)
        } else {
            self.function_value(&functions, expected, ident.span)
        }
    }

    pub(super) fn unknown_name(&mut self, ident: &Ident) -> Expr {
        let later = self.upcoming.iter().rev().flatten().find(|(name, _)| *name == ident.name);
        if let Some((_, declared)) = later {
            return self.before_declaration(ident, *declared);
        }
        let mut known: Vec<String> = vec![];
        for f in self.path() {
            for scope in &self.frames[f].scopes {
                known.extend(scope.keys().map(ToString::to_string));
            }
        }
        known.extend(self.world.module.keys().map(ToString::to_string));
        known.extend(self.world.library_names());
        if let Some(own) = self.own_type() {
            known.extend(self.world.member_names(&own));
        }
        let message = format!("cannot find '{}' in scope", ident.name);
        let mut diagnostic = did_you_mean(Diagnostic::error(Code::UnknownName, ident.span, message), ident, &known);
        if self.assigning == Some(ident.span) {
            diagnostic = diagnostic.fix("declare it where it gets its first value", ident.span.before(), "var ");
        }
        self.error(diagnostic);
        self.error_expr(ident.span)
    }

    fn before_declaration(&mut self, ident: &Ident, declared: Span) -> Expr {
        let message = format!("use of variable '{}' before its declaration", ident.name);
        let diagnostic = Diagnostic::error(Code::Uninitialized, ident.span, message);
        self.error(diagnostic.also(declared, format!("'{}' is declared here", ident.name)));
        self.error_expr(ident.span)
    }

    /// A function declaration (one of several) as a value.
    pub(super) fn function_value(
        &mut self,
        functions: &[crate::types::tree::FunctionId],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let expected = expected.and_then(|t| self.known(t));
        let mut chosen = functions[0];
        if functions.len() > 1 {
            let mut fitting = vec![];
            for f in functions {
                let snapshot = self.world.snapshot();
                let (ty, _) = self.open_function(*f, span);
                let fits = expected.as_ref().is_none_or(|t| self.can_convert(&ty, t));
                self.world.rollback(snapshot);
                if fits {
                    fitting.push(*f);
                }
            }
            // `Double` before other types when nothing says which is meant.
            let double = self.world.simple("Double");
            let prefers = |infer: &mut Self, f: &crate::types::tree::FunctionId| {
                let signature = infer.world.signature(*f);
                usize::from(!signature.params.iter().all(|p| p.ty == double))
            };
            let mut ranked: Vec<(usize, usize, crate::types::tree::FunctionId)> = vec![];
            for (i, f) in fitting.iter().enumerate() {
                let tier = usize::from(self.world.function_data(*f).is_prelude) * 10;
                ranked.push((tier + prefers(self, f), i, *f));
            }
            ranked.sort_unstable_by_key(|(a, b, _)| (*a, *b));
            if let Some((.., f)) = ranked.first() {
                chosen = *f;
            }
        }
        let (ty, generics) = self.open_function(chosen, span);
        Expr { kind: ExprKind::Function(FunctionRef { function: chosen, generics }), ty, span }
    }

    /// The type of a function value with fresh variables for its generic parameters.
    fn open_function(&mut self, f: crate::types::tree::FunctionId, span: Span) -> (Type, Vec<Type>) {
        let candidate = super::candidates::Candidate {
            target: super::candidates::Target::Function(f),
            prefix: match &self.world.function_data(f).outer {
                Some(env) => env.params.iter().map(|p| Type::Param(*p)).collect(),
                None => Rc::from([]),
            },
            receiver: None,
            tier: 0,
        };
        let instance = self.instantiate(&candidate, span);
        let signature = crate::types::store::Signature {
            env: Rc::default(),
            params: instance.params,
            self_type: None,
            self_inout: false,
            result: instance.result,
            throws: instance.throws,
        };
        (self.world.function_type(&signature), instance.generics)
    }
}
