//! Lowering tests: small typed trees and the graphs to which they are lowered.

mod declarations;
mod source_tests;

use super::Lowering;
use crate::ir::{FunctionId, Op, Program};
use crate::ir::{listing, verifier};
use crate::types::model::ty::{ProtocolId, Type};
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{Argument, Case, Condition, ExprKind, FunctionRef, Iteration, LabelId, LocalId};
use crate::types::model::typed_tree::{Callee, PatternKind, Place, ProjectionKind, Root, StmtKind};
use crate::value::shape::Shape;
use declarations::*;

struct Run {
    program: Program,
    id: FunctionId,
    lowering: Lowering,
}

impl Run {
    fn text(&self) -> String {
        listing::function(&self.program, self.program.function(self.id).unwrap(), None)
    }

    /// Returns the listing of the function that has the given name.
    fn of(&self, name: &str) -> String {
        let all = self.program.functions.iter().flatten();
        let found = all.filter(|f| &*f.name == name).map(|f| listing::function(&self.program, f, None));
        found.collect::<Vec<_>>().join("\n")
    }
}

fn lower(declarations: &mut TestDeclarations, f: typed_tree::FunctionId) -> Run {
    let mut lowering = Lowering::new();
    let mut program = Program::default();
    let id = lowering.function(declarations, &mut program, &FunctionRef { function: f, generics: vec![] });
    for f in program.functions.iter().flatten() {
        assert_eq!(verifier::verify(&program, f), Vec::<String>::new(), "{}", listing::function(&program, f, None));
    }
    assert_eq!(lowering.unsupported, vec![]);
    Run { program, id, lowering }
}

fn script(declarations: &mut TestDeclarations, f: typed_tree::FunctionId) -> Run {
    let mut lowering = Lowering::new();
    let mut program = Program::default();
    let id = lowering.script(declarations, &mut program, f);
    Run { program, id, lowering }
}

/// The arithmetic functions that most tests need.
struct Arithmetic {
    add: typed_tree::FunctionId,
    mul: typed_tree::FunctionId,
    less: typed_tree::FunctionId,
    add_assign: typed_tree::FunctionId,
    get: typed_tree::FunctionId,
    set: typed_tree::FunctionId,
}

fn arithmetic(w: &mut TestDeclarations) -> Arithmetic {
    let two = [("a", double()), ("b", double())];
    let add = w.primitive("double.add", &two, double());
    let mul = w.primitive("double.mul", &two, double());
    let less = w.primitive("double.lt", &two, boolean());
    let add_assign = w.declare("+=", &[("&a", double()), ("b", double())], Type::unit());
    w.edit(add_assign).is_prelude = true;
    let sum = call(add, vec![get(0, double()), get(1, double())], double());
    w.define(add_assign, &[], vec![set(place(0, double()), sum)]);
    let t = Type::Param(T);
    let get = w.primitive("array.get", &[("a", array(t.clone())), ("i", integer())], t.clone());
    w.edit(get).generics = vec![T];
    let set = w.primitive("array.set", &[("&a", array(t.clone())), ("x", t), ("i", integer())], Type::unit());
    w.edit(set).generics = vec![T];
    Arithmetic { add, mul, less, add_assign, get, set }
}

fn subscript(a: &Arithmetic, of: Type, index: typed_tree::Expr) -> ProjectionKind {
    let generics = &[of][..];
    ProjectionKind::Accessor {
        get: generic(a.get, generics),
        set: generic(a.set, generics),
        args: vec![index],
        mutating: true,
    }
}

#[test]
fn a_formula_is_straight() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let f = w.declare("f(_:)", &[("x", double())], double());
    let x = || get(0, double());
    let square = call(a.mul, vec![x(), x()], double());
    w.define(f, &[], vec![ret(call(a.add, vec![square, num(1.0)], double()))]);
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f(_:)(x: %0) -> f\nb0:\n  %1 = double.mul %0, %0\n  %2 = 1.0\n  %3 = double.add %1, %2\n  return %3\n"
    );
}

#[test]
fn a_small_prelude_function_costs_nothing() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let f = w.declare("f(_:)", &[("&x", double()), ("y", double())], Type::unit());
    let args = vec![Argument::InOut(place(0, double())), Argument::Value(get(1, double()))];
    w.define(f, &[], vec![run(call_with(callee(a.add_assign), args, Type::unit()))]);
    let run = lower(&mut w, f);
    assert_eq!(run.text(), "func f(_:)(x: %0, y: %1) -> f\nb0:\n  %0·x = double.add %0, %1\n  return %0\n");
}

