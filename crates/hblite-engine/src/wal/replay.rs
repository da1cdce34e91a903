//! Reads a log after its process has ended, however it ended.
//!
//! For which files belong to the log, see [`super::chain`]. The log ends at the end of the newest
//! log file, or before that at damage that a kill or a power cut explains, which is a torn tail and
//! is reported. All other damage is an error:
//!
//! | what is found in the newest log file | it is |
//! |---|---|
//! | only zeros up to the end of the file | the end: zeros are written ahead of the records |
//! | the file ends inside a record | a torn tail: a kill during a write |
//! | sectors of zeros, which no later mark calls synced | a torn tail: a kill or a power cut |
//! | anything else | damage: an error with file and offset, or skipped and listed by salvage |
//!
//! In older log files everything is damage, because a log file is synced before its successor is
//! created.
//!
//! The records after lost pages were not synced either (syncs happen in order), so a torn tail
//! drops nothing that was promised to survive a power cut. The next log file's header says where
//! the log ended, so a torn tail is examined only once.
//!
//! A log that was not closed may have lost whole records at its end in a power cut, without a
//! trace. [`ReplayReport::unclosed`] therefore says where it ends and what is known to be synced.
//!
//! Replaying changes no file.

use std::collections::BTreeMap;
use std::path::Path;

use hblite_env::Env;
use hblite_model::{Error, Exception, Result};

use super::accounting::ClosedLogFile;
use super::chain::{Chain, LogFile};
use super::entry::{self, Payload, WalEntry};
use super::head::{Head, HeadState};
use super::log_file::{HEADER_SIZE, LogFileHeader, LogPosition};
use super::reader::{Damage, LogFileReader, Step};
use super::report::{ReplayOptions, Salvaged, TornTail, UnclosedLog};
use crate::layout::StoreId;

/// What a replay found.
#[derive(Debug, Clone, Default)]
pub struct ReplayReport {
    /// Number of log files read.
    pub log_files: usize,
    /// Number of entries passed on.
    pub entries: u64,
    /// Length of all log files read.
    pub bytes: u64,
    /// Where the log broke off, if it did.
    pub torn_tail: Option<TornTail>,
    /// Where the log ends, if it was not closed and has no torn tail.
    pub unclosed: Option<UnclosedLog>,
    /// What was skipped; empty without [`ReplayOptions::salvage`].
    pub salvaged: Vec<Salvaged>,
    pub(super) log: FoundLog,
}

impl ReplayReport {
    /// Whether the log has no head yet, so that no log file names its store.
    pub fn is_new(&self) -> bool {
        self.log.head.is_none()
    }

    /// Whether the log has no entries, and opening it changes none of its files.
    pub fn is_at_rest(&self) -> bool {
        let is_whole = self.torn_tail.is_none() && self.salvaged.is_empty();
        let is_tidy = self.log.left_over.is_empty() && self.log.strays.is_empty();
        self.entries == 0 && is_whole && is_tidy
    }

    /// The regions with entries in the log, each with its highest sequence id, sorted by name.
    pub fn regions(&self) -> Vec<(&str, u64)> {
        let mut regions: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, highest) in self.log.log_files.iter().flat_map(|s| &s.closed.regions) {
            let known = regions.entry(name).or_default();
            *known = (*known).max(*highest);
        }
        regions.into_iter().collect()
    }
}

/// A log file that was found.
#[derive(Debug, Clone)]
pub(super) struct FoundLogFile {
    pub(super) closed: ClosedLogFile,
    pub(super) salt: u32,
    pub(super) end: LogPosition,
}

/// What is needed to continue this log.
#[derive(Debug, Clone, Default)]
pub(super) struct FoundLog {
    pub(super) store: StoreId,
    pub(super) log_files: Vec<FoundLogFile>,
    /// Up to here the log is known to survive a power cut.
    pub(super) synced: LogPosition,
    /// Numbers of files that are no longer part of the log.
    pub(super) left_over: Vec<u64>,
    /// Numbers of files that a salvage skipped because they are not what they must be.
    pub(super) strays: Vec<u64>,
    /// What the head of the log says.
    pub(super) head: Option<Head>,
    /// The highest number of all files, including removed ones.
    pub(super) highest_number: u64,
}

