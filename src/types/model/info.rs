//! Types and functions as `ir` sees them.

use crate::types::model::declared::{Function, Nominal, Param, Stored};
use crate::types::model::tables::{FunctionKind, Owner, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::NominalId;
use std::rc::Rc;

impl World {
    /// The nominal type with its stored properties and cases worked out.
    pub(crate) fn nominal_info(&mut self, n: NominalId) -> Rc<Nominal> {
        if let Some(info) = &self.nominal_data(n).info {
            return info.clone();
        }
        self.enter_conformances(n);
        for i in 0..self.nominal_data(n).stored.len() {
            self.stored_type(n, i as u32);
        }
        let env = self.nominal_env(n);
        let saved = std::mem::replace(&mut self.env, env);
        let mut cases = vec![];
        for i in 0..self.nominal_data(n).cases.len() {
            let payload = self.case_payload(n, i as u32);
            cases.push(self.case_info(&self.nominal_data(n).cases[i], payload));
        }
        self.env = saved;
        let mut stored = vec![];
        if let Some((base, args)) = self.superclass(n) {
            for inherited in &self.nominal_info(base).stored {
                let ty = self.substitute_nominal(base, &args, &inherited.ty);
                stored.push(Stored { ty, ..inherited.clone() });
            }
        }
        for i in 0..self.nominal_data(n).stored.len() {
            let places = self.wrapped_value(n, i as u32).map_or(vec![], |value| value.places);
            stored.push(self.stored_info(&self.nominal_data(n).stored[i], places));
        }
        let data = self.nominal_data(n);
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
        self.nominal_data_mut(n).info = Some(info.clone());
        info
    }

    /// A function as `ir` sees it.
    pub(crate) fn function_info(&mut self, f: FunctionId) -> Rc<Function> {
        if let Some(info) = &self.function_data(f).info {
            return info.clone();
        }
        let signature = self.signature(f);
        let saved = std::mem::replace(&mut self.env, signature.env.clone());
        let mut params = vec![];
        let data = self.function_data(f);
        let (name, span) = (self.display_name(f), data.span);
        if let Some(own) = &signature.self_type {
            params.push(Param { name: "self".into(), ty: own.clone(), is_inout: signature.self_inout, span });
        }
        for p in &signature.params {
            let ty = self.normalize_type(&p.ty);
            params.push(Param { name: p.name.clone(), ty, is_inout: p.is_inout, span: p.span });
        }
        let result = self.normalize_type(&signature.result);
        self.env = saved;
        let data = self.function_data(f);
        let info = Rc::new(Function {
            name: name.into(),
            generics: signature.env.params.clone(),
            params,
            result,
            throws: signature.throws,
            primitive: data.primitive.clone(),
            is_opaque: data.is_opaque,
            fills_instance: self.fills_instance(f),
            is_prelude: data.is_prelude,
            reads: data.reads,
            span,
        });
        self.functions[f.0 as usize].info = Some(info.clone());
        info
    }

    /// A function's name with the type that it belongs to, for backtraces.
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
