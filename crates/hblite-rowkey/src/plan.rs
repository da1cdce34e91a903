//! From a query to scans: how much of the front of the key is known decides what is read.
//!
//! The parts are visited from the front. A part whose bytes follow from the query is appended. A
//! salt or bucket that does not follow from it is tried with all its labels. The first field
//! without a single value ends the walk, with a range if there is a condition on it. Conditions on
//! later fields do not narrow the ranges; they are checked row by row.
//!
//! Invariant: the ranges are disjoint, in ascending order, and contain every key of the design that
//! meets the conditions; if [`Plan::checks`] is empty, they contain no other key of the design.

use std::fmt;

use crate::bounds::{Bound, bound_of};
use crate::bytes::{KeyRange, next_after_prefix};
use crate::design::{Design, Step};
use crate::error::{Error, Result};
use crate::part::Encoding;
use crate::query::{FieldCondition, Order, Query};
use crate::value::Value;

/// How the rows of a query are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// The conditions exclude every key: no rows.
    Nothing,
    /// Whole keys are known: one row for each range.
    Rows,
    /// The front of the keys is known: ranges of rows.
    Ranges,
    /// Nothing at the front is known: the whole table.
    Table,
}

/// A condition to check on each row, because the ranges do not imply it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The field.
    pub field: String,
    /// Whether the key contains the field. If not, only a column with the original value shows it.
    pub is_in_key: bool,
}

/// The scans that answer a query, as plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How the rows are reached.
    pub access: Access,
    /// What to scan. Disjoint and ascending.
    pub ranges: Vec<KeyRange>,
    /// Whether each range is scanned from its end to its start.
    pub is_reversed: bool,
    /// If the scans must be merged to produce the requested order: the number of leading bytes of
    /// each key to ignore in comparisons. If `None`, one scan follows the other, the last range
    /// first if reversed.
    pub merge_skip: Option<usize>,
    /// Whether rows come in the requested order. If not, the reader must read all of them and sort.
    pub is_in_order: bool,
    /// The conditions to check on each row.
    pub checks: Vec<Check>,
    /// The maximum number of rows.
    pub limit: Option<u64>,
}

impl Plan {
    /// How many rows each scan may stop after; `None` if rows are dropped or sorted after being
    /// read.
    pub fn limit_per_scan(&self) -> Option<u64> {
        self.limit.filter(|_| self.is_in_order && self.checks.is_empty())
    }
}

