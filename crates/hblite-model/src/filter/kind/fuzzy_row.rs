//! `FuzzyRowFilter`: rows that match a pattern byte by byte, found by seeking.
//!
//! A row is compared with as many bytes of a pattern as it has, so short rows match. If a row
//! matches no pattern, each pattern yields the next row that it could match; the nearest of these
//! in scan order is the hint. A scan that seeks sees only what the hints reveal, so odd hints show
//! in the answer (in reverse, wildcards after the deciding position count as `00`). The rules are
//! those of HBase 2.6.1.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;

use super::{Filter, Kind};
use crate::bytes::to_string_binary;
use crate::cell::{CellRef, key};
use crate::direction::Direction;
use crate::error::{Error, Result};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode, first_on_row};

/// Rows that match one of the patterns, byte by byte.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FuzzyRowFilter {
    /// The patterns, at least one.
    pub keys: Vec<FuzzyKey>,
}

impl Filter {
    /// Rows that match one of the patterns (`FuzzyRowFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if there is no pattern, or if a mask and its key differ in
    /// length.
    pub fn fuzzy_row(keys: Vec<FuzzyKey>) -> Result<Self> {
        for FuzzyKey { key, mask } in &keys {
            if key.len() != mask.len() {
                let (key, mask) = (to_string_binary(key), to_string_binary(mask));
                let message = format!("Fuzzy pair lengths do not match: {{{key},{mask}}}");
                return Err(Error::illegal_argument(message));
            }
        }
        if keys.is_empty() {
            // Java's message comes from a queue that cannot be empty, and is null.
            return Err(Error::illegal_argument(""));
        }
        Ok(Self::FuzzyRow(FuzzyRowFilter { keys }))
    }
}

impl Kind for FuzzyRowFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator::new(&self.keys, make.direction()))
    }

    fn is_hinting(&self) -> bool {
        true
    }
}

impl fmt::Display for FuzzyRowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FuzzyRowFilter{fuzzyKeysData=")?;
        for pattern in &self.keys {
            let (key, mask) = processed(pattern);
            let mask: Vec<u8> = mask.iter().map(|byte| *byte as u8).collect();
            write!(f, "{{{}:{}}}", to_string_binary(&key), to_string_binary(&mask))?;
        }
        f.write_str("}, ")
    }
}

/// A key pattern of a [`FuzzyRowFilter`]. Key and mask have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyKey {
    /// The bytes that a row must have.
    pub key: Vec<u8>,
    /// For each byte of the key: 0 if the row must have it, 1 if any byte matches.
    pub mask: Vec<u8>,
}

/// Mask byte of a byte that must match, as HBase stores it.
const FIXED: i8 = -1;
/// Mask byte of a wildcard, as HBase prints it.
const WILDCARD: i8 = 2;

/// A pattern as HBase stores it: `FIXED` and `WILDCARD` in the mask, 0 under wildcards.
///
/// A mask with only these two values is assumed to have that form already.
fn processed(pattern: &FuzzyKey) -> (Vec<u8>, Vec<i8>) {
    let mut key = pattern.key.clone();
    let mut mask: Vec<i8> = pattern.mask.iter().map(|byte| *byte as i8).collect();
    if mask.iter().any(|byte| *byte != FIXED && *byte != WILDCARD) {
        for byte in &mut mask {
            *byte = match *byte {
                0 => FIXED,
                1 => WILDCARD,
                other => other,
            };
        }
    }
    for (byte, mask) in key.iter_mut().zip(&mask) {
        if *mask == WILDCARD {
            *byte = 0;
        }
    }
    (key, mask)
}

/// A pattern ready to compare.
#[derive(Debug)]
struct Pattern {
    key: Vec<u8>,
    /// Per byte of the key: `0xff` if it must match, 0 if not.
    mask: Vec<u8>,
}

impl Pattern {
    fn new(pattern: &FuzzyKey) -> Self {
        let (key, mask) = processed(pattern);
        let mask = mask.iter().map(|byte| if *byte < 0 { 0xff } else { 0 }).collect();
        Self { key, mask }
    }

    fn matches(&self, row: &[u8]) -> bool {
        self.key.iter().zip(&self.mask).zip(row).all(|((key, mask), byte)| byte & mask == *key)
    }

    fn is_wildcard(&self, index: usize) -> bool {
        self.mask.get(index).is_none_or(|mask| *mask == 0)
    }

