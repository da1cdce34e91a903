//! The end of the log in memory: where appends go before they are written to a file.
//!
//! [`Tail`] is protected by the log's lock. It decides offsets, sequence ids and where a new log
//! file begins; no file operation happens under that lock. A new log file is only a position in the
//! buffer; the thread that writes the buffer creates the file there (see [`super::syncer`]).
//!
//! Invariant: the order of the records is the order in which `assign` was called.

use std::ops::Range;

use hblite_env::Env;

use super::accounting::{Accounting, WalRegion};
use super::entry::{self, Mark, Place, RECORD_HEADER_SIZE};
use super::log_file::{HEADER_SIZE, LogFileHeader, LogPosition};
use crate::layout::StoreId;

/// Each time a log file has grown by this much, it is synced in the background, so that little is
/// left to sync when the log file is full.
pub(super) const EARLY_SYNC_BYTES: u64 = 8 << 20;

/// Records up to this size may be written in place; the files limit it, too.
const IN_PLACE_BYTES_MAX: usize = 4 << 10;

/// A record that is appended.
#[derive(Debug, Clone, Copy)]
pub(super) struct EditRecord<'a> {
    pub(super) region: &'a WalRegion,
    pub(super) size: usize,
    /// Whether a caller waits until it is written.
    pub(super) is_awaited: bool,
}

/// A log file that begins inside the buffer.
#[derive(Debug)]
pub(super) struct Roll {
    /// Index in the buffer of the log file's first record.
    pub(super) buffer_index: usize,
    pub(super) header: LogFileHeader,
}

/// A record in the buffer that was acknowledged before it was written.
#[derive(Debug)]
struct Unawaited {
    /// Its position in the buffer.
    record: Range<usize>,
    region: WalRegion,
    sequence_id: u64,
}

/// What is to be written next.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Unwritten {
    pub(super) bytes: Vec<u8>,
    pub(super) rolls: Vec<Roll>,
    unawaited: Vec<Unawaited>,
}

impl Unwritten {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.rolls.is_empty()
    }
}

#[derive(Debug)]
#[repr(C)]
struct ActiveLogFile {
    /// Offset of the next record.
    offset: u64,
    number: u64,
    salt: u32,
    /// The regions with a record in it.
    regions: Vec<WalRegion>,
}

impl ActiveLogFile {
    fn as_previous(&self) -> Previous {
        let end = LogPosition { log_file: self.number, offset: self.offset };
        Previous { end, salt: self.salt }
    }
}

/// The last log file before the active one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Previous {
    pub(super) end: LogPosition,
    pub(super) salt: u32,
}

/// The end of the log. What every append uses comes first, and so is together in memory.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Tail {
    /// Whether `synced` moved since the last mark.
    is_mark_due: bool,
    is_roll_due: bool,
    /// Bytes of all records since the log was opened: the unit in which progress is counted.
    appended: u64,
    /// The end of the last record that was not undone, in the same unit.
    live_end: u64,
    active: Option<ActiveLogFile>,
    roll_size_bytes: u64,
    unwritten: Unwritten,
    store: StoreId,
    next_number: u64,
    previous: Previous,
    /// The last log file before the first one of this process.
    before_first: Previous,
    /// What is known to survive a power cut.
    synced: LogPosition,
}

impl Tail {
    /// The end of a log of `store` whose next log file follows `previous` and has `next_number`.
    pub(super) fn new(
        store: StoreId,
        previous: Previous,
        next_number: u64,
        roll_size_bytes: u64,
    ) -> Self {
        assert!(previous.end.log_file < next_number, "the numbers of log files ascend");
        Self {
            store,
            unwritten: Unwritten::default(),
            appended: 0,
            live_end: 0,
            active: None,
            next_number,
            previous,
            before_first: previous,
            roll_size_bytes,
            synced: LogPosition::default(),
            is_mark_due: false,
            is_roll_due: false,
        }
    }

    /// Bytes of all records so far.
    pub(super) fn appended(&self) -> u64 {
        self.appended
    }

    /// The position of the last record that was not undone.
    pub(super) fn live_end(&self) -> u64 {
        self.live_end
    }

    /// Bytes that wait to be written.
    pub(super) fn unwritten_bytes(&self) -> usize {
        self.unwritten.bytes.len()
    }

