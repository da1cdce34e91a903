//! Ranges of rows: the parts in which a table is copied and compared.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use hblite::{Scan, Table};
use parking_lot::Mutex;

use crate::error::TransferError;

/// Rows from `start`, inclusive, to `stop`, exclusive. An empty `stop` is the end of the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowRange {
    /// The first row.
    pub start: Vec<u8>,
    /// The row after the last.
    pub stop: Vec<u8>,
}

impl RowRange {
    /// One range for each region of a table, in order of the rows.
    ///
    /// # Errors
    /// Those of the store; `TableNotFound`.
    pub fn of_regions(table: &Table) -> hblite::Result<Vec<Self>> {
        let regions = table.regions()?;
        Ok(regions
            .iter()
            .map(|region| Self {
                start: region.start_key().to_vec(),
                stop: region.end_key().to_vec(),
            })
            .collect())
    }

    /// The rows of `scan` that are in the range.
    pub(crate) fn scan(&self, scan: &Scan) -> Scan {
        scan.clone().with_start_row(&self.start).with_stop_row(&self.stop)
    }
}

/// Does `work` for each index below `count` in up to `threads` threads, and returns the results in
/// order. After a failure no more work begins; the failure of the lowest index is returned.
pub(crate) fn in_parallel<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, TransferError> + Sync,
) -> Result<Vec<T>, TransferError> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(count));
    let take_turns = || {
        while !has_failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let result = work(index);
            has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().push((index, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // If no other thread can be started, this one does the work.
            if thread::Builder::new().spawn_scoped(scope, take_turns).is_err() {
                break;
            }
        }
        take_turns();
    });
    let mut results = results.into_inner();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let squares = in_parallel(100, 4, |index| Ok(index * index)).unwrap();
        assert_eq!(squares, (0..100).map(|index| index * index).collect::<Vec<_>>());
        assert!(in_parallel(0, 4, Ok).unwrap().is_empty());
    }

    #[test]
    fn a_failure_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let result = in_parallel(1_000, 2, |index| {
            begun.fetch_add(1, Ordering::Relaxed);
            if index == 3 { Err(TransferError::Interrupted) } else { Ok(()) }
        });
        assert!(matches!(result, Err(TransferError::Interrupted)));
        assert!(begun.load(Ordering::Relaxed) < 1_000);
    }
}
