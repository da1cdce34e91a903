//! Files with medium objects (MOB): values that HBase keeps outside of its store files.
//!
//! In a family with `IS_MOB`, HBase writes values above a threshold to files of their own. The
//! store file then has a reference: a cell with the same key, and
//!
//! ```text
//! value   i32 length of the value | name of the file that has it
//! tags    5 (empty): this is a reference | 6: the table whose file it is | the cell's own tags
//! ```
//!
//! The file is an HFile with cells of the same keys, in one of two places (`.mob` is a region that
//! every table has):
//!
//! ```text
//! <root>/mobdir/data/<ns>/<table>/<encoded name of .mob>/<family>/<file>
//! <root>/archive/data/<ns>/<table>/<encoded name of .mob>/<family>/<file>
//! ```
//!
//! `MOB_FILE_REFS` in the file info of a store file lists the files that it refers to:
//!
//! ```text
//! <table>/<file>,<file>,…//<table>/<file>,…        or a zero byte if there are none
//! ```
//!
//! The list stays when `IS_MOB` is turned off, so the list decides, not the attribute. hblite only
//! reads these files: what it writes has its values in the store files, and a store that refers to
//! such files is compacted as soon as possible.
//!
//! Source: HBase's `MobUtils`, `DefaultMobStoreCompactor`, `HMobStore`. Threads: any.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_hfile::{HFileReader, file_info};
use hblite_model::cell::{TagIter, TagType, key};
use hblite_model::{ColumnFamilyDescriptor, Error, Exception, RegionInfo, Result, TableName};

use crate::files::exists;
use crate::layout::Layout;
use crate::sealed;

/// What HBase writes as the list if it is empty (`HStoreFile.NULL_VALUE`).
pub(super) const NO_REFERENCES: &[u8] = &[0];
/// The tag of a cell whose value is in another file (`MOB_REFERENCE_TAG_TYPE`).
const REFERENCE_TAG: TagType = TagType(5);
/// What to do about a file that is missing.
const REMEDY: &str = "copy mobdir, and archive, from the directory that this one was copied from";

/// The files that the cells of a store file refer to.
#[derive(Debug)]
pub(crate) struct MobFiles {
    fs: Arc<dyn FileSystem>,
    /// By name, which is unique.
    paths: HashMap<String, PathBuf>,
}

impl MobFiles {
    /// The files that `reader`'s cells refer to; `None` if it has all of its values.
    ///
    /// # Errors
    /// `CorruptHFile` if the list is malformed, or names a file that does not exist; `Io`.
    pub(super) fn find(
        fs: &Arc<dyn FileSystem>,
        layout: &Layout,
        reader: &HFileReader,
    ) -> Result<Option<Self>> {
        let Some(list) = references(reader) else { return Ok(None) };
        let Some(names) = parse(list) else {
            let what = "its list of files with medium objects (MOB_FILE_REFS) is malformed";
            return Err(sealed::damaged(reader.path(), what, REMEDY));
        };
        let family = reader.first_key().map_or(&b""[..], key::family);
        let mut paths = HashMap::new();
        for (table, name) in names {
            let mob = RegionInfo::mob(&table);
            let place = layout.family_dir(&mob, family).join(name);
            let path = find_file(fs.as_ref(), layout, &place)?.ok_or_else(|| {
                let what = format!(
                    "it refers to the file {name} with medium objects (MOB) of table {table}, \
                     which is neither in mobdir nor in the archive"
                );
                sealed::damaged(reader.path(), what, REMEDY)
            })?;
            paths.insert(name.to_owned(), path);
        }
        Ok(Some(Self { fs: Arc::clone(fs), paths }))
    }

    /// Opens the file to which a reference's value refers. Its blocks are verified whenever they
    /// are read.
    ///
    /// # Errors
    /// `CorruptHFile`, `Io`.
    pub(super) fn open(&self, store_file: &Path, name: &str) -> Result<HFileReader> {
        let path = self.paths.get(name).ok_or_else(|| {
            let what = format!("a cell refers to {name}, which is not in its MOB_FILE_REFS");
            sealed::damaged(store_file, what, REMEDY)
        })?;
        HFileReader::open(self.fs.as_ref(), path, None)
    }
}

