//! Where the load of a running cluster goes: figures and heat maps from its regions' counters.
//!
//! A [`Reading`] has the counters of one moment. Their growth between two readings is a window of
//! the same [`Counts`] that a run of a study has, so figures, pages and pictures are the same.
//! Servers count requests per region and not per key: `keys` finds the keys through a client, from
//! the times of cells. The adviser proposes other keys for them.

mod keys;
mod reading;

use std::collections::{BTreeMap, HashMap};

pub use keys::{Watched, hot_keys, written_rows};
pub use reading::{Reading, RegionReading};

use hblite::bytes::from_string_binary;

use crate::condition::short;
use crate::figures::Figures;
use crate::result::{
    Counts, Imbalances, Metric, Region, RunResult, Settings, Spread, Storage, VERSION,
    WindowCounts, Writing,
};

/// A region is hot if its load is this many times the mean.
const HOT: f64 = 2.0;
/// Share of the windows in which the same must be true to be called the rule.
const MOST: f64 = 0.6;

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
        study: "watch".to_owned(),
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

/// What is hot in a watched table, in sentences, and what a better design would change.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The sentences.
    pub lines: Vec<String>,
    /// The region that is hot for writes, if its keys are known.
    pub hot: Option<Watched>,
    /// Whether the readings have the keys of regions.
    pub has_keys: bool,
}

/// What is hot in a table. `result` is that of these readings.
pub fn verdict(readings: &[Reading], result: &RunResult) -> Verdict {
    let table = result.design.as_str();
    let regions = readings.iter().flat_map(|reading| &reading.regions);
    let mut own = regions.filter(|region| region.table == table);
    let has_keys = own.all(|region| region.start.is_some());
    let mut verdict = Verdict { lines: Vec::new(), hot: None, has_keys };
    for metric in [Metric::Writes, Metric::Reads] {
        let totals = result.counts.totals(metric);
        let (Some(figures), Some(spread)) = (Figures::of(&totals), result.spread.get(metric))
        else {
            continue;
        };
        let what = metric.text();
        let regions = totals.len();
        let windowed = spread.windowed.mean.max_over_mean;
        verdict.lines.push(format!(
            "{} {what} in {regions} regions: in a window, the hottest has {} times the mean; over \
             the whole time, {} times.",
            sum_of(&totals),
            short(windowed),
            short(figures.max_over_mean)
        ));
        if regions == 1 {
            let line = "The table has one region: split it before its load grows.";
            verdict.lines.push(line.to_owned());
        }
        if regions > 1 && windowed < HOT {
            continue;
        }
        let most = hottest(&result.counts, metric, &totals);
        if regions > 1 {
            verdict.lines.extend(hot(&result.counts, metric, most, has_keys));
        }
        if metric == Metric::Writes && has_keys {
            let times = readings.first().zip(readings.last());
            let times_ms = times.map_or((0, 0), |(first, last)| (first.time_ms, last.time_ms));
            let region = &result.counts.regions[most as usize];
            let key = from_string_binary;
            let (start, end) = (key(&region.start), key(&region.end));
            let table = table.to_owned();
            verdict.hot = Some(Watched { table, start, end, times_ms, regions });
        }
    }
    verdict
}

/// The region with the most load: of the last window if it changes from window to window, because
/// that is where the load is now.
fn hottest(counts: &Counts, metric: Metric, totals: &[u64]) -> u32 {
    let overall = (0..totals.len()).max_by_key(|place| totals[*place]).unwrap_or(0);
    let overall = counts.final_regions()[overall];
    let mut hot = hot_in_windows(counts, metric);
    let changes = hot.windows(2).filter(|pair| pair[0] != pair[1]).count();
    match hot.pop() {
        Some((_, _, region)) if changes * 2 >= hot.len().max(1) => region,
        _ => overall,
    }
}

/// For each window with load: place of the hottest region, number of regions, its number.
fn hot_in_windows(counts: &Counts, metric: Metric) -> Vec<(usize, usize, u32)> {
    let windows = counts.windows.iter().filter_map(|window| {
        let loads = window.of(metric);
        let place = (0..loads.len()).max_by_key(|place| loads[*place])?;
        let region = *counts.layouts[window.layout].get(place)?;
        (loads[place] > 0).then_some((place, loads.len(), region))
    });
    windows.collect()
}

