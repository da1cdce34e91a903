//! GZ: one gzip member per payload.
//!
//! ```text
//! 1f 8b 08 00  00 00 00 00  00 00 | deflate | u32 CRC-32 of the payload | u32 its size   (LE)
//! ```

use std::io::Read as _;

use flate2::{Compress, FlushCompress, Status};
use hblite_model::Result;

use super::{codec_damage, codec_failed};
use crate::error::Parsed;

/// Magic, method deflate, no flags, no time, no extra flags, system FAT: as the JDK writes it.
const MEMBER_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0];
/// Room for what deflate adds to small or random payloads.
const DEFLATE_OVERHEAD: usize = 64;

/// Keeps the state of deflate between payloads.
#[derive(Debug)]
pub(crate) struct GzipCompressor {
    deflate: Compress,
}

impl GzipCompressor {
    pub(crate) fn new() -> Self {
        Self { deflate: Compress::new(flate2::Compression::default(), false) }
    }

    pub(crate) fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&MEMBER_HEADER);
        self.deflate.reset();
        loop {
            let consumed = usize::try_from(self.deflate.total_in()).unwrap_or(payload.len());
            let rest = &payload[consumed..];
            out.reserve(rest.len() / 2 + DEFLATE_OVERHEAD);
            let status = self
                .deflate
                .compress_vec(rest, out, FlushCompress::Finish)
                .map_err(|error| codec_failed("GZ", error))?;
            if status == Status::StreamEnd {
                break;
            }
        }
        out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
        out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        Ok(())
    }
}

/// Appends the content of the member in `stored`, at most one byte more than `size_max`.
pub(crate) fn decompress(stored: &[u8], out: &mut Vec<u8>, size_max: usize) -> Parsed<()> {
    flate2::bufread::GzDecoder::new(stored)
        .take(size_max as u64 + 1)
        .read_to_end(out)
        .map(drop)
        .map_err(|error| codec_damage("gzip", size_max, &error))
}
