//! A store that was opened once and never used, from which engines are made without reading its
//! files again.
//!
//! An engine that is made from it has its own log, memory, clock and files, the latter as a
//! copy-on-write view or, for a rewind of a directory, as the same files on disk. What never
//! changes is shared: descriptors, and the store files with what was read of them. So is the cache
//! of blocks, which keeps the memory of hundreds of engines within one limit.
//!
//! Invariant: the log has no entries, nothing is only in memory, and nothing writes to `files`.
//! Threads: any.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Env, FileLock, FileSystem};
use hblite_model::{Error, Result};

use super::{Engine, Recovered};
use crate::catalog::Catalog;
use crate::context::EngineContext;
use crate::options::EngineOptions;
use crate::wal::{self, ReplayReport};

/// A store to make engines from.
pub(crate) struct Template {
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
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
        let Recovered { context, catalog, .. } =
            Engine::open_and_recover(env.clone(), dir, options.clone())?;
        let files = view_of(env.fs.as_ref())?;
        let (dir, options) = (context.layout.wal_dir(), context.replay_options());
        let env = env.clone().with_fs(Arc::clone(&files));
        let log = wal::replay(&env, &dir, options, &mut |_| Ok(()))?;
        let is_in_files = log.is_at_rest()
            && context.notes.lock().is_empty()
            && catalog.all_regions().iter().all(|region| region.is_memory_empty());
        Ok(is_in_files.then_some(Self { context, catalog, files, log }))
    }

    /// Makes an engine. Its files are not those of `env`, but a view of the template's.
    ///
    /// # Errors
    /// `Io`: no thread can be started.
    pub(crate) fn engine(&self, env: Env) -> Result<Arc<Engine>> {
        let env = env.with_fs(view_of(self.files.as_ref())?);
        let lock = Arc::from(self.context.layout.lock(&env)?);
        self.prepare(env, EngineOptions::clone(&self.context.options), lock)?.begin()
    }

    /// Makes an engine on the files of `env`, which are the template's when it begins its work.
    /// Until then it reads and writes nothing. `lock` is that of the directory.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn prepare(
        &self,
        env: Env,
        options: EngineOptions,
        lock: Arc<dyn FileLock>,
    ) -> Result<Prepared> {
        let layout = self.context.layout.unused_copy();
        let cache = self.context.block_cache.clone();
        let (context, receiver) = Engine::context(env, layout, options, &self.log, &lock, cache)?;
        let catalog = Arc::new(Catalog::copy_of(&self.catalog, &context)?);
        let recovery = self.log.clone();
        Ok(Prepared(Recovered { context, catalog, recovery, receiver, lock }))
    }

    /// The files that the engines begin with, in memory.
    pub(crate) fn files(&self) -> &Arc<dyn FileSystem> {
        &self.files
    }
}

/// An engine that has not begun its work.
pub(crate) struct Prepared(Recovered);

impl Prepared {
    /// Starts the engine.
    ///
    /// # Errors
    /// `Io`: no thread can be started.
    pub(crate) fn begin(self) -> Result<Arc<Engine>> {
        Engine::begin_work(self.0).map(Arc::new)
    }
}

/// A copy-on-write view of a file system in memory.
fn view_of(files: &dyn FileSystem) -> Result<Arc<dyn FileSystem>> {
    files.fork().ok_or_else(|| Error::do_not_retry("only files in memory have copies"))
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({})", self.0.context.layout.root().display())
    }
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Template({})", self.context.layout.root().display())
    }
}
