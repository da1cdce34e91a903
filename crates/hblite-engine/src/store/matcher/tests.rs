//! Goal: one test per rule of the matchers. Random tests of whole scans are with the scanners.

use hblite_model::cell::Cell;
use hblite_model::filter::{Comparator, CompareOperator, Filter, FilterState};
use hblite_model::{CellType, Direction, KeepDeletedCells, Scan, TimeRange};

use super::MatchCode::{
    Include, IncludeAndSeekNextColumn, IncludeAndSeekNextRow, SeekNextColumn, SeekNextRow, Skip,
};
use super::*;
use crate::store::store_scanner::random_reads::{self, NOW, cell, with_time_to_live};

const PUT: CellType = CellType::Put;

/// A cell of the one row of these tests.
fn at(qualifier: &str, timestamp: i64, cell_type: CellType) -> Cell {
    cell(("r", "f", qualifier), timestamp, cell_type, 1)
}

/// The same with a sequence id.
fn written(qualifier: &str, timestamp: i64, cell_type: CellType, sequence_id: u64) -> Cell {
    cell(("r", "f", qualifier), timestamp, cell_type, sequence_id)
}

/// The matcher's codes for the cells of a row, in order.
fn codes(scan: &Scan, info: &ScanInfo, cells: &[Cell]) -> Vec<MatchCode> {
    let mut matcher = UserScanMatcher::new(scan, info, NOW);
    let mut filter = scan.filter().map(|filter| FilterState::new(filter, Direction::Forward, 1));
    matcher.begin_row();
    let answer = |cell: &Cell| matcher.match_cell(&cell.as_ref(), filter.as_mut()).unwrap();
    cells.iter().map(answer).collect()
}

fn info(versions_max: u32) -> ScanInfo {
    ScanInfo { versions_max, ..random_reads::info("f") }
}

#[test]
fn versions_of_all_columns_are_counted_up_to_the_lower_limit() {
    let cells = [at("p", 9, PUT), at("p", 8, PUT), at("p", 7, PUT), at("q", 9, PUT)];
    let scan = Scan::new().with_versions(2);
    assert_eq!(codes(&scan, &info(5), &cells), [Include, Include, SeekNextColumn, Include]);
    assert_eq!(codes(&scan, &info(1), &cells)[1], SeekNextColumn);
    // A scan may request no versions.
    assert_eq!(codes(&Scan::new().with_versions(0), &info(5), &cells)[0], SeekNextColumn);
}

#[test]
fn named_columns_are_sought_and_the_row_ends_with_the_last() {
    let cells = [at("a", 9, PUT), at("p", 9, PUT), at("q", 9, PUT), at("r", 9, PUT)];
    let scan = Scan::new().with_column("f", "p").with_column("f", "qq");
    let expected = [SeekNextColumn, IncludeAndSeekNextColumn, SeekNextColumn, SeekNextRow];
    assert_eq!(codes(&scan, &info(1), &cells), expected);
    let scan = Scan::new().with_column("f", "p");
    let expected = [SeekNextColumn, IncludeAndSeekNextRow, SeekNextRow, SeekNextRow];
    assert_eq!(codes(&scan, &info(1), &cells), expected);
}

#[test]
fn of_equal_coordinates_the_first_counts() {
    let cells = [at("p", 9, PUT), at("p", 9, PUT), at("p", 8, PUT)];
    let scan = Scan::new().with_versions(2);
    assert_eq!(codes(&scan, &info(5), &cells), [Include, Skip, Include]);
    let scan = scan.with_column("f", "p");
    assert_eq!(codes(&scan, &info(5), &cells), [Include, Skip, IncludeAndSeekNextRow]);
}

#[test]
fn markers_mask_what_they_name() {
    let cells = [
        at("", 7, CellType::DeleteFamily),
        at("", 6, CellType::DeleteFamilyVersion),
        at("p", 9, CellType::Delete),
        at("p", 9, PUT),
        at("p", 8, CellType::DeleteColumn),
        at("p", 8, PUT),
        at("q", 8, PUT),
        at("q", 7, PUT),
    ];
    let expected = [Skip, Skip, Skip, Skip, Skip, SeekNextColumn, Include, SeekNextColumn];
    assert_eq!(codes(&Scan::new().with_all_versions(), &info(9), &cells), expected);
    let cells = [at("", 8, CellType::DeleteFamilyVersion), at("q", 8, PUT), at("q", 7, PUT)];
    assert_eq!(codes(&Scan::new(), &info(9), &cells), [Skip, Skip, Include]);
}

