//! Reads the logs that Apache HBase writes.
//!
//! ```text
//! WALs/<server>/<name>.<ms>          log of a region server; <name>.meta.<ms>.meta of hbase:meta
//! <region>/recovered.edits/<id>      what HBase split off a log for one region
//!
//! "PWAL" │ varint length │ WALHeader │ entry* │ WALTrailer │ u32 its length │ "LAWP"
//!
//! WALHeader { 1 has_compression, 2 encryption_key, 3 has_tag_compression, 4 writer class,
//!             5 cell codec class, 6 has_value_compression, 7 value_compression_algorithm }
//! entry   varint length │ WALKey │ cell * following_kv_count
//! WALKey  { 1 encoded region name, 2 table name, 3 sequence id, 4 write time in ms,
//!           7 following_kv_count, …: replication and nonces }
//! cell    plain: u32 length │ KeyValue with tags; compressed: see `cells`
//! ```
//!
//! The trailer is written when the log is closed. A log without one was cut off by a kill: it ends
//! at the last complete entry. The format has no checksums, because HDFS has them; so every length
//! is checked against the file, and every cell for consistency.
//!
//! A cell of the family METAFAMILY is a marker: of a flush, a compaction, a bulk load, or the
//! opening or closing of a region. It is not a cell of a table.
//!
//! Allocation: a decoded entry has at most [`ENTRY_SIZE_MAX`] bytes; dictionaries hold no more than
//! the file does. Source: HBase's `AbstractProtobufWALReader`, `WALCellCodec`, `WALEdit`.
//! Threads: a reader has one owner.

mod cells;
mod dictionary;
mod input;
mod logs;

#[cfg(test)]
mod tests;

use std::path::Path;

use hblite_model::protobuf::{self, FieldValue};
use hblite_model::{CellBuffer, Error, Exception, Result};

use self::cells::CellDecoder;
use self::dictionary::Dictionary;
use self::input::{Decoded, Input};
use super::WalEntry;

pub(crate) use self::logs::{HBaseLogs, LogSource, region_dirs};

const MAGIC: &[u8] = b"PWAL";
const TRAILER_MAGIC: &[u8] = b"LAWP";
/// Bytes after the trailer's message: its length and the magic.
const TRAILER_END_SIZE: usize = 4 + 4;
/// Maximum bytes of cells of one entry: 512 MiB, twice HBase's largest request.
pub(crate) const ENTRY_SIZE_MAX: usize = 512 << 20;
/// The family of markers.
const MARKER_FAMILY: &[u8] = b"METAFAMILY";
/// The qualifier of the marker for a closed region, which has all its cells in files.
const CLOSE_MARKER: &[u8] = b"HBASE::REGION_EVENT::REGION_CLOSE";
const WRITERS: [&str; 2] = ["ProtobufLogWriter", "AsyncProtobufLogWriter"];
const CODEC: &str = "org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";

/// An entry: one atomic write to one region.
#[derive(Debug, Default)]
pub(crate) struct HBaseLogEntry {
    /// The encoded name of the region.
    pub(crate) region: String,
    pub(crate) sequence_id: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub(crate) write_time: i64,
    /// The cells, without markers.
    pub(crate) cells: CellBuffer,
    /// Whether it says that the region was closed.
    pub(crate) is_close: bool,
}

impl HBaseLogEntry {
    /// The entry as one of hblite's own log.
    pub(crate) fn as_entry(&self) -> WalEntry<'_> {
        WalEntry::of_cells(&self.region, self.sequence_id, self.write_time, &self.cells)
    }
}

#[derive(Debug, Default)]
struct Header {
    is_compressed: bool,
    has_tag_compression: bool,
}

/// A log that is being read.
pub(crate) struct HBaseLog<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    /// Where the entries end.
    end: usize,
    is_closed: bool,
    /// Where the file ends within an entry.
    cut_at: Option<u64>,
    is_compressed: bool,
    regions: Dictionary,
    tables: Dictionary,
    cells: CellDecoder,
}

impl<'a> HBaseLog<'a> {
    /// Begins to read the log `bytes`; `path` is its name in errors.
    ///
    /// # Errors
    /// `CorruptWal` if it is not a log; `UnsupportedOperation` that names an encryption, writer or
    /// codec that cannot be read.
    pub(crate) fn open(path: &'a Path, bytes: &'a [u8], source: LogSource) -> Result<Self> {
        let region_slots = match source {
            LogSource::Server => dictionary::LARGE,
            LogSource::RecoveredEdits => dictionary::SINGLE,
        };
        let mut log = Self {
            path,
            bytes,
            at: 0,
            end: bytes.len(),
            is_closed: false,
            cut_at: None,
            is_compressed: false,
            regions: Dictionary::new(region_slots),
            tables: Dictionary::new(region_slots),
            cells: CellDecoder::plain(),
        };
        let Some(header) = log.header()? else {
            // The server was killed before it had written the header.
            (log.at, log.end, log.cut_at) = (bytes.len(), bytes.len(), Some(0));
            return Ok(log);
        };
        let header = read_header(header).map_err(|error| log.unreadable(error))?;
        log.is_compressed = header.is_compressed;
        if header.is_compressed {
            log.cells = CellDecoder::compressed(header.has_tag_compression);
        }
        log.find_trailer();
        Ok(log)
    }

