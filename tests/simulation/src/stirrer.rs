//! What an administrator does while clients write: flushes, compactions, splits, merges, alters,
//! bulk loads, snapshots, backups, other tables.
//!
//! Everything that was acknowledged is recorded with its time, and must exist after any cut.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{
    Admin, Cell, CellType, ColumnFamilyDescriptor, Connection, ErrorKind, FlushRequest, MergeKind,
    Result, SnapshotOptions, TableDescriptor, TableName,
};
use hblite_engine::BulkLoadRequest;
use hblite_env::{FileSystem as _, MemFileSystem, SeededRandom};
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};

use crate::history::atomic_row::FAMILIES;
use crate::rates::Rates;
use crate::settings::{below, pick};

const REGIONS_MAX: usize = 4;
/// The directory of the backups, on the same disk.
pub(crate) const BACKUPS: &str = "/backups";

/// Something that was acknowledged between two times, and that holds the rows of some moment
/// between them.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    pub(crate) name: String,
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
}

/// A bulk load that was begun.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// The prefix of its rows.
    pub(crate) name: String,
    pub(crate) invoked: u64,
    /// When it was acknowledged.
    pub(crate) returned: Option<u64>,
}

/// What was done in one life.
#[derive(Debug, Default)]
pub(crate) struct Stirred {
    pub(crate) snapshots: Vec<Copy>,
    pub(crate) backups: Vec<Copy>,
    pub(crate) loads: Vec<Load>,
    /// When the successful flushes of the whole table were called.
    pub(crate) flushes: Vec<(u64, u64)>,
    /// What failed although no fault was injected.
    pub(crate) errors: Vec<String>,
}

pub(crate) struct Stirrer<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) admin: Admin,
    pub(crate) table: TableName,
    pub(crate) rows: &'a [String],
    pub(crate) random: SeededRandom,
    pub(crate) rates: Arc<Rates>,
    pub(crate) time: Arc<AtomicU64>,
    pub(crate) life: u64,
}

/// How many rows a bulk load has.
pub(crate) const LOAD_ROWS: usize = 2;

pub(crate) fn load_row(name: &str, number: usize) -> String {
    // In the first and the last region of the table, next to the rows of the clients.
    ["a", "z"][number].to_owned() + "-" + name
}

impl Stirrer<'_> {
    /// Does this many operations; stops when `is_over`.
    pub(crate) fn stir(&self, count: u64, is_over: impl Fn() -> bool) -> Stirred {
        let mut stirred = Stirred::default();
        for number in 0..count {
            if is_over() {
                break;
            }
            if let Err(error) = self.one(number, &mut stirred) {
                stirred.errors.push(format!("{:?}: {error}", error.kind()));
            }
        }
        stirred
    }

    fn now(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    fn one(&self, number: u64, stirred: &mut Stirred) -> Result<()> {
        let (admin, table) = (&self.admin, &self.table);
        let work = match below(&self.random, 24) {
            0..=5 => {
                let invoked = self.now();
                admin.flush_table(table)?;
                stirred.flushes.push((invoked, self.now()));
                "work: flush"
            }
            6 => {
                let request = FlushRequest::table(table.clone());
                admin.flush(&request.with_family(pick(&self.random, &FAMILIES)))?;
                "work: flush of a family"
            }
            7 | 8 => {
                admin.compact_table(table)?;
                "work: minor compaction"
            }
            9 | 10 => {
                admin.major_compact_table(table)?;
                "work: major compaction"
            }
            11..=14 => match self.change_regions()? {
                Some(work) => work,
                None => return Ok(()),
            },
            15 => {
                let mut descriptor = admin.describe_table(table)?;
                descriptor.set_attribute("stirred", &number.to_string())?;
                admin.modify_table(&descriptor)?;
                "work: alter"
            }
            16 => {
                let family = ColumnFamilyDescriptor::new("c");
                // A cut between the two may have left it.
                if !admin.describe_table(table)?.has_family(family.name()) {
                    admin.add_family(table, &family)?;
                }
                admin.delete_family(table, family.name())?;
                "work: add and delete a family"
            }
            17 | 18 => self.load(number, stirred)?,
            19 | 20 => {
                let name = format!("snapshot-{}-{number}", self.life);
                let invoked = self.now();
                admin.snapshot(&name, table, &SnapshotOptions::default())?;
                stirred.snapshots.push(Copy { name, invoked, returned: self.now() });
                "work: snapshot"
            }
            21 | 22 => {
                let name = format!("{BACKUPS}/{}-{number}", self.life);
                let invoked = self.now();
                admin.backup(&name)?;
                stirred.backups.push(Copy { name, invoked, returned: self.now() });
                "work: backup"
            }
            _ => {
                let name: TableName = format!("other-{}-{number}", self.life).parse()?;
                let family = ColumnFamilyDescriptor::new("a");
                admin.create_table(&TableDescriptor::new(name.clone()).with_family(family))?;
                admin.disable_table(&name)?;
                admin.delete_table(&name)?;
                "work: create and drop a table"
            }
        };
        self.rates.count(work);
        Ok(())
    }

    /// A region with references is refused, and that is fine.
    fn change_regions(&self) -> Result<Option<&'static str>> {
        let regions = self.admin.regions(&self.table)?;
        let refused = |result: Result<()>, work| match result {
            Ok(()) => Ok(Some(work)),
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Closed) => Err(error),
            Err(_) => Ok(None),
        };
        if regions.len() < REGIONS_MAX && below(&self.random, 3) > 0 {
            let key = &self.rows[below(&self.random, self.rows.len() as u64) as usize];
            let split = self.admin.split_table(&self.table, Some(key.as_bytes()));
            return match split {
                Err(error) if error.message().contains("equals to startkey") => Ok(None),
                split => refused(split, "work: split"),
            };
        }
        if regions.len() < 2 {
            return Ok(None);
        }
        let first = below(&self.random, regions.len() as u64 - 1) as usize;
        let pair = [regions[first].encoded_name(), regions[first + 1].encoded_name()];
        refused(self.admin.merge_regions(&pair, MergeKind::Adjacent), "work: merge")
    }

    /// Loads rows that no client writes, with both families, over all regions.
    fn load(&self, number: u64, stirred: &mut Stirred) -> Result<&'static str> {
        let name = format!("load-{}-{number}", self.life);
        let (source, folder) = (MemFileSystem::new(), Path::new("/hfiles"));
        for family in FAMILIES {
            let dir: PathBuf = folder.join(family);
            source.create_dir_all(&dir).expect("there is room");
            let path = dir.join("00");
            let mut writer = HFileWriter::create(&source, &path, HFileWriterOptions::default())?;
            for number in 0..LOAD_ROWS {
                let row = load_row(&name, number);
                let (row, value) = (row.as_bytes(), name.as_bytes());
                let cell = Cell::new(row, family.as_bytes(), b"x", 5, CellType::Put, value);
                writer.append(&cell.as_ref())?;
            }
            writer.finish(&StoreFileInfo::default())?;
        }
        let request = BulkLoadRequest { source: Some(Arc::new(source)), ..Default::default() };
        stirred.loads.push(Load { name, invoked: self.now(), returned: None });
        let engine = self
            .connection
            .backend_as::<hblite_engine::Timeline>()
            .map(|timeline| timeline.engine())
            .expect("an embedded store");
        engine.procedures().bulk_load(&self.table, folder, &request)?;
        let returned = self.now();
        stirred.loads.last_mut().expect("it was just added").returned = Some(returned);
        Ok("work: bulk load")
    }
}
