//! Filters on rows.

use super::region::Region;
use super::*;
use crate::direction::Direction::{self, Forward, Reverse};

/// The rows of the recorded scans, two cells each, in the regions that they were recorded in.
fn regions() -> [Region; 3] {
    [
        &["a1x1", "a1x2", "a2x1", "a2y1"][..],
        &["b", "b1x1", "b1y2", "bb"],
        &["c1x1", "c2x9", r"c2y9\x00", r"c\xFFx1", "d"],
    ]
    .map(|rows| {
        let lines: Vec<String> =
            rows.iter().flat_map(|row| ["q", "r"].map(|q| format!("{row} f:{q} 1 v"))).collect();
        Region::of(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    })
}

fn scan(filter: &Filter, direction: Direction) -> Vec<String> {
    let mut regions = regions();
    if direction.is_reverse() {
        regions.reverse();
    }
    regions.iter().flat_map(|region| region.scan_rows(filter, direction)).collect()
}

fn check(filter: Filter, forward: &[&str], reverse: &[&str]) {
    assert_eq!(scan(&filter, Forward), forward, "{filter}");
    assert_eq!(scan(&filter, Reverse), reverse, "{filter}, reversed");
}

fn range(start: &str, start_inclusive: bool, stop: &str, stop_inclusive: bool) -> RowRange {
    RowRange::new(start, start_inclusive, stop, stop_inclusive)
}

#[test]
fn prefix_and_stop() {
    check(Filter::prefix("b1"), &["b1x1", "b1y2"], &["b1y2", "b1x1"]);
    check(Filter::prefix("bbb"), &[], &[]);
    check(
        Filter::inclusive_stop("a2x1"),
        &["a1x1", "a1x2", "a2x1"],
        &["d", r"c\xFFx1", r"c2y9\x00", "c2x9", "c1x1", "bb", "b1y2", "b1x1", "b", "a2y1", "a2x1"],
    );
    let before_all = Filter::inclusive_stop("A");
    assert_eq!(scan(&before_all, Forward).len(), 0);
    assert_eq!(scan(&before_all, Reverse).len(), 13);
    assert_eq!(scan(&Filter::prefix(""), Forward).len(), 13);
}

#[test]
fn prefix_ends_the_scan_behind_it() {
    let mut state = FilterState::new(&Filter::prefix("b1"), Forward, 0);
    assert!(state.filter_row_key(b"b").unwrap() && !state.filter_all_remaining());
    assert!(!state.filter_row_key(b"b1").unwrap());
    state.reset();
    assert!(state.filter_row_key(b"b2").unwrap() && state.filter_all_remaining());
}

#[test]
fn page_and_chance() {
    // Per region.
    check(
        Filter::page(2).unwrap(),
        &["a1x1", "a1x2", "b", "b1x1", "c1x1", "c2x9"],
        &["d", r"c\xFFx1", "bb", "b1y2", "a2y1", "a2x1"],
    );
    check(Filter::page(0).unwrap(), &[], &[]);
    check(Filter::random_row(-1.0), &[], &[]);
    assert_eq!(scan(&Filter::random_row(1.5), Forward).len(), 13);
    let half = Filter::random_row(0.5);
    let count = |seed| {
        let mut state = FilterState::new(&half, Forward, seed);
        (0..1000).filter(|_| !state.filter_row_key(b"r").unwrap()).count()
    };
    assert!((400..600).contains(&count(1)) && count(1) == count(1));
}

#[test]
fn row_comparison() {
    let greater = Filter::row(CompareOperator::Greater, Comparator::binary("c2x9"));
    check(greater, &[r"c2y9\x00", r"c\xFFx1", "d"], &["d", r"c\xFFx1", r"c2y9\x00"]);
    check(Filter::row(CompareOperator::NoOp, Comparator::Null), &[], &[]);
}

#[test]
fn fuzzy_rows() {
    let fuzzy = |keys: &[(&str, &[u8])]| {
        let key = |(key, mask): &(&str, &[u8])| FuzzyKey {
            key: crate::bytes::from_string_binary(key),
            mask: mask.to_vec(),
        };
        Filter::fuzzy_row(keys.iter().map(key).collect()).unwrap()
    };
    check(fuzzy(&[("a?x1", &[0, 1, 0, 0])]), &["a1x1", "a2x1"], &["a2x1", "a1x1"]);
    // Short rows match with the bytes they have.
    check(
        fuzzy(&[("??x1", &[1, 1, 0, 0])]),
        &["a1x1", "a2x1", "b", "b1x1", "bb", "c1x1", r"c\xFFx1", "d"],
        &["d", r"c\xFFx1", "c1x1", "bb", "b1x1", "b", "a2x1", "a1x1"],
    );
    // A pattern that ends in a wildcard: reversed, the hint is "c\x00", which is past all its rows.
    check(fuzzy(&[("c?", &[0, 1])]), &["c1x1", "c2x9", r"c2y9\x00", r"c\xFFx1"], &[]);
    check(fuzzy(&[(r"\x00\xFFx1", &[1, 0, 0, 0])]), &["b", r"c\xFFx1", "d"], &["d", r"c\xFFx1"]);
    check(fuzzy(&[("zz", &[0, 0])]), &[], &[]);
    check(
        fuzzy(&[("??y?", &[1, 1, 0, 1]), ("a1??", &[0, 0, 1, 1])]),
        &["a1x1", "a1x2", "a2y1", "b", "b1y2", "bb", r"c2y9\x00", "d"],
        &["d", r"c2y9\x00", "bb", "b1y2", "b", "a2y1", "a1x2", "a1x1"],
    );
}

#[test]
fn row_ranges() {
    let ranges = |ranges: &[RowRange]| Filter::multi_row_range(ranges.to_vec()).unwrap();
    check(
        ranges(&[range("b", false, "b1y2", true), range("c", true, "c2y", false)]),
        &["b1x1", "b1y2", "c1x1", "c2x9"],
        &["c2x9", "c1x1", "b1y2", "b1x1"],
    );
    check(
        ranges(&[range("", true, "a1x2", true), range("c2y", true, "", true)]),
        &["a1x1", "a1x2", r"c2y9\x00", r"c\xFFx1", "d"],
        // In reverse, the range with the open start is lost.
        &["d", r"c\xFFx1", r"c2y9\x00"],
    );
    check(ranges(&[range("b", false, "b", true)]), &[], &[]);
    check(
        Filter::multi_row_prefix(["b1", "d"]).unwrap(),
        &["b1x1", "b1y2", "d"],
        &["d", "b1y2", "b1x1"],
    );
    let mut inside_skip =
        FilterState::new(&Filter::skip(ranges(&[range("a", true, "b", true)])), Forward, 0);
    let key = key::first_on_row(b"a");
    assert!(inside_skip.filter_cell(&crate::CellRef::new(&key, b"", b"", 0)).is_err());
}

#[test]
fn ranges_are_merged_as_in_hbase() {
    let merged = |ranges: &[(&str, bool, &str, bool)]| -> Vec<String> {
        let ranges = ranges.iter().map(|r| range(r.0, r.1, r.2, r.3)).collect();
        let Filter::MultiRowRange(MultiRowRangeFilter { ranges, .. }) =
            Filter::multi_row_range(ranges).unwrap()
        else {
            unreachable!("the constructor makes this variant");
        };
        let text = |range: &RowRange| {
            let open = if range.start_inclusive { '[' } else { '(' };
            let close = if range.stop_inclusive { ']' } else { ')' };
            let (start, stop) = (&range.start, &range.stop);
            format!(
                "{open}{},{}{close}",
                String::from_utf8_lossy(start),
                String::from_utf8_lossy(stop)
            )
        };
        ranges.iter().map(text).collect()
    };
    let (yes, no) = (true, false);
    assert_eq!(merged(&[("c", yes, "d", no), ("a", yes, "b", no)]), ["[a,b)", "[c,d)"]);
    assert_eq!(merged(&[("a", yes, "b", no), ("b", yes, "c", no)]), ["[a,c)"]);
    assert_eq!(merged(&[("a", yes, "b", no), ("b", no, "c", no)]), ["[a,b)", "(b,c)"]);
    assert_eq!(merged(&[("a", yes, "d", no), ("b", yes, "d", yes)]), ["[a,d]"]);
    assert_eq!(merged(&[("a", yes, "", no), ("b", yes, "d", yes)]), ["[a,)"]);
    assert_eq!(merged(&[("a", yes, "c", no), ("b", yes, "", no)]), ["[a,)"]);
    // A range swallowed by an extended one makes it inclusive.
    assert_eq!(
        merged(&[("a", yes, "d", no), ("b", yes, "e", no), ("c", yes, "c2", yes)]),
        ["[a,e]"]
    );
    // The last range, separate and open: added twice.
    assert_eq!(
        merged(&[("a", yes, "c", no), ("b", yes, "d", no), ("e", yes, "", no)]),
        ["[a,d)", "[e,)", "[a,d)", "[e,)"]
    );
    let twice = vec![range("a", true, "b", true), range("c", true, "b", true)];
    let error = Filter::multi_row_range(twice).unwrap_err();
    assert!(error.message().starts_with("1 invaild ranges.\n"), "{error}");
}
