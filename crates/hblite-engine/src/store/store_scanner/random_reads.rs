//! Random cells, families and scans for tests, and what the reference model answers to them.

use std::collections::BTreeMap;

use hblite_env::{Random, SeededRandom};
use hblite_model::cell::{Cell, CellRef, CellType, TagIter, TagType, key, push_tag};
use hblite_model::{CellComparator, KeepDeletedCells, Qualifiers, Scan, TimeRange};
use hblite_reference::cell::{Family, StoredCell, sorted};
use hblite_reference::read::Read;
use hblite_reference::reader::FamilyRead;

use crate::store::key_value_scanner::vec_scanner::VecScanner;
use crate::store::matcher::ScanInfo;

/// The time of all tests.
pub(crate) const NOW: i64 = 1000;

/// A stream of small random numbers.
pub(crate) struct Dice(SeededRandom);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SeededRandom::new(seed))
    }

    /// A number below `sides`.
    pub(crate) fn roll(&self, sides: u64) -> u64 {
        self.0.next_u64() % sides
    }

    /// True once in `sides`.
    pub(crate) fn hit(&self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Copy>(&self, choices: &[T]) -> T {
        choices[self.roll(choices.len() as u64) as usize]
    }
}

pub(crate) fn info(family: &str) -> ScanInfo {
    ScanInfo {
        family: family.as_bytes().to_vec(),
        comparator: CellComparator::Default,
        versions_max: 1,
        versions_min: 0,
        time_to_live_ms: i64::MAX,
        keep_deleted_cells: KeepDeletedCells::False,
        new_version_behavior: false,
        time_to_purge_deletes_ms: 0,
        is_block_cache_enabled: true,
        hides_own_columns: false,
    }
}

/// A cell with a sequence id, without value.
pub(crate) fn cell(
    (row, family, qualifier): (&str, &str, &str),
    timestamp: i64,
    cell_type: CellType,
    sequence_id: u64,
) -> Cell {
    let (row, family, qualifier) = (row.as_bytes(), family.as_bytes(), qualifier.as_bytes());
    let key = key::build(row, family, qualifier, timestamp, cell_type.code());
    CellRef::new(&key, &sequence_id.to_be_bytes(), b"", sequence_id).to_cell()
}

/// The same cell with a time to live of its own.
pub(crate) fn with_time_to_live(cell: &Cell, milliseconds: i64) -> Cell {
    let mut tags = Vec::new();
    assert!(push_tag(&mut tags, TagType::TTL, &milliseconds.to_be_bytes()));
    let cell = cell.as_ref();
    CellRef::new(cell.key(), cell.value(), &tags, cell.sequence_id()).to_cell()
}

pub(crate) const ROWS: [&str; 6] = ["a", "aa", "b", "c\0", "d", "e"];
pub(crate) const QUALIFIERS: [&str; 5] = ["", "p", "q", "qq", "r"];

/// Random puts and markers of one family, in the order of their writes.
pub(crate) fn random_cells(dice: &Dice, family: &str, count: u64) -> Vec<Cell> {
    let types = [
        CellType::Delete,
        CellType::DeleteColumn,
        CellType::DeleteFamily,
        CellType::DeleteFamilyVersion,
    ];
    let one = |sequence_id| {
        let row = dice.pick(&ROWS);
        let cell_type = if dice.hit(5) { dice.pick(&types) } else { CellType::Put };
        let is_family = matches!(cell_type, CellType::DeleteFamily | CellType::DeleteFamilyVersion);
        let qualifier = if is_family { "" } else { dice.pick(&QUALIFIERS) };
        let timestamp = NOW - 20 + dice.roll(12) as i64;
        let cell = cell((row, family, qualifier), timestamp, cell_type, sequence_id);
        if cell_type == CellType::Put && dice.hit(8) {
            return with_time_to_live(&cell, dice.roll(20) as i64);
        }
        cell
    };
    (1..=count).map(one).collect()
}

/// The cells, distributed over sources.
pub(crate) fn random_sources(dice: &Dice, cells: &[Cell], count: u64) -> Vec<VecScanner> {
    let mut parts = vec![Vec::new(); count as usize];
    for cell in cells {
        parts[dice.roll(count) as usize].push(cell.clone());
    }
    parts.into_iter().map(|part| VecScanner::new(part, u64::MAX)).collect()
}

pub(crate) fn random_info(dice: &Dice, family: &str) -> ScanInfo {
    let keep = [KeepDeletedCells::False, KeepDeletedCells::True, KeepDeletedCells::Ttl];
    ScanInfo {
        versions_max: dice.pick(&[1, 2, 3, 100]),
        versions_min: if dice.hit(4) { 1 } else { 0 },
        time_to_live_ms: if dice.hit(3) { 15 } else { i64::MAX },
        keep_deleted_cells: if dice.hit(3) { dice.pick(&keep) } else { KeepDeletedCells::False },
        ..info(family)
    }
}