#[test]
fn a_loop_over_a_closed_range_ends_before_it_overflows() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let range = w.structure("ClosedRange", &[("lowerBound", integer()), ("upperBound", integer())]);
    let f = w.declare("f(_:)", &[("r", range.clone())], double());
    let args = vec![Argument::InOut(place(1, double())), Argument::Value(num(0.5))];
    let body = vec![run(call_with(callee(a.add_assign), args, Type::unit()))];
    let steps = StmtKind::For {
        label: LabelId(0),
        pattern: bind(2, integer()),
        sequence: get(0, range),
        iteration: Iteration::ClosedRange,
        filter: None,
        body,
    };
    let locals = [("var s", double()), ("i", integer())];
    w.define(f, &locals, vec![init(1, num(0.0)), stmt(steps), ret(get(1, double()))]);
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f(_:)(r: %0 %1) -> f
b0:
  %2·s = 0.0
  %3 = copy %0
  %4 = 1
  %5 = int.le %3, %1
  branch %5 b1, b3
b1:
  %6 = 0.5
  %2·s = double.add %2, %6
  %7 = int.lt %3, %1
  branch %7 b2, b3
b2:
  %3 = int.add %3, %4
  jump b1
b3:
  return %2
"
    );
}

#[test]
fn an_element_is_changed_where_it_is() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let point = w.structure("Point", &[("x", double()), ("y", double())]);
    let points = array(point.clone());
    let f = w.declare("f(_:)", &[("&xs", points.clone()), ("i", integer())], Type::unit());
    let element = at(place(0, points), subscript(&a, point.clone(), get(1, integer())), point);
    let y = at(element, ProjectionKind::Field(1), double());
    let args = vec![Argument::InOut(y), Argument::Value(num(1.0))];
    w.define(f, &[], vec![run(call_with(callee(a.add_assign), args, Type::unit()))]);
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f(_:)(xs: %0, i: %1) -> r
b0:
  %2 = 1.0
  %3 = load element.f1 %0, %1
  %3 = double.add %3, %2
  %0·xs = store element.f1 %0, %1, %3
  return %0
"
    );
}

#[test]
fn a_matrix_in_a_box_keeps_its_rows() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let (row, matrix) = (array(double()), array(array(double())));
    let f = w.declare("f(_:_:_:)", &[("m", matrix.clone()), ("i", integer()), ("j", integer())], Type::unit());
    let inner = w.declare("closure in f", &[], Type::unit());
    w.define(inner, &[("var m", matrix.clone())], vec![]);
    w.capture(inner, &[(3, 0)]);
    let whole = place(3, matrix.clone());
    let at_row = at(whole, subscript(&a, row.clone(), get(1, integer())), row);
    let at_number = at(at_row, subscript(&a, double(), get(2, integer())), double());
    let closure = ExprKind::Closure { function: inner };
    w.define(
        f,
        &[("&var v", matrix.clone())],
        vec![init(3, get(0, matrix)), set(at_number, num(7.0)), run(e(closure, function_type(&[], Type::unit())))],
    );
    let run = lower(&mut w, f);
    let text = run.text();
    // Indices are checked first. Then the rows of the nested array are moved out one by one and back, and no reference
    // is left in a register.
    let expected = [
        "load box.r0",
        "load element.r0",
        "null",
        "check index",
        "null",
        "take box.r0",
        "take element.r0",
        "store element.f0",
        "store element.r0",
        "null",
        "store box.r0",
        "null",
    ];
    let mut from = 0;
    for step in expected {
        let place = text[from..].find(step).unwrap_or_else(|| panic!("`{step}` is missing in\n{text}"));
        from += place + step.len();
    }
}

#[test]
fn a_variable_that_a_closure_changes_lives_in_a_box() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let f = w.declare("f()", &[], double());
    let inner = w.declare("closure in f()", &[], Type::unit());
    let args = vec![Argument::InOut(place(0, double())), Argument::Value(num(1.0))];
    w.define(inner, &[("var n", double())], vec![run(call_with(callee(a.add_assign), args, Type::unit()))]);
    w.capture(inner, &[(0, 0)]);
    let closure = e(ExprKind::Closure { function: inner }, function_type(&[], Type::unit()));
    let calls = e(
        ExprKind::CallValue { function: Box::new(get(1, function_type(&[], Type::unit()))), args: vec![] },
        Type::unit(),
    );
    w.define(
        f,
        &[("&var n", double()), ("g", function_type(&[], Type::unit()))],
        vec![init(0, num(0.0)), init(1, closure), run(calls), ret(get(0, double()))],
    );
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f()() -> f
b0:
  %0 = 0.0
  %1·n = box %0
  %2·g = closure closure in f() %1
  call %2
  %3 = load box.f0 %1
  return %3
