//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/http.rs"]
mod http;
#[path = "../bodies/ports.rs"]
mod ports;

libfuzzer_sys::fuzz_target!(|data: &[u8]| http::run(data));
