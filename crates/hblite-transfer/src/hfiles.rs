//! Writes a table as HFiles for HBase's bulk load: `folder/<family>/<hfile>`.
//!
//! One scan reads the table, with one open file per family. All open files end together: at the end
//! of a region, and after the row with which one of them exceeds the limit. The file info is that
//! of `HFileOutputFormat2`. Cells have no sequence id, since a bulk load assigns one.
//!
//! The folder appears as a whole: it is written as `<folder>.partial` and renamed. A killed export
//! leaves that folder behind.
//!
//! Source: `HFileOutputFormat2`, `BulkLoadHFilesTool` (what it accepts).

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hblite::bytes::to_string_binary;
use hblite::{
    CellRef, ColumnFamilyDescriptor, Error, ErrorKind, Exception, RegionInfo, RowResult, Scan,
    ScanStep, Table,
};
use hblite_env::Env;
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo, file_info};
use hblite_model::setters;

use crate::error::TransferError;
use crate::export::{PATIENCE, continue_or_end, in_pieces};

/// What made the files: the value of `BULKLOAD_SOURCE_TASK`.
const SOURCE_TASK: &[u8] = b"hblite export";

/// How to write the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HFilesOptions {
    /// A file ends after the row that makes it exceed this many bytes
    /// (`hbase.hregion.max.filesize`, 10 GiB).
    pub file_size_max_bytes: u64,
    /// Whether minor compactions of the table that loads the files skip them
    /// (`hbase.mapreduce.hfileoutputformat.compaction.exclude`, false).
    pub is_excluded_from_minor_compaction: bool,
}

impl Default for HFilesOptions {
    fn default() -> Self {
        Self { file_size_max_bytes: 10 << 30, is_excluded_from_minor_compaction: false }
    }
}

setters! { HFilesOptions:
    with_file_size_max_bytes sets file_size_max_bytes: u64;
    with_minor_compaction_excluded sets is_excluded_from_minor_compaction: bool;
}

/// The progress of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HFilesProgress {
    /// Regions that are done.
    pub regions: usize,
    /// All regions.
    pub regions_total: usize,
    /// Rows so far.
    pub rows: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HFilesReport {
    /// Rows.
    pub rows: u64,
    /// Cells.
    pub cells: u64,
    /// The files, below the folder.
    pub files: Vec<PathBuf>,
    /// Their bytes.
    pub bytes: u64,
    /// How long it took.
    pub duration: Duration,
}

/// Rows between two progress calls.
const ROWS_PER_PROGRESS: u64 = 1_024;

/// Writes the cells of `scan` into a new `folder`. Calls `progress` every few rows, and several
/// times a second while none is found; `Break` ends the export.
///
/// Compression, encoding, Bloom filter and block size are the families'. A raw scan with all
/// versions includes delete markers.
///
/// # Errors
/// `Invalid` for a reverse scan; `Store` if the folder exists and is not empty or
/// `<folder>.partial` exists, if it cannot be written, or if the scan fails; `Interrupted` if
/// `progress` ends the export. After an error, nothing of the export remains.
pub fn export_hfiles(
    env: &Env,
    table: &Table,
    scan: &Scan,
    folder: &Path,
    options: &HFilesOptions,
    progress: &mut dyn FnMut(HFilesProgress) -> ControlFlow<()>,
) -> Result<HFilesReport, TransferError> {
    if scan.direction().is_reverse() {
        return Err(TransferError::Invalid("HFiles are not written in reverse".to_owned()));
    }
    let begun = Instant::now();
    let partial = begin(env, folder)?;
    let written = write(env, table, scan, &partial, options, progress)
        .and_then(|report| publish(env, &partial, folder).map(|()| report));
    match written {
        Ok(report) => Ok(HFilesReport { duration: begun.elapsed(), ..report }),
        Err(error) => {
            // The error that matters is the first one.
            let _ = env.fs.remove_dir_all(&partial);
            Err(error)
        }
    }
}