"
    );
    assert_eq!(
        run.of("closure in f()"),
        "func closure in f()() captures r
b0:
  %0·n = capture r0
  %1 = 1.0
  %2 = load box.f0 %0
  %2 = double.add %2, %1
  store box.f0 %0, %2
  return
"
    );
}

#[test]
fn a_local_function_that_is_called_directly_gets_what_it_captures_as_arguments() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let f = w.declare("f(_:)", &[("k", double())], double());
    let inner = w.declare("inner(_:)", &[("x", double())], double());
    let again = call(inner, vec![get(0, double())], double());
    w.define(inner, &[("k", double())], vec![ret(call(a.mul, vec![again, get(1, double())], double()))]);
    w.capture(inner, &[(0, 1)]);
    w.define(f, &[], vec![stmt(StmtKind::LocalFunction(inner)), ret(call(inner, vec![num(2.0)], double()))]);
    let run = lower(&mut w, f);
    assert!(run.text().contains("call inner(_:) %1, %0"), "{}", run.text());
    assert!(run.of("inner(_:)").contains("call inner(_:) %0, %1"), "{}", run.of("inner(_:)"));
}

#[test]
fn an_error_goes_to_the_catch_around_it() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let throws = w.declare("fails()", &[], double());
    w.edit(throws).throws = true;
    let error = e(ExprKind::Erase(Box::new(int(3))), any());
    w.define(throws, &[], vec![stmt(StmtKind::Throw(error))]);
    let f = w.declare("f()", &[], double());
    let attempt = e(
        ExprKind::Try { kind: crate::syntax::ast::TryKind::Propagate, value: Box::new(call(throws, vec![], double())) },
        double(),
    );
    let cases = vec![Case { patterns: vec![], body: vec![ret(num(2.0))], falls_through: false, span: SPAN }];
    w.define(
        f,
        &[("error", any())],
        vec![stmt(StmtKind::Catch { body: vec![ret(attempt)], local: LocalId(0), cases })],
    );
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f()() -> f
b0:
  %0, %1, %2 = call fails()
  branch %0 b1, b2
b1:
  %3·error = take %1
  %4 = 2.0
  return %4
b2:
  return %2
"
    );
    assert!(run.of("fails()").contains("-> i r f"), "{}", run.of("fails()"));
}

#[test]
fn a_type_that_contains_itself_is_boxed() {
    let mut w = TestDeclarations::new();
    let tree = w.next_type();
    let tree = w.enumeration("Tree", &[("leaf", vec![double()]), ("node", vec![tree.clone(), tree])]);
    let f = w.declare("f(_:)", &[("t", tree.clone())], double());
    let leaf = PatternKind::Case { case: 0, payload: vec![bind(2, double())] };
    let case = |patterns, body| Case { patterns, body, falls_through: false, span: SPAN };
    let switch = StmtKind::Switch {
        label: LabelId(0),
        local: LocalId(1),
        subject: get(0, tree.clone()),
        cases: vec![
            case(vec![(pattern(leaf, tree.clone()), None)], vec![ret(get(2, double()))]),
            case(vec![], vec![ret(num(0.0))]),
        ],
    };
    w.define(f, &[("it", tree), ("x", double())], vec![stmt(switch)]);
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f(_:)(t: %0) -> f
b0:
  %1 = load record.i0 %0
  %2 = load record.f0 %0
  %3 = 0
  %4 = int.eq %1, %3
  branch %4 b1, b2
b1:
  return %2
b2:
  %5 = 0.0
  return %5
"
    );
    let shapes = &run.program.shapes;
    let shape = run.program.function(run.id).unwrap().parameters[0].shape;
    let Shape::Boxed(inner) = shapes.get(shape) else { panic!("not boxed") };
    let Shape::Enum { cases, .. } = shapes.get(*inner) else { panic!("not an enum") };
    assert_eq!(cases[1].payload.iter().map(|p| p.1).collect::<Vec<_>>(), vec![shape, shape]);
}

