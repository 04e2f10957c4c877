//! Tests of the machine: interruption, time limits and speed.

use super::graph_builder::*;
use crate::diagnostic::Code as Number;
use crate::ir::*;
use crate::value::Components;
use crate::vm::FaultKind;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Builds the endless loop `while true {}`.
fn endless() -> Builder {
    let mut b = Builder::new("endless", &[], &[]);
    let head = b.block();
    b.end(Terminator::Jump(head));
    b.switch_to_block(head);
    b.end(Terminator::Jump(head));
    b
}

#[test]
fn an_endless_loop_can_be_interrupted() {
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![endless()]));
    let interrupt = machine.limits.interrupt.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        interrupt.store(true, Ordering::Relaxed);
    });
    let fault = machine.run(&mut program, 0, Components::default()).unwrap_err();
    other.join().unwrap();
    assert_eq!(fault.kind, FaultKind::Error(Number::Interrupted));
    // The machine can be used again after the interruption.
    machine.limits.interrupt.store(false, Ordering::Relaxed);
    machine.limits.steps = Some(100_000);
    assert_eq!(
        machine.run(&mut program, 0, Components::default()).unwrap_err().kind,
        FaultKind::Error(Number::StepLimit)
    );
}

#[test]
fn time_runs_out() {
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![endless()]));
    machine.limits.time = Some(Duration::from_millis(20));
    let start = Instant::now();
    assert_eq!(
        machine.run(&mut program, 0, Components::default()).unwrap_err().kind,
        FaultKind::Error(Number::TimeLimit)
    );
    assert!(start.elapsed() < Duration::from_millis(500));
}

/// Measures the speed of the loop: `cargo test --release --lib -- --ignored --nocapture speed`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![logistic(), fib(1)]));
    let mut measure = |name: &str, function: u32, f: &[f64], i: &[i64], instructions: f64, repeats: usize| {
        let mut best = f64::INFINITY;
        for _ in 0..repeats {
            let start = Instant::now();
            machine.run(&mut program, function, Components { f, slots: &[], i, r: &[] }).unwrap();
            best = best.min(start.elapsed().as_secs_f64());
        }
        eprintln!("{name}: {:.3} ms, {:.2} ns per instruction", best * 1e3, best * 1e9 / instructions);
    };
    measure("logistic map, 1,000,000 steps", 0, &[3.5, 0.3], &[1_000_000], 4e6, 50);
    measure("fib(27)", 1, &[], &[27], 832_040.0, 20);
    let start = Instant::now();
    let mut x = std::hint::black_box(0.3);
    for _ in 0..1_000_000 {
        x = std::hint::black_box(3.5) * x * (1.0 - x);
    }
    std::hint::black_box(x);
    eprintln!("in Rust: {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
}
