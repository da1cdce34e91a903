//! Opens a store with a mutated file, reads all of it, and judges what was found.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use hblite::{Connection, Put, Result as StoreResult};
use hblite_env::FileSystem;

use crate::contents::{Contents, IGNORED_ROW};
use crate::image::STORE;
use crate::kind::Kind;
use crate::mutation::{Mutated, Mutation};
use crate::stores::{self, Store};

/// Of this many cases, one is checked, one is opened with salvage, and one continues to be used.
const TURNS: u64 = 4;

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The store does not open.
    RefusedOpen,
    /// A read fails.
    RefusedRead,
    /// Data is missing, and a note names the file.
    Noted,
    /// All data is there.
    Whole,
    /// The file has correct checksums, and its new contents are accepted.
    TakenAsWritten,
    /// Data is missing, and the documentation says that this is not detected.
    KnownLimit,
    /// None of these.
    Failed,
}

impl Verdict {
    pub(crate) const ALL: [Self; 7] = [
        Self::RefusedOpen,
        Self::RefusedRead,
        Self::Noted,
        Self::Whole,
        Self::TakenAsWritten,
        Self::KnownLimit,
        Self::Failed,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::RefusedOpen => "open error",
            Self::RefusedRead => "read error",
            Self::Noted => "noted",
            Self::Whole => "all data",
            Self::TakenAsWritten => "as written",
            Self::KnownLimit => "known limit",
            Self::Failed => "FAILED",
        }
    }
}

/// Panics of any thread.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects panics instead of printing them.
pub(crate) fn watch_for_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match std::thread::current().name() {
        Some("main") => print(panic),
        _ => PANICS.lock().expect("no panic within").push(panic.to_string()),
    }));
}

/// Opens the store of a file system.
pub(crate) fn open(fs: &Arc<dyn FileSystem>, salvage: bool) -> StoreResult<Connection> {
    stores::options(Arc::clone(fs), false)
        .with_salvage(salvage)
        .with_create_if_missing(false)
        .open(STORE)
}

/// Everything that an open reports.
pub(crate) fn notes(connection: &Connection) -> String {
    let mut notes = String::new();
    if let Some(recovery) = connection.recovery() {
        let (torn, unclosed) = (&recovery.torn_tail, &recovery.unclosed);
        notes += &format!("{torn:?} {unclosed:?} {:?}", recovery.salvaged);
    }
    if let Some(report) = connection.open_report() {
        notes.extend(report.lines());
    }
    notes + &format!("{:?}", connection.file_notes())
}

/// The result of reading the store, and what the open reported.
type Found = StoreResult<(StoreResult<Contents>, String)>;

fn read(fs: &Arc<dyn FileSystem>, salvage: bool, are_snapshots_read: bool) -> Found {
    let connection = open(fs, salvage)?;
    let contents = Contents::read(&connection, are_snapshots_read);
    // The files of a disabled table are opened when it is enabled.
    Ok((contents, notes(&connection)))
}

/// Runs `work`; a panic in it is an error.
fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let panics = std::mem::take(&mut *PANICS.lock().expect("no panic within"));
    match (done, panics.first()) {
        (Ok(done), None) => Ok(done),
        (_, panic) => Err(format!("panic: {panic:?}")),
    }
}

/// Judges one case; an error says why it fails.
pub(crate) fn judge(
    store: &Store,
    kind: Kind,
    mutated: &Mutated,
    number: u64,
    is_loud: bool,
) -> Result<Verdict, String> {
    let fs = store.with(&mutated.changes);
    let turn = number % TURNS;
    let has_findings = turn != 0 || mutated.is_corrected || has_findings(&fs)?;
    // An open changes files.
    let found = without_panic(|| read(&fs, false, kind.is_of_snapshot()))?;
    if is_loud {
        println!("{found:?}");
    }
    let verdict = match verdict(store, mutated, &found) {
        Err(_) if is_known_limit(kind, mutated.mutation) => return Ok(Verdict::KnownLimit),
        verdict => verdict?,
    };
    if verdict == Verdict::Whole {
        if turn == 1 {
            return live_on(&store.with(&mutated.changes), store, mutated);
        }
    } else if !has_findings {
        return Err(format!("{verdict:?}, and a check finds nothing"));
    } else if turn == 2 && !mutated.is_corrected {
        // A file with correct checksums is taken as written by a salvage, too.
        salvage(&store.with(&mutated.changes), store, kind)?;
    }
    Ok(verdict)
}

