//! `SingleColumnValueExcludeFilter`: as `SingleColumnValueFilter`, without the column that decides.

use std::fmt;

use super::single_column_value::Evaluator;
use super::{Filter, Kind, SingleColumnTest};
use crate::error::Result;
use crate::filter::argument::Arguments;
use crate::filter::state::{Evaluate, Evaluators};

/// As [`super::SingleColumnValueFilter`], without the judged column in the answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SingleColumnValueExcludeFilter {
    /// The column and its test.
    pub test: SingleColumnTest,
}

impl Filter {
    /// Rows that pass `test`, without its column (`SingleColumnValueExcludeFilter`).
    pub fn single_column_value_exclude(test: SingleColumnTest) -> Self {
        Self::SingleColumnValueExclude(SingleColumnValueExcludeFilter { test })
    }
}

impl Kind for SingleColumnValueExcludeFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator::new(self.test.clone(), true))
    }

    fn has_filter_row(&self) -> bool {
        true
    }

    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.test.is_family_essential(family)
    }
}

impl fmt::Display for SingleColumnValueExcludeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.test.write(f, "SingleColumnValueExcludeFilter")
    }
}

impl SingleColumnValueExcludeFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        SingleColumnTest::parse(arguments).map(Filter::single_column_value_exclude)
    }
}
