//! Picture files: the export of drawings.

use crate::session::{Display, png};
use std::path::Path;

/// Writes a picture to a file in the format of its extension.
///
/// # Errors
/// Returns an error message if the extension has no such format, or if writing fails.
pub(super) fn save(display: &Display, file: &Path) -> Result<(), String> {
    let form = |media: &str| display.forms.iter().find(|(own, _)| own == media).map_or("", |(_, form)| form.as_str());
    if extension(file) == "txt" {
        return write_bytes(format!("{}\n", form("text/plain")).as_bytes(), file);
    }
    match form("image/svg+xml") {
        "" => Err(format!("cannot draw '{}': there is no drawing of this, only text", file.display())),
        svg => write(svg, file),
    }
}

/// Writes a drawing to a file as SVG or PNG.
///
/// # Errors
/// Returns an error message if the extension has no such format, or if writing fails.
pub(super) fn write(svg: &str, file: &Path) -> Result<(), String> {
    let cannot_draw = |why| format!("cannot draw '{}': {why}", file.display());
    let bytes = match extension(file).as_str() {
        "svg" => svg.as_bytes().to_vec(),
        "png" => png(svg).map_err(cannot_draw)?,
        "pdf" => {
            return Err(cannot_draw("dscript does not write PDF; write '.svg', which a browser prints to PDF".into()));
        }
        _ => return Err(cannot_draw("the name of the file must end in '.svg' or '.png'".into())),
    };
    write_bytes(&bytes, file)
}

fn extension(file: &Path) -> String {
    file.extension().map_or_else(String::new, |ending| ending.to_string_lossy().to_lowercase())
}

/// Writes a drawing in a textual format to a file.
///
/// # Errors
/// Returns an error message if writing fails.
pub(super) fn write_text(text: &str, file: &Path) -> Result<(), String> {
    write_bytes(text.as_bytes(), file)
}

fn write_bytes(bytes: &[u8], file: &Path) -> Result<(), String> {
    std::fs::write(file, bytes).map_err(|error| format!("cannot write '{}': {error}", file.display()))
}
