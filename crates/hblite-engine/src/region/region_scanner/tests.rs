//! Goal: a region's scan returns the same as plain loops over all cells, however the cells are
//! distributed over sources, and reads few cells where it may seek.

use std::sync::Arc;

use hblite_model::cell::Cell;
use hblite_model::filter::SingleColumnTest;
use hblite_model::filter::{Comparator, CompareOperator, Filter, FuzzyKey, RowRange};
use hblite_model::{CellRef, CellType, Exception, TimeRange};

use super::*;
use crate::store::key_value_scanner::vec_scanner::VecScanner;
use crate::store::store_scanner::random_reads::{self, Dice, NOW, cell};

fn open(families: Vec<(ScanInfo, Vec<VecScanner>)>, scan: &Scan) -> Result<RegionScanner> {
    let families = families
        .into_iter()
        .filter(|(info, _)| scan.columns().get(&info.family).is_some())
        .map(|(info, sources)| StoreSources {
            info: Arc::new(info),
            sources: sources.into_iter().map(SourceScanner::Vec).collect(),
        })
        .collect();
    RegionScanner::new(families, scan, CellComparator::Default, NOW, 1)
}

/// All rows, read as by a server that pauses after every `work` cells.
fn read_with_pauses(mut scanner: RegionScanner, work: u64) -> (Vec<Vec<Cell>>, u64) {
    let mut rows = Vec::<Vec<Cell>>::new();
    let (mut piece, mut pauses) = (Vec::new(), 0);
    loop {
        scanner.allow_work(work);
        let mut push = |cell: &CellRef<'_>| piece.push(cell.to_cell());
        match scanner.next_piece(&mut push, None, || false).unwrap() {
            RegionStep::End => break,
            RegionStep::Cursor(()) => pauses += 1,
            RegionStep::Row(_) => match rows.last_mut() {
                Some(row) if row[0].row() == piece[0].row() => row.append(&mut piece),
                _ => rows.push(std::mem::take(&mut piece)),
            },
        }
    }
    assert!(piece.is_empty(), "cells of no row: {piece:?}");
    (rows, pauses)
}

/// All rows, with the parts of each row joined, and how many cells were examined.
fn read(mut scanner: RegionScanner, batch: Option<usize>) -> (Vec<Vec<Cell>>, u64) {
    let mut rows = Vec::<Vec<Cell>>::new();
    loop {
        let mut piece = Vec::new();
        let mut push = |cell: &CellRef<'_>| piece.push(cell.to_cell());
        match scanner.next_row(&mut push).unwrap() {
            RegionStep::Cursor(()) | RegionStep::End => break,
            RegionStep::Row(RowPart { may_have_more_cells }) => {
                assert!(!piece.is_empty() && batch.is_none_or(|batch| piece.len() <= batch));
                assert!(!may_have_more_cells || batch.is_some());
                match rows.last_mut() {
                    Some(row) if row[0].row() == piece[0].row() => row.extend(piece),
                    _ => rows.push(piece),
                }
            }
        }
    }
    let returned: usize = rows.iter().map(Vec::len).sum();
    assert_eq!(scanner.stats().cells_returned, returned as u64);
    (rows, scanner.stats().cells_examined)
}

fn describe(rows: &[Vec<Cell>]) -> Vec<String> {
    rows.iter().map(|row| format!("{row:?}")).collect()
}

/// Fails with the first row that differs.
fn assert_same(rows: &[Vec<Cell>], expected: &[Vec<Cell>], case: &str) {
    let (rows, expected) = (describe(rows), describe(expected));
    let pairs = rows.iter().zip(&expected);
    let same = pairs.take_while(|(row, expected)| row == expected).count();
    assert_eq!(rows.get(same), expected.get(same), "row {same} of {case}");
}

