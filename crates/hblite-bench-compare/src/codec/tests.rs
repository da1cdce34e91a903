//! The keys sort as HBase sorts cells, and the filter passes what a Scan would pass.

use super::*;
use crate::cells::SampleCell;

fn key(row: &[u8], timestamp: i64) -> Vec<u8> {
    let mut key = Vec::new();
    encode_put(&mut key, row, timestamp);
    key
}

fn tally_of(direction: Direction, rows: usize, entries: &[(Vec<u8>, &[u8])]) -> Tally {
    let mut tally = Tally::default();
    let mut filter = NewestVersions::new(&mut tally, direction, rows);
    for (key, value) in entries {
        if !filter.push(key, value).unwrap() {
            break;
        }
    }
    filter.finish().unwrap();
    tally
}

fn expected(cells: &[(&[u8], i64, &[u8])]) -> Tally {
    let mut tally = Tally::default();
    for (row, timestamp, value) in cells {
        tally.add(row, QUALIFIER, *timestamp, value);
    }
    tally
}

#[test]
fn key_order_is_cell_order() {
    let ordered = [
        key(b"", 5),
        key(b"\0", 5),
        key(b"\0\0", 5),
        key(b"\0a", 5),
        key(b"a", i64::MAX),
        key(b"a", 5),
        key(b"a", 4),
        key(b"a", -1),
        key(b"a\0", 5),
        key(b"a\0\xff", 5),
        key(b"a\x01", 5),
        key(b"ab", 5),
        key(b"\xff", 5),
    ];
    assert!(ordered.is_sorted_by(|one, next| one < next), "{ordered:x?}");
}

#[test]
fn row_bounds_hold_the_row_and_nothing_else() {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    encode_row_start(&mut start, b"a\0");
    encode_row_end(&mut end, b"a\0");
    for inside in [key(b"a\0", 0), key(b"a\0", i64::MAX)] {
        assert!(start < inside && inside < end);
    }
    assert!(key(b"a", 0) < start);
    assert!(end < key(b"a\0\0", 0) && end < key(b"a\x01", 0));
}

#[test]
fn newest_version_passes_in_both_directions() {
    let mut entries: Vec<(Vec<u8>, &[u8])> = vec![
        (key(b"a\0b", 2), b"new"),
        (key(b"a\0b", 1), b"old"),
        (key(b"c", 9), b"newer"),
        (key(b"c", 3), b"older"),
    ];
    let answer: [(&[u8], i64, &[u8]); 2] = [(b"a\0b", 2, b"new"), (b"c", 9, b"newer")];
    assert_eq!(tally_of(Direction::Forward, 9, &entries), expected(&answer));
    assert_eq!(tally_of(Direction::Forward, 1, &entries), expected(&answer[..1]));
    entries.reverse();
    let answer = [answer[1], answer[0]];
    assert_eq!(tally_of(Direction::Reverse, 9, &entries), expected(&answer));
    assert_eq!(tally_of(Direction::Reverse, 1, &entries), expected(&answer[..1]));
}

#[test]
fn delete_marker_hides_what_is_older() {
    let mut marker = key(b"a", 2);
    *marker.last_mut().unwrap() = !12;
    let entries: Vec<(Vec<u8>, &[u8])> = vec![(marker, b""), (key(b"a", 1), b"old")];
    assert_eq!(tally_of(Direction::Forward, 9, &entries), Tally::default());
}

#[test]
fn get_takes_only_its_own_column() {
    let cell = SampleCell::of(7);
    let mut column = Vec::new();
    encode_column(&mut column, &cell.row);
    let mut tally = Tally::default();
    emit_if_in(&mut tally, &column, &key(b"other", 1), b"").unwrap();
    assert_eq!(tally, Tally::default());
    emit_if_in(&mut tally, &column, &key(&cell.row, cell.timestamp), &cell.value).unwrap();
    assert_eq!(tally, Tally::of([7].into_iter()));
}

#[test]
fn malformed_key_is_an_error() {
    let mut tally = Tally::default();
    let mut filter = NewestVersions::new(&mut tally, Direction::Forward, 9);
    assert!(filter.push(b"short", b"").is_err());
    assert!(filter.push(b"no terminator in here", b"").is_err());
}
