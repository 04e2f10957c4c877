//! Views: the addresses and numbers of the components of objects, computed once for many accesses.
//!
//! The view of an object of another kind than an access needs has no components, so that each access fails its check of
//! the range. Views that nothing in a loop invalidates are computed before the loop.

use super::super::induction::Operand;
use super::super::layout::{INLINE, Layout};
use super::super::treatment::{Treatment, treatment};
use super::{FLAGS, Translator};
use crate::bytecode::operand::{IIn, Part, RChange, RIn};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::ops::RangeInclusive;

/// The kind of object that a view looks into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Owner {
    /// An array or record, which changes only by way of its register.
    Cells,
    /// A box, which any function may change.
    Box,
    /// The captures of a function object, which never change.
    Captures,
}

/// The part of an object that a view shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shown {
    /// The number of elements.
    Elements,
    /// The components of a bank, in elements with the given number of components; each component by itself if that
    /// number is 0.
    Components(Bank, u16),
    /// The slots of the numbers, of which there are none if all numbers are constant.
    Slots,
}

impl Shown {
    /// Returns the bank of the components.
    fn bank(self) -> Option<Bank> {
        match self {
            Shown::Elements | Shown::Slots => None,
            Shown::Components(bank, _) => Some(bank),
        }
    }
}

/// The identity of a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    /// The register of the object.
    pub(super) register: u16,
    /// The kind of object.
    pub(super) owner: Owner,
    /// The part that is shown.
    pub(super) shown: Shown,
    /// Whether the components are modified.
    pub(super) is_modified: bool,
}

/// The address of the first component, and the number of components or elements. For a modification, the number is 0 if
/// the components may not be modified.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) address: Value,
    pub(super) count: Value,
}

/// An access to components: the view that it needs, and the index of the component or element, if it has one.
pub(super) struct Access {
    pub(super) key: Key,
    pub(super) index: Option<Operand>,
}

/// Returns the access of an instruction, if it accesses components.
pub(super) fn access(code: &Code, at: usize) -> Option<Access> {
    use Instruction as I;
    let stride = match code.instructions.get(at + 1) {
        Some(I::Element { offset, stride }) if offset.0 < stride.0 => Some(stride.0),
        _ => None,
    };
    let whole = |bank| Some(Shown::Components(bank, 0));
    let part = |bank| stride.map(|stride| Shown::Components(bank, stride));
    let made = |register, owner, shown: Option<Shown>, is_modified, index| {
        shown.map(|shown| Access { key: Key { register, owner, shown, is_modified }, index })
    };
    let element =
        |array: RIn, index: IIn, shown| made(array.0, Owner::Cells, shown, false, Some(Operand::Register(index.0)));
    let set_element =
        |array: RChange, index: IIn, shown| made(array.0, Owner::Cells, shown, true, Some(Operand::Register(index.0)));
    let field = |of: u16, owner, index: Part, bank, is_modified| {
        made(of, owner, whole(bank), is_modified, Some(Operand::Constant(i64::from(index.0))))
    };
    match code.instructions[at] {
        I::Count { array, .. } => made(array.0, Owner::Cells, Some(Shown::Elements), false, None),
        I::CheckIndex { array, index } => element(array, index, Some(Shown::Elements)),
        I::ElementF { array, index, .. } | I::DElementF { array, index, .. } => element(array, index, whole(Bank::F)),
        I::ElementI { array, index, .. } => element(array, index, whole(Bank::I)),
        I::ElementR { array, index, .. } => element(array, index, whole(Bank::R)),
        I::PartF { array, index, .. } | I::DPartF { array, index, .. } => element(array, index, part(Bank::F)),
        I::PartI { array, index, .. } => element(array, index, part(Bank::I)),
        I::PartR { array, index, .. } => element(array, index, part(Bank::R)),
        I::SetElementF { array, index, .. }
        | I::AddElementF { array, index, .. }
        | I::DSetElementF { array, index, .. } => set_element(array, index, whole(Bank::F)),
        I::SetElementI { array, index, .. } => set_element(array, index, whole(Bank::I)),
        I::SetPartF { array, index, .. } | I::AddPartF { array, index, .. } | I::DSetPartF { array, index, .. } => {
            set_element(array, index, part(Bank::F))
        }
        I::SetPartI { array, index, .. } => set_element(array, index, part(Bank::I)),
        I::LoadRecordF { from, index, .. } | I::DLoadRecordF { from, index, .. } => {
            field(from.0, Owner::Cells, index, Bank::F, false)
        }
        I::LoadRecordI { from, index, .. } => field(from.0, Owner::Cells, index, Bank::I, false),
        I::LoadRecordR { from, index, .. } => field(from.0, Owner::Cells, index, Bank::R, false),
        I::StoreRecordF { to, index, .. } | I::DStoreRecordF { to, index, .. } => {
            field(to.0, Owner::Cells, index, Bank::F, true)
        }
        I::StoreRecordI { to, index, .. } => field(to.0, Owner::Cells, index, Bank::I, true),
        I::LoadBoxF { from, index, .. } | I::DLoadBoxF { from, index, .. } => {
            field(from.0, Owner::Box, index, Bank::F, false)
        }
        I::LoadBoxI { from, index, .. } => field(from.0, Owner::Box, index, Bank::I, false),
        I::LoadBoxR { from, index, .. } => field(from.0, Owner::Box, index, Bank::R, false),
        I::StoreBoxF { to, index, .. } => field(to.0, Owner::Box, index, Bank::F, true),
        I::StoreBoxI { to, index, .. } => field(to.0, Owner::Box, index, Bank::I, true),
        I::CaptureF { from, index, .. } | I::DCaptureF { from, index, .. } => {
            field(from.0, Owner::Captures, index, Bank::F, false)
        }
        I::CaptureI { from, index, .. } => field(from.0, Owner::Captures, index, Bank::I, false),
        I::CaptureR { from, index, .. } => field(from.0, Owner::Captures, index, Bank::R, false),
        _ => None,
    }
}

