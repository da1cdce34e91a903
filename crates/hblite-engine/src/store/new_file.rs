//! How a file enters a store's directory, and how files leave it.
//!
//! A new file is written under the region's `.tmp` and moved into place when it is complete. The
//! next open would take a file that is in the directory but not in the store's list for a live one,
//! which would bring back cells whose deletion was compacted away meanwhile. So a *dead* file
//! (replaced by a compaction, or only half published) is remembered until its removal is durable,
//! and no compaction begins before that.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_hfile::file_info::{DELETE_MARKERS, GIVEN_UNTIL, MOB_FILE_REFS};
use hblite_hfile::{HFileWriter, StoreFileInfo};
use hblite_model::{Error, Result};

use super::manifest::Fingerprint;
use super::region_files::Stamp;
use super::store_file::StoreFile;
use super::{Exclusive, Store, mob};
use crate::files::sync_dir;

/// A file that is in its place but not listed yet. If this is dropped before the file is listed,
/// the file is abandoned.
pub(super) struct NewFile {
    pub(super) file: Arc<StoreFile>,
    fingerprint: Fingerprint,
    _stamp: Stamp,
}

impl Store {
    /// Calls `write` to write a new file, and moves the file into place; it becomes part of the
    /// store when it is listed ([`Store::list_file`]). `write` returns the file's own description,
    /// or `None` to abandon it.
    ///
    /// # Errors
    /// `Io` and those of `write`: nothing of the file is left, or it counts as dead.
    pub(super) fn create_file(
        &self,
        has_tags: bool,
        write: impl FnOnce(&mut HFileWriter) -> Result<Option<StoreFileInfo>>,
    ) -> Result<Option<NewFile>> {
        let fs = self.context.env.fs.as_ref();
        // HBase would take the file for a part of a table.
        self.context.layout.begin_use(fs)?;
        let (temporary, name) = self.temporary_file()?;
        let written = HFileWriter::create(fs, &temporary, self.writer_options(has_tags)).and_then(
            |mut writer| match write(&mut writer)? {
                Some(info) => {
                    let stamp = self.region_files.stamp();
                    let (key, origin) = stamp.origin(self.family.name(), &name);
                    writer.append_file_info(key, &origin);
                    let markers = writer.delete_markers();
                    if markers > 0 {
                        writer.append_file_info(DELETE_MARKERS, &markers.to_be_bytes());
                    }
                    let given_until = self.given.get();
                    if given_until >= self.context.env.clock.now_millis() {
                        writer.append_file_info(GIVEN_UNTIL, &given_until.to_be_bytes());
                    }
                    if self.has_medium_objects {
                        // HBase's cleaner of mobdir reads this from every file of the family.
                        writer.append_file_info(MOB_FILE_REFS, mob::NO_REFERENCES);
                    }
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
            // The next open of the region removes what cannot be removed now.
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
            // Retried before the next compaction, for which it matters.
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
        // Next, the log discards the cells: the path to the file must be as durable as the file.
        self.context.layout.make_durable(fs.as_ref(), &self.dir)?;
        let file = StoreFile::open(&self.context, &self.region, &self.family, path)?;
        let fingerprint = Fingerprint::of(&file)?;
        Ok((Arc::new(file), fingerprint))
    }

    /// Records in the manifest a file of the store's list that replaces others.
    pub(super) fn list_file(&self, new: &NewFile, replaced: &[Arc<StoreFile>]) {
        let (family, name) = (self.family.name(), new.file.name());
        self.region_files.note(family, name, new.fingerprint, replaced);
    }

    /// Records files that are no longer in the store's list.
    pub(super) fn add_dead_files(&self, files: &[Arc<StoreFile>]) {
        self.dead_files.lock().extend(files.iter().map(|file| file.path().to_path_buf()));
    }

    /// Removes dead files, and makes sure that they do not come back.
    ///
    /// # Errors
    /// `Io`: some may still exist, and are remembered.
    pub(crate) fn remove_dead_files(&self) -> Result<()> {
        let mut dead = self.dead_files.lock();
        if dead.is_empty() {
            return Ok(());
        }
        // No manifest on disk may list a file that is removed.
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
    /// Calls `visit` with the current files. None of them is removed before it returns.
    pub(crate) fn with_files_kept<T>(&self, visit: impl FnOnce(&[Arc<StoreFile>]) -> T) -> T {
        let _kept = self.dead_files.lock();
        visit(&self.files())
    }
}

/// Files added by a bulk load.
impl Store {
    /// Opens files that a bulk load moved into the store's directory, for [`Store::add_loaded`].
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn open_loaded(&self, paths: &[PathBuf]) -> Result<Vec<Arc<StoreFile>>> {
        let open = |path: &PathBuf| {
            Ok(Arc::new(StoreFile::open(&self.context, &self.region, &self.family, path)?))
        };
        paths.iter().map(open).collect()
    }

    /// Prevents compactions while the guard lives: for files that are not appended at the end.
    pub(crate) fn without_compactions(&self) -> Exclusive<'_> {
        self.wait_for_compactions()
    }

    /// Records in the manifest files added by a bulk load.
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

    /// Adds files to the list, each in the order of its age. If that is not the end, the caller
    /// holds [`Store::without_compactions`].
    pub(crate) fn add_loaded(&self, loaded: Vec<Arc<StoreFile>>) {
        self.change_files(|files| {
            let mut list: Vec<_> = files.iter().cloned().chain(loaded).collect();
            list.sort_by(|left, right| left.compare_age(right));
            list
        });
    }
}

fn unless_missing(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
