//! A checkpoint: the files of a store at one moment.
//!
//! For a store in memory, it is a copy-on-write copy of the file system. For a store in a
//! directory, it is a copy made of hard links within that directory, and an image of the copy,
//! under the paths of the store. The copy is removed with the checkpoint.
//!
//! Invariant: neither is ever written to; engines open forks of the image. Threads: any.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::sync::Mutex;
use hblite_env::{Env, FileLock, FileSystem};
use hblite_model::{Error, Result};

use super::changes::RecordingFileSystem;
use super::{Origin, PreparedWorld, World};
use crate::engine::{Engine, Template, image_of};
use crate::layout::Layout;
use crate::layout::rewind::{self, Kept};
use crate::layout::stage::{self, NewContents};
use crate::options::EngineOptions;

/// Files up to this size, in bytes, are compared: a manifest or the log's head can be replaced
/// under its name.
const SMALL: u64 = 1 << 20;

/// The state of a store at one moment.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// The environment, with the image as its file system.
    env: Env,
    /// The store's path, also in the image.
    dir: PathBuf,
    options: EngineOptions,
    /// What engines are made from, once one was needed.
    template: Mutex<Opened>,
    /// For a store in a directory.
    disk: Option<Disk>,
}

/// What is known about opening a checkpoint.
#[derive(Debug, Default)]
enum Opened {
    #[default]
    Never,
    Template(Arc<Template>),
    /// Each engine reads the files.
    Plainly,
}

/// Where the copy is, and the store that it is a copy of.
#[derive(Debug)]
struct Disk {
    fs: Arc<dyn FileSystem>,
    store: Layout,
    copy: PathBuf,
}

impl Checkpoint {
    /// Flushes memory, and keeps the files.
    pub(super) fn take(
        engine: &Engine,
        env: &Env,
        dir: &Path,
        options: &EngineOptions,
    ) -> Result<Self> {
        let options = EngineOptions {
            create_if_missing: false,
            salvage: false,
            adopts_hbase: false,
            is_flushed_on_close: false,
            scrub_period_ms: None,
            ..options.clone()
        };
        let memory = engine.procedures().at_rest(|| Ok(engine.env().fs.fork()))?;
        if let Some(image) = memory {
            let (env, dir) = (env.clone().with_fs(image), dir.to_path_buf());
            return Ok(Self { env, dir, options, template: Mutex::default(), disk: None });
        }
        let copy = engine.procedures().copy_to_checkpoint()?;
        // From here on it is removed with the checkpoint.
        let store = Layout::new(engine.layout().root()).with_store_id(engine.store_id());
        let disk = Disk { fs: Arc::clone(&env.fs), store, copy: copy.clone() };
        let (env, dir, template) = (env.clone(), dir.to_path_buf(), Mutex::default());
        let mut checkpoint = Self { env, dir, options, template, disk: Some(disk) };
        let image = image_of(engine.env(), &copy, &checkpoint.options)?;
        move_up(image.as_ref(), &copy, &checkpoint.dir)?;
        checkpoint.env = checkpoint.env.clone().with_fs(image);
        Ok(checkpoint)
    }

    /// Whether the store is in a directory.
    pub(super) fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Completes the rewind before, which makes it durable, and prepares the next rewind of a store
    /// in a directory to this checkpoint. Whatever was prepared before is removed. What the rewind
    /// before replaced is deleted. With `changed`, it is used: it came from this checkpoint, and
    /// may differ from it only below these paths. Returns what was set aside of it.
    ///
    /// # Errors
    /// `Io`, and those of opening the checkpoint.
    pub(super) fn stage(&self, changed: Option<&BTreeSet<PathBuf>>) -> Result<Vec<Kept>> {
        let Some(Disk { fs, store, copy }) = &self.disk else { return Ok(Vec::new()) };
        rewind::settle(fs.as_ref(), store)?;
        let template = self.template()?;
        // What an open of the checkpoint changed is not in its copy on disk.
        let files = template.as_ref().map_or(&self.env.fs, |template| template.files()).as_ref();
        let name_on_disk = |path: &Path| {
            let is_same = template.is_none() || has_same(self.env.fs.as_ref(), files, path);
            Some(copy.join(path.strip_prefix(&self.dir).ok()?)).filter(|_| is_same)
        };
        let new = NewContents { files, name_on_disk: &name_on_disk };
        match changed {
            Some(changed) => stage::stage_replaced(fs.as_ref(), store, &new, changed),
            None => {
                let kept = rewind::remove_replaced(fs.as_ref(), store)?;
                stage::stage(fs.as_ref(), store, &new)?;
                Ok(kept)
            }
        }
    }

