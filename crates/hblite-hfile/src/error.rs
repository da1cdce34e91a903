//! Damage found while bytes are taken apart.
//!
//! Parsers see slices and know no file: they return [`Damage`]. Whoever read the bytes adds file
//! and offset and makes it a [`hblite_model::Error`], once ([`crate::block::BlockFile::corrupt`]).

use std::borrow::Cow;
use std::fmt;

/// What is wrong with some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage(Cow<'static, str>);

/// The result of taking bytes apart.
pub(crate) type Parsed<T> = Result<T, Damage>;

impl Damage {
    /// Bytes that are not as the format says.
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Err of a [`Damage`] with a fixed message unless `condition` holds.
pub(crate) fn ensure(condition: bool, message: &'static str) -> Parsed<()> {
    if condition { Ok(()) } else { Err(Damage::new(message)) }
}
