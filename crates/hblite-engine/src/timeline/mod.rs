//! An open store that can return to an earlier state.
//!
//! A [`Timeline`] holds the engine that currently serves the store, and its checkpoints. A
//! checkpoint is an image of the store's files at one moment; everything that is only in memory is
//! flushed first. Files are immutable, so images share them.
//!
//! - `rewind` opens an engine on a copy-on-write view of the image and replaces the current engine
//!   with it. Names, regions, data and sequence ids are those of the checkpoint. For a store in a
//!   directory, it replaces the files, in one step (`layout::rewind`), and the engine uses them.
//! - `fork` opens such an engine as a timeline of its own.
//! - `standby` opens that engine ahead of time, which makes both fast. `staging` prepares the files
//!   and the engine of a rewind in a directory ahead of time.
//!
//! The slots of the tables move from engine to engine (`catalog::MovingSlots`), so that operations
//! need not know of it. Every operation on a row uses one engine to its end. One in progress during
//! a rewind therefore happens entirely before it, and its writes are discarded.
//!
//! Invariant: the generation changes whenever the engine does, and an engine that was replaced
//! never returns. Threads: any; checkpoints and rewinds run one at a time.

mod changes;
mod checkpoint;
mod client_scanners;
mod export;
mod history;
mod staging;
mod standby;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hblite_env::sync::{Mutex, RwLock};
use hblite_env::{AdjustableClock, Clock, ClockMode, Env, FileSystem};
use hblite_model::{Error, Exception, Result};

use self::changes::Changes;
use self::checkpoint::Checkpoint;
use self::client_scanners::ClientScannerSets;
pub use self::client_scanners::ClientScanners;
use self::staging::{Staging, Target};
use self::standby::Standby;
use crate::catalog::OpenReport;
use crate::engine::{Engine, Prepared, on_image};
use crate::layout::rewind;
use crate::options::EngineOptions;
use crate::wal::ReplayReport;

/// Maximum length of a checkpoint's name, in bytes.
const NAME_MAX: usize = 255;

/// An engine and the clock that it follows.
#[derive(Debug)]
struct World {
    engine: Arc<Engine>,
    clock: Arc<AdjustableClock>,
    origin: Option<Origin>,
}

/// The checkpoint with whose files an engine began in a directory, and what it changed in them.
#[derive(Debug)]
struct Origin {
    checkpoint: Weak<Checkpoint>,
    changes: Arc<Changes>,
}

impl World {
    fn open(env: &Env, dir: &Path, options: EngineOptions) -> Result<Self> {
        Self::with(env, |env| Engine::open(env, dir, options))
    }

    /// With an engine that `open` opens with this environment and the clock.
    fn with(env: &Env, open: impl FnOnce(Env) -> Result<Arc<Engine>>) -> Result<Self> {
        let clock = Arc::new(AdjustableClock::new(Arc::clone(&env.clock)));
        let env = env.clone().with_clock(Arc::clone(&clock) as Arc<dyn Clock>);
        Ok(Self { engine: open(env)?, clock, origin: None })
    }

    /// Sets the clock, after which background work may begin.
    fn follow(&self, mode: ClockMode) {
        self.clock.set_mode(mode);
        self.engine.set_standby(false);
    }

    /// Ends it. Returns what it changed in the files of `checkpoint`, if it began with those and
    /// did not change too many of them to be recorded.
    fn end(self, checkpoint: &Arc<Checkpoint>) -> Option<BTreeSet<PathBuf>> {
        drop(self.engine);
        let origin = self.origin?;
        let is_same = std::ptr::eq(origin.checkpoint.as_ptr(), Arc::as_ptr(checkpoint));
        origin.changes.take().filter(|_| is_same)
    }
}

/// An engine that has not begun its work, and its clock.
#[derive(Debug)]
struct PreparedWorld {
    engine: Prepared,
    clock: Arc<AdjustableClock>,
    origin: Origin,
}

impl PreparedWorld {
    /// With an engine that `prepare` prepares with this environment and the clock.
    fn with(
        env: &Env,
        origin: Origin,
        prepare: impl FnOnce(Env) -> Result<Prepared>,
    ) -> Result<Self> {
        let clock = Arc::new(AdjustableClock::new(Arc::clone(&env.clock)));
        let env = env.clone().with_clock(Arc::clone(&clock) as Arc<dyn Clock>);
        Ok(Self { engine: prepare(env)?, clock, origin })
    }

