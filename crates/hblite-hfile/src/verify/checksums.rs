//! Checks an open file again: whether its bytes are still those that were written.
//!
//! ```text
//! reopen             length, trailer and file info are those of the open file; the root index,
//!                    the meta index and the Bloom metas match their checksums
//! verify_checksums   every block up to the trailer matches its checksum
//! ```
//!
//! Together the two functions read every byte of the file. Both read from the file, never from a
//! mapping or a cache, so a file that was truncated is an error here and not a SIGBUS.

use std::path::Path;

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, Result};

use crate::block::BlockType;
use crate::open::trailer_checksum;
use crate::reader::HFileReader;

impl HFileReader {
    /// Opens the file at `path` and makes sure that it is still the file that this reader has open,
    /// or a copy of it. Errors name this reader's path.
    ///
    /// # Errors
    /// `Io` if the file cannot be read; `Corrupt` with the offset if it is damaged or a different
    /// file.
    pub fn reopen(&self, fs: &dyn FileSystem, path: &Path) -> Result<Self> {
        let corrupt = |offset: u64, message: String| {
            Err(Error::corrupt(Exception::CorruptHFile, self.path(), offset, message))
        };
        let length = fs.file_length(path);
        let length = length.map_err(|error| Error::io("opening", self.path(), error))?;
        if length != self.length() {
            let message =
                format!("the file has {length} bytes; it had {} when it was opened", self.length());
            return corrupt(length.min(self.length()), message);
        }
        let opened = fs.open(path).map_err(|error| Error::io("opening", self.path(), error))?;
        if trailer_checksum(opened, length, self.path())? != self.trailer_checksum() {
            let message = "the trailer is not what it was when the file was opened".to_owned();
            return corrupt(self.file().end(), message);
        }
        let reopened = Self::open_copy(fs, path, self.path(), None)?;
        if reopened.file_info_map() != self.file_info_map() {
            let message = "the file info is not what it was when the file was opened".to_owned();
            return corrupt(self.trailer().file_info_offset, message);
        }
        Ok(reopened)
    }

    /// Reads every block from the front to the trailer and verifies its checksums. `watch` is
    /// called after each block with its bytes, and ends the iteration by returning false. Returns
    /// whether the iteration reached the end.
    ///
    /// # Errors
    /// `Corrupt` with the offset of the first damaged block, `Io`.
    pub fn verify_checksums(&self, watch: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        self.walk(|_| true, watch)
    }

    /// Like [`Self::verify_checksums`], but skips the data blocks: for a caller whose scanner
    /// verifies those.
    ///
    /// # Errors
    /// As [`Self::verify_checksums`].
    pub fn verify_checksums_except_cells(&self) -> Result<()> {
        let has_no_cells =
            |block_type| !matches!(block_type, BlockType::Data | BlockType::EncodedData);
        self.walk(has_no_cells, &mut |_| true).map(drop)
    }

    fn walk(
        &self,
        is_wanted: impl Fn(BlockType) -> bool,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool> {
        let (file, mut offset) = (self.file(), 0);
        while offset < file.end() {
            let header = file.header(offset)?;
            if is_wanted(header.block_type) {
                file.verify(offset)?;
            }
            let size = header.on_disk_size() as u64;
            offset += size;
            if !watch(size) {
                return Ok(false);
            }
        }
        // `header` has refused a block that extends beyond the trailer.
        assert_eq!(offset, file.end(), "{}: blocks end at the trailer", self.path().display());
        Ok(true)
    }
}
