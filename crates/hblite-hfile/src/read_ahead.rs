//! Requests the blocks that a scan of a mapped file is going to read.
//!
//! The operating system reads nothing ahead (see `mapping.rs` of `hblite-env`), so a scan asks for
//! windows of the file, which grow as it continues. A window that is already in memory, which takes
//! a fraction of a microsecond to find out, is not requested.

use std::ops::Range;

use hblite_model::Direction;

use crate::block::BlockFile;

/// How far a scan gets in the file before it asks: finding out takes longer than many short scans.
const DISTANCE_BEFORE: u64 = 128 << 10;
/// The first window.
const WINDOW_MIN: u64 = 256 << 10;
/// The largest window: half a millisecond of a fast disk, and enough to keep a slow one busy.
const WINDOW_MAX: u64 = 2 << 20;

/// What one scan has asked for. Small, because most scans are short.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    /// The first block that was stepped into.
    first: Option<u64>,
    windows: Option<Box<Windows>>,
}

/// The windows of a scan.
#[derive(Debug)]
struct Windows {
    covered: Range<u64>,
    /// The size of the next one.
    size: u64,
}

impl ReadAhead {
    /// Notes a step into the block at this offset. Returns whether the scan should
    /// [`Self::advance`].
    #[inline]
    pub(crate) fn step(&mut self, offset: u64) -> bool {
        offset.abs_diff(*self.first.get_or_insert(offset)) >= DISTANCE_BEFORE
    }

    /// Asks for the next window if the scan, which steps into a block with this range of the file,
    /// comes near the end of what it has asked for.
    #[cold]
    pub(crate) fn advance(&mut self, file: &BlockFile, block: Range<u64>, direction: Direction) {
        let windows = self.windows.get_or_insert_with(Box::default);
        if let Some(range) = windows.next(&block, direction, file.end())
            && !(file.is_in_memory(range.start) && file.is_in_memory(range.end - 1))
        {
            file.request(range);
        }
    }
}

impl Default for Windows {
    fn default() -> Self {
        Self { covered: 0..0, size: WINDOW_MIN }
    }
}

impl Windows {
    /// The next window, if the scan comes near the end of what is covered.
    fn next(&mut self, block: &Range<u64>, direction: Direction, end: u64) -> Option<Range<u64>> {
        let is_covered = self.covered.contains(&block.start);
        let margin = self.size / 2;
        let window = if direction.is_reverse() {
            let lowest = block.start.saturating_sub(margin);
            if is_covered && self.covered.start <= lowest {
                return None;
            }
            let high = if is_covered { self.covered.start } else { block.end };
            high.saturating_sub(self.size)..high
        } else {
            let highest = block.end.saturating_add(margin).min(end);
            if is_covered && self.covered.end >= highest {
                return None;
            }
            let low = if is_covered { self.covered.end } else { block.start };
            low..low.saturating_add(self.size).max(block.end).min(end)
        };
        self.covered = if is_covered {
            self.covered.start.min(window.start)..self.covered.end.max(window.end)
        } else {
            window.clone()
        };
        self.size = (self.size * 2).min(WINDOW_MAX);
        (!window.is_empty()).then_some(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 64 << 10;
    const END: u64 = 100 * BLOCK + 5;

    /// The windows of a scan over these blocks.
    fn windows(blocks: impl Iterator<Item = u64>, direction: Direction) -> Vec<Range<u64>> {
        let mut ahead = Windows::default();
        let block = |number: u64| number * BLOCK..((number + 1) * BLOCK).min(END);
        blocks.filter_map(|number| ahead.next(&block(number), direction, END)).collect()
    }

    #[test]
    fn windows_follow_each_other_grow_and_are_ahead_of_the_scan() {
        let forward = windows(1..=100, Direction::Forward);
        assert_eq!(forward[0], BLOCK..5 * BLOCK);
        assert!(forward.windows(2).all(|pair| pair[0].end == pair[1].start), "{forward:?}");
        assert_eq!(forward.last().unwrap().end, END);
        assert_eq!(forward[4].end - forward[4].start, WINDOW_MAX);

        let reverse = windows((0..100).rev(), Direction::Reverse);
        assert_eq!(reverse[0], 96 * BLOCK..100 * BLOCK);
        assert!(reverse.windows(2).all(|pair| pair[0].start == pair[1].end), "{reverse:?}");
        assert_eq!(reverse.last().unwrap().start, 0);
    }

    #[test]
    fn a_scan_that_stays_near_where_it_began_asks_for_nothing() {
        let mut ahead = ReadAhead::default();
        let is_due = [9, 8, 9, 8, 9, 8, 7, 6].map(|number| ahead.step(number * BLOCK));
        assert_eq!(is_due, [false, false, false, false, false, false, true, true]);
    }

    #[test]
    fn a_scan_that_is_elsewhere_begins_anew() {
        let found = windows([1, 60, 3].into_iter(), Direction::Forward);
        let starts: Vec<u64> = found.iter().map(|window| window.start / BLOCK).collect();
        assert_eq!(starts, [1, 60, 3]);
        let huge = 0..10 * WINDOW_MAX;
        let window = Windows::default().next(&huge, Direction::Forward, 20 * WINDOW_MAX);
        assert_eq!(window, Some(huge), "a block is asked for as a whole");
    }

    #[test]
    fn numbers_of_a_damaged_file_do_no_harm() {
        let mut ahead = Windows::default();
        for direction in [Direction::Forward, Direction::Reverse] {
            for block in [u64::MAX - 5..u64::MAX, 0..0, 7..u64::MAX] {
                let _ = ahead.next(&block, direction, END);
            }
        }
    }
}
