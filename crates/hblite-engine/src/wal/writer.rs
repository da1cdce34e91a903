//! The end of the log in memory: where appends go before anybody writes them to a file.
//!
//! [`Tail`] stands behind the log's lock. It decides offsets, sequence ids and where a new segment
//! begins; files are not touched under that lock. A new segment is a note of where in the buffer
//! it starts, and whoever writes the buffer out creates the file there (see [`super::syncer`]).
//!
//! Invariant: the order of the records is the order in which `assign` was called.

use hblite_env::Env;
use hblite_model::CellBuffer;

use super::accounting::{Accounting, WalRegion};
use super::entry::{self, EditOrigin, Mark, Place};
use super::segment::{HEADER_SIZE, LogPosition, SegmentHeader};

/// A segment that begins inside the buffer.
#[derive(Debug)]
pub(super) struct Roll {
    /// Index in the buffer of the segment's first record.
    pub(super) buffer_index: usize,
    pub(super) header: SegmentHeader,
}

/// What is to be written next.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    pub(super) bytes: Vec<u8>,
    pub(super) rolls: Vec<Roll>,
}

#[derive(Debug)]
struct ActiveSegment {
    number: u64,
    salt: u32,
    /// Offset of the next record.
    offset: u64,
    /// The regions with a record in it.
    regions: Vec<WalRegion>,
}

/// The end of the log.
#[derive(Debug)]
pub(super) struct Tail {
    unwritten: Unwritten,
    /// Bytes of all records since the log was opened: the coin in which progress is counted.
    appended: u64,
    active: Option<ActiveSegment>,
    next_number: u64,
    /// The end of the last segment before the active one.
    previous_end: LogPosition,
    roll_size_bytes: u64,
    /// What is known to survive a power cut.
    synced: LogPosition,
    /// Whether `synced` moved since the last mark.
    is_mark_due: bool,
    is_roll_due: bool,
}

impl Tail {
    pub(super) fn new(previous_end: LogPosition, next_number: u64, roll_size_bytes: u64) -> Self {
        Self {
            unwritten: Unwritten::default(),
            appended: 0,
            active: None,
            next_number,
            previous_end,
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

    /// Bytes that wait for being written.
    pub(super) fn unwritten_bytes(&self) -> usize {
        self.unwritten.bytes.len()
    }

    /// The number of the segment that gets the records, if there is one.
    pub(super) fn active_number(&self) -> Option<u64> {
        self.active.as_ref().map(|active| active.number)
    }

    /// The regions with a record in the active segment.
    pub(super) fn active_regions(&self) -> &[WalRegion] {
        self.active.as_ref().map_or(&[], |active| &active.regions)
    }

    /// Appends an edit; `assign` gives its sequence id. True if it is the first one of a segment
    /// that follows another.
    #[inline]
    pub(super) fn append(
        &mut self,
        context: Context<'_>,
        region: &WalRegion,
        origin: EditOrigin,
        edit: &CellBuffer,
        assign: impl FnOnce() -> u64,
    ) -> bool {
        if self.is_mark_due {
            self.append_mark(context);
        }
        let sequence_id = assign();
        let active = self.active(context);
        let is_first = active.regions.is_empty();
        if region.appended(active.number, sequence_id) {
            active.regions.push(region.clone());
        }
        let place = Place { salt: active.salt, offset: active.offset };
        self.append_record(|out| {
            entry::write_edit(out, place, region.name(), sequence_id, origin, edit);
        });
        is_first && self.previous_end.segment != 0
    }

    /// Appends what is known about the log.
    pub(super) fn append_mark(&mut self, context: Context<'_>) {
        let active = self.active(context);
        let (number, place) = (active.number, Place { salt: active.salt, offset: active.offset });
        let oldest_live = context.accounting.lock().oldest().unwrap_or(number);
        let mark = Mark { synced: self.synced, oldest_live };
        self.is_mark_due = false;
        self.append_record(|out| entry::write_mark(out, place, mark));
    }

    #[inline]
    fn append_record(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.unwritten.bytes.len();
        write(&mut self.unwritten.bytes);
        let size = (self.unwritten.bytes.len() - before) as u64;
        self.appended += size;
        if let Some(active) = &mut self.active {
            active.offset += size;
        }
    }

    /// Lets the next record begin a new segment, unless the active one has none yet.
    pub(super) fn request_roll(&mut self) {
        self.is_roll_due = true;
    }

    /// The segment for the next record, a new one if the last is full.
    #[inline]
    fn active(&mut self, context: Context<'_>) -> &mut ActiveSegment {
        let is_full = self.active.as_ref().is_none_or(|active| {
            active.offset >= self.roll_size_bytes
                || (self.is_roll_due && active.offset > HEADER_SIZE as u64)
        });
        if is_full {
            self.close_active(context.accounting);
        }
        self.active.get_or_insert_with(|| {
            let header = SegmentHeader {
                number: self.next_number,
                salt: context.env.random.next_u64() as u32,
                previous_end: self.previous_end,
                oldest_live: context.accounting.lock().oldest().unwrap_or(self.next_number),
                created: context.env.clock.now_millis(),
            };
            let buffer_index = self.unwritten.bytes.len();
            self.unwritten.rolls.push(Roll { buffer_index, header });
            self.next_number += 1;
            self.is_roll_due = false;
            ActiveSegment {
                number: header.number,
                salt: header.salt,
                offset: HEADER_SIZE as u64,
                regions: Vec::new(),
            }
        })
    }

    /// Lets the active segment get no more records.
    pub(super) fn close_active(&mut self, accounting: &hblite_env::sync::Mutex<Accounting>) {
        if let Some(active) = self.active.take() {
            self.previous_end = LogPosition { segment: active.number, offset: active.offset };
            accounting.lock().close_segment(active.number, &active.regions);
        }
    }

    /// Takes what is to be written, for an emptied `spare`, and how far the log gets by it.
    pub(super) fn take_unwritten(&mut self, spare: Vec<u8>) -> (Unwritten, u64) {
        debug_assert!(spare.is_empty());
        let rolls = std::mem::take(&mut self.unwritten.rolls);
        let bytes = std::mem::replace(&mut self.unwritten.bytes, spare);
        (Unwritten { bytes, rolls }, self.appended)
    }

    /// Notes how far the log survives a power cut; the next record is preceded by a mark of it.
    pub(super) fn set_synced(&mut self, synced: LogPosition) {
        if synced > self.synced {
            self.synced = synced;
            self.is_mark_due = true;
        }
    }
}

/// What an append needs beside the tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) env: &'a Env,
    pub(super) accounting: &'a hblite_env::sync::Mutex<Accounting>,
}