#[test]
fn random_scans_answer_what_plain_loops_answer() {
    for seed in 0..2000 {
        let dice = Dice::new(seed);
        let names: &[&str] = if dice.hit(3) { &["f", "g"] } else { &["f"] };
        let families: Vec<(ScanInfo, Vec<Cell>)> = names
            .iter()
            .map(|name| {
                let count = 1 + dice.roll(120);
                (
                    random_reads::random_info(&dice, name),
                    random_reads::random_cells(&dice, name, count),
                )
            })
            .collect();
        let mut scan = random_reads::random_scan(&dice, names);
        let batch = dice.hit(4).then(|| 1 + dice.roll(4) as usize);
        if let Some(batch) = batch {
            scan = scan.with_batch(batch as u32);
        }
        let sources = families
            .iter()
            .map(|(info, cells)| {
                let count = 1 + dice.roll(4);
                (info.clone(), random_reads::random_sources(&dice, cells, count))
            })
            .collect();
        let (rows, _) = read(open(sources, &scan).unwrap(), batch);
        let expected = random_reads::answer(&families, &scan);
        let infos: Vec<_> = families.iter().map(|(info, _)| info).collect();
        assert_same(&rows, &expected, &format!("seed {seed}, {scan:?}, {infos:?}"));
    }
}

#[test]
fn random_scans_that_pause_answer_the_same() {
    let mut pauses_of_all = 0;
    for seed in 0..2000 {
        let dice = Dice::new(seed);
        let names: &[&str] = if dice.hit(2) { &["f", "g"] } else { &["f"] };
        let mut scan = random_reads::random_scan(&dice, names);
        let families: Vec<(ScanInfo, Vec<Cell>)> = names
            .iter()
            .map(|name| {
                let count = 1 + dice.roll(120);
                (
                    random_reads::random_info(&dice, name),
                    random_reads::random_cells(&dice, name, count),
                )
            })
            .collect();
        if dice.hit(4) {
            scan = scan.with_batch(1 + dice.roll(4) as u32);
        }
        let sources = families
            .iter()
            .map(|(info, cells)| (info.clone(), random_reads::random_sources(&dice, cells, 2)))
            .collect();
        let work = dice.roll(6);
        let (rows, pauses) = read_with_pauses(open(sources, &scan).unwrap(), work);
        let expected = random_reads::answer(&families, &scan);
        assert_same(&rows, &expected, &format!("seed {seed}, work {work}, {scan:?}"));
        pauses_of_all += pauses;
    }
    assert!(pauses_of_all > 10_000, "{pauses_of_all} pauses");
}

#[test]
fn a_row_of_any_size_is_left_when_the_work_is_done() {
    let none = Filter::qualifier(CompareOperator::Equal, Comparator::substring("nothing"));
    let judge = Comparator::binary("v");
    let judged = SingleColumnTest::new("f", "q00001", CompareOperator::NotEqual, judge);
    let scans = [
        Scan::new(),
        Scan::new().with_filter(none),
        Scan::new().with_filter(Filter::single_column_value(judged)),
    ];
    for scan in scans {
        let mut scanner = open(vec![(random_reads::info("f"), table(1, 50_000))], &scan).unwrap();
        let mut before = 0;
        loop {
            scanner.allow_work(1000);
            let mut ignore = |_: &CellRef<'_>| {};
            let step = scanner.next_piece(&mut ignore, None, || false).unwrap();
            let examined = scanner.stats().cells_examined;
            assert!(examined - before <= 1000, "{} cells at once: {scan:?}", examined - before);
            before = examined;
            if step != RegionStep::Cursor(()) {
                break;
            }
        }
        assert!(before >= 50_000, "{before} cells: {scan:?}");
    }
}

#[test]
fn cells_above_the_read_point_are_not_there_in_either_direction() {
    for seed in 0..500 {
        let dice = Dice::new(seed);
        let cells = random_reads::random_cells(&dice, "f", 60);
        let read_point = dice.roll(60);
        let visible = cells.iter().filter(|cell| cell.sequence_id() <= read_point).cloned();
        let (info, scan) =
            (random_reads::random_info(&dice, "f"), random_reads::random_scan(&dice, &["f"]));
        let expected = random_reads::answer(&[(info.clone(), visible.collect())], &scan);
        let sources = vec![VecScanner::new(cells, read_point)];
        let (rows, _) = read(open(vec![(info, sources)], &scan).unwrap(), None);
        assert_same(&rows, &expected, &format!("seed {seed}, {scan:?}"));
    }
}

