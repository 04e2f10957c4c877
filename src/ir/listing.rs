//! Listings: graphs in textual form, for `dscript show --stage ir` and tests.

use super::{Function, Instruction, Op, Operator, Program, Reg, Terminator, TransformedOp, Trap};
use crate::ir::passes::exclusivity_checks::AccessKind;
use crate::source::{SourceMap, Span};
use crate::value::shape::Shape;
use crate::value::{Bank, JacobianForm};
use std::fmt::Write;

/// Prints a whole function: its signature, then block by block. With `sources`, source line numbers follow the steps.
pub fn function(program: &Program, f: &Function, sources: Option<&SourceMap>) -> String {
    let mut text = String::new();
    let params: Vec<String> = f.parameters.iter().map(|p| parameter(f, p)).collect();
    let results: Vec<&str> = f.results.iter().map(|b| bank(*b)).collect();
    let _ = write!(text, "func {}({})", f.name, params.join(", "));
    if !results.is_empty() {
        let _ = write!(text, " -> {}", results.join(" "));
    }
    if !f.captures.is_empty() {
        let captures: Vec<&str> = f.captures.iter().map(|b| bank(*b)).collect();
        let _ = write!(text, " captures {}", captures.join(" "));
    }
    text.push('\n');
    for rule in &f.rules {
        let _ = writeln!(text, "  {:?} by {}", rule.kind, name(program, rule.function));
    }
    for (b, block) in f.blocks.iter().enumerate() {
        let _ = writeln!(text, "b{b}:");
        let mut line = None;
        for step in &block.instructions {
            let shown = instruction(program, f, step);
            finish_line(&mut text, &shown, step.span, sources, &mut line);
        }
        let end = block.end.as_ref().map_or("…".to_string(), terminator);
        finish_line(&mut text, &end, block.end_span, sources, &mut line);
    }
    text
}

fn finish_line(text: &mut String, shown: &str, span: Span, sources: Option<&SourceMap>, last: &mut Option<u32>) {
    let line = sources.and_then(|s| s.place(span.start)).map(|p| p.line);
    if line.is_some() && line != *last {
        let _ = writeln!(text, "  {shown:<48} // {}", line.unwrap_or_default());
        *last = line;
    } else {
        let _ = writeln!(text, "  {shown}");
    }
}

fn parameter(f: &Function, p: &super::graph::Parameter) -> String {
    let regs: Vec<String> = f.params[p.first..p.first + p.len].iter().map(|r| format!("%{}", r.0)).collect();
    format!("{}: {}", p.name, if regs.is_empty() { "()".to_string() } else { regs.join(" ") })
}

/// Prints one step, such as `%3 = double.mul %1, %2`, with the prefix `d` if the step also propagates tangents.
pub fn instruction(program: &Program, f: &Function, step: &Instruction) -> String {
    let outs: Vec<String> = step.outs.iter().map(|r| written(f, *r)).collect();
    let ins: Vec<String> = step.ins.iter().map(|r| register(*r)).collect();
    let mut text = String::new();
    if !outs.is_empty() {
        let _ = write!(text, "{} = ", outs.join(", "));
    }
    if step.active {
        text.push_str("d ");
    }
    text.push_str(&operation(program, &step.op));
    if !ins.is_empty() {
        let _ = write!(text, " {}", ins.join(", "));
    }
    text
}

fn register(reg: Reg) -> String {
    format!("%{}", reg.0)
}

/// Prints a register that a step writes, with the name of its variable.
fn written(f: &Function, reg: Reg) -> String {
    match f.registers.get(reg.0 as usize).and_then(|r| r.name.as_ref()) {
        Some(name) => format!("%{}·{name}", reg.0),
        None => format!("%{}", reg.0),
    }
}

fn bank(bank: Bank) -> &'static str {
    match bank {
        Bank::F => "f",
        Bank::I => "i",
        Bank::R => "r",
    }
}

fn name(program: &Program, id: super::graph::FunctionId) -> String {
    program.function(id).map_or_else(|| format!("#{}", id.0), |f| f.name.to_string())
}

