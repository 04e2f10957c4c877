//! Instruction list tests: the properties that every instruction of the list must have.

use super::entry::Entry;
use super::instructions::LIST;
use super::operand::{Access, Role, Table};
use crate::value::Bank;
use std::collections::BTreeSet;

/// Instructions without a counterpart in derivative code, although they take a number or an object that may contain
/// numbers and return a number or a reference, each with the reason why no derivative is lost.
const WITHOUT_COUNTERPART: &[(&str, &str)] = &[
    ("Share", "an object has its slots in itself"),
    ("Take", "an object has its slots in itself"),
    ("ReturnR", "an object has its slots in itself"),
    ("LoadBoxR", "an object has its slots in itself"),
    ("StoreBoxR", "an object has its slots in itself"),
    ("TakeBox", "an object has its slots in itself"),
    ("LoadRecordR", "an object has its slots in itself"),
    ("StoreRecordR", "an object has its slots in itself"),
    ("TakeRecord", "an object has its slots in itself"),
    ("CaptureR", "an object has its slots in itself"),
    ("AppendR", "an object has its slots in itself"),
    ("ElementR", "an object has its slots in itself"),
    ("PartR", "an object has its slots in itself"),
    ("TakePart", "an object has its slots in itself"),
    ("SetElementR", "an object has its slots in itself"),
    ("SetPartR", "an object has its slots in itself"),
    ("StoreGlobalR", "an object has its slots in itself"),
    ("AppendText", "a text has no numbers"),
    ("StoreBoxI", "an integer has no slot; those of the numbers beside it stay"),
    ("StoreRecordI", "an integer has no slot; those of the numbers beside it stay"),
    ("AppendI", "an integer has no slot; those of the numbers beside it stay"),
    ("SetElementI", "an integer has no slot; those of the numbers beside it stay"),
    ("SetPartI", "an integer has no slot; those of the numbers beside it stay"),
    ("FindMethod", "it gives a function that has captured nothing"),
    ("AbsF", "derivative code has DPrim1F in its place"),
    ("SqrtF", "derivative code has DPrim1F in its place"),
    ("RoundF", "derivative code has DPrim1F in its place"),
    ("JoinLeftF", "derivative code has one instruction for each operation in its place"),
    ("JoinRightF", "derivative code has one instruction for each operation in its place"),
    ("JoinBothF", "derivative code has one instruction for each operation in its place"),
    ("AddElementF", "derivative code has DElementF, DAddF and DSetElementF in its place"),
    ("AddPartF", "derivative code has DPartF, DAddF and DSetPartF in its place"),
    ("Accumulate", "it stands in adjoint code, which runs where no level is live"),
    ("TakeAdjoint", "it stands in adjoint code, which runs where no level is live"),
    ("ReadAdjoint", "it stands in adjoint code, which runs where no level is live"),
    ("AccumulateR", "it stands in adjoint code, which runs where no level is live"),
    ("TakeAdjointR", "it stands in adjoint code, which runs where no level is live"),
    ("AddArray", "it stands in adjoint code, which runs where no level is live"),
    ("AddNodes", "it stands in linearization code, which runs where no other level is live"),
    ("AppendNode", "it stands in linearization code, which runs where no other level is live"),
    ("AppendNode2", "it stands in linearization code, which runs where no other level is live"),
    ("PartialF", "it stands in adjoint code, which runs where no level is live"),
    ("PartialLeftF", "it stands in adjoint code, which runs where no level is live"),
    ("PartialRightF", "it stands in adjoint code, which runs where no level is live"),
    ("PartialFI", "it stands in adjoint code, which runs where no level is live"),
];

/// Instructions that compute an integer, or make a decision, from numbers.
const TO_INTEGERS: &[(&str, &str)] = &[
    ("PrimWhole", "conversions: where their results become numbers again is marked as a lost tangent"),
    ("Prim1Test", "a comparison selects, and is not itself data"),
    ("Prim2Test", "a comparison selects, and is not itself data"),
    ("EqF", "a comparison selects, and is not itself data"),
    ("NeF", "a comparison selects, and is not itself data"),
    ("LtF", "a comparison selects, and is not itself data"),
    ("LeF", "a comparison selects, and is not itself data"),
    ("IfEqF", "a comparison selects, and is not itself data"),
    ("IfNeF", "a comparison selects, and is not itself data"),
    ("IfLtF", "a comparison selects, and is not itself data"),
    ("IfLeF", "a comparison selects, and is not itself data"),
    ("UnlessLtF", "a comparison selects, and is not itself data"),
    ("UnlessLeF", "a comparison selects, and is not itself data"),
];

fn has(entry: &Entry, is_wanted: impl Fn(Role) -> bool) -> bool {
    entry.operands.iter().any(|(_, role)| is_wanted(*role))
}

/// Whether an instruction takes a number, or an object that may contain numbers, from a register or the window.
fn takes_numbers(entry: &Entry) -> bool {
    has(entry, |role| match role {
        Role::Register(Bank::F, access) => access != Access::Out,
        Role::Register(Bank::R, access) => access != Access::Out,
        Role::Table(Table::Parts | Table::Closures | Table::Natives | Table::Operators | Table::Rules) => true,
        Role::Function => true,
        _ => false,
    })
}

/// Whether an instruction returns a number or a reference in a register, an object or the window, or to the caller.
fn gives_numbers(entry: &Entry) -> bool {
    let stores = entry.name.contains("Store") || entry.name.starts_with("Return");
    stores
        || has(entry, |role| match role {
            Role::Register(Bank::F | Bank::R, access) => matches!(access, Access::Out | Access::Change),
            Role::Table(Table::Parts | Table::Closures | Table::Natives | Table::Operators | Table::Rules) => true,
            Role::Function => true,
            _ => false,
        })
}

/// Whether derivative code has the same instruction with slots.
fn has_counterpart(entry: &Entry) -> bool {
    let name = format!("D{}", entry.name);
    LIST.iter().any(|other| other.active && other.name == name && other.operands == entry.operands)
}

/// Compares the instructions that were found with a list of exceptions, which must be complete and minimal.
fn compare(found: BTreeSet<&str>, exceptions: &[(&str, &str)]) {
    let listed: BTreeSet<&str> = exceptions.iter().map(|(name, _)| *name).collect();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    assert!(unlisted.is_empty(), "these may lose a derivative: give them a counterpart, or a reason: {unlisted:?}");
    let needless: Vec<_> = listed.difference(&found).collect();
    assert!(needless.is_empty(), "no reason is needed for these: {needless:?}");
}

#[test]
fn no_instruction_loses_slots_without_a_reason() {
    let plain = || LIST.iter().filter(|entry| !entry.active);
    let is_found = |e: &&Entry| takes_numbers(e) && gives_numbers(e) && !has_counterpart(e);
    compare(plain().filter(is_found).map(|e| e.name).collect(), WITHOUT_COUNTERPART);
}

#[test]
fn no_number_becomes_an_integer_without_a_reason() {
    let takes = |e: &&Entry| has(e, |role| role == Role::Register(Bank::F, Access::In));
    let decides =
        |e: &&Entry| has(e, |role| matches!(role, Role::Jump | Role::Register(Bank::I, Access::Out | Access::Change)));
    compare(LIST.iter().filter(takes).filter(decides).map(|e| e.name).collect(), TO_INTEGERS);
}
