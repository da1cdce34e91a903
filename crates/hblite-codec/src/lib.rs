//! HBase's compression codecs, for the blocks of HFiles and for cell blocks on the wire.
//!
//! ```text
//! NONE                as it is
//! GZ                  one gzip member
//! SNAPPY, LZ4, ZSTD   Hadoop's block stream, see `block_stream`; a bare zstd frame is read, too
//! ```
//!
//! A codec is one file here, a line in `registry`, and a line in the table of
//! [`Compression`], which has its name and its number on disk. A codec that is missing from the
//! registry does not compile.
//!
//! The feature `zstd` (on by default) is the only one with C code. Without it,
//! [`ensure_available`] and [`codec`] refuse ZSTD with an error that names the codec and the
//! feature.
//!
//! Memory: output grows with the bytes that the codec actually produces and never beyond the limit
//! that the caller sets, so a damaged size field allocates nothing. Callers can account for the
//! memory, see [`Memory`].
//!
//! Threads: codecs have no state and may be used by any thread; a [`Compressor`] belongs to one.
//! Source: HBase's `Compression.Algorithm`.
#![forbid(unsafe_code)]

mod block_stream;
mod error;
mod gz;
mod lz4;
mod output;
mod plain;
mod registry;
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(test)]
mod tests;

#[doc(no_inline)]
pub use hblite_model::Compression;

pub use error::CodecError;
pub use output::{Heap, Memory, Output};
pub use registry::{Unavailable, available, codec, ensure_available};

/// One way to compress payloads.
pub trait Codec: std::fmt::Debug + Sync {
    /// A compressor, which keeps its working memory between payloads.
    fn compressor(&self) -> Box<dyn Compressor>;

    /// Appends the payload whose compressed form is `stored`.
    ///
    /// # Errors
    /// [`CodecError::Malformed`] if `stored` is not in the codec's form, [`CodecError::TooLarge`]
    /// if the payload is larger than the output may become, [`CodecError::NoMemory`] if there is no
    /// memory for it.
    fn decompress(&self, stored: &[u8], out: &mut Output<'_>) -> Result<(), CodecError>;
}

/// Compresses one payload after the other.
pub trait Compressor: std::fmt::Debug + Send + Sync {
    /// Appends the compressed form of `payload`.
    ///
    /// # Errors
    /// [`CodecError::Failed`] if the codec fails, which it does only for lack of memory.
    fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError>;
}
