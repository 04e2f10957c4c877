//! How the command is linked, so that it starts fast: a small script takes little longer than loading the program.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// The linker script with the functions that dscript executes when it starts.
const START_UP: &str = ".cargo/start-up.ld";

/// The system's libraries that Rust programs name, beside the one that unwinds the stack.
const SYSTEM_LIBRARIES: &[&str] = &["c", "dl", "m", "pthread", "rt", "util"];

/// Passes the options to the linker that this system supports.
pub(crate) fn set_options(root: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={START_UP}");
    let target = Target::new();
    if target.is_dynamic_gnu {
        link_at_fixed_addresses();
        if target.is_host && UNWINDER.iter().all(|name| has_library(name)) {
            link_unwinder(out)?;
            let has_all = SYSTEM_LIBRARIES.iter().all(|name| has_library(&format!("lib{name}.a")));
            if has_all && !target.has_own_linker && !target.is_sanitized {
                link_statically(out)?;
            }
        }
    }
    if target.is_host && !target.has_own_linker && std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        order_functions(root);
    }
    Ok(())
}

/// What decides which options are passed.
struct Target {
    /// The program uses the GNU C library, and is linked dynamically if nothing else is done.
    is_dynamic_gnu: bool,
    is_host: bool,
    /// A linker or options for it were chosen when the build was started.
    has_own_linker: bool,
    is_sanitized: bool,
}

impl Target {
    fn new() -> Self {
        let setting = |key: &str| std::env::var(key).unwrap_or_default();
        let flags = setting("CARGO_ENCODED_RUSTFLAGS");
        let is_gnu = setting("CARGO_CFG_TARGET_OS") == "linux" && setting("CARGO_CFG_TARGET_ENV") == "gnu";
        Self {
            is_dynamic_gnu: is_gnu && !flags.contains("crt-static"),
            is_host: setting("HOST") == setting("TARGET"),
            has_own_linker: !setting("RUSTC_LINKER").is_empty() || flags.contains("link"),
            is_sanitized: flags.contains("sanitizer"),
        }
    }
}

/// A position-independent executable relocates the tables of the library when it starts, a tenth of the time of a small script.
fn link_at_fixed_addresses() {
    println!("cargo::rustc-link-arg-bins=-no-pie");
}

/// The static libraries with the functions that unwind the stack, which come with the C compiler.
const UNWINDER: &[&str] = &["libgcc_eh.a", "libgcc.a"];

/// Links the functions that unwind the stack into every program. A process loads one shared library less then, which takes a twentieth
/// of the time of a small script.
fn link_unwinder(out: &Path) -> Result<(), Box<dyn Error>> {
    // The linker finds this script where the compiler asks for the shared library.
    let folder = out.join("unwinder");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("libgcc_s.so"), "GROUP ( -l:libgcc_eh.a -l:libgcc.a )\n")?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}

/// Links the C library into the command, where it is there as a static library. Loading shared libraries takes a fifth of the time of a
/// small script, and such a program runs on every distribution. The target feature `crt-static` would do the same, but for procedural
/// macros, too, which must be dynamic.
fn link_statically(out: &Path) -> Result<(), Box<dyn Error>> {
    let folder = out.join("system");
    std::fs::create_dir_all(&folder)?;
    for name in SYSTEM_LIBRARIES {
        // The C library and the unwinder need each other.
        let unwinder = if *name == "c" { "-l:libgcc_eh.a -l:libgcc.a " } else { "" };
        std::fs::write(folder.join(format!("lib{name}.so")), format!("GROUP ( -l:lib{name}.a {unwinder})\n"))?;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    // With the option `-static`, the C compiler would choose start-up code that registers all tables for unwinding.
    println!("cargo::rustc-link-arg-bins=-Wl,--no-dynamic-linker");
    Ok(())
}

/// Whether the C compiler, which links the program, finds a library.
fn has_library(name: &str) -> bool {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output();
    // Of a library that is not found, the name is printed.
    found.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_absolute())
}

/// Puts the functions that dscript executes when it starts side by side in the program, if the compiler's own choice of linker, which
/// accepts the list, links it: a short run reads a third of the pages of the program.
fn order_functions(root: &Path) {
    let list = root.join(START_UP);
    if std::env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") && list.exists() {
        println!("cargo::rustc-link-arg-bin=dscript=-T{}", list.display());
    }
}
