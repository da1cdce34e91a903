//! Which keys of a hot region were written while it was watched.
//!
//! Servers count requests per region. But a cell says when it was written: the cells of a region
//! whose timestamps are within the time that was watched are its writes, as far as they have their
//! timestamps from the server. Reads leave no traces.

use hblite::bytes::to_string_binary;
use hblite::filter::Filter;
use hblite::{Connection, Scan, TimeRange, row_bound};

use crate::condition::short;
use crate::mix::mixed;

/// Cells that are looked at.
const CELLS_MAX: usize = 200_000;
/// With fewer, nothing is said.
const CELLS_MIN: usize = 20;
/// Share of the writes that a row must have to be named.
const ROW_SHARE: f64 = 0.05;
/// Share of the writes that begin with the same bytes.
const PREFIX_SHARE: f64 = 0.5;

/// The range of a region and the time that was watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The table.
    pub table: String,
    /// First key.
    pub start: Vec<u8>,
    /// The first key after it; empty for the last region.
    pub end: Vec<u8>,
    /// Begin and end, in milliseconds since 1970; the end is not included.
    pub times_ms: (i64, i64),
    /// Regions of the table.
    pub regions: usize,
}

/// What is known of the keys that were written, in sentences.
///
/// # Errors
/// Those of the cluster.
pub fn hot_keys(connection: &Connection, watched: &Watched) -> hblite::Result<Vec<String>> {
    let table = connection.table(&*watched.table)?;
    let (from, to) = watched.times_ms;
    // All versions, also those that a later write hides.
    let scan = Scan::new()
        .with_start_bound(row_bound(&watched.start, true))
        .with_stop_bound(row_bound(&watched.end, false))
        .with_time_range(TimeRange::new(from.max(0), to.max(from).max(1))?)
        .with_raw(true)
        .with_all_versions()
        .with_filter(Filter::key_only(false))
        .with_cache_blocks(false);
    let mut rows: Vec<(Vec<u8>, u64)> = Vec::new();
    let mut cells = 0;
    let mut scanner = table.scan(&scan)?;
    while cells < CELLS_MAX
        && let Some(row) = scanner.next_row()?
    {
        // The cells of one put have the same time: they are one write.
        let mut times: Vec<i64> = row.cells().map(|cell| cell.timestamp()).collect();
        times.sort_unstable();
        times.dedup();
        cells += times.len();
        rows.push((row.row().to_vec(), times.len() as u64));
    }
    Ok(sentences(&rows, cells >= CELLS_MAX, watched.regions))
}

/// What rows with their numbers of writes, in key order, have in common.
fn sentences(rows: &[(Vec<u8>, u64)], is_cut: bool, regions: usize) -> Vec<String> {
    let writes: u64 = rows.iter().map(|(_, writes)| writes).sum();
    if writes < CELLS_MIN as u64 {
        return vec![format!(
            "{writes} of its cells are of that time: writes with times of their own, increments \
             and deleted cells cannot be found."
        )];
    }
    let share = |part: u64| part as f64 / writes as f64;
    let percent = |part: u64| format!("{:.0} %", share(part) * 100.0);
    let which = if is_cut { "first writes" } else { "writes" };
    let mut lines = Vec::new();
    let (row, most) = rows
        .iter()
        .max_by_key(|(_, writes)| *writes)
        .map_or((&[][..], 0), |row| (&row.0[..], row.1));
    let (prefix, with_prefix) = common_prefix(rows, (writes as f64 * PREFIX_SHARE) as u64);
    let is_row_hot = share(most) >= ROW_SHARE;
    if is_row_hot {
        let row = to_string_binary(row);
        lines
            .push(format!("Hot key: {} of its {writes} {which} went to \"{row}\".", percent(most)));
    }
    if !prefix.is_empty() && prefix != row {
        let (prefix, part) = (to_string_binary(&prefix), percent(with_prefix));
        lines.push(format!(
            "{part} of its {writes} {which} went to keys with \"{prefix}\" in front."
        ));
    }
    if !is_row_hot && prefix.is_empty() {
        let count = rows.len();
        lines
            .push(format!("Its {writes} {which} went to {count} keys without a common beginning."));
    }
    let salted = salted(rows, regions);
    lines.push(format!(
        "With a salt of {regions} values, made from the key, in front of the key, the hottest of \
         {regions} regions would have {} times the mean of these writes; a range would take \
         {regions} scans.",
        short(salted)
    ));
    if is_row_hot {
        lines.push(
            "A salt does not divide a row: only a design with several rows for it does, such as \
             a random salt, or a time bucket behind it."
                .to_owned(),
        );
    }
    lines
}