impl Design {
    /// The scans that answer a query.
    ///
    /// ```
    /// use hblite_rowkey::{Access, Design, Query};
    /// let design = Design::parse("uid:str(3)|phone:str(11)|name:str")?;
    /// let known_from_the_front = Query::new().equals("uid", "111").prefix("phone", "12");
    /// assert_eq!(design.plan(&known_from_the_front)?.access, Access::Ranges);
    /// let known_from_the_end = Query::new().equals("name", "iteblog");
    /// assert_eq!(design.plan(&known_from_the_end)?.access, Access::Table);
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Query` if a field is not there, is named twice or cannot be compared this way; `Value` if a
    /// value does not fit its field.
    pub fn plan(&self, query: &Query) -> Result<Plan> {
        let conditions = self.conditions(query)?;
        let order = match &query.order {
            Order::Any => None,
            Order::Ascending(field) => Some((self.field_index(field)?, false)),
            Order::Descending(field) => Some((self.field_index(field)?, true)),
        };
        let mut walk = Walk::new(self, &conditions);
        walk.run()?;
        Ok(walk.finish(query, order))
    }

    fn conditions<'q>(&self, query: &'q Query) -> Result<Vec<Option<&'q FieldCondition>>> {
        let mut conditions = vec![None; self.fields().len()];
        for (name, condition) in &query.conditions {
            let index = self.field_index(name)?;
            if conditions[index].replace(condition).is_some() {
                return Err(Error::query(format!("two conditions on {name}: combine them")));
            }
        }
        Ok(conditions)
    }

    /// Whether the conditions that the key shows hold for a key.
    ///
    /// # Errors
    /// `Key` if the bytes are not a key of this design.
    pub fn matches(&self, query: &Query, key: &[u8]) -> Result<bool> {
        let values = self.decode(key)?;
        for (name, condition) in &query.conditions {
            let index = self.field_index(name)?;
            let is_shown = self.fields()[index].encoding.is_reversible();
            if is_shown && !condition.holds(&values[index]) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The state of the walk over the parts.
struct Walk<'w> {
    design: &'w Design,
    conditions: &'w [Option<&'w FieldCondition>],
    /// The beginnings of keys, ascending and of equal length.
    prefixes: Vec<Vec<u8>>,
    /// The prefixes before salts that no condition has followed yet: if nothing after them is
    /// known, one scan over all salts is better than many.
    before_salts: Option<Vec<Vec<u8>>>,
    /// Whether the ranges imply the condition, by field.
    is_said: Vec<bool>,
    end: End,
}

/// What ended the walk.
enum End {
    /// Nothing: the whole key is known.
    Whole,
    /// A field that the query does not fix to one value, and what is known of it.
    Field(usize, Option<Bound>),
    /// A hash that the query does not determine.
    Hash,
    /// A contradiction.
    Nothing,
}

impl<'w> Walk<'w> {
    fn new(design: &'w Design, conditions: &'w [Option<&'w FieldCondition>]) -> Self {
        let is_said = vec![false; conditions.len()];
        let prefixes = vec![Vec::new()];
        Self { design, conditions, prefixes, before_salts: None, is_said, end: End::Whole }
    }

    fn value(&self, field: usize) -> Option<&'w Value<'static>> {
        self.conditions[field].and_then(FieldCondition::as_equals)
    }

    fn run(&mut self) -> Result<()> {
        if let Some(key) = self.whole_key()? {
            self.prefixes = vec![key];
            for field in 0..self.conditions.len() {
                self.mark_said(field);
            }
            return Ok(());
        }
        let design = self.design;
        for step in design.steps() {
            let is_known = match step {
                Step::Random(_) | Step::SaltByRest(_) => false,
                Step::SaltByFields(_, fields) | Step::Hash { fields, .. } => {
                    fields.iter().all(|field| self.value(*field).is_some())
                }
                Step::Bucket { field, .. } => self.value(*field).is_some(),
                Step::Literal(_) => true,
                Step::Number { field, .. } | Step::Text { field, .. } | Step::Md5 { field, .. } => {
                    if self.value(*field).is_none() {
                        self.end = self.bound(*field)?;
                        return Ok(());
                    }
                    self.before_salts = None;
                    self.mark_said(*field);
                    true
                }
            };
            if is_known {
                let mut bytes = Vec::new();
                design.push_step(step, |field| self.value(field), &mut bytes)?;
                self.prefixes.iter_mut().for_each(|prefix| prefix.extend_from_slice(&bytes));
            } else if matches!(step, Step::Hash { .. }) {
                self.end = End::Hash;
                return Ok(());
            } else {
                self.spread(step);
            }
        }
        Ok(())
    }

    /// The key, if the query gives all fields and nothing is random.
    fn whole_key(&self) -> Result<Option<Vec<u8>>> {
        let values: Option<Vec<Value<'static>>> =
            (0..self.conditions.len()).map(|field| self.value(field).cloned()).collect();
        match values {
            Some(values) if !self.design.has_random_salt() => self.design.encode(&values).map(Some),
            _ => Ok(None),
        }
    }

    /// An equal full digest implies that the value is equal; an equal prefix of one does not.
    fn mark_said(&mut self, field: usize) {
        self.is_said[field] = !matches!(self.design.fields()[field].encoding,
            Encoding::Md5Hex(count) if count < crate::hash::MD5_CHARACTERS);
    }

    fn bound(&mut self, field: usize) -> Result<End> {
        let Some(condition) = self.conditions[field] else { return Ok(End::Field(field, None)) };
        let bound = bound_of(self.design, field, condition)?;
        Ok(match bound {
            Some(Bound { is_empty: true, .. }) => End::Nothing,
            Some(bound) => {
                self.before_salts = None;
                self.is_said[field] = bound.is_exact;
                End::Field(field, Some(bound))
            }
            None => End::Field(field, None),
        })
    }

    /// Continues with every salt or bucket that rows may have.
    fn spread(&mut self, step: &Step) {
        self.before_salts.get_or_insert_with(|| self.prefixes.clone());
        let labels: Vec<Vec<u8>> = match step {
            Step::Bucket { field, count } => {
                let buckets = self.buckets(*field, *count);
                let label = |index| {
                    let mut label = Vec::new();
                    crate::part::push_numbered(*count, index, &mut label);
                    label
                };
                buckets.into_iter().map(label).collect()
            }
            Step::Random(labels) | Step::SaltByFields(labels, _) | Step::SaltByRest(labels) => {
                let label = |index| {
                    let mut label = Vec::new();
                    labels.push(index, &mut label);
                    label
                };
                (0..labels.count()).map(label).collect()
            }
            _ => Vec::new(),
        };
        let mut labels = labels;
        labels.sort();
        let grown = self.prefixes.iter().flat_map(|prefix| {
            labels.iter().map(|label| [prefix.as_slice(), label.as_slice()].concat())
        });
        self.prefixes = grown.collect();
    }

    /// The buckets that a condition on the field leaves: a range shorter than the bucket count
    /// leaves as many as its length.
    fn buckets(&self, field: usize, count: u32) -> Vec<u32> {
        let Encoding::Number(number) = self.design.fields()[field].encoding else {
            return (0..count).collect();
        };
        if let Some(FieldCondition::Range { from: Some(from), to: Some(to) }) =
            self.conditions[field]
            && let (Some(from), Some(to)) = (from.as_number(), to.as_number())
        {
            let (from, to) = (from.max(number.least()), to.min(number.greatest() + 1));
            if to - from < i128::from(count) {
                let mut buckets: Vec<u32> =
                    (from..to).map(|value| (value % i128::from(count)) as u32).collect();
                buckets.sort_unstable();
                return buckets;
            }
        }
        (0..count).collect()
    }

    fn finish(mut self, query: &Query, order: Option<(usize, bool)>) -> Plan {
        let design = self.design;
        let (is_in_order, is_reversed, is_sorted_by_end) = match (order, &self.end) {
            (None, _) | (Some(_), End::Nothing | End::Whole) => (true, false, false),
            (Some((field, _)), _) if self.value(field).is_some() => (true, false, false),
            (Some((field, is_descending)), End::Field(end, _)) if field == *end => {
                let encoding = design.fields()[field].encoding;
                let is_reversed = is_descending != encoding.is_descending();
                let is_ordered = encoding.is_ordered();
                (is_ordered, is_ordered && is_reversed, is_ordered)
            }
            _ => (false, false, false),
        };
        if !is_sorted_by_end
            && !matches!(self.end, End::Whole)
            && let Some(prefixes) = self.before_salts.take()
        {
            self.prefixes = prefixes;
        }
        let is_merged = is_sorted_by_end && self.prefixes.len() > 1;
        let merge_skip = self.prefixes.first().map(Vec::len).filter(|_| is_merged);
        let checks = self.checks();
        let is_anything_known = self.is_said.contains(&true)
            || matches!(self.end, End::Field(_, Some(_)))
            || self.prefixes.first().is_some_and(|prefix| {
                !prefix.is_empty() && self.conditions.iter().any(Option::is_some)
            } && checks.len() < query.conditions.len());
        let access = match &self.end {
            End::Nothing => Access::Nothing,
            End::Whole => Access::Rows,
            _ if is_anything_known => Access::Ranges,
            _ => Access::Table,
        };
        let ranges = self.ranges();
        debug_assert!(are_disjoint(&ranges), "ranges overlap: {ranges:?}");
        Plan { access, ranges, is_reversed, merge_skip, is_in_order, checks, limit: query.limit }
    }

    fn checks(&self) -> Vec<Check> {
        let fields = self.design.fields().iter().enumerate();
        fields
            .filter(|(index, _)| self.conditions[*index].is_some() && !self.is_said[*index])
            .map(|(_, field)| Check {
                field: field.name.clone(),
                is_in_key: field.encoding.is_reversible(),
            })
            .collect()
    }

    fn ranges(&self) -> Vec<KeyRange> {
        let prefixes = self.prefixes.iter();
        match &self.end {
            End::Nothing => Vec::new(),
            End::Whole => prefixes.map(|key| KeyRange::row(key.clone())).collect(),
            End::Field(_, Some(bound)) => prefixes.map(|prefix| bound.range(prefix)).collect(),
            End::Field(_, None) | End::Hash => prefixes
                .map(|prefix| KeyRange { start: prefix.clone(), stop: next_after_prefix(prefix) })
                .collect(),
        }
    }
}

fn are_disjoint(ranges: &[KeyRange]) -> bool {
    ranges.windows(2).all(|pair| !pair[0].stop.is_empty() && pair[0].stop <= pair[1].start)
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Rows => "rows",
            Self::Ranges => "prefix scan",
            Self::Table => "full scan",
        })
    }
}
