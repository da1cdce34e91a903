//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/calibration.rs"]
mod calibration;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = calibration::run(data);
});
