//! Compressed cell blocks: the compressor of the connection's header wraps whole blocks.
//!
//! `GzipCodec` is one gzip stream. The others are streams of Hadoop's:
//!
//! ```text
//! (u32 length of the plain bytes │ (u32 length │ compressed bytes)*)*
//! ```

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hblite_model::{Error, Result};

use crate::memory::Room;

const PACKAGE: &str = "org.apache.hadoop.io.compress.";
/// Plain bytes in one piece of what is written.
const PIECE_SIZE: usize = 128 * 1024;

/// How cell blocks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressor {
    /// `GzipCodec` (and `DefaultCodec`'s stronger sister).
    Gzip,
    /// `SnappyCodec`.
    Snappy,
    /// `Lz4Codec`.
    Lz4,
}

impl Compressor {
    /// The compressor with the name of this Java class, of Hadoop or of HBase's own codecs.
    pub fn from_class_name(name: &str) -> Option<Self> {
        let simple = name.rsplit('.').next()?;
        let is_known =
            name.starts_with(PACKAGE) || name.starts_with("org.apache.hadoop.hbase.io.compress.");
        match simple {
            "GzipCodec" if is_known => Some(Self::Gzip),
            "SnappyCodec" if is_known => Some(Self::Snappy),
            "Lz4Codec" if is_known => Some(Self::Lz4),
            _ => None,
        }
    }

    /// Compresses a block.
    ///
    /// # Errors
    /// `Io` if the compressor fails, which it does not in memory.
    pub fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        if self == Self::Gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            return encoder.write_all(block).and_then(|()| encoder.finish()).map_err(failed);
        }
        let mut out = Vec::with_capacity(block.len() / 2 + 16);
        for piece in block.chunks(PIECE_SIZE) {
            let compressed = match self {
                Self::Lz4 => lz4_flex::block::compress(piece),
                _ => snap::raw::Encoder::new().compress_vec(piece).map_err(failed)?,
            };
            out.extend_from_slice(&(piece.len() as u32).to_be_bytes());
            out.extend_from_slice(&(compressed.len() as u32).to_be_bytes());
            out.extend_from_slice(&compressed);
        }
        Ok(out)
    }

    /// Gives the plain bytes of a block, of which there may be `size_max_bytes`; `None` if `room`
    /// does not have the memory for them.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the bytes are no such block, or there are more.
    pub fn decompress(
        self,
        block: &[u8],
        size_max_bytes: usize,
        room: &mut Room,
    ) -> Result<Option<Vec<u8>>> {
        let mut out = Plain { bytes: Vec::new(), size_max_bytes, room };
        let is_whole = match self {
            Self::Gzip => gunzip(block, &mut out)?,
            _ => self.decompress_stream(block, &mut out)?,
        };
        Ok(is_whole.then_some(out.bytes))
    }

    /// False if there is no room.
    fn decompress_stream(self, mut block: &[u8], out: &mut Plain<'_>) -> Result<bool> {
        let cut = || Error::do_not_retry("a compressed cell block is cut");
        while !block.is_empty() {
            let plain = take_u32(&mut block).ok_or_else(cut)?;
            let end = out.bytes.len().saturating_add(plain);
            if end > out.size_max_bytes {
                return Err(too_large(out.size_max_bytes));
            }
            while out.bytes.len() < end {
                let length = take_u32(&mut block).ok_or_else(cut)?;
                let (piece, rest) = block.split_at_checked(length).ok_or_else(cut)?;
                block = rest;
                let left = end - out.bytes.len();
                let most = match self {
                    // No byte of LZ4 stands for more than 255.
                    Self::Lz4 => piece.len().saturating_mul(255).min(left),
                    // The announced length is not believed: there is room only for what may be.
                    _ => snap::raw::decompress_len(piece).map_err(failed)?,
                };
                if most > left {
                    return Err(too_large(left));
                }
                let Some(target) = out.extend(most) else { return Ok(false) };
                let length = match self {
                    Self::Lz4 => lz4_flex::block::decompress_into(piece, target).map_err(failed)?,
                    _ => snap::raw::Decoder::new().decompress(piece, target).map_err(failed)?,
                };
                if length == 0 {
                    return Err(cut());
                }
                out.bytes.truncate(out.bytes.len() - (most - length));
            }
        }
        Ok(true)
    }
}

