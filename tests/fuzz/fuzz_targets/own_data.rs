//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/own_data.rs"]
mod own_data;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = own_data::run(data);
});
