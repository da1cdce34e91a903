//! Goal: scans return the same after flushes and compactions as before, and the files obey the
//! rules of each kind.

use hblite_model::cell::Cell;
use hblite_model::{CellType, KeepDeletedCells};

use super::random_reads::{self, Dice, NOW, answer, cell, with_time_to_live};
use super::*;
use crate::store::key_value_scanner::vec_scanner::VecScanner;

fn compact(sources: Vec<VecScanner>, info: &ScanInfo, scan_type: ScanType) -> Vec<Cell> {
    let mut scanner = CompactionScanner::new(sources, info, scan_type, u64::MAX, NOW).unwrap();
    let mut written: Vec<Cell> = Vec::new();
    while let Some(cell) = scanner.next().unwrap() {
        if let Some(last) = written.last() {
            assert!(info.comparator.compare(&last.as_ref(), &cell).is_lt(), "files are sorted");
        }
        written.push(cell.to_cell());
    }
    written
}

fn describe(cells: &[Cell]) -> Vec<String> {
    let describe = |cell: &Cell| {
        let cell_type = cell.cell_type().map_or_else(String::new, |kind| kind.to_string());
        format!("{}@{}", cell_type, cell.timestamp())
    };
    cells.iter().map(describe).collect()
}

#[test]
fn compactions_do_not_change_what_scans_answer() {
    let scan_types = [ScanType::CompactRetainDeletes, ScanType::CompactDropDeletes];
    for seed in 0..1000 {
        let dice = Dice::new(seed);
        // Scans of named columns show one expired version too many until it is compacted away,
        // and kept deleted cells count as versions when a file is written.
        let keep_deleted_cells = KeepDeletedCells::False;
        let info = ScanInfo {
            versions_min: 0,
            keep_deleted_cells,
            ..random_reads::random_info(&dice, "f")
        };
        let count = 1 + dice.roll(100);
        let cells = random_reads::random_cells(&dice, "f", count);
        // A time range or a raw scan may see what compactions remove.
        let scan = random_reads::random_scan(&dice, &["f"])
            .with_raw(false)
            .with_time_range(Default::default());
        let before = answer(&[(info.clone(), cells.clone())], &scan);
        for scan_type in scan_types {
            let sources = random_reads::random_sources(&dice, &cells, 1 + dice.roll(4));
            let written = compact(sources, &info, scan_type);
            assert!(written.len() <= cells.len());
            let has_markers = written.iter().any(|cell| cell.as_ref().is_delete());
            assert!(!has_markers || scan_type == ScanType::CompactRetainDeletes, "seed {seed}");
            let after = answer(&[(info.clone(), written)], &scan);
            assert_eq!(
                format!("{after:?}"),
                format!("{before:?}"),
                "seed {seed}, {scan_type:?}, {info:?}, {scan:?}"
            );
        }
    }
}

/// Five cells of one column, and one marker of the family.
fn column() -> Vec<Cell> {
    let name = ("r", "f", "q");
    vec![
        cell(name, 990, CellType::Put, 5),
        cell(name, 980, CellType::Put, 4),
        cell(name, 970, CellType::DeleteColumn, 6),
        cell(name, 970, CellType::Put, 3),
        cell(name, 960, CellType::Put, 2),
        cell(("r", "f", ""), 965, CellType::DeleteFamily, 7),
    ]
}

fn written(info: &ScanInfo, scan_type: ScanType) -> Vec<String> {
    describe(&compact(vec![VecScanner::new(column(), u64::MAX)], info, scan_type))
}

#[test]
fn a_flush_keeps_markers_and_drops_what_they_mask_and_old_versions() {
    let info = ScanInfo { versions_max: 1, ..random_reads::info("f") };
    let flushed = written(&info, ScanType::CompactRetainDeletes);
    // The column, with its markers, ends after the last version that counts.
    assert_eq!(flushed, ["DeleteFamily@965", "Put@990"]);
    let info = ScanInfo { versions_max: 5, ..info };
    let flushed = written(&info, ScanType::CompactRetainDeletes);
    assert_eq!(flushed, ["DeleteFamily@965", "Put@990", "Put@980", "DeleteColumn@970"]);
    assert_eq!(written(&info, ScanType::CompactDropDeletes), ["Put@990", "Put@980"]);
}

