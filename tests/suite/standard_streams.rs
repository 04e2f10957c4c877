//! Tests of the standard streams: closed ones, full devices and pipes that nothing reads.
#![cfg(unix)]

use crate::harness::command;
use crate::harness::folder::Folder;

/// Runs a command with its standard output redirected by the shell; returns its status and standard error.
fn redirected(folder: &Folder, words: &str, to: &str) -> (Option<i32>, String) {
    let binary = command().get_program().to_string_lossy().into_owned();
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("echo 'print(1 + 1)' | '{binary}' {words} {to}")])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Commands that write to standard output.
const WRITING: &[&str] = &[
    "",
    "a.dscript",
    "run a.dscript",
    "run -",
    "-e 'print(1)'",
    "-e '1 + 1'",
    "-e 'print(1); print(2, terminator: \"\")'",
    "-e 'for i in 0..<100_000 { print(i) }'",
    "--json check a.dscript",
    "show --stage tree a.dscript",
    "show --stage code a.dscript",
    "--help",
    "run --help",
    "--version",
    "doc sin",
    "explain E0201",
    "completions bash",
    "test a.dscript",
    "lesson",
];

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    let folder = Folder::new("unwritable").with("a.dscript", "print(1)\nlet unused = 2\n");
    for words in WRITING {
        for (to, why) in [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")] {
            let (status, stderr) = redirected(&folder, words, to);
            assert_eq!(status, Some(1), "{words} {to}: {stderr}");
            assert!(stderr.contains("dscript: cannot write the output: "), "{words} {to}: {stderr}");
            assert!(stderr.contains(why), "{words} {to}: {stderr}");
        }
    }
}

#[test]
fn an_unused_standard_output_is_no_error() {
    let folder = Folder::new("unwritten").with("a.dscript", "print(1)\nlet unused = 2\n");
    for words in ["-e 'let a = 1; _ = a'", "check a.dscript", "build a.dscript"] {
        for to in [">&-", ">/dev/full"] {
            assert_eq!(redirected(&folder, words, to).0, Some(0), "{words} {to}");
        }
    }
    for words in WRITING {
        assert_eq!(redirected(&folder, words, ">/dev/null").0, Some(0), "{words}");
        // The reader of the pipe reads only the first line, or nothing.
        let (_, stderr) = redirected(&folder, words, "| head -n 1 >/dev/null");
        assert!(!stderr.contains("cannot write"), "{words}: {stderr}");
        let (status, stderr) = redirected(&folder, words, ">&2 2>&-");
        assert_eq!((status, stderr.is_empty()), (Some(0), false), "{words}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_does_not_take_the_number_of_a_closed_stream() {
    // The folder that is listed is open meanwhile, with the first free number.
    let folder = Folder::new("closed").with("a.dscript", "printError(listDirectory(\"/proc/self/fd\"))\n");
    for to in ["", ">&-", "<&- >&-"] {
        let (status, open) = redirected(&folder, "run --allow-read=/proc a.dscript", to);
        assert_eq!(status, Some(0), "{to}");
        for number in 0..=3 {
            assert!(open.contains(&format!("\"{number}\"")), "{to}: {open}");
        }
    }
}
