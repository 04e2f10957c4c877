//! Dictionary model: a comparison of dictionaries with a slow list of pairs.

use super::Dictionary;
use crate::value::shape::{Layout, Shape, Shapes};
use crate::value::{Components, Slot};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Set(i64, f64),
    Remove(i64),
    RemoveFirst,
    Copy,
    Pack,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..40_i64, -9.0..9.0).prop_map(|(key, value)| Step::Set(key, value)),
        4 => (0..40_i64).prop_map(Step::Remove),
        1 => Just(Step::RemoveFirst),
        1 => Just(Step::Copy),
        1 => Just(Step::Pack),
    ]
}

const KEY: Layout = Layout { f: 0, i: 1, r: 0 };
const VALUE: Layout = Layout { f: 1, i: 0, r: 0 };

fn slot_of(value: f64) -> Slot {
    Slot { epoch: 1, payload: value.to_bits() }
}

proptest! {
    #[test]
    fn it_does_what_a_list_of_pairs_does(steps in prop::collection::vec(step(), 0..200)) {
        let mut shapes = Shapes::default();
        let int = shapes.add(Shape::Int { bits: 64, signed: true });
        let (mut d, mut model): (Dictionary, Vec<(i64, f64)>) = (Dictionary::default(), vec![]);
        for step in steps {
            match step {
                Step::Set(key, value) => {
                    let parts = Components { f: &[value], slots: &[slot_of(value)], ..Components::default() };
                    d.set(&shapes, (int, Components { i: &[key], ..Components::default() }), (VALUE, parts));
                    match model.iter_mut().find(|(k, _)| *k == key) {
                        Some(pair) => pair.1 = value,
                        None => model.push((key, value)),
                    }
                }
                Step::Remove(key) => {
                    let found = d.find(&shapes, int, Components { i: &[key], ..Components::default() });
                    prop_assert_eq!(found.is_some(), model.iter().any(|(k, _)| *k == key));
                    if let Some(place) = found {
                        d.remove_there(place, KEY, VALUE);
                    }
                    model.retain(|(k, _)| *k != key);
                }
                Step::RemoveFirst => {
                    if let Some(place) = d.place(0) {
                        prop_assert_eq!(d.key_there(place, KEY).i[0], model[0].0);
                        d.remove_there(place, KEY, VALUE);
                        model.remove(0);
                    }
                }
                Step::Copy => d = d.clone(),
                Step::Pack => {
                    d.keys();
                }
            }
            prop_assert_eq!(d.len(), model.len());
            for (position, (key, value)) in model.iter().enumerate() {
                prop_assert_eq!(d.keys().i[position], *key);
                prop_assert_eq!((d.values().f[position], d.values().slot(position)), (*value, slot_of(*value)));
                let place = d.find(&shapes, int, Components { i: &[*key], ..Components::default() });
                prop_assert_eq!(place.map(|place| d.position(place)), Some(position));
                prop_assert_eq!(d.place(position), place);
            }
        }
    }
}
