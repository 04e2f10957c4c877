//! Dictionaries and sets: their native functions. Elements are ordered by the first insertion of their keys.

mod fast_path;

use super::context::{Failure, NativeContext};
use super::{FastFunction, FastPath, NativeFunction};
use crate::value::dictionary::Dictionary;
use crate::value::shape::{Layout, ShapeId};
use crate::value::{Cells, Components, Ref};
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "dictionary.new", call: new },
    NativeFunction { name: "dictionary.keys", call: |c| column(c, types(c)?, |d| d.keys()) },
    NativeFunction { name: "dictionary.values", call: |c| column(c, types(c)?, |d| d.values()) },
    NativeFunction { name: "set.new", call: new },
    NativeFunction { name: "set.elements", call: |c| column(c, set_type(c)?, |d| d.keys()) },
];

/// The functions that access a single key, and that allocate nothing large.
pub(super) const STEPS: &[FastFunction] = &[
    step("dictionary.count", |c| count(c, types(c)?), fast_path::NONE),
    step("dictionary.get", get, fast_path::get),
    step("dictionary.set", set, fast_path::set),
    step("dictionary.find", |c| find(c, types(c)?), fast_path::find),
    step("set.find", |c| find(c, set_type(c)?), fast_path::find),
    step("dictionary.take", take_key, fast_path::take),
    step("dictionary.takeAt", take_at, fast_path::NONE),
    step("dictionary.keyAt", |c| key_at(c, types(c)?), fast_path::NONE),
    step("dictionary.valueAt", value_at, fast_path::NONE),
    step("dictionary.keyThere", |c| key_there(c, types(c)?), fast_path::NONE),
    step("dictionary.valueThere", value_there, fast_path::NONE),
    step("dictionary.place", |c| place(c, types(c)?), fast_path::NONE),
    step("dictionary.position", |c| position(c, types(c)?), fast_path::NONE),
    step("dictionary.next", |c| next(c, types(c)?), fast_path::NONE),
    step("dictionary.add", |c| add(c, types(c)?), fast_path::NONE),
    step("dictionary.replaceAt", replace_at, fast_path::NONE),
    step("dictionary.removeAt", |c| remove_at(c, types(c)?), fast_path::NONE),
    step("set.next", |c| next(c, set_type(c)?), fast_path::NONE),
    step("set.add", |c| add(c, set_type(c)?), fast_path::NONE),
    step("set.keyAt", |c| key_at(c, set_type(c)?), fast_path::NONE),
    step("set.keyThere", |c| key_there(c, set_type(c)?), fast_path::NONE),
    step("set.place", |c| place(c, set_type(c)?), fast_path::NONE),
    step("set.position", |c| position(c, set_type(c)?), fast_path::NONE),
    step("set.removeAt", |c| remove_at(c, set_type(c)?), fast_path::NONE),
    step("set.count", |c| count(c, set_type(c)?), fast_path::NONE),
    step("set.contains", contains, fast_path::contains),
    step("set.insert", insert, fast_path::insert),
    step("set.remove", remove, fast_path::NONE),
];

