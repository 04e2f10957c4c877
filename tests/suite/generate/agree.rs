//! Checks of random programs: all mechanisms of differentiation agree, with one another and with finite differences.
//!
//! A program is run from source. At each point it prints, in lines that begin with the order of the derivative:
//! - the value, computed by plain code, adjoint code, derivative code and forward mode;
//! - the first derivative by `gradient` (adjoint code if there is any, otherwise a tape), by `derivative` (tangent code or
//!   slots), and by stored pullbacks and differentials (a tape, recorded by linearization code if there is any, and with slots for
//!   a function that is only known at run time) that are called several times, also inside other levels;
//! - for two numbers, the Jacobian of several results by one reverse pass for all rows;
//! - the second and third derivative by forward and reverse mode, nested in different orders;
//! - six values around the point, from which [`compare`] computes central differences with two steps of Richardson extrapolation.
//!
//! Then [`Course::compiled`] builds a file of [`TOGETHER`] programs and runs it: its output must equal that of the source.
//! There is no sampling: each program is evaluated in all of these ways.

use super::{Program, render};
use crate::sink::Sink;
use dscript::session::{CompileMode, Input, Options, Outcome, Session, Status};
use std::cell::{Cell, RefCell};

/// The points of differentiation: their sums and differences are finer than the constants in the programs, so that no point
/// is exactly at a kink.
const POINTS: &[(f64, f64)] = &[(0.31640625, -0.8271484375), (-1.18359375, 0.4443359375)];

/// The step of the differences. They are computed with this step, half of it and a quarter of it, so that their error can be
/// estimated. `common.dscript` computes them with the same step.
const STEP: f64 = 1.0 / 1024.0;

/// The queries about a function: its number of parameters, and a function `ask` that prints the results at a point.
pub struct Questions {
    arity: usize,
    declarations: &'static str,
}

/// The queries about functions of one number, up to third order.
pub const ONE_NUMBER: Questions = Questions {
    arity: 1,
    declarations: "\
func d1(_ x: Double) -> Double { derivative(at: x, in: f) }
func g1(_ x: Double) -> Double { gradient(at: x, in: f) }
func d2(_ x: Double) -> Double { derivative(at: x, in: g1) }
func g2(_ x: Double) -> Double { gradient(at: x, in: d1) }
func ask(_ x: Double) {
    let (value, slope) = valueWithGradient(at: x, in: f)
    let (valueThere, back) = valueWithPullback(at: x, in: f)
    let (valueForth, forth) = valueWithDifferential(at: x, in: f)
    let unknown = Unknown(f)
    let slots = pullback(at: x) { x in unknown.function(x) }
    print(0, f(x), value, valueThere, valueForth)
    print(1, gradient(at: x, in: f), derivative(at: x, in: f), slope, back(1), forth(1), slots(1),
          back(0.25) + back(0.75), derivative(at: 0.5) { s in back(s * s) }, gradient(at: 0.5) { s in forth(s * s) }, differences(x, f))
    print(2, derivative(at: x, in: d1), gradient(at: x, in: d1),
          derivative(at: x, in: g1), gradient(at: x, in: g1), differences(x, d1))
    print(3, derivative(at: x, in: d2), gradient(at: x, in: d2),
          derivative(at: x, in: g2), gradient(at: x, in: g2), differences(x, d2))
}
",
};

