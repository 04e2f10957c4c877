//! Leaf paths: the paths by which source code refers to the numbers in a value.

use super::{BESIDE, MAX_DEPTH, Mismatch, Offset, Walk, cells, dictionary, instance, tag, varied_fields};
use crate::value::Cells;
use crate::value::printing::{Form, describe_with};
use crate::value::shape::{Shape, ShapeId, TangentId, TangentKind};

impl Walk<'_> {
    /// Returns the path of each leaf, in the order of [`Walk::leaves`]: `.width`, `[2]`, `["key"].1`.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn paths(&self, id: TangentId, value: &Cells, at: Offset) -> Result<Vec<String>, Mismatch> {
        let mut paths = vec![];
        self.paths_at(id, (value, at), &mut String::new(), &mut paths, 0)?;
        Ok(paths)
    }

    fn paths_at(
        &self,
        id: TangentId,
        (value, at): (&Cells, Offset),
        path: &mut String,
        out: &mut Vec<String>,
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        let length = path.len();
        match &tangent.kind {
            TangentKind::Nothing => {}
            TangentKind::Number | TangentKind::Tensor | TangentKind::Opaque(_) => out.push(path.clone()),
            TangentKind::Fields(fields) => {
                let instance = if self.is_class(tangent.value) { instance(value, at) } else { None };
                let inside = instance.as_ref().map(|b| b.cells.borrow());
                let (value, at) = inside.as_deref().map_or((value, at), |cells| (cells, Offset::default()));
                for (field, _, of) in fields {
                    path.push_str(&self.name_of_field(tangent.value, *field));
                    let place = at.plus(self.field(tangent.value, *field));
                    self.paths_at(*of, (value, place), path, out, depth + 1)?;
                    path.truncate(length);
                }
            }
            TangentKind::Array(of) => {
                let Some(elements) = cells(value, at) else { return Ok(()) };
                let layout = self.shapes.layout(self.tangent(*of).value);
                for k in 0..elements.len {
                    path.push_str(&format!("[{k}]"));
                    self.paths_at(*of, (elements, Offset::element(k, layout)), path, out, depth + 1)?;
                    path.truncate(length);
                }
            }
            TangentKind::Dictionary(of) => {
                let Some(d) = dictionary(value, at) else { return Ok(()) };
                let Shape::Dictionary(key, _) = self.shapes.get(tangent.value) else { return Ok(()) };
                let (keys, values) = (self.shapes.layout(*key), self.shapes.layout(self.tangent(*of).value));
                for k in 0..d.len() {
                    let text = describe_with(self.shapes, *key, d.keys().element(k, keys), Form::Part, &[]);
                    path.push_str(&format!("[{text}]"));
                    self.paths_at(*of, (d.values(), Offset::element(k, values)), path, out, depth + 1)?;
                    path.truncate(length);
                }
            }
            TangentKind::Optional(of) => {
                if tag(value, at) != 0 {
                    self.paths_at(*of, (value, at.after_tag()), path, out, depth + 1)?;
                }
            }
            TangentKind::Enum(cases) => {
                let tag = tag(value, at);
                let places = self.payload(tangent.value, tag);
                for (field, of) in varied_fields(cases, tag) {
                    if let Some(place) = places.get(*field as usize) {
                        path.push_str(&format!(".{field}"));
                        self.paths_at(*of, (value, at.plus(*place)), path, out, depth + 1)?;
                        path.truncate(length);
                    }
                }
            }
            TangentKind::Beside(of) => {
                let place = at.plus(self.field(tangent.value, BESIDE));
                self.paths_at(*of, (value, place), path, out, depth + 1)?;
            }
            TangentKind::Boxed(of) => {
                let record = if self.is_boxed(tangent.value) { cells(value, at) } else { None };
                match record {
                    Some(record) => self.paths_at(*of, (record, Offset::default()), path, out, depth + 1)?,
                    None if self.is_boxed(tangent.value) => {}
                    None => self.paths_at(*of, (value, at), path, out, depth + 1)?,
                }
            }
        }
        Ok(())
    }

    /// Returns the name of a field of a tuple, struct or instance, with a dot.
    fn name_of_field(&self, shape: ShapeId, index: u32) -> String {
        let k = index as usize;
        let name = match self.shapes.get(shape) {
            Shape::Tuple(fields) => fields.get(k).and_then(|(label, _)| label.as_deref()),
            Shape::Struct { fields, .. } | Shape::Class { fields, .. } => fields.get(k).map(|(name, _)| &**name),
            Shape::Boxed(inner) => return self.name_of_field(*inner, index),
            _ => None,
        };
        match name {
            // The storage of a type of the library.
            Some(name) if name.starts_with('_') => String::new(),
            Some(name) => format!(".{name}"),
            None => format!(".{k}"),
        }
    }
}
