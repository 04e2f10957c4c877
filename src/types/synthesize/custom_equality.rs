//! Types that say themselves when their values are equal, and what is written for the types that are made of them.

use crate::syntax::ast::NominalKind;
use crate::types::model::tables::{Owner, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{NominalId, Type};
use std::fmt::Write;

impl World {
    /// Whether the values of a type are equal exactly when all their parts are, so that the machine can compare them.
    pub(crate) fn is_equal_by_parts(&mut self, ty: &Type) -> bool {
        self.equal_by_parts(ty, &mut vec![])
    }

    fn equal_by_parts(&mut self, ty: &Type, around: &mut Vec<NominalId>) -> bool {
        match self.resolved(ty) {
            Type::Nominal(n, args) if self.nominal_data(n).builtin.is_some() => {
                args.iter().all(|arg| self.equal_by_parts(arg, around))
            }
            Type::Nominal(n, args) => {
                if around.contains(&n) {
                    return true;
                }
                if self.declares(n, "Equatable").is_some() && self.writes_equality(n, &args) {
                    return false;
                }
                around.push(n);
                let parts = self.equal_parts(n);
                let holds = parts.iter().all(|part| {
                    let part = self.substitute_nominal(n, &args, part);
                    self.equal_by_parts(&part, around)
                });
                around.pop();
                holds
            }
            Type::Tuple(parts) => parts.iter().all(|(_, part)| self.equal_by_parts(part, around)),
            Type::Param(_) | Type::Associated(..) | Type::Opaque(..) => false,
            _ => true,
        }
    }

    /// The types of what is compared: nothing of a class, whose instances are the same or not.
    fn equal_parts(&mut self, n: NominalId) -> Vec<Type> {
        if self.nominal_data(n).kind == NominalKind::Class {
            return vec![];
        }
        let stored = self.nominal_data(n).stored.len() as u32;
        let mut parts: Vec<Type> = (0..stored).map(|i| self.stored_type(n, i)).collect();
        for case in 0..self.nominal_data(n).cases.len() as u32 {
            parts.extend(self.case_payload(n, case).into_iter().map(|(_, ty)| ty));
        }
        parts
    }

    /// Whether somebody wrote the `==` of a type.
    fn writes_equality(&mut self, n: NominalId, args: &std::rc::Rc<[Type]>) -> bool {
        let equatable = self.protocol("Equatable");
        let own = Type::Nominal(n, args.clone());
        let Some(FunctionRef { function, .. }) = self.find_witness(equatable, 0, &own, &[]) else { return false };
        match self.function_data(function).owner {
            Owner::Nominal(_) => !self.nominal_data(n).synthesized.contains(&"=="),
            _ => true,
        }
    }

    /// `==` of an enum, case by case.
    pub(crate) fn equality_of_cases(&mut self, n: NominalId) -> String {
        let mut text = String::from("static func == (lhs: Self, rhs: Self) -> Bool {\n    switch (lhs, rhs) {\n");
        for (name, count) in self.case_sizes(n) {
            let tests: Vec<String> = (0..count).map(|k| format!("a{k} == b{k}")).collect();
            let tests = if tests.is_empty() { "true".to_string() } else { tests.join(" && ") };
            let _ =
                writeln!(text, "    case (.{name}{}, .{name}{}): return {tests}", bind("a", count), bind("b", count));
        }
        if self.nominal_data(n).cases.len() > 1 {
            text.push_str("    default: return false\n");
        }
        text.push_str("    }\n}\n");
        text
    }

    /// `hash(into:)` of a type with parts that say themselves when they are equal; `None` for all others, whose parts the
    /// machine hashes.
    pub(crate) fn hash_of_parts(&mut self, n: NominalId) -> Option<String> {
        let own = self.declared_type(n);
        let kind = self.nominal_data(n).kind;
        if kind == NominalKind::Class || self.is_equal_by_parts(&own) || self.writes_equality_of(&own) {
            return None;
        }
        let mut text = String::from("func hash(into hasher: inout Hasher) {\n");
        if kind == NominalKind::Enum {
            text.push_str("    switch self {\n");
            for (place, (name, count)) in self.case_sizes(n).into_iter().enumerate() {
                let _ = write!(text, "    case .{name}{}: hasher.combine({place})", bind("a", count));
                for k in 0..count {
                    let _ = write!(text, "; hasher.combine(a{k})");
                }
                text.push('\n');
            }
            text.push_str("    }\n");
        } else {
            for stored in &self.nominal_data(n).stored {
                let _ = writeln!(text, "    hasher.combine(self.{})", stored.name);
            }
        }
        text.push_str("}\n");
        Some(text)
    }

    fn writes_equality_of(&mut self, own: &Type) -> bool {
        matches!(own, Type::Nominal(n, args) if self.writes_equality(*n, args))
    }

    /// The cases of an enum, with how many values each carries.
    fn case_sizes(&mut self, n: NominalId) -> Vec<(String, usize)> {
        let count = self.nominal_data(n).cases.len() as u32;
        (0..count)
            .map(|case| {
                let size = self.case_payload(n, case).len();
                (self.nominal_data(n).cases[case as usize].name.to_string(), size)
            })
            .collect()
    }

    /// The function that does what a primitive does, for keys that say themselves when they are equal.
    pub(crate) fn by_own_equality(&mut self, primitive: &str, of: &Type) -> Option<FunctionId> {
        let name = match primitive {
            "dictionary.get" => "_getByOwn",
            "dictionary.set" => "_setByOwn",
            "dictionary.take" => "_takeByOwn",
            "dictionary.find" => "_findByOwn",
            "set.find" => "_findByOwnIn",
            "set.contains" => "_containsByOwn",
            "set.insert" => "_insertByOwn",
            "set.remove" => "_removeByOwn",
            "value.hash" => "_hashByOwn",
            _ => return None,
        };
        if self.is_equal_by_parts(of) { None } else { self.library_function(name) }
    }
}

/// `(let a0, let a1)`
fn bind(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|k| format!("let {name}{k}")).collect();
    if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) }
}
