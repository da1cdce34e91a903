//! Reads the values that HBase keeps outside of a store file. See `store/mob.rs`.
//!
//! A value is read when the scan reaches its cell, and kept until it reaches the next one. The
//! files that were used most recently stay open.
//!
//! Threads: belongs to one scan.

use std::path::PathBuf;
use std::sync::Arc;

use hblite_hfile::HFileScanner;
use hblite_model::cell::CellRef;
use hblite_model::{Error, Exception, Result};

use crate::store::mob::{self, MobFiles};

/// Maximum number of open files. Neighboring cells were often written in the same few flushes.
const OPEN_FILES_MAX: usize = 8;

/// The values of a store file's references.
pub(super) struct MobValues {
    files: Arc<MobFiles>,
    store_file: PathBuf,
    /// The one that was used last comes last.
    open: Vec<OpenFile>,
    /// The value and tags of the current cell, if it is a reference.
    value: Vec<u8>,
    tags: Vec<u8>,
    is_reference: bool,
}

/// A file with medium objects.
struct OpenFile {
    name: String,
    scanner: HFileScanner,
    /// Its index is out of order, so cells are found by walking. HBase 2.6 writes such files: its
    /// compactor takes the keys of the index from buffers that it has reused meanwhile.
    is_walked: bool,
}

impl OpenFile {
    /// Moves to the first cell with this key; false if there is none.
    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        if !self.is_walked {
            if self.scanner.seek(key)? && self.scanner.current_key() == Some(key) {
                return Ok(true);
            }
            self.is_walked = true;
        }
        let comparator = self.scanner.reader().comparator();
        // A walk in the order of the keys, like that of a compaction, reads the file once.
        let is_before = |other: &[u8]| comparator.compare_keys(other, key).is_lt();
        let mut is_at_cell =
            self.scanner.current_key().is_some_and(is_before) || self.scanner.seek_first()?;
        while is_at_cell && self.scanner.current_key().is_some_and(is_before) {
            is_at_cell = self.scanner.next()?;
        }
        Ok(is_at_cell && self.scanner.current_key() == Some(key))
    }
}

impl MobValues {
    pub(super) fn new(files: &Arc<MobFiles>, store_file: PathBuf) -> Self {
        Self {
            files: Arc::clone(files),
            store_file,
            open: Vec::new(),
            value: Vec::new(),
            tags: Vec::new(),
            is_reference: false,
        }
    }

    /// The cell with its value; `cell` must be the one that was read last.
    pub(super) fn apply<'a>(&'a self, cell: CellRef<'a>) -> CellRef<'a> {
        if self.is_reference {
            CellRef::new(cell.key(), &self.value, &self.tags, cell.sequence_id())
        } else {
            cell
        }
    }

    /// Reads the value of a cell of the store file.
    ///
    /// # Errors
    /// `CorruptHFile` if the file that the cell refers to lacks the value; those of reading it.
    pub(super) fn read(&mut self, cell: &CellRef<'_>) -> Result<()> {
        self.is_reference = false;
        let Some(target) = mob::target(cell.value(), cell.tags()) else { return Ok(()) };
        let Some((length, name)) = target else {
            return Err(self.damaged("a reference to a medium object is malformed".to_owned()));
        };
        let file = self.file(name)?;
        let mut is_there = file.seek(cell.key())?;
        let scanner = &mut file.scanner;
        let mut found = None;
        // Of several writes of one key, the one with the same sequence id; compactions clear ids.
        while is_there
            && let Some(other) = scanner.current()
            && other.key() == cell.key()
        {
            let is_exact = other.sequence_id() == cell.sequence_id();
            if found.is_none() || is_exact {
                found = Some((other.value().to_vec(), other.tags().to_vec()));
            }
            if is_exact {
                break;
            }
            is_there = scanner.next()?;
        }
        let Some((value, tags)) = found.filter(|(value, _)| value.len() == length) else {
            let what = format!("{name} does not have the value of a cell that refers to it");
            return Err(self.damaged(what));
        };
        (self.value, self.tags, self.is_reference) = (value, tags, true);
        Ok(())
    }

    fn file(&mut self, name: &str) -> Result<&mut OpenFile> {
        let at = self.open.iter().position(|open| open.name == name);
        let file = match at {
            Some(at) => self.open.remove(at),
            None => {
                let reader = self.files.open(&self.store_file, name)?;
                let scanner = HFileScanner::new(Arc::new(reader));
                OpenFile { name: name.to_owned(), scanner, is_walked: false }
            }
        };
        if self.open.len() >= OPEN_FILES_MAX {
            self.open.remove(0);
        }
        self.open.push(file);
        let last = self.open.len() - 1;
        Ok(&mut self.open[last])
    }

    fn damaged(&self, what: String) -> Error {
        Error::corrupt(Exception::CorruptHFile, &self.store_file, 0, what)
    }
}