fn verdict(store: &Store, mutated: &Mutated, found: &Found) -> Result<Verdict, String> {
    let (contents, notes) = match found {
        Err(_) => return Ok(Verdict::RefusedOpen),
        Ok((Err(_), _)) => return Ok(Verdict::RefusedRead),
        Ok((Ok(contents), notes)) => (contents, notes),
    };
    let Some(difference) = contents.difference(&store.contents) else {
        return Ok(Verdict::Whole);
    };
    if is_named(store, mutated, notes) {
        return Ok(Verdict::Noted);
    }
    if mutated.is_corrected {
        return Ok(Verdict::TakenAsWritten);
    }
    Err(format!("silent: {difference}; notes {notes}"))
}

/// Whether docs/durability.md lists this as something that is not detected.
fn is_known_limit(kind: Kind, mutation: Mutation) -> bool {
    // The settings of a restore that hbase:meta has and that was killed before the settings were
    // in place: without the file, the table keeps the settings from before.
    kind == Kind::RestoredDescriptor && mutation == Mutation::Deleted
}

/// Whether the notes name a changed file.
fn is_named(store: &Store, mutated: &Mutated, notes: &str) -> bool {
    *notes != store.notes && has_changed_path(mutated, notes)
}

/// Whether a text names a changed file.
fn has_changed_path(mutated: &Mutated, text: &str) -> bool {
    mutated.paths.iter().any(|path| text.contains(&*path.to_string_lossy()))
}

/// Whether a check finds anything.
fn has_findings(fs: &Arc<dyn FileSystem>) -> Result<bool, String> {
    let env = hblite::Env::in_memory().with_fs(Arc::clone(fs));
    let report = without_panic(|| hblite_engine::check(&env, Path::new(STORE), &mut |_| {}))?;
    Ok(report.map_or(true, |report| !report.defects.is_empty() || !report.notes.is_empty()))
}

/// A salvage names what it gives up.
fn salvage(fs: &Arc<dyn FileSystem>, store: &Store, kind: Kind) -> Result<(), String> {
    let Ok((Ok(contents), notes)) = without_panic(|| read(fs, true, kind.is_of_snapshot()))? else {
        return Ok(());
    };
    match contents.difference(&store.contents) {
        Some(difference) if notes == store.notes => {
            Err(format!("silent after a salvage: {difference}"))
        }
        _ => Ok(()),
    }
}

/// A store that has all of its data still has it after writes, flushes and compactions. A
/// compaction verifies all blocks, also of Bloom filters that no read needed, so it may be refused
/// because of the changed file. Nothing is lost then either.
fn live_on(fs: &Arc<dyn FileSystem>, store: &Store, mutated: &Mutated) -> Result<Verdict, String> {
    let (verdict, lived) = match without_panic(|| write_and_compact(fs, store))? {
        Err(error) if has_changed_path(mutated, &error.to_string()) => {
            let read = || Contents::read(&open(fs, false)?, false);
            (Verdict::RefusedRead, without_panic(read)?)
        }
        lived => (Verdict::Whole, lived),
    };
    let lived = lived.map_err(|error| format!("after a flush and a compaction: {error}"))?;
    match lived.difference_of_data(&store.contents) {
        Some(difference) => Err(format!("lost by a flush or a compaction: {difference}")),
        None => Ok(verdict),
    }
}

/// What a store has after every table was written to, flushed and compacted.
fn write_and_compact(fs: &Arc<dyn FileSystem>, store: &Store) -> StoreResult<Contents> {
    let connection = open(fs, false)?;
    let admin = connection.admin();
    for name in store.contents.tables() {
        if !admin.is_table_enabled(name)? {
            admin.enable_table(name)?;
        }
        let table = connection.table(name)?;
        let family = table.descriptor()?.families().next().map(|f| f.name().to_vec());
        let put = Put::new(IGNORED_ROW).add(family.unwrap_or_default(), "q", "later");
        table.put(&put)?;
        admin.flush_table(name)?;
        admin.major_compact_table(name)?;
    }
    connection.close()?;
    Contents::read(&open(fs, false)?, false)
}
