//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/ports.rs"]
mod ports;
#[path = "../bodies/zookeeper.rs"]
mod zookeeper;

libfuzzer_sys::fuzz_target!(|data: &[u8]| zookeeper::run(data));
