//! Format command: rewrites programs in the standard style, `dscript fmt`.

use super::super::output::{Output, report};
use super::super::{exit_status, process_guard};
use super::args::Settings;
use super::program_input::{self, Content};
use super::{program_search, render_style};
use crate::session::{Input, Session};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rewrites programs in the standard style, or lists the programs that would change.
pub(super) fn fmt(paths: &[PathBuf], is_check: bool, settings: &Settings) -> i32 {
    let is_stdin = matches!(paths, [only] if only.as_os_str() == "-");
    let files = if is_stdin { Ok(paths.to_vec()) } else { program_search::found(paths) };
    let files = match files {
        Ok(files) => files,
        Err(problem) => {
            report(&problem);
            return exit_status::USAGE;
        }
    };
    let options = settings.options(vec![String::new()], process_guard::interrupt());
    let session = Session::new(options, Box::new(std::io::sink()));
    let mut work = Work { session, settings, output: Output::stdout(), is_check };
    let worst = files.iter().map(|file| work.file(file)).max().unwrap_or(exit_status::DONE);
    work.output.flush_or_end();
    worst
}

struct Work<'a> {
    session: Session,
    settings: &'a Settings,
    output: Output,
    is_check: bool,
}

impl Work<'_> {
    /// Formats a file and returns the exit status for it; the command returns the highest one.
    fn file(&mut self, file: &Path) -> i32 {
        let program = match program_input::read(file) {
            Ok(program) => program,
            Err(reason) => return report_failure(&reason, exit_status::USAGE),
        };
        let name = &program.name;
        let Content::Text(text) = &program.content else {
            return report_failure(
                &format!("dscript: '{name}' is a compiled program, which cannot be formatted\n"),
                exit_status::USAGE,
            );
        };
        let formatted = match self.session.formatted(Input { name, text }) {
            Ok(formatted) => formatted,
            Err(outcome) => {
                let text = render_style(self.settings).text(&outcome.diagnostics, &self.session);
                return report_failure(&text, exit_status::of(outcome.status));
            }
        };
        let is_stdin = file.as_os_str() == "-";
        match (self.is_check, formatted == *text) {
            (true, false) => {
                self.output.write_or_end(&format!("{name}\n"));
                exit_status::DENIED
            }
            (false, _) if is_stdin => {
                self.output.write_or_end(&formatted);
                exit_status::DONE
            }
            (false, false) => match replace(file, &formatted) {
                Ok(()) => exit_status::DONE,
                Err(error) => report_failure(&format!("dscript: cannot write '{name}': {error}\n"), exit_status::USAGE),
            },
            (_, true) => exit_status::DONE,
        }
    }
}

fn report_failure(text: &str, status: i32) -> i32 {
    report(text);
    status
}

/// Replaces the text of a file atomically. Symbolic links and permissions are preserved.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let file = file.canonicalize()?;
    let permissions = std::fs::metadata(&file)?.permissions();
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = file.with_file_name(name);
    let written = std::fs::File::create_new(&beside).and_then(|mut new| {
        new.write_all(text.as_bytes())?;
        new.set_permissions(permissions)?;
        new.sync_all()
    });
    let replaced = written.and_then(|()| std::fs::rename(&beside, &file));
    if replaced.is_err() {
        drop(std::fs::remove_file(&beside));
    }
    replaced
}
