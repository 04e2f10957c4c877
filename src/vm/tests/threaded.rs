//! Threaded code tests: threaded code computes the same results as the dispatch loop.

use super::graph_builder::{TestProgram, machine};
use crate::bytecode::operand::*;
use crate::bytecode::{Code, Instruction, Opcode, Trailer, verify};
use crate::value::shape::{Shapes, Tangents};
use crate::value::{Cells, Components, Ref};
use crate::vm::threaded::translate;
use crate::vm::{CodeSource, Fault, Reporter};
use proptest::prelude::*;
use std::rc::Rc;

/// A program of one function, whose code is given.
struct Fixed {
    code: Rc<Code>,
    program: TestProgram,
}

impl Reporter for Fixed {}

impl CodeSource for Fixed {
    fn original(&mut self, _function: u32) -> Result<Rc<Code>, Box<Fault>> {
        Ok(Rc::clone(&self.code))
    }

    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.original(function)
    }

    fn body_derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.original(function)
    }

    fn method(&mut self, method: u16, shape: crate::value::shape::ShapeId) -> Result<u32, Box<Fault>> {
        self.program.method(method, shape)
    }

    fn shapes(&self) -> &Shapes {
        self.program.shapes()
    }

    fn tangents(&self) -> &Tangents {
        self.program.tangents()
    }
}

/// The number of registers of each bank.
const REGISTERS: u16 = 5;

/// Returns operands of an instruction: existing registers, small constants, short jumps.
fn operands(opcode: Opcode, numbers: &[u16]) -> Vec<i64> {
    let roles = opcode.entry().operands.iter().zip(numbers);
    let number = |((_, role), number): (&(_, Role), &u16)| match role {
        Role::Register(..) => i64::from(number % REGISTERS),
        Role::Jump => i64::from(number % 4),
        Role::Primitive => i64::from(number % 60),
        Role::Arithmetic => i64::from(number % 64),
        Role::Table(_) | Role::Component => i64::from(number % 3),
        _ => i64::from(*number) % 7 - 3,
    };
    roles.map(number).collect()
}

/// Returns an instruction together with the instructions that must follow it, if verified threaded code may contain it.
fn instruction(pick: u16, numbers: &[u16]) -> Vec<Instruction> {
    let opcode = Opcode::ALL[usize::from(pick) % Opcode::ALL.len()];
    let register = |k: usize| numbers[k] % REGISTERS;
    let Some(first) = Instruction::build(opcode, &operands(opcode, numbers)) else { return vec![] };
    let trailing = match opcode.trailer() {
        Trailer::None => vec![],
        Trailer::Extra => vec![Instruction::Extra { c: FIn(register(4)) }],
        Trailer::Extras => vec![Instruction::Extras { c: FIn(register(4)), d: FIn(register(5)) }],
        Trailer::Element => vec![Instruction::Element { offset: Part(0), stride: Part(1) }],
    };
    let instructions = [vec![first], trailing].concat();
    let alone = code([instructions.clone(), vec![Instruction::Return {}; 5]].concat());
    let is_good = verify(&alone).is_ok() && translate(&alone).is_some() && !opcode.is_end();
    if is_good { instructions } else { vec![] }
}

/// Whether the dispatch loop executes an instruction, too.
fn is_known(instruction: &Instruction) -> bool {
    !matches!(
        instruction,
        Instruction::PushF { .. }
            | Instruction::PushI { .. }
            | Instruction::PushKnown { .. }
            | Instruction::PopF { .. }
            | Instruction::PopI { .. }
            | Instruction::AddElementF { .. }
            | Instruction::AddPartF { .. }
            | Instruction::Accumulate { .. }
            | Instruction::TakeAdjoint { .. }
            | Instruction::ReadAdjoint { .. }
            | Instruction::AccumulateR { .. }
            | Instruction::TakeAdjointR { .. }
            | Instruction::AddArray { .. }
            | Instruction::AddNodes { .. }
            | Instruction::AppendNode { .. }
            | Instruction::AppendNode2 { .. }
            | Instruction::FlushF { .. }
            | Instruction::PartialF { .. }
            | Instruction::PartialLeftF { .. }
            | Instruction::PartialRightF { .. }
            | Instruction::PartialFI { .. }
    )
}

fn code(instructions: Vec<Instruction>) -> Code {
    Code {
        name: "random".into(),
        spans: vec![Default::default(); instructions.len()],
        instructions,
        params: [3, 3, 2],
        results: [REGISTERS, REGISTERS, 0],
        registers: [REGISTERS; 3],
        numbers: vec![1.5, -2.0, 0.25],
        integers: vec![1, -1, 3],
        ..Code::default()
    }
}

fn bits(cells: &Cells) -> (Vec<u64>, Vec<i64>) {
    // The bits of a NaN are not specified.
    let number = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    (cells.f.iter().map(number).collect(), cells.i.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threaded_code_does_what_the_loop_does(
        picks in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u16>(), 6)), 1..400),
        f in prop::collection::vec(-3.0..3.0_f64, 3),
        i in prop::collection::vec(-4..5_i64, 3),
        is_shared in any::<bool>(),
    ) {
        let all = picks.iter().map(|(pick, numbers)| instruction(*pick, numbers));
        // The dispatch loop does not execute some of the instructions: then the test only checks that nothing crashes.
        let all = all.filter(|instructions| !is_shared || instructions.iter().all(is_known));
        let mut all: Vec<Instruction> = all.flatten().collect();
        all.extend([Instruction::Return {}; 5]);
        let code = code(all);
        prop_assert_eq!(verify(&code), Ok(()));
        let threaded = translate(&code).unwrap();
        let array = |numbers: Vec<f64>| Ref::Cells(Rc::new(Cells::numbers(numbers)));
        let r = [array(vec![1.0, 2.0, 3.0]), array(vec![4.0])];
        let arguments = Components { f: &f, slots: &[], i: &i, r: &r };

        let mut alone = machine();
        alone.make_room([64; 3], false).unwrap();
        alone.set_window(arguments);
        let done = alone.run_threaded(&threaded, usize::from(REGISTERS)).unwrap();

        if is_shared {
            let mut fixed = Fixed { code: Rc::new(code), program: TestProgram::new(vec![]) };
            let looped = machine().run(&mut fixed, 0, arguments);
            prop_assert!(looped.is_ok() || !done, "{:?}", looped.map(|_| ()));
            if done && let Ok(looped) = looped {
                let results = [usize::from(REGISTERS), usize::from(REGISTERS), 0];
                prop_assert_eq!(bits(&alone.take_window(results, false)), bits(&looped));
            }
        }
    }
}
