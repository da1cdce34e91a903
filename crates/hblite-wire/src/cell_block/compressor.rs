//! Compressed cell blocks: the compressor of the connection's header wraps whole blocks.
//!
//! `GzipCodec` is one gzip stream. The others are Hadoop's block stream, as in HFiles: see
//! `hblite-codec`.

use std::io::Write as _;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hblite_codec::{Codec, CodecError, Compression, Memory, Output};
use hblite_model::{Error, Result};

use crate::memory::Room;

const PACKAGE: &str = "org.apache.hadoop.io.compress.";
/// Plain bytes in one record of the output.
const PIECE_SIZE: usize = 128 * 1024;

/// How cell blocks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressor {
    /// `GzipCodec`.
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

    /// The codec of a block stream; `None` for gzip, which is a stream of its own.
    fn stream_codec(self) -> Result<Option<&'static dyn Codec>> {
        let compression = match self {
            Self::Gzip => return Ok(None),
            Self::Snappy => Compression::Snappy,
            Self::Lz4 => Compression::Lz4,
        };
        Ok(Some(hblite_codec::codec(compression)?))
    }

    /// Compresses a block.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the compressor fails, which does not happen in memory.
    pub fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        let Some(codec) = self.stream_codec()? else {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            return encoder.write_all(block).and_then(|()| encoder.finish()).map_err(failed);
        };
        let mut out = Vec::with_capacity(block.len() / 2 + 16);
        let mut compressor = codec.compressor();
        for piece in block.chunks(PIECE_SIZE) {
            compressor.compress(piece, &mut out).map_err(failed)?;
        }
        Ok(out)
    }

    /// The plain bytes of a block, at most `size_max_bytes`; `None` if `room` does not have the
    /// memory for them.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the bytes are not such a block, or decompress to more.
    pub fn decompress(
        self,
        block: &[u8],
        size_max_bytes: usize,
        room: &mut Room,
    ) -> Result<Option<Vec<u8>>> {
        let mut out = Output::new(size_max_bytes, room);
        let decompressed = match self.stream_codec()? {
            None => out.append_stream("gzip", block.len(), MultiGzDecoder::new(block)),
            Some(codec) => codec.decompress(block, &mut out),
        };
        match decompressed {
            Ok(()) => Ok(Some(out.into_bytes())),
            Err(CodecError::NoMemory(_)) => Ok(None),
            Err(CodecError::TooLarge(max)) => Err(too_large(max)),
            Err(error) => Err(failed(error)),
        }
    }
}

impl Memory for Room {
    fn try_reserve(&mut self, bytes: &mut Vec<u8>, more: usize) -> bool {
        Self::try_reserve(self, bytes, more)
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::do_not_retry(format!("a cell block cannot be decompressed: {error}")).with_source(error)
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
