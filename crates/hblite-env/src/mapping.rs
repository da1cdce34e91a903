//! The only place that maps a file into memory.
//!
//! Why unsafe: reading a mapped file that was truncated raises SIGBUS, and writing to one changes
//! it under a shared slice. The read figures in docs/performance.md depend on using blocks in place
//! in the mapping instead of copying them.
//!
//! Invariant: only files that the store has finished and renamed into place are mapped, and the
//! store never writes to such a file again; it removes files, which leaves mappings intact. The
//! directory's lock keeps other hblite processes out.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;

/// A file in memory.
#[derive(Debug)]
pub struct Mapping(memmap2::Mmap);

impl std::ops::Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps all of `file`, which must not be empty and must not change afterwards.
pub(crate) fn map(file: &File) -> io::Result<Mapping> {
    // SAFETY: the module's invariant; no process writes to or truncates a finished store file.
    unsafe { memmap2::Mmap::map(file) }.map(Mapping)
}
