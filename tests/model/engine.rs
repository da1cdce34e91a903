//! The engine's side: a store on files in memory, on a clock that stands still until it is moved.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hblite::{
    ColumnFamilyDescriptor, CompactRequest, Connection, Durability, Env, ManualClock, MergeKind,
    Options, RegionInfo, Result, RowResult, TableDescriptor, TableName,
};
use hblite_env::{CrashFileSystem, FileSystem, MemFileSystem, SeededRandom};
use hblite_reference::cell::Family;
use hblite_reference::read::Read;

use super::answer::{Answer, AnsweredRow, Failure, cells};
use super::generator::{FileSettings, World};
use super::operation::{Change, Operation, Write, append, delete, increment, put, row_mutations};
use super::store::Store;

pub(crate) const CLOCK_START: i64 = 100_000;

/// Where the store lives.
#[derive(Debug, Clone)]
enum Disk {
    Plain(Arc<MemFileSystem>),
    Crashing(CrashFileSystem),
}

/// The files of a store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FilesFound {
    pub(crate) count: usize,
    pub(crate) references: usize,
    /// Name and size of each.
    pub(crate) files: Vec<FileFound>,
}

/// Name and size in bytes of a file of a store.
pub(crate) type FileFound = (String, u64);

impl FilesFound {
    /// Whether the model has as many of each kind.
    pub(crate) fn are_those_of(&self, store: &Store) -> bool {
        let references = store.files.iter().filter(|file| file.is_reference).count();
        (self.count, self.references) == (store.files.len(), references)
    }

    /// Tells the model which file is which, as far as it is certain: with several new files, such
    /// as those of a split, it is not.
    pub(crate) fn identify(mut self, store: &mut Store) {
        for file in &mut store.files {
            let known = file.found.take();
            let at = known.and_then(|known| self.files.iter().position(|found| *found == known));
            file.found = at.map(|at| self.files.swap_remove(at));
        }
        let mut new = store.files.iter_mut().filter(|file| file.found.is_none());
        if let (Some(file), None) = (new.next(), new.next()) {
            assert_eq!(self.files.len(), 1, "as many files as in the model");
            file.found = self.files.pop();
        }
    }
}

/// An open store with one table.
pub(crate) struct EngineSide {
    world: World,
    disk: Disk,
    /// Names of files, and the effect of a power cut on them, are the same in every run.
    random: Arc<SeededRandom>,
    pub(crate) clock: Arc<ManualClock>,
    connection: Option<Connection>,
    table: TableName,
}

impl EngineSide {
    pub(crate) fn new(
        world: World,
        families: &[(Family, FileSettings)],
        seed: u64,
    ) -> Result<Self> {
        let disk = match world {
            World::Closes { .. } => Disk::Plain(Arc::new(MemFileSystem::new())),
            World::IsKilled | World::LosesPower => Disk::Crashing(CrashFileSystem::new()),
        };
        let clock = Arc::new(ManualClock::new(CLOCK_START));
        let table: TableName = "t".parse()?;
        let random = Arc::new(SeededRandom::new(seed));
        let mut side = Self { world, disk, random, clock, connection: None, table };
        side.open()?;
        let mut descriptor = TableDescriptor::new(side.table.clone());
        for (family, files) in families {
            descriptor = descriptor.with_family(described(family, files)?);
        }
        side.connection().admin().create_table(&descriptor)?;
        Ok(side)
    }

    fn open(&mut self) -> Result<()> {
        let engine = Options::new()
            .with_compaction_enabled(false)
            // Three at a time, whatever their size: the model knows which.
            .with_compaction_files_min(3)
            .with_compaction_files_max(3)
            .with_flush_on_close(self.world == World::Closes { is_flushed: true })
            .with_wal_roll_size_bytes(16 * 1024);
        let (fs, clock) = (self.file_system(), self.clock.clone());
        let env = Env { fs, clock, random: self.random.clone() };
        let options = engine.with_env(env);
        self.connection = Some(options.open(Path::new("/store"))?);
        Ok(())
    }

    fn file_system(&self) -> Arc<dyn FileSystem> {
        match &self.disk {
            Disk::Plain(disk) => disk.clone(),
            Disk::Crashing(disk) => Arc::new(disk.clone()),
        }
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("the store is open between operations")
    }

    pub(crate) fn reopen(&mut self) -> Result<()> {
        if let Some(connection) = self.connection.take() {
            connection.close()?;
        }
        self.open()
    }

    /// Ends the store as configured, and opens what is left.
    pub(crate) fn crash(&mut self, seed: u64) -> Result<()> {
        if let Disk::Crashing(disk) = &self.disk {
            let rest = match self.world {
                World::LosesPower => disk.after_power_cut(seed),
                _ => disk.after_kill(),
            };
            self.connection = None;
            self.disk = Disk::Crashing(rest);
        }
        self.open()
    }

    /// Lets `steps` more changes of the file system happen.
    pub(crate) fn end_after(&self, steps: u64) {
        if let Disk::Crashing(disk) = &self.disk {
            disk.power_off_after(steps);
        }
    }

    pub(crate) fn regions(&self) -> Result<Vec<RegionInfo>> {
        self.connection().admin().regions(&self.table)
    }

    pub(crate) fn description(&self) -> Result<String> {
        Ok(self.connection().admin().describe_table(&self.table)?.to_string())
    }

