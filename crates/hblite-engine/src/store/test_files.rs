//! Store files of given cells, for tests.

use std::path::Path;
use std::sync::Arc;

use hblite_env::MemFileSystem;
use hblite_hfile::{HFileReader, HFileWriter, HFileWriterOptions, StoreFileInfo};
use hblite_model::CellComparator;
use hblite_model::cell::Cell;

use super::file_list::FileList;
use super::store_file::StoreFile;

/// An HFile of these cells, which are sorted.
pub(crate) fn reader_of(cells: &[Cell], block_size: usize) -> HFileReader {
    let (fs, path) = (MemFileSystem::new(), Path::new("f"));
    let options = HFileWriterOptions::default().with_block_size(block_size).with_tags(true);
    let mut writer = HFileWriter::create(&fs, path, options).unwrap();
    for cell in cells {
        writer.append(&cell.as_ref()).unwrap();
    }
    writer.finish(&StoreFileInfo::default()).unwrap();
    HFileReader::open_mapped(&fs, path, None).unwrap()
}

/// A store's files, the oldest first, each with these cells, which are sorted.
pub(crate) fn list_of<'c>(
    files: impl IntoIterator<Item = &'c [Cell]>,
    block_size: usize,
) -> Arc<FileList> {
    let file = |(age, cells): (usize, &[Cell])| {
        Arc::new(StoreFile::over(&format!("{age:032x}"), reader_of(cells, block_size)))
    };
    let files = files.into_iter().enumerate().map(file).collect();
    Arc::new(FileList::new(files, CellComparator::Default))
}
