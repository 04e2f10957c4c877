//! Fast paths of dictionaries: the usual cases of the functions of dictionaries and sets whose keys are strings or
//! integers.

use crate::native::library::{FastPath, Window};
use crate::value::Components;
use crate::value::Ref;
use crate::value::dictionary::{Dictionary, ScalarKey};
use crate::value::shape::{Layout, ScalarKind};
use std::rc::Rc;

/// The fast path of a function without a usual case: it never applies.
pub(super) const NONE: FastPath = |_| None;

/// Returns the key in the window, which follows the dictionary.
#[inline(always)]
fn key<'a>(w: &'a Window<'_>) -> Option<ScalarKey<'a>> {
    match w.signature.kinds.first()? {
        ScalarKind::Int => Some(ScalarKey::Int(*w.i.first()?)),
        ScalarKind::Text => match w.r.get(1)? {
            Ref::Text(text) => Some(ScalarKey::Text(text)),
            _ => None,
        },
        ScalarKind::Double | ScalarKind::Other => None,
    }
}

#[inline(always)]
fn dictionary<'a>(w: &'a Window<'_>) -> Option<&'a Dictionary> {
    match w.r.first()? {
        Ref::Dictionary(dictionary) => Some(dictionary),
        _ => None,
    }
}

pub(super) fn find(w: &mut Window<'_>) -> Option<i64> {
    let place = dictionary(w)?.find_scalar(key(w)?);
    *w.i.first_mut()? = place.map_or(-1, |place| place as i64);
    w.clear_arguments();
    Some(0)
}

pub(super) fn contains(w: &mut Window<'_>) -> Option<i64> {
    let place = dictionary(w)?.find_scalar(key(w)?);
    *w.i.first_mut()? = i64::from(place.is_some());
    w.clear_arguments();
    Some(0)
}

/// Returns the layout of the values of a dictionary that returns an optional value and `further` references, if the
/// values in the dictionary have this layout and the window has space for them.
#[inline(always)]
fn value_layout(w: &Window<'_>, further: u16) -> Option<Layout> {
    let [f, i, r] = w.signature.results;
    let layout = Layout { f: f.into(), i: i.checked_sub(1)?.into(), r: r.checked_sub(further)?.into() };
    let has_space =
        [w.f.len(), w.i.len(), w.r.len()].iter().zip(w.signature.results).all(|(len, count)| *len >= count.into());
    (has_space && dictionary(w)?.values_fit(layout)).then_some(layout)
}

/// Writes the tag, the numbers and the integers of an optional value to the window.
#[inline(always)]
fn return_scalars(w: &mut Window<'_>, value: Option<Components<'_>>, layout: Layout) {
    w.i[0] = i64::from(value.is_some());
    let (numbers, integers) = (&mut w.f[..layout.f as usize], &mut w.i[1..=layout.i as usize]);
    match value {
        Some(value) => {
            numbers.iter_mut().zip(value.f).for_each(|(to, from)| *to = *from);
            integers.iter_mut().zip(value.i).for_each(|(to, from)| *to = *from);
        }
        None => {
            numbers.fill(0.0);
            integers.fill(0);
        }
    }
}

/// Writes an optional value to the window that is one integer, the most frequent layout of values. The dictionary stays
/// in its register.
#[inline(always)]
fn return_integer(w: &mut Window<'_>) -> Option<i64> {
    let dictionary = dictionary(w)?;
    let place = dictionary.find_scalar(key(w)?);
    let value = match place {
        Some(place) => dictionary.integer_there(place)?,
        None => 0,
    };
    let [tag, result, ..] = &mut *w.i else { return None };
    (*tag, *result) = (i64::from(place.is_some()), value);
    w.clear_arguments();
    Some(0)
}

pub(super) fn get(w: &mut Window<'_>) -> Option<i64> {
    if w.signature.results == [0, 2, 0] { return_integer(w) } else { get_value(w) }
}

/// Copies the value of the key, which has any layout, to the window.
#[inline(never)]
fn get_value(w: &mut Window<'_>) -> Option<i64> {
    let layout = value_layout(w, 0)?;
    let place = dictionary(w)?.find_scalar(key(w)?);
    let Ref::Dictionary(dictionary) = std::mem::take(w.r.first_mut()?) else { return None };
    let value = place.map(|place| dictionary.value_there(place, layout));
    return_scalars(w, value, layout);
    let mut references = value.map_or(&[][..], |value| value.r).iter();
    w.r.iter_mut().take(layout.r as usize).for_each(|r| *r = references.next().cloned().unwrap_or_default());
    w.clear_arguments();
    Some(0)
}

