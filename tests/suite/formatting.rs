//! Tests of `dscript fmt` on badly formatted random programs: nothing is lost, the results are the same, and formatting is
//! idempotent. `DSCRIPT_CASES` sets the number of programs (40), `DSCRIPT_SEED` the seed, which is printed.

use crate::generate::{self, render};
use crate::sink::Sink;
use dscript::session::{Input, Options, Session, Status};
use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::time::{SystemTime, UNIX_EPOCH};

/// The changes to the lines of a program, applied cyclically.
type Mess = Vec<u8>;

/// Returns a program with random comments and blanks in its own part, after the common declarations.
fn messy(program: &str, mess: &Mess) -> String {
    let (common, own) = program.split_at(program.len() - own(program).len());
    let mut text = common.to_owned();
    for (k, line) in own.lines().enumerate() {
        let bare = line.trim();
        let number = k + 1;
        text += &match mess[k % mess.len()] {
            0 => format!("{line} // comment {number}\n"),
            1 => format!("{line}/* comment {number} */\n"),
            2 => format!("  // comment {number}\n{bare}\n"),
            3 => format!("{bare}   \n\n\n"),
            4 => format!("\t{line}\n"),
            5 => format!("/* comment\n   {number} */ {bare}\n"),
            6 => format!("/// comment {number}\n{line}// and more\n"),
            _ => format!("{line}\n"),
        };
    }
    text
}

fn own(program: &str) -> &str {
    generate::agree::own(program)
}

/// Returns all characters except white space.
fn substance(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn formatted(text: &str) -> Result<String, String> {
    let mut session = Session::new(Options::default(), Box::new(std::io::sink()));
    session.formatted(Input { name: "program", text }).map_err(|d| format!("not formatted: {d:?}\n\n{text}"))
}

/// Returns the output of a program.
fn printed(text: &str) -> Result<String, String> {
    let sink = Sink::default();
    let mut session = Session::new(Options::default(), Box::new(sink.clone()));
    let outcome = session.run(&[Input { name: "program", text }]);
    let printed = String::from_utf8_lossy(&sink.0.borrow()).into_owned();
    if outcome.status == Status::Done { Ok(printed) } else { Err(format!("{:?}\n\n{text}", outcome.diagnostics)) }
}

fn keeps_its_meaning(program: &str, mess: &Mess) -> Result<(), String> {
    let text = messy(program, mess);
    let once = formatted(&text)?;
    if substance(&once) != substance(&text) {
        return Err(format!("something was lost or added\n\n{text}\n--- formatted\n{once}"));
    }
    let twice = formatted(&once)?;
    if twice != once {
        return Err(format!("not the same when it is formatted again\n\n{once}\n--- again\n{twice}"));
    }
    let (before, after) = (printed(program)?, printed(&once)?);
    if before != after { Err(format!("{before} became {after}\n\n{text}\n--- formatted\n{once}")) } else { Ok(()) }
}

#[test]
fn random_programs_keep_their_meaning() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let seed = number("DSCRIPT_SEED").unwrap_or_else(now);
    let cases = number("DSCRIPT_CASES").unwrap_or(40) as u32;
    eprintln!("DSCRIPT_SEED={seed} DSCRIPT_CASES={cases}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 1000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&(generate::program(), vec(0..12_u8, 40)), |(program, mess)| {
        let text = render::program(&program, 1) + "print(f(0.31640625), f(-1.18359375))\n";
        keeps_its_meaning(&text, &mess).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, _)) => panic!("{why}\nDSCRIPT_SEED={seed}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}
