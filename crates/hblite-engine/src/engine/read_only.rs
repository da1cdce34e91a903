//! Opens a store read-only.
//!
//! The engine works on an image of the directory, which is a file system in memory
//! ([`hblite_env::image`]): the store as it was at one moment, even if another process has it open
//! and writes meanwhile. Recovery after a kill, and all other repairs of an open, happen in the
//! image. The directory is not written to: no lock is needed, and read-only media will do.
//!
//! Opened on the image, the engine refuses changes ([`EngineContext::check_not_read_only`]).
//! Threads: one, before the store is open.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Env, FileSystem, ImagePart, LargeFiles};
use hblite_model::{Error, Result};

#[cfg(doc)]
use crate::context::EngineContext;
use crate::layout::{self, Layout};
use crate::options::EngineOptions;

/// The environment with an image of the store in `dir`, and the settings to open it with.
///
/// # Errors
/// `Io` if there is no store, it cannot be read, or it changes too quickly.
pub(super) fn open_image(
    env: &Env,
    dir: &Path,
    options: EngineOptions,
) -> Result<(Env, EngineOptions)> {
    let layout = Layout::new(dir);
    layout::recognize(env.fs.as_ref(), &layout, options.tolerance())?.require_store(dir)?;
    let image = image_of(env, dir, &options)?;
    let env = env.clone().with_fs(image);
    let options = EngineOptions {
        create_if_missing: false,
        is_flushed_on_close: false,
        is_compaction_enabled: false,
        is_split_enabled: false,
        ..options
    };
    Ok((env, options))
}

/// The files of the store in `dir` as they are at this moment, in a file system in memory.
///
/// # Errors
/// `Io` if they cannot be read, or change too quickly.
pub(crate) fn image_of(
    env: &Env,
    dir: &Path,
    options: &EngineOptions,
) -> Result<Arc<dyn FileSystem>> {
    let layout = Layout::new(dir);
    let large = match options.are_files_mapped {
        true => LargeFiles::Mapped,
        false => LargeFiles::Open,
    };
    let part = |path: &Path| layout.image_part(path, options.adopts_hbase);
    let image = hblite_env::image(env.fs.as_ref(), dir, &part, large)
        .map_err(|error| Error::io("cannot read", dir, error))?;
    Ok(Arc::new(image))
}

impl Layout {
    /// How an image of the store treats a path below its root.
    fn image_part(&self, path: &Path, has_master_data: bool) -> ImagePart {
        let below = path.strip_prefix(self.root()).unwrap_or(path);
        let is_unused = path == self.master_data_dir() && !has_master_data;
        if is_unused
            || self.is_passing(path)
            || below.components().any(|part| is_temporary(part.as_os_str()))
        {
            ImagePart::Skipped
        } else if path.starts_with(self.wal_dir()) {
            ImagePart::Growing
        } else {
            ImagePart::Whole
        }
    }

    /// Whether an open ignores it: the lock, and what is out of service.
    fn is_passing(&self, path: &Path) -> bool {
        let is_moved = path.parent() == Some(&self.archive_dir()) && !path.ends_with("data");
        is_moved
            || path == self.checkpoints_dir()
            || path == self.lock_file()
            || path.parent() == Some(&self.old_wal_dir())
    }
}

fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name == crate::layout::TEMPORARY_DIR
}
