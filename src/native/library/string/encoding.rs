//! String encoding: converts strings to UTF-8 bytes, UTF-16 code units and scalar values, and back.

use crate::native::library::context::{Failure, NativeContext};
use crate::native::library::{NativeFunction, array};
use crate::value::{Cells, Ref};
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(in crate::native::library) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "text.bytes", call: |c| codes(c, |t| t.bytes().map(i64::from).collect()) },
    NativeFunction { name: "text.units", call: |c| codes(c, |t| t.encode_utf16().map(i64::from).collect()) },
    NativeFunction {
        name: "text.scalars",
        call: |c| codes(c, |t| t.chars().map(|s| i64::from(u32::from(s))).collect()),
    },
    NativeFunction { name: "text.ofBytes", call: of_bytes },
    NativeFunction { name: "text.ofScalars", call: of_scalars },
];

fn codes(c: Call<'_, '_>, of: fn(&str) -> Vec<i64>) -> Result<(), Failure> {
    let text = c.text()?;
    array::affordable(c.host, text.len(), size_of::<i64>())?;
    let i = of(&text);
    let cells = Cells::integers(i);
    c.return_reference(Ref::Cells(Rc::new(cells)))
}

/// Reads an array of integers from the arguments.
fn numbers(c: Call<'_, '_>) -> Result<Rc<Cells>, Failure> {
    c.array(crate::value::shape::Layout { f: 0, i: 1, r: 0 })
}

/// Decodes bytes as UTF-8 text; invalid sequences are replaced.
fn of_bytes(c: Call<'_, '_>) -> Result<(), Failure> {
    let bytes: Vec<u8> = numbers(c)?.i.iter().map(|byte| *byte as u8).collect();
    c.return_text(String::from_utf8_lossy(&bytes).as_ref())
}

fn of_scalars(c: Call<'_, '_>) -> Result<(), Failure> {
    let scalar = |code: &i64| u32::try_from(*code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    let text: String = numbers(c)?.i.iter().map(scalar).collect();
    c.return_text(text)
}
