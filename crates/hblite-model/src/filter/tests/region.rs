//! A region of Puts in a vector, with a minimal region scanner over it.
//!
//! It follows HBase where filters can tell the difference: one scanner per family, merged row by
//! row; the rest of a rejected row is still shown to the filter; non-essential families are read
//! after the others.

use super::super::*;
use crate::cell::{Cell, CellBuffer, CellComparator, CellRef, CellType, key};
use crate::direction::Direction;
use crate::error::Result;

/// The cells of one store, and a scanner's position in them.
struct Store {
    cells: Vec<Cell>,
    at: usize,
}

/// Cells in their order, and how a scan reads them.
pub(in crate::filter) struct Region {
    /// Each family and its cells, in key order.
    families: Vec<(Vec<u8>, Vec<Cell>)>,
    /// Versions of a column that the filter may see.
    pub(in crate::filter) versions_max: usize,
    /// Versions of a column that are returned.
    pub(in crate::filter) versions: usize,
}

impl Region {
    pub(in crate::filter) fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let mut families: Vec<(Vec<u8>, Vec<Cell>)> = Vec::new();
        let mut all: Vec<Cell> = cells.into_iter().collect();
        all.sort_by(|a, b| CellComparator::Default.compare(&a.as_ref(), &b.as_ref()));
        all.sort_by(|a, b| a.family().cmp(b.family()));
        for cell in all {
            match families.last_mut() {
                Some((family, cells)) if family == cell.family() => cells.push(cell),
                _ => families.push((cell.family().to_vec(), vec![cell])),
            }
        }
        Self { families, versions_max: 1, versions: 1 }
    }

    /// Cells written `row family:qualifier timestamp value`.
    pub(in crate::filter) fn of(lines: &[&str]) -> Self {
        Self::new(lines.iter().map(|line| {
            let mut parts = line.splitn(4, ' ').map(crate::bytes::from_string_binary);
            let mut next = || parts.next().unwrap_or_default();
            let (row, column, timestamp, value) = (next(), next(), next(), next());
            let colon = column.iter().position(|byte| *byte == b':').unwrap();
            let timestamp = String::from_utf8(timestamp).unwrap().parse().unwrap();
            let (family, qualifier) = (&column[..colon], &column[colon + 1..]);
            Cell::new(&row, family, qualifier, timestamp, CellType::Put, &value)
        }))
    }

    /// All that a scan with `filter` returns, row by row.
    pub(in crate::filter) fn rows(
        &self,
        filter: &Filter,
        direction: Direction,
    ) -> Result<Vec<CellBuffer>> {
        let mut scan = Scan {
            state: FilterState::new(filter, direction, 0),
            direction,
            essential: Vec::new(),
            joined: Vec::new(),
            versions_max: self.versions_max,
            versions: self.versions,
        };
        for (family, cells) in &self.families {
            let mut cells = cells.clone();
            cells.sort_by(|a, b| direction.apply(a.row().cmp(b.row())));
            let store = Store { cells, at: 0 };
            if filter.is_family_essential(family) {
                scan.essential.push(store);
            } else {
                scan.joined.push(store);
            }
        }
        scan.run()
    }

    /// As [`Region::rows`], a cell as `row/family:qualifier`, with `@timestamp` if it is not 1.
    pub(in crate::filter) fn scan(&self, filter: &Filter, direction: Direction) -> Vec<String> {
        let rows = self.rows(filter, direction).unwrap();
        let text = |cell: CellRef<'_>| {
            let text = format!(
                "{}/{}:{}",
                crate::bytes::to_string_binary(cell.row()),
                String::from_utf8_lossy(cell.family()),
                String::from_utf8_lossy(cell.qualifier())
            );
            if cell.timestamp() == 1 { text } else { format!("{text}@{}", cell.timestamp()) }
        };
        rows.iter().flat_map(|row| row.iter().map(text).collect::<Vec<_>>()).collect()
    }

    /// The rows that a scan returns.
    pub(in crate::filter) fn scan_rows(
        &self,
        filter: &Filter,
        direction: Direction,
    ) -> Vec<String> {
        let rows = self.rows(filter, direction).unwrap();
        let row = |row: &CellBuffer| crate::bytes::to_string_binary(row.get(0).unwrap().row());
        rows.iter().map(row).collect()
    }
}

struct Scan {
    state: FilterState,
    direction: Direction,
    essential: Vec<Store>,
    joined: Vec<Store>,
    versions_max: usize,
    versions: usize,
}

