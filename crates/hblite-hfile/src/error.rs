//! Errors while bytes are parsed.
//!
//! Parsers see slices, not files: they return [`Damage`]. The code that read the bytes adds file
//! and offset, and converts it to a [`hblite_model::Error`], once
//! ([`crate::block::BlockFile::corrupt`]).
//!
//! Memory whose size comes from a file is taken with [`reserve`] and [`collect`], never with calls
//! that abort the process if there is none, because the size may be damaged.

use std::borrow::Cow;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use hblite_model::{Error, Exception};

/// What is wrong with some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Damage {
    /// They violate the format.
    Malformed(Cow<'static, str>),
    /// They need this many bytes of memory, which are not available.
    Memory(usize),
}

/// The result of parsing bytes.
pub(crate) type Parsed<T> = Result<T, Damage>;

impl Damage {
    /// Bytes that violate the format.
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(message.into())
    }

    /// The error for a file and an offset.
    #[cold]
    pub(crate) fn in_file(&self, path: &Path, offset: u64) -> Error {
        match self {
            Self::Malformed(_) => Error::corrupt(Exception::CorruptHFile, path, offset, self),
            Self::Memory(bytes) => {
                let doing = format!("allocating {bytes} bytes of memory for offset {offset} of");
                Error::io(&doing, path, ErrorKind::OutOfMemory.into())
            }
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(message) => f.write_str(message),
            Self::Memory(bytes) => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

/// Fails with `message` unless `condition` holds.
pub(crate) fn ensure(condition: bool, message: &'static str) -> Parsed<()> {
    if condition { Ok(()) } else { Err(Damage::new(message)) }
}

/// Reserves space for `additional` items, and some more if there are likely to be more.
#[inline]
pub(crate) fn reserve<T>(items: &mut Vec<T>, additional: usize) -> Parsed<()> {
    if items.capacity() - items.len() >= additional {
        return Ok(());
    }
    items.try_reserve(additional).map_err(|_| no_memory::<T>(items.len() + additional))
}

/// Like [`reserve`], for exactly that many.
pub(crate) fn reserve_exact<T>(items: &mut Vec<T>, additional: usize) -> Parsed<()> {
    items.try_reserve_exact(additional).map_err(|_| no_memory::<T>(items.len() + additional))
}

/// A copy of some bytes.
pub(crate) fn copied(bytes: &[u8]) -> Parsed<Vec<u8>> {
    let mut copy = Vec::new();
    reserve_exact(&mut copy, bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// The items of an iterator that knows how many it has.
pub(crate) fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> Parsed<Box<[T]>> {
    let mut collected = Vec::new();
    reserve_exact(&mut collected, items.len())?;
    collected.extend(items);
    Ok(collected.into_boxed_slice())
}

#[cold]
fn no_memory<T>(count: usize) -> Damage {
    Damage::Memory(count.saturating_mul(size_of::<T>()))
}
