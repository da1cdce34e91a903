//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/rest.rs"]
mod rest;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rest::run(data));