#[test]
fn a_deleted_version_does_not_count() {
    let cells = [at("p", 9, CellType::Delete), at("p", 9, PUT), at("p", 8, PUT)];
    assert_eq!(codes(&Scan::new(), &info(1), &cells), [Skip, Skip, Include]);
}

#[test]
fn time_ranges_come_before_versions() {
    let cells = [at("p", 9, PUT), at("p", 8, PUT), at("p", 7, PUT), at("p", 6, PUT)];
    let scan = Scan::new().with_time_range(TimeRange::new(7, 9).unwrap());
    let expected = [Skip, Include, SeekNextColumn, SeekNextColumn];
    assert_eq!(codes(&scan, &info(1), &cells), expected);
}

#[test]
fn markers_behind_the_time_range_count_unless_deleted_cells_are_kept() {
    let cells = [at("p", 9, CellType::DeleteColumn), at("p", 5, PUT)];
    let scan = Scan::new().with_time_range(TimeRange::new(0, 6).unwrap());
    assert_eq!(codes(&scan, &info(1), &cells), [Skip, SeekNextColumn]);
    let kept = ScanInfo { keep_deleted_cells: KeepDeletedCells::True, ..info(1) };
    assert_eq!(codes(&scan, &kept, &cells), [Skip, Include]);
    assert_eq!(codes(&Scan::new(), &kept, &cells), [Skip, SeekNextColumn]);
}

#[test]
fn expired_cells_are_left_out_unless_min_versions_keeps_them() {
    let cells = [at("p", NOW - 5, PUT), at("p", NOW - 20, PUT), at("p", NOW - 30, PUT)];
    let scan = Scan::new().with_all_versions();
    let expiring = ScanInfo { time_to_live_ms: 10, ..info(9) };
    assert_eq!(codes(&scan, &expiring, &cells)[..2], [Include, SeekNextColumn]);
    let kept = ScanInfo { versions_min: 2, ..expiring.clone() };
    assert_eq!(codes(&scan, &kept, &cells), [Include, Include, SeekNextColumn]);
    // A raw scan shows everything.
    assert_eq!(codes(&scan.with_raw(true), &expiring, &cells), [Include; 3]);
}

#[test]
fn a_cell_past_its_own_time_to_live_is_never_shown() {
    let cells = [with_time_to_live(&at("p", NOW - 5, PUT), 4), at("p", NOW - 6, PUT)];
    let kept = ScanInfo { versions_min: 1, ..info(1) };
    for scan in [Scan::new(), Scan::new().with_raw(true)] {
        assert_eq!(codes(&scan, &kept, &cells), [Skip, Include]);
    }
    let alive = [with_time_to_live(&at("p", NOW - 5, PUT), 5)];
    assert_eq!(codes(&Scan::new(), &kept, &alive), [Include]);
}

#[test]
fn raw_scans_show_markers_which_do_not_count_as_versions() {
    let cells = [
        at("p", 9, CellType::DeleteColumn),
        at("p", 9, CellType::Delete),
        at("p", 9, PUT),
        at("p", 8, CellType::Delete),
        at("p", 7, PUT),
    ];
    let scan = Scan::new().with_raw(true);
    let expected = [Include, Include, Include, Include, SeekNextColumn];
    assert_eq!(codes(&scan, &info(1), &cells), expected);
}

#[test]
fn filters_see_versions_that_the_answer_has_no_room_for() {
    let passes_all = Filter::qualifier(CompareOperator::Equal, Comparator::binary(*b"p"));
    let cells = [at("p", 9, PUT), at("p", 8, PUT), at("q", 9, PUT)];
    let scan = Scan::new().with_filter(passes_all);
    assert_eq!(codes(&scan, &info(5), &cells), [Include, SeekNextColumn, Skip]);
    // With named columns, the tracker has advanced by the time the filter has had enough.
    let scan = scan.with_column("f", "p").with_column("f", "q");
    assert_eq!(codes(&scan, &info(5), &cells), [Include, SeekNextColumn, Skip]);
}

