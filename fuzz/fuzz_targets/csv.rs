//! Fuzz target: any bytes in a file become lines or a table, or an error that names the line.
#![no_main]

use dscript::native::library::{Failure, lines_of, table_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let has_place = |failure: &Failure| failure.values.iter().any(|(name, _)| name == "line");
    match lines_of("file", bytes) {
        Ok(lines) => assert!(lines.iter().all(|line| !line.contains('\n'))),
        Err(failure) => assert!(has_place(&failure), "{failure:?}"),
    }
    match table_of("file", bytes) {
        Ok((names, columns)) => {
            assert_eq!(names.len(), columns.len());
            assert!(columns.windows(2).all(|two| two[0].len() == two[1].len()));
        }
        Err(failure) => {
            assert!(has_place(&failure) && !failure.message.contains('\n'), "{failure:?}");
        }
    }
});