pub(crate) fn random_scan(dice: &Dice, families: &[&str]) -> Scan {
    let mut scan = Scan::new().with_versions(dice.pick(&[1, 1, 2, 3, i32::MAX as u32]));
    scan = scan.with_reversed(dice.hit(2)).with_raw(dice.hit(6));
    let (mut start, mut stop) = (dice.roll(7) as usize, dice.roll(7) as usize);
    if dice.hit(3) {
        (start, stop) = (6, 6);
    }
    let row = |index: usize| ROWS.get(index).copied().unwrap_or("");
    scan = scan
        .with_start_bound(hblite_model::row_bound(row(start), !dice.hit(3)))
        .with_stop_bound(hblite_model::row_bound(row(stop), dice.hit(2)));
    if dice.hit(3) {
        let min = NOW - 20 + dice.roll(12) as i64;
        let range = TimeRange::new(min, min + 1 + dice.roll(8) as i64);
        scan = scan.with_time_range(range.expect("min is below max"));
    }
    if !scan.is_raw() && dice.hit(2) {
        for family in families {
            for qualifier in QUALIFIERS {
                if dice.hit(2) {
                    scan = scan.with_column(family, qualifier);
                }
            }
        }
    }
    if dice.hit(5) {
        scan = scan.with_family_limit(dice.roll(4) as u32).with_family_offset(dice.roll(3) as u32);
    }
    scan
}

/// The rows that the reference model answers, each with its cells.
pub(crate) fn answer(families: &[(ScanInfo, Vec<Cell>)], scan: &Scan) -> Vec<Vec<Cell>> {
    let mut rows: BTreeMap<Vec<u8>, Vec<Cell>> = BTreeMap::new();
    for (info, cells) in families {
        let (family, read) = (family_of(info), read_of(scan, &info.family));
        let Some(reader) = FamilyRead::new(&read, &family, NOW) else { continue };
        let mut stored: BTreeMap<Vec<u8>, Vec<(StoredCell, &Cell)>> = BTreeMap::new();
        for cell in cells.iter().filter(|cell| read.wants_row(cell.row())) {
            stored.entry(cell.row().to_vec()).or_default().push((stored_cell(cell), cell));
        }
        for (row, cells) in stored {
            let all = sorted(cells.iter().map(|(stored, _)| stored.clone()));
            let kept = reader.row(&all, &mut None);
            let original = |kept: StoredCell| {
                let found = cells.iter().find(|(stored, _)| *stored == kept);
                found.map(|(_, cell)| (*cell).clone()).expect("it is one of them")
            };
            rows.entry(row).or_default().extend(kept.into_iter().map(original));
        }
    }
    let mut rows: Vec<_> = rows.into_values().filter(|cells| !cells.is_empty()).collect();
    if scan.direction().is_reverse() {
        rows.reverse();
    }
    rows
}

fn family_of(info: &ScanInfo) -> Family {
    Family {
        name: info.family.clone(),
        versions: info.versions_max as i32,
        min_versions: info.versions_min as i32,
        time_to_live_ms: Some(info.time_to_live_ms).filter(|time| *time != i64::MAX),
        keep_deleted_cells: info.keep_deleted_cells,
        new_version_behavior: info.new_version_behavior,
    }
}

/// What the scan asks of one family.
fn read_of(scan: &Scan, family: &[u8]) -> Read {
    let range = scan.time_range_of(family);
    let columns = match scan.columns().get(family) {
        // Of another family only, so nothing of this one.
        None => vec![(Vec::new(), None)],
        Some(Qualifiers::All) => Vec::new(),
        Some(Qualifiers::Some(qualifiers)) => {
            let named = |qualifier: &Vec<u8>| (family.to_vec(), Some(qualifier.clone()));
            qualifiers.iter().map(named).collect()
        }
    };
    Read {
        start: scan.start_row().to_vec(),
        is_start_inclusive: scan.is_start_inclusive(),
        stop: scan.stop_row().to_vec(),
        is_stop_inclusive: scan.is_stop_inclusive(),
        is_reversed: scan.direction().is_reverse(),
        is_raw: scan.is_raw(),
        columns,
        versions: scan.versions() as i32,
        range: Some((range.min(), range.max())),
        family_limit: scan.family_limit().map_or(-1, |limit| limit as i32),
        family_offset: scan.family_offset() as i32,
        ..Read::all()
    }
}

fn stored_cell(cell: &Cell) -> StoredCell {
    let cell = cell.as_ref();
    let ttl = TagIter::new(cell.tags()).find(|tag| tag.tag_type == TagType::TTL);
    let ttl = ttl.map(|ttl| i64::from_be_bytes(ttl.value.try_into().expect("eight bytes")));
    StoredCell {
        row: cell.row().to_vec(),
        qualifier: cell.qualifier().to_vec(),
        timestamp: cell.timestamp(),
        cell_type: cell.cell_type().expect("tests write known types"),
        sequence_id: cell.sequence_id(),
        value: cell.value().to_vec(),
        time_to_live_ms: ttl,
    }
}