#[test]
fn a_failing_source_ends_the_scan_with_its_error() {
    for seed in 0..200 {
        let dice = Dice::new(seed);
        let cells = random_reads::random_cells(&dice, "f", 60);
        let mut sources = random_reads::random_sources(&dice, &cells, 3);
        sources[1].fails_after = Some(dice.roll(20));
        let Ok(mut scanner) =
            open(vec![(random_reads::info("f"), sources)], &Scan::new().with_reversed(dice.hit(2)))
        else {
            continue;
        };
        let mut ignore = |_: &CellRef<'_>| {};
        while !matches!(scanner.next_row(&mut ignore), Err(_) | Ok(RegionStep::End)) {}
        assert_eq!(scanner.next_row(&mut ignore).unwrap(), RegionStep::End);
    }
}

/// A table of `rows` rows with `columns` columns, one version each.
fn table(rows: usize, columns: usize) -> Vec<VecScanner> {
    let cells = (0..rows * columns).map(|i| {
        let (row, qualifier) = (format!("r{:05}", i / columns), format!("q{:05}", i % columns));
        cell((&row, "f", &qualifier), 5, CellType::Put, 1 + i as u64)
    });
    vec![VecScanner::new(cells.collect(), u64::MAX)]
}

fn read_table(rows: usize, columns: usize, scan: &Scan) -> (Vec<Vec<Cell>>, u64) {
    read(open(vec![(random_reads::info("f"), table(rows, columns))], scan).unwrap(), None)
}

#[test]
fn hints_of_filters_are_followed() {
    let range =
        Filter::column_range(Some(b"q00500".to_vec()), true, Some(b"q00503".to_vec()), false);
    let page = Filter::column_pagination_from(2, "q00800").unwrap();
    let prefix = Filter::column_prefix("q0070");
    let prefixes = Filter::multiple_column_prefix(["q00701", "q00900"]).unwrap();
    for is_reversed in [false, true] {
        for (filter, count, qualifier) in [
            (range.clone(), 3, "q00500"),
            (page.clone(), 2, "q00800"),
            (prefix.clone(), 10, "q00700"),
            (prefixes.clone(), 2, "q00701"),
        ] {
            let scan = Scan::new().with_filter(filter).with_reversed(is_reversed);
            let (rows, examined) = read_table(10, 1000, &scan);
            assert_eq!((rows.len(), rows[9].len()), (10, count), "{scan:?}");
            assert_eq!(rows[0][0].qualifier(), qualifier.as_bytes());
            assert!(examined < 10 * 60, "{examined} of 10,000 cells by {scan:?}");
        }
    }

    let pattern = FuzzyKey { key: b"r??500".to_vec(), mask: vec![0, 1, 1, 0, 0, 0] };
    let fuzzy = Filter::fuzzy_row(vec![pattern]).unwrap();
    for is_reversed in [false, true] {
        let scan = Scan::new().with_filter(fuzzy.clone()).with_reversed(is_reversed);
        let (rows, examined) = read_table(10_000, 1, &scan);
        assert_eq!(rows.len(), 10, "reversed: {is_reversed}");
        assert!(examined < 200, "{examined} of 10,000 cells, reversed: {is_reversed}");
    }

    let ranges = [("r00010", "r00012"), ("r05000", "r05001"), ("r09990", "r09993")];
    let ranges = ranges.map(|(start, stop)| RowRange::new(start, true, stop, false));
    let filter = Filter::multi_row_range(ranges.to_vec()).unwrap();
    let (rows, examined) = read_table(10_000, 1, &Scan::new().with_filter(filter));
    assert_eq!(rows.len(), 6);
    assert!(examined < 60, "{examined} of 10,000 cells");
}

#[test]
fn named_columns_and_single_versions_are_sought() {
    let scan = Scan::new().with_column("f", "q00100").with_column("f", "q00900");
    let (rows, examined) = read_table(10, 1000, &scan);
    assert_eq!((rows.len(), rows[3].len()), (10, 2));
    assert!(examined < 10 * 70, "{examined} of 10,000 cells");

    let versions = (1..=5000).map(|i| cell(("r", "f", "q"), i, CellType::Put, i as u64));
    let sources = vec![VecScanner::new(versions.collect(), u64::MAX)];
    let (rows, examined) =
        read(open(vec![(random_reads::info("f"), sources)], &Scan::new()).unwrap(), None);
    assert_eq!((rows.len(), rows[0][0].timestamp()), (1, 5000));
    assert!(examined < 30, "{examined} of 5,000 cells");
}

