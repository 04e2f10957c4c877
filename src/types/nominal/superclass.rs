//! Classes that inherit: where their properties are, which methods they override, which initialisers they have.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::NominalKind;
use crate::types::model::tables::World;
use crate::types::model::ty::{NominalId, Type};
use std::rc::Rc;

impl World {
    pub(crate) fn is_class(&self, n: NominalId) -> bool {
        self.nominal_data(n).kind == NominalKind::Class
    }

    /// The class that a class inherits from, with arguments in terms of its own parameters.
    pub(crate) fn superclass(&mut self, n: NominalId) -> Option<(NominalId, Rc<[Type]>)> {
        if !self.is_class(n) {
            return None;
        }
        self.enter_conformances(n);
        match self.nominal_data(n).superclass.clone()? {
            Type::Nominal(base, args) => Some((base, args)),
            _ => None,
        }
    }

    /// The same for given arguments.
    pub(crate) fn base_type(&mut self, n: NominalId, args: &[Type]) -> Option<Type> {
        let base = self.nominal_data(n).superclass.clone()?;
        Some(self.substitute_nominal(n, args, &base))
    }

    /// A class names what it inherits from.
    pub(crate) fn set_superclass(&mut self, n: NominalId, ty: Type, span: Span) {
        let shown = self.show(&ty);
        let problem = match &ty {
            Type::Nominal(base, _) if self.is_class(*base) => {
                self.enter_conformances(*base);
                let mut at = Some(*base);
                while let Some(class) = at.filter(|class| *class != n) {
                    at = self.superclass(class).map(|(base, _)| base);
                }
                match at {
                    Some(_) => format!("'{}' inherits from itself", self.nominal_data(n).name),
                    None if self.nominal_data(*base).is_final => {
                        format!("inheritance from a final class '{shown}'")
                    }
                    None => match self.nominal_data(n).superclass.clone() {
                        Some(other) if other != ty => {
                            format!("multiple inheritance from classes '{}' and '{shown}'", self.show(&other))
                        }
                        _ => {
                            self.nominal_data_mut(n).superclass = Some(ty);
                            return;
                        }
                    },
                }
            }
            Type::Error => return,
            _ => format!("inheritance from non-protocol, non-class type '{shown}'"),
        };
        self.report(Diagnostic::error(Code::Inheritance, span, problem));
    }

    // Stored properties

    /// How many stored properties an instance has from the classes that its class inherits from; its own ones follow.
    pub(crate) fn inherited_count(&mut self, n: NominalId) -> u32 {
        let (mut count, mut at) = (0, n);
        while let Some((base, _)) = self.superclass(at) {
            count += self.nominal_data(base).stored.len() as u32;
            at = base;
        }
        count
    }

    /// The type that declares the `index`-th stored property of a type, and its number there.
    pub(crate) fn stored_owner(&mut self, n: NominalId, index: u32) -> (NominalId, usize) {
        let mut at = n;
        loop {
            let inherited = self.inherited_count(at);
            match self.superclass(at) {
                Some((base, _)) if index < inherited => at = base,
                _ => return (at, (index - inherited) as usize),
            }
        }
    }
}
