//! Goal: rows of a file are the same whether a scan takes them block by block or cell by cell, and
//! both are what the reference model answers.

use std::sync::Arc;

use hblite_hfile::BlockUse;
use hblite_model::cell::Cell;
use hblite_model::filter::{BitwiseOperator, Comparator, CompareOperator, ListOperator};
use hblite_model::{CellComparator, CellRef, CellType};

use super::*;
use crate::store::file_list::FileList;
use crate::store::store_scanner::random_reads::{self, Dice, NOW, cell, with_time_to_live};
use crate::store::test_files::list_of;

/// The kinds of markers, and whether they are of a family.
const KINDS: [(bool, CellType); 4] = [
    (true, CellType::DeleteFamily),
    (true, CellType::DeleteFamilyVersion),
    (false, CellType::DeleteColumn),
    (false, CellType::Delete),
];

/// Rows of one to three columns, now and then of 40, and now and then with an expired cell or
/// several versions. One cell in `marker_rarity` is a marker.
fn random_rows(dice: &Dice, marker_rarity: u64) -> Vec<Cell> {
    let mut cells = Vec::new();
    for row in 0..1 + dice.roll(60) {
        let row = format!("r{row:02}");
        let columns = if dice.hit(20) { 40 } else { 1 + dice.roll(3) };
        for column in 0..columns {
            let qualifier = format!("q{column:02}");
            for _ in 0..if dice.hit(6) { 4 } else { 1 } {
                let is_marker = dice.hit(marker_rarity);
                let (is_family, marker) = KINDS[dice.roll(4) as usize];
                let cell_type = if is_marker { marker } else { CellType::Put };
                let qualifier = if is_marker && is_family { "" } else { qualifier.as_str() };
                let timestamp = NOW - 20 + dice.roll(12) as i64;
                let sequence_id = cells.len() as u64 + 1;
                let mut one = cell((&row, "f", qualifier), timestamp, cell_type, sequence_id);
                if !is_marker && dice.hit(60) {
                    one = with_time_to_live(&one, dice.roll(20) as i64);
                }
                cells.push(one);
            }
        }
    }
    cells.sort_by(|left, right| CellComparator::Default.compare(&left.as_ref(), &right.as_ref()));
    cells
}

/// A store file of these cells, or several that are a sorted run.
fn files_of(dice: &Dice, cells: &[Cell]) -> Arc<FileList> {
    let block_size = [100, 1000, 5000][dice.roll(3) as usize];
    let rows: Vec<&[Cell]> = cells.chunk_by(|left, right| left.row() == right.row()).collect();
    let rows_in_file = if dice.hit(2) { rows.len() } else { 1 + dice.roll(30) as usize };
    let files: Vec<Vec<Cell>> = rows.chunks(rows_in_file.max(1)).map(<[_]>::concat).collect();
    list_of(files.iter().map(Vec::as_slice), block_size)
}

fn source_of(files: &Arc<FileList>) -> SourceScanner {
    SourceScanner::of_run(files, files.range(0), u64::MAX, BlockUse::Keep, None)
}

fn random_scan(dice: &Dice) -> Scan {
    let bound = |is_open| if is_open { String::new() } else { format!("r{:02}", dice.roll(60)) };
    let (start, stop) = (bound(dice.hit(2)), bound(dice.hit(2)));
    Scan::new()
        .with_reversed(dice.hit(2))
        .with_versions([1, 2, i32::MAX as u32][dice.roll(3) as usize])
        .with_start_bound(hblite_model::row_bound(start.as_str(), !dice.hit(3)))
        .with_stop_bound(hblite_model::row_bound(stop.as_str(), dice.hit(2)))
}

