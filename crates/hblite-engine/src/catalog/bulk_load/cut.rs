//! Splits a file at region boundaries: a new file for each region that has some of its rows,
//! written with the settings of its family (`LoadIncrementalHFiles.splitStoreFile`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_hfile::file_info::{
    BULKLOAD_SOURCE_TASK, BULKLOAD_TIMESTAMP, EXCLUDE_FROM_MINOR_COMPACTION,
};
use hblite_hfile::{BlockUse, HFileScanner, HFileWriter, StoreFileInfo};
use hblite_model::cell::key;
use hblite_model::{Error, Exception, RegionInfo, Result};

use crate::catalog::table;
use crate::context::EngineContext;
use crate::region::Region;
use crate::store::foreign_file::ForeignFile;

/// File info that the parts take over from the whole file.
const KEPT: [&[u8]; 3] = [BULKLOAD_TIMESTAMP, BULKLOAD_SOURCE_TASK, EXCLUDE_FROM_MINOR_COMPACTION];

/// A file in the scratch directory.
pub(super) struct Staged {
    pub(super) family: Vec<u8>,
    pub(super) path: PathBuf,
    pub(super) first_row: Vec<u8>,
    pub(super) last_row: Vec<u8>,
}

/// Splits the file into parts in `scratch`, one for each of these regions that has some of its
/// rows.
///
/// # Errors
/// `Io`, `CorruptHFile`; `Io` if a row is in no region.
pub(super) fn cut(
    context: &EngineContext,
    file: &ForeignFile<'_>,
    family: &[u8],
    regions: &[Arc<Region>],
    scratch: &Path,
) -> Result<Vec<Staged>> {
    let mut scanner = HFileScanner::new(Arc::clone(file.reader())).with_block_use(BlockUse::Verify);
    let mut parts = Vec::new();
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        let Some(row) = scanner.current_key().map(|key| key::row(key).to_vec()) else { break };
        let region = regions.iter().find(|region| region.info().contains_row(&row));
        let Some(region) = region else {
            let table = regions.first().map(|region| region.info().table().clone());
            return Err(table.map_or_else(
                || Error::new(Exception::NotServingRegion, "the table has no region in service"),
                |name| table::no_region(&name, &row),
            ));
        };
        parts.push(write_part(context, file, family, region, &mut scanner, scratch)?);
        is_at_cell = scanner.current().is_some();
    }
    Ok(parts)
}

/// Writes the cells from the scanner's position to the region's end.
fn write_part(
    context: &EngineContext,
    file: &ForeignFile<'_>,
    family: &[u8],
    region: &Region,
    scanner: &mut HFileScanner,
    scratch: &Path,
) -> Result<Staged> {
    let path = scratch.join(context.random_name());
    let has_tags = file.reader().has_tags_and_mvcc().0;
    let options = region.writer_options(family, has_tags)?;
    let mut writer = HFileWriter::create(context.env.fs.as_ref(), &path, options)?;
    for key in KEPT {
        if let Some(value) = file.reader().file_info(key) {
            writer.append_file_info(key, value);
        }
    }
    let (mut first_row, mut last_row) = (None, Vec::new());
    while let Some(cell) = scanner.current() {
        if is_beyond(region.info(), cell.row()) {
            break;
        }
        writer.append(&cell)?;
        first_row.get_or_insert_with(|| cell.row().to_vec());
        last_row.clear();
        last_row.extend_from_slice(cell.row());
        if !scanner.next()? {
            break;
        }
    }
    writer.finish(&StoreFileInfo::default())?;
    let first_row = first_row.unwrap_or_default();
    Ok(Staged { family: family.to_vec(), path, first_row, last_row })
}

fn is_beyond(region: &RegionInfo, row: &[u8]) -> bool {
    !region.end_key().is_empty() && row >= region.end_key()
}
