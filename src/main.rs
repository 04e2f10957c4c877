//! The `dscript` command.

fn main() {
    std::process::exit(dscript::front::cli::main());
}
