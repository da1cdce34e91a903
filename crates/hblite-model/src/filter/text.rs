//! Pieces of the texts that Java prints for filters (`toString`).

use std::fmt;

use super::{Comparator, CompareOperator};
use crate::bytes::to_string_binary;

/// Members of a list that are printed before the rest is only counted.
const MEMBERS_MAX: usize = 5;

/// One end of a range.
pub(super) fn end_text(end: Option<&[u8]>) -> String {
    end.map_or("null".to_owned(), to_string_binary)
}

pub(super) fn value_text(comparator: &Comparator) -> String {
    to_string_binary(&comparator.value())
}

pub(super) fn write_column(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    (family, qualifier): (&[u8], &[u8]),
    operator: CompareOperator,
    comparator: &Comparator,
) -> fmt::Result {
    let (family, qualifier) = (to_string_binary(family), to_string_binary(qualifier));
    write!(f, "{name} ({family}, {qualifier}, {operator}, {})", value_text(comparator))
}

/// `Name (shown/count): [a, b]`; with more than are shown, Java leaves out the last comma too.
pub(super) fn write_counted(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    members: impl ExactSizeIterator<Item = String>,
) -> fmt::Result {
    let count = members.len();
    let shown: Vec<String> = members.take(MEMBERS_MAX).collect();
    write!(f, "{name} ({}/{count}): [{}]", shown.len(), shown.join(", "))
}
