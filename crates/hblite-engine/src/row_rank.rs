//! The first bytes of a row as a number, which decides most comparisons of rows.

use hblite_model::CellComparator;

/// Bytes of a row in its rank.
const RANK_SIZE: usize = size_of::<u128>();

/// The rank of a row: a row with a lower rank comes first, and rows of the same rank must be
/// compared. Shorter rows are padded with zeros, which keeps the order or makes ranks equal.
#[inline]
pub(crate) fn row_rank(row: &[u8]) -> u128 {
    let bytes = row.first_chunk::<RANK_SIZE>().copied().unwrap_or_else(|| {
        let mut bytes = [0; RANK_SIZE];
        bytes[..row.len()].copy_from_slice(row);
        bytes
    });
    u128::from_be_bytes(bytes)
}

/// The same for rows in the order of a comparator.
#[inline]
pub(crate) fn row_rank_in(comparator: CellComparator, row: &[u8]) -> u128 {
    match comparator {
        CellComparator::Default => row_rank(row),
        // Rows of hbase:meta are not ordered as bytes.
        CellComparator::Meta => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_never_contradict_the_order_of_rows() {
        let rows: [&[u8]; 9] = [
            b"",
            b"\0",
            b"\0\0",
            b"a",
            b"a\0",
            b"ab",
            b"b",
            b"sixteen bytes---",
            b"sixteen bytes---!",
        ];
        for pair in rows.windows(2) {
            assert!(pair[0] < pair[1] && row_rank(pair[0]) <= row_rank(pair[1]), "{pair:?}");
        }
        assert!(row_rank(b"ab") < row_rank(b"b"));
        assert_eq!(
            row_rank_in(CellComparator::Meta, b"a"),
            row_rank_in(CellComparator::Meta, b"b")
        );
    }
}
