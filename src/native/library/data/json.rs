//! JSON: text as a stream of values, and strings with escapes.

use crate::cancel;
use crate::native::library::context::{Failure, NativeContext};
use crate::native::library::string::texts;
use crate::native::library::{NativeFunction, array};
use crate::value::{Cells, Ref};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(in crate::native::library) const TABLE: &[NativeFunction] =
    &[NativeFunction { name: "json.parse", call: parse }, NativeFunction { name: "json.quote", call: quote }];

/// The kinds of values in a stream, by their numbers in the prelude.
#[derive(Clone, Copy)]
enum Kind {
    Null,
    False,
    True,
    Number,
    /// An integer that a number cannot represent; its digits follow as a string.
    Integer,
    String,
    /// An array: the number of elements follows, then the elements.
    Array,
    /// An object: the number of members follows, then the members, each with a string before its value.
    Object,
}

/// A JSON value as a stream: the kinds of the values in it in order, and those that are numbers and strings.
#[derive(Clone, Debug, Default)]
pub struct JSONStream {
    /// The kinds of the values, with the sizes of arrays and objects.
    pub kinds: Vec<i64>,
    /// The values that are numbers.
    pub numbers: Vec<f64>,
    /// The values that are strings, and the names of members.
    pub texts: Vec<Rc<str>>,
}

/// The messages of the parser, with equivalents that do not use the terms of the parser.
const REASONS: [(&str, &str); 9] = [
    ("EOF while parsing a list", "the text ends inside an array"),
    ("EOF while parsing an object", "the text ends inside an object"),
    ("EOF while parsing a string", "the text ends inside a string"),
    ("EOF while parsing a value", "the text ends where a value is expected"),
    ("expected value", "a value is expected"),
    ("expected ident", "'true', 'false' or 'null' is expected"),
    ("key must be a string", "a key in quotation marks is expected"),
    ("trailing characters", "there is more text after the value"),
    ("recursion limit exceeded", "the values are nested too deeply"),
];

/// Parses a text. An error has a reason, a line and a column.
///
/// # Errors
/// Fails if the text is not exactly one JSON value.
pub fn stream_of(text: &str) -> Result<JSONStream, (String, usize, usize)> {
    let mut stream = JSONStream::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let parsed = Writer(&mut stream).deserialize(&mut reader).and_then(|()| reader.end());
    parsed.map(|()| stream).map_err(|error| {
        let message = error.to_string();
        let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
        let reason = REASONS.iter().find(|(known, _)| *known == reason).map_or(reason, |(_, plain)| plain);
        let (line, column) = place(text, error.line(), error.column());
        (reason.to_owned(), line, column)
    })
}

/// Converts a line and a column in bytes, as the parser reports them, to a line and a column in characters. The parser
/// reports an unexpected end of a line at the beginning of the next line.
fn place(text: &str, line: usize, bytes: usize) -> (usize, usize) {
    let line_text = |line: usize| text.split('\n').nth(line.wrapping_sub(1)).unwrap_or_default();
    if bytes == 0 && line > 1 {
        return (line - 1, line_text(line - 1).chars().count() + 1);
    }
    let before = line_text(line).char_indices().take_while(|(at, _)| *at < bytes).count();
    (line, before.max(1))
}

fn parse(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = c.text()?;
    array::affordable(c.host, text.len(), size_of::<i64>())?;
    let (stream, failed) = match stream_of(&text) {
        Ok(stream) => (stream, vec![]),
        Err((reason, line, column)) => (JSONStream::default(), vec![reason, line.to_string(), column.to_string()]),
    };
    c.return_reference(Ref::Cells(Rc::new(Cells::integers(stream.kinds))))?;
    c.return_reference(Ref::Cells(Rc::new(Cells::numbers(stream.numbers))))?;
    c.return_reference(texts(stream.texts))?;
    c.return_reference(texts(failed))
}

/// Encloses a string in quotation marks, with escapes.
fn quote(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = c.text()?;
    // The serialization of a string cannot fail.
    let quoted = serde_json::to_string(&*text).unwrap_or_default();
    c.return_text(quoted)
}

/// The largest integer up to which a number represents every integer.
const MAX_EXACT: i64 = 1 << 53;

/// A serializer that appends a value to a stream.
struct Writer<'a>(&'a mut JSONStream);

