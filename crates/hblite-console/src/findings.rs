//! Describes what is hot in a table, and what would help.
//!
//! The basis is the last five minutes: the exact counts of regions, and the sampled keys. Each
//! finding names the region, row or prefix with its share, and the changes of the key that would
//! spread it. The constants below are the thresholds.

use std::collections::BTreeMap;
use std::sync::Arc;

use hblite::RegionInfo;
use hblite::bytes::{common_prefix_length, to_string_binary};

use crate::history::{History, KeyInWindow, Window};

/// The period that is examined, in milliseconds.
const SPAN_MS: i64 = 5 * 60 * 1000;
/// Below this many requests per second, nothing is called hot.
const RATE_MIN: f64 = 1.0;
/// A region is hot if its load is this many times an even share.
const HOT_REGION: f64 = 2.0;
/// A row is hot if it has this share of the sampled requests.
const HOT_ROW: f64 = 0.10;
/// A prefix is hot if its rows have this share of the sampled requests.
const HOT_PREFIX: f64 = 0.40;
/// The minimum number of sampled keys to examine keys.
const KEYS_MIN: usize = 50;
/// The minimum number of rows of a hot prefix: with fewer, the rows are hot.
const PREFIX_ROWS_MIN: usize = 5;
/// The minimum number of pairs of windows to compare.
const WINDOWS_MIN: usize = 4;
/// Writes move forward if they do in this share of the pairs.
const FORWARD: f64 = 0.75;
/// The minimum number of written keys to compare a window.
const WINDOW_KEYS_MIN: usize = 5;
/// Hot rows in the list.
const ROWS_SHOWN: usize = 3;

/// Something that is hot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    /// `region`, `row`, `prefix`, `forward` or `single`.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// What would help.
    pub(crate) help: String,
    /// The range of keys that it is about: the first key, and the one after the last; `None` for
    /// the whole table.
    pub(crate) keys: Option<(Vec<u8>, Vec<u8>)>,
}

