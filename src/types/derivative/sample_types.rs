//! Types that a generic function which nobody calls may be called with: what it promises is checked for them.

use crate::types::derivative::differentiability::differentiation;
use crate::types::model::tables::{Env, Requirement, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{NominalId, Type};

/// How many lists of generic arguments are tried.
const MOST: usize = 512;

impl World {
    /// Types that a generic function may be called with: of the library, of the program, or, where nothing conforms yet,
    /// any value of a protocol's type.
    pub fn generic_sample(&mut self, f: FunctionId) -> Option<FunctionRef> {
        let mut env = self.signature(f).env.clone();
        let decl = self.function_data(f).decl.clone();
        if let Some(attribute) = decl.as_ref().and_then(|decl| decl.attribute("differentiable")) {
            env = self.required_env(f, &env, &differentiation(attribute));
        }
        let choices: Vec<Vec<Type>> = (0..env.params.len()).map(|k| self.choices(&env, k)).collect();
        let count = choices.iter().try_fold(1usize, |all, own| all.checked_mul(own.len())).unwrap_or(usize::MAX);
        for number in 0..count.min(MOST) {
            let mut left = number;
            let mut generics = vec![];
            for own in &choices {
                generics.push(own[left % own.len()].clone());
                left /= own.len();
            }
            if self.holds(&env.requirements, &env.params, &generics) {
                return Some(FunctionRef { function: f, generics });
            }
        }
        self.protocol_sample(&env).map(|ty| FunctionRef { function: f, generics: vec![ty] })
    }

    /// Types that have what is asked of one generic parameter by itself.
    fn choices(&mut self, env: &Env, k: usize) -> Vec<Type> {
        let own = Type::Param(env.params[k]);
        let (mut protocols, mut elements) = (vec![], vec![self.simple("Double"), self.simple("Int")]);
        for requirement in &env.requirements {
            match requirement {
                Requirement::Superclass(of, class) if *of == own => return vec![class.clone()],
                Requirement::Conforms(of, p) if *of == own => protocols.push(*p),
                Requirement::Same(a, b) => elements.extend([a, b].into_iter().filter(|t| !is_open(t)).cloned()),
                Requirement::Conforms(..) | Requirement::Superclass(..) => {}
            }
        }
        let mut all: Vec<Type> = ["Double", "Float", "Int", "String"].map(|name| self.simple(name)).into();
        all.extend(elements.iter().map(|of| self.applied("Array", std::slice::from_ref(of))));
        all.extend(elements);
        for n in (0..self.nominals.len() as u32).map(NominalId) {
            let data = self.nominal_data(n);
            if !data.is_prelude && !data.conformances.is_empty() && !protocols.is_empty() {
                let arguments = vec![all[0].clone(); data.params.len()];
                all.push(Type::Nominal(n, arguments.into()));
            }
        }
        let saved = std::mem::take(&mut self.env);
        all.retain(|ty| protocols.iter().all(|p| self.conforms_to(ty, *p)));
        self.env = saved;
        all
    }

    /// Any value of a protocol's type stands for the types that will conform to a protocol of the program, when what is
    /// asked of the one generic parameter is nothing else.
    fn protocol_sample(&mut self, env: &Env) -> Option<Type> {
        let [own] = env.params[..] else { return None };
        let mut protocols = vec![];
        for requirement in &env.requirements {
            match requirement {
                Requirement::Conforms(Type::Param(of), p) if *of == own => protocols.push(*p),
                _ => return None,
            }
        }
        for p in self.all_refined(protocols.clone()) {
            let data = self.protocol_data(p);
            if data.is_prelude || !data.associated.is_empty() {
                return None;
            }
        }
        Some(Type::any_of(&protocols)).filter(|_| !protocols.is_empty())
    }
}

fn is_open(ty: &Type) -> bool {
    ty.any(&mut |t| matches!(t, Type::Param(_)))
}
