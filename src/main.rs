//! The `dscript` command.

/// Programs create many small objects, which it allocates and frees several times faster than the allocator of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(dscript::front::cli::main());
}
