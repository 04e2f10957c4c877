//! Image: the compiled form of a program, a file that another run of the same dscript starts from.
//!
//! After a header (what it is, by which dscript it was written, how long it is, a checksum) is the program as
//! MessagePack. Whatever is wrong with a file is said before anything of it runs; the code in it is verified like fresh
//! code when the machine first needs it.

use super::Code;
use crate::native::formula::Written;
use crate::value::shape::{ShapeId, StoredShapes, StoredTangents};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::rc::Rc;

/// What every compiled program begins with. The byte after the name is no text, so no script begins like this.
const MAGIC: [u8; 8] = *b"dscript\x1a";

/// The version of what follows the header.
const FORMAT: u32 = 11;

/// Magic, format, identity of the compiler, length and checksum of the rest.
const HEADER: usize = 8 + 4 + 4 + 8 + 4;

/// A compiled program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Image {
    /// Names and texts of the files, for messages.
    pub files: Vec<(String, String)>,
    /// By number of the function its codes: original, derivative, and the derivative beneath registered ones. Some are
    /// too large for the machine and missing.
    pub functions: Vec<[Option<Rc<Code>>; 3]>,
    /// The shapes of values.
    pub shapes: StoredShapes,
    /// How types differentiate.
    pub tangents: StoredTangents,
    /// How many global components there are in each bank.
    pub globals: [u32; 3],
    /// The functions that write a value as its type declares it: alone, and inside of another value.
    pub own_texts: Vec<[u32; 2]>,
    /// Which function a method is for a type.
    pub methods: Vec<(u32, ShapeId, u32)>,
    /// The names of functions at the top level, and what their parameters are called: what explanations need.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Functions as formulas, by number, or why they are none; nothing of a program that does not ask for any.
    pub formulas: Vec<(u32, Result<Written, String>)>,
    /// Whether derivative code looks for branches that are differentiated exactly at their thresholds.
    pub marks_thresholds: bool,
    /// The graphs of the functions, of which tangent and adjoint code is made; empty where nothing is differentiated. They
    /// are the compiler's, and the file knows nothing of what is in them.
    pub graphs: Bytes,
    /// The function to begin with.
    pub script: u32,
}

/// Bytes that are stored as they are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'d> Deserialize<'d> for Bytes {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Bytes, D::Error> {
        struct Visit;
        impl Visitor<'_> for Visit {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }
        from.deserialize_byte_buf(Visit)
    }
}

/// Why a file is no compiled program that can be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damaged {
    /// It was written by another version of dscript.
    Foreign,
    /// It ends too early.
    Truncated,
    /// Its content is not what was written.
    Changed,
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Damaged::Foreign => "it was compiled by another version of dscript; build it again from its source",
            Damaged::Truncated => "the compiled program is truncated; build it again from its source",
            Damaged::Changed => "the compiled program is damaged; build it again from its source",
        })
    }
}

impl Image {
    /// Whether a file is a compiled program, whole or not.
    pub fn is_compiled(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The file. `identity` is the compiler's: only the same one reads it again.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn to_bytes(&self, identity: u32) -> Result<Vec<u8>, String> {
        let body = rmp_serde::to_vec(self).map_err(|error| error.to_string())?;
        let mut out = Vec::with_capacity(HEADER + body.len());
        out.extend(MAGIC);
        out.extend(FORMAT.to_le_bytes());
        out.extend(identity.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(crc32fast::hash(&body).to_le_bytes());
        out.extend(body);
        Ok(out)
    }

    /// The program in a file.
    ///
    /// # Errors
    /// [`Damaged`] when it is not what [`to_bytes`](Image::to_bytes) of the same compiler has written.
    pub fn from_bytes(bytes: &[u8], identity: u32) -> Result<Image, Damaged> {
        let damage = if MAGIC.starts_with(bytes) { Damaged::Truncated } else { Damaged::Changed };
        let rest = bytes.strip_prefix(&MAGIC).ok_or(damage)?;
        let (format, rest) = number::<4>(rest)?;
        let (compiler, rest) = number::<4>(rest)?;
        if format != u64::from(FORMAT) || compiler != u64::from(identity) {
            return Err(Damaged::Foreign);
        }
        let (length, rest) = number::<8>(rest)?;
        let (checksum, body) = number::<4>(rest)?;
        if (body.len() as u64) < length {
            return Err(Damaged::Truncated);
        }
        if body.len() as u64 != length || u64::from(crc32fast::hash(body)) != checksum {
            return Err(Damaged::Changed);
        }
        rmp_serde::from_slice(body).map_err(|_| Damaged::Changed)
    }
}

/// A number of the header, and what is after it.
fn number<const N: usize>(bytes: &[u8]) -> Result<(u64, &[u8]), Damaged> {
    let (first, rest) = bytes.split_first_chunk::<N>().ok_or(Damaged::Truncated)?;
    let mut value = [0; 8];
    value[..N].copy_from_slice(first);
    Ok((u64::from_le_bytes(value), rest))
}
