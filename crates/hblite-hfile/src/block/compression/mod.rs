//! Compression of block payloads.
//!
//! One codec per file, named by its number in the trailer; it holds for every block, index and
//! Bloom blocks too, even for an empty payload. What a payload looks like:
//!
//! ```text
//! NONE                as it is
//! GZ                  one gzip member
//! SNAPPY, LZ4, ZSTD   Hadoop's block stream, see `hadoop_stream`; a bare zstd stream is read, too
//! ```
//!
//! Memory: output grows with what really comes out of the codec and never beyond the size that the
//! block header announces, so that a damaged size cannot allocate.
//! Source: HBase's `Compression.Algorithm`.

mod gzip;
mod hadoop_stream;

use hblite_model::{Compression, Error, Exception, Result};

use crate::error::{Damage, Parsed, ensure, reserve};

/// Output room that is granted at once: so many times the input, and so many bytes.
const RESERVE_FACTOR: usize = 16;
const RESERVE_FIXED: usize = 64 * 1024;

/// The codec's number in trailers.
pub(crate) fn code(compression: Compression) -> u64 {
    match compression {
        Compression::Lzo => 0,
        Compression::Gz => 1,
        Compression::None => 2,
        Compression::Snappy => 3,
        Compression::Lz4 => 4,
        Compression::Bzip2 => 5,
        Compression::Zstd => 6,
    }
}

/// The codec with this number, if hblite can read it.
pub(crate) fn from_code(number: u64) -> Option<Compression> {
    [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4, Compression::Zstd]
        .into_iter()
        .find(|known| code(*known) == number)
}

/// Room to reserve for `uncompressed` bytes that are said to come out of `stored` ones.
fn capacity_hint(stored: usize, uncompressed: usize) -> usize {
    uncompressed.min(stored.saturating_mul(RESERVE_FACTOR).saturating_add(RESERVE_FIXED))
}

/// The payload that `stored` was made from, which must be `uncompressed_size` bytes.
///
/// Not for [`Compression::None`], whose payload is used where it lies.
pub(crate) fn decompress(
    compression: Compression,
    stored: &[u8],
    uncompressed_size: usize,
) -> Parsed<Vec<u8>> {
    let mut out = Vec::new();
    reserve(&mut out, capacity_hint(stored.len(), uncompressed_size))?;
    match compression {
        Compression::Gz => gzip::decompress(stored, &mut out, uncompressed_size)?,
        Compression::Snappy | Compression::Lz4 | Compression::Zstd => {
            hadoop_stream::decompress(compression, stored, &mut out, uncompressed_size)?;
        }
        Compression::None => {
            reserve(&mut out, stored.len())?;
            out.extend_from_slice(stored);
        }
        Compression::Lzo | Compression::Bzip2 => {
            return Err(Damage::new("compressed with a codec that hblite does not have"));
        }
    }
    ensure(
        out.len() == uncompressed_size,
        "payload does not decompress to the size in its block header",
    )?;
    Ok(out)
}

/// Compresses payload after payload with one codec, keeping the codec's working memory.
#[derive(Debug)]
pub(crate) enum Compressor {
    None,
    Gzip(gzip::GzipCompressor),
    HadoopStream(Box<hadoop_stream::StreamCompressor>),
}

impl Compressor {
    /// A compressor for this codec.
    ///
    /// # Errors
    /// `Unsupported` for codecs that hblite cannot write.
    pub(crate) fn new(compression: Compression) -> Result<Self> {
        match compression {
            Compression::None => Ok(Self::None),
            Compression::Gz => Ok(Self::Gzip(gzip::GzipCompressor::new())),
            Compression::Snappy | Compression::Lz4 | Compression::Zstd => {
                let stream = hadoop_stream::StreamCompressor::new(compression);
                Ok(Self::HadoopStream(Box::new(stream)))
            }
            Compression::Lzo | Compression::Bzip2 => Err(Error::new(
                Exception::UnsupportedOperation,
                format!("hblite cannot write compression {compression}"),
            )),
        }
    }

    /// Appends the compressed form of `payload`.
    ///
    /// # Errors
    /// `Io` if the codec fails.
    pub(crate) fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::None => {
                out.extend_from_slice(payload);
                Ok(())
            }
            Self::Gzip(gzip) => gzip.compress(payload, out),
            Self::HadoopStream(stream) => stream.compress(payload, out),
        }
    }
}

/// The codec itself failed while compressing, which the standard codecs do not do by themselves.
fn codec_failed(codec: &str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(Exception::Io, format!("{codec} compression failed: {source}")).with_source(source)
}

/// What a codec could not take apart, unless there was no memory for what came out.
fn codec_damage(codec: &str, size_max: usize, error: &std::io::Error) -> Damage {
    match error.kind() {
        std::io::ErrorKind::OutOfMemory => Damage::Memory(size_max),
        _ => Damage::new(format!("{codec}: {error}")),
    }
}

#[cfg(test)]
mod tests;
