//! Filters as Java prints them (`toString`).

use std::fmt;

use super::{ColumnOffset, Comparator, CompareOperator, Filter, FuzzyKey, ListOperator};
use crate::bytes::to_string_binary;

/// Number of list members printed before the rest is only counted.
const MEMBERS_MAX: usize = 5;

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.class_name();
        match self {
            Self::Row { operator, comparator }
            | Self::Family { operator, comparator }
            | Self::Qualifier { operator, comparator }
            | Self::Value { operator, comparator } => {
                write!(f, "{name} ({operator}, {})", value_text(comparator))
            }
            Self::ColumnValue { family, qualifier, operator, comparator } => {
                write_column(f, name, (family, qualifier), *operator, comparator)
            }
            Self::SingleColumnValue { test } | Self::SingleColumnValueExclude { test } => {
                let column = (test.family.as_slice(), test.qualifier.as_slice());
                write_column(f, name, column, test.operator, &test.comparator)
            }
            Self::DependentColumn {
                family,
                qualifier,
                drop_dependent_column: drop,
                operator,
                comparator,
            } => {
                let (family, qualifier) = (to_string_binary(family), to_string_binary(qualifier));
                let value = comparator.as_ref().map_or("null".to_owned(), value_text);
                write!(f, "{name} ({family}, {qualifier}, {drop}, {operator}, {value})")
            }
            Self::Prefix { prefix } | Self::ColumnPrefix { prefix } => {
                write!(f, "{name} {}", to_string_binary(prefix))
            }
            Self::MultipleColumnPrefix { prefixes } => {
                let shown = prefixes.iter().take(MEMBERS_MAX).map(|p| to_string_binary(p));
                write_counted(f, name, shown, prefixes.len())
            }
            Self::ColumnRange { min, min_inclusive, max, max_inclusive } => {
                let open = if *min_inclusive { '[' } else { '(' };
                let close = if *max_inclusive { ']' } else { ')' };
                let (min, max) = (end_text(min.as_deref()), end_text(max.as_deref()));
                write!(f, "{name} {open}{min}, {max}{close}")
            }
            Self::ColumnPagination { limit, offset } => match offset {
                ColumnOffset::Count(count) => write!(f, "{name} ({limit}, {count})"),
                ColumnOffset::Qualifier(bytes) => {
                    write!(f, "{name}({limit}, {})", to_string_binary(bytes))
                }
            },
            Self::ColumnCountGet { limit } => write!(f, "{name} {limit}"),
            Self::Page { size } => write!(f, "{name} {size}"),
            Self::InclusiveStop { stop_row } => write!(f, "{name} {}", to_string_binary(stop_row)),
            Self::FuzzyRow { keys } => write_fuzzy(f, keys),
            Self::Timestamps { timestamps, can_hint } => {
                let shown = timestamps.iter().take(MEMBERS_MAX).map(i64::to_string);
                write_counted(f, name, shown, timestamps.len())?;
                write!(f, " canHint: [{can_hint}]")
            }
            Self::Skip { filter } | Self::WhileMatch { filter } => write!(f, "{name} {filter}"),
            Self::List { operator, filters } => {
                let operator = match operator {
                    ListOperator::MustPassAll => "AND",
                    ListOperator::MustPassOne => "OR",
                };
                let shown = filters.iter().take(MEMBERS_MAX).map(Self::to_string);
                write_counted(f, &format!("{name} {operator}"), shown, filters.len())
            }
            _ => f.write_str(name),
        }
    }
}

/// One end of a range.
fn end_text(end: Option<&[u8]>) -> String {
    end.map_or("null".to_owned(), to_string_binary)
}

fn value_text(comparator: &Comparator) -> String {
    to_string_binary(&comparator.value())
}

fn write_column(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    (family, qualifier): (&[u8], &[u8]),
    operator: CompareOperator,
    comparator: &Comparator,
) -> fmt::Result {
    let (family, qualifier) = (to_string_binary(family), to_string_binary(qualifier));
    write!(f, "{name} ({family}, {qualifier}, {operator}, {})", value_text(comparator))
}

/// `Name (shown/count): [a, b]`; if more exist than are shown, Java omits the last comma too.
fn write_counted(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    shown: impl Iterator<Item = String>,
    count: usize,
) -> fmt::Result {
    let shown: Vec<String> = shown.collect();
    write!(f, "{name} ({}/{count}): [{}]", shown.len(), shown.join(", "))
}

fn write_fuzzy(f: &mut fmt::Formatter<'_>, keys: &[FuzzyKey]) -> fmt::Result {
    f.write_str("FuzzyRowFilter{fuzzyKeysData=")?;
    for pattern in keys {
        let (key, mask) = super::fuzzy::processed(pattern);
        let mask: Vec<u8> = mask.iter().map(|byte| *byte as u8).collect();
        write!(f, "{{{}:{}}}", to_string_binary(&key), to_string_binary(&mask))?;
    }
    f.write_str("}, ")
}
