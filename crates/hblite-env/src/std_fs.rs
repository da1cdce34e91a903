//! The real file system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fs::{
    Announcement, COPY_SIZE, DirEntry, FileIdentity, FileLock, FileSystem, ReadableFile,
    ReaderWatch, WritableFile,
};
use crate::log_file::LogFile;
use crate::platform::Place;
use crate::readable::StdReadableFile;
use crate::readers::{Announced, DirectoryWatch};
use crate::{finished_file, platform};

/// The file system of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct StdFileSystem;

impl FileSystem for StdFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let place = Place::of(&file, path)?;
        Ok(Box::new(StdWritableFile { file, place }))
    }

    fn create_log(&self, path: &Path, is_mapped: bool) -> io::Result<Box<dyn WritableFile>> {
        Ok(Box::new(LogFile::create(path, is_mapped)?))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        Ok(Arc::new(StdReadableFile(platform::open(path)?)))
    }

    fn open_finished(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        finished_file::open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        platform::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // No store writes a name that is not UTF-8. It must still be listed, so that a
            // directory is not considered empty when it is not.
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            // A part of a store may be on another disk. A link to nothing is a missing file.
            let is_dir = match kind.is_symlink() {
                true => {
                    let path = entry.path();
                    fs::metadata(&path).is_ok_and(|found| found.is_dir()) && !is_cycle(&path)
                }
                false => kind.is_dir(),
            };
            entries.push(DirEntry { name, is_dir });
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path)
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        // A second name for a symbolic link would depend on the first name's target.
        match fs::symlink_metadata(from)?.is_symlink() {
            true => fs::hard_link(fs::canonicalize(from)?, to),
            false => fs::hard_link(from, to),
        }
    }

    fn announce_reader(&self, dir: &Path) -> Option<Box<dyn Announcement>> {
        Some(Box::new(Announced::at(dir)?))
    }

    fn watch_readers(&self, dir: &Path) -> Option<Box<dyn ReaderWatch>> {
        Some(Box::new(DirectoryWatch::of(dir)?))
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        std::path::absolute(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileIdentity>> {
        platform::identity_of_shared(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        platform::sync_file(path)
    }

    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()> {
        platform::check_is_file(path, &fs::metadata(path)?)?;
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let end = file.metadata()?.len();
        let mut buffer = Vec::new();
        let mut offset = from;
        while offset < end {
            // At most COPY_SIZE, which fits any `usize`.
            buffer.resize((end - offset).min(COPY_SIZE) as usize, 0);
            platform::read_exact_at(&file, &mut buffer, offset)?;
            platform::write_all_at(&file, &buffer, offset)?;
            offset += buffer.len() as u64;
        }
        file.sync_all()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        platform::sync_dir(path)
    }

    fn renames_dirs_in_use(&self) -> bool {
        !cfg!(windows)
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        platform::check_is_file(path, &file.metadata()?)?;
        match file.try_lock() {
            Ok(()) => {
                // Not through an empty file: that frees its block, and some file systems then wait
                // for the disk.
                file.write_all(holder.as_bytes())?;
                file.set_len(holder.len() as u64)?;
                let place = Place::of(&file, path)?;
                Ok(Box::new(StdFileLock { file, place }))
            }
            Err(error) => Err(not_locked(error, &mut file)?),
        }
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let mut file = match platform::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => {
                let place = Place::of(&file, path)?;
                Ok(Some(Box::new(StdFileLock { file, place })))
            }
            Err(error) => Err(not_locked(error, &mut file)?),
        }
    }
}

/// Whether a symbolic link leads to a directory that its own path leads through: below it, names
/// would never end.
fn is_cycle(link: &Path) -> bool {
    let Ok(target) = fs::canonicalize(link) else { return true };
    let mut above = link.ancestors().skip(1);
    above.any(|above| {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        fs::canonicalize(above).is_ok_and(|above| above == target)
    })
}

/// Why a file could not be locked: if another process holds it, what the file says about the
/// holder.
fn not_locked(error: TryLockError, file: &mut File) -> io::Result<io::Error> {
    match error {
        TryLockError::WouldBlock => {
            let holder = platform::read_holder(file)?;
            Ok(io::Error::new(io::ErrorKind::WouldBlock, holder))
        }
        TryLockError::Error(error) if platform::has_no_locks(&error) => {
            Ok(io::Error::new(io::ErrorKind::Unsupported, error))
        }
        TryLockError::Error(error) => Ok(error),
    }
}

/// The operating system releases the lock when the process ends, whatever ends it.
#[derive(Debug)]
struct StdFileLock {
    file: File,
    place: Place,
}

impl Drop for StdFileLock {
    fn drop(&mut self) {
        // A child process that another thread is starting may have the open file, too: to close it
        // would not be enough.
        let _ = self.file.unlock();
    }
}

impl FileLock for StdFileLock {
    fn is_in_place(&self) -> io::Result<bool> {
        self.place.is_held()
    }
}

#[derive(Debug)]
struct StdWritableFile {
    file: File,
    place: Place,
}

impl WritableFile for StdWritableFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.place.is_held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child process has the open file as well, until it runs another program.
    #[test]
    fn a_lock_ends_with_its_holder_whoever_inherited_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("LOCK");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"process 1").unwrap();
        file.try_lock().unwrap();
        let inherited = file.try_clone().unwrap();
        let place = Place::of(&file, &path).unwrap();
        let lock = StdFileLock { file, place };
        let refused = StdFileSystem.lock(&path, "process 2").unwrap_err();
        assert_eq!(refused.to_string(), "process 1");
        drop(lock);
        drop(StdFileSystem.lock(&path, "process 2").unwrap());
        drop(inherited);
    }
}