    /// The row to seek to from `row`, which does not match; `None` if no later row matches.
    ///
    /// Fixed bytes are set to the pattern's. If that alone advances the row, the rest is arbitrary;
    /// otherwise the last wildcard before the first mismatch that can advance does so.
    fn next_row(&self, row: &[u8], direction: Direction) -> Option<Vec<u8>> {
        let (first, last) = if direction.is_reverse() { (0xff, 0) } else { (0, 0xff) };
        let mut next = self.key.clone();
        if row.len() > next.len() {
            next.resize(row.len(), first);
        }
        let mut moving: Option<usize> = None;
        let mut has_moved = false;
        for (index, &byte) in row.iter().enumerate() {
            if self.is_wildcard(index) {
                next[index] = byte;
                if byte != last {
                    moving = Some(index);
                }
                continue;
            }
            match direction.apply(byte.cmp(&self.key[index])) {
                Ordering::Less => {
                    has_moved = true;
                    break;
                }
                Ordering::Greater => break,
                Ordering::Equal => {}
            }
        }
        if !has_moved {
            let at = moving?;
            // `moving` is never at the last byte of the direction, so this cannot overflow.
            next[at] = if direction.is_reverse() { next[at] - 1 } else { next[at] + 1 };
            for (index, byte) in next.iter_mut().enumerate().skip(at + 1) {
                if self.is_wildcard(index) {
                    *byte = first;
                }
            }
        }
        if !direction.is_reverse() {
            // Trailing wildcards are removed: "a" precedes "a\x00" and may match as well.
            let fixed = self.mask.iter().take(next.len()).rposition(|mask| *mask != 0);
            let length = fixed.map_or(0, |at| at + 1).max(moving.map_or(0, |at| at + 1));
            next.truncate(length);
        }
        Some(next)
    }
}

/// A row to seek to; the greatest is the first in scan order.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    row: Vec<u8>,
    pattern: usize,
    direction: Direction,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.direction.apply(other.row.cmp(&self.row)).then(other.pattern.cmp(&self.pattern))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug)]
struct Evaluator {
    patterns: Vec<Pattern>,
    direction: Direction,
    /// The pattern that matched last; the next row is likely to match it too.
    last_match: usize,
    rejected: bool,
    is_done: bool,
    /// The next row of each pattern that can still match; filled at the first hint.
    candidates: Option<BinaryHeap<Candidate>>,
}

impl Evaluator {
    fn new(keys: &[FuzzyKey], direction: Direction) -> Self {
        Self {
            patterns: keys.iter().map(Pattern::new).collect(),
            direction,
            last_match: 0,
            rejected: false,
            is_done: false,
            candidates: None,
        }
    }

    /// The nearest row, from `row` on, that some pattern may match.
    fn next_row(&mut self, row: &[u8]) -> Option<&[u8]> {
        let (patterns, direction) = (&self.patterns, self.direction);
        let candidate = |pattern: usize| {
            let next = patterns[pattern].next_row(row, direction)?;
            Some(Candidate { row: next, pattern, direction })
        };
        match &mut self.candidates {
            None => {
                self.candidates = Some((0..patterns.len()).filter_map(candidate).collect());
            }
            Some(candidates) => {
                // Candidates that the scan has reached or passed are useless. A pattern's next row
                // may again be behind the scan, but each is computed at most once per call.
                let mut reached = Vec::new();
                while let Some(nearest) = candidates.peek()
                    && direction.apply(row.cmp(&nearest.row)) != Ordering::Less
                {
                    reached.extend(candidates.pop().map(|nearest| nearest.pattern));
                }
                candidates.extend(reached.into_iter().filter_map(candidate));
            }
        }
        self.candidates.as_ref()?.peek().map(|nearest| nearest.row.as_slice())
    }
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.rejected = false;
    }

    fn filter_all_remaining(&self) -> bool {
        self.is_done
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let row = cell.row();
        let count = self.patterns.len();
        for index in (self.last_match..count).chain(0..self.last_match.min(count)) {
            if self.patterns[index].matches(row) {
                self.last_match = index;
                return Ok(ReturnCode::Include);
            }
        }
        self.last_match = 0;
        self.rejected = true;
        Ok(ReturnCode::SeekNextUsingHint)
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        let hint = self.next_row(key::row(key)).map(first_on_row);
        self.is_done |= hint.is_none();
        hint
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}
