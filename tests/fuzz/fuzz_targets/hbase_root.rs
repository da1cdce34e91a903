//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/hbase_root.rs"]
mod hbase_root;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hbase_root::run(data));
