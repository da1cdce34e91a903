//! The table shows medians, and ratios in which above 1 always means a faster hblite.

use super::*;

fn sample(workload: &str, store: &'static str, round: u32, unit: Unit, wall: f64) -> Sample {
    let cpu = (!matches!(unit, Unit::Amount(_))).then_some(wall * 2.0);
    Sample { workload: workload.to_owned(), store, round, unit, wall, cpu, load: None, line: None }
}

#[test]
fn table_gives_medians_and_ratios() {
    let rate = Unit::PerSecond("gets");
    let mut samples = Vec::new();
    for (round, factor) in [(1, 1.0), (2, 3.0), (3, 2.0)] {
        samples.push(sample("get", "rocksdb-lz4", round, rate, 50.0 * factor));
        samples.push(sample("get", "rocksdb", round, rate, 100.0 * factor));
        samples.push(sample("get", "lmdb", round, rate, 400.0 * factor));
        samples.push(sample("get", "hblite", round, rate, 200.0 * factor));
        samples.push(sample("open", "rocksdb", round, Unit::Milliseconds, 8.0 * factor));
        samples.push(sample("open", "hblite", round, Unit::Milliseconds, 2.0 * factor));
    }
    let expected = "\
| workload | unit | rocksdb-lz4 | rocksdb | lmdb | hblite | to RocksDB | to the fastest peer |
|---|---|---|---|---|---|---|---|
| get | gets/s | 100 | 200 | 800 | 400 | 2.00 | 0.50 (lmdb) |
| open | ms | – | 16.0 | – | 4.00 | 4.00 | 4.00 (rocksdb) |
";
    assert_eq!(table(&samples, Clock::Wall), expected);
    assert!(table(&samples, Clock::Cpu).contains("| 200 | 400 | 1.60k | 800 | 2.00 |"));
}

#[test]
fn amounts_have_no_clock_and_may_be_zero() {
    let unit = Unit::Amount("KiB");
    let samples: Vec<Sample> = [("rocksdb", 0.0), ("lmdb", 3.0), ("hblite", 1.5)]
        .map(|(store, wall)| sample("read", store, 1, unit, wall))
        .into();
    let row = "| read | KiB | 0 | 3.00 | 1.50 | 0.00 | 0.00 (rocksdb) |";
    assert!(table(&samples, Clock::Wall).contains(row), "{}", table(&samples, Clock::Wall));
    assert!(!table(&samples, Clock::Cpu).contains("KiB"));
    let samples = [sample("read", "lmdb", 1, unit, 3.0), sample("read", "hblite", 1, unit, 0.0)];
    assert!(table(&samples, Clock::Wall).contains("| 3.00 | 0 | – | – (lmdb) |"));
}

#[test]
fn median_of_an_even_count_lies_between() {
    assert!((median(&mut [4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < 1e-12);
}

#[test]
fn figures_keep_three_digits() {
    let shown: Vec<String> =
        [1_234_567.0, 123_456.0, 1234.0, 123.4, 12.34, 1.234, 0.01234].map(figure).into();
    assert_eq!(shown, ["1.23M", "123k", "1.23k", "123", "12.3", "1.23", "0.0123"]);
}
