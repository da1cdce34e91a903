//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/copy_state.rs"]
mod copy_state;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = copy_state::run(data);
});