pub(super) fn take(w: &mut Window<'_>) -> Option<i64> {
    if w.signature.results == [0, 2, 1] { return_integer(w) } else { take_value(w) }
}

/// Moves the value of the key, which has any layout, to the window.
#[inline(never)]
fn take_value(w: &mut Window<'_>) -> Option<i64> {
    let layout = value_layout(w, 1)?;
    let place = dictionary(w)?.find_scalar(key(w)?);
    let Ref::Dictionary(dictionary) = w.r.first_mut()? else { return None };
    // The references of the value are only moved out of a dictionary that is not shared.
    if layout.r > 0 && Rc::get_mut(dictionary).is_none() {
        return None;
    }
    let Ref::Dictionary(mut dictionary) = std::mem::take(w.r.first_mut()?) else { return None };
    return_scalars(w, place.map(|place| dictionary.value_there(place, layout)), layout);
    let count = layout.r as usize;
    if count > 0 {
        w.r[..count].fill(Ref::Null);
        if let (Some(place), Some(own)) = (place, Rc::get_mut(&mut dictionary)) {
            w.r[..count].swap_with_slice(own.references_there(place, layout));
        }
    }
    w.r[count] = Ref::Dictionary(dictionary);
    w.clear_arguments();
    Some(0)
}

/// Returns the number of the key's components among the integers and among the references.
#[inline(always)]
fn key_size(w: &Window<'_>) -> Option<(usize, usize)> {
    Some(match key(w)? {
        ScalarKey::Int(_) => (1, 0),
        ScalarKey::Text(_) => (0, 1),
    })
}

pub(super) fn set(w: &mut Window<'_>) -> Option<i64> {
    if set_integer(w).is_none() {
        set_value(w)?;
    }
    w.clear_arguments();
    Some(0)
}

/// Sets the value of the key to the value in the window, which has any layout.
#[inline(never)]
fn set_value(w: &mut Window<'_>) -> Option<()> {
    let (integers, references) = key_size(w)?;
    let [f, i, r] = w.signature.params.map(usize::from);
    // An assignment of `nil` removes the key.
    if *w.i.get(integers)? == 0 {
        return None;
    }
    let integer_values = i.checked_sub(integers + 1)? as u32;
    let layout = Layout { f: f as u32, i: integer_values, r: r.checked_sub(references + 1)? as u32 };
    let (receiver, rest) = w.r.get_mut(..r)?.split_first_mut()?;
    let Ref::Dictionary(dictionary) = receiver else { return None };
    let dictionary = Rc::get_mut(dictionary).filter(|dictionary| dictionary.values_fit(layout))?;
    let (key_r, value_r) = rest.split_at(references);
    let key = Components { i: w.i.get(..integers)?, r: key_r, ..Components::default() };
    let value = Components { f: w.f.get(..f)?, slots: &[], i: w.i.get(integers + 1..i)?, r: value_r };
    dictionary.set_scalar(key, (layout, value))
}

/// Sets the value of an existing key, if the values are single integers, the most frequent layout of values.
#[inline(always)]
fn set_integer(w: &mut Window<'_>) -> Option<()> {
    let (dictionary, key, tag, value) = match (w.signature.kinds.first()?, w.signature.params, &mut *w.r, &*w.i) {
        (ScalarKind::Text, [0, 2, 2], [Ref::Dictionary(dictionary), Ref::Text(key), ..], [tag, value, ..]) => {
            (dictionary, ScalarKey::Text(key), *tag, *value)
        }
        (ScalarKind::Int, [0, 3, 1], [Ref::Dictionary(dictionary), ..], [key, tag, value, ..]) => {
            (dictionary, ScalarKey::Int(*key), *tag, *value)
        }
        _ => return None,
    };
    let dictionary = Rc::get_mut(dictionary).filter(|_| tag != 0)?;
    let place = dictionary.find_scalar(key)?;
    dictionary.set_integer_there(place, value)
}

pub(super) fn insert(w: &mut Window<'_>) -> Option<i64> {
    let (integers, references) = key_size(w)?;
    let (receiver, rest) = w.r.split_first_mut()?;
    let Ref::Dictionary(set) = receiver else { return None };
    let key = Components { i: w.i.get(..integers)?, r: rest.get(..references)?, ..Components::default() };
    let nothing = (Layout::default(), Components::default());
    let set = Rc::get_mut(set).filter(|set| set.values_fit(Layout::default()))?;
    if set.find_scalar(ScalarKey::of(key)?).is_none() {
        set.set_scalar(key, nothing)?;
    }
    w.clear_arguments();
    Some(0)
}
