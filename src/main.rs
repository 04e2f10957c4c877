//! The `dscript` command.

/// The allocator of the process. Programs create many small objects, which mimalloc allocates and frees several times
/// faster than the allocator of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(dscript::front::cli::main());
}
