//! A copy of an open store, while it works.
//!
//! 1. every region is flushed: so the copy has what was written without the log, and little log
//! 2. procedures wait from here on: which regions there are, and their directories, stays as it is
//! 3. the log keeps its segments
//! 4. of each region the files of one moment are linked, as its manifest lists them; none of them
//!    is removed meanwhile
//! 5. the log is ended at one moment, after all of that; its segments are linked
//! 6. procedures go on; every block of the linked files is verified
//!
//! Each region's files are of an earlier moment than the end of the log, and the log still had,
//! when they were looked at, all that was not in them. So what an open of the copy finds is every
//! store as it was at that end: as if the process had been killed there. Writers and readers wait
//! for nothing; flushes and compactions at most for the links of a region.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_model::{BackupReport, Error, RegionInfo, Result};

use super::Procedures;
use super::table::TableEntry;
use crate::backup::Target;
use crate::layout::MANIFEST_FILE;
use crate::parallel;
use crate::region::Region;
use crate::store::store_file::StoreFile;

impl Procedures<'_> {
    /// Makes a copy of the store as a new directory `to`.
    ///
    /// # Errors
    /// `Io`, `IllegalArgument` for a target that cannot be used; `RegionServerStopped` if the store
    /// is closed or its log has failed. There is no `to` then, or it is as it was.
    pub fn backup(&self, to: &Path) -> Result<BackupReport> {
        let context = &self.context;
        context.check_open()?;
        context.check_not_read_only()?;
        self.copy_to(Target::begin(&context.env, context.layout.root(), to)?)
    }

    /// Makes a copy of the store in the directory of its checkpoints, and returns where.
    ///
    /// # Errors
    /// As [`Procedures::backup`].
    pub(crate) fn copy_to_checkpoint(&self) -> Result<PathBuf> {
        let context = &self.context;
        context.check_open()?;
        context.check_not_read_only()?;
        let (fs, dir) = (context.env.fs.as_ref(), context.layout.checkpoints_dir());
        fs.create_dir_all(&dir)
            .map_err(|error| Error::io("cannot create directory", &dir, error))?;
        let to = context.layout.checkpoint_dir(&context.random_name());
        self.copy_to(Target::begin_anywhere(&context.env, context.layout.root(), &to)?)?;
        Ok(to)
    }

    fn copy_to(&self, target: Target) -> Result<BackupReport> {
        let context = &self.context;
        parallel::for_each(&self.all_regions(), |region| region.flush().map(drop))?;
        let procedure = self.begin_procedure()?;
        let hold = context.wal.hold_segments();
        // The copy has a log, which HBase cannot read.
        context.layout.mark_in_use(context.env.fs.as_ref())?;
        target.add_root_files(&context.layout)?;
        let entries: Vec<Arc<TableEntry>> =
            self.tables.read().values().filter_map(|slot| slot.entry().ok()).collect();
        for entry in entries {
            self.add_table(&target, &entry)?;
        }
        target.add_dir(&context.layout.snapshots_dir())?;
        // Where HBase looks for the files of snapshots.
        target.add_dir(&context.layout.archived_file(&context.layout.data_dir()))?;
        target.add_empty_dir(&context.layout.wal_dir())?;
        let sealed = hold.seal()?;
        for segment in sealed.files() {
            target.add_file(segment)?;
        }
        target.add_log_head(&sealed, &context.layout)?;
        drop((hold, procedure));
        target.finish()
    }

    fn add_table(&self, target: &Target, entry: &TableEntry) -> Result<()> {
        target.add_dir(&self.context.layout.table_descriptor_dir(entry.descriptor.name()))?;
        let infos = entry.rows.iter().flat_map(|row| row.merge_parents.iter().chain([&row.info]));
        let infos: Vec<&RegionInfo> = infos.collect();
        parallel::for_each(&infos, |info| self.add_region(target, entry, info))
    }

    fn add_region(&self, target: &Target, entry: &TableEntry, info: &RegionInfo) -> Result<()> {
        let layout = &self.context.layout;
        let Some(region) = entry.region(info.encoded_name()) else {
            // Out of service: nobody changes anything there but procedures.
            return target.add_dir(&layout.region_dir(info));
        };
        target.add_empty_dir(&layout.region_dir(info))?;
        let info_file = layout.region_info_file(info);
        if target.exists(&info_file)? {
            target.add_file(&info_file)?;
        }
        // Files that come between two stores would come for some families only.
        let _whole = region.without_bulk_loads();
        region.files().with_saved(|manifest| {
            for (family, name) in manifest.files.keys() {
                match open_file(region, family, name) {
                    Some(open) => target.add_open_file(open.reader())?,
                    // A reference: what it refers to is added with the region that has it. Or a
                    // file that a compaction has just replaced.
                    None => target.add_file(&layout.family_dir(info, family).join(name))?,
                }
            }
            let manifest_file = layout.region_dir(info).join(MANIFEST_FILE);
            if target.exists(&manifest_file)? {
                target.add_file(&manifest_file)?;
            }
            Ok(())
        })
    }
}

/// The file of this name that the store reads, unless it is a reference.
fn open_file(region: &Region, family: &[u8], name: &str) -> Option<Arc<StoreFile>> {
    let store = region.stores().iter().find(|store| store.family().name() == family)?;
    let files = store.files();
    files.iter().find(|file| file.name() == name && !file.is_reference()).cloned()
}
