//! Writes rows from a reader into a table.
//!
//! One thread reads and parses; several write batches. A row always goes to the same writer, so
//! lines of one row are written in order and the result does not depend on the number of writers.

use std::fmt;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use hblite::{Durability, ErrorKind, Exception, Mutation, Table};
use hblite_model::setters;
use parking_lot::Mutex;

use crate::error::{BadLine, TransferError};
use crate::export::continue_or_end;

/// Default maximum length of a line: 64 MiB. A line exported from a store with the default cell
/// size limit is never longer.
pub const LINE_SIZE_MAX: usize = 1 << 26;

/// Default maximum number of lines of a quoted field.
pub const FIELD_LINES_MAX: u64 = 10_000;

/// Number of mutations at which a batch is written.
const BATCH_MUTATIONS: usize = 1_000;
/// Number of bytes at which a batch is written.
const BATCH_SIZE: usize = 1 << 20;
/// Bad lines between two progress calls.
const BAD_LINES_PER_PROGRESS: u64 = 1_000;
/// Batches waiting for one writer.
const BATCHES_WAITING: usize = 2;
/// More writers than this gain nothing on one disk.
const WRITERS_MAX: usize = 4;

/// How to import.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportOptions {
    /// Timestamp of cells that have none, in milliseconds.
    pub timestamp: i64,
    /// When a write is acknowledged.
    pub durability: Durability,
    /// Whether a line that is not a row is counted and skipped instead of ending the import.
    pub skips_bad_lines: bool,
    /// How many of the skipped lines the report keeps.
    pub bad_lines_kept: usize,
    /// Threads that write, at least one.
    pub writers: usize,
    /// Maximum length of a line, in bytes; a longer one ends the import.
    pub line_size_max: usize,
    /// Maximum number of lines of a quoted field; a longer one ends the import.
    pub field_lines_max: u64,
}

impl ImportOptions {
    /// The defaults; cells without a timestamp get this one.
    pub fn at(timestamp: i64) -> Self {
        Self {
            timestamp,
            durability: Durability::UseDefault,
            skips_bad_lines: false,
            bad_lines_kept: 10,
            writers: thread::available_parallelism().map_or(1, usize::from).min(WRITERS_MAX),
            line_size_max: LINE_SIZE_MAX,
            field_lines_max: FIELD_LINES_MAX,
        }
    }
}

setters! { ImportOptions:
    with_timestamp sets timestamp: i64;
    with_durability sets durability: Durability;
    with_bad_lines_skipped sets skips_bad_lines: bool;
    with_bad_lines_kept sets bad_lines_kept: usize;
    with_writers sets writers: usize;
    with_line_size_max sets line_size_max: usize;
    with_field_lines_max sets field_lines_max: u64;
}

/// What [`RowReader::next`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowRead {
    /// The line with this number; its mutations were added.
    Line(u64),
    /// A line that is not a row; nothing was added.
    Bad(BadLine),
    /// The end of the input.
    End,
}

/// A format from which rows are read.
pub trait RowReader {
    /// Reads a line and adds the mutations for its cells, all of one row and checked.
    ///
    /// # Errors
    /// `Read`, and `BadLine` for a line after which nothing can be read.
    fn next(&mut self, into: &mut Vec<Mutation>) -> Result<RowRead, TransferError>;
}

/// The progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// Lines read, without the bad ones.
    pub lines: u64,
    /// Lines skipped.
    pub bad_lines: u64,
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Lines that are in the table.
    pub lines: u64,
    /// Cells that were written.
    pub cells: u64,
    /// Lines skipped.
    pub bad_lines: u64,
    /// The first of them, in order.
    pub bad_lines_kept: Vec<BadLine>,
    /// How long it took.
    pub duration: Duration,
}

