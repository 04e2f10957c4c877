//! Dynamic members and calls: `@dynamicMemberLookup` and `@dynamicCallable`, which a type implements with its own
//! members.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, KeyPathPart, StringPart};
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::typed_tree::Expr;
use crate::types::names::members;
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers `base.name` for a type with `@dynamicMemberLookup`.
    pub(crate) fn dynamic_member(&mut self, base: &Expr, ty: &Type, name: &Ident) -> Option<Expr> {
        let Type::Nominal(n, _) = ty else { return None };
        if !self.cx.defs.nominal_data(*n).looks_up {
            return None;
        }
        let (roots, by_text) = self.looked_up_types(ty, name.span);
        let span = name.span;
        let found = roots.iter().find(|root| self.has_looked_up_member(root, name, &mut vec![*n]));
        let path = vec![KeyPathPart::Member(name.clone())];
        // Of several subscripts, those whose root has the member are meant. The type of the key path, which depends on
        // whether the member can be written, decides among them.
        let ready = match found {
            Some(root) if roots.len() > 1 || by_text => Some(self.key_path_of(root, &path, None, span)),
            None if !by_text && !roots.is_empty() => return None,
            Some(_) | None => None,
        };
        let kind = match by_text && ready.is_none() {
            true => Ast::String(vec![StringPart::Text(name.name.clone())]),
            false => Ast::KeyPath { root: None, path },
        };
        let mut arg = labeled("dynamicMember", ast::Expr { kind, span });
        arg.ready = ready.map(Rc::new);
        Some(self.subscript(base.clone(), vec![arg], None, span))
    }

    /// Returns the types in whose members the subscripts `subscript(dynamicMember:)` of a type look, one for each
    /// subscript that takes a key path, and whether there is a subscript that takes a string.
    fn looked_up_types(&mut self, ty: &Type, span: Span) -> (Vec<Type>, bool) {
        let string = name_lookup::simple(self.cx, "String");
        let (mut roots, mut by_text) = (vec![], false);
        for (member, (prefix, protocol), _) in members::members(self.cx, ty, "subscript", false, self.file) {
            let target = match (member, protocol) {
                (MemberKind::Subscript(get, _), _) => Target::Function(get),
                (MemberKind::Requirement(r), Some(p)) => Target::Requirement(p, r),
                _ => continue,
            };
            let candidate = Candidate { target, prefix, receiver: None, tier: 0 };
            let params = self.candidate_params(&candidate);
            if !matches!(&params[..], [p] if p.label.as_deref() == Some("dynamicMember")) {
                continue;
            }
            let snapshot = self.cx.vars.snapshot();
            let taken =
                self.instantiate(&candidate, span).params.first().map(|p| unification::resolved(self.cx, &p.ty));
            self.cx.vars.rollback(snapshot);
            match taken {
                Some(ty) if ty == string => by_text = true,
                Some(Type::Nominal(_, args)) if args.len() == 2 => roots.push(args[0].clone()),
                _ => {}
            }
        }
        (roots, by_text)
    }

    /// Whether a type has a member, or looks it up in a type that has it. `passed` are the types that look it up already.
    fn has_looked_up_member(&mut self, ty: &Type, name: &Ident, passed: &mut Vec<NominalId>) -> bool {
        if !members::members(self.cx, ty, &name.name, false, self.file).is_empty() {
            return true;
        }
        let n = match ty {
            Type::Nominal(n, _) => n,
            Type::Tuple(parts) => {
                let is_position = name.name.parse::<usize>().is_ok_and(|position| position < parts.len());
                return is_position || parts.iter().any(|(label, _)| label.as_ref() == Some(&name.name));
            }
            _ => return false,
        };
        if passed.contains(n) || !self.cx.defs.nominal_data(*n).looks_up {
            return false;
        }
        passed.push(*n);
        let (roots, by_text) = self.looked_up_types(ty, name.span);
        by_text || roots.iter().any(|root| self.has_looked_up_member(root, name, passed))
    }

    /// Infers `value(arguments)` for a type with `@dynamicCallable`.
    pub(crate) fn dynamic_call(&mut self, function: &Expr, ty: &Type, args: &[ArgNode], span: Span) -> Option<Expr> {
        let Type::Nominal(n, _) = ty else { return None };
        if !self.cx.defs.nominal_data(*n).answers_calls {
            return None;
        }
        let receiver = Rc::new(function.clone());
        let candidates = self.method_candidates(ty, "dynamicallyCall", false, Some(&receiver));
        let has = |infer: &mut Self, label: &str| {
            candidates.iter().any(|c| {
                let params = infer.candidate_params(c);
                params.first().is_some_and(|p| p.label.as_deref() == Some(label))
            })
        };
        let is_labeled = args.iter().any(|a| a.label.is_some());
        let by_keyword = is_labeled || !has(self, "withArguments");
        let items = args.iter().map(|a| (*a.ast).clone());
        let given = if !by_keyword {
            labeled("withArguments", ast::Expr { kind: Ast::Array(items.collect()), span })
        } else {
            let key = |a: &ArgNode| {
                let text = a.label.clone().unwrap_or_else(|| "".into());
                ast::Expr { kind: Ast::String(vec![StringPart::Text(text)]), span: a.label_span.unwrap_or(a.span) }
            };
            let pairs = args.iter().map(key).zip(items).collect();
            labeled("withKeywordArguments", ast::Expr { kind: Ast::Dictionary(pairs), span })
        };
        let name = Ident { name: "dynamicallyCall".into(), span: function.span };
        Some(self.call_overloaded(&name, candidates, vec![given], None, span))
    }
}

fn labeled(label: &str, value: ast::Expr) -> ArgNode {
    ArgNode { label: Some(label.into()), ..ArgNode::unlabeled(Rc::new(value)) }
}
