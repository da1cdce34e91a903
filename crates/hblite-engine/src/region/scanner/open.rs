//! A scan begins: what its stores hold at one moment.

use std::sync::Arc;

use hblite_model::{CellComparator, Result, Scan};

use super::super::FileGate;
use super::{RegionScanner, StoreSources};
use crate::store::Store;
use crate::store::key_value_scanner::{SourceScanner, select_sources};
use crate::store::scanner::is_get;

/// Where a scan of a region reads from.
#[derive(Clone, Copy)]
pub(crate) struct ScanSources<'a> {
    pub(crate) stores: &'a [Arc<Store>],
    /// What files of several stores come through at once.
    pub(crate) gate: &'a FileGate,
}

impl RegionScanner {
    /// A scanner of what is in `from`, whose stores are in the order of their families, at the
    /// region's present `read_point`.
    ///
    /// `seed` feeds filters that choose at random.
    ///
    /// # Errors
    /// As [`RegionScanner::new`].
    pub(crate) fn open(
        from: ScanSources<'_>,
        scan: &Scan,
        comparator: CellComparator,
        read_point: impl Fn() -> u64,
        now: i64,
        seed: u64,
    ) -> Result<Self> {
        loop {
            let passed = from.gate.enter();
            let families = sources_at(from.stores, scan, read_point(), now)?;
            if let Some(families) = families.filter(|_| from.gate.was_open_since(passed)) {
                return Self::new(families, scan, comparator, now, seed);
            }
        }
    }
}

/// The sources of the wanted families, with everything up to the read point; `None` if the read
/// point is outdated.
///
/// A flush or compaction drops versions that newer ones hide. If a file has cells beyond the read
/// point, it was committed after that was taken, and what it dropped might be visible there.
fn sources_at(
    stores: &[Arc<Store>],
    scan: &Scan,
    read_point: u64,
    now: i64,
) -> Result<Option<Vec<StoreSources<SourceScanner>>>> {
    let mut families = Vec::with_capacity(stores.len());
    for store in stores {
        let info = store.scan_info();
        if scan.columns().get(&info.family).is_none() {
            continue;
        }
        let (segments, files) = if is_get(scan) {
            store.view_of_row(read_point, scan.start())
        } else {
            store.view(read_point)
        };
        if files.iter().any(|file| file.sequence_id_max() > read_point) {
            return Ok(None);
        }
        let sources = select_sources(segments, &files, info, scan, read_point, now)?;
        families.push(StoreSources { info: Arc::clone(info), sources });
    }
    Ok(Some(families))
}
