//! Reads a log again after its process ended, however it ended.
//!
//! Which files are the log: the newest segment says where the one before it ended, that one names
//! its predecessor, and so on back to the oldest that is still needed. Files beside this chain are
//! left-overs (a removal that a power cut undid, a segment whose creation did not get far).
//!
//! Where the log ends: at the first place without a valid record, if only a kill or a power cut
//! can explain it; that is a torn tail and is reported. Everything else is damage:
//!
//! | what is found | it is |
//! |---|---|
//! | no valid record in the last segment from there on | a torn tail |
//! | lost pages (zeroed sectors, a short file) that no later mark calls synced | a torn tail |
//! | anything else | damage: an error with file and offset, or skipped and listed by salvage |
//!
//! The records after lost pages were not synced either (syncs happen in order), so nothing that
//! was promised to survive a power cut is among what a torn tail drops. The next segment's header
//! says where the log ended, so that a torn tail is never looked at again.
//!
//! Replaying changes no file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hblite_env::Env;
use hblite_model::{Error, Exception, Result};

use super::accounting::ClosedSegment;
use super::chain::{Chain, SegmentFile};
use super::entry::{self, Payload, WalEntry};
use super::reader::{Damage, SegmentReader, Step};
use super::segment::{HEADER_SIZE, LogPosition};

/// How to replay.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReplayOptions {
    /// Skips damaged records and lists them in the report, instead of failing at the first.
    ///
    /// Flush all regions after a salvage: the damage stays in its file until the file is removed.
    pub salvage: bool,
}

/// The incomplete end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The file in which the log ends.
    pub file: PathBuf,
    /// Where it ends.
    pub offset: u64,
    /// How many bytes after that are no part of the log, in this and later files.
    pub bytes_lost: u64,
}

/// Damage that a salvage skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// The damaged file.
    pub file: PathBuf,
    /// Where the damage starts.
    pub offset: u64,
    /// Its length; 0 if the whole file is missing.
    pub bytes_lost: u64,
    /// What is wrong.
    pub what: String,
}

/// What a replay found.
#[derive(Debug, Clone, Default)]
pub struct ReplayReport {
    /// Number of segments read.
    pub segments: usize,
    /// Number of entries handed out.
    pub entries: u64,
    /// Length of all segments read.
    pub bytes: u64,
    /// Where the log broke off, if it did.
    pub torn_tail: Option<TornTail>,
    /// What was skipped; empty without [`ReplayOptions::salvage`].
    pub salvaged: Vec<Salvaged>,
    pub(super) log: FoundLog,
}

impl ReplayReport {
    /// The regions with entries in the log, each with its highest sequence id, sorted by name.
    pub fn regions(&self) -> Vec<(&str, u64)> {
        let mut regions: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, highest) in self.log.segments.iter().flat_map(|segment| &segment.regions) {
            let known = regions.entry(name).or_default();
            *known = (*known).max(*highest);
        }
        regions.into_iter().collect()
    }
}

/// What the log that continues this one must know.
#[derive(Debug, Clone, Default)]
pub(super) struct FoundLog {
    pub(super) segments: Vec<ClosedSegment>,
    /// The end of each of them.
    pub(super) ends: Vec<LogPosition>,
    /// Up to here the log is known to survive a power cut.
    pub(super) synced: LogPosition,
    /// Numbers of files that are no part of the log any more.
    pub(super) left_over: Vec<u64>,
    /// The highest number of all files.
    pub(super) highest_number: u64,
}

