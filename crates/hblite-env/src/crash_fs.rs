//! A file system in memory that forgets what was not synced.
//!
//! It keeps two states: what a running process sees, and what a power cut would leave. Bytes of a
//! file become durable when the file is synced. A name (created, linked, renamed, removed) becomes
//! durable when its directory is synced, and it is reachable only if the names of all directories
//! above it are durable too. Until then a power cut may keep or lose each of them independently; a
//! rename within or between directories is atomic, as in journaling file systems.
//!
//! Unsynced bytes at a file's end are lost from a random point on. In the rest of them, whole
//! sectors (512 bytes or 4 KiB) may read as zeros, as when pages are written back out of order.
//! After a kill, and after some power cuts, zeros follow the content of a log: see
//! [`FileSystem::create_log`].
//! [`Losses`] counts what happened. A sync can be made to fail, with the effect that this has on
//! Linux: the bytes may be lost although a later sync succeeds.
//!
//! Threads: one lock over everything.

mod disk;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use self::disk::{Disk, Inode, InodeId, NameChange, already_exists, not_found};
use crate::fs::{DirEntry, FileBytes, FileLock, FileSystem, ReadableFile, WritableFile};

/// What a power cut did to the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Names that were lost because no directory sync had covered them.
    pub names_lost: u64,
    /// Names that were kept although no directory sync had covered them.
    pub names_kept_unsynced: u64,
    /// Files of which a part of the unsynced bytes was kept.
    pub tails_torn: u64,
    /// Files of which all unsynced bytes were lost.
    pub tails_lost: u64,
    /// Sectors of 512 bytes, and pages of 4 KiB, that were lost before bytes that were kept.
    pub sectors_lost: [u64; 2],
    /// Failed syncs whose bytes were lost although a later sync succeeded.
    pub syncs_forgotten: u64,
}

/// Files in memory with a power switch; clones share the files.
#[derive(Debug, Clone, Default)]
pub struct CrashFileSystem {
    disk: Arc<Mutex<Disk>>,
}

