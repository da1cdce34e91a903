//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/small_files.rs"]
mod small_files;

libfuzzer_sys::fuzz_target!(|data: &[u8]| small_files::run(data));
