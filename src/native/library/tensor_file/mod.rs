//! Files of tensors: native functions that read and write tensors with names, and that find and replace those of a model.
//!
//! In: bytes of any content, and tensors. Out: tensors with their names, or the reason why the bytes are no such file.
//! Promises: no file causes a panic, and a size that a file claims is compared with the number of its bytes before memory is
//! allocated.
//! Not here: which tensors a model expects (`prelude/tensor_file.dscript`).

mod npy;
mod parameters;
mod safetensors;
mod scalars;
mod weights;
mod zip;

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};
use super::file::{outcome, read_bytes, write};
use super::string::{TEXT, text, texts};
use crate::native::tensor::TensorValue;
use crate::tensor::{ScalarKind, Tensor};
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

/// A tensor with its name in a file; the only tensor of a `.npy` file has the empty name.
pub type NamedTensor = (String, Tensor);

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensors.read", call: read },
    NativeFunction { name: "tensors.write", call: write_file },
    NativeFunction { name: "tensors.scalars", call: name_of_scalars },
    NativeFunction { name: "tensors.convert", call: convert },
    NativeFunction { name: "model.parameters", call: parameters::find },
    NativeFunction { name: "model.replacing", call: parameters::replace },
];

/// The format of a file of tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorFormat {
    /// One array of NumPy.
    Array,
    /// Several arrays of NumPy with names.
    Arrays,
    /// The format of the library safetensors.
    Safetensors,
    /// The format of dscript.
    Weights,
}

impl TensorFormat {
    /// Returns the format that the extension of a path names.
    fn of_path(path: &str) -> Option<TensorFormat> {
        let (_, extension) = path.rsplit_once('.')?;
        let formats =
            [("npy", TensorFormat::Array), ("npz", TensorFormat::Arrays), ("safetensors", TensorFormat::Safetensors)];
        formats.into_iter().find(|(known, _)| extension.eq_ignore_ascii_case(known)).map(|(_, format)| format)
    }

    /// Returns the format that the first bytes of a file indicate.
    fn of_bytes(bytes: &[u8]) -> Option<TensorFormat> {
        match bytes {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(TensorFormat::Array),
            [b'P', b'K', 3 | 5, ..] => Some(TensorFormat::Arrays),
            _ if weights::is_likely(bytes) => Some(TensorFormat::Weights),
            _ if safetensors::is_likely(bytes) => Some(TensorFormat::Safetensors),
            _ => None,
        }
    }
}

/// Reads the tensors in the bytes of a file. Without a format, the first bytes indicate it.
///
/// # Errors
/// Fails with the reason if the bytes are no file of the format.
pub fn tensors_of(bytes: &[u8], format: Option<TensorFormat>) -> Result<Vec<NamedTensor>, String> {
    let Some(format) = format.or_else(|| TensorFormat::of_bytes(bytes)) else {
        let formats = "a file of dscript, .safetensors, .npy or .npz is expected";
        let start: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        return Err(match start.is_empty() {
            true => format!("the file is empty; {formats}"),
            false => format!("the file has no tensors; {formats}, and it begins with the bytes {}", start.join(" ")),
        });
    };
    match format {
        TensorFormat::Array => Ok(vec![(String::new(), npy::read(bytes)?)]),
        TensorFormat::Arrays => zip::read(bytes)?.into_iter().map(array).collect(),
        TensorFormat::Safetensors => safetensors::read(bytes),
        TensorFormat::Weights => weights::read(bytes),
    }
}

/// Reads an array of an archive; its name is that of the entry without the extension.
fn array((name, content): zip::Entry) -> Result<NamedTensor, String> {
    let tensor = npy::read(&content).map_err(|reason| format!("entry '{name}': {reason}"))?;
    Ok((name.strip_suffix(".npy").unwrap_or(&name).to_owned(), tensor))
}

