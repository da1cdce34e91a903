//! `MultipleColumnPrefixFilter`: cells whose qualifier begins with one of several prefixes.

use std::fmt;

use super::{Filter, Kind};
use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::error::{Error, Result};
use crate::filter::argument::{Arguments, unquote};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode, first_on_column};
use crate::filter::text::write_counted;

/// Cells whose qualifier begins with one of the prefixes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MultipleColumnPrefixFilter {
    /// The prefixes, ascending and distinct.
    pub prefixes: Vec<Vec<u8>>,
}

impl Filter {
    /// Cells whose qualifier starts with one of these (`MultipleColumnPrefixFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if a prefix is repeated.
    pub fn multiple_column_prefix<P: Into<Vec<u8>>>(
        prefixes: impl IntoIterator<Item = P>,
    ) -> Result<Self> {
        let mut prefixes: Vec<Vec<u8>> = prefixes.into_iter().map(Into::into).collect();
        prefixes.sort_unstable();
        if prefixes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::illegal_argument("prefixes must be distinct"));
        }
        Ok(Self::MultipleColumnPrefix(MultipleColumnPrefixFilter { prefixes }))
    }
}

impl Kind for MultipleColumnPrefixFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator { prefixes: self.prefixes.clone(), hint: 0 })
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn forgets_passed_cells(&self) -> bool {
        true
    }
}

impl fmt::Display for MultipleColumnPrefixFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefixes = self.prefixes.iter().map(|prefix| to_string_binary(prefix));
        write_counted(f, "MultipleColumnPrefixFilter", prefixes)
    }
}

impl MultipleColumnPrefixFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        let prefixes: Vec<_> =
            arguments.iter().map(|argument| unquote(argument)).collect::<Result<_>>()?;
        Filter::multiple_column_prefix(prefixes)
    }
}

#[derive(Debug)]
struct Evaluator {
    /// Ascending and distinct.
    prefixes: Vec<Vec<u8>>,
    /// Index of the prefix to seek to.
    hint: usize,
}

impl Evaluate for Evaluator {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.prefixes.is_empty() {
            return Ok(ReturnCode::Include);
        }
        let qualifier = cell.qualifier();
        let following = self.prefixes.partition_point(|prefix| prefix.as_slice() <= qualifier);
        // Only the greatest prefix that is not greater is tested: with the prefixes "a" and "ab",
        // the qualifier "abc" matches "ab", and "ac" matches neither. As in HBase.
        if following > 0 && qualifier.starts_with(&self.prefixes[following - 1]) {
            return Ok(ReturnCode::Include);
        }
        if following == self.prefixes.len() {
            return Ok(ReturnCode::NextRow);
        }
        self.hint = following;
        Ok(ReturnCode::SeekNextUsingHint)
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        self.prefixes.get(self.hint).map(|prefix| first_on_column(key, prefix))
    }
}