const fn step(
    name: &'static str,
    call: fn(&mut NativeContext<'_>) -> Result<(), Failure>,
    fast: FastPath,
) -> FastFunction {
    FastFunction { function: NativeFunction { name, call }, fast }
}

/// The shapes and layouts of a dictionary's keys and values.
#[derive(Clone, Copy)]
struct Types {
    key: ShapeId,
    key_layout: Layout,
    value_layout: Layout,
}

fn types(c: &NativeContext<'_>) -> Result<Types, Failure> {
    let (key, value) = (c.type_at(0)?, c.type_at(1)?);
    Ok(Types { key, key_layout: c.shapes.layout(key), value_layout: c.shapes.layout(value) })
}

/// Returns the shapes and layouts of a set, whose values have no components.
fn set_type(c: &NativeContext<'_>) -> Result<Types, Failure> {
    let key = c.type_at(0)?;
    Ok(Types { key, key_layout: c.shapes.layout(key), value_layout: Layout::default() })
}

fn take(c: Call<'_, '_>, types: Types) -> Result<Rc<Dictionary>, Failure> {
    c.dictionary(types.key_layout, types.value_layout)
}

fn new(c: Call<'_, '_>) -> Result<(), Failure> {
    c.return_reference(Ref::Dictionary(Rc::default()))
}

fn count(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let count = take(c, types)?.len();
    c.return_integer(count as i64)
}

fn get(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (dictionary, key) = (take(c, types)?, c.value(types.key_layout)?);
    let found = dictionary.find(c.shapes, types.key, c.components(key));
    c.return_optional(types.value_layout, found.map(|k| dictionary.value_there(k, types.value_layout)))
}

/// Sets the value of a key, or removes the key if the value is `nil`.
fn set(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (mut dictionary, key) = (take(c, types)?, c.value(types.key_layout)?);
    let (present, value) = (c.integer(), c.value(types.value_layout)?);
    let key = c.components(key);
    if present != 0 {
        let value = (types.value_layout, c.components(value));
        Rc::make_mut(&mut dictionary).set(c.shapes, (types.key, key), value);
    } else if let Some(at) = dictionary.find(c.shapes, types.key, key) {
        Rc::make_mut(&mut dictionary).remove_there(at, types.key_layout, types.value_layout);
    }
    c.return_reference(Ref::Dictionary(dictionary))
}

/// Returns the place of a key; -1 if the dictionary does not contain it.
fn find(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (dictionary, key) = (take(c, types)?, c.value(types.key_layout)?);
    let place = dictionary.find(c.shapes, types.key, c.components(key));
    c.return_integer(place.map_or(-1, |place| place as i64))
}

/// Moves the value out of a place of a dictionary, so that the objects it refers to have one owner while they are
/// modified; the caller stores the value again.
fn take_at(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (mut dictionary, place) = (take(c, types)?, c.integer());
    let place = existing(&dictionary, place)?;
    c.return_components(dictionary.value_there(place, types.value_layout))?;
    if types.value_layout.r > 0 {
        Rc::make_mut(&mut dictionary).forget_references(place, types.value_layout);
    }
    c.return_reference(Ref::Dictionary(dictionary))
}

/// Moves out the value of a key, if the dictionary contains the key; the caller stores the value again.
fn take_key(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (mut dictionary, key) = (take(c, types)?, c.value(types.key_layout)?);
    let found = dictionary.find(c.shapes, types.key, c.components(key));
    c.return_optional(types.value_layout, found.map(|k| dictionary.value_there(k, types.value_layout)))?;
    if let Some(place) = found.filter(|_| types.value_layout.r > 0) {
        Rc::make_mut(&mut dictionary).forget_references(place, types.value_layout);
    }
    c.return_reference(Ref::Dictionary(dictionary))
}

fn column(c: Call<'_, '_>, types: Types, which: fn(&Dictionary) -> &Cells) -> Result<(), Failure> {
    let dictionary = take(c, types)?;
    c.return_reference(Ref::Cells(Rc::new(which(&dictionary).clone())))
}

fn value_at(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (dictionary, position) = (take(c, types)?, c.integer());
    let position = in_order(&dictionary, position)?;
    match (position, dictionary.place(0)) {
        (0, Some(first)) => c.return_components(dictionary.value_there(first, types.value_layout)),
        _ => c.return_components(dictionary.values().element(position, types.value_layout)),
    }
}

// Functions for keys with a custom `==`: the program searches for the place among those with the same hash.

/// Returns the position of the next key that has a given hash, after a given position; -1 when there is none.
fn next(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (dictionary, hash, after) = (take(c, types)?, c.integer(), c.integer());
    let place = dictionary.next_hashed(hash as u64, after);
    c.return_integer(place.map_or(-1, |place| place as i64))
}

/// Adds a key that the dictionary does not contain yet.
fn add(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (mut dictionary, hash) = (take(c, types)?, c.integer());
    let (key, value) = (c.value(types.key_layout)?, c.value(types.value_layout)?);
    Rc::make_mut(&mut dictionary).add_hashed(hash as u64, c.components(key), c.components(value));
    c.return_reference(Ref::Dictionary(dictionary))
}

/// Checks that a place of a dictionary is occupied by a key.
fn existing(dictionary: &Dictionary, place: i64) -> Result<usize, Failure> {
    let found = usize::try_from(place).ok().filter(|k| dictionary.is_there(*k));
    found.ok_or_else(|| Failure::index("dictionary", place, dictionary.len()))
}

/// Checks that a position of a dictionary exists.
fn in_order(dictionary: &Dictionary, position: i64) -> Result<usize, Failure> {
    let count = dictionary.len();
    let found = usize::try_from(position).ok().filter(|k| *k < count);
    found.ok_or_else(|| Failure::index("dictionary", position, count))
}

/// Returns the place of the key at a position of a dictionary.
fn place(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (dictionary, position) = (take(c, types)?, c.integer());
    let found = in_order(&dictionary, position)?;
    c.return_integer(dictionary.place(found).map_or(-1, |place| place as i64))
}

/// Returns the position of the key at a place of a dictionary; -1 for -1.
fn position(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (dictionary, place) = (take(c, types)?, c.integer());
    if place == -1 {
        return c.return_integer(-1);
    }
    let place = existing(&dictionary, place)?;
    c.return_integer(dictionary.position(place) as i64)
}

fn key_there(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (dictionary, place) = (take(c, types)?, c.integer());
    let place = existing(&dictionary, place)?;
    c.return_components(dictionary.key_there(place, types.key_layout))
}

fn value_there(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (dictionary, place) = (take(c, types)?, c.integer());
    let place = existing(&dictionary, place)?;
    c.return_components(dictionary.value_there(place, types.value_layout))
}

fn replace_at(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = types(c)?;
    let (mut dictionary, place) = (take(c, types)?, c.integer());
    let value = c.value(types.value_layout)?;
    let place = existing(&dictionary, place)?;
    Rc::make_mut(&mut dictionary).set_there(place, types.value_layout, c.components(value));
    c.return_reference(Ref::Dictionary(dictionary))
}

fn remove_at(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (mut dictionary, place) = (take(c, types)?, c.integer());
    let place = existing(&dictionary, place)?;
    Rc::make_mut(&mut dictionary).remove_there(place, types.key_layout, types.value_layout);
    c.return_reference(Ref::Dictionary(dictionary))
}

fn key_at(c: Call<'_, '_>, types: Types) -> Result<(), Failure> {
    let (dictionary, place) = (take(c, types)?, c.integer());
    let position = in_order(&dictionary, place)?;
    // The first element is read repeatedly while all elements are removed.
    match (position, dictionary.place(0)) {
        (0, Some(first)) => c.return_components(dictionary.key_there(first, types.key_layout)),
        _ => c.return_components(dictionary.keys().element(position, types.key_layout)),
    }
}

fn contains(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = set_type(c)?;
    let (set, element) = (take(c, types)?, c.value(types.key_layout)?);
    let found = set.find(c.shapes, types.key, c.components(element)).is_some();
    c.return_integer(i64::from(found))
}

fn insert(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = set_type(c)?;
    let (mut set, element) = (take(c, types)?, c.value(types.key_layout)?);
    let element = c.components(element);
    if set.find(c.shapes, types.key, element).is_none() {
        let nothing = (Layout::default(), Components::default());
        Rc::make_mut(&mut set).set(c.shapes, (types.key, element), nothing);
    }
    c.return_reference(Ref::Dictionary(set))
}

fn remove(c: Call<'_, '_>) -> Result<(), Failure> {
    let types = set_type(c)?;
    let (mut set, element) = (take(c, types)?, c.value(types.key_layout)?);
    if let Some(at) = set.find(c.shapes, types.key, c.components(element)) {
        Rc::make_mut(&mut set).remove_there(at, types.key_layout, Layout::default());
    }
    c.return_reference(Ref::Dictionary(set))
}