impl CrashFileSystem {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    fn create_inode(&self, path: &Path, inode: Inode) -> io::Result<Box<dyn WritableFile>> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let slot = disk.slot(path)?;
        if disk.at(&slot).is_some() {
            return Err(already_exists(path));
        }
        let inode = disk.add(slot, inode);
        Ok(Box::new(CrashWritableFile { disk: self.disk.clone(), inode, path: path.to_path_buf() }))
    }

    fn with_disk(disk: Disk) -> Self {
        Self { disk: Arc::new(Mutex::new(disk)) }
    }

    /// The files as after a power cut now, in a separate file system.
    ///
    /// Everything durable is preserved. Seed 0 loses everything that may be lost; every other seed
    /// decides pseudorandomly for each unsynced name and file tail.
    pub fn after_power_cut(&self, seed: u64) -> Self {
        self.after_power_cut_with_losses(seed).0
    }

    /// Like [`CrashFileSystem::after_power_cut`], and returns what was lost.
    pub fn after_power_cut_with_losses(&self, seed: u64) -> (Self, Losses) {
        let mut disk = self.disk.lock().clone();
        let losses = disk.cut_power(seed);
        (Self::with_disk(disk), losses)
    }

    /// The files as if only the process ended now: everything written is preserved. What a failed
    /// sync did not write is not written by a later one either.
    pub fn after_kill(&self) -> Self {
        let mut disk = self.disk.lock().clone();
        disk.locked.clear();
        disk.power_off_at = None;
        disk.drop_unreachable();
        disk.show_zeros_ahead();
        Self::with_disk(disk)
    }

    /// The current files, including locks and open files. Nothing is copied until either side
    /// writes.
    pub fn fork(&self) -> Self {
        Self::with_disk(self.disk.lock().clone())
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.disk.lock().check_power().is_err()
    }

    /// Flips one bit of a file, as bit rot does.
    ///
    /// # Errors
    /// `NotFound` if there is no such file, `IsADirectory` for a directory, `UnexpectedEof` if the
    /// file is too short.
    pub fn flip_bit(&self, path: &Path, offset: usize, bit: u32) -> io::Result<()> {
        let mut disk = self.disk.lock();
        let file = disk.find(path)?;
        match &mut disk.inodes[file] {
            Inode::File { content, .. } => {
                let byte = Arc::make_mut(content).get_mut(offset);
                *byte.ok_or(io::ErrorKind::UnexpectedEof)? ^= 1 << (bit % 8);
                Ok(())
            }
            Inode::Dir { .. } => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Has the effect of a failed sync of the file; see the head of this module. Does nothing if
    /// there is no such file.
    pub fn fail_sync(&self, path: &Path) {
        let mut disk = self.disk.lock();
        if let Ok(file) = disk.find(path) {
            disk.forget_unsynced(file);
        }
    }

    /// Makes everything durable, as after a long idle time.
    pub fn sync_everything(&self) {
        self.disk.lock().sync_everything();
    }

    /// Number of operations so far that changed or synced something.
    pub fn operation_count(&self) -> u64 {
        self.disk.lock().operation_count
    }

    /// Allows `operations` more changing operations; after them everything fails, so that a
    /// workload can be interrupted at every point.
    pub fn power_off_after(&self, operations: u64) {
        let mut disk = self.disk.lock();
        disk.power_off_at = Some(disk.operation_count.saturating_add(operations));
    }
}

impl FileSystem for CrashFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        self.create_inode(path, Inode::empty_file())
    }

    fn create_log(&self, path: &Path, _: bool) -> io::Result<Box<dyn WritableFile>> {
        self.create_inode(path, Inode::empty_log())
    }

    fn take_space(&self, _: &Path, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        let disk = self.disk.lock();
        disk.check_power()?;
        let inode = disk.find(path)?;
        disk.content(inode)?;
        Ok(Arc::new(CrashReadableFile { disk: self.disk.clone(), inode }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let (from_slot, to_slot) = (disk.slot(from)?, disk.slot(to)?);
        let inode = disk.at(&from_slot).ok_or_else(|| not_found(from))?;
        if let Some(replaced) = disk.at(&to_slot) {
            let is_replaceable = match (disk.names(inode), disk.names(replaced)) {
                (Ok(_), Ok(names)) => names.is_empty(),
                (from_dir, to_dir) => from_dir.is_err() && to_dir.is_err(),
            };
            if !is_replaceable {
                return Err(already_exists(to));
            }
        }
        disk.apply(NameChange::Rename { from: from_slot, to: to_slot, inode });
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let slot = disk.slot(path)?;
        let inode = disk.at(&slot).ok_or_else(|| not_found(path))?;
        disk.content(inode)?;
        disk.apply(NameChange::Unlink { from: slot });
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let slot = disk.slot(path)?;
        let inode = disk.at(&slot).ok_or_else(|| not_found(path))?;
        disk.names(inode)?;
        disk.unlink_all(slot);
        Ok(())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let mut dirs: Vec<&Path> =
            path.ancestors().filter(|dir| dir.file_name().is_some()).collect();
        dirs.reverse();
        for dir in dirs {
            let slot = disk.slot(dir)?;
            match disk.at(&slot) {
                Some(inode) => drop(disk.names(inode)?),
                None => {
                    disk.add(slot, Inode::empty_dir());
                }
            }
        }
        Ok(())
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let disk = self.disk.lock();
        disk.check_power()?;
        let names = disk.names(disk.find(path)?)?;
        let entry = |(name, inode): (&String, &InodeId)| DirEntry {
            name: name.clone(),
            is_dir: matches!(disk.inodes[*inode], Inode::Dir { .. }),
        };
        Ok(names.iter().map(entry).collect())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let disk = self.disk.lock();
        disk.check_power()?;
        match disk.find(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        let disk = self.disk.lock();
        disk.check_power()?;
        Ok(disk.content(disk.find(path)?)?.len() as u64)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let inode = disk.find(from)?;
        disk.content(inode)?;
        let slot = disk.slot(to)?;
        if disk.at(&slot).is_some() {
            return Err(already_exists(to));
        }
        disk.apply(NameChange::Link { to: slot, inode });
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let inode = disk.find(path)?;
        disk.sync_content(inode)
    }

    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let inode = disk.find(path)?;
        disk.write_again(inode, usize::try_from(from).unwrap_or(usize::MAX));
        disk.sync_content(inode)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let dir = disk.find(path)?;
        disk.names(dir)?;
        disk.sync_names(dir);
        Ok(())
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        let mut disk = self.disk.lock();
        disk.change()?;
        let slot = disk.slot(path)?;
        let inode = match disk.at(&slot) {
            Some(inode) => inode,
            None => disk.add(slot, Inode::empty_file()),
        };
        let content = String::from_utf8_lossy(disk.content(inode)?.as_slice()).into_owned();
        if !disk.locked.insert(path.to_path_buf()) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, content));
        }
        disk.inodes[inode] = Inode::file_of(holder.as_bytes().to_vec());
        Ok(Box::new(CrashFileLock { disk: self.disk.clone(), inode, path: path.to_path_buf() }))
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let mut disk = self.disk.lock();
        disk.check_power()?;
        let inode = match disk.find(path) {
            Ok(inode) => inode,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let holder = String::from_utf8_lossy(disk.content(inode)?.as_slice()).into_owned();
        if !disk.locked.insert(path.to_path_buf()) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, holder));
        }
        let lock = CrashFileLock { disk: self.disk.clone(), inode, path: path.to_path_buf() };
        Ok(Some(Box::new(lock)))
    }
}

