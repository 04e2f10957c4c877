//! Random graph tests: graphs are run twice, with tangents in all registers, and with tangents only where derivative
//! code moves them.

use crate::diff::derivative;
use crate::diff::test_graphs::Builder;
use crate::ir::{BlockId, Function, FunctionId, Instruction, Op, Operator, Program, Reg, Stride, Terminator};
use crate::native::{Rule, primitive};
use crate::value::Bank::{F, I, R};
use crate::value::shape::TangentId;

const NUMBER: Stride = Stride { f: 1, i: 0, r: 0 };
/// The tangent that a slot has if a step failed to clear it.
const GARBAGE: f64 = 1e9;

/// A small generator of pseudo-random numbers.
struct Rng(u64);

impl Rng {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn choose(&mut self, regs: &[Reg]) -> Reg {
        regs[self.below(regs.len())]
    }
}

/// Returns a random program. Functions 0 and 1 are `g(a, b) = sin(a) * b` and `floor(a)`, followed by the random
/// function.
fn random_program(seed: u64) -> (Program, FunctionId) {
    let mut program = Program::default();
    let mut g = Builder::new("g");
    let (a, b) = (g.param("a", F), g.param("b", F));
    let sine = g.primitive("double.sin", &[a]);
    let product = g.primitive("double.mul", &[sine, b]);
    g.ret(&[product]);
    g.add_to(&mut program);
    let mut flat = Builder::new("flat");
    let a = flat.param("a", F);
    let floor = flat.primitive("double.floor", &[a]);
    flat.ret(&[floor]);
    flat.add_to(&mut program);

    let mut dice = Rng(seed);
    let mut b = Builder::new("f");
    let mut numbers = vec![b.param("x", F), b.param("y", F)];
    let (cell, array, zero) = (b.reg(R), b.reg(R), b.reg(I));
    // Every register that the graph reads is written first.
    for _ in 0..5 {
        numbers.push(b.constant(0.5 + numbers.len() as f64));
    }
    b.op_to(Op::NewBox, &[numbers[3]], &[cell]);
    b.op_to(Op::NewArray(NUMBER), &[], &[array]);
    b.op_to(Op::Append(NUMBER), &[array, numbers[2]], &[array]);
    b.op_to(Op::ConstI(0), &[], &[zero]);
    let blocks: Vec<BlockId> = (0..4).map(|_| b.block()).collect();
    b.jump(blocks[0]);
    for (k, block) in blocks.iter().enumerate() {
        b.at(*block);
        for _ in 0..dice.below(8) {
            random_step(&mut b, &mut dice, &numbers, cell, array, zero);
        }
        if k + 1 == blocks.len() {
            b.ret(&[dice.choose(&numbers), dice.choose(&numbers)]);
        } else {
            let condition = b.primitive("double.lt", &[dice.choose(&numbers), dice.choose(&numbers)]);
            // The branch may go back as well as forward; a run that does not end is abandoned after a number of steps.
            b.branch(condition, blocks[dice.below(blocks.len())], blocks[k + 1]);
        }
    }
    let id = b.add_to(&mut program);
    (program, id)
}

fn random_step(b: &mut Builder, dice: &mut Rng, numbers: &[Reg], cell: Reg, array: Reg, zero: Reg) {
    let (x, y, out) = (dice.choose(numbers), dice.choose(numbers), dice.choose(numbers));
    let named = |name: &str| Op::Primitive(primitive(name).unwrap());
    match dice.below(14) {
        0 => b.op_to(Op::ConstF(0.25), &[], &[out]),
        1 => b.op_to(Op::Copy, &[x], &[out]),
        2 => b.op_to(named("double.add"), &[x, y], &[out]),
        3 => b.op_to(named("double.mul"), &[x, y], &[out]),
        4 => b.op_to(named("double.sin"), &[x], &[out]),
        5 => b.op_to(named("double.floor"), &[x], &[out]),
        6 => b.op_to(Op::StoreBox { bank: F, index: 0 }, &[cell, x], &[]),
        7 => b.op_to(Op::LoadBox { bank: F, index: 0 }, &[cell], &[out]),
        8 => b.op_to(Op::Append(NUMBER), &[array, x], &[array]),
        9 => b.op_to(Op::LoadElement { bank: F, offset: 0, stride: NUMBER }, &[array, zero], &[out]),
        10 => b.op_to(Op::StoreElement { bank: F, offset: 0, stride: NUMBER }, &[array, zero, x], &[array]),
        11 => b.op_to(Op::Call(FunctionId(0)), &[x, y], &[out]),
        12 => b.op_to(Op::Call(FunctionId(1)), &[x], &[out]),
        _ => b.op_to(Op::Operator(Operator::WithoutDerivative { of: TangentId(0) }), &[x], &[out]),
    }
}

/// A number and its tangent.
type Dual = (f64, f64);

/// A machine that runs random graphs. Original code moves tangents at every step; derivative code only at active steps.
struct Machine {
    is_derivative: bool,
    /// Whether each register is a parameter or is written by an active step.
    with_slots: Vec<bool>,
    numbers: Vec<Dual>,
    condition: Vec<bool>,
    cell: Dual,
    array: Vec<Dual>,
}

