//! The filters: one file each, and the registry that lists them.
//!
//! A file has the description of a filter (its public settings), its constructors, its text in
//! Java and in the filter language, and its evaluator. To add a filter, write its file and add
//! one line to the registry below: the enum, its class name, its text and the filter language
//! follow from it.

mod column_count_get;
mod column_pagination;
mod column_prefix;
mod column_range;
mod column_value;
mod dependent_column;
mod family;
mod first_key_only;
mod first_key_value_matching_qualifiers;
mod fuzzy_row;
mod inclusive_stop;
mod key_only;
mod list;
mod multi_row_range;
mod multiple_column_prefix;
mod page;
mod prefix;
mod qualifier;
mod random_row;
mod row;
mod single_column_value;
mod single_column_value_exclude;
mod skip;
mod timestamps;
mod value;
mod while_match;

use std::fmt;

pub use column_count_get::ColumnCountGetFilter;
pub use column_pagination::{ColumnOffset, ColumnPaginationFilter};
pub use column_prefix::ColumnPrefixFilter;
pub use column_range::ColumnRangeFilter;
pub use column_value::ColumnValueFilter;
pub use dependent_column::DependentColumnFilter;
pub use family::FamilyFilter;
pub use first_key_only::FirstKeyOnlyFilter;
pub use first_key_value_matching_qualifiers::FirstKeyValueMatchingQualifiersFilter;
pub use fuzzy_row::{FuzzyKey, FuzzyRowFilter};
pub use inclusive_stop::InclusiveStopFilter;
pub use key_only::KeyOnlyFilter;
pub use list::{FilterList, ListOperator};
pub use multi_row_range::MultiRowRangeFilter;
pub use multiple_column_prefix::MultipleColumnPrefixFilter;
pub use page::PageFilter;
pub use prefix::PrefixFilter;
pub use qualifier::QualifierFilter;
pub use random_row::RandomRowFilter;
pub use row::RowFilter;
pub use single_column_value::{SingleColumnTest, SingleColumnValueFilter};
pub use single_column_value_exclude::SingleColumnValueExcludeFilter;
pub use skip::SkipFilter;
pub use timestamps::TimestampsFilter;
pub use value::ValueFilter;
pub use while_match::WhileMatchFilter;

use crate::cell::{CellBuffer, CellRef};
use crate::error::{Error, Result};
use crate::filter::argument::Constructor;
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// What a filter is, besides its settings, constructors and text. The defaults are those of
/// `FilterBase`.
pub(super) trait Kind: fmt::Display {
    /// The filter running in one region scanner.
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate>;

    /// See [`Filter::has_filter_row`].
    fn has_filter_row(&self) -> bool {
        false
    }

    /// See [`Filter::is_family_essential`].
    fn is_family_essential(&self, _family: &[u8]) -> bool {
        true
    }

    /// See [`Filter::is_hinting`].
    fn is_hinting(&self) -> bool {
        false
    }

    /// See [`Filter::judges_cells_alone`].
    fn judges_cells_alone(&self) -> bool {
        false
    }

    /// See [`Filter::forgets_passed_cells`].
    fn forgets_passed_cells(&self) -> bool {
        false
    }
}

/// Declares [`Filter`] from the registry: `Variant(Type)`, and the function that parses the filter
/// if the filter language has it. The type is named after the HBase class.
macro_rules! registry {
    ($($variant:ident($type:ident) $($parse:ident)?;)*) => {
        /// A filter and its settings; a variant holds the HBase class of the same name.
        ///
        /// Use the constructors ([`Filter::prefix`] and so on), which make the checks of the Java
        /// constructors. Outside this crate, variants can be matched but not built directly.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Filter {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        impl Filter {
            /// The simple names of the HBase classes of all filters.
            pub const CLASS_NAMES: &'static [&'static str] = &[$(stringify!($type),)*];

            /// The simple name of the HBase class.
            pub fn class_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($type),)*
                }
            }

            pub(super) fn kind(&self) -> &dyn Kind {
                match self {
                    $(Self::$variant(filter) => filter,)*
                }
            }
        }

        /// The filters of the filter language, by ascending names.
        pub(super) const LANGUAGE: &[(&str, Constructor)] =
            &[$($((stringify!($type), $type::$parse),)?)*];
    };
}

registry! {
    ColumnCountGet(ColumnCountGetFilter) parse;
    ColumnPagination(ColumnPaginationFilter) parse;
    ColumnPrefix(ColumnPrefixFilter) parse;
    ColumnRange(ColumnRangeFilter) parse;
    ColumnValue(ColumnValueFilter) parse;
    DependentColumn(DependentColumnFilter) parse;
    Family(FamilyFilter) parse;
    List(FilterList);
    FirstKeyOnly(FirstKeyOnlyFilter) parse;
    FirstKeyValueMatchingQualifiers(FirstKeyValueMatchingQualifiersFilter);
    FuzzyRow(FuzzyRowFilter);
    InclusiveStop(InclusiveStopFilter) parse;
    KeyOnly(KeyOnlyFilter) parse;
    MultiRowRange(MultiRowRangeFilter);
    MultipleColumnPrefix(MultipleColumnPrefixFilter) parse;
    Page(PageFilter) parse;
    Prefix(PrefixFilter) parse;
    Qualifier(QualifierFilter) parse;
    RandomRow(RandomRowFilter);
    Row(RowFilter) parse;
    SingleColumnValueExclude(SingleColumnValueExcludeFilter) parse;
    SingleColumnValue(SingleColumnValueFilter) parse;
    Skip(SkipFilter);
    Timestamps(TimestampsFilter) parse;
    Value(ValueFilter) parse;
    WhileMatch(WhileMatchFilter);
}

/// The code for the cells of a row that was accepted or rejected by its key.
fn by_row(rejected: bool) -> ReturnCode {
    if rejected { ReturnCode::NextRow } else { ReturnCode::Include }
}

/// A column as filters name it.
#[derive(Debug)]
struct Column {
    family: Vec<u8>,
    qualifier: Vec<u8>,
}

impl Column {
    fn new((family, qualifier): (&[u8], &[u8])) -> Self {
        Self { family: family.to_vec(), qualifier: qualifier.to_vec() }
    }

    /// Whether `cell` is of this column.
    #[inline]
    fn holds(&self, cell: &CellRef<'_>) -> bool {
        is_of_column(cell, &self.family, &self.qualifier)
    }
}

#[inline]
fn is_of_column(cell: &CellRef<'_>, family: &[u8], qualifier: &[u8]) -> bool {
    cell.qualifier() == qualifier && cell.family() == family
}

/// Keeps the cells for which `keep` is true; copies nothing if it keeps all of them.
fn keep_cells(cells: &mut CellBuffer, keep: impl Fn(&CellRef<'_>) -> bool) {
    if !cells.iter().all(|cell| keep(&cell)) {
        cells.retain(|_, cell| keep(&cell));
    }
}

/// Refuses a negative number with the message of Guava's `Preconditions`.
fn not_negative(message: &str, number: impl Into<i64>) -> Result<()> {
    let number = number.into();
    if number < 0 {
        return Err(Error::illegal_argument(format!("{message} {number}")));
    }
    Ok(())
}
