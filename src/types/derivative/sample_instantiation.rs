//! Sample instantiation: chooses generic arguments for the check of the differentiability of a generic function that is
//! never called.

use crate::types::conform::conformances;
use crate::types::derivative::differentiability;
use crate::types::derivative::registered_derivatives;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{Env, Requirement};
use crate::types::model::syntax_query::differentiation;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The maximum number of lists of generic arguments that are tried.
const MOST: usize = 512;

/// Returns generic arguments that satisfy the requirements of a function: types of the library or of the program or,
/// where no type conforms yet, an existential.
pub fn generic_sample(cx: &mut TypeContext, f: FunctionId) -> Option<FunctionRef> {
    let mut env = signature::signature(cx, f).env.clone();
    let decl = cx.defs.function_data(f).decl.clone();
    if let Some(attribute) = decl.as_ref().and_then(|decl| decl.attribute("differentiable")) {
        env = differentiability::required_env(cx, f, &env, &differentiation(attribute));
    }
    let choices: Vec<Vec<Type>> = (0..env.params.len()).map(|k| self::choices(cx, &env, k)).collect();
    let count = choices.iter().try_fold(1usize, |all, own| all.checked_mul(own.len())).unwrap_or(usize::MAX);
    for number in 0..count.min(MOST) {
        let mut left = number;
        let mut generics = vec![];
        for own in &choices {
            generics.push(own[left % own.len()].clone());
            left /= own.len();
        }
        if registered_derivatives::holds(cx, &env.requirements, &env.params, &generics) {
            return Some(FunctionRef { function: f, generics });
        }
    }
    protocol_sample(cx, &env).map(|ty| FunctionRef { function: f, generics: vec![ty] })
}

/// Returns the candidate types that satisfy all requirements that concern only the generic parameter `k`.
fn choices(cx: &mut TypeContext, env: &Env, k: usize) -> Vec<Type> {
    let own = Type::Param(env.params[k]);
    let (mut protocols, mut elements) =
        (vec![], vec![name_lookup::simple(cx, "Double"), name_lookup::simple(cx, "Int")]);
    for requirement in &env.requirements {
        match requirement {
            Requirement::Superclass(of, class) if *of == own => return vec![class.clone()],
            Requirement::Conforms(of, p) if *of == own => protocols.push(*p),
            Requirement::Same(a, b) => elements.extend([a, b].into_iter().filter(|t| !is_open(t)).cloned()),
            Requirement::Conforms(..) | Requirement::Superclass(..) => {}
        }
    }
    let mut all: Vec<Type> = ["Double", "Float", "Int", "String"].map(|name| name_lookup::simple(cx, name)).into();
    all.extend(elements.iter().map(|of| name_lookup::applied(cx, "Array", std::slice::from_ref(of))));
    all.extend(elements);
    for n in (0..cx.defs.nominals.len() as u32).map(NominalId) {
        let data = cx.defs.nominal_data(n);
        if !data.is_prelude && !data.conformances.is_empty() && !protocols.is_empty() {
            let sample = nominal_sample(cx, n, &all);
            all.extend(sample);
        }
    }
    type_context::with_env(cx, Rc::default(), |cx| {
        all.retain(|ty| protocols.iter().all(|p| conformances::conforms_to(cx, ty, *p)));
    });
    all
}

/// Returns a nominal type with the first of the given types as all of its generic arguments that satisfies the
/// requirements of the nominal type.
fn nominal_sample(cx: &mut TypeContext, n: NominalId, arguments: &[Type]) -> Option<Type> {
    let params = cx.defs.nominal_data(n).params.clone();
    if params.is_empty() {
        return Some(cx.defs.declared_type(n));
    }
    let requirements = generic_env::nominal_env(cx, n).requirements.clone();
    let all_equal = |ty: &Type| vec![ty.clone(); params.len()];
    let arguments = arguments.iter().map(all_equal);
    let mut fitting = arguments.filter(|args| registered_derivatives::holds(cx, &requirements, &params, args));
    fitting.next().map(|args| Type::Nominal(n, args.into()))
}

/// Returns the existential of the protocols required of the only generic parameter. The existential represents future
/// conforming types; it is returned if nothing else is required, and if the protocols belong to the program and have no
/// associated types.
fn protocol_sample(cx: &mut TypeContext, env: &Env) -> Option<Type> {
    let [own] = env.params[..] else { return None };
    let mut protocols = vec![];
    for requirement in &env.requirements {
        match requirement {
            Requirement::Conforms(Type::Param(of), p) if *of == own => protocols.push(*p),
            _ => return None,
        }
    }
    for p in conformances::all_refined(cx, protocols.clone()) {
        let data = cx.defs.protocol_data(p);
        if data.is_prelude || !data.associated.is_empty() {
            return None;
        }
    }
    Some(Type::any_of(&protocols)).filter(|_| !protocols.is_empty())
}

fn is_open(ty: &Type) -> bool {
    ty.any(&mut |t| matches!(t, Type::Param(_)))
}
