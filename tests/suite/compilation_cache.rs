//! Tests of the compilation cache: a program that is run again has the same effects, and what is not cached is compiled.

use crate::harness::folder::{Folder, ended};
use crate::harness::{Finished, command};
use std::fs;
use std::path::PathBuf;

/// Runs the binary in a folder with a cache beside the programs.
fn run(folder: &Folder, arguments: &[&str]) -> Finished {
    let output = command()
        .args(arguments)
        .current_dir(&folder.0)
        .env("DSCRIPT_CACHE", folder.0.join("cache"))
        .output()
        .expect("the binary starts");
    Finished {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        status: output.status.code(),
        processor_time: Default::default(),
    }
}

fn entries(folder: &Folder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.0.join("cache")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn a_program_that_is_run_again_has_the_same_output() {
    let text = "\
struct Spring: Differentiable { var k = 2.0 }
func energy(_ s: Spring) -> Double { s.k * s.k / 2 }
print(gradient(at: Spring(), of: energy))
print(#file, #line, CommandLine.arguments.count, hessian(at: [1.0, 2.0]) { v in v[0] * v[1] * v[1] })
exit(Int32(CommandLine.arguments.count))
";
    let folder = Folder::new("cached").with("a.dscript", text);
    let first = run(&folder, &["a.dscript"]);
    assert_eq!(entries(&folder).len(), 1, "{}", first.stderr);
    let again = run(&folder, &["a.dscript"]);
    assert_eq!((&first.stdout, first.status), (&again.stdout, Some(1)));
    assert_eq!(again.status, Some(1));
    assert!(first.stdout.contains("TangentVector(k: 2.0)\na.dscript 4 1 "), "{}", first.stdout);
    assert_eq!(run(&folder, &["a.dscript", "--", "x"]).status, Some(2), "arguments are those of the run");
    assert_eq!(entries(&folder).len(), 1);
}

#[test]
fn a_changed_program_is_compiled() {
    let folder = Folder::new("changed").with("a.dscript", "print(1)\n");
    ended(&run(&folder, &["a.dscript"]), 0, "1\n");
    let folder = folder.with("a.dscript", "print(2)\n");
    ended(&run(&folder, &["a.dscript"]), 0, "2\n");
    ended(&run(&folder, &["a.dscript"]), 0, "2\n");
    assert_eq!(entries(&folder).len(), 2);
}

#[test]
fn errors_of_a_cached_program_show_its_text() {
    let text = "let all = [1, 2]\nprint(all[CommandLine.arguments.count])\n";
    let folder = Folder::new("failing").with("a.dscript", text);
    ended(&run(&folder, &["a.dscript"]), 0, "2\n");
    let (cached, compiled) =
        (run(&folder, &["a.dscript", "--", "x"]), run(&folder, &["--no-cache", "a.dscript", "--", "x"]));
    assert_eq!((cached.status, cached.stderr), (compiled.status, compiled.stderr.clone()));
    assert!(compiled.stderr.contains("print(all[CommandLine.arguments.count])"), "{}", compiled.stderr);
}

#[test]
fn what_depends_on_more_than_its_text_is_not_cached() {
    let folder = Folder::new("not-cached")
        .with("main.dscript", "import \"other.dscript\"\nprint(two)\n")
        .with("module.dscript", "import other\nprint(two)\n")
        .with("other.dscript", "let two = 2\n")
        .with("warned.dscript", "func f() -> Int { let a = 1; return 2 }\nprint(f())\n")
        .with("failing.dscript", "print(1)\nfatalError()\n")
        .with("rejected.dscript", "print(x)\n")
        .with("plain.dscript", "print(1)\n");
    for arguments in [
        &["main.dscript"][..],
        &["module.dscript"],
        &["main.dscript", "other.dscript"],
        &["warned.dscript"],
        &["failing.dscript"],
        &["rejected.dscript"],
        &["--no-cache", "plain.dscript"],
        &["--strict-kinks", "plain.dscript"],
        &["--check-nan", "result", "plain.dscript"],
        &["--check-derivatives", "plain.dscript"],
        &["-e", "print(1)"],
        &["check", "plain.dscript"],
    ] {
        let first = run(&folder, arguments);
        let again = run(&folder, arguments);
        assert_eq!((first.stdout, first.stderr, first.status), (again.stdout, again.stderr, again.status));
        assert!(entries(&folder).is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_damaged_entry_is_replaced() {
    let folder = Folder::new("damaged").with("a.dscript", "print(1)\n").with("b.dscript", "print(2)\n");
    ended(&run(&folder, &["a.dscript"]), 0, "1\n");
    let entry = entries(&folder).remove(0);
    let whole = fs::read(&entry).unwrap();
    // An entry of another program has another text.
    ended(&run(&folder, &["b.dscript"]), 0, "2\n");
    let other = entries(&folder).into_iter().find(|path| *path != entry).unwrap();
    for damaged in [&[][..], b"text", &whole[..whole.len() / 2], &fs::read(other).unwrap()] {
        fs::write(&entry, damaged).unwrap();
        ended(&run(&folder, &["a.dscript"]), 0, "1\n");
        assert_eq!(fs::read(&entry).unwrap(), whole);
    }
}

#[test]
#[cfg(unix)]
fn a_write_that_fails_leaves_nothing() {
    let folder = Folder::new("limited").with("a.dscript", "print(1)\n");
    let limited = "ulimit -f 0; \"$0\" a.dscript | cat; echo ${PIPESTATUS[0]}";
    let finished = std::process::Command::new("bash")
        .args(["-c", limited, env!("CARGO_BIN_EXE_dscript")])
        .current_dir(&folder.0)
        .env("DSCRIPT_CACHE", folder.0.join("cache"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&finished.stdout), "1\n0\n");
    assert!(entries(&folder).is_empty());
}

#[test]
fn programs_run_without_a_cache() {
    let folder = Folder::new("without-cache").with("a.dscript", "print(1)\n").with("cache", "a file");
    ended(&run(&folder, &["a.dscript"]), 0, "1\n");
    let mut bare = command();
    bare.args(["a.dscript"]).current_dir(&folder.0);
    for name in ["DSCRIPT_CACHE", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        bare.env_remove(name);
    }
    assert_eq!(bare.output().unwrap().stdout, b"1\n");
    let own = command()
        .args(["a.dscript"])
        .current_dir(&folder.0)
        .env_remove("DSCRIPT_CACHE")
        .env("HOME", &folder.0)
        .env_remove("XDG_CACHE_HOME")
        .output();
    assert_eq!(own.unwrap().stdout, b"1\n");
    assert_eq!(fs::read_dir(folder.0.join(".cache/dscript")).unwrap().count(), 1);
}