fn operation(program: &Program, op: &Op) -> String {
    match op {
        Op::ConstF(x) => format!("{x:?}"),
        Op::ConstI(n) => format!("{n}"),
        Op::Text(text) => format!("{text:?}"),
        Op::Constants(all) => all.to_string(),
        Op::Null => "null".into(),
        Op::Copy => "copy".into(),
        Op::Take => "take".into(),
        Op::Primitive(id) => id.info().name.into(),
        Op::Call(id) => format!("call {}", name(program, *id)),
        Op::CallRule(id) => format!("call by rule {}", name(program, *id)),
        Op::CallValue => "call".into(),
        Op::Closure(id) => format!("closure {}", name(program, *id)),
        Op::Capture { bank: b, index } => format!("capture {}{index}", bank(*b)),
        Op::NewBox => "box".into(),
        Op::NewInstance(shape) => match program.shapes.get(*shape) {
            Shape::Class { name, .. } => format!("new {name}"),
            _ => "new".into(),
        },
        Op::FindMethod(id) => format!("method {}", program.methods.get(id.0 as usize).map_or("", |m| m)),
        Op::LoadBox { bank: b, index } => format!("load box.{}{index}", bank(*b)),
        Op::Hold => "hold".into(),
        Op::Access { how, region } => format!("{} {}", access_kind(*how), region.name),
        Op::StoreBox { bank: b, index } => format!("store box.{}{index}", bank(*b)),
        Op::TakeBox { index } => format!("take box.r{index}"),
        Op::NewRecord => "record".into(),
        Op::LoadRecord { bank: b, index } => format!("load record.{}{index}", bank(*b)),
        Op::StoreRecord { bank: b, index } => format!("store record.{}{index}", bank(*b)),
        Op::TakeRecord { index } => format!("take record.r{index}"),
        Op::NewArray(_) => "array".into(),
        Op::Append(_) => "append".into(),
        Op::AppendText => "append text".into(),
        Op::Count => "count".into(),
        Op::CheckIndex => "check index".into(),
        Op::LoadElement { bank: b, offset, .. } => format!("load element.{}{offset}", bank(*b)),
        Op::StoreElement { bank: b, offset, .. } => format!("store element.{}{offset}", bank(*b)),
        Op::TakeElement { offset, .. } => format!("take element.r{offset}"),
        Op::LoadGlobal { bank: b, index } => format!("load global.{}{index}", bank(*b)),
        Op::StoreGlobal { bank: b, index } => format!("store global.{}{index}", bank(*b)),
        Op::TakeGlobal { index } => format!("take global.r{index}"),
        Op::Native { name, .. } => format!("native {name}"),
        Op::Operator(operator) => match operator {
            Operator::ValueWithDifferential { .. } => "valueWithDifferential".into(),
            Operator::ValueWithTangent { .. } => "valueWithTangent".into(),
            Operator::Transpose { .. } => "transpose".into(),
            Operator::LoseTangent { .. } => "lose tangent".into(),
            Operator::SendResultOrigin { result } => format!("send result origin.{result}"),
            Operator::ReceiveResultOrigin { result } => format!("receive result origin.{result}"),
            Operator::ForgetOrigins => "forget origins".into(),
            Operator::SendArgumentOrigin { argument } => format!("send argument origin.{argument}"),
            Operator::ReceiveArgumentOrigin { argument } => format!("receive argument origin.{argument}"),
            Operator::JoinOrigins => "join origins".into(),
            Operator::StoreOrigin { component, .. } => format!("store origin.{component}"),
            Operator::LoadOrigin { component, .. } => format!("load origin.{component}"),
            Operator::Threshold { .. } => "threshold".into(),
            Operator::Recompute { .. } => "recompute".into(),
            Operator::Gradient { value: true, .. } => "valueWithGradient".into(),
            Operator::Gradient { .. } => "gradient".into(),
            Operator::Series { .. } => "series".into(),
            Operator::ApplyAtOnce => "applyAtOnce".into(),
            Operator::Matrix { sparse } => if *sparse { "sparseMatrix" } else { "matrix" }.into(),
            Operator::Jacobian { form: JacobianForm::Dense, .. } => "jacobian".into(),
            Operator::Jacobian { form: JacobianForm::Small, .. } => "smallJacobian".into(),
            Operator::Jacobian { form: JacobianForm::Sparse, .. } => "sparseJacobian".into(),
            Operator::Coordinates { .. } => "coordinates".into(),
            Operator::WithoutDerivative { .. } => "withoutDerivative".into(),
            Operator::NoDerivative { .. } => "noDerivative".into(),
            Operator::WithDerivative { .. } => "withDerivative".into(),
        },
        Op::Transformed(TransformedOp::Partial { primitive, operand }) => {
            format!("partial {operand} {}", primitive.info().name)
        }
        Op::Transformed(TransformedOp::Push(_)) => "push".into(),
        Op::Transformed(TransformedOp::PushConstant(known)) => format!("push {known}"),
        Op::Transformed(TransformedOp::Pop(_)) => "pop".into(),
        Op::Transformed(TransformedOp::AddElement { offset, .. }) => format!("add to element.f{offset}"),
        Op::Transformed(TransformedOp::Accumulate { offset, .. }) => format!("accumulate element.f{offset}"),
        Op::Transformed(TransformedOp::TakeAdjoint { offset, .. }) => format!("take adjoint element.f{offset}"),
        Op::Transformed(TransformedOp::ReadAdjoint { offset, .. }) => format!("read adjoint element.f{offset}"),
        Op::Transformed(TransformedOp::AccumulateArray { offset, .. }) => format!("accumulate array element.r{offset}"),
        Op::Transformed(TransformedOp::TakeAdjointArray { offset, .. }) => {
            format!("take adjoint array element.r{offset}")
        }
        Op::Transformed(TransformedOp::AddArray) => "add array".into(),
        Op::Transformed(TransformedOp::DropTangent) => "drop tangent".into(),
        Op::Transformed(TransformedOp::RequireConstant) => "require constant".into(),
        Op::Transformed(TransformedOp::AddNodes) => "add nodes".into(),
        Op::Transformed(TransformedOp::AppendNode) => "append node".into(),
        Op::Transformed(TransformedOp::Flush) => "flush".into(),
        Op::Transformed(TransformedOp::CaptureOf { bank: b, index }) => format!("capture {}{index} of", bank(*b)),
        Op::AssertDifferentiable { linear, wrt } => {
            let what = if *linear { "linear" } else { "differentiable" };
            let wrt: Vec<&str> = wrt.iter().map(|w| if *w { "x" } else { "_" }).collect();
            format!("assert {what} ({})", wrt.join(" "))
        }
    }
}

