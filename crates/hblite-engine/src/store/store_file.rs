//! A file of a store: an HFile, or a half of one that another region wrote.
//!
//! ```text
//! <32 hex digits>                       an HFile
//! <32 hex digits>_SeqId_<n>_            an HFile from a bulk load
//! <file>.<encoded region name>          a reference: half of that file of that region, see
//!                                       `reference.rs`
//! ```
//!
//! A file whose first or last key belongs to another family, or lies outside the region, does not
//! belong to the store: it is refused when it is opened.
//!
//! Source: HBase's `StoreFileInfo`.
//! Threads: any; a store file never changes.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_hfile::{BlockCache, HFileReader, file_info};
use hblite_model::bytes::to_string_binary;
use hblite_model::cell::key;
use hblite_model::{ColumnFamilyDescriptor, RegionInfo, Result};

use super::mob::MobFiles;
use super::reference;
pub(crate) use super::reference::Half;
use crate::context::EngineContext;
use crate::layout::Layout;
use crate::sealed;

/// Separates the name and the sequence id of a bulk-loaded file.
const LOADED_INFIX: &str = "_SeqId_";

/// A file of a store.
#[derive(Debug)]
pub(crate) struct StoreFile {
    path: PathBuf,
    reader: Arc<HFileReader>,
    half: Option<Half>,
    /// For a bulk-loaded file: the sequence id of the file and all of its cells, whatever they
    /// contain.
    loaded_id: Option<u64>,
    /// Where HBase put the values that are not in the file.
    mob_files: Option<Arc<MobFiles>>,
}

impl StoreFile {
    /// Opens the file or reference at `path`, which must belong to `family` of `region`.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`; the latter also if the file belongs to another family or region.
    /// `CorruptHFile` also if the file refers to a file with medium objects that is missing.
    pub(crate) fn open(
        context: &EngineContext,
        region: &RegionInfo,
        family: &ColumnFamilyDescriptor,
        path: &Path,
    ) -> Result<Self> {
        let cache = context.block_cache.clone();
        let fs = &context.env.fs;
        let is_mapped = context.options.are_files_mapped;
        let open = |path: &Path| {
            let open = if is_mapped { HFileReader::open_mapped } else { HFileReader::open };
            let reader = open(fs.as_ref(), path, cache)?;
            Ok(if family.is_in_memory() { reader.preferred() } else { reader })
        };
        let file = Self::open_reader(fs, &context.layout, path, open)?;
        file.check_owner(region, family.name())?;
        if family.prefetches_blocks_on_open() {
            // Damage shows when the data is read.
            let _ = file.reader.fill_cache();
        }
        Ok(file)
    }

    /// Like [`StoreFile::open`], when no store is open. Blocks are verified whenever they are read.
    pub(crate) fn open_with(
        fs: &Arc<dyn FileSystem>,
        layout: &Layout,
        cache: Option<Arc<BlockCache>>,
        path: &Path,
    ) -> Result<Self> {
        Self::open_reader(fs, layout, path, |path| HFileReader::open(fs.as_ref(), path, cache))
    }

    fn open_reader(
        fs: &Arc<dyn FileSystem>,
        layout: &Layout,
        path: &Path,
        open: impl FnOnce(&Path) -> Result<HFileReader>,
    ) -> Result<Self> {
        let Some((name, region)) = split_reference(path) else {
            let reader = open(path)?;
            let mob_files = MobFiles::find(fs, layout, &reader)?;
            return Ok(Self::new(path, reader, None, mob_files));
        };
        let half = Half::read(fs.as_ref(), path)?;
        let target = layout.referred_file(path, name, region);
        let reader = open(&target)?;
        let mob_files = MobFiles::find(fs, layout, &reader)?;
        Ok(Self::new(path, reader, Some(half), mob_files))
    }

    /// A whole file with this name.
    #[cfg(test)]
    pub(crate) fn over(name: &str, reader: HFileReader) -> Self {
        Self::new(Path::new(name), reader, None, None)
    }

