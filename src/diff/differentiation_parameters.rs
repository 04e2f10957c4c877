//! Differentiation parameters: determine the components of the arguments that vary when a function is differentiated
//! with respect to some parameters.

use crate::ir::{Function, Program};
use crate::value::Bank;
use crate::value::shape::{Shape, ShapeId, TangentId, TangentKind};

/// Whether a component of the arguments varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variation {
    /// The component is constant.
    No,
    /// The component varies as a whole.
    Yes,
    /// The component is a reference to an object of which some parts vary (elements with a `@noDerivative` property).
    Partly,
}

/// Returns for each component of the arguments whether it varies. `wrt` has one flag per parameter.
pub fn varied_components(program: &Program, f: &Function, wrt: &[bool]) -> Vec<Variation> {
    let mut variations = vec![Variation::No; f.params.len()];
    for (parameter, _) in f.parameters.iter().zip(wrt).filter(|(_, wanted)| **wanted) {
        let mut components = vec![];
        match parameter.tangent {
            Some(tangent) => spread(program, parameter.shape, tangent, &mut components),
            None => components.resize(parameter.len, Variation::No),
        }
        for (place, component) in variations.iter_mut().skip(parameter.first).take(parameter.len).zip(components) {
            *place = component;
        }
    }
    variations
}

/// Returns for each component of the results whether it can carry a derivative: a value stored in a `@noDerivative`
/// property cannot.
pub fn carrying(program: &Program, f: &Function) -> Vec<bool> {
    let mut carries: Vec<bool> = f.results.iter().map(|bank| can_vary(*bank)).collect();
    for (first, shape, tangent) in &f.result_tangents {
        let mut components = vec![];
        spread(program, *shape, *tangent, &mut components);
        for (carries, variations) in carries.iter_mut().skip(*first).zip(components) {
            *carries &= variations != Variation::No;
        }
    }
    carries
}

/// Returns the number of register components of a value that has the given shape.
fn count(program: &Program, shape: ShapeId) -> usize {
    let layout = program.shapes.layout(shape);
    (layout.f + layout.i + layout.r) as usize
}

/// Appends the components of a value that has the given shape, in the order of registers.
fn spread(program: &Program, shape: ShapeId, tangent: TangentId, out: &mut Vec<Variation>) {
    let constant = |out: &mut Vec<Variation>, n: usize| out.resize(out.len() + n, Variation::No);
    match &program.tangents.get(tangent).kind {
        TangentKind::Nothing => constant(out, count(program, shape)),
        TangentKind::Number | TangentKind::Opaque(_) => out.push(Variation::Yes),
        // The scalars of a tensor do not vary by themselves: the slot of its number is that of all of them.
        TangentKind::Tensor => out.extend([Variation::Yes, Variation::No]),
        TangentKind::Array(_) | TangentKind::Dictionary(_) | TangentKind::Boxed(_) => {
            out.push(if has_opaque_vector(program, tangent, 0) { Variation::Yes } else { Variation::Partly });
        }
        TangentKind::Optional(of) => {
            constant(out, 1);
            match program.shapes.get(shape) {
                Shape::Optional(inner) => spread(program, *inner, *of, out),
                _ => constant(out, count(program, shape).saturating_sub(1)),
            }
        }
        TangentKind::Fields(varied_components) => {
            let fields = fields(program.shapes.get(shape));
            if fields.is_empty() {
                // An instance of a class has one component, a reference.
                out.resize(out.len() + count(program, shape), Variation::Partly);
            }
            for (k, field) in fields.into_iter().enumerate() {
                match varied_components.iter().find(|(of, _, _)| *of as usize == k) {
                    Some((_, _, tangent)) => spread(program, field, *tangent, out),
                    None => constant(out, count(program, field)),
                }
            }
        }
        TangentKind::Beside(of) => {
            let parts = fields(program.shapes.get(shape));
            if let [value, vector] = parts[..] {
                constant(out, count(program, value));
                spread(program, vector, *of, out);
            }
        }
        // The cases of an enum share their components: a component that varies in one case may vary.
        TangentKind::Enum(_) => {
            let layout = program.shapes.layout(shape);
            out.resize(out.len() + layout.f as usize, Variation::Partly);
            let tag_first = out.len() - layout.f as usize;
            out.splice(tag_first..tag_first, std::iter::repeat_n(Variation::No, 1));
            constant(out, (layout.i as usize).saturating_sub(1));
            out.resize(out.len() + layout.r as usize, Variation::Partly);
        }
    }
}

fn fields(shape: &Shape) -> Vec<ShapeId> {
    match shape {
        Shape::Tuple(fields) => fields.iter().map(|(_, s)| *s).collect(),
        Shape::Struct { fields, .. } => fields.iter().map(|(_, s)| *s).collect(),
        _ => vec![],
    }
}

/// Whether every number that is reached through a reference varies.
fn has_opaque_vector(program: &Program, tangent: TangentId, depth: usize) -> bool {
    let tangent = program.tangents.get(tangent);
    if depth > 8 {
        return false;
    }
    match &tangent.kind {
        TangentKind::Number | TangentKind::Tensor => true,
        TangentKind::Array(of) | TangentKind::Dictionary(of) | TangentKind::Optional(of) => {
            has_opaque_vector(program, *of, depth + 1)
        }
        TangentKind::Fields(varied_components) => {
            let fields = fields(program.shapes.get(tangent.value));
            !fields.is_empty()
                && fields.len() == varied_components.len()
                && varied_components.iter().all(|(_, _, t)| has_opaque_vector(program, *t, depth + 1))
        }
        TangentKind::Boxed(_)
        | TangentKind::Beside(_)
        | TangentKind::Opaque(_)
        | TangentKind::Enum(_)
        | TangentKind::Nothing => false,
    }
}

/// Whether a component can carry a derivative at all.
pub fn can_vary(bank: Bank) -> bool {
    match bank {
        Bank::F | Bank::R => true,
        Bank::I => false,
    }
}
