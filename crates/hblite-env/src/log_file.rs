//! A file for many small writes in a row, such as a log, on the real file system.
//!
//! An append changes the length of its file. A sync then has to write the length as well, which
//! costs a second write to the disk. So after some small writes, zeros are written ahead, and later
//! writes replace them:
//!
//! ```text
//! 0                       end                       length
//! ├───────────────────────┼─────────────────────────┤
//! │ written               │ zeros                   │
//! └───────────────────────┴─────────────────────────┘
//! ```
//!
//! Where it is safe, small writes go into a mapping of the zeros, which saves a system call for
//! each. The first write after a sync does not: the system would have to make its page writable
//! again, and the next sync would take longer.
//!
//! Invariants:
//! 1. After a small write at least [`SLACK_BYTES`] of zeros follow it, so that a kill in the middle
//!    of it leaves a whole sector of zeros after the part that was written. A call that writes is
//!    not interrupted within a page.
//! 2. Mapped zeros have been written, and only a file system that overwrites in place is used like
//!    this ([`platform::overwrites_in_place`]). So a write to the mapping never needs space; if
//!    there were none, the system would kill the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::fs::WritableFile;
use crate::mapping::Window;
use crate::platform::{self, Place};

/// How many zeros are written ahead.
const AHEAD_BYTES: u64 = 256 << 10;
/// Zeros that follow every small write.
const SLACK_BYTES: u64 = 4 << 10;
/// A larger write is an append: the time that zeros save would be lost by writing them.
const SMALL_BYTES: usize = 4 << 10;
/// Small writes before the first zeros are written: a file with fewer stays as small as it is.
const SMALL_WRITES: u32 = 64;

/// A log that is being written. What a write in place uses comes first, and so is together in
/// memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct LogFile {
    /// Where the next write goes.
    end: u64,
    /// Of the file, with the zeros.
    length: u64,
    window: Option<Window>,
    /// Small writes since the beginning, or since zeros could not be written.
    small_writes: u32,
    is_mapped: bool,
    /// Whether nothing was written since the last sync.
    is_synced: bool,
    file: File,
    place: Place,
}

impl LogFile {
    /// Creates the file; an existing one is an error. With `is_mapped`, the zeros are mapped where
    /// that is safe.
    pub(crate) fn create(path: &Path, is_mapped: bool) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let place = Place::of(&file, path)?;
        Ok(Self {
            file,
            place,
            end: 0,
            length: 0,
            small_writes: 0,
            is_mapped,
            is_synced: false,
            window: None,
        })
    }

    /// Writes zeros after the end, and maps them. Without the space for them, nothing changes.
    #[cold]
    fn write_ahead(&mut self) {
        if self.small_writes == SMALL_WRITES + 1 && self.is_mapped {
            self.is_mapped = platform::overwrites_in_place(&self.file);
        }
        self.window = None;
        let from = self.length;
        assert!(from >= self.end, "zeros follow what was written");
        if platform::write_all_at(&self.file, &vec![0; AHEAD_BYTES as usize], from).is_err() {
            self.small_writes = 0;
            return;
        }
        self.length = from + AHEAD_BYTES;
        if self.is_mapped {
            self.window = Window::map(&self.file, self.end..self.length).ok();
        }
    }
}

impl WritableFile for LogFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.end + bytes.len() as u64;
        let is_synced = std::mem::take(&mut self.is_synced);
        if bytes.len() <= SMALL_BYTES {
            self.small_writes = self.small_writes.saturating_add(1);
            if self.small_writes > SMALL_WRITES && end + SLACK_BYTES > self.length {
                self.write_ahead();
            }
            if !is_synced && self.write_in_place(bytes.len(), &mut |out| out.copy_from_slice(bytes))
            {
                return Ok(());
            }
        }
        platform::write_all_at(&self.file, bytes, self.end)?;
        self.end = end;
        self.length = self.length.max(end);
        Ok(())
    }

    #[inline]
    fn write_in_place(&mut self, length: usize, write: &mut dyn FnMut(&mut [u8])) -> bool {
        let end = self.end + length as u64;
        if self.is_synced || length > SMALL_BYTES || end + SLACK_BYTES > self.length {
            return false;
        }
        let window = self.window.as_mut().and_then(|window| window.bytes(self.end, length));
        let Some(bytes) = window else { return false };
        write(bytes);
        self.end = end;
        true
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.window = None;
        self.file.set_len(length)?;
        self.end = length;
        self.length = length;
        Ok(())
    }

    fn trim(&mut self) -> io::Result<()> {
        if self.length > self.end { self.truncate(self.end) } else { Ok(()) }
    }

    /// On Linux, this includes what was copied into a mapping.
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.is_synced = true;
        Ok(())
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.place.is_held()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn new_log(is_mapped: bool) -> (tempfile::TempDir, PathBuf, LogFile) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let file = LogFile::create(&path, is_mapped).unwrap();
        (dir, path, file)
    }

    /// What was written to the file, and how many zeros follow.
    fn content(path: &Path, written: usize) -> (Vec<u8>, usize) {
        let mut content = std::fs::read(path).unwrap();
        let ahead = content.split_off(written);
        assert!(ahead.iter().all(|byte| *byte == 0));
        (content, ahead.len())
    }

    #[test]
    fn zeros_follow_small_writes_until_they_are_trimmed() {
        for is_mapped in [false, true] {
            let (_dir, path, mut file) = new_log(is_mapped);
            let (mut expected, mut copied) = (Vec::new(), 0);
            for index in 0..5_001_usize {
                // A large write now and then, also one beyond all zeros.
                let size = match index % 1_000 {
                    999 => 300_000,
                    500 => SMALL_BYTES + 1,
                    _ => 1 + index % 300,
                };
                let record = vec![1 + (index % 255) as u8; size];
                let mut copy = |out: &mut [u8]| out.copy_from_slice(&record);
                match index % 3 > 0 && file.write_in_place(size, &mut copy) {
                    true => copied += 1,
                    false => file.write_all(&record).unwrap(),
                }
                if index % 7 == 0 {
                    file.sync().unwrap();
                }
                expected.extend_from_slice(&record);
                if index % 300 == 0 || size == 300_000 {
                    let (found, zeros) = content(&path, expected.len());
                    assert!(found == expected, "{index}");
                    let has_zeros = index >= SMALL_WRITES as usize && size <= SMALL_BYTES;
                    assert!(!has_zeros || zeros >= SLACK_BYTES as usize, "{index}: {zeros}");
                    assert!(index >= SMALL_WRITES as usize || zeros == 0, "{index}: {zeros}");
                }
            }
            let may_copy = is_mapped && platform::overwrites_in_place(&file.file);
            assert_eq!((file.window.is_some(), copied > 2_000), (may_copy, may_copy), "{copied}");
            file.sync().unwrap();
            assert!(content(&path, expected.len()).1 > 0);
            file.trim().unwrap();
            assert_eq!(content(&path, expected.len()), (expected, 0));
        }
    }

    #[test]
    fn a_truncated_file_goes_on_at_its_end() {
        for is_mapped in [false, true] {
            let (_dir, path, mut file) = new_log(is_mapped);
            for _ in 0..200 {
                file.write_all(b"0123456789").unwrap();
            }
            file.truncate(1_005).unwrap();
            assert_eq!(content(&path, 1_005).1, 0);
            file.write_all(b"abc").unwrap();
            let (found, _) = content(&path, 1_008);
            assert_eq!(&found[1_000..], b"01234abc");
        }
    }
}
