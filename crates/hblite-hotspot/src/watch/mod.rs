//! Where the load of a running cluster goes: figures and heat maps from its regions' counters.
//!
//! A [`Reading`] has the counters of one moment. Their growth between two readings is a window of
//! the same [`Counts`] that a run of a study has, so figures, pages and pictures are the same.
//! hblite also counts the rows of requests. HBase does not: `keys` finds those that were written
//! through a client, from the times of cells. [`findings`](crate::findings) says what is hot, and
//! the adviser proposes other keys.

mod hot;
mod keys;
mod reading;
mod recorded;
mod rows;
mod verdict;

use std::collections::{BTreeMap, HashMap};

pub use hot::{HotWatched, hot};
pub use keys::{Watched, Written, changes, counts_of, written, written_rows};
pub use reading::{Reading, RegionReading};
pub use recorded::{Recorded, RecordedWindow};
pub use rows::row_counts_of;
pub use verdict::{Verdict, verdict};

use hblite::bytes::from_string_binary;

use crate::result::{
    Counts, Imbalances, Metric, Region, RunResult, Settings, Spread, Storage, VERSION, WATCH,
    WindowCounts, Writing,
};

/// The tables in readings, the one with the most requests between the first and the last first.
pub fn tables(readings: &[Reading]) -> Vec<String> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for pair in readings.windows(2) {
        let before = counters(&pair[0], None);
        for region in &pair[1].regions {
            let (reads, writes, _) = grown(before.get(region.name.as_str()).copied(), region);
            let sum = sums.entry(&region.table).or_default();
            *sum = sum.saturating_add(reads).saturating_add(writes);
        }
    }
    let mut tables: Vec<(&str, u64)> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
    tables.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    tables.into_iter().map(|(table, _)| table.to_owned()).collect()
}

fn counters<'r>(reading: &'r Reading, table: Option<&str>) -> HashMap<&'r str, &'r RegionReading> {
    let own = reading.regions.iter();
    let own = own.filter(|region| table.is_none_or(|table| region.table == table));
    own.map(|region| (region.name.as_str(), region)).collect()
}

/// Reads, writes and bytes since an earlier reading. A counter that decreased was reset.
fn grown(before: Option<&RegionReading>, now: &RegionReading) -> (u64, u64, u64) {
    let Some(before) = before else { return (now.reads, now.writes, now.bytes) };
    let since = |before: u64, now: u64| if now >= before { now - before } else { now };
    let bytes = since(before.bytes, now.bytes);
    (since(before.reads, now.reads), since(before.writes, now.writes), bytes)
}

/// The windows of a table between readings, as a result like that of a run.
///
/// # Errors
/// The reason why there are none: fewer than two readings, or none with the table.
pub fn watched(readings: &[Reading], table: &str, servers: usize) -> Result<RunResult, String> {
    let mut counts = Counts::default();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut starts: Vec<(Vec<u8>, u32)> = Vec::new();
    let first_ms = readings.first().map_or(0, |reading| reading.time_ms);
    for pair in readings.windows(2) {
        let before = counters(&pair[0], Some(table));
        let mut regions: Vec<&RegionReading> =
            counters(&pair[1], Some(table)).into_values().collect();
        regions.sort_by_key(|region| place_of(region));
        if regions.is_empty() || pair[1].time_ms <= pair[0].time_ms {
            continue;
        }
        enter_layout(&mut counts, &mut numbers, &mut starts, &regions);
        let ns = |ms: i64| {
            u64::try_from(ms.saturating_sub(first_ms)).unwrap_or(0).saturating_mul(1_000_000)
        };
        let mut window = WindowCounts {
            start_ns: ns(pair[0].time_ms),
            end_ns: ns(pair[1].time_ms),
            layout: counts.layouts.len() - 1,
            ..WindowCounts::default()
        };
        for region in regions {
            let (reads, writes, bytes) = grown(before.get(region.name.as_str()).copied(), region);
            window.reads.push(reads);
            window.writes.push(writes);
            window.bytes.push(bytes);
        }
        counts.windows.push(window);
    }
    counts.check().map_err(|reason| format!("nothing was seen of the table {table}: {reason}"))?;
    Ok(result_of(counts, table, servers))
}

/// Regions without known keys are in the order of their names.
fn place_of(region: &RegionReading) -> (Option<Vec<u8>>, String) {
    (region.start.as_deref().map(from_string_binary), region.name.clone())
}

