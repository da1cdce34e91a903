//! What the log promises: goal of each file below.
//!
//! `ahead`: zeros that are written ahead of the records change nothing of what is read. `format`:
//! every byte of damage is detected, every cut leaves a prefix. `damage`: whatever happens to a
//! file of a log of several log files is detected. `full_disk`: a write that fails is undone, and
//! writes continue when there is space. `crash`: what each durability promises is there after a
//! kill and a power cut. `lifecycle`: log files, accounting, failures and threads. `hold`: the log
//! up to one moment, for a copy. `place`: a log whose directory is gone.

mod ahead;
mod crash;
mod damage;
mod format;
mod full_disk;
mod hold;
mod lifecycle;
mod place;

use std::path::Path;
use std::sync::Arc;

use hblite_env::{CrashFileSystem, Env, FileSystem, Random as _, SeededRandom};
use hblite_model::{CellBuffer, CellRef, CellType, Error, Nonce, cell::key};

use super::*;

pub(super) const DIR: &str = "/db/WALs";
pub(super) const STORE: StoreId = StoreId::from_bytes(*b"the tests' store");

/// An owned [`WalEntry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) region: String,
    pub(super) sequence_id: u64,
    pub(super) nonce: Option<Nonce>,
    pub(super) cells: CellBuffer,
}

pub(super) fn env_on(fs: impl FileSystem + 'static) -> Env {
    Env::in_memory().with_fs(Arc::new(fs))
}

pub(super) fn crash_env() -> (CrashFileSystem, Env) {
    let fs = CrashFileSystem::new();
    fs.create_dir_all(Path::new("/db")).unwrap();
    fs.sync_everything();
    (fs.clone(), env_on(fs))
}

pub(super) fn small() -> WalOptions {
    WalOptions { roll_size_bytes: 1024, ..WalOptions::default() }
}

pub(super) fn replay_with(env: &Env, salvage: bool) -> Result<(Vec<Write>, ReplayReport)> {
    replay_in(env, Path::new(DIR), salvage)
}

pub(super) fn replay_in(
    env: &Env,
    dir: &Path,
    salvage: bool,
) -> Result<(Vec<Write>, ReplayReport)> {
    let mut writes = Vec::new();
    let options = ReplayOptions { store: STORE, salvage };
    let report = replay(env, dir, options, &mut |entry| {
        let mut cells = CellBuffer::new();
        entry.cells().for_each(|cell| cells.push(&cell));
        assert_eq!(cells.len(), entry.cell_count());
        let region = entry.region.to_owned();
        writes.push(Write { region, sequence_id: entry.sequence_id, nonce: entry.nonce, cells });
        Ok(())
    })?;
    Ok((writes, report))
}

pub(super) fn replay_all(env: &Env) -> (Vec<Write>, ReplayReport) {
    replay_with(env, false).unwrap()
}

pub(super) fn open_with(env: &Env, options: WalOptions) -> (Wal, Vec<Write>, ReplayReport) {
    let (writes, report) = replay_all(env);
    let wal = Wal::open(env, Path::new(DIR), options, &report).unwrap();
    (wal, writes, report)
}

/// Random cells, some with tags, some large.
pub(super) fn random_cells(random: &SeededRandom, count: usize) -> CellBuffer {
    let mut cells = CellBuffer::new();
    for _ in 0..count {
        let number = random.next_u64();
        let row = vec![b'r'; (number % 20) as usize];
        let size = if number.is_multiple_of(50) { 3000 } else { number % 60 };
        let value: Vec<u8> = (0..size).map(|_| random.next_u64() as u8).collect();
        let tags: &[u8] = if number.is_multiple_of(3) { b"\0\x02\x08x" } else { b"" };
        let code = CellType::Put.code();
        let key = key::build(&row, b"f", &number.to_be_bytes(), number as i64, code);
        cells.push(&CellRef::new(&key, &value, tags, 0));
    }
    cells
}

/// Appends one write and waits for it.
pub(super) fn write(wal: &Wal, write: &Write, durability: Durability) -> Result<()> {
    let region = wal.region(&write.region)?;
    let origin = EditOrigin { write_time: 7, nonce: write.nonce };
    let ticket =
        wal.append(&region, origin, &(&write.cells).into(), durability, || write.sequence_id)?;
    wal.sync(ticket, durability)
}

/// `count` random writes to three regions.
pub(super) fn random_writes(seed: u64, count: usize) -> Vec<Write> {
    let random = SeededRandom::new(seed);
    (1..=count as u64)
        .map(|sequence_id| {
            let region = ["1588230740", "aa", "bb"][(random.next_u64() % 3) as usize].to_owned();
            let cells = random_cells(&random, 1 + (random.next_u64() % 3) as usize);
            let number = random.next_u64();
            let nonce = number.is_multiple_of(3).then_some(Nonce { group: sequence_id, number });
            Write { region, sequence_id, nonce, cells }
        })
        .collect()
}

pub(super) fn log_file_names(env: &Env) -> Vec<String> {
    env.fs.list_dir(Path::new(DIR)).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// Replaces the content of a file.
pub(super) fn put_file(env: &Env, path: &Path, content: &[u8]) {
    if env.fs.exists(path).unwrap() {
        env.fs.remove_file(path).unwrap();
    }
    env.fs.create(path).unwrap().write_all(content).unwrap();
}

pub(super) fn assert_corrupt(error: &Error, file: &Path) {
    assert_eq!(error.kind(), hblite_model::ErrorKind::Corrupt, "{error}");
    assert_eq!(error.file(), Some(file), "{error}");
    assert!(error.offset().is_some());
}
