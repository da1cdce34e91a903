//! Increments and appends: what they add, and their settings.

use std::time::Duration;

use super::{Append, Increment, millis};
use crate::cell::{CellType, LATEST_TIMESTAMP};
use crate::ops::TimeRange;
use crate::ops::value::IntoValue;

impl Increment {
    /// Adds `amount` to a column; a missing column counts as 0.
    #[must_use]
    pub fn add(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        amount: i64,
    ) -> Self {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        let amount = amount.to_be_bytes();
        self.0.push(family, qualifier, LATEST_TIMESTAMP, CellType::Put, &amount);
        self
    }
}

impl Append {
    /// Appends `value` to a column; a missing column counts as empty.
    #[must_use]
    pub fn add(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl IntoValue,
    ) -> Self {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        self.0.push(
            family,
            qualifier,
            LATEST_TIMESTAMP,
            CellType::Put,
            value.into_value().as_ref(),
        );
        self
    }
}

macro_rules! read_modify_write_settings {
    ($($name:ident)*) => { $(
        impl $name {
            /// Sets the timestamp. HBase checks it, but then assigns its own.
            #[must_use]
            pub fn with_timestamp(mut self, timestamp: i64) -> Self {
                self.0.set_timestamp(timestamp);
                self
            }

            /// Looks for the current value only in this time range.
            #[must_use]
            pub fn with_time_range(mut self, time_range: TimeRange) -> Self {
                self.0.time_range = time_range;
                self
            }

            /// Gives the new cells a time to live, to the millisecond.
            #[must_use]
            pub fn with_time_to_live(mut self, time: Duration) -> Self {
                self.0.time_to_live_ms = Some(millis(time));
                self
            }

            /// Whether the new values are returned.
            #[must_use]
            pub fn with_returned_results(mut self, wanted: bool) -> Self {
                self.0.returns_results = wanted;
                self
            }
        }
    )* };
}

read_modify_write_settings! { Increment Append }
