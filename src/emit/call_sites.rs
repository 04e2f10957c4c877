//! Call sites: the tables of a code object to which the operands of calls refer.

use super::EncodeError;
use super::graph::{Reg, Step};
use crate::bytecode::operand::{ClosureAt, NativeAt, OperatorAt, RuleAt};
use crate::bytecode::{
    CallSignature, ClosureSite, Code, Counts, NativeSite, Operator, OperatorSite, Registered, RegisteredKind, RuleSite,
    window,
};
use crate::ir;
use crate::native::library::{self, NativeSignature};
use crate::value::Bank;
use crate::value::shape::{ShapeId, Shapes};

/// Counts the registers of a list in each bank.
pub fn counts(banks: &[Bank], regs: &[Reg]) -> Counts {
    let mut counts = [0; 3];
    regs.iter().for_each(|r| counts[banks[*r] as usize] += 1);
    counts
}

/// Adds the site of a call of the native library.
pub fn native(
    code: &mut Code,
    banks: &[Bank],
    step: &Step,
    name: &str,
    (shapes, known): (&[ShapeId], &Shapes),
) -> Result<NativeAt, EncodeError> {
    let native = library::find(name).ok_or_else(|| EncodeError::Native(name.into()))?;
    let (params, results) = (counts(banks, &step.ins), counts(banks, &step.outs));
    let kinds = shapes.iter().map(|shape| known.scalar_kind(*shape)).collect();
    let signature = NativeSignature { kinds, params, results };
    let site = NativeSite { native, shapes: shapes.to_vec(), signature, window: window(params, results) };
    Ok(NativeAt(add(&mut code.natives, site)))
}

/// Adds the site of an application of a differential operator.
pub fn operator(code: &mut Code, banks: &[Bank], step: &Step, operator: &ir::Operator) -> OperatorAt {
    let operator = match *operator {
        ir::Operator::ValueWithDifferential { at, result, throws } => {
            Operator::ValueWithDifferential { at, result, throws }
        }
        ir::Operator::ValueWithTangent { at, result, throws } => Operator::ValueWithTangent { at, result, throws },
        ir::Operator::Transpose { at, result } => Operator::Transpose { at, result },
        ir::Operator::Recompute { traced } => Operator::Recompute { traced },
        ir::Operator::Series { result, throws } => Operator::Series { result, throws },
        ir::Operator::Gradient { at, value, throws } => Operator::Gradient { at, value, throws },
        ir::Operator::ApplyAtOnce => Operator::ApplyAtOnce,
        ir::Operator::Matrix { sparse } => Operator::Matrix { sparse },
        ir::Operator::Jacobian { at, result, form } => Operator::Jacobian { at, result, form },
        ir::Operator::Coordinates { of } => Operator::Coordinates { of },
        ir::Operator::WithoutDerivative { of } => Operator::WithoutDerivative { of },
        ir::Operator::NoDerivative { is_property } => Operator::NoDerivative { is_property },
        ir::Operator::LoseTangent { of } => Operator::LoseTangent { of },
        ir::Operator::SendResultOrigin { result } => Operator::SendResultOrigin { result },
        ir::Operator::ReceiveResultOrigin { result } => Operator::ReceiveResultOrigin { result },
        ir::Operator::ForgetOrigins => Operator::ForgetOrigins,
        ir::Operator::SendArgumentOrigin { argument } => Operator::SendArgumentOrigin { argument },
        ir::Operator::ReceiveArgumentOrigin { argument } => Operator::ReceiveArgumentOrigin { argument },
        ir::Operator::JoinOrigins => Operator::JoinOrigins,
        ir::Operator::StoreOrigin { inside, component, replaces } => {
            Operator::StoreOrigin { inside, component, replaces }
        }
        ir::Operator::LoadOrigin { inside, component } => Operator::LoadOrigin { inside, component },
        ir::Operator::Threshold { comparison } => Operator::Threshold { comparison },
        ir::Operator::WithDerivative { of } => Operator::WithDerivative { of },
    };
    let (params, results) = (counts(banks, &step.ins), counts(banks, &step.outs));
    OperatorAt(add(&mut code.operators, OperatorSite { operator, params, results }))
}

