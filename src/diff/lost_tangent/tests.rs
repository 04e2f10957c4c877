//! Lost tangent tests: the operators that are inserted into functions with lost tangents.

use crate::diff::lost_tangent::*;
use crate::diff::test_graphs::{Builder, program};
use crate::ir::{Op, Operator, Reg};
use crate::value::Bank::{F, I, R};
use crate::value::origins::Storage;

/// Returns the operators that are inserted into a function.
fn inserted(program: &Program, id: FunctionId) -> Vec<Operator> {
    let marked = LostTangents::new(program).marked(id, program.function(id).unwrap());
    if let Some(f) = &marked {
        assert_eq!(crate::ir::verifier::verify(program, f), Vec::<String>::new());
    }
    let steps = marked.map_or(vec![], |f| f.blocks).into_iter().flat_map(|b| b.instructions);
    steps.filter_map(|s| if let Op::Operator(operator) = s.op { Some(operator) } else { None }).collect()
}

fn operators(b: Builder) -> Vec<Operator> {
    let (program, id) = program(b);
    inserted(&program, id)
}

fn loses_tangent(operator: &Operator) -> bool {
    matches!(operator, Operator::LoseTangent { .. })
}

#[test]
fn a_number_that_was_an_integer_is_marked() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let n = b.primitive("int.fromDouble", &[x]);
    let m = b.primitive("int.add", &[n, n]);
    let y = b.primitive("double.fromInt", &[m]);
    b.ret(&[y]);
    let inserted = operators(b);
    assert!(inserted.iter().filter(|operator| loses_tangent(operator)).count() == 1, "{inserted:?}");
}

/// Builds a function that converts a number to an integer.
fn whole() -> Builder {
    let mut b = Builder::new("whole");
    let (x, n) = (b.param("x", F), b.param("n", I));
    let integer = b.primitive("int.fromDouble", &[x]);
    b.ret(&[n, integer]);
    b
}

#[test]
fn an_integer_that_is_returned_passes_on_its_origin() {
    let (mut program, callee) = program(whole());
    let mut b = Builder::new("f");
    let (x, n) = (b.param("x", F), b.param("n", I));
    let (same, made) = (b.reg(I), b.reg(I));
    b.op_to(Op::Call(callee), &[x, n], &[same, made]);
    let y = b.primitive("double.fromInt", &[made]);
    let z = b.primitive("double.fromInt", &[same]);
    b.ret(&[y, z]);
    let caller = b.add_to(&mut program);
    assert_eq!(inserted(&program, callee), [Operator::SendResultOrigin { result: 1 }]);
    let inserted = inserted(&program, caller);
    assert_eq!(inserted[..2], [Operator::ForgetOrigins, Operator::ReceiveResultOrigin { result: 1 }]);
    assert!(inserted.len() == 3 && loses_tangent(&inserted[2]));
}

#[test]
fn an_integer_that_is_only_an_index_is_not_marked() {
    let (mut program, callee) = program(whole());
    let mut b = Builder::new("f");
    let (x, n, table) = (b.param("x", F), b.param("n", I), b.param("table", R));
    let (same, made) = (b.reg(I), b.reg(I));
    b.op_to(Op::Call(callee), &[x, n], &[same, made]);
    let stride = crate::ir::Stride { f: 1, i: 0, r: 0 };
    let y = b.op(Op::LoadElement { bank: F, offset: 0, stride }, &[table, made], F);
    let z = b.primitive("double.fromInt", &[same]);
    b.ret(&[y, z]);
    let caller = b.add_to(&mut program);
    assert_eq!((inserted(&program, callee), inserted(&program, caller)), (vec![], vec![]));
}

/// Builds a function that calls another function with an integer that was computed from a number.
fn caller(callee: FunctionId) -> Builder {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let n = b.primitive("int.fromDouble", &[x]);
    let y = b.op(Op::Call(callee), &[n], F);
    b.ret(&[y]);
    b
}

#[test]
fn an_integer_that_is_given_passes_on_its_origin() {
    let mut g = Builder::new("g");
    let n = g.param("n", I);
    let y = g.primitive("double.fromInt", &[n]);
    g.ret(&[y]);
    let (mut program, callee) = program(g);
    let caller = caller(callee).add_to(&mut program);
    let inside = inserted(&program, callee);
    assert_eq!(inside[..1], [Operator::ReceiveArgumentOrigin { argument: 0 }]);
    assert!(inside.len() == 2 && loses_tangent(&inside[1]));
    assert_eq!(
        inserted(&program, caller),
        [Operator::ForgetOrigins, Operator::SendArgumentOrigin { argument: 0 }, Operator::ForgetOrigins]
    );
    // Only an integer is passed, which the original code would not track.
    let marked = LostTangents::new(&program).marked(caller, program.function(caller).unwrap()).unwrap();
    let derivative = crate::diff::derivative(&program, &marked);
    let call = derivative.blocks[0].instructions.iter().find(|step| matches!(step.op, Op::Call(_)));
    assert!(call.unwrap().active);
}

