//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/cell_block.rs"]
mod cell_block;

libfuzzer_sys::fuzz_target!(|data: &[u8]| cell_block::run(data));