    /// The number of the log file that gets the records, if there is one.
    pub(super) fn active_number(&self) -> Option<u64> {
        self.active.as_ref().map(|active| active.number)
    }

    /// The regions with a record in the active log file.
    pub(super) fn active_regions(&self) -> &[WalRegion] {
        self.active.as_ref().map_or(&[], |active| &active.regions)
    }

    /// The store whose log this is.
    pub(super) fn store(&self) -> StoreId {
        self.store
    }

    /// The last log file before the active one.
    pub(super) fn previous(&self) -> Previous {
        self.previous
    }

    /// Number, salt and end of the log file that gets the records, if there is one.
    pub(super) fn active_end(&self) -> Option<Previous> {
        self.active.as_ref().map(ActiveLogFile::as_previous)
    }

    /// Appends a record; `assign` returns its sequence id, `write` fills its memory. True if the
    /// log file must be synced in the background.
    ///
    /// If nothing else waits to be written and the record is small, `in_place` is asked first to
    /// write it, and gets the position of its end. If that returns true, the record is written.
    #[inline]
    pub(super) fn append(
        &mut self,
        context: Context<'_>,
        record: EditRecord<'_>,
        assign: impl FnOnce() -> u64,
        write: impl Fn(&mut [u8], Place, u64),
        in_place: impl FnOnce(u64, &mut dyn FnMut(&mut [u8])) -> bool,
    ) -> bool {
        let EditRecord { region, size, is_awaited } = record;
        if self.is_mark_due {
            self.append_mark(context);
        }
        let sequence_id = assign();
        let active = self.active(context);
        let before = active.offset / EARLY_SYNC_BYTES;
        if region.appended(active.number, sequence_id) {
            active.regions.push(region.clone());
        }
        let place = Place { salt: active.salt, offset: active.offset };
        let mut write = |out: &mut [u8]| write(out, place, sequence_id);
        let end = self.appended + size as u64;
        let is_small = is_awaited && self.unwritten.is_empty() && size <= IN_PLACE_BYTES_MAX;
        if is_small && in_place(end, &mut write) {
            assert!(self.unwritten.is_empty(), "what waits is written before");
            self.grow(size as u64);
        } else {
            let start = self.append_record(size, write);
            if !is_awaited {
                self.keep_for_retry(start, region.clone(), sequence_id);
            }
        }
        self.active.as_ref().is_some_and(|active| active.offset / EARLY_SYNC_BYTES != before)
    }

    /// Appends what is known about the log.
    pub(super) fn append_mark(&mut self, context: Context<'_>) {
        let active = self.active(context);
        let (number, place) = (active.number, Place { salt: active.salt, offset: active.offset });
        let oldest_live = context.accounting.lock().oldest().unwrap_or(number);
        let mark = Mark { synced: self.synced, oldest_live };
        self.is_mark_due = false;
        let write = |out: &mut [u8]| entry::write_mark(out, place, mark);
        let _ = self.append_record(entry::MARK_SIZE, write);
    }

    /// Records that the record from `start` to the end of the buffer was acknowledged.
    fn keep_for_retry(&mut self, start: usize, region: WalRegion, sequence_id: u64) {
        let record = start..self.unwritten.bytes.len();
        self.unwritten.unawaited.push(Unawaited { record, region, sequence_id });
    }

    /// Undoes what a leader failed to write, from index `written` of `failed` on, and everything
    /// appended since. Records that no caller waits for are appended again; true if there are any.
    /// The files of the log end at `end`; `live_end` is the position of the last record there.
    pub(super) fn take_back(
        &mut self,
        context: Context<'_>,
        failed: Unwritten,
        written: usize,
        end: Option<Previous>,
        live_end: u64,
    ) -> bool {
        let later = std::mem::take(&mut self.unwritten);
        let is_rolled =
            failed.rolls.iter().any(|roll| roll.buffer_index >= written) || !later.rolls.is_empty();
        match (&mut self.active, end) {
            (Some(active), Some(end)) if !is_rolled => {
                assert_eq!(active.number, end.end.log_file, "the active log file gets the records");
                active.offset = end.end.offset;
            }
            // The log files that were to follow do not exist.
            _ => {
                self.active = None;
                self.previous = end.unwrap_or(self.before_first);
                context.accounting.lock().forget_after(self.previous.end.log_file);
            }
        }
        self.live_end = live_end;
        self.is_mark_due = true;
        let mut is_left = false;
        for (buffer, from) in [(failed, written), (later, 0)] {
            for Unawaited { record, region, sequence_id } in buffer.unawaited {
                if record.start >= from {
                    let payload = &buffer.bytes[record.start + RECORD_HEADER_SIZE..record.end];
                    self.append_again(context, payload, region, sequence_id);
                    is_left = true;
                }
            }
        }
        is_left
    }

