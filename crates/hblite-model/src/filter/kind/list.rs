//! `FilterList`: several filters as one, joined by AND or OR.

use std::fmt;

use super::{Filter, Kind};
use crate::filter::list::{And, Member, Or};
use crate::filter::state::{Evaluate, Evaluators};
use crate::filter::text::write_counted;

/// Several filters as one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FilterList {
    /// Whether all or one must pass.
    pub operator: ListOperator,
    /// The filters, asked in this order.
    pub filters: Vec<Filter>,
}

impl Filter {
    /// All or one of the filters (`FilterList`). An empty list passes everything.
    pub fn list(operator: ListOperator, filters: Vec<Self>) -> Self {
        Self::List(FilterList { operator, filters })
    }
}

impl Kind for FilterList {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        let members =
            self.filters.iter().map(|filter| Member::new(make.same(filter), filter.is_hinting()));
        let members: Vec<_> = members.collect();
        match self.operator {
            ListOperator::MustPassAll => Box::new(And::new(members, make.direction())),
            ListOperator::MustPassOne => Box::new(Or::new(members, make.direction())),
        }
    }

    fn has_filter_row(&self) -> bool {
        self.filters.iter().any(Filter::has_filter_row)
    }

    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|f| f.is_family_essential(family))
    }
}

impl fmt::Display for FilterList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = match self.operator {
            ListOperator::MustPassAll => "AND",
            ListOperator::MustPassOne => "OR",
        };
        let filters = self.filters.iter().map(Filter::to_string);
        write_counted(f, &format!("FilterList {operator}"), filters)
    }
}

/// Whether all or one of the filters of a list must pass (`FilterList.Operator`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListOperator {
    /// `MUST_PASS_ALL`: AND.
    MustPassAll,
    /// `MUST_PASS_ONE`: OR.
    MustPassOne,
}
