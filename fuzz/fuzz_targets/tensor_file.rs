//! Fuzz target: any bytes are tensors, which are the same after they are written and read again, or an error with a reason.
#![no_main]

use dscript::native::library::{TensorFormat, bytes_of_tensors, tensors_of};
use libfuzzer_sys::fuzz_target;

const FORMATS: [TensorFormat; 4] =
    [TensorFormat::Array, TensorFormat::Arrays, TensorFormat::Safetensors, TensorFormat::Weights];

fuzz_target!(|bytes: &[u8]| {
    for format in FORMATS.into_iter().map(Some).chain([None]) {
        match tensors_of(bytes, format) {
            Err(reason) => assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}"),
            Ok(tensors) => {
                let written = bytes_of_tensors(&tensors, TensorFormat::Weights).expect("tensors can be written");
                let again = tensors_of(&written, None).expect("written tensors can be read");
                assert_eq!(again.len(), tensors.len());
                for ((name, tensor), (other_name, other)) in again.iter().zip(&tensors) {
                    assert_eq!((name, tensor.kind(), tensor.shape()), (other_name, other.kind(), other.shape()));
                }
            }
        }
    }
});
