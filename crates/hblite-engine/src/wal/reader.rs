//! Reads the records of one log file, and finds the next record after damage.
//!
//! Where no valid record begins, everything up to the next valid record, or to the end, is damage.
//! Because a record is only valid at its own position (see [`super::entry`]), bytes inside a record
//! are not mistaken for one.

use super::entry::{
    Place, RECORD_HEADER_SIZE, is_start_of_record, plausible_payload, valid_payload,
};
use super::log_file::{HEADER_SIZE, LogFileHeader, LogPosition};

/// Disks and page caches lose whole sectors of this size.
const SECTOR_SIZE: usize = 512;
/// The length field of a record may begin with this many zeros.
const LENGTH_ZEROS_MAX: usize = 3;
/// How many times its length a log file may be hashed in the search for records after damage.
/// Crafted bytes could otherwise take quadratic time.
const SEARCH_FACTOR: usize = 16;

/// Something found in a log file.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A valid record.
    Record { position: LogPosition, payload: &'a [u8] },
    /// Bytes that are not a record.
    Damage(Damage),
}

/// Bytes in a log file that are not a valid record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) start: u64,
    /// Where the next record begins, or the log file ends.
    pub(super) end: u64,
    /// Whether the log file was searched for following records and has none.
    pub(super) is_last: bool,
    /// Whether a kill in the middle of a write leaves it like this: the file ends inside a record.
    pub(super) is_cut: bool,
    /// Whether only zeros follow to the end of the file, which nothing else states: they are
    /// written ahead of the records.
    pub(super) is_blank: bool,
    /// Whether a power cut that lost unsynced pages leaves it like this: the file is too short,
    /// or a whole sector reads as zeros.
    pub(super) is_lost: bool,
}

/// Iterates over a log file.
#[derive(Debug, Clone)]
pub(super) struct LogFileReader<'a> {
    bytes: &'a [u8],
    number: u64,
    salt: u32,
    at: usize,
    /// Where the log file ends according to the next one, or to the head of the log.
    told_end: Option<u64>,
    /// Bytes that may still be hashed in the search for records after damage.
    search_budget: usize,
}

impl<'a> LogFileReader<'a> {
    /// Reads a log file of these bytes, the header included, up to its `told_end`.
    pub(super) fn new(file: &'a [u8], header: &LogFileHeader, told_end: Option<u64>) -> Self {
        let told = told_end.and_then(|end| usize::try_from(end).ok()).unwrap_or(usize::MAX);
        let bytes = &file[..file.len().min(told)];
        let search_budget = bytes.len().saturating_mul(SEARCH_FACTOR).max(1);
        let (number, salt) = (header.number, header.salt);
        // A file that ends within its header has no records, as the chain has checked.
        Self { bytes, number, salt, at: HEADER_SIZE, told_end, search_budget }
    }

    /// The end of the last record or damage that was passed.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Whether the next log file's header, or the head of the log, says where this one ends.
    pub(super) fn is_end_told(&self) -> bool {
        self.told_end.is_some()
    }

    /// What comes next.
    pub(super) fn next(&mut self) -> Option<Step<'a>> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = self.told_end.unwrap_or(0).max(self.bytes.len() as u64);
        if rest.is_empty() && self.at as u64 >= end {
            return None;
        }
        let start = self.at;
        let place = Place { salt: self.salt, offset: start as u64 };
        if let Some(payload) = valid_payload(rest, place) {
            self.at += RECORD_HEADER_SIZE + payload.len();
            let position = LogPosition { log_file: self.number, offset: place.offset };
            return Some(Step::Record { position, payload });
        }
        let is_blank = self.told_end.is_none() && rest.len() > LENGTH_ZEROS_MAX && is_zero(rest);
        let next = if is_blank { None } else { self.find_record(start + 1) };
        // The stated end is beyond the file: then all of the file has been read.
        self.at = next.unwrap_or(usize::try_from(end).unwrap_or(usize::MAX));
        let present = start..self.at.min(self.bytes.len()).max(start);
        let is_short = next.is_none() && end > self.bytes.len() as u64;
        let is_lost = is_short || has_lost_sector(self.bytes, present);
        let end = next.map_or(end, |next| next as u64);
        let is_last = next.is_none() && self.search_budget > 0;
        let is_cut = is_last && is_start_of_record(rest);
        let start = start as u64;
        Some(Step::Damage(Damage { start, end, is_last, is_cut, is_blank, is_lost }))
    }

    /// The first offset from `from` on where a valid record begins.
    fn find_record(&mut self, from: usize) -> Option<usize> {
        let place = |at: usize| Place { salt: self.salt, offset: at as u64 };
        for at in from..self.bytes.len() {
            let rest = &self.bytes[at..];
            let Some(payload) = plausible_payload(rest) else {
                continue;
            };
            self.search_budget = self.search_budget.saturating_sub(payload.len());
            if self.search_budget == 0 {
                return None;
            }
            if valid_payload(rest, place(at)).is_some() {
                return Some(at);
            }
        }
        None
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Whether the part of some sector within `range` reads as zeros.
///
/// For the first sector only the rest counts: what comes before may have been durable earlier.
fn has_lost_sector(bytes: &[u8], range: std::ops::Range<usize>) -> bool {
    let mut start = range.start;
    while start < range.end {
        let end = (start / SECTOR_SIZE + 1) * SECTOR_SIZE;
        let end = end.min(bytes.len());
        // The next record may begin in the lost sector with the zeros of its length field.
        if end <= range.end + LENGTH_ZEROS_MAX && is_zero(&bytes[start..end]) {
            return true;
        }
        start = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_sector_is_a_whole_one_or_the_rest_of_one() {
        let mut bytes = vec![1; 2048];
        bytes[600..1000].fill(0);
        assert!(!has_lost_sector(&bytes, 100..2048));
        bytes[512..1024].fill(0);
        assert!(has_lost_sector(&bytes, 100..2048));
        assert!(has_lost_sector(&bytes, 700..2048));
        assert!(!has_lost_sector(&bytes, 1024..2048));
        assert!(!has_lost_sector(&bytes, 100..1000));
        assert!(has_lost_sector(&bytes, 100..1022));
        bytes[2040..].fill(0);
        assert!(has_lost_sector(&bytes, 2040..2048));
    }
}
