//! Plain rows of several sources, merged block by block.
//!
//! A step of the merge costs far more than a look at the next cell of a block. While every source
//! is within a block, this loop compares only the next row of each. It takes rows that one source
//! has, and passes rows of which the newest source has nothing but a marker that hides the cells of
//! the others. Whatever else it meets, such as the last row of a block, or a row that several
//! sources have, is left to the path from cell to cell.
//!
//! Order: the sides are sorted by row, those with the same row the newest first.

use hblite_hfile::BlockCells;
use hblite_model::cell::{CellRef, key};
use hblite_model::{CellComparator, Result};

use super::block_rows::{ASKING_CELLS_MAX, VisitedRows};
use super::plain::{HIDDEN_STEPS_MAX, PlainRows};
use super::{CellSink, StoreScanner};
use crate::invariants::ARE_CHECKED;
use crate::prefetch::prefetch;
use crate::row_rank::row_rank;
use crate::store::key_value_scanner::KeyValueScanner;
use crate::store::matcher::{Hides, PlainRules};

/// More sources than this are not merged here.
const SIDES_MAX: usize = 16;
/// The loop asks for the memory of the cell of a source that is this many further on.
const CELLS_AHEAD: usize = 4;

/// A source in the loop.
#[derive(Clone, Copy)]
struct Side<'a> {
    /// Its number in the merge: newer sources have lower ones.
    source: usize,
    cells: BlockCells<'a>,
    /// Where it was when the loop began.
    start: usize,
    /// The first cell of its row.
    at: usize,
}

/// The rank of the row of a side, and where that is.
#[derive(Clone, Copy)]
struct Ranked {
    rank: u128,
    side: usize,
}

impl<'a> Side<'a> {
    fn row(&self) -> &'a [u8] {
        key::row(self.cells.key(self.at))
    }

    /// Where the next row begins, if that is in the block, and each cell of this one `is_fit`.
    #[inline]
    fn end_of_row(&self, mut is_fit: impl FnMut(&CellRef<'a>) -> bool) -> Option<usize> {
        let (row, mut at) = (self.row(), self.at);
        while is_fit(&self.cells.cell(at)) {
            at += 1;
            if at == self.cells.len() {
                return None;
            }
            if !key::is_same_row(key::row(self.cells.key(at)), row) {
                return Some(at);
            }
        }
        None
    }

    /// Asks for the memory of a cell, if the block has it.
    #[inline(always)]
    fn ask_for(&self, cell: usize) {
        if let Some(start) = self.cells.bytes_from(cell) {
            prefetch(start.as_ptr());
            prefetch(start.as_ptr().wrapping_add(64));
        }
    }
}

impl<S: KeyValueScanner> StoreScanner<S> {
    /// [`StoreScanner::visit_rows`], where several sources are left.
    #[inline]
    pub(super) fn visit_merged_rows<C: CellSink>(
        &mut self,
        rows_max: u64,
        is_beyond: impl Fn(&[u8]) -> bool,
        sink: &mut C,
    ) -> Result<VisitedRows> {
        let is_over = self.is_closed || self.is_get || !self.cursor.heap.has_several();
        let is_due = |plain: &mut PlainRows| !plain.is_paused() && plain.attempts.is_due();
        if is_over || !self.plain.as_mut().is_some_and(is_due) {
            return Ok(VisitedRows::default());
        }
        self.attempt(rows_max, is_beyond, sink)
    }

    /// Kept out of the way of the other paths, which are taken more often.
    #[inline(never)]
    fn attempt<C: CellSink>(
        &mut self,
        rows_max: u64,
        is_beyond: impl Fn(&[u8]) -> bool,
        sink: &mut C,
    ) -> Result<VisitedRows> {
        let heap = &self.cursor.heap;
        let visited = VisitedRows::default();
        let Some(plain) = &mut self.plain else { return Ok(visited) };
        let is_usual =
            heap.comparator() == CellComparator::Default && !heap.direction().is_reverse();
        let Some((sides, count)) = sides_of(heap.blocks()).filter(|_| is_usual) else {
            plain.attempts.note(0);
            return Ok(visited);
        };
        let mut rows = MergedRows {
            sides,
            order: [Ranked { rank: 0, side: 0 }; SIDES_MAX],
            count,
            rules: plain.rules(),
            rows_max,
            is_beyond,
            asks: self.cursor.cells_examined < ASKING_CELLS_MAX,
            sink,
            visited,
        };
        rows.begin();
        while rows.take_row() {}
        let MergedRows { sides, visited, .. } = rows;
        let moves = sides[..count].iter().map(|side| (side.source, side.at, side.at - side.start));
        let mut places = [(0, 0, 0); SIDES_MAX];
        places.iter_mut().zip(moves).for_each(|(place, to)| *place = to);
        let examined: usize = places.iter().map(|(_, _, cells)| cells).sum();
        plain.attempts.note(visited.rows_read());
        if examined > 0 {
            self.cursor.cells_examined += examined as u64;
            self.cursor.row.leave();
            self.cursor.heap.move_in_blocks(&places[..count]);
        }
        Ok(visited)
    }
}