/// Numbers new regions, and starts a new layout if the regions have changed.
fn enter_layout(
    counts: &mut Counts,
    numbers: &mut HashMap<String, u32>,
    starts: &mut Vec<(Vec<u8>, u32)>,
    regions: &[&RegionReading],
) {
    let mut layout = Vec::with_capacity(regions.len());
    let mut next = Vec::with_capacity(regions.len());
    for region in regions {
        let start = region.start.as_deref().map(from_string_binary);
        let known = numbers.get(&region.name).copied();
        let number = known.unwrap_or_else(|| {
            let number = counts.regions.len() as u32;
            let holder = |start: &Vec<u8>| {
                let index = starts.partition_point(|(other, _)| other <= start);
                index.checked_sub(1).map(|index| starts[index].1)
            };
            counts.regions.push(Region {
                start: region.start.clone().unwrap_or_else(|| region.name.clone()),
                end: region.end.clone().unwrap_or_default(),
                parent: start.as_ref().and_then(holder),
            });
            numbers.insert(region.name.clone(), number);
            number
        });
        layout.push(number);
        if let Some(start) = start {
            next.push((start, number));
        }
    }
    if counts.layouts.last() != Some(&layout) {
        counts.layouts.push(layout);
        *starts = next;
    }
}

fn result_of(counts: Counts, table: &str, servers: usize) -> RunResult {
    let regions = counts.final_regions().len();
    let seconds = counts.windows.last().map_or(0, |window| window.end_ns) as f64 / 1e9;
    let writes = counts.sum(Metric::Writes);
    let spread = Spread::of(&counts);
    let imbalance = Imbalances::of(&counts, servers);
    let settings = Settings {
        records: writes,
        entities: 0,
        regions,
        splits: "as found".to_owned(),
        servers,
        handlers: 1,
        clients: 0,
        utilization: 0.5,
        service: "measured".to_owned(),
        rate: if seconds > 0.0 { writes as f64 / seconds } else { 0.0 },
        distribution: "observed".to_owned(),
        reads: counts.sum(Metric::Reads),
        windows: counts.windows.len(),
        value_bytes: 0,
        seed: 0,
    };
    RunResult {
        version: VERSION,
        study: WATCH.to_owned(),
        design: table.to_owned(),
        key: String::new(),
        settings,
        counts,
        spread,
        imbalance,
        storage: Storage::default(),
        writing: Writing::default(),
        queries: Vec::new(),
        simulations: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(name: &str, start: &str, end: &str, writes: u64) -> RegionReading {
        let (start, end) = (Some(start.to_owned()), Some(end.to_owned()));
        let (table, name) = ("t".to_owned(), name.to_owned());
        RegionReading { table, name, start, end, reads: 0, writes, bytes: 0 }
    }

    /// Two regions, of which the last is written to and split on the way.
    fn readings() -> Vec<Reading> {
        let of = |time_ms, regions| Reading { time_ms, regions, rows: None };
        vec![
            of(1_000, vec![region("b", "m", "", 100), region("a", "", "m", 50)]),
            of(2_000, vec![region("a", "", "m", 51), region("b", "m", "", 109)]),
            of(
                3_000,
                vec![region("a", "", "m", 52), region("c", "m", "t", 2), region("d", "t", "", 7)],
            ),
            of(
                4_000,
                vec![region("a", "", "m", 53), region("c", "m", "t", 2), region("d", "t", "", 16)],
            ),
        ]
    }

    #[test]
    fn windows_are_differences_and_splits_are_followed() {
        let readings = readings();
        assert_eq!(tables(&readings), ["t"]);
        let result = watched(&readings, "t", 2).unwrap();
        let writes: Vec<&[u64]> =
            result.counts.windows.iter().map(|window| &window.writes[..]).collect();
        assert_eq!(writes, [&[1, 9][..], &[1, 2, 7], &[1, 0, 9]]);
        assert_eq!(result.counts.extents(), [(0, 1), (1, 3), (1, 2), (2, 3)]);
        // 1.8, 2.1 and 2.7 times the mean of a window, each with ten requests.
        let windowed = result.spread.writes.unwrap().windowed.mean.max_over_mean;
        assert!((windowed - (1.8 + 2.1 + 2.7) / 3.0).abs() < 1e-9, "{windowed}");
        assert!(watched(&readings[..1], "t", 2).is_err());
        assert!(watched(&readings, "other", 2).unwrap_err().contains("the table other"));
    }

    #[test]
    fn counters_and_times_without_sense_overflow_nothing() {
        let of = |time_ms, count| {
            let regions = vec![region("a", "", "m", count), region("b", "m", "", count)];
            let regions =
                regions.into_iter().map(|region| RegionReading { reads: count, ..region });
            Reading { time_ms, regions: regions.collect(), rows: None }
        };
        let readings = [of(i64::MIN, 0), of(0, u64::MAX), of(i64::MAX, 0), of(i64::MAX, u64::MAX)];
        assert_eq!(tables(&readings), ["t"]);
        let result = watched(&readings, "t", 2).unwrap();
        assert!(
            verdict(&readings, &result, None).lines[0]
                .starts_with("18446744073709551615 writes in 2 regions")
        );
    }

    #[test]
    fn the_verdict_names_the_region_and_the_reason() {
        let readings = readings();
        let verdict = verdict(&readings, &watched(&readings, "t", 2).unwrap(), None);
        let text = verdict.lines.join("\n");
        assert!(text.contains("30 writes in 3 regions"), "{text}");
        // 16 of the 21 writes that regions in service counted.
        let region = "The region from \"t\" to the last key takes 76 % of the writes";
        assert!(text.contains(region), "{text}");
        assert!(text.contains("It is usually the last region"), "{text}");
    }

    /// What an Apache HBase 2.6.1 gave while a table was filled whose keys begin with the time, two
    /// seconds of keys per region: its JMX and its REST server's status, four times.
    fn recorded(text: &str) -> Vec<Reading> {
        text.lines().map(|line| Reading::parse(line).unwrap()).collect()
    }

    #[test]
    fn the_metrics_of_a_real_hbase_are_read() {
        let jmx = recorded(include_str!("recordings/jmx.jsonl"));
        let rest = recorded(include_str!("recordings/rest.jsonl"));
        for readings in [&jmx, &rest] {
            assert_eq!(tables(readings)[..2], ["web_clicks", "shop:orders"]);
            let clicks = watched(readings, "web_clicks", 1).unwrap();
            assert_eq!(clicks.counts.sum(Metric::Writes), 6000);
            assert_eq!(clicks.counts.sum(Metric::Reads), 300);
            for window in &clicks.counts.windows {
                let mut writes = window.writes.clone();
                writes.sort_unstable();
                assert_eq!(writes, [0, 0, 0, 2000]);
            }
            let orders = watched(readings, "shop:orders", 1).unwrap();
            assert_eq!(orders.counts.sum(Metric::Writes), 600);
            assert!(orders.spread.writes.unwrap().windowed.mean.max_over_mean < 1.05);
        }
        let said = verdict(&rest, &watched(&rest, "web_clicks", 1).unwrap(), None);
        let text = said.lines.join("\n");
        let region =
            "The region from \"2026-01-31T12:00:04\" to \"2026-01-31T12:00:06\" takes 100 %";
        assert!(text.contains(region), "{text}");
        assert!(text.contains("The hot region moves forward"), "{text}");
        let hot = said.hot.unwrap();
        assert_eq!(
            (hot.start, hot.end),
            (b"2026-01-31T12:00:04".into(), b"2026-01-31T12:00:06".into())
        );
        assert_eq!((hot.times_ms.1 - hot.times_ms.0) / 1000, 11);
    }

    /// JMX has no keys: regions have no order, and none is the last one.
    #[test]
    fn without_keys_nothing_is_said_about_places() {
        let jmx = recorded(include_str!("recordings/jmx.jsonl"));
        let said = verdict(&jmx, &watched(&jmx, "web_clicks", 1).unwrap(), None);
        let text = said.lines.join("\n");
        assert!(!said.has_keys && said.hot.is_none());
        assert!(
            text.contains("The region 9c241126004e000046fc85dadedee786 takes 100 % of the writes"),
            "{text}"
        );
        assert!(text.contains("The hot region changes"), "{text}");
        for wrong in ["the last", "forward", "stays"] {
            assert!(!text.contains(wrong), "{text}");
        }
        let master = serde_json::from_str(include_str!("recordings/master.json")).unwrap();
        let error = Reading::of_documents(1, &[master]).unwrap_err();
        assert!(error.contains("a master: give the URL of a region server"), "{error}");
    }
}