    /// Removes what [`Checkpoint::stage`] prepared.
    pub(super) fn unstage(&self) {
        if let Some(Disk { fs, store, .. }) = &self.disk {
            // The next open removes what cannot be removed now.
            let _ = rewind::unstage(fs.as_ref(), store);
        }
    }

    /// The engine for the files that [`Checkpoint::stage`] prepared; `None` if it must be opened.
    /// What it changes is recorded.
    ///
    /// # Errors
    /// Those of opening the checkpoint.
    pub(super) fn prepare_world(
        self: &Arc<Self>,
        env: &Env,
        options: &EngineOptions,
        lock: Arc<dyn FileLock>,
    ) -> Result<Option<PreparedWorld>> {
        let Some(template) = self.template()? else { return Ok(None) };
        let files = RecordingFileSystem::new(Arc::clone(&env.fs), &self.dir);
        let origin = Origin { checkpoint: Arc::downgrade(self), changes: files.changes() };
        let env = env.clone().with_fs(Arc::new(files));
        let prepare = |env| template.prepare(env, options.clone(), lock);
        PreparedWorld::with(&env, origin, prepare).map(Some)
    }

    /// The path of a fork's store in its file system.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Opens a store that begins as a copy of this checkpoint.
    pub(super) fn open(&self) -> Result<World> {
        match self.template()? {
            Some(template) => World::with(&self.env, |env| template.engine(env)),
            None => World::open(&self.view()?, &self.dir, self.options.clone()),
        }
    }

    /// What engines are made from, if they can be.
    fn template(&self) -> Result<Option<Arc<Template>>> {
        let mut opened = self.template.lock();
        if matches!(*opened, Opened::Never) {
            *opened =
                self.prepare()?.map_or(Opened::Plainly, |found| Opened::Template(found.into()));
        }
        Ok(match &*opened {
            Opened::Template(template) => Some(Arc::clone(template)),
            Opened::Never | Opened::Plainly => None,
        })
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

/// Moves what is in `from` to `root`, which is above it and has nothing else.
fn move_up(image: &dyn FileSystem, from: &Path, root: &Path) -> Result<()> {
    let io = |error| Error::io("cannot read", from, error);
    for entry in image.list_dir(from).map_err(io)? {
        image.rename(&from.join(&entry.name), &root.join(&entry.name)).map_err(io)?;
    }
    let empty = from.parent().unwrap_or(from);
    image.remove_dir_all(empty).map_err(io)
}

/// Whether two images have the same file. Large files never change: a changed one has a new name.
fn has_same(left: &dyn FileSystem, right: &dyn FileSystem, path: &Path) -> bool {
    match (left.file_length(path), right.file_length(path)) {
        (Ok(length), Ok(other)) if length == other => {
            length > SMALL
                || matches!((left.read(path), right.read(path)), (Ok(l), Ok(r)) if l == r)
        }
        _ => false,
    }
}

fn not_in_memory() -> Error {
    Error::do_not_retry("a checkpoint's image is in memory")
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        if let Some(Disk { fs, store, copy }) = &self.disk {
            // The next open removes what cannot be removed now.
            let _ = store.remove_in_place(fs.as_ref(), copy);
        }
    }
}