/// What is hot in the table with these regions.
pub(crate) fn findings(history: &History, regions: &[Arc<RegionInfo>]) -> Vec<Finding> {
    let Some(table) = regions.first().map(|region| region.table()) else { return Vec::new() };
    let end_ms = history.windows().next_back().map_or(0, |window| window.end_ms);
    let windows: Vec<&Window> =
        history.windows().filter(|window| window.end_ms > end_ms - SPAN_MS).collect();
    let mut found = Vec::new();
    for is_write in [true, false] {
        let of_region = |window: &Window, region: &RegionInfo| -> u64 {
            let loads = window.loads.iter();
            let mine = loads.filter(|(info, _)| info.encoded_name() == region.encoded_name());
            mine.map(|(_, load)| if is_write { load.writes } else { load.reads }).sum()
        };
        let counts: Vec<u64> = regions
            .iter()
            .map(|region| windows.iter().map(|window| of_region(window, region)).sum())
            .collect();
        let seconds: f64 = windows.iter().map(|window| window.seconds()).sum();
        let total: u64 = counts.iter().sum();
        if seconds <= 0.0 || (total as f64) < RATE_MIN * seconds {
            continue;
        }
        let what = if is_write { "writes" } else { "reads" };
        found.extend(hot_region(regions, &counts, what));
        let mine = |key: &&KeyInWindow| key.region.table() == table && key.is_write == is_write;
        let keys: Vec<&KeyInWindow> =
            windows.iter().flat_map(|window| &window.keys).filter(mine).collect();
        found.extend(hot_rows(&keys, what));
        if is_write {
            found.extend(forward(&windows, &mine));
        }
        found.extend(hot_prefix(&keys, what));
    }
    found
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

fn hot_region(regions: &[Arc<RegionInfo>], counts: &[u64], what: &str) -> Option<Finding> {
    let total: u64 = counts.iter().sum();
    let (hottest, &most) = counts.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let region = &regions[hottest];
    let keys = Some((region.start_key().to_vec(), region.end_key().to_vec()));
    if regions.len() == 1 {
        return Some(Finding {
            kind: "single",
            text: format!("The table has one region: it takes all {what}."),
            help: "Split the table, at the split keys that the adviser proposes.".to_owned(),
            keys,
        });
    }
    let share = most as f64 / total as f64;
    let times = share * regions.len() as f64;
    (times >= HOT_REGION).then(|| Finding {
        kind: "region",
        text: format!(
            "The region {} takes {} of the {what}; an even share of {} regions is {}.",
            range_text(region),
            percent(share),
            regions.len(),
            percent(1.0 / regions.len() as f64)
        ),
        help: "Zoom in to see the keys. If there are many, splitting the region helps. If it is \
               one row, or the keys move forward, only a different key helps."
            .to_owned(),
        keys,
    })
}

fn range_text(region: &RegionInfo) -> String {
    let text = |key: &[u8], empty: &str| match key {
        [] => empty.to_owned(),
        key => format!("\"{}\"", to_string_binary(key)),
    };
    let (start, end) = (region.start_key(), region.end_key());
    format!("from {} to {}", text(start, "the first key"), text(end, "the last key"))
}

fn hot_rows(keys: &[&KeyInWindow], what: &str) -> Vec<Finding> {
    if keys.len() < KEYS_MIN {
        return Vec::new();
    }
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    keys.iter().for_each(|key| *counts.entry(&key.row).or_default() += 1);
    let mut rows: Vec<(&[u8], usize)> = counts.into_iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let share = |count: usize| count as f64 / keys.len() as f64;
    let hot = rows.iter().take(ROWS_SHOWN).take_while(|(_, count)| share(*count) >= HOT_ROW);
    hot.map(|(row, count)| {
        let advice = if what == "writes" {
            "No split and no prefix spreads a single row. Divide what is written among several \
             rows, with a salt or a time bucket in the key, and read them together."
        } else {
            "No split and no prefix spreads a single row. Cache it in the clients, or keep copies \
             of it under several keys."
        };
        Finding {
            kind: "row",
            text: format!(
                "The row \"{}\" has about {} of the {what}.",
                to_string_binary(row),
                percent(share(*count))
            ),
            help: advice.to_owned(),
            keys: Some((row.to_vec(), [row, &b"\0"[..]].concat())),
        }
    })
    .collect()
}

/// Whether the written keys of each window come after those of the window before.
fn forward(windows: &[&Window], mine: &dyn Fn(&&KeyInWindow) -> bool) -> Option<Finding> {
    let mut medians: Vec<(&[u8], &[u8])> = Vec::new();
    for window in windows {
        let mut keys: Vec<&[u8]> = window.keys.iter().filter(mine).map(|key| &*key.row).collect();
        keys.sort_unstable();
        if keys.len() >= WINDOW_KEYS_MIN {
            medians.push((keys[keys.len() / 2], keys[keys.len() * 9 / 10]));
        }
    }
    let pairs = medians.windows(2);
    let moved = pairs.clone().filter(|pair| pair[1].0 > pair[0].1).count();
    if pairs.len() < WINDOWS_MIN || (moved as f64) < FORWARD * pairs.len() as f64 {
        return None;
    }
    let last = medians.last()?.1;
    Some(Finding {
        kind: "forward",
        text: format!(
            "Writes move forward through the keys, now at \"{}\": the region at the front takes \
             them all, however often it is split.",
            to_string_binary(last)
        ),
        help: "Begin the key with something that does not grow: another field, or a salt or hash \
               of the rest. Reversing a number helps too, if ranges of it are not read."
            .to_owned(),
        keys: None,
    })
}

/// The longest prefix that many keys share, if it is longer than what all share.
fn hot_prefix(keys: &[&KeyInWindow], what: &str) -> Option<Finding> {
    if keys.len() < KEYS_MIN {
        return None;
    }
    let mut rows: Vec<&[u8]> = keys.iter().map(|key| &*key.row).collect();
    rows.sort_unstable();
    let of_all = common_prefix_length(rows[0], rows[rows.len() - 1]);
    let mut inside = &rows[..];
    let mut length = of_all;
    // Extends the prefix byte by byte, as long as enough of the keys have it.
    while let Some(most) = inside
        .chunk_by(|one, other| one.get(length) == other.get(length))
        .filter(|group| group[0].len() > length)
        .max_by_key(|group| group.len())
        .filter(|group| group.len() as f64 >= HOT_PREFIX * rows.len() as f64)
    {
        let mut distinct = most.to_vec();
        distinct.dedup();
        if distinct.len() < PREFIX_ROWS_MIN {
            break;
        }
        (inside, length) = (most, length + 1);
    }
    if length == of_all || inside.len() == rows.len() {
        return None;
    }
    let prefix = &inside[0][..length];
    let share = inside.len() as f64 / rows.len() as f64;
    Some(Finding {
        kind: "prefix",
        text: format!(
            "Rows that begin with \"{}\" have about {} of the {what}.",
            to_string_binary(prefix),
            percent(share)
        ),
        help: "Split within the prefix, or put a salt or a hash of the rest after it. A salt in \
               front of the whole key also spreads the load, but turns every scan into several."
            .to_owned(),
        keys: Some((prefix.to_vec(), hblite::bytes::next_after_prefix(prefix))),
    })
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

    /// The kinds of the findings, if these rows are written in each of some windows.
    fn kinds(windows: usize, rows: impl Fn(usize) -> Vec<String>) -> Vec<(&'static str, String)> {
        let regions = regions();
        let mut history = History::default();
        let mut totals = [0, 0];
        history.note(0, &[], None, vec![]);
        for window in 0..windows {
            let mut keys = Vec::new();
            for row in rows(window) {
                let index = usize::from(row.as_str() >= "m");
                totals[index] += 1;
                let (region, row) = (Arc::clone(&regions[index]), row.as_bytes().into());
                keys.push(KeyInWindow { region, row, is_write: true });
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
            history.note((window as i64 + 1) * 5_000, &statuses, None, keys);
        }
        findings(&history, &regions).into_iter().map(|found| (found.kind, found.text)).collect()
    }

    fn row(number: usize) -> String {
        let mixed = (number as u32).wrapping_mul(2_654_435_761);
        let first = char::from(b'a' + (mixed >> 16) as u8 % 26);
        format!("{first}{mixed:010}")
    }

    #[test]
    fn an_even_load_has_no_findings() {
        let found = kinds(10, |window| (0..40).map(|index| row(window * 40 + index)).collect());
        assert_eq!(found, []);
        // Little load is not judged at all.
        assert_eq!(kinds(10, |_| vec!["a".to_owned()]), []);
    }

    #[test]
    fn a_hot_row_is_named_with_its_share() {
        let found = kinds(10, |window| {
            let other = (0..30).map(|index| row(window * 30 + index));
            other.chain(std::iter::repeat_n("popular".to_owned(), 10)).collect()
        });
        let expected = ("row", "The row \"popular\" has about 25 % of the writes.".to_owned());
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_hot_prefix_is_named_with_its_share() {
        let found = kinds(10, |window| {
            let hot = (0..30).map(|index| format!("user7-{}", row(window * 30 + index)));
            hot.chain((0..20).map(|index| row(5_000 + window * 20 + index))).collect()
        });
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert!(
            texts.iter().any(|text| text.starts_with("Rows that begin with \"user7-\" have")),
            "{texts:?}"
        );
    }

    #[test]
    fn writes_that_move_forward_are_found_with_their_region() {
        let found = kinds(10, |window| {
            (0..40).map(|index| format!("n{:06}", window * 40 + index)).collect()
        });
        let kinds: Vec<&str> = found.iter().map(|(kind, _)| *kind).collect();
        assert!(kinds.contains(&"region") && kinds.contains(&"forward"), "{found:?}");
        let region = &found[0].1;
        let expected = "The region from \"m\" to the last key takes 100 % of the writes; an even \
                        share of 2 regions is 50 %.";
        assert_eq!(region, expected);
    }
}