/// Returns the view that an instruction needs, if it accesses components.
pub(super) fn key(code: &Code, at: usize) -> Option<Key> {
    access(code, at).map(|access| access.key)
}

/// Selects one of two values at this point. The code generator moves an ordinary selection to its uses, into a loop too,
/// where it finds several of them on different ways.
fn fixed_select(builder: &mut FunctionBuilder<'_>, condition: Value, a: Value, b: Value) -> Value {
    builder.ins().select_spectre_guard(condition, a, b)
}

/// Whether an instruction modifies components in place, and does not replace the object in the register.
fn is_in_place(code: &Code, at: usize) -> bool {
    key(code, at).is_some_and(|key| key.is_modified)
}

/// Whether an instruction may run other code of the program, or code of the machine.
fn calls(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Call { .. } | Instruction::DCall { .. } | Instruction::Native { .. })
        || matches!(treatment(instruction.opcode()), Treatment::Step | Treatment::CallOfObject)
}

/// Whether a view is valid after an instruction, if it was valid before.
fn survives(translator: &Translator<'_, '_>, key: &Key, at: usize) -> bool {
    let code = translator.code;
    let instruction = &code.instructions[at];
    if key.owner == Owner::Box && calls(instruction) {
        return false;
    }
    if let Instruction::Share { a, .. } = instruction
        && a.0 == key.register
        && key.is_modified
    {
        return false;
    }
    // Tangent and adjoint code copies an array that is shared; other code leaves.
    let may_copy = translator.is_derivative
        && !matches!(instruction, Instruction::AddElementF { .. } | Instruction::AddPartF { .. });
    if is_in_place(code, at) && !may_copy {
        // A number that varies may be the first one in its array, for which slots are allocated.
        return key.shown != Shown::Slots || !translator.flow.references_written[at].contains(&key.register);
    }
    !translator.flow.references_written[at].contains(&key.register)
}

impl Translator<'_, '_> {
    /// Removes the views that an instruction invalidates.
    pub(super) fn invalidate_views(&mut self, at: usize) {
        if self.views.is_empty() {
            return;
        }
        let mut views = std::mem::take(&mut self.views);
        views.retain(|(key, _)| survives(self, key, at));
        self.views = views;
    }

    /// Returns the views that are needed in a loop and that nothing in the loop invalidates.
    pub(super) fn invariant_keys(&self, around: &RangeInclusive<usize>) -> Vec<Key> {
        let mut found: Vec<Key> = vec![];
        for at in around.clone() {
            let Some(key) = key(self.code, at) else { continue };
            let mut keys = vec![key];
            if self.code.is_derivative && key.shown.bank() == Some(Bank::F) {
                keys.push(Key { shown: Shown::Slots, is_modified: false, ..key });
            }
            for key in keys {
                if !found.contains(&key) && around.clone().all(|other| survives(self, &key, other)) {
                    found.push(key);
                }
            }
        }
        found
    }

    /// Sets the views that are valid at the beginning of a block: those of the loops around it.
    pub(super) fn restore_views(&mut self, at: usize) {
        self.views.clear();
        self.checked.clear();
        self.nodes.clear();
        self.restore_arrays(at);
        for (around, views) in &self.hoisted {
            if around.contains(&at) {
                self.views.extend(views.iter().copied());
            }
        }
    }