#[test]
fn raw_scans_with_columns_and_reverse_scans_on_demand_are_refused() {
    let refused = |scan: &Scan| {
        let families =
            vec![(random_reads::info("f"), table(1, 1)), (random_reads::info("g"), Vec::new())];
        open(families, scan).err().map(|error| (error.exception(), error.message().to_owned()))
    };
    let raw = "Cannot specify any column for a raw scan".to_owned();
    let scan = Scan::new().with_raw(true).with_column("f", "q");
    assert_eq!(refused(&scan), Some((Exception::DoNotRetryIo, raw)));
    assert_eq!(refused(&Scan::new().with_raw(true).with_family("f")), None);

    let reverse = "Reverse scan with loading CFs on demand is not supported".to_owned();
    let scan = Scan::new().with_filter(single_column_filter()).with_reversed(true);
    assert_eq!(refused(&scan), Some((Exception::DoNotRetryIo, reverse)));
    assert_eq!(refused(&scan.with_families_on_demand(false)), None);
}

fn single_column_filter() -> Filter {
    let (equal, yes) = (CompareOperator::Equal, Comparator::binary(*b"\0\0\0\0\0\0\0\x01"));
    let test = SingleColumnTest::new("f", "check", equal, yes).with_filter_if_missing(true);
    Filter::single_column_value(test)
}

#[test]
fn families_are_loaded_on_demand_and_rows_come_sorted() {
    // The value of a test cell is its sequence id.
    let family = |name: &str, qualifier: &str, ids: [u64; 3]| {
        let cells = ["a", "b", "c"].into_iter().zip(ids);
        let cells = cells.map(|(row, id)| cell((row, name, qualifier), 5, CellType::Put, id));
        (random_reads::info(name), vec![VecScanner::new(cells.collect(), u64::MAX)])
    };
    let families = || {
        vec![
            family("e", "x", [7, 8, 9]),
            family("f", "check", [2, 1, 3]),
            family("g", "x", [7, 8, 9]),
        ]
    };
    let scan = Scan::new().with_filter(single_column_filter());
    let (rows, lazily) = read(open(families(), &scan).unwrap(), None);
    assert_eq!(rows.len(), 1);
    let names: Vec<_> = rows[0].iter().map(|cell| (cell.row(), cell.family())).collect();
    assert_eq!(names, [(b"b".as_slice(), b"e".as_slice()), (b"b", b"f"), (b"b", b"g")]);
    let eager = scan.with_families_on_demand(false);
    let (all, eagerly) = read(open(families(), &eager).unwrap(), None);
    assert_eq!(describe(&all), describe(&rows));
    assert!(lazily < eagerly, "{lazily} and {eagerly} cells");
}

#[test]
fn joined_families_come_in_batches_without_loss() {
    let family = |name: &str| {
        let cells = (0..12).map(|i| {
            let (row, qualifier) = (format!("r{}", i / 4), format!("q{}", i % 4));
            cell((&row, name, &qualifier), 5, CellType::Put, 1 + i)
        });
        (random_reads::info(name), vec![VecScanner::new(cells.collect(), u64::MAX)])
    };
    // Uses one family only and evaluates cells, not rows: so batches are allowed.
    let filter =
        Filter::column_value("f", "q1", CompareOperator::NotEqual, Comparator::binary(*b"x"));
    for batch in 1..8 {
        let scan = Scan::new().with_filter(filter.clone()).with_batch(batch);
        let scanner = open(vec![family("e"), family("f")], &scan).unwrap();
        let (rows, _) = read(scanner, Some(batch as usize));
        // Only the column passes, in the other family too.
        let cells: Vec<usize> = rows.iter().map(Vec::len).collect();
        assert_eq!(cells, [1, 1, 1], "batch {batch}");
    }
}

