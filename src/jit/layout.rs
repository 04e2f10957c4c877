//! Layout: where objects store their components, for machine code that reads and writes them.
//!
//! The standard library does not promise the layout of its types. The positions are therefore determined by looking at
//! sample values; where a sample is not as expected, machine code does not access objects.
#![allow(unsafe_code)]

use crate::value::dictionary::Dictionary;
use crate::value::{BoxCells, Cells, Closure, Ref, Slot, Text};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of, size_of};
use std::rc::Rc;

/// The positions of components, as offsets in bytes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The size of a reference.
    pub reference: i32,
    /// The offset of the number that states the kind of a reference, a byte.
    pub tag: i32,
    /// The offset of the address of the object.
    pub object: i32,
    /// The kinds of references.
    pub tags: Tags,
    /// The offset of the address of the object of a string with spare capacity, whose address at `object` is 0.
    pub growing_text: i32,
    /// The offset of the number of owners in an object.
    pub owners: i32,
    /// The offset of the number of weak references in an object.
    pub weak: i32,
    /// The offset of the storage in an array or record.
    pub cells: i32,
    /// The offset of the storage in a box.
    pub cells_of_box: i32,
    /// The offset of the number of the function in a function object.
    pub function: i32,
    /// The offset of the captures in a function object.
    pub captures: i32,
    /// The offset of the number of elements in the storage.
    pub elements: i32,
    /// The offsets of the numbers, integers and references in the storage.
    pub banks: [i32; 3],
    /// The offset of the number of slots in the storage.
    pub slots: i32,
    /// The offset of the address of the slots in the storage.
    pub slots_address: i32,
    /// The layouts of the vectors of numbers, integers and references.
    pub vectors: [BankLayout; 3],
    /// The address of an object without components, which has no owner.
    pub nothing: usize,
}

/// The kinds of references.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    /// No object.
    pub null: u8,
    /// An array or record.
    pub cells: u8,
    /// A box.
    pub boxed: u8,
    /// A function object.
    pub closure: u8,
    /// A string.
    pub text: u8,
    /// The kinds other than strings whose object begins with the number of owners, at the address in the reference, as a set of bits.
    pub counted: u64,
}

/// The layout of a vector with two elements inline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BankLayout {
    /// The offset of the capacity; of the number of elements if these are inline.
    pub capacity: i32,
    /// The offset of the inline elements.
    pub inline: i32,
    /// The offset of the address of the elements.
    pub address: i32,
    /// The offset of the number of elements.
    pub count: i32,
}

/// The number of elements of a bank that are stored inline.
pub const INLINE: i64 = 2;

/// Memory that has no components, wherever machine code looks.
#[repr(align(16))]
struct Nothing {
    _bytes: [u8; 512],
}

static NOTHING: Nothing = Nothing { _bytes: [0; 512] };

/// Returns the words of a value.
fn words<T>(value: &T) -> Vec<usize> {
    let count = size_of::<T>() / size_of::<usize>();
    let start = std::ptr::from_ref(value).cast::<usize>();
    // SAFETY: the words lie inside of the value. Those that hold nothing may be uninitialized; they are read as opaque
    // memory, and compared with known values only.
    (0..count).map(|k| unsafe { std::ptr::read_volatile(start.add(k)) }).collect()
}

/// Returns the offset of the only word with a given value.
fn find(words: &[usize], value: usize) -> Option<i32> {
    let mut found = words.iter().enumerate().filter(|(_, word)| **word == value);
    let (at, _) = found.next()?;
    found.next().is_none().then_some((at * size_of::<usize>()) as i32)
}

/// Returns the tag of a reference, if it is the byte at the beginning.
fn tag(reference: &Ref) -> u8 {
    // SAFETY: `Ref` is declared with a representation that begins with its tag, a byte.
    unsafe { *std::ptr::from_ref(reference).cast::<u8>() }
}

impl BankLayout {
    /// Determines the layout of a vector of the type `T`, given a function that makes values.
    fn of<T>(make: fn() -> T) -> Option<BankLayout> {
        // The words that hold nothing must not contain one of the numbers by chance, so the memory is zero at first.
        // SAFETY: a vector without elements has the capacity 0, and its other words hold nothing.
        let mut long: SmallVec<[T; 2]> = unsafe { MaybeUninit::zeroed().assume_init() };
        if !long.is_empty() || long.spilled() {
            return None;
        }
        long.reserve_exact(9);
        long.extend((0..5).map(|_| make()));
        let of_long = words(&long);
        let mut short: SmallVec<[T; 2]> = SmallVec::new();
        short.push(make());
        let inline = short.as_ptr().addr() - std::ptr::from_ref(&short).addr();
        let capacity = find(&of_long, 9)?;
        let found = BankLayout {
            capacity,
            inline: inline as i32,
            address: find(&of_long, long.as_ptr().addr())?,
            count: find(&of_long, 5)?,
        };
        (words(&short)[capacity as usize / 8] == 1).then_some(found)
    }
}

/// The offsets of the numbers of owners and weak references, and of the value, in the allocation of an `Rc`.
fn of_counted<T>(object: &Rc<T>) -> Option<[usize; 3]> {
    // SAFETY: an `Rc` of a sized type is one pointer; it is copied as a number only.
    let start = unsafe { std::mem::transmute_copy::<Rc<T>, usize>(object) };
    let value = Rc::as_ptr(object).addr().checked_sub(start).filter(|offset| *offset == 2 * size_of::<usize>())?;
    // SAFETY: the two words before the value belong to the allocation.
    let counts = || unsafe {
        let start = start as *const usize;
        [std::ptr::read_volatile(start), std::ptr::read_volatile(start.add(1))]
    };
    let alone = counts();
    let other = ManuallyDrop::new(Rc::clone(object));
    let shared = counts();
    drop(ManuallyDrop::into_inner(other));
    let weak = Rc::downgrade(object);
    let watched = counts();
    drop(weak);
    ([alone, shared, watched] == [[1, 1], [2, 1], [1, 2]]).then_some([0, size_of::<usize>(), value])
}

