//! Function references: functions, methods, initializers and cases as values.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::declaration_tables::{FunctionKind, MemberKind, Named, Signature};
use crate::types::model::syntax_query::is_opaque;
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::typed_tree::{Callee, Expr, ExprKind, FunctionId};
use crate::types::names::members;
use crate::types::names::members::MemberOf;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// Splits `f(_:by:)` into the name `f` and the labels; a name without parentheses specifies no labels.
pub(crate) fn split_labels(name: &Ident) -> (Ident, Option<&str>) {
    match name.name.split_once('(') {
        Some((base, labels)) if !base.is_empty() => {
            (Ident { name: base.into(), span: name.span }, labels.strip_suffix(')'))
        }
        _ => (name.clone(), None),
    }
}

impl Infer<'_> {
    /// Infers a reference to one of several functions: the function that fits the expected type; among several such
    /// functions the nearest, and then one whose parameters are `Double`s.
    pub(crate) fn reference(&mut self, candidates: &[Candidate], expected: Option<&Type>, span: Span) -> Option<Expr> {
        let candidates = &self.accessible(candidates.to_vec());
        let expected = expected.and_then(|t| self.known(t));
        match expected {
            Some(expected) if self.depends_on_others(candidates, &expected, span) => {
                let kind = PendingKind::Reference { candidates: candidates.to_vec() };
                Some(self.wait(kind, expected, span))
            }
            expected => self.reference_now(candidates, expected, span),
        }
    }

    /// Whether several functions fit, and the expected parameter types are not known yet: other arguments may determine
    /// them. A reference that must be differentiable is resolved at once, to a function of `Double`s if there is one.
    fn depends_on_others(&mut self, candidates: &[Candidate], expected: &Type, span: Span) -> bool {
        let Type::Function(f) = expected else { return false };
        let is_open = f.params.iter().any(|p| unification::has_vars(self.cx, &p.ty));
        is_open
            && candidates.iter().filter(|c| self.may_be(c, Some(expected), span)).count() > 1
            && (f.strength <= Strength::Open || self.is_ambiguous(candidates, expected, span))
    }

    /// Whether none of the functions that fit is better than the others.
    fn is_ambiguous(&mut self, candidates: &[Candidate], expected: &Type, span: Span) -> bool {
        let best = self.best_references(candidates, Some(expected), span);
        best.len() > 1 && self.most_special(&best).is_none()
    }

    /// Resolves a pending reference; returns `None` while the reference is still ambiguous and `dares` is false.
    pub(crate) fn attempt_reference(
        &mut self,
        candidates: &[Candidate],
        wanted: &Type,
        dares: bool,
        span: Span,
    ) -> Option<Expr> {
        let wanted = self.known(wanted)?;
        if !dares && self.depends_on_others(candidates, &wanted, span) {
            return None;
        }
        Some(self.reference_now(candidates, Some(wanted), span).unwrap_or_else(|| self.error_expr(span)))
    }

    fn reference_now(&mut self, candidates: &[Candidate], expected: Option<Type>, span: Span) -> Option<Expr> {
        let natural = self.of_literals(candidates, expected.as_ref(), span).filter(|natural| !natural.is_empty());
        let mut best = self.best_references(natural.as_deref().unwrap_or(candidates), expected.as_ref(), span);
        if best.is_empty() {
            best = self.with_widening(true, |infer| infer.best_references(candidates, expected.as_ref(), span));
        }
        let chosen = match best.as_slice() {
            [] => candidates.first()?.clone(),
            [only] => only.clone(),
            _ => match self.most_special(&best) {
                Some(chosen) => chosen,
                None => return Some(self.ambiguous_reference(&best, span)),
            },
        };
        if let Target::Case(n, case) = chosen.target {
            return Some(self.case_reference(&Type::Nominal(n, chosen.prefix), case, span));
        }
        if let Target::Function(f) = chosen.target {
            self.check_function_access(f, span);
        }
        let (ty, callee) = self.opened(&chosen, span)?;
        let kind = match callee {
            Callee::Static(function) => ExprKind::Function(function),
            callee => ExprKind::Requirement(callee),
        };
        Some(Expr { kind, ty, span })
    }

    /// Returns the best of the candidates that fit the expected type: the nearest candidates, among these the functions
    /// of `Double`s, and among these the functions without labels.
    fn best_references(&mut self, candidates: &[Candidate], expected: Option<&Type>, span: Span) -> Vec<Candidate> {
        let double = name_lookup::simple(self.cx, "Double");
        let mut ranked = vec![];
        for candidate in candidates {
            if self.may_be(candidate, expected, span) {
                let params = self.candidate_params(candidate);
                let of_doubles = params.iter().all(|p| p.ty == double);
                let is_labeled = params.iter().any(|p| p.label.is_some());
                ranked.push((candidate.tier * 10 + 2 * u32::from(!of_doubles) + u32::from(is_labeled), candidate));
            }
        }
        let least = ranked.iter().map(|(rank, _)| *rank).min();
        ranked.into_iter().filter(|(rank, _)| Some(*rank) == least).map(|(_, c)| c.clone()).collect()
    }

    /// Returns the candidates that take the default types of literals, if the expected parameter types are type variables
    /// of literals: `[1, 2].map(abs)`, `["1"].compactMap(Int.init)`. The result is empty if no candidate takes them.
    fn of_literals(&mut self, candidates: &[Candidate], expected: Option<&Type>, span: Span) -> Option<Vec<Candidate>> {
        let Type::Function(f) = expected? else { return None };
        let mut params = vec![];
        for param in &f.params {
            // A function of several parameters also takes a tuple, as in `zip([1, 2], [3, 4]).map(*)`.
            match unification::shallow(self.cx, &param.ty) {
                Type::Tuple(parts) => params.extend(parts.iter().map(|(_, ty)| ty.clone())),
                ty => params.push(ty),
            }
        }
        let snapshot = self.cx.vars.snapshot();
        let has_literals = self.default_integers(&params, span) | self.default_texts(&params, span);
        let is_known = has_literals && params.iter().all(|ty| !unification::has_vars(self.cx, ty));
        let natural = is_known.then(|| {
            let mut natural = candidates.to_vec();
            natural.retain(|candidate| self.may_be(candidate, expected, span));
            natural
        });
        self.cx.vars.rollback(snapshot);
        natural
    }

    /// Whether literals are the only arguments of a referenced function whose types are not known. The result becomes a
    /// `Double` if it is an operand beside a floating-point literal, as in `[1, 2].map(abs).map { $0 + 0.5 }`.
    pub(crate) fn takes_literals(&mut self, candidates: &[Candidate], wanted: &Type, span: Span) -> bool {
        let Some(Type::Function(f)) = self.known(wanted) else { return false };
        if let Some(double) = self.beside_point(&f.result) {
            unification::try_unify(self.cx, &f.result, &double, span);
        }
        self.of_literals(candidates, Some(&Type::Function(f)), span).is_some()
    }

    /// Whether a function fits the expected type, as far as the expected type is known.
    pub(crate) fn may_be(&mut self, candidate: &Candidate, expected: Option<&Type>, span: Span) -> bool {
        let Some(expected) = expected else { return true };
        let snapshot = self.cx.vars.snapshot();
        let fits = match self.opened(candidate, span) {
            Some((ty, _)) => self.can_convert(&ty, expected),
            None => true,
        };
        self.cx.vars.rollback(snapshot);
        fits
    }

    /// Returns the type and the callee of a function value, with fresh variables for its generic parameters; `None` for
    /// a case.
    pub(crate) fn opened(&mut self, candidate: &Candidate, span: Span) -> Option<(Type, Callee)> {
        let instance = self.instantiate(candidate, span);
        let signature = Signature {
            env: Rc::default(),
            params: instance.params,
            self_type: None,
            self_inout: false,
            result: instance.result,
            throws: instance.throws,
        };
        Some((signature::function_type(&signature), instance.callee?))
    }

    /// Returns the candidates that have the given labels, such as `x:y:`.
    pub(crate) fn with_labels(&mut self, candidates: Vec<Candidate>, labels: Option<&str>) -> Vec<Candidate> {
        let Some(labels) = labels else { return candidates };
        let mut fitting = vec![];
        for candidate in candidates {
            let own: Vec<_> = self.candidate_params(&candidate).iter().map(|p| p.label.clone()).collect();
            if Self::label_text(&own) == labels {
                fitting.push(candidate);
            }
        }
        fitting
    }

    /// Infers `Enum.case` as a function of its payload.
    pub(crate) fn case_reference(&mut self, ty: &Type, case: u32, span: Span) -> Expr {
        let Type::Nominal(n, args) = ty else { return self.error_expr(span) };
        let payload = stored_property::case_payload(self.cx, *n, case);
        let name = Ident { name: self.cx.defs.nominal_data(*n).cases[case as usize].name.clone(), span };
        let names: Vec<String> = (0..payload.len()).map(|i| format!("$c{i}")).collect();
        let given = payload.iter().zip(&names).map(|((label, _), n)| ast::Arg {
            label: label.as_ref().map(|l| Ident { name: l.clone(), span }),
            value: Rc::new(ast::Expr { kind: Ast::Ident { name: n.as_str().into(), generics: vec![] }, span }),
            trailing: false,
        });
        let callee = Rc::new(ast::Expr { kind: Ast::Implicit { name, generics: vec![] }, span });
        let call = ast::Expr { kind: Ast::Call { callee, args: given.collect() }, span };
        let closure = crate::types::model::syntax_query::closure_of(&names, call, span);
        let params = payload.iter().map(|(_, t)| conformances::substitute_nominal(self.cx, *n, args, t)).collect();
        self.expr(&closure, Some(&function_of(params, ty.clone())))
    }

    /// Infers `Type.method` for an instance method: a function that takes the instance.
    pub(crate) fn unbound_method(&mut self, ty: &Type, name: &Ident, expected: Option<&Type>, span: Span) -> Expr {
        let own = Ident { name: "$self".into(), span };
        let base = Rc::new(ast::Expr { kind: Ast::Ident { name: own.name.clone(), generics: vec![] }, span });
        let member = ast::Expr { kind: Ast::Member { base, name: name.clone(), generics: vec![] }, span };
        let closure = crate::types::model::syntax_query::closure_of(&["$self".to_string()], member, span);
        let result = match expected.and_then(|t| self.known(t)) {
            Some(Type::Function(f)) if f.params.len() == 1 && !self.throws_beyond(ty, name, &f.result) => {
                f.result.clone()
            }
            _ => self.cx.vars.fresh(),
        };
        self.expr(&closure, Some(&function_of(vec![ty.clone()], result)))
    }

    /// Whether a method throws and the expected function does not: the reference may be one of several values whose
    /// common type is a throwing function.
    fn throws_beyond(&mut self, ty: &Type, name: &Ident, wanted: &Type) -> bool {
        let (name, _) = split_labels(name);
        matches!(unification::shallow(self.cx, wanted), Type::Function(f) if !f.throws)
            && self.method_candidates(ty, &name.name, false, None).iter().any(|candidate| match candidate.target {
                Target::Function(f) => signature::signature(self.cx, f).throws,
                Target::Requirement(..) | Target::Case(..) => false,
            })
    }

    /// Returns the cost of passing an argument that refers to a function, if one of the possible functions may have the
    /// type `wanted`.
    pub(crate) fn reference_fits(&mut self, e: &ast::Expr, wanted: &Type) -> Option<u32> {
        let candidates = match &e.kind {
            Ast::Paren(inner) => return self.reference_fits(inner, wanted),
            Ast::Ident { name, .. } if self.find_local_quiet(name) => {
                let functions = self.local_functions_named(name);
                functions.into_iter().map(|f| self.function_candidate(f)).collect()
            }
            Ast::Ident { name, .. } => match self.own_type().filter(|_| self.is_own_member(name)) {
                Some(own) => self.own_methods(&own, name),
                None => self.function_candidates(name),
            },
            Ast::Member { base, name, .. } => {
                if let Some((_, module)) = self.module_of(base) {
                    let candidates = self.functions_in(module, &name.name);
                    return candidates.iter().any(|c| self.may_be(c, Some(wanted), e.span)).then_some(1);
                }
                let (ty, is_static) = match self.type_expression(base) {
                    Some(ty) => (ty, true),
                    None => (self.type_of_simple_base(base)?, false),
                };
                let (name, labels) = split_labels(name);
                let candidates = self.method_candidates(&ty, &name.name, is_static, None);
                self.with_labels(candidates, labels)
            }
            _ => return None,
        };
        candidates.iter().any(|c| self.may_be(c, Some(wanted), e.span)).then_some(1)
    }

    /// Whether a name denotes a property of the enclosing type, even if functions have the same name.
    fn is_own_property(&mut self, name: &str) -> bool {
        let Some(own) = self.own_type() else { return false };
        let is_property =
            |(kind, ..): &(MemberKind, _, _)| !matches!(kind, MemberKind::Method(_) | MemberKind::Init(_));
        [false, true]
            .into_iter()
            .any(|is_static| members::members(self.cx, &own, name, is_static, self.file).iter().any(is_property))
    }

    /// Returns the methods of the enclosing type with a given name.
    fn own_methods(&mut self, own: &Type, name: &str) -> Vec<Candidate> {
        let mut methods = self.method_candidates(own, name, false, None);
        methods.extend(self.method_candidates(own, name, true, None));
        methods
    }

    /// Whether an argument names a property and a method, so that it is the method where a function is expected.
    pub(crate) fn names_property_and_method(&mut self, e: &ast::Expr) -> bool {
        match &e.kind {
            Ast::Ident { name, .. } => {
                !self.find_local_quiet(name)
                    && self.is_own_property(name)
                    && self.own_type().is_some_and(|own| !self.own_methods(&own, name).is_empty())
            }
            Ast::Member { base, name, .. } if matches!(base.kind, Ast::Ident { .. } | Ast::Type(_)) => {
                let Some(ty) = self.type_expression(base) else { return false };
                let members = members::members(self.cx, &ty, &name.name, true, self.file);
                let is_method = |(kind, ..): &(MemberKind, _, _)| matches!(kind, MemberKind::Method(_));
                members.iter().any(is_method) && !members.iter().all(is_method)
            }
            _ => false,
        }
    }

    /// Whether a member is a method or an initializer, or a requirement of one.
    fn is_function_member(&self, (kind, (_, protocol), _): &MemberOf) -> bool {
        match (kind, protocol) {
            (MemberKind::Method(_) | MemberKind::Init(_), _) => true,
            (MemberKind::Requirement(r), Some(p)) => {
                let requirement = &self.cx.defs.protocol_data(*p).requirements[*r as usize];
                let kind = self.cx.defs.function_data(requirement.function).kind;
                matches!(kind, FunctionKind::Function | FunctionKind::Init { .. })
            }
            _ => false,
        }
    }

    /// Whether an argument names several functions, so that its type depends on the expected type.
    pub(crate) fn names_several(&mut self, e: &ast::Expr) -> bool {
        match &e.kind {
            Ast::Ident { name, .. } => {
                let several = |infer: &Self, f: &Named| match f {
                    Named::Function(f) => infer.cx.defs.function_data(*f).kind != FunctionKind::Getter,
                    _ => false,
                };
                let file = self.file;
                if self.find_local_quiet(name) {
                    return self.local_functions_named(name).len() > 1;
                }
                // The methods of the enclosing type hide the functions with the same name.
                if let Some(methods) = self.own_members(name) {
                    return methods.len() > 1 && methods.iter().all(|member| self.is_function_member(member));
                }
                let entries = name_lookup::entries(self.cx, name, file);
                entries.len() > 1 && entries.iter().all(|e| several(self, &e.what))
            }
            Ast::Member { base, name, .. } => {
                if !matches!(base.kind, Ast::Ident { .. } | Ast::Member { .. } | Ast::Type(_)) {
                    return false;
                }
                if let Some((_, module)) = self.module_of(base) {
                    return self.functions_in(module, &name.name).len() > 1;
                }
                let Some(ty) = self.type_expression(base) else { return false };
                let (name, _) = split_labels(name);
                let members = members::members(self.cx, &ty, &name.name, true, self.file);
                members.len() > 1 && members.iter().all(|member| self.is_function_member(member))
            }
            Ast::Paren(inner) => self.names_several(inner),
            _ => false,
        }
    }

    /// Whether an expression names a case of an enum: `Optional.some`.
    pub(crate) fn names_case(&mut self, e: &ast::Expr) -> bool {
        let Ast::Member { base, name, .. } = &e.kind else { return false };
        if !matches!(base.kind, Ast::Ident { .. } | Ast::Member { .. } | Ast::Type(_)) || self.module_of(base).is_some()
        {
            return false;
        }
        let Some(ty) = self.type_expression(base) else { return false };
        let members = members::members(self.cx, &ty, &split_labels(name).0.name, true, self.file);
        matches!(members.as_slice(), [(MemberKind::Case(_), ..)])
    }

    /// Whether an argument is a member of a variable or of a text, and one of several methods or a generic one, so that
    /// the type of the method depends on the expected type: `digits.contains`.
    pub(crate) fn names_bound_methods(&mut self, e: &ast::Expr) -> bool {
        let Ast::Member { base, name, .. } = &e.kind else { return false };
        if self.type_expression(base).is_some() || self.module_of(base).is_some() {
            return false;
        }
        let Some(ty) = self.type_of_simple_base(base) else { return false };
        let (name, _) = split_labels(name);
        let members = members::members(self.cx, &ty, &name.name, false, self.file);
        let is_generic = |infer: &Self, f: &FunctionId| !infer.cx.defs.function_data(*f).generics.params.is_empty();
        match members.as_slice() {
            [] => false,
            [(MemberKind::Method(f), ..)] => is_generic(self, f) || self.has_opaque_parameter(*f),
            several => several.iter().all(|(kind, ..)| matches!(kind, MemberKind::Method(_))),
        }
    }

    /// Returns the type of a variable or of a text whose member is named; `None` for other expressions, and for types that
    /// are not known.
    fn type_of_simple_base(&mut self, base: &ast::Expr) -> Option<Type> {
        let ty = match &base.kind {
            Ast::String(_) => name_lookup::simple(self.cx, "String"),
            Ast::Ident { name, .. } if self.is_name(name) => self.expr(base, None).ty,
            _ => return None,
        };
        let ty = unification::shallow(self.cx, &ty);
        matches!(ty, Type::Nominal(..)).then_some(ty)
    }

    /// Whether a parameter of a function has a type `some P`.
    fn has_opaque_parameter(&self, f: FunctionId) -> bool {
        let params = &self.cx.defs.function_data(f).ast_params;
        params.iter().any(|param| param.ty.as_ref().is_some_and(is_opaque))
    }
}

fn function_of(params: Vec<Type>, result: Type) -> Type {
    let params =
        params.into_iter().map(|ty| FunctionParam { ty, is_inout: false, no_derivative: false, autoclosure: false });
    Type::Function(Rc::new(FunctionType { params: params.collect(), result, throws: false, strength: Strength::Open }))
}