/// Reads the cells, which are in these files, in both ways. Returns the [`rows_at_once`].
fn compare_ways(dice: &Dice, files: &[Arc<FileList>], cells: Vec<Cell>, case: &str) -> (u64, u64) {
    let (info, scan) = (random_reads::random_info(dice, "f"), random_scan(dice));
    let open = || {
        let sources = files.iter().map(source_of).collect();
        let family = StoreSources { info: Arc::new(info.clone()), sources };
        RegionScanner::new(vec![family], &scan, CellComparator::Default, NOW, 1).unwrap()
    };
    let (mut by_cell, mut expected) = (open(), Vec::new());
    let mut push = |cell: &CellRef<'_>| expected.push(cell.to_cell());
    while let RegionStep::Row(_) = by_cell.next_row(&mut push).unwrap() {}
    let answer = random_reads::answer(&[(info.clone(), cells)], &scan);
    assert_eq!(expected, answer.concat(), "{case}, {scan:?}, {info:?}");

    let (mut by_block, mut visited) = (open(), Vec::new());
    let mut push = |cell: &CellRef<'_>| visited.push(cell.to_cell());
    let mut rows = 0;
    loop {
        // A limit may end a piece anywhere in a block.
        let rows_max = 1 + dice.roll(40);
        let Some(visited) = by_block.visit_rows(rows_max, &mut push).unwrap() else {
            break;
        };
        rows += visited;
        if visited < rows_max {
            break;
        }
        if dice.hit(2) && matches!(by_block.next_row(&mut push).unwrap(), RegionStep::Row(_)) {
            rows += 1;
        }
    }
    assert_eq!(visited, expected, "{case}, {scan:?}, {info:?}");
    assert_eq!(rows, answer.len() as u64, "{case}");
    assert_eq!(by_block.stats(), by_cell.stats(), "{case}, {scan:?}, {info:?}");
    assert_eq!(by_block.row_counts(), by_cell.row_counts(), "{case}");
    rows_at_once(&mut open().stores[0])
}

/// How many rows are given without a look at each cell, and how many are passed.
fn rows_at_once(store: &mut StoreScanner<SourceScanner>) -> (u64, u64) {
    let (mut given, mut hidden) = (0, 0);
    let mut ignore = |_: &CellRef<'_>| {};
    while store.is_at_cell() {
        let visited = store.visit_rows(u64::MAX, |_| false, &mut ignore).unwrap();
        (given, hidden) = (given + visited.rows, hidden + visited.hidden_rows);
        store.next_row(&mut None, &mut RowBudget::UNLIMITED.clone(), &mut ignore).unwrap();
    }
    (given, hidden)
}

#[test]
fn rows_are_the_same_block_by_block_and_cell_by_cell() {
    let (mut rows_by_block, mut hidden_rows) = (0, 0);
    for seed in 0..1_000 {
        let dice = Dice::new(seed);
        let cells = random_rows(&dice, [3, 60][seed as usize % 2]);
        let files = files_of(&dice, &cells);
        let (given, hidden) = compare_ways(&dice, &[files], cells, &format!("seed {seed}"));
        (rows_by_block, hidden_rows) = (rows_by_block + given, hidden_rows + hidden);
    }
    assert!(rows_by_block > 1_000, "{rows_by_block} rows were read by block");
    assert!(hidden_rows > 1_000, "{hidden_rows} rows without visible cells were passed by block");
}

/// A marker of each second row, for the newest file.
fn random_markers(dice: &Dice, cells: &[Cell]) -> Vec<Cell> {
    let mut markers = Vec::new();
    for row in cells.chunk_by(|left, right| left.row() == right.row()) {
        let sequence_id = (cells.len() + markers.len()) as u64 + 1;
        let name = str::from_utf8(row[0].row()).unwrap();
        let Some(&(is_family, kind)) = KINDS.get(dice.roll(8) as usize) else { continue };
        let qualifier = if is_family { "" } else { "q00" };
        let timestamp = match (dice.hit(3), kind) {
            (true, _) => NOW - dice.roll(15) as i64,
            (false, CellType::DeleteFamilyVersion | CellType::Delete) => row[0].timestamp(),
            (false, _) => NOW,
        };
        markers.push(cell((name, "f", qualifier), timestamp, kind, sequence_id));
        if dice.hit(10) {
            let sequence_id = sequence_id + 1_000_000;
            markers.push(cell((name, "f", "q99"), timestamp, CellType::Put, sequence_id));
        }
    }
    markers
}

