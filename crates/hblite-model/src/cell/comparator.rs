//! The order of cells.
//!
//! Order:  row, family, qualifier ascending as unsigned bytes (a prefix before longer strings),
//!         timestamp descending, type code descending, sequence id descending.
//! Source: HBase's `CellComparatorImpl` and, for hbase:meta, `MetaCellComparator`.
//!
//! A key of type 0 without family and qualifier is the greatest of its row
//! ([`super::key::last_on_row`]); a key without family sorts before all others of the row.

use std::cmp::Ordering;

use super::{CellRef, CellType, key};

/// Which of HBase's two cell orders a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CellComparator {
    /// Rows are compared as bytes: all tables but hbase:meta.
    #[default]
    Default,
    /// Rows are region names `table,start key,id` compared part by part: hbase:meta.
    Meta,
}

impl CellComparator {
    /// Compares two rows.
    #[inline]
    pub fn compare_rows(self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Self::Default => left.cmp(right),
            Self::Meta => compare_meta_rows(left, right),
        }
    }

    /// Compares two flat keys, without sequence ids.
    #[inline]
    pub fn compare_keys(self, left: &[u8], right: &[u8]) -> Ordering {
        self.compare_rows(key::row(left), key::row(right))
            .then_with(|| compare_without_row(left, right))
    }

    /// Compares two cells, including sequence ids (the higher one sorts first).
    #[inline]
    pub fn compare(self, left: &CellRef<'_>, right: &CellRef<'_>) -> Ordering {
        self.compare_keys(left.key(), right.key())
            .then_with(|| right.sequence_id().cmp(&left.sequence_id()))
    }

    /// The class name in HFile trailers (names of HBase 1, which HBase kept for compatibility).
    pub fn class_name(self) -> &'static str {
        match self {
            Self::Default => "org.apache.hadoop.hbase.KeyValue$KVComparator",
            Self::Meta => "org.apache.hadoop.hbase.KeyValue$MetaComparator",
        }
    }
}

/// Compares two keys of the same row.
#[inline]
pub fn compare_without_row(left: &[u8], right: &[u8]) -> Ordering {
    let left_column = key::column(left);
    let right_column = key::column(right);
    if left_column == right_column {
        return compare_versions(left, right);
    }
    // A column slice of one byte is the family length 0: neither family nor qualifier.
    if left_column.len() == 1 && key::type_code(left) == CellType::MINIMUM {
        return Ordering::Greater;
    }
    if right_column.len() == 1 && key::type_code(right) == CellType::MINIMUM {
        return Ordering::Less;
    }
    compare_columns(left_column, right_column)
}

/// Compares two column slices ([`key::column`]): family, then qualifier.
#[inline]
pub fn compare_columns(left: &[u8], right: &[u8]) -> Ordering {
    if left[0] == right[0] {
        return left.cmp(right);
    }
    let (left_family, left_qualifier) = left[1..].split_at(left[0] as usize);
    let (right_family, right_qualifier) = right[1..].split_at(right[0] as usize);
    left_family.cmp(right_family).then_with(|| left_qualifier.cmp(right_qualifier))
}

/// Compares timestamp and type of two keys of the same column: the newer one sorts first.
#[inline]
pub fn compare_versions(left: &[u8], right: &[u8]) -> Ordering {
    if key::type_code(left) == CellType::MINIMUM && key::column(left).len() == 1 {
        return if key::type_code(right) == CellType::MINIMUM {
            key::timestamp(right).cmp(&key::timestamp(left))
        } else {
            Ordering::Greater
        };
    }
    if key::type_code(right) == CellType::MINIMUM && key::column(right).len() == 1 {
        return Ordering::Less;
    }
    key::timestamp(right)
        .cmp(&key::timestamp(left))
        .then_with(|| key::type_code(right).cmp(&key::type_code(left)))
}

/// Compares two rows of hbase:meta: table, start key, then the region's id, each as bytes.
///
/// No row has only one comma, but a scan may start at such a key, for example `t,`. HBase then uses
/// the whole key as the id, so `t,` comes after `t,,1` and a scan that starts there misses the
/// region.
fn compare_meta_rows(left: &[u8], right: &[u8]) -> Ordering {
    let (left_table, left_rest) = split_at_comma(left, |row| row.iter().position(|b| *b == b','));
    let (right_table, right_rest) =
        split_at_comma(right, |row| row.iter().position(|b| *b == b','));
    let tables = left_table.cmp(right_table);
    if tables != Ordering::Equal {
        return tables;
    }
    let (Some(left_rest), Some(right_rest)) = (left_rest, right_rest) else {
        return left_rest.is_some().cmp(&right_rest.is_some());
    };
    let last = |row: &[u8]| row.iter().rposition(|b| *b == b',');
    let (left_start, left_id) = split_at_comma(left_rest, last);
    let (right_start, right_id) = split_at_comma(right_rest, last);
    left_start.cmp(right_start).then_with(|| left_id.unwrap_or(left).cmp(right_id.unwrap_or(right)))
}

/// The parts before and after the comma that `find` locates.
fn split_at_comma(row: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> (&[u8], Option<&[u8]>) {
    match find(row) {
        Some(at) => (&row[..at], Some(&row[at + 1..])),
        None => (row, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::LATEST_TIMESTAMP;

    fn key(row: &str, family: &str, qualifier: &str, timestamp: i64, code: u8) -> Vec<u8> {
        key::build(row.as_bytes(), family.as_bytes(), qualifier.as_bytes(), timestamp, code)
    }

    #[test]
    fn keys_are_ordered_as_hbase_orders_them() {
        let ascending = [
            key::first_on_row(b"a"),
            key("a", "f", "", 5, 14),
            key("a", "f", "", 5, 4),
            key("a", "f", "q", i64::MAX, 255),
            key("a", "f", "q", 9, 4),
            key("a", "f", "q", 5, 12),
            key("a", "f", "q", 5, 8),
            key("a", "f", "q", 5, 4),
            key("a", "f", "q", -1, 4),
            key("a", "f", "q\0", 9, 4),
            key("a", "fa", "", 9, 4),
            key("a", "g", "", 9, 4),
            key::last_on_row(b"a"),
            key("a\0", "f", "", 9, 4),
            key("b", "f", "", 9, 4),
            key("\u{ff}", "f", "", LATEST_TIMESTAMP, 4),
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(
                    CellComparator::Default.compare_keys(left, right),
                    i.cmp(&j),
                    "{left:?} against {right:?}"
                );
            }
        }
    }

    #[test]
    fn meta_rows_are_compared_part_by_part() {
        let ascending: [&[u8]; 9] =
            [b"t", b"t,,1", b"t,", b"t,!,1", b"t,a,1", b"t,a,2", b"t,a", b"t,a\x01,1", b"t!,,1"];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(CellComparator::Meta.compare_rows(left, right), i.cmp(&j));
            }
        }
    }
}
