//! One seed: a machine that runs, is cut, and runs again.
//!
//! A *life* is one opening of the store. Clients and an administrator work in it until they are
//! done, the power is cut at some operation of the disk, the process is killed, or the store is
//! closed. What is left on the disk is checked, opened and compared with the recorded history, and
//! is where the next life begins. During a life the disk is forked at random operations, and each
//! fork is cut and examined in the same way.
//!
//! A life begins with a synced write, and with a flush if writes skip the log. That makes
//! everything that the life found durable, so what is read then must exist until the life itself
//! writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{
    ColumnFamilyDescriptor, Connection, Durability, Env, Options, Put, TableDescriptor, TableName,
};
use hblite_env::{CrashFileSystem, FileSystem, SeededRandom, simulation, thread};

use crate::disk::{Plan, SimulatedDisk};
use crate::history::atomic_row::{FAMILIES, Row};
use crate::history::client::Client;
use crate::history::recorder::{Event, Recorder, by_row};
use crate::history::workload::{Choice, Worker};
use crate::image::Image;
use crate::oracle::Kept;
use crate::rates::Rates;
use crate::settings::{Settings, below, pick};
use crate::stirrer::{Load, Stirred, Stirrer};

pub(crate) const STORE: &str = "/store";
const LIVES: u64 = 4;
const ROWS: usize = 8;
/// A separate row that makes the log durable.
const FENCE: &str = "fence";

pub(crate) type Outcome<T> = Result<T, String>;

pub(crate) fn table_name() -> TableName {
    "t".parse().expect("a legal name")
}

/// What is known about the machine between two lives.
pub(crate) struct Machine {
    pub(crate) settings: Settings,
    pub(crate) random: SeededRandom,
    pub(crate) rates: Arc<Rates>,
    pub(crate) time: Arc<AtomicU64>,
    pub(crate) rows: Vec<String>,
    files: CrashFileSystem,
    pub(crate) known: Known,
}

/// What must be on the disk.
#[derive(Debug, Default, Clone)]
pub(crate) struct Known {
    /// Whether the table's creation was acknowledged.
    pub(crate) has_table: bool,
    /// The rows when the last life began.
    pub(crate) start: BTreeMap<String, Row>,
    /// The operations since then, by row.
    pub(crate) events: BTreeMap<String, Vec<Event>>,
    pub(crate) loads: Vec<Load>,
    pub(crate) snapshots: Vec<crate::stirrer::Copy>,
    pub(crate) backups: Vec<crate::stirrer::Copy>,
    /// When flushes of the table were called and returned.
    pub(crate) flushes: Vec<(u64, u64)>,
    /// Whether an end since then lost what was not durable.
    pub(crate) has_lost: bool,
}

