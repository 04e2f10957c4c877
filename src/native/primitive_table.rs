//! Primitive table: provides access to all primitives, by id and by name.

use super::primitive::{Primitive, PrimitiveId, Single};
use super::{arithmetic, comparison, elementary_functions, integer, special_functions};
use std::sync::OnceLock;

pub(super) const PARTS: [&[Primitive]; 5] =
    [arithmetic::TABLE, elementary_functions::TABLE, special_functions::TABLE, comparison::TABLE, integer::TABLE];

const LEN: usize = {
    let (mut k, mut sum) = (0, 0);
    while k < PARTS.len() {
        sum += PARTS[k].len();
        k += 1;
    }
    sum
};

/// The entries by id, so that the machine finds an entry with one load.
static TABLE: [Primitive; LEN] = {
    let mut table = [PARTS[0][0]; LEN];
    let (mut part, mut at) = (0, 0);
    while part < PARTS.len() {
        let mut k = 0;
        while k < PARTS[part].len() {
            table[at] = PARTS[part][k];
            at += 1;
            k += 1;
        }
        part += 1;
    }
    table
};

/// Returns all entries, in the order of their ids.
pub fn all() -> &'static [Primitive] {
    &TABLE
}

/// Returns the entry with the given id.
#[inline]
pub fn info(id: PrimitiveId) -> &'static Primitive {
    &TABLE[id.0 as usize]
}

/// Finds the primitive with the given name.
pub fn primitive(name: &str) -> Option<PrimitiveId> {
    // The names are sorted: a binary search over a hundred names needs no hashing and no allocation per entry.
    static ORDER: OnceLock<Vec<u16>> = OnceLock::new();
    let order = ORDER.get_or_init(|| {
        let mut order: Vec<u16> = (0..LEN as u16).collect();
        order.sort_unstable_by_key(|k| TABLE[*k as usize].name);
        order
    });
    let at = order.binary_search_by_key(&name, |k| TABLE[*k as usize].name).ok()?;
    Some(PrimitiveId(order[at]))
}

/// Finds the primitive with a name, and whether its result is rounded to single precision: `float.sin` is the variant
/// of `double.sin` for single precision, which needs no entry.
pub fn with_precision(name: &str) -> Option<(PrimitiveId, bool)> {
    if let Some(id) = primitive(name) {
        return Some((id, false));
    }
    let id = primitive(&format!("double.{}", name.strip_prefix("float.")?))?;
    match id.info().single {
        Single::Rounded => Some((id, true)),
        Single::Exact => Some((id, false)),
        Single::None => None,
    }
}

/// Returns the LaTeX command of the primitive with the given symbol, if it has one.
pub fn latex(symbol: &str) -> Option<&'static str> {
    all().iter().find(|p| p.symbol == symbol && !p.latex.is_empty()).map(|p| p.latex)
}

impl PrimitiveId {
    /// Returns the table entry of the primitive.
    #[inline]
    pub fn info(self) -> &'static Primitive {
        info(self)
    }
}
