//! A store that was opened once and never used, from which engines are made without reading its
//! files again.
//!
//! An engine that is made from it has its own log, memory, clock and files, the latter as a
//! copy-on-write view. What never changes is shared: descriptors, and the store files with what was
//! read of them. So is the cache of blocks, which keeps the memory of hundreds of engines within
//! one limit.
//!
//! Invariant: the log has no entries, nothing is only in memory, and nothing writes to `files`.
//! Threads: any.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Env, FileSystem};
use hblite_model::{Error, Result};

use super::{Engine, Recovered};
use crate::catalog::Catalog;
use crate::options::EngineOptions;
use crate::wal::{self, ReplayReport};

/// A store to make engines from.
pub(crate) struct Template {
    original: Recovered,
    /// The files after the open, and the log in them.
    files: Arc<dyn FileSystem>,
    log: ReplayReport,
}

impl Template {
    /// Opens the store in `dir` of a file system in memory; `None` if engines cannot be made from
    /// it, because its log has entries.
    ///
    /// # Errors
    /// As [`Engine::open`]; `DoNotRetryIo` if the file system is not in memory.
    pub(crate) fn open(env: &Env, dir: &Path, options: &EngineOptions) -> Result<Option<Self>> {
        let original = Engine::open_and_recover(env.clone(), dir, options.clone())?;
        let Recovered { context, catalog, .. } = &original;
        let files = view_of(env.fs.as_ref())?;
        let (dir, options) = (context.layout.wal_dir(), context.replay_options());
        let env = env.clone().with_fs(Arc::clone(&files));
        let log = wal::replay(&env, &dir, options, &mut |_| Ok(()))?;
        let is_in_files = log.is_at_rest()
            && context.notes.lock().is_empty()
            && catalog.all_regions().iter().all(|region| region.is_memory_empty());
        Ok(is_in_files.then_some(Self { original, files, log }))
    }

    /// Makes an engine. Its files are not those of `env`, but a view of the template's.
    ///
    /// # Errors
    /// `Io`: no thread can be started.
    pub(crate) fn engine(&self, env: Env) -> Result<Arc<Engine>> {
        let Recovered { context, catalog, .. } = &self.original;
        let env = env.with_fs(view_of(self.files.as_ref())?);
        let layout = context.layout.unused_copy();
        let lock = Arc::from(layout.lock(&env)?);
        let options = EngineOptions::clone(&context.options);
        let cache = context.block_cache.clone();
        let (context, receiver) = Engine::context(env, layout, options, &self.log, &lock, cache)?;
        let catalog = Arc::new(Catalog::copy_of(catalog, &context)?);
        let recovery = self.log.clone();
        let recovered = Recovered { context, catalog, recovery, receiver, lock };
        Engine::begin_work(recovered).map(Arc::new)
    }
}

/// A copy-on-write view of a file system in memory.
fn view_of(files: &dyn FileSystem) -> Result<Arc<dyn FileSystem>> {
    files.fork().ok_or_else(|| Error::do_not_retry("only files in memory have copies"))
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Template({})", self.original.context.layout.root().display())
    }
}
