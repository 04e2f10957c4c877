//! Text fusion: combines the concatenations and conversions of one interpolation into one step, which creates one
//! string.

use super::graph::{Block, Graph, Reg, Step, StepOp};
use crate::ir::Op;
use crate::ir::analysis::flow_graph::{Counts, count};
use crate::value::shape::{ScalarKind, ShapeId, Shapes};

/// The maximum distance between two steps that are combined; a greater distance would extend the live ranges of the
/// operands.
const MAX_DISTANCE: usize = 32;

/// The maximum number of parts of a combined string.
const MAX_PARTS: usize = 32;

/// A part of a combined string: a type with a scalar kind, and the register of its value.
type Part = (ShapeId, Reg);

/// Combines `a = describe n; b = concat "x", a; …` into one step if `a` and `b` have no other use and their operands
/// are unchanged where the last string is created.
pub fn fuse_text(graph: &mut Graph, shapes: &Shapes) {
    let Counts { writes, reads } = count(graph);
    let single_use = |reg: Reg| writes[reg] == 1 && reads[reg] == 1;
    for block in &mut graph.blocks {
        crate::cancel::check();
        let mut gone = vec![false; block.steps.len()];
        for at in 0..block.steps.len() {
            fuse_at(block, at, shapes, &mut gone, &single_use);
        }
        let mut gone = gone.into_iter();
        block.steps.retain(|_| gone.next() != Some(true));
    }
}

/// Combines the step at `at`, if it creates a string from scalar values, with the steps that create its parts.
fn fuse_at(block: &mut Block, at: usize, shapes: &Shapes, gone: &mut [bool], single_use: &dyn Fn(Reg) -> bool) {
    let Some(own) = parts(&block.steps[at], shapes) else { return };
    let mut fused: Vec<Part> = vec![];
    let mut rest = own.len();
    for (shape, reg) in own {
        rest -= 1;
        let inner = inner(block, at, reg, shapes, gone, single_use);
        match inner.filter(|(_, parts)| fused.len() + parts.len() + rest <= MAX_PARTS) {
            Some((made, parts)) => {
                fused.extend(parts);
                gone[made] = true;
            }
            None => fused.push((shape, reg)),
        }
    }
    let step = &mut block.steps[at];
    step.op =
        StepOp::Ir(Op::Native { name: "text.interpolate", shapes: fused.iter().map(|(shape, _)| *shape).collect() });
    step.ins = fused.into_iter().map(|(_, reg)| reg).collect();
}

/// Returns the step that creates the string in `reg` only for the step at `at`, and its parts, if it can be created
/// there as well.
fn inner(
    block: &Block,
    at: usize,
    reg: Reg,
    shapes: &Shapes,
    gone: &[bool],
    single_use: &dyn Fn(Reg) -> bool,
) -> Option<(usize, Vec<Part>)> {
    if !single_use(reg) {
        return None;
    }
    let near = at.saturating_sub(MAX_DISTANCE)..at;
    let made = near.rev().find(|k| !gone[*k] && block.steps[*k].outs.contains(&reg))?;
    let step = &block.steps[made];
    let parts = parts(step, shapes)?;
    let unchanged = block.steps[made + 1..at].iter().all(|s| !s.outs.iter().any(|out| step.ins.contains(out)));
    unchanged.then_some((made, parts))
}

/// Returns the parts of the string that a step creates, if all of them are scalar values.
fn parts(step: &Step, shapes: &Shapes) -> Option<Vec<Part>> {
    let (name, types) = match step.ir()? {
        Op::Native { name, shapes } => (*name, &shapes[..]),
        _ => return None,
    };
    let is_scalar = |shape: &ShapeId| shapes.scalar_kind(*shape) != ScalarKind::Other;
    match (name, types) {
        ("text.concat", [text]) => Some(step.ins.iter().map(|reg| (*text, *reg)).collect()),
        ("describe", [of]) if is_scalar(of) => Some(vec![(*of, *step.ins.first()?)]),
        ("text.interpolate", of) => Some(of.iter().copied().zip(step.ins.iter().copied()).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::graph::End;
    use crate::source::Span;
    use crate::value::Bank;
    use crate::value::shape::Shape;

    #[test]
    fn an_interpolation_is_one_step() {
        let mut shapes = Shapes::default();
        let (text, int) = (shapes.add(Shape::String), shapes.add(Shape::Int { bits: 64, signed: true }));
        let native = |name, shapes, outs, ins| Step {
            op: StepOp::Ir(Op::Native { name, shapes }),
            outs,
            ins,
            span: Span::default(),
            active: false,
        };
        let steps = vec![
            native("describe", vec![int], vec![2], vec![0]),
            native("text.concat", vec![text], vec![3], vec![1, 2]),
            native("text.concat", vec![text], vec![4], vec![3, 1]),
        ];
        let end = End::Return(vec![4]);
        let mut graph = Graph {
            blocks: vec![Block { steps, end, end_span: Span::default() }],
            banks: vec![Bank::I, Bank::R, Bank::R, Bank::R, Bank::R],
            params: vec![0, 1],
            closure: None,
        };
        fuse_text(&mut graph, &shapes);
        let expected = native("text.interpolate", vec![text, int, text], vec![4], vec![1, 0, 1]);
        let steps = &graph.blocks[0].steps;
        assert_eq!(steps.len(), 1);
        assert_eq!((&steps[0].op, &steps[0].ins, &steps[0].outs), (&expected.op, &expected.ins, &expected.outs));
    }
}
