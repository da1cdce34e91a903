//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/frame.rs"]
mod frame;

libfuzzer_sys::fuzz_target!(|data: &[u8]| frame::run(data));
