//! Pictures in files.

use crate::session::Chart;
use std::path::Path;

/// Writes a chart to a file as SVG.
///
/// # Errors
/// Why that cannot be done, in a sentence.
pub(super) fn save(chart: &Chart, file: &Path) -> Result<(), String> {
    let svg = chart.svg().map_err(|error| format!("cannot draw '{}': {error}", file.display()))?;
    write(&svg, file)
}

/// Writes a drawing to a file.
///
/// # Errors
/// Why that cannot be done, in a sentence.
pub(super) fn write(svg: &str, file: &Path) -> Result<(), String> {
    std::fs::write(file, svg).map_err(|error| format!("cannot write '{}': {error}", file.display()))
}
