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

use hblite_env::{Env, FileSystem, LargeFiles};
use hblite_model::Result;

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
