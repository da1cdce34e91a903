//! Scans read no more than they must, and report their position while they find nothing.
//!
//! The numbers are those of the regions' own counters, which the shell's status shows.

use std::time::Duration;

use hblite::filter::{Comparator, CompareOperator, Filter, FuzzyKey, RowRange};
use hblite::{
    ColumnFamilyDescriptor, Connection, Get, Put, Result, Scan, ScanStep, Table, TableDescriptor,
};

const ROWS: u32 = 2_000;
const COLUMNS: u32 = 20_000;

/// The table `t` with many rows `r00000` … of one column and the row `wide` of many columns, split
/// within the narrow rows.
fn store() -> Result<(Connection, Table)> {
    let connection = hblite::open_in_memory()?;
    let family = ColumnFamilyDescriptor::new("f");
    let descriptor = TableDescriptor::new("t".parse()?).with_family(family);
    connection.admin().create_table_with_splits(&descriptor, &[b"r01000".to_vec()])?;
    let table = connection.table("t")?;
    let narrow = |number| Put::new(format!("r{number:05}")).add("f", "q", format!("{number}"));
    table.put_all(&(0..ROWS).map(narrow).collect::<Vec<_>>())?;
    let wide = (0..COLUMNS)
        .fold(Put::new("wide"), |put, number| put.add("f", format!("q{number:05}"), "value"));
    table.put(&wide)?;
    Ok((connection, table))
}

fn cells_examined(connection: &Connection) -> Result<u64> {
    Ok(connection.admin().status()?.regions.iter().map(|region| region.load.cells_examined).sum())
}

/// The number of cells that `read` examined.
fn examined_by<T>(connection: &Connection, read: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
    let before = cells_examined(connection)?;
    let answer = read()?;
    Ok((answer, cells_examined(connection)? - before))
}

fn cell_count(table: &Table, scan: &Scan) -> Result<usize> {
    let mut count = 0;
    table.scan(scan)?.for_each_cell(|_| count += 1)?;
    Ok(count)
}

/// Runs `check` with the cells in memory, in several files, and in one.
fn in_memory_and_files(check: impl Fn(&Connection, &Table, &str) -> Result<()>) -> Result<()> {
    let (connection, table) = store()?;
    check(&connection, &table, "memory")?;
    connection.admin().flush_table(table.name())?;
    table.put(&Put::new("r00500").add("f", "q", "again"))?;
    table.put(&Put::new("wide").add("f", "q10000", "again"))?;
    connection.admin().flush_table(table.name())?;
    check(&connection, &table, "files")?;
    connection.admin().major_compact_table(table.name())?;
    check(&connection, &table, "file")
}

#[test]
fn filters_on_rows_seek() -> Result<()> {
    let pattern = FuzzyKey { key: b"r??777".to_vec(), mask: vec![0, 1, 1, 0, 0, 0] };
    let ranges = [("r00010", "r00012"), ("r00500", "r00501"), ("r01990", "r01993")];
    let ranges = ranges.map(|(start, stop)| RowRange::new(start, true, stop, false));
    // HBase's hints of a fuzzy row filter skip rows in reverse scans, so that is not counted here.
    let ranges = Filter::multi_row_range(ranges.to_vec())?;
    let cases = [
        (Filter::fuzzy_row(vec![pattern])?, false, 2),
        (ranges.clone(), false, 6),
        (ranges, true, 6),
    ];
    in_memory_and_files(|connection, table, place| {
        for (filter, is_reversed, count) in &cases {
            let scan = Scan::new().with_filter(filter.clone()).with_reversed(*is_reversed);
            let (found, examined) = examined_by(connection, || cell_count(table, &scan))?;
            assert_eq!(found, *count, "{place}, {scan:?}");
            assert!(examined < 100, "{examined} cells examined, {place}, {scan:?}");
        }
        Ok(())
    })
}

#[test]
fn filters_on_columns_seek_in_a_wide_row() -> Result<()> {
    let (first, behind) = (b"q10000".to_vec(), b"q10030".to_vec());
    let filters = [
        Filter::column_pagination_from(30, "q10000")?,
        Filter::column_range(Some(first), true, Some(behind), false),
        Filter::list(
            hblite::filter::ListOperator::MustPassAll,
            vec![Filter::column_prefix("q100"), Filter::column_pagination_from(30, "q10000")?],
        ),
    ];
    in_memory_and_files(|connection, table, place| {
        for filter in &filters {
            let get = Get::new("wide").with_filter(filter.clone());
            let (row, examined) = examined_by(connection, || table.get(&get))?;
            assert_eq!(row.len(), 30, "{place}, {filter:?}");
            assert!(examined < 100, "{examined} cells examined by get, {place}, {filter:?}");
        }
        for filter in &filters[..2] {
            for is_reversed in [false, true] {
                let scan =
                    Scan::new().with_start_row("wide").with_limit(1).with_reversed(is_reversed);
                let scan = scan.with_filter(filter.clone());
                let (found, examined) = examined_by(connection, || cell_count(table, &scan))?;
                assert_eq!(found, 30, "{place}, {scan:?}");
                assert!(examined < 100, "{examined} cells examined, {place}, {scan:?}");
            }
        }
        Ok(())
    })
}

