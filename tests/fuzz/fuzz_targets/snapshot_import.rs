//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/snapshot_import.rs"]
mod snapshot_import;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = snapshot_import::run(data);
});
