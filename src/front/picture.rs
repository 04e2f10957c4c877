//! Picture files: exports charts and drawings.

use crate::session::{Chart, png};
use std::path::Path;

/// Writes a chart to a file.
///
/// # Errors
/// Returns an error message if this fails.
pub(super) fn save(chart: &Chart, file: &Path) -> Result<(), String> {
    let svg = chart.svg().map_err(|error| format!("cannot draw '{}': {error}", file.display()))?;
    write(&svg, file)
}

/// Writes a drawing to a file: as PNG if the file has this extension, otherwise as SVG.
///
/// # Errors
/// Returns an error message if this fails.
pub(super) fn write(svg: &str, file: &Path) -> Result<(), String> {
    let is_png = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    let cannot_draw = |why| format!("cannot draw '{}': {why}", file.display());
    let bytes = if is_png { png(svg).map_err(cannot_draw)? } else { svg.as_bytes().to_vec() };
    write_bytes(&bytes, file)
}

/// Writes a drawing in a textual format to a file.
///
/// # Errors
/// Returns an error message if this fails.
pub(super) fn write_text(text: &str, file: &Path) -> Result<(), String> {
    write_bytes(text.as_bytes(), file)
}

fn write_bytes(bytes: &[u8], file: &Path) -> Result<(), String> {
    std::fs::write(file, bytes).map_err(|error| format!("cannot write '{}': {error}", file.display()))
}
