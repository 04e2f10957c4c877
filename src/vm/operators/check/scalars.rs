//! Scalars: the numbers of values and of their tangent vectors, with the scalars of tensors one by one, for the comparison
//! of derivatives.

use crate::native::tensor::{pack, unpack};
use crate::tape::{Num, Template};
use crate::tensor::Tensor;
use crate::value::opaque_vector::{self, OpaqueVector};
use crate::value::walk::Walk;
use crate::value::{Cells, Ref, Slot};
use crate::vm::fault::Fault;
use crate::vm::operators::{Offset, mismatch, read, vector, vector_layout};
use std::rc::Rc;

/// A leaf of a value: a number, or a tensor of numbers.
enum Leaf {
    Number(f64),
    Tensor(Rc<Tensor>),
}

fn leaves(walk: Walk<'_>, of: &Template) -> Result<Vec<Leaf>, Box<Fault>> {
    let mut leaves = vec![];
    let mut add = |number: f64, _: Slot, tensor: Option<&Ref>| {
        leaves.push(match tensor {
            Some(Ref::Tensor(tensor)) => Leaf::Tensor(Rc::clone(tensor)),
            _ => Leaf::Number(number),
        });
    };
    walk.leaves_with_tensors(of.tangent, &of.cells, &mut add).map_err(mismatch)?;
    Ok(leaves)
}

/// Returns the scalars of a value.
pub(super) fn scalars(walk: Walk<'_>, of: &Template) -> Result<Vec<f64>, Box<Fault>> {
    let mut scalars = vec![];
    for leaf in leaves(walk, of)? {
        match leaf {
            Leaf::Number(number) => scalars.push(number),
            Leaf::Tensor(tensor) => scalars.append(&mut unpack(&tensor)?),
        }
    }
    Ok(scalars)
}

/// Replaces the scalars of a value.
pub(super) fn set_scalars(walk: Walk<'_>, of: &mut Template, scalars: &[f64]) -> Result<(), Box<Fault>> {
    let packed = packed(walk, of, scalars)?;
    let mut next = packed.into_iter();
    let set = &mut |number: &mut f64, tensor: Option<&mut Ref>, slot| {
        match (next.next(), tensor) {
            (Some(Leaf::Number(x)), _) => *number = x,
            (Some(Leaf::Tensor(new)), Some(tensor)) => *tensor = Ref::Tensor(new),
            _ => {}
        }
        slot
    };
    walk.change_with_tensors(of.tangent, &mut of.cells, Offset::default(), set).map_err(mismatch)
}

/// Returns the leaves of a value with other scalars.
fn packed(walk: Walk<'_>, of: &Template, mut scalars: &[f64]) -> Result<Vec<Leaf>, Box<Fault>> {
    let mut packed = vec![];
    for leaf in leaves(walk, of)? {
        let count = match &leaf {
            Leaf::Number(_) => 1,
            Leaf::Tensor(tensor) => tensor.scalar_count(),
        };
        let (here, after) = scalars.split_at(count.min(scalars.len()));
        scalars = after;
        packed.push(match leaf {
            Leaf::Number(number) => Leaf::Number(here.first().copied().unwrap_or(number)),
            Leaf::Tensor(tensor) => Leaf::Tensor(Rc::new(pack(tensor.kind(), tensor.shape().clone(), here)?)),
        });
    }
    Ok(packed)
}

/// Returns the tangent vector of a value that has the given scalars.
pub(super) fn vector_of_scalars(walk: Walk<'_>, of: &Template, scalars: &[f64]) -> Result<Cells, Box<Fault>> {
    let numbers: Vec<Num> = packed(walk, of, scalars)?
        .into_iter()
        .map(|leaf| match leaf {
            Leaf::Number(number) => Num::constant(number),
            Leaf::Tensor(tensor) => Num::constant(opaque_vector::keep_tensor(tensor, Slot::NONE)),
        })
        .collect();
    vector(walk, of, &numbers)
}

/// Returns the tangent vectors of several values that have the given scalars, one after the other.
pub(super) fn vectors_of_scalars(walk: Walk<'_>, of: &[Template], mut scalars: &[f64]) -> Result<Cells, Box<Fault>> {
    if let [only] = of {
        return vector_of_scalars(walk, only, scalars);
    }
    let mut all = Cells::empty();
    for template in of {
        let count = self::scalars(walk, template)?.len();
        let (here, after) = scalars.split_at(count.min(scalars.len()));
        scalars = after;
        all.push(vector_of_scalars(walk, template, here)?.all());
    }
    Ok(all)
}

/// Returns the scalars of the tangent vectors of several values, which follow each other.
pub(super) fn scalars_of_vectors(walk: Walk<'_>, of: &[Template], vectors: &Cells) -> Result<Vec<f64>, Box<Fault>> {
    let mut at = Offset::default();
    let mut scalars = vec![];
    for template in of {
        let numbers = read(walk, template, (vectors, at))?;
        for (number, leaf) in numbers.iter().zip(leaves(walk, template)?) {
            match (leaf, opaque_vector::find(number.value)) {
                (Leaf::Number(_), _) => scalars.push(number.value),
                (Leaf::Tensor(like), Some(OpaqueVector::Tensor(tensor, _))) => {
                    let full = tensor.broadcast_to(like.shape()).map_err(crate::native::library::Failure::from)?;
                    scalars.append(&mut unpack(&full)?);
                }
                (Leaf::Tensor(like), _) => scalars.resize(scalars.len() + like.scalar_count(), 0.0),
            }
        }
        at = at.after(vector_layout(walk, template));
    }
    Ok(scalars)
}
