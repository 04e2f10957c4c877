//! The format of NumPy for one array, `.npy`: versions 1 to 3, in row-major or column-major order.

use super::scalars::{Encoding, bytes_of};
use crate::tensor::{ScalarKind, Shape, Tensor};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array.
///
/// # Errors
/// Fails with the reason if the bytes are no array of numbers or truth values.
pub(super) fn read(bytes: &[u8]) -> Result<Tensor, String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("the file is no NumPy array: it does not begin with \\x93NUMPY".to_owned());
    };
    let truncated = || "the header of the array is truncated".to_owned();
    let (length, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (usize::from(u16::from_le_bytes([a, b])), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]) as usize, rest),
        [] | [1..=3, ..] => return Err(truncated()),
        [version, ..] => {
            return Err(format!("the array has version {version} of the format, and versions 1 to 3 can be read"));
        }
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(truncated)?;
    let header = Header::parse(header)?;
    let Some(expected) = header.encoding.bytes(&header.shape) else {
        return Err(format!("the shape {} is too large", header.shape));
    };
    if data.len() != expected {
        let (shape, found) = (&header.shape, data.len());
        return Err(format!("the array of shape {shape} needs {expected} bytes of data, and the file has {found}"));
    }
    header.tensor(data)
}

/// The properties of an array.
struct Header {
    encoding: Encoding,
    is_big_endian: bool,
    is_column_major: bool,
    shape: Shape,
}

impl Header {
    /// Parses a header, which is a literal of a Python dictionary.
    fn parse(bytes: &[u8]) -> Result<Header, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the header of the array is not text".to_owned())?;
        let value = |key: &str| {
            let after = text.split_once(&format!("'{key}'")).map(|(_, after)| after.trim_start());
            let after = after.and_then(|after| after.strip_prefix(':')).map(str::trim_start);
            after.ok_or_else(|| format!("the header of the array has no '{key}'"))
        };
        let description = value("descr")?;
        let quoted = description.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
        let Some((name, _)) = quoted else {
            return Err(
                "the elements of the array are records, and only numbers and truth values can be read".to_owned()
            );
        };
        let (is_big_endian, encoding) = scalar_type(name)?;
        let order = value("fortran_order")?;
        let is_column_major = match (order.starts_with("True"), order.starts_with("False")) {
            (true, _) => true,
            (_, true) => false,
            _ => return Err("'fortran_order' in the header of the array is neither True nor False".to_owned()),
        };
        let sizes = value("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(sizes, _)| sizes);
        let sizes = sizes.ok_or_else(|| "the shape in the header of the array is no tuple".to_owned())?;
        let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape: Result<Shape, String> = sizes
            .map(|size| {
                size.trim_end_matches('L').parse().map_err(|_| format!("{size:?} in the shape of the array is no size"))
            })
            .collect();
        Ok(Header { encoding, is_big_endian, is_column_major, shape: shape? })
    }

    /// Returns the tensor with the given data, whose size is right.
    fn tensor(self, data: &[u8]) -> Result<Tensor, String> {
        let swapped;
        let data = if self.is_big_endian {
            swapped = data.chunks_exact(self.encoding.size()).flat_map(|scalar| scalar.iter().rev().copied());
            &swapped.collect::<Vec<u8>>()
        } else {
            data
        };
        let invalid = || "the array is too large".to_owned();
        if !self.is_column_major {
            return self.encoding.tensor(self.shape, data).ok_or_else(invalid);
        }
        // The same bytes are the transposed array in row-major order.
        let transposed = self.encoding.tensor(self.shape.iter().rev().copied().collect(), data).ok_or_else(invalid)?;
        let axes: Vec<isize> = (0..self.shape.rank() as isize).rev().collect();
        Ok(transposed.transpose(&axes).map_err(|error| error.to_string())?.contiguous())
    }
}

