//! What can be called under a name, for a person who is about to write the arguments.

use crate::types::model::function::SignatureParam;
use crate::types::model::tables::{Member, MemberKind, Named, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{NominalId, Type};

/// A function, a method or an initialiser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callable {
    /// Its parameters; `self` is none of them.
    pub parameters: Vec<Parameter>,
    /// What it gives, unless that is nothing.
    pub result: Option<String>,
}

/// What an argument is given for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// What is written before the argument.
    pub label: Option<String>,
    /// What the function calls it.
    pub name: String,
    /// Its type.
    pub ty: String,
    /// Whether it may be left out.
    pub has_default: bool,
}

impl World {
    /// The functions and initialisers of a name at the top level.
    pub fn callables(&mut self, name: &str) -> Vec<Callable> {
        let entries = self.entries(name, 0);
        let mut functions = vec![];
        for entry in entries {
            match entry.what {
                Named::Function(f) => functions.push(f),
                Named::Nominal(n) => functions.extend(self.initializers_of(n)),
                _ => {}
            }
        }
        self.called(functions)
    }

    /// The methods of a name that values of a type have, or the type itself.
    pub fn callable_members(&mut self, of: &Type, name: &str) -> Vec<Callable> {
        let of = self.shallow(of);
        let mut functions = vec![];
        if let Type::Nominal(n, _) = &of {
            let own = self.nominal_data(*n).name.clone();
            self.load_all_members(&own);
            functions.extend(methods(self.nominal_data(*n).members.get(name)));
        }
        for p in self.protocols_of(&of).iter().copied() {
            let own = self.protocol_data(p).name.clone();
            self.load_all_members(&own);
            functions.extend(methods(self.protocol_data(p).members.get(name)));
        }
        self.called(functions)
    }

    /// The same of a type that is named.
    pub fn callable_members_of(&mut self, name: &str, member: &str) -> Vec<Callable> {
        let Some(Named::Nominal(n)) = self.type_entry(name, 0) else { return vec![] };
        let own = self.nominal_data(n).name.clone();
        self.load_all_members(&own);
        let functions = methods(self.nominal_data(n).members.get(member)).collect();
        self.called(functions)
    }

    fn initializers_of(&mut self, n: NominalId) -> Vec<FunctionId> {
        let own = self.nominal_data(n).name.clone();
        self.load_all_members(&own);
        let all = self.initializers(n);
        methods(Some(&all)).collect()
    }

    fn called(&mut self, functions: Vec<FunctionId>) -> Vec<Callable> {
        let before = self.diagnostics.len();
        let mut all = vec![];
        for f in functions {
            let signature = self.signature(f);
            let parameters = signature.params.iter().map(|p| self.parameter(p)).collect();
            let result = Some(self.show(&signature.result)).filter(|ty| ty != "Void" && ty != "()");
            all.push(Callable { parameters, result });
        }
        // What is wrong with a declaration is said when it is compiled.
        self.diagnostics.truncate(before);
        all.dedup();
        all
    }

    fn parameter(&mut self, p: &SignatureParam) -> Parameter {
        let dots = if p.variadic { "..." } else { "" };
        Parameter {
            label: p.label.as_ref().map(ToString::to_string),
            name: p.name.to_string(),
            ty: self.show(&p.ty) + dots,
            has_default: p.default.is_some(),
        }
    }
}

fn methods(members: Option<&Vec<Member>>) -> impl Iterator<Item = FunctionId> {
    members.into_iter().flatten().filter_map(|member| match member.kind {
        MemberKind::Method(f) | MemberKind::Init(f) => Some(f),
        _ => None,
    })
}
