//! Pictures in files.

use crate::session::{Chart, png};
use std::path::Path;

/// Writes a chart to a file.
///
/// # Errors
/// Why that cannot be done, in a sentence.
pub(super) fn save(chart: &Chart, file: &Path) -> Result<(), String> {
    let svg = chart.svg().map_err(|error| format!("cannot draw '{}': {error}", file.display()))?;
    write(&svg, file)
}

/// Writes a drawing to a file: as dots when that is what its name says.
///
/// # Errors
/// Why that cannot be done, in a sentence.
pub(super) fn write(svg: &str, file: &Path) -> Result<(), String> {
    let is_png = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    let cannot = |what: &str, why: String| format!("cannot {what} '{}': {why}", file.display());
    let bytes = if is_png { png(svg).map_err(|why| cannot("draw", why))? } else { svg.as_bytes().to_vec() };
    std::fs::write(file, bytes).map_err(|error| cannot("write", error.to_string()))
}