/// Returns the bytes of a file with the given tensors.
///
/// # Errors
/// Fails with the reason if the format cannot represent them.
pub fn bytes_of_tensors(tensors: &[NamedTensor], format: TensorFormat) -> Result<Vec<u8>, String> {
    match (format, tensors) {
        (TensorFormat::Array, [(_, tensor)]) => Ok(npy::write(tensor)),
        (TensorFormat::Array, _) => {
            Err(format!("a .npy file has one array, and there are {}; .npz files have several", tensors.len()))
        }
        (TensorFormat::Arrays, _) => {
            let entries = tensors.iter().map(|(name, tensor)| (format!("{name}.npy"), npy::write(tensor)));
            zip::write(&entries.collect::<Vec<_>>())
        }
        (TensorFormat::Safetensors, _) => Ok(safetensors::write(tensors)),
        (TensorFormat::Weights, _) => weights::write(tensors),
    }
}

fn failure(doing: &str, path: &str, reason: &str) -> Failure {
    Failure::new(FailureKind::Input, format!("cannot {doing} '{path}': {reason}"))
}

fn read(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let result = read_bytes(c, &path).and_then(|bytes| {
        tensors_of(&bytes, TensorFormat::of_path(&path)).map_err(|reason| failure("read", &path, &reason))
    });
    outcome(c, &path, result, |c, tensors| {
        let (names, tensors): (Vec<String>, Vec<Tensor>) = tensors.into_iter().unzip();
        c.return_reference(texts(names))?;
        c.return_tensors(tensors.into_iter().map(TensorValue::constant).collect())
    })
}

fn write_file(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let (names, tensors) = named_tensors(c)?;
    let tensors: Vec<NamedTensor> = names.into_iter().zip(tensors.iter().map(|tensor| (**tensor).clone())).collect();
    let format = TensorFormat::of_path(&path).unwrap_or(TensorFormat::Weights);
    let result = bytes_of_tensors(&tensors, format)
        .map_err(|reason| failure("write", &path, &reason))
        .and_then(|bytes| write(c, &bytes, &path));
    outcome(c, &path, result, |_, ()| Ok(()))
}

/// Reads an array of names and an array of tensors.
fn named_tensors(c: Call<'_, '_>) -> Result<(Vec<String>, Vec<Rc<Tensor>>), Failure> {
    let names = c.array(TEXT)?.r.iter().map(|name| text(name).to_owned()).collect();
    Ok((names, c.tensors()?.into_iter().map(|value| value.tensor).collect()))
}

/// Returns the name of the type of a tensor's scalars.
fn name_of_scalars(c: Call<'_, '_>) -> Result<(), Failure> {
    let name = c.tensor()?.tensor.kind().name();
    c.return_text(name)
}

/// Returns a tensor with scalars of the generic argument, and the reason why that is not possible, or an empty string.
fn convert(c: Call<'_, '_>) -> Result<(), Failure> {
    let (tensor, kind) = (c.tensor()?.tensor, c.scalar_kind(0)?);
    let (result, reason) = match scalars::converted(&tensor, kind) {
        Ok(result) => (result, String::new()),
        Err(reason) => (empty(kind), reason),
    };
    c.return_tensor(TensorValue::constant(result))?;
    c.return_text(reason)
}

/// Returns a tensor without scalars.
fn empty(kind: ScalarKind) -> Tensor {
    // A shape without scalars is never too large.
    Tensor::zeros(kind, [0].into()).unwrap_or_else(|_| Tensor::scalar(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [TensorFormat; 4] =
        [TensorFormat::Array, TensorFormat::Arrays, TensorFormat::Safetensors, TensorFormat::Weights];

    #[test]
    fn a_file_with_a_changed_byte_is_read_or_refused() {
        let tensors = [("a".to_owned(), Tensor::new([2, 3].into(), vec![1f32; 6]).unwrap())];
        for format in FORMATS {
            let bytes = bytes_of_tensors(&tensors, format).unwrap();
            assert_eq!(TensorFormat::of_bytes(&bytes), Some(format));
            for at in 0..bytes.len() {
                for change in [1, 0x10, 0x80, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] ^= change;
                    for format in [Some(format), None] {
                        if let Err(reason) = tensors_of(&changed, format) {
                            assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_extension_names_the_format() {
        assert_eq!(TensorFormat::of_path("a.b/x.NPZ"), Some(TensorFormat::Arrays));
        assert_eq!(TensorFormat::of_path("npy"), None);
        assert_eq!(TensorFormat::of_path("x.model"), None);
    }
}
