//! Filters as the operations name them, and what passes them.
//!
//! Lists consist of filters that judge cells one by one, with at most one other filter at the end.
//! Lists of which one must pass have no filters that name a later column.

use hblite_model::filter::{Comparator, CompareOperator, Filter, ListOperator, SingleColumnTest};

use crate::cell::StoredCell;

/// A filter of an operation.
#[derive(Debug, Clone)]
pub enum FilterSpec {
    Prefix(Vec<u8>),
    ColumnPrefix(Vec<u8>),
    Value(CompareOperator, Vec<u8>),
    SingleColumn(SingleColumn),
    Page(i64),
    FirstKeyOnly,
    KeyOnly { length_as_value: bool },
    All(Vec<FilterSpec>),
    Any(Vec<FilterSpec>),
}

/// A filter of rows by the value of one column.
#[derive(Debug, Clone)]
pub struct SingleColumn {
    pub family: Vec<u8>,
    pub qualifier: Vec<u8>,
    pub operator: CompareOperator,
    pub value: Vec<u8>,
    pub filter_if_missing: bool,
    pub latest_version_only: bool,
}

impl FilterSpec {
    pub fn to_filter(&self) -> Filter {
        let list = |operator, specs: &[Self]| {
            Filter::list(operator, specs.iter().map(Self::to_filter).collect())
        };
        match self {
            Self::Prefix(prefix) => Filter::prefix(prefix.as_slice()),
            Self::ColumnPrefix(prefix) => Filter::column_prefix(prefix.as_slice()),
            Self::Value(operator, value) => {
                Filter::value(*operator, Comparator::binary(value.as_slice()))
            }
            Self::SingleColumn(single) => {
                let comparator = Comparator::binary(single.value.as_slice());
                let mut test = SingleColumnTest::new(
                    single.family.clone(),
                    single.qualifier.clone(),
                    single.operator,
                    comparator,
                );
                test.filter_if_missing = single.filter_if_missing;
                test.latest_version_only = single.latest_version_only;
                Filter::single_column_value(test)
            }
            Self::Page(size) => Filter::page(*size).expect("sizes are not negative"),
            Self::FirstKeyOnly => Filter::first_key_only(),
            Self::KeyOnly { length_as_value } => Filter::key_only(*length_as_value),
            Self::All(specs) => list(ListOperator::MustPassAll, specs),
            Self::Any(specs) => list(ListOperator::MustPassOne, specs),
        }
    }

    /// Whether the filter judges whole rows: no batches then.
    pub fn judges_rows(&self) -> bool {
        match self {
            Self::SingleColumn(_) | Self::Page(_) => true,
            Self::All(specs) | Self::Any(specs) => specs.iter().any(Self::judges_rows),
            _ => false,
        }
    }

    /// Whether cells of `family` must be there before the row can be judged. Only a test of one
    /// column that rejects rows without it can do with one family.
    pub fn needs_family(&self, family: &[u8]) -> bool {
        match self {
            Self::SingleColumn(single) => !single.filter_if_missing || single.family == family,
            Self::All(specs) | Self::Any(specs) => {
                specs.is_empty() || specs.iter().any(|spec| spec.needs_family(family))
            }
            _ => true,
        }
    }
}

/// The verdict on a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Include,
    Skip,
    /// To the first column of the family that is not less; the columns between are not examined.
    SkipTo(Vec<u8>),
    /// Nothing more of this row and family.
    EndRow,
}

/// A filter at work in one region.
pub struct FilterRun<'s> {
    spec: &'s FilterSpec,
    parts: Vec<FilterRun<'s>>,
    rows_accepted: i64,
    is_row_rejected: bool,
    has_found: bool,
    has_matched: bool,
}

impl<'s> FilterRun<'s> {
    pub fn new(spec: &'s FilterSpec) -> Self {
        let parts = match spec {
            FilterSpec::All(specs) | FilterSpec::Any(specs) => {
                specs.iter().map(Self::new).collect()
            }
            _ => Vec::new(),
        };
        Self {
            spec,
            parts,
            rows_accepted: 0,
            is_row_rejected: false,
            has_found: false,
            has_matched: false,
        }
    }

    /// Whether no further row of the region can pass.
    pub fn is_over(&self) -> bool {
        match self.spec {
            FilterSpec::Page(size) => self.rows_accepted >= *size,
            FilterSpec::All(_) => self.parts.iter().any(Self::is_over),
            FilterSpec::Any(_) => !self.parts.is_empty() && self.parts.iter().all(Self::is_over),
            _ => false,
        }
    }