/// The queries about functions of two numbers, up to second order.
pub const TWO_NUMBERS: Questions = Questions {
    arity: 2,
    declarations: "\
func fx(_ x: Double, _ y: Double) -> Double { derivative(at: x) { x in f(x, y) } }
func gx(_ x: Double, _ y: Double) -> Double { gradient(at: x, y, in: f).0 }
func ask(_ x: Double, _ y: Double) {
    let (value, slopes) = valueWithGradient(at: x, y, in: f)
    let (valueThere, back) = valueWithPullback(at: x, y, in: f)
    let forth = differential(at: x, y, in: f)
    let unknown = UnknownOfTwo(f)
    let slots = pullback(at: x, y) { x, y in unknown.function(x, y) }
    let mixed = gradient(at: x, y, in: fx)
    let again = gradient(at: x, y, in: gx)
    let matrix = hessian(at: x, y, in: f)
    let rows = jacobian(at: x, y) { x, y in [f(x, y), x * f(x, y)] }
    print(0, f(x, y), value, valueThere)
    print(1, slopes.0, fx(x, y), back(1).0, forth(1, 0), slots(1).0, gradient(at: x) { x in f(x, y) },
          rows[0][0], (rows[1][0] - value) / x, differences(x) { x in f(x, y) })
    print(1, slopes.1, derivative(at: y) { y in f(x, y) }, back(0.5).1 * 2, forth(0, 1),
          rows[0][1], rows[1][1] / x, differences(y) { y in f(x, y) })
    print(1, slopes.0 + slopes.1, derivative(at: x, y, in: f), forth(1, 1), derivative(at: 0.5) { s in back(s * s).0 + back(s).1 },
          differences(0) { d in f(x + d, y + d) })
    print(2, mixed.0, again.0, matrix[0][0], derivative(at: x) { x in gx(x, y) }, differences(x) { x in gx(x, y) })
    print(2, mixed.1, again.1, matrix[0][1], matrix[1][0], derivative(at: y) { y in gx(x, y) }, differences(y) { y in gx(x, y) })
}
",
};

/// The numbers of comparisons, which show that the test is effective.
#[derive(Default)]
pub struct Tally {
    /// The number of derivatives that were compared with finite differences.
    pub compared: Cell<u64>,
    /// The number of derivatives that are too close to a kink.
    pub skipped: Cell<u64>,
}

/// Returns a program with its queries.
pub fn script(program: &Program, questions: &Questions) -> String {
    let mut text = render::program(program, questions.arity) + questions.declarations;
    for (x, y) in POINTS {
        text += &match questions.arity {
            1 => format!("ask({x:?})\n"),
            _ => format!("ask({x:?}, {y:?})\n"),
        };
    }
    text
}

/// Returns a script without the common declarations.
pub fn own(script: &str) -> &str {
    script.strip_prefix(render::COMMON).unwrap_or(script)
}

/// The kind of a failure; a reduced program must fail in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// It does not compile, or does not run to its end.
    Stopped,
    /// Its values, modes or differences disagree.
    Wrong,
    /// The compiled program behaves differently from the source.
    Compiled,
    /// Machine code computes other numbers than the interpreter.
    MachineCode,
}

/// A failure and its description.
type Why = (Failure, String);

/// A program that was run from source, and its output.
pub struct Answered {
    /// Its declarations and queries, with unique names.
    text: String,
    output: String,
}

/// A sequence of programs in one session, which compiles the common declarations once.
pub struct Course {
    options: Options,
    running: RefCell<Option<Running>>,
    /// The same programs, all of whose functions are compiled to machine code.
    in_machine_code: RefCell<Option<Running>>,
}

struct Running {
    session: Session,
    sink: Sink,
    programs: usize,
}

/// The number of programs that share a session and a compiled file.
pub const TOGETHER: usize = 50;

impl Course {
    /// Creates a sequence in which each session has these options.
    pub fn new(options: Options) -> Course {
        Course { options, running: RefCell::default(), in_machine_code: RefCell::default() }
    }

    /// Runs a script after the previous ones, and checks its output.
    ///
    /// # Errors
    /// Returns the disagreement.
    pub fn agree(&self, text: &str, tally: &Tally) -> Result<Answered, Why> {
        let stopped = |why| (Failure::Stopped, why);
        let mut running = match self.running.take() {
            Some(running) => running,
            None => {
                // The programs are numbered from 1 again, so their names must be new in both sessions.
                self.in_machine_code.take();
                Running::begin(self.options.clone()).map_err(stopped)?
            }
        };
        running.programs += 1;
        let text = numbered(own(text), running.programs);
        let output = running.ask(&text).map_err(stopped)?;
        let forced = self.in_machine_code(&text)?;
        if forced != output {
            return Err((Failure::MachineCode, format!("interpreted:\n{output}\nin machine code:\n{forced}")));
        }
        let lines = output.lines().try_for_each(|line| compare(line, tally).map_err(|why| format!("{why}: {line}")));
        lines.map_err(|why| (Failure::Wrong, why))?;
        self.running.replace(Some(running));
        Ok(Answered { text, output })
    }

