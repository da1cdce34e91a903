//! The digest over all cells of a file.
//!
//! ```text
//! SHA-256 of, for each cell: u32 key length | flat key | u32 value length | value
//!                            u32 tags length | tags | i64 sequence id
//! ```

use std::sync::Arc;

use hblite_hfile::{BlockUse, HFileReader, HFileScanner};
use hblite_model::{CellRef, Result};
use sha2::{Digest as _, Sha256};

use crate::hex;

/// Collects cells in file order.
#[derive(Debug, Clone, Default)]
pub struct CellDigest(Sha256);

impl CellDigest {
    /// Adds a cell.
    pub fn add(&mut self, cell: &CellRef<'_>) {
        for part in [cell.key(), cell.value(), cell.tags()] {
            self.0.update((part.len() as u32).to_be_bytes());
            self.0.update(part);
        }
        self.0.update(cell.sequence_id().to_be_bytes());
    }

    /// The digest as hexadecimal digits.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The digest of a file.
///
/// # Errors
/// `Corrupt`.
pub fn digest(reader: &Arc<HFileReader>) -> Result<String> {
    let mut digest = CellDigest::default();
    let mut scanner = HFileScanner::new(reader.clone()).with_block_use(BlockUse::Pass);
    let mut more = scanner.seek_first()?;
    while more {
        if let Some(cell) = scanner.current() {
            digest.add(&cell);
        }
        more = scanner.next()?;
    }
    Ok(digest.finish())
}

/// SHA-256 as hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
