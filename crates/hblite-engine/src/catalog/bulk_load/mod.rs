//! Bulk load of a folder of HFiles into a table.
//!
//! 1. list the folder (`folder`): which files, of which families
//! 2. check every file, and put it into a scratch directory: copied, linked, or split at region
//!    boundaries (`cut`)
//! 3. give each region its files, one region after another (`region::bulk_load`); files that no
//!    longer fit, because a region was split meanwhile, are split again
//! 4. remove the scratch directory and, if they are to move, the files of the folder
//!
//! Within a region, a load is complete or has no effect, whatever happens. The same holds for the
//! table, unless the disk fails or the power goes in step 3, which renames files and flushes memory
//! but writes no other cells. In that case the folder can be loaded again: equal cells count once.
//!
//! Threads: any. Source: HBase's `BulkLoadHFilesTool`.

mod cut;
mod folder;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::time::Instant;
use hblite_model::{
    BulkLoadReport, CellComparator, Error, ErrorKind, Exception, FileTransfer, Result, TableName,
    TableState,
};

use self::cut::{Staged, cut};
use self::folder::Source;
use super::parked::settled_entry;
use super::procedures::begin_procedure;
use super::table;
use super::table::TableEntry;
use super::{Catalog, Procedures};
use crate::bulk_load::BulkLoadRequest;
use crate::context::EngineContext;
use crate::region::Region;
use crate::store::foreign_file::{ForeignFile, Verification};

/// How often regions may change during a load, at least (`hbase.bulkload.retries.number`).
const ROUNDS_MIN: usize = 10;

/// Regions by encoded name, with their files.
type Groups = BTreeMap<String, (Arc<Region>, Vec<Staged>)>;

impl Procedures<'_> {
    /// Loads files into one region, each into the family given with it. Returns false, and loads
    /// nothing, if one of them has rows of other regions.
    ///
    /// # Errors
    /// `UnknownRegion`, `NotServingRegion`; `DoNotRetryIo` for a family that the table does not
    /// have, a read-only table, or cells of another family; `CorruptHFile`, `Io`: nothing was
    /// loaded. `RegionServerStopped`: the next open shows the outcome of the load.
    pub fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        request: &BulkLoadRequest,
    ) -> Result<bool> {
        let catalog = self.0;
        let region = catalog.known_region(region)?;
        check_table(region.info().table())?;
        let is_loaded =
            region.bulk_load(files, request, Verification::of(&request.options))?.is_empty();
        if is_loaded && request.options.transfer == FileTransfer::Move {
            remove_sources(&catalog.context, files.iter().map(|(_, path)| path), request);
        }
        Ok(is_loaded)
    }

    /// Loads the files of `folder/<family>/` into a table.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `Io` for a folder with families that the table does not
    /// have, or with too many files; `CorruptHFile`, `DoNotRetryIo`, `UnsupportedOperation` for a
    /// file that cannot be loaded: nothing was loaded. `Io`, `RegionServerStopped` later: some
    /// regions may have their files.
    pub fn bulk_load(
        &self,
        table: &TableName,
        folder: &Path,
        request: &BulkLoadRequest,
    ) -> Result<BulkLoadReport> {
        let catalog = self.0;
        let began = Instant::now();
        check_table(table)?;
        catalog.context.check_open()?;
        catalog.context.check_not_read_only()?;
        let entry = enabled_entry(catalog, table)?;
        let mut report = BulkLoadReport::default();
        let fs = request.source_or(catalog.context.env.fs.as_ref());
        let sources = folder::look(fs, folder, &entry.descriptor, request, &mut report)?;
        let scratch = catalog.context.layout.scratch_dir(&catalog.context.random_name());
        let loaded = stage_all(&catalog.context, &entry, &sources, &scratch, request, &mut report)
            .and_then(|staged| load_all(catalog, table, staged, &scratch, request, &mut report));
        // The next open removes what is left.
        let _ = catalog.context.layout.remove_in_place(catalog.context.env.fs.as_ref(), &scratch);
        loaded?;
        if request.options.transfer == FileTransfer::Move {
            let paths = sources.iter().map(|source| &source.path);
            report.left_behind = remove_sources(&catalog.context, paths, request);
        }
        report.duration = began.elapsed();
        Ok(report)
    }
}

fn enabled_entry(catalog: &Catalog, table: &TableName) -> Result<Arc<TableEntry>> {
    let entry = settled_entry(catalog, table)?;
    entry.check_state(TableState::Enabled)?;
    Ok(entry)
}

