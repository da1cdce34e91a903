//! The history: a file in the root in which the console keeps where requests went.
//!
//! ```text
//! ┌────────────┬──────────┬─────────┬───────┐
//! │ "hbliteHI" │ store id │ content │ u32   │
//! │            │          │         │ crc32 │
//! │ 8          │ 16       │         │ 4     │
//! └────────────┴──────────┴─────────┴───────┘
//! ```
//!
//! The checksum, big-endian, covers everything before it. The content is the console's. Nothing in
//! the store depends on the file, and HBase ignores it: it may be removed at any time, and a
//! damaged one is replaced. Images and backups leave it out.
//!
//! Threads: one writes, while the store is open; any may read.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, Result};

use super::{HISTORY_FILE, Layout, StoreId};

const MAGIC: [u8; 8] = *b"hbliteHI";
const HEAD: usize = MAGIC.len() + StoreId::SIZE;
const CHECKSUM: usize = 4;

/// Whether this is the name of the history, or of one that is being written.
pub(super) fn is_name_of_history(name: &str) -> bool {
    name.strip_suffix(".tmp").unwrap_or(name) == HISTORY_FILE
}

fn file(layout: &Layout) -> PathBuf {
    layout.root.join(HISTORY_FILE)
}

/// Whether this is the history, or one that is being written.
pub(super) fn is_history(layout: &Layout, path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    path.parent() == Some(layout.root()) && is_name_of_history(name)
}

/// The content of the history; `None` if there is none.
///
/// # Errors
/// `CorruptHFile` for a file that is damaged or of another store; `Io`.
pub(crate) fn read(fs: &dyn FileSystem, layout: &Layout) -> Result<Option<Vec<u8>>> {
    let path = file(layout);
    let mut bytes = match fs.read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| Error::io("cannot read", &path, error))?,
    };
    let corrupt = |what: &str| Err(Error::corrupt(Exception::CorruptHFile, &path, 0, what));
    let Some(end) = bytes.len().checked_sub(CHECKSUM).filter(|end| *end >= HEAD) else {
        return corrupt("it is too short for a history of requests");
    };
    let (covered, checksum) = bytes.split_at(end);
    if !covered.starts_with(&MAGIC) {
        return corrupt("not a history of requests: wrong magic");
    }
    if crc32fast::hash(covered).to_be_bytes() != checksum {
        return corrupt("the checksum of the history of requests is wrong");
    }
    if covered[MAGIC.len()..HEAD] != *layout.store_id().as_bytes() {
        return corrupt("it is the history of requests of another store");
    }
    bytes.truncate(end);
    Ok(Some(bytes.split_off(HEAD)))
}

/// Replaces the history: a power cut leaves the old or the new one.
///
/// # Errors
/// `Io`; the old one is still there.
pub(crate) fn write(fs: &dyn FileSystem, layout: &Layout, content: &[u8]) -> Result<()> {
    let path = file(layout);
    let mut bytes = [&MAGIC, &layout.store_id().as_bytes()[..], content].concat();
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    fs.replace(&path, &bytes).map_err(|error| {
        // Best effort: a disk that is full needs the space.
        let _ = fs.remove_file(&path.with_extension("history.tmp"));
        Error::io("cannot write", &path, error)
    })
}
