//! Dynamic members and calls: `@dynamicMemberLookup` and `@dynamicCallable`, which a type implements with its own
//! members.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, KeyPathPart, StringPart};
use crate::types::generics::signature;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::Type;
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
        let string = name_lookup::simple(self.cx, "String");
        let mut by_text = false;
        for (member, ..) in members::members(self.cx, ty, "subscript", false, self.file) {
            if let MemberKind::Subscript(get, _) = member {
                let signature = signature::signature(self.cx, get);
                by_text |= matches!(&signature.params[..], [p] if p.label.as_deref() == Some("dynamicMember") && p.ty == string);
            }
        }
        let span = name.span;
        let kind = match by_text {
            true => Ast::String(vec![StringPart::Text(name.name.clone())]),
            false => Ast::KeyPath { root: None, path: vec![KeyPathPart::Member(name.clone())] },
        };
        Some(self.subscript(base.clone(), vec![labeled("dynamicMember", ast::Expr { kind, span })], None, span))
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
