//! Fuzz target: any text is a date in ISO 8601 within the range of the calendar, or none.
#![no_main]

use dscript::native::library::date_of;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(seconds) = date_of(text) {
        assert!(seconds.abs() < 1e12, "{seconds}");
    }
});
