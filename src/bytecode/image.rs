//! Image: the compiled form of a program, a file that the same version of dscript can run.
//!
//! The header (magic number, version of dscript, length, checksum) is followed by the program as MessagePack. An
//! invalid file is rejected before anything of it runs; its code is verified like newly compiled code when the machine
//! first runs it.

use super::Code;
use crate::native::formula::FormulaRecord;
use crate::value::hashing::checksum;
use crate::value::shape::{ShapeId, StoredShapes, StoredTangents};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::rc::Rc;

/// The magic number of compiled programs. The byte after the name is a control character, so no script begins like
/// this.
const MAGIC: [u8; 8] = *b"dscript\x1a";

/// The version of the file format after the header.
const FORMAT: u32 = 14;

/// The size of the header: magic number, format, identity of the compiler, length and checksum of the program.
const HEADER: usize = 8 + 4 + 4 + 8 + 4;

/// A compiled program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Image {
    /// The names and contents of the source files, for messages.
    pub files: Vec<(String, String)>,
    /// The codes of each function: the original, the derivative, and the derivative of its body for a function with
    /// registered derivatives. Codes that exceed the limits of the machine are missing.
    pub functions: Vec<[Option<Rc<Code>>; 3]>,
    /// The shapes of the program's types.
    pub shapes: StoredShapes,
    /// The tangent types of the program's types.
    pub tangents: StoredTangents,
    /// The number of components of global variables in each bank.
    pub globals: [u32; 3],
    /// The functions that describe a value of a type with a custom description: one for a value alone, and one for a
    /// value inside another value.
    pub custom_descriptions: Vec<Option<[u32; 2]>>,
    /// The dispatch table: a method, a type, and the function that implements the method for the type.
    pub methods: Vec<(u32, ShapeId, u32)>,
    /// The names of top-level functions and of their parameters, for explanations.
    pub parameters: Vec<(String, Vec<String>)>,
    /// The functions of the program as formulas, or the reason why a function is none, by function; empty if the
    /// program does not use formulas.
    pub formulas: Vec<(u32, FormulaRecord)>,
    /// Whether derivative code detects branches that are differentiated exactly at their thresholds.
    pub marks_thresholds: bool,
    /// The graphs of the functions, from which tangent and adjoint code is derived; empty if nothing is differentiated.
    /// Their format is internal to the compiler.
    pub graphs: Bytes,
    /// The number of the function that runs first.
    pub script: u32,
}

/// A sequence of bytes that is stored without further encoding.
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

/// The reason why a file is not a compiled program that can be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// The file was written by another version of dscript.
    Foreign,
    /// The file is incomplete.
    Truncated,
    /// The content of the file was changed.
    Changed,
}

impl std::fmt::Display for ImageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ImageError::Foreign => "it was compiled by another version of dscript; build it again from its source",
            ImageError::Truncated => "the compiled program is truncated; build it again from its source",
            ImageError::Changed => "the compiled program is damaged; build it again from its source",
        })
    }
}

impl Image {
    /// Whether a file is a compiled program, even an incomplete one.
    pub fn is_compiled(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Serializes the program. `identity` identifies the compiler: only the same compiler can read the file.
    ///
    /// # Errors
    /// Fails if a part cannot be serialized.
    pub fn to_bytes(&self, identity: u32) -> Result<Vec<u8>, String> {
        let body = rmp_serde::to_vec(self).map_err(|error| error.to_string())?;
        let mut out = Vec::with_capacity(HEADER + body.len());
        out.extend(MAGIC);
        out.extend(FORMAT.to_le_bytes());
        out.extend(identity.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(checksum(&body).to_le_bytes());
        out.extend(body);
        Ok(out)
    }

    /// Reads a compiled program from the bytes of a file.
    ///
    /// # Errors
    /// [`ImageError`] if the file was not written by [`to_bytes`](Image::to_bytes) of the same compiler.
    pub fn from_bytes(bytes: &[u8], identity: u32) -> Result<Image, ImageError> {
        let damage = if MAGIC.starts_with(bytes) { ImageError::Truncated } else { ImageError::Changed };
        let rest = bytes.strip_prefix(&MAGIC).ok_or(damage)?;
        let (format, rest) = number::<4>(rest)?;
        let (compiler, rest) = number::<4>(rest)?;
        if format != u64::from(FORMAT) || compiler != u64::from(identity) {
            return Err(ImageError::Foreign);
        }
        let (length, rest) = number::<8>(rest)?;
        let (expected, body) = number::<4>(rest)?;
        if (body.len() as u64) < length {
            return Err(ImageError::Truncated);
        }
        if body.len() as u64 != length || u64::from(checksum(body)) != expected {
            return Err(ImageError::Changed);
        }
        rmp_serde::from_slice(body).map_err(|_| ImageError::Changed)
    }
}

/// Reads a number from the header; returns the number and the remaining bytes.
fn number<const N: usize>(bytes: &[u8]) -> Result<(u64, &[u8]), ImageError> {
    let (first, rest) = bytes.split_first_chunk::<N>().ok_or(ImageError::Truncated)?;
    let mut value = [0; 8];
    value[..N].copy_from_slice(first);
    Ok((u64::from_le_bytes(value), rest))
}