    fn new(
        path: &Path,
        reader: HFileReader,
        half: Option<Half>,
        mob_files: Option<MobFiles>,
    ) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A file without an id in its name was loaded as older than everything.
        let is_loaded = || reader.file_info(file_info::BULKLOAD_TIMESTAMP).is_some();
        let loaded_id = loaded_sequence_id(name).or_else(|| is_loaded().then_some(0));
        Self {
            path: path.to_path_buf(),
            reader: Arc::new(reader),
            half,
            loaded_id,
            mob_files: mob_files.map(Arc::new),
        }
    }

    /// Refuses a file that cannot belong to this family of this region.
    ///
    /// # Errors
    /// `CorruptHFile`.
    pub(crate) fn check_owner(&self, region: &RegionInfo, family: &[u8]) -> Result<()> {
        match self.misfit(region, family) {
            None => Ok(()),
            Some(what) => Err(sealed::damaged(&self.path, what, reference::REMEDY)),
        }
    }

    /// Why this cannot be a file of this family of this region; `None` if it can.
    pub(crate) fn misfit(&self, region: &RegionInfo, family: &[u8]) -> Option<String> {
        let reader = &self.reader;
        for key in [reader.first_key(), reader.last_key()].into_iter().flatten() {
            if key::family(key) != family {
                let found = to_string_binary(key::family(key));
                return Some(format!("it has cells of another family, {found}"));
            }
            if self.half.is_none() && !region.contains_row(key::row(key)) {
                let row = to_string_binary(key::row(key));
                return Some(format!(
                    "it has row '{row}', which is outside of region {}",
                    region.region_name_as_string()
                ));
            }
        }
        self.half.as_ref().and_then(|half| half.misfit(reader, region))
    }

    /// The same file for a reader that copies its contents: opened again, and every block is read
    /// from the file and verified, whatever was read or cached before. All blocks without cells are
    /// verified here, so that a damaged file is refused whichever part is damaged.
    ///
    /// # Errors
    /// `CorruptHFile` with the offset, `Io`.
    pub(crate) fn reopen(&self, fs: &dyn FileSystem) -> Result<Self> {
        let reader = self.reader.reopen(fs, self.reader.path())?;
        reader.verify_checksums_except_cells()?;
        Ok(Self {
            path: self.path.clone(),
            reader: Arc::new(reader),
            half: self.half.clone(),
            loaded_id: self.loaded_id,
            mob_files: self.mob_files.clone(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The latest timestamp that the store had given to cells of the region, unless its clock was
    /// later.
    pub(crate) fn given_until(&self) -> Option<i64> {
        let value = self.reader.file_info(file_info::GIVEN_UNTIL)?;
        value.try_into().ok().map(i64::from_be_bytes)
    }

    pub(crate) fn reader(&self) -> &Arc<HFileReader> {
        &self.reader
    }

    /// Which half this is; `None` for a whole file.
    pub(crate) fn half(&self) -> Option<&Half> {
        self.half.as_ref()
    }

    /// The files with the values that are not in this one.
    pub(crate) fn mob_files(&self) -> Option<&Arc<MobFiles>> {
        self.mob_files.as_ref()
    }

    pub(crate) fn is_reference(&self) -> bool {
        self.half.is_some()
    }

    /// The key of the largest cell, and the cell's size.
    pub(crate) fn largest_cell(&self) -> Option<(&[u8], u64)> {
        let size = self.reader.file_info(file_info::LENGTH_OF_BIGGEST_CELL)?;
        let cell = self.reader.file_info(file_info::KEY_OF_BIGGEST_CELL)?;
        Some((cell, u64::from_be_bytes(size.try_into().ok()?)))
    }

    /// The largest row with its size, if it is noted.
    pub(crate) fn largest_row(&self) -> Option<(&[u8], u64)> {
        let (size, row) = self.reader.file_info(file_info::LARGEST_ROW)?.split_first_chunk()?;
        Some((row, u64::from_be_bytes(*size)))
    }

    /// The number of delete markers. HBase's files only say how many are of a whole family.
    pub(crate) fn delete_markers(&self) -> u64 {
        let value = self.reader.file_info(file_info::DELETE_MARKERS);
        let markers = value.and_then(|value| value.try_into().ok()).map(u64::from_be_bytes);
        markers.or_else(|| self.reader.delete_family_count()).unwrap_or(0)
    }

    /// Whether the file is known to have no delete markers. HBase's files do not say.
    pub(crate) fn has_only_puts(&self) -> bool {
        self.reader.file_info(file_info::DELETE_MARKERS) == Some(&0_u64.to_be_bytes())
    }

    /// The sequence id up to which its cells, and those of earlier files, are in files.
    pub(crate) fn sequence_id_max(&self) -> u64 {
        self.loaded_id.unwrap_or_else(|| self.reader.max_sequence_id().unwrap_or(0))
    }

    /// The highest sequence id that a cell in it still has.
    pub(crate) fn cell_sequence_id_max(&self) -> u64 {
        self.loaded_id.unwrap_or_else(|| self.reader.max_cell_sequence_id())
    }

    /// The sequence id of all cells of a bulk-loaded file.
    pub(crate) fn loaded_id(&self) -> Option<u64> {
        self.loaded_id
    }

    /// When the store got the file, in milliseconds. Unknown for a bulk-loaded file, which only
    /// records when it was written elsewhere.
    pub(crate) fn since(&self) -> Option<i64> {
        self.loaded_id.map_or_else(|| self.reader.create_time(), |_| None)
    }

    /// Orders files by age, the older one first (`StoreFileComparators.SEQ_ID`). Of files that were
    /// loaded together, the larger one counts as older.
    pub(crate) fn compare_age(&self, other: &Self) -> Ordering {
        let loaded_at = |file: &Self| {
            let time = file.reader.file_info(file_info::BULKLOAD_TIMESTAMP);
            let time = time.and_then(|time| time.try_into().ok()).map(i64::from_be_bytes);
            time.unwrap_or(i64::MAX)
        };
        (self.sequence_id_max().cmp(&other.sequence_id_max()))
            .then_with(|| other.reader.length().cmp(&self.reader.length()))
            .then_with(|| loaded_at(self).cmp(&loaded_at(other)))
            .then_with(|| self.name().cmp(other.name()))
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Removes the blocks of this file from the cache. Returns how many there were.
    pub(crate) fn evict_blocks(&self) -> u64 {
        self.reader.evict_blocks()
    }

    /// Bytes on disk; for a reference, half of them.
    pub(crate) fn size_bytes(&self) -> u64 {
        if self.is_reference() { self.reader.length() / 2 } else { self.reader.length() }
    }
}

/// The file and region in the name of a reference.
pub(crate) fn split_reference(path: &Path) -> Option<(&str, &str)> {
    path.file_name()?.to_str()?.split_once('.')
}

/// Whether this can be the name of a store file or reference (`StoreFileInfo.isValid`).
pub(crate) fn is_store_file_name(name: &str) -> bool {
    let (file, region) = name.split_once('.').unwrap_or((name, "0"));
    let hex_length = file.bytes().take_while(u8::is_ascii_hexdigit).count();
    let is_region = !region.is_empty() && region.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_whole = hex_length == file.len() || loaded_sequence_id(file).is_some();
    hex_length > 0 && is_region && is_whole
}

/// The name of a file that is loaded with this sequence id; `name` is 32 hex digits.
pub(crate) fn loaded_name(name: &str, sequence_id: u64) -> String {
    format!("{name}{LOADED_INFIX}{sequence_id}_")
}

/// The sequence id in the name of a bulk-loaded file, or of a reference to one.
pub(crate) fn loaded_sequence_id(name: &str) -> Option<u64> {
    let (file, _) = name.split_once('.').unwrap_or((name, ""));
    let (hex, number) = file.split_once(LOADED_INFIX)?;
    let is_hex = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = number.strip_suffix('_')?;
    let is_number = is_hex && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_store_files_pass_as_such() {
        for name in ["0a1b", "0a_SeqId_12_", "0a1b.00ff"] {
            assert!(is_store_file_name(name), "{name}");
        }
        for name in ["", "xyz", "0a_SeqId__", "0a.tmp", ".0a", "0a1b.", "0a_del"] {
            assert!(!is_store_file_name(name), "{name}");
        }
    }

    #[test]
    fn names_of_loaded_files_say_their_sequence_id() {
        assert_eq!(loaded_sequence_id(&loaded_name("0a1b", 12)), Some(12));
        assert_eq!(loaded_sequence_id("0a1b_SeqId_12_.00ff"), Some(12));
        for name in ["0a1b", "0a_SeqId__", "_SeqId_1_", "0a_SeqId_x_", "0a_SeqId_1", "0a.00ff"] {
            assert_eq!(loaded_sequence_id(name), None, "{name}");
        }
    }
}
