//! Lists and wrappers.

use super::super::list::{merge_and, merge_or};
use super::region::Region;
use super::*;
use crate::direction::Direction::{Forward, Reverse};

const CODES: [(char, ReturnCode); 7] = [
    ('I', ReturnCode::Include),
    ('C', ReturnCode::IncludeAndNextColumn),
    ('R', ReturnCode::IncludeAndSeekNextRow),
    ('s', ReturnCode::Skip),
    ('c', ReturnCode::NextColumn),
    ('r', ReturnCode::NextRow),
    ('h', ReturnCode::SeekNextUsingHint),
];

/// Rows: the code so far; columns: the next code; both in the order of [`CODES`].
fn check_table(merge: fn(ReturnCode, ReturnCode) -> ReturnCode, table: [&str; 7]) {
    for ((left_name, left), row) in CODES.into_iter().zip(table) {
        for ((right_name, right), expected) in CODES.into_iter().zip(row.chars()) {
            let merged = merge(left, right);
            let name = CODES.iter().find(|(_, code)| *code == merged).map(|(name, _)| *name);
            assert_eq!(name, Some(expected), "{left_name} and {right_name}");
        }
    }
}

#[test]
fn codes_merge_as_in_hbase() {
    let and = ["ICRscrh", "CCRccrh", "RRRrrrh", "scrscrh", "ccrccrh", "rrrrrrh", "hhhhhhh"];
    check_table(merge_and, and);
    let or = ["IIIIIII", "ICCICCI", "ICRICRI", "IIIssss", "ICCsccs", "ICRscrs", "IIIsssh"];
    check_table(merge_or, or);
}

fn region() -> Region {
    Region::of(&[
        "a f:q 1 1",
        "a f:r 1 2",
        "a g:q 1 1",
        "b f:q 1 2",
        "b f:s 1 1",
        "c g:q 1 3",
        "d f:q 1 1",
        "d f:r 1 1",
    ])
}

fn all(filters: impl Into<Vec<Filter>>) -> Filter {
    Filter::list(ListOperator::MustPassAll, filters.into())
}

fn one(filters: impl Into<Vec<Filter>>) -> Filter {
    Filter::list(ListOperator::MustPassOne, filters.into())
}

fn value(value: &str) -> Filter {
    Filter::value(CompareOperator::Equal, Comparator::binary(value))
}

fn row(row: &str) -> Filter {
    Filter::row(CompareOperator::Equal, Comparator::binary(row))
}

fn check(filter: Filter, expected: &[&str]) {
    assert_eq!(region().scan(&filter, Forward), expected, "{filter}");
}

#[test]
fn empty_lists_pass_everything() {
    for filter in [all([]), one([])] {
        assert_eq!(region().scan(&filter, Forward).len(), 8);
        assert_eq!(region().scan(&filter, Reverse).len(), 8);
    }
}

#[test]
fn all_must_pass() {
    check(all([Filter::column_prefix("q"), value("1")]), &["a/f:q", "a/g:q", "d/f:q"]);
    check(all([row("d"), value("1")]), &["d/f:q", "d/f:r"]);
    check(all([row("a"), row("d")]), &[]);
    // Stateful members: the order determines what is counted.
    let page = || Filter::column_pagination(1, 0).unwrap();
    let range = || Filter::column_range(Some(b"r".to_vec()), true, None, false);
    check(all([range(), page()]), &["a/f:r", "b/f:s", "d/f:r"]);
    check(all([page(), range()]), &[]);
    // A page counts rows that the whole list accepted.
    check(all([value("1"), Filter::page(2).unwrap()]), &["a/f:q", "a/g:q", "b/f:s"]);
}

#[test]
fn one_must_pass() {
    check(one([row("a"), Filter::column_prefix("s")]), &["a/f:q", "a/f:r", "a/g:q", "b/f:s"]);
    check(one([row("b"), row("c")]), &["b/f:q", "b/f:s", "c/g:q"]);
    let first = || Filter::first_key_only();
    check(one([first(), value("2")]), &["a/f:q", "a/f:r", "b/f:q", "c/g:q", "d/f:q"]);
    // A page never rejects a cell, and a value never rejects a row, so the page after it never
    // counts one: together they reject nothing.
    assert_eq!(region().scan(&one([value("9"), Filter::page(1).unwrap()]), Forward).len(), 8);
    let prefixes = one([Filter::column_prefix("q"), Filter::column_prefix("s")]);
    check(prefixes, &["a/f:q", "a/g:q", "b/f:q", "b/f:s", "c/g:q", "d/f:q"]);
}

