//! The manifest of an open region: the files of its stores, and whether the disk has the same list.
//!
//! Every change to a store's list of files is recorded here afterwards, and is on disk after
//! [`RegionFiles::save`]. For the required order, see `manifest.rs`.
//!
//! Invariants: a file is listed once; a removed file was listed; a stamp is assigned once. While
//! the file of an assigned stamp is neither listed nor abandoned, no manifest calls the stamp
//! settled.
//!
//! Threads: any. One lock, held while the manifest is written: commits of one region are
//! serialized. Its holder takes no other lock, except the layout's for a moment, and those of a
//! write to hbase:meta, which waits for no flush.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::sync::Mutex;
use hblite_model::{Error, ErrorKind, Exception, RegionInfo, Result, TableDescriptor};

use super::manifest::LOST;
use super::manifest::{self, FileKey, Fingerprint, Manifest, Origin, Recorded};
use super::standing::{Standing, standing};
use super::store_file::StoreFile;
use crate::context::EngineContext;
use crate::files::sync_dir;
use crate::layout::MANIFEST_FILE;

/// The files of an open region.
pub(crate) struct RegionFiles {
    context: Arc<EngineContext>,
    region: RegionInfo,
    dir: PathBuf,
    /// What the directory must have; `None` if unknown.
    expected: Option<Manifest>,
    /// Whether it has lost its manifest, and a salvage writes it again.
    has_lost_manifest: bool,
    /// What it must have in addition, from bulk loads that the open has just completed.
    loaded: BTreeMap<FileKey, Fingerprint>,
    state: Mutex<State>,
}

struct State {
    /// What the stores have.
    current: Manifest,
    /// Whether the manifest on disk says the same.
    is_saved: bool,
    /// Whether there is one.
    is_there: bool,
    /// What hbase:meta says that it has recorded, if hbase:meta says that there is one.
    named: Option<Recorded>,
    last_stamp: u64,
    in_flight: BTreeSet<u64>,
    /// Directories with files that an open found but no manifest lists. A kill may have happened
    /// before the names of the files, or of the directories themselves, were durable.
    unsynced: BTreeSet<PathBuf>,
}

/// A stamp whose file is not listed yet. If this is dropped before that, the file is abandoned.
pub(crate) struct Stamp {
    files: Arc<RegionFiles>,
    number: u64,
}

impl Stamp {
    /// The origin of a file with this stamp: key and value of its file info.
    pub(super) fn origin(&self, family: &[u8], name: &str) -> (&'static [u8], Vec<u8>) {
        let region = self.files.state.lock().current.region.clone();
        let (family, name) = (family.to_vec(), name.to_owned());
        Origin { region, family, name, stamp: self.number }.encode()
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        self.files.state.lock().in_flight.remove(&self.number);
    }
}

impl RegionFiles {
    /// Reads the manifest of a region that is being opened. `loaded` was added by a bulk load and
    /// is in no manifest yet; `named` is what hbase:meta says about the manifest.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` if it is damaged or was lost, unless the store is opened with salvage.
    pub(crate) fn open(
        context: &Arc<EngineContext>,
        region: &RegionInfo,
        named: Option<Recorded>,
        loaded: BTreeMap<FileKey, Fingerprint>,
    ) -> Result<Arc<Self>> {
        let (fs, dir) = (context.env.fs.as_ref(), context.layout.region_dir(region));
        let opened_by_hbase = manifest::opened_by_hbase(fs, &dir)?;
        let name = region.encoded_name();
        let mut has_lost_manifest = false;
        let (expected, is_there) = match Manifest::read_to_go_on(fs, &dir, name) {
            Ok(None) => {
                has_lost_manifest = is_salvaged(context, region, named, opened_by_hbase)?;
                (None, has_lost_manifest)
            }
            Ok(Some(manifest)) => {
                let is_ours = !manifest::is_void(manifest.hbase_opened, opened_by_hbase)
                    && !context.has_hbase_logs.load(Ordering::Acquire);
                (Some(manifest).filter(|_| is_ours), true)
            }
            Err(error) if context.options.salvage && error.kind() == ErrorKind::Corrupt => {
                context.note(&dir.join(MANIFEST_FILE), "it is damaged, and is rebuilt");
                (None, true)
            }
            Err(error) => return Err(error),
        };
        let mut current = expected.clone().unwrap_or_else(|| Manifest::new(name));
        current.hbase_opened = opened_by_hbase;
        let state = State {
            // An invalid manifest must be replaced; a missing one only if there are files.
            is_saved: expected.is_some() == is_there && loaded.is_empty(),
            is_there,
            named,
            last_stamp: current.settled,
            in_flight: BTreeSet::new(),
            unsynced: BTreeSet::new(),
            current,
        };
        let (context, state) = (Arc::clone(context), Mutex::new(state));
        let region = region.clone();
        Ok(Arc::new(Self { context, region, dir, expected, has_lost_manifest, loaded, state }))
    }

