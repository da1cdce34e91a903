//! The only place that maps a file into memory.
//!
//! Why unsafe: reading a mapped file that was truncated raises SIGBUS, and writing to one changes
//! it under a shared slice. The read figures in docs/performance.md depend on using blocks in place
//! in the mapping instead of copying them.
//!
//! Invariant: only files that the store has finished and renamed into place are mapped for reading,
//! and the store never writes to such a file again; it removes files, which leaves mappings intact.
//! A [`Window`] is over bytes that the file has, and its holder drops it before it truncates the
//! file. The directory's lock keeps other hblite processes out.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;

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

/// A part of a file that is written to by copying.
#[derive(Debug)]
pub(crate) struct Window {
    map: memmap2::MmapMut,
    start: u64,
}

impl Window {
    /// Maps these bytes of `file`, which is open for reading and writing and at least so long.
    pub(crate) fn map(file: &File, range: Range<u64>) -> io::Result<Self> {
        let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
        let mut options = memmap2::MmapOptions::new();
        // SAFETY: the module's invariant; only `copy` accesses these bytes through the mapping.
        let map = unsafe { options.offset(range.start).len(length).map_mut(file) }?;
        Ok(Self { map, start: range.start })
    }

    /// Writes the bytes at an offset of the file, or returns false if they are not within the
    /// window.
    #[inline]
    pub(crate) fn copy(&mut self, offset: u64, bytes: &[u8]) -> bool {
        let at = offset.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        let target = at.and_then(|at| self.map.get_mut(at..at.checked_add(bytes.len())?));
        let Some(target) = target else { return false };
        target.copy_from_slice(bytes);
        true
    }
}
