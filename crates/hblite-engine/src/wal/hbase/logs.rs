//! Which logs HBase left in a root directory, and how they are replayed.
//!
//! Each file is read twice. The survey reads all of them, changes nothing, and says which regions
//! have entries; the replay passes the entries on. A server's files are in the order of the time in
//! their names, those of hbase:meta first.
//!
//! Order: the entries of a region come in the order of their sequence ids, each once. For most
//! regions, the files have that order. A region that was moved between servers, or has recovered
//! edits, may not: its entries are kept in memory and sorted, up to [`UNSORTED_SIZE_MAX`] bytes.
//!
//! Only the newest log of a server and its newest log of hbase:meta may be cut off, since a kill
//! interrupts these two.
//!
//! Replayed logs go to `oldWALs/`, where HBase puts its own. Threads: one, before the store is
//! open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, Result};

use super::{HBaseLog, HBaseLogEntry};
use crate::files::{list, make_dir, sync_dir};
use crate::layout::{Layout, RECOVERED_EDITS_DIR, is_region_name};

/// Maximum bytes of cells of regions whose entries must be sorted: 1 GiB.
const UNSORTED_SIZE_MAX: usize = 1 << 30;
/// The suffix of the name of a log of hbase:meta.
const META_SUFFIX: &str = ".meta";
const REMEDY: &str = "start HBase on the directory and stop it, which writes the logs to store \
                      files";

/// Where a log comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogSource {
    /// A server wrote it.
    Server,
    /// A master split it from a server's log, for one region.
    RecoveredEdits,
}

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    source: LogSource,
    /// Whether it is the last of its kind that its server wrote.
    is_newest: bool,
}

/// What the logs have for one region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LoggedRegion {
    /// The highest sequence id.
    pub(crate) last_id: u64,
    /// Whether the last entry says that the region was closed, so that its files are complete.
    pub(crate) is_closed: bool,
    is_sorted: bool,
    size_bytes: usize,
}

/// The logs of HBase's region servers.
#[derive(Debug, Default)]
pub(crate) struct HBaseLogs {
    files: Vec<LogFile>,
    /// Regions with entries, by encoded name.
    pub(crate) regions: BTreeMap<String, LoggedRegion>,
    /// Number of entries with cells.
    pub(crate) entries: u64,
    /// Logs that end within an entry, and where.
    pub(crate) cut: Vec<(PathBuf, u64)>,
}

impl HBaseLogs {
    /// Finds and reads all logs below the root. Changes nothing.
    ///
    /// # Errors
    /// `Io`; `CorruptWal` with file and offset; `UnsupportedOperation` that names what cannot be
    /// read.
    pub(crate) fn survey(fs: &dyn FileSystem, layout: &Layout) -> Result<Self> {
        let mut files = Vec::new();
        let dir = layout.wal_dir();
        for server in list(fs, &dir)?.into_iter().filter(|entry| entry.is_dir) {
            let path = dir.join(&server.name);
            files.extend(server_logs(fs, &path)?);
        }
        // hbase:meta first: it says which tables the other entries belong to.
        files.sort_by_key(|file| !is_of_meta(&file.path));
        for region in region_dirs(fs, layout)? {
            recovered_edits(fs, &region, &mut files)?;
        }
        Self::of_files(fs, files)
    }

    /// Reads the logs of the master in these directories.
    ///
    /// # Errors
    /// As [`HBaseLogs::survey`].
    pub(crate) fn survey_dirs(fs: &dyn FileSystem, dirs: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for dir in dirs {
            files.extend(server_logs(fs, dir)?);
        }
        Self::of_files(fs, files)
    }

