//! Failable witnesses: initializers that cannot fail as witnesses of failable requirements, `init(rawValue:)` for
//! `init?(rawValue:)`. The failable version of a class initializer fills the instance that it receives, like every
//! class initializer.

use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{BodyState, Code, FunctionKind, Owner, Signature};
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{
    Argument, Body, Callee, Expr, ExprKind, FunctionId, FunctionRef, Local, LocalId, Stmt, StmtKind,
};
use crate::types::names::name_lookup;
use std::rc::Rc;

/// Returns the failable version of an initializer, which calls the initializer and returns its result as an optional.
pub(crate) fn failable_version(cx: &mut TypeContext, f: FunctionId) -> Option<FunctionId> {
    if let Some(known) = cx.memo.failable_versions.get(&f) {
        return Some(*known);
    }
    let data = cx.defs.function_data(f);
    let (Owner::Nominal(n), FunctionKind::Init { failable: false }) = (data.owner, data.kind) else { return None };
    let mut data = data.clone();
    let is_class = superclass::is_class(cx, n);
    let (signature, span) = (signature::signature(cx, f), data.span);
    let result = name_lookup::applied(cx, "Optional", std::slice::from_ref(&signature.result));
    let instance = signature.self_type.iter().map(|own| Local::new("self", own.clone(), false, span));
    let params = signature.params.iter().map(|p| Local::new(p.name.clone(), p.ty.clone(), false, p.span));
    let locals: Vec<Local> = instance.chain(params).collect();
    let args = locals.iter().enumerate().map(|(i, local)| {
        Argument::Value(Expr { kind: ExprKind::Local(LocalId(i as u32)), ty: local.ty.clone(), span })
    });
    let generics = signature.env.params.iter().map(|p| Type::Param(*p)).collect();
    let function = FunctionRef { function: f, generics };
    let callee = match superclass::is_overridable(cx, f) {
        true => Callee::Class { class: n, function },
        false => Callee::Static(function),
    };
    let call = ExprKind::Call { callee, args: args.collect() };
    let call = Expr { kind: call, ty: signature.result.clone(), span };
    let value = Expr { kind: ExprKind::Some(Box::new(call)), ty: result.clone(), span };
    let statements = vec![Stmt { kind: StmtKind::Return(Some(value)), span }];
    let body = Body { params: locals.len(), locals, statements, ..Body::default() };
    if is_class {
        data.kind = FunctionKind::Init { failable: true };
    } else {
        data.kind = FunctionKind::Function;
        data.is_static = true;
    }
    data.code = Code::Elsewhere;
    data.memo.body = BodyState::Checked(Rc::new(body));
    data.memo.signature = Some(Rc::new(Signature { result, ..(*signature).clone() }));
    data.primitive = None;
    data.registered = vec![];
    data.memo.differentiability = None;
    data.memo.info = None;
    let version = cx.defs.add_function(data);
    cx.memo.failable_versions.insert(f, version);
    Some(version)
}
