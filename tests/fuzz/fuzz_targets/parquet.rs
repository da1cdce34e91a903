//! Any bytes as a Parquet file: records, or an error. Memory is bounded by `-rss_limit_mb`.

#![no_main]

use hblite_hotspot::data::{Format, Table};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(table) = Table::read(data, Format::Parquet) {
        assert!(!table.is_empty() && !table.fields().is_empty());
    }
});
