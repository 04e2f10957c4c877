//! Tests of the command line: every option, every exit status, and invalid input of every kind.

use crate::harness::folder::{Folder, ended, said};
use crate::harness::{Finished, command, dscript, root};
use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Runs code with `-e`.
fn code(text: &str) -> Finished {
    dscript(&["-e", text], b"", root())
}

#[test]
fn a_file_runs_with_and_without_the_command() {
    let folder = Folder::new("file").with("a.dscript", "print(\"a\")\n").with("b.dscript", "print(1 + 1)\n");
    ended(&folder.run(&["a.dscript"]), 0, "a\n");
    ended(&folder.run(&["run", "a.dscript"]), 0, "a\n");
    ended(&folder.run(&["a.dscript", "b.dscript"]), 0, "a\n2\n");
}

#[test]
fn several_files_are_one_module() {
    let folder = Folder::new("module")
        .with("main.dscript", "print(twice(4))\n")
        .with("rest.dscript", "func twice(_ n: Int) -> Int { n * 2 }\n");
    ended(&folder.run(&["main.dscript", "rest.dscript"]), 0, "8\n");
}

#[test]
fn the_first_line_may_name_the_interpreter() {
    let folder = Folder::new("interpreter").with("a.dscript", "#!/usr/bin/env dscript\nprint(1)\n");
    ended(&folder.run(&["a.dscript"]), 0, "1\n");
}

#[test]
fn arguments_after_a_script_that_names_the_interpreter_are_passed_to_it() {
    let text = "print(CommandLine.arguments.dropFirst().joined(separator: \" \"))\n";
    let folder = Folder::new("own-arguments").with("a.dscript", format!("#!/usr/bin/env dscript\n{text}"));
    let folder = folder.with("b.dscript", text);
    ended(&folder.run(&["a.dscript", "x", "--seed", "y.dscript"]), 0, "x --seed y.dscript\n");
    ended(&folder.run(&["--seed", "3", "run", "a.dscript", "-n"]), 0, "-n\n");
    ended(&folder.run(&["a.dscript", "--", "x"]), 0, "x\n");
    ended(&folder.run(&["b.dscript", "--seed", "3", "--", "x"]), 0, "x\n");
}

#[test]
fn a_byte_order_mark_is_ignored() {
    let folder = Folder::new("mark").with("a.dscript", "\u{feff}print(1)\n");
    ended(&folder.run(&["a.dscript"]), 0, "1\n");
}

#[test]
fn code_prints_the_value_of_its_last_expression() {
    ended(&code("1 + 1"), 0, "2\n");
    ended(&code("-1 + 2"), 0, "1\n");
    ended(&code("f(x) = x^3; f'(2.0)"), 0, "12.0\n");
    ended(&code("print(1)"), 0, "1\n");
    ended(&code("let x = 1"), 0, "");
    ended(&code(""), 0, "");
}

#[test]
fn a_program_is_read_from_standard_input() {
    let finished = dscript(&["-"], b"print(1)\nprint(oops)\n", root());
    ended(&finished, 3, "");
    said(&finished, "<stdin>:2:7");
    ended(&dscript(&["run", "-"], b"print(1)\n", root()), 0, "1\n");
}

#[test]
fn a_program_reads_its_input_and_its_arguments() {
    let text = "while let line = readLine() { print(line) }\nprint(CommandLine.arguments.dropFirst().count)\n";
    let folder = Folder::new("input").with("a.dscript", text);
    let finished = dscript(&["a.dscript", "--", "--seed", "b c"], b"one\ntwo", &folder.0);
    ended(&finished, 0, "one\ntwo\n2\n");
}

#[test]
fn check_runs_nothing() {
    let folder = Folder::new("check").with("good.dscript", "print(1)\n").with("bad.dscript", "print(nothing)\n");
    ended(&folder.run(&["check", "good.dscript"]), 0, "");
    ended(&folder.run(&["check", "bad.dscript"]), 3, "");
}

#[test]
fn every_stage_can_be_shown() {
    // `f'` uses forward mode and records nothing; the gradient has a tape.
    let program = "f(x) = x * x\nprint(f'(3.0), gradient(at: 3.0, in: f))\n";
    let folder = Folder::new("show").with("a.dscript", program).with("bad.dscript", "let = 1\n");
    for stage in dscript::session::Stage::ALL {
        let finished = folder.run(&["show", "--stage", stage.name(), "a.dscript"]);
        assert_eq!(finished.status, Some(0), "{}: {}", stage.name(), finished.stderr);
        assert!(!finished.stdout.is_empty(), "{}", stage.name());
        ended(&folder.run(&["show", "--stage", stage.name(), "bad.dscript"]), 3, "");
    }
    let finished = folder.run(&["show", "--stage", "soul", "a.dscript"]);
    ended(&finished, 2, "");
    said(&finished, "derivative");
}