/// HBase sends heartbeats with a cursor while its filter rejects everything.
#[test]
fn a_scan_that_finds_nothing_tells_where_it_is() -> Result<()> {
    let rare = Filter::value(CompareOperator::Equal, Comparator::binary("1500"));
    in_memory_and_files(|_, table, place| {
        for is_reversed in [false, true] {
            let scan = Scan::new().with_filter(rare.clone()).with_reversed(is_reversed);
            let mut scanner = table.scan(&scan)?;
            let (mut cursors, mut rows) = (Vec::new(), Vec::new());
            loop {
                match scanner.next_row_within(Duration::ZERO)? {
                    ScanStep::Row(row) => rows.push(row.row().to_vec()),
                    ScanStep::Cursor(row) => cursors.push(row),
                    ScanStep::End => break,
                }
            }
            assert_eq!(rows, [b"r01500"], "{place}");
            if is_reversed {
                cursors.reverse();
            }
            assert!(cursors.is_sorted(), "{place}, reversed: {is_reversed}");
            // One for each row that was rejected, and one at the boundary of the regions.
            assert!(cursors.len() >= ROWS as usize - 2, "{} cursors, {place}", cursors.len());
        }
        Ok(())
    })
}

/// A scan that starts at a cursor finds the rest of the previous one's rows.
#[test]
fn a_cursor_is_where_to_go_on() -> Result<()> {
    let (_connection, table) = store()?;
    for (is_reversed, wanted) in [(false, 500), (false, 1500), (true, 500), (true, 1500)] {
        let value = Comparator::binary(wanted.to_string());
        let rare = Filter::value(CompareOperator::Equal, value);
        let scan = Scan::new().with_filter(rare.clone()).with_reversed(is_reversed);
        let mut start = Vec::new();
        let mut steps = 0;
        let found = loop {
            let mut scanner = table.scan(&scan.clone().with_start_row(&start))?;
            match scanner.next_row_within(Duration::ZERO)? {
                ScanStep::Row(row) => break row.row().to_vec(),
                ScanStep::Cursor(row) => start = row,
                ScanStep::End => break Vec::new(),
            }
            steps += 1;
            assert!(steps < 3 * ROWS, "the scan does not get on from {start:?}");
        };
        assert_eq!(found, format!("r{wanted:05}").into_bytes(), "reversed: {is_reversed}");
    }
    Ok(())
}

/// As HBase counts them: a get is a request, and so is each row that a scan gives.
#[test]
fn every_row_of_a_scan_is_a_request() -> Result<()> {
    in_memory_and_files(|connection, table, place| {
        let requests = || -> Result<[u64; 2]> {
            let regions = connection.admin().status()?.regions;
            Ok([0, 1].map(|region: usize| regions[region].load.read_requests))
        };
        let counted = |read: &dyn Fn() -> Result<usize>| -> Result<[u64; 2]> {
            let before = requests()?;
            read()?;
            let after = requests()?;
            Ok([after[0] - before[0], after[1] - before[1]])
        };
        let rows = |from: &str, to: &str| Scan::new().with_start_row(from).with_stop_row(to);
        let scan = |scan: Scan| counted(&|| cell_count(table, &scan));
        assert_eq!(
            counted(&|| Ok(table.get(&Get::new("r00007"))?.cells().count()))?,
            [1, 0],
            "{place}"
        );
        assert_eq!(scan(rows("r00100", "r00150"))?, [50, 0], "{place}");
        assert_eq!(scan(rows("r00990", "r01020"))?, [10, 20], "{place}");
        // A scan that finds nothing is one request.
        assert_eq!(scan(rows("s", "t"))?, [0, 1], "{place}");
        // A reverse scan from before a region's first row does not open that region.
        let before = Scan::new().with_reversed(true).with_start_row_exclusive("r01000");
        assert_eq!(scan(before.with_stop_row("r00990"))?, [9, 0], "{place}");
        // Rows that a filter drops do not count as requests.
        let some = Filter::row(CompareOperator::Equal, Comparator::binary("r00120"));
        assert_eq!(scan(rows("r00100", "r00150").with_filter(some))?, [1, 0], "{place}");
        Ok(())
    })
}
