//! Text to tree.
//!
//! In: the text of a source and its first position. Out: an [`ast::File`], or diagnostics, or the answer that the text
//! is the beginning of something longer ([`Parsed::incomplete`]).
//!
//! Promises: parsing never panics and never overflows the stack, whatever the text; names are in NFC; every
//! operator sequence is folded by the operators that are declared.
//! Not here: what a name means (`types`).

pub mod ast;