#[test]
fn diagnostics_have_three_formats() {
    let folder = Folder::new("forms").with("a.dscript", "print(1)\nlet x = nothing\n");
    let short = folder.run(&["run", "--diagnostics=short", "a.dscript"]);
    ended(&short, 3, "");
    assert!(short.stderr.starts_with("a.dscript:2:9: error: "), "{}", short.stderr);
    let full = folder.run(&["a.dscript"]);
    said(&full, "error[E0202]: ");
    said(&full, "--> a.dscript:2:9");
    let json = folder.run(&["--diagnostics", "json", "a.dscript"]);
    let first: serde_json::Value = serde_json::from_str(json.stderr.lines().next().unwrap_or_default()).unwrap();
    assert_eq!((first["code"].as_str(), first["line"].as_u64()), (Some("E0202"), Some(2)));
}

#[test]
fn color_is_used_on_terminals_and_on_request() {
    let folder = Folder::new("colour").with("a.dscript", "nothing\n");
    assert!(!folder.run(&["a.dscript"]).stderr.contains('\u{1b}'));
    assert!(!folder.run(&["--color=never", "a.dscript"]).stderr.contains('\u{1b}'));
    assert!(folder.run(&["--color=always", "a.dscript"]).stderr.contains('\u{1b}'));
}

#[test]
fn limits_stop_a_program() {
    let cases: &[(&[&str], &str, i32, &str)] = &[
        (&["--max-depth=50"], "func f(_ n: Int) -> Int { n == 0 ? 0 : 1 + f(n - 1) }\nprint(f(100))", 1, "E0630"),
        (&["--max-steps=1000"], "var i = 0\nwhile true { i += 1; i -= 1 }", 1, "E0640"),
        (&["--timeout=0.2"], "var i = 0\nwhile true { i += 1; i -= 1 }", 124, "E0641"),
        (
            &["--max-tape=64KiB"],
            "let g = gradient(at: 1.0) { x in\n  var y = x\n  for _ in 0 ..< 100000 { y = sin(y) + 1.0 }\n  return y\n}\nprint(g)",
            1,
            "E0620",
        ),
        (&["--max-memory=1MiB"], "var a = [1.0]\nwhile true { a.append(2.0) }", 1, "E0621"),
        // Doubling exceeds the limit quickly.
        (&["--max-memory=200MiB"], "var s = \"x\"\nwhile true { s += s }", 1, "E0621"),
        (&["--max-memory=200MiB"], "var a = [1.0]\nwhile true { a += a }", 1, "E0621"),
        // A single large allocation is rejected in advance.
        (&["--max-memory=200MiB"], "print([Double](repeating: 1, count: 1_000_000_000).count)", 1, "E0621"),
        (
            &["--max-memory=200MiB"],
            "import TensorFlow\nlet x = Tensor<Double>(ones: [200000, 1])\nprint(matmul(x, x.transposed()).shape)",
            1,
            "E0621",
        ),
        (&["--max-memory=200MiB"], "print(String(repeating: \"abc\", count: 1_000_000_000).count)", 1, "E0621"),
    ];
    for (options, text, status, number) in cases {
        let start = Instant::now();
        let folder = Folder::new(number).with("a.dscript", text);
        let finished = folder.run(&[*options, &["a.dscript"]].concat());
        ended(&finished, *status, "");
        said(&finished, number);
        assert!(start.elapsed() < Duration::from_secs(60), "{options:?}");
    }
    let depth = "func f(_ n: Int) -> Int { n == 0 ? 0 : 1 + f(n - 1) }\nprint(f(40))";
    ended(&dscript(&["--max-depth=50", "-"], depth.as_bytes(), root()), 0, "40\n");
}

#[test]
fn the_seed_determines_the_random_numbers() {
    let run = |seed: &str| dscript(&["--seed", seed, "-e", "Double.random(in: 0 ..< 1)"], b"", root());
    let (a, b, c) = (run("1"), run("1"), run("2"));
    assert_eq!((a.status, &a.stdout), (Some(0), &b.stdout), "{}", a.stderr);
    assert_ne!(a.stdout, c.stdout);
}

