//! Custom interpolations: string literals whose interpolations call `appendInterpolation`, which a program declares.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{Arg, Ident, StringPart};
use crate::types::conform::conformances;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::{MemberKind, Named};
use crate::types::model::syntax_query;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::{members, name_lookup};
use std::rc::Rc;

/// The variable that holds the parts of a literal, which programs cannot name.
const PARTS: &str = "parts of the literal";
/// The type of the parts of a string.
const DEFAULT: &str = "DefaultStringInterpolation";

impl Infer<'_> {
    /// Infers a string literal with interpolations that the program defines, or of a type that is created from such
    /// literals; `None` for any other literal.
    pub(crate) fn custom_interpolation(
        &mut self,
        parts: &[StringPart],
        expected: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        let ty = match self.interpolated_type(expected) {
            Some(ty) => ty,
            None if self.extends_interpolation() => name_lookup::simple(self.cx, "String"),
            None => return None,
        };
        let of = self.type_written(&ty, span);
        let number = |n: usize| ast::Expr { kind: ast::ExprKind::Int(Some(n as u128)), span };
        let literals = parts.iter().filter(|part| matches!(part, StringPart::Text(_))).count();
        let counts = [("literalCapacity", number(literals)), ("interpolationCount", number(parts.len() - literals))];
        let counts = counts.map(|(name, value)| argument(Some(name), value, span)).to_vec();
        let begin = call(member(of.clone(), "StringInterpolation"), counts, span);
        let mut items = vec![variable(begin, span)];
        for part in parts {
            let (method, arguments) = match part {
                StringPart::Text(_) => {
                    let text = ast::Expr { kind: ast::ExprKind::String(vec![part.clone()]), span };
                    ("appendLiteral", vec![argument(None, text, span)])
                }
                StringPart::Interpolation(arguments) => ("appendInterpolation", arguments.clone()),
            };
            let appended = call(member(name(PARTS, span), method), arguments, span);
            items.push(ast::Stmt { kind: ast::StmtKind::Expr(appended), span });
        }
        let result = call(of, vec![argument(Some("stringInterpolation"), name(PARTS, span), span)], span);
        items.push(ast::Stmt { kind: ast::StmtKind::Return(Some(result)), span });
        let unit = ast::Expr { kind: ast::ExprKind::Tuple(vec![]), span };
        let mut closure = syntax_query::closure_of(&[], unit, span);
        if let ast::ExprKind::Closure(closure) = &mut closure.kind {
            Rc::make_mut(closure).body.items = items;
        }
        Some(self.expr(&call(closure, vec![], span), Some(&ty)))
    }

    /// Returns the expected type of a literal, if it is created from literals with interpolations and is not `String`.
    fn interpolated_type(&mut self, expected: Option<&Type>) -> Option<Type> {
        if !self.cx.defs.library.contains_key("ExpressibleByStringInterpolation") {
            return None;
        }
        let ty = self.known(expected?)?;
        let protocol = name_lookup::protocol(self.cx, "ExpressibleByStringInterpolation");
        let is_value = matches!(ty, Type::Nominal(..));
        (is_value && conformances::conforms_to(self.cx, &ty, protocol)).then_some(ty)
    }

    /// Whether the program declares interpolations of strings.
    fn extends_interpolation(&mut self) -> bool {
        let Some(entries) = self.cx.defs.library.get(DEFAULT) else { return false };
        let found = entries.iter().find_map(|entry| match entry.what {
            Named::Nominal(n) => Some(n),
            _ => None,
        });
        let Some(n) = found else { return false };
        let of = Type::Nominal(n, Rc::from([]));
        let appended = members::members(self.cx, &of, "appendInterpolation", false, self.file);
        appended.iter().any(|(kind, ..)| match *kind {
            MemberKind::Method(f) => !self.cx.defs.function_data(f).is_prelude,
            _ => false,
        })
    }
}

fn name(name: &str, span: Span) -> ast::Expr {
    ast::Expr { kind: ast::ExprKind::Ident { name: name.into(), generics: vec![] }, span }
}

fn member(base: ast::Expr, name: &str) -> ast::Expr {
    let span = base.span;
    let name = Ident { name: name.into(), span };
    ast::Expr { kind: ast::ExprKind::Member { base: Rc::new(base), name, generics: vec![] }, span }
}

fn argument(label: Option<&str>, value: ast::Expr, span: Span) -> Arg {
    let label = label.map(|label| Ident { name: label.into(), span });
    Arg { label, value: Rc::new(value), trailing: false }
}

fn call(callee: ast::Expr, args: Vec<Arg>, span: Span) -> ast::Expr {
    ast::Expr { kind: ast::ExprKind::Call { callee: Rc::new(callee), args }, span }
}

/// Returns the declaration of the variable that holds the parts.
fn variable(value: ast::Expr, span: Span) -> ast::Stmt {
    let pattern = ast::Pattern { kind: ast::PatternKind::Bind { name: PARTS.into(), mutable: true }, span };
    let binding = ast::Binding { pattern, ty: None, value: Some(value), accessors: None };
    let kind = ast::DeclKind::Variable { is_let: false, bindings: vec![binding] };
    let decl = ast::Decl { kind, attributes: vec![], modifiers: vec![], span, documentation: None };
    ast::Stmt { kind: ast::StmtKind::Decl(Rc::new(decl)), span }
}
