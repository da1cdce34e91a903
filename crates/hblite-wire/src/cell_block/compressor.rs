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

    /// Gives the plain bytes of a block, of which there may be `size_max_bytes`.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the bytes are no such block, or there are more.
    pub fn decompress(self, block: &[u8], size_max_bytes: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        if self == Self::Gzip {
            let limit = size_max_bytes as u64 + 1;
            MultiGzDecoder::new(block).take(limit).read_to_end(&mut out).map_err(failed)?;
        } else {
            self.decompress_stream(block, size_max_bytes, &mut out)?;
        }
        if out.len() > size_max_bytes {
            return Err(too_large(size_max_bytes));
        }
        Ok(out)
    }

    fn decompress_stream(self, mut block: &[u8], max: usize, out: &mut Vec<u8>) -> Result<()> {
        let cut = || Error::do_not_retry("a compressed cell block is cut");
        while !block.is_empty() {
            let plain = take_u32(&mut block).ok_or_else(cut)?;
            let end = out.len().checked_add(plain).filter(|end| *end <= max);
            let end = end.ok_or_else(|| too_large(max))?;
            while out.len() < end {
                let length = take_u32(&mut block).ok_or_else(cut)?;
                let (piece, rest) = block.split_at_checked(length).ok_or_else(cut)?;
                block = rest;
                let left = end - out.len();
                let plain = match self {
                    Self::Lz4 => lz4_piece(piece, left)?,
                    _ => snappy_piece(piece, left)?,
                };
                if plain.is_empty() || plain.len() > left {
                    return Err(cut());
                }
                out.extend_from_slice(&plain);
            }
        }
        Ok(())
    }
}

fn snappy_piece(piece: &[u8], left: usize) -> Result<Vec<u8>> {
    // The announced length is not believed: it is allocated only if it may be true.
    let length = snap::raw::decompress_len(piece).map_err(failed)?;
    if length > left {
        return Err(too_large(left));
    }
    snap::raw::Decoder::new().decompress_vec(piece).map_err(failed)
}

fn lz4_piece(piece: &[u8], left: usize) -> Result<Vec<u8>> {
    // No byte of LZ4 stands for more than 255.
    let most = piece.len().saturating_mul(255).min(left);
    let mut plain = vec![0; most];
    let length = lz4_flex::block::decompress_into(piece, &mut plain).map_err(failed)?;
    plain.truncate(length);
    Ok(plain)
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
    use proptest::prelude::*;

    use super::*;

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
            assert!(compressor.decompress(&packed, zeros.len() - 1).is_err(), "{compressor:?}");
        }
    }

    proptest! {
        #[test]
        fn blocks_come_back(bytes: Vec<u8>, length in 0..3 * PIECE_SIZE) {
            let block: Vec<u8> = bytes.iter().copied().cycle().take(length / 8).collect();
            for compressor in ALL {
                let packed = compressor.compress(&block).unwrap();
                prop_assert_eq!(&compressor.decompress(&packed, block.len()).unwrap(), &block);
            }
        }

        #[test]
        fn any_bytes_are_a_block_or_refused(bytes: Vec<u8>) {
            for compressor in ALL {
                let _ = compressor.decompress(&bytes, 1 << 16);
            }
        }
    }
}
