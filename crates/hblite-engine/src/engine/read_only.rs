//! Opens a store read-only.
//!
//! The engine works on an image of the directory, which is a file system in memory
//! ([`hblite_env::image`]): the store as it was at one moment, even if another process has it open
//! and writes meanwhile. Recovery after a kill, and all other repairs of an open, happen in the
//! image. The directory is not written to, so read-only media will do.
//!
//! Opened on the image, the engine refuses changes ([`EngineContext::check_not_read_only`]).
//! Threads: one, before the store is open.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Env, FileSystem, LargeFiles};
use hblite_model::{ErrorKind, Result};

#[cfg(doc)]
use crate::context::EngineContext;
use crate::layout::{self, Layout};
use crate::options::EngineOptions;

/// How many images are taken of a store in which something is missing.
const IMAGES_MAX: u32 = 3;

/// The settings for an engine on an image.
pub(super) fn settings(options: &EngineOptions) -> EngineOptions {
    EngineOptions {
        create_if_missing: false,
        is_flushed_on_close: false,
        is_compaction_enabled: false,
        is_split_enabled: false,
        ..options.clone()
    }
}

/// Passes the environment with an image of the store in `dir` to `open`.
///
/// A table that another process creates and drops while the image is taken may be in its log and
/// have no directory there, if that process keeps nothing for readers ([`hblite_env::image`]). So
/// what seems to be damaged is looked at again, in another image.
///
/// # Errors
/// `Io` if there is no store, it cannot be read, or it changes too quickly; and those of `open`.
pub(crate) fn on_image<T>(
    env: &Env,
    dir: &Path,
    options: &EngineOptions,
    open: impl Fn(Env) -> Result<T>,
) -> Result<T> {
    let layout = Layout::new(dir);
    layout::recognize(env.fs.as_ref(), &layout, options.tolerance())?.require_store(dir)?;
    let mut images = 1;
    loop {
        let image = image_of(env, dir, options)?;
        match open(env.clone().with_fs(image)) {
            Err(error) if error.kind() == ErrorKind::Corrupt && images < IMAGES_MAX => images += 1,
            opened => return opened,
        }
    }
}

/// The files of the store in `dir`, as an engine with these settings needs them.
///
/// # Errors
/// As [`layout::image_of`].
pub(crate) fn image_of(
    env: &Env,
    dir: &Path,
    options: &EngineOptions,
) -> Result<Arc<dyn FileSystem>> {
    let large = match options.are_files_mapped {
        true => LargeFiles::Mapped,
        false => LargeFiles::Open,
    };
    layout::image_of(env, dir, large, options.adopts_hbase)
}