/// Creates the folder that will be renamed to `folder`.
fn begin(env: &Env, folder: &Path) -> Result<PathBuf, TransferError> {
    let fs = env.fs.as_ref();
    let is_taken = match fs.list_dir(folder) {
        Ok(entries) => !entries.is_empty(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    let name = folder.file_name().filter(|_| !is_taken).ok_or_else(|| {
        let message = format!("{}: is there and not an empty folder", folder.display());
        Error::new(Exception::Io, message).with_kind(ErrorKind::AlreadyExists)
    })?;
    let mut partial_name = name.to_owned();
    partial_name.push(".partial");
    let partial = folder.with_file_name(partial_name);
    // Two exports at once would mix their files, and an existing folder may be someone else's.
    if fs.exists(&partial).map_err(|error| Error::io("look for", &partial, error))? {
        let message = format!(
            "{}: already exists: another export is running, or one was killed. If none is \
             running, remove it",
            partial.display()
        );
        let error = Error::new(Exception::Io, message);
        return Err(error.with_kind(ErrorKind::AlreadyExists).into());
    }
    fs.create_dir_all(&partial).map_err(|error| Error::io("create directory", &partial, error))?;
    Ok(partial)
}

fn publish(env: &Env, partial: &Path, folder: &Path) -> Result<(), TransferError> {
    let fs = env.fs.as_ref();
    for entry in fs.list_dir(partial).map_err(|error| Error::io("list", partial, error))? {
        let family = partial.join(entry.name);
        fs.sync_dir(&family).map_err(|error| Error::io("sync", &family, error))?;
    }
    fs.sync_dir(partial).map_err(|error| Error::io("sync", partial, error))?;
    fs.rename(partial, folder).map_err(|error| Error::io("rename", partial, error))?;
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs.sync_dir(parent).map_err(|error| Error::io("sync", parent, error))?;
    Ok(())
}

fn write(
    env: &Env,
    table: &Table,
    scan: &Scan,
    folder: &Path,
    options: &HFilesOptions,
    progress: &mut dyn FnMut(HFilesProgress) -> ControlFlow<()>,
) -> Result<HFilesReport, TransferError> {
    let descriptor = table.descriptor()?;
    let families = descriptor.families().map(|family| (family.name(), family)).collect();
    let regions = table.regions()?;
    let mut files = Files {
        env,
        folder,
        options,
        families,
        open: BTreeMap::new(),
        is_full: false,
        report: HFilesReport::default(),
    };
    let mut done = HFilesProgress { regions_total: regions.len(), ..HFilesProgress::default() };
    // Damage that occurred after a block's first read must not get a new, valid checksum.
    let mut scanner = table.scan(&in_pieces(scan).with_cache_blocks(false))?;
    let mut last_row = Vec::new();
    loop {
        let row = match scanner.next_row_within(PATIENCE)? {
            ScanStep::Row(row) => row,
            ScanStep::Cursor(_) => {
                continue_or_end(progress(done))?;
                continue;
            }
            ScanStep::End => break,
        };
        if row.row() != last_row || done.rows == 0 {
            let region = region_of(&regions, row.row());
            if files.is_full || region != done.regions {
                files.end()?;
            }
            last_row.clear();
            last_row.extend_from_slice(row.row());
            done.rows += 1;
            if region != done.regions || done.rows.is_multiple_of(ROWS_PER_PROGRESS) {
                done.regions = region;
                continue_or_end(progress(done))?;
            }
        }
        files.append(row)?;
    }
    files.end()?;
    done.regions = regions.len();
    continue_or_end(progress(done))?;
    Ok(HFilesReport { rows: done.rows, ..files.report })
}

/// Index of the region that contains a row.
fn region_of(regions: &[RegionInfo], row: &[u8]) -> usize {
    regions.partition_point(|region| region.start_key() <= row).saturating_sub(1)
}

/// The open files, one per family.
struct Files<'t> {
    env: &'t Env,
    folder: &'t Path,
    options: &'t HFilesOptions,
    families: BTreeMap<&'t [u8], &'t ColumnFamilyDescriptor>,
    open: BTreeMap<Vec<u8>, (PathBuf, HFileWriter)>,
    /// Whether one of them has exceeded the limit.
    is_full: bool,
    report: HFilesReport,
}

impl Files<'_> {
    fn append(&mut self, row: &RowResult) -> Result<(), TransferError> {
        for cell in row {
            let cell = cell.with_sequence_id(0);
            self.writer(&cell)?.append(&cell)?;
        }
        self.report.cells += row.len() as u64;
        let limit = self.options.file_size_max_bytes;
        self.is_full = self.open.values().any(|(_, writer)| writer.position() >= limit);
        Ok(())
    }

    fn writer(&mut self, cell: &CellRef<'_>) -> Result<&mut HFileWriter, TransferError> {
        if !self.open.contains_key(cell.family()) {
            let file = self.create(cell.family())?;
            self.open.insert(cell.family().to_vec(), file);
        }
        match self.open.get_mut(cell.family()) {
            Some((_, writer)) => Ok(writer),
            None => Err(no_family(cell.family()).into()),
        }
    }

    fn create(&self, family: &[u8]) -> Result<(PathBuf, HFileWriter), TransferError> {
        let descriptor = self.families.get(family).ok_or_else(|| no_family(family))?;
        let (env, fs) = (self.env, self.env.fs.as_ref());
        let dir = self.folder.join(descriptor.name_as_string());
        fs.create_dir_all(&dir).map_err(|error| Error::io("create directory", &dir, error))?;
        let random = || env.random.next_u64();
        let path = dir.join(format!("{:016x}{:016x}", random(), random()));
        let now = env.clock.now_millis();
        let mut writer = HFileWriter::create(fs, &path, writer_options(descriptor, now))?;
        let is_excluded = self.options.is_excluded_from_minor_compaction;
        let pairs: [(&[u8], &[u8]); 3] = [
            (file_info::BULKLOAD_TIMESTAMP, &now.to_be_bytes()),
            (file_info::BULKLOAD_SOURCE_TASK, SOURCE_TASK),
            // A bool in the form of `Bytes.toBytes(boolean)`.
            (file_info::EXCLUDE_FROM_MINOR_COMPACTION, if is_excluded { &[0xff] } else { &[0] }),
        ];
        for (key, value) in pairs {
            writer.append_file_info(key, value);
        }
        Ok((path, writer))
    }

    /// Ends the open files.
    fn end(&mut self) -> Result<(), TransferError> {
        for (_, (path, writer)) in std::mem::take(&mut self.open) {
            let info = StoreFileInfo { major_compaction: true, ..StoreFileInfo::default() };
            let summary = writer.finish(&info)?;
            self.report.bytes += summary.length;
            let below = path.strip_prefix(self.folder).unwrap_or(&path);
            self.report.files.push(below.to_path_buf());
        }
        self.is_full = false;
        Ok(())
    }
}

fn no_family(family: &[u8]) -> Error {
    let message = format!("Column family {} does not exist", to_string_binary(family));
    Error::new(Exception::NoSuchColumnFamily, message)
}

fn writer_options(family: &ColumnFamilyDescriptor, now_millis: i64) -> HFileWriterOptions {
    HFileWriterOptions::of_family(family)
        // As in HFileOutputFormat2; without tags the part is empty.
        .with_tags(true)
        .with_create_time(now_millis)
}
