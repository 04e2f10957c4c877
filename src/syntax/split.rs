//! Cuts a text of top-level declarations into pieces, without reading them: the standard library is parsed piece by
//! piece, when a name is first needed.

use super::scan::is_word;
use std::ops::Range;

/// What a piece declares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChunkKind {
    /// `func`, and formulas
    Func,
    /// `struct`, `enum`, `class`
    Type,
    /// `protocol`
    Protocol,
    /// `extension`
    Extension,
    /// `let`, `var`
    Variable,
    /// `operator`
    Operator,
    /// `precedencegroup`
    PrecedenceGroup,
    /// `typealias`
    TypeAlias,
    /// `import`
    Import,
    /// A statement that declares nothing.
    Other,
}

/// A piece of a text: one top-level declaration with its attributes and documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// What it declares.
    pub kind: ChunkKind,
    /// The name that it declares; of an extension the base name of the extended type.
    pub name: String,
}

/// Cuts a text into its top-level declarations. Every byte that matters is in exactly one piece. `#if` is not looked at.
pub fn split(text: &str) -> Vec<Chunk> {
    let mut splitter = Splitter { text, bytes: text.as_bytes(), at: 0 };
    let mut chunks = vec![];
    while let Some(chunk) = splitter.next_chunk() {
        chunks.push(chunk);
    }
    chunks
}

struct Splitter<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

