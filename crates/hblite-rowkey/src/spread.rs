//! Where the rows of a design go when they are written in order of time.

use std::fmt;

use crate::design::{Design, Step};
use crate::number::Number;

/// What decides where the next row lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spread {
    /// A time or a counter: each row lies behind (or before) the one written last, so that one
    /// region takes all writes at every instant.
    Growing {
        /// The field that grows.
        field: String,
    },
    /// One of so many places, whatever the row.
    Prefixes {
        /// How many.
        count: u32,
        /// Whether the places follow from the row, or from chance.
        is_random: bool,
    },
    /// A hash: every place is as likely, and all rows of one value of these fields share theirs.
    Hashed {
        /// The fields that are hashed.
        fields: Vec<String>,
    },
    /// A field: rows lie as its values do, and all rows of one value lie side by side.
    ByValue {
        /// The field.
        field: String,
    },
}

impl Design {
    /// What decides where the next row lies: the first part that is not the same in all rows.
    ///
    /// ```
    /// use hblite_rowkey::Design;
    /// let spread = |text: &str| Ok::<_, hblite_rowkey::Error>(Design::parse(text)?.spread());
    /// assert_eq!(
    ///     spread("ts:timestamp|host:str")?.to_string(),
    ///     "grows with ts: one region takes all writes at every instant"
    /// );
    /// assert_eq!(
    ///     spread("bucket(ts, 16)|ts:timestamp")?.to_string(),
    ///     "16 places, by the row: up to 16 regions share the writes"
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
                write!(f, "grows with {field}: one region takes all writes at every instant")
            }
            Self::Prefixes { count, is_random } => {
                let by = if *is_random { "at random" } else { "by the row" };
                write!(f, "{count} places, {by}: up to {count} regions share the writes")
            }
            Self::Hashed { fields } => write!(
                f,
                "a hash of {}: even over all values; one hot value stays in one place",
                fields.join(", ")
            ),
            Self::ByValue { field } => {
                write!(f, "as the values of {field} lie: even if they are many and none is hot")
            }
        }
    }
}
