//! What is hot in a table of the history.
//!
//! The findings themselves are those of `hotspot watch`: [`hblite_hotspot::findings`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use hblite::{HeavyRows, RegionInfo, RegionRows, RowCounts, SampledRow};
use hblite_hotspot::findings::{
    self, Finding, HotTable, Hottest, Method, Motion, Observed, RegionSeen,
};

use crate::history::History;
use crate::window::{KeyInWindow, Load, Window};

/// The time in which the hottest region is followed.
const FOLLOWED_MS: i64 = 300_000;

/// A window with the load of each region of a table that had one, by its place, in order.
type Loaded<'h> = (&'h Window, Vec<(usize, Load)>);

/// What is hot now in the table with these regions, which are in key order.
pub(crate) fn findings(history: &History, regions: &[Arc<RegionInfo>]) -> Vec<Finding> {
    let last_ms = history.windows().next_back().map_or(0, |window| window.end_ms);
    let windows = loaded(history.between(last_ms - FOLLOWED_MS, i64::MAX), regions);
    let sums: Vec<(u64, f64)> = windows
        .iter()
        .map(|(window, loads)| {
            (loads.iter().map(|(_, load)| load.reads + load.writes).sum(), window.seconds())
        })
        .collect();
    let taken = &windows[windows.len() - findings::latest(&sums)..];
    let counted = counted(taken.iter().map(|(window, _)| *window));
    let rows = rows_of(history, taken, regions, counted.as_ref());
    let rows = rows.as_ref().map(|(rows, method)| (&**rows, *method));
    findings::findings(&observed(&windows, taken, regions, rows))
}

/// What was counted of rows in these windows, of all tables.
pub(crate) fn counted<'h>(windows: impl Iterator<Item = &'h Window>) -> Option<RowCounts> {
    let mut rows: Option<RowCounts> = None;
    for counts in windows.filter_map(|window| window.rows.as_ref()) {
        rows.get_or_insert_default().add(counts);
    }
    rows
}

/// What was hot in the table with these regions in these windows, which are in order and of whose
/// rows this was `counted`.
pub(crate) fn hot(
    history: &History,
    windows: &[&Window],
    counted: Option<&RowCounts>,
    regions: &[Arc<RegionInfo>],
) -> HotTable {
    let regions = &with_former(regions, windows);
    let windows = loaded(windows.iter().copied(), regions);
    let rows = rows_of(history, &windows, regions, counted);
    let rows = rows.as_ref().map(|(rows, method)| (&**rows, *method));
    let observed = observed(&windows, &windows, regions, rows);
    let table = regions.first().map(|region| region.table().to_string()).unwrap_or_default();
    let is_written = !history.is_counted() && rows.is_some();
    HotTable::new(&table, &observed, is_written.then(|| WRITTEN.to_owned()))
}

/// How the rows of a cluster that does not count them are known.
const WRITTEN: &str = "The rows are a sample of those that were written, found by the times of \
    their cells: reads, deletes, increments and rewritten cells may be missing. Bounds are two \
    standard errors.";

/// The regions of a table in key order, with those that had requests in these windows and do not
/// exist any longer.
fn with_former(regions: &[Arc<RegionInfo>], windows: &[&Window]) -> Vec<Arc<RegionInfo>> {
    let mut all = regions.to_vec();
    let mut known: HashSet<&str> = regions.iter().map(|region| region.encoded_name()).collect();
    let table = regions.first().map(|region| region.table());
    for (region, _) in windows.iter().flat_map(|window| &window.loads) {
        if Some(region.table()) == table && known.insert(region.encoded_name()) {
            all.push(Arc::clone(region));
        }
    }
    all.sort_by(|one, other| one.start_key().cmp(other.start_key()));
    all
}

fn loaded<'h>(
    windows: impl Iterator<Item = &'h Window>,
    regions: &[Arc<RegionInfo>],
) -> Vec<Loaded<'h>> {
    let Some(table) = regions.first().map(|region| region.table()) else {
        return windows.map(|window| (window, Vec::new())).collect();
    };
    let places = places(regions);
    let loads = |window: &Window| {
        let own = window.loads.iter().filter(|(region, _)| region.table() == table);
        let placed =
            own.filter_map(|(region, load)| Some((*places.get(region.encoded_name())?, *load)));
        let mut loads: Vec<(usize, Load)> = placed.collect();
        loads.sort_unstable_by_key(|(place, _)| *place);
        loads
    };
    windows.map(|window| (window, loads(window))).collect()
}

/// The place of each region, by encoded name.
fn places(regions: &[Arc<RegionInfo>]) -> HashMap<&str, usize> {
    regions.iter().enumerate().map(|(at, region)| (region.encoded_name(), at)).collect()
}