/// Prints the terminator of a block.
pub fn terminator(end: &Terminator) -> String {
    match end {
        Terminator::Jump(to) => format!("jump b{}", to.0),
        Terminator::Branch { condition, then, otherwise } => {
            format!("branch %{} b{}, b{}", condition.0, then.0, otherwise.0)
        }
        Terminator::Return(regs) => {
            let regs: Vec<String> = regs.iter().map(|r| register(*r)).collect();
            if regs.is_empty() { "return".into() } else { format!("return {}", regs.join(", ")) }
        }
        Terminator::Trap(Trap::UnexpectedNil) => "trap unexpected nil".into(),
        Terminator::Trap(Trap::Failed { what, message }) => match message {
            Some(reg) => format!("trap {what} %{}", reg.0),
            None => format!("trap {what}"),
        },
        Terminator::Trap(Trap::Unreachable) => "trap unreachable".into(),
        Terminator::Trap(Trap::Unsupported) => "trap unsupported".into(),
        Terminator::Trap(Trap::Uncaught(reg)) => format!("trap uncaught %{}", reg.0),
    }
}

fn access_kind(how: AccessKind) -> &'static str {
    match how {
        AccessKind::Instantaneous => "access",
        AccessKind::Begin(_) => "begin change",
        AccessKind::End(_) => "end change",
    }
}
