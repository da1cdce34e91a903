//! How a file enters a store's directory, and how files leave it.
//!
//! A new file is written under the region's `.tmp` and moved into place when it is complete. A
//! file that is in the directory but not in the store's list would be taken for a live one when
//! the store is opened next, and bring back cells whose deletion was compacted away meanwhile. So
//! a *dead* file (replaced by a compaction, or published by halves) is remembered until it is
//! durably gone, and no compaction begins before that.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::sync::MutexGuard;
use hblite_hfile::{HFileWriter, StoreFileInfo};
use hblite_model::{Error, Result};

use super::manifest::Fingerprint;
use super::region_files::Stamp;
use super::store_file::StoreFile;
use super::{Store, checked_list};
use crate::files::sync_dir;

/// A file that is in its place and not listed yet. Dropped before that, it is given up.
pub(super) struct NewFile {
    pub(super) file: Arc<StoreFile>,
    fingerprint: Fingerprint,
    _stamp: Stamp,
}

impl Store {
    /// Has a new file written and puts it into its place; it counts when it is listed
    /// ([`Store::list_file`]). `write` says what the file tells of itself, or `None` to give it up.
    ///
    /// # Errors
    /// `Io` and those of `write`: nothing of the file is left, or it counts as dead.
    pub(super) fn create_file(
        &self,
        has_tags: bool,
        write: impl FnOnce(&mut HFileWriter) -> Result<Option<StoreFileInfo>>,
    ) -> Result<Option<NewFile>> {
        let fs = self.context.env.fs.as_ref();
        self.context.layout.mark_in_use(fs)?;
        let (temporary, name) = self.temporary_file()?;
        let written = HFileWriter::create(fs, &temporary, self.writer_options(has_tags)).and_then(
            |mut writer| match write(&mut writer)? {
                Some(info) => {
                    let stamp = self.region_files.stamp();
                    let (key, origin) = stamp.origin(self.family.name(), &name);
                    writer.append_file_info(key, &origin);
                    writer.finish(&info).map(|_| Some(stamp))
                }
                None => Ok(None),
            },
        );
        let published = match written {
            Ok(Some(stamp)) => self
                .publish(&temporary, &name)
                .map(|(file, fingerprint)| Some(NewFile { file, fingerprint, _stamp: stamp })),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        if !matches!(published, Ok(Some(_))) {
            // What cannot be removed now goes when the region is opened next.
            let _ = fs.remove_file(&temporary);
        }
        published
    }

    /// A path for a new file, under the region's `.tmp`, and the name it will have.
    fn temporary_file(&self) -> Result<(PathBuf, String)> {
        let mut name = self.context.random_name();
        while self.region_files.lists(self.family.name(), &name) {
            name = self.context.random_name();
        }
        let dir = self.context.layout.temporary_dir(&self.region_dir, self.family.name());
        self.create_dir(&dir)?;
        Ok((dir.join(&name), name))
    }

    fn create_dir(&self, dir: &Path) -> Result<()> {
        let fs = &self.context.env.fs;
        fs.create_dir_all(dir).map_err(|source| Error::io("create directory", dir, source))
    }

    /// Makes the names of the store's files durable.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn make_names_durable(&self) -> Result<()> {
        if self.files().is_empty() {
            return Ok(());
        }
        let fs = self.context.env.fs.as_ref();
        sync_dir(fs, &self.dir)?;
        self.context.layout.make_durable(fs, &self.dir)
    }

    /// Moves a finished file into the family's directory.
    fn publish(&self, temporary: &Path, name: &str) -> Result<(Arc<StoreFile>, Fingerprint)> {
        let path = self.dir.join(name);
        let published = self.move_into_place(temporary, &path);
        if published.is_err() {
            self.dead_files.lock().push(path);
            // Tried again before the next compaction, which it matters to.
            let _ = self.remove_dead_files();
        }
        published
    }

