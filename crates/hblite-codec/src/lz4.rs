//! LZ4: the chunks of a block stream are raw LZ4 blocks.

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use crate::block_stream::ChunkCodec;
use crate::{CodecError, Output};

/// Bytes that one byte of LZ4 can become.
const EXPANSION_MAX: usize = 255;

/// The codec, with a buffer for a chunk.
#[derive(Debug, Default)]
pub(crate) struct Lz4 {
    chunk: Vec<u8>,
}

impl ChunkCodec for Lz4 {
    const CHUNK_SIZE_MAX: usize = 218_422;

    fn compress(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.chunk.resize(get_maximum_output_size(raw.len()), 0);
        let compressed = compress_into(raw, &mut self.chunk);
        let size = compressed.map_err(|error| CodecError::failed("LZ4", error))?;
        out.extend_from_slice(&self.chunk[..size]);
        Ok(())
    }

    fn decompress(chunk: &[u8], size_max: usize, out: &mut Output<'_>) -> Result<(), CodecError> {
        let count = size_max.min(chunk.len().saturating_mul(EXPANSION_MAX));
        let damaged = |error| CodecError::malformed(format!("lz4: {error}"));
        out.append_with(count, |buffer| decompress_into(chunk, buffer).map_err(damaged)).map(drop)
    }
}
