//! Filters on columns and timestamps, and filters that count.

use super::region::Region;
use super::*;
use crate::direction::Direction::Forward;

fn region() -> Region {
    Region::of(&[
        "r f:a 1 x",
        "r f:ab 1 x",
        "r f:abc 1 x",
        "r f:ac 1 x",
        "r f:b 1 x",
        "r g:a 1 x",
        "r g:b 1 x",
        "s g:ab 1 x",
    ])
}

fn check(filter: Filter, expected: &[&str]) {
    assert_eq!(region().scan(&filter, Forward), expected, "{filter}");
}

#[test]
fn family_and_qualifier() {
    let (equal, less) = (CompareOperator::Equal, CompareOperator::Less);
    check(Filter::family(equal, Comparator::binary("g")), &["r/g:a", "r/g:b", "s/g:ab"]);
    check(Filter::qualifier(less, Comparator::binary("ab")), &["r/f:a", "r/g:a"]);
    let mut state = FilterState::new(&Filter::family(equal, Comparator::binary("g")), Forward, 0);
    let key = key::build(b"r", b"f", b"q", 1, 4);
    let cell = crate::CellRef::new(&key, b"", b"", 0);
    assert_eq!(state.filter_cell(&cell).unwrap(), ReturnCode::NextRow);
}

#[test]
fn prefixes_and_ranges() {
    check(Filter::column_prefix("ab"), &["r/f:ab", "r/f:abc", "s/g:ab"]);
    check(Filter::column_prefix("z"), &[]);
    let several = |prefixes: &[&str]| Filter::multiple_column_prefix(prefixes.to_vec()).unwrap();
    check(several(&["ac", "b"]), &["r/f:ac", "r/f:b", "r/g:b"]);
    // "ac" starts with "a", but is only compared with "ab".
    check(several(&["a", "ab"]), &["r/f:a", "r/f:ab", "r/f:abc", "r/g:a", "s/g:ab"]);
    assert_eq!(region().scan(&several(&[]), Forward).len(), 8);
    let range = |min: Option<&str>, min_inclusive, max: Option<&str>, max_inclusive| {
        let end = |end: Option<&str>| end.map(|end| end.as_bytes().to_vec());
        Filter::column_range(end(min), min_inclusive, end(max), max_inclusive)
    };
    check(range(Some("ab"), true, Some("b"), false), &["r/f:ab", "r/f:abc", "r/f:ac", "s/g:ab"]);
    check(range(Some("ab"), false, Some("b"), true), &["r/f:abc", "r/f:ac", "r/f:b", "r/g:b"]);
    check(range(None, true, Some("a"), true), &["r/f:a", "r/g:a"]);
    check(range(Some("b"), true, None, true), &["r/f:b", "r/g:b"]);
}

#[test]
fn pages_of_columns_count_across_families() {
    let page = |limit, offset| Filter::column_pagination(limit, offset).unwrap();
    check(page(3, 3), &["r/f:ac", "r/f:b", "r/g:a"]);
    check(page(0, 0), &[]);
    check(page(1, i32::MAX), &[]);
    let from = |limit, qualifier| Filter::column_pagination_from(limit, qualifier).unwrap();
    check(from(3, "ac"), &["r/f:ac", "r/f:b", "r/g:a"]);
    check(from(1, ""), &["r/f:a", "s/g:ab"]);
    check(Filter::column_count_get(2).unwrap(), &["r/f:a", "r/f:ab"]);
}

#[test]
fn timestamps_choose_versions() {
    let mut region =
        Region::of(&["r f:a 1 x", "r f:a 2 x", "r f:a 5 x", "r f:a 9 x", "r f:b 7 x", "r f:b 3 x"]);
    (region.versions_max, region.versions) = (9, 9);
    for can_hint in [false, true] {
        let some = Filter::timestamps([3, 5, 9, 5], can_hint).unwrap();
        assert_eq!(region.scan(&some, Forward), ["r/f:a@9", "r/f:a@5", "r/f:b@3"]);
        let none = Filter::timestamps([], can_hint).unwrap();
        assert!(region.scan(&none, Forward).is_empty());
    }
    let mut state = FilterState::new(&Filter::timestamps([3, 5], true).unwrap(), Forward, 0);
    let newer = key::build(b"r", b"f", b"a", 9, 4);
    let cell = crate::CellRef::new(&newer, b"", b"", 0);
    assert_eq!(state.filter_cell(&cell).unwrap(), ReturnCode::SeekNextUsingHint);
    assert_eq!(state.next_cell_hint(&cell), Some(key::build(b"r", b"f", b"a", 5, 255)));
}

#[test]
fn first_cells_and_keys_only() {
    check(Filter::first_key_only(), &["r/f:a", "s/g:ab"]);
    check(
        Filter::first_key_value_matching_qualifiers(["b", "abc"]),
        &["r/f:a", "r/f:ab", "r/f:abc", "s/g:ab"],
    );
    let region = Region::of(&["r f:a 1 apple", "r f:b 1 "]);
    let values = |filter: Filter| -> Vec<Vec<u8>> {
        let rows = region.rows(&filter, Forward).unwrap();
        rows[0].iter().map(|cell| cell.value().to_vec()).collect()
    };
    assert_eq!(values(Filter::key_only(false)), [b"", b""]);
    assert_eq!(values(Filter::key_only(true)), [b"\0\0\0\x05", b"\0\0\0\0"]);
    let twice = vec![Filter::key_only(true), Filter::key_only(true)];
    let twice = Filter::list(ListOperator::MustPassAll, twice);
    assert_eq!(values(twice), [b"\0\0\0\x04", b"\0\0\0\x04"]);
}
