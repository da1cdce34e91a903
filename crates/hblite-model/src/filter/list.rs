//! AND and OR over filters: `FilterListWithAND` and `FilterListWithOR`.
//!
//! A list returns one code for each cell, merged from those of its members: AND takes the largest
//! step that any member requests, OR the largest that makes no member miss a cell.
//!
//! An OR reads cells that one member asked to skip if another member needs them. It therefore
//! remembers the last cell and code of each member, and answers for the member until the scan has
//! passed the position that the member requested. It forgets them after each row.

use std::cmp::Ordering;

use super::state::{CellValue, Evaluate, ReturnCode};
use crate::cell::{CellBuffer, CellComparator, CellRef, key};
use crate::direction::Direction;
use crate::error::{Error, Exception, Result};

/// One filter of a list.
#[derive(Debug)]
pub(super) struct Member {
    state: Box<dyn Evaluate>,
    is_hinting: bool,
    /// Whether its last code was a seek (AND), or it took the last cell (OR).
    is_marked: bool,
    /// The code of its last cell in this row.
    last_code: Option<ReturnCode>,
    /// Key of its last cell in this row; valid if `last_code` is neither `Include` nor `Skip`.
    last_key: Vec<u8>,
}

impl Member {
    pub(super) fn new(state: Box<dyn Evaluate>, is_hinting: bool) -> Self {
        Self { state, is_hinting, is_marked: false, last_code: None, last_key: Vec::new() }
    }

    fn reset(&mut self) {
        self.state.reset();
        self.is_marked = false;
        self.last_code = None;
    }

    /// The code that follows from the last one, without calling the filter.
    fn remembered_code(&mut self, cell: &CellRef<'_>, direction: Direction) -> Option<ReturnCode> {
        let last = &self.last_key;
        match self.last_code? {
            ReturnCode::Include | ReturnCode::Skip => None,
            ReturnCode::NextColumn | ReturnCode::IncludeAndNextColumn => {
                (key::column(last) == key::column(cell.key())).then_some(ReturnCode::NextColumn)
            }
            ReturnCode::NextRow | ReturnCode::IncludeAndSeekNextRow => {
                (key::family(last) == cell.family()).then_some(ReturnCode::NextRow)
            }
            ReturnCode::SeekNextUsingHint => {
                let hint = self.state.next_cell_hint(last)?;
                (compare(direction, cell.key(), &hint) == Ordering::Less)
                    .then_some(ReturnCode::SeekNextUsingHint)
            }
        }
    }

    fn remember(&mut self, cell: &CellRef<'_>, code: ReturnCode) {
        self.last_code = Some(code);
        if !matches!(code, ReturnCode::Include | ReturnCode::Skip) {
            self.last_key.clear();
            self.last_key.extend_from_slice(cell.key());
        }
    }
}

/// Compares keys in scan order. A reverse scan also reverses the order of the cells within a row
/// here, as in HBase.
fn compare(direction: Direction, left: &[u8], right: &[u8]) -> Ordering {
    direction.apply(CellComparator::Default.compare_keys(left, right))
}

/// `FilterListWithAND`.
#[derive(Debug)]
pub(super) struct And {
    members: Vec<Member>,
    direction: Direction,
}

impl And {
    pub(super) fn new(members: Vec<Member>, direction: Direction) -> Self {
        Self { members, direction }
    }
}

impl Evaluate for And {
    fn reset(&mut self) {
        self.members.iter_mut().for_each(Member::reset);
    }

    fn filter_all_remaining(&self) -> bool {
        self.members.iter().any(|member| member.state.filter_all_remaining())
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let (mut any_rejects, mut any_hinting_passes) = (false, false);
        for member in &mut self.members {
            if member.state.filter_all_remaining() {
                return Ok(true);
            }
            if member.state.filter_row_key(row)? {
                any_rejects = true;
            } else if member.is_hinting {
                any_hinting_passes = true;
            }
        }
        // A filter that can seek must be asked for its hint, even in a rejected row.
        Ok(any_rejects && !any_hinting_passes)
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let mut code = ReturnCode::Include;
        let mut any_seeks = false;
        let mut is_decided = false;
        for member in &mut self.members {
            member.is_marked = false;
            if is_decided {
                // The cell is rejected, but a member that can seek may still do so.
                if member.is_hinting {
                    member.is_marked =
                        member.state.filter_cell(cell)? == ReturnCode::SeekNextUsingHint;
                    any_seeks |= member.is_marked;
                }
                continue;
            }
            if member.state.filter_all_remaining() {
                code = ReturnCode::NextRow;
                is_decided = true;
                continue;
            }
            let member_code = member.state.filter_cell(cell)?;
            member.is_marked = member_code == ReturnCode::SeekNextUsingHint;
            any_seeks |= member.is_marked;
            code = merge_and(code, member_code);
            is_decided = !code.is_include();
        }
        Ok(if any_seeks { ReturnCode::SeekNextUsingHint } else { code })
    }

    fn transform(&self, value: CellValue, original_length: usize) -> CellValue {
        self.members
            .iter()
            .fold(value, |value, member| member.state.transform(value, original_length))
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        let direction = self.direction;
        self.members
            .iter_mut()
            .filter(|member| member.is_marked && !member.state.filter_all_remaining())
            .filter_map(|member| member.state.next_cell_hint(key))
            .reduce(|farthest, hint| {
                if compare(direction, &farthest, &hint) == Ordering::Less { hint } else { farthest }
            })
    }

    fn filter_row_cells(&mut self, cells: &mut CellBuffer) {
        for member in &mut self.members {
            member.state.filter_row_cells(cells);
        }
    }

