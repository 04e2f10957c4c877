//! Source map: all source texts of a session in one space of byte offsets.

use super::Span;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

/// The displayed name of the programs that the session generates from an input, which are not shown.
pub const GENERATED: &str = "‹generated›";

/// The index of a source in its [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A source text and its range of offsets.
#[derive(Debug)]
pub struct Source {
    /// The displayed name of the source: a path, `<stdin>`, `‹3›`.
    pub name: Rc<str>,
    /// The complete text of the source.
    pub text: Cow<'static, str>,
    /// The offset of the first byte of the source.
    pub start: u32,
    /// The offset of the first byte of each line, computed when an offset is first resolved.
    lines: OnceCell<Vec<u32>>,
}

impl Source {
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let ends = self.text.bytes().zip(self.start..).filter(|(b, _)| *b == b'\n');
            std::iter::once(self.start).chain(ends.map(|(_, at)| at + 1)).collect()
        })
    }
}

/// A resolved source location: source, line and column. Lines and columns count from 1, and the column counts
/// characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name of the source.
    pub name: Rc<str>,
    /// The line of the source location, from 1.
    pub line: u32,
    /// The column of the source location in characters, from 1.
    pub column: u32,
}

/// A source file of the standard library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryFile {
    /// The name of the file in diagnostics.
    pub name: &'static str,
    /// The source text of the file.
    pub text: &'static str,
}

/// All source texts of a session.
#[derive(Default, Debug)]
pub struct SourceMap {
    /// The files of the standard library, which come first.
    files: &'static [LibraryFile],
    /// The offset after the standard library.
    library_end: u32,
    /// The sources of the standard library, created when one of them is first needed: most programs need none.
    library: OnceCell<Vec<Source>>,
    /// The source texts of the program.
    written: Vec<Source>,
}

impl SourceMap {
    /// Creates a map of the source texts of the standard library.
    pub fn of_library(files: &'static [LibraryFile]) -> SourceMap {
        let library_end = files.iter().map(|file| file.text.len() as u32 + 1).sum();
        SourceMap { files, library_end, ..SourceMap::default() }
    }

    /// Adds a source text; returns `None` when the shared space of 4 GiB is exhausted.
    pub fn add(&mut self, name: &str, text: impl Into<Cow<'static, str>>) -> Option<SourceId> {
        let text = text.into();
        let end = |last: &Source| last.start.checked_add(last.text.len() as u32 + 1);
        let start = self.written.last().map_or(Some(self.library_end), end)?;
        start.checked_add(u32::try_from(text.len()).ok()?.checked_add(1)?)?;
        self.written.push(Source { name: name.into(), text, start, lines: OnceCell::new() });
        Some(SourceId((self.files.len() + self.written.len()) as u32 - 1))
    }

    /// Returns the source texts of the program.
    pub fn written(&self) -> impl Iterator<Item = &Source> {
        self.written.iter()
    }

    /// Returns the source texts of the standard library.
    pub fn prelude(&self) -> &[Source] {
        self.library.get_or_init(|| {
            let mut start = 0;
            let source = |file: &LibraryFile| {
                let (name, text) = (file.name.into(), Cow::Borrowed(file.text));
                let source = Source { name, text, start, lines: OnceCell::new() };
                start += file.text.len() as u32 + 1;
                source
            };
            self.files.iter().map(source).collect()
        })
    }

    /// Returns the source with the index `id`.
    pub fn get(&self, id: SourceId) -> &Source {
        match (id.0 as usize).checked_sub(self.files.len()) {
            Some(written) => &self.written[written],
            None => &self.prelude()[id.0 as usize],
        }
    }

    /// Returns the source that contains a span; `None` for an empty map.
    pub fn source_of(&self, span: Span) -> Option<SourceId> {
        let index = |sources: &[Source]| sources.partition_point(|s| s.start <= span.start).checked_sub(1);
        let index = match self.is_prelude(span) {
            true => index(self.prelude())?,
            false => self.files.len() + index(&self.written)?,
        };
        Some(SourceId(index as u32))
    }

    /// Whether two spans lie in the same source.
    pub fn same_source(&self, a: Span, b: Span) -> bool {
        self.source_of(a) == self.source_of(b)
    }

    /// Whether a span lies in the standard library.
    pub fn is_prelude(&self, span: Span) -> bool {
        span.start < self.library_end
    }

    /// Whether a span lies in a generated program.
    pub fn is_generated(&self, span: Span) -> bool {
        let is_generated = |id| &*self.get(id).name == GENERATED;
        !self.is_prelude(span) && self.source_of(span).is_some_and(is_generated)
    }

    /// Resolves an offset to a source, line and column.
    pub fn place(&self, position: u32) -> Option<Place> {
        let source = self.get(self.source_of(Span::new(position, position))?);
        let lines = source.lines();
        let line = lines.partition_point(|l| *l <= position) - 1;
        let (from, to) = ((lines[line] - source.start) as usize, (position - source.start) as usize);
        let column = source.text.get(from..to.min(source.text.len())).map_or(to - from, |t| t.chars().count());
        Some(Place { name: source.name.clone(), line: line as u32 + 1, column: column as u32 + 1 })
    }

    /// Returns the source text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        let Some(id) = self.source_of(span) else { return "" };
        let source = self.get(id);
        source.text.get((span.start - source.start) as usize..(span.end - source.start) as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_leads_back_to_its_line() {
        let mut map = SourceMap::default();
        map.add("a", "let x = 1\nŷ = 2");
        map.add("b", "x");
        let place = map.place(13).unwrap();
        assert_eq!((&*place.name, place.line, place.column), ("a", 2, 3));
        assert_eq!(&*map.place(17).unwrap().name, "b");
    }

    #[test]
    fn the_library_comes_first() {
        const FILES: &[LibraryFile] =
            &[LibraryFile { name: "one", text: "1\n2" }, LibraryFile { name: "two", text: "" }];
        let mut map = SourceMap::of_library(FILES);
        let id = map.add("own", "x").unwrap();
        assert_eq!((id, map.get(id).start, map.written().count()), (SourceId(2), 5, 1));
        assert!(map.is_prelude(Span::new(4, 4)) && !map.is_prelude(Span::new(5, 6)));
        let name = |at| map.place(at).unwrap().name;
        assert_eq!([0, 3, 4, 5].map(|at| name(at).to_string()), ["one", "one", "two", "own"]);
        assert_eq!(map.place(2).unwrap().line, 2);
    }
}