#[test]
fn what_is_deferred_runs_on_every_way_out() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let f = w.declare("f(_:)", &[("&x", double())], double());
    let args = |n: f64| vec![Argument::InOut(place(0, double())), Argument::Value(num(n))];
    let later = |n: f64| stmt(StmtKind::Defer(vec![run(call_with(callee(a.add_assign), args(n), Type::unit()))]));
    w.define(f, &[], vec![later(1.0), later(2.0), ret(get(0, double()))]);
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f(_:)(x: %0) -> f f
b0:
  %1 = copy %0
  %2 = 2.0
  %0·x = double.add %0, %2
  %3 = 1.0
  %0·x = double.add %0, %3
  return %1, %0
"
    );
}

#[test]
fn a_requirement_is_the_one_of_the_concrete_type() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let t = Type::Param(T);
    let twice = w.declare("twice(_:)", &[("x", t.clone())], t.clone());
    w.edit(twice).generics = vec![T];
    let add = Callee::Requirement { protocol: ProtocolId(0), requirement: 1, self_type: t.clone(), generics: vec![] };
    let x = || Argument::Value(get(0, t.clone()));
    w.define(twice, &[], vec![ret(call_with(add, vec![x(), x()], t.clone()))]);
    w.witnesses.push((ProtocolId(0), 1, double(), FunctionRef { function: a.add, generics: vec![] }));
    let f = w.declare("f()", &[], double());
    let call = call_with(generic(twice, &[double()]), vec![Argument::Value(num(1.0))], double());
    w.define(f, &[], vec![ret(call)]);
    let run = lower(&mut w, f);
    assert!(run.of("twice(_:)").contains("%1 = double.add %0, %0"), "{}", run.of("twice(_:)"));
}

#[test]
fn variables_of_a_script_are_registers_unless_functions_use_them() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let own = w.variable("own", double(), false);
    let shared = w.variable("shared", double(), true);
    let main = w.declare("‹script›", &[], double());
    let init = |global, x| stmt(StmtKind::InitGlobal { global, value: num(x) });
    let last = run(e(ExprKind::Global(own), double()));
    let statements = vec![init(own, 1.0), init(shared, 2.0), last];
    w.define(main, &[], statements);
    let run = script(&mut w, main);
    assert_eq!(
        run.text(),
        "func ‹script›() -> f\nb0:\n  %0·own = 1.0\n  %1 = 2.0\n  store global.f0 %1\n  return %0\n"
    );
    assert_eq!(run.program.globals, [1, 0, 0]);
    assert!(run.lowering.unsupported.is_empty());
}

#[test]
fn a_static_property_is_computed_when_it_is_first_read() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let initial = w.declare("initial", &[], double());
    w.define(initial, &[], vec![ret(num(3.0))]);
    let constant = w.constant("c", double(), initial);
    let f = w.declare("f()", &[], double());
    w.define(f, &[], vec![ret(e(ExprKind::Global(constant), double()))]);
    let run = lower(&mut w, f);
    assert_eq!(
        run.text(),
        "func f()() -> f
b0:
  %0 = load global.i0
  branch %0 b2, b1
b1:
  call initial value of c
  jump b2
b2:
  %1 = load global.f0
  return %1
"
    );
}

#[test]
fn a_condition_is_tested_at_the_end_of_a_loop() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let f = w.declare("f()", &[], double());
    let test = Condition::Bool(call(a.less, vec![get(0, double()), num(9.0)], boolean()));
    let args = vec![Argument::InOut(place(0, double())), Argument::Value(num(1.0))];
    let body = vec![run(call_with(callee(a.add_assign), args, Type::unit()))];
    let steps = stmt(StmtKind::While { label: LabelId(0), conditions: vec![test], body });
    w.define(f, &[("var x", double())], vec![init(0, num(0.0)), steps, ret(get(0, double()))]);
    let text = lower(&mut w, f).text();
    assert_eq!(text.matches("double.lt").count(), 2, "{text}");
    assert!(!text.contains("jump"), "{text}");
}

#[test]
fn an_exchange_reads_before_it_writes() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let swap = w.declare("swap(_:_:)", &[("&a", double()), ("&b", double())], Type::unit());
    w.edit(swap).is_prelude = true;
    let body = vec![
        init(2, get(0, double())),
        set(place(0, double()), get(1, double())),
        set(place(1, double()), get(2, double())),
    ];
    w.define(swap, &[("kept", double())], body);
    let f = w.declare("f(_:_:)", &[("&x", double()), ("&y", double())], Type::unit());
    let args = vec![Argument::InOut(place(0, double())), Argument::InOut(place(1, double()))];
    w.define(f, &[], vec![run(call_with(callee(swap), args, Type::unit()))]);
    let text = lower(&mut w, f).text();
    assert_eq!(
        text,
        "func f(_:_:)(x: %0, y: %1) -> f f\nb0:\n  %2 = copy %0\n  %0·x = copy %1\n  %1·y = copy %2\n  return %0, %1\n"
    );
}

