use super::*;

/// The programs of the documents that the language started from, each under a line with its name.
const PROGRAMS: &str = include_str!("tests/programs.txt");

fn programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.split("=== ").skip(1).filter_map(|p| p.split_once('\n'))
}

/// Runs on a stack like that of a session, because test threads have little.
fn roomy(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 20).spawn(test).unwrap().join().unwrap();
}

fn read(text: &str) -> (ast::File, Vec<Diagnostic>) {
    let mut parsed = parse(text, 0);
    let mut table = OperatorTable::standard();
    parsed.diagnostics.extend(table.declare(&parsed.file));
    parsed.diagnostics.extend(fold_file(&mut parsed.file, &table));
    (parsed.file, parsed.diagnostics)
}

#[test]
fn programs_of_the_documents() {
    roomy(|| {
        let mut failed = String::new();
        for (name, text) in programs() {
            let (_, diagnostics) = read(text);
            for d in diagnostics {
                let (a, b) = (d.primary.span.start as usize, text.len());
                let near: String = text[a.min(b)..].chars().take(60).collect();
                let line = text[..a.min(b)].lines().last().unwrap_or("");
                failed += &format!("{name}: {} at {line:?} | {near:?}\n", d.message);
            }
        }
        assert!(failed.is_empty(), "{failed}");
    });
}

#[test]
#[ignore]
fn show() {
    roomy(|| {
        let text = std::fs::read_to_string(std::env::var("SHOW").unwrap()).unwrap();
        let (file, diagnostics) = read(&text);
        println!("{}", dump(&file));
        for d in diagnostics {
            println!(
                "{} {:?} {:?} {:?} {:?} help {:?}",
                d.code.number(),
                d.primary.span,
                d.message,
                d.primary.text,
                d.secondary,
                d.helps
            );
        }
    });
}
