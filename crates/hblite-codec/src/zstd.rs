//! ZSTD: the chunks of a block stream are zstd frames.
//!
//! The only codec with C code, behind the feature `zstd`.

use zstd::bulk;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{compress_bound, get_frame_content_size};

use crate::block_stream::ChunkCodec;
use crate::{CodecError, Output};

/// HBase's default level (`hbase.io.compress.zstd.level`).
const LEVEL: i32 = 3;
/// Windows of this size are granted to small frames, too: encoders do not always shrink them.
const WINDOW_LOG_MIN: u32 = 23;
/// The largest window that zstd knows on any machine.
const WINDOW_LOG_MAX: u32 = 30;

/// The codec, with its context and a buffer for a chunk.
#[derive(Default)]
pub(crate) struct Zstd {
    compressor: Option<bulk::Compressor<'static>>,
    chunk: Vec<u8>,
}

impl std::fmt::Debug for Zstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Zstd").finish_non_exhaustive()
    }
}

impl ChunkCodec for Zstd {
    const CHUNK_SIZE_MAX: usize = 261_120;
    const BARE_MAGIC: Option<&'static [u8]> = Some(&[0x28, 0xb5, 0x2f, 0xfd]);

    fn compress(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        let failed = |error| CodecError::failed("ZSTD", error);
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(bulk::Compressor::new(LEVEL).map_err(failed)?),
        };
        self.chunk.resize(compress_bound(raw.len()), 0);
        let size = compressor.compress_to_buffer(raw, self.chunk.as_mut_slice()).map_err(failed)?;
        out.extend_from_slice(&self.chunk[..size]);
        Ok(())
    }

    fn decompress(frame: &[u8], size_max: usize, out: &mut Output<'_>) -> Result<(), CodecError> {
        let damaged = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::OutOfMemory => CodecError::NoMemory(size_max),
            _ => CodecError::malformed(format!("zstd: {error}")),
        };
        // The size in a frame is trusted if that much room was granted anyway.
        if let Ok(Some(size)) = get_frame_content_size(frame)
            && size <= out.granted().min(size_max) as u64
        {
            let decompress = |buffer: &mut [u8]| bulk::decompress_to_buffer(frame, buffer);
            let appended =
                out.append_with(size as usize, |buffer| decompress(buffer).map_err(damaged));
            return appended.map(drop);
        }
        // A frame needs no window larger than what may come out of it.
        let window_log = size_max.checked_ilog2().unwrap_or(0) + 1;
        let mut decoder = Decoder::with_buffer(frame).map_err(damaged)?.single_frame();
        decoder
            .window_log_max(window_log.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX))
            .map_err(damaged)?;
        out.append_stream("zstd", frame.len(), decoder)
    }
}
