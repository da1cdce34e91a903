//! A checkpoint: the files of a store at one moment.
//!
//! For a store in memory, it is a copy-on-write copy of the file system. For a store in a
//! directory, it is a copy made of hard links within that directory, and an image of the copy for
//! forks. The copy is removed with the checkpoint.
//!
//! Invariant: neither is ever written to; engines open forks of the image. Threads: any.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::sync::Mutex;
use hblite_env::{Env, FileSystem};
use hblite_model::{Error, Result};

use super::World;
use crate::engine::{Engine, Template, image_of};
use crate::layout::Layout;
use crate::options::EngineOptions;

/// The state of a store at one moment.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// The environment, with the image as its file system.
    env: Env,
    /// The store's path in the image.
    dir: PathBuf,
    options: EngineOptions,
    /// What engines are made from, once one was needed.
    template: Mutex<Opened>,
    /// The file system with the copy, if there is one; the copy is also at `dir`.
    disk: Option<Disk>,
}

/// What is known about opening a checkpoint.
#[derive(Debug, Default)]
enum Opened {
    #[default]
    Never,
    Template(Box<Template>),
    /// Each engine reads the files.
    Plainly,
}

/// Where the copy is, and the store that it is a copy of.
#[derive(Debug)]
struct Disk {
    fs: Arc<dyn FileSystem>,
    store: Layout,
}

impl Checkpoint {
    /// Flushes memory, and keeps the files.
    pub(super) fn take(
        engine: &Engine,
        env: &Env,
        dir: &Path,
        options: &EngineOptions,
    ) -> Result<Self> {
        let fs = &engine.env().fs;
        let options = EngineOptions {
            create_if_missing: false,
            salvage: false,
            adopts_hbase: false,
            is_flushed_on_close: false,
            scrub_period_ms: None,
            ..options.clone()
        };
        let memory = engine.procedures().at_rest(|| Ok(fs.fork()))?;
        if let Some(image) = memory {
            let (env, dir) = (env.clone().with_fs(image), dir.to_path_buf());
            return Ok(Self { env, dir, options, template: Mutex::default(), disk: None });
        }
        let dir = engine.procedures().copy_to_checkpoint()?;
        // From here on it is removed with the checkpoint.
        let store = Layout::new(engine.layout().root()).with_store_id(engine.store_id());
        let disk = Some(Disk { fs: Arc::clone(fs), store });
        let template = Mutex::default();
        let mut checkpoint = Self { env: env.clone(), dir, options, template, disk };
        let image = image_of(engine.env(), &checkpoint.dir, &checkpoint.options)?;
        checkpoint.env = env.clone().with_fs(image);
        Ok(checkpoint)
    }

    /// The copy, for a store that is not in memory.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.disk.is_some().then_some(&self.dir)
    }

    /// Prepares the rewind of a store in a directory to this checkpoint. Whatever was prepared
    /// before is removed.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn stage(&self) -> Result<()> {
        match &self.disk {
            Some(Disk { fs, store }) => store.stage_rewind(fs.as_ref(), &self.dir),
            None => Ok(()),
        }
    }

    /// Removes what [`Checkpoint::stage`] prepared.
    pub(super) fn unstage(&self) {
        if let Some(Disk { fs, store }) = &self.disk {
            // The next open removes what cannot be removed now.
            let _ = store.unstage_rewind(fs.as_ref());
        }
    }

    /// The path of a fork's store in its file system.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Opens a store that begins as a copy of this checkpoint.
    pub(super) fn open(&self) -> Result<World> {
        let mut opened = self.template.lock();
        if matches!(*opened, Opened::Never) {
            *opened =
                self.prepare()?.map_or(Opened::Plainly, |found| Opened::Template(found.into()));
        }
        let Opened::Template(template) = &*opened else {
            drop(opened);
            return World::open(&self.view()?, &self.dir, self.options.clone());
        };
        World::with(&self.env, |env| template.engine(env))
    }

    /// Whether engines are made from one that was opened before.
    #[cfg(test)]
    pub(super) fn has_template(&self) -> bool {
        matches!(*self.template.lock(), Opened::Template(_))
    }

    /// Opens the image, and once more after a flush if its log is needed.
    fn prepare(&self) -> Result<Option<Template>> {
        let env = self.view()?;
        if let Some(template) = Template::open(&env, &self.dir, &self.options)? {
            return Ok(Some(template));
        }
        let engine = Engine::open(self.view()?, &self.dir, self.options.clone())?;
        let files = engine.procedures().at_rest(|| Ok(engine.env().fs.fork()))?;
        engine.end_without_flush()?;
        let env = self.env.clone().with_fs(files.ok_or_else(not_in_memory)?);
        Template::open(&env, &self.dir, &self.options)
    }

    /// The environment with a copy-on-write view of its files.
    fn view(&self) -> Result<Env> {
        Ok(self.env.clone().with_fs(self.env.fs.fork().ok_or_else(not_in_memory)?))
    }
}

fn not_in_memory() -> Error {
    Error::do_not_retry("a checkpoint's image is in memory")
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        if let Some(Disk { fs, store }) = &self.disk {
            // The next open removes what cannot be removed now.
            let _ = store.remove_in_place(fs.as_ref(), &self.dir);
        }
    }
}
