//! A query on a table, in terms of the key's fields.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use crate::text::reverse;
use crate::value::Value;

/// Conditions on fields, all of which must hold, the requested order, and a row limit.
///
/// ```
/// use hblite_rowkey::{Design, Query};
/// let design = Design::parse("uid:str(4)|ts:reverse_timestamp")?;
/// let query = Query::new().equals("uid", "u007").descending("ts").limit(30);
/// let plan = design.plan(&query)?;
/// assert_eq!(plan.ranges[0].start, b"u007");
/// assert!(!plan.is_reversed); // reverse timestamps already put the newest first
/// # Ok::<(), hblite_rowkey::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(crate) conditions: Vec<(String, FieldCondition)>,
    pub(crate) order: Order,
    pub(crate) limit: Option<u64>,
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldCondition {
    /// Equal to this value.
    Equals(Value<'static>),
    /// Starts with these bytes.
    Prefix(Value<'static>),
    /// Ends with these bytes.
    Suffix(Value<'static>),
    /// Within this range.
    Range {
        /// The smallest value included.
        from: Option<Value<'static>>,
        /// The smallest value excluded.
        to: Option<Value<'static>>,
    },
}

/// The requested order of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Order {
    /// Any.
    #[default]
    Any,
    /// Smallest values of this field first: for a time, the oldest.
    Ascending(String),
    /// Greatest values of this field first: for a time, the newest.
    Descending(String),
}

impl Query {
    /// Every row, in any order.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only rows with this value.
    #[must_use]
    pub fn equals(self, field: &str, value: impl Into<Value<'static>>) -> Self {
        self.condition(field, FieldCondition::Equals(value.into()))
    }

    /// Only rows whose field starts with this.
    #[must_use]
    pub fn prefix(self, field: &str, value: impl Into<Value<'static>>) -> Self {
        self.condition(field, FieldCondition::Prefix(value.into()))
    }

    /// Only rows whose field ends with this.
    #[must_use]
    pub fn suffix(self, field: &str, value: impl Into<Value<'static>>) -> Self {
        self.condition(field, FieldCondition::Suffix(value.into()))
    }

    /// Only rows with values from the first up to but excluding the second.
    #[must_use]
    pub fn range<V: Into<Value<'static>>>(self, field: &str, range: Range<V>) -> Self {
        let (from, to) = (Some(range.start.into()), Some(range.end.into()));
        self.condition(field, FieldCondition::Range { from, to })
    }

    /// Only rows with at least this value.
    #[must_use]
    pub fn at_least(self, field: &str, value: impl Into<Value<'static>>) -> Self {
        self.condition(field, FieldCondition::Range { from: Some(value.into()), to: None })
    }

    /// Only rows with less than this value.
    #[must_use]
    pub fn below(self, field: &str, value: impl Into<Value<'static>>) -> Self {
        self.condition(field, FieldCondition::Range { from: None, to: Some(value.into()) })
    }

    /// Only rows for which this holds.
    #[must_use]
    pub fn condition(mut self, field: &str, condition: FieldCondition) -> Self {
        self.conditions.push((field.to_owned(), condition));
        self
    }

    /// Smallest values first.
    #[must_use]
    pub fn ascending(self, field: &str) -> Self {
        Self { order: Order::Ascending(field.to_owned()), ..self }
    }

    /// Greatest values first; for a time, the newest.
    #[must_use]
    pub fn descending(self, field: &str) -> Self {
        Self { order: Order::Descending(field.to_owned()), ..self }
    }

    /// At most this many rows.
    #[must_use]
    pub fn limit(self, rows: u64) -> Self {
        Self { limit: Some(rows), ..self }
    }

    /// The conditions.
    pub fn conditions(&self) -> &[(String, FieldCondition)] {
        &self.conditions
    }

    /// The requested order.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// The maximum number of rows.
    pub fn row_limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether the conditions hold for values, by name. A field without a value fails its
    /// condition.
    pub fn matches<'v>(&self, value: impl Fn(&str) -> Option<Value<'v>>) -> bool {
        self.conditions
            .iter()
            .all(|(field, condition)| value(field).is_some_and(|value| condition.holds(&value)))
    }
}

impl FieldCondition {
    /// Whether the condition holds for a value.
    pub fn holds(&self, value: &Value<'_>) -> bool {
        let is = |other: &Value<'_>, wanted: Ordering| compare(value, other) == Some(wanted);
        match self {
            Self::Equals(other) => is(other, Ordering::Equal),
            Self::Prefix(start) => match (value.as_bytes(), start.as_bytes()) {
                (Some(value), Some(start)) => value.starts_with(start),
                _ => false,
            },
            Self::Suffix(end) => match (value.as_bytes(), end.as_bytes()) {
                (Some(value), Some(end)) => value.ends_with(end),
                _ => false,
            },
            Self::Range { from, to } => {
                from.as_ref()
                    .is_none_or(|from| is(from, Ordering::Greater) || is(from, Ordering::Equal))
                    && to.as_ref().is_none_or(|to| is(to, Ordering::Less))
            }
        }
    }

    pub(crate) fn as_equals(&self) -> Option<&Value<'static>> {
        match self {
            Self::Equals(value) => Some(value),
            _ => None,
        }
    }
}

/// The order of two values of one kind.
fn compare(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left.as_number(), right.as_number()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => Some(left.as_bytes()?.cmp(right.as_bytes()?)),
    }
}

/// The encoded prefix shared by all domains with a suffix: whole labels only.
///
/// `.iteblog.com` → `com.iteblog.`, and `blog.com` → `com.`, since its first label may be longer.
pub(crate) fn domain_prefix(suffix: &str) -> String {
    let Some((_, whole)) = suffix.split_once('.') else { return String::new() };
    format!("{}.", crate::text::reverse_domain(whole))
}

/// The encoded prefix shared by all strings with a suffix when they are reversed.
pub(crate) fn reversed_prefix(suffix: &str) -> String {
    reverse(suffix)
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.conditions.is_empty() {
            f.write_str("everything")?;
        }
        for (index, (field, condition)) in self.conditions.iter().enumerate() {
            if index > 0 {
                f.write_str(" and ")?;
            }
            match condition {
                FieldCondition::Equals(value) => write!(f, "{field} = {value}")?,
                FieldCondition::Prefix(value) => write!(f, "{field} begins with {value}")?,
                FieldCondition::Suffix(value) => write!(f, "{field} ends with {value}")?,
                FieldCondition::Range { from: Some(from), to: Some(to) } => {
                    write!(f, "{from} <= {field} < {to}")?;
                }
                FieldCondition::Range { from: Some(from), to: None } => {
                    write!(f, "{field} >= {from}")?;
                }
                FieldCondition::Range { from: None, to: Some(to) } => write!(f, "{field} < {to}")?,
                FieldCondition::Range { from: None, to: None } => write!(f, "any {field}")?,
            }
        }
        match &self.order {
            Order::Any => {}
            Order::Ascending(field) => write!(f, ", least {field} first")?,
            Order::Descending(field) => write!(f, ", greatest {field} first")?,
        }
        match self.limit {
            Some(limit) => write!(f, ", limit {limit}"),
            None => Ok(()),
        }
    }
}
