//! Code objects that somebody tampered with: either the verifier refuses them, or they run without harm.

use super::build::*;
use crate::bytecode::operand::{Role, Table};
use crate::bytecode::{Code, Instruction, LIST, Opcode, verify};
use crate::ir::*;
use crate::native::library::find;
use crate::value::shape::{Shape, ShapeId, Shapes, Tangents};
use crate::value::{Components, Ref};
use crate::vm::{Compiler, Fault, Limits, Machine};
use proptest::prelude::*;
use std::rc::Rc;

/// A program that uses storage of all kinds.
fn subject() -> Vec<Builder> {
    let mut body = Builder::new("closure", &[F], &[F]);
    body.function.captures = vec![F, R];
    let k = body.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
    let shared = body.new_op(R, Op::Capture { bank: R, index: 0 }, &[]);
    let old = body.new_op(F, Op::LoadBox { bank: F, index: 0 }, &[shared]);
    let sum = body.prim("double.add", &[old, k]);
    let sum = body.prim("double.pow", &[sum, Reg(0)]);
    body.op(Op::StoreBox { bank: F, index: 0 }, &[], &[shared, sum]);
    body.end(Terminator::Return(vec![sum]));

    let stride = Stride { f: 1, i: 1, r: 1 };
    let mut main = Builder::new("main", &[F, I], &[F, R, I]);
    let shared = main.new_op(R, Op::NewBox, &[Reg(0)]);
    let closure = main.new_op(R, Op::Closure(FunctionId(1)), &[Reg(0), shared]);
    let array = main.new_op(R, Op::NewArray(stride), &[]);
    let text = main.new_op(R, Op::Text("text".into()), &[]);
    let none = main.int(0);
    main.count(none, Reg(1), |b, i| {
        let x = b.prim("double.fromInt", &[i]);
        let y = b.new_op(F, Op::CallValue, &[closure, x]);
        let both = b.new_op(R, Op::Native { name: "text.concat", shapes: vec![] }, &[text, text]);
        b.op(Op::Append(stride), &[array], &[array, y, i, both]);
        b.op(Op::StoreElement { bank: F, offset: 0, stride }, &[array], &[array, i, x]);
        let record = b.new_op(R, Op::NewRecord, &[x, both]);
        b.op(Op::StoreRecord { bank: F, index: 0 }, &[record], &[record, y]);
        b.op(Op::StoreGlobal { bank: R, index: 0 }, &[], &[record]);
        b.op(Op::StoreGlobal { bank: F, index: 0 }, &[], &[y]);
    });
    let last = main.new_op(F, Op::LoadElement { bank: F, offset: 0, stride }, &[array, none]);
    let part = main.new_op(R, Op::LoadElement { bank: R, offset: 0, stride }, &[array, none]);
    let count = main.new_op(I, Op::Count, &[array]);
    let count = main.prim("int.mul", &[count, count]);
    main.end(Terminator::Return(vec![last, part, count]));
    vec![main, body]
}

struct Tampered {
    codes: Vec<[Rc<Code>; 2]>,
    shapes: Shapes,
    tangents: Tangents,
}

impl Tampered {
    fn get(&self, function: u32, derivative: bool) -> Result<Rc<Code>, Box<Fault>> {
        let codes = self.codes.get(function as usize).ok_or_else(|| Fault::internal("no such function"))?;
        Ok(codes[usize::from(derivative)].clone())
    }
}

impl Compiler for Tampered {
    fn original(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.get(function, false)
    }
    fn derivative(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.get(function, true)
    }
    fn beneath(&mut self, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        self.derivative(function)
    }

    fn own_text(&mut self, _own: crate::value::shape::OwnId, _inside: bool) -> Result<u32, Box<Fault>> {
        Err(Fault::internal("no type here speaks for itself"))
    }

    fn method(&mut self, method: u16, _: ShapeId) -> Result<u32, Box<Fault>> {
        Ok(u32::from(method))
    }
    fn shapes(&self) -> &Shapes {
        &self.shapes
    }
    fn tangents(&self) -> &Tangents {
        &self.tangents
    }
}

/// One change: which instruction, what becomes of it, and its operands.
#[derive(Clone, Debug)]
struct Change {
    at: prop::sample::Index,
    opcode: Option<prop::sample::Index>,
    operands: [u16; 4],
}

fn change() -> impl Strategy<Value = Change> {
    let opcode = prop::option::of(any::<prop::sample::Index>());
    (any::<prop::sample::Index>(), opcode, any::<[u16; 4]>()).prop_map(|(at, opcode, operands)| Change {
        at,
        opcode,
        operands,
    })
}

