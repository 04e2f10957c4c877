//! Tensor operands: advice for operators between tensors, numbers and tangent vectors that no operator combines.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Ident;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::expr::operator::is_comparison;
use crate::types::model::ty::Type;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The types of numbers with a fraction.
const WITH_FRACTION: [&str; 2] = ["Double", "Float"];

/// Returns the scalar type of a tensor type in source syntax.
fn scalar_of(shown: &str) -> Option<&str> {
    shown.strip_prefix("Tensor<").and_then(|rest| rest.strip_suffix('>'))
}

impl Infer<'_> {
    /// Adds advice for an operator of which at least one operand is a tensor.
    pub(super) fn advise_tensor(
        &mut self,
        diagnostic: Diagnostic,
        op: &Ident,
        [(left, a), (right, b)]: [(&ArgNode, &String); 2],
    ) -> Diagnostic {
        let (of_left, of_right) = (scalar_of(a), scalar_of(b));
        if of_left.or(of_right).is_none() {
            return diagnostic;
        }
        if is_comparison(&op.name) || matches!(&*op.name, "==" | "!=") {
            let text = "gives a tensor of 'Bool'; to compare a tensor of one number, use 'scalarized()'";
            let sentence = format!("'.{}' compares element by element and {text}", op.name);
            let edit = "compare element by element";
            return diagnostic.help(sentence).fix(edit, op.span, format!(".{}", op.name));
        }
        let has_fraction = |scalar: &str| WITH_FRACTION.contains(&scalar);
        let (arg, target) = match (of_left, of_right) {
            (Some(x), Some(y)) if x == y => return diagnostic,
            (Some(x), Some(y)) if has_fraction(y) && !has_fraction(x) => (left, b.clone()),
            (Some(_), Some(_)) => (right, a.clone()),
            (Some(x), None) if has_fraction(b) && !has_fraction(x) => (left, format!("Tensor<{b}>")),
            (None, Some(y)) if has_fraction(a) && !has_fraction(y) => (right, format!("Tensor<{a}>")),
            (Some(x), None) if is_number(b) => (right, x.to_owned()),
            (None, Some(y)) if is_number(a) => (left, y.to_owned()),
            _ => return diagnostic,
        };
        let text = self.cx.sink.source_text(arg.span);
        diagnostic.fix(format!("convert to '{target}' here"), arg.span, format!("{target}({text})"))
    }

    /// Adds the call of `move(by:)` for a value to which its tangent vector is added.
    pub(super) fn advise_move(
        &mut self,
        diagnostic: Diagnostic,
        op: &Ident,
        [left, right]: [&ArgNode; 2],
        span: Span,
    ) -> Diagnostic {
        let types = [left, right].map(|arg| arg.ready.as_ref().map(|e| unification::shallow(self.cx, &e.ty)));
        let [Some(value), Some(vector)] = types else { return diagnostic };
        let differentiable = name_lookup::protocol(self.cx, "Differentiable");
        let own = Type::Associated(Rc::new(value.clone()), differentiable, "TangentVector".into());
        if value == vector || associated_type::normalize_type(self.cx, &own) != vector {
            return diagnostic;
        }
        let (value, vector) = (self.cx.sink.source_text(left.span), self.cx.sink.source_text(right.span));
        match &*op.name {
            "+=" => diagnostic.fix("move the value along the vector", span, format!("{value}.move(by: {vector})")),
            "-=" => {
                let backwards = format!("{value}.move(by: -({vector}))");
                diagnostic.fix("move the value against the vector", span, backwards)
            }
            _ => diagnostic.help("a value is moved along a tangent vector by 'value.move(by: vector)'"),
        }
    }
}

/// Whether a type is one of numbers.
fn is_number(shown: &str) -> bool {
    WITH_FRACTION.contains(&shown) || shown.trim_start_matches('U').starts_with("Int")
}
