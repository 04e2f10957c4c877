//! Pictures in files.

use crate::session::Chart;
use std::path::Path;

/// Writes a chart to a file as SVG.
///
/// # Errors
/// Why that cannot be done, in a sentence.
pub(super) fn save(chart: &Chart, file: &Path) -> Result<(), String> {
    let written = chart.svg().and_then(|svg| std::fs::write(file, svg).map_err(|error| error.to_string()));
    written.map_err(|error| format!("cannot write '{}': {error}", file.display()))
}