/// The longest beginning that at least `least` writes have, and how many have it. Rows are in key
/// order.
fn common_prefix(rows: &[(Vec<u8>, u64)], least: u64) -> (Vec<u8>, u64) {
    let mut rows = rows;
    let mut prefix = Vec::new();
    let mut having = 0;
    loop {
        let at = prefix.len();
        // The group of the next byte with the most writes.
        let mut best: (u64, &[(Vec<u8>, u64)]) = (0, &[]);
        for group in rows.chunk_by(|left, right| left.0.get(at) == right.0.get(at)) {
            let writes = group.iter().map(|(_, writes)| writes).sum();
            if group[0].0.len() > at && writes > best.0 {
                best = (writes, group);
            }
        }
        if best.0 < least.max(1) {
            return (prefix, having);
        }
        (having, rows) = best;
        prefix.push(rows[0].0[at]);
    }
}

/// How many times the mean the hottest of `regions` salts has.
fn salted(rows: &[(Vec<u8>, u64)], regions: usize) -> f64 {
    let mut loads = vec![0_u64; regions.max(1)];
    for (row, writes) in rows {
        let hash = row.iter().fold(0, |hash, byte| mixed(hash ^ u64::from(*byte)));
        let salt = (hash % loads.len() as u64) as usize;
        loads[salt] += writes;
    }
    let total: u64 = loads.iter().sum();
    let most = loads.iter().max().copied().unwrap_or(0);
    most as f64 * loads.len() as f64 / total.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};

    fn watched(times_ms: (i64, i64)) -> Watched {
        let (start, end) = (b"host".to_vec(), Vec::new());
        Watched { table: "t".to_owned(), start, end, times_ms, regions: 4 }
    }

    /// The writes of the time that was watched are found, by row and by what rows begin with.
    #[test]
    fn the_keys_that_were_written_are_named() {
        let connection = hblite::open_in_memory().unwrap();
        let name = "t".parse().unwrap();
        let family = ColumnFamilyDescriptor::new("d");
        connection.admin().create_table(&TableDescriptor::new(name).with_family(family)).unwrap();
        let table = connection.table("t").unwrap();
        let put = |row: &str, time: i64| {
            table.put(&Put::at(row, time).add("d", "q", "v").add("d", "r", "v")).unwrap();
        };
        for index in 0..300_i64 {
            put(&format!("host07|{index:04}"), 1_000 + index);
            put("host08", 1_000 + index);
            put(&format!("host{:02}", index % 5), 1_000 + index);
            // Of another region, and of another time.
            put(&format!("a{index}"), 1_000 + index);
            put(&format!("hostile{index}"), 9_000 + index);
        }
        let lines = hot_keys(&connection, &watched((1_000, 2_000))).unwrap().join("\n");
        assert!(lines.contains("Hot key: 33 % of its 900 writes went to \"host08\"."), "{lines}");
        assert!(lines.contains("100 % of its 900 writes went to keys with \"host0\""), "{lines}");
        assert!(lines.contains("A salt does not divide a row"), "{lines}");
        let lines = hot_keys(&connection, &watched((5_000, 6_000))).unwrap().join("\n");
        assert!(lines.starts_with("0 of its cells are of that time"), "{lines}");
    }

    #[test]
    fn prefixes_are_as_long_as_half_of_the_writes_allow() {
        let row = |key: &str, writes| (key.as_bytes().to_vec(), writes);
        let rows = [row("a", 10), row("ab", 30), row("abc", 30), row("b", 20)];
        assert_eq!(common_prefix(&rows, 45), (b"ab".to_vec(), 60));
        assert_eq!(common_prefix(&rows, 65), (b"a".to_vec(), 70));
        assert_eq!(common_prefix(&rows, 75), (Vec::new(), 0));
        // One row cannot be divided, many rows can.
        assert!((salted(&rows[..1], 4) - 4.0).abs() < 1e-9);
        let many: Vec<_> = (0..1000).map(|index| row(&format!("2026-{index:04}"), 1)).collect();
        assert!(salted(&many, 4) < 1.2);
    }
}
