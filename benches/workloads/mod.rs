//! The measured programs, each with the same computation in Rust, written by hand.

mod adbench;
mod by_hand;
pub mod gradients;
mod simulations;
#[path = "../../tests/suite/sink.rs"]
mod sink;
mod tape;

use dscript::session::{Input, Options, Session, Status};
use sink::Sink;
use std::fmt;

/// A program and its counterpart in Rust.
pub struct Workload {
    /// Its name in the tables.
    pub name: &'static str,
    program: &'static str,
    /// The arguments of the program, separated by spaces.
    pub arguments: &'static str,
    /// The number of repetitions in dscript, chosen so that one measurement takes some tenths of a second.
    pub count: usize,
    /// The number of repetitions in Rust.
    pub count_by_hand: usize,
    by_hand: fn(usize) -> f64,
    /// The maximum ratio, if one was set.
    pub target: Option<f64>,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! workload {
    ($name:literal, $file:literal, $arguments:literal, $count:literal, $by_hand_count:literal, $by_hand:expr, $target:expr) => {
        Workload {
            name: $name,
            program: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/programs/", $file, ".dscript")),
            arguments: $arguments,
            count: $count,
            count_by_hand: $by_hand_count,
            by_hand: $by_hand,
            target: $target,
        }
    };
}
use workload;

/// The workloads that are compared with hand-written Rust only.
pub const WORKLOADS: &[Workload] = &[
    workload!("logistic map, 1000 steps", "logistic", "", 20_000, 50_000, by_hand::logistic, Some(3.0)),
    workload!(
        "gradient of the logistic map",
        "logistic-gradient",
        "",
        4_000,
        20_000,
        by_hand::logistic_gradient,
        Some(6.0)
    ),
    workload!("nbody, 100 steps", "nbody", "", 300, 3_000, by_hand::nbody, None),
    workload!("fib(27)", "fib", "", 10, 50, by_hand::fib, None),
    workload!(
        "gradient of a pendulum, 20 steps",
        "pendulum-gradient",
        "",
        10_000,
        50_000,
        by_hand::pendulum_gradient,
        None
    ),
    workload!(
        "gradient over an array of 100",
        "squares-gradient",
        "100",
        50_000,
        500_000,
        by_hand::squares_gradient::<100>,
        None
    ),
    workload!(
        "gradient over an array of 10,000",
        "squares-gradient",
        "10000",
        500,
        10_000,
        by_hand::squares_gradient::<10_000>,
        None
    ),
    workload!(
        "gradient of Rosenbrock's function of 100",
        "rosenbrock-gradient",
        "",
        20_000,
        500_000,
        by_hand::rosenbrock_gradient,
        None
    ),
    workload!("tangent of the logistic map", "logistic-tangent", "", 4_000, 20_000, by_hand::logistic_tangent, None),
    workload!(
        "tangent of a pendulum, 20 steps",
        "pendulum-tangent",
        "",
        10_000,
        50_000,
        by_hand::pendulum_tangent,
        None
    ),
    workload!(
        "tangent over an array of 100",
        "squares-tangent",
        "100",
        50_000,
        500_000,
        by_hand::squares_tangent::<100>,
        None
    ),
];

/// The measurement of one run: seconds for one unit of work, and the result, for the comparison of both sides.
#[derive(Clone, Copy)]
pub struct Measured {
    /// Seconds.
    pub seconds: f64,
    /// The sum of the results.
    pub result: f64,
}

impl Workload {
    /// Compiles and runs the program. The work runs for a tenth of the time before the clock starts, so compilation is not
    /// measured, neither to bytecode nor to machine code.
    pub fn measure(&self, count: usize) -> Measured {
        self.measure_best(count, 1)
    }

    /// Compiles and runs the program, like [`measure`](Workload::measure), and returns the best of several repetitions.
    pub fn measure_best(&self, count: usize, repetitions: usize) -> Measured {
        let warm_up = (count * repetitions).div_ceil(10);
        let text = format!(
            "{}
var (result, best) = (work({warm_up}), Double.infinity)
for _ in 0..<{repetitions} {{
    let begin = clock()
    result = work({count})
    best = min(best, clock() - begin)
}}
print(best, result)
",
            self.program
        );
        let printed = self.run(&text);
        let mut numbers = printed.split_whitespace().map(|word| word.parse::<f64>());
        match (numbers.next(), numbers.next()) {
            (Some(Ok(seconds)), Some(Ok(result))) => Measured { seconds: seconds / count as f64, result },
            _ => panic!("{}: it printed {printed:?}", self.name),
        }
    }

    /// Runs a text with the program's argument, and returns its output.
    pub fn run(&self, text: &str) -> String {
        let printed = Sink::default();
        let arguments = std::iter::once(self.name).chain(self.arguments.split_whitespace()).map(String::from).collect();
        let options = Options { arguments, ..Options::default() };
        let mut session = Session::new(options, Box::new(printed.clone()));
        let outcome = session.run(&[Input { name: self.name, text }]);
        let said: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(outcome.status == Status::Done, "{}: {said:?}", self.name);
        String::from_utf8_lossy(&printed.0.borrow()).into_owned()
    }

    /// Returns the program, followed by one unit of work.
    pub fn text(&self) -> String {
        format!("{}\nprint(work(1))\n", self.program)
    }

    /// Runs the counterpart.
    pub fn measure_by_hand(&self, count: usize) -> Measured {
        let begin = std::time::Instant::now();
        let result = self.by_hand(count);
        Measured { seconds: begin.elapsed().as_secs_f64() / count as f64, result }
    }

    /// Returns the result of the counterpart.
    pub fn by_hand(&self, count: usize) -> f64 {
        (self.by_hand)(std::hint::black_box(count))
    }
}
