//! SNAPPY: the chunks of a block stream are raw Snappy.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use crate::block_stream::ChunkCodec;
use crate::error::ensure;
use crate::{CodecError, Output};

/// Bytes that one byte of Snappy can become: a copy of 64 bytes takes at least two bytes.
const EXPANSION_MAX: usize = 32;

/// The codec, with its table of earlier positions and a buffer for a chunk.
#[derive(Debug)]
pub(crate) struct Snappy {
    encoder: Encoder,
    chunk: Vec<u8>,
}

impl Default for Snappy {
    fn default() -> Self {
        Self { encoder: Encoder::new(), chunk: Vec::new() }
    }
}

impl ChunkCodec for Snappy {
    const CHUNK_SIZE_MAX: usize = 218_422;

    fn compress(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.chunk.resize(max_compress_len(raw.len()), 0);
        let compressed = self.encoder.compress(raw, &mut self.chunk);
        let size = compressed.map_err(|error| CodecError::failed("SNAPPY", error))?;
        out.extend_from_slice(&self.chunk[..size]);
        Ok(())
    }

    fn decompress(chunk: &[u8], size_max: usize, out: &mut Output<'_>) -> Result<(), CodecError> {
        let damaged = |error: snap::Error| CodecError::malformed(format!("snappy: {error}"));
        let size = decompress_len(chunk).map_err(damaged)?;
        ensure(size <= size_max, "compressed chunk is larger than its record")?;
        // The announced size is not trusted: room is reserved only for what is possible.
        ensure(
            size <= chunk.len().saturating_mul(EXPANSION_MAX),
            "snappy chunk announces more bytes than it can hold",
        )?;
        let decompress = |buffer: &mut [u8]| Decoder::new().decompress(chunk, buffer);
        out.append_with(size, |buffer| decompress(buffer).map_err(damaged)).map(drop)
    }
}
