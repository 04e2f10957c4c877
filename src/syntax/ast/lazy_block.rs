//! Lazy block: a block of the prelude that is decoded when it is first read.

use super::Block;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// The body of a function or accessor. A program uses few bodies of the standard library, so each body is encoded
/// separately and decoded when it is first read. Copies share one block.
#[derive(Clone)]
pub struct LazyBlock(Rc<Form>);

#[derive(Clone)]
struct Form {
    block: OnceCell<Block>,
    /// The encoded form of the block; empty when the block was built from a tree.
    encoded: Box<[u8]>,
}

impl Form {
    fn block(&self) -> &Block {
        self.block.get_or_init(|| postcard::from_bytes(&self.encoded).expect("a body built with this code"))
    }
}

impl From<Block> for LazyBlock {
    fn from(block: Block) -> LazyBlock {
        LazyBlock(Rc::new(Form { block: OnceCell::from(block), encoded: Box::default() }))
    }
}

impl Deref for LazyBlock {
    type Target = Block;

    fn deref(&self) -> &Block {
        self.0.block()
    }
}

impl DerefMut for LazyBlock {
    fn deref_mut(&mut self) -> &mut Block {
        let form = Rc::make_mut(&mut self.0);
        form.block();
        form.block.get_mut().expect("a block that was read right before")
    }
}

impl fmt::Debug for LazyBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Block::fmt(self, f)
    }
}

impl Serialize for LazyBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_stdvec(self.0.block()).map_err(serde::ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for LazyBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LazyBlock, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = LazyBlock;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a block")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<LazyBlock, E> {
        Ok(LazyBlock(Rc::new(Form { block: OnceCell::new(), encoded: bytes.into() })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn a_body_is_the_same_after_it_was_written_and_read() {
        let parsed = crate::syntax::parse("{ let y = x * 2; return y }\n", 0).file;
        let block = Block { items: parsed.items, span: Span::new(3, 9) };
        let encoded = postcard::to_stdvec(&LazyBlock::from(block.clone())).unwrap();
        let mut read: LazyBlock = postcard::from_bytes(&encoded).unwrap();
        let untouched = read.clone();
        assert_eq!(format!("{read:?}"), format!("{block:?}"));
        read.items.clear();
        assert_eq!((read.items.len(), untouched.items.len()), (0, block.items.len()));
    }
}
