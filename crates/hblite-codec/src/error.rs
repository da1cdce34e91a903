//! Errors of a codec. The caller adds what the bytes belong to.

use std::borrow::Cow;
use std::fmt;

/// Why a codec did not produce its output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes are not in the codec's form.
    Malformed(Cow<'static, str>),
    /// The payload is larger than this many bytes, the most that the caller accepts.
    TooLarge(usize),
    /// This many bytes of memory are not available.
    NoMemory(usize),
    /// The codec could not compress.
    Failed(String),
}

impl CodecError {
    pub(crate) fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(message.into())
    }

    /// A codec that failed while compressing.
    pub(crate) fn failed(codec: &str, error: impl fmt::Display) -> Self {
        Self::Failed(format!("{codec} compression failed: {error}"))
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(message) => f.write_str(message),
            Self::TooLarge(max) => write!(f, "decompresses to more than {max} bytes"),
            Self::NoMemory(bytes) => write!(f, "no memory for {bytes} bytes"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CodecError {}

/// Returns [`CodecError::Malformed`] with this message unless `condition` holds.
pub(crate) fn ensure(condition: bool, message: &'static str) -> Result<(), CodecError> {
    if condition { Ok(()) } else { Err(CodecError::malformed(message)) }
}
