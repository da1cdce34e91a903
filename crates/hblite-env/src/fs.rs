//! The file system as the engine sees it.
//!
//! [`FileSystem`] has all file operations that the engine may use. It comes from an [`crate::Env`],
//! per open store and not global, so that one process can have a store on disk, one in memory and
//! one whose disk fails.
//!
//! Durability: bytes written survive a power cut only after [`WritableFile::sync`]; names (when
//! created, renamed or removed) only after [`FileSystem::sync_dir`] of the directory that holds
//! them.
//!
//! Threads: all of this may be used from any thread; a [`WritableFile`] by one at a time.

use std::fmt::Debug;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::mapping::Mapping;

/// Bytes that [`FileSystem::take_space`] writes at once.
const SPACE_CHUNK: u64 = 128 << 10;
/// Maximum size of a small file: far above that of any file that is read as a whole.
const SMALL_FILE_MAX: u64 = 64 << 20;
/// Bytes that are copied at a time.
pub(crate) const COPY_SIZE: u64 = 1 << 20;

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The last part of its path.
    pub name: String,
    /// Whether it is a directory, and no symbolic link to one above it.
    pub is_dir: bool,
}

/// Which file a name refers to, while the file exists: its device, and its number there.
pub type FileIdentity = (u64, u64);

/// Files and directories.
pub trait FileSystem: Send + Sync + Debug {
    /// Creates a file for writing; an existing file is an error.
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>>;

    /// Creates a file for many small writes in a row; an existing file is an error.
    ///
    /// Until [`WritableFile::trim`], zeros may follow what was written: at least a whole sector of
    /// them after the part of a write that a kill leaves. With `is_mapped`, writes may go through a
    /// mapping: the process is then killed (SIGBUS) if another program truncates the file.
    fn create_log(&self, path: &Path, is_mapped: bool) -> io::Result<Box<dyn WritableFile>> {
        let _ = is_mapped;
        self.create(path)
    }

    /// Opens a file for reading at any offset.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>>;

    /// Like [`FileSystem::open`], for one of many files that stay open and do not change. It need
    /// not keep a descriptor.
    fn open_finished(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.open(path)
    }

    /// Renames a file or directory; an existing file at the target, or an empty directory for a
    /// directory, is replaced atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with everything in it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Creates a directory and its parents; existing ones are not an error.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// The entries of a directory, sorted by name.
    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Whether a file or directory exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Length of a file in bytes.
    fn file_length(&self, path: &Path) -> io::Result<u64>;

    /// Creates a hard link; an existing name is an error. Writes through one name are visible
    /// through both, so this is for files that are no longer written to.
    ///
    /// # Errors
    /// `CrossesDevices` and others if the two names cannot share a file: see [`FileSystem::copy`].
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the content of a file durable. The file must not be open for writing.
    fn sync_file(&self, path: &Path) -> io::Result<()>;

    /// Writes the content from offset `from` on again and makes it durable. The file must not be
    /// open for writing.
    ///
    /// After a failed sync, the operating system may consider bytes written that are not, and a
    /// later sync succeeds without them. A process cannot know whether that happened to an earlier
    /// process, so it must rewrite what it relies on.
    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()>;

    /// Makes the names in a directory durable. No error where the file system does not have that
    /// for directories.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Locks the file at `path` (created if needed) for this process and writes `holder` into it.
    ///
    /// # Errors
    /// `WouldBlock` if another holder has the lock; the message is what that holder wrote.
    /// `Unsupported` if the file system has no locks.
    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>>;

    /// Locks the file at `path` for reading, without writing anything: others may do the same, but
    /// not [`FileSystem::lock`] it. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`FileSystem::lock`].
    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>>;

    /// Announces that the files below the directory are going to be read, until the result is
    /// dropped or the process ends. Nothing is written. `None` where that is not possible.
    fn announce_reader(&self, dir: &Path) -> Option<Box<dyn Announcement>> {
        let _ = dir;
        None
    }