#[test]
fn the_exit_status_reports_the_result() {
    ended(&code("let a = [1]; let i = 5; print(a[i])"), 1, "");
    ended(&code("let x: Int = \"a\""), 3, "");
    ended(&code("let x = "), 3, "");
    ended(&code("print(1); exit(7)"), 7, "1\n");
    ended(&code("exit(0)"), 0, "");
    let warned = "func f(_ x: Double) -> Double { 3 }; print(gradient(at: 2, in: f))";
    ended(&code(warned), 0, "0.0\n");
    ended(&dscript(&["--deny-warnings", "-e", warned], b"", root()), 5, "");
    ended(&dscript(&["-e", "print(1)", "--deny-warnings"], b"", root()), 0, "1\n");
}

#[test]
fn output_before_a_failure_is_not_lost() {
    let finished = code("print(1); print(2); let a = [1]; let i = 5; print(a[i])");
    ended(&finished, 1, "1\n2\n");
    said(&finished, "E0601");
}

#[test]
fn wrong_usage_is_reported() {
    for arguments in [
        &["run"][..],
        &["check"],
        &["show", "a.dscript"],
        &["--seed"],
        &["--seed", "x", "-e", "1"],
        &["--max-depth=0", "-e", "1"],
        &["--max-tape=lots", "-e", "1"],
        &["--timeout=-1", "-e", "1"],
        &["--color=sometimes", "-e", "1"],
        &["--diagnostics=long", "-e", "1"],
        &["--frobnicate"],
        &["-e"],
        &["-e", "1", "a.dscript"],
        &["explain", "E0000"],
    ] {
        let finished = dscript(arguments, b"", root());
        ended(&finished, 2, "");
        said(&finished, "--help");
    }
    let nothing = dscript(&["run"], b"", root());
    ended(&nothing, 2, "");
    said(&nothing, "expected a file");
    let help = dscript(&["--help"], b"", root());
    assert!(help.status == Some(0) && help.stdout.contains("Exit status"), "{}", help.stderr);
    let version = dscript(&["--version"], b"", root());
    ended(&version, 0, concat!("dscript ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn unreadable_files_are_reported() {
    let folder =
        Folder::new("unreadable").with("a.dscript", b"print(1)\nlet x = \"\xff\"\n").with("b.dscript", "print(1)");
    fs::create_dir_all(folder.0.join("d.dscript")).unwrap();
    for (name, words) in [
        ("nowhere.dscript", "dscript: cannot read 'nowhere.dscript': there is no such file"),
        ("d.dscript", "dscript: cannot read 'd.dscript': it is a directory"),
        ("a.dscript", "it is not valid UTF-8 at byte 18 (in line 2)"),
    ] {
        for command in ["run", "check"] {
            let finished = folder.run(&[command, "b.dscript", name]);
            ended(&finished, 2, "");
            said(&finished, words);
        }
    }
    let both = folder.run(&["nowhere.dscript", "d.dscript"]);
    assert_eq!(both.stderr.lines().count(), 2, "{}", both.stderr);
    ended(&dscript(&["-"], b"\xff", root()), 2, "");
}

#[test]
fn a_damaged_compiled_program_is_reported_by_name() {
    let folder = Folder::new("damaged").with("a.dscript", "print(1)\n");
    ended(&folder.run(&["build", "a.dscript"]), 0, "");
    let whole = fs::read(folder.0.join("a.dsc")).unwrap();
    let changed: Vec<u8> = whole.iter().map(|byte| byte ^ 1).collect();
    let cut = |length: usize| whole[..length].to_vec();
    for (bytes, words) in [
        (cut(0), "the compiled program is truncated; build it again"),
        (cut(3), "the compiled program is truncated; build it again"),
        (cut(whole.len() - 1), "the compiled program is truncated; build it again"),
        (changed, "the compiled program is damaged; build it again"),
    ] {
        fs::write(folder.0.join("b.dsc"), bytes).unwrap();
        let finished = folder.run(&["b.dsc"]);
        ended(&finished, 3, "");
        said(&finished, words);
        said(&finished, "b.dsc");
        assert!(!finished.stderr.contains("prelude/"), "{}", finished.stderr);
    }
}

#[test]
fn an_empty_program_does_nothing() {
    let folder = Folder::new("empty").with("a.dscript", "").with("b.dscript", "\n\n  // nothing\n");
    for name in ["a.dscript", "b.dscript"] {
        let finished = folder.run(&[name]);
        ended(&finished, 0, "");
        assert!(finished.stderr.is_empty(), "{}", finished.stderr);
    }
}

#[test]
fn huge_programs_are_rejected_with_short_diagnostics() {
    let nested = |open: &str, close: &str| format!("let x = {}1{}\n", open.repeat(10_000), close.repeat(10_000));
    let deep = [nested("(", ")"), nested("[", "]"), nested("-(", ")"), nested("{ ", " }"), "(".repeat(10_000)];
    for text in deep {
        let finished = dscript(&["-"], text.as_bytes(), root());
        ended(&finished, 3, "");
        assert!(finished.stderr.len() < 20_000, "{} bytes of diagnostics", finished.stderr.len());
        said(&finished, "error[E01");
    }
    let long_line = format!("let a = \"{}\"\nprint(a.count)\n", "x".repeat(10_000_000));
    ended(&dscript(&["-"], long_line.as_bytes(), root()), 0, "10000000\n");
    let long_and_wrong = format!("print({} + nothing)\n", "1.0 + ".repeat(50) + &" ".repeat(10_000_000) + "1.0");
    let finished = dscript(&["-"], long_and_wrong.as_bytes(), root());
    ended(&finished, 3, "");
    assert!(finished.stderr.len() < 5_000, "{} bytes of diagnostics", finished.stderr.len());
}

#[test]
fn types_that_are_inferred_from_each_other_do_not_overflow_the_stack() {
    let formulas = |n: usize| {
        let first: String = (0..n).map(|i| format!("f{i}(x) = f{}(x)\n", i + 1)).collect();
        format!("{first}f{n}(x) = x\nprint(f0(1))\n")
    };
    let properties = |n: usize| {
        let first: String = (0..n).map(|i| format!("struct S{i} {{ var p = S{}().p }}\n", i + 1)).collect();
        format!("{first}struct S{n} {{ var p = 1.0 }}\nprint(S0().p)\n")
    };
    let chains: [OfLength; 2] = [formulas, properties];
    for program in chains {
        ended(&dscript(&["-"], program(1_000).as_bytes(), root()), 0, "1.0\n");
        let finished = dscript(&["-"], program(20_000).as_bytes(), root());
        ended(&finished, 3, "");
        said(&finished, "type inference depends on a chain of more than 2000 declarations");
        said(&finished, "write the type of this declaration");
    }
}

/// A function that returns a program with a number of parts.
type OfLength = fn(usize) -> String;

/// Programs with many parts of one kind. The time for each of them was once quadratic.
fn long_programs() -> Vec<(&'static str, OfLength)> {
    fn each(n: usize, part: impl Fn(usize) -> String) -> String {
        (0..n).map(part).collect()
    }
    vec![
        ("calls of one script", |n| each(n, |i| format!("print({i})\n"))),
        ("unknown names", |n| each(n, |i| format!("let a{i} = b{i}\n"))),
        ("branches of one function", |n| {
            let branches = each(n, |i| format!("if a > {i} {{ a *= 2 }}\n"));
            format!(
                "func f(_ x: Double) -> Double {{\nvar a = x\n{branches}return a\n}}\nprint(gradient(at: 1, in: f))"
            )
        }),
        ("cases of an enum", |n| {
            let (cases, arms) = (each(n, |i| format!("case c{i}\n")), each(n, |i| format!("case .c{i}: return {i}\n")));
            format!("enum E {{\n{cases}}}\nfunc f(_ x: E) -> Int {{\nswitch x {{\n{arms}}}\n}}\nprint(f(.c5))")
        }),
        ("properties of a class", |n| {
            format!("class C {{\n{}}}\nprint(C().a0)", each(n, |i| format!("var a{i} = 1.0\n")))
        }),
        ("literals of one sum", |n| format!("print({}0)", each(n, |i| format!("{i} + ")))),
        ("functions with operators", |n| each(n, |i| format!("f{i}(x) = x^2\nprint(f{i}'(1))\n"))),
    ]
}

#[test]
fn compile_time_is_linear_in_program_length() {
    const SHORT: usize = 500;
    const TIMES: u32 = 8;
    let folder = Folder::new("long");
    let time = |text: &str| {
        fs::write(folder.0.join("a.dscript"), text).unwrap();
        let finished = folder.run(&["a.dscript"]);
        assert!(matches!(finished.status, Some(0 | 3)), "{}", finished.stderr);
        finished.processor_time
    };
    for (what, program) in long_programs() {
        let (short, long) = (program(SHORT), program(SHORT * TIMES as usize));
        // On a busy machine the measurement is noisy, but quadratic growth is too slow in every attempt.
        let is_fine = (0..3).any(|_| {
            let short = time(&short).max(Duration::from_millis(100));
            time(&long) < 3 * TIMES * short
        });
        assert!(is_fine, "{what}");
    }
}

#[test]
fn too_many_variables_are_not_reported_as_a_bug() {
    let properties: String = (0..66_000).map(|i| format!("var a{i} = 1.0\n")).collect();
    let text = format!("struct S {{\n{properties}}}\nprint(S().a0)");
    let finished = dscript(&["-"], text.as_bytes(), root());
    ended(&finished, 1, "");
    said(&finished, "E0221");
}

#[test]
fn a_closed_pipe_ends_the_program_without_a_message() {
    let mut child = command()
        .args(["--timeout=60", "-e", "while true { print(\"a line that nobody reads\") }"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.len()),
        (Some(0), 0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_preserves_the_output() {
    use std::process::Command;
    let mut child = command()
        .args(["-e", "print(1)\nprintError(\"begun\")\nvar i = 0\nwhile true { i += 1; i -= 1 }"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Now the handler is installed; an earlier signal would end the process without a status.
    let mut begun = [0; 5];
    child.stderr.as_mut().unwrap().read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"begun");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", id.as_str()]).status().unwrap().success());
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()),
        (Some(130), "1\n"),
        "{stderr}"
    );
}

#[test]
fn curves_are_drawn_and_names_explained_without_a_program() {
    let folder = Folder::new("look");
    let drawn = folder.run(&["plot", "x * sin(x), cos(x)", "-3..3"]);
    assert_eq!(drawn.status, Some(0), "{}", drawn.stderr);
    assert!(drawn.stdout.contains("── x * sin(x)") && drawn.stdout.contains("╌╌ cos(x)"), "{}", drawn.stdout);
    let written = folder.run(&["plot", "x^2", "-2..2", "-o", "a.svg"]);
    ended(&written, 0, "");
    assert!(fs::read_to_string(folder.0.join("a.svg")).unwrap().starts_with("<svg"));
    let wrong = folder.run(&["plot", "nonsense", "0..1"]);
    ended(&wrong, 3, "");
    said(&wrong, "cannot find 'nonsense'");
    assert_eq!(folder.run(&["plot"]).status, Some(2));
    let told = folder.run(&["doc", "cbrt"]);
    assert!(told.stdout.contains("func cbrt(_ x: Double) -> Double\n    Cube root."), "{}", told.stdout);
    assert_eq!(folder.run(&["doc", "qwertz"]).status, Some(2));
    assert!(folder.run(&["completions", "bash"]).stdout.contains("_dscript()"));
}

#[test]
fn the_library_is_listed_by_topic_and_searched() {
    let folder = Folder::new("doc");
    let index = folder.run(&["doc"]);
    assert_eq!(index.status, Some(0), "{}", index.stderr);
    for part in ["\nFunctions of numbers\n", "\nDerivatives\n", " gradient ", " readLines "] {
        assert!(index.stdout.contains(part), "{part}: {}", index.stdout);
    }
    let array = folder.run(&["doc", "Array"]);
    for part in ["struct Array<Element>", "\nmethods\n", "    append(_:) ", "from Sequence"] {
        assert!(array.stdout.contains(part), "{part}: {}", array.stdout);
    }
    let member = folder.run(&["doc", "Array.append"]);
    assert!(member.stdout.starts_with("mutating func append("), "{}", member.stdout);
    let topic = folder.run(&["doc", "numerical", "methods"]);
    assert!(topic.stdout.contains("    solve(_:near:) "), "{}", topic.stdout);
    let found = folder.run(&["doc", "csv"]);
    assert!(found.stdout.contains("readCSV(_:"), "{}", found.stdout);
    let keyword = folder.run(&["doc", "guard"]);
    assert!(keyword.stdout.contains("`guard` leaves the enclosing scope"), "{}", keyword.stdout);
    let nothing = folder.run(&["doc", "gradent"]);
    ended(&nothing, 2, "");
    said(&nothing, "did you mean 'gradient'?");
}

#[test]
fn a_misspelled_command_is_recognized() {
    let folder = Folder::new("misspelled");
    let wrong = folder.run(&["rnu", "x"]);
    ended(&wrong, 2, "");
    said(&wrong, "there is no command or file 'rnu'; did you mean 'dscript run'?");
    said(&folder.run(&["nothing.dscript"]), "cannot read 'nothing.dscript'");
}

#[test]
fn codes_are_accepted_in_several_forms() {
    let folder = Folder::new("codes");
    let page = folder.run(&["explain", "E0201"]).stdout;
    assert!(page.contains("E0201"), "{page}");
    for word in ["e0201", "201", "0201", "E201"] {
        assert_eq!(folder.run(&["explain", word]).stdout, page, "{word}");
    }
    assert_eq!(folder.run(&["explain", "9999"]).status, Some(2));
}

#[test]
fn a_program_is_built_and_runs_without_its_source() {
    let folder = Folder::new("build")
        .with("a.dscript", "f(x) = x^2\nprint(f'(3), CommandLine.arguments.count)\nlet a = [1]\nprint(a[2])");
    ended(&folder.run(&["build", "a.dscript"]), 0, "");
    fs::remove_file(folder.0.join("a.dscript")).unwrap();
    let finished = folder.run(&["a.dsc", "--", "x"]);
    ended(&finished, 1, "6.0 2\n");
    said(&finished, "a.dscript:4:7");
    said(&folder.run(&["check", "a.dsc"]), "is a compiled program");
    let whole = fs::read(folder.0.join("a.dsc")).unwrap();
    let folder =
        folder.with("cut.dsc", &whole[..whole.len() / 2]).with("foreign.dsc", b"dscript\x1a\xff\0\0\0\0\0\0\0");
    for file in ["cut.dsc", "foreign.dsc"] {
        let finished = folder.run(&[file]);
        ended(&finished, 3, "");
        said(&finished, "build it again from its source");
    }
    let folder = folder.with("bad.dscript", "print(nope)");
    ended(&folder.run(&["build", "bad.dscript", "-o", "bad.dsc"]), 3, "");
    assert!(!folder.0.join("bad.dsc").exists());
    assert_eq!(folder.run(&["build", "bad.dscript", "-o", "bad.dscript"]).status, Some(2));
}

#[test]
fn lessons_are_listed_run_and_converted_to_notebooks() {
    let folder = Folder::new("lessons");
    let list = folder.run(&["lesson"]);
    assert_eq!((list.status, list.stdout.lines().count()), (Some(0), 40), "{}", list.stdout);
    let newton = folder.run(&["lesson", "15"]);
    assert!(newton.status == Some(0) && newton.stdout.contains("5  1.414213562373095"), "{}", newton.stdout);
    for part in ["# Newton's method", "│ ", "newton("] {
        assert!(newton.stdout.contains(part), "{part}: {}", newton.stdout);
    }
    assert!(
        list.stdout.lines().all(|line| line.ends_with("minutes") || line.contains(" minutes · ")),
        "{}",
        list.stdout
    );
    ended(&folder.run(&["lesson", "newton", "--notebook", "-o", "n.ipynb"]), 0, "");
    let notebook = folder.run(&["lesson", "newton", "--notebook"]);
    let read: serde_json::Value = serde_json::from_str(&notebook.stdout).expect("a notebook is JSON");
    assert_eq!(read["cells"][0]["cell_type"], "markdown");
    let unknown = folder.run(&["lesson", "99"]);
    ended(&unknown, 2, "");
    said(&unknown, "there is no lesson '99'");
}

#[test]
fn the_kernel_is_installed_and_removed() {
    let folder = Folder::new("kernel").with("wrong.json", "{\"transport\": \"ipc\"}");
    let installed = folder.run(&["kernel", "install", "--prefix", "here"]);
    assert!(installed.status == Some(0), "{}", installed.stderr);
    let entry = installed.stdout.split('\'').nth(1).expect("the folder is named").to_owned() + "/kernel.json";
    let shown = folder.run(&["-e", &format!("print(readLines(\"{entry}\").joined().contains(\"connection_file\"))")]);
    ended(&shown, 0, "true\n");
    assert_eq!(folder.run(&["kernel", "remove", "--prefix", "here"]).status, Some(0));
    let again = folder.run(&["kernel", "remove", "--prefix", "here"]);
    ended(&again, 1, "");
    said(&again, "cannot remove");
    let wrong = folder.run(&["kernel", "run", "wrong.json"]);
    ended(&wrong, 2, "");
    said(&wrong, "'wrong.json' is not a connection file");
    said(&folder.run(&["kernel", "run", "missing.json"]), "cannot read 'missing.json'");
}

#[test]
fn a_plot_needs_no_bounds_and_may_begin_with_a_minus() {
    let folder = Folder::new("bounds");
    for (words, part) in [
        (&["plot", "x^2"][..], "── x^2"),
        (&["plot", "sin"], "── sin"),
        (&["plot", "sin(x)", "0..1"], "── sin(x)"),
        (&["plot", "-x", "-1..4"], "── -x"),
        (&["plot", "log(x)", "sqrt(x)", "-1..4"], "╌╌ sqrt(x)"),
        (&["plot", "x^2 + y^2 = 1", "-1.5...1.5"], "── x^2 + y^2 = 1"),
        (&["plot", "[1, 4, 9]"], "10 ┤"),
    ] {
        let drawn = folder.run(words);
        assert!(drawn.status == Some(0) && drawn.stdout.contains(part), "{words:?}: {}{}", drawn.stdout, drawn.stderr);
    }
    assert!(folder.run(&["plot", "x^2"]).stdout.contains("-10"), "the default range is -10 to 10");
    for (words, part) in [
        (&["plot", "sin q", "0..1"][..], "sin q"),
        (&["plot", "x", "1..1"], "two different finite bounds"),
        (&["plot", "\"text\""], "is not a function of one number"),
    ] {
        let wrong = folder.run(words);
        ended(&wrong, 3, "");
        said(&wrong, part);
        assert!(!wrong.stderr.contains("_f") && !wrong.stderr.contains("plot("), "{}", wrong.stderr);
    }
}

#[test]
fn a_plot_is_written_in_the_format_of_the_extension() {
    let folder = Folder::new("formats");
    ended(&folder.run(&["plot", "x^2", "-o", "a.svg"]), 0, "");
    ended(&folder.run(&["plot", "x^2", "-o", "a.txt"]), 0, "");
    assert!(fs::read_to_string(folder.0.join("a.txt")).unwrap().contains("── x^2"));
    for (file, part) in [("a.pdf", "does not write PDF"), ("a.jpg", "must end in '.svg'"), ("a", "must end in '.svg'")]
    {
        let refused = folder.run(&["plot", "x^2", "-o", file]);
        ended(&refused, 2, "");
        said(&refused, part);
        assert!(!folder.0.join(file).exists());
        let saved = folder.run(&["-e", &format!("plot(sin).save(\"{file}\")")]);
        assert_eq!(saved.status, Some(1), "{}", saved.stderr);
    }
}

#[test]
fn a_colored_plot_has_the_width_of_the_terminal() {
    let folder = Folder::new("colored");
    let drawn = folder.run(&["plot", "x^2", "--color=always"]);
    assert!(drawn.stdout.contains("\u{1b}[38;5;"), "{}", drawn.stdout);
    let program = folder.run(&["--color=always", "-e", "plot(sin)"]);
    assert!(program.stdout.contains("\u{1b}[38;5;"), "{}", program.stdout);
    let plain = folder.run(&["plot", "x^2"]);
    assert!(!plain.stdout.contains('\u{1b}') && plain.stdout.lines().all(|line| line.chars().count() <= 80));
    // A description is a value of the program, which does not depend on the terminal.
    let text = folder.run(&["--color=always", "-e", "print(plot(sin))"]);
    assert!(!text.stdout.contains('\u{1b}'), "{}", text.stdout);
}

#[test]
fn pictures_are_written_as_text_or_json() {
    let folder = Folder::new("pictures");
    let text = folder.run(&["-e", "plot({ x in x }, 0...1)"]);
    assert!(text.status == Some(0) && text.stdout.contains("── x"), "{}", text.stdout);
    let lines = folder.run(&["--json", "-e", "plot({ x in x }, 0...1)"]);
    let display = lines.stdout.lines().find(|line| line.contains("\"kind\":\"display\"")).expect("a picture");
    let read: serde_json::Value = serde_json::from_str(display).expect("a line is JSON");
    assert!(read["forms"]["image/svg+xml"].as_str().is_some_and(|svg| svg.starts_with("<svg")), "{display}");
}

#[test]
fn an_instance_that_refers_to_itself_has_no_tangent_vector() {
    let class = "class K: Differentiable { var a: Double; var n: K?; init(_ a: Double) { self.a = a } }
        func f(_ k: K) -> Double { k.a * k.a }
        let (k, l) = (K(2), K(3))\n";
    let loops = ["k.n = k", "k.n = l; l.n = k"];
    let uses = [
        "print(gradient(at: k, in: f))",
        "print(valueWithGradient(at: k, in: f))",
        "print(pullback(at: k, in: f)(1))",
        "print(jacobian(at: k) { k in [k.a] })",
        "let d = differential(at: k, in: f)",
        "print(gradient(at: 1.0) { x in gradient(at: k, in: f).a * x })",
    ];
    for text in loops.iter().flat_map(|bent| uses.iter().map(move |used| format!("{class}{bent}\n{used}"))) {
        let finished = dscript(&["-e", &text], b"", root());
        assert_eq!(finished.status, Some(1), "{text}\n{}", finished.stderr);
        assert!(finished.stderr.contains("E0630"), "{text}\n{}", finished.stderr);
    }
}

#[test]
fn nesting_of_derivatives_is_limited() {
    let cases = [
        format!("f(x) = x^3\nprint(f{}(2))", "'".repeat(160)),
        format!("f(x) = x^3\nprint(({}f)(2))", "∇".repeat(1000)),
        "func d(_ n: Int, _ x: Double) -> Double { n == 0 ? x : derivative(at: x) { y in d(n - 1, y) * y } }
        print(d(100, 1))"
            .to_owned(),
        "func d(_ n: Int, _ x: Double) -> Double { n == 0 ? x : gradient(at: x) { y in d(n - 1, y) * y } }
        print(d(100, 1))"
            .to_owned(),
    ];
    for text in &cases {
        let finished = dscript(&["-e", text], b"", root());
        assert_eq!(finished.status, Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains("E0630"), "{}", finished.stderr);
        assert!(finished.stderr.contains("derivatives are nested more than"), "{}", finished.stderr);
    }
    // Within the limit of nesting, a derivative that takes too long is stopped by the time limit.
    let text = format!("f(x) = sin(x)\nprint(f{}(2))", "'".repeat(50));
    let finished = dscript(&["--timeout=0.3", "-e", &text], b"", root());
    assert_eq!(finished.status, Some(124), "{}", finished.stderr);
}

#[test]
fn a_time_limit_includes_compilation() {
    let lines: String = (0..20_000).map(|n| format!("let a{n} = [max({n}.5, 1), 2]\n")).collect();
    let folder = Folder::new("long").with("a.dscript", &lines);
    for (arguments, what) in [
        (&["--timeout=0.1", "a.dscript"][..], "compiling"),
        (&["check", "--timeout=0.1", "a.dscript"], "compiling"),
        (&["fmt", "--timeout=0.05", "a.dscript"], "formatting"),
    ] {
        let finished = folder.run(arguments);
        assert_eq!(finished.status, Some(124), "{}", finished.stderr);
        assert!(finished.stderr.contains("E0641"), "{}", finished.stderr);
        let message = format!("{what} took longer than");
        assert!(finished.stderr.contains(&message), "{}", finished.stderr);
    }
}

#[test]
#[cfg(unix)]
fn a_time_limit_ends_a_wait_for_a_pipe() {
    let folder = Folder::new("pipe")
        .with("read.dscript", "print(readLines(\"pipe\"))\n")
        .with("write.dscript", "write(\"x\", to: \"pipe\")\n");
    let made = std::process::Command::new("mkfifo").arg("pipe").current_dir(&folder.0).status();
    assert!(made.is_ok_and(|status| status.success()));
    for program in ["read.dscript", "write.dscript"] {
        let finished = folder.run(&["--timeout=0.2", program]);
        assert_eq!(finished.status, Some(124), "{}", finished.stderr);
    }
}

#[test]
#[cfg(unix)]
fn a_program_can_be_read_from_a_pipe() {
    let folder = Folder::new("full-pipe").with("a.dscript", "print(readLines(\"pipe\").count)\n");
    let path = folder.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success()));
    let writer = std::thread::spawn(move || std::fs::write(path, "line\n".repeat(300_000)));
    assert_eq!(folder.run(&["a.dscript"]).stdout, "300000\n");
    writer.join().unwrap().unwrap();
}

#[test]
fn a_limit_that_is_too_small_is_reported_at_the_program() {
    let folder = Folder::new("no-memory").with("a.dscript", "print(1)\n");
    for limit in ["--max-memory=0", "--max-memory=1"] {
        let finished = folder.run(&[limit, "a.dscript"]);
        assert_eq!(finished.status, Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains("--> a.dscript:1:1"), "{}", finished.stderr);
    }
}
