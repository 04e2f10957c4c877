//! Fuzz target: any modification of a compiled program with a correct checksum is rejected or runs without harm.
#![no_main]

use dscript::session::{Input, Session};
use dscript_fuzz::{Worker, limits};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The size of magic number, version, compiler, length and checksum.
const HEADER: usize = 28;

const PROGRAM: &str = "f(x) = x^3
class A { var a = [1, 2]; weak var b: A?; deinit { print(a) } }
enum E { case one(Double), two }
func g(_ n: Int) -> Int { n < 2 ? n : g(n - 1) + g(n - 2) }
var d = [\"k\": E.one(2)]
d[\"l\"] = .two
print(f'(2), A().a, d, g(10), [3, 1, 2].sorted { $0 > $1 })
";

static WORKER: LazyLock<Worker> = LazyLock::new(|| {
    Worker::start(|| {
        let mut session = Session::new(limits(), Box::new(std::io::sink()));
        let built = session.build(&[Input { name: "program", text: PROGRAM }]);
        let whole = built.map(|(bytes, _)| bytes).unwrap_or_else(|outcome| panic!("{:?}", outcome.diagnostics));
        move |input: &[u8]| {
            let mut forged = whole.clone();
            for change in input.chunks_exact(4) {
                let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
                forged[HEADER + at % (whole.len() - HEADER)] = change[3];
            }
            let checksum = crc32fast::hash(&forged[HEADER..]);
            forged[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
            // A fault is acceptable.
            let _ = Session::new(limits(), Box::new(std::io::sink())).run_compiled("program.dsc", &forged);
        }
    })
});

fuzz_target!(|bytes: &[u8]| WORKER.run(bytes));
