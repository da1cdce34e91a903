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
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// File systems whose files keep their blocks when they are written again. Others, such as btrfs
/// and ZFS, need new space for every write.
#[cfg(target_os = "linux")]
const OVERWRITE_IN_PLACE: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "tmpfs"];

#[cfg(unix)]
mod system {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    use super::{ErrorKind, File, Path, fs, io};

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
        super::open(path)?.sync_all()
    }

    /// Some file systems, such as CIFS and some of FUSE, have no sync of a directory, and say so.
    pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
        match File::open(path)?.sync_all() {
            Err(error)
                if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }

    /// Device and inode of a file with several names.
    pub(crate) fn identity_of_shared(path: &Path) -> io::Result<Option<(u64, u64)>> {
        let found = fs::metadata(path)?;
        Ok((found.nlink() > 1).then(|| (found.dev(), found.ino())))
    }

    /// Device and inode. They belong to no other file while this one is open.
    pub(super) type Identity = (u64, u64);

    pub(super) fn identity_of(file: &File) -> io::Result<Identity> {
        file.metadata().map(|found| (found.dev(), found.ino()))
    }

    /// On Linux, without the times of the file. Once they have been asked for, the next write must
    /// give the file a new time, and on ext4 without a journal `fdatasync` then writes the inode as
    /// well.
    pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
            if let Ok(found) = statx(CWD, path, AtFlags::empty(), StatxFlags::INO) {
                return Ok((makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino));
            }
            // An old kernel or a sandbox may not have the call.
        }
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

    /// Not known here.
    pub(crate) fn identity_of_shared(_: &Path) -> io::Result<Option<(u64, u64)>> {
        Ok(None)
    }

    pub(super) type Identity = same_file::Handle;

    pub(super) fn identity_of(file: &File) -> io::Result<Identity> {
        Identity::from_file(file.try_clone()?)
    }

    pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
        Identity::from_path(path)
    }
}

pub(crate) use system::{
    identity_of_shared, read_exact_at, rename, sync_dir, sync_file, write_all_at,
};

/// Opens a file for reading.
///
/// # Errors
/// Those of the system. `InvalidInput` for anything but a file, which is not opened: a pipe would
/// wait for its other end, and a device may do anything.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    check_is_file(path, &fs::metadata(path)?)?;
    File::open(path)
}

/// How many descriptors this process may have open; `None` if that is not known.
#[cfg(target_os = "linux")]
pub(crate) fn descriptors_max() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.and_then(|limit| limit.try_into().ok())
}

/// How many descriptors this process may have open; `None` if that is not known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn descriptors_max() -> Option<usize> {
    None
}

/// Refuses anything but a file or a directory.
pub(crate) fn check_is_file(path: &Path, found: &fs::Metadata) -> io::Result<()> {
    match found.is_file() || found.is_dir() {
        true => Ok(()),
        false => {
            let what = format!("{} is a pipe, a socket or a device, not a file", path.display());
            Err(io::Error::new(ErrorKind::InvalidInput, what))
        }
    }
}

/// Whether the error of a lock says that the file system has none: ENOLCK, which has no kind of its
/// own, and others.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    const ENOLCK: i32 = if cfg!(target_os = "macos") { 77 } else { 37 };
    error.kind() == ErrorKind::Unsupported || cfg!(unix) && error.raw_os_error() == Some(ENOLCK)
}

/// Whether a file is on a file system that needs no further space to write over what a file has.
#[cfg(target_os = "linux")]
pub(crate) fn overwrites_in_place(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(device) = file.metadata().map(|found| found.dev()) else { return false };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut mounts = mounts.lines().filter_map(mount_of);
    mounts.any(|(mounted, kind)| mounted == device && OVERWRITE_IN_PLACE.contains(&kind))
}

/// Whether a file is on a file system that needs no further space to write over what a file has.
/// Not known here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn overwrites_in_place(_: &File) -> bool {
    false
}

/// The device and the file system of a line of `/proc/self/mountinfo`, as proc(5) describes it:
/// the third field, `major:minor`, and the first after a field with a dash.
#[cfg(target_os = "linux")]
fn mount_of(line: &str) -> Option<(u64, &str)> {
    let (mount, source) = line.split_once(" - ")?;
    let (major, minor) = mount.split(' ').nth(2)?.split_once(':')?;
    let (major, minor) = (major.parse::<u64>().ok()?, minor.parse::<u64>().ok()?);
    // As the kernel and its C libraries encode a device in 64 bits.
    let device =
        (major & !0xfff) << 32 | (major & 0xfff) << 8 | (minor & !0xff) << 12 | minor & 0xff;
    Some((device, source.split(' ').next()?))
}

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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// procfs is a file system without syncs.
    #[test]
    fn a_directory_need_not_have_a_sync() {
        let dir = Path::new("/proc/self");
        let refused = File::open(dir).unwrap().sync_all().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        sync_dir(dir).unwrap();
        assert_eq!(sync_dir(Path::new("/none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_file_system_may_have_no_locks() {
        for (number, expected) in [(37, true), (95, true), (38, true), (11, false), (5, false)] {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(has_no_locks(&error), expected, "{error}");
        }
    }

    #[test]
    fn a_mount_has_a_device_and_a_file_system() {
        let line =
            "36 35 98:300 /mnt1 /mnt2 rw,noatime master:1 - ext4 /dev/root rw,errors=continue";
        assert_eq!(mount_of(line), Some((0x10622c, "ext4")));
        let without_options = "22 1 0:21 / /dev/shm rw - tmpfs tmpfs rw";
        assert_eq!(mount_of(without_options), Some((21, "tmpfs")));
        for broken in ["", "36 35", "36 35 98 / / rw - ext4 x", "36 35 a:b / / rw - ext4 x"] {
            assert_eq!(mount_of(broken), None, "{broken}");
        }
    }
}