    /// Begins a row; `false` if its key is rejected.
    pub fn begin_row(&mut self, row: &[u8]) -> bool {
        (self.has_found, self.has_matched) = (false, false);
        let accepted: Vec<bool> = self.parts.iter_mut().map(|part| part.begin_row(row)).collect();
        self.is_row_rejected = match self.spec {
            FilterSpec::Prefix(prefix) => !row.starts_with(prefix),
            FilterSpec::All(_) => accepted.contains(&false),
            FilterSpec::Any(_) => !accepted.is_empty() && !accepted.contains(&true),
            _ => false,
        };
        !self.is_row_rejected
    }

    pub fn judge(&mut self, family: &[u8], cell: &StoredCell) -> Verdict {
        match self.spec {
            FilterSpec::Prefix(_) if self.is_row_rejected => Verdict::EndRow,
            FilterSpec::ColumnPrefix(prefix) if cell.qualifier.starts_with(prefix) => {
                Verdict::Include
            }
            FilterSpec::ColumnPrefix(prefix) if cell.qualifier < *prefix => {
                Verdict::SkipTo(prefix.clone())
            }
            FilterSpec::ColumnPrefix(_) => Verdict::EndRow,
            FilterSpec::Value(operator, value) if !holds(*operator, &cell.value, value) => {
                Verdict::Skip
            }
            FilterSpec::FirstKeyOnly if self.has_found => Verdict::EndRow,
            FilterSpec::FirstKeyOnly => {
                self.has_found = true;
                Verdict::Include
            }
            FilterSpec::SingleColumn(single) => self.judge_single(single, family, cell),
            FilterSpec::All(_) => self.judge_all(family, cell),
            FilterSpec::Any(_) => {
                let verdicts = self.parts.iter_mut().map(|part| part.judge(family, cell));
                verdicts.min().unwrap_or(Verdict::Include)
            }
            _ => Verdict::Include,
        }
    }

    /// Filters after one that rejects the cell do not see it, unless they can name a later column.
    /// The scan continues at the latest column that any of them names.
    fn judge_all(&mut self, family: &[u8], cell: &StoredCell) -> Verdict {
        let mut verdict = Verdict::Include;
        let mut latest: Option<Verdict> = None;
        for part in &mut self.parts {
            let can_name = matches!(part.spec, FilterSpec::ColumnPrefix(_));
            if verdict != Verdict::Include && !can_name {
                continue;
            }
            let found = part.judge(family, cell);
            if matches!(found, Verdict::SkipTo(_)) {
                latest = latest.max(Some(found.clone()));
            }
            if verdict == Verdict::Include {
                verdict = found;
            }
        }
        latest.unwrap_or(verdict)
    }

    fn judge_single(&mut self, single: &SingleColumn, family: &[u8], cell: &StoredCell) -> Verdict {
        if self.has_matched {
            return Verdict::Include;
        }
        if single.latest_version_only && self.has_found {
            return Verdict::EndRow;
        }
        if single.family != family || single.qualifier != cell.qualifier {
            return Verdict::Include;
        }
        self.has_found = true;
        self.has_matched = holds(single.operator, &cell.value, &single.value);
        if !self.has_matched && single.latest_version_only {
            return Verdict::EndRow;
        }
        Verdict::Include
    }

    /// What is returned of the value of a cell that passes.
    pub fn value(&self, value: Vec<u8>) -> Vec<u8> {
        match self.spec {
            FilterSpec::KeyOnly { length_as_value: false } => Vec::new(),
            FilterSpec::KeyOnly { length_as_value: true } => {
                (value.len() as u32).to_be_bytes().to_vec()
            }
            _ => self.parts.iter().fold(value, |value, part| part.value(value)),
        }
    }

    /// Whether a row of which cells have passed is rejected as a whole.
    pub fn rejects_row(&mut self) -> bool {
        match self.spec {
            FilterSpec::SingleColumn(_) if self.has_found => !self.has_matched,
            FilterSpec::SingleColumn(single) => single.filter_if_missing,
            FilterSpec::Page(size) => {
                self.rows_accepted += 1;
                self.rows_accepted > *size
            }
            FilterSpec::All(_) => self.parts.iter_mut().any(Self::rejects_row),
            FilterSpec::Any(_) => {
                !self.parts.is_empty() && self.parts.iter_mut().all(Self::rejects_row)
            }
            _ => false,
        }
    }
}

/// *Stored operator given.*
pub fn holds(operator: CompareOperator, left: &[u8], right: &[u8]) -> bool {
    match operator {
        CompareOperator::Less => left < right,
        CompareOperator::LessOrEqual => left <= right,
        CompareOperator::Equal => left == right,
        CompareOperator::NotEqual => left != right,
        CompareOperator::GreaterOrEqual => left >= right,
        CompareOperator::Greater => left > right,
        CompareOperator::NoOp => false,
    }
}
