//! The keys sort as HBase sorts cells, and the reader passes what a Scan would pass.

use super::*;
use crate::cells::{QUALIFIER, Tally, qualifier_of};
use crate::rows::row_of;

/// The key of a put to a row of any size.
fn key(row: &[u8], timestamp: i64) -> Vec<u8> {
    let mut key = Vec::new();
    encode_column(&mut key, row, &QUALIFIER);
    key.extend_from_slice(&(!(timestamp as u64 ^ SIGN)).to_be_bytes());
    key.push(!TYPE_PUT);
    key
}

fn marker(row: &[u8], timestamp: i64) -> Vec<u8> {
    let mut marker = key(row, timestamp);
    *marker.last_mut().unwrap() = !TYPE_DELETE_COLUMN;
    marker
}

fn key_of(cell: &SampleCell) -> Vec<u8> {
    let mut key = Vec::new();
    encode(&mut key, cell);
    key
}

type Entry<'a> = (Vec<u8>, &'a [u8]);

fn read(span: Span<'_>, entries: &[Entry<'_>]) -> Tally {
    let mut tally = Tally::default();
    let mut reader = Reader::new(span, &mut tally);
    for (key, value) in entries {
        if !reader.push(key, value).unwrap() {
            break;
        }
    }
    reader.finish().unwrap();
    tally
}

fn newest(direction: Direction, rows: usize, entries: &[Entry<'_>]) -> Tally {
    read(Span { rows, ..Span::whole(direction) }, entries)
}

fn expected(cells: &[(&[u8], i64, &[u8])]) -> Tally {
    let mut tally = Tally::default();
    for (row, timestamp, value) in cells {
        tally.add(row, &QUALIFIER, *timestamp, value);
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
        marker(b"a", 5),
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
fn bounds_hold_what_is_read_and_nothing_else() {
    let is_in = |span: Span<'_>, cell: &SampleCell| {
        let (bounds, key) = (span.bounds(), key_of(cell));
        bounds.lower.is_none_or(|lower| lower <= key) && bounds.upper.is_none_or(|end| key < end)
    };
    let ordered = [(1, 0, 0), (2, 0, 0), (2, 1, 9), (2, 1, 0), (2, 2, 0), (3, 0, 0)]
        .map(|(row, column, version)| SampleCell::at(row, column, version));
    let inside = |span: Span<'_>| ordered.each_ref().map(|cell| u8::from(is_in(span, cell)));
    let (row, qualifier) = (row_of(2), qualifier_of(1));
    assert_eq!(inside(Span::whole(Direction::Forward)), [1; 6]);
    assert_eq!(inside(Span::from(&row, 9, Direction::Forward)), [0, 1, 1, 1, 1, 1]);
    assert_eq!(inside(Span::from(&row, 9, Direction::Reverse)), [1, 1, 1, 1, 1, 0]);
    assert_eq!(inside(Span::row(&row)), [0, 1, 1, 1, 1, 0]);
    assert_eq!(inside(Span::column(&row, &qualifier, 9)), [0, 0, 1, 1, 0, 0]);
}

#[test]
fn newest_version_passes_in_both_directions() {
    let mut entries: Vec<Entry<'_>> = vec![
        (key(b"a\0b", 2), b"new"),
        (key(b"a\0b", 1), b"old"),
        (key(b"c", 9), b"newer"),
        (key(b"c", 3), b"older"),
    ];
    let answer: [(&[u8], i64, &[u8]); 2] = [(b"a\0b", 2, b"new"), (b"c", 9, b"newer")];
    assert_eq!(newest(Direction::Forward, 9, &entries), expected(&answer));
    assert_eq!(newest(Direction::Forward, 1, &entries), expected(&answer[..1]));
    entries.reverse();
    let answer = [answer[1], answer[0]];
    assert_eq!(newest(Direction::Reverse, 9, &entries), expected(&answer));
    assert_eq!(newest(Direction::Reverse, 1, &entries), expected(&answer[..1]));
}

#[test]
fn as_many_versions_pass_as_are_wanted() {
    let entries: [Entry<'_>; 4] =
        [(key(b"a", 3), b"3"), (key(b"a", 2), b"2"), (key(b"a", 1), b"1"), (key(b"b", 1), b"1")];
    let answer: [(&[u8], i64, &[u8]); 3] = [(b"a", 3, b"3"), (b"a", 2, b"2"), (b"b", 1, b"1")];
    let span = Span { versions: 2, ..Span::whole(Direction::Forward) };
    assert_eq!(read(span, &entries), expected(&answer));
}

#[test]
fn delete_marker_hides_what_is_older() {
    let mut entries: Vec<Entry<'_>> = vec![
        (key(b"a", 3), b"new"),
        (marker(b"a", 2), b""),
        (key(b"a", 1), b"old"),
        (marker(b"b", 2), b""),
        (key(b"b", 1), b"old"),
    ];
    let answer = expected(&[(b"a", 3, b"new")]);
    let span = Span { versions: 9, ..Span::whole(Direction::Forward) };
    assert_eq!(read(span, &entries), answer);
    entries.reverse();
    assert_eq!(newest(Direction::Reverse, 9, &entries), answer);
}

#[test]
fn lower_values_do_not_pass() {
    let mut entries: Vec<Entry<'_>> = vec![(key(b"a", 1), b"4"), (key(b"b", 1), b"6")];
    let answer = expected(&[(b"b", 1, b"6")]);
    let span = |direction| Span { value_min: Some(b"5"), ..Span::whole(direction) };
    assert_eq!(read(span(Direction::Forward), &entries), answer);
    entries.reverse();
    assert_eq!(read(span(Direction::Reverse), &entries), answer);
}

#[test]
fn sweep_drops_markers_and_what_they_hide() {
    let mut sweep = Sweep::default();
    let entries = [
        (key(b"a", 1), false),
        (key(b"b", 3), false),
        (marker(b"b", 2), true),
        (key(b"b", 1), true),
        (key(b"c", 1), false),
        (b"short".to_vec(), false),
    ];
    for (key, is_dropped) in entries {
        assert_eq!(sweep.drops(&key), is_dropped, "{key:x?}");
    }
}

#[test]
fn get_takes_only_its_own_column() {
    let cell = SampleCell::of(7);
    let mut column = Vec::new();
    encode_column(&mut column, &cell.row, &QUALIFIER);
    let mut tally = Tally::default();
    emit_if_in(&mut tally, &column, &key(b"other", 1), b"").unwrap();
    emit_if_in(&mut tally, &column, &key_of(&SampleCell::marker_of(7)), b"").unwrap();
    assert_eq!(tally, Tally::default());
    emit_if_in(&mut tally, &column, &key_of(&cell), cell.value()).unwrap();
    assert_eq!(tally, Tally::of([7].into_iter()));
}

#[test]
fn malformed_key_is_an_error() {
    let mut tally = Tally::default();
    let mut reader = Reader::new(Span::whole(Direction::Forward), &mut tally);
    assert!(reader.push(b"short", b"").is_err());
    assert!(reader.push(b"no terminator in here", b"").is_err());
}
