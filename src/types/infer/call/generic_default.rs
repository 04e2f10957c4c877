//! Generic defaults: default arguments of parameters with a generic type: `func f(_ xs: some Sequence<Int> = [])`.
//!
//! A default argument that type-checks for every type of the generic parameter is part of every instance of the
//! function. Any other default argument has one concrete type, and a call that omits the argument thereby fixes the
//! generic parameter.

use crate::diagnostic;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::call::candidates::{Candidate, Instance, Target};
use crate::types::infer::stmt::function_body;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::declaration_tables::OpenDefault;
use crate::types::model::declaration_tables::{BodyState, Code, Signature};
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

/// Records the default arguments of parameters whose generic parameters occur in no other parameter.
pub(in crate::types) fn note_open_defaults(cx: &mut TypeContext, f: FunctionId, signature: &Signature, outer: usize) {
    let own = signature.env.params.get(outer..).unwrap_or(&[]);
    let names = |ty: &Type, of: &Type| of.any(&mut |t| t == ty);
    for (i, param) in signature.params.iter().enumerate() {
        let Some(default) = param.default else { continue };
        let mentioned: Vec<Type> = own.iter().map(|p| Type::Param(*p)).filter(|own| names(own, &param.ty)).collect();
        let others = || signature.params.iter().enumerate().filter(|(k, _)| *k != i);
        let is_shared = mentioned.iter().any(|own| others().any(|(_, other)| names(own, &other.ty)));
        if !mentioned.is_empty() && !is_shared {
            cx.memo.open_defaults.insert(default, OpenDefault::Unknown(f, i));
        }
    }
}

/// Determines whether a default argument has one concrete type, which then becomes the result type of the default's
/// function.
pub(in crate::types) fn resolve_default(cx: &mut TypeContext, default: FunctionId) {
    let Some(OpenDefault::Unknown(f, index)) = cx.memo.open_defaults.get(&default).copied() else { return };
    cx.memo.open_defaults.remove(&default);
    if fits_generically(cx, default) {
        return;
    }
    let before = cx.sink.diagnostics.len();
    let Some(ty) = own_default_type(cx, default, f, index) else {
        if cx.sink.diagnostics.len() > before {
            cx.defs.functions[default.0 as usize].memo.body = BodyState::Failed;
        }
        return;
    };
    let outer = signature::function_outer_env(cx, f);
    let signature = signature::signature(cx, default);
    let own = Signature { env: outer.clone(), result: ty, ..(*signature).clone() };
    let data = &mut cx.defs.functions[default.0 as usize];
    data.outer = Some(outer);
    data.memo.signature = Some(Rc::new(own));
    cx.memo.open_defaults.insert(default, OpenDefault::Decides);
}

/// Whether a default argument type-checks for every type of the generic parameter.
fn fits_generically(cx: &mut TypeContext, default: FunctionId) -> bool {
    let before = cx.sink.diagnostics.len();
    let fits = function_body::check_body(cx, default).is_some();
    if !fits {
        cx.sink.diagnostics.truncate(before);
        cx.defs.functions[default.0 as usize].memo.body = BodyState::None;
    }
    fits
}

/// Infers the type of a default argument independently of the generic parameter, and reports errors in the default
/// argument.
fn own_default_type(cx: &mut TypeContext, default: FunctionId, f: FunctionId, index: usize) -> Option<Type> {
    let Code::Expression(value) = cx.defs.function_data(default).code.clone() else { return None };
    let outer = signature::function_outer_env(cx, f);
    let prefix: Rc<[Type]> = outer.params.iter().map(|p| Type::Param(*p)).collect();
    let before = cx.sink.diagnostics.len();
    let local_types = cx.defs.function_data(default).local_types.clone();
    let place = (cx.defs.function_data(default).owner, cx.defs.function_data(default).file);
    let (failed, ty) = Infer::run(cx, outer, place, |infer| {
        let vars = infer.cx.vars.var_count();
        if let Some(local_types) = local_types {
            infer.local_types = local_types;
        }
        infer.push_frame(FrameKind::Function, Type::Error, false, Some(default));
        let candidate = Candidate { target: Target::Function(f), prefix, receiver: None, tier: 0 };
        let instance = infer.instantiate(&candidate, value.span);
        let wanted = match instance.params.get(index) {
            Some(param) => infer.param_value_type(param),
            None => Type::Error,
        };
        let found = infer.expr(&value, Some(&wanted));
        let found = infer.coerce(found, &wanted);
        infer.resolve_statement((0, vars));
        let failed = infer.failed;
        let ty = unification::resolved(infer.cx, &found.ty.clone());
        (failed, ty)
    });
    let is_known = !failed && ty != Type::Error && !ty.any(&mut |t| matches!(t, Type::Var(_)));
    if is_known {
        // Warnings are reported when the body is checked.
        cx.sink.diagnostics.truncate(before);
    }
    is_known.then_some(ty)
}

impl Infer<'_> {
    /// Unifies the type of a parameter with the type of its default argument, if the default argument determines it.
    pub(crate) fn take_default(&mut self, default: Option<FunctionId>, wanted: &Type, instance: &Instance, span: Span) {
        let Some(default) = default.filter(|f| self.cx.memo.open_defaults.contains_key(f)) else { return };
        resolve_default(self.cx, default);
        if !self.cx.memo.open_defaults.contains_key(&default) {
            return;
        }
        let signature = signature::signature(self.cx, default);
        let by = |p| signature.env.params.iter().position(|q| *q == p).and_then(|i| instance.generics.get(i).cloned());
        let own = signature.result.substitute(&by);
        if !unification::unify(self.cx, wanted, &own, span) {
            let (own, wanted) = (self.show(&own), self.show(wanted));
            let message = format!("cannot convert default value of type '{own}' to expected argument type '{wanted}'");
            self.error(
                Diagnostic::error(diagnostic::Code::Mismatch, span, message).help("pass the argument explicitly"),
            );
        }
    }
}