    /// The message of the header; `None` if the file ends within it.
    fn header(&mut self) -> Result<Option<&'a [u8]>> {
        let magic = &self.bytes[..self.bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(magic) {
            return Err(self.corrupt(0, "it is not a log of HBase: wrong magic"));
        }
        let Some(rest) = self.bytes.get(MAGIC.len()..) else { return Ok(None) };
        let mut input = Input::new(rest);
        match input.varint().and_then(|length| input.take(length as usize)) {
            Ok(message) => {
                self.at = MAGIC.len() + input.position();
                Ok(Some(message))
            }
            Err(damage) if damage.is_end() => Ok(None),
            Err(_) => Err(self.corrupt(MAGIC.len(), "its header has no valid length")),
        }
    }

    fn find_trailer(&mut self) {
        let Some(end_at) = self.bytes.len().checked_sub(TRAILER_END_SIZE) else { return };
        let Some((length, magic)) = self.bytes[end_at..].split_first_chunk::<4>() else { return };
        let length = u32::from_be_bytes(*length) as usize;
        if magic == TRAILER_MAGIC
            && let Some(start) = end_at.checked_sub(length).filter(|start| *start >= self.at)
        {
            (self.end, self.is_closed) = (start, true);
        }
    }

    /// Whether the server closed the log: it has a trailer.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Where the log ends within an entry, after [`HBaseLog::next`] has found the end.
    fn cut_at(&self) -> Option<u64> {
        self.cut_at
    }

    /// Reads the next entry into `entry`; false at the end.
    ///
    /// # Errors
    /// `CorruptWal` with file and offset.
    pub(crate) fn next(&mut self, entry: &mut HBaseLogEntry) -> Result<bool> {
        if self.at >= self.end {
            return Ok(false);
        }
        let mut input = Input::new(&self.bytes[self.at..self.end]);
        match self.read(&mut input, entry) {
            Ok(()) => {
                self.at += input.position();
                Ok(true)
            }
            Err(damage) if damage.is_end() && !self.is_closed => {
                self.cut_at = Some(self.at as u64);
                self.at = self.end;
                Ok(false)
            }
            Err(damage) => {
                let what = format!("no valid entry begins here: {}", damage.what());
                Err(self.corrupt(self.at, &what))
            }
        }
    }

    fn read(&mut self, input: &mut Input<'_>, entry: &mut HBaseLogEntry) -> Decoded<()> {
        let length = input.varint()? as usize;
        let key = input.take(length)?;
        let mut cell_count = 0;
        let (mut region, mut table): (&[u8], &[u8]) = (b"", b"");
        let mut sequence_id = None;
        let is_message = protobuf::read_message(key, |field, value| {
            match (field, value) {
                (1, FieldValue::Bytes(name)) => region = name,
                (2, FieldValue::Bytes(name)) => table = name,
                (3, FieldValue::Number(id)) => sequence_id = Some(id),
                (4, FieldValue::Number(time)) => entry.write_time = time as i64,
                (7, FieldValue::Number(count)) => cell_count = count,
                _ => {}
            }
            Ok(())
        });
        is_message.map_err(|_| "its key is not a protobuf message")?;
        entry.sequence_id = sequence_id.ok_or("its key has no sequence id")?;
        let name = self.name(region, true)?;
        entry.region = String::from_utf8(name).map_err(|_| "its region's name is not text")?;
        self.name(table, false)?;
        entry.cells.clear();
        entry.is_close = false;
        for _ in 0..cell_count {
            self.cells.read(input, entry)?;
        }
        entry.cells.set_sequence_id(entry.sequence_id);
        Ok(())
    }

    /// The name of a region or table in a key.
    fn name(&mut self, field: &[u8], is_region: bool) -> Decoded<Vec<u8>> {
        if !self.is_compressed {
            return Ok(field.to_vec());
        }
        let names = if is_region { &mut self.regions } else { &mut self.tables };
        let mut input = Input::new(field);
        // The end of the file cannot be inside a complete key.
        let name = names.read(&mut input).map_err(|_| "a name in its key cannot be resolved")?;
        Ok(name.to_vec())
    }

    fn corrupt(&self, at: usize, what: &str) -> Error {
        Error::corrupt(Exception::CorruptWal, self.path, at as u64, what)
    }

    fn unreadable(&self, error: Error) -> Error {
        Error::new(error.exception(), format!("{}: {}", self.path.display(), error.message()))
    }
}

fn read_header(message: &[u8]) -> Result<Header> {
    let mut header = Header::default();
    let (mut is_encrypted, mut has_value_compression) = (false, false);
    let (mut writer, mut codec) = (None, None);
    protobuf::read_message(message, |field, value| {
        match (field, value) {
            (1, FieldValue::Number(flag)) => header.is_compressed = flag != 0,
            (2, FieldValue::Bytes(_)) => is_encrypted = true,
            (3, FieldValue::Number(flag)) => header.has_tag_compression = flag != 0,
            (4, FieldValue::Bytes(_)) => writer = Some(value.as_text()),
            (5, FieldValue::Bytes(_)) => codec = Some(value.as_text()),
            (6, FieldValue::Number(flag)) => has_value_compression = flag != 0,
            _ => {}
        }
        Ok(())
    })?;
    let refused = |what: String| {
        let remedy =
            "start HBase on the directory and stop it, which writes the log to store files";
        let message = format!("hblite cannot read this log: {what}. Nothing was changed; {remedy}");
        Err(Error::new(Exception::UnsupportedOperation, message))
    };
    if is_encrypted {
        return refused("it is encrypted".to_owned());
    }
    if let Some(writer) = writer.filter(|name| !WRITERS.contains(&name.as_str())) {
        return refused(format!("its writer is {writer:?}"));
    }
    if let Some(codec) = codec.filter(|name| name != CODEC) {
        return refused(format!("its cell codec is {codec:?}"));
    }
    if header.is_compressed && has_value_compression {
        return refused("its values are compressed".to_owned());
    }
    Ok(header)
}
