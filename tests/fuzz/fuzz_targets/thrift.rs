//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/thrift.rs"]
mod thrift;

libfuzzer_sys::fuzz_target!(|data: &[u8]| thrift::run(data));
