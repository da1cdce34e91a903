//! A file that is read through its descriptor.

use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::fs::{FileBytes, ReadableFile};
use crate::{mapping, platform};

#[derive(Debug)]
pub(crate) struct StdReadableFile(pub(crate) File);

impl ReadableFile for StdReadableFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        platform::read_exact_at(&self.0, buffer, offset)
    }

    fn map(&self) -> io::Result<FileBytes> {
        if self.length()? == 0 {
            return Ok(FileBytes::Owned(Arc::default()));
        }
        Ok(FileBytes::Mapped(Arc::new(mapping::map(&self.0)?)))
    }
}