#[test]
fn what_filters_and_trackers_say_is_merged() {
    let cells = [at("p", 9, PUT), at("q", 9, PUT)];
    let first = Scan::new().with_filter(Filter::first_key_only());
    assert_eq!(codes(&first, &info(1), &cells), [Include, SeekNextRow]);
    let named = first.with_column("f", "p");
    assert_eq!(codes(&named, &info(1), &cells)[0], IncludeAndSeekNextRow);
    let cells = &cells[..1];
    let prefix = Scan::new().with_filter(Filter::column_prefix(*b"a"));
    // After the prefix, nothing in the row can pass.
    assert_eq!(codes(&prefix, &info(1), cells), [SeekNextRow]);
    let prefix = Scan::new().with_filter(Filter::column_prefix(*b"q"));
    assert_eq!(codes(&prefix, &info(1), cells), [MatchCode::SeekNextUsingHint]);
}

#[test]
fn columns_that_do_not_ascend_are_an_error() {
    let mut matcher = UserScanMatcher::new(&Scan::new(), &info(1), NOW);
    matcher.begin_row();
    assert!(matcher.match_cell(&at("q", 9, PUT).as_ref(), None).is_ok());
    let error = matcher.match_cell(&at("p", 9, PUT).as_ref(), None).unwrap_err();
    assert!(error.message().ends_with("smaller than the previous column: p"));
}

fn new_versions(versions_max: u32) -> ScanInfo {
    ScanInfo { new_version_behavior: true, ..info(versions_max) }
}

#[test]
fn new_version_behavior_lets_later_puts_live() {
    let cells = [
        written("p", 9, CellType::DeleteColumn, 5),
        written("p", 9, PUT, 4),
        written("p", 8, PUT, 6),
        written("p", 7, PUT, 3),
    ];
    let expected = [Skip, Skip, Include, Skip];
    assert_eq!(codes(&Scan::new().with_all_versions(), &new_versions(9), &cells), expected);
    // The old behavior masks it.
    assert_eq!(codes(&Scan::new().with_all_versions(), &info(9), &cells)[2], SeekNextColumn);
    let family = [
        written("", 9, CellType::DeleteFamily, 5),
        written("p", 9, PUT, 4),
        written("p", 8, PUT, 6),
        written("q", 9, PUT, 4),
    ];
    let expected = [Skip, Skip, Include, Skip];
    assert_eq!(codes(&Scan::new().with_all_versions(), &new_versions(9), &family), expected);
}

#[test]
fn new_version_behavior_counts_versions_before_deletes() {
    // VERSIONS is 1, so the put at 8 was already gone when the one at 9 was written.
    let cells =
        [written("p", 9, CellType::Delete, 3), written("p", 9, PUT, 2), written("p", 8, PUT, 1)];
    assert_eq!(codes(&Scan::new(), &new_versions(1), &cells), [Skip, Skip, Skip]);
    assert_eq!(codes(&Scan::new(), &info(1), &cells), [Skip, Skip, Include]);
    // With space for two it was still there.
    let scan = Scan::new();
    let expected = [Skip, Skip, IncludeAndSeekNextColumn];
    assert_eq!(codes(&scan, &new_versions(2), &cells), expected);
}

#[test]
fn new_version_behavior_does_not_fail_on_markers_under_the_empty_qualifier() {
    // HBase throws a NullPointerException in every read of such a row.
    let cells = [
        written("", 9, CellType::DeleteFamily, 5),
        written("", 9, CellType::Delete, 6),
        written("", 9, PUT, 4),
        written("p", 9, PUT, 7),
    ];
    let answers = codes(&Scan::new(), &new_versions(3), &cells);
    assert_eq!(answers, [Skip, Skip, Skip, IncludeAndSeekNextColumn]);
}
