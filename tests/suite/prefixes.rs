//! Tests of incomplete programs: every prefix of every golden program is checked without a panic.
//!
//! By default only some prefixes are tested; `DSCRIPT_EVERY_PREFIX=1` tests all.

use crate::harness::{all, files, root, short};
use dscript::session::{Input, Options, Session, Status};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The number of tested prefixes of a program.
const TRIED: usize = 1;

/// The name of the threads whose panics are caught.
const QUIET: &str = "prefix";

/// The stack size of the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

#[test]
fn no_prefix_of_a_program_panics() {
    let mut paths = files(&root().join("tests"), &["dscript"]);
    paths.extend(files(&root().join("scripts"), &["dscript"]));
    let every = std::env::var_os("DSCRIPT_EVERY_PREFIX").is_some();
    // A panic is reported later with its position in the program; the default message would not contain it.
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(QUIET) {
            loud(panic);
        }
    }));
    all(&paths, |path| {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", short(path)))?;
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        // Different files start at different offsets, so that together they cover most kinds of cuts.
        let (stride, start) = if every { (1, 0) } else { (ends.len().div_ceil(TRIED), short(path).len()) };
        let stride = stride.max(1);
        let ends: Vec<usize> = ends.into_iter().skip(start % stride).step_by(stride).collect();
        let checked = std::thread::Builder::new().name(QUIET.to_owned()).stack_size(STACK).spawn({
            let text = text.clone();
            move || ends.into_iter().find_map(|end| failure(&text[..end]).map(|why| (end, why)))
        });
        let worst = checked.map_err(|e| e.to_string())?.join().map_err(|_| format!("{}: a panic", short(path)))?;
        match worst {
            None => Ok(()),
            Some((end, why)) => {
                let line = text[..end].lines().count().max(1);
                Err(format!("{}: {why} when the text ends at byte {end}, in line {line}", short(path)))
            }
        }
    });
}

/// Returns the panic message when checking a text fails.
fn failure(text: &str) -> Option<String> {
    let checked = catch_unwind(AssertUnwindSafe(|| {
        let options = Options { timeout: Some(Duration::from_secs(20)), ..Options::default() };
        let mut session = Session::new(options, Box::new(std::io::sink()));
        let outcome = session.check(&[Input { name: "prefix.dscript", text }]);
        // Rendering must also handle positions at the end of a text.
        for form in [dscript::diagnostic::Form::Full, dscript::diagnostic::Form::Json] {
            dscript::diagnostic::render(&outcome.diagnostics, session.sources(), form, false, 100, false);
        }
        outcome.status
    }));
    match checked {
        Ok(Status::Done | Status::Rejected) => None,
        Ok(status) => Some(format!("status {status:?}")),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            Some(format!("panic `{}`", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?")))
        }
    }
}