/// Returns whether the scalars of a type are stored with the most significant byte first, and their representation.
fn scalar_type(name: &str) -> Result<(bool, Encoding), String> {
    let kind = name.trim_start_matches(['<', '>', '|', '=']);
    let encoding = match kind {
        "f2" => Encoding::Half,
        "f4" => Encoding::Plain(ScalarKind::F32),
        "f8" => Encoding::Plain(ScalarKind::F64),
        "i1" => Encoding::Plain(ScalarKind::I8),
        "i2" => Encoding::Plain(ScalarKind::I16),
        "i4" => Encoding::Plain(ScalarKind::I32),
        "i8" => Encoding::Plain(ScalarKind::I64),
        "u1" => Encoding::Plain(ScalarKind::U8),
        "u2" => Encoding::Plain(ScalarKind::U16),
        "u4" => Encoding::Plain(ScalarKind::U32),
        "u8" => Encoding::Plain(ScalarKind::U64),
        "b1" => Encoding::Plain(ScalarKind::Bool),
        _ => {
            return Err(format!(
                "the elements of the array have the type '{name}', and only numbers and truth values can be read"
            ));
        }
    };
    Ok((name.starts_with('>'), encoding))
}

/// Returns the name of a kind of scalars in a header.
fn name_of(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::F32 => "<f4",
        ScalarKind::F64 => "<f8",
        ScalarKind::I8 => "|i1",
        ScalarKind::I16 => "<i2",
        ScalarKind::I32 => "<i4",
        ScalarKind::I64 => "<i8",
        ScalarKind::U8 => "|u1",
        ScalarKind::U16 => "<u2",
        ScalarKind::U32 => "<u4",
        ScalarKind::U64 => "<u8",
        ScalarKind::Bool => "|b1",
    }
}

/// Returns the bytes of an array in row-major order.
pub(super) fn write(tensor: &Tensor) -> Vec<u8> {
    let sizes: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
    let shape = if let [size] = sizes.as_slice() { format!("{size},") } else { sizes.join(", ") };
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", name_of(tensor.kind()));
    // The data begin at a multiple of 64 bytes, as the format requires. No shape has so many axes that 16 bits are too few.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    match u16::try_from(header.len()) {
        Ok(length) => {
            bytes.extend([1, 0]);
            bytes.extend(length.to_le_bytes());
        }
        Err(_) => {
            bytes.extend([2, 0]);
            bytes.extend((header.len() as u32).to_le_bytes());
        }
    }
    bytes.extend(header.as_bytes());
    bytes.extend(bytes_of(tensor));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn arrays_are_read_in_both_orders_and_all_versions() {
        let data: Vec<u8> = (0..6).collect();
        for version in [1, 2, 3] {
            let rows = file(version, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", &data);
            assert_eq!(read(&rows).unwrap().to_vec::<u8>().unwrap(), [0, 1, 2, 3, 4, 5]);
            let columns = file(version, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", &data);
            assert_eq!(read(&columns).unwrap().to_vec::<u8>().unwrap(), [0, 2, 4, 1, 3, 5]);
        }
        let big = file(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", &[1, 2]);
        assert_eq!(read(&big).unwrap().to_vec::<i16>().unwrap(), [258]);
    }

    #[test]
    fn a_written_array_is_read_again() {
        for tensor in [
            Tensor::scalar(2.5f64),
            Tensor::new([0, 3].into(), Vec::<f32>::new()).unwrap(),
            Tensor::new([2].into(), vec![true, false]).unwrap(),
            Tensor::new([2, 1, 2].into(), vec![1i64, -2, 3, i64::MIN]).unwrap(),
        ] {
            let bytes = write(&tensor);
            assert!(read(&bytes).unwrap().is_equal(&tensor).unwrap());
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end]).is_err());
            }
        }
    }

    #[test]
    fn what_is_wrong_with_an_array_is_named() {
        let message = |header: &str| read(&file(1, header, &[0])).unwrap_err();
        assert!(message("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}").contains("type '|O'"));
        assert!(message("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}").contains("records"));
        assert!(message("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}").contains("needs 4 bytes of data"));
        let huge =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, 9)}}", u64::MAX / 2, u64::MAX / 2);
        assert!(message(&huge).contains("too large"));
        assert!(read(b"\x93NUMPY\x09\x00").unwrap_err().contains("version 9"));
    }
}