    fn append_again(
        &mut self,
        context: Context<'_>,
        payload: &[u8],
        region: WalRegion,
        sequence_id: u64,
    ) {
        let active = self.active(context);
        if region.appended_again(active.number) {
            active.regions.push(region.clone());
        }
        let place = Place { salt: active.salt, offset: active.offset };
        let size = RECORD_HEADER_SIZE + payload.len();
        let start = self.append_record(size, |out| entry::write_payload(out, place, payload));
        self.keep_for_retry(start, region, sequence_id);
    }

    /// Appends a record of this size to the buffer; returns where it begins.
    #[inline]
    fn append_record(&mut self, size: usize, write: impl FnOnce(&mut [u8])) -> usize {
        let before = self.unwritten.bytes.len();
        self.unwritten.bytes.resize(before + size, 0);
        write(&mut self.unwritten.bytes[before..]);
        self.grow(size as u64);
        before
    }

    /// Counts the bytes of a record.
    #[inline]
    fn grow(&mut self, size: u64) {
        self.appended += size;
        self.live_end = self.appended;
        if let Some(active) = &mut self.active {
            active.offset += size;
        }
    }

    /// Makes the next record begin a new log file, unless the active one has no records yet.
    pub(super) fn request_roll(&mut self) {
        self.is_roll_due = true;
    }

    /// The log file for the next record, a new one if the last is full.
    #[inline]
    fn active(&mut self, context: Context<'_>) -> &mut ActiveLogFile {
        let is_full = self.active.as_ref().is_none_or(|active| {
            active.offset >= self.roll_size_bytes
                || (self.is_roll_due && active.offset > HEADER_SIZE as u64)
        });
        if is_full {
            self.close_active(context.accounting);
        }
        self.active.get_or_insert_with(|| {
            let Previous { end: previous_end, salt: previous_salt } = self.previous;
            let header = LogFileHeader {
                number: self.next_number,
                salt: context.env.random.next_u64() as u32,
                store: self.store,
                previous_end,
                previous_salt,
                oldest_live: context.accounting.lock().oldest().unwrap_or(self.next_number),
                created: context.env.clock.now_millis(),
            };
            let buffer_index = self.unwritten.bytes.len();
            self.unwritten.rolls.push(Roll { buffer_index, header });
            self.next_number += 1;
            self.is_roll_due = false;
            ActiveLogFile {
                number: header.number,
                salt: header.salt,
                offset: HEADER_SIZE as u64,
                regions: Vec::new(),
            }
        })
    }

    /// Closes the active log file for further records.
    fn close_active(&mut self, accounting: &hblite_env::sync::Mutex<Accounting>) {
        if let Some(active) = self.active.take() {
            self.previous = active.as_previous();
            accounting.lock().close_log_file(active.number, &active.regions);
        }
    }

    /// Takes the bytes to write, in exchange for an emptied `spare`, and how far the log extends
    /// with them.
    pub(super) fn take_unwritten(&mut self, spare: Vec<u8>) -> (Unwritten, u64) {
        debug_assert!(spare.is_empty());
        let next = Unwritten { bytes: spare, ..Unwritten::default() };
        (std::mem::replace(&mut self.unwritten, next), self.appended)
    }

    /// Records how far the log survives a power cut; a mark of it precedes the next record.
    pub(super) fn set_synced(&mut self, synced: LogPosition) {
        if synced > self.synced {
            self.synced = synced;
            self.is_mark_due = true;
        }
    }
}

/// What an append needs in addition to the tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) env: &'a Env,
    pub(super) accounting: &'a hblite_env::sync::Mutex<Accounting>,
}
