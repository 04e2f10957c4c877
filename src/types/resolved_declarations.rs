//! Resolved declarations: nominal types and functions with all their types, in the form that `ir` reads.

use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_info::{Function, Nominal, Param, Stored};
use crate::types::model::declaration_tables;
use crate::types::model::declaration_tables::{FunctionKind, Owner};
use crate::types::model::ty::NominalId;
use crate::types::model::type_context;
use crate::types::model::type_context::Definitions;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::nominal::stored_property;
use crate::types::nominal::wrapped_value;
use std::rc::Rc;

/// Returns a nominal type with its stored properties and cases resolved.
pub(crate) fn resolved_nominal(cx: &mut TypeContext, n: NominalId) -> Rc<Nominal> {
    if let Some(info) = &cx.defs.nominal_data(n).memo.info {
        return info.clone();
    }
    // A built-in type has neither properties nor a superclass, and its conformances are read when something needs them.
    if cx.defs.nominal_data(n).builtin.is_none() {
        conformances::enter_conformances(cx, n);
    }
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        stored_property::stored_type(cx, n, i as u32);
    }
    let env = generic_env::nominal_env(cx, n);
    let cases = type_context::with_env(cx, env, |cx| {
        let mut cases = vec![];
        for i in 0..cx.defs.nominal_data(n).cases.len() {
            let payload = stored_property::case_payload(cx, n, i as u32);
            cases.push(declaration_tables::case_info(&cx.defs.nominal_data(n).cases[i], payload));
        }
        cases
    });
    let mut stored = vec![];
    if let Some((base, args)) = superclass::superclass(cx, n) {
        for inherited in &resolved_nominal(cx, base).stored {
            let ty = conformances::substitute_nominal(cx, base, &args, &inherited.ty);
            stored.push(Stored { ty, ..inherited.clone() });
        }
    }
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        let places = wrapped_value::wrapped_value(cx, n, i as u32).map_or(vec![], |value| value.places);
        stored.push(declaration_tables::stored_info(&cx.defs.nominal_data(n).stored[i], places));
    }
    let data = cx.defs.nominal_data(n);
    let info = Rc::new(Nominal {
        name: data.name.clone(),
        kind: data.kind,
        params: data.params.clone(),
        stored,
        cases,
        builtin: data.builtin,
        is_indirect: data.is_indirect,
        superclass: data.superclass.clone(),
        style: data.style.clone(),
        is_prelude: data.is_prelude,
        span: data.span,
    });
    cx.defs.nominal_data_mut(n).memo.info = Some(info.clone());
    info
}

/// Returns a function with its types in the form that `ir` reads.
pub(crate) fn resolved_function(cx: &mut TypeContext, f: FunctionId) -> Rc<Function> {
    if let Some(info) = &cx.defs.function_data(f).memo.info {
        return info.clone();
    }
    let signature = signature::signature(cx, f);
    let (params, result, name, span) = type_context::with_env(cx, signature.env.clone(), |cx| {
        let mut params = vec![];
        let data = cx.defs.function_data(f);
        let (name, span) = (cx.defs.display_name(f), data.span);
        if let Some(own) = &signature.self_type {
            params.push(Param { name: "self".into(), ty: own.clone(), is_inout: signature.self_inout, span });
        }
        for p in &signature.params {
            let ty = associated_type::normalize_type(cx, &p.ty);
            params.push(Param { name: p.name.clone(), ty, is_inout: p.is_inout, span: p.span });
        }
        let result = associated_type::normalize_type(cx, &signature.result);
        (params, result, name, span)
    });
    let data = cx.defs.function_data(f);
    let info = Rc::new(Function {
        name: name.into(),
        generics: signature.env.params.clone(),
        params,
        result,
        throws: signature.throws,
        primitive: data.primitive.clone(),
        is_opaque: data.is_opaque,
        fills_instance: superclass::fills_instance(cx, f),
        is_prelude: data.is_prelude,
        reads: data.reads,
        span,
    });
    cx.defs.functions[f.0 as usize].memo.info = Some(info.clone());
    info
}

impl Definitions {
    /// Returns the name of a function, qualified with the type to which it belongs, for backtraces.
    fn display_name(&self, f: FunctionId) -> String {
        let data = self.function_data(f);
        let own = self.full_name(f);
        match data.owner {
            Owner::Nominal(n) if !matches!(data.kind, FunctionKind::Closure) => {
                format!("{}.{own}", self.nominal_data(n).name)
            }
            Owner::Protocol(p) if !matches!(data.kind, FunctionKind::Closure) => {
                format!("{}.{own}", self.protocol_data(p).name)
            }
            _ => own,
        }
    }
}
