//! Tests of the kernel with real front ends: Jupyter's test suite, a separate test suite, and the execution of notebooks.
//!
//! The tests are Python programs in a virtual environment, which is created once. Without Python they are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the virtual environment, or the reason why there is none.
fn environment() -> Result<&'static Path, &'static str> {
    static MADE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    MADE.get_or_init(create_environment).as_deref().map_err(String::as_str)
}

fn create_environment() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jupyter");
    let wanted = std::fs::read_to_string(here.join("requirements.txt")).map_err(|error| error.to_string())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jupyter");
    let done = folder.join("done");
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    let python = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder).output();
    match python {
        Err(_) => return Err("there is no Python 3".into()),
        Ok(output) if !output.status.success() => return Err("Python has no module 'venv'".into()),
        Ok(_) => {}
    }
    let pip = Command::new(folder.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check", "-r"])
        .arg(here.join("requirements.txt"))
        .output()
        .expect("the environment contains Python");
    assert!(pip.status.success(), "{}", String::from_utf8_lossy(&pip.stderr));
    std::fs::write(done, wanted).expect("the environment is writable");
    Ok(folder)
}

/// Returns a Python command in the environment in which the kernel is installed; `None` without Python.
fn python(kernel: &str) -> Option<Command> {
    let folder = match environment() {
        Ok(folder) => folder,
        Err(why) => {
            eprintln!("skipped: {why}");
            return None;
        }
    };
    let data = folder.join(kernel);
    let installed = Command::new(env!("CARGO_BIN_EXE_dscript"))
        .args(["kernel", "install", "--user"])
        .env("JUPYTER_DATA_DIR", &data)
        .output()
        .expect("dscript can be started");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let mut command = Command::new(folder.join("bin/python"));
    command.env("JUPYTER_DATA_DIR", &data).env("JUPYTER_PLATFORM_DIRS", "1").env("NO_COLOR", "1");
    Some(command)
}

/// Runs a Python test suite; it must pass without skipped tests.
fn suite(name: &str) {
    let Some(mut command) = python(name) else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jupyter").join(format!("{name}.py"));
    let output = command.arg(file).output().expect("Python can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    assert!(output.status.success() && !said.contains("skipped"), "the suite '{name}' failed");
}

#[test]
fn the_official_suite_passes() {
    suite("official");
}

#[test]
fn the_separate_suite_passes() {
    suite("behaviour");
}

/// Every notebook runs without errors, and produces the stored output.
#[test]
fn notebooks_produce_the_stored_output() {
    suite("notebooks");
}
