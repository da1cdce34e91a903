//! What is hot in a table of the history.
//!
//! The findings themselves are those of `hotspot watch`: [`hblite_hotspot::findings`].

use std::collections::HashMap;
use std::sync::Arc;

use hblite::{RegionInfo, RowCounts};
use hblite_hotspot::findings::{self, Finding, Hottest, Method, Motion, Observed, RegionSeen};

use crate::history::{History, Load, Window};

/// Windows in which the hottest region is followed.
const WINDOWS_MAX: usize = 60;

/// What is hot now in the table with these regions, which are in key order.
pub(crate) fn findings(history: &History, regions: &[Arc<RegionInfo>]) -> Vec<Finding> {
    let names: Vec<&str> = regions.iter().map(|region| region.encoded_name()).collect();
    let windows: Vec<&Window> = history.windows().rev().take(WINDOWS_MAX).collect();
    let windows: Vec<(&Window, Vec<Load>)> =
        windows.into_iter().rev().map(|window| (window, loads(window, &names))).collect();
    let sums: Vec<(u64, f64)> = windows
        .iter()
        .map(|(window, loads)| {
            (loads.iter().map(|load| load.reads + load.writes).sum(), window.seconds())
        })
        .collect();
    let taken = &windows[windows.len() - findings::latest(&sums)..];
    let mut rows: Option<RowCounts> = None;
    for counts in taken.iter().filter_map(|(window, _)| window.rows.as_ref()) {
        rows.get_or_insert_default().add(counts);
    }
    let sum = |at: usize| {
        let mut sum = Load::default();
        taken.iter().for_each(|(_, loads)| sum.add(&loads[at]));
        sum
    };
    let seen = |(at, region): (usize, &Arc<RegionInfo>)| RegionSeen {
        name: region.encoded_name().to_owned(),
        keys: Some((region.start_key().to_vec(), region.end_key().to_vec())),
        reads: sum(at).reads,
        writes: sum(at).writes,
    };
    let motion = |count: fn(&Load) -> u64| {
        let hottest = windows.iter().filter_map(|(_, loads)| {
            let place = (0..loads.len()).max_by_key(|place| count(&loads[*place]))?;
            let (regions, region) = (loads.len(), names[place].to_owned());
            (count(&loads[place]) > 0).then_some(Hottest { place, regions, region })
        });
        Motion::of(&hottest.collect::<Vec<_>>(), true)
    };
    findings::findings(&Observed {
        regions: regions.iter().enumerate().map(seen).collect(),
        seconds: taken.iter().map(|(window, _)| window.seconds()).sum(),
        rows: rows.as_ref(),
        method: if history.is_counted() { Method::Counted } else { Method::Sampled },
        motion: (motion(|load| load.writes), motion(|load| load.reads)),
    })
}

/// The load of each of these regions.
fn loads(window: &Window, names: &[&str]) -> Vec<Load> {
    let known: HashMap<&str, Load> =
        window.loads.iter().map(|(region, load)| (region.encoded_name(), *load)).collect();
    names.iter().map(|name| known.get(name).copied().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use hblite::{HeavyRows, RegionLoad, RegionRows, RegionStatus, SampledRow, TableName};

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
        let regions = regions();
        let mut history = History::default();
        let mut totals = [0, 0];
        history.note(0, &[], None, None);
        for window in 0..windows {
            let mut counts = RowCounts::default();
            for region in &regions {
                counts.regions.push(RegionRows {
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
        findings(&history, &regions)
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
