//! Ranges of timestamps.

use crate::error::{Error, Result};

/// Timestamps from `min` up to but excluding `max`, in milliseconds (`TimeRange`).
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
    /// `IllegalArgument` with HBase's message if a bound is negative or `min` is after `max`.
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
    /// As [`TimeRange::new`]; `i64::MAX` has no successor and is refused as in HBase.
    pub fn at(timestamp: i64) -> Result<Self> {
        Self::new(timestamp, timestamp.wrapping_add(1))
    }

    /// The first timestamp.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The first timestamp after the range.
    pub fn max(&self) -> i64 {
        self.max
    }

    /// Whether the range contains every timestamp.
    #[inline]
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Whether the range contains `timestamp`.
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