#[test]
fn an_array_that_is_passed_inout_is_moved() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let f = w.declare("f(_:)", &[("&xs", array(double()))], Type::unit());
    let g = w.declare("g(_:)", &[("&xs", array(double()))], Type::unit());
    w.define(g, &[], vec![run(e(ExprKind::Error, Type::unit()))]);
    let args = vec![Argument::InOut(place(0, array(double())))];
    w.define(f, &[], vec![run(call_with(callee(g), args, Type::unit()))]);
    let run = lower(&mut w, f);
    assert_eq!(run.text(), "func f(_:)(xs: %0) -> r\nb0:\n  %1 = take %0\n  %0·xs = call g(_:) %1\n  return %0\n");
    let g = run.program.function(run.id).unwrap();
    assert!(g.blocks[0].instructions.iter().any(|i| i.op == Op::Take));
}

#[test]
fn a_property_of_an_instance_is_changed_through_its_reference() {
    let mut w = TestDeclarations::new();
    let a = arithmetic(&mut w);
    let cell = w.structure("Cell", &[("n", double())]);
    w.make_class(&cell);
    let f = w.declare("f(_:)", &[("c", cell.clone())], Type::unit());
    let root = Place { root: Root::Value(Box::new(get(0, cell.clone()))), path: vec![], ty: cell, span: SPAN };
    let args = vec![Argument::InOut(at(root, ProjectionKind::Field(0), double())), Argument::Value(num(1.0))];
    w.define(f, &[], vec![run(call_with(callee(a.add_assign), args, Type::unit()))]);
    let text = lower(&mut w, f).text();
    assert!(text.contains("load box.f0 %0") && text.contains("store box.f0 %0"), "{text}");
}

#[test]
fn in_a_session_a_global_keeps_its_array_while_a_function_that_may_fail_changes_it() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let xs = w.variable("xs", array(double()), false);
    let g = w.declare("g(_:)", &[("&xs", array(double()))], Type::unit());
    w.define(g, &[], vec![run(e(ExprKind::Error, Type::unit()))]);
    let main = w.declare("‹script›", &[], Type::unit());
    let whole = Place { root: Root::Global(xs), path: vec![], ty: array(double()), span: SPAN };
    let change = call_with(callee(g), vec![Argument::InOut(whole)], Type::unit());
    w.define(main, &[], vec![run(change)]);
    let mut texts = vec![];
    for interactive in [false, true] {
        let mut lowering = Lowering::new();
        lowering.set_interactive(interactive);
        let mut program = Program::default();
        let id = lowering.script(&mut w, &mut program, main);
        texts.push(listing::function(&program, program.function(id).unwrap(), None));
    }
    assert!(texts[0].contains("take %0") && !texts[0].contains("global"), "{}", texts[0]);
    assert!(texts[1].contains("load global.r0") && !texts[1].contains("take global"), "{}", texts[1]);
}

#[test]
fn alternatives_bind_the_same_registers() {
    let mut w = TestDeclarations::new();
    arithmetic(&mut w);
    let either = w.enumeration("Either", &[("a", vec![double()]), ("b", vec![integer(), double()])]);
    let f = w.declare("f(_:)", &[("e", either.clone())], double());
    let first = PatternKind::Case { case: 0, payload: vec![bind(2, double())] };
    let second =
        PatternKind::Case { case: 1, payload: vec![pattern(PatternKind::Wildcard, integer()), bind(2, double())] };
    let patterns = vec![(pattern(first, either.clone()), None), (pattern(second, either.clone()), None)];
    let case = Case { patterns, body: vec![ret(get(2, double()))], falls_through: false, span: SPAN };
    let switch =
        StmtKind::Switch { label: LabelId(0), local: LocalId(1), subject: get(0, either.clone()), cases: vec![case] };
    w.define(f, &[("it", either), ("x", double())], vec![stmt(switch)]);
    let text = lower(&mut w, f).text();
    // Both cases of the enum store their number in the only `f` component.
    assert_eq!(text.matches("·x = copy %1").count(), 2, "{text}");
    assert_eq!(text.matches("trap unreachable").count(), 1, "{text}");
}
