//! The unit of times that are numbers.

use std::fmt;
use std::str::FromStr;

/// Seconds, or parts of them, since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

/// Seconds from 2001 to 2286, which have ten digits.
const SECONDS: std::ops::Range<u64> = 1_000_000_000..10_000_000_000;
/// Numbers of ten digits from here on are not guessed to be times: 2042. Many are phone numbers.
const SECONDS_GUESSED_MAX: u64 = 2_300_000_000;

impl TimeUnit {
    const ALL: [Self; 4] = [Self::Seconds, Self::Millis, Self::Micros, Self::Nanos];

    /// The unit in which a number is a time from 2001 to 2286.
    ///
    /// ```
    /// use hblite_hotspot::data::TimeUnit;
    /// assert_eq!(TimeUnit::of(1_767_225_600), Some(TimeUnit::Seconds));
    /// assert_eq!(TimeUnit::of(1_767_225_600_000_000), Some(TimeUnit::Micros));
    /// assert_eq!(TimeUnit::of(7), None);
    /// ```
    pub fn of(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| SECONDS.contains(&(number / unit.per_second())))
    }

    /// The same, for a number that may be something else.
    pub(super) fn guessed(number: u64) -> Option<Self> {
        Self::of(number).filter(|unit| *unit != Self::Seconds || number < SECONDS_GUESSED_MAX)
    }

    fn per_second(self) -> u64 {
        match self {
            Self::Seconds => 1,
            Self::Millis => 1_000,
            Self::Micros => 1_000_000,
            Self::Nanos => 1_000_000_000,
        }
    }

    /// A number of this unit in milliseconds; `None` if it is too large.
    pub(super) fn millis(self, number: u64) -> Option<u64> {
        match self {
            Self::Seconds => number.checked_mul(1_000),
            _ => Some(number / (self.per_second() / 1_000)),
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "s",
            Self::Millis => "ms",
            Self::Micros => "us",
            Self::Nanos => "ns",
        })
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = Self::ALL.into_iter().find(|unit| unit.to_string() == text);
        unit.ok_or_else(|| format!("{text:?} is not s, ms, us or ns"))
    }
}
