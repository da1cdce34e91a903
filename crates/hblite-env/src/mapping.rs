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
//!
//! Pages are fetched one by one: the megabytes that the operating system would read ahead of a page
//! fault are rarely what a get needs next. Code that reads more than a page requests it with
//! [`Mapping::request`].

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

impl Mapping {
    /// Tells the operating system that these bytes are going to be read, so that it fetches them
    /// together. It need not do so.
    pub fn request(&self, range: Range<usize>) {
        #[cfg(unix)]
        if range.start < range.end && range.end <= self.0.len() {
            let length = range.end - range.start;
            let _ = self.0.advise_range(memmap2::Advice::WillNeed, range.start, length);
        }
        #[cfg(not(unix))]
        let _ = range;
    }

    /// Whether the byte is in memory, as far as known: reading it does not wait for the disk.
    #[cfg(target_os = "linux")]
    pub fn is_in_memory(&self, at: usize) -> bool {
        let Some(byte) = self.0.get(at) else { return true };
        let address = std::ptr::from_ref(byte);
        let page = address.wrapping_sub(address.addr() % rustix::param::page_size());
        let mut state = 0;
        // SAFETY: the page is within the mapping, and the call writes one byte for it.
        let result = unsafe { libc::mincore(page.cast_mut().cast(), 1, &raw mut state) };
        result != 0 || state & 1 != 0
    }

    /// Whether the byte is in memory, as far as known: reading it does not wait for the disk.
    #[cfg(not(target_os = "linux"))]
    pub fn is_in_memory(&self, _at: usize) -> bool {
        false
    }
}

/// Maps all of `file`, which must not be empty and must not change afterwards.
pub(crate) fn map(file: &File) -> io::Result<Mapping> {
    // SAFETY: the module's invariant; no process writes to or truncates a finished store file.
    let map = unsafe { memmap2::Mmap::map(file) }?;
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Random);
    Ok(Mapping(map))
}

/// A part of a file that is written to in memory.
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
        // SAFETY: the module's invariant; only `bytes` gives access to them through the mapping.
        let map = unsafe { options.offset(range.start).len(length).map_mut(file) }?;
        Ok(Self { map, start: range.start })
    }

    /// The bytes at an offset of the file, if they are within the window.
    #[inline]
    pub(crate) fn bytes(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.map.get_mut(at..at.checked_add(length)?)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_was_just_written_is_in_memory_and_requests_outside_are_ignored() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 100_000]).unwrap();
        let map = map(&file).unwrap();
        assert!([0, 4096, 99_999, 100_000, usize::MAX].iter().all(|at| map.is_in_memory(*at)));
        for range in [0..100_000, 99_999..100_001, 5..5, 200_000..300_000] {
            map.request(range);
        }
        assert!(map.iter().all(|byte| *byte == 7));
    }
}
