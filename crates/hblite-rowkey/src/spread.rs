//! Where a design puts rows that are written in time order.

use std::fmt;

use crate::design::{Design, Step};
use crate::number::Number;

/// What determines where the next row goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spread {
    /// A time or a counter: each row goes after (or before) the last one written, so one region
    /// takes all writes at any moment.
    Growing {
        /// The field that grows.
        field: String,
    },
    /// One of this many prefixes, independent of the order of rows.
    Prefixes {
        /// How many.
        count: u32,
        /// Whether the prefix is random. If not, the row determines it.
        is_random: bool,
    },
    /// A hash: every position is equally likely, and all rows with the same values of these fields
    /// are adjacent.
    Hashed {
        /// The fields that are hashed.
        fields: Vec<String>,
    },
    /// A field: rows are distributed like its values, and all rows with one value are adjacent.
    ByValue {
        /// The field.
        field: String,
    },
}

impl Design {
    /// What determines where the next row goes: the first part that is not the same in all rows.
    ///
    /// ```
    /// use hblite_rowkey::Design;
    /// let spread = |text: &str| Ok::<_, hblite_rowkey::Error>(Design::parse(text)?.spread());
    /// assert_eq!(
    ///     spread("ts:timestamp|host:str")?.to_string(),
    ///     "grows with ts: one region takes all writes at any moment"
    /// );
    /// assert_eq!(
    ///     spread("bucket(ts, 16)|ts:timestamp")?.to_string(),
    ///     "16 prefixes, computed from the row: up to 16 regions share the writes"
    /// );
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    pub fn spread(&self) -> Spread {
        let name = |field: &usize| self.fields()[*field].name.clone();
        for step in self.steps() {
            return match step {
                Step::Literal(_) => continue,
                Step::Random(labels) => Spread::Prefixes { count: labels.count(), is_random: true },
                Step::SaltByFields(labels, _) | Step::SaltByRest(labels) => {
                    Spread::Prefixes { count: labels.count(), is_random: false }
                }
                Step::Bucket { count, .. } => Spread::Prefixes { count: *count, is_random: false },
                Step::Hash { fields, .. } => {
                    Spread::Hashed { fields: fields.iter().map(name).collect() }
                }
                Step::Md5 { field, .. } => Spread::Hashed { fields: vec![name(field)] },
                Step::Number { field, number: Number::Timestamp | Number::ReverseTimestamp } => {
                    Spread::Growing { field: name(field) }
                }
                Step::Number { field, .. } | Step::Text { field, .. } => {
                    Spread::ByValue { field: name(field) }
                }
            };
        }
        Spread::ByValue { field: String::new() }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Growing { field } => {
                write!(f, "grows with {field}: one region takes all writes at any moment")
            }
            Self::Prefixes { count, is_random } => {
                let by = if *is_random { "chosen at random" } else { "computed from the row" };
                write!(f, "{count} prefixes, {by}: up to {count} regions share the writes")
            }
            Self::Hashed { fields } => write!(
                f,
                "a hash of {}: even over all values; one hot value stays in one region",
                fields.join(", ")
            ),
            Self::ByValue { field } => {
                write!(f, "like the values of {field}: even if there are many and none is hot")
            }
        }
    }
}
