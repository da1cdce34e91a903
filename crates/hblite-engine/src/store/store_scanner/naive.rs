//! What a scan answers, by plain loops over all cells: the reference for tests.

use std::collections::BTreeMap;

use hblite_env::{Random, SeededRandom};
use hblite_model::cell::{Cell, CellRef, CellType, TagIter, TagType, key, push_tag};
use hblite_model::{CellComparator, KeepDeletedCells, Qualifiers, Scan, TimeRange};

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

/// The cells spread over sources.
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
    let mut scan = Scan::new().with_versions(dice.pick(&[1, 1, 2, 3, i32::MAX]));
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

/// The rows of the answer, each with its cells.
pub(crate) fn answer(families: &[(ScanInfo, Vec<Cell>)], scan: &Scan) -> Vec<Vec<Cell>> {
    let mut rows: BTreeMap<Vec<u8>, Vec<Cell>> = BTreeMap::new();
    for (info, cells) in families {
        let Some(wanted) = scan.columns().get(&info.family) else {
            continue;
        };
        let mut by_row: BTreeMap<Vec<u8>, Vec<Cell>> = BTreeMap::new();
        for cell in cells {
            by_row.entry(cell.row().to_vec()).or_default().push(cell.clone());
        }
        for (row, cells) in by_row {
            let kept = answer_of_row(info, cells, wanted, scan);
            rows.entry(row).or_default().extend(kept);
        }
    }
    let is_reversed = scan.direction().is_reverse();
    let mut rows: Vec<_> = rows
        .into_iter()
        .filter(|(row, cells)| is_in_range(row, scan) && !cells.is_empty())
        .map(|(_, cells)| cells)
        .collect();
    if is_reversed {
        rows.reverse();
    }
    rows
}

fn is_in_range(row: &[u8], scan: &Scan) -> bool {
    let compare = |left: &[u8], right: &[u8]| scan.direction().apply(left.cmp(right));
    let after_start = scan.start_row().is_empty()
        || compare(row, scan.start_row()).is_gt()
        || (scan.is_start_inclusive() && row == scan.start_row());
    let before_stop = scan.stop_row().is_empty()
        || compare(row, scan.stop_row()).is_lt()
        || (scan.is_stop_inclusive() && row == scan.stop_row());
    after_start && before_stop
}

fn answer_of_row(
    info: &ScanInfo,
    mut cells: Vec<Cell>,
    wanted: &Qualifiers,
    scan: &Scan,
) -> Vec<Cell> {
    cells.sort_by(|left, right| info.comparator.compare(&left.as_ref(), &right.as_ref()));
    cells.retain(|cell| !is_expired_itself(cell));
    // Of equal keys the one written last counts.
    cells.dedup_by(|later, first| later.as_ref().key() == first.as_ref().key());
    let range = scan.time_range_of(&info.family);
    let markers: Vec<Cell> = cells
        .iter()
        .filter(|cell| cell.as_ref().is_delete() && is_marker_in_force(info, range, cell))
        .cloned()
        .collect();
    let mut kept = Vec::new();
    for column in cells.chunk_by(|left, right| left.qualifier() == right.qualifier()) {
        let is_wanted = match wanted {
            Qualifiers::All => true,
            Qualifiers::Some(qualifiers) => qualifiers.contains(column[0].qualifier()),
        };
        if is_wanted {
            let versions =
                column.iter().filter(|cell| range.contains(cell.timestamp())).filter(|cell| {
                    scan.is_raw()
                        || !(cell.as_ref().is_delete()
                            || markers.iter().any(|marker| masks(marker, cell)))
                });
            let is_explicit = matches!(wanted, Qualifiers::Some(_));
            kept.extend(count_versions(info, versions, scan, is_explicit));
        }
    }
    let limit = scan.family_limit();
    let skip = scan.family_offset() as usize;
    let take = limit.map_or(usize::MAX, |limit| limit.max(1) as usize);
    kept.into_iter().skip(skip).take(take).collect()
}

fn count_versions<'a>(
    info: &ScanInfo,
    versions: impl Iterator<Item = &'a Cell>,
    scan: &Scan,
    is_explicit: bool,
) -> Vec<Cell> {
    let oldest = if scan.is_raw() { 0 } else { info.oldest_unexpired(NOW) };
    let min = info.versions_min as i32;
    let max =
        if scan.is_raw() { scan.versions() } else { scan.versions().min(info.versions_max as i32) };
    let (mut kept, mut count) = (Vec::new(), 0);
    for cell in versions {
        let is_expired = cell.timestamp() < oldest;
        if is_expired && min == 0 {
            break;
        }
        count += i32::from(!cell.as_ref().is_delete());
        if is_explicit {
            // The first expired version at or behind MIN_VERSIONS is still taken.
            kept.push(cell.clone());
            if count >= max || (count >= min && is_expired) {
                break;
            }
        } else if count <= max && (count <= min || !is_expired) {
            kept.push(cell.clone());
        } else {
            break;
        }
    }
    kept
}

fn is_marker_in_force(info: &ScanInfo, range: TimeRange, marker: &Cell) -> bool {
    let timestamp = marker.timestamp();
    if info.versions_min == 0 && timestamp < info.oldest_unexpired(NOW) {
        return false;
    }
    match info.keep_deleted_cells {
        KeepDeletedCells::False => range.is_all() || timestamp >= range.min(),
        _ => range.contains(timestamp),
    }
}

fn is_expired_itself(cell: &Cell) -> bool {
    let cell = cell.as_ref();
    let ttl = TagIter::new(cell.tags()).find(|tag| tag.tag_type == TagType::TTL);
    ttl.is_some_and(|ttl| {
        let ttl = i64::from_be_bytes(ttl.value.try_into().expect("a TTL has eight bytes"));
        cell.timestamp() + ttl < NOW
    })
}

fn masks(marker: &Cell, put: &Cell) -> bool {
    let is_same_column = marker.qualifier() == put.qualifier();
    match marker.cell_type() {
        Some(CellType::DeleteFamily) => put.timestamp() <= marker.timestamp(),
        Some(CellType::DeleteFamilyVersion) => put.timestamp() == marker.timestamp(),
        Some(CellType::DeleteColumn) => is_same_column && put.timestamp() <= marker.timestamp(),
        Some(CellType::Delete) => is_same_column && put.timestamp() == marker.timestamp(),
        _ => false,
    }
}