/// What is known of rows: what was counted, or else the sampled keys.
fn rows_of<'c>(
    history: &History,
    windows: &[Loaded<'_>],
    regions: &[Arc<RegionInfo>],
    counted: Option<&'c RowCounts>,
) -> Option<(Cow<'c, RowCounts>, Method)> {
    let is_loaded =
        |loads: &[(usize, Load)]| loads.iter().any(|(_, load)| load.reads + load.writes > 0);
    let mut with_load = windows.iter().filter(|(_, loads)| is_loaded(loads));
    // Of a cluster, not every window is sampled.
    if !history.is_counted() || with_load.all(|(window, _)| window.rows.is_some()) {
        let method = if history.is_counted() { Method::Counted } else { Method::Sampled };
        if let Some(rows) = counted {
            return Some((Cow::Borrowed(rows), method));
        }
    }
    let keys = windows.iter().flat_map(|(window, _)| &window.keys);
    let rows = sampled(keys, regions);
    (!rows.sample.is_empty()).then_some((Cow::Owned(rows), Method::Sampled))
}

/// Sampled keys, as if they were all requests.
fn sampled<'h>(
    keys: impl Iterator<Item = &'h KeyInWindow>,
    regions: &[Arc<RegionInfo>],
) -> RowCounts {
    let places = places(regions);
    let mut counts: Vec<[BTreeMap<&[u8], u64>; 2]> = vec![Default::default(); regions.len()];
    let mut sample = Vec::new();
    for key in keys {
        let Some(&at) = places.get(key.region.encoded_name()) else { continue };
        *counts[at][usize::from(key.is_write)].entry(&*key.row).or_default() += 1;
        let (region, is_write, row) = (at as u32, key.is_write, key.row.to_vec());
        sample.push(SampledRow { region, is_write, row });
    }
    let heavy = |counts: &BTreeMap<&[u8], u64>| {
        let rows = counts.iter().map(|(row, count)| (row.to_vec(), *count)).collect();
        let mut heavy = HeavyRows { requests: counts.values().sum(), error: 0, rows };
        heavy.keep_the_heaviest();
        // The rows that were dropped are known: their counts are not an error.
        heavy.error = 0;
        heavy
    };
    let of_region = |(region, [reads, writes]): (&Arc<RegionInfo>, &[BTreeMap<_, _>; 2])| {
        let (table, name) = (region.table().clone(), region.encoded_name().to_owned());
        let (reads, writes, waits) = (heavy(reads), heavy(writes), Default::default());
        RegionRows { table, region: name, reads, writes, waits }
    };
    let regions = regions.iter().zip(&counts).map(of_region).collect();
    RowCounts { regions, sample, ..RowCounts::default() }
}

