//! Ranges of timestamps.

use crate::error::{Error, Result};

/// Timestamps from `min` up to, without, `max`, in milliseconds (`TimeRange`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeRange {
    min: i64,
    max: i64,
}

impl TimeRange {
    /// Every timestamp.
    pub const ALL: Self = Self { min: 0, max: i64::MAX };

    /// A range.
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message if a bound is negative or they are the wrong way
    /// round.
    pub fn new(min: i64, max: i64) -> Result<Self> {
        if min < 0 || max < 0 {
            return Err(Error::illegal_argument(format!(
                "Timestamp cannot be negative. minStamp:{min}, maxStamp:{max}"
            )));
        }
        if max < min {
            return Err(Error::illegal_argument("maxStamp is smaller than minStamp"));
        }
        Ok(Self { min, max })
    }

    /// Exactly one timestamp.
    ///
    /// # Errors
    /// As [`TimeRange::new`]; `i64::MAX` has no successor and is refused as HBase refuses it.
    pub fn at(timestamp: i64) -> Result<Self> {
        Self::new(timestamp, timestamp.wrapping_add(1))
    }

    /// The first timestamp.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The first timestamp beyond.
    pub fn max(&self) -> i64 {
        self.max
    }

    /// Whether every timestamp is in it.
    #[inline]
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Whether `timestamp` is in it.
    #[inline]
    pub fn contains(&self, timestamp: i64) -> bool {
        self.is_all() || (self.min <= timestamp && timestamp < self.max)
    }
}

impl Default for TimeRange {
    fn default() -> Self {
        Self::ALL
    }
}
