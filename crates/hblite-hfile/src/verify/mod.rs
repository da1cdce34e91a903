//! Checks everything in a file: whether it is intact, and whether its parts agree.
//!
//! ```text
//! open    trailer, root index, meta index, file info, Bloom metas
//! blocks  every block from the front to the trailer: checksum, place, chain of previous offsets
//! cells   every data block by way of the index: order, tags, row index, index keys, mid-key;
//!         every row and column is looked up in the Bloom filters
//! info    counts, last key, time range: what the file says about its cells, computed again
//! ```
//!
//! Readers trust some of this (the order of cells, the filters, the numbers in the file info),
//! because checksums say that the bytes are those that were written; this module does not.
//!
//! Memory: a few bytes per block of the file. Threads: none of its own; any caller.

mod blocks;
mod cells;
mod checksums;
mod file_info;
mod filters;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_model::{Error, ErrorKind, Exception};

use crate::error::Damage;
use crate::reader::HFileReader;
use blocks::Blocks;

/// What was checked in a file without defects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Cells in the file.
    pub cells: u64,
    /// Blocks in the file, of all types.
    pub blocks: u64,
    /// Blocks with cells.
    pub data_blocks: u64,
    /// Bytes of the file.
    pub length: u64,
}

/// Which part of a file is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefectKind {
    /// The operating system cannot read the bytes.
    Unreadable,
    /// The file has something that hblite does not support, such as encryption.
    Unsupported,
    /// A part cannot be parsed, or does not match its checksum.
    Damaged,
    /// The numbers in the trailer do not match the file.
    Trailer,
    /// Blocks are not in the required order.
    Blocks,
    /// The data index does not point to the data blocks, or its keys do not separate them.
    Index,
    /// The meta index does not point to the meta blocks.
    MetaIndex,
    /// Cells are out of order, or a cell has a type or tags that no cell has.
    Cells,
    /// A Bloom filter denies a key of the file, or has chunks that are not its own.
    Bloom,
    /// The file info contradicts the cells.
    FileInfo,
}

impl DefectKind {
    /// A short name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Unsupported => "unsupported",
            Self::Damaged => "damaged",
            Self::Trailer => "trailer",
            Self::Blocks => "blocks",
            Self::Index => "index",
            Self::MetaIndex => "meta index",
            Self::Cells => "cells",
            Self::Bloom => "Bloom filter",
            Self::FileInfo => "file info",
        }
    }
}

/// The first thing that is wrong with a file.
#[derive(Debug)]
pub struct Defect {
    kind: DefectKind,
    error: Error,
}

impl Defect {
    /// Which part is wrong.
    pub fn kind(&self) -> DefectKind {
        self.kind
    }

    /// The file.
    pub fn file(&self) -> Option<&Path> {
        self.error.file()
    }

    /// The offset of the block that is wrong, or that reveals the defect.
    pub fn offset(&self) -> Option<u64> {
        self.error.offset()
    }

    /// File, offset and what is wrong, in words.
    pub fn message(&self) -> &str {
        self.error.message()
    }
}

/// The kind, then file, offset and what is wrong.
impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message())
    }
}

impl std::error::Error for Defect {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The result of reading.
impl From<Error> for Defect {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Corrupt => DefectKind::Damaged,
            ErrorKind::Unsupported => DefectKind::Unsupported,
            _ => DefectKind::Unreadable,
        };
        Self { kind, error }
    }
}

impl From<Defect> for Error {
    fn from(defect: Defect) -> Self {
        defect.error
    }
}

type Checked<T> = Result<T, Defect>;

/// Fails with a defect at `offset` unless `condition` holds.
fn check(
    reader: &HFileReader,
    condition: bool,
    kind: DefectKind,
    offset: u64,
    message: impl FnOnce() -> String,
) -> Checked<()> {
    if condition { Ok(()) } else { Err(defect(reader, kind, offset, message())) }
}

#[cold]
fn defect(reader: &HFileReader, kind: DefectKind, offset: u64, message: String) -> Defect {
    let damage = Damage::new(message);
    let error = Error::corrupt(Exception::CorruptHFile, reader.path(), offset, damage);
    Defect { kind, error }
}

/// Checks everything in the file at `path`.
///
/// # Errors
/// The first defect.
pub fn verify(fs: &dyn FileSystem, path: &Path) -> Result<Verified, Defect> {
    verify_reader(&Arc::new(HFileReader::open(fs, path, None)?))
}

/// Checks everything in an open file. Every block is read from the file again, except those that
/// the reader keeps: index and Bloom filters. To check these again, use [`HFileReader::reopen`].
///
/// # Errors
/// The first defect.
pub fn verify_reader(reader: &HFileReader) -> Result<Verified, Defect> {
    let blocks = Blocks::walk(reader)?;
    blocks.check_meta_index(reader)?;
    let seen = cells::check(reader, &blocks)?;
    filters::check_chunks(reader, &blocks)?;
    file_info::check(reader, &seen)?;
    let (data_blocks, length) = (blocks.data().len() as u64, reader.length());
    Ok(Verified { cells: seen.cells, blocks: blocks.count(), data_blocks, length })
}
