//! The counters of a region: the only source of status, heat maps and benchmarks.
//!
//! Threads: any; the counters are independent of one another.

use std::sync::atomic::{AtomicU64, Ordering};

use hblite_model::{RegionLoad, RegionStatus};

use super::Region;
pub(super) use crate::row_counts::RegionRowCounts;

macro_rules! counters {
    ($($name:ident,)*) => {
        #[derive(Debug, Default)]
        pub(crate) struct RegionLoadCounters { $($name: AtomicU64,)* }

        impl RegionLoadCounters {
            $(
                #[inline]
                pub(crate) fn $name(&self, count: u64) {
                    self.$name.fetch_add(count, Ordering::Relaxed);
                }
            )*

            /// Adds these counts to `load`.
            pub(crate) fn add_to(&self, load: &mut RegionLoad) {
                $(load.$name += self.$name.load(Ordering::Relaxed);)*
            }
        }
    };
}

counters! {
    read_requests, write_requests, cells_read, cells_examined, bytes_read, cells_written,
    bytes_written, flushes, compactions,
}

impl Region {
    /// The rows of its requests.
    pub(crate) fn row_counts(&self) -> &RegionRowCounts {
        &self.row_counts
    }

    /// Counters, files and memory.
    pub(crate) fn status(&self) -> RegionStatus {
        let files: Vec<_> = self.stores().iter().map(|store| store.files()).collect();
        let files = || files.iter().flat_map(|files| files.iter());
        RegionStatus {
            region: self.info().clone(),
            load: self.load(),
            store_count: self.stores().len() as u64,
            store_file_count: files().count() as u64,
            store_file_size_bytes: files().map(|file| file.size_bytes()).sum(),
            memstore_size_bytes: self.memstore_size_bytes() as u64,
        }
    }
}
