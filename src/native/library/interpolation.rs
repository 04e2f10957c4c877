//! Interpolation: strings that are concatenated from strings and the descriptions of numbers.

use super::context::{Failure, NativeContext, internal};
use super::fast_path::{BYTES_PER_STEP, Window};
use super::{FastFunction, NativeFunction, array};
use crate::value::number_format::write_double;
use crate::value::shape::ScalarKind;
use crate::value::{Ref, Text, printing};
use std::cell::RefCell;

/// `text.concat` joins two strings; emission combines it with the conversions of its operands to `text.interpolate`,
/// which joins any number of strings and numbers. The generic arguments are the types of the parts.
pub(super) const FAST: &[FastFunction] = &[
    FastFunction { function: NativeFunction { name: "text.concat", call: concat }, fast: concat_fast_path },
    FastFunction {
        function: NativeFunction { name: "text.interpolate", call: interpolate },
        fast: interpolate_fast_path,
    },
];

/// The maximum length of a string that is created by a fast path.
pub const MAX_LENGTH: usize = 4096;

thread_local! {
    /// A string that is reused, so that the parts are concatenated without an allocation.
    static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
}

fn concat(c: &mut NativeContext<'_>) -> Result<(), Failure> {
    let (a, b) = (c.text()?, c.text()?);
    array::affordable(c.host, 1, a.len() + b.len())?;
    let mut both = String::with_capacity(a.len() + b.len());
    both.push_str(&a);
    both.push_str(&b);
    c.return_text(both)
}

fn interpolate(c: &mut NativeContext<'_>) -> Result<(), Failure> {
    let mut parts = vec![];
    for shape in c.types {
        let value = c.value(c.shapes.layout(*shape))?;
        parts.push((*shape, value));
    }
    let mut joined = String::new();
    for (shape, value) in parts {
        match (c.shapes.scalar_kind(shape), c.components(value).r) {
            (ScalarKind::Other, _) => return Err(internal()),
            (ScalarKind::Text, [Ref::Text(text)]) => {
                array::affordable(c.host, 1, joined.len() + text.len())?;
                joined.push_str(text);
            }
            _ => joined.push_str(&printing::describe(c.shapes, shape, c.components(value))),
        }
    }
    c.return_text(joined)
}

fn concat_fast_path(w: &mut Window<'_>) -> Option<i64> {
    join_fast_path(w, &[ScalarKind::Text; 2])
}

fn interpolate_fast_path(w: &mut Window<'_>) -> Option<i64> {
    join_fast_path(w, &w.signature.kinds)
}

fn join_fast_path(w: &mut Window<'_>, kinds: &[ScalarKind]) -> Option<i64> {
    let text = JOINED.try_with(|joined| joined_text(w, kinds, &mut *joined.try_borrow_mut().ok()?)).ok()??;
    let steps = (text.len() / BYTES_PER_STEP) as i64;
    *w.r.first_mut()? = Ref::Text(text);
    w.clear_arguments();
    Some(steps)
}

/// Joins the parts in the window, in `joined`.
fn joined_text(w: &Window<'_>, kinds: &[ScalarKind], joined: &mut String) -> Option<Text> {
    joined.clear();
    let (mut f, mut i, mut r) = (w.f.iter(), w.i.iter(), w.r.iter());
    for kind in kinds {
        match kind {
            ScalarKind::Text => match r.next()? {
                Ref::Text(text) if joined.len() + text.len() <= MAX_LENGTH => joined.push_str(text),
                Ref::Null => {}
                _ => return None,
            },
            ScalarKind::Int => joined.push_str(itoa::Buffer::new().format(*i.next()?)),
            ScalarKind::Double => write_double(joined, *f.next()?),
            ScalarKind::Other => return None,
        }
    }
    Some(Text::from(joined.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::fast_path::NativeSignature;
    use super::*;

    #[test]
    fn parts_are_joined_in_order() {
        let mut r = [Ref::Text("a".into()), Ref::Text("é".into())];
        let kinds = [ScalarKind::Int, ScalarKind::Text, ScalarKind::Double, ScalarKind::Text, ScalarKind::Int];
        let (mut f, mut i) = ([0.1], [i64::MIN, 7]);
        let signature = NativeSignature { kinds: kinds.into(), params: [1, 2, 2], results: [0, 0, 1] };
        let mut w = Window { f: &mut f, i: &mut i, r: &mut r, signature: &signature };
        assert_eq!(interpolate_fast_path(&mut w), Some(0));
        assert!(matches!(&r[..], [Ref::Text(text), Ref::Null] if &**text == "-9223372036854775808a0.1é7"));
    }

    #[test]
    fn long_strings_and_other_types_take_the_slow_path() {
        let long = "x".repeat(MAX_LENGTH);
        let mut r = [Ref::Text(long.as_str().into()), Ref::Text("y".into())];
        let kinds = vec![ScalarKind::Other];
        let signature = NativeSignature { kinds, params: [0, 0, 2], results: [0, 0, 1] };
        let mut w = Window { f: &mut [], i: &mut [], r: &mut r, signature: &signature };
        assert_eq!(concat_fast_path(&mut w), None);
        assert_eq!(interpolate_fast_path(&mut w), None);
        assert!(matches!(&r[1], Ref::Text(text) if &**text == "y"), "the arguments are unchanged");
    }
}