/// Counters come from other programs, so their sum may be larger than any number.
fn sum_of(totals: &[u64]) -> u64 {
    totals.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

/// The hottest region, whether it stays the same, and what that means.
fn hot(counts: &Counts, metric: Metric, most: u32, has_keys: bool) -> Vec<String> {
    let windows = hot_in_windows(counts, metric);
    let region = &counts.regions[most as usize];
    let total = sum_of(&counts.totals(metric));
    let own = counts.final_regions().iter().position(|region| *region == most);
    let share = own.map_or(0, |place| counts.totals(metric)[place]) as f64 / total.max(1) as f64;
    let range = match (region.start.as_str(), region.end.as_str()) {
        (name, _) if !has_keys => format!("the region {name}"),
        ("", "") => "the region of all keys".to_owned(),
        ("", end) => format!("the region from the first key to \"{end}\""),
        (start, "") => format!("the region from \"{start}\" to the last key"),
        (start, end) => format!("the region from \"{start}\" to \"{end}\""),
    };
    let what = metric.text();
    let mut lines =
        vec![format!("Hottest for {what}: {range}, with {:.0} % of them.", share * 100.0)];
    let pairs = || windows.windows(2);
    let moved = pairs().filter(|pair| pair[0].2 != pair[1].2).count();
    let forward = pairs().filter(|pair| pair[1].0 > pair[0].0).count();
    let last = windows.iter().filter(|(place, regions, _)| place + 1 == *regions).count();
    let is_mostly_last = last as f64 >= MOST * windows.len().max(1) as f64;
    let advice = if !has_keys && moved * 2 >= windows.len().saturating_sub(1).max(1) {
        "The hot region changes: what is written or read at one time lies together. Start the key \
         with something that does not grow, such as a salt, a hash or another field."
    } else if has_keys && metric == Metric::Writes && is_mostly_last {
        "It is usually the last region: keys probably begin with a time or a sequence \
         number. A salt or hash in front of the key spreads them, and a range is then read by one \
         scan per salt; another field in front does so too."
    } else if has_keys && moved >= 2 && forward * 2 > moved {
        "The hot region moves forward: what is written or read at one time lies together. Start \
         the key with something that does not grow, such as a salt, a hash or another field."
    } else {
        "It stays the same region: if its load is spread over many keys, split it; if one entity \
         has most of it, put a salt or a time bucket behind the entity."
    };
    lines.push(advice.to_owned());
    lines
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
        let of = |time_ms, regions| Reading { time_ms, regions };
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
            Reading { time_ms, regions: regions.collect() }
        };
        let readings = [of(i64::MIN, 0), of(0, u64::MAX), of(i64::MAX, 0), of(i64::MAX, u64::MAX)];
        assert_eq!(tables(&readings), ["t"]);
        let result = watched(&readings, "t", 2).unwrap();
        assert!(
            verdict(&readings, &result).lines[0]
                .starts_with("18446744073709551615 writes in 2 regions")
        );
    }

    #[test]
    fn the_verdict_names_the_region_and_the_reason() {
        let readings = readings();
        let verdict = verdict(&readings, &watched(&readings, "t", 2).unwrap());
        let text = verdict.lines.join("\n");
        assert!(text.contains("30 writes in 3 regions"), "{text}");
        // 16 of its own, and 4 of the 9 of its parent, which had two daughters: 20 of 30.
        assert!(
            text.contains("the region from \"t\" to the last key, with 67 % of them"),
            "{text}"
        );
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
        let said = verdict(&rest, &watched(&rest, "web_clicks", 1).unwrap());
        let text = said.lines.join("\n");
        let region =
            "the region from \"2026-01-31T12:00:04\" to \"2026-01-31T12:00:06\", with 33 %";
        assert!(text.contains(region), "{text}");
        assert!(text.contains("The hot region moves forward"), "{text}");
        let hot = said.hot.unwrap();
        assert_eq!(
            (hot.start, hot.end),
            (b"2026-01-31T12:00:04".into(), b"2026-01-31T12:00:06".into())
        );
        assert_eq!((hot.times_ms.1 - hot.times_ms.0) / 1000, 43);
    }

    /// JMX has no keys: regions have no order, and none is the last one.
    #[test]
    fn without_keys_nothing_is_said_about_places() {
        let jmx = recorded(include_str!("recordings/jmx.jsonl"));
        let said = verdict(&jmx, &watched(&jmx, "web_clicks", 1).unwrap());
        let text = said.lines.join("\n");
        assert!(!said.has_keys && said.hot.is_none());
        assert!(text.contains("the region 9c241126004e000046fc85dadedee786, with 33 %"), "{text}");
        assert!(text.contains("The hot region changes"), "{text}");
        for wrong in ["the last", "forward", "stays"] {
            assert!(!text.contains(wrong), "{text}");
        }
        let master = serde_json::from_str(include_str!("recordings/master.json")).unwrap();
        let error = Reading::of_documents(1, &[master]).unwrap_err();
        assert!(error.contains("a master: give the URL of a region server"), "{error}");
    }
}
