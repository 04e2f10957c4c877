//! Fuzz target: any text becomes the stream of a JSON value, or an error with a place; the numbers in it are exact.
#![no_main]

use dscript::native::library::stream_of;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match stream_of(text) {
        Ok(stream) => {
            assert!(!stream.kinds.is_empty() && stream.numbers.iter().all(|x| x.is_finite()));
            if let Ok(number) = text.parse::<f64>()
                && let [read] = stream.numbers[..]
            {
                assert_eq!(read, number);
            }
        }
        Err((reason, line, column)) => {
            assert!(!reason.contains('\n') && line <= text.lines().count() + 1 && column <= text.len() + 1, "{reason}");
        }
    }
});
