//! Joined types: the type that values of different types have in common, such as the elements of an array literal or the
//! branches of a conditional expression.

use crate::source::Span;
use crate::types::conform::superclass;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::ty::{FunctionType, Type};
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the type to which values of two different types are converted: their nearest common superclass, an
    /// optional if one of them is optional, or a throwing function type if one of two functions throws. Components of
    /// tuples are joined one by one. Returns `None` if the types are equal or have no such type in common.
    pub(crate) fn joined_type(&mut self, a: &Type, b: &Type) -> Option<Type> {
        let (a, b) = (unification::resolved(self.cx, a), unification::resolved(self.cx, b));
        if a == b {
            return None;
        }
        match (&a, &b) {
            (Type::Function(f), Type::Function(g)) => self.joined_function(f, g),
            (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() => {
                let parts = xs.iter().zip(ys.iter()).map(|((label, x), (other, y))| {
                    let ty = self.joined_or_equal(x, y).filter(|_| label == other)?;
                    Some((label.clone(), ty))
                });
                Some(Type::Tuple(parts.collect::<Option<_>>()?))
            }
            (Type::Nominal(..), Type::Nominal(..)) => {
                let payloads = [&a, &b].map(|ty| name_lookup::optional_payload(self.cx, ty));
                if payloads.iter().all(Option::is_none) {
                    return self.common_superclass(&a, &b);
                }
                let [x, y] = [(&payloads[0], &a), (&payloads[1], &b)]
                    .map(|(payload, ty)| payload.clone().unwrap_or_else(|| ty.clone()));
                let payload = self.joined_or_equal(&x, &y)?;
                Some(name_lookup::applied(self.cx, "Optional", &[payload]))
            }
            _ => None,
        }
    }

    fn joined_or_equal(&mut self, a: &Type, b: &Type) -> Option<Type> {
        self.joined_type(a, b).or_else(|| unification::try_unify(self.cx, a, b, Span::default()).then(|| a.clone()))
    }

    /// Joins two function types that differ in their results or in whether they throw.
    fn joined_function(&mut self, f: &FunctionType, g: &FunctionType) -> Option<Type> {
        if f.params != g.params || f.strength != g.strength {
            return None;
        }
        let result = self.joined_or_equal(&f.result, &g.result)?;
        let throws = f.throws || g.throws;
        Some(Type::Function(Rc::new(FunctionType { result, throws, ..f.clone() })))
    }

    /// Returns the common superclass of a class and the class of an alternative, which may be optional.
    pub(crate) fn common_class(&mut self, class: &Type, alternative: &Type) -> Option<Type> {
        let alternative = name_lookup::optional_payload(self.cx, alternative).unwrap_or_else(|| alternative.clone());
        let (class, alternative) = (unification::shallow(self.cx, class), unification::shallow(self.cx, &alternative));
        self.common_superclass(&class, &alternative)
    }

    /// Returns the nearest class from which both classes inherit, which may be one of them.
    fn common_superclass(&mut self, a: &Type, b: &Type) -> Option<Type> {
        let (own, others) = (self.classes_of(a), self.classes_of(b));
        own.into_iter().find(|class| others.contains(class))
    }

    /// Returns a class and its superclasses, the nearest first; nothing for another type.
    fn classes_of(&mut self, ty: &Type) -> Vec<Type> {
        let mut classes = vec![];
        let mut next = Some(ty.clone());
        while let Some(Type::Nominal(n, args)) = next
            && superclass::is_class(self.cx, n)
        {
            next = superclass::base_type(self.cx, n, &args);
            classes.push(Type::Nominal(n, args));
        }
        classes
    }
}
