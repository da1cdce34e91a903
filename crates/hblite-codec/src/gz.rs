//! GZ: one gzip member per payload.
//!
//! ```text
//! 1f 8b 08 00  00 00 00 00  00 00 | deflate | u32 CRC-32 of the payload | u32 its size   (LE)
//! ```

use flate2::{Compress, FlushCompress, Status};

use crate::{Codec, CodecError, Compressor, Output};

/// Magic, method deflate, no flags, no time, no extra flags, system FAT: as the JDK writes it.
const MEMBER_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0];
/// Room for what deflate adds to small or random payloads.
const DEFLATE_OVERHEAD: usize = 64;

/// The codec.
#[derive(Debug)]
pub(crate) struct Gz;

impl Codec for Gz {
    fn compressor(&self) -> Box<dyn Compressor> {
        Box::new(GzCompressor { deflate: Compress::new(flate2::Compression::default(), false) })
    }

    fn decompress(&self, stored: &[u8], out: &mut Output<'_>) -> Result<(), CodecError> {
        out.append_stream("gzip", stored.len(), flate2::bufread::GzDecoder::new(stored))
    }
}

/// Keeps the state of deflate between payloads.
#[derive(Debug)]
struct GzCompressor {
    deflate: Compress,
}

impl Compressor for GzCompressor {
    fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.extend_from_slice(&MEMBER_HEADER);
        self.deflate.reset();
        loop {
            let consumed = usize::try_from(self.deflate.total_in()).unwrap_or(payload.len());
            let rest = &payload[consumed..];
            out.reserve(rest.len() / 2 + DEFLATE_OVERHEAD);
            let status = self
                .deflate
                .compress_vec(rest, out, FlushCompress::Finish)
                .map_err(|error| CodecError::failed("GZ", error))?;
            if status == Status::StreamEnd {
                break;
            }
        }
        out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
        out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        Ok(())
    }
}
