//! New command: creates a first program, `dscript new NAME`.

use super::super::exit_status;
use super::super::output::{Output, report};
use std::io::{ErrorKind, Write};
use std::path::Path;

const PROGRAM: &str = "\
// What this program is for.

f(x) = x^3 - 2x

print(\"f(2) is \\(f(2)), and its derivative there \\(f'(2))\")

test \"the derivative of f\" {
    expect(f'(2), equals: 10)
}
";

/// Writes a program with a test to a new file.
pub(super) fn new(name: &Path) -> i32 {
    let file = if name.extension().is_some() { name.to_path_buf() } else { name.with_extension("dscript") };
    let shown = file.display();
    let written = std::fs::File::create_new(&file).and_then(|mut new| new.write_all(PROGRAM.as_bytes()));
    match written {
        Ok(()) => {
            let output = Output::stdout();
            output.write_or_end(&format!(
                "created {shown}; run it with 'dscript {shown}', test it with 'dscript test {shown}'\n"
            ));
            output.flush_or_end();
            exit_status::DONE
        }
        Err(error) => {
            let reason = match error.kind() {
                ErrorKind::AlreadyExists => "it already exists".to_owned(),
                _ => error.to_string(),
            };
            report(&format!("dscript: cannot write '{shown}': {reason}\n"));
            exit_status::USAGE
        }
    }
}
