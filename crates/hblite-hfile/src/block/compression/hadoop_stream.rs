//! SNAPPY, LZ4 and ZSTD in the block stream of Hadoop.
//!
//! ```text
//! stream = record*
//! record = i32 raw size | (i32 compressed size | bytes)*     until the chunks add up to raw size
//! ```
//!
//! Hadoop's decompressors have buffers of 262,144 bytes, so a writer keeps the raw size of each
//! chunk within a limit per codec. A payload above the limit becomes one record of several chunks
//! and a record of raw size 0; an empty payload is that empty record alone.
//!
//! Hadoop's native zstd codec has the same number and no framing: a payload that begins with the
//! magic of zstd is read as one frame.
//! Source: Hadoop's `BlockCompressorStream`, `BlockDecompressorStream`.

use std::io::Read as _;

use hblite_model::{Compression, Result};

use super::{codec_damage, codec_failed};
use crate::error::{Damage, Parsed, ensure, reserve};
use crate::input::Input;

/// Raw bytes of a chunk at most, SNAPPY and LZ4.
const CHUNK_SIZE_MAX_SNAPPY_LZ4: usize = 218_422;
/// Raw bytes of a chunk at most, ZSTD.
const CHUNK_SIZE_MAX_ZSTD: usize = 261_120;
/// The first bytes of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// HBase's default level (`hbase.io.compress.zstd.level`).
const ZSTD_LEVEL: i32 = 3;
/// Windows of this size are granted to small frames, too: encoders do not always shrink them.
const ZSTD_WINDOW_LOG_MIN: u32 = 23;
/// The largest window that zstd knows on any machine.
const ZSTD_WINDOW_LOG_MAX: u32 = 30;
/// Bytes that one byte of LZ4 can become, rounded up.
const LZ4_EXPANSION_MAX: usize = 256;

/// Compresses payloads; see the module for their form.
pub(crate) struct StreamCompressor {
    codec: Compression,
    snappy: snap::raw::Encoder,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    chunk: Vec<u8>,
}

impl std::fmt::Debug for StreamCompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamCompressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl StreamCompressor {
    pub(crate) fn new(codec: Compression) -> Self {
        Self { codec, snappy: snap::raw::Encoder::new(), zstd: None, chunk: Vec::new() }
    }

    pub(crate) fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let limit = match self.codec {
            Compression::Zstd => CHUNK_SIZE_MAX_ZSTD,
            _ => CHUNK_SIZE_MAX_SNAPPY_LZ4,
        };
        out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
        for raw in payload.chunks(limit) {
            let length_at = out.len();
            out.extend_from_slice(&[0; 4]);
            self.compress_chunk(raw, out)?;
            let length = (out.len() - length_at - 4) as u32;
            out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
        }
        if payload.len() > limit {
            out.extend_from_slice(&0_u32.to_be_bytes());
        }
        Ok(())
    }

    fn compress_chunk(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.codec {
            Compression::Snappy => {
                self.chunk.resize(snap::raw::max_compress_len(raw.len()), 0);
                let length = self
                    .snappy
                    .compress(raw, &mut self.chunk)
                    .map_err(|error| codec_failed("SNAPPY", error))?;
                out.extend_from_slice(&self.chunk[..length]);
            }
            Compression::Lz4 => {
                self.chunk.resize(lz4_flex::block::get_maximum_output_size(raw.len()), 0);
                let length = lz4_flex::block::compress_into(raw, &mut self.chunk)
                    .map_err(|error| codec_failed("LZ4", error))?;
                out.extend_from_slice(&self.chunk[..length]);
            }
            _ => {
                let failed = |error| codec_failed("ZSTD", error);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(failed)?),
                };
                self.chunk.resize(zstd::zstd_safe::compress_bound(raw.len()), 0);
                let length = zstd
                    .compress_to_buffer(raw, self.chunk.as_mut_slice())
                    .map_err(|error| codec_failed("ZSTD", error))?;
                out.extend_from_slice(&self.chunk[..length]);
            }
        }
        Ok(())
    }
}

/// Appends the payload that `stored` holds, which is `size` bytes according to the block header.
pub(crate) fn decompress(
    codec: Compression,
    stored: &[u8],
    out: &mut Vec<u8>,
    size: usize,
) -> Parsed<()> {
    if codec == Compression::Zstd && stored.starts_with(&ZSTD_MAGIC) {
        return decompress_zstd(stored, out, size);
    }
    let mut input = Input::new(stored);
    while !input.is_empty() {
        let raw_size = input.length()?;
        ensure(raw_size <= size - out.len(), "compressed record is larger than its block")?;
        let record_end = out.len() + raw_size;
        while out.len() < record_end {
            let chunk_size = input.length()?;
            let chunk = input.take(chunk_size)?;
            let before = out.len();
            match codec {
                Compression::Snappy => decompress_snappy(chunk, out, record_end - before)?,
                Compression::Lz4 => decompress_lz4(chunk, out, record_end - before)?,
                _ => decompress_zstd(chunk, out, record_end - before)?,
            }
            ensure(out.len() > before, "compressed chunk is empty")?;
            ensure(out.len() <= record_end, "compressed chunk is larger than its record")?;
        }
    }
    Ok(())
}

fn decompress_snappy(chunk: &[u8], out: &mut Vec<u8>, size_max: usize) -> Parsed<()> {
    let damaged = |error: snap::Error| Damage::new(format!("snappy: {error}"));
    let size = snap::raw::decompress_len(chunk).map_err(damaged)?;
    ensure(size <= size_max, "compressed chunk is larger than its record")?;
    // A snappy copy of 64 bytes takes at least two bytes.
    ensure(size <= chunk.len().saturating_mul(32), "snappy chunk announces too much")?;
    let start = out.len();
    reserve(out, size)?;
    out.resize(start + size, 0);
    snap::raw::Decoder::new().decompress(chunk, &mut out[start..]).map(drop).map_err(damaged)
}

fn decompress_lz4(chunk: &[u8], out: &mut Vec<u8>, size_max: usize) -> Parsed<()> {
    let start = out.len();
    let room = size_max.min(chunk.len().saturating_mul(LZ4_EXPANSION_MAX));
    reserve(out, room)?;
    out.resize(start + room, 0);
    let size = lz4_flex::block::decompress_into(chunk, &mut out[start..])
        .map_err(|error| Damage::new(format!("lz4: {error}")))?;
    out.truncate(start + size);
    Ok(())
}

fn decompress_zstd(frame: &[u8], out: &mut Vec<u8>, size_max: usize) -> Parsed<()> {
    let damaged = |error: std::io::Error| codec_damage("zstd", size_max, &error);
    let start = out.len();
    // What a frame says of its size is believed if room for as much was granted anyhow.
    if let Ok(Some(size)) = zstd::zstd_safe::get_frame_content_size(frame)
        && size <= (out.capacity() - start).min(size_max) as u64
    {
        out.resize(start + size as usize, 0);
        let size = zstd::bulk::decompress_to_buffer(frame, &mut out[start..]).map_err(damaged)?;
        out.truncate(start + size);
        return Ok(());
    }
    // A frame needs no window larger than what may come out of it.
    let window_log = size_max.checked_ilog2().unwrap_or(0) + 1;
    let mut decoder =
        zstd::stream::read::Decoder::with_buffer(frame).map_err(damaged)?.single_frame();
    decoder
        .window_log_max(window_log.clamp(ZSTD_WINDOW_LOG_MIN, ZSTD_WINDOW_LOG_MAX))
        .map_err(damaged)?;
    decoder.take(size_max as u64 + 1).read_to_end(out).map(drop).map_err(damaged)
}
