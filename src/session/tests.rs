use super::{Options, Session, Status};

/// A tape that is too small for what a checkpoint gives must not cost the program its variables.
#[test]
fn variables_survive_a_checkpoint_that_fails() {
    let options = Options { max_tape: 16 << 10, ..Options::default() };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    assert_eq!(session.eval("first", "var kept = [1.0, 2.0]\nfunc look() -> Double { kept[1] }").status, Status::Done);
    let failing = "
        func f(_ x: Double) -> Double {
            var many = [Double](repeating: 0, count: 1000)
            checkpoint { for i in 0..<1000 { many[i] = x * Double(i) } }
            return many[999]
        }
        gradient(at: 1.0, in: f)";
    assert_eq!(session.eval("second", failing).status, Status::Failed);
    let third = session.eval("third", "look()");
    assert_eq!((third.value.as_deref(), third.diagnostics), (Some("2.0"), vec![]));
}