#[test]
fn an_argument_is_taken_once_where_a_loop_begins_at_the_entry() {
    let mut g = Builder::new("g");
    let (n, end) = (g.param("n", I), g.block());
    let y = g.primitive("double.fromInt", &[n]);
    let more = g.primitive("int.lt", &[n, n]);
    g.branch(more, crate::ir::BlockId(0), end);
    g.at(end);
    g.ret(&[y]);
    let (mut program, callee) = program(g);
    caller(callee).add_to(&mut program);
    let marked = LostTangents::new(&program).marked(callee, program.function(callee).unwrap()).unwrap();
    assert_eq!(marked.blocks[0].instructions.len(), 1);
    assert_eq!(marked.blocks[0].end, Some(crate::ir::Terminator::Jump(crate::ir::BlockId(2))));
}

/// Builds a function that stores an integer that was computed from a number, and computes a number from an integer that
/// it reads.
fn stored_and_read(store: impl FnOnce(&mut Builder, Reg) -> Reg) -> Vec<Operator> {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let integer = b.primitive("int.fromDouble", &[x]);
    let n = store(&mut b, integer);
    let y = b.primitive("double.fromInt", &[n]);
    b.ret(&[y]);
    operators(b)
}

/// Asserts that an integer was stored as the given component of an object, and read there.
fn assert_kept(inserted: &[Operator], component: u32, replaces: bool) {
    let inside = Storage::Object;
    let expected = [Operator::StoreOrigin { inside, component, replaces }, Operator::LoadOrigin { inside, component }];
    assert_eq!(inserted[..2], expected);
    assert!(inserted.len() == 3 && loses_tangent(&inserted[2]));
}

#[test]
fn an_integer_in_a_variable_keeps_what_it_was_made_of() {
    let inserted = stored_and_read(|b, integer| {
        let variable = b.param("variable", R);
        b.op_to(Op::StoreBox { bank: I, index: 3 }, &[variable, integer], &[]);
        b.op(Op::LoadBox { bank: I, index: 3 }, &[variable], I)
    });
    assert_kept(&inserted, 3, true);
}

#[test]
fn an_integer_in_an_array_keeps_what_it_was_made_of() {
    let inserted = stored_and_read(|b, integer| {
        let (array, k) = (b.param("array", R), b.param("k", I));
        let stride = crate::ir::Stride { f: 0, i: 2, r: 0 };
        b.op_to(Op::StoreElement { bank: I, offset: 1, stride }, &[array, k, integer], &[array]);
        b.op(Op::LoadElement { bank: I, offset: 1, stride }, &[array, k], I)
    });
    assert_kept(&inserted, 1, false);
}

#[test]
fn an_integer_in_another_component_is_another_one() {
    let inserted = stored_and_read(|b, integer| {
        let variable = b.param("variable", R);
        b.op_to(Op::StoreBox { bank: I, index: 3 }, &[variable, integer], &[]);
        b.op(Op::LoadBox { bank: I, index: 4 }, &[variable], I)
    });
    assert_eq!(inserted, []);
}

#[test]
fn where_integers_are_combined_their_numbers_are() {
    let inserted = stored_and_read(|b, integer| {
        let z = b.param("z", F);
        let other = b.primitive("int.fromDouble", &[z]);
        b.primitive("int.add", &[integer, other])
    });
    assert_eq!(inserted[..1], [Operator::JoinOrigins]);
    assert!(inserted.len() == 2 && loses_tangent(&inserted[1]));
}

#[test]
fn selections_and_constants_are_not_marked() {
    let mut b = Builder::new("f");
    let (x, n) = (b.param("x", F), b.param("n", I));
    let integer = b.primitive("int.fromDouble", &[x]);
    let less = b.primitive("int.lt", &[integer, n]);
    let two = b.constant(2.0);
    let constant = b.primitive("int.fromDouble", &[two]);
    let back = b.primitive("double.fromInt", &[constant]);
    b.ret(&[less, back]);
    assert_eq!(operators(b), []);
}
