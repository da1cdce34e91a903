//! Opens regions for which hbase:meta has rows: one, or many on several threads.

use std::sync::Arc;

use hblite_env::thread;
use hblite_model::{Error, Exception, Result, TableDescriptor};

use super::meta::RegionRow;
use crate::context::EngineContext;
use crate::region::Region;

/// Fewer regions than this are opened one after the other.
const REGIONS_PER_THREAD_MIN: usize = 8;

/// Opens a region whose log counts from the id in `row` on.
///
/// # Errors
/// `Io`, `CorruptHFile`.
pub(super) fn open_region(
    context: &Arc<EngineContext>,
    row: &RegionRow,
    descriptor: &Arc<TableDescriptor>,
) -> Result<Arc<Region>> {
    let region = Region::open(context, row.info.clone(), row.manifest, Arc::clone(descriptor))?;
    region.skip_to(row.open_sequence_number.saturating_sub(1));
    Ok(region)
}

/// Opens regions, on several threads if there are many.
///
/// # Errors
/// As [`open_region`]; then no region is in service.
pub(super) fn open_all(
    context: &Arc<EngineContext>,
    opening: &[(RegionRow, Arc<TableDescriptor>)],
) -> Result<Vec<Arc<Region>>> {
    let open = |part: &[(RegionRow, Arc<TableDescriptor>)]| -> Result<Vec<Arc<Region>>> {
        part.iter().map(|(row, descriptor)| open_region(context, row, descriptor)).collect()
    };
    if opening.len() <= REGIONS_PER_THREAD_MIN {
        return open(opening);
    }
    // This reads several files on Linux.
    let thread_count = thread::available_parallelism().map_or(1, |count| count.get());
    let part_size = opening.len().div_ceil(thread_count).max(REGIONS_PER_THREAD_MIN);
    if opening.len() <= part_size {
        return open(opening);
    }
    thread::scope(|scope| {
        let open = &open;
        let start = |part| {
            let started = thread::Builder::new().spawn_scoped(scope, move || open(part));
            // If no thread can be started, this one does the work.
            started.map_err(|_| part)
        };
        let threads: Vec<_> = opening.chunks(part_size).map(start).collect();
        let mut regions = Vec::with_capacity(opening.len());
        for thread in threads {
            regions.extend(match thread {
                Ok(thread) => thread.join().map_err(|_| {
                    Error::new(Exception::Io, "a thread that opened regions ended early")
                })??,
                Err(part) => open(part)?,
            });
        }
        Ok(regions)
    })
}
