//! The format of safetensors: the length of a header in 8 bytes, the header in JSON, and the scalars.

use super::NamedTensor;
use super::scalars::{Encoding, bytes_of};
use crate::tensor::{ScalarKind, Shape};
use serde_json::{Map, Value, json};

/// The largest header that other libraries accept.
const LARGEST_HEADER: u64 = 100_000_000;
/// The entry of the header that is no tensor.
const METADATA: &str = "__metadata__";

/// Whether a file begins like one of this format: the length of a header, and the header.
pub(super) fn is_likely(bytes: &[u8]) -> bool {
    matches!(split(bytes), Ok((header, _)) if header.first() == Some(&b'{'))
}

/// Splits a file into the header and the scalars.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(format!(
            "a safetensors file begins with the length of its header in 8 bytes, and the file has {}",
            bytes.len()
        ));
    };
    let length = u64::from_le_bytes(*length);
    if length > LARGEST_HEADER {
        return Err(format!("the header has {length} bytes, and at most {LARGEST_HEADER} are allowed"));
    }
    rest.split_at_checked(length as usize)
        .ok_or_else(|| format!("the header has {length} bytes, and only {} follow", rest.len()))
}

/// Reads the tensors, in the order of their data.
///
/// # Errors
/// Fails with the reason if the header is malformed, or if it does not describe the data exactly.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<NamedTensor>, String> {
    let (header, data) = split(bytes)?;
    let header: Map<String, Value> =
        serde_json::from_slice(header).map_err(|error| format!("the header is no JSON object: {error}"))?;
    let mut places = vec![];
    for (name, entry) in header.iter().filter(|(name, _)| *name != METADATA) {
        let place = Place::parse(entry).map_err(|reason| format!("tensor '{name}': {reason}"))?;
        places.push((name, place));
    }
    places.sort_by_key(|(_, place)| (place.start, place.end));
    let mut tensors = vec![];
    let mut end = 0;
    for (name, place) in places {
        let fail = |reason: String| format!("tensor '{name}': {reason}");
        if place.start != end {
            return Err(fail(format!(
                "its data begin at byte {}, and the tensor before ends at byte {end}",
                place.start
            )));
        }
        end = place.end;
        let Some(scalars) = data.get(place.start..place.end) else {
            return Err(fail(format!(
                "its data end at byte {}, and the file has {} bytes of data",
                place.end,
                data.len()
            )));
        };
        let (shape, found) = (place.shape.clone(), scalars.len());
        let tensor = place.encoding.tensor(place.shape, scalars);
        tensors
            .push((name.clone(), tensor.ok_or_else(|| fail(format!("the shape {shape} does not fit {found} bytes")))?));
    }
    match end == data.len() {
        true => Ok(tensors),
        false => Err(format!("the file has {} bytes of data, and its tensors need {end}", data.len())),
    }
}

/// The place of a tensor in the data.
struct Place {
    encoding: Encoding,
    shape: Shape,
    start: usize,
    end: usize,
}

impl Place {
    fn parse(entry: &Value) -> Result<Place, String> {
        let name = entry["dtype"].as_str().ok_or("its header has no 'dtype'")?;
        let encoding = encoding(name).ok_or_else(|| format!("scalars of type '{name}' cannot be read"))?;
        let integers = |key: &str| -> Option<Vec<usize>> {
            let values = entry[key].as_array()?;
            values.iter().map(|value| usize::try_from(value.as_u64()?).ok()).collect()
        };
        let shape = integers("shape").ok_or("its header has no valid 'shape'")?;
        let Some([start, end]) = integers("data_offsets").and_then(|offsets| <[usize; 2]>::try_from(offsets).ok())
        else {
            return Err("its header has no valid 'data_offsets'".to_owned());
        };
        Ok(Place { encoding, shape: shape.into_iter().collect(), start, end })
    }
}

/// The names of the kinds of scalars.
const KINDS: [(&str, ScalarKind); 11] = [
    ("F32", ScalarKind::F32),
    ("F64", ScalarKind::F64),
    ("I8", ScalarKind::I8),
    ("I16", ScalarKind::I16),
    ("I32", ScalarKind::I32),
    ("I64", ScalarKind::I64),
    ("U8", ScalarKind::U8),
    ("U16", ScalarKind::U16),
    ("U32", ScalarKind::U32),
    ("U64", ScalarKind::U64),
    ("BOOL", ScalarKind::Bool),
];

fn encoding(name: &str) -> Option<Encoding> {
    match name {
        "F16" => Some(Encoding::Half),
        "BF16" => Some(Encoding::BrainFloat),
        _ => KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| Encoding::Plain(*kind)),
    }
}

/// Returns the bytes of a file with the given tensors.
pub(super) fn write(tensors: &[NamedTensor]) -> Vec<u8> {
    // Scalars of large types come first, so that all are aligned.
    let mut order: Vec<&NamedTensor> = tensors.iter().collect();
    order.sort_by_key(|(_, tensor)| std::cmp::Reverse(tensor.kind().size()));
    let mut header = Map::new();
    header.insert(METADATA.to_owned(), json!({ "format": "pt" }));
    let mut data = vec![];
    for (name, tensor) in order {
        let start = data.len();
        data.extend(bytes_of(tensor));
        let kind = KINDS.iter().find(|(_, kind)| *kind == tensor.kind()).map_or("", |(name, _)| name);
        let shape: &[usize] = tensor.shape();
        header.insert(name.clone(), json!({ "dtype": kind, "shape": shape, "data_offsets": [start, data.len()] }));
    }
    let mut header = Value::Object(header).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn written_tensors_are_read_again() {
        let tensors = vec![
            ("a".to_owned(), Tensor::new([3].into(), vec![1u8, 2, 3]).unwrap()),
            ("b.weight".to_owned(), Tensor::new([1, 2].into(), vec![0.5f64, -1.0]).unwrap()),
            ("c".to_owned(), Tensor::scalar(2.0f32)),
        ];
        let bytes = write(&tensors);
        let mut read = super::read(&bytes).unwrap();
        read.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(read.len(), 3);
        for ((name, tensor), (other_name, other)) in read.iter().zip(&tensors) {
            assert!(name == other_name && tensor.is_equal(other).unwrap());
        }
        for end in 0..bytes.len() {
            assert!(super::read(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let message = |bytes: &[u8]| read(bytes).unwrap_err();
        assert!(message(&[0xff; 16]).contains("at most 100000000"));
        assert!(message(&file("[]", &[])).contains("JSON"));
        let entry = |shape: &str, offsets: &str| {
            format!(r#"{{"w":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
        };
        assert!(message(&file(&entry("[1]", "[0,8]"), &[0; 4])).contains("end at byte 8"));
        assert!(message(&file(&entry("[2]", "[0,4]"), &[0; 4])).contains("does not fit 4 bytes"));
        assert!(message(&file(&entry("[1]", "[4,8]"), &[0; 8])).contains("begin at byte 4"));
        assert!(message(&file(&entry("[1]", "[8,4]"), &[0; 8])).contains("begin at byte 8"));
        assert!(message(&file(&entry("[1]", "[0,4]"), &[0; 5])).contains("5 bytes of data"));
        assert!(message(&file(&entry("[-1]", "[0,4]"), &[0; 4])).contains("'shape'"));
        let huge = entry("[18446744073709551615,18446744073709551615]", "[0,4]");
        assert!(message(&file(&huge, &[0; 4])).contains("does not fit"));
    }
}
