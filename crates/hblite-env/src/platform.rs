//! What the real file system does differently on Unix and on Windows.
//!
//! Each function has one meaning and a body per platform. On Windows:
//!
//! - [`sync_dir`] only checks that the directory exists. NTFS logs changes of names itself, in
//!   order; there is no way to force it to write that log.
//! - [`rename`] removes an empty directory at the target first, so the two steps are not atomic.
//!   A directory with an open file in it cannot be renamed.
//! - A lock is mandatory: while one process holds it, others cannot read the file, so
//!   [`read_holder`] cannot name the holder.
//!
//! Threads: all functions may be called from any thread.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

#[cfg(unix)]
mod system {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    use super::{File, Path, fs, io};

    pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        file.read_exact_at(buffer, offset)
    }

    pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// Device and inode. They belong to no other file while this one is open.
    pub(super) type Identity = (u64, u64);

    pub(super) fn identity_of(file: &File) -> io::Result<Identity> {
        file.metadata().map(|found| (found.dev(), found.ino()))
    }

    pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
        fs::metadata(path).map(|found| (found.dev(), found.ino()))
    }
}

#[cfg(windows)]
mod system {
    use std::fs::OpenOptions;
    use std::os::windows::fs::FileExt as _;

    use super::{File, Path, fs, io};

    pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match file.seek_read(&mut buffer[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => done += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match file.seek_write(&bytes[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => done += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
        if fs::metadata(from)?.is_dir() && fs::metadata(to).is_ok_and(|found| found.is_dir()) {
            // Fails, as it must, unless the directory is empty.
            fs::remove_dir(to)?;
        }
        fs::rename(from, to)
    }

    pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
        // Windows flushes only a file that is open for writing.
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(()),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) type Identity = same_file::Handle;

    pub(super) fn identity_of(file: &File) -> io::Result<Identity> {
        Identity::from_file(file.try_clone()?)
    }

    pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
        Identity::from_path(path)
    }
}

pub(crate) use system::{read_exact_at, rename, sync_dir, sync_file, write_all_at};

/// The path of an open file, and which file it refers to.
///
/// Must not outlive the open file.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    identity: system::Identity,
}

impl Place {
    pub(crate) fn of(file: &File, path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf(), identity: system::identity_of(file)? })
    }

    /// Whether the path still refers to the file.
    pub(crate) fn is_held(&self) -> io::Result<bool> {
        match system::identity_at(&self.path) {
            Ok(found) => Ok(found == self.identity),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// What the holder of a lock wrote into the locked file.
///
/// # Errors
/// Those of reading. Where a lock is mandatory, the text only says that another process holds it.
pub(crate) fn read_holder(file: &mut File) -> io::Result<String> {
    let mut holder = String::new();
    match file.read_to_string(&mut holder) {
        Err(_) if cfg!(windows) => Ok("another process".to_owned()),
        Err(error) => Err(error),
        Ok(_) => Ok(holder),
    }
}