/// The loads of the `taken` windows, and how the hottest region changes in all of them.
fn observed<'o>(
    windows: &[Loaded<'_>],
    taken: &[Loaded<'_>],
    regions: &[Arc<RegionInfo>],
    rows: Option<(&'o RowCounts, Method)>,
) -> Observed<'o> {
    let mut sums = vec![Load::default(); regions.len()];
    taken.iter().flat_map(|(_, loads)| loads).for_each(|(at, load)| sums[*at].add(load));
    let seen = |(region, sum): (&Arc<RegionInfo>, &Load)| RegionSeen {
        name: region.encoded_name().to_owned(),
        keys: Some((region.start_key().to_vec(), region.end_key().to_vec())),
        reads: sum.reads,
        writes: sum.writes,
    };
    let motion = |count: fn(&Load) -> u64| {
        let hottest = windows.iter().filter_map(|(_, loads)| {
            let (place, load) = *loads.iter().max_by_key(|(_, load)| count(load))?;
            let region = regions[place].encoded_name().to_owned();
            (count(&load) > 0).then_some(Hottest { place, regions: regions.len(), region })
        });
        Motion::of(&hottest.collect::<Vec<_>>(), true)
    };
    Observed {
        regions: regions.iter().zip(&sums).map(seen).collect(),
        seconds: taken.iter().map(|(window, _)| window.seconds()).sum(),
        rows: rows.map(|(rows, _)| rows),
        method: rows.map_or(Method::Sampled, |(_, method)| method),
        motion: (motion(|load| load.writes), motion(|load| load.reads)),
    }
}

#[cfg(test)]
mod tests {
    use hblite::{RegionLoad, RegionStatus, TableName};

    use super::*;

    fn regions() -> [Arc<RegionInfo>; 2] {
        let region = |start: &[u8], end: &[u8]| {
            let table: TableName = "t".parse().unwrap();
            Arc::new(RegionInfo::new(table, start, end, 1))
        };
        [region(b"", b"m"), region(b"m", b"")]
    }

    /// What is found if these rows are written in each window of five seconds.
    fn found(windows: usize, rows: impl Fn(usize) -> Vec<String>) -> Vec<Finding> {
        let (history, regions) = recorded(windows, rows);
        findings(&history, &regions)
    }

    fn recorded(
        windows: usize,
        rows: impl Fn(usize) -> Vec<String>,
    ) -> (History, [Arc<RegionInfo>; 2]) {
        let regions = regions();
        let mut history = History::default();
        let mut totals = [0, 0];
        history.note(0, &[], None, None);
        for window in 0..windows {
            let mut counts = RowCounts::default();
            for region in &regions {
                counts.regions.push(RegionRows {
                    waits: Default::default(),
                    table: region.table().clone(),
                    region: region.encoded_name().to_owned(),
                    reads: HeavyRows::default(),
                    writes: HeavyRows::default(),
                });
            }
            for row in rows(window) {
                let index = usize::from(row.as_str() >= "m");
                totals[index] += 1;
                let row = row.into_bytes();
                let one = HeavyRows { requests: 1, error: 0, rows: vec![(row.clone(), 1)] };
                counts.regions[index].writes.add(&one);
                counts.sample.push(SampledRow { region: index as u32, is_write: true, row });
            }
            let status = |(region, writes): (&Arc<RegionInfo>, &u64)| RegionStatus {
                region: region.as_ref().clone(),
                load: RegionLoad { write_requests: *writes, ..RegionLoad::default() },
                store_count: 1,
                store_file_count: 0,
                store_file_size_bytes: 0,
                memstore_size_bytes: 0,
            };
            let statuses: Vec<_> = regions.iter().zip(&totals).map(status).collect();
            history.note((window as i64 + 1) * 5_000, &statuses, None, Some(counts));
        }
        (history, regions)
    }

    /// A minute ago rows were counted; before that, a sample of them is kept.
    #[test]
    fn what_was_hot_is_known_for_any_time() {
        let (history, regions) = recorded(40, |window| match window {
            0..20 => (0..200).map(|at| format!("old{}", at % 4)).collect(),
            _ => {
                (0..200).map(|at| if at % 2 == 0 { "z".into() } else { format!("a{at}") }).collect()
            }
        });
        let of = |windows: std::ops::Range<usize>| {
            let all: Vec<&Window> = history.windows().collect();
            let windows = &all[windows];
            let counted = counted(windows.iter().copied());
            serde_json::json!(hot(&history, windows, counted.as_ref(), &regions))
        };
        let now = of(28..40);
        assert_eq!((&now["rows"]["method"], &now["writes"]), (&"counted".into(), &2_400.into()));
        assert_eq!(now["hottest"]["rows"][0]["row"], "z");
        assert_eq!(now["hottest"]["rows"][0]["share"], 0.5);
        assert_eq!(now["findings"][0]["kind"], "row");
        let old = of(0..20);
        assert_eq!((&old["rows"]["method"], &old["writes"]), (&"sampled".into(), &4_000.into()));
        assert_eq!(old["hottest"]["rows"].as_array().unwrap().len(), 4, "{old}");
        assert_eq!(old["rows"]["writes"], 4_000);
        let none = of(0..0);
        assert_eq!(
            (&none["rows"]["method"], &none["findings"]),
            (&"unknown".into(), &serde_json::json!([]))
        );
    }

    /// What is kept of windows grows with their requests, not with all regions that there were.
    #[test]
    fn a_window_has_only_regions_with_requests() {
        let (history, regions) = recorded(2, |window| vec![["z", "a"][window].to_owned()]);
        let loaded = loaded(history.windows(), &regions);
        let places: Vec<Vec<(usize, u64)>> = loaded
            .iter()
            .map(|(_, loads)| loads.iter().map(|(place, load)| (*place, load.writes)).collect())
            .collect();
        assert_eq!(places, [[(1, 1)], [(0, 1)]]);
    }

    /// A load that was heavier, and ended five seconds ago, is not what is hot now.
    #[test]
    fn an_earlier_load_is_ignored() {
        let found = found(20, |window| match window {
            19 => {
                (0..200).map(|at| if at % 10 < 7 { "z".into() } else { format!("a{at}") }).collect()
            }
            _ => vec!["b".to_owned(); 1_000],
        });
        let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts, ["The row \"z\" has 70 % of the writes."]);
    }

    #[test]
    fn a_front_is_found_in_the_first_window() {
        let found = found(1, |_| (0..200).map(|at| format!("n{at:06}")).collect());
        let kinds: Vec<&str> = found.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, ["region", "forward"]);
        let expected = "The region from \"m\" to the last key takes 100 % of the writes; an even \
                        share of 2 regions is 50 %.";
        assert_eq!(found[0].text, expected);
    }

    /// After a minute, what was counted of rows is dropped; keys for the map are kept.
    #[test]
    fn an_even_load_has_no_findings() {
        let row = |at: usize| {
            let mixed = (at as u32).wrapping_mul(2_654_435_761);
            format!("{}{mixed:010}", char::from(b'a' + (mixed >> 16) as u8 % 26))
        };
        let found = found(20, |window| (0..40).map(|at| row(window * 40 + at)).collect());
        assert_eq!(found, []);
    }
}
