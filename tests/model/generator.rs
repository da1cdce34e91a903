//! Makes sequences of operations from bytes.
//!
//! There are few rows (six), families (two), qualifiers (four) and timestamps, so that operations
//! interact.

use hblite::filter::CompareOperator;
use hblite::{BloomType, CellType, DataBlockEncoding, KeepDeletedCells};
use hblite_reference::cell::Family;
use hblite_reference::filter::{FilterSpec, SingleColumn};
use hblite_reference::read::Read;

use super::choices::Choices;
use super::operation::{
    BatchItem, Change, Check, CheckedWrites, DeletePart, Delta, Operation, PutCell, ReadModify,
    Write,
};

const ROWS: [&[u8]; 6] = [b"a", b"aa", b"b", b"c\0", b"d", b"e\xff"];
const SPLIT_KEYS: [&[u8]; 5] = [b"b", b"c", b"aa", b"e", b"a"];
const FAMILIES: [&[u8]; 2] = [b"f", b"g"];
const QUALIFIERS: [&[u8]; 4] = [b"p", b"q", b"qq", b""];
const VALUES: [&[u8]; 5] = [b"1", b"2", b"", b"\0\0\0\0\0\0\0\x01", b"22"];
/// Timestamps that a writer names lie on this grid, so that they meet.
const GRID_MS: i64 = 500;

/// How the store of a sequence is opened and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum World {
    /// It is only ever closed.
    Closes { is_flushed: bool },
    /// The process is killed.
    IsKilled,
    /// The power is cut; all writes use FSYNC_WAL.
    LosesPower,
}

pub(crate) fn world(choices: &mut Choices<'_>, crashes: bool) -> World {
    match (crashes, choices.below(2)) {
        (false, number) => World::Closes { is_flushed: number == 0 },
        (true, 0) => World::IsKilled,
        (true, _) => World::LosesPower,
    }
}

/// How a family's files are written: nothing that an answer could depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSettings {
    pub(crate) bloom: BloomType,
    pub(crate) encoding: DataBlockEncoding,
    pub(crate) block_size_bytes: u32,
}

pub(crate) fn families(choices: &mut Choices<'_>) -> Vec<(Family, FileSettings)> {
    FAMILIES.iter().map(|name| family(choices, name)).collect()
}

fn family(choices: &mut Choices<'_>, name: &[u8]) -> (Family, FileSettings) {
    let versions = choices.pick(&[1, 2, 3, 1, 5]);
    let mut family = Family {
        name: name.to_vec(),
        versions,
        min_versions: 0,
        time_to_live_ms: None,
        keep_deleted_cells: KeepDeletedCells::False,
        new_version_behavior: false,
    };
    let mut files = FileSettings {
        // Filters take most of the time of a test build, so few families have one.
        bloom: BloomType::None,
        encoding: DataBlockEncoding::None,
        block_size_bytes: 64 * 1024,
    };
    if choices.once_in(3) {
        family.time_to_live_ms = Some(choices.pick(&[2000, 1000, 5000]));
        family.min_versions = choices.pick(&[0, 1, 2]).min(versions);
    }
    match choices.below(8) {
        0..4 => {}
        4 => family.keep_deleted_cells = KeepDeletedCells::True,
        5 if family.time_to_live_ms.is_some() => {
            family.keep_deleted_cells = KeepDeletedCells::Ttl;
        }
        6 | 7 => family.new_version_behavior = true,
        _ => {}
    }
    match choices.below(10) {
        8 => files.bloom = BloomType::Row,
        9 => files.bloom = BloomType::RowCol,
        _ => {}
    }
    files.encoding = choices.pick(&[
        DataBlockEncoding::None,
        DataBlockEncoding::FastDiff,
        DataBlockEncoding::Diff,
        DataBlockEncoding::Prefix,
        DataBlockEncoding::RowIndexV1,
    ]);
    files.block_size_bytes = choices.pick(&[64 * 1024, 1024]);
    (family, files)
}

/// The possible subjects of an operation.
pub(crate) struct Setting<'s> {
    pub(crate) world: World,
    pub(crate) families: &'s [Family],
    pub(crate) region_count: usize,
    pub(crate) now: i64,
}