/// Whether HBase may keep values of the family in other files.
pub(super) fn is_enabled(family: &ColumnFamilyDescriptor) -> bool {
    family.attributes().get("IS_MOB").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Where the file is that belongs at `place` below `data` of the region `.mob`.
fn find_file(fs: &dyn FileSystem, layout: &Layout, place: &Path) -> Result<Option<PathBuf>> {
    for path in [layout.mob_file(place), layout.archived_file(place)] {
        if exists(fs, &path)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn references(reader: &HFileReader) -> Option<&[u8]> {
    reader.file_info(file_info::MOB_FILE_REFS).filter(|list| *list != NO_REFERENCES)
}

/// The tables and files of a list; `None` if it is malformed.
fn parse(list: &[u8]) -> Option<Vec<(TableName, &str)>> {
    let mut files = Vec::new();
    for of_table in std::str::from_utf8(list).ok()?.split("//") {
        let (table, names) = of_table.split_once('/')?;
        let table: TableName = table.parse().ok()?;
        for name in names.split(',') {
            let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
            files.push((table.clone(), Some(name).filter(|_| is_plain)?));
        }
    }
    Some(files)
}

/// If the cell with these parts is a reference: the length of the value and the name of the file
/// that has it, or `None` inside if it is malformed.
pub(super) fn target<'a>(value: &'a [u8], tags: &[u8]) -> Option<Option<(usize, &'a str)>> {
    TagIter::new(tags).find(|tag| tag.tag_type == REFERENCE_TAG)?;
    let target = value.split_first_chunk::<4>().and_then(|(length, name)| {
        let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
        Some((length, std::str::from_utf8(name).ok()?))
    });
    Some(target)
}

/// Refuses a file outside of a directory of HBase that refers to files there.
///
/// # Errors
/// `UnsupportedOperation` that names the file.
pub(super) fn refuse(reader: &HFileReader, path: &Path) -> Result<()> {
    match references(reader) {
        None => Ok(()),
        Some(_) => {
            let message = format!(
                "{}: this file refers to others with its medium objects (MOB), and only a \
                 directory of HBase, or a snapshot, has those. In HBase, set MOB_THRESHOLD of the \
                 family to 2147483647, run major_compact, and use the file that it writes",
                path.display()
            );
            Err(Error::new(Exception::UnsupportedOperation, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::StdFileSystem;
    use hblite_model::CellComparator;

    use super::super::foreign_file::ForeignFile;
    use super::super::key_value_scanner::KeyValueScanner;
    use super::super::store_file::StoreFile;
    use super::*;
    use crate::layout::Layout;

    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/hbase-mob");
    const WITH_REFERENCES: &str = "23aadd1d83894180bef95747006dae9b";
    const OF_A_COMPACTION: &str = "04cf6fcb1b874a59a2234a970e219e6a";
    const WITH_VALUES: &str = "f74b9eb592ab43fd94ee378e209669af";

    #[test]
    fn references_need_their_files_and_are_refused_in_a_bulk_load() {
        let layout = Layout::new(Path::new(FIXTURES));
        let fs: Arc<dyn FileSystem> = Arc::new(StdFileSystem);
        let open = |name: &str| StoreFile::open_with(&fs, &layout, None, &layout.root().join(name));
        let error = open(WITH_REFERENCES).unwrap_err();
        assert_eq!(error.exception(), Exception::CorruptHFile);
        assert!(error.message().contains("neither in mobdir"), "{error}");
        assert_eq!(open(WITH_VALUES).unwrap().reader().entries(), 10);
        let load = |name: &str| {
            let path = layout.root().join(name);
            ForeignFile::open(fs.as_ref(), &path, b"f", CellComparator::Default).map(drop)
        };
        let error = load(WITH_REFERENCES).unwrap_err();
        assert_eq!(error.exception(), Exception::UnsupportedOperation);
        load(WITH_VALUES).unwrap();
    }

    #[test]
    fn a_file_whose_index_is_out_of_order_is_read() {
        let layout = Layout::new(Path::new(FIXTURES));
        let fs: Arc<dyn FileSystem> = Arc::new(StdFileSystem);
        let path = layout.root().join(OF_A_COMPACTION);
        let file = StoreFile::open_with(&fs, &layout, None, &path).unwrap();
        file.verify_values().unwrap();
        let mut scanner = file.scanner(u64::MAX);
        let mut lengths = Vec::new();
        let mut is_at_cell = scanner.seek_last().unwrap();
        while is_at_cell {
            let cell = scanner.current().unwrap();
            if cell.row() == b"row0260" || cell.row() == b"row0295" {
                lengths.push(cell.value().len());
            }
            is_at_cell = scanner.prev().unwrap();
        }
        assert_eq!(lengths, [19559, 4949, 12821]);
    }
}
