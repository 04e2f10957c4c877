//! The `dscript` command.

/// Programs make many small objects, which it hands out and takes back several times faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(dscript::front::cli::main());
}
