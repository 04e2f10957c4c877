//! Superclasses: determines the class from which a class inherits, and the indices of inherited stored properties.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::NominalKind;
use crate::types::conform::conformances;
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::display;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

pub(crate) fn is_class(cx: &TypeContext, n: NominalId) -> bool {
    cx.defs.nominal_data(n).kind == NominalKind::Class
}

/// Returns the superclass of a class, with generic arguments in terms of the class's own parameters.
pub(crate) fn superclass(cx: &mut TypeContext, n: NominalId) -> Option<(NominalId, Rc<[Type]>)> {
    if !is_class(cx, n) {
        return None;
    }
    conformances::enter_conformances(cx, n);
    match cx.defs.nominal_data(n).superclass.clone()? {
        Type::Nominal(base, args) => Some((base, args)),
        _ => None,
    }
}

/// Returns the superclass of a class for given generic arguments of the class.
pub(crate) fn base_type(cx: &mut TypeContext, n: NominalId, args: &[Type]) -> Option<Type> {
    let base = cx.defs.nominal_data(n).superclass.clone()?;
    Some(conformances::substitute_nominal(cx, n, args, &base))
}

/// Sets the superclass of a class, and reports types that cannot be its superclass.
pub(crate) fn set_superclass(cx: &mut TypeContext, n: NominalId, ty: Type, span: Span) {
    let shown = display::show(cx, &ty);
    let problem = match &ty {
        Type::Nominal(base, _) if is_class(cx, *base) => {
            conformances::enter_conformances(cx, *base);
            let mut at = Some(*base);
            while let Some(class) = at.filter(|class| *class != n) {
                at = superclass(cx, class).map(|(base, _)| base);
            }
            match at {
                Some(_) => format!("'{}' inherits from itself", cx.defs.nominal_data(n).name),
                None if cx.defs.nominal_data(*base).is_final => {
                    format!("inheritance from a final class '{shown}'")
                }
                None => match cx.defs.nominal_data(n).superclass.clone() {
                    Some(other) if other != ty => {
                        format!("multiple inheritance from classes '{}' and '{shown}'", display::show(cx, &other))
                    }
                    _ => {
                        cx.defs.nominal_data_mut(n).superclass = Some(ty);
                        return;
                    }
                },
            }
        }
        Type::Error => return,
        _ => format!("inheritance from non-protocol, non-class type '{shown}'"),
    };
    cx.sink.report(Diagnostic::error(Code::Inheritance, span, problem));
}

// Stored properties

/// Returns the number of inherited stored properties of an instance; followed by the stored properties that its own
/// class declares.
pub(crate) fn inherited_count(cx: &mut TypeContext, n: NominalId) -> u32 {
    let (mut count, mut at) = (0, n);
    while let Some((base, _)) = superclass(cx, at) {
        count += cx.defs.nominal_data(base).stored.len() as u32;
        at = base;
    }
    count
}

/// Returns the type that declares the `index`-th stored property of a type, and the property's index in that type.
pub(crate) fn stored_owner(cx: &mut TypeContext, n: NominalId, index: u32) -> (NominalId, usize) {
    let mut at = n;
    loop {
        let inherited = inherited_count(cx, at);
        match superclass(cx, at) {
            Some((base, _)) if index < inherited => at = base,
            _ => return (at, (index - inherited) as usize),
        }
    }
}

pub(crate) fn is_convenience(cx: &TypeContext, f: FunctionId) -> bool {
    cx.defs.function_data(f).decl.as_ref().is_some_and(|d| d.has("convenience"))
}

/// Whether an initializer is marked `required`, so that subclasses must have the initializer, too.
pub(crate) fn is_required(cx: &TypeContext, f: FunctionId) -> bool {
    cx.defs.function_data(f).decl.as_ref().is_some_and(|d| d.has("required"))
}

/// Whether a function is an initializer of a class, which receives the new instance as `self`.
pub(crate) fn fills_instance(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    matches!((data.kind, data.owner), (FunctionKind::Init { .. }, Owner::Nominal(n)) if is_class(cx, n))
}

/// Whether subclasses may override a function.
pub(crate) fn is_overridable(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    let Owner::Nominal(n) = data.owner else { return false };
    let is_fixed = |word| data.decl.as_ref().is_some_and(|d| d.has(word));
    // Synthesized members are marked as prelude code, and are in a group of their own.
    let is_synthesized = data.is_prelude && !cx.defs.nominal_data(n).is_prelude;
    is_class(cx, n)
        && !cx.defs.nominal_data(n).is_final
        && !is_fixed("final")
        && !is_fixed("private")
        && match data.kind {
            FunctionKind::Init { .. } => true,
            FunctionKind::Function | FunctionKind::Getter | FunctionKind::Setter => {
                !is_fixed("static") && (is_synthesized || data.group == Some(cx.defs.nominal_data(n).group))
            }
            FunctionKind::Closure | FunctionKind::Script | FunctionKind::Test => false,
        }
}