    fn begin(self) -> Result<World> {
        let Self { engine, clock, origin } = self;
        Ok(World { engine: engine.begin()?, clock, origin: Some(origin) })
    }
}

/// A store with its checkpoints.
pub struct Timeline {
    env: Env,
    dir: PathBuf,
    options: EngineOptions,
    world: RwLock<World>,
    generation: AtomicU64,
    checkpoints: Mutex<BTreeMap<String, Arc<Checkpoint>>>,
    standby: Standby,
    staging: Staging,
    scanners: ClientScannerSets,
    /// Held by the checkpoint, rewind or fork in progress.
    change: Mutex<()>,
    recovery: ReplayReport,
    open_report: OpenReport,
}

/// Opening and closing.
impl Timeline {
    /// Opens the store in a directory, or creates one there. Its clock is that of `env` until it is
    /// set.
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open(env: Env, dir: &Path, options: EngineOptions) -> Result<Arc<Self>> {
        let world = World::open(&env, dir, options.clone())?;
        if !options.is_read_only {
            let layout = world.engine.layout();
            if let Err(error) = rewind::remove_checkpoints(env.fs.as_ref(), layout) {
                // They do no harm, and the next open tries again.
                world.engine.note(&layout.checkpoints_dir(), error.message());
            }
        }
        let dir = world.engine.layout().root().to_path_buf();
        Ok(Arc::new(Self::new(env, &dir, options, world)))
    }

    /// Opens a copy of the store in `dir`, in memory. The directory is only read: nothing in it is
    /// changed, and another process may have it open.
    ///
    /// # Errors
    /// As [`Engine::open`]; `NotFound` if there is no store.
    pub fn open_copy(env: Env, dir: &Path, options: EngineOptions) -> Result<Arc<Self>> {
        let settings = EngineOptions {
            create_if_missing: false,
            is_flushed_on_close: false,
            scrub_period_ms: None,
            ..options.clone()
        };
        on_image(&env, dir, &options, |image| Self::open(image, dir, settings.clone()))
    }

    fn new(env: Env, dir: &Path, options: EngineOptions, world: World) -> Self {
        Self {
            env,
            dir: dir.to_path_buf(),
            options,
            recovery: world.engine.recovery().clone(),
            open_report: world.engine.catalog().open_report().clone(),
            world: RwLock::new(world),
            generation: AtomicU64::new(0),
            checkpoints: Mutex::default(),
            standby: Standby::default(),
            staging: Staging::default(),
            scanners: ClientScannerSets::default(),
            change: Mutex::new(()),
        }
    }

    /// Closes the engine. See [`Engine::close`].
    ///
    /// # Errors
    /// As [`Engine::close`].
    pub fn close(&self) -> Result<()> {
        let _change = self.change.lock();
        self.forget_checkpoints();
        self.engine().close()
    }

    /// What was replayed from the log when the store was opened.
    pub fn recovery(&self) -> &ReplayReport {
        &self.recovery
    }

    /// What the open changed in the directory besides the store's own files.
    pub fn open_report(&self) -> &OpenReport {
        &self.open_report
    }
}

/// Copies.
impl Timeline {
    /// Writes a copy of the store to the directory `to` of `disk`, which must be empty or missing:
    /// completely and durably, or not at all. For a store in a directory, it is a backup.
    ///
    /// # Errors
    /// As [`crate::Procedures::backup`].
    pub fn export(&self, disk: &dyn FileSystem, to: &Path) -> Result<()> {
        let engine = self.engine();
        let procedures = engine.procedures();
        match procedures.at_rest(|| Ok(engine.env().fs.fork()))? {
            Some(files) => export::write(files.as_ref(), engine.layout(), disk, to),
            None => procedures.backup(to).map(drop),
        }
    }
}