impl FoundLog {
    /// Where the log ends.
    pub(super) fn end(&self) -> LogPosition {
        self.log_files.last().map(|log_file| log_file.end).unwrap_or_default()
    }

    /// The offset from which each log file may not survive a power cut; fully durable log files are
    /// omitted.
    pub(super) fn unsynced(&self) -> impl Iterator<Item = LogPosition> {
        let synced = self.synced;
        self.log_files.iter().filter(move |log_file| log_file.end > synced).map(move |log_file| {
            let number = log_file.end.log_file;
            let offset = if number == synced.log_file { synced.offset } else { 0 };
            LogPosition { log_file: number, offset }
        })
    }

    /// The salt of the log file in which the log ends.
    pub(super) fn end_salt(&self) -> u32 {
        self.log_files.last().map_or(0, |log_file| log_file.salt)
    }
}

/// Passes every entry of the log in `dir` to `sink`, oldest first.
///
/// Another replay may pass the same entry again, and entries may already be in HFiles: `sink` skips
/// what its region has, by sequence id. A missing directory is an empty log.
///
/// # Errors
/// `CorruptWal` with file and offset for damage that is not a torn tail; `Io`; errors of `sink`.
/// Entries before the damage have been passed on.
pub fn replay(
    env: &Env,
    dir: &Path,
    options: ReplayOptions,
    sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
) -> Result<ReplayReport> {
    replay_from(env, dir, options, None, sink)
}

/// Like [`replay`], for the log as it was when `head` was its head, while other threads write to
/// it.
pub(super) fn replay_from(
    env: &Env,
    dir: &Path,
    options: ReplayOptions,
    head: Option<Head>,
    sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
) -> Result<ReplayReport> {
    let mut report = ReplayReport::default();
    let chain = Chain::find(env, dir, options, head, &mut report.salvaged)?;
    report.log.store = options.store;
    report.log.left_over = chain.left_over;
    report.log.strays = chain.strays;
    report.log.highest_number = chain.highest_number;
    report.log.head = chain.head;
    if let Some(Head { newest, state: HeadState::Closed { end }, .. }) = chain.head {
        report.log.synced = LogPosition { log_file: newest, offset: end };
    }
    let replayer = Replayer { env, options, log_files: &chain.log_files };
    for index in 0..chain.log_files.len() {
        if replayer.replay_log_file(index, &mut report, sink)? {
            let after = &chain.log_files[index + 1..];
            report.log.left_over.extend(after.iter().map(|log_file| log_file.header.number));
            break;
        }
    }
    report.unclosed = replayer.unclosed(&report);
    Ok(report)
}

struct Replayer<'a> {
    env: &'a Env,
    options: ReplayOptions,
    log_files: &'a [LogFile],
}

/// What follows damage.
#[derive(Debug, Default)]
struct Ahead {
    has_records: bool,
    synced: LogPosition,
}