/// Returns the signature of a step that calls a function object, which is its first operand.
pub fn signature(banks: &[Bank], step: &Step) -> CallSignature {
    CallSignature { params: counts(banks, &step.ins[1..]), results: counts(banks, &step.outs) }
}

/// Adds the site of the creation of a function object.
pub fn closure(code: &mut Code, function: u32, captures: Counts) -> ClosureAt {
    ClosureAt(add(&mut code.closures, ClosureSite { function, captures }))
}

/// Adds the site of a call of a function with registered derivatives. `is_entry`: the call is the only step of the
/// code.
pub fn rule(
    code: &mut Code,
    program: &ir::Program,
    function: ir::FunctionId,
    is_entry: bool,
) -> Result<RuleAt, EncodeError> {
    let callee = program.function(function).ok_or(EncodeError::Unreachable)?;
    let banks: Vec<Bank> = callee.params.iter().map(|p| callee.registers[p.0 as usize].bank).collect();
    let params = callee.parameters.iter().map(|p| {
        let mut counts = [0; 3];
        banks.iter().skip(p.first).take(p.len).for_each(|b| counts[*b as usize] += 1);
        (counts, p.tangent)
    });
    let rules = callee.rules.iter().map(|rule| Registered {
        wrt: rule.wrt.clone(),
        function: rule.function.0,
        kind: match rule.kind {
            ir::RuleKind::Differential if ir::returns_literal_closure(program, rule.registered) => {
                RegisteredKind::Differential
            }
            ir::RuleKind::Differential => RegisteredKind::UnseenDifferential,
            ir::RuleKind::Pullback | ir::RuleKind::Transpose => RegisteredKind::Pullback,
        },
        result: rule.result,
        throws: rule.throws,
        is_transpose: rule.kind == ir::RuleKind::Transpose,
        differs: rule.differs,
        has_own_tangent: rule.has_own_tangent,
        place: rule.place,
        movers: rule.movers.iter().map(|mover| mover.map(|f| f.0)).collect(),
        inherited: rule.inherited.clone(),
    });
    let mut results = [0; 3];
    callee.results.iter().for_each(|b| results[*b as usize] += 1);
    let site = RuleSite {
        function: function.0,
        params: params.collect(),
        names: callee.parameters.iter().map(|p| p.name.clone()).collect(),
        results,
        rules: rules.collect(),
        throws: callee.throws,
        changes: callee.rules.iter().any(|rule| rule.function != rule.registered),
        refusal: is_closed(callee).then(|| refusal(callee).into()),
        is_entry,
        globals: ir::global_reads(program, function),
    };
    Ok(RuleAt(add(&mut code.rules, site)))
}

/// Whether a function has no derivatives except registered ones. The checker prevents a program from differentiating an
/// opaque function of the prelude; the derivative of a registered derivative may still reach such a function, and uses
/// the derivative of the primitive.
fn is_closed(callee: &ir::Function) -> bool {
    callee.is_opaque && (callee.obstacle.is_some() || !callee.is_prelude)
}

/// Returns the message for a function without a body that varies with an argument that no registered derivative covers.
fn refusal(callee: &ir::Function) -> String {
    match &callee.obstacle {
        Some(obstacle @ ir::Obstacle::Property { .. }) => {
            format!(
                "{obstacle}; a function that reads or sets it needs a registered derivative, which calls its original \
                 for the value"
            )
        }
        _ => "no derivative with respect to these arguments is registered".to_owned(),
    }
}

/// Returns the index of a site in a table; equal sites are shared.
fn add<T: PartialEq>(sites: &mut Vec<T>, site: T) -> u32 {
    // The number of sites that are compared with a new site: equal sites are usually close together.
    const SEARCH_WINDOW: usize = 64;
    let first = sites.len().saturating_sub(SEARCH_WINDOW);
    if let Some(k) = sites[first..].iter().position(|s| *s == site) {
        return (first + k) as u32;
    }
    sites.push(site);
    sites.len() as u32 - 1
}
