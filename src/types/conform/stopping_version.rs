//! Stopping versions: functions of the library that throw, called without `try`.
//!
//! In: a function of the library marked `@_stopsWithoutTry`. Out: a second function with the same body, which does not
//! throw but stops the program with the error.

use crate::syntax::ast::{Block, StmtKind};
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{BodyState, Signature};
use crate::types::model::function_table::{Code, FunctionData};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::prelude::written_items;
use std::rc::Rc;

/// Returns the version of a function that stops the program instead of throwing; `None` if no such version exists.
pub(crate) fn stopping_version(cx: &mut TypeContext, f: FunctionId) -> Option<FunctionId> {
    let data = cx.defs.function_data(f);
    let is_marked =
        |data: &FunctionData| data.decl.as_ref().is_some_and(|decl| decl.attribute("_stopsWithoutTry").is_some());
    if !data.is_prelude || !data.throws || !is_marked(data) {
        return None;
    }
    if let Some(known) = cx.memo.stopping_versions.get(&f) {
        return Some(*known);
    }
    let Code::Block(Some(block)) = &data.code else { return None };
    let (block, span, mut data) = (Block::clone(block), data.span, data.clone());
    let mut items = written_items(cx, "do {} catch { _stop(error) }", span);
    let StmtKind::Do { body, .. } = &mut items.first_mut()?.kind else { return None };
    let whole = block.span;
    *body = block;
    let signature = signature::signature(cx, f);
    data.code = Code::Block(Some(Block { items, span: whole }.into()));
    data.throws = false;
    data.memo.signature = Some(Rc::new(Signature { throws: false, ..(*signature).clone() }));
    data.memo.body = BodyState::None;
    data.memo.differentiability = None;
    data.memo.info = None;
    let version = cx.defs.add_function(data);
    cx.memo.stopping_versions.insert(f, version);
    Some(version)
}
