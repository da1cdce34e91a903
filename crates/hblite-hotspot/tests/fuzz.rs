//! The code of the fuzz targets `calibration`, `hotspot_watch` and `own_data` on random changes of
//! valid input, and on what the fuzzer kept.

#[path = "../../../tests/fuzz/bodies/calibration.rs"]
mod calibration;
#[path = "../../../tests/fuzz/bodies/corpus.rs"]
mod corpus;
#[path = "../../../tests/fuzz/bodies/hotspot_watch.rs"]
mod hotspot_watch;
#[path = "../../../tests/fuzz/bodies/own_data.rs"]
mod own_data;

use std::path::Path;

use hblite_env::{Random as _, SeededRandom};

/// The files of a folder of seeds.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/seeds").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("seeds").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}

/// Runs each seed, which must be understood, and changes of it.
fn check(target: &str, rounds: usize, run: fn(&[u8]) -> usize) {
    let random = SeededRandom::new(1);
    for seed in seeds(target) {
        assert!(run(&seed) > 0, "{}", String::from_utf8_lossy(&seed));
        for _ in 0..rounds {
            let mut bytes = seed.clone();
            for _ in 0..1 + random.next_u64() % 4 {
                let at = 1 + (random.next_u64() % (bytes.len() as u64 - 1)) as usize;
                match random.next_u64() % 3 {
                    0 => bytes[at] = random.next_u64() as u8,
                    1 => bytes.insert(at, b"0-9eE.,:\"[]{}\n\t"[(random.next_u64() % 15) as usize]),
                    _ => bytes.truncate(at + 1),
                }
            }
            run(&bytes);
        }
    }
}

#[test]
fn changed_calibrations_are_predicted_with_or_refused() {
    check("calibration", 1_000, calibration::run);
}

#[test]
fn changed_readings_are_watched_or_refused() {
    check("hotspot_watch", 1_000, hotspot_watch::run);
}

#[test]
fn changed_data_is_read_or_refused() {
    check("own_data", 1_000, own_data::run);
}

#[test]
fn what_the_fuzzer_kept() {
    let inputs = corpus::inputs("own_data");
    let understood = inputs.iter().filter(|input| own_data::run(input) > 0).count();
    assert!(understood > 0 && understood < inputs.len(), "{understood} of {}", inputs.len());
}
