//! The pages of a column chunk, decompressed.
//!
//! ```text
//! page        header (Thrift), then its bytes, compressed
//! version 1   definition levels and values, compressed together
//! version 2   definition levels, not compressed, then values
//! ```

use std::io::Read;

use super::thrift::{Kind, Reader};
use super::{Bad, Result};

/// Largest page after decompression.
const PAGE_MAX: usize = 256 << 20;

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) kind: PageKind,
    /// Values of a dictionary, or rows of a data page, missing values included.
    pub(super) count: usize,
    pub(super) encoding: i64,
    /// Without repetition levels: columns are not nested.
    pub(super) bytes: Vec<u8>,
}

/// What a page contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Dictionary,
    /// Definition levels with their length in front, then values.
    Data,
    /// As many bytes of definition levels, then values.
    DataV2(usize),
}

/// A page's header, as far as it is needed.
#[derive(Debug, Default)]
struct Header {
    kind: i64,
    size: usize,
    compressed_size: usize,
    count: Option<usize>,
    encoding: i64,
    level_encoding: Option<i64>,
    definition_bytes: usize,
    repetition_bytes: usize,
    is_compressed: bool,
}

/// Calls `each` with every page of a chunk.
pub(super) fn for_each_page(
    mut chunk: &[u8],
    codec: i64,
    mut each: impl FnMut(Page) -> Result<()>,
) -> Result<()> {
    while !chunk.is_empty() {
        let mut reader = Reader::new(chunk);
        let header = header(&mut reader)?;
        let bytes = &chunk[reader.position()..];
        if header.compressed_size > bytes.len() {
            return Err(Bad::new("a page is longer than its column"));
        }
        let (bytes, rest) = bytes.split_at(header.compressed_size);
        chunk = rest;
        if let Some(page) = page(&header, bytes, codec)? {
            each(page)?;
        }
    }
    Ok(())
}

/// `None` for a page that has no values.
fn page(header: &Header, bytes: &[u8], codec: i64) -> Result<Option<Page>> {
    if header.size > PAGE_MAX {
        return Err(Bad::new(format!("a page is larger than {} MiB", PAGE_MAX >> 20)));
    }
    let kind = match header.kind {
        0 if header.level_encoding == Some(BIT_PACKED) => {
            return Err(Bad::new("its levels have the deprecated encoding BIT_PACKED"));
        }
        0 => PageKind::Data,
        1 => return Ok(None),
        2 => PageKind::Dictionary,
        3 => PageKind::DataV2(header.definition_bytes),
        kind => return Err(Bad::new(format!("unknown type of page, {kind}"))),
    };
    let count = header.count.ok_or_else(|| Bad::new("a page lacks its number of values"))?;
    let bytes = match kind {
        PageKind::DataV2(levels) => {
            if header.repetition_bytes > 0 || levels > bytes.len() || levels > header.size {
                return Err(Bad::new("a page has wrong levels"));
            }
            let (levels, values) = bytes.split_at(levels);
            let codec = if header.is_compressed { codec } else { UNCOMPRESSED };
            let mut bytes = levels.to_vec();
            bytes.extend(decompressed(values, header.size - levels.len(), codec)?);
            bytes
        }
        _ => decompressed(bytes, header.size, codec)?,
    };
    Ok(Some(Page { kind, count, encoding: header.encoding, bytes }))
}

const BIT_PACKED: i64 = 4;
const UNCOMPRESSED: i64 = 0;

/// The bytes of a page, of which there must be `size`.
fn decompressed(bytes: &[u8], size: usize, codec: i64) -> Result<Vec<u8>> {
    let wrong = |error: &dyn std::fmt::Display| Bad::new(format!("a page is damaged: {error}"));
    // A page without values may have no compressed bytes at all.
    if size == 0 {
        return Ok(Vec::new());
    }
    let limit = size as u64 + 1;
    let mut out = Vec::new();
    match codec {
        UNCOMPRESSED => out.extend_from_slice(bytes),
        1 => {
            let declared = snap::raw::decompress_len(bytes).map_err(|error| wrong(&error))?;
            if declared == size {
                let mut decoder = snap::raw::Decoder::new();
                out = decoder.decompress_vec(bytes).map_err(|error| wrong(&error))?;
            }
        }
        2 => {
            let decoder = flate2::read::MultiGzDecoder::new(bytes);
            decoder.take(limit).read_to_end(&mut out).map_err(|error| wrong(&error))?;
        }
        #[cfg(feature = "zstd")]
        6 => {
            let decoder = zstd::Decoder::with_buffer(bytes).map_err(|error| wrong(&error))?;
            decoder.take(limit).read_to_end(&mut out).map_err(|error| wrong(&error))?;
        }
        #[cfg(not(feature = "zstd"))]
        6 => return Err(Bad::new("this build of hblite does not include ZSTD")),
        7 => {
            out = lz4_flex::block::decompress(bytes, size).map_err(|error| wrong(&error))?;
        }
        codec => {
            let name = match codec {
                3 => "LZO",
                4 => "BROTLI",
                5 => "the deprecated LZ4",
                _ => "unknown",
            };
            return Err(Bad::new(format!(
                "its compression is {name}: use SNAPPY, GZIP, ZSTD, LZ4_RAW or none"
            )));
        }
    }
    if out.len() != size {
        return Err(Bad::new(format!("a page does not have the {size} bytes that it declares")));
    }
    Ok(out)
}

fn header(reader: &mut Reader<'_>) -> Result<Header> {
    let mut header = Header { is_compressed: true, ..Header::default() };
    reader.fields(|reader, id, kind| {
        match (id, kind) {
            (1, Kind::Int) => header.kind = reader.int()?,
            (2, Kind::Int) => header.size = reader.size()?,
            (3, Kind::Int) => header.compressed_size = reader.size()?,
            (5 | 7 | 8, Kind::Struct) => of_kind(reader, id, &mut header)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(header)
}

/// The part of the header that depends on the kind of the page: `id` is 5 for data, 7 for
/// dictionaries, 8 for data of version 2.
fn of_kind(reader: &mut Reader<'_>, page: i64, header: &mut Header) -> Result<()> {
    reader.fields(|reader, id, kind| {
        match (page, id, kind) {
            (_, 1, Kind::Int) => header.count = Some(reader.size()?),
            (5 | 7, 2, Kind::Int) | (8, 4, Kind::Int) => header.encoding = reader.int()?,
            (5, 3, Kind::Int) => header.level_encoding = Some(reader.int()?),
            (8, 5, Kind::Int) => header.definition_bytes = reader.size()?,
            (8, 6, Kind::Int) => header.repetition_bytes = reader.size()?,
            (8, 7, Kind::False) => header.is_compressed = false,
            _ => return Ok(false),
        }
        Ok(kind == Kind::Int)
    })
}
