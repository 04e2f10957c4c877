//! Tests of compiled programs: they behave like their source, also in machine code, and damaged files are rejected.

use crate::harness;
use crate::sink::Sink;
use dscript::session::{CompileMode, Input, Kinks, Options, Outcome, Session, Status};
use std::path::PathBuf;

fn session() -> (Session, Sink) {
    session_with(Options::default())
}

fn session_with(options: Options) -> (Session, Sink) {
    let printed = Sink::default();
    let timeout = Some(std::time::Duration::from_secs(60));
    let options = Options { arguments: vec!["program".into()], timeout, ..options };
    (Session::new(options, Box::new(printed.clone())), printed)
}

/// Returns the visible results of a run: status, output, and diagnostics with their positions.
fn seen((session, printed): (Session, Sink), outcome: &Outcome) -> (Status, String, Vec<String>) {
    let said = outcome.diagnostics.iter().filter(|d| d.is_error()).map(|d| {
        let place = session.sources().place(d.primary.span.start).map(|p| (p.name.to_string(), p.line, p.column));
        format!("{place:?} {}", d.message)
    });
    (outcome.status, String::from_utf8_lossy(&printed.0.borrow()).into_owned(), said.collect())
}

fn compiled(text: &str) -> Vec<u8> {
    let (mut session, _) = session();
    session.build(&[Input { name: "program", text }]).map(|(bytes, _)| bytes).unwrap_or_default()
}

/// One of so many programs is compiled, unless `DSCRIPT_EVERY_PROGRAM` is set.
const STRIDE: usize = 3;

/// The programs run from their compiled files, with all functions in machine code. The golden tests run the source, in which only
/// what takes long is machine code.
#[test]
fn compiled_programs_behave_like_their_source() {
    let mut programs: Vec<PathBuf> = harness::files(&harness::root().join("tests/run"), &["dscript"]);
    // Programs that need options or input are covered by the tests of the command line.
    programs.retain(|path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let wants = |what: &str| text.lines().any(|line| line.starts_with(what));
        !wants("// options:") && !wants("// stdin:") && !wants("// args:")
    });
    if std::env::var_os("DSCRIPT_EVERY_PROGRAM").is_none() {
        programs = programs.into_iter().step_by(STRIDE).collect();
    }
    assert!(programs.len() > 100);
    harness::all(&programs, |path| {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let inputs = [Input { name: "program", text: &text }];
        let bytes = session().0.build(&inputs).map(|(bytes, _)| bytes);
        let by_image = bytes.as_ref().ok().map(|bytes| {
            let mut image = session_with(Options { compiled: CompileMode::Always, ..Options::default() });
            let outcome = image.0.run_compiled("program.dsc", bytes);
            seen(image, &outcome)
        });
        // The golden tests compare the output of the source with the comments.
        if by_image == Some((Status::Done, harness::promised(&text), vec![])) {
            return Ok(());
        }
        let mut source = session();
        let outcome = source.0.run(&inputs);
        let by_source = seen(source, &outcome);
        match by_image {
            None if by_source.0 == Status::Rejected => Ok(()),
            None => Err(format!("{}: it runs and cannot be built", harness::short(path))),
            Some(by_image) if by_image == by_source => Ok(()),
            Some(by_image) => Err(format!("{}:\n{by_source:?}\n{by_image:?}", harness::short(path))),
        }
    });
}

/// Adjoint and tangent code is derived from the contents of the file: the digits are the same, and there is no tape.
#[test]
fn compiled_programs_use_adjoint_code() {
    let text = r#"
        struct Model: Differentiable { var w: [Double]; var b: Double }
        func loss(_ m: Model, _ xs: [Double]) -> Double {
            var sum = 0.0
            for i in 0..<50_000 { let r = m.w[i % 3] * xs[i % 4] + m.b - 0.3; sum += r * r / (1 + r * r) }
            return sum
        }
        func bits(_ x: Double) -> UInt64 { x.bitPattern }
        let m = Model(w: [0.1, 0.7, -0.3], b: 0.2), xs = [0.3, 0.7, 1.1, 0.9]
        let g = gradient(at: m) { m in loss(m, xs) }
        print(g.w.base.map(bits), bits(g.b))
        let (value, h) = valueWithGradient(at: [0.1, 0.7, -0.3]) { w in loss(Model(w: w, b: 0.1), xs) }
        print(bits(value), h.base.map(bits))
        let scale = 1.7, outer = { (x: Double) in sin(x * scale) / 3 }
        print(bits(gradient(at: 0.3) { x in outer(outer(x)) }), bits(derivative(at: 0.3) { x in outer(x) * outer(x + 1) }))
        print(Double(derivative(at: Float(0.7)) { x in sin(x) * x / 3 }).bitPattern)
    "#;
    let run = |run: &dyn Fn(&mut Session) -> Outcome| {
        let printed = Sink::default();
        let options = Options { max_tape: 4 << 20, ..Options::default() };
        let mut session = Session::new(options, Box::new(printed.clone()));
        let outcome = run(&mut session);
        seen((session, printed), &outcome)
    };
    let by_source = run(&|session| session.run(&[Input { name: "program", text }]));
    assert_eq!((by_source.0, by_source.1.lines().count()), (Status::Done, 4), "{by_source:?}");
    let bytes = compiled(text);
    assert_eq!(run(&|session| session.run_compiled("program.dsc", &bytes)), by_source);
}

