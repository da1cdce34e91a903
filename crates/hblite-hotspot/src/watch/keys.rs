//! Which keys of a hot region were written while it was watched.
//!
//! Servers count requests per region. But cells have timestamps: the cells of a region whose
//! timestamps are within the watched time are its writes, provided that the server set the
//! timestamps. Reads leave no trace.

use hblite::bytes::to_string_binary;
use hblite::filter::Filter;
use hblite::{Connection, Scan, TimeRange, row_bound};

use crate::advise::{AdviceOptions, Expected, NoAdvice, advise};

/// The maximum number of cells examined.
const CELLS_MAX: usize = 200_000;
/// With fewer writes, nothing is reported.
const CELLS_MIN: usize = 20;
/// Share of the writes that a row must have to be named.
const ROW_SHARE: f64 = 0.05;
/// With fewer writes, no other key is proposed.
const ADVISED_MIN: usize = 100;
/// Writes that other keys are tried with.
const ADVISED_MAX: usize = 4_000;
/// Share of the writes that begin with the same bytes.
const PREFIX_SHARE: f64 = 0.5;

/// The key range of a region, and the watched time.
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

/// What is known of the keys that were written, and which other keys would spread them, in
/// sentences.
///
/// # Errors
/// Those of the cluster.
pub fn hot_keys(
    connection: &Connection,
    watched: &Watched,
    expected: &Expected,
) -> hblite::Result<Vec<String>> {
    let written = written_rows(connection, watched, CELLS_MAX)?;
    // When a row was written, and which.
    let mut order: Vec<(i64, usize)> = Vec::new();
    for (index, (_, times)) in written.iter().enumerate() {
        order.extend(times.iter().map(|time| (*time, index)));
    }
    let rows: Vec<(Vec<u8>, u64)> =
        written.into_iter().map(|(row, times)| (row, times.len() as u64)).collect();
    let cells = order.len();
    let mut lines = sentences(&rows, cells >= CELLS_MAX);
    if cells >= CELLS_MIN {
        order.sort_unstable();
        lines.extend(changes(&rows, &order, watched, expected));
    }
    Ok(lines)
}

/// The rows of a region that were written while it was watched, in key order, each with the times
/// of its writes.
///
/// Stops after `writes_max` writes, with the row that has the last of them. Each row that is read
/// counts as a read request of the region.
///
/// # Errors
/// Those of the cluster.
pub fn written_rows(
    connection: &Connection,
    watched: &Watched,
    writes_max: usize,
) -> hblite::Result<Vec<(Vec<u8>, Vec<i64>)>> {
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
        .with_limit(u32::try_from(writes_max).unwrap_or(u32::MAX))
        .with_cache_blocks(false);
    let mut rows = Vec::new();
    let mut writes = 0;
    let mut scanner = table.scan(&scan)?;
    while writes < writes_max
        && let Some(row) = scanner.next_row()?
    {
        // The cells of one put have the same time: they are one write.
        let mut times: Vec<i64> = row.cells().map(|cell| cell.timestamp()).collect();
        times.sort_unstable();
        times.dedup();
        writes += times.len();
        rows.push((row.row().to_vec(), times));
    }
    Ok(rows)
}

/// What other keys would change. `order` has the times and the places of the rows, in write order.
fn changes(
    rows: &[(Vec<u8>, u64)],
    order: &[(i64, usize)],
    watched: &Watched,
    expected: &Expected,
) -> Vec<String> {
    if order.len() < ADVISED_MIN {
        return vec![format!(
            "{} writes are too few to propose another key: watch longer.",
            order.len()
        )];
    }
    let step = order.len().div_ceil(ADVISED_MAX);
    let keys = order.iter().step_by(step).map(|(_, row)| rows[*row].0.clone()).collect();
    let advised = || -> Result<Vec<String>, NoAdvice> {
        let sample = expected.sample(keys)?;
        let wanted = expected.wanted(&sample);
        let options = AdviceOptions::default().with_regions(watched.regions.max(2));
        let options = options.with_table(&*watched.table);
        // Only this region was watched.
        let is_new = |key: &[u8]| {
            let is_before_end = watched.end.is_empty() || *key < *watched.end;
            *key > *watched.start && is_before_end
        };
        Ok(advise(&sample, &wanted, &options)?.changes(is_new))
    };
    advised().unwrap_or_else(|reason| vec![format!("No other key is proposed: {reason}")])
}

/// What rows with their numbers of writes, in key order, have in common.
fn sentences(rows: &[(Vec<u8>, u64)], is_cut: bool) -> Vec<String> {
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
            "{part} of its {writes} {which} went to keys that begin with \"{prefix}\"."
        ));
    }
    if !is_row_hot && prefix.is_empty() {
        let count = rows.len();
        lines.push(format!("Its {writes} {which} went to {count} keys without a common prefix."));
    }
    if is_row_hot {
        lines.push(
            "A salt does not divide a row: only a design with several rows for it does, such as \
             a random salt, or a time bucket behind it."
                .to_owned(),
        );
    }
    lines
}

