//! How hblite recognizes its own unfinished backup, and refuses a directory that it did not make.
//!
//! The directory of an unfinished backup has a marker, `hblite.backup`, made durable before
//! anything else is written there. A directory with content but without the marker is left alone.
//! The marker is removed once the directory has the backup's name; if a kill comes in between, the
//! marker stays and has no effect.
//!
//! Threads: only the one that begins the backup.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, Result};

use crate::layout::{BACKUP_MARKER_FILE as MARKER_FILE, Layout};

const MARKER: &[u8] =
    b"Written by hblite backup. A directory TO.partial with this file is an unfinished backup, \
    which the next backup to TO deletes.\n";

/// The text in a store's lock file before the process id.
const HOLDER_PREFIX: &[u8] = b"process ";

fn marker_file(dir: &Path) -> PathBuf {
    dir.join(MARKER_FILE)
}

/// Refuses an existing directory that no backup created.
///
/// # Errors
/// `Io`: nothing was changed.
pub(super) fn check_own(fs: &dyn FileSystem, partial: &Layout) -> Result<()> {
    let (root, marker) = (partial.root(), marker_file(partial.root()));
    let entries = match fs.list_dir(root) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| Error::io("cannot list", root, error))?,
    };
    let read = |path: &Path| match fs.read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|error| Error::io("cannot read", path, error)),
    };
    let content = read(&marker)?;
    if content == MARKER {
        return Ok(());
    }
    // A kill or a power cut at the very beginning leaves a lock, and a part of the marker.
    let holder = read(&partial.lock_file())?;
    let is_beginning = content.len() <= MARKER.len()
        && may_be_torn(&content, MARKER)
        && may_be_torn(&holder, HOLDER_PREFIX)
        && entries.iter().all(|entry| {
            let path = root.join(&entry.name);
            path == marker || path == partial.lock_file()
        });
    if is_beginning {
        return Ok(());
    }
    let message = format!(
        "{} is there already and is not an unfinished backup: it lacks {MARKER_FILE}. Move it \
         away, or choose another target. Nothing was changed",
        root.display()
    );
    Err(Error::new(Exception::Io, message).with_kind(hblite_model::ErrorKind::AlreadyExists))
}

/// Whether `content` is a prefix of `whole`, or zeros instead: what a power cut leaves of a file.
fn may_be_torn(content: &[u8], whole: &[u8]) -> bool {
    content.iter().zip(whole).all(|(byte, expected)| byte == expected || *byte == 0)
}

/// Removes everything that an earlier backup left, except the lock and the marker, and makes the
/// marker durable. The caller holds the lock, and [`check_own`] has passed.
///
/// # Errors
/// `Io`.
pub(super) fn begin(fs: &dyn FileSystem, partial: &Layout) -> Result<()> {
    let (root, marker) = (partial.root(), marker_file(partial.root()));
    let entries = fs.list_dir(root).map_err(|error| Error::io("cannot list", root, error))?;
    let mut has_marker = false;
    for entry in entries {
        let path = root.join(&entry.name);
        if path == marker && fs.read(&path).is_ok_and(|content| content == MARKER) {
            has_marker = true;
        } else if path != partial.lock_file() {
            let removed =
                if entry.is_dir { fs.remove_dir_all(&path) } else { fs.remove_file(&path) };
            removed.map_err(|error| Error::io("cannot remove", &path, error))?;
        }
    }
    if has_marker {
        return Ok(());
    }
    let written = || {
        let mut file = fs.create(&marker)?;
        file.write_all(MARKER)?;
        file.sync()?;
        fs.sync_dir(root)
    };
    written().map_err(|error| Error::io("cannot write", &marker, error))
}

/// Removes the marker from the backup `to`, which is complete.
pub(super) fn end(fs: &dyn FileSystem, to: &Path) {
    // If it stays, it is harmless.
    let _ = fs.remove_file(&marker_file(to)).and_then(|()| fs.sync_dir(to));
}