impl Machine {
    fn run(program: &Program, f: &Function, is_derivative: bool, arguments: &[Dual]) -> Option<Vec<Dual>> {
        let mut with_slots = vec![!is_derivative; f.registers.len()];
        f.params.iter().for_each(|r| with_slots[r.0 as usize] = true);
        for step in f.blocks.iter().flat_map(|b| &b.instructions).filter(|s| s.active) {
            step.outs.iter().for_each(|r| with_slots[r.0 as usize] = true);
        }
        let numbers = with_slots.iter().map(|slots| (0.0, if *slots { GARBAGE } else { 0.0 })).collect();
        let condition = vec![false; f.registers.len()];
        let (cell, array) = ((0.0, GARBAGE), vec![]);
        let mut machine = Machine { is_derivative, with_slots, numbers, condition, cell, array };
        for (param, argument) in f.params.iter().zip(arguments) {
            machine.numbers[param.0 as usize] = *argument;
        }
        let mut block = 0;
        for _ in 0..50 {
            for step in &f.blocks[block].instructions {
                machine.step(program, step);
            }
            block = match f.blocks[block].end.as_ref()? {
                Terminator::Jump(to) => to.0 as usize,
                Terminator::Branch { condition, then, otherwise } => {
                    if machine.condition[condition.0 as usize] {
                        then.0 as usize
                    } else {
                        otherwise.0 as usize
                    }
                }
                Terminator::Return(regs) => return Some(regs.iter().map(|r| machine.numbers[r.0 as usize]).collect()),
                Terminator::Trap(_) => return None,
            };
        }
        None
    }

    fn step(&mut self, program: &Program, step: &Instruction) {
        let moves = step.active || !self.is_derivative;
        let number = |k: usize| {
            let (value, tangent) = self.numbers[step.ins[k].0 as usize];
            (value, if moves { tangent } else { 0.0 })
        };
        let result = match &step.op {
            Op::ConstF(value) => (*value, 0.0),
            Op::Copy => number(0),
            Op::Operator(_) => (number(0).0, 0.0),
            Op::Primitive(id) => {
                let info = id.info();
                if info.result == I {
                    self.condition[step.outs[0].0 as usize] = number(0).0 < number(1).0;
                    return;
                }
                let operands: Vec<Dual> = (0..step.ins.len()).map(number).collect();
                (
                    info.number(&operands.iter().map(|o| o.0).collect::<Vec<_>>(), 0).unwrap(),
                    tangent(info.name, &operands),
                )
            }
            Op::Call(callee) => {
                let arguments: Vec<Dual> = (0..step.ins.len()).map(number).collect();
                Machine::run(program, program.function(*callee).unwrap(), false, &arguments).unwrap()[0]
            }
            Op::NewBox => {
                self.cell = number(0);
                return;
            }
            Op::StoreBox { .. } => {
                // A store that does not handle slots leaves the old slot in storage.
                let (value, tangent) = self.numbers[step.ins[1].0 as usize];
                self.cell = (value, if moves { tangent } else { self.cell.1 });
                return;
            }
            Op::LoadBox { .. } => self.cell,
            Op::NewArray(_) => {
                self.array.clear();
                return;
            }
            Op::Append(_) => {
                let (value, tangent) = self.numbers[step.ins[1].0 as usize];
                self.array.push((value, if moves { tangent } else { GARBAGE }));
                return;
            }
            Op::StoreElement { .. } => {
                let (value, tangent) = self.numbers[step.ins[2].0 as usize];
                self.array[0] = (value, if moves { tangent } else { self.array[0].1 });
                return;
            }
            Op::LoadElement { .. } => self.array[0],
            _ => return,
        };
        let out = step.outs[0].0 as usize;
        // A step that is not active writes no slot: the old slot stays in a register that can have a slot.
        let old = self.numbers[out].1;
        let kept = if self.with_slots[out] { old } else { 0.0 };
        self.numbers[out] = (result.0, if moves { result.1 } else { kept });
    }
}

fn tangent(name: &str, operands: &[Dual]) -> f64 {
    let info = primitive(name).unwrap().info();
    match (&info.rule, operands) {
        (Rule::Flat, _) => 0.0,
        (_, [(x, dx)]) if name == "double.sin" => x.cos() * dx,
        (_, [(x, dx), (y, dy)]) if name == "double.mul" => x * dy + y * dx,
        (_, [(_, dx), (_, dy)]) if name == "double.add" => dx + dy,
        _ => unreachable!("no other primitives are made here"),
    }
}

#[test]
fn derivative_code_has_the_tangents_of_moving_them_everywhere() {
    let mut ended = 0;
    for seed in 0..4000 {
        let (program, id) = random_program(seed);
        let f: &Function = program.function(id).unwrap();
        let d = derivative(&program, f);
        assert_eq!(crate::ir::verifier::verify(&program, &d), Vec::<String>::new());
        let arguments = [(0.75, 1.0), (-1.25, -2.0)];
        let everywhere = Machine::run(&program, f, false, &arguments);
        let where_active = Machine::run(&program, &d, true, &arguments);
        ended += usize::from(everywhere.is_some());
        let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        let agree = match (&everywhere, &where_active) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| same(a.0, b.0) && same(a.1, b.1)),
            (None, None) => true,
            _ => false,
        };
        let shown = || crate::ir::listing::function(&program, &d, None);
        assert!(agree, "seed {seed}: {everywhere:?} {where_active:?}\n{}", shown());
    }
    assert!(ended > 2000, "only {ended} programs ended");
}
