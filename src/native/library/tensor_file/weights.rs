//! The format of dscript for tensors with names: a map in MessagePack with the name of the format, its version, and the tensors.

use super::NamedTensor;
use super::scalars::{Encoding, bytes_of};
use crate::tensor::ScalarKind;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

const FORMAT: &str = "dscript tensors";
const VERSION: u32 = 1;

/// The first entries of a file, which all versions have.
#[derive(Deserialize)]
struct Start<'f> {
    format: &'f str,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct File<'f> {
    format: &'f str,
    version: u32,
    #[serde(borrow)]
    tensors: Vec<Entry<'f>>,
}

#[derive(Serialize, Deserialize)]
struct Entry<'f> {
    name: &'f str,
    scalars: &'f str,
    shape: Vec<usize>,
    #[serde(borrow)]
    data: Data<'f>,
}

/// The bytes of the scalars. Without this type, `serde` would write a list of numbers.
enum Data<'f> {
    Read(&'f [u8]),
    Written(Vec<u8>),
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Data::Read(bytes) => serializer.serialize_bytes(bytes),
            Data::Written(bytes) => serializer.serialize_bytes(bytes),
        }
    }
}

impl<'de: 'f, 'f> Deserialize<'de> for Data<'f> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Data<'f>, D::Error> {
        deserializer.deserialize_bytes(DataVisitor).map(Data::Read)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = &'de [u8];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<&'de [u8], E> {
        Ok(bytes)
    }
}

/// Whether a file begins like one of this format: with a map whose first key is `format`.
pub(super) fn is_likely(bytes: &[u8]) -> bool {
    bytes.len() > 8 && bytes[0] & 0xf0 == 0x80 && bytes[2..].starts_with(b"format")
}

/// Reads the tensors.
///
/// # Errors
/// Fails with the reason if the file is no map of this form, or has another version.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<NamedTensor>, String> {
    let damaged =
        |error: &dyn fmt::Display| format!("the file is damaged or truncated, or not one that dscript wrote: {error}");
    let start: Start<'_> = rmp_serde::from_slice(bytes).map_err(|error| damaged(&error))?;
    if start.format != FORMAT {
        return Err(format!(
            "the format of the file is \"{}\", and \"{FORMAT}\" is expected",
            start.format.escape_debug()
        ));
    }
    if start.version != VERSION {
        return Err(format!("the file has version {} of the format, and version {VERSION} can be read", start.version));
    }
    let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
    let file = File::deserialize(&mut reader).map_err(|error| damaged(&error))?;
    file.tensors.into_iter().map(tensor).collect()
}

fn tensor(entry: Entry<'_>) -> Result<NamedTensor, String> {
    let Entry { name, scalars, shape, data: Data::Read(bytes) } = entry else { return Err(String::new()) };
    let fail = |reason: String| format!("tensor '{}': {reason}", name.escape_debug());
    let kind = ScalarKind::ALL.into_iter().find(|kind| kind.name() == scalars);
    let kind = kind.ok_or_else(|| fail(format!("there are no scalars of type '{}'", scalars.escape_debug())))?;
    let shape: crate::tensor::Shape = shape.into_iter().collect();
    let mismatch = format!("the shape {shape} does not fit {} bytes of {}", bytes.len(), kind.name());
    let tensor = Encoding::Plain(kind).tensor(shape, bytes).ok_or_else(|| fail(mismatch))?;
    Ok((name.to_owned(), tensor))
}

/// Returns the bytes of a file with the given tensors.
///
/// # Errors
/// Fails with the reason of `rmp_serde`.
pub(super) fn write(tensors: &[NamedTensor]) -> Result<Vec<u8>, String> {
    let entries = tensors.iter().map(|(name, tensor)| Entry {
        name,
        scalars: tensor.kind().name(),
        shape: tensor.shape().to_vec(),
        data: Data::Written(bytes_of(tensor)),
    });
    let file = File { format: FORMAT, version: VERSION, tensors: entries.collect() };
    rmp_serde::to_vec_named(&file).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    #[test]
    fn written_tensors_are_read_again() {
        let tensors = vec![
            ("layers[0].bias".to_owned(), Tensor::new([2].into(), vec![1.5f32, f32::NAN]).unwrap()),
            ("n".to_owned(), Tensor::scalar(7i32)),
        ];
        let bytes = write(&tensors).unwrap();
        assert!(is_likely(&bytes));
        let read = super::read(&bytes).unwrap();
        assert_eq!(read[0].0, "layers[0].bias");
        assert_eq!(bytes_of(&read[0].1), bytes_of(&tensors[0].1));
        assert_eq!((read[1].1.kind(), read[1].1.rank()), (ScalarKind::I32, 0));
        for end in 0..bytes.len() {
            assert!(super::read(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn another_version_is_refused_whatever_follows() {
        #[derive(Serialize)]
        struct Other {
            format: &'static str,
            version: u32,
            layers: Vec<u8>,
        }
        let bytes = |format, version| rmp_serde::to_vec_named(&Other { format, version, layers: vec![1] }).unwrap();
        assert!(read(&bytes(FORMAT, 2)).unwrap_err().contains("version 2"));
        assert!(read(&bytes("other", 1)).unwrap_err().contains("\"other\""));
        assert!(read(&bytes(FORMAT, 1)).unwrap_err().contains("damaged"));
    }

    #[test]
    fn a_long_list_allocates_nothing() {
        // A list that claims to have four billion elements.
        let mut bytes = rmp_serde::to_vec_named(&File { format: FORMAT, version: VERSION, tensors: vec![] }).unwrap();
        bytes.pop();
        bytes.extend([0xdd, 0xff, 0xff, 0xff, 0xff]);
        assert!(read(&bytes).unwrap_err().contains("damaged"));
    }
}
