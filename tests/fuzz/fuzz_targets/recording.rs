//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/recording.rs"]
mod recording;

libfuzzer_sys::fuzz_target!(|data: &[u8]| recording::run(data));
