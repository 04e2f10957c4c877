//! The `dscript` command.

#[global_allocator]
static ALLOCATOR: dscript::allocator::Allocator = dscript::allocator::Allocator;

fn main() {
    std::process::exit(dscript::front::cli::main());
}