/// Writes everything from `reader` into `table`. Calls `progress` after every batch; `Break` ends
/// the import.
///
/// When an import ends early, [`ImportError::report`] says what is in the table. If a line could
/// not be read, or `progress` ended the import, that is every line before. If the table refused a
/// line, or the store failed, some lines before it may be missing and some after it may be in the
/// table. The same import with the same timestamps writes the same cells again, so it can be
/// repeated.
///
/// # Errors
/// `BadLine` for the first line that is not a row or that the table refuses, unless bad lines are
/// skipped; `Read`; `Store` if the store fails; `Interrupted` if `progress` ends the import.
pub fn import(
    table: &Table,
    reader: &mut dyn RowReader,
    options: &ImportOptions,
    progress: &mut dyn FnMut(ImportProgress) -> ControlFlow<()>,
) -> Result<ImportReport, ImportError> {
    let begun = Instant::now();
    let shared = Shared::new(options);
    let read = thread::scope(|scope| {
        let mut writers = Vec::new();
        for _ in 0..options.writers.max(1) {
            let (sender, receiver) = sync_channel(BATCHES_WAITING);
            let shared = &shared;
            let work = move || shared.write(table, &receiver);
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => writers.push(Writer { sender, batch: Batch::default() }),
                Err(error) if writers.is_empty() => {
                    return Err(hblite::Error::no_thread(error).into());
                }
                // Fewer will do.
                Err(_) => break,
            }
        }
        read_all(reader, &mut writers, &shared, progress)
    });
    let mut state = shared.state.into_inner();
    let failure = state.failure.take();
    let mut kept = state.bad_lines_kept;
    kept.sort_by_key(|bad| bad.line);
    kept.truncate(options.bad_lines_kept);
    let report = ImportReport {
        lines: state.lines,
        cells: state.cells,
        bad_lines: state.bad_lines,
        bad_lines_kept: kept,
        duration: begun.elapsed(),
    };
    let cause = match (failure, read) {
        (None, Ok(())) => return Ok(report),
        (None, Err(error)) | (Some(error), Ok(())) => error,
        // The first bad line is reported, whichever side found it.
        (Some(TransferError::BadLine(ours)), Err(TransferError::BadLine(theirs))) => {
            TransferError::BadLine(if ours.line <= theirs.line { ours } else { theirs })
        }
        (Some(error), Err(_)) => error,
    };
    Err(ImportError { cause, report })
}

/// Mutations and their lines. Those of one line are adjacent.
#[derive(Debug, Default)]
struct Batch {
    lines: Vec<u64>,
    mutations: Vec<Mutation>,
    size: usize,
}

impl Batch {
    /// Each line with its mutations.
    fn by_line(&self) -> impl Iterator<Item = (u64, &[Mutation])> {
        let mut rest = self.mutations.as_slice();
        self.lines.chunk_by(|a, b| a == b).map(move |lines| {
            let (mutations, others) = rest.split_at(lines.len());
            rest = others;
            (lines[0], mutations)
        })
    }
}

struct Writer {
    sender: SyncSender<Batch>,
    batch: Batch,
}

impl Writer {
    fn add(&mut self, line: u64, mutations: &mut Vec<Mutation>) -> bool {
        for mutation in mutations.drain(..) {
            self.batch.size += mutation.cells().size_bytes();
            self.batch.lines.push(line);
            self.batch.mutations.push(mutation);
        }
        self.batch.mutations.len() >= BATCH_MUTATIONS || self.batch.size >= BATCH_SIZE
    }

    fn send(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if !batch.lines.is_empty() {
            // A writer ends before its sender only by a panic, which the scope propagates.
            let _ = self.sender.send(batch);
        }
    }
}

