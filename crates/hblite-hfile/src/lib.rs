//! Reads and writes HFile version 3, the store file format of Apache HBase.
//!
//! A file holds the cells of one column family, sorted, in blocks that are checked by checksums:
//!
//! ```text
//!            ┌ data block ──────────┐  cells, about 64 KiB, plain or encoded     DATABLK* DATABLKE
//!  scanned   │ data block           │
//!  section   │ leaf index block     │  when enough data blocks were written      IDXLEAF2
//!            │ Bloom chunk          │  when it holds as many keys as it may      BLMFBLK2
//!            │ data block ...       │
//!            ├ meta blocks ─────────┤  what a caller stored under a name         METABLKc
//!            │ intermediate index   │  if the root would be too large            IDXINTE2
//!            ├ root data index ─────┤  ┐                                         IDXROOT2
//!  load on   │ meta index           │  │ read when the file is opened            IDXROOT2
//!  open      │ file info            │  │ names and values, see `file_info`       FILEINF2
//!            │ general Bloom meta   │  │ where the chunks are                    BLMFMET2
//!            │ delete family meta   │  ┘                                         DFBLMET2
//!            └ trailer ─────────────┘  4096 bytes, always                        TRABLK"$
//!
//!  block   = 33-byte header | payload, compressed as the trailer says | checksums
//!  cell    = i32 key length | i32 value length | flat key | value | tags? | mvcc?
//! ```
//!
//! Blocks are contiguous and all integers are big-endian. The modules follow the drawing: `block`
//! (header, checksums, compression), `encoding` (cells in data blocks), `index`, `bloom`,
//! [`file_info`] and `trailer`. [`HFileWriter`] writes a file from front to back; [`HFileReader`]
//! opens it from the end, and [`HFileScanner`] iterates over its cells.
//!
//! Nothing in a file is trusted: every length is checked before it is used, a wrong checksum is an
//! error, and errors name file and offset.
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use hblite_hfile::{HFileReader, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo};
//! use hblite_model::{Cell, CellType};
//!
//! # fn main() -> hblite_model::Result<()> {
//! let fs = hblite_env::MemFileSystem::new();
//! let mut writer = HFileWriter::create(&fs, Path::new("f"), HFileWriterOptions::default())?;
//! writer.append(&Cell::new(b"row", b"f", b"q", 1, CellType::Put, b"value").as_ref())?;
//! writer.finish(&StoreFileInfo::default())?;
//!
//! let reader = Arc::new(HFileReader::open(&fs, Path::new("f"), None)?);
//! let mut scanner = HFileScanner::new(reader);
//! assert!(scanner.seek_first()?);
//! assert_eq!(scanner.current().map(|cell| cell.value().to_vec()), Some(b"value".to_vec()));
//! assert!(!scanner.next()?);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod file_info;
pub mod verify;

mod block;
mod block_part;
mod bloom;
mod cache;
mod data_block;
mod encoding;
mod error;
mod filters;
mod hfile_scanner;
mod index;
mod input;
mod inspect;
mod invariants;
mod open;
mod options;
mod point;
mod read_ahead;
mod reader;
mod row_marks;
mod row_prefixes;
mod sparse_marks;
mod statistics;
mod trailer;
mod writer;

pub use block::checksum::ChecksumType;
pub use block::{BlockHeader, BlockType};
pub use bloom::{BloomHash, BloomMeta, KeyHash, RowProbe};
pub use cache::BlockCache;
pub use data_block::{BlockCells, BlockUse};
pub use file_info::FileInfo;
pub use hblite_codec::available as compressions;
pub use hfile_scanner::{HFileScanner, ScanStats};
pub use inspect::IndexEntry;
pub use options::{HFileWriterOptions, StoreFileInfo};
pub use reader::HFileReader;
pub use trailer::Trailer;
pub use writer::{HFileSummary, HFileWriter};