impl FoundLog {
    /// Where the log ends.
    pub(super) fn end(&self) -> LogPosition {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Lets the log end in a segment with records. The header of one without may not be durable
    /// (the process ended while it created it), and the next segment must not build on it.
    fn drop_empty_end(&mut self) {
        while self.end().offset == HEADER_SIZE as u64 {
            self.left_over.push(self.end().segment);
            self.ends.pop();
            self.segments.pop();
        }
    }
}

/// Hands every entry of the log in `dir` to `sink`, oldest first.
///
/// The same entry may come again after another replay, and entries may come that are in HFiles
/// already: `sink` skips what its region has, by sequence id. A directory that is not there is an
/// empty log.
///
/// # Errors
/// `CorruptWal` with file and offset for damage that is no torn tail; `Io`; whatever `sink` says.
/// Entries before the damage have been handed out then.
pub fn replay(
    env: &Env,
    dir: &Path,
    options: ReplayOptions,
    sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
) -> Result<ReplayReport> {
    replay_of(env, dir, options, |_| true, sink)
}

/// As [`replay`], of the segments in these files only.
pub(super) fn replay_of(
    env: &Env,
    dir: &Path,
    options: ReplayOptions,
    is_wanted: impl Fn(&Path) -> bool,
    sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
) -> Result<ReplayReport> {
    let mut report = ReplayReport::default();
    let mut chain = Chain::find(env, dir, options.salvage, &mut report.salvaged)?;
    chain.segments.retain(|segment| is_wanted(&segment.path));
    report.log.left_over = chain.left_over;
    report.log.highest_number = chain.highest_number;
    let replayer = Replayer { env, options, segments: &chain.segments };
    for index in 0..chain.segments.len() {
        if replayer.replay_segment(index, &mut report, sink)? {
            let after = &chain.segments[index + 1..];
            report.log.left_over.extend(after.iter().map(|segment| segment.header.number));
            break;
        }
    }
    report.log.drop_empty_end();
    Ok(report)
}

struct Replayer<'a> {
    env: &'a Env,
    options: ReplayOptions,
    segments: &'a [SegmentFile],
}

/// What follows a damage.
#[derive(Debug, Default)]
struct Ahead {
    has_records: bool,
    synced: LogPosition,
}

impl Replayer<'_> {
    /// True if the log ends in this segment although others follow.
    fn replay_segment(
        &self,
        index: usize,
        report: &mut ReplayReport,
        sink: &mut dyn FnMut(WalEntry<'_>) -> Result<()>,
    ) -> Result<bool> {
        let segment = &self.segments[index];
        let content = segment.map(self.env)?;
        let mut reader = SegmentReader::new(&content, &segment.header, segment.told_end);
        let mut closed = ClosedSegment { number: segment.header.number, ..Default::default() };
        let mut torn_at = None;
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
                        self.damaged(segment, offset..end, what, report)?;
                    }
                },
                Step::Damage(damage) => {
                    if self.is_torn_tail(index, &reader, damage)? {
                        torn_at = Some(damage.start);
                        break;
                    }
                    let what = "no valid record here, and it is not the end of the log";
                    self.damaged(segment, damage.start..damage.end, what, report)?;
                }
            }
        }
        let offset = torn_at.unwrap_or(reader.offset());
        report.segments += 1;
        report.bytes += content.len() as u64;
        report.log.segments.push(closed);
        report.log.ends.push(LogPosition { segment: segment.header.number, offset });
        let Some(offset) = torn_at else {
            return Ok(false);
        };
        let after = self.segments[index + 1..].iter().map(|segment| segment.length);
        let bytes_lost = (content.len() as u64).saturating_sub(offset) + after.sum::<u64>();
        report.torn_tail = Some(TornTail { file: segment.path.clone(), offset, bytes_lost });
        Ok(true)
    }

    fn damaged(
        &self,
        segment: &SegmentFile,
        range: std::ops::Range<u64>,
        what: &str,
        report: &mut ReplayReport,
    ) -> Result<()> {
        if !self.options.salvage {
            return Err(Error::corrupt(Exception::CorruptWal, &segment.path, range.start, what));
        }
        report.salvaged.push(Salvaged {
            file: segment.path.clone(),
            offset: range.start,
            bytes_lost: range.end - range.start,
            what: what.to_owned(),
        });
        Ok(())
    }

    /// The table at the head of this file. `reader` has passed the damage.
    fn is_torn_tail(
        &self,
        index: usize,
        reader: &SegmentReader<'_>,
        damage: Damage,
    ) -> Result<bool> {
        if damage.is_last && !reader.is_end_told() {
            return Ok(true);
        }
        if !damage.is_lost {
            return Ok(false);
        }
        let ahead = self.look_ahead(index, reader.clone())?;
        if self.options.salvage && ahead.has_records {
            return Ok(false);
        }
        let start =
            LogPosition { segment: self.segments[index].header.number, offset: damage.start };
        Ok(ahead.synced <= start)
    }

    /// Looks at all that follows in the log.
    fn look_ahead(&self, index: usize, rest: SegmentReader<'_>) -> Result<Ahead> {
        let mut ahead = Ahead::default();
        ahead.look_at(rest);
        for segment in &self.segments[index + 1..] {
            let content = segment.map(self.env)?;
            ahead.look_at(SegmentReader::new(&content, &segment.header, segment.told_end));
        }
        Ok(ahead)
    }
}

impl Ahead {
    fn look_at(&mut self, mut reader: SegmentReader<'_>) {
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
