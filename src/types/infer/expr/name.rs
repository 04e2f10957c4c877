//! Names: variables, functions and types as values.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Ident;
use crate::types::generics::signature;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::expr::function_reference::split_labels;
use crate::types::infer::{Infer, LocalEntity};
use crate::types::model::declaration_tables::{Entry, FunctionKind, MemberKind, Named};
use crate::types::model::display::{closest, did_you_mean};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Callee, Expr, ExprKind, FunctionRef};
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::nominal::stored_property;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers a name as a value.
    pub(crate) fn name(&mut self, ident: &Ident, generics: &[ast::TypeExpr], expected: Option<&Type>) -> Expr {
        let (name, span) = (ident.name.split('(').next().unwrap_or(&ident.name), ident.span);
        if name.len() < ident.name.len() && !name.is_empty() {
            // A name with labels, such as `f(_:by:)`, denotes a function.
            return self.full_name_value(ident, name, expected);
        }
        match self.find_local(name) {
            Some(LocalEntity::Local(local)) => return self.local_expr(local, span),
            Some(LocalEntity::Computed(get, set)) => return self.computed_local(get, set, span),
            Some(LocalEntity::LocalFunctions(functions)) => {
                self.capture_for(&functions);
                return self.function_value(&functions, expected, span);
            }
            None => {}
        }
        if let Some(n) = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            return self.anonymous(n, span);
        }
        if let Some(own) = self.own_type() {
            if !members::members(self.cx, &own, name, false, self.file).is_empty()
                && let Some(local) = self.self_local_quiet()
            {
                let receiver = self.local_expr(local, span);
                return self.member(receiver, ident, expected, span);
            }
            let statics = members::members(self.cx, &own, name, true, self.file);
            if statics
                .iter()
                .any(|(m, ..)| !matches!(m, MemberKind::Nominal(_) | MemberKind::Alias(_) | MemberKind::AssociatedType))
            {
                if self.has_self() && self.file != PRELUDE_FILE {
                    return self.static_on_instance(&own, ident, ident.span.before());
                }
                let on = self.own_metatype(span).map(Rc::new);
                return self.static_member_of(&own, on.as_ref(), ident, expected, span);
            }
        }
        if let Some(own) = self.own_type()
            && !self.has_self()
            && self.has_instance_member(&own, name)
            && name_lookup::entries(self.cx, name, self.file).is_empty()
        {
            return self.instance_member_as_value(&own, ident, expected);
        }
        if name == "self" {
            if self.is_static_body()
                && let Some(own) = self.own_metatype(span)
            {
                return own;
            }
            return self.fail(
                Code::UnknownName,
                span,
                "cannot find 'self' in scope; it is only available inside types",
            );
        }
        let file = self.file;
        let entries = name_lookup::entries(self.cx, name, file);
        let hidden = match self.entries_value(&entries, ident, expected) {
            Ok(value) => return value,
            Err(hidden) => hidden,
        };
        if let (Some(declared), true) = (hidden, generics.is_empty()) {
            return self.before_declaration(ident, declared);
        }
        if self.names_type(name) {
            let ty = ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident.clone(), generics.to_vec())]), span };
            let ty = self.resolve(&ty);
            return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
        }
        if let Some(of) = expected.and_then(|ty| self.known(ty))
            && self.has_case(&of, name)
        {
            self.case_without_dot(ident);
            return self.error_expr(span);
        }
        self.unknown_name(ident)
    }

    /// Infers the name of an instance member where there is no `self`: in a static member, the name of a method denotes
    /// a function that takes the instance.
    fn instance_member_as_value(&mut self, own: &Type, ident: &Ident, expected: Option<&Type>) -> Expr {
        let enclosing = self.frames.first().and_then(|frame| frame.function);
        let is_static = enclosing.is_some_and(|f| self.cx.defs.function_data(f).is_static);
        match is_static && self.has_method(own, ident, false) {
            true => self.unbound_method(own, ident, expected, ident.span),
            false => self.instance_on_type(own, ident),
        }
    }

    /// Infers a name that is declared at the top level: a variable, or one of several functions. If no declaration has
    /// a value yet, returns the source location of the variable.
    pub(crate) fn entries_value(
        &mut self,
        entries: &[Entry],
        ident: &Ident,
        expected: Option<&Type>,
    ) -> Result<Expr, Option<Span>> {
        let span = ident.span;
        let mut functions = vec![];
        let mut hidden = None;
        for entry in entries {
            match entry.what {
                Named::Global(g) if functions.is_empty() => {
                    let global = &self.cx.defs.globals[g.0 as usize];
                    let is_unknown = global.memo.ty.is_none() && !global.is_lazy;
                    let is_top =
                        self.frames[0].kind == crate::types::infer::FrameKind::Script && self.frames.len() == 1;
                    if is_unknown && (is_top || global.ty_expr.is_none()) {
                        hidden = Some(global.span);
                        continue;
                    }
                    let ty = stored_property::global_type(self.cx, g);
                    if self.current != 0 || self.frames[0].kind != crate::types::infer::FrameKind::Script {
                        self.cx.defs.globals[g.0 as usize].is_shared = true;
                    }
                    self.check_global_access(g, false, span);
                    return Ok(Expr { kind: ExprKind::Global(g), ty, span });
                }
                Named::Function(f) if self.cx.defs.function_data(f).kind == FunctionKind::Getter => {
                    let ty = signature::signature(self.cx, f).result.clone();
                    let callee = Callee::Static(FunctionRef { function: f, generics: vec![] });
                    return Ok(Expr { kind: ExprKind::Call { callee, args: vec![] }, ty, span });
                }
                Named::Function(f) => functions.push(f),
                Named::Global(_) | Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        match functions.is_empty() {
            true => Err(hidden),
            false => Ok(self.function_value(&functions, expected, span)),
        }
    }

    /// Whether a name is declared in scope, or is similar to a declared name that was probably meant.
    pub(crate) fn is_name(&mut self, name: &str) -> bool {
        if name.starts_with('$') || self.find_local_quiet(name) || self.names_type(name) {
            return true;
        }
        if let Some(own) = self.own_type() {
            let (mut members, file) = (members::members(self.cx, &own, name, false, self.file), self.file);
            members.extend(members::members(self.cx, &own, name, true, file));
            if !members.is_empty() {
                return true;
            }
        }
        let file = self.file;
        !name_lookup::entries(self.cx, name, file).is_empty()
            || closest(name, self.known_names().iter().map(String::as_str)).is_some()
    }

    /// Infers a name with labels: a local function, a method of the enclosing type, or a function at the top level.
    fn full_name_value(&mut self, ident: &Ident, base: &str, expected: Option<&Type>) -> Expr {
        if let Some(LocalEntity::LocalFunctions(mut functions)) = self.find_local(base) {
            functions.retain(|f| self.cx.defs.full_name(*f) == *ident.name);
            if !functions.is_empty() {
                self.capture_for(&functions);
                return self.function_value(&functions, expected, ident.span);
            }
        }
        if let Some(own) = self.own_type() {
            if self.has_method(&own, ident, false)
                && let Some(local) = self.self_local_quiet()
            {
                let receiver = self.local_expr(local, ident.span);
                return self.member(receiver, ident, expected, ident.span);
            }
            if self.has_method(&own, ident, true) {
                if self.has_self() && self.file != PRELUDE_FILE {
                    return self.static_on_instance(&own, ident, ident.span.before());
                }
                let on = self.own_metatype(ident.span).map(Rc::new);
                return self.static_member_of(&own, on.as_ref(), ident, expected, ident.span);
            }
        }
        let file = self.file;
        let mut functions = vec![];
        for entry in name_lookup::entries(self.cx, base, file) {
            if let Named::Function(f) = entry.what
                && self.cx.defs.full_name(f) == *ident.name
            {
                functions.push(f);
            }
        }
        if !functions.is_empty() {
            return self.function_value(&functions, expected, ident.span);
        }
        match self.own_type() {
            Some(own) if self.has_method(&own, ident, false) => self.instance_member_as_value(&own, ident, expected),
            _ => self.unknown_name(ident),
        }
    }

    /// Whether a type has a method with the given name and labels.
    fn has_method(&mut self, of: &Type, name: &Ident, is_static: bool) -> bool {
        let (base, labels) = split_labels(name);
        let methods = self.method_candidates(of, &base.name, is_static, None);
        !self.with_labels(methods, labels).is_empty()
    }

    pub(crate) fn unknown_name(&mut self, ident: &Ident) -> Expr {
        let later = self.upcoming.iter().rev().find_map(|names| names.get(&ident.name)).copied();
        if let Some(declared) = later {
            return self.before_declaration(ident, declared);
        }
        let diagnostic =
            Diagnostic::error(Code::UnknownName, ident.span, format!("cannot find '{}' in scope", ident.name));
        let diagnostic = match prelude::import_advice(self.cx, &ident.name) {
            Some(advice) => diagnostic.help(advice),
            None => {
                let name = &ident.name;
                let diagnostic = did_you_mean(diagnostic, ident, &self.known_names());
                match self.in_formula && name.chars().count() == 1 && diagnostic.helps.is_empty() {
                    true => diagnostic.help(format!(
                        "give it a value first, 'let {name} = 2.0', or make it a parameter of the formula"
                    )),
                    false => diagnostic,
                }
            }
        };
        self.error(diagnostic);
        self.error_expr(ident.span)
    }

    /// Reports the name of a case where the case is expected.
    pub(crate) fn case_without_dot(&mut self, ident: &Ident) {
        let name = &ident.name;
        let diagnostic = Diagnostic::error(Code::UnknownName, ident.span, format!("cannot find '{name}' in scope"));
        self.error(diagnostic.fix(format!("the case is written '.{name}'"), ident.span.before(), "."));
    }

    /// Returns all names in scope for suggestions; none if the maximum number of suggestions has been reported.
    fn known_names(&mut self) -> Vec<String> {
        let mut known: Vec<String> = vec![];
        if !self.cx.sink.still_suggests() {
            return known;
        }
        for f in self.path() {
            for scope in &self.frames[f].scopes {
                known.extend(scope.keys().map(ToString::to_string));
            }
        }
        known.extend(self.cx.defs.module.keys().map(ToString::to_string));
        known.extend(prelude::library_names(self.cx));
        if let Some(own) = self.own_type() {
            known.extend(members::member_names(self.cx, &own));
        }
        known
    }

    pub(crate) fn before_declaration(&mut self, ident: &Ident, declared: Span) -> Expr {
        let message = format!("use of variable '{}' before its declaration", ident.name);
        let diagnostic = Diagnostic::error(Code::Uninitialized, ident.span, message);
        self.error(diagnostic.also(declared, format!("'{}' is declared here", ident.name)));
        self.error_expr(ident.span)
    }

    /// Infers one of several function declarations as a value.
    pub(crate) fn function_value(
        &mut self,
        functions: &[crate::types::model::typed_tree::FunctionId],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let candidates: Vec<Candidate> = functions.iter().map(|f| self.function_candidate(*f)).collect();
        match self.reference(&candidates, expected, span) {
            Some(value) => value,
            None => self.error_expr(span),
        }
    }

    pub(crate) fn function_candidate(&mut self, f: crate::types::model::typed_tree::FunctionId) -> Candidate {
        let data = self.cx.defs.function_data(f);
        let prefix = match &data.outer {
            Some(env) => env.params.iter().map(|p| Type::Param(*p)).collect(),
            None => Rc::from([]),
        };
        Candidate { target: Target::Function(f), prefix, receiver: None, tier: u32::from(data.is_prelude) }
    }
}
