//! Why a message cannot be read.

use std::fmt;
use std::io;

/// The result of reading a message.
pub(crate) type Result<T> = std::result::Result<T, ProtocolError>;

/// Why a message cannot be read. Each ends the connection.
#[derive(Debug)]
pub(crate) enum ProtocolError {
    /// The connection failed, ended within a message, or waited too long.
    Io(io::Error),
    /// The bytes are not a message.
    Malformed(String),
    /// The message is larger than a limit allows.
    TooLarge(String),
    /// The message needs more memory than other connections leave, or than its share.
    NoMemory,
}

impl ProtocolError {
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::Malformed(message.into())
    }
}

impl From<io::Error> for ProtocolError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Malformed(message) => write!(f, "malformed message: {message}"),
            Self::TooLarge(message) => write!(f, "message too large: {message}"),
            Self::NoMemory => f.write_str("no memory is left for the message"),
        }
    }
}