    /// Watches for readers that announce themselves. `None` where they cannot.
    fn watch_readers(&self, dir: &Path) -> Option<Box<dyn ReaderWatch>> {
        let _ = dir;
        None
    }

    /// The path without symbolic links. It is the same where a file system has none.
    ///
    /// # Errors
    /// `NotFound` if nothing is there.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }

    /// The path from the root on, which stays the same when the process changes its directory. It
    /// is the same where a file system has no such directory. Nothing need be there.
    ///
    /// # Errors
    /// Those of looking up the process's directory.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }

    /// What two names of one file have in common, if a file may have several names. `None`: not
    /// known.
    ///
    /// # Errors
    /// `NotFound` if nothing is there.
    fn identity(&self, path: &Path) -> io::Result<Option<FileIdentity>> {
        let _ = path;
        Ok(None)
    }

    /// Creates a file that takes up this many bytes of the disk, whatever is in it; an existing one
    /// is an error. Not durable. A file system without a disk may do nothing.
    fn take_space(&self, path: &Path, bytes: u64) -> io::Result<()> {
        let mut file = self.create(path)?;
        // Zeros, or repetitions, may take up no space.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let noise: Vec<u8> = (0..SPACE_CHUNK / 8)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()
            })
            .collect();
        let mut left = bytes;
        while left > 0 {
            let length = left.min(SPACE_CHUNK);
            file.write_all(&noise[..length as usize])?;
            left -= length;
        }
        Ok(())
    }

    /// Whether a directory can be renamed while files in it are open: not on Windows.
    fn renames_dirs_in_use(&self) -> bool {
        true
    }

    /// A cheap, independent copy of the whole file system at one moment. `None` if it is not in
    /// memory. If a file grows meanwhile, the copy has a prefix of it.
    fn fork(&self) -> Option<Arc<dyn FileSystem>> {
        None
    }

    /// Makes a durable copy of a file; an existing target is an error. The name is not durable yet.
    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        copy_between(self, from, self, to)
    }

    /// The whole content of a small file.
    ///
    /// # Errors
    /// `FileTooLarge` for a file of more than 64 MiB, which is not read; `OutOfMemory`.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path)?;
        let length = file.length()?;
        if length > SMALL_FILE_MAX {
            let what = format!("it has {length} bytes, expected at most {SMALL_FILE_MAX}");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        read_all(file.as_ref(), length)
    }

    /// The whole content of a file of any size.
    ///
    /// # Errors
    /// `OutOfMemory` if it does not fit into memory.
    fn read_large(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path)?;
        read_all(file.as_ref(), file.length()?)
    }

    /// Writes a small file so that after a crash the old or the new content is there, never a mix.
    fn write_atomically(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.replace(path, content)?;
        path.parent().map_or(Ok(()), |parent| self.sync_dir(parent))
    }

    /// Like [`FileSystem::write_atomically`], but a power cut may still leave the old content until
    /// the directory is synced.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let (temporary, mut file) = self.write_beside(path, content)?;
        file.sync()?;
        drop(file);
        self.rename(&temporary, path)
    }

    /// Like [`FileSystem::replace`], but a power cut may leave anything until the file and the
    /// directory are synced. After a kill, the old or the new content is there.
    fn replace_unsynced(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let (temporary, file) = self.write_beside(path, content)?;
        drop(file);
        self.rename(&temporary, path)
    }

    /// Writes a small file next to `path`, under a temporary name, and returns both.
    fn write_beside(
        &self,
        path: &Path,
        content: &[u8],
    ) -> io::Result<(PathBuf, Box<dyn WritableFile>)> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        if self.exists(&temporary)? {
            self.remove_file(&temporary)?;
        }
        let mut file = self.create(&temporary)?;
        file.write_all(content)?;
        Ok((temporary, file))
    }
}

/// The first `length` bytes of a file.
pub(crate) fn read_all(file: &dyn ReadableFile, length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    let mut content = Vec::new();
    content.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    content.resize(length, 0);
    file.read_exact_at(&mut content, 0)?;
    Ok(content)
}