    /// The contents of a store's directory.
    pub(crate) fn files(&self, encoded_name: &str, family: &[u8]) -> FilesFound {
        let family = String::from_utf8_lossy(family);
        let dir = format!("/store/data/default/{}/{encoded_name}/{family}", self.table);
        let (fs, dir) = (self.file_system(), Path::new(&dir));
        let entries = fs.list_dir(dir).unwrap_or_default();
        let size = |name: &str| fs.file_length(&dir.join(name)).expect("a listed file is there");
        FilesFound {
            count: entries.len(),
            // A reference is called after its file and the region that has it.
            references: entries.iter().filter(|entry| entry.name.contains('.')).count(),
            files: entries.iter().map(|entry| (entry.name.clone(), size(&entry.name))).collect(),
        }
    }

    fn durability(&self) -> Durability {
        match self.world {
            World::LosesPower => Durability::FsyncWal,
            _ => Durability::UseDefault,
        }
    }

    /// All that a raw scan, and a plain one, sees.
    pub(crate) fn scan(&self, read: &Read) -> Result<Vec<AnsweredRow>> {
        let table = self.connection().table(&self.table)?;
        let mut scanner = table.scan(&read.to_scan())?;
        let mut rows = Vec::new();
        while let Some(row) = scanner.next_row()? {
            rows.push(AnsweredRow::from(row));
        }
        Ok(rows)
    }

    pub(crate) fn run(&self, operation: &Operation) -> Result<Answer> {
        let table = self.connection().table(&self.table)?;
        let admin = self.connection().admin();
        let durability = self.durability();
        match operation {
            Operation::Get(read) => Ok(Answer::Cells(cells(&table.get(&read.to_get())?))),
            Operation::Scan(read) => Ok(Answer::Rows(self.scan(read)?)),
            Operation::Write(write) => self.write(write),
            Operation::WriteAll(writes) => {
                let mutations: Vec<_> =
                    writes.iter().map(|write| write.to_mutation(durability)).collect();
                table.mutate_all(&mutations)?;
                Ok(Answer::Done)
            }
            Operation::RowWrites { row, writes } => {
                let found = table.mutate_row(&row_mutations(row, writes, durability))?;
                Ok(Answer::Cells(cells(&found)))
            }
            Operation::CheckedWrites(checked) => {
                let found = table.check_and_mutate(&checked.to_check_and_mutate(durability))?;
                let cells = found.result.as_ref().map(cells).unwrap_or_default();
                Ok(Answer::Checked { is_success: found.is_success, cells })
            }
            Operation::Batch(items) => {
                let actions: Vec<_> = items.iter().map(|item| item.to_action(durability)).collect();
                let results = table.batch(&actions)?.into_iter();
                let told = results.map(|result| match result {
                    Ok(told) => Ok(cells(&told.into_row())),
                    Err(error) => Err(Failure::from(error)),
                });
                Ok(Answer::Batch(told.collect()))
            }
            Operation::Flush => admin.flush_table(&self.table).map(|()| Answer::Done),
            Operation::Compact { is_major } => {
                let request = CompactRequest::table(&self.table);
                let request = if *is_major { request.major() } else { request };
                admin.compact(&request).map(|()| Answer::Done)
            }
            Operation::Split { row } => {
                admin.split_table(&self.table, Some(row)).and_then(|()| self.borders())
            }
            Operation::Merge { first } => {
                let regions = self.regions()?;
                let pair = &regions[*first..first + 2];
                let names: Vec<&str> = pair.iter().map(RegionInfo::encoded_name).collect();
                admin.merge_regions(&names, MergeKind::Adjacent).and_then(|()| self.borders())
            }
            Operation::Alter { family, versions } => {
                let present = admin.describe_table(&self.table)?;
                let found = present.family(family).expect("families stay").clone();
                let changed = found.with_versions(*versions as u32);
                admin.modify_family(&self.table, &changed).map(|()| Answer::Done)
            }
            Operation::Reopen | Operation::Crash { .. } | Operation::CrashDuring { .. } => {
                Ok(Answer::Done)
            }
        }
    }

    fn borders(&self) -> Result<Answer> {
        let regions = self.regions()?;
        let border = |info: &RegionInfo| (info.start_key().to_vec(), info.end_key().to_vec());
        Ok(Answer::Borders(regions.iter().map(border).collect()))
    }

    /// With the call that a client has for each kind.
    fn write(&self, write: &Write) -> Result<Answer> {
        let table = self.connection().table(&self.table)?;
        let (row, durability) = (&write.row, self.durability());
        let found = match &write.change {
            Change::Put { cells, time_to_live_ms } => {
                table.put(&put(row, cells, *time_to_live_ms).with_durability(durability))?;
                RowResult::default()
            }
            Change::Delete { parts, timestamp } => {
                table.delete(&delete(row, parts, *timestamp).with_durability(durability))?;
                RowResult::default()
            }
            Change::Increment(settings) => {
                table.increment(&increment(row, settings).with_durability(durability))?
            }
            Change::Append(settings) => {
                table.append(&append(row, settings).with_durability(durability))?
            }
        };
        Ok(Answer::Cells(cells(&found)))
    }
}

fn described(family: &Family, files: &FileSettings) -> Result<ColumnFamilyDescriptor> {
    let mut descriptor = ColumnFamilyDescriptor::new(&family.name)
        .with_versions(family.versions as u32)
        .with_min_versions(family.min_versions as u32)
        .with_keep_deleted_cells(family.keep_deleted_cells)
        .with_bloom(files.bloom)
        .with_data_block_encoding(files.encoding)
        .with_block_size(files.block_size_bytes);
    if let Some(time_to_live_ms) = family.time_to_live_ms {
        descriptor =
            descriptor.with_time_to_live(Duration::from_secs((time_to_live_ms / 1000) as u64));
    }
    if family.new_version_behavior {
        descriptor.set_attribute("NEW_VERSION_BEHAVIOR", "true")?;
    }
    Ok(descriptor)
}
