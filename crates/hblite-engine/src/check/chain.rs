//! Whether each row of a table belongs to exactly one region.

use std::fmt;

use hblite_model::RegionInfo;
use hblite_model::bytes::to_string_binary;

/// A defect between regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Break<'a> {
    /// No region holds rows from the first key up to the second; empty means unbounded.
    Hole(&'a [u8], &'a [u8]),
    /// The second begins before the first ends.
    Overlap(&'a RegionInfo, &'a RegionInfo),
    /// It ends before it begins.
    Reversed(&'a RegionInfo),
}

impl fmt::Display for Break<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hole(from, to) => {
                let (from, to) = (to_string_binary(from), to_string_binary(to));
                write!(f, "no region takes rows from '{from}' up to '{to}'")
            }
            Self::Overlap(first, second) => {
                let from = to_string_binary(second.start_key());
                let (first, second) = (first.encoded_name(), second.encoded_name());
                write!(f, "regions {first} and {second} both take rows from '{from}' on")
            }
            Self::Reversed(region) => {
                write!(f, "region {} ends before it begins", region.encoded_name())
            }
        }
    }
}

/// Holes and overlaps of the regions that should hold all rows.
pub(super) fn breaks<'a>(regions: impl IntoIterator<Item = &'a RegionInfo>) -> Vec<Break<'a>> {
    let mut regions: Vec<&RegionInfo> = regions.into_iter().collect();
    regions.sort_by(|left, right| left.start_key().cmp(right.start_key()));
    let mut breaks = Vec::new();
    // The region that reaches furthest so far.
    let mut furthest: Option<&RegionInfo> = None;
    for region in regions {
        let (start, end) = (region.start_key(), region.end_key());
        if !end.is_empty() && end <= start {
            breaks.push(Break::Reversed(region));
            continue;
        }
        match furthest {
            None if !start.is_empty() => breaks.push(Break::Hole(b"", start)),
            Some(before) if before.end_key().is_empty() || before.end_key() > start => {
                breaks.push(Break::Overlap(before, region));
            }
            Some(before) if before.end_key() < start => {
                breaks.push(Break::Hole(before.end_key(), start));
            }
            _ => {}
        }
        let is_further = furthest.is_none_or(|before| {
            !before.end_key().is_empty() && (end.is_empty() || end > before.end_key())
        });
        if is_further {
            furthest = Some(region);
        }
    }
    match furthest {
        None => breaks.push(Break::Hole(b"", b"")),
        Some(last) if !last.end_key().is_empty() => {
            breaks.push(Break::Hole(last.end_key(), b""));
        }
        Some(_) => {}
    }
    breaks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn region(start: &str, end: &str) -> RegionInfo {
        RegionInfo::new("t".parse().unwrap(), start.as_bytes(), end.as_bytes(), 1)
    }

    fn found(regions: &[(&str, &str)]) -> Vec<String> {
        let regions: Vec<_> = regions.iter().map(|(start, end)| region(start, end)).collect();
        breaks(&regions).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_break_is_reported() {
        assert_eq!(found(&[("", "b"), ("b", "m"), ("m", "")]), [""; 0]);
        assert_eq!(found(&[("", "")]), [""; 0]);
        assert_eq!(found(&[]), ["no region takes rows from '' up to ''"]);
        assert_eq!(
            found(&[("a", "b"), ("c", "d"), ("d", "k")]),
            [
                "no region takes rows from '' up to 'a'",
                "no region takes rows from 'b' up to 'c'",
                "no region takes rows from 'k' up to ''"
            ]
        );
        let overlaps = found(&[("", "m"), ("c", "d"), ("m", ""), ("x", "")]);
        assert_eq!(overlaps.len(), 2, "{overlaps:?}");
        assert!(overlaps[0].ends_with("both take rows from 'c' on"), "{overlaps:?}");
        assert!(overlaps[1].ends_with("both take rows from 'x' on"), "{overlaps:?}");
        let reversed = found(&[("", "b"), ("b", ""), ("d", "c")]);
        assert!(reversed.len() == 1 && reversed[0].ends_with("ends before it begins"));
    }

    proptest! {
        /// For small keys, the regions that hold each can be counted.
        #[test]
        fn as_counting_says(boundaries in prop::collection::vec((0_u8..6, 0_u8..6), 0..6)) {
            let key = |at: u8| if at == 0 { String::new() } else { at.to_string() };
            let regions: Vec<_> =
                boundaries.iter().map(|(start, end)| region(&key(*start), &key(*end))).collect();
            let is_reversed =
                |r: &&RegionInfo| !r.end_key().is_empty() && r.end_key() <= r.start_key();
            let sound: Vec<_> = regions.iter().filter(|r| !is_reversed(r)).collect();
            let counts = (0_u8..7).map(|at| {
                let row = key(at);
                sound.iter().filter(|region| region.contains_row(row.as_bytes())).count()
            });
            let counts: Vec<usize> = counts.collect();
            let breaks = breaks(&regions);
            let has = |wanted: fn(&Break<'_>) -> bool| breaks.iter().any(wanted);
            prop_assert_eq!(has(|b| matches!(b, Break::Hole(..))), counts.contains(&0));
            let is_doubled = counts.iter().any(|count| *count > 1);
            prop_assert_eq!(has(|b| matches!(b, Break::Overlap(..))), is_doubled);
            prop_assert_eq!(has(|b| matches!(b, Break::Reversed(_))), sound.len() < regions.len());
        }
    }
}
