//! Expression effects: determines the expressions that may change values which were evaluated before; such values must
//! be copied, or evaluated later.

use super::builder::Builder;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, Place, ProjectionKind, Root};

/// Returns the index of the last operand that may change the values of preceding operands, or 0. The first operand has
/// no preceding operands and is not inspected; because a long chain of operators is nested in the first operand.
pub(super) fn last_writing<T>(operands: &[T], writes: impl Fn(&T) -> bool) -> usize {
    operands.iter().enumerate().skip(1).rev().find(|(_, operand)| writes(operand)).map_or(0, |(i, _)| i)
}

pub(super) fn argument_may_write(arg: &Argument) -> bool {
    match arg {
        Argument::Value(e) => may_write(e),
        Argument::InOut(place) => place_may_write(place),
    }
}

fn place_may_write(place: &Place) -> bool {
    operands(place).any(may_write)
}

/// Returns the expressions that are evaluated to locate a place.
fn operands(place: &Place) -> impl Iterator<Item = &Expr> {
    let root = match &place.root {
        Root::Value(e) => Some(&**e),
        Root::Local(_) | Root::Global(_) | Root::Discard => None,
    };
    let indices = place.path.iter().flat_map(|step| match &step.kind {
        ProjectionKind::Accessor { args, .. } => args.as_slice(),
        ProjectionKind::Field(_) | ProjectionKind::Element(_) | ProjectionKind::Force => &[],
    });
    root.into_iter().chain(indices)
}

/// Whether the evaluation of an expression may change a variable that is stored in registers.
pub(super) fn may_write(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::Bool(_)
        | ExprKind::Nil
        | ExprKind::Local(_)
        | ExprKind::Global(_)
        | ExprKind::Metatype
        | ExprKind::Pending(_)
        | ExprKind::Error
        | ExprKind::Function(_)
        | ExprKind::Requirement(_)
        | ExprKind::Closure { .. } => false,
        ExprKind::Field { base, .. } | ExprKind::Element { base, .. } => may_write(base),
        ExprKind::Some(value)
        | ExprKind::Force(value)
        | ExprKind::Erase(value)
        | ExprKind::Upcast(value)
        | ExprKind::Quiet(value)
        | ExprKind::Super(value)
        | ExprKind::Is { value, .. }
        | ExprKind::Cast { value, .. }
        | ExprKind::Try { value, .. }
        | ExprKind::ConvertFunction { value, .. } => may_write(value),
        ExprKind::Tuple(parts)
        | ExprKind::Array(parts)
        | ExprKind::Struct { fields: parts }
        | ExprKind::Case { payload: parts, .. }
        | ExprKind::Interpolation(parts) => parts.iter().any(may_write),
        ExprKind::Dictionary(pairs) => pairs.iter().any(|(k, v)| may_write(k) || may_write(v)),
        ExprKind::Call { args, .. } => args.iter().any(changes),
        ExprKind::CallValue { function, args } => may_write(function) || args.iter().any(changes),
        ExprKind::Ternary { condition, then, otherwise } => {
            may_write(condition) || may_write(then) || may_write(otherwise)
        }
        ExprKind::Chain { base, body, .. } => may_write(base) || may_write(body),
        ExprKind::ChainPlace { .. } | ExprKind::Statements { .. } | ExprKind::Assign { .. } => true,
    }
}

impl Builder<'_> {
    /// Whether the operands in the part of an optional chain after a `?` may run code that changes values which outlive
    /// the operands.
    pub fn runs_code(&mut self, callee: &Expr) -> bool {
        match &callee.kind {
            ExprKind::Local(_) | ExprKind::Global(_) => false,
            ExprKind::Field { base, .. } | ExprKind::Element { base, .. } => self.runs_code(base),
            ExprKind::Force(value) | ExprKind::Some(value) => self.runs_code(value),
            ExprKind::Call { args, .. } => args.iter().any(|arg| match arg {
                Argument::Value(e) => self.may_run_code(e),
                Argument::InOut(place) => self.place_may_run_code(place),
            }),
            ExprKind::Assign { place, value } => self.place_may_run_code(place) || self.may_run_code(value),
            ExprKind::ChainPlace { place, body, .. } => self.place_may_run_code(place) || self.runs_code(body),
            _ => true,
        }
    }

    fn place_may_run_code(&mut self, place: &Place) -> bool {
        operands(place).any(|e| self.may_run_code(e))
    }

    /// Whether the evaluation of an expression may run code other than primitives.
    fn may_run_code(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::Nil
            | ExprKind::Local(_) => false,
            // A lazy global is computed when it is first read.
            ExprKind::Global(global) => self.d.global(*global).lazy.is_some(),
            ExprKind::Field { base: value, .. }
            | ExprKind::Element { base: value, .. }
            | ExprKind::Some(value)
            | ExprKind::Force(value) => self.may_run_code(value),
            ExprKind::Tuple(parts) | ExprKind::Array(parts) | ExprKind::Struct { fields: parts } => {
                parts.iter().any(|part| self.may_run_code(part))
            }
            ExprKind::Call { callee: Callee::Static(f), args } => {
                self.d.function(f.function).primitive.is_none()
                    || args.iter().any(|arg| match arg {
                        Argument::Value(e) => self.may_run_code(e),
                        Argument::InOut(_) => true,
                    })
            }
            _ => true,
        }
    }
}

fn changes(arg: &Argument) -> bool {
    match arg {
        Argument::Value(e) => may_write(e),
        Argument::InOut(_) => true,
    }
}