/// Every file below a directory, at any depth, in the order in which directories are listed.
///
/// # Errors
/// Those of the file system; `NotFound` if there is no such directory.
pub fn files_below(fs: &dyn FileSystem, dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs.list_dir(dir)? {
        let path = dir.join(&entry.name);
        if entry.is_dir { files.extend(files_below(fs, &path)?) } else { files.push(path) }
    }
    Ok(files)
}

/// Makes a durable copy of a file in another file system; an existing target is an error. The name
/// is not durable yet.
///
/// # Errors
/// Those of the file systems.
pub fn copy_between<S: FileSystem + ?Sized, T: FileSystem + ?Sized>(
    source: &S,
    from: &Path,
    target: &T,
    to: &Path,
) -> io::Result<()> {
    let file = source.open(from)?;
    let length = file.length()?;
    let mut copy = target.create(to)?;
    let mut buffer = Vec::new();
    let mut offset = 0;
    while offset < length {
        // At most COPY_SIZE, which fits any `usize`.
        buffer.resize((length - offset).min(COPY_SIZE) as usize, 0);
        file.read_exact_at(&mut buffer, offset)?;
        copy.write_all(&buffer)?;
        offset += buffer.len() as u64;
    }
    copy.sync()
}

/// A file being written, from its beginning to its end.
pub trait WritableFile: Send + Debug {
    /// Appends bytes. After an error the content from here on is unknown.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Appends `length` bytes if they only have to be written to memory: see
    /// [`FileSystem::create_log`]. `write` gets that memory, with any content, and fills it. False
    /// if nothing was written.
    fn write_in_place(&mut self, _length: usize, _write: &mut dyn FnMut(&mut [u8])) -> bool {
        false
    }

    /// Truncates the file to its first `length` bytes; the next write follows them. After `Ok` this
    /// survives a kill, and after [`WritableFile::sync`] a power cut.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Removes the zeros that may follow what was written: see [`FileSystem::create_log`].
    fn trim(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Makes written bytes survive a power cut (`fdatasync`).
    fn sync(&mut self) -> io::Result<()>;

    /// Whether the file's path still refers to it: false once the file, or a directory above it,
    /// was removed, moved or replaced.
    fn is_in_place(&self) -> io::Result<bool>;
}

/// A file being read.
pub trait ReadableFile: Send + Sync + Debug {
    /// Length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills `buffer` from `offset` on; if the file is too short, returns `UnexpectedEof`.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// The whole content as memory. The file must not change afterwards.
    fn map(&self) -> io::Result<FileBytes>;
}

/// A lock that is released when dropped.
pub trait FileLock: Send + Sync + Debug {
    /// Whether the path of the locked file still refers to it, like [`WritableFile::is_in_place`].
    fn is_in_place(&self) -> io::Result<bool>;
}

/// A reader of a directory: see [`FileSystem::announce_reader`].
pub trait Announcement: Send + Debug {}

/// Whether a directory is being read: see [`FileSystem::watch_readers`].
pub trait ReaderWatch: Send + Sync + Debug {
    /// Whether a reader is announced at this moment. Takes less than a microsecond.
    fn has_reader(&self) -> bool;
}

/// The content of an immutable file; cheap to clone.
#[derive(Debug, Clone)]
pub enum FileBytes {
    /// Mapped from the real file system.
    Mapped(Arc<Mapping>),
    /// Held in memory.
    Owned(Arc<Vec<u8>>),
}

impl FileBytes {
    /// Hints that these bytes are going to be read: see [`Mapping::request`].
    pub fn request(&self, range: Range<usize>) {
        if let Self::Mapped(map) = self {
            map.request(range);
        }
    }

    /// Whether the byte is in memory: see [`Mapping::is_in_memory`].
    pub fn is_in_memory(&self, at: usize) -> bool {
        match self {
            Self::Mapped(map) => map.is_in_memory(at),
            Self::Owned(_) => true,
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}