/// Reads to the end, to an error or until a writer fails. Everything read until then is sent to the
/// writers.
fn read_all(
    reader: &mut dyn RowReader,
    writers: &mut [Writer],
    shared: &Shared,
    progress: &mut dyn FnMut(ImportProgress) -> ControlFlow<()>,
) -> Result<(), TransferError> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut lines = 0;
    let mut mutations = Vec::new();
    let mut ask = |lines| {
        let answer = progress(ImportProgress { lines, bad_lines: shared.state.lock().bad_lines });
        continue_or_end(answer)
    };
    let mut read_one = || {
        match reader.next(&mut mutations)? {
            RowRead::Line(line) => {
                lines += 1;
                let Some(row) = mutations.first().map(Mutation::row) else { return Ok(true) };
                let writer = (hasher.hash_one(row) % writers.len() as u64) as usize;
                if writers[writer].add(line, &mut mutations) {
                    writers[writer].send();
                    ask(lines)?;
                }
            }
            RowRead::Bad(bad) if shared.skips_bad_lines => {
                let bad_lines = shared.state.lock().skip(bad);
                if bad_lines.is_multiple_of(BAD_LINES_PER_PROGRESS) {
                    ask(lines)?;
                }
            }
            RowRead::Bad(bad) => return Err(TransferError::BadLine(bad)),
            RowRead::End => return Ok(false),
        }
        Ok(!shared.has_failed.load(Ordering::Relaxed))
    };
    let end = loop {
        match read_one() {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    writers.iter_mut().for_each(Writer::send);
    match (end, ask(lines)) {
        // To interrupt an input that waits for bytes, the caller makes it fail.
        (Err(TransferError::Read(_)), Err(interrupted)) => Err(interrupted),
        (end, _) => end,
    }
}

/// What the reader and the writers share.
struct Shared {
    skips_bad_lines: bool,
    has_failed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failure: Option<TransferError>,
    /// Lines that are in the table.
    lines: u64,
    /// Cells of these lines.
    cells: u64,
    bad_lines: u64,
    bad_lines_kept: Vec<BadLine>,
    bad_lines_kept_max: usize,
}

impl State {
    /// Returns the number of lines skipped so far.
    fn skip(&mut self, bad: BadLine) -> u64 {
        self.bad_lines += 1;
        if self.bad_lines_kept.len() < self.bad_lines_kept_max {
            self.bad_lines_kept.push(bad);
        }
        self.bad_lines
    }
}

impl Shared {
    fn new(options: &ImportOptions) -> Self {
        let state = State { bad_lines_kept_max: options.bad_lines_kept, ..State::default() };
        Self {
            skips_bad_lines: options.skips_bad_lines,
            has_failed: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// The work of a writer, until no more batches come.
    fn write(&self, table: &Table, batches: &Receiver<Batch>) {
        for batch in batches {
            // After a failure the rest is received and dropped, so that the reader does not block.
            if self.has_failed.load(Ordering::Relaxed) {
                continue;
            }
            if let Err(error) = self.write_batch(table, &batch) {
                self.fail(error);
            }
        }
    }

    fn write_batch(&self, table: &Table, batch: &Batch) -> Result<(), TransferError> {
        match table.mutate_all(&batch.mutations) {
            Ok(()) => {
                self.count(batch.by_line().count(), &batch.mutations);
                Ok(())
            }
            Err(error) if is_of_line(&error) => self.write_singly(table, batch),
            Err(error) => Err(error.into()),
        }
    }

    /// Finds the line that the table refuses. Everything written twice has a timestamp, so it is
    /// the same cell.
    fn write_singly(&self, table: &Table, batch: &Batch) -> Result<(), TransferError> {
        for (line, mutations) in batch.by_line() {
            match mutations.iter().try_for_each(|one| table.mutate_all(std::slice::from_ref(one))) {
                Ok(()) => self.count(1, mutations),
                Err(error) if is_of_line(&error) => {
                    let bad = BadLine { line, reason: error.message().to_owned() };
                    if !self.skips_bad_lines {
                        return Err(TransferError::BadLine(bad));
                    }
                    self.state.lock().skip(bad);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn count(&self, lines: usize, mutations: &[Mutation]) {
        let cells: usize = mutations.iter().map(|mutation| mutation.cells().len()).sum();
        let mut state = self.state.lock();
        state.lines += lines as u64;
        state.cells += cells as u64;
    }

    /// Keeps the most informative failure: the store's, or the first bad line.
    fn fail(&self, error: TransferError) {
        let mut state = self.state.lock();
        let is_first = match (&state.failure, &error) {
            (None, _) => true,
            (Some(TransferError::BadLine(old)), TransferError::BadLine(new)) => new.line < old.line,
            (Some(TransferError::BadLine(_)), _) => true,
            _ => false,
        };
        if is_first {
            state.failure = Some(error);
        }
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

/// Whether an error is about one mutation, and not about the table or the store.
fn is_of_line(error: &hblite::Error) -> bool {
    error.kind() == ErrorKind::InvalidArgument || error.exception() == Exception::NoSuchColumnFamily
}

/// An import that ended early.
#[derive(Debug)]
pub struct ImportError {
    /// Why it ended.
    pub cause: TransferError,
    /// What is in the table nevertheless. After [`TransferError::Store`], the table may contain
    /// more lines than are counted here.
    pub report: ImportReport,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (lines imported: {})", self.cause, self.report.lines)
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