/// An operand that is wrong in an interesting way: mostly inside of what there is, sometimes just outside.
fn operand(code: &Code, role: Role, random: u16) -> i64 {
    let random = i64::from(random);
    let below = |limit: usize| random % (limit as i64 + 2);
    match role {
        Role::Register(bank, _) => below(code.frame()[bank as usize]),
        Role::Table(Table::Numbers) => below(code.numbers.len()),
        Role::Table(_) | Role::Component | Role::Global | Role::Function => random % 4,
        Role::Jump => random % (2 * code.instructions.len() as i64) - code.instructions.len() as i64,
        Role::Primitive | Role::Arithmetic => random % 256,
        Role::Method | Role::Shape => random % 4,
        Role::Immediate => random - 32768,
    }
}

fn tamper(code: &Code, changes: &[Change]) -> Code {
    let mut code = code.clone();
    for change in changes {
        let at = change.at.index(code.instructions.len());
        let opcode = match change.opcode {
            Some(index) => Opcode::ALL[index.index(LIST.len())],
            None => code.instructions[at].opcode(),
        };
        let roles = opcode.entry().operands.iter().zip(change.operands);
        let operands: Vec<i64> = roles.map(|((_, role), random)| operand(&code, *role, random)).collect();
        if let Some(instruction) = Instruction::build(opcode, &operands) {
            code.instructions[at] = instruction;
        }
    }
    code
}

fn run_tampered(codes: Vec<[Code; 2]>, derivative: bool) {
    let mut shapes = Shapes::default();
    shapes.add(Shape::Double);
    let codes: Vec<[Rc<Code>; 2]> = codes.into_iter().map(|pair| pair.map(Rc::new)).collect();
    let mut world = Tampered { codes, shapes, tangents: Tangents::default() };
    let mut machine = machine();
    machine.limits = Limits { depth: 200, steps: Some(2000), ..Limits::default() };
    machine.host.largest = 1 << 20;
    machine.reserve_globals([1, 1, 1]);
    let args = Components { f: &[0.5], slots: &[], i: &[5], r: &[] };
    let _ =
        if derivative { run_derivative(&mut machine, &mut world) } else { machine.run(&mut world, 0, args).map(drop) };
    // Whatever happened, the machine goes on working.
    let mut good = World::new(vec![fib(0)]);
    let mut fresh = Machine::new(machine.host, Limits::default(), 1 << 30);
    assert_eq!(fresh.run(&mut good, 0, Components { i: &[10], ..Components::default() }).unwrap().i, [55]);
}

fn run_derivative(machine: &mut Machine, world: &mut Tampered) -> Result<(), Box<Fault>> {
    machine.levels.open(crate::tape::Direction::Reverse)?;
    machine.fuel = 0;
    machine.meter = crate::vm::limits::Meter::start(&machine.limits);
    machine.push_halt();
    let x = machine.levels.leaf(crate::tape::Num::constant(0.5))?;
    machine.set_num(0, x);
    machine.set_integer(0, 5);
    machine.perform(world, crate::vm::Next::tail_call(crate::vm::Target::Function(0), true))?;
    crate::vm::dispatch::run(machine, world)
}

/// `DSCRIPT_CASES` asks for more than the usual number.
fn cases() -> u32 {
    std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn tampered_code_is_refused_or_harmless(
        first in prop::collection::vec(change(), 0..4),
        second in prop::collection::vec(change(), 0..4),
        derivative: bool,
    ) {
        let world = World::new(subject());
        let make = |function: u32, changes: &[Change]| {
            [false, true].map(|derivative| tamper(&world.code(function, derivative), changes))
        };
        let codes = vec![make(0, &first), make(1, &second)];
        // Code that passes is run; code that does not is refused when the machine asks for it.
        run_tampered(codes, derivative);
    }
}

#[test]
fn the_subject_itself_runs() {
    let result = run(subject(), &[0.5], &[5]);
    // Global variables were not reserved.
    assert!(result.is_err());
    let world = World::new(subject());
    assert!(find("text.concat").is_some());
    for function in 0..2 {
        for derivative in [false, true] {
            assert_eq!(verify(&world.code(function, derivative)), Ok(()));
        }
    }
    let (mut machine, mut world) = (machine(), world);
    machine.reserve_globals([1, 1, 1]);
    let args = Components { f: &[0.5], slots: &[], i: &[5], r: &[] };
    let result = machine.run(&mut world, 0, args).unwrap();
    assert!(matches!(&result.r[..], [Ref::Text(t)] if &**t == "texttext"));
    assert_eq!((result.i[0], result.f[0]), (25, 0.0));
}
