//! Fuzz target: any pattern is refused with a reason, or its matches lie in the text in order.
#![no_main]

use dscript::native::library::matches_of;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (pattern, text) = input;
    match matches_of(pattern, text) {
        Ok(places) => {
            assert!(places.len() % 2 == 0);
            for pair in places.chunks(2) {
                let inside = |n: i64| usize::try_from(n).is_ok_and(|n| text.is_char_boundary(n));
                assert!(pair == [-1, -1] || inside(pair[0]) && inside(pair[1]) && pair[0] <= pair[1]);
            }
        }
        Err((reason, column)) => {
            assert!(!reason.contains('\n') && column <= pattern.chars().count() + 1, "{reason}: {column}");
        }
    }
});