/// The longest prefix that at least `least` writes have, and how many have it. Rows are in key
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mixed;
    use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};

    fn watched(times_ms: (i64, i64)) -> Watched {
        let (start, end) = (b"host".to_vec(), Vec::new());
        Watched { table: "t".to_owned(), start, end, times_ms, regions: 4 }
    }

    /// The writes of the watched time are found, by row and by what rows begin with.
    #[test]
    fn the_keys_that_were_written_are_named() {
        let connection = hblite::open_in_memory().unwrap();
        let name = "t".parse().unwrap();
        let family = ColumnFamilyDescriptor::new("d");
        connection.admin().create_table(&TableDescriptor::new(name).with_family(family)).unwrap();
        let table = connection.table("t").unwrap();
        let put = |row: &str, time: i64| {
            table
                .put(&Put::new(row).with_timestamp(time).add("d", "q", "v").add("d", "r", "v"))
                .unwrap();
        };
        for index in 0..300_i64 {
            put(&format!("host07|{index:04}"), 1_000 + index);
            put("host08", 1_000 + index);
            put(&format!("host{:02}", index % 5), 1_000 + index);
            // Of another region, and of another time.
            put(&format!("a{index}"), 1_000 + index);
            put(&format!("hostile{index}"), 9_000 + index);
        }
        let lines = hot_keys(&connection, &watched((1_000, 2_000)), &Expected::default())
            .unwrap()
            .join("\n");
        assert!(lines.contains("Hot key: 33 % of its 900 writes went to \"host08\"."), "{lines}");
        assert!(
            lines.contains("100 % of its 900 writes went to keys that begin with \"host0\""),
            "{lines}"
        );
        assert!(lines.contains("A salt does not divide a row"), "{lines}");
        let lines = hot_keys(&connection, &watched((5_000, 6_000)), &Expected::default())
            .unwrap()
            .join("\n");
        assert!(lines.starts_with("0 of its cells are of that time"), "{lines}");
    }

    #[test]
    fn prefixes_are_as_long_as_half_of_the_writes_allow() {
        let row = |key: &str, writes| (key.as_bytes().to_vec(), writes);
        let rows = [row("a", 10), row("ab", 30), row("abc", 30), row("b", 20)];
        assert_eq!(common_prefix(&rows, 45), (b"ab".to_vec(), 60));
        assert_eq!(common_prefix(&rows, 65), (b"a".to_vec(), 70));
        assert_eq!(common_prefix(&rows, 75), (Vec::new(), 0));
    }

    /// A table whose keys begin with the time: the adviser's proposals, for the queries if they are
    /// known.
    #[test]
    fn other_keys_are_proposed_for_the_writes() {
        let key = |index: i64| format!("2026-01-31T12:{index:05}|host{:02}", index * 7 % 40);
        let rows: Vec<_> = (0..2_000).map(|index| (key(index).into_bytes(), 1)).collect();
        let order: Vec<_> = (0..2_000).map(|index| (1_000 + index as i64, index)).collect();
        let here = Watched { start: Vec::new(), ..watched((0, 0)) };
        let lines = changes(&rows, &order, &here, &Expected::default());
        assert_eq!(
            lines[0],
            "Other keys, by these writes with 4 regions (now row:str: 4 times the mean):"
        );
        assert!(lines.iter().any(|line| line.contains("reversed_str") || line.contains("salt(")));
        // One row cannot be divided.
        let one = vec![(0, 0); 500];
        let lines = changes(&rows, &one, &here, &Expected::default()).join("\n");
        assert!(lines.starts_with("No other key has more even writes"), "{lines}");

        // The parts are known: putting another one first is enough.
        let separated = |(key, writes): &(Vec<u8>, u64)| {
            let text = String::from_utf8(key.clone()).unwrap();
            (text.replace('|', "\0").into_bytes(), *writes)
        };
        let rows: Vec<_> = rows.iter().map(separated).collect();
        let known =
            Expected::parse(Some("time:str|host:str"), Some("host = ? newest time limit 5"));
        let lines = changes(&rows, &order, &here, &known.unwrap()).join("\n");
        assert!(lines.contains("\n  host:str|time:str: 1."), "{lines}");
        let few = changes(&rows, &order[..50], &here, &Expected::default());
        assert_eq!(few, ["50 writes are too few to propose another key: watch longer."]);
    }

    /// Even keys in a table whose regions begin elsewhere need other splits, not another key.
    #[test]
    fn an_even_key_in_uneven_regions_gets_split_commands() {
        let rows: Vec<_> = (0..2_000_u64)
            .map(|index| (format!("user{:05}", mixed(index) % 100_000).into_bytes(), 1))
            .collect();
        let order: Vec<_> = (0..2_000).map(|index| (1_000 + index as i64, index)).collect();
        let here = Watched {
            table: "shop:it's".to_owned(),
            start: b"t".to_vec(),
            end: b"user7".to_vec(),
            ..watched((0, 0))
        };
        let lines = changes(&rows, &order, &here, &Expected::default());
        assert!(lines[0].starts_with("The key row:str is even enough, its regions are not: "));
        assert!(lines[0].contains(" with 4 regions "), "{}", lines[0]);
        // A quarter, a half; three quarters lie behind the region.
        let commands = ["  split 'shop:it\\'s', 'user25'", "  split 'shop:it\\'s', 'user48'"];
        assert_eq!(lines[1..], commands);
        // In a region that is split there already, only another key can help.
        let here = Watched { end: b"user1".to_vec(), ..here };
        let lines = changes(&rows, &order, &here, &Expected::default());
        assert!(lines[0].contains("(now row:str: 1."), "{lines:?}");
    }
}
