//! What is asked of random programs: forward mode, reverse mode and central differences agree, to the third order.

use super::sink::Sink;
use super::{Program, render};
use dscript::session::{Input, Options, Session, Status};
use std::cell::{Cell, RefCell};

/// Where the programs are differentiated: finer than the constants in them, and so are sum and difference of the two numbers,
/// so that none of them sits right on a kink.
const POINTS: &[(f64, f64)] = &[(0.31640625, -0.8271484375), (-1.18359375, 0.4443359375)];

/// The step of the differences. They are made with this step, with half and with a quarter of it, so that their error is
/// known. `common.dscript` makes them, with the same step.
const STEP: f64 = 1.0 / 1024.0;

/// What a function is asked: how many numbers it takes, and a function `ask` that prints the answers at a point.
pub struct Questions {
    arity: usize,
    declarations: &'static str,
}

/// Functions of one number, to the third order.
pub const ONE_NUMBER: Questions = Questions {
    arity: 1,
    declarations: "\
func d1(_ x: Double) -> Double { derivative(at: x, in: f) }
func g1(_ x: Double) -> Double { gradient(at: x, in: f) }
func d2(_ x: Double) -> Double { derivative(at: x, in: g1) }
func g2(_ x: Double) -> Double { gradient(at: x, in: d1) }
func ask(_ x: Double) {
    print(1, derivative(at: x, in: f), gradient(at: x, in: f), pullback(at: x, in: f)(1), differences(x, f))
    print(2, derivative(at: x, in: d1), gradient(at: x, in: d1),
          derivative(at: x, in: g1), gradient(at: x, in: g1), differences(x, d1))
    print(3, derivative(at: x, in: d2), gradient(at: x, in: d2),
          derivative(at: x, in: g2), gradient(at: x, in: g2), differences(x, d2))
}
",
};

/// Functions of two numbers, to the second order.
pub const TWO_NUMBERS: Questions = Questions {
    arity: 2,
    declarations: "\
func fx(_ x: Double, _ y: Double) -> Double { derivative(at: x) { x in f(x, y) } }
func gx(_ x: Double, _ y: Double) -> Double { gradient(at: x, y, in: f).0 }
func ask(_ x: Double, _ y: Double) {
    let slopes = gradient(at: x, y, in: f)
    let mixed = gradient(at: x, y, in: fx)
    let again = gradient(at: x, y, in: gx)
    print(1, slopes.0, fx(x, y), pullback(at: x, y, in: f)(1).0, differences(x) { x in f(x, y) })
    print(1, slopes.1, derivative(at: y) { y in f(x, y) }, differences(y) { y in f(x, y) })
    print(1, slopes.0 + slopes.1, derivative(at: x, y, in: f), differences(0) { d in f(x + d, y + d) })
    print(2, mixed.0, again.0, derivative(at: x) { x in gx(x, y) }, differences(x) { x in gx(x, y) })
    print(2, mixed.1, again.1, derivative(at: y) { y in gx(x, y) }, differences(y) { y in gx(x, y) })
}
",
};

/// Counts of what was compared, to see that the test still tests something.
#[derive(Default)]
pub struct Tally {
    /// Derivatives that were compared with differences.
    pub compared: Cell<u64>,
    /// Those too close to a kink.
    pub skipped: Cell<u64>,
}

/// A program with what is asked of it.
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

/// A script without what every program may use.
pub fn own(script: &str) -> &str {
    script.strip_prefix(render::COMMON).unwrap_or(script)
}

/// Programs that follow one another in one session: what all of them use is compiled once.
pub struct Course {
    options: Options,
    running: RefCell<Option<Running>>,
}

struct Running {
    session: Session,
    sink: Sink,
    programs: u32,
}

/// How many programs a session is asked to run.
const TOGETHER: u32 = 50;

impl Course {
    /// A course in which each session has these options.
    pub fn new(options: Options) -> Course {
        Course { options, running: RefCell::default() }
    }

    /// Runs a script behind others; what it printed, or why it did not end well.
    fn run(&self, text: &str) -> Result<String, String> {
        let own = own(text);
        let mut running = match self.running.take().filter(|running| running.programs < TOGETHER) {
            Some(running) => running,
            None => Running::begin(self.options.clone())?,
        };
        running.programs += 1;
        let output = running.ask(&numbered(own, running.programs))?;
        self.running.replace(Some(running));
        Ok(output)
    }
}

/// A script whose functions have a number behind their names: what is declared twice would be ambiguous.
fn numbered(text: &str, number: u32) -> String {
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
            let said: Vec<String> = outcome.diagnostics.iter().map(|d| d.message.clone()).collect();
            return Err(format!("{:?}: {}", outcome.status, said.join("; ")));
        }
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }
}

/// Runs a script in a course, and compares what it printed.
///
/// # Errors
/// What does not agree.
pub fn agree(text: &str, course: &Course, tally: &Tally) -> Result<(), String> {
    let output = course.run(text)?;
    output.lines().try_for_each(|line| compare(line, tally).map_err(|why| format!("{why}: {line}")))
}

/// A line is the order, the derivative in several modes, and six values for the differences.
fn compare(line: &str, tally: &Tally) -> Result<(), String> {
    let numbers: Result<Vec<f64>, _> = line.split(' ').map(str::parse).collect();
    let numbers = numbers.map_err(|e| format!("not a number ({e})"))?;
    let [order, rest @ ..] = &numbers[..] else { return Err("nothing printed".into()) };
    let Some((modes, values)) = rest.split_last_chunk::<6>() else {
        return Err("too few numbers".into());
    };
    let Some(first) = modes.first().filter(|m| m.is_finite()) else { return Err("not a finite derivative".into()) };
    // Modes add up in different orders: rounding grows with the order, and with what cancels.
    let rounding = 1e-11 * 100f64.powf(order - 1.0);
    let scale = 1.0 + modes.iter().fold(values[0].abs(), |a, m| a.max(m.abs()));
    if modes.iter().any(|mode| (mode - first).abs() > rounding * scale || mode.is_nan()) {
        return Err("the modes disagree".into());
    }
    let slope = |k: usize| (values[2 * k] - values[2 * k + 1]) / (2.0 * STEP / f64::from(1 << k));
    let (whole, half, quarter) = (slope(0), slope(1), slope(2));
    // With half the step the error of a smooth function is a quarter; at a kink or jump nearby it is not.
    let (doubt, estimate) = ((quarter - half).abs(), (4.0 * quarter - half) / 3.0);
    if !estimate.is_finite() || doubt > 0.35 * (half - whole).abs() + 1e-9 * scale || doubt > 1e-2 * scale {
        tally.skipped.set(tally.skipped.get() + 1);
        return Ok(());
    }
    tally.compared.set(tally.compared.get() + 1);
    if (first - estimate).abs() > doubt + 1e-7 * scale {
        return Err(format!("the derivative is not the difference {estimate}"));
    }
    Ok(())
}