    fn of_files(fs: &dyn FileSystem, files: Vec<LogFile>) -> Result<Self> {
        let mut logs = Self { files, ..Self::default() };
        let mut regions: BTreeMap<String, LoggedRegion> = BTreeMap::new();
        let (mut entries, mut cut) = (0, Vec::new());
        for file in &logs.files {
            let cut_at = read(fs, file, &mut |entry| {
                note(&mut regions, entry);
                entries += u64::from(!entry.cells.is_empty());
                Ok(())
            })?;
            let Some(offset) = cut_at else { continue };
            if !file.is_newest {
                let what = "the log ends here within an entry, and a newer one of the same server \
                            follows: a part of it is missing. Restore it from a copy";
                return Err(Error::corrupt(Exception::CorruptWal, &file.path, offset, what));
            }
            cut.push((file.path.clone(), offset));
        }
        (logs.regions, logs.entries, logs.cut) = (regions, entries, cut);
        let unsorted = logs.regions.values().filter(|region| !region.is_sorted);
        if unsorted.map(|region| region.size_bytes).sum::<usize>() > UNSORTED_SIZE_MAX {
            let message = format!(
                "the logs of Apache HBase hold more than {UNSORTED_SIZE_MAX} bytes of regions that \
                 were moved between servers; {REMEDY}"
            );
            return Err(Error::new(Exception::UnsupportedOperation, message));
        }
        Ok(logs)
    }

    /// Whether there are no logs.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Passes the entries of the regions that `is_wanted` selects to `sink`.
    ///
    /// # Errors
    /// As [`HBaseLogs::survey`]; those of `sink`.
    pub(crate) fn replay(
        &self,
        fs: &dyn FileSystem,
        is_wanted: &dyn Fn(&str) -> bool,
        sink: &mut dyn FnMut(&HBaseLogEntry) -> Result<()>,
    ) -> Result<()> {
        let mut unsorted: BTreeMap<(String, u64), HBaseLogEntry> = BTreeMap::new();
        for file in &self.files {
            read(fs, file, &mut |entry| {
                if entry.cells.is_empty() || !is_wanted(&entry.region) {
                    return Ok(());
                }
                if self.regions.get(&entry.region).is_some_and(|region| region.is_sorted) {
                    return sink(entry);
                }
                let key = (entry.region.clone(), entry.sequence_id);
                unsorted.entry(key).or_insert_with(|| std::mem::take(entry));
                Ok(())
            })?;
        }
        unsorted.into_values().try_for_each(|entry| sink(&entry))
    }

    /// Moves the logs to `oldWALs/`, durably. Nothing in them is needed any longer.
    ///
    /// # Errors
    /// `Io`; the logs before the one that failed have been moved.
    pub(crate) fn retire(&self, fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
        if self.files.is_empty() {
            return Ok(());
        }
        let old = layout.old_wal_dir();
        make_dir(fs, &old)?;
        layout.make_durable(fs, &old)?;
        for file in &self.files {
            let io = |error| Error::io("cannot move to oldWALs", &file.path, error);
            let mut target = old.join(old_name(file));
            while fs.exists(&target).map_err(io)? {
                target.as_mut_os_string().push(".again");
            }
            fs.rename(&file.path, &target).map_err(io)?;
        }
        sync_dir(fs, &old)?;
        for file in &self.files {
            file.path.parent().map_or(Ok(()), |dir| sync_dir(fs, dir))?;
        }
        Ok(())
    }
}

/// The name of a replayed log in `oldWALs/`.
fn old_name(file: &LogFile) -> String {
    let name = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    match file.source {
        LogSource::Server => name(&file.path),
        LogSource::RecoveredEdits => {
            let region = file.path.ancestors().nth(2).map(name).unwrap_or_default();
            format!("{region}.{RECOVERED_EDITS_DIR}.{}", name(&file.path))
        }
    }
}

fn note(regions: &mut BTreeMap<String, LoggedRegion>, entry: &HBaseLogEntry) {
    if !regions.contains_key(&entry.region) {
        let region = LoggedRegion { is_sorted: true, ..LoggedRegion::default() };
        regions.insert(entry.region.clone(), region);
    }
    let Some(region) = regions.get_mut(&entry.region) else { return };
    region.is_sorted &= entry.sequence_id > region.last_id;
    if entry.sequence_id >= region.last_id {
        region.is_closed = entry.is_close;
    }
    region.last_id = region.last_id.max(entry.sequence_id);
    region.size_bytes = region.size_bytes.saturating_add(entry.cells.as_bytes().len());
}

