//! What is counted of a region: the one source of status, heat maps and benchmarks.
//!
//! Threads: any; the counters are independent of one another.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Requests and amounts of a region since it was opened.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct RegionLoad { $($(#[$doc])* pub $name: u64,)* }

        #[derive(Debug, Default)]
        pub(crate) struct RegionLoadCounters { $($name: AtomicU64,)* }

        impl RegionLoadCounters {
            $(
                #[inline]
                pub(crate) fn $name(&self, count: u64) {
                    self.$name.fetch_add(count, Ordering::Relaxed);
                }
            )*

            pub(crate) fn snapshot(&self) -> RegionLoad {
                RegionLoad { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Gets, and rows of scans, that were answered.
    read_requests,
    /// Rows that were written.
    write_requests,
    /// Cells given to readers.
    cells_read,
    /// Cells that readers looked at, given or not.
    cells_examined,
    /// Bytes of the cells given to readers.
    bytes_read,
    /// Cells written, delete markers included.
    cells_written,
    /// Bytes of the cells written.
    bytes_written,
    /// Flushes.
    flushes,
    /// Compactions.
    compactions,
}