/// A side for each of these blocks, at most [`SIDES_MAX`]; `None` if there are more, or a source is
/// not in a block.
fn sides_of<'a>(
    blocks: impl Iterator<Item = (usize, Option<(BlockCells<'a>, usize)>)>,
) -> Option<([Side<'a>; SIDES_MAX], usize)> {
    let mut sides = None;
    let mut count = 0;
    for (source, block) in blocks {
        let (cells, at) = block?;
        let side = Side { source, cells, start: at, at };
        *sides.get_or_insert([side; SIDES_MAX]).get_mut(count)? = side;
        count += 1;
    }
    Some((sides?, count))
}

/// The loop.
struct MergedRows<'a, 's, C, F> {
    /// The first `count` are used.
    sides: [Side<'a>; SIDES_MAX],
    /// The same in the order of their rows. Sides stay where they are: moving them takes longer.
    order: [Ranked; SIDES_MAX],
    count: usize,
    rules: PlainRules,
    rows_max: u64,
    is_beyond: F,
    /// Whether it asks for memory in advance.
    asks: bool,
    sink: &'s mut C,
    visited: VisitedRows,
}

impl<'a, C: CellSink, F: Fn(&[u8]) -> bool> MergedRows<'a, '_, C, F> {
    fn begin(&mut self) {
        for side in (0..self.count).rev() {
            let Side { at, .. } = self.sides[side];
            if self.asks {
                (at..at + CELLS_AHEAD).for_each(|cell| self.sides[side].ask_for(cell));
            }
            self.order[side].side = side;
            self.move_on(side, at);
        }
    }

    /// The side that is at this place in the order.
    #[inline(always)]
    fn side(&self, place: usize) -> &Side<'a> {
        &self.sides[self.order[place].side]
    }

    #[inline]
    fn is_before(&self, left: Ranked, right: Ranked) -> bool {
        if left.rank != right.rank {
            return left.rank < right.rank;
        }
        let (left, right) = (&self.sides[left.side], &self.sides[right.side]);
        (left.row(), left.source) < (right.row(), right.source)
    }

    /// Takes the first row. False, and nothing is taken, if that is left to the other path.
    #[inline]
    fn take_row(&mut self) -> bool {
        if ARE_CHECKED {
            let mut pairs = self.order[..self.count].windows(2);
            assert!(pairs.all(|pair| self.is_before(pair[0], pair[1])), "sides are in order");
        }
        let first = self.side(0);
        if self.visited.rows == self.rows_max || (self.is_beyond)(first.row()) {
            return false;
        }
        let has_row = |place: &usize| {
            self.order[*place].rank == self.order[0].rank && self.side(*place).row() == first.row()
        };
        let with_row = 1 + (1..self.count).take_while(has_row).count();
        let cell = first.cells.cell(first.at);
        match Hides::of(&cell, &self.rules) {
            Some(hides) => self.take_hidden_row(with_row, hides),
            None => with_row == 1 && self.take_puts(),
        }
    }

    /// The row of the first side, if it has nothing but puts of different columns.
    #[inline]
    fn take_puts(&mut self) -> bool {
        let Self { sides, order, rules, .. } = self;
        let side = &sides[order[0].side];
        let mut last: Option<&[u8]> = None;
        let end = side.end_of_row(|cell| {
            let column = Some(key::without_version(cell.key()));
            let is_other = last != column;
            last = column;
            is_other && rules.is_plain(cell, cell.timestamp())
        });
        let Some(end) = end else { return false };
        for at in side.at..end {
            self.sink.push_stored(&side.cells.cell(at), || side.cells.serialized(at));
        }
        self.visited.rows += 1;
        self.visited.cells += (end - side.at) as u64;
        self.move_on(0, end);
        true
    }

    /// The row of the first sides, if the newest of them has nothing but a marker, which hides all
    /// cells of the others.
    #[inline]
    fn take_hidden_row(&mut self, with_row: usize, hides: Hides) -> bool {
        let rules = self.rules;
        let marker = self.side(0).cells.cell(self.side(0).at);
        let column = hides.is_of_column().then(|| key::without_version(marker.key()));
        let mut cells = 0;
        let is_only = |_: &CellRef<'_>| std::mem::replace(&mut cells, 1) == 0;
        let Some(end) = self.side(0).end_of_row(is_only) else { return false };
        let mut ends = [end; SIDES_MAX];
        let mut hidden = 0;
        for (place, end) in (1..with_row).zip(&mut ends[1..]) {
            let is_hidden = |cell: &CellRef<'_>| {
                hidden += 1;
                let timestamp = cell.timestamp();
                rules.is_plain(cell, timestamp)
                    && hides.hides(timestamp)
                    && column.is_none_or(|column| key::without_version(cell.key()) == column)
            };
            let Some(found) = self.side(place).end_of_row(is_hidden) else { return false };
            *end = found;
        }
        if hidden > HIDDEN_STEPS_MAX {
            return false;
        }
        self.visited.hidden_rows += 1;
        // From the last on, so that those that follow are sorted.
        for place in (0..with_row).rev() {
            self.move_on(place, ends[place]);
        }
        true
    }

    /// Moves the side at this place in the order to the row that begins at the cell `to`, and
    /// behind the sides that are then before it. All after it are in order.
    #[inline]
    fn move_on(&mut self, mut place: usize, to: usize) {
        let index = self.order[place].side;
        let side = &mut self.sides[index];
        side.at = to;
        if self.asks {
            side.ask_for(to + CELLS_AHEAD);
        }
        let moved = Ranked { rank: row_rank(side.row()), side: index };
        while place + 1 < self.count && self.is_before(self.order[place + 1], moved) {
            self.order[place] = self.order[place + 1];
            place += 1;
        }
        self.order[place] = moved;
    }
}