    fn move_into_place(
        &self,
        temporary: &Path,
        path: &Path,
    ) -> Result<(Arc<StoreFile>, Fingerprint)> {
        let fs = &self.context.env.fs;
        self.create_dir(&self.dir)?;
        fs.rename(temporary, path).map_err(|source| Error::io("rename", temporary, source))?;
        fs.sync_dir(&self.dir).map_err(|source| Error::io("sync", &self.dir, source))?;
        // The log forgets the cells next: the way to the file must be as safe as the file.
        self.context.layout.make_durable(fs.as_ref(), &self.dir)?;
        let file = StoreFile::open(&self.context, &self.region, &self.family, path)?;
        let fingerprint = Fingerprint::of(&file)?;
        Ok((Arc::new(file), fingerprint))
    }

    /// Tells the manifest of a file that is in the store's list, in the place of others.
    pub(super) fn list_file(&self, new: &NewFile, replaced: &[Arc<StoreFile>]) {
        let (family, name) = (self.family.name(), new.file.name());
        self.region_files.note(family, name, new.fingerprint, replaced);
    }

    /// Takes files out of the directory that left the store's list.
    ///
    /// # Errors
    /// As [`Store::remove_dead_files`].
    pub(super) fn remove_files(&self, files: &[Arc<StoreFile>]) -> Result<()> {
        self.dead_files.lock().extend(files.iter().map(|file| file.path().to_path_buf()));
        self.remove_dead_files()
    }

    /// Sees to it that dead files do not come back.
    ///
    /// # Errors
    /// `Io`: some may still be there, and are not forgotten.
    pub(crate) fn remove_dead_files(&self) -> Result<()> {
        let mut dead = self.dead_files.lock();
        if dead.is_empty() {
            return Ok(());
        }
        // No manifest on disk may list what goes.
        self.region_files.save_durably()?;
        let fs = &self.context.env.fs;
        for path in dead.iter() {
            unless_missing(fs.remove_file(path)).map_err(|e| Error::io("remove", path, e))?;
        }
        unless_missing(fs.sync_dir(&self.dir)).map_err(|e| Error::io("sync", &self.dir, e))?;
        dead.clear();
        Ok(())
    }
}

impl Store {
    /// Shows the files of one moment to `visit`. None of them is removed before it returns.
    pub(crate) fn with_files_kept<T>(&self, visit: impl FnOnce(&[Arc<StoreFile>]) -> T) -> T {
        let _kept = self.dead_files.lock();
        visit(&self.files())
    }
}

/// Files that come by bulk load.
impl Store {
    /// Opens files that were moved into the store's directory, for [`Store::add_loaded`].
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn open_loaded(&self, paths: &[PathBuf]) -> Result<Vec<Arc<StoreFile>>> {
        let open = |path: &PathBuf| {
            Ok(Arc::new(StoreFile::open(&self.context, &self.region, &self.family, path)?))
        };
        paths.iter().map(open).collect()
    }

    /// Lets no compaction run while the guard is there: for files that do not come last.
    pub(crate) fn without_compactions(&self) -> MutexGuard<'_, ()> {
        self.wait_for_compaction()
    }

    /// Tells the manifest of files that came by bulk load.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn list_loaded(&self, loaded: &[Arc<StoreFile>]) -> Result<()> {
        for file in loaded {
            let fingerprint = Fingerprint::of(file)?;
            self.region_files.note(self.family.name(), file.name(), fingerprint, &[]);
        }
        Ok(())
    }

    /// Adds files to the list, each at the place of its age. Where that is not the end, the caller
    /// holds [`Store::without_compactions`].
    pub(crate) fn add_loaded(&self, loaded: Vec<Arc<StoreFile>>) {
        let mut files = self.files.write();
        let mut list: Vec<_> = files.iter().cloned().chain(loaded).collect();
        list.sort_by(|left, right| left.compare_age(right));
        *files = checked_list(list);
    }
}

fn unless_missing(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
