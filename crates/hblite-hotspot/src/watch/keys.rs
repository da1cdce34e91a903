//! Which keys of a hot region were written while it was watched.
//!
//! HBase's servers count requests per region. But cells have timestamps: the cells of a region
//! whose timestamps are within the watched time are its writes, provided that the server set the
//! timestamps. Reads leave no trace.

use std::collections::BTreeMap;

use hblite::filter::Filter;
use hblite::{
    CallerCounts, Connection, HeavyRows, ROW_MAX, RegionRows, RowCounts, SampledRow, Scan,
    TableName, TimeRange, row_bound,
};

use crate::advise::{AdviceOptions, Expected, NoAdvice, advise};
use crate::findings::thinned;

/// About how many writes are read.
const CELLS_MAX: usize = 100_000;
/// With fewer writes, no other key is proposed.
const ADVISED_MIN: usize = 100;
/// Writes in the sample.
const SAMPLE_MAX: usize = 4_000;

/// The key range of a region, and the watched time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The table.
    pub table: String,
    /// Its encoded name.
    pub region: String,
    /// First key.
    pub start: Vec<u8>,
    /// The first key after it; empty for the last region.
    pub end: Vec<u8>,
    /// Begin and end, in milliseconds since 1970; the end is not included.
    pub times_ms: (i64, i64),
    /// The writes that its server counted in that time.
    pub writes: u64,
    /// Regions of the table.
    pub regions: usize,
}

/// Rows that were written to a region, found by the times of their cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The rows. A count may be too low by what the server counted and nothing is left of.
    pub rows: RowCounts,
    /// How they were found, and what is missing, as a sentence.
    pub method: String,
}

/// Finds the latest rows that were written to a region.
///
/// # Errors
/// Those of the cluster.
pub fn written(connection: &Connection, watched: &Watched) -> hblite::Result<Written> {
    // The last part of the time, in which there are about as many writes as are read.
    let part = (CELLS_MAX as f64 / watched.writes.max(1) as f64).min(1.0);
    let (from, to) = watched.times_ms;
    let length = (to.saturating_sub(from) as f64 * part).ceil() as i64;
    let expected = (watched.writes as f64 * part).round() as u64;
    let times_ms = (to.saturating_sub(length), to);
    let latest = Watched { times_ms, ..watched.clone() };
    let found = written_rows(connection, &latest, 2 * CELLS_MAX)?;
    let table = watched.table.parse()?;
    let reads = found.len();
    let rows = counts_of(table, &watched.region, &found, expected);
    let (writes, missing) = (&rows.regions[0].writes, rows.regions[0].writes.error);
    let age = connection.now_millis().saturating_sub(to).max(0) / 1000;
    let method = format!(
        "Rows: {} of the {} writes that the hot region counted in {:.1} s until {age} s ago, found \
         by the times of their cells, which took {reads} reads. {}",
        writes.requests - missing,
        writes.requests,
        length as f64 / 1000.0,
        match missing {
            0 => "Deletes, increments and rewritten cells may be missing.",
            _ => {
                "The others left no cell: they were rewritten, incremented or deleted since, or \
                 have times of their own."
            }
        }
    );
    Ok(Written { rows, method })
}