/// Step 2.
fn stage_all(
    context: &EngineContext,
    entry: &TableEntry,
    sources: &[Source],
    scratch: &Path,
    request: &BulkLoadRequest,
    report: &mut BulkLoadReport,
) -> Result<Vec<Staged>> {
    let own_fs = context.env.fs.as_ref();
    own_fs.create_dir_all(scratch).map_err(|e| Error::io("cannot create", scratch, e))?;
    let fs = request.source_or(own_fs);
    let mut staged = Vec::new();
    for Source { family, path } in sources {
        let file = ForeignFile::open(fs, path, family, CellComparator::Default)?;
        let Some((first, last)) = file.rows() else {
            report.skipped.push((path.clone(), "has no cells"));
            continue;
        };
        let verification = Verification::of(&request.options);
        report.files += 1;
        report.cells += file.reader().entries();
        report.bytes += file.reader().length();
        let region = entry.router.find(first).filter(|r| r.info().contains_row(last));
        if region.is_some() {
            let target = scratch.join(context.random_name());
            request.transfer(own_fs, path, &target)?;
            // Verifies the file that is loaded, not the one that it was copied from.
            let order = CellComparator::Default;
            ForeignFile::open_copy(own_fs, &target, path, family, order)?.verify(verification)?;
            let (first_row, last_row) = (first.to_vec(), last.to_vec());
            staged.push(Staged { family: family.clone(), path: target, first_row, last_row });
        } else {
            report.files_split += 1;
            file.verify(verification)?;
            staged.extend(cut(context, &file, family, entry.regions(), scratch)?);
        }
    }
    Ok(staged)
}

/// Step 3.
fn load_all(
    catalog: &Catalog,
    table: &TableName,
    mut staged: Vec<Staged>,
    scratch: &Path,
    request: &BulkLoadRequest,
    report: &mut BulkLoadReport,
) -> Result<()> {
    let files_max = request.options.files_per_region_and_family_max as usize;
    let mut served = BTreeSet::new();
    let mut round = 0;
    while !staged.is_empty() {
        let entry = enabled_entry(catalog, table)?;
        if round >= ROUNDS_MIN.max(entry.regions().len() + 1) {
            let message = format!("Retry attempted {round} times without completing, bailing out");
            return Err(Error::new(Exception::Io, message).with_kind(ErrorKind::Busy));
        }
        round += 1;
        let groups = group(&catalog.context, &entry, staged, scratch)?;
        if groups.values().any(|(_, files)| max_per_family(files) > files_max) {
            let message =
                format!("Trying to load more than {files_max} hfiles to one family of one region");
            return Err(Error::invalid_argument(Exception::Io, message));
        }
        staged = Vec::new();
        for (name, (region, files)) in groups {
            if give(catalog, &region, &files, request)? {
                served.insert(name);
            } else {
                staged.extend(files);
            }
        }
    }
    report.regions = served.len() as u64;
    Ok(())
}

/// Files by the region that holds their rows; files with rows of several regions are split.
fn group(
    context: &EngineContext,
    entry: &TableEntry,
    staged: Vec<Staged>,
    scratch: &Path,
) -> Result<Groups> {
    let mut whole = Vec::new();
    for file in staged {
        let region = entry.router.find(&file.first_row);
        if region.is_some_and(|region| region.info().contains_row(&file.last_row)) {
            whole.push(file);
            continue;
        }
        let fs = context.env.fs.as_ref();
        let source = ForeignFile::open(fs, &file.path, &file.family, CellComparator::Default)?;
        whole.extend(cut(context, &source, &file.family, entry.regions(), scratch)?);
    }
    let mut groups = Groups::new();
    for file in whole {
        let region = entry.router.find(&file.first_row);
        let region =
            region.ok_or_else(|| table::no_region(entry.descriptor.name(), &file.first_row))?;
        let name = region.info().encoded_name().to_owned();
        groups.entry(name).or_insert_with(|| (Arc::clone(region), Vec::new())).1.push(file);
    }
    Ok(groups)
}

/// Gives a region its files. Returns whether they still belonged to that region.
fn give(
    catalog: &Catalog,
    region: &Region,
    files: &[Staged],
    request: &BulkLoadRequest,
) -> Result<bool> {
    let files: Vec<(Vec<u8>, PathBuf)> =
        files.iter().map(|file| (file.family.clone(), file.path.clone())).collect();
    // They are the store's own by now.
    let options = request.options.clone().with_transfer(FileTransfer::Link);
    match region.bulk_load(&files, &BulkLoadRequest::from(&options), Verification::Done) {
        Ok(misfits) => Ok(misfits.is_empty()),
        Err(error) if error.kind() == ErrorKind::NotServing => {
            // Wait until the procedure that closed it is done.
            drop(begin_procedure(catalog)?);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Removes files that are loaded; returns those that could not be removed.
fn remove_sources<'p>(
    context: &EngineContext,
    paths: impl Iterator<Item = &'p PathBuf>,
    request: &BulkLoadRequest,
) -> Vec<PathBuf> {
    let fs = request.source_or(context.env.fs.as_ref());
    paths.filter(|path| fs.remove_file(path).is_err()).cloned().collect()
}

/// Refuses the store's own tables.
fn check_table(table: &TableName) -> Result<()> {
    if table.is_system() {
        return Err(Error::invalid_argument(Exception::Io, "Can't modify catalog tables"));
    }
    Ok(())
}

fn max_per_family(files: &[Staged]) -> usize {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for file in files {
        *counts.entry(&file.family).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}
