//! Global operators: operator functions outside of types that satisfy requirements, such as
//! `func == (lhs: Edge, rhs: Edge) -> Bool`.

use crate::types::conform::witness;
use crate::types::generics::signature;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::{Named, Signature};
use crate::types::model::syntax_query::is_operator;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::names::name_lookup;

/// Returns the global operator on values of a type that has the required signature, if there is one.
pub(super) fn global_witness(
    cx: &mut TypeContext,
    n: NominalId,
    name: &str,
    wanted: &Signature,
    generics: &[Type],
) -> Option<FunctionRef> {
    for function in operators_on(cx, n, name) {
        let Some(own) = witness::fits_requirement(cx, function, &[], wanted, generics) else { continue };
        let env = signature::signature(cx, function).env.clone();
        let is_applicable = env.requirements.iter().all(|r| {
            let put = r.map(&mut |t| {
                t.substitute(&|p| env.params.iter().position(|q| *q == p).and_then(|i| own.get(i).cloned()))
            });
            unmet_requirement::is_met(cx, &put)
        });
        if is_applicable {
            return Some(FunctionRef { function, generics: own });
        }
    }
    None
}

/// Whether a type has a global operator on two of its values, so that no operator has to be synthesized.
pub(crate) fn has_global_operator(cx: &mut TypeContext, n: NominalId, name: &str) -> bool {
    operators_on(cx, n, name).into_iter().any(|f| {
        let signature = signature::signature(cx, f);
        matches!(signature.params.as_slice(), [a, b] if a.ty == b.ty)
    })
}

/// Returns the global operators of the program that have a parameter of a type.
fn operators_on(cx: &mut TypeContext, n: NominalId, name: &str) -> Vec<FunctionId> {
    let data = cx.defs.nominal_data(n);
    if data.is_prelude || !is_operator(name) {
        return vec![];
    }
    let file = data.file;
    let functions: Vec<FunctionId> = name_lookup::own_entries(cx, name, file)
        .into_iter()
        .filter_map(|entry| match entry.what {
            Named::Function(f) => Some(f),
            _ => None,
        })
        .collect();
    functions
        .into_iter()
        .filter(|f| {
            let signature = signature::signature(cx, *f);
            signature.params.iter().any(|p| matches!(&p.ty, Type::Nominal(m, _) if *m == n))
        })
        .collect()
}