#[test]
fn rows_are_cut_at_their_size_unless_a_filter_judges_them() {
    // A cell's size includes the object in which HBase keeps it.
    let size = cell(("r00000", "f", "q00000"), 5, CellType::Put, 1).as_ref().heap_size();
    let scan = Scan::new().with_size_max_bytes(2 * size as u64 + 1).with_partial_results(true);
    let mut scanner = open(vec![(random_reads::info("f"), table(2, 10))], &scan).unwrap();
    let mut pieces = Vec::new();
    loop {
        let mut cells = 0;
        match scanner.next_row(&mut |_: &CellRef<'_>| cells += 1).unwrap() {
            RegionStep::Cursor(()) | RegionStep::End => break,
            RegionStep::Row(RowPart { may_have_more_cells }) => {
                pieces.push((cells, may_have_more_cells));
            }
        }
    }
    let row = [(3, true), (3, true), (3, true), (1, false)];
    assert_eq!(pieces, [row, row].concat());

    let scan = scan.with_filter(Filter::page(1).unwrap());
    let mut scanner = open(vec![(random_reads::info("f"), table(2, 10))], &scan).unwrap();
    let mut buffer = CellBuffer::new();
    let row = RegionStep::Row(RowPart { may_have_more_cells: false });
    assert_eq!((scanner.next_row(&mut buffer).unwrap(), buffer.len()), (row, 10));
    assert_eq!(scanner.next_row(&mut buffer).unwrap(), RegionStep::End);
}

#[test]
fn the_last_piece_of_a_region_has_no_more_cells_behind_it() {
    // The older version exists, but is not in the result.
    let cells: Vec<Cell> = [("r", 2), ("r", 1), ("s", 2), ("s", 1)]
        .map(|(row, timestamp)| cell((row, "f", "q"), timestamp, CellType::Put, 1))
        .into();
    for is_reversed in [false, true] {
        let scan = Scan::new().with_batch(1).with_reversed(is_reversed);
        let sources = vec![VecScanner::new(cells.clone(), u64::MAX)];
        let mut scanner = open(vec![(random_reads::info("f"), sources)], &scan).unwrap();
        let mut buffer = CellBuffer::new();
        let rows = [(); 3].map(|()| scanner.next_row(&mut buffer).unwrap());
        let row = |may_have_more_cells| RegionStep::Row(RowPart { may_have_more_cells });
        assert_eq!((rows, buffer.len()), ([row(true), row(false), RegionStep::End], 2));
    }
}

#[test]
fn a_filter_that_judges_rows_does_not_go_with_a_batch() {
    let scan = Scan::new().with_filter(Filter::page(1).unwrap()).with_batch(2);
    let mut scanner = open(vec![(random_reads::info("f"), table(2, 10))], &scan).unwrap();
    let error = scanner.next_row(&mut CellBuffer::new()).unwrap_err();
    assert_eq!(error.exception(), Exception::IncompatibleFilter);
}

#[test]
fn filters_are_asked_before_versions_are_counted() {
    let versions = (1..=3).map(|i| cell(("r", "f", "q"), i, CellType::Put, i as u64));
    let info = ScanInfo { versions_max: 3, ..random_reads::info("f") };
    let value = Comparator::binary(1u64.to_be_bytes());
    let scan = Scan::new().with_filter(Filter::value(CompareOperator::Equal, value));
    let sources = vec![VecScanner::new(versions.collect(), u64::MAX)];
    let (rows, _) = read(open(vec![(info, sources)], &scan).unwrap(), None);
    assert_eq!((rows.len(), rows[0][0].timestamp()), (1, 1));
}

#[test]
fn a_raw_scan_over_markers_under_the_empty_qualifier_ends() {
    // HBase loops forever here: seeks to the next column do not leave the empty qualifier.
    let column = ("r", "f", "");
    let cells = vec![
        cell(column, 4_000_000_000_001, CellType::DeleteFamily, 1),
        cell(column, 11, CellType::Delete, 2),
        cell(column, 9, CellType::DeleteFamily, 3),
        cell(column, 3, CellType::DeleteFamily, 4),
        cell(column, 3, CellType::DeleteColumn, 5),
        cell(column, 0, CellType::DeleteFamilyVersion, 6),
        cell(("s", "f", "q"), 8, CellType::Put, 7),
    ];
    let scan = Scan::new().with_raw(true).with_time_range(TimeRange::new(7, 15).unwrap());
    let sources = random_reads::random_sources(&Dice::new(1), &cells, 3);
    let (rows, _) = read(open(vec![(random_reads::info("f"), sources)], &scan).unwrap(), None);
    let timestamps: Vec<Vec<i64>> =
        rows.iter().map(|row| row.iter().map(Cell::timestamp).collect()).collect();
    assert_eq!(timestamps, [vec![11, 9], vec![8]]);
}