    /// Runs a text in machine code, after the previous ones; returns the output.
    fn in_machine_code(&self, text: &str) -> Result<String, Why> {
        let wrong = |why| (Failure::MachineCode, why);
        let mut running = match self.in_machine_code.take() {
            Some(running) => running,
            None => {
                let options = Options { compiled: CompileMode::Always, ..self.options.clone() };
                Running::begin(options).map_err(wrong)?
            }
        };
        let output = running.ask(text).map_err(wrong)?;
        self.in_machine_code.replace(Some(running));
        Ok(output)
    }

    /// Builds a file with the queries of the programs of the current session, runs it, and compares the output. The next
    /// program begins another session.
    ///
    /// # Errors
    /// Returns the first program whose output differs.
    pub fn compiled(&self, programs: &[Answered]) -> Result<(), (usize, Why)> {
        self.in_machine_code.take();
        let Some(mut running) = self.running.take() else { return Ok(()) };
        let asks: String = programs.iter().map(Answered::asks).collect();
        let Err((k, why)) = self.image(&mut running.session, &asks, programs) else { return Ok(()) };
        // Any of the programs may stop the file, so each is also built separately from its complete text.
        let alone = programs.iter().enumerate().find_map(|(k, program)| {
            let mut session = Session::new(self.options.clone(), Box::new(Sink::default()));
            let text = format!("{}{}print(\"end\")\n", render::COMMON, program.text);
            Some((k, self.image(&mut session, &text, std::slice::from_ref(program)).err()?.1))
        });
        let (k, why) = alone.unwrap_or_else(|| (k, format!("only together with others: {why}")));
        Err((k, (Failure::Compiled, why)))
    }

    /// Builds a file from a text and runs it in a new session; returns the first difference from the output of the programs.
    fn image(&self, session: &mut Session, text: &str, programs: &[Answered]) -> Result<(), (usize, String)> {
        let built = session.build(&[Input { name: "random.dscript", text }]);
        let (bytes, _) = built.map_err(|outcome| (0, stopped(&outcome)))?;
        let sink = Sink::default();
        let outcome = Session::new(self.options.clone(), Box::new(sink.clone())).run_compiled("random.dsc", &bytes);
        let printed = String::from_utf8_lossy(&sink.0.borrow()).into_owned();
        let outputs: Vec<&str> = printed.split("end\n").collect();
        for (k, program) in programs.iter().enumerate() {
            let output = outputs.get(k).copied().unwrap_or_default();
            same(&program.output, output).map_err(|why| (k, format!("{why}\n{}", stopped(&outcome))))?;
        }
        Ok(())
    }
}

impl Answered {
    /// Returns the calls of its queries.
    fn asks(&self) -> String {
        let asks = self.text.lines().filter(|line| line.starts_with("ask_"));
        asks.chain(["print(\"end\")"]).map(|line| format!("{line}\n")).collect()
    }
}

fn stopped(outcome: &Outcome) -> String {
    let said: Vec<String> = outcome.diagnostics.iter().map(|d| d.message.clone()).collect();
    format!("{:?}: {}", outcome.status, said.join("; "))
}

/// Appends a number to the names of all functions, because repeated declarations would be ambiguous.
fn numbered(text: &str, number: usize) -> String {
    let declared = |line: &str| line.strip_prefix("func ")?.split('(').next().map(str::to_string);
    let names: Vec<String> = text.lines().filter_map(declared).collect();
    let mut out = String::with_capacity(2 * text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        out += word;
        if names.iter().any(|name| name == word) {
            out += &format!("_{number}");
        }
        rest = behind;
    }
    out
}