/// Plain bytes as far as they are there.
struct Plain<'r> {
    bytes: Vec<u8>,
    size_max_bytes: usize,
    room: &'r mut Room,
}

impl Plain<'_> {
    /// `count` more bytes to be written to; `None` if there is no room for them.
    fn extend(&mut self, count: usize) -> Option<&mut [u8]> {
        if !self.room.try_reserve(&mut self.bytes, count) {
            return None;
        }
        let begin = self.bytes.len();
        self.bytes.resize(begin + count, 0);
        Some(&mut self.bytes[begin..])
    }
}

/// False if there is no room.
fn gunzip(block: &[u8], out: &mut Plain<'_>) -> Result<bool> {
    let mut decoder = MultiGzDecoder::new(block);
    loop {
        // One byte more than there may be tells a block that is too large.
        let left = (out.size_max_bytes + 1).saturating_sub(out.bytes.len());
        let asked = left.min(PIECE_SIZE).min(4 * (block.len() + out.bytes.len()) + 16);
        let Some(target) = out.extend(asked) else { return Ok(false) };
        let length = decoder.read(target).map_err(failed)?;
        out.bytes.truncate(out.bytes.len() - (asked - length));
        if out.bytes.len() > out.size_max_bytes {
            return Err(too_large(out.size_max_bytes));
        }
        if length == 0 {
            return Ok(true);
        }
    }
}

fn take_u32(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*number) as usize)
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::do_not_retry(format!("a cell block that cannot be decompressed: {error}"))
        .with_source(error)
}

fn too_large(max: usize) -> Error {
    Error::do_not_retry(format!("a cell block is larger than {max} bytes"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::memory::MemoryBudget;

    fn plain(compressor: Compressor, block: &[u8], size_max: usize) -> Result<Vec<u8>> {
        compressor
            .decompress(block, size_max, &mut Room::of(1 << 30))
            .map(|plain| plain.expect("room"))
    }

    const ALL: [Compressor; 3] = [Compressor::Gzip, Compressor::Snappy, Compressor::Lz4];

    #[test]
    fn classes_have_their_names() {
        let of = Compressor::from_class_name;
        assert_eq!(of("org.apache.hadoop.io.compress.GzipCodec"), Some(Compressor::Gzip));
        assert_eq!(of("org.apache.hadoop.io.compress.SnappyCodec"), Some(Compressor::Snappy));
        assert_eq!(of("org.apache.hadoop.io.compress.Lz4Codec"), Some(Compressor::Lz4));
        assert_eq!(of("GzipCodec"), None);
    }

    #[test]
    fn a_bomb_is_refused() {
        let zeros = vec![0; 1 << 20];
        for compressor in ALL {
            let packed = compressor.compress(&zeros).unwrap();
            assert!(plain(compressor, &packed, zeros.len() - 1).is_err(), "{compressor:?}");
        }
    }

    #[test]
    fn no_more_is_allocated_than_there_is_room_for() {
        let zeros = vec![0; 8 << 20];
        let budget = Arc::new(MemoryBudget::new(4 << 20));
        for compressor in ALL {
            let packed = compressor.compress(&zeros).unwrap();
            let mut room = Room::new(budget.account(2 << 20).charge(), 0);
            let plain = compressor.decompress(&packed, zeros.len(), &mut room).unwrap();
            assert_eq!(plain, None, "{compressor:?}");
            assert!(budget.used_bytes() > 1 << 20, "it grows as far as it can");
        }
        assert_eq!(budget.used_bytes(), 0);
    }

    proptest! {
        #[test]
        fn blocks_come_back(bytes: Vec<u8>, length in 0..3 * PIECE_SIZE) {
            let block: Vec<u8> = bytes.iter().copied().cycle().take(length / 8).collect();
            for compressor in ALL {
                let packed = compressor.compress(&block).unwrap();
                prop_assert_eq!(&plain(compressor, &packed, block.len()).unwrap(), &block);
            }
        }

        #[test]
        fn any_bytes_are_a_block_or_refused(bytes: Vec<u8>) {
            for compressor in ALL {
                let _ = plain(compressor, &bytes, 1 << 16);
            }
        }
    }
}