impl Splitter<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Moves behind `needle`, or to the end.
    fn skip_past(&mut self, needle: &str) {
        self.at = self.text[self.at..].find(needle).map_or(self.bytes.len(), |n| self.at + n + needle.len());
    }

    fn skip_comment(&mut self) {
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => (depth, self.at) = (depth + 1, self.at + 2),
                (b'*', b'/') if depth == 1 => return self.at += 2,
                (b'*', b'/') => (depth, self.at) = (depth - 1, self.at + 2),
                _ => self.at += 1,
            }
        }
    }

    /// Moves behind a string literal and its interpolations.
    fn skip_string(&mut self) {
        let hashes = self.bytes[self.at..].iter().take_while(|b| **b == b'#').count();
        self.at += hashes;
        let count = if self.text[self.at..].starts_with("\"\"\"") { 3 } else { 1 };
        self.at += count;
        let ends = |bytes: &[u8], at: usize, count: usize, byte: u8| {
            bytes.get(at..at + count).is_some_and(|b| b.iter().all(|b| *b == byte))
        };
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' if ends(self.bytes, self.at, count, b'"') && ends(self.bytes, self.at + count, hashes, b'#') => {
                    self.at += count + hashes;
                    return;
                }
                b'\\' if ends(self.bytes, self.at + 1, hashes, b'#') => {
                    self.at += 1 + hashes;
                    if self.peek(0) == b'(' {
                        self.skip_brackets();
                    } else {
                        self.at += 1;
                    }
                }
                b'\n' if count == 1 => return,
                _ => self.at += 1,
            }
        }
    }

    /// Moves behind the bracket that closes the one here.
    fn skip_brackets(&mut self) {
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'(' | b'[' | b'{' => (depth, self.at) = (depth + 1, self.at + 1),
                b')' | b']' | b'}' => {
                    self.at += 1;
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.skip_token(),
            }
        }
    }

    /// Moves behind one comment, string or byte.
    fn skip_token(&mut self) {
        match self.peek(0) {
            b'/' if self.peek(1) == b'/' => self.skip_past("\n"),
            b'/' if self.peek(1) == b'*' => self.skip_comment(),
            b'"' => self.skip_string(),
            b'#' if self.is_raw_string() => self.skip_string(),
            byte if is_word(byte) => self.skip_word(),
            _ => self.at += 1,
        }
    }

    fn is_raw_string(&self) -> bool {
        self.bytes[self.at..].iter().find(|b| **b != b'#') == Some(&b'"')
    }

    fn skip_word(&mut self) {
        while is_word(self.peek(0)) {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    /// Moves over blanks and comments.
    fn skip_space(&mut self) {
        loop {
            self.skip_blanks();
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') => self.skip_past("\n"),
                (b'/', b'*') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// The next declaration, from its documentation to its end.
    fn next_chunk(&mut self) -> Option<Chunk> {
        let mut start = None;
        loop {
            self.skip_blanks();
            let from = self.at;
            match self.peek(0) {
                _ if from >= self.bytes.len() => return None,
                b';' => self.at += 1,
                // Documentation belongs to what follows, an ordinary comment to nothing.
                b'/' if self.peek(1) == b'/' => {
                    if self.peek(2) == b'/' {
                        start.get_or_insert(from);
                    }
                    self.skip_past("\n");
                }
                b'/' if self.peek(1) == b'*' => self.skip_comment(),
                b'#' if from == 0 && self.peek(1) == b'!' => self.skip_past("\n"),
                _ => {
                    let (kind, name) = self.header();
                    self.skip_declaration(kind);
                    // A stray byte must not hold the splitter up.
                    self.at = self.at.max(from + 1).min(self.bytes.len());
                    while !self.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                    return Some(Chunk { range: start.unwrap_or(from)..self.at, kind, name });
                }
            }
        }
    }

    fn word(&mut self) -> &str {
        self.skip_blanks();
        let from = self.at;
        if self.peek(0) == b'`' {
            self.at += 1;
            self.skip_word();
            self.at = (self.at + 1).min(self.bytes.len());
            return self.text.get(from + 1..self.at.saturating_sub(1)).unwrap_or("");
        }
        self.skip_word();
        &self.text[from..self.at]
    }

    /// Reads attributes, modifiers, the keyword and the name.
    fn header(&mut self) -> (ChunkKind, String) {
        loop {
            self.skip_space();
            if self.peek(0) == b'@' {
                self.at += 1;
                self.skip_word();
                if self.peek(0) == b'(' {
                    self.skip_brackets();
                }
                continue;
            }
            let from = self.at;
            let kind = match self.word() {
                "func" => ChunkKind::Func,
                "class" => {
                    let behind = self.at;
                    let is_modifier = matches!(self.word(), "func" | "var" | "let" | "subscript");
                    self.at = behind;
                    if is_modifier {
                        continue;
                    }
                    ChunkKind::Type
                }
                "struct" | "enum" => ChunkKind::Type,
                "protocol" => ChunkKind::Protocol,
                "extension" => ChunkKind::Extension,
                "let" | "var" => ChunkKind::Variable,
                "operator" => ChunkKind::Operator,
                "precedencegroup" => ChunkKind::PrecedenceGroup,
                "typealias" => ChunkKind::TypeAlias,
                "import" => ChunkKind::Import,
                word if is_modifier(word) => {
                    if self.peek(0) == b'(' {
                        self.skip_brackets();
                    }
                    continue;
                }
                word => {
                    let name = word.to_owned();
                    return self.formula(name, from);
                }
            };
            let name = self.declared_name(kind);
            return (kind, name);
        }
    }

    /// `f(x) = …` declares `f`; anything else is a statement.
    fn formula(&mut self, name: String, from: usize) -> (ChunkKind, String) {
        if !name.is_empty() && self.peek(0) == b'(' {
            self.skip_brackets();
            self.skip_blanks();
            if self.peek(0) == b'=' && self.peek(1) != b'=' {
                return (ChunkKind::Func, name);
            }
        }
        self.at = from;
        (ChunkKind::Other, String::new())
    }

    fn declared_name(&mut self, kind: ChunkKind) -> String {
        self.skip_blanks();
        match (kind, self.peek(0)) {
            (ChunkKind::Variable, b'(') => {
                let from = self.at;
                self.skip_brackets();
                let inside = self.text[from..self.at].trim_matches(['(', ')']);
                inside.split(',').map(str::trim).collect::<Vec<_>>().join(",")
            }
            (_, b'"') => String::new(),
            (_, byte) if is_word(byte) && !self.at_root_sign() || byte == b'`' => self.word().to_owned(),
            _ => {
                let from = self.at;
                while !matches!(self.peek(0), b' ' | b'\n' | b'(' | b'{' | b':' | 0) {
                    // `func ==<T>(` ends before the generic parameters.
                    if self.at > from && self.peek(0) == b'<' && (is_word(self.peek(1)) && self.peek(1) < 0x80) {
                        break;
                    }
                    self.at += 1;
                }
                self.text.get(from..self.at).unwrap_or("").to_owned()
            }
        }
    }

    /// Operators beyond ASCII look like words to the bytes; the name is everything up to the brackets either way.
    fn at_root_sign(&self) -> bool {
        self.text[self.at..].starts_with(['√', '∛', '∘', '≈', '·', '×', '±', '∇', '∂', '≤', '≥', '≠'])
    }

    /// Moves to the end of the declaration whose header was read.
    fn skip_declaration(&mut self, kind: ChunkKind) {
        let mut last = 0u8;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'{' => {
                    self.skip_brackets();
                    let ends = matches!(
                        kind,
                        ChunkKind::Func
                            | ChunkKind::Type
                            | ChunkKind::Protocol
                            | ChunkKind::Extension
                            | ChunkKind::PrecedenceGroup
                    );
                    // A formula may end with a closure and go on.
                    if ends && !self.goes_on(b'}') {
                        return;
                    }
                    last = b'}';
                }
                b'(' | b'[' => {
                    self.skip_brackets();
                    last = b')';
                }
                b';' => return self.at += 1,
                b'\n' if !self.goes_on(last) => return,
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                // The comment ends the line, not the declaration.
                b'/' if self.peek(1) == b'/' => {
                    self.at = self.text[self.at..].find('\n').map_or(self.bytes.len(), |n| self.at + n);
                }
                b'-' if self.peek(1) == b'>' => (self.at, last) = (self.at + 2, b'-'),
                byte => {
                    self.skip_token();
                    last = byte;
                    if is_word(byte) && self.ends_open() {
                        last = b',';
                    }
                }
            }
        }
    }

    /// Whether the word just read cannot end a line.
    fn ends_open(&self) -> bool {
        ["where", " in", " throws"].iter().any(|w| self.text[..self.at].ends_with(w))
    }

    /// Whether a declaration goes on behind the end of a line, `last` being its last byte.
    fn goes_on(&self, last: u8) -> bool {
        if matches!(last, b'=' | b',' | b'<' | b'+' | b'-' | b'*' | b'/' | b'&' | b'|' | b':' | b'^' | b'%') {
            return true;
        }
        let mut ahead = Splitter { text: self.text, bytes: self.bytes, at: self.at };
        ahead.skip_space();
        let rest = &self.text[ahead.at..];
        let spaced = |rest: &str| {
            let end = rest.bytes().position(|b| !b"+-*/=<>&|^%?:".contains(&b)).unwrap_or(rest.len());
            end > 0 && !rest.starts_with("//") && !rest.starts_with("/*") && rest[end..].starts_with([' ', '\n'])
        };
        match rest.bytes().next() {
            Some(b'{') => last != b'}',
            Some(b'.') => true,
            // Generic parameters on lines of their own.
            Some(b'>') if rest.starts_with(">(") => true,
            Some(b'?' | b'+' | b'-' | b'*' | b'/' | b'=' | b'<' | b'>' | b'&' | b'|' | b'^' | b'%' | b':') => {
                spaced(rest)
            }
            Some(_) => ["where ", "else ", "catch ", "throws ", "rethrows "].iter().any(|w| rest.starts_with(w)),
            None => false,
        }
    }
}

fn is_modifier(word: &str) -> bool {
    matches!(
        word,
        "public"
            | "private"
            | "fileprivate"
            | "internal"
            | "open"
            | "final"
            | "indirect"
            | "prefix"
            | "postfix"
            | "infix"
            | "static"
            | "lazy"
            | "weak"
            | "override"
            | "mutating"
    )
}