#[derive(Debug)]
struct CrashFileLock {
    disk: Arc<Mutex<Disk>>,
    inode: InodeId,
    path: PathBuf,
}

impl FileLock for CrashFileLock {
    fn is_in_place(&self) -> io::Result<bool> {
        self.disk.lock().is_at(self.inode, &self.path)
    }
}

impl Drop for CrashFileLock {
    fn drop(&mut self) {
        self.disk.lock().locked.remove(&self.path);
    }
}

#[derive(Debug)]
struct CrashWritableFile {
    disk: Arc<Mutex<Disk>>,
    inode: InodeId,
    path: PathBuf,
}

impl WritableFile for CrashWritableFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        if let Inode::File { content, log_writes, .. } = &mut disk.inodes[self.inode] {
            Arc::make_mut(content).extend_from_slice(bytes);
            *log_writes = log_writes.map(|count| count.saturating_add(1));
        }
        Ok(())
    }

    /// Takes three of four writes to a log, so that both ways of writing occur.
    fn write_in_place(&mut self, length: usize, write: &mut dyn FnMut(&mut [u8])) -> bool {
        let log_writes = match &self.disk.lock().inodes[self.inode] {
            Inode::File { log_writes, .. } => *log_writes,
            _ => None,
        };
        let is_taken = log_writes.is_some_and(|count| count % 4 > 0);
        is_taken && {
            let mut bytes = vec![0; length];
            write(&mut bytes);
            self.write_all(&bytes).is_ok()
        }
    }

    /// Truncated bytes never reappear, as they may on a real disk before a sync.
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        if let Inode::File { content, durable_length, .. } = &mut disk.inodes[self.inode] {
            Arc::make_mut(content).truncate(usize::try_from(length).unwrap_or(usize::MAX));
            *durable_length = content.len().min(*durable_length);
        }
        Ok(())
    }

    fn trim(&mut self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        if let Inode::File { log_writes, .. } = &mut disk.inodes[self.inode] {
            *log_writes = None;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.change()?;
        disk.sync_content(self.inode)
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.disk.lock().is_at(self.inode, &self.path)
    }
}

#[derive(Debug)]
struct CrashReadableFile {
    disk: Arc<Mutex<Disk>>,
    inode: InodeId,
}

impl ReadableFile for CrashReadableFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.lock().content(self.inode)?.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let disk = self.disk.lock();
        disk.check_power()?;
        let content = disk.content(self.inode)?;
        let source = usize::try_from(offset)
            .ok()
            .and_then(|from| content.get(from..from.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(source);
        Ok(())
    }

    fn map(&self) -> io::Result<FileBytes> {
        let disk = self.disk.lock();
        disk.check_power()?;
        Ok(FileBytes::Owned(Arc::clone(disk.content(self.inode)?)))
    }
}
