//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/client.rs"]
mod client;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = client::run(data);
});