impl Replayer<'_> {
    /// True if the log ends in this log file although others follow.
    fn replay_log_file(
        &self,
        index: usize,
        report: &mut ReplayReport,
        sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
    ) -> Result<bool> {
        let log_file = &self.log_files[index];
        report.log.synced = report.log.synced.max(log_file.header.previous_end);
        let content = log_file.read(self.env)?;
        let mut reader = LogFileReader::new(&content, &log_file.header, log_file.told_end);
        let mut closed = ClosedLogFile { number: log_file.header.number, ..Default::default() };
        let mut torn_at = None;
        let mut blank_at = None;
        while let Some(step) = reader.next() {
            match step {
                Step::Record { position, payload } => match entry::decode(position, payload) {
                    Ok(Payload::Edit(edit)) => {
                        sink(edit)?;
                        report.entries += 1;
                        closed.note(edit.region, edit.sequence_id);
                    }
                    Ok(Payload::Mark(mark)) => {
                        report.log.synced = report.log.synced.max(mark.synced);
                    }
                    Err(what) => {
                        let offset = position.offset;
                        let end = offset + (entry::RECORD_HEADER_SIZE + payload.len()) as u64;
                        self.damaged(log_file, offset..end, what, report)?;
                    }
                },
                Step::Damage(damage) if damage.is_blank && index + 1 == self.log_files.len() => {
                    blank_at = Some(damage.start);
                    break;
                }
                Step::Damage(damage) => {
                    if self.is_torn_tail(index, &reader, damage, report.log.synced)? {
                        torn_at = Some(damage.start);
                        break;
                    }
                    let what = "no valid record here, and it is not the end of the log";
                    self.damaged(log_file, damage.start..damage.end, what, report)?;
                }
            }
        }
        let offset = torn_at.or(blank_at).unwrap_or(reader.offset());
        report.log_files += 1;
        report.bytes += content.len() as u64;
        let LogFileHeader { number, salt, .. } = log_file.header;
        let end = LogPosition { log_file: number, offset };
        report.log.log_files.push(FoundLogFile { closed, salt, end });
        let Some(offset) = torn_at else {
            return Ok(false);
        };
        let after = self.log_files[index + 1..].iter().map(|log_file| log_file.length);
        let bytes_lost = (content.len() as u64).saturating_sub(offset) + after.sum::<u64>();
        report.torn_tail = Some(TornTail { file: log_file.path.clone(), offset, bytes_lost });
        Ok(true)
    }

    fn damaged(
        &self,
        log_file: &LogFile,
        range: std::ops::Range<u64>,
        what: &str,
        report: &mut ReplayReport,
    ) -> Result<()> {
        if !self.options.salvage {
            return Err(Error::corrupt(Exception::CorruptWal, &log_file.path, range.start, what));
        }
        report.salvaged.push(Salvaged {
            file: log_file.path.clone(),
            offset: range.start,
            bytes_lost: range.end - range.start,
            what: what.to_owned(),
        });
        Ok(())
    }

    /// Implements the table at the head of this file. `reader` has passed the damage.
    fn is_torn_tail(
        &self,
        index: usize,
        reader: &LogFileReader<'_>,
        damage: Damage,
        synced: LogPosition,
    ) -> Result<bool> {
        let log_file = &self.log_files[index];
        let is_last = damage.is_last && !reader.is_end_told();
        let is_explained = damage.is_lost || is_last && damage.is_cut;
        if !is_explained {
            return Ok(false);
        }
        let ahead = self.look_ahead(index, reader.clone())?;
        if self.options.salvage && ahead.has_records {
            return Ok(false);
        }
        let start = LogPosition { log_file: log_file.header.number, offset: damage.start };
        Ok(synced.max(ahead.synced) <= start)
    }

    /// Where the log ends, if its head says that it was not closed.
    fn unclosed(&self, report: &ReplayReport) -> Option<UnclosedLog> {
        let head = report.log.head?;
        let last = self.log_files.last()?;
        if head.state != HeadState::Running || report.torn_tail.is_some() {
            return None;
        }
        let synced = report.log.synced;
        let is_in_last = synced.log_file == last.header.number;
        Some(UnclosedLog {
            file: last.path.clone(),
            offset: report.log.end().offset,
            synced_offset: if is_in_last { synced.offset } else { HEADER_SIZE as u64 },
        })
    }

    /// Examines everything that follows in the log.
    fn look_ahead(&self, index: usize, rest: LogFileReader<'_>) -> Result<Ahead> {
        let mut ahead = Ahead::default();
        ahead.look_at(rest);
        for log_file in &self.log_files[index + 1..] {
            ahead.synced = ahead.synced.max(log_file.header.previous_end);
            let content = log_file.read(self.env)?;
            ahead.look_at(LogFileReader::new(&content, &log_file.header, log_file.told_end));
        }
        Ok(ahead)
    }
}

impl Ahead {
    fn look_at(&mut self, mut reader: LogFileReader<'_>) {
        while let Some(step) = reader.next() {
            if let Step::Record { position, payload } = step {
                self.has_records = true;
                if let Ok(Payload::Mark(mark)) = entry::decode(position, payload) {
                    self.synced = self.synced.max(mark.synced);
                }
            }
        }
    }
}