/// Calls `visit` with every entry; returns where the log is cut off, if it is.
fn read(
    fs: &dyn FileSystem,
    file: &LogFile,
    visit: &mut dyn FnMut(&mut HBaseLogEntry) -> Result<()>,
) -> Result<Option<u64>> {
    let bytes = fs.read(&file.path).map_err(|error| Error::io("cannot read", &file.path, error))?;
    let mut log = HBaseLog::open(&file.path, &bytes, file.source)?;
    let mut entry = HBaseLogEntry::default();
    while log.next(&mut entry)? {
        visit(&mut entry)?;
    }
    let is_unclosed = !log.is_closed() && log.cut_at().is_none();
    // Recovered edits with their final name are complete.
    Ok(log.cut_at().or_else(|| is_unclosed.then_some(bytes.len() as u64)))
}

/// The logs of one server, oldest first.
fn server_logs(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<LogFile>> {
    let mut logs = Vec::new();
    for entry in list(fs, dir)? {
        let path = dir.join(&entry.name);
        let Some((kind, time)) = log_name(&entry.name).filter(|_| !entry.is_dir) else {
            let message = format!(
                "{} is not a log of Apache HBase, but is among those of a server. Nothing was \
                 changed. Move it away",
                path.display()
            );
            return Err(Error::new(Exception::Io, message));
        };
        logs.push((kind, time, path));
    }
    logs.sort();
    let newest = |at: usize| logs.get(at + 1).is_none_or(|(kind, ..)| *kind != logs[at].0);
    let is_newest: Vec<bool> = (0..logs.len()).map(newest).collect();
    let files = logs.into_iter().zip(is_newest).map(|((_, _, path), is_newest)| LogFile {
        path,
        source: LogSource::Server,
        is_newest,
    });
    Ok(files.collect())
}

/// Which of its server's logs a file is, and when it was begun.
fn log_name(name: &str) -> Option<(String, u64)> {
    let is_meta = name.ends_with(META_SUFFIX);
    let (server, time) = name.strip_suffix(META_SUFFIX).unwrap_or(name).rsplit_once('.')?;
    Some((format!("{server} {is_meta}"), time.parse().ok()?))
}

fn is_of_meta(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(META_SUFFIX))
}

/// Adds the recovered edits of a region, oldest first.
fn recovered_edits(fs: &dyn FileSystem, region: &Path, files: &mut Vec<LogFile>) -> Result<()> {
    let dir = region.join(RECOVERED_EDITS_DIR);
    let mut names: Vec<String> = list(fs, &dir)?.into_iter().map(|entry| entry.name).collect();
    names.sort();
    for name in names {
        let path = dir.join(&name);
        if name.ends_with(".seqid") || name.ends_with(".temp") {
            // A region's sequence id, and the remains of a log split after a kill; its source is
            // still there.
            continue;
        }
        if name.parse::<u64>().is_err() {
            let message = format!(
                "{} is among the recovered edits of a region, but hblite cannot read it. \
                 Nothing was changed; {REMEDY}",
                path.display()
            );
            return Err(Error::new(Exception::UnsupportedOperation, message));
        }
        files.push(LogFile { path, source: LogSource::RecoveredEdits, is_newest: true });
    }
    Ok(())
}

/// The directories of all regions of all tables.
pub(crate) fn region_dirs(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<PathBuf>> {
    let mut dirs = vec![layout.data_dir()];
    for _ in ["namespace", "table", "region"] {
        let mut below = Vec::new();
        for dir in dirs {
            let entries = list(fs, &dir)?.into_iter().filter(|entry| entry.is_dir);
            below.extend(entries.map(|entry| dir.join(entry.name)));
        }
        dirs = below;
    }
    let is_region =
        |dir: &PathBuf| dir.file_name().and_then(|name| name.to_str()).is_some_and(is_region_name);
    dirs.retain(is_region);
    Ok(dirs)
}
