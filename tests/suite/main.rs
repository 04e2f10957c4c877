//! Integration tests: one test binary with many modules, which is compiled and linked once.
//!
//! `cargo test --test suite golden::` runs the tests of a module.

mod architecture;
mod chains;
mod command_line;
mod compilation_cache;
mod compiled;
mod documentation;
mod foreign;
mod formatting;
mod formulas;
mod generate;
mod golden;
mod growth;
mod harness;
mod interrupts;
mod jupyter;
mod lessons;
mod library;
mod machine_code;
mod prefixes;
mod primitives;
mod prompt;
mod properties;
mod singular;
mod sink;
mod standard_streams;
mod statements;
mod tamper;
mod tampered;
mod tools;
mod vocabulary;
