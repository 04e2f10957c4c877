//! Tests of the lessons: every lesson produces the stored output and drawings. `DSCRIPT_BLESS=1` rewrites them.

use crate::harness::{blessing, difference, files, root, short};
use dscript::Session;
use dscript::session::{Display, Input, Options, Screen, Status, Streams};
use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// The output of a lesson, with pictures as text, and its drawings.
#[derive(Clone, Default)]
struct Seen {
    text: Rc<RefCell<Vec<u8>>>,
    drawings: Rc<RefCell<Vec<String>>>,
}

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Screen for Seen {
    fn show(&mut self, display: &Display) {
        for (media, form) in &display.forms {
            match media.as_str() {
                "text/plain" => self.text.borrow_mut().extend(format!("{form}\n").bytes()),
                "image/svg+xml" => self.drawings.borrow_mut().push(form.clone()),
                _ => {}
            }
        }
    }

    fn clear(&mut self, _: bool) {}
}

/// Runs a lesson in a new session.
fn run(file: &Path) -> (String, Vec<String>) {
    // Tables of operations show the name, which must not depend on the place of the repository.
    let (name, text) = (short(file), std::fs::read_to_string(file).expect("a lesson can be read"));
    let seen = Seen::default();
    let streams = Streams { output: Box::new(seen.clone()), screen: Box::new(seen.clone()), ..Streams::silent() };
    let outcome = Session::with(Options::default(), streams).run(&[Input { name: &name, text: &text }]);
    assert_eq!((outcome.status, outcome.diagnostics), (Status::Done, vec![]), "{name}");
    let text = String::from_utf8(seen.text.borrow().clone()).expect("the output is UTF-8");
    let drawings = seen.drawings.borrow().clone();
    (text, drawings)
}

/// Compares a result with a file, or writes the file.
fn compare(file: &Path, found: &str) {
    if blessing() {
        std::fs::write(file, found).expect("the expected output can be written");
        return;
    }
    let wanted = std::fs::read_to_string(file).unwrap_or_default();
    assert!(wanted == found, "{}:\n{}", short(file), difference(&wanted, found));
}

#[test]
fn lessons_produce_the_stored_output() {
    let lessons = files(&root().join("scripts/lessons"), &["dscript"]);
    assert_eq!(lessons.len(), 40);
    for lesson in lessons {
        let name = lesson.file_stem().expect("a lesson has a name").to_string_lossy().into_owned();
        let (text, drawings) = run(&lesson);
        let kept = root().join("tests/lessons");
        compare(&kept.join(format!("{name}.txt")), &text);
        if let Some(drawing) = drawings.last() {
            assert!(drawing.ends_with("</svg>\n") || drawing.ends_with("</svg>"), "{name}");
            compare(&kept.join(format!("{name}.svg")), drawing);
        }
    }
}
