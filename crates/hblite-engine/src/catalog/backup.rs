//! A copy of an open store, while it is in use.
//!
//! 1. every region is flushed, so that the copy includes writes without the log, and little of the
//!    log
//! 2. procedures wait from here on: the regions and their directories do not change
//! 3. the log keeps its files
//! 4. the files of each region at one moment are linked, as its manifest lists them; none is
//!    removed meanwhile
//! 5. after that, the current log file is ended, and the log files are linked
//! 6. procedures continue; every block of the linked files is verified
//!
//! Each region's files were linked before the log was ended, and at that time the log still had
//! everything that was not in them. So an open of the copy finds every store as it was at the end
//! of the log, as if the process had been killed there. Writers and readers do not wait; flushes
//! and compactions wait at most while a region is linked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_model::{BackupReport, RegionInfo, Result};

use super::procedures::begin_procedure;
use super::table::TableEntry;
use super::{Catalog, Procedures};
use crate::backup::Target;
use crate::context::EngineContext;
use crate::files::make_dir;
use crate::layout::MANIFEST_FILE;
use crate::parallel;
use crate::region::Region;
use crate::store::store_file::StoreFile;

impl Procedures<'_> {
    /// Copies the store to the new directory `to`.
    ///
    /// # Errors
    /// `Io`, `IllegalArgument` for a target that cannot be used; `RegionServerStopped` if the store
    /// is closed or its log has failed. In these cases, `to` does not exist, or is unchanged.
    pub fn backup(&self, to: &Path) -> Result<BackupReport> {
        let catalog = self.0;
        let context = &catalog.context;
        context.check_open()?;
        context.check_not_read_only()?;
        copy_to(catalog, Target::begin(&context.env, context.layout.root(), to)?)
    }

    /// Copies the store into the directory of its checkpoints, and returns the path.
    ///
    /// # Errors
    /// As [`Procedures::backup`].
    pub(crate) fn copy_to_checkpoint(&self) -> Result<PathBuf> {
        let catalog = self.0;
        let context = &catalog.context;
        context.check_open()?;
        context.check_not_read_only()?;
        let (fs, dir) = (context.env.fs.as_ref(), context.layout.checkpoints_dir());
        make_dir(fs, &dir)?;
        let to = context.layout.checkpoint_dir(&context.random_name());
        copy_to(catalog, Target::begin_anywhere(&context.env, context.layout.root(), &to)?)?;
        Ok(to)
    }

    /// Runs `work` while no procedure is in progress, after all memory has been flushed and its log
    /// has been removed.
    ///
    /// # Errors
    /// `Io` if a flush fails, `RegionServerStopped` if the store is closed, `DoNotRetryIo` if it is
    /// read-only; those of `work`.
    pub(crate) fn at_rest<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let catalog = self.0;
        // Most memory is flushed before procedures have to wait.
        flush_all(catalog)?;
        let _procedure = begin_procedure(catalog)?;
        catalog.settle_all()?;
        catalog.context.wal.roll()?;
        flush_all(catalog)?;
        work()
    }
}

fn flush_all(catalog: &Catalog) -> Result<()> {
    catalog.context.check_not_read_only()?;
    catalog.all_regions().iter().try_for_each(|region| region.flush().map(drop))
}

fn copy_to(catalog: &Catalog, target: Target) -> Result<BackupReport> {
    let context = &catalog.context;
    parallel::for_each(&catalog.all_regions(), |region| region.flush().map(drop))?;
    let procedure = begin_procedure(catalog)?;
    catalog.settle_all()?;
    let hold = context.wal.hold_log_files();
    target.add_root_files(&context.layout)?;
    for entry in catalog.entries() {
        add_table(context, &target, &entry)?;
    }
    target.add_dir(&context.layout.snapshots_dir())?;
    // Where HBase put values to which store files refer, until they are compacted.
    target.add_dir(&context.layout.mob_dir())?;
    // Where HBase looks for the files of snapshots.
    target.add_dir(&context.layout.archived_file(&context.layout.data_dir()))?;
    target.add_empty_dir(&context.layout.wal_dir())?;
    let sealed = hold.seal()?;
    for file in sealed.files() {
        target.add_file(file)?;
    }
    target.add_log_head(&sealed, &context.layout)?;
    drop((hold, procedure));
    target.finish()
}

fn add_table(context: &EngineContext, target: &Target, entry: &TableEntry) -> Result<()> {
    target.add_dir(&context.layout.table_descriptor_dir(entry.descriptor.name()))?;
    let infos = entry.rows.iter().flat_map(|row| row.merge_parents.iter().chain([&row.info]));
    let infos: Vec<&RegionInfo> = infos.collect();
    parallel::for_each(&infos, |info| add_region(context, target, entry, info))
}

fn add_region(
    context: &EngineContext,
    target: &Target,
    entry: &TableEntry,
    info: &RegionInfo,
) -> Result<()> {
    let layout = &context.layout;
    let Some(region) = entry.region(info.encoded_name()) else {
        // Out of service: only procedures change anything there.
        return target.add_dir(&layout.region_dir(info));
    };
    target.add_empty_dir(&layout.region_dir(info))?;
    let info_file = layout.region_info_file(info);
    if target.exists(&info_file)? {
        target.add_file(&info_file)?;
    }
    // Files added between two stores would be included for some families only.
    let _whole = region.without_bulk_loads();
    region.files().with_saved(|manifest| {
        for (family, name) in manifest.files.keys() {
            match open_file(region, family, name) {
                Some(open) => target.add_open_file(open.reader())?,
                // A reference, whose target is added with its own region; or a file that a
                // compaction has just replaced.
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

/// The file of this name that the store reads, unless it is a reference.
fn open_file(region: &Region, family: &[u8], name: &str) -> Option<Arc<StoreFile>> {
    let store = region.stores().iter().find(|store| store.family().name() == family)?;
    let files = store.files();
    files.iter().find(|file| file.name() == name && !file.is_reference()).cloned()
}
