//! Random sequences of writes to one row, and what a reader sees after them.
//!
//! Writes have no timestamps: they are applied one after another, so the model needs no time. A
//! sequence has at most ten writes, and its columns keep ten versions.

use std::collections::BTreeMap;

use hblite_model::{
    Action, Append, CheckAndMutate, Delete, Get, Increment, Mutation, Put, RowMutations, RowResult,
};

/// The family whose columns keep ten versions.
pub const VERSIONS: &str = "v";
/// The family whose columns keep one version.
pub const ONE: &str = "one";
pub const VERSIONS_MAX: usize = 10;
/// The longest sequence.
const WRITES_MAX: u64 = 10;

type Column = (&'static str, &'static str);

const TEXTS: [Column; 5] = [(VERSIONS, "a"), (VERSIONS, "b"), (ONE, "a"), (ONE, "b"), (ONE, "c")];
const COUNTERS: [Column; 3] = [(VERSIONS, "n"), (VERSIONS, "m"), (ONE, "n")];

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    Put(Vec<(Column, Vec<u8>)>),
    DeleteRow,
    DeleteFamily(&'static str),
    DeleteColumn(Column),
    /// Of the newest version, in the family that keeps several.
    DeleteVersion(Column),
    Increment(Vec<(Column, i64)>),
    Append(Vec<(Column, &'static str)>),
    /// Under a condition that holds.
    Checked(Column, Option<Vec<u8>>, Box<Write>),
    /// All in one step, each of other columns.
    Row(Vec<Write>),
}

/// Random numbers.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// The values of a row: of each column the versions, the newest last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row(BTreeMap<Column, Vec<Vec<u8>>>);

impl Row {
    fn newest(&self, column: Column) -> Option<&Vec<u8>> {
        self.0.get(&column)?.last()
    }

    fn push(&mut self, column: Column, value: Vec<u8>) {
        self.0.entry(column).or_default().push(value);
    }

    /// Applies a write.
    pub fn apply(&mut self, write: &Write) {
        match write {
            Write::Put(cells) => {
                cells.iter().for_each(|(column, value)| self.push(*column, value.clone()));
            }
            Write::DeleteRow => self.0.clear(),
            Write::DeleteFamily(family) => self.0.retain(|column, _| column.0 != *family),
            Write::DeleteColumn(column) => {
                self.0.remove(column);
            }
            Write::DeleteVersion(column) => {
                if let Some(versions) = self.0.get_mut(column) {
                    versions.pop();
                }
            }
            Write::Increment(cells) => {
                for (column, amount) in cells {
                    let value = self.newest(*column).map_or(0, |value| number(value));
                    self.push(*column, (value + amount).to_be_bytes().to_vec());
                }
            }
            Write::Append(cells) => {
                for (column, text) in cells {
                    let value = self.newest(*column).cloned().unwrap_or_default();
                    self.push(*column, [value.as_slice(), text.as_bytes()].concat());
                }
            }
            Write::Checked(.., write) => self.apply(write),
            Write::Row(writes) => writes.iter().for_each(|write| self.apply(write)),
        }
    }

    /// What a get of all versions returns: of each column the newest first.
    pub fn cells(&self) -> Vec<(String, Vec<u8>)> {
        let mut cells = Vec::new();
        for ((family, qualifier), versions) in &self.0 {
            let max = if *family == ONE { 1 } else { VERSIONS_MAX };
            for value in versions.iter().rev().take(max) {
                cells.push((format!("{family}:{qualifier}"), value.clone()));
            }
        }
        cells
    }
}

/// The cells of a result in the form of [`Row::cells`].
pub fn cells_of(result: &RowResult) -> Vec<(String, Vec<u8>)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let cell = |cell: hblite_model::CellRef<'_>| {
        (format!("{}:{}", text(cell.family()), text(cell.qualifier())), cell.value().to_vec())
    };
    result.cells().map(cell).collect()
}

/// The newest cell of each column.
pub fn newest(cells: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let mut cells = cells;
    cells.dedup_by(|next, first| next.0 == first.0);
    cells
}

fn number(value: &[u8]) -> i64 {
    value.try_into().map(i64::from_be_bytes).expect("counters have eight bytes")
}