/// Counts of rows with the times of their writes, in a region of this name. `expected` are the
/// writes that the server counted.
pub fn counts_of(
    table: TableName,
    region: &str,
    found: &[(Vec<u8>, Vec<i64>)],
    expected: u64,
) -> RowCounts {
    let cut = |row: &[u8]| row[..row.len().min(ROW_MAX)].to_vec();
    let writes: usize = found.iter().map(|(_, times)| times.len()).sum();
    let mut order: Vec<(i64, usize)> = Vec::with_capacity(writes);
    let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for (index, (row, times)) in found.iter().enumerate() {
        order.extend(times.iter().map(|time| (*time, index)));
        *counts.entry(cut(row)).or_default() += times.len() as u64;
    }
    order.sort_unstable();
    let requests = expected.max(writes as u64);
    let error = requests - writes as u64;
    let mut heavy = HeavyRows { requests, error: 0, rows: counts.into_iter().collect() };
    heavy.keep_the_heaviest();
    // The rows that were dropped are known: their counts are not an error.
    heavy.error = error;
    // Every n-th write would follow a pattern of the writes.
    let alike = vec![1.0; order.len()];
    let kept = thinned(&alike, SAMPLE_MAX).take(SAMPLE_MAX);
    let sampled = |(_, index): &(i64, usize)| SampledRow {
        region: 0,
        is_write: true,
        row: cut(&found[*index].0),
    };
    RowCounts {
        callers: CallerCounts::default(),
        large: Vec::new(),
        until: 0,
        regions: vec![RegionRows {
            waits: Default::default(),
            table,
            region: region.to_owned(),
            reads: HeavyRows::default(),
            writes: heavy,
        }],
        sample: kept.map(|at| sampled(&order[at])).collect(),
    }
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

/// What other keys would change, for rows in the order of writing. `is_new` says whether the table
/// can be split at a key.
pub fn changes(
    rows: &[Vec<u8>],
    watched: &Watched,
    expected: &Expected,
    is_new: impl Fn(&[u8]) -> bool,
) -> Vec<String> {
    if rows.len() < ADVISED_MIN {
        return vec![format!(
            "{} writes are too few to propose another key: watch longer.",
            rows.len()
        )];
    }
    let advised = || -> Result<Vec<String>, NoAdvice> {
        let sample = expected.sample(rows.to_vec())?;
        let wanted = expected.wanted(&sample);
        let options = AdviceOptions::default().with_regions(watched.regions.max(2));
        let options = options.with_table(&*watched.table);
        Ok(advise(&sample, &wanted, &options)?.changes(is_new))
    };
    advised().unwrap_or_else(|reason| vec![format!("No other key is proposed: {reason}")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mixed;
    use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};

    fn watched(times_ms: (i64, i64), writes: u64) -> Watched {
        let (start, end, region) = (b"host".to_vec(), Vec::new(), "0123".to_owned());
        Watched { table: "t".to_owned(), region, start, end, times_ms, writes, regions: 4 }
    }

    /// The writes of the watched time are found, by row, and what the server counted beyond them is
    /// an error.
    #[test]
    fn the_rows_that_were_written_are_counted() {
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
        let found = written(&connection, &watched((1_000, 2_000), 1_000)).unwrap();
        let writes = &found.rows.regions[0].writes;
        assert_eq!((writes.requests, writes.error), (1_000, 100));
        assert_eq!(writes.rows[..2], [(b"host08".to_vec(), 300), (b"host00".to_vec(), 60)]);
        assert!(found.method.contains("900 of the 1000 writes"), "{}", found.method);
        assert_eq!(found.rows.sample.len(), 900);
        assert!(found.rows.sample.iter().take(6).any(|one| one.row.starts_with(b"host07")));
        let found = written(&connection, &watched((5_000, 6_000), 0)).unwrap();
        assert_eq!(found.rows.regions[0].writes.requests, 0);
    }

    /// A table whose keys begin with the time: the adviser's proposals, for the queries if they are
    /// known.
    #[test]
    fn other_keys_are_proposed_for_the_writes() {
        let key = |index: i64| format!("2026-01-31T12:{index:05}|host{:02}", index * 7 % 40);
        let rows: Vec<_> = (0..2_000).map(|index| key(index).into_bytes()).collect();
        let here = Watched { start: Vec::new(), ..watched((0, 0), 0) };
        let lines = changes(&rows, &here, &Expected::default(), |_| true);
        assert_eq!(
            lines[0],
            "Other keys, by these writes with 4 regions (now row:str: 4 times the mean):"
        );
        assert!(lines.iter().any(|line| line.contains("reversed_str") || line.contains("salt(")));
        // One row cannot be divided.
        let one = vec![rows[0].clone(); 500];
        let lines = changes(&one, &here, &Expected::default(), |_| true).join("\n");
        assert!(lines.starts_with("No other key has more even writes"), "{lines}");

        // The parts are known: putting another one first is enough.
        let separated = |key: &Vec<u8>| {
            let text = String::from_utf8(key.clone()).unwrap();
            text.replace('|', "\0").into_bytes()
        };
        let rows: Vec<_> = rows.iter().map(separated).collect();
        let known =
            Expected::parse(Some("time:str|host:str"), Some("host = ? newest time limit 5"));
        let lines = changes(&rows, &here, &known.unwrap(), |_| true).join("\n");
        assert!(lines.contains("\n  host:str|time:str: 1."), "{lines}");
        let few = changes(&rows[..50], &here, &Expected::default(), |_| true);
        assert_eq!(few, ["50 writes are too few to propose another key: watch longer."]);
    }

    /// Even keys in a table whose regions begin elsewhere need other splits, not another key.
    #[test]
    fn an_even_key_in_uneven_regions_gets_split_commands() {
        let rows: Vec<_> = (0..2_000_u64)
            .map(|index| format!("user{:05}", mixed(index) % 100_000).into_bytes())
            .collect();
        let here = Watched {
            table: "shop:it's".to_owned(),
            start: b"t".to_vec(),
            end: b"user7".to_vec(),
            ..watched((0, 0), 0)
        };
        let is_within = |key: &[u8]| *key > *here.start && *key < *here.end;
        let lines = changes(&rows, &here, &Expected::default(), is_within);
        assert!(lines[0].starts_with("The key row:str is even enough, its regions are not: "));
        assert!(lines[0].contains(" with 4 regions "), "{}", lines[0]);
        // A quarter, a half; three quarters lie behind the region.
        let commands = ["  split 'shop:it\\'s', 'user25'", "  split 'shop:it\\'s', 'user48'"];
        assert_eq!(lines[1..], commands);
        // In a region that is split there already, only another key can help.
        let lines = changes(&rows, &here, &Expected::default(), |_| false);
        assert!(lines[0].contains("(now row:str: 1."), "{lines:?}");
    }

    /// Hosts that write in turn are in the sample in equal parts, whatever is left out.
    #[test]
    fn the_sample_follows_no_turns() {
        for hosts in [2, 3, 4, 5, 8] {
            let row = |host: i64| {
                let times = (0..12_000).filter(|time| time % hosts == host).collect();
                (format!("host{host}").into_bytes(), times)
            };
            let found: Vec<_> = (0..hosts).map(row).collect();
            let counts = counts_of("t".parse().unwrap(), "r", &found, 12_000);
            let even = counts.sample.len() as i64 / hosts;
            assert!(counts.sample.len() > SAMPLE_MAX / 2);
            for (row, _) in &found {
                let own = counts.sample.iter().filter(|one| one.row == *row).count() as i64;
                assert!((even * 9 / 10..=even * 11 / 10 + 1).contains(&own), "{own} of {even}");
            }
        }
    }
}
