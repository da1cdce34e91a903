//! A file that another program wrote and that is to become a store file.
//!
//! Threads: one owner.

use std::path::Path;
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_hfile::verify::verify_reader;
use hblite_hfile::{BlockUse, HFileReader, HFileScanner};
use hblite_model::cell::key;
use hblite_model::{CellComparator, Error, Exception, Result};

use hblite_model::BulkLoadOptions;

use super::mob;

/// How much of a file is verified before it becomes a store file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Checksums, order, index, filters, and the family of the cells.
    Everything,
    /// The checksums of all blocks.
    Checksums,
    /// Nothing, because it was verified under another name.
    Done,
}

impl Verification {
    /// What the options of a bulk load request. Checksums are always verified.
    pub(crate) fn of(options: &BulkLoadOptions) -> Self {
        if options.verify { Self::Everything } else { Self::Checksums }
    }
}

/// An HFile outside of any store.
pub(crate) struct ForeignFile<'a> {
    reader: Arc<HFileReader>,
    family: &'a [u8],
}

impl<'a> ForeignFile<'a> {
    /// Opens a file that must have cells of `family` in the order of `comparator`.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`, `UnsupportedOperation` for a file that cannot be read as an HFile;
    /// `DoNotRetryIo` for another family or order.
    pub(crate) fn open(
        fs: &dyn FileSystem,
        path: &Path,
        family: &'a [u8],
        comparator: CellComparator,
    ) -> Result<Self> {
        Self::open_copy(fs, path, path, family, comparator)
    }

    /// Like [`ForeignFile::open`], for a copy of the file `original`, which errors name.
    ///
    /// # Errors
    /// As [`ForeignFile::open`].
    pub(crate) fn open_copy(
        fs: &dyn FileSystem,
        copy: &Path,
        original: &Path,
        family: &'a [u8],
        comparator: CellComparator,
    ) -> Result<Self> {
        let reader = Arc::new(HFileReader::open_copy(fs, copy, original, None)?);
        mob::refuse(&reader, original)?;
        let file = Self { reader, family };
        for key in [file.reader.first_key(), file.reader.last_key()].into_iter().flatten() {
            file.check_family(key)?;
        }
        if file.reader.comparator() != comparator && file.reader.entries() > 0 {
            return Err(file.refusal("its cells are in the order of another kind of table"));
        }
        Ok(file)
    }

    /// Its first and last row; `None` if it has no cells.
    pub(crate) fn rows(&self) -> Option<(&[u8], &[u8])> {
        Some((key::row(self.reader.first_key()?), key::row(self.reader.last_key()?)))
    }

    pub(crate) fn reader(&self) -> &Arc<HFileReader> {
        &self.reader
    }

    /// Verifies as much as requested.
    ///
    /// # Errors
    /// `CorruptHFile` with the first defect, `DoNotRetryIo` for a cell of another family, `Io`.
    pub(crate) fn verify(&self, verification: Verification) -> Result<()> {
        match verification {
            Verification::Everything => self.verify_everything(),
            Verification::Checksums => self.reader.verify_checksums(&mut |_| true).map(drop),
            Verification::Done => Ok(()),
        }
    }

    fn verify_everything(&self) -> Result<()> {
        verify_reader(&self.reader).map_err(Error::from)?;
        let mut scanner =
            HFileScanner::new(Arc::clone(&self.reader)).with_block_use(BlockUse::Pass);
        let mut is_at_cell = scanner.seek_first()?;
        while is_at_cell {
            if let Some(key) = scanner.current_key() {
                self.check_family(key)?;
            }
            is_at_cell = scanner.next()?;
        }
        Ok(())
    }

    fn check_family(&self, key: &[u8]) -> Result<()> {
        let found = key::family(key);
        if found == self.family {
            return Ok(());
        }
        let text = |family| hblite_model::bytes::to_string_binary(family);
        Err(self.refusal(&format!(
            "it has cells of family {}, and is to be loaded into {}",
            text(found),
            text(self.family)
        )))
    }

    fn refusal(&self, what: &str) -> Error {
        Error::new(Exception::DoNotRetryIo, format!("{}: {what}", self.reader.path().display()))
    }
}
