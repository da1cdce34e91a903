//! See the body, which a test runs as well.

#![no_main]

#[path = "../bodies/hotspot_watch.rs"]
mod hotspot_watch;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = hotspot_watch::run(data);
});