/// No write chooses the clock's time, and the clock never reaches a chosen one: whether a timestamp
/// was chosen matters where it does.
const FUTURE_MS: i64 = 100_000_000;
/// How far an operation's timestamps may run ahead of the clock, which stands still meanwhile.
pub(crate) const AHEAD_MS: i64 = 32;

/// How far the clock moves before an operation.
pub(crate) fn pause_ms(choices: &mut Choices<'_>) -> i64 {
    AHEAD_MS + choices.pick(&[1, 0, 1, 3, 40, 1, 0, 700])
}

impl Setting<'_> {
    pub(crate) fn operation(&self, choices: &mut Choices<'_>) -> Operation {
        match choices.below(64) {
            0..14 => Operation::Write(self.write(choices)),
            14..26 => Operation::Get(self.get(choices)),
            26..42 => Operation::Scan(self.scan(choices)),
            42..44 => Operation::WriteAll(self.plain_writes(choices)),
            44..47 => {
                let row = choices.pick(&ROWS).to_vec();
                Operation::RowWrites { writes: self.writes_of(&row, choices), row }
            }
            47..51 => Operation::CheckedWrites(self.checked_writes(choices)),
            51..53 => self.batch(choices),
            53..57 => Operation::Flush,
            57 | 58 => Operation::Compact { is_major: false },
            59 => Operation::Compact { is_major: true },
            60 => Operation::Split { row: choices.pick(&SPLIT_KEYS).to_vec() },
            61 if self.region_count > 1 => {
                Operation::Merge { first: choices.below(self.region_count - 1) }
            }
            62 if choices.once_in(2) => {
                let family = choices.pick(self.families);
                let versions = choices.pick(&[3, 1, 2]).max(family.min_versions);
                Operation::Alter { family: family.name, versions }
            }
            _ => self.end(choices),
        }
    }

    fn end(&self, choices: &mut Choices<'_>) -> Operation {
        if matches!(self.world, World::Closes { .. }) {
            return Operation::Reopen;
        }
        let seed = choices.below(256) as u64;
        let steps = (choices.below(40) + 1) as u64;
        let operation = match choices.below(6) {
            0 => return Operation::Crash { seed },
            1 => Operation::Write(self.write(choices)),
            2 => Operation::Flush,
            3 => Operation::Compact { is_major: true },
            4 => Operation::Split { row: choices.pick(&SPLIT_KEYS).to_vec() },
            5 if self.region_count > 1 => Operation::Merge { first: 0 },
            _ => return Operation::Reopen,
        };
        Operation::CrashDuring { operation: Box::new(operation), steps, seed }
    }

    /// A timestamp of a write; `None` is the clock's. With a time to live, those long ago would
    /// all be expired.
    fn timestamp(&self, choices: &mut Choices<'_>) -> Option<i64> {
        match choices.below(4) {
            0 | 1 => None,
            2 => Some(1 + choices.below(5) as i64),
            _ => Some(self.grid(choices)),
        }
    }

    fn grid(&self, choices: &mut Choices<'_>) -> i64 {
        let grid = (self.now / GRID_MS + choices.below(6) as i64 - 4) * GRID_MS;
        if grid < self.now { grid } else { grid + FUTURE_MS }
    }

    /// A timestamp to look for.
    fn point(&self, choices: &mut Choices<'_>) -> i64 {
        match choices.below(3) {
            0 => 1 + choices.below(5) as i64,
            1 => self.grid(choices),
            _ => self.now - choices.below(50) as i64,
        }
    }

    fn range(&self, choices: &mut Choices<'_>) -> (i64, i64) {
        let (one, other) = (self.point(choices), self.point(choices));
        (one.min(other), one.max(other) + choices.below(2) as i64)
    }

    fn family(&self, choices: &mut Choices<'_>) -> Vec<u8> {
        match choices.below(64) {
            63 => b"x".to_vec(),
            number => FAMILIES[number % 2].to_vec(),
        }
    }

    /// With NEW_VERSION_BEHAVIOR HBase fails over markers under the empty qualifier: hblite does
    /// what was meant there, and no recording says what that is.
    fn qualifier(&self, family: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
        let is_meant = |f: &Family| f.name == family && f.new_version_behavior;
        let has_new_versions = self.families.iter().any(is_meant);
        let count = if has_new_versions { 3 } else { QUALIFIERS.len() };
        QUALIFIERS[choices.below(count)].to_vec()
    }

    fn write(&self, choices: &mut Choices<'_>) -> Write {
        let row = choices.pick(&ROWS).to_vec();
        let mut writes = vec![self.write_of(&row, choices)];
        self.avoid_lost_markers(&mut writes);
        writes.remove(0)
    }

    fn write_of(&self, row: &[u8], choices: &mut Choices<'_>) -> Write {
        let change = match choices.below(16) {
            0..8 => self.put(choices),
            8..12 => self.delete(choices),
            12 | 13 => Change::Increment(self.read_modify(choices, |choices| {
                (choices.below(4) as i64 - 1).to_be_bytes().to_vec()
            })),
            _ => {
                Change::Append(self.read_modify(choices, |choices| choices.pick(&VALUES).to_vec()))
            }
        };
        Write { row: row.to_vec(), change }
    }

    fn put(&self, choices: &mut Choices<'_>) -> Change {
        let count = match choices.below(40) {
            39 => 0,
            number => 1 + number % 3,
        };
        let is_short = matches!(self.world, World::Closes { .. }) && choices.once_in(8);
        let time_to_live_ms = is_short.then(|| choices.pick(&[100, 1, 1500]));
        let cells = (0..count).map(|_| self.put_cell(choices)).collect();
        Change::Put { cells, time_to_live_ms }
    }

    fn put_cell(&self, choices: &mut Choices<'_>) -> PutCell {
        let family = self.family(choices);
        let qualifier = self.qualifier(&family, choices);
        let timestamp = self.timestamp(choices);
        PutCell { family, qualifier, timestamp, value: choices.pick(&VALUES).to_vec() }
    }

    fn delete(&self, choices: &mut Choices<'_>) -> Change {
        let timestamp = self.timestamp(choices);
        let count = choices.below(4).min(2);
        let part = |choices: &mut Choices<'_>| {
            let family = self.family(choices);
            let qualifier = self.qualifier(&family, choices);
            let cell_type = choices.pick(&[
                CellType::DeleteColumn,
                CellType::Delete,
                CellType::DeleteFamily,
                CellType::DeleteFamilyVersion,
            ]);
            let timestamp = match (cell_type, self.timestamp(choices)) {
                (CellType::DeleteFamilyVersion, None) => {
                    Some(self.now - 1 - choices.below(50) as i64)
                }
                (_, timestamp) => timestamp,
            };
            DeletePart { cell_type, family, qualifier, timestamp }
        };
        let parts = (0..count).map(|_| part(choices)).collect();
        Change::Delete { parts, timestamp }
    }

    fn read_modify(
        &self,
        choices: &mut Choices<'_>,
        value: impl Fn(&mut Choices<'_>) -> Vec<u8>,
    ) -> ReadModify {
        let count = 1 + choices.below(2);
        let delta = |choices: &mut Choices<'_>| {
            let family = self.family(choices);
            let qualifier = self.qualifier(&family, choices);
            Delta { family, qualifier, value: value(choices) }
        };
        let deltas = (0..count).map(|_| delta(choices)).collect();
        let range = choices.once_in(8).then(|| self.range(choices));
        let may_be_short = matches!(self.world, World::Closes { .. });
        let time_to_live_ms = (may_be_short && choices.once_in(12)).then_some(300);
        ReadModify { deltas, range, time_to_live_ms, returns_results: !choices.once_in(6) }
    }

    /// Writes to one row in one call.
    fn writes_of(&self, row: &[u8], choices: &mut Choices<'_>) -> Vec<Write> {
        let count = 1 + choices.below(3);
        let mut writes: Vec<Write> = (0..count).map(|_| self.write_of(row, choices)).collect();
        self.avoid_lost_markers(&mut writes);
        if choices.once_in(40) {
            writes[0].row = b"other".to_vec();
        }
        writes
    }

    /// With NEW_VERSION_BEHAVIOR, HBase keeps markers by their sequence ids. If one write has
    /// several, or if markers of single versions of the family meet others, the result depends on
    /// the order in the row. No program can rely on that. So a write has, per family, at most one
    /// marker up to a time, markers of single versions only if it has no puts, and no markers of
    /// single versions of the family.
    fn avoid_lost_markers(&self, writes: &mut Vec<Write>) {
        for family in self.families.iter().filter(|family| family.new_version_behavior) {
            let name = &family.name;
            let has_puts = writes.iter().any(|write| puts_into(write, name));
            let mut has_marker = false;
            writes.retain_mut(|write| {
                let Change::Delete { parts, .. } = &mut write.change else { return true };
                if parts.is_empty() {
                    return !std::mem::replace(&mut has_marker, true);
                }
                parts.retain_mut(|part| {
                    part.cell_type = match part.cell_type {
                        _ if part.family != *name => return true,
                        CellType::DeleteFamilyVersion => CellType::DeleteFamily,
                        CellType::Delete if has_puts => CellType::DeleteColumn,
                        other => other,
                    };
                    part.cell_type == CellType::Delete || !std::mem::replace(&mut has_marker, true)
                });
                // Without parts it would be the whole row.
                !parts.is_empty()
            });
        }
    }

    /// Puts and deletes in one call. Which error is reported first is not specified, so at most one
    /// can fail.
    fn plain_writes(&self, choices: &mut Choices<'_>) -> Vec<Write> {
        let count = 1 + choices.below(3);
        let write = |choices: &mut Choices<'_>| {
            let row = choices.pick(&ROWS).to_vec();
            let is_put = choices.below(3) < 2;
            let change = if is_put { self.put(choices) } else { self.delete(choices) };
            Write { row, change }
        };
        let mut writes: Vec<Write> = (0..count).map(|_| write(choices)).collect();
        self.avoid_lost_markers(&mut writes);
        writes
    }

    fn checked_writes(&self, choices: &mut Choices<'_>) -> CheckedWrites {
        let row = choices.pick(&ROWS).to_vec();
        let check = if choices.once_in(4) {
            Check::Filter(self.filter(choices))
        } else {
            let family = self.family(choices);
            let qualifier = self.qualifier(&family, choices);
            Check::Column {
                qualifier,
                family,
                operator: operator(choices),
                value: choices.pick(&VALUES).to_vec(),
            }
        };
        let range = choices.once_in(6).then(|| self.range(choices));
        let writes = self.writes_of(&row, choices);
        CheckedWrites { row, check, range, writes }
    }

    fn batch(&self, choices: &mut Choices<'_>) -> Operation {
        let count = 1 + choices.below(3);
        let item = |choices: &mut Choices<'_>| match choices.below(3) {
            0 => BatchItem::Write(self.write(choices)),
            1 => BatchItem::Get(Read::of_row(choices.pick(&ROWS))),
            _ => {
                let row = choices.pick(&ROWS).to_vec();
                BatchItem::RowWrites { writes: self.writes_of(&row, choices), row }
            }
        };
        Operation::Batch((0..count).map(|_| item(choices)).collect())
    }

    fn get(&self, choices: &mut Choices<'_>) -> Read {
        let row = match choices.below(60) {
            59 => Vec::new(),
            number => ROWS[number % ROWS.len()].to_vec(),
        };
        let mut read = Read::of_row(&row);
        self.choose_cells(&mut read, choices);
        read
    }

    fn scan(&self, choices: &mut Choices<'_>) -> Read {
        let mut read = Read::all();
        read.is_reversed = choices.once_in(2);
        read.is_raw = choices.once_in(4);
        if choices.once_in(3) {
            read.start = choices.pick(&ROWS).to_vec();
            read.is_start_inclusive = !choices.once_in(3);
        }
        if choices.once_in(3) {
            read.stop = choices.pick(&ROWS).to_vec();
            read.is_stop_inclusive = choices.once_in(2);
        }
        self.choose_cells(&mut read, choices);
        match choices.below(8) {
            5 | 6 => read.limit = 1 + choices.below(3) as i32,
            7 => read.batch = 1 + choices.below(3) as i32,
            _ => {}
        }
        read.is_on_demand = !choices.once_in(4);
        read
    }

    fn choose_cells(&self, read: &mut Read, choices: &mut Choices<'_>) {
        read.versions = choices.pick(&[1, i32::MAX, 2, 1, 3, i32::MAX, i32::MAX, 0]);
        if choices.once_in(3) {
            for _ in 0..=choices.below(3) {
                let family = self.family(choices);
                let qualifier = self.qualifier(&family, choices);
                read.columns.push((family, (!choices.once_in(3)).then_some(qualifier)));
            }
        }
        if choices.once_in(4) {
            read.range = Some(self.range(choices));
        }
        if choices.once_in(12) {
            read.family_range = Some((choices.pick(&FAMILIES).to_vec(), self.range(choices)));
        }
        if choices.once_in(4) {
            read.filter = Some(self.filter(choices));
        }
        if choices.once_in(8) {
            read.family_limit = choices.below(4) as i32;
            read.family_offset = choices.below(3) as i32;
        }
    }

    fn filter(&self, choices: &mut Choices<'_>) -> FilterSpec {
        match choices.below(10) {
            0 | 1 => self.cell_filter(choices, 4),
            2 | 3 => self.single_column(choices),
            4 => FilterSpec::Page(choices.below(3) as i64),
            5 => FilterSpec::FirstKeyOnly,
            6 => FilterSpec::KeyOnly { length_as_value: choices.once_in(2) },
            // What hints lead to in a list of which one must pass depends on the direction, and on
            // which of the others are over.
            7 => FilterSpec::Any(self.cell_filters(choices, 3)),
            _ => {
                let mut filters = self.cell_filters(choices, 4);
                match choices.below(5) {
                    1 => filters.push(FilterSpec::Page(choices.below(3) as i64)),
                    2 => filters.push(FilterSpec::KeyOnly { length_as_value: true }),
                    3 => filters.push(self.single_column(choices)),
                    4 => filters.push(FilterSpec::FirstKeyOnly),
                    _ => {}
                }
                FilterSpec::All(filters)
            }
        }
    }

    fn cell_filters(&self, choices: &mut Choices<'_>, kinds: usize) -> Vec<FilterSpec> {
        (0..choices.below(3)).map(|_| self.cell_filter(choices, kinds)).collect()
    }

    /// The last of four kinds gives hints where to continue.
    fn cell_filter(&self, choices: &mut Choices<'_>, kinds: usize) -> FilterSpec {
        match choices.below(kinds) {
            0 | 1 => FilterSpec::Value(operator(choices), choices.pick(&VALUES).to_vec()),
            2 => FilterSpec::Prefix(choices.pick(&[&b"a"[..], b"aa", b"d", b"", b"x"]).to_vec()),
            _ => FilterSpec::ColumnPrefix(choices.pick(&[&b"q"[..], b"qq", b"", b"p"]).to_vec()),
        }
    }

    fn single_column(&self, choices: &mut Choices<'_>) -> FilterSpec {
        let family = choices.pick(&FAMILIES).to_vec();
        FilterSpec::SingleColumn(SingleColumn {
            qualifier: self.qualifier(&family, choices),
            family,
            operator: operator(choices),
            value: choices.pick(&VALUES).to_vec(),
            filter_if_missing: choices.once_in(2),
            latest_version_only: !choices.once_in(2),
        })
    }
}

fn puts_into(write: &Write, family: &[u8]) -> bool {
    match &write.change {
        Change::Put { cells, .. } => cells.iter().any(|cell| cell.family == family),
        Change::Delete { .. } => false,
        Change::Increment(settings) | Change::Append(settings) => {
            settings.deltas.iter().any(|delta| delta.family == family)
        }
    }
}

fn operator(choices: &mut Choices<'_>) -> CompareOperator {
    choices.pick(&[
        CompareOperator::Equal,
        CompareOperator::NotEqual,
        CompareOperator::Less,
        CompareOperator::LessOrEqual,
        CompareOperator::Greater,
        CompareOperator::GreaterOrEqual,
    ])
}