/// A compiled program detects branches at their thresholds only if it was built with this option.
#[test]
fn compiled_programs_stop_at_thresholds_with_strict_kinks() {
    let text = "func f(_ x: Double) -> Double { if x > 1 { return x * x }; return x }\nprint(gradient(at: 1, in: f))";
    let strict = || {
        let printed = Sink::default();
        let options = Options { kinks: Kinks::Refused, ..Options::default() };
        (Session::new(options, Box::new(printed.clone())), printed)
    };
    let mut by_source = strict();
    let outcome = by_source.0.run(&[Input { name: "program", text }]);
    let by_source = seen(by_source, &outcome);
    assert!(by_source.2[0].contains("exactly at its threshold"), "{by_source:?}");
    let (bytes, _) = strict().0.build(&[Input { name: "program", text }]).unwrap_or_default();
    let mut by_image = strict();
    let outcome = by_image.0.run_compiled("program.dsc", &bytes);
    assert_eq!(seen(by_image, &outcome), by_source);
    let outcome = strict().0.run_compiled("program.dsc", &compiled(text));
    assert!(outcome.diagnostics[0].message.contains("build it again from its source with '--strict-kinks'"));
    let mut plain = session();
    let outcome = plain.0.run_compiled("program.dsc", &bytes);
    assert_eq!(seen(plain, &outcome).1, "1.0\n");
}

const PROGRAM: &str = "f(x) = x^3\nstruct S { var a = [1, 2]; var b: Int? = 3 }\nprint(f'(2), S())\n";

#[test]
fn truncated_or_modified_files_are_rejected() {
    let whole = compiled(PROGRAM);
    let mut first = session();
    let outcome = first.0.run_compiled("program.dsc", &whole);
    assert_eq!(outcome.status, Status::Done, "{:?}", outcome.diagnostics);
    for length in [0, 1, 7, 8, 11, 12, 20, 27, 28, 29, whole.len() / 2, whole.len() - 1] {
        let outcome = session().0.run_compiled("program.dsc", &whole[..length]);
        assert_eq!(outcome.status, Status::Rejected, "truncated at {length}");
        assert!(outcome.diagnostics[0].message.contains("build it again"), "{:?}", outcome.diagnostics);
    }
    for at in (0..whole.len()).step_by(whole.len() / 200) {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        let outcome = session().0.run_compiled("program.dsc", &changed);
        assert_eq!(outcome.status, Status::Rejected, "modified at {at}");
    }
    let longer = [whole.as_slice(), &[0]].concat();
    assert_eq!(session().0.run_compiled("program.dsc", &longer).status, Status::Rejected);
}

/// A forged file can have a correct checksum, so its contents are verified before it runs.
#[test]
fn forged_files_are_harmless() {
    /// The size of magic number, version, compiler, length and checksum.
    const HEADER: usize = 28;
    let whole = compiled(PROGRAM);
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..400 {
        let mut forged = whole.clone();
        for _ in 0..=random(4) {
            forged[HEADER + random(whole.len() - HEADER)] = random(256) as u8;
        }
        let checksum = crc32fast::hash(&forged[HEADER..]);
        forged[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
        let options = Options { max_steps: Some(100_000), max_memory: Some(1 << 30), ..Options::default() };
        // Whatever the result, the run ends without a panic.
        let _ = Session::new(options, Box::new(Sink::default())).run_compiled("program.dsc", &forged);
    }
}
