//! Compression of block payloads, with the codecs of `hblite-codec`.
//!
//! The trailer has the codec's number. It applies to every block, including index and Bloom blocks,
//! and even to an empty payload.
//!
//! Memory: a payload never becomes larger than its block header announces, and grows only with the
//! codec's output, so a damaged size cannot cause a large allocation.

use hblite_codec::{CodecError, Heap, Output, Unavailable};
use hblite_model::{Compression, Error, Exception};

use crate::error::{Damage, Parsed, ensure};

/// The compression with this number in a trailer.
///
/// # Errors
/// Text that says why files with it cannot be read.
pub(crate) fn of_number(number: u64) -> Result<Compression, String> {
    let compression = Compression::from_number(number)
        .ok_or_else(|| format!("compression codec number {number}"))?;
    hblite_codec::ensure_available(compression).map_err(|missing| missing.to_string())?;
    Ok(compression)
}

/// Decompresses `stored`, which must yield `size` bytes.
pub(crate) fn decompress(compression: Compression, stored: &[u8], size: usize) -> Parsed<Vec<u8>> {
    let codec = hblite_codec::codec(compression)
        .map_err(|missing: Unavailable| Damage::new(missing.to_string()))?;
    let mut heap = Heap;
    let mut out = Output::new(size, &mut heap);
    out.reserve_for(stored.len())?;
    codec.decompress(stored, &mut out)?;
    let payload = out.into_bytes();
    ensure(payload.len() == size, "payload does not decompress to the size in its block header")?;
    Ok(payload)
}

impl From<CodecError> for Damage {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::NoMemory(bytes) => Self::Memory(bytes),
            other => Self::new(other.to_string()),
        }
    }
}

/// A codec that failed while compressing, which happens only for lack of memory.
pub(super) fn failed(error: CodecError) -> Error {
    Error::new(Exception::Io, error.to_string()).with_source(error)
}
