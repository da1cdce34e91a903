//! Short keys for the index.
//!
//! Any key between the last of one block and the first of the next works for the search; HBase
//! takes a short one, so that more of them fit. Source: `HFileWriterImpl.getMidpoint`.

use hblite_model::bytes;
use hblite_model::cell::key;
use hblite_model::{CellComparator, CellType, LATEST_TIMESTAMP};

/// The index key of a block with the first key `right`, after a block that ends with `left`.
pub(crate) fn index_key(comparator: CellComparator, left: &[u8], right: &[u8]) -> Vec<u8> {
    // Rows of hbase:meta are not ordered as bytes, so a shorter key might not be in between.
    if comparator == CellComparator::Meta {
        return right.to_vec();
    }
    let build = |row: &[u8], family: &[u8], qualifier: &[u8]| {
        key::build(row, family, qualifier, LATEST_TIMESTAMP, CellType::MAXIMUM)
    };
    let row = key::row(right);
    if key::row(left) != row {
        return build(&between(key::row(left), row), b"", b"");
    }
    let family = key::family(right);
    if key::family(left) != family {
        return build(row, &between(key::family(left), family), b"");
    }
    let qualifier = key::qualifier(right);
    if key::qualifier(left) != qualifier {
        return build(row, family, &between(key::qualifier(left), qualifier));
    }
    right.to_vec()
}

/// A short m with `left < m <= right`; `left` must be smaller.
fn between(left: &[u8], right: &[u8]) -> Vec<u8> {
    assert!(left < right, "the left key is less than the right one");
    let common = bytes::common_prefix_length(left, right);
    let mut middle = left[..common].to_vec();
    match left.get(common) {
        None => middle.push(0),
        // Does not overflow: the other side has a greater byte here.
        Some(byte) => middle.push(byte + 1),
    }
    middle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between() {
        for (left, right, middle) in
            [("a", "c", "b"), ("abc", "abd", "abd"), ("ab", "abcd", "ab\0"), ("", "x", "\0")]
        {
            assert_eq!(between(left.as_bytes(), right.as_bytes()), middle.as_bytes());
        }
    }

    #[test]
    fn index_keys_are_above_the_left_and_not_above_the_right_key() {
        let key = |row: &str, qualifier: &str, timestamp| {
            key::build(row.as_bytes(), b"f", qualifier.as_bytes(), timestamp, 4)
        };
        let ascending = [
            key("a", "", 5),
            key("a", "q", 9),
            key("a", "q", 5),
            key("a", "q1", 5),
            key("a\0", "q", 5),
            key("ab", "q", 5),
            key("c", "", 1),
        ];
        for (i, left) in ascending.iter().enumerate() {
            for right in &ascending[i + 1..] {
                let middle = index_key(CellComparator::Default, left, right);
                assert!(CellComparator::Default.compare_keys(left, &middle).is_lt());
                assert!(CellComparator::Default.compare_keys(&middle, right).is_le());
            }
        }
        assert_eq!(index_key(CellComparator::Meta, &ascending[0], &ascending[6]), ascending[6]);
    }
}
