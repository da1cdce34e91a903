//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/hfile_parts.rs"]
mod hfile_parts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hfile_parts::run(data));