#[test]
fn keep_deleted_cells_keeps_markers_and_what_they_mask() {
    let keep = KeepDeletedCells::True;
    let info = ScanInfo { versions_max: 5, keep_deleted_cells: keep, ..random_reads::info("f") };
    let all = ["DeleteFamily@965", "Put@990", "Put@980", "DeleteColumn@970", "Put@970", "Put@960"];
    assert_eq!(written(&info, ScanType::CompactDropDeletes), all);
    let info = ScanInfo { versions_max: 3, ..info };
    assert_eq!(written(&info, ScanType::CompactDropDeletes), all[..5]);

    // Markers below the oldest put have nothing left to mask.
    let sources = vec![VecScanner::new(column(), u64::MAX)];
    let scanner =
        CompactionScanner::new(sources, &info, ScanType::CompactDropDeletes, u64::MAX, NOW);
    let mut scanner = scanner.unwrap().with_earliest_put_timestamp(980);
    let mut written = Vec::new();
    while let Some(cell) = scanner.next().unwrap() {
        written.push(cell.to_cell());
    }
    assert_eq!(describe(&written), ["Put@990", "Put@980"]);
}

#[test]
fn expired_cells_are_not_written_unless_min_versions_keeps_them() {
    let info = ScanInfo { versions_max: 5, time_to_live_ms: 15, ..random_reads::info("f") };
    for scan_type in [ScanType::CompactRetainDeletes, ScanType::CompactDropDeletes] {
        assert_eq!(written(&info, scan_type), ["Put@990"]);
        let info = ScanInfo { versions_min: 2, ..info.clone() };
        let kept = written(&info, scan_type);
        let puts: Vec<_> = kept.iter().filter(|cell| cell.starts_with("Put")).collect();
        assert_eq!(puts, ["Put@990", "Put@980"]);
    }
    let short = with_time_to_live(&cell(("r", "f", "q"), 990, CellType::Put, 1), 9);
    let info = ScanInfo { versions_min: 1, ..info };
    let sources = vec![VecScanner::new(vec![short], u64::MAX)];
    assert_eq!(compact(sources, &info, ScanType::CompactRetainDeletes), []);
}

#[test]
fn cells_that_some_scanner_may_not_see_mask_nothing_and_count_as_no_version() {
    let name = ("r", "f", "q");
    let cells = vec![
        cell(name, 990, CellType::Put, 9),
        cell(name, 985, CellType::DeleteColumn, 8),
        cell(name, 980, CellType::Put, 5),
        cell(name, 970, CellType::Put, 4),
    ];
    let sources = vec![VecScanner::new(cells, u64::MAX)];
    let info = random_reads::info("f");
    let scanner = CompactionScanner::new(sources, &info, ScanType::CompactDropDeletes, 7, NOW);
    let mut scanner = scanner.unwrap().clearing_sequence_ids(7);
    let mut written = Vec::new();
    while let Some(cell) = scanner.next().unwrap() {
        written.push((cell.timestamp(), cell.sequence_id()));
    }
    assert_eq!(written, [(990, 9), (985, 8), (980, 0)]);
}

#[test]
fn with_new_version_behavior_only_major_compactions_judge() {
    let info = ScanInfo { new_version_behavior: true, versions_max: 5, ..random_reads::info("f") };
    assert_eq!(written(&info, ScanType::CompactRetainDeletes).len(), 6);
    // All puts were written before the markers.
    assert_eq!(written(&info, ScanType::CompactDropDeletes), ["Put@990", "Put@980"]);
    let revived = cell(("r", "f", "q"), 950, CellType::Put, 8);
    let sources = vec![VecScanner::new([column(), vec![revived]].concat(), u64::MAX)];
    let written = compact(sources, &info, ScanType::CompactDropDeletes);
    assert_eq!(describe(&written), ["Put@990", "Put@980", "Put@950"]);
}
