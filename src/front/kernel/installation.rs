//! Installation: registers the kernel in Jupyter.

use crate::front::kernelspec_location::Target;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The icon of the kernel: a curve and its tangent.
const LOGO: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#14532d"/>
<path d="M8 50C22 50 24 14 38 14S52 26 56 30" fill="none" stroke="#fff" stroke-width="5" stroke-linecap="round"/>
<path d="M12 54 40 8" stroke="#facc15" stroke-width="4" stroke-linecap="round"/></svg>
"##;

/// Writes the kernel's entry and returns its folder.
///
/// # Errors
/// Returns the reason why the entry cannot be written.
pub(in crate::front) fn install(target: &Target) -> Result<PathBuf, String> {
    let folder = folder(target)?;
    let program = std::env::current_exe().map_err(|error| format!("cannot find the executable of dscript: {error}"))?;
    let entry = json!({
        "argv": [program, "kernel", "run", "{connection_file}"],
        "display_name": "dscript",
        "language": "dscript",
        "interrupt_mode": "message",
        "metadata": {},
    });
    let text = format!("{entry:#}\n");
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("kernel.json"), text))
        .and_then(|()| std::fs::write(folder.join("logo-svg.svg"), LOGO));
    written.map_err(|error| failed("write", &folder, &error))?;
    Ok(folder)
}

/// Removes the kernel's entry and returns its folder.
///
/// # Errors
/// Returns the reason why the entry cannot be removed.
pub(in crate::front) fn remove(target: &Target) -> Result<PathBuf, String> {
    let folder = folder(target)?;
    std::fs::remove_dir_all(&folder).map_err(|error| failed("remove", &folder, &error))?;
    Ok(folder)
}

fn failed(what: &str, folder: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} '{}': {error}", folder.display())
}

fn folder(target: &Target) -> Result<PathBuf, String> {
    let data = match target {
        Target::Prefix(prefix) => prefix.join("share").join("jupyter"),
        Target::User => user_data().ok_or("there is no home folder; use --prefix FOLDER")?,
    };
    Ok(data.join("kernels").join("dscript"))
}

/// Returns the folder of Jupyter's user data.
fn user_data() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("JUPYTER_DATA_DIR") {
        return Some(folder);
    }
    if cfg!(windows) {
        return Some(set("APPDATA")?.join("jupyter"));
    }
    if cfg!(target_os = "macos") {
        return Some(set("HOME")?.join("Library").join("Jupyter"));
    }
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local").join("share")))?;
    Some(data.join("jupyter"))
}