impl Running {
    fn begin(options: Options) -> Result<Running, String> {
        let sink = Sink::default();
        let mut running = Running { session: Session::new(options, Box::new(sink.clone())), sink, programs: 0 };
        running.ask(render::COMMON)?;
        Ok(running)
    }

    fn ask(&mut self, text: &str) -> Result<String, String> {
        let outcome = self.session.run(&[Input { name: "random.dscript", text }]);
        let bytes = std::mem::take(&mut *self.sink.0.borrow_mut());
        if outcome.status != Status::Done {
            return Err(stopped(&outcome));
        }
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }
}

/// Returns the tolerance for rounding errors: it increases with the order of the derivative, because the modes differ in the
/// order of additions.
fn rounding(order: f64) -> f64 {
    1e-11 * 100f64.powf((order - 1.0).max(0.0))
}

fn numbers(line: &str) -> Result<Vec<f64>, String> {
    let numbers: Result<Vec<f64>, _> = line.split(' ').map(str::parse).collect();
    numbers.map_err(|e| format!("not a number ({e})"))
}

/// Checks that the output of a compiled program equals that of its source.
fn same(source: &str, compiled: &str) -> Result<(), String> {
    let mut lines = compiled.lines();
    for line in source.lines() {
        let other = lines.next().ok_or_else(|| format!("the compiled program ends before: {line}"))?;
        let (a, b) = (numbers(line)?, numbers(other)?);
        let scale = 1.0 + a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let tolerance = rounding(a[0]) * scale;
        if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| (a - b).abs() > tolerance || b.is_nan()) {
            return Err(format!("the compiled program differs:\n{line}\n{other}"));
        }
    }
    Ok(())
}

/// Checks a line: the order, the derivative in several modes, and six values for the differences; order 0 has only values.
fn compare(line: &str, tally: &Tally) -> Result<(), String> {
    let numbers = numbers(line)?;
    let [order, rest @ ..] = &numbers[..] else { return Err("nothing printed".into()) };
    let split = if *order == 0.0 { Some((rest, &[0.0; 6])) } else { rest.split_last_chunk::<6>() };
    let Some((modes, values)) = split else {
        return Err("too few numbers".into());
    };
    let Some(first) = modes.first().filter(|m| m.is_finite()) else { return Err("not a finite derivative".into()) };
    let scale = 1.0 + modes.iter().fold(values[0].abs(), |a, m| a.max(m.abs()));
    if modes.iter().any(|mode| (mode - first).abs() > rounding(*order) * scale || mode.is_nan()) {
        return Err("the modes disagree".into());
    }
    if *order == 0.0 {
        return Ok(());
    }
    let slope = |k: usize| (values[2 * k] - values[2 * k + 1]) / (2.0 * STEP / f64::from(1 << k));
    let (whole, half, quarter) = (slope(0), slope(1), slope(2));
    // Halving the step reduces the error to a quarter for a smooth function, but not near a kink or jump.
    let doubt = (quarter - half).abs();
    // Only the differences determine the size of the derivative, so that an excessive derivative cannot raise the tolerance.
    let size = 1.0 + values[0].abs() + quarter.abs();
    if !doubt.is_finite() || doubt > 0.29 * (half - whole).abs() + 1e-9 * scale || doubt > 5e-3 * size {
        tally.skipped.set(tally.skipped.get() + 1);
        return Ok(());
    }
    tally.compared.set(tally.compared.get() + 1);
    // Richardson extrapolation eliminates the error terms of second, then of fourth order in the step.
    let (coarse, fine) = ((4.0 * half - whole) / 3.0, (4.0 * quarter - half) / 3.0);
    let estimate = (16.0 * fine - coarse) / 15.0;
    if (first - estimate).abs() > 16.0 * (estimate - fine).abs() + 1e-7 * scale {
        return Err(format!("the derivative is not the difference {estimate}"));
    }
    Ok(())
}
