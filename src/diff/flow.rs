//! How a step passes on that its operands vary: the one place where the analyses look it up.

use crate::native::{PrimitiveId, Rule, ids};
use crate::value::Bank;

/// What becomes of varying operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// The result varies with the operands, and has partial derivatives.
    Smooth,
    /// The partial derivative is zero wherever it exists, or the result is no data (a comparison): nothing gets through.
    Flat,
    /// A number becomes something that cannot vary: the path breaks here.
    Break,
    /// Whole numbers: they don't vary, but hand on that they came from behind a break.
    Carry,
}

/// How a scalar primitive passes on that its operands vary.
pub fn primitive(id: PrimitiveId) -> Passage {
    let info = id.info();
    let takes_number = info.operands.contains(&Bank::F);
    match &info.rule {
        _ if !takes_number && is_comparison(info.name) => Passage::Flat,
        _ if !takes_number => Passage::Carry,
        // Whatever partial derivative the table gives a conversion to an integer: the documents want an error.
        _ if id == ids::TO_INT => Passage::Break,
        Rule::Opaque { .. } => Passage::Break,
        Rule::Flat => Passage::Flat,
        _ if info.result != Bank::F => Passage::Flat,
        Rule::Partials(_) => Passage::Smooth,
    }
}

/// A comparison selects and is not itself data: what is reached only through it has a zero derivative, as a branch.
fn is_comparison(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "eq" | "ne" | "lt" | "le" | "gt" | "ge")
}

/// How functions of the native library pass it on, by the first words of their names.
const NATIVES: &[(&str, NativePassage)] = &[
    ("array.", NativePassage::Container),
    ("dictionary.", NativePassage::Container),
    ("set.", NativePassage::Container),
    ("optional.", NativePassage::Container),
    ("any.", NativePassage::Container),
    ("instance.", NativePassage::Container),
    ("describe", NativePassage::Break),
    ("debugDescribe", NativePassage::Break),
    ("text.", NativePassage::Carry),
    ("format.", NativePassage::Break),
    ("number.bits", NativePassage::Break),
    ("number.ofBits", NativePassage::Carry),
    ("type.", NativePassage::Nothing),
    ("double.parse", NativePassage::Carry),
    ("float.parse", NativePassage::Carry),
    ("int.parse", NativePassage::Carry),
    ("value.hash", NativePassage::Break),
    ("value.", NativePassage::Nothing),
    ("io.", NativePassage::Nothing),
    ("time.", NativePassage::Nothing),
    ("random.int", NativePassage::Carry),
    ("random.", NativePassage::Nothing),
];

/// What becomes of varying operands of a native function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativePassage {
    /// A collection: numbers and references that come out may be those that went in.
    Container,
    /// A number becomes a text or an integer.
    Break,
    /// Texts hand on that they came from behind a break.
    Carry,
    /// The result has nothing to do with the operands, or only compares them.
    Nothing,
    /// Nobody said.
    Unknown,
}

/// How a function of the native library passes on that its operands vary.
pub fn native(name: &str) -> NativePassage {
    NATIVES.iter().find(|(prefix, _)| name.starts_with(prefix)).map_or(NativePassage::Unknown, |(_, passage)| *passage)
}

/// Whether a function of texts looks for something, counts or compares: its result is no text and no part of one.
pub fn selects(name: &str) -> bool {
    const LOOKS: &[&str] = &[
        "text.after",
        "text.before",
        "text.scalarAfter",
        "text.scalarBefore",
        "text.find",
        "text.findLast",
        "text.cuts",
        "text.eq",
        "text.lt",
        "text.hasPrefix",
        "text.hasSuffix",
        "text.contains",
        "text.count",
        "text.isEmpty",
        "text.size",
        "text.isKind",
    ];
    LOOKS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_break_and_comparisons_select() {
        let passage = |name| primitive(crate::native::primitive(name).unwrap());
        assert_eq!(passage("double.sin"), Passage::Smooth);
        assert_eq!(passage("double.floor"), Passage::Flat);
        assert_eq!(passage("double.lt"), Passage::Flat);
        assert_eq!(passage("int.fromDouble"), Passage::Break);
        assert_eq!(passage("int.add"), Passage::Carry);
        assert_eq!(passage("int.lt"), Passage::Flat);
        assert_eq!(passage("double.fromInt"), Passage::Carry);
    }
}
