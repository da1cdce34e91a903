//! The disk, mounted through FUSE: a real kernel, real system calls, real page cache.
//!
//! Writes go through to the disk immediately, so the kernel caches only for reading; it drops the
//! cache when the disk is unmounted. After a cut every call fails with EIO.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use hblite_env::sync::Mutex;

use crate::disk::{Content, Disk, Outcome, Refusal};

/// How long the kernel may cache attributes and names. Only this kernel changes the disk.
const KEEP: Duration = Duration::from_secs(3600);

/// A mounted disk; unmounted when it is dropped.
pub(crate) struct Mounted {
    disk: Arc<Mutex<Disk>>,
    session: BackgroundSession,
}

impl Mounted {
    /// Mounts `disk` at the directory `at`.
    ///
    /// # Errors
    /// There is no FUSE, or this user may not mount.
    pub(crate) fn new(disk: Disk, at: &Path) -> io::Result<Self> {
        let disk = Arc::new(Mutex::new(disk));
        let options = fuser::Config::default();
        let calls = Calls { disk: Arc::clone(&disk), listings: Mutex::default() };
        let session = fuser::spawn_mount(calls, at, &options)?;
        Ok(Self { disk, session })
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Disk) -> T) -> T {
        look(&mut self.disk.lock())
    }

    /// Unmounts. No process may still use the disk.
    ///
    /// # Errors
    /// It cannot be unmounted.
    pub(crate) fn unmount(self) -> io::Result<Disk> {
        match self.session.umount_and_join() {
            // Another error that means that the disk is no longer mounted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            unmounted => unmounted?,
        }
        Ok(std::mem::replace(&mut *self.disk.lock(), Disk::new()))
    }
}

struct Calls {
    disk: Arc<Mutex<Disk>>,
    listings: Mutex<Listings>,
}

/// Directories that are being listed, as they were when the listing began.
#[derive(Default)]
struct Listings {
    last: u64,
    open: BTreeMap<u64, Vec<(u64, FileType, OsString)>>,
}

fn errno(refusal: Refusal) -> Errno {
    match refusal {
        Refusal::NotFound => Errno::ENOENT,
        Refusal::Exists => Errno::EEXIST,
        Refusal::NotADirectory => Errno::ENOTDIR,
        Refusal::IsADirectory => Errno::EISDIR,
        Refusal::NotEmpty => Errno::ENOTEMPTY,
        Refusal::Off => Errno::EIO,
    }
}

fn attributes(disk: &Disk, number: u64) -> Outcome<FileAttr> {
    let node = disk.node(number)?;
    let (kind, size) = match &node.content {
        Content::File(file) => (FileType::RegularFile, file.data.len() as u64),
        Content::Dir(_) => (FileType::Directory, 0),
    };
    Ok(FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: node.modified,
        mtime: node.modified,
        ctime: node.modified,
        crtime: node.modified,
        kind,
        perm: node.mode,
        nlink: disk.links(number),
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    })
}

fn reply_entry(disk: &Disk, number: Outcome<u64>, reply: ReplyEntry) {
    match number.and_then(|number| attributes(disk, number)) {
        Ok(attributes) => reply.entry(&KEEP, &attributes, Generation(0)),
        Err(refusal) => reply.error(errno(refusal)),
    }
}

fn reply_empty(outcome: Outcome<()>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(refusal) => reply.error(errno(refusal)),
    }
}

impl Filesystem for Calls {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let disk = self.disk.lock();
        reply_entry(&disk, disk.lookup(parent.0, name), reply);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match attributes(&self.disk.lock(), ino.0) {
            Ok(attributes) => reply.attr(&KEEP, &attributes),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.disk.lock();
        let changed = size.map_or(Ok(()), |size| disk.set_len(ino.0, size));
        match changed.and_then(|()| attributes(&disk, ino.0)) {
            Ok(attributes) => reply.attr(&KEEP, &attributes),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let mut disk = self.disk.lock();
        let number = disk.create(parent.0, name, true, (mode & !umask) as u16 & 0o7777);
        reply_entry(&disk, number, reply);
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let mut disk = self.disk.lock();
        let number = disk.create(parent.0, name, false, (mode & !umask) as u16 & 0o7777);
        match number.and_then(|number| attributes(&disk, number)) {
            Ok(attributes) => {
                let (generation, handle) = (Generation(0), FileHandle(0));
                reply.created(&KEEP, &attributes, generation, handle, FopenFlags::empty());
            }
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(self.disk.lock().remove(parent.0, name, false), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(self.disk.lock().remove(parent.0, name, true), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let replaces = !flags.contains(RenameFlags::RENAME_NOREPLACE);
        let renamed = self.disk.lock().rename((parent.0, name), (newparent.0, newname), replaces);
        reply_empty(renamed, reply);
    }

    fn link(
        &self,
        _: &Request,
        ino: INodeNo,
        newparent: INodeNo,
        newname: &OsStr,
        reply: ReplyEntry,
    ) {
        let mut disk = self.disk.lock();
        let linked = disk.link(ino.0, newparent.0, newname);
        reply_entry(&disk, linked.map(|()| ino.0), reply);
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.disk.lock().file(ino.0) {
            Ok(_) => reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.disk.lock().file(ino.0) {
            Ok(file) => {
                let from = (offset as usize).min(file.data.len());
                let to = (from + size as usize).min(file.data.len());
                reply.data(&file.data[from..to]);
            }
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.disk.lock().write(ino.0, offset, data) {
            Ok(()) => reply.written(data.len() as u32),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // The kernel asks for it when a file is closed, which makes nothing durable.
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply_empty(self.disk.lock().sync_file(ino.0), reply);
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply_empty(self.disk.lock().sync_dir(ino.0), reply);
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let disk = self.disk.lock();
        let dir = match disk.dir(ino.0) {
            Ok(dir) => dir,
            Err(refusal) => return reply.error(errno(refusal)),
        };
        let own = [".", ".."].map(|name| (ino.0, FileType::Directory, OsString::from(name)));
        let names = dir.names.iter().map(|(name, number)| {
            let kind = match disk.file(*number) {
                Ok(_) => FileType::RegularFile,
                Err(_) => FileType::Directory,
            };
            (*number, kind, name.clone())
        });
        let mut listings = self.listings.lock();
        listings.last += 1;
        let handle = listings.last;
        listings.open.insert(handle, own.into_iter().chain(names).collect());
        reply.opened(FileHandle(handle), FopenFlags::empty());
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listings = self.listings.lock();
        let Some(listing) = listings.open.get(&handle.0) else {
            return reply.error(Errno::EBADF);
        };
        for (index, (number, kind, name)) in listing.iter().enumerate().skip(offset as usize) {
            if reply.add(INodeNo(*number), index as u64 + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.listings.lock().open.remove(&handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        const BLOCKS: u64 = 1 << 20;
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, 4096, 255, 4096);
    }
}
