//! Dependence transfer: determines how the result of a primitive or a native function depends on its operands.

use crate::native::PrimitiveId;
use crate::native::Rule;
use crate::native::primitive_ids;
use crate::value::Bank;

/// The effect of an operation on the dependence of its varied operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DependenceTransfer {
    /// The result varies with the operands, and has partials.
    Smooth,
    /// The partial is zero wherever it exists, or the result is not data (a comparison): no dependence is propagated.
    Flat,
    /// A number becomes a value that cannot vary: the tangent of the number is lost here.
    Lose,
    /// The operands are integers, which do not vary; the results inherit the losses of the operands.
    Carry,
}

/// Returns how a scalar primitive propagates dependence.
pub fn primitive(id: PrimitiveId) -> DependenceTransfer {
    let info = id.info();
    let takes_number = info.operands.contains(&Bank::F);
    match &info.rule {
        _ if !takes_number && is_comparison(info.name) => DependenceTransfer::Flat,
        _ if !takes_number => DependenceTransfer::Carry,
        // The language requires an error for a conversion to an integer, whatever partial the table has for it.
        _ if id == primitive_ids::TO_INT => DependenceTransfer::Lose,
        Rule::Opaque { .. } => DependenceTransfer::Lose,
        Rule::Flat => DependenceTransfer::Flat,
        _ if info.result != Bank::F => DependenceTransfer::Flat,
        Rule::Partials(_) => DependenceTransfer::Smooth,
    }
}

/// Whether a primitive is a comparison: a comparison selects and is not itself data, so a value that is reached only
/// through a comparison has a zero derivative, as with a branch.
fn is_comparison(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "eq" | "ne" | "lt" | "le" | "gt" | "ge")
}

/// The dependence transfer of the functions of the native library, by prefixes of their names.
const NATIVES: &[(&str, NativeTransfer)] = &[
    ("array.", NativeTransfer::Container),
    ("dictionary.", NativeTransfer::Container),
    ("set.", NativeTransfer::Container),
    ("optional.", NativeTransfer::Container),
    ("any.", NativeTransfer::Container),
    ("tensor.", NativeTransfer::Container),
    ("instance.", NativeTransfer::Container),
    ("describe", NativeTransfer::Lose),
    ("debugDescribe", NativeTransfer::Lose),
    ("text.", NativeTransfer::Carry),
    ("format.", NativeTransfer::Lose),
    ("number.bits", NativeTransfer::Lose),
    ("number.ofBits", NativeTransfer::Carry),
    ("type.", NativeTransfer::Nothing),
    ("double.parse", NativeTransfer::Carry),
    ("float.parse", NativeTransfer::Carry),
    ("int.parse", NativeTransfer::Carry),
    ("value.hash", NativeTransfer::Lose),
    ("value.", NativeTransfer::Nothing),
    ("io.", NativeTransfer::Nothing),
    ("time.", NativeTransfer::Nothing),
    ("random.int", NativeTransfer::Carry),
    ("random.", NativeTransfer::Nothing),
];

/// The effect of a native function on the dependence of its varied operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeTransfer {
    /// The operands or results are collections: numbers and references among the results may be elements of the
    /// operands.
    Container,
    /// A number becomes a string or an integer.
    Lose,
    /// The operands are strings; the results inherit the losses of the operands.
    Carry,
    /// The result does not depend on the operands, or the function only compares them.
    Nothing,
    /// The function is not listed, so its effect is unknown.
    Unknown,
}

/// Returns how a function of the native library propagates dependence.
pub fn native(name: &str) -> NativeTransfer {
    NATIVES
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map_or(NativeTransfer::Unknown, |(_, transfer)| *transfer)
}

/// Whether a function of strings searches, counts or compares: its result is neither a string nor a part of a string.
pub fn selects(name: &str) -> bool {
    const SELECTIONS: &[&str] = &[
        "text.after",
        "text.before",
        "text.scalarAfter",
        "text.scalarBefore",
        "text.find",
        "text.findLast",
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
    SELECTIONS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_break_and_comparisons_select() {
        let transfer = |name| primitive(crate::native::primitive(name).unwrap());
        assert_eq!(transfer("double.sin"), DependenceTransfer::Smooth);
        assert_eq!(transfer("double.floor"), DependenceTransfer::Flat);
        assert_eq!(transfer("double.lt"), DependenceTransfer::Flat);
        assert_eq!(transfer("int.fromDouble"), DependenceTransfer::Lose);
        assert_eq!(transfer("int.add"), DependenceTransfer::Carry);
        assert_eq!(transfer("int.lt"), DependenceTransfer::Flat);
        assert_eq!(transfer("double.fromInt"), DependenceTransfer::Carry);
    }
}