    fn filter_row(&mut self) -> bool {
        self.members.iter_mut().any(|member| member.state.filter_row())
    }
}

/// The code of an AND whose members so far returned `left` and whose next member returned `right`.
pub(super) fn merge_and(left: ReturnCode, right: ReturnCode) -> ReturnCode {
    use ReturnCode::{
        Include, IncludeAndNextColumn, IncludeAndSeekNextRow, NextColumn, NextRow,
        SeekNextUsingHint, Skip,
    };
    match (left, right) {
        (SeekNextUsingHint, _) | (_, SeekNextUsingHint) => SeekNextUsingHint,
        (code, Include) | (Include, code) => code,
        (NextRow, _) | (_, NextRow) => NextRow,
        (IncludeAndSeekNextRow, IncludeAndNextColumn | IncludeAndSeekNextRow)
        | (IncludeAndNextColumn, IncludeAndSeekNextRow) => IncludeAndSeekNextRow,
        (IncludeAndSeekNextRow, Skip | NextColumn) | (Skip | NextColumn, IncludeAndSeekNextRow) => {
            NextRow
        }
        (IncludeAndNextColumn, IncludeAndNextColumn) => IncludeAndNextColumn,
        (Skip, Skip) => Skip,
        (NextColumn, _) | (_, NextColumn) => NextColumn,
        (IncludeAndNextColumn, Skip) | (Skip, IncludeAndNextColumn) => NextColumn,
    }
}

/// `FilterListWithOR`.
#[derive(Debug)]
pub(super) struct Or {
    members: Vec<Member>,
    direction: Direction,
}

impl Or {
    pub(super) fn new(members: Vec<Member>, direction: Direction) -> Self {
        Self { members, direction }
    }
}

impl Evaluate for Or {
    fn reset(&mut self) {
        self.members.iter_mut().for_each(Member::reset);
    }

    fn filter_all_remaining(&self) -> bool {
        !self.members.is_empty()
            && self.members.iter().all(|member| member.state.filter_all_remaining())
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let mut rejected = !self.members.is_empty();
        // All are called, even after one has passed, because they track the row.
        for member in &mut self.members {
            if !member.state.filter_all_remaining() && !member.state.filter_row_key(row)? {
                rejected = false;
            }
        }
        Ok(rejected)
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.members.is_empty() {
            return Ok(ReturnCode::Include);
        }
        let mut code = None;
        for member in &mut self.members {
            member.is_marked = false;
            if member.state.filter_all_remaining() {
                continue;
            }
            let member_code = match member.remembered_code(cell, self.direction) {
                Some(code) => code,
                None => match member.state.filter_cell(cell) {
                    // HBase gets a null code here, which has no effect if it comes first.
                    Err(error) if is_null_code(&error) && code.is_none() => continue,
                    result => result?,
                },
            };
            member.remember(cell, member_code);
            member.is_marked = member_code.is_include();
            code = Some(code.map_or(member_code, |code| merge_or(code, member_code)));
        }
        Ok(code.unwrap_or(ReturnCode::Skip))
    }

    fn transform(&self, value: CellValue, original_length: usize) -> CellValue {
        self.members
            .iter()
            .filter(|member| member.is_marked)
            .fold(value, |value, member| member.state.transform(value, original_length))
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        let mut nearest: Option<Vec<u8>> = None;
        for member in &mut self.members {
            if member.state.filter_all_remaining() {
                continue;
            }
            // Unless all members give a hint, no position suits all of them.
            let hint = member.state.next_cell_hint(key)?;
            nearest = match nearest {
                Some(key) if compare(self.direction, &key, &hint) != Ordering::Greater => Some(key),
                _ => Some(hint),
            };
        }
        nearest
    }

    fn filter_row_cells(&mut self, cells: &mut CellBuffer) {
        for member in &mut self.members {
            member.state.filter_row_cells(cells);
        }
    }

    fn filter_row(&mut self) -> bool {
        !self.members.is_empty() && self.members.iter_mut().all(|member| member.state.filter_row())
    }
}

/// The code of an OR whose members so far returned `left` and whose next member returned `right`.
pub(super) fn merge_or(left: ReturnCode, right: ReturnCode) -> ReturnCode {
    use ReturnCode::{
        Include, IncludeAndNextColumn, IncludeAndSeekNextRow, NextColumn, NextRow,
        SeekNextUsingHint, Skip,
    };
    match (left, right) {
        (Include, _) | (_, Include) => Include,
        (SeekNextUsingHint, SeekNextUsingHint) => SeekNextUsingHint,
        // A skip of one cell, or to a hint, may lead anywhere, so the list goes cell by cell.
        (Skip | SeekNextUsingHint, code) | (code, Skip | SeekNextUsingHint) => {
            if code.is_include() { Include } else { Skip }
        }
        (NextRow, code) | (code, NextRow) => match code {
            IncludeAndNextColumn => IncludeAndNextColumn,
            IncludeAndSeekNextRow => IncludeAndSeekNextRow,
            NextColumn => NextColumn,
            _ => NextRow,
        },
        (IncludeAndSeekNextRow, IncludeAndSeekNextRow) => IncludeAndSeekNextRow,
        (NextColumn, NextColumn) => NextColumn,
        (IncludeAndNextColumn, _)
        | (_, IncludeAndNextColumn)
        | (IncludeAndSeekNextRow, NextColumn)
        | (NextColumn, IncludeAndSeekNextRow) => IncludeAndNextColumn,
    }
}

fn is_null_code(error: &Error) -> bool {
    error.exception() == Exception::NullPointer
}