#[test]
fn rows_of_several_files_are_the_same_block_by_block_and_cell_by_cell() {
    let (mut rows, mut hidden_rows) = (0, 0);
    for seed in 0..4_000 {
        let dice = Dice::new(seed);
        let mut cells = random_rows(&dice, 60);
        let mut parts = vec![random_markers(&dice, &cells)];
        parts.resize(2 + dice.roll(4) as usize, Vec::new());
        let older = parts.len() as u64 - 1;
        for row in cells.chunk_by(|left, right| left.row() == right.row()) {
            let usual = 1 + dice.roll(older);
            for cell in row {
                let part = if dice.hit(50) { dice.roll(older + 1) } else { usual };
                parts[part as usize].push(cell.clone());
            }
        }
        cells.extend_from_slice(&parts[0]);
        cells.sort_by_key(Cell::sequence_id);
        cells.dedup();
        parts.retain(|part| !part.is_empty());
        for part in &mut parts {
            part.sort_by(|one, other| {
                CellComparator::Default.compare(&one.as_ref(), &other.as_ref())
            });
        }
        let files: Vec<_> = parts.iter().map(|part| files_of(&dice, part)).collect();
        let (given, hidden) = compare_ways(&dice, &files, cells, &format!("seed {seed}"));
        (rows, hidden_rows) = (rows + given, hidden_rows + hidden);
    }
    assert!(rows > 1_000 && hidden_rows > 1_000, "{rows} given, {hidden_rows} hidden");
}

/// A filter that rejects whole runs of rows, or every other cell, by value or by column.
fn random_filter(dice: &Dice) -> Filter {
    let compares = |operator: &&CompareOperator| **operator != CompareOperator::NoOp;
    let operators: Vec<_> = CompareOperator::ALL.iter().filter(compares).collect();
    let operator = *operators[dice.roll(operators.len() as u64) as usize];
    if dice.hit(3) {
        let qualifier = format!("q{:02}", dice.roll(4));
        return Filter::qualifier(operator, Comparator::binary(qualifier));
    }
    let value = dice.roll(200).to_be_bytes();
    let bits = Comparator::Bit { value: value.to_vec(), operator: BitwiseOperator::And };
    match dice.hit(3) {
        true => Filter::value(CompareOperator::Equal, bits),
        false => Filter::value(operator, Comparator::binary(value)),
    }
}

#[test]
fn rejected_rows_are_the_same_passed_at_once_and_judged_one_by_one() {
    let (mut rows_passed, mut rows_given) = (0, 0);
    for seed in 0..1_000 {
        let dice = Dice::new(seed);
        let (cells, info) = (random_rows(&dice, 60), random_reads::random_info(&dice, "f"));
        let (filter, case) = (random_filter(&dice), format!("seed {seed}"));
        let scan = random_scan(&dice);
        let files = files_of(&dice, &cells);
        let open = |filter: Filter| {
            let sources = vec![source_of(&files)];
            let family = StoreSources { info: Arc::new(info.clone()), sources };
            let scan = scan.clone().with_filter(filter);
            RegionScanner::new(vec![family], &scan, CellComparator::Default, NOW, 1).unwrap()
        };
        // A list of one answers as its member does, but is judged cell by cell.
        let list = Filter::list(ListOperator::MustPassAll, vec![filter.clone()]);
        let (mut one_by_one, mut expected) = (open(list), Vec::new());
        let mut push = |cell: &CellRef<'_>| expected.push(cell.to_cell());
        while let RegionStep::Row(_) = one_by_one.next_row(&mut push).unwrap() {}

        let (mut at_once, mut visited) = (open(filter.clone()), Vec::new());
        let mut push = |cell: &CellRef<'_>| visited.push(cell.to_cell());
        loop {
            // A limit of work may end a step anywhere.
            at_once.allow_work(if dice.hit(2) { u64::MAX } else { 1 + dice.roll(100) });
            let is_time_over = || dice.hit(4);
            match at_once.next_row_until(&mut push, is_time_over).unwrap() {
                RegionStep::Row(_) => rows_given += 1,
                RegionStep::Cursor(()) => {}
                RegionStep::End => break,
            }
        }
        assert_eq!(visited, expected, "{case}, {filter}, {scan:?}, {info:?}");
        assert_eq!(at_once.stats(), one_by_one.stats(), "{case}, {filter}, {scan:?}, {info:?}");
        assert_eq!(at_once.row_counts(), one_by_one.row_counts(), "{case}, {filter}");
        let none = |_: &CellRef<'_>| true;
        let passed = open(filter).stores[0].pass_rejected_rows(usize::MAX, |_| false, none);
        rows_passed += passed.rows;
    }
    assert!(rows_passed > 1_000 && rows_given > 1_000, "{rows_passed}, {rows_given}");
}
