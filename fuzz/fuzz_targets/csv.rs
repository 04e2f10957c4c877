//! Fuzz target: any bytes in a file become lines or a table, or an error that names the line.
#![no_main]

use dscript::native::library::{ColumnKind, Failure, TableFormat, lines_of, table_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let has_place = |failure: &Failure| failure.values.iter().any(|(name, _)| name == "line");
    match lines_of("file", bytes) {
        Ok(lines) => assert!(lines.iter().all(|line| !line.contains('\n'))),
        Err(failure) => assert!(has_place(&failure), "{failure:?}"),
    }
    let numbers = TableFormat { kinds: vec![("a".into(), ColumnKind::Number)], ..TableFormat::default() };
    let plain = TableFormat { delimiter: b';', has_header: false, ..TableFormat::default() };
    for format in [TableFormat::default(), numbers, plain] {
        match table_of("file", bytes, &format) {
            Ok(table) => {
                assert_eq!(table.names.len(), table.columns.len());
                for column in table.columns {
                    assert_eq!(column.numbers.len() + column.texts.len(), table.lines.len());
                }
            }
            Err(failure) => {
                assert!(has_place(&failure) && !failure.message.contains('\n'), "{failure:?}");
            }
        }
    }
});
