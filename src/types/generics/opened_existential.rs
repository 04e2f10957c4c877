//! Opened existentials: determines the generic arguments of calls of generic functions with an existential, which are
//! the types of the values inside.

use crate::types::conform::conformances;
use crate::types::generics::existential;
use crate::types::generics::signature;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::declaration_tables::{Owner, Requirement};
use crate::types::model::ty::{Existential, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;

/// Returns the parameter whose argument, an existential, determines a generic parameter; `None` if anything else
/// depends on the generic parameter beyond what the existential specifies.
pub(crate) fn opening_parameter(cx: &mut TypeContext, f: FunctionId, generic: usize, e: &Existential) -> Option<usize> {
    let signature = signature::signature(cx, f);
    let param = *signature.env.params.get(generic)?;
    let is_own = match cx.defs.function_data(f).owner {
        Owner::Protocol(_) | Owner::Module => true,
        Owner::Nominal(n) => generic >= cx.defs.nominal_data(n).params.len(),
    };
    let equal = signature.env.requirements.iter().flat_map(|r| match r {
        Requirement::Same(a, b) => vec![a, b],
        Requirement::Conforms(..) | Requirement::Superclass(..) => vec![],
    });
    let (own, equal) = existential::seen_inside(cx, e, param, equal);
    let (_, result) = existential::seen_inside(cx, e, param, std::iter::once(&signature.result));
    let given = signature.self_type.iter().chain(signature.params.iter().map(|p| &p.ty));
    let (_, given) = existential::seen_inside(cx, e, param, given);
    let mentions = |t: &Type| t.any(&mut |t| *t == own);
    if !is_own || equal.iter().any(mentions) || !result.iter().all(|t| comes_out(cx, t, &own)) {
        return None;
    }
    let mut all = given.iter().enumerate().filter(|(_, ty)| mentions(ty));
    let (index, ty) = all.next()?;
    let is_own_value = match ty {
        Type::Metatype(of) => **of == own,
        ty => *ty == own,
    };
    (is_own_value && all.next().is_none()).then_some(index)
}

/// Whether a requirement can be called on a value of an existential.
pub(crate) fn is_callable_on_any(cx: &mut TypeContext, e: &Existential, p: ProtocolId, requirement: u32) -> bool {
    let data = cx.defs.protocol_data(p);
    let (function, param) = (data.requirements[requirement as usize].function, data.self_param);
    let signature = signature::signature(cx, function);
    let types = std::iter::once(&signature.result).chain(signature.params.iter().map(|param| &param.ty));
    let (own, seen) = existential::seen_inside(cx, e, param, types);
    let takes_self = seen[1..].iter().any(|t| t.any(&mut |t| *t == own));
    !takes_self && comes_out(cx, &seen[0], &own)
}

/// Whether `any P` conforms to `P`: no requirement takes a second value of type `Self` or a value of an associated
/// type.
pub(crate) fn conforms_to_itself(cx: &mut TypeContext, p: ProtocolId) -> bool {
    let e = Existential { protocols: vec![p], ..Existential::default() };
    conformances::refined(cx, p).iter().copied().collect::<Vec<_>>().into_iter().all(|q| {
        cx.defs.protocol_data(q).associated.is_empty()
            && (0..cx.defs.protocol_data(q).requirements.len() as u32).all(|r| {
                !cx.defs.protocol_data(q).requirements[r as usize].is_static && is_callable_on_any(cx, &e, q, r)
            })
    })
}

/// Whether a result type that contains the type of the value in an existential can be expressed without that type.
fn comes_out(cx: &TypeContext, result: &Type, inside: &Type) -> bool {
    let mentions = |t: &Type| t.any(&mut |t| t == inside);
    match result {
        _ if result == inside || !mentions(result) => true,
        Type::Associated(_, _, name) => &**name != "TangentVector",
        Type::Tuple(parts) => parts.iter().all(|(_, t)| comes_out(cx, t, inside)),
        Type::Metatype(of) => **of == *inside,
        Type::Nominal(n, args) => {
            let holds = matches!(cx.defs.nominal_data(*n).builtin, Some(Builtin::Optional | Builtin::Array));
            holds && args.iter().all(|t| comes_out(cx, t, inside))
        }
        _ => false,
    }
}

/// Whether a function can be called with an existential where it requires a type that conforms to a protocol.
pub(crate) fn opens_for(cx: &mut TypeContext, f: FunctionId, p: ProtocolId, e: &Existential) -> bool {
    let env = signature::signature(cx, f).env.clone();
    let is_required =
        |t: &Type| env.requirements.iter().any(|r| matches!(r, Requirement::Conforms(of, q) if of == t && *q == p));
    let params: Vec<usize> = (0..env.params.len()).filter(|i| is_required(&Type::Param(env.params[*i]))).collect();
    params.into_iter().any(|i| opening_parameter(cx, f, i, e).is_some())
}

/// Returns the first generic argument that is an existential and must conform to a protocol, with the protocol, if the
/// function is called with the type of the value inside: a function of the program whenever that is possible, and any
/// function if the existential does not conform to the protocol.
pub(crate) fn unopened(cx: &mut TypeContext, f: FunctionId, generics: &[Type]) -> Option<(usize, ProtocolId)> {
    if !generics.iter().any(|t| matches!(t, Type::Existential(_))) {
        return None;
    }
    let env = signature::signature(cx, f).env.clone();
    let is_prelude = cx.defs.function_data(f).is_prelude;
    let error = name_lookup::protocol(cx, "Error");
    let at = |t: &Type| env.params.iter().position(|p| *t == Type::Param(*p)).filter(|i| *i < generics.len());
    env.requirements.iter().find_map(|r| match r {
        Requirement::Conforms(of, p) => {
            let i = at(of)?;
            let Type::Existential(e) = &generics[i] else { return None };
            let is_opened = !is_prelude && *p != error && opening_parameter(cx, f, i, e).is_some();
            (is_opened || !conformances::conforms_to(cx, &generics[i], *p)).then_some((i, *p))
        }
        _ => None,
    })
}