/// The present.
impl Timeline {
    /// The directory; for a store in memory, its name there.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The engine that currently serves the store. Waits while a rewind replaces it.
    pub fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.world.read().engine)
    }

    /// A number that changes with each rewind.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The engine that currently serves the store, and its generation.
    pub fn present(&self) -> (u64, Arc<Engine>) {
        let world = self.world.read();
        (self.generation(), Arc::clone(&world.engine))
    }

    /// What the clock shows.
    pub fn clock_mode(&self) -> ClockMode {
        self.world.read().clock.mode()
    }

    /// The time of the clock that the store was opened with, whatever its own clock shows.
    pub fn base_millis(&self) -> i64 {
        self.env.clock.now_millis()
    }

    /// Sets the clock. Work that has become due starts immediately: removing expired snapshots, and
    /// major compactions of old files; scanners whose lease has ended are closed. A rewind does not
    /// change the clock.
    ///
    /// # Errors
    /// `IllegalState` if that sets the time back while clients of a server or gateway have scanners
    /// open: their leases would never end.
    pub fn set_clock(&self, mode: ClockMode) -> Result<()> {
        let now = self.now_millis();
        let then = match mode {
            ClockMode::Manual(millis) => millis,
            ClockMode::Offset(offset) => self.base_millis().saturating_add(offset),
            ClockMode::Real => self.base_millis(),
        };
        if then < now {
            let open = self.scanners.open_count(now);
            if open > 0 {
                return Err(not_set_back(now.saturating_sub(then), open));
            }
        }
        self.turn_clock(mode);
        Ok(())
    }

    /// Stops the clock at its current time.
    pub fn stop_clock(&self) {
        self.turn_clock(ClockMode::Manual(self.now_millis()));
    }

    fn turn_clock(&self, mode: ClockMode) {
        let world = self.world.read();
        world.clock.set_mode(mode);
        world.engine.look_for_due_work();
        drop(world);
        self.scanners.close_expired(self.now_millis());
    }

    /// Adds the open scanners of a server or gateway, which the timeline closes on a rewind, and
    /// whose leases follow its clock. They are forgotten when they are dropped.
    pub fn add_client_scanners(&self, scanners: Weak<dyn ClientScanners>) {
        self.scanners.add(scanners);
    }
}

/// Checkpoints.
impl Timeline {
    /// Names the current state, so that the store can return to it. It includes every write that
    /// was acknowledged before the call. A checkpoint of the same name is replaced.
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is empty, longer than 255 bytes, or has characters other
    /// than letters, digits and `_-.`; `Io` if memory cannot be flushed; `DoNotRetryIo` if the
    /// store is read-only; `RegionServerStopped` if it is closed.
    pub fn checkpoint(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let _change = self.change.lock();
        let engine = self.engine();
        let checkpoint = Arc::new(Checkpoint::take(&engine, &self.env, &self.dir, &self.options)?);
        self.standby.prepare(&checkpoint);
        self.staging.prepare(&checkpoint, self.target());
        self.checkpoints.lock().insert(name.to_owned(), checkpoint);
        Ok(())
    }

    /// Returns to a checkpoint, any number of times. Open scanners end, those of servers' clients
    /// too.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist` if there is no checkpoint of this name, `RegionServerStopped` if the
    /// store is closed. `Io` for a store in a directory: it is unchanged, or closed; the next open
    /// finds the state before or after the rewind.
    pub fn rewind(&self, name: &str) -> Result<()> {
        let before = self.generation();
        let rewound = self.replace_world(name);
        if self.generation() != before {
            self.scanners.close_all();
        }
        rewound
    }

    fn replace_world(&self, name: &str) -> Result<()> {
        let _change = self.change.lock();
        self.engine().check_open()?;
        let checkpoint = self.find(name)?;
        if checkpoint.is_on_disk() {
            return self.rewind_directory(&checkpoint);
        }
        let new = self.standby.take(&checkpoint)?;
        let mut world = self.world.write();
        new.follow(world.clock.mode());
        new.engine.switches().copy(world.engine.switches());
        world.engine.catalog().move_slots().move_to(new.engine.catalog());
        let old = std::mem::replace(&mut *world, new);
        self.generation.fetch_add(1, Ordering::AcqRel);
        drop(world);
        self.standby.prepare_after(&checkpoint, old);
        Ok(())
    }

