//! `@derivative(of:)` and `@transpose(of:)`: finding the original and seeing that the registered function fits it.

use super::store::{Entry, FunctionKind, MemberKind, Named, Owner, Signature, World};
use super::tree::FunctionId;
use super::ty::{Strength, Type};
use super::world::{Registered, RegisteredKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{AttributeArgs, Decl, DifferentiationArgs, FunctionName};
use std::rc::Rc;

impl World {
    /// Remembers a declaration that registers something; its original is looked up when all names are known.
    pub(super) fn note_registration(&mut self, decl: &Rc<Decl>, f: FunctionId) {
        if decl.attributes.iter().any(|a| matches!(&*a.name.name, "derivative" | "transpose")) {
            self.registrations.push((decl.clone(), f));
        }
    }

    /// Looks up the originals of what was registered since the last time.
    pub(super) fn resolve_registrations(&mut self) {
        while !self.registrations.is_empty() {
            for (decl, f) in std::mem::take(&mut self.registrations) {
                for attribute in decl.attributes.clone() {
                    if let ("derivative" | "transpose", AttributeArgs::Differentiation(args)) =
                        (&*attribute.name.name, &attribute.args)
                    {
                        let is_transpose = &*attribute.name.name == "transpose";
                        self.register(f, args, is_transpose, attribute.span);
                    }
                }
            }
        }
    }

    fn register(&mut self, f: FunctionId, args: &DifferentiationArgs, is_transpose: bool, span: Span) {
        let Some(of) = &args.of else {
            self.report(Diagnostic::error(Code::Registration, span, "the attribute must name the original: 'of:'"));
            return;
        };
        let given = self.signature(f);
        let originals = self.originals(f, of);
        if originals.is_empty() {
            let message = format!("cannot find '{}' in scope", of.name.name);
            self.report(Diagnostic::error(Code::UnknownName, of.name.span, message));
            return;
        }
        if is_transpose {
            self.register_transpose(f, &given, &originals, args, span);
            return;
        }
        let Some(kind) = derivative_kind(&given.result) else {
            let message = "'@derivative(of:)' attribute requires function to return a two-element tuple; first element must have label 'value:' and second element must have label 'pullback:' or 'differential:'";
            self.report(Diagnostic::error(Code::Registration, self.function_data(f).span, message));
            return;
        };
        let mut labels_differ = None;
        for original in &originals {
            let signature = self.signature(*original);
            if signature.params.len() != given.params.len() {
                continue;
            }
            if signature.params.iter().zip(&given.params).any(|(a, b)| a.label != b.label) {
                labels_differ = Some(*original);
                continue;
            }
            if !self.same_shape(&signature, &given) {
                continue;
            }
            let names: Vec<_> = given.params.iter().map(|p| p.name.clone()).collect();
            let types: Vec<Type> =
                given.self_type.iter().cloned().chain(given.params.iter().map(|p| p.ty.clone())).collect();
            let saved = std::mem::replace(&mut self.env, given.env.clone());
            let wrt = self.wrt_flags(args, &names, &types, given.self_type.is_some());
            self.env = saved;
            let data = &mut self.functions[original.0 as usize];
            if data.registered.iter().any(|r| r.wrt == wrt && r.function != f) {
                let message = format!("a derivative already exists for '{}'", data.base_name);
                self.report(Diagnostic::error(Code::Registration, span, message));
                return;
            }
            data.registered.push(Registered { function: f, wrt, kind });
            // The most specific one first: the fewest parameters.
            data.registered.sort_by_key(|r| r.wrt.iter().filter(|w| **w).count());
            data.info = None;
            return;
        }
        let name = of.name.name.clone();
        let diagnostic = match labels_differ {
            Some(original) => {
                let message = format!(
                    "the argument labels of a derivative must be those of its original: '{}' has other labels than '{}'",
                    self.full_name(f),
                    self.full_name(original)
                );
                let (at, other) = (self.function_data(f).span, self.function_data(original).span);
                Diagnostic::error(Code::Registration, at, message).also(other, "the original")
            }
            None => {
                let message = format!(
                    "referenced declaration '{name}' could not be resolved: no '{name}' takes the parameters of this function"
                );
                Diagnostic::error(Code::Registration, of.name.span, message)
            }
        };
        self.report(diagnostic);
    }

    /// The functions that the attribute may mean.
    fn originals(&mut self, f: FunctionId, of: &FunctionName) -> Vec<FunctionId> {
        let (owner, file) = (self.function_data(f).owner, self.function_data(f).file);
        let name = &of.name.name;
        let mut found = vec![];
        let base = match &of.base {
            Some(base) => {
                let scope = super::resolve::TypeScope { open: true, ..super::resolve::TypeScope::of(owner, file) };
                match self.resolve_type(base, &scope) {
                    Type::Nominal(n, _) => Some(Owner::Nominal(n)),
                    Type::Existential(p) if p.len() == 1 => Some(Owner::Protocol(p[0])),
                    _ => None,
                }
            }
            None if owner != Owner::Module => Some(owner),
            None => None,
        };
        match base {
            Some(Owner::Nominal(n)) => {
                self.enter_conformances(n);
                for member in self.nominal_data(n).members.get(name).into_iter().flatten() {
                    match member.kind {
                        MemberKind::Method(g) | MemberKind::Init(g) => found.push(g),
                        MemberKind::Computed(g, _) | MemberKind::Subscript(g, _) => found.push(g),
                        _ => {}
                    }
                }
            }
            Some(Owner::Protocol(p)) => {
                let short = self.protocol_data(p).name.clone();
                self.load_extensions(&short);
                for member in self.protocol_data(p).members.get(name).into_iter().flatten() {
                    match member.kind {
                        MemberKind::Method(g) | MemberKind::Init(g) | MemberKind::Computed(g, _) => found.push(g),
                        MemberKind::Requirement(r) => {
                            found.push(self.protocol_data(p).requirements[r as usize].function)
                        }
                        _ => {}
                    }
                }
            }
            Some(Owner::Module) | None => {
                for Entry { what, .. } in self.entries(name, file) {
                    if let Named::Function(g) = what {
                        found.push(g);
                    }
                }
            }
        }
        found.retain(|g| *g != f && !matches!(self.function_data(*g).kind, FunctionKind::Setter));
        if let Some(labels) = &of.labels {
            let wanted: Vec<Option<&str>> = labels.iter().map(|l| l.as_ref().map(|l| &*l.name)).collect();
            found.retain(|g| {
                let have: Vec<Option<&str>> =
                    self.function_data(*g).ast_params.iter().map(|p| p.label.as_ref().map(|l| &*l.name)).collect();
                have == wanted
            });
        }
        found
    }

    /// Whether a derivative takes what its original takes, generic parameters matched in order.
    fn same_shape(&mut self, original: &Signature, given: &Signature) -> bool {
        let (from, to) = (given.env.params.clone(), original.env.params.clone());
        if from.len() != to.len() {
            return false;
        }
        let by = |t: &Type| t.substitute(&|p| from.iter().position(|q| *q == p).map(|i| Type::Param(to[i])));
        let value = match &given.result {
            Type::Tuple(parts) => parts.first().map_or(Type::Error, |(_, t)| t.clone()),
            other => other.clone(),
        };
        let saved = std::mem::replace(&mut self.env, original.env.clone());
        let same = given.params.iter().zip(&original.params).all(|(a, b)| {
            let (a, b) = (self.normalize_type(&by(&a.ty)), self.normalize_type(&b.ty));
            a == b
        }) && self.normalize_type(&by(&value)) == self.normalize_type(&original.result);
        self.env = saved;
        same
    }

    fn register_transpose(
        &mut self,
        f: FunctionId,
        given: &Signature,
        originals: &[FunctionId],
        args: &DifferentiationArgs,
        span: Span,
    ) {
        for original in originals {
            let signature = self.signature(*original);
            let names: Vec<_> = signature.params.iter().map(|p| p.name.clone()).collect();
            let types: Vec<Type> =
                signature.self_type.iter().cloned().chain(signature.params.iter().map(|p| p.ty.clone())).collect();
            let saved = std::mem::replace(&mut self.env, signature.env.clone());
            let wrt = self.wrt_flags(args, &names, &types, signature.self_type.is_some());
            self.env = saved;
            let kept = wrt.iter().filter(|w| !**w).count();
            if given.params.len() + usize::from(given.self_type.is_some()) != kept + 1 {
                continue;
            }
            let data = &mut self.functions[original.0 as usize];
            data.registered.push(Registered { function: f, wrt, kind: RegisteredKind::Transpose });
            data.info = None;
            return;
        }
        let message = "a transpose takes the parameters that are not transposed, then one of the result's type";
        self.report(Diagnostic::error(Code::Registration, span, message));
    }
}

fn derivative_kind(result: &Type) -> Option<RegisteredKind> {
    let Type::Tuple(parts) = result else { return None };
    let [(Some(value), _), (Some(second), Type::Function(f))] = &**parts else { return None };
    let _ = f.strength == Strength::Linear;
    match (&**value, &**second) {
        ("value", "differential") => Some(RegisteredKind::Differential),
        ("value", "pullback") => Some(RegisteredKind::Pullback),
        _ => None,
    }
}
