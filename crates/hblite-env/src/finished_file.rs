//! The store files that are read instead of mapped, also where there are more of them than
//! descriptors.
//!
//! A quarter of the descriptors that the process may have are for them. On Linux, a file that is
//! opened beyond that is mapped, which takes none. It is not read in place, because a page that
//! another program has cut off would kill the process (SIGBUS): the system copies the bytes out of
//! `/proc/self/mem`, and fails where there are none. This takes a few microseconds longer.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fs::{FileBytes, ReadableFile};
use crate::platform;
use crate::readable::StdReadableFile;

/// The share of the descriptors that these files may take.
const SHARE: usize = 4;

/// How many files of this kind have a descriptor.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Opens a file that does not change.
pub(crate) fn open(path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
    let file = platform::open(path)?;
    let held = HeldFile::new(StdReadableFile(file));
    if !held.is_one_of_too_many() {
        return Ok(Arc::new(held));
    }
    #[cfg(target_os = "linux")]
    if let Ok(mapped) = linux::MappedFile::new(&held.file.0, path) {
        return Ok(Arc::new(mapped));
    }
    Ok(Arc::new(held))
}

/// A file with a descriptor.
#[derive(Debug)]
struct HeldFile {
    file: StdReadableFile,
    /// How many there are, with this one.
    count: usize,
}

impl HeldFile {
    fn new(file: StdReadableFile) -> Self {
        Self { file, count: HELD.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    fn is_one_of_too_many(&self) -> bool {
        platform::descriptors_max().is_some_and(|limit| self.count > limit / SHARE)
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ReadableFile for HeldFile {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn map(&self) -> io::Result<FileBytes> {
        self.file.map()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io;
    use std::os::unix::fs::FileExt as _;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use crate::fs::{FileBytes, ReadableFile};
    use crate::mapping::{self, Mapping};

    /// The memory of this process, as a file. It is opened for each read: after a fork, an open one
    /// is that of the parent.
    const MEMORY: &str = "/proc/self/mem";

    /// A file without a descriptor.
    #[derive(Debug)]
    pub(super) struct MappedFile {
        /// Never accessed in place.
        bytes: Mapping,
        /// Where it was.
        path: PathBuf,
    }

    impl MappedFile {
        /// Maps a file, if the mapping can be read.
        pub(super) fn new(file: &File, path: &Path) -> io::Result<Self> {
            let mapped = Self { bytes: mapping::map(file)?, path: path.to_path_buf() };
            mapped.read_exact_at(&mut [0], 0)?;
            Ok(mapped)
        }

        fn is_cut_off(&self) -> bool {
            fs::metadata(&self.path).is_ok_and(|found| found.len() < self.bytes.len() as u64)
        }
    }

    impl ReadableFile for MappedFile {
        fn length(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
            let end = offset.checked_add(buffer.len() as u64).ok_or_else(cut_off)?;
            if end > self.bytes.len() as u64 {
                return Err(cut_off());
            }
            let address = self.bytes.as_ptr().addr() as u64;
            let read = File::open(MEMORY)?.read_exact_at(buffer, address + offset);
            // A page that the file no longer has is an error of the device.
            read.map_err(|error| if self.is_cut_off() { cut_off() } else { error })
        }

        fn map(&self) -> io::Result<FileBytes> {
            let mut bytes = vec![0; self.bytes.len()];
            self.read_exact_at(&mut bytes, 0)?;
            Ok(FileBytes::Owned(Arc::new(bytes)))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_mapped_file_is_read_and_one_that_was_cut_off_is_an_error() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            let content: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
            fs::write(&path, &content).unwrap();
            let file = MappedFile::new(&File::open(&path).unwrap(), &path).unwrap();
            assert_eq!(file.length().unwrap(), 100_000);
            let mut read = vec![0; 50_000];
            for at in [0, 1, 4096, 49_999, 50_000] {
                file.read_exact_at(&mut read, at).unwrap();
                assert_eq!(read, content[at as usize..][..50_000]);
            }
            let eof = |at, length: usize| {
                let error = file.read_exact_at(&mut vec![0; length], at).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{at}, {length}: {error}");
            };
            eof(50_001, 50_000);
            eof(u64::MAX, 2);
            File::options().write(true).open(&path).unwrap().set_len(20_000).unwrap();
            eof(0, 100_000);
            eof(90_000, 1);
            file.read_exact_at(&mut read[..100], 3).unwrap();
            assert_eq!(read[..100], content[3..103]);
            // Its name may have gone.
            fs::remove_file(&path).unwrap();
            file.read_exact_at(&mut read[..100], 3).unwrap();
            file.read_exact_at(&mut read[..100], 90_000).unwrap_err();
        }
    }
}