/// The writes of a sequence.
pub fn sequence(seed: u64) -> Vec<Write> {
    let mut random = Random::new(seed);
    let count = 2 + random.below(WRITES_MAX - 1);
    let mut row = Row::default();
    (0..count)
        .map(|_| {
            let write = write(&mut random, &row);
            row.apply(&write);
            write
        })
        .collect()
}

fn write(random: &mut Random, row: &Row) -> Write {
    match random.below(15) {
        0..=3 => put(random),
        4 | 5 => Write::DeleteRow,
        6 => Write::DeleteFamily(random.of(&[VERSIONS, ONE])),
        7 => Write::DeleteColumn(random.of(&TEXTS)),
        8 => Write::DeleteColumn(random.of(&COUNTERS)),
        9 => Write::DeleteVersion(random.of(&[TEXTS[0], TEXTS[1], COUNTERS[0]])),
        10 => Write::Increment(chosen(random, &COUNTERS, |random| 1 + random.below(9) as i64)),
        11 => Write::Append(chosen(random, &TEXTS, |random| random.of(&["x", "yz"]))),
        12 | 13 => {
            let column = random.of(&TEXTS);
            let write = match random.below(3) {
                0 => Write::DeleteColumn(column),
                1 => Write::DeleteRow,
                _ => Write::Put(vec![(column, text(random))]),
            };
            Write::Checked(column, row.newest(column).cloned(), Box::new(write))
        }
        _ => {
            let put = Write::Put(vec![(TEXTS[0], text(random)), (TEXTS[2], text(random))]);
            Write::Row(vec![put, Write::DeleteColumn(TEXTS[1]), Write::DeleteColumn(TEXTS[3])])
        }
    }
}

fn put(random: &mut Random) -> Write {
    match random.below(3) {
        0 => Write::Put(chosen(random, &COUNTERS, |random| {
            (random.below(100) as i64).to_be_bytes().to_vec()
        })),
        _ => Write::Put(chosen(random, &TEXTS, text)),
    }
}

fn text(random: &mut Random) -> Vec<u8> {
    format!("{:x}", random.below(1 << 32)).into_bytes()
}

/// Some of the columns, each with something random.
fn chosen<T>(
    random: &mut Random,
    columns: &[Column],
    mut with: impl FnMut(&mut Random) -> T,
) -> Vec<(Column, T)> {
    let count = 1 + random.below(columns.len() as u64) as usize;
    let first = random.below(columns.len() as u64) as usize;
    let mut chosen: Vec<_> = (0..count).map(|at| columns[(first + at) % columns.len()]).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|column| (column, with(random))).collect()
}

impl Write {
    /// The write as a request for this row.
    pub fn action(&self, row: &str) -> Action {
        match self {
            Self::Checked((family, qualifier), value, write) => {
                let check = CheckAndMutate::new(row);
                let check = match value {
                    Some(value) => check.if_equals(family, qualifier, value),
                    None => check.if_not_exists(family, qualifier),
                };
                Action::CheckAndMutate(check.then(write.mutation(row)))
            }
            Self::Row(writes) => {
                let all = RowMutations::new(row);
                Action::RowMutations(writes.iter().fold(all, |all, one| all.add(one.mutation(row))))
            }
            other => Action::Mutation(other.mutation(row)),
        }
    }

    fn mutation(&self, row: &str) -> Mutation {
        match self {
            Self::Put(cells) => {
                let put = Put::new(row);
                cells.iter().fold(put, |put, ((f, q), value)| put.add(f, q, value)).into()
            }
            Self::DeleteRow => Delete::new(row).into(),
            Self::DeleteFamily(family) => Delete::new(row).family(family).into(),
            Self::DeleteColumn((f, q)) => Delete::new(row).columns(f, q).into(),
            Self::DeleteVersion((f, q)) => Delete::new(row).column(f, q).into(),
            Self::Increment(cells) => {
                let increment = Increment::new(row);
                cells.iter().fold(increment, |all, ((f, q), by)| all.add(f, q, *by)).into()
            }
            Self::Append(cells) => {
                let append = Append::new(row);
                cells.iter().fold(append, |all, ((f, q), text)| all.add(f, q, text)).into()
            }
            Self::Checked(..) | Self::Row(_) => unreachable!("not one mutation"),
        }
    }
}

/// The get of everything in a row.
pub fn get(row: &str) -> Get {
    Get::new(row).with_all_versions()
}