    /// The same files, for a copy of the region in another store that has them, too.
    pub(crate) fn copy_in(&self, context: &Arc<EngineContext>) -> Arc<Self> {
        let state = self.state.lock();
        let copy = State {
            current: state.current.clone(),
            is_saved: state.is_saved,
            is_there: state.is_there,
            named: state.named,
            last_stamp: state.last_stamp,
            in_flight: BTreeSet::new(),
            unsynced: state.unsynced.clone(),
        };
        drop(state);
        Arc::new(Self {
            context: Arc::clone(context),
            region: self.region.clone(),
            dir: self.dir.clone(),
            expected: None,
            has_lost_manifest: false,
            loaded: BTreeMap::new(),
            state: Mutex::new(copy),
        })
    }

    /// The standing of a file in a family's directory. Called while the region is being opened.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(super) fn standing(&self, family: &[u8], file: &StoreFile) -> Result<Standing> {
        match self.loaded.get(&(family.to_vec(), file.name().to_owned())) {
            Some(loaded) if Fingerprint::of(file)? == *loaded => Ok(Standing::Live),
            Some(_) => Ok(Standing::Changed),
            None => standing(self.expected.as_ref(), family, file),
        }
    }

    /// Names of the files that a family must have, as far as known. Called while the region is
    /// being opened.
    pub(super) fn expected<'f>(&'f self, family: &'f [u8]) -> impl Iterator<Item = &'f str> {
        let expected = self.expected.iter().flat_map(move |manifest| manifest.names(family));
        let loaded = self.loaded.keys().filter(move |(of, _)| of == family);
        expected.chain(loaded.map(|(_, name)| name.as_str()))
    }

    /// Adds the files of the store that an open found for a family in `dir`.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(super) fn take_over(
        &self,
        family: &[u8],
        dir: &Path,
        live: &[Arc<StoreFile>],
    ) -> Result<()> {
        let mut found = BTreeMap::new();
        let mut state = self.state.lock();
        for file in live {
            let key = (family.to_vec(), file.name().to_owned());
            let stamp = Origin::stamp_of(file, &state.current.region, family).unwrap_or(0);
            state.last_stamp = state.last_stamp.max(stamp);
            let before = found.insert(key, Fingerprint::of(file)?);
            assert!(before.is_none(), "{} is in the directory twice", file.name());
        }
        let files = &mut state.current.files;
        let count = files.len();
        files.retain(|key, fingerprint| key.0 != family || found.get(key) == Some(fingerprint));
        let is_same = files.len() == count && found.keys().all(|key| files.contains_key(key));
        let has_files = !found.is_empty();
        files.extend(found);
        if !is_same && has_files {
            state.unsynced.insert(dir.to_path_buf());
        }
        state.is_saved &= is_same;
        Ok(())
    }

    /// Removes families that the table no longer has.
    pub(crate) fn keep_families(&self, table: &TableDescriptor) {
        let mut state = self.state.lock();
        state.is_saved &= !state.current.keep_families(table);
    }

    /// Writes a lost manifest again, durably. The next open then needs no salvage.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn restore_manifest(&self) -> Result<()> {
        if self.has_lost_manifest { self.save_durably() } else { Ok(()) }
    }

    /// Whether a file of this name is listed.
    pub(super) fn lists(&self, family: &[u8], name: &str) -> bool {
        self.state.lock().current.files.contains_key(&(family.to_vec(), name.to_owned()))
    }

    /// A stamp for a file that is about to be finished.
    pub(super) fn stamp(self: &Arc<Self>) -> Stamp {
        let mut state = self.state.lock();
        state.last_stamp += 1;
        let number = state.last_stamp;
        state.in_flight.insert(number);
        Stamp { files: Arc::clone(self), number }
    }

    /// Records that a file has been added to the store's list, replacing others.
    pub(super) fn note(
        &self,
        family: &[u8],
        name: &str,
        fingerprint: Fingerprint,
        replaced: &[Arc<StoreFile>],
    ) {
        let mut state = self.state.lock();
        for file in replaced {
            let key = (family.to_vec(), file.name().to_owned());
            let was_listed = state.current.files.remove(&key).is_some();
            assert!(was_listed, "{} is replaced and was not listed", file.name());
        }
        let key = (family.to_vec(), name.to_owned());
        let before = state.current.files.insert(key, fingerprint);
        assert!(before.is_none(), "{name} is listed twice");
        state.is_saved = false;
    }

    /// What the manifest has recorded, if there is one.
    pub(crate) fn recorded(&self) -> Option<Recorded> {
        let state = self.state.lock();
        state.is_there.then_some(state.current.hbase_opened)
    }

    /// Notes that hbase:meta says what [`RegionFiles::recorded`] returned.
    pub(crate) fn note_named(&self) {
        let mut state = self.state.lock();
        state.named = state.is_there.then_some(state.current.hbase_opened);
    }

    /// Writes the manifest if it has changed. Its name is durable after the next sync of the
    /// region's directory: until then the files that it adds explain themselves.
    ///
    /// # Errors
    /// `Io`: the changes are not on disk.
    pub(crate) fn save(&self) -> Result<()> {
        self.save_locked(&mut self.state.lock())
    }

    /// Makes hbase:meta say that the region has its manifest: a power cut may have taken that.
    /// False if that fails, as on a full disk: the log must keep what it has of the region.
    pub(crate) fn can_be_named(&self) -> bool {
        self.save().is_ok()
    }

    /// Like [`RegionFiles::save`], and durable on return. Called before files are removed.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn save_durably(&self) -> Result<()> {
        let mut state = self.state.lock();
        self.save_locked(&mut state)?;
        sync_dir(self.context.env.fs.as_ref(), &self.dir)
    }

    fn save_locked(&self, state: &mut State) -> Result<()> {
        if !state.is_saved {
            self.write_locked(state)?;
        }
        self.name_locked(state)
    }

    /// Makes hbase:meta say that the region has this manifest. The log then has the entry before it
    /// discards any of the region.
    fn name_locked(&self, state: &mut State) -> Result<()> {
        let recorded = state.current.hbase_opened;
        let (true, Some(naming)) = (state.is_there, self.context.naming.get()) else {
            return Ok(());
        };
        if state.named == Some(recorded) || self.context.is_read_only() {
            return Ok(());
        }
        // What is named must survive a power cut, and the path to it.
        let fs = self.context.env.fs.as_ref();
        sync_dir(fs, &self.dir)?;
        self.context.layout.make_durable(fs, &self.dir)?;
        match self.region.table().is_meta() {
            true => self.context.layout.note_catalog_manifest(fs)?,
            false => naming.name(&self.region, recorded)?,
        }
        state.named = Some(recorded);
        Ok(())
    }

    fn write_locked(&self, state: &mut State) -> Result<()> {
        let fs = self.context.env.fs.as_ref();
        // Listed files, and the paths to them, must survive a power cut.
        for dir in &state.unsynced {
            sync_dir(fs, dir)?;
            self.context.layout.make_durable(fs, dir)?;
        }
        state.unsynced.clear();
        let first = state.in_flight.first();
        let settled = first.map_or(state.last_stamp, |first| first - 1);
        assert!(state.current.settled <= settled, "what is settled stays settled");
        assert!(settled <= state.last_stamp, "only assigned stamps are settled");
        state.current.settled = settled;
        state.current.write(fs, &self.dir)?;
        (state.is_saved, state.is_there) = (true, true);
        Ok(())
    }

    /// Calls `visit` with the manifest as it is on disk, where there is one from now on. No file
    /// that it lists is removed before `visit` returns.
    ///
    /// # Errors
    /// `Io`, and those of `visit`.
    pub(crate) fn with_saved<T>(&self, visit: impl FnOnce(&Manifest) -> Result<T>) -> Result<T> {
        let mut state = self.state.lock();
        // hbase:meta may say that the region has one before the caller reads the log.
        state.is_saved &= state.is_there;
        self.save_locked(&mut state)?;
        visit(&state.current)
    }
}

/// Whether a region lacks the manifest that hbase:meta says it has, so that a salvage takes the
/// files that are there. `found` is the result of [`manifest::opened_by_hbase`].
///
/// # Errors
/// `Io`; without salvage, `CorruptHFile` if it does.
fn is_salvaged(
    context: &EngineContext,
    region: &RegionInfo,
    named: Option<Recorded>,
    found: Recorded,
) -> Result<bool> {
    let dir = context.layout.region_dir(region);
    let has_hbase_logs = context.has_hbase_logs.load(Ordering::Acquire);
    if has_hbase_logs || !manifest::is_lost(context.env.fs.as_ref(), &dir, named, found)? {
        return Ok(false);
    }
    let path = dir.join(MANIFEST_FILE);
    if context.options.salvage {
        context.note(&path, format!("{LOST}: the region has the files that are there"));
        return Ok(true);
    }
    let what = format!(
        "{LOST} (region {region}). Restore the region's directory from a backup; without one, open \
         with --salvage (Options::with_salvage), which continues with the files that are there"
    );
    Err(Error::corrupt(Exception::CorruptHFile, &path, 0, what))
}
