//! SNAPPY, LZ4 and ZSTD in the block stream of Hadoop.
//!
//! ```text
//! stream = record*
//! record = u32 raw size | (u32 compressed size | bytes)*     until the chunks add up to raw size
//! ```
//!
//! Hadoop's decompressors have buffers of 262,144 bytes, so a writer keeps the raw size of each
//! chunk within a limit per codec. A payload above the limit becomes one record of several chunks
//! and a record of raw size 0; an empty payload is that empty record alone.
//!
//! Hadoop's native zstd codec has the same number in HFiles, but no framing. A payload that begins
//! with the magic of zstd is therefore read as one frame.
//! Source: Hadoop's `BlockCompressorStream`, `BlockDecompressorStream`.

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::error::ensure;
use crate::{Codec, CodecError, Compressor, Output};

/// Bytes of a size in the stream.
const SIZE: usize = 4;

/// Compresses the chunks of a stream. A value keeps the codec's working memory.
pub(crate) trait ChunkCodec: Debug + Default + Send + Sync + 'static {
    /// The maximum number of raw bytes of a chunk.
    const CHUNK_SIZE_MAX: usize;
    /// The beginning of a payload that is one chunk without framing, if such payloads exist.
    const BARE_MAGIC: Option<&'static [u8]> = None;

    /// Appends the compressed form of `raw`.
    fn compress(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Appends the decompressed `chunk`, at most `size_max` bytes, for which `out` has room.
    fn decompress(chunk: &[u8], size_max: usize, out: &mut Output<'_>) -> Result<(), CodecError>;
}

/// The codec for a stream of such chunks.
#[derive(Debug)]
pub(crate) struct BlockStream<C>(PhantomData<C>);

impl<C: ChunkCodec> BlockStream<C> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<C: ChunkCodec> Codec for BlockStream<C> {
    fn compressor(&self) -> Box<dyn Compressor> {
        Box::new(StreamCompressor(C::default()))
    }

    fn decompress(&self, mut stored: &[u8], out: &mut Output<'_>) -> Result<(), CodecError> {
        if C::BARE_MAGIC.is_some_and(|magic| stored.starts_with(magic)) {
            return C::decompress(stored, out.room(), out);
        }
        while !stored.is_empty() {
            let raw_size = take_size(&mut stored)?;
            if raw_size > out.room() {
                return Err(CodecError::TooLarge(out.len() + out.room()));
            }
            let record_end = out.len() + raw_size;
            while out.len() < record_end {
                let size = take_size(&mut stored)?;
                let (chunk, rest) = stored.split_at_checked(size).ok_or_else(cut)?;
                stored = rest;
                let before = out.len();
                C::decompress(chunk, record_end - before, out)?;
                ensure(out.len() > before, "compressed chunk is empty")?;
                ensure(out.len() <= record_end, "compressed chunk is larger than its record")?;
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct StreamCompressor<C>(C);

impl<C: ChunkCodec> Compressor for StreamCompressor<C> {
    fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
        for raw in payload.chunks(C::CHUNK_SIZE_MAX) {
            let size_at = out.len();
            out.extend_from_slice(&[0; SIZE]);
            self.0.compress(raw, out)?;
            let size = (out.len() - size_at - SIZE) as u32;
            out[size_at..size_at + SIZE].copy_from_slice(&size.to_be_bytes());
        }
        if payload.len() > C::CHUNK_SIZE_MAX {
            out.extend_from_slice(&0_u32.to_be_bytes());
        }
        Ok(())
    }
}

fn take_size(stored: &mut &[u8]) -> Result<usize, CodecError> {
    let (size, rest) = stored.split_first_chunk::<SIZE>().ok_or_else(cut)?;
    *stored = rest;
    Ok(u32::from_be_bytes(*size) as usize)
}

fn cut() -> CodecError {
    CodecError::malformed("the block stream ends within a record")
}
