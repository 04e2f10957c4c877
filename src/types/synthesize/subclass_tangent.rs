//! Subclasses of differentiable classes: their tangent vectors have a member for what is inherited, and then for their own
//! properties.
//!
//! Where the superclass has a tangent vector of its own making, a subclass has that one: nobody knows where its
//! properties would belong.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::model::tables::World;
use crate::types::model::ty::{NominalId, Type};
use crate::types::synthesize::{Moving, VECTOR};
use std::fmt::Write;
use std::rc::Rc;

impl World {
    /// Whether a class names a protocol that its superclass conforms to, which is an error.
    pub(crate) fn is_redundant(&mut self, n: NominalId, conformance: usize) -> bool {
        let Some((base, _)) = self.superclass(n) else { return false };
        let (p, span) = (self.nominal_data(n).conformances[conformance].protocol, self.asks(n, conformance).1);
        // That of a class that goes on with its superclass's was not written.
        if span == self.nominal_data(n).span {
            return false;
        }
        let mut at = Some(base);
        while let Some(class) = at.filter(|class| self.find_conformance(*class, p).is_none()) {
            at = self.superclass(class).map(|(base, _)| base);
        }
        if at.is_none() {
            return false;
        }
        let (name, protocol) = (self.nominal_data(n).name.clone(), self.protocol_data(p).name.clone());
        let inherits = format!("'{name}' inherits conformance to protocol '{protocol}' from superclass here");
        let place = self.nominal_data(base).span;
        let message = format!("redundant conformance of '{name}' to protocol '{protocol}'");
        self.report(Diagnostic::error(Code::Inheritance, span, message).note_at(place, inherits));
        true
    }

    /// A subclass of a differentiable class that has properties of its own gets a tangent vector of its own.
    pub(crate) fn continue_tangent_vector(&mut self, n: NominalId) {
        const CONTINUED: &str = "a continued tangent vector";
        let data = self.nominal_data(n);
        let may_move = data.stored.iter().any(|s| !s.no_derivative && s.lazy.is_none());
        if !may_move || data.superclass.is_none() || data.synthesized.contains(&CONTINUED) {
            return;
        }
        let (group, span) = (data.group, data.span);
        self.nominal_data_mut(n).synthesized.push(CONTINUED);
        if self.differentiable_base(n).is_some() {
            let differentiable = self.protocol("Differentiable");
            self.add_conformance(n, differentiable, group, false, span);
        }
    }

    /// The superclass of a class, if it is differentiable and its tangent vector is not its own making.
    fn differentiable_base(&mut self, n: NominalId) -> Option<(NominalId, Rc<[Type]>)> {
        let base = self.superclass(n)?;
        let differentiable = self.protocol("Differentiable");
        let mut at = base.0;
        while self.find_conformance(at, differentiable).is_none() {
            at = self.superclass(at)?.0;
        }
        self.load_own_members(at, "TangentVector");
        let data = self.nominal_data(at);
        let is_written = data.members.contains_key("TangentVector") && !data.synthesized.contains(&VECTOR);
        (!is_written).then_some(base)
    }

    /// Says which properties of a subclass have no derivative because its superclass made the tangent vector.
    pub(crate) fn check_continued(&mut self, n: NominalId) {
        let differentiable = self.protocol("Differentiable");
        let Some((base, args)) = self.superclass(n) else { return };
        let inherits = self.conforms_to(&Type::Nominal(base, args), differentiable);
        if !inherits || self.find_conformance(n, differentiable).is_some() {
            return;
        }
        let (owner, of) = (self.nominal_data(n).name.clone(), self.nominal_data(base).name.clone());
        for i in 0..self.nominal_data(n).stored.len() {
            let ty = self.stored_type(n, i as u32);
            let data = &self.nominal_data(n).stored[i];
            let name = data.wrapped.as_ref().map_or(&data.name, |wrapped| &wrapped.name).clone();
            let span = data.span;
            let may_move = !data.no_derivative && data.lazy.is_none() && !matches!(ty, Type::Function(_));
            if may_move && self.conforms_to(&ty, differentiable) {
                let message = format!(
                    "stored property '{name}' has no derivative because '{owner}' inherits its 'TangentVector' from '{of}'"
                );
                let explicit = "add a '@noDerivative' attribute to make it explicit";
                let warning = Diagnostic::warning(Code::NoDerivativeProperty, span, message);
                let warning = warning.note("derivatives treat the property as a constant");
                self.report(warning.fix(explicit, span.before(), "@noDerivative "));
            }
        }
    }

    /// A call that moves what is inherited from a differentiable class; that is taken out of `moving`.
    pub(crate) fn move_of_base(&mut self, n: NominalId, moving: &mut Vec<Moving>) -> String {
        let Some((base, args)) = self.differentiable_base(n) else { return String::new() };
        let inherited = self.moving_of(base, &args, false).len();
        let differentiable = self.protocol("Differentiable");
        let of = Type::Nominal(base, args);
        let vector = self.normalize_type(&Type::Associated(Rc::new(of), differentiable, "TangentVector".into()));
        let mut text = format!("    let inherited: {} = .init(", self.name_for(vector));
        for (k, Moving { name: field, .. }) in moving.drain(..inherited).enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}{field}: direction.{field}");
        }
        text.push_str(")\n    super.move(along: inherited)\n");
        text
    }
}