    /// The engine ends, its files are replaced, and another one, which was prepared for them,
    /// begins. New operations wait meanwhile; operations in progress fail with
    /// `RegionServerStopped`.
    fn rewind_directory(&self, checkpoint: &Arc<Checkpoint>) -> Result<()> {
        let fs = self.env.fs.as_ref();
        let prepared = self.staging.take(checkpoint, self.target())?;
        let mut world = self.world.write();
        // From here on no caller finds the old engine.
        self.generation.fetch_add(1, Ordering::AcqRel);
        let old = Arc::clone(&world.engine);
        let tables = old.catalog().move_slots();
        old.give_way();
        let committed = rewind::commit(fs, old.layout());
        let begun = match (&committed, prepared) {
            (Ok(()), Some(prepared)) => {
                rewind::replace_parts(fs, old.layout()).and_then(|()| prepared.begin()).ok()
            }
            _ => None,
        };
        // Whether the commit failed or not, the open determines the state of the store.
        let new = match begun {
            Some(new) => new,
            None => World::open(&self.env, &self.dir, self.options.clone())?,
        };
        new.follow(world.clock.mode());
        new.engine.switches().copy(old.switches());
        for note in old.file_notes() {
            new.engine.note(&note.path, note.what);
        }
        tables.move_to(new.engine.catalog());
        let replaced = std::mem::replace(&mut *world, new);
        drop((world, old));
        self.staging.prepare_after(checkpoint, self.target(), replaced);
        committed
    }

    /// What is rewound.
    fn target(&self) -> Target {
        Target { env: self.env.clone(), options: self.options.clone(), engine: self.engine() }
    }

    /// An independent store in memory that begins as a copy of the checkpoint. Its clock starts at
    /// this one's time, and is set separately.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist` if there is no checkpoint of this name, `RegionServerStopped` if the
    /// store is closed.
    pub fn fork(&self, name: &str) -> Result<Arc<Self>> {
        let change = self.change.lock();
        self.engine().check_open()?;
        let checkpoint = self.find(name)?;
        let world = self.standby.take(&checkpoint)?;
        drop(change);
        world.follow(self.clock_mode());
        self.standby.prepare(&checkpoint);
        let env = self.env.clone().with_fs(Arc::clone(&world.engine.env().fs));
        let options = world.engine.options().clone();
        Ok(Arc::new(Self::new(env, checkpoint.dir(), options, world)))
    }

    fn forget_checkpoints(&self) {
        self.standby.end();
        self.staging.end();
        let forgotten = std::mem::take(&mut *self.checkpoints.lock());
        drop(forgotten);
    }

    /// Removes a checkpoint; its forks are not affected. False if there is none of this name.
    pub fn delete_checkpoint(&self, name: &str) -> bool {
        let _change = self.change.lock();
        let removed = self.checkpoints.lock().remove(name);
        if let Some(checkpoint) = &removed {
            self.standby.forget(checkpoint);
            self.staging.forget(checkpoint);
        }
        removed.is_some()
    }

    /// Names of the checkpoints, sorted.
    pub fn checkpoints(&self) -> Vec<String> {
        self.checkpoints.lock().keys().cloned().collect()
    }

    fn find(&self, name: &str) -> Result<Arc<Checkpoint>> {
        self.checkpoints.lock().get(name).cloned().ok_or_else(|| {
            let message = format!("there is no checkpoint {name:?}; take it first");
            Error::new(Exception::SnapshotDoesNotExist, message)
        })
    }
}

/// The clock of the store, through rewinds.
impl Clock for Timeline {
    fn now_millis(&self) -> i64 {
        self.world.read().clock.now_millis()
    }

    fn is_running(&self) -> bool {
        self.world.read().clock.is_running()
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        self.forget_checkpoints();
    }
}

impl std::fmt::Debug for Timeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Timeline({})", self.dir.display())
    }
}

fn not_set_back(by_millis: i64, open: usize) -> Error {
    let (scanners, them) = match open {
        1 => ("1 scanner is".to_owned(), "it"),
        _ => (format!("{open} scanners are"), "them"),
    };
    let message = format!(
        "the clock cannot be set back by {by_millis} ms while {scanners} open; close {them} first"
    );
    Error::new(Exception::IllegalState, message)
}

fn check_name(name: &str) -> Result<()> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(Error::illegal_argument(format!(
        "{name:?} cannot name a checkpoint: it takes 1 to {NAME_MAX} letters, digits and _-."
    )))
}
