//! Signature: the part of a function object that determines its code.

use super::{Closure, Ref};
use hashbrown::Equivalent;
use std::hash::{Hash, Hasher};

/// The part of a function object that determines its code: its function, and the captured function objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The index of the function in the program.
    pub function: u32,
    /// The signature of each captured reference that is a function object.
    pub captured: Vec<Option<Signature>>,
}

impl Signature {
    /// Returns the signature of a function object.
    pub fn of(closure: &Closure) -> Signature {
        ClosureSignature::of(closure).to_signature()
    }
}

impl Hash for Signature {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.function);
        for captured in &self.captured {
            state.write_u8(u8::from(captured.is_some()));
            captured.iter().for_each(|signature| signature.hash(state));
        }
    }
}

/// The signature of a function object, without a copy: a key by which signatures are looked up.
#[derive(Clone, Copy, Debug)]
pub struct ClosureSignature<'c> {
    closure: &'c Closure,
    /// The number of levels of nested captures that are included.
    depth: usize,
}

impl<'c> ClosureSignature<'c> {
    /// Returns the signature of a function object. Only eight levels of nested captures are included.
    pub fn of(closure: &'c Closure) -> ClosureSignature<'c> {
        ClosureSignature { closure, depth: 8 }
    }

    /// Returns the signature of each captured reference that is a function object.
    fn captured(self) -> impl Iterator<Item = Option<ClosureSignature<'c>>> {
        self.closure.captures.r.iter().map(move |reference| match reference {
            Ref::Closure(closure) if self.depth > 0 => Some(ClosureSignature { closure, depth: self.depth - 1 }),
            _ => None,
        })
    }

    fn to_signature(self) -> Signature {
        let captured = self.captured().map(|captured| captured.map(ClosureSignature::to_signature));
        Signature { function: self.closure.function, captured: captured.collect() }
    }
}

impl Hash for ClosureSignature<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.closure.function);
        for captured in self.captured() {
            state.write_u8(u8::from(captured.is_some()));
            captured.iter().for_each(|signature| signature.hash(state));
        }
    }
}

impl Equivalent<Signature> for ClosureSignature<'_> {
    fn equivalent(&self, signature: &Signature) -> bool {
        self.closure.function == signature.function
            && self.closure.captures.r.len() == signature.captured.len()
            && self.captured().zip(&signature.captured).all(|(own, other)| match (own, other) {
                (Some(own), Some(other)) => own.equivalent(other),
                (None, None) => true,
                _ => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Cells, Components};
    use hashbrown::HashMap;
    use std::rc::Rc;

    fn closure(function: u32, captured: &[Ref]) -> Rc<Closure> {
        let captures = Cells::record(Components { f: &[], i: &[], r: captured, slots: &[] });
        Rc::new(Closure { function, captures })
    }

    #[test]
    fn a_function_object_finds_its_own_signature_only() {
        let plain = |function| Ref::Closure(closure(function, &[]));
        let mut nested = closure(9, &[]);
        for _ in 0..12 {
            nested = closure(9, &[Ref::Closure(nested)]);
        }
        let deeper = closure(9, &[Ref::Closure(nested.clone())]);
        let all = [
            closure(1, &[]),
            closure(2, &[]),
            closure(1, &[Ref::Null]),
            closure(1, &[plain(2)]),
            closure(1, &[plain(2), Ref::Null]),
            closure(1, &[Ref::Null, plain(2)]),
            closure(1, &[Ref::Closure(closure(2, &[plain(3)]))]),
            nested,
        ];
        let known: HashMap<Signature, usize> = all.iter().enumerate().map(|(k, own)| (Signature::of(own), k)).collect();
        for (k, own) in all.iter().enumerate() {
            assert_eq!(known.get(&ClosureSignature::of(own)), Some(&k));
        }
        assert_eq!(known.get(&ClosureSignature::of(&closure(3, &[]))), None);
        // Levels beyond the eighth do not count.
        assert_eq!(known.get(&ClosureSignature::of(&deeper)), Some(&7));
    }
}
