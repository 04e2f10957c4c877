//! Syntax tree: a program as written; names are strings, operators are folded, and every node has its span.

#![allow(missing_docs)] // the fields of a variant are named in the example beside it
#![allow(clippy::large_enum_variant)] // the large ones are rare or inside an `Rc`

mod declaration;
mod expression;
mod lazy_block;
mod statement;
mod types;

pub use declaration::*;
pub use expression::*;
pub use lazy_block::*;
pub use statement::*;
pub use types::*;

use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A name, in Unicode normalization form NFC so that equal names compare equal.
pub type Name = Rc<str>;

/// A name and its source span.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ident {
    /// The name, in Unicode normalization form NFC.
    pub name: Name,
    /// The source span of the name.
    pub span: Span,
}

/// The syntax tree of one source text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct File {
    /// The statements and declarations of the text, in order.
    pub items: Vec<Stmt>,
}