impl Writer<'_> {
    fn add(&mut self, kind: Kind) {
        if self.0.kinds.len().is_multiple_of(cancel::CHECK_INTERVAL) {
            cancel::check();
        }
        self.0.kinds.push(kind as i64);
    }

    fn add_number(&mut self, value: f64) {
        self.add(Kind::Number);
        self.0.numbers.push(value);
    }

    /// Adds a container whose size is not known yet; returns the index of the size in the stream.
    fn begin(&mut self, kind: Kind) -> usize {
        self.add(kind);
        self.0.kinds.push(0);
        self.0.kinds.len() - 1
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(mut self) -> Result<(), E> {
        self.add(Kind::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        self.add(if value { Kind::True } else { Kind::False });
        Ok(())
    }

    fn visit_i64<E: Error>(mut self, value: i64) -> Result<(), E> {
        if value.abs_diff(0) <= MAX_EXACT.unsigned_abs() {
            self.add_number(value as f64);
        } else {
            self.add(Kind::Integer);
            self.0.kinds.push(value);
        }
        Ok(())
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => {
                self.add_number(value as f64);
                Ok(())
            }
        }
    }

    fn visit_f64<E: Error>(mut self, value: f64) -> Result<(), E> {
        self.add_number(value);
        Ok(())
    }

    fn visit_str<E: Error>(mut self, value: &str) -> Result<(), E> {
        self.add(Kind::String);
        self.0.texts.push(value.into());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        let (at, mut count) = (self.begin(Kind::Array), 0);
        while elements.next_element_seed(Writer(self.0))?.is_some() {
            count += 1;
        }
        self.0.kinds[at] = count;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let (at, mut count) = (self.begin(Kind::Object), 0);
        while let Some(key) = members.next_key::<String>()? {
            self.0.texts.push(key.into());
            members.next_value_seed(Writer(self.0))?;
            count += 1;
        }
        self.0.kinds[at] = count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_stream_in_order() {
        let stream = stream_of(r#"{"a": [1, 2.5, null], "b": "\u00e9\n", "c": {"d": true}}"#).unwrap();
        assert_eq!(stream.kinds, [7, 3, 6, 3, 3, 3, 0, 5, 7, 1, 2]);
        assert_eq!(stream.numbers, [1.0, 2.5]);
        assert_eq!(stream.texts.iter().map(|t| &**t).collect::<Vec<_>>(), ["a", "b", "é\n", "c", "d"]);
        assert_eq!(stream_of("[]").unwrap().kinds, [6, 0]);
    }

    #[test]
    fn numbers_are_exact() {
        let stream =
            stream_of("[9007199254740993, -9007199254740993, 9007199254740992, 18446744073709551615]").unwrap();
        assert_eq!(stream.kinds, [6, 4, 4, 9_007_199_254_740_993, 4, -9_007_199_254_740_993, 3, 3]);
        assert_eq!(stream.numbers, [9_007_199_254_740_992.0, 18_446_744_073_709_551_615.0]);
        for number in ["0.1", "2.2250738585072011e-308", "1.7976931348623157e308", "123456.789e-7", "-0.0"] {
            let parsed = stream_of(number).unwrap().numbers[0];
            assert_eq!(parsed.to_bits(), number.parse::<f64>().unwrap().to_bits(), "{number}");
        }
    }

    #[test]
    fn an_error_has_a_place() {
        let error = |text: &str| stream_of(text).unwrap_err();
        let ident = "'true', 'false' or 'null' is expected";
        assert_eq!(error("{\n  \"a\": tru\n}"), (ident.into(), 2, 11));
        assert_eq!(error("[\"éé\", trup]"), (ident.into(), 1, 11));
        assert_eq!(error("[1, 2,]"), ("trailing comma".into(), 1, 7));
        assert_eq!(error("1 2"), ("there is more text after the value".into(), 1, 3));
        assert_eq!(error(""), ("the text ends where a value is expected".into(), 1, 1));
        assert_eq!(error("[1,\n"), ("the text ends where a value is expected".into(), 1, 4));
        assert_eq!(error(&"[".repeat(1000)), ("the values are nested too deeply".into(), 1, 128));
        assert!(error("1e999").0.contains("number out of range"));
    }
}