/// Returns the offset of the address of the object of a string with spare capacity, if the word at which the addresses of
/// other objects are is 0 for it. That of another string is there.
fn offset_of_growing_text(object: usize) -> Option<i32> {
    let fixed: Rc<str> = "fixed".into();
    let start = Rc::as_ptr(&fixed).addr() - 2 * size_of::<usize>();
    let growing = Rc::new(String::from("growing"));
    of_counted(&growing)?;
    let start_of_growing = Rc::as_ptr(&growing).addr() - 2 * size_of::<usize>();
    let (of_fixed, of_growing) = (Ref::Text(Text::Fixed(fixed)), Ref::Text(Text::Growing(growing)));
    let is_expected = words(&of_fixed).get(object) == Some(&start) && words(&of_growing).get(object) == Some(&0);
    // The rest of the reference to a string without spare capacity is its length.
    find(&words(&of_growing), start_of_growing).filter(|_| is_expected)
}

impl Layout {
    /// Determines the layout; `None` if it is not as expected.
    pub fn determine() -> Option<Layout> {
        let object = Rc::new(Cells::empty());
        let [owners, weak, cells] = of_counted(&object)?;
        // SAFETY: an `Rc` of a sized type is one pointer.
        let address = unsafe { std::mem::transmute_copy::<Rc<Cells>, usize>(&object) };
        let reference = Ref::Cells(object);
        // The representation of `Ref` puts the address first after the tag; a later word may hold it by chance.
        let in_reference = words(&reference)[1..].iter().position(|word| *word == address)? as i32 * 8 + 8;
        let boxed =
            Rc::new(BoxCells { cells: RefCell::new(Cells::empty()), shape: None, finalizer: Default::default() });
        let value_of_box = of_counted(&boxed)?[2];
        let cells_of_box = boxed.cells.as_ptr().addr() - Rc::as_ptr(&boxed).addr();
        let growing_text = offset_of_growing_text(in_reference as usize / 8)?;
        let closure = Rc::new(Closure { function: 0, captures: Cells::empty() });
        let value_of_closure = of_counted(&closure)?[2];
        let vectors = [BankLayout::of(|| 1.5f64)?, BankLayout::of(|| 7i64)?, BankLayout::of(|| Ref::Null)?];
        let mut slots: Vec<Slot> = Vec::with_capacity(9);
        slots.extend([Slot::NONE; 5]);
        let count_of_slots = find(&words(&slots), 5)?;
        let address_of_slots = find(&words(&slots), slots.as_ptr().addr())?;
        let tags = Tags {
            null: tag(&Ref::Null),
            cells: tag(&reference),
            boxed: tag(&Ref::Box(boxed)),
            closure: tag(&Ref::Closure(closure)),
            text: tag(&Ref::Text("".into())),
            counted: 0,
        };
        let dictionary = Rc::new(Dictionary::default());
        of_counted(&dictionary)?;
        let dictionary = tag(&Ref::Dictionary(dictionary));
        let counted =
            [tags.cells, tags.boxed, tags.closure, dictionary].iter().fold(0, |set, tag| set | 1 << (tag % 64));
        let storage = cells + size_of::<Cells>();
        let fits = storage.max(cells_of_box + 64 + size_of::<BoxCells>()) < size_of::<Nothing>();
        (fits && tags.null == 0).then_some(Layout {
            reference: size_of::<Ref>() as i32,
            tag: 0,
            object: in_reference,
            tags: Tags { counted, ..tags },
            growing_text,
            owners: owners as i32,
            weak: weak as i32,
            cells: cells as i32,
            cells_of_box: (value_of_box + cells_of_box) as i32,
            function: (value_of_closure + offset_of!(Closure, function)) as i32,
            captures: (value_of_closure + offset_of!(Closure, captures)) as i32,
            elements: offset_of!(Cells, len) as i32,
            banks: [offset_of!(Cells, f) as i32, offset_of!(Cells, i) as i32, offset_of!(Cells, r) as i32],
            slots: offset_of!(Cells, slots) as i32 + count_of_slots,
            slots_address: offset_of!(Cells, slots) as i32 + address_of_slots,
            vectors,
            nothing: (&raw const NOTHING).addr(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_as_expected() {
        // The memory of an earlier sample has no influence.
        assert!((0..20).all(|_| Layout::determine().is_some()));
        let layout = Layout::determine().unwrap();
        let cells = Rc::new(Cells::numbers(vec![1.0, 2.0, 3.0]));
        let reference = Ref::Cells(Rc::clone(&cells));
        let base = std::ptr::from_ref(&reference).cast::<u8>();
        // SAFETY: the offsets lie inside of the reference and of the object.
        unsafe {
            let object = *base.add(layout.object as usize).cast::<*const u8>();
            assert_eq!(*object.add(layout.owners as usize).cast::<usize>(), 2);
            let numbers = object.add(layout.cells as usize + layout.banks[0] as usize);
            assert_eq!(*numbers.add(layout.vectors[0].count as usize).cast::<usize>(), 3);
            let elements = *numbers.add(layout.vectors[0].address as usize).cast::<*const f64>();
            assert_eq!(*elements.add(2), 3.0);
        }
        assert_ne!(layout.tags.null, layout.tags.cells);
    }
}
