//! The progress of the copy of a table: what an interrupted copy needs to continue.
//!
//! As JSON, one object per table, with bytes as HBase prints them (`Bytes.toStringBinary`):
//!
//! ```text
//! {"table":"ns:t","ranges":[{"start":"","stop":"m","copied_to":"k17","is_done":false}, …]}
//! ```

use hblite::bytes::{from_string_binary, to_string_binary};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::row_range::RowRange;

/// The progress of the copy of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyProgress {
    /// The name of the table that is read.
    pub table: String,
    /// Its ranges, in order of their rows.
    pub ranges: Vec<RangeProgress>,
}

/// The progress of the copy of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeProgress {
    /// The first row.
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    pub start: Vec<u8>,
    /// The row after the last; empty for the end of the table.
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    pub stop: Vec<u8>,
    /// All rows up to this one are in the other table; empty before the first.
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    pub copied_to: Vec<u8>,
    /// Whether the whole range is copied.
    pub is_done: bool,
}

impl CopyProgress {
    /// The beginning of a copy of these ranges.
    pub fn new(table: impl Into<String>, ranges: &[RowRange]) -> Self {
        let ranges = ranges.iter().map(|range| RangeProgress {
            start: range.start.clone(),
            stop: range.stop.clone(),
            copied_to: Vec::new(),
            is_done: false,
        });
        Self { table: table.into(), ranges: ranges.collect() }
    }

    /// Whether the ranges are those of a whole table, one after the other, and no range has been
    /// copied beyond its end. Rows between two ranges would never be copied.
    pub fn is_whole(&self) -> bool {
        let is_joined = self
            .ranges
            .windows(2)
            .all(|pair| pair[0].stop == pair[1].start && !pair[0].stop.is_empty());
        let ends = self.ranges.first().zip(self.ranges.last());
        let is_inside = |range: &RangeProgress| {
            let (start, stop, to) = (&range.start, &range.stop, &range.copied_to);
            let is_ordered = stop.is_empty() || start < stop;
            is_ordered && (to.is_empty() || (start <= to && (stop.is_empty() || to < stop)))
        };
        ends.is_some_and(|(first, last)| first.start.is_empty() && last.stop.is_empty())
            && is_joined
            && self.ranges.iter().all(is_inside)
    }

    /// Whether the whole table is copied.
    pub fn is_done(&self) -> bool {
        self.ranges.iter().all(|range| range.is_done)
    }
}

fn write_bytes<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&to_string_binary(bytes))
}

fn read_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    Ok(from_string_binary(&String::deserialize(from)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_survives_as_json() {
        let ranges = [
            RowRange { start: Vec::new(), stop: b"m\x00\xff".to_vec() },
            RowRange { start: b"m\x00\xff".to_vec(), stop: Vec::new() },
        ];
        let mut progress = CopyProgress::new("ns:t", &ranges);
        progress.ranges[0].copied_to = b"k\\x".to_vec();
        progress.ranges[1].is_done = true;
        let text = serde_json::to_string(&progress).unwrap();
        assert!(text.contains(r#""stop":"m\\x00\\xFF""#), "{text}");
        assert_eq!(serde_json::from_str::<CopyProgress>(&text).unwrap(), progress);
        assert!(!progress.is_done() && progress.is_whole());
    }

    #[test]
    fn ranges_with_gaps_are_not_a_whole_table() {
        let range = |start: &str, stop: &str, copied_to: &str| RangeProgress {
            start: start.into(),
            stop: stop.into(),
            copied_to: copied_to.into(),
            is_done: false,
        };
        for (ranges, is_whole) in [
            (vec![range("", "", "z")], true),
            (vec![range("", "m", "k"), range("m", "", "m")], true),
            (vec![], false),
            (vec![range("", "m", "")], false),
            (vec![range("a", "", "")], false),
            (vec![range("", "k", ""), range("m", "", "")], false),
            (vec![range("", "m", "m"), range("m", "", "")], false),
            (vec![range("", "m", ""), range("m", "", "b")], false),
            (vec![range("", "", ""), range("", "", "")], false),
        ] {
            let progress = CopyProgress { table: "t".to_owned(), ranges };
            assert_eq!(progress.is_whole(), is_whole, "{progress:?}");
        }
    }
}
