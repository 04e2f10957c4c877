//! Existentials where a generic parameter is asked for: the function is called for the type of the value inside.

use super::store::{Owner, Requirement, World};
use super::tree::FunctionId;
use super::ty::{ProtocolId, Type};

impl World {
    /// The parameter whose argument says what a generic parameter is, when no other one and no type that belongs to it
    /// depends on it.
    pub(super) fn opening_parameter(&mut self, f: FunctionId, generic: usize) -> Option<usize> {
        let signature = self.signature(f);
        let param = *signature.env.params.get(generic)?;
        let is_own = match self.function_data(f).owner {
            Owner::Protocol(_) => true,
            Owner::Nominal(n) => generic >= self.nominal_data(n).params.len(),
            Owner::Module => true,
        };
        let own = Type::Param(param);
        let mentions = |t: &Type| t.any(&mut |t| *t == own);
        let is_equal = |r: &Requirement| matches!(r, Requirement::Same(a, b) if mentions(a) || mentions(b));
        let depends = |t: &Type| {
            t.any(&mut |t| matches!(t, Type::Associated(..) | Type::Function(_)) && t.any(&mut |t| *t == own))
        };
        if !is_own || signature.env.requirements.iter().any(is_equal) || depends(&signature.result) {
            return None;
        }
        let types = signature.self_type.iter().chain(signature.params.iter().map(|p| &p.ty));
        let mut all = types.enumerate().filter(|(_, ty)| mentions(ty));
        let (index, ty) = all.next()?;
        let says = match ty {
            Type::Metatype(of) => **of == own,
            ty => *ty == own,
        };
        (says && all.next().is_none()).then_some(index)
    }

    /// Whether a function may be called with an existential where it asks for a type that conforms to a protocol.
    pub(super) fn opens_for(&mut self, f: FunctionId, p: ProtocolId) -> bool {
        let env = self.signature(f).env.clone();
        let asks =
            |t: &Type| env.requirements.iter().any(|r| matches!(r, Requirement::Conforms(of, q) if of == t && *q == p));
        let asked: Vec<usize> = (0..env.params.len()).filter(|i| asks(&Type::Param(env.params[*i]))).collect();
        asked.into_iter().any(|i| self.opening_parameter(f, i).is_some())
    }

    /// The first generic argument that is an existential, and does not conform to what is asked of it.
    pub(super) fn unopened(&mut self, f: FunctionId, generics: &[Type]) -> Option<(usize, ProtocolId)> {
        if !generics.iter().any(|t| matches!(t, Type::Existential(_))) {
            return None;
        }
        let env = self.signature(f).env.clone();
        let at = |t: &Type| env.params.iter().position(|p| *t == Type::Param(*p)).filter(|i| *i < generics.len());
        env.requirements.iter().find_map(|r| match r {
            Requirement::Conforms(of, p) => {
                let i = at(of)?;
                let is_existential = matches!(generics[i], Type::Existential(_));
                (is_existential && !self.conforms_to(&generics[i], *p)).then_some((i, *p))
            }
            _ => None,
        })
    }
}