    /// Computes the invariant views of a loop, and compares indices with them, in the block before the loop.
    pub(super) fn hoist_views(&mut self, around: &RangeInclusive<usize>) {
        let Some(layout) = self.layout else { return };
        let mut ranges = self.ranges(around);
        let mut views = vec![];
        for key in self.invariant_keys(around) {
            let known = self.views.iter().find(|(known, _)| *known == key).map(|(_, view)| *view);
            let view = known.unwrap_or_else(|| self.compute_view(&key, layout));
            // The comparisons follow at once, so that fewer values are needed at the same time.
            self.check_ranges(&mut ranges, key, view);
            if known.is_none() {
                views.push((key, view));
            }
        }
        self.hoisted.push((around.clone(), views));
    }

    /// Returns a view, which is computed unless it is known.
    pub(super) fn view(&mut self, key: Key, layout: &Layout) -> View {
        if let Some((_, view)) = self.views.iter().find(|(known, _)| *known == key) {
            return *view;
        }
        let view = self.compute_view(&key, layout);
        self.views.push((key, view));
        view
    }

    /// Returns the address of a register of references, or of the reference that the register would hold.
    pub(super) fn reference(&mut self, register: u16) -> (Value, i32) {
        if let Some((_, address)) = self.borrowed.iter().find(|(borrowed, _)| *borrowed == register) {
            return (*address, 0);
        }
        (self.references, i32::from(register) * self.helpers.reference)
    }

    pub(super) fn compute_view(&mut self, key: &Key, layout: &Layout) -> View {
        if let Some(view) = self.view_of_reused(key) {
            return view;
        }
        let (base, at) = self.reference(key.register);
        let (tag, offset) = match key.owner {
            Owner::Cells => (layout.tags.cells, layout.cells),
            Owner::Box => (layout.tags.boxed, layout.cells_of_box),
            Owner::Captures => (layout.tags.closure, layout.captures),
        };
        let ins = &mut *self.builder;
        let found = ins.ins().load(types::I8, FLAGS, base, at + layout.tag);
        let is_expected = ins.ins().icmp_imm_u(IntCC::Equal, found, i64::from(tag));
        let object = ins.ins().load(types::I64, FLAGS, base, at + layout.object);
        let nothing = ins.ins().iconst(types::I64, layout.nothing as i64);
        let object = ins.ins().select(is_expected, object, nothing);
        let load = |ins: &mut FunctionBuilder<'_>, at: i32| ins.ins().load(types::I64, FLAGS, object, at);
        let (bank, stride) = match key.shown {
            Shown::Elements => {
                let count = load(ins, offset + layout.elements);
                return View { address: object, count };
            }
            Shown::Slots => {
                let address = load(ins, offset + layout.slots_address);
                let count = load(ins, offset + layout.slots);
                return View { address, count };
            }
            Shown::Components(bank, stride) => (bank, stride),
        };
        let of_bank = offset + layout.banks[bank as usize];
        let vector = &layout.vectors[bank as usize];
        let capacity = load(ins, of_bank + vector.capacity);
        let is_long = ins.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, capacity, INLINE);
        let address = load(ins, of_bank + vector.address);
        let inline = ins.ins().iadd_imm_s(object, i64::from(of_bank + vector.inline));
        let address = fixed_select(ins, is_long, address, inline);
        let count = load(ins, of_bank + vector.count);
        let mut count = fixed_select(ins, is_long, count, capacity);
        if stride > 0 {
            // An index is in range if it is below the number of elements, all of whose components exist.
            let whole = ins.ins().udiv_imm_u(count, i64::from(stride));
            let elements = load(ins, offset + layout.elements);
            let is_whole = ins.ins().icmp(IntCC::UnsignedLessThan, whole, elements);
            count = fixed_select(ins, is_whole, whole, elements);
        }
        if key.is_modified
            && let Some(obstacles) = self.obstacles(key, layout, object, offset)
        {
            let ins = &mut *self.builder;
            let none = ins.ins().iconst(types::I64, 0);
            count = fixed_select(ins, obstacles, none, count);
        }
        View { address, count }
    }

    /// Returns a value that is 0 if the components of an object may be modified in place; `None` if that is known.
    fn obstacles(&mut self, key: &Key, layout: &Layout, object: Value, storage: i32) -> Option<Value> {
        let ins = &mut *self.builder;
        // Derivative code sets slots itself.
        let has_slots = key.shown.bank() == Some(Bank::F) && !self.code.is_derivative;
        let slots = has_slots.then(|| ins.ins().load(types::I64, FLAGS, object, storage + layout.slots));
        if key.owner != Owner::Cells {
            return slots;
        }
        let [owners, weak] = [layout.owners, layout.weak].map(|at| {
            let counted = ins.ins().load(types::I64, FLAGS, object, at);
            ins.ins().bxor_imm_s(counted, 1)
        });
        let counted = ins.ins().bor(owners, weak);
        Some(slots.map_or(counted, |slots| ins.ins().bor(slots, counted)))
    }
}
