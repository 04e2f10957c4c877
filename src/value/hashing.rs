//! Hashing: the hash of a value by shape, for synthesized conformances and for the keys of dictionaries.

use super::comparison::text;
use super::shape::{Shape, ShapeId, Shapes, visible_fields};
use super::{Components, Ref};
use crate::tensor::Tensor;
use std::borrow::Cow;
use std::rc::Rc;

/// Returns the hash of a value, which is equal for equal values, and does not depend on the run.
pub fn hash(shapes: &Shapes, shape: ShapeId, mut value: Components<'_>) -> u64 {
    // The most frequent kinds of keys need no work list.
    match shapes.get(shape) {
        Shape::Int { .. } => hash_integer(value.integer()),
        Shape::String => hash_text(text(value.reference())),
        _ => {
            let mut state = Mixer::NEW;
            hash_parts(shapes, shape, value, &mut state);
            state.finish()
        }
    }
}

/// Returns the hash of a value that consists of one integer.
pub fn hash_integer(value: i64) -> u64 {
    let mut state = Mixer::NEW;
    state.mix(value as u64);
    state.finish()
}

/// Returns the hash of a string.
pub fn hash_text(text: &str) -> u64 {
    let mut state = Mixer::NEW;
    let is_ascii = state.text(text) & 0x8080_8080_8080_8080 == 0;
    if !is_ascii && let Cow::Owned(canonical) = super::string::canonical(text) {
        state = Mixer::NEW;
        state.text(&canonical);
    }
    state.finish()
}

/// Returns a checksum of bytes, which is the same in every run and on every machine. Unlike checksums that use special instructions, it
/// does not query the features of the processor, which takes a measurable part of the start of a small program.
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut state = Mixer::NEW;
    state.bytes(bytes);
    let hash = state.finish();
    (hash ^ hash >> 32) as u32
}

/// Mixes the shape and the scalars of a tensor.
fn hash_tensor(tensor: &Tensor, state: &mut Mixer) {
    tensor.shape().iter().for_each(|size| state.mix(*size as u64));
    let scalars = tensor.cast(crate::tensor::ScalarKind::F64).and_then(|numbers| numbers.to_vec::<f64>());
    scalars.iter().flatten().for_each(|x| state.mix((x + 0.0).to_bits()));
}

fn hash_parts(shapes: &Shapes, shape: ShapeId, value: Components<'_>, state: &mut Mixer) {
    let mut work = vec![(shape, value)];
    while let Some((shape, mut value)) = work.pop() {
        match shapes.get(shape) {
            // Positive and negative zero are equal.
            Shape::Double | Shape::Float => state.mix((value.number() + 0.0).to_bits()),
            Shape::Int { .. } | Shape::Bool => state.mix(value.integer() as u64),
            Shape::Tensor => {
                value.number();
                if let Ref::Tensor(tensor) = value.reference() {
                    hash_tensor(tensor, state);
                }
            }
            Shape::String | Shape::Character => {
                state.text(&super::string::canonical(text(value.reference())));
            }
            Shape::Tuple(fields) => push_parts(shapes, &mut work, fields.iter().map(|(_, s)| *s), value),
            Shape::Struct { fields, style, .. } => {
                push_parts(shapes, &mut work, visible_fields(fields, *style).iter().map(|(_, s)| *s), value);
            }
            Shape::Enum { cases, .. } => {
                let tag = value.integer();
                state.mix(tag as u64);
                if let Some(case) = usize::try_from(tag).ok().and_then(|t| cases.get(t)) {
                    push_parts(shapes, &mut work, case.payload.iter().map(|(_, s)| *s), value);
                }
            }
            Shape::Optional(of) => {
                let tag = value.integer();
                state.mix(u64::from(tag != 0));
                if tag != 0 {
                    work.push((*of, value));
                }
            }
            Shape::Array(of) => {
                if let Ref::Cells(cells) = value.reference() {
                    state.mix(cells.len as u64);
                    let layout = shapes.layout(*of);
                    work.extend((0..cells.len).rev().map(|k| (*of, cells.element(k, layout))));
                }
            }
            Shape::Dictionary(key, _) | Shape::Set(key) => {
                // The equality of dictionaries does not depend on the order of their keys.
                if let Ref::Dictionary(dictionary) = value.reference() {
                    let layout = shapes.layout(*key);
                    let keys = (0..dictionary.len()).map(|k| hash(shapes, *key, dictionary.keys().element(k, layout)));
                    state.mix(keys.fold(dictionary.len() as u64, u64::wrapping_add));
                }
            }
            Shape::Boxed(of) => {
                if let Ref::Cells(cells) = value.reference() {
                    work.push((*of, cells.all()));
                }
            }
            Shape::Any => {
                if let Ref::Any(any) = value.reference() {
                    work.push((any.shape, any.cells.all()));
                }
            }
            Shape::Class { .. } => {
                if let Ref::Box(object) = value.reference() {
                    state.mix(Rc::as_ptr(object) as usize as u64);
                }
            }
            Shape::Metatype { number, .. } => state.mix(u64::from(*number)),
            Shape::Function { .. } => {}
        }
    }
}

fn push_parts<'a>(
    shapes: &Shapes,
    work: &mut Vec<(ShapeId, Components<'a>)>,
    fields: impl DoubleEndedIterator<Item = ShapeId>,
    mut value: Components<'a>,
) {
    let first = work.len();
    for shape in fields {
        let part = value.take(shapes.layout(shape));
        work.push((shape, part));
    }
    work[first..].reverse();
}

/// The hash function, multiply and rotate: fast for short keys, and deterministic so that output can be compared.
struct Mixer(u64);

impl Mixer {
    const NEW: Mixer = Mixer(0x9e37_79b9_7f4a_7c15);

    #[inline(always)]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(0xd6e8_feb8_6659_fd93_u64 | 1);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(29);
    }

    /// Adds a string; returns the bits that occur in its words of eight bytes.
    #[inline(always)]
    fn text(&mut self, text: &str) -> u64 {
        self.bytes(text.as_bytes())
    }

    /// Adds bytes; returns the bits that occur in their words of eight bytes.
    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) -> u64 {
        self.mix(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        let mut bits = 0;
        for word in words {
            let word = u64::from_le_bytes(*word);
            bits |= word;
            self.mix(word);
        }
        if !rest.is_empty() {
            let word = short_word(rest);
            bits |= word;
            self.mix(word);
        }
        bits
    }

    fn finish(&mut self) -> u64 {
        self.mix(0x2545_f491_4f6c_dd1d);
        self.0
    }
}

/// Returns fewer than eight bytes as the low bytes of a word. Bytes that are read twice have one index in the word.
#[inline(always)]
pub(super) fn short_word(bytes: &[u8]) -> u64 {
    let count = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (count - 4));
    }
    let byte = |k: usize| u64::from(bytes[k]) << (8 * k);
    if count == 0 { 0 } else { byte(0) | byte(count / 2) | byte(count - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_depends_on_each_byte_and_on_their_number() {
        let bytes: Vec<u8> = (0..=100).collect();
        let known = checksum(&bytes);
        assert_eq!(known, checksum(&bytes.clone()));
        for k in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[k] ^= 1;
            assert_ne!(checksum(&changed), known, "byte {k}");
            assert_ne!(checksum(&bytes[..k]), known, "{k} bytes");
        }
    }

    #[test]
    fn a_short_word_has_the_bytes_in_order() {
        for count in 0..8 {
            let bytes: Vec<u8> = (1..=count).collect();
            let expected = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            assert_eq!(short_word(&bytes), expected, "{count} bytes");
        }
    }
}