impl Scan {
    fn run(&mut self) -> Result<Vec<CellBuffer>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next_row() {
            if self.state.filter_all_remaining() {
                break;
            }
            if self.state.filter_row_key(&row)? {
                if self.state.filter_all_remaining() {
                    break;
                }
                self.finish_row(&row)?;
                continue;
            }
            let mut cells = CellBuffer::new();
            self.read_row(&row, true, &mut cells)?;
            let was_empty = cells.is_empty();
            let mut rejected = was_empty;
            if self.state.has_filter_row() {
                rejected |= self.state.filter_row_cells(&mut cells) == RowVerdict::Exclude;
            } else {
                rejected = rejected || self.state.filter_row();
            }
            if rejected {
                self.finish_row(&row)?;
                continue;
            }
            self.read_row(&row, false, &mut cells)?;
            if cells.is_empty() {
                self.finish_row(&row)?;
                continue;
            }
            rows.push(cells);
            self.state.reset();
        }
        Ok(rows)
    }

    /// The first row in scan order in which an essential family has cells left.
    fn next_row(&self) -> Option<Vec<u8>> {
        let rows = self.essential.iter().filter_map(|store| store.cells.get(store.at));
        rows.map(Cell::row).min_by(|a, b| self.direction.apply(a.cmp(b))).map(<[u8]>::to_vec)
    }

    /// Shows the rest of a rejected row to the filter.
    fn finish_row(&mut self, row: &[u8]) -> Result<()> {
        self.read_row(row, true, &mut CellBuffer::new())?;
        self.state.reset();
        Ok(())
    }

    fn read_row(&mut self, row: &[u8], essential: bool, out: &mut CellBuffer) -> Result<()> {
        let stores = if essential { &mut self.essential } else { &mut self.joined };
        let mut stores = std::mem::take(stores);
        for store in &mut stores {
            if !essential {
                while store
                    .cells
                    .get(store.at)
                    .is_some_and(|cell| self.direction.apply(cell.row().cmp(row)).is_lt())
                {
                    store.at += 1;
                }
            }
            if store.cells.get(store.at).is_some_and(|cell| cell.row() == row) {
                self.read_store(store, row, out)?;
            }
        }
        *(if essential { &mut self.essential } else { &mut self.joined }) = stores;
        let mut cells: Vec<Cell> = out.iter().map(|cell| cell.to_cell()).collect();
        cells.sort_by(|a, b| CellComparator::Default.compare(&a.as_ref(), &b.as_ref()));
        out.clear();
        cells.iter().for_each(|cell| out.push(&cell.as_ref()));
        Ok(())
    }

    /// The cells of `row` in one store: the part of `StoreScanner` that handles filters.
    fn read_store(&mut self, store: &mut Store, row: &[u8], out: &mut CellBuffer) -> Result<()> {
        let mut column: (Vec<u8>, usize, usize) = (Vec::new(), 0, 0);
        while let Some(cell) = store.cells.get(store.at) {
            // Called before the row is read: a filter that is done at the end of a row closes this
            // store permanently, while others of the region may continue.
            if self.state.filter_all_remaining() {
                store.at = store.cells.len();
                break;
            }
            if cell.row() != row {
                break;
            }
            let cell = cell.as_ref();
            if key::column(cell.key()) != column.0.as_slice() {
                column = (key::column(cell.key()).to_vec(), 0, 0);
            }
            column.1 += 1;
            if column.1 > self.versions_max {
                store.at += 1;
                continue;
            }
            let code = self.state.filter_cell(&cell)?;
            if code.is_include() {
                column.2 += 1;
                if column.2 <= self.versions {
                    let value = self.state.transform_cell(&cell);
                    out.push(&value.apply(cell));
                }
            }
            let hint = match code {
                ReturnCode::SeekNextUsingHint => self.state.next_cell_hint(&cell),
                _ => None,
            };
            let current = store.cells[store.at].clone();
            store.at += 1;
            self.step(store, code, hint, &current);
        }
        Ok(())
    }

    fn step(&self, store: &mut Store, code: ReturnCode, hint: Option<Vec<u8>>, from: &Cell) {
        let from_key = from.as_ref().key().to_vec();
        let is_before = |cell: &Cell| {
            let cell_key = cell.as_ref().key().to_vec();
            let same_row = cell.row() == from.row();
            match code {
                ReturnCode::Include | ReturnCode::Skip => false,
                ReturnCode::NextColumn | ReturnCode::IncludeAndNextColumn => {
                    same_row && key::column(&cell_key) == key::column(&from_key)
                }
                ReturnCode::NextRow | ReturnCode::IncludeAndSeekNextRow => same_row,
                ReturnCode::SeekNextUsingHint => {
                    let Some(hint) = &hint else { return false };
                    let order = CellComparator::Default.compare_keys(hint, &from_key);
                    if self.direction.apply(order).is_le() {
                        return false;
                    }
                    let rows = self.direction.apply(cell.row().cmp(key::row(hint)));
                    let in_row = CellComparator::Default.compare_keys(&cell_key, hint);
                    rows.is_lt() || (rows.is_eq() && in_row.is_lt())
                }
            }
        };
        while store.cells.get(store.at).is_some_and(is_before) {
            store.at += 1;
        }
    }
}