#[test]
fn an_or_answers_for_members_that_wanted_to_skip() {
    let filter = one([Filter::column_prefix("s"), value("1")]);
    let mut state = FilterState::new(&filter, Forward, 0);
    let cell =
        |qualifier: &[u8], value: &'static [u8]| (key::build(b"r", b"f", qualifier, 1, 4), value);
    let mut codes = Vec::new();
    for (key, value) in [cell(b"a", b"0"), cell(b"b", b"1"), cell(b"s", b"0"), cell(b"t", b"0")] {
        let cell = crate::CellRef::new(&key, value, b"", 0);
        codes.push(state.filter_cell(&cell).unwrap());
    }
    use ReturnCode::{Include, Skip};
    assert_eq!(codes, [Skip, Include, Include, Skip]);
}

#[test]
fn hints_of_lists() {
    let prefixes = || vec![Filter::column_prefix("b"), Filter::column_prefix("d")];
    let key = key::build(b"r", b"f", b"a", 1, 4);
    let cell = crate::CellRef::new(&key, b"", b"", 0);
    for (filter, qualifier) in [(all(prefixes()), b"d"), (one(prefixes()), b"b")] {
        let mut state = FilterState::new(&filter, Forward, 0);
        assert_eq!(state.filter_cell(&cell).unwrap(), ReturnCode::SeekNextUsingHint);
        let hint = state.next_cell_hint(&cell);
        assert_eq!(hint, Some(key::first_on_column(b"r", b"f", qualifier)), "{filter}");
    }
    // Rejected by the first, the cell is still shown to members that can seek.
    let mut state = FilterState::new(&all([value("x"), Filter::column_prefix("b")]), Forward, 0);
    assert_eq!(state.filter_cell(&cell).unwrap(), ReturnCode::SeekNextUsingHint);
}

#[test]
fn keys_only_in_lists() {
    let values = |filter: Filter| -> Vec<Vec<u8>> {
        let rows = region().rows(&filter, Forward).unwrap();
        rows.iter().flat_map(|row| row.iter().map(|cell| cell.value().to_vec())).collect()
    };
    for filters in [[Filter::key_only(false), value("3")], [value("3"), Filter::key_only(false)]] {
        assert_eq!(values(all(filters)), [b""]);
    }
    // In an OR, only members that included the cell change it.
    let some = all([row("b"), Filter::key_only(false)]);
    assert_eq!(values(one([some, row("c")])), [&b""[..], b"", b"3"]);
}

#[test]
fn wrappers() {
    check(Filter::skip(value("1")), &["d/f:q", "d/f:r"]);
    check(Filter::while_match(value("1")), &["a/f:q"]);
    check(
        Filter::while_match(Filter::row(CompareOperator::Less, Comparator::binary("c"))),
        &["a/f:q", "a/f:r", "a/g:q", "b/f:q", "b/f:s"],
    );
    // A filter inside a SkipFilter never sees a row.
    assert_eq!(region().scan(&Filter::skip(row("c")), Forward).len(), 8);
    assert_eq!(region().scan(&Filter::skip(Filter::page(1).unwrap()), Forward).len(), 8);
    // A wrapped filter assumes a forward scan: a reverse scan is past this prefix immediately.
    assert_eq!(region().scan(&Filter::while_match(Filter::prefix("b")), Reverse).len(), 0);
}

#[test]
fn a_filter_has_at_most_so_many_within_it() {
    let list = |filters| Filter::list(ListOperator::MustPassOne, filters);
    let wide = |count| list(vec![Filter::skip(Filter::prefix("r")); count]);
    // A list, and two filters per member.
    assert!(wide((Filter::COUNT_MAX - 1) / 2).check_count().is_ok());
    let error = wide(Filter::COUNT_MAX / 2).check_count().unwrap_err();
    assert!(error.message().contains("more than 100000 filters within it"), "{error}");
    let nested = list(vec![wide(Filter::COUNT_MAX / 4), wide(Filter::COUNT_MAX / 4)]);
    assert!(nested.check_count().is_err());
}