/// How a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Close,
    Kill,
    PowerCut,
}

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            settings: Settings::of(seed),
            random: SeededRandom::new(seed ^ 0x6ac4_14e5),
            rates: Arc::default(),
            time: Arc::default(),
            rows: (0..ROWS).map(|number| format!("row-{number}")).collect(),
            files: CrashFileSystem::new(),
            known: Known::default(),
        }
    }

    /// All lives of the machine.
    pub(crate) fn run(&mut self) -> Outcome<()> {
        for life in 0..LIVES {
            self.live(life).map_err(|failure| format!("life {life}: {failure}"))?;
        }
        let image = Image::new(self, self.files.after_kill(), u64::MAX, Kept::All);
        image.check_rot(&format!("{}", self.settings.seed))
    }

    pub(crate) fn options(&self, fs: impl FileSystem + 'static) -> Options {
        let random = SeededRandom::new(self.settings.seed ^ self.now());
        let env =
            Env { fs: Arc::new(fs), clock: self.settings.clock.clone(), random: Arc::new(random) };
        self.settings.engine.clone().with_env(env)
    }

    pub(crate) fn now(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    fn below(&self, limit: u64) -> u64 {
        below(&self.random, limit)
    }

    fn plan(&self) -> Plan {
        Plan {
            error_one_in: pick(&self.random, &[0, 0, 0, 400, 100, 40]),
            slow_one_in: pick(&self.random, &[0, 1000, 50]),
            fork_one_in: pick(&self.random, &[10, 30, 100]),
            forks_max: 30,
        }
    }

    /// One opening of the store, and what happens to the disk.
    fn live(&mut self, life: u64) -> Outcome<()> {
        let seed = self.settings.seed ^ (life + 1) << 40;
        let (rates, time) = (Arc::clone(&self.rates), Arc::clone(&self.time));
        let disk = SimulatedDisk::new(self.files.clone(), self.plan(), seed, rates, time);
        let end = pick(&self.random, &[End::Close, End::Kill, End::PowerCut, End::PowerCut]);
        if end != End::Close && self.below(3) > 0 {
            // Early ends are as likely as late ones, on a scale of powers.
            let most = 1 << (3 + self.below(9));
            disk.files().power_off_after(self.below(most));
        }
        simulation::record("life", format!("{life} {end:?}").as_bytes());
        let (connection, faults) = self.open(&disk)?;
        let worked = match &connection {
            Some(connection) => self.work_in(connection, &disk, life, faults)?,
            None => false,
        };
        self.count_end(end, disk.files().is_off(), connection.is_some());
        if !worked {
            disk.take_forks().clear();
        }
        self.check_forks(&disk)?;
        self.known.has_lost |= self.loses(end);
        let (files, is_whole) = self.end(end, connection, &disk)?;
        // Unacknowledged writes may be lost if the log cannot be written when it is closed.
        self.known.has_lost |= !is_whole && self.loses(End::Kill);
        let image = Image::new(self, files.fork(), u64::MAX, self.kept(u64::MAX));
        image.check(&format!("after {end:?}"))?;
        self.files = files;
        Ok(())
    }

    /// What is on the disk after this end, and whether the store closed without an error if it was
    /// closed.
    fn end(
        &self,
        end: End,
        connection: Option<Connection>,
        disk: &SimulatedDisk,
    ) -> Outcome<(CrashFileSystem, bool)> {
        match end {
            End::Close => {
                let closed = connection.map_or(Ok(()), |connection| connection.close());
                if let Err(error) = &closed
                    && self.rates.faults() == 0
                {
                    return Err(format!("the store does not close: {error}"));
                }
                Ok((disk.files().after_kill(), closed.is_ok()))
            }
            // Work of the store when it is dropped comes too late.
            End::Kill => Ok((disk.files().after_kill(), true)),
            End::PowerCut => Ok((self.cut(disk.files()), true)),
        }
    }

    /// The files after a power cut; what was lost is counted.
    pub(crate) fn cut(&self, files: &CrashFileSystem) -> CrashFileSystem {
        // Seed 0 loses everything that may be lost.
        let seed = if self.below(4) == 0 { 0 } else { 1 + self.below(1 << 40) };
        let (files, losses) = files.after_power_cut_with_losses(seed);
        let rates = &self.rates;
        rates.add("loss: name lost before a directory sync", losses.names_lost);
        rates.add("loss: name kept without a directory sync", losses.names_kept_unsynced);
        rates.add("loss: unsynced tail, torn", losses.tails_torn);
        rates.add("loss: unsynced tail, all", losses.tails_lost);
        rates.add("loss: 512 B sector behind a hole", losses.sectors_lost[0]);
        rates.add("loss: 4 KiB page behind a hole", losses.sectors_lost[1]);
        rates.add("loss: sync that failed and was forgotten", losses.syncs_forgotten);
        files
    }

    /// Whether this end loses acknowledged writes, as their durability allows.
    fn loses(&self, end: End) -> bool {
        match end {
            End::Close => {
                self.settings.durability == Durability::SkipWal
                    && !self.settings.is_flushed_on_close
            }
            End::Kill => {
                matches!(self.settings.durability, Durability::AsyncWal | Durability::SkipWal)
            }
            End::PowerCut => self.settings.durability != Durability::FsyncWal,
        }
    }

    /// How much of the history until `at` must be there.
    fn kept(&self, at: u64) -> Kept {
        if !self.known.has_lost {
            return Kept::All;
        }
        let flushes = self.known.flushes.iter().filter(|(_, returned)| *returned < at);
        Kept::Prefix(flushes.map(|(invoked, _)| *invoked).max().unwrap_or(0), u64::MAX)
    }

    fn count_end(&self, end: End, is_cut: bool, opened: bool) {
        self.rates.count(match (end, is_cut, opened) {
            (End::Close, ..) => "end: close",
            (End::Kill, false, _) => "end: kill",
            (End::Kill, true, _) => "end: kill in the midst",
            (End::PowerCut, false, _) => "end: power cut",
            (End::PowerCut, true, true) => "end: power cut in the midst",
            (End::PowerCut, true, false) => "end: power cut while opening",
        });
    }

    /// Opens the store; `None` if the power was cut meanwhile. An open that fails by an injected
    /// fault is repeated without faults. Returns the number of faults before, since a worker of the
    /// store may meet one before the open returns.
    fn open(&self, disk: &SimulatedDisk) -> Outcome<(Option<Connection>, u64)> {
        let faults = self.rates.faults();
        match self.options(disk.clone()).open(STORE) {
            Ok(connection) => return Ok((Some(connection), faults)),
            Err(_) if disk.files().is_off() => return Ok((None, faults)),
            Err(error) if self.rates.faults() == faults => {
                return Err(format!("the store does not open: {error}"));
            }
            Err(_) => disk.heal(),
        }
        let faults = self.rates.faults();
        match self.options(disk.clone()).open(STORE) {
            Ok(connection) => Ok((Some(connection), faults)),
            Err(_) if disk.files().is_off() => Ok((None, faults)),
            Err(error) => Err(format!("the store does not open when its disk is well: {error}")),
        }
    }

    /// Everything that happens in an open store; `faults` is how many there were before it was
    /// opened. Returns whether the work began.
    fn work_in(
        &mut self,
        connection: &Connection,
        disk: &SimulatedDisk,
        life: u64,
        faults: u64,
    ) -> Outcome<bool> {
        if let Err(error) = self.begin(connection, disk) {
            if disk.files().is_off() || self.rates.faults() > faults {
                return Ok(false);
            }
            return Err(error);
        }
        let threads = 1 + self.below(3);
        let count = 4 + self.below(30);
        let stirrer = Stirrer {
            connection,
            admin: connection.admin(),
            table: table_name(),
            rows: &self.rows,
            random: SeededRandom::new(self.below(u64::MAX)),
            rates: Arc::clone(&self.rates),
            time: Arc::clone(&self.time),
            life,
        };
        let stirs = self.below(12);
        let (events, errors, stirred) = thread::scope(|scope| {
            let administrator = scope.spawn(|| stirrer.stir(stirs, || disk.files().is_off()));
            let workers: Vec<_> = (0..threads as usize)
                .map(|thread| {
                    let mut worker = self.worker(connection, thread);
                    scope.spawn(move || {
                        worker.work(count as usize);
                        worker.client.recorder
                    })
                })
                .collect();
            let (mut events, mut errors) = (Vec::new(), Vec::new());
            for worker in workers {
                let recorder = worker.join().expect("a panic ends the simulation");
                errors.extend(recorder.errors.iter().map(ToString::to_string));
                events.extend(recorder.events);
            }
            let stirred = administrator.join().expect("a panic ends the simulation");
            (events, errors, stirred)
        });
        self.remember(events, stirred, errors, disk, faults)
    }

    fn remember(
        &mut self,
        events: Vec<Event>,
        stirred: Stirred,
        mut errors: Vec<String>,
        disk: &SimulatedDisk,
        faults: u64,
    ) -> Outcome<bool> {
        for event in &events {
            self.rates.count(work_name(event.call));
        }
        errors.extend(stirred.errors);
        let may_fail = disk.files().is_off() || self.rates.faults() > faults;
        if let Some(error) = errors.first()
            && !may_fail
        {
            return Err(format!("an error although nothing failed: {error}"));
        }
        self.known.events = by_row(events);
        self.known.loads.extend(stirred.loads);
        self.known.snapshots.extend(stirred.snapshots);
        self.known.backups.extend(stirred.backups);
        self.known.flushes = stirred.flushes;
        Ok(true)
    }

    fn worker<'a>(&'a self, connection: &Connection, thread: usize) -> Worker<'a> {
        let recorder = Recorder::new(&self.time, thread);
        let client = Client { table: connection.table("t").expect("a legal name"), recorder };
        let random = SeededRandom::new(self.below(u64::MAX));
        let values = self.now() as usize;
        let choice = Choice { rows: &self.rows, thread, random, values };
        Worker { client, choice }
    }

    /// The table exists, the log is durable, and the contents are known.
    fn begin(&mut self, connection: &Connection, disk: &SimulatedDisk) -> Outcome<()> {
        let told = |error: hblite::Error| error.to_string();
        let admin = connection.admin();
        if !admin.table_exists(table_name()).map_err(told)? {
            if self.known.has_table {
                return Err("the table is lost".to_owned());
            }
            admin.create_table(&self.descriptor().map_err(told)?).map_err(told)?;
        }
        let table = connection.table("t").map_err(told)?;
        let fence = Put::new(FENCE).add("a", "x", "x").with_durability(Durability::FsyncWal);
        table.put(&fence).map_err(told)?;
        if self.settings.durability == Durability::SkipWal {
            // Writes that skipped the log are durable once a flush that includes them has returned.
            admin.flush_table(table_name()).map_err(told)?;
        }
        // Until here nothing is new.
        self.check_forks(disk)?;
        let mut start = BTreeMap::new();
        for row in &self.rows {
            let found = crate::image::read_row(connection, "t", row).map_err(told)?;
            start.insert(row.clone(), found);
        }
        let loads = std::mem::take(&mut self.known.loads);
        let known = Known { has_table: true, start, loads, ..Known::default() };
        let before = std::mem::replace(&mut self.known, known);
        // A copy belongs to the life that took it; its contents were compared when that life ended.
        for snapshot in before.snapshots {
            admin.delete_snapshot(&snapshot.name).map_err(told)?;
        }
        Ok(())
    }

    fn descriptor(&self) -> hblite::Result<TableDescriptor> {
        let mut table = TableDescriptor::new(table_name());
        let durability = match self.settings.durability {
            Durability::FsyncWal => "FSYNC_WAL",
            Durability::SyncWal => "SYNC_WAL",
            Durability::SkipWal => "SKIP_WAL",
            _ => "ASYNC_WAL",
        };
        table.set_attribute("DURABILITY", durability)?;
        let families = FAMILIES.map(ColumnFamilyDescriptor::new);
        Ok(families.into_iter().fold(table, TableDescriptor::with_family))
    }

    /// Ends the machine at every fork, and checks what is left.
    fn check_forks(&mut self, disk: &SimulatedDisk) -> Outcome<()> {
        let has_lost = self.known.has_lost;
        for fork in disk.take_forks() {
            let end = pick(&self.random, &[End::Kill, End::PowerCut, End::PowerCut]);
            let files = match end {
                End::PowerCut => self.cut(&fork.files),
                _ => fork.files.after_kill(),
            };
            self.rates.count("check: cut of a fork");
            self.known.has_lost = has_lost || self.loses(end);
            let image = Image::new(self, files, fork.at, self.kept(fork.at));
            image.check(&format!("{end:?} at {}", fork.at))?;
        }
        self.known.has_lost = has_lost;
        Ok(())
    }
}

fn work_name(call: &str) -> &'static str {
    match call {
        "get" => "work: get",
        "scan" => "work: scan",
        "put" => "work: put",
        "puts" => "work: puts",
        "delete" => "work: delete",
        "increment" => "work: increment",
        "append" => "work: append",
        "mutateRow" => "work: mutateRow",
        "checkAndMutate" => "work: checkAndMutate",
        _ => "work: batch",
    }
}
