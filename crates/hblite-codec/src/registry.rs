//! The codec of each compression: one line each, and the compiler refuses a missing one.

use std::fmt;

use hblite_model::{Compression, Error, Exception};

use crate::Codec;
use crate::block_stream::BlockStream;
use crate::gz::Gz;
use crate::lz4::Lz4;
use crate::plain::Plain;
use crate::snappy::Snappy;

/// What this build provides for a compression.
enum Entry {
    Codec(&'static dyn Codec),
    /// It can be compiled in with this feature.
    #[allow(dead_code, reason = "which lines use it depends on the features")]
    Feature(&'static str),
    /// hblite has no such codec.
    Missing,
}

fn entry(compression: Compression) -> Entry {
    match compression {
        Compression::None => Entry::Codec(&Plain),
        Compression::Gz => Entry::Codec(&Gz),
        Compression::Snappy => Entry::Codec(&BlockStream::<Snappy>::NEW),
        Compression::Lz4 => Entry::Codec(&BlockStream::<Lz4>::NEW),
        #[cfg(feature = "zstd")]
        Compression::Zstd => Entry::Codec(&BlockStream::<crate::zstd::Zstd>::NEW),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => Entry::Feature("zstd"),
        Compression::Lzo | Compression::Bzip2 => Entry::Missing,
    }
}

/// A compression that this build can neither read nor write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// The compression.
    pub compression: Compression,
    /// The Cargo feature that would add the codec; `None` if hblite has no such codec.
    pub feature: Option<&'static str>,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codec = self.compression;
        match self.feature {
            Some(feature) => write!(
                f,
                "this build of hblite has no codec for {codec}: build it with the feature \
                 `{feature}`"
            ),
            None => write!(f, "hblite has no codec for {codec}"),
        }
    }
}

impl std::error::Error for Unavailable {}

impl From<Unavailable> for Error {
    fn from(unavailable: Unavailable) -> Self {
        Self::new(Exception::UnsupportedOperation, unavailable.to_string())
    }
}

/// The codec of a compression.
///
/// # Errors
/// [`Unavailable`], which says whether a feature would add it.
pub fn codec(compression: Compression) -> Result<&'static dyn Codec, Unavailable> {
    match entry(compression) {
        Entry::Codec(codec) => Ok(codec),
        Entry::Feature(feature) => Err(Unavailable { compression, feature: Some(feature) }),
        Entry::Missing => Err(Unavailable { compression, feature: None }),
    }
}

/// Refuses a compression that this build cannot read and write.
///
/// # Errors
/// As [`codec`].
pub fn ensure_available(compression: Compression) -> Result<(), Unavailable> {
    codec(compression).map(drop)
}

/// The compressions that this build can read and write, NONE included.
pub fn available() -> impl Iterator<Item = Compression> {
    Compression::ALL.iter().copied().filter(|compression| ensure_available(*compression).is_ok())
}
