//! Subclass tangents: the tangent vector of a subclass of a differentiable class has members for the inherited
//! properties, followed by members for its own properties.
//!
//! If the superclass declares its tangent vector explicitly, its subclasses have this tangent vector, because the
//! correspondence of their own properties would be unknown.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::model::declaration_tables::VECTOR;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::names::type_expr;
use crate::types::nominal::stored_property;
use crate::types::synthesize;
use crate::types::synthesize::TangentProperty;
use std::fmt::Write;
use std::rc::Rc;

/// The mark of a class for which it was decided whether it continues the tangent vector of its superclass.
const CONTINUED: &str = "a continued tangent vector";

/// Whether a class declares a conformance to a protocol to which its superclass conforms; reports the conformance as an
/// error.
pub(crate) fn is_redundant(cx: &mut TypeContext, n: NominalId, conformance: usize) -> bool {
    let Some((base, _)) = superclass::superclass(cx, n) else { return false };
    let (p, span) = (
        cx.defs.nominal_data(n).conformances[conformance].protocol,
        conformances::declaration_site(cx, n, conformance).1,
    );
    // A conformance that was added to extend the superclass's tangent vector is not written in the program.
    if span == cx.defs.nominal_data(n).span {
        return false;
    }
    let mut at = Some(base);
    while let Some(class) = at.filter(|class| conformances::find_conformance(cx, *class, p).is_none()) {
        at = superclass::superclass(cx, class).map(|(base, _)| base);
    }
    if at.is_none() {
        return false;
    }
    let (name, protocol) = (cx.defs.nominal_data(n).name.clone(), cx.defs.protocol_data(p).name.clone());
    let inherits = format!("'{name}' inherits conformance to protocol '{protocol}' from superclass here");
    let place = cx.defs.nominal_data(base).span;
    let message = format!("redundant conformance of '{name}' to protocol '{protocol}'");
    cx.sink.report(Diagnostic::error(Code::Inheritance, span, message).note_at(place, inherits));
    true
}

/// Adds the conformance by which a subclass of a differentiable class gets a tangent vector with its own properties.
pub(crate) fn continue_tangent_vector(cx: &mut TypeContext, n: NominalId) {
    let data = cx.defs.nominal_data(n);
    let may_move = data.stored.iter().any(|s| !s.no_derivative && s.lazy.is_none());
    if !may_move || data.superclass.is_none() || data.memo.synthesized.contains(&CONTINUED) {
        return;
    }
    let (group, span) = (data.group, data.span);
    cx.defs.nominal_data_mut(n).memo.synthesized.push(CONTINUED);
    if differentiable_base(cx, n).is_some() {
        let differentiable = name_lookup::protocol(cx, "Differentiable");
        conformances::add_conformance(cx, n, differentiable, group, span);
    }
}

/// Makes the classes of earlier inputs continue the tangent vectors of superclasses that have become differentiable.
pub(crate) fn reconsider_superclasses(cx: &mut TypeContext) {
    for n in (0..cx.defs.nominals.len()).map(|n| NominalId(n as u32)) {
        let data = cx.defs.nominal_data(n);
        if data.superclass.is_some() && !data.is_prelude {
            cx.defs.nominal_data_mut(n).memo.synthesized.retain(|part| *part != CONTINUED);
        }
    }
}

/// Returns the superclass of a class, if it is differentiable and its tangent vector is not declared explicitly.
fn differentiable_base(cx: &mut TypeContext, n: NominalId) -> Option<(NominalId, Rc<[Type]>)> {
    let base = superclass::superclass(cx, n)?;
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let mut at = base.0;
    while conformances::find_conformance(cx, at, differentiable).is_none() {
        at = superclass::superclass(cx, at)?.0;
    }
    prelude::load_own_members(cx, at, "TangentVector");
    let data = cx.defs.nominal_data(at);
    let is_written = data.members.contains_key("TangentVector") && !data.memo.synthesized.contains(&VECTOR);
    (!is_written).then_some(base)
}

/// Reports properties of a subclass without a derivative because the superclass declares the tangent vector.
pub(crate) fn check_continued(cx: &mut TypeContext, n: NominalId) {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let Some((base, args)) = superclass::superclass(cx, n) else { return };
    let inherits = conformances::conforms_to(cx, &Type::Nominal(base, args), differentiable);
    if !inherits || conformances::find_conformance(cx, n, differentiable).is_some() {
        return;
    }
    let (owner, of) = (cx.defs.nominal_data(n).name.clone(), cx.defs.nominal_data(base).name.clone());
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        let ty = stored_property::stored_type(cx, n, i as u32);
        let data = &cx.defs.nominal_data(n).stored[i];
        let name = data.wrapped.as_ref().map_or(&data.name, |wrapped| &wrapped.name).clone();
        let span = data.span;
        let may_move = !data.no_derivative && data.lazy.is_none() && !matches!(ty, Type::Function(_));
        if may_move && conformances::conforms_to(cx, &ty, differentiable) {
            let message = format!(
                "stored property '{name}' has no derivative because '{owner}' inherits its 'TangentVector' from '{of}'"
            );
            let explicit = "add a '@noDerivative' attribute to make it explicit";
            let warning = Diagnostic::warning(Code::NoDerivativeProperty, span, message);
            let warning = warning.note("derivatives treat the property as a constant");
            cx.sink.report(warning.fix(explicit, span.before(), "@noDerivative "));
        }
    }
}

/// Returns the source of a call that moves the inherited properties, and removes these properties from `properties`.
pub(crate) fn move_of_base(cx: &mut TypeContext, n: NominalId, properties: &mut Vec<TangentProperty>) -> String {
    let Some((base, args)) = differentiable_base(cx, n) else { return String::new() };
    let inherited = synthesize::tangent_properties_of(cx, base, &args, false).len();
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let of = Type::Nominal(base, args);
    let vector =
        associated_type::normalize_type(cx, &Type::Associated(Rc::new(of), differentiable, "TangentVector".into()));
    let mut text = format!("    let inherited: {} = .init(", type_expr::name_for(cx, vector));
    for (k, TangentProperty { name: field, .. }) in properties.drain(..inherited).enumerate() {
        let comma = if k > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{field}: direction.{field}");
    }
    text.push_str(")\n    super.move(along: inherited)\n");
    text
}
