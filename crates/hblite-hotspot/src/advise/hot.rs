//! The entity with the most writes.

use std::fmt;

use hblite_rowkey::{Design, Value};

use super::splits::Grouped;

/// An entity that makes the hottest region at least this many times as hot as the mean is hot.
pub(super) const HOT: f64 = 1.2;

/// The values that the keys of one entity share, and its share of the writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Hot {
    /// Names and values of the fields before the first that grows.
    pub fields: Vec<(String, Value<'static>)>,
    /// Its share of all writes.
    pub share: f64,
}

/// The most frequent stable prefix among sorted keys; `None` if keys have none, or all of them the
/// same.
pub(super) fn hottest(design: &Design, sorted: &[Grouped], stable: usize) -> Option<Hot> {
    let groups = sorted.chunk_by(|one, other| one.0[..one.1] == other.0[..other.1]);
    let most = groups.max_by_key(|group| group.len())?;
    let (key, end) = most.first()?;
    if *end == 0 || most.len() == sorted.len() {
        return None;
    }
    let values = design.decode(key).ok()?;
    let field_count = design.parts()[..stable]
        .iter()
        .filter(|part| matches!(part, hblite_rowkey::Part::Field(_)))
        .count();
    let names = design.fields().iter().map(|field| field.name.clone());
    let fields: Vec<_> =
        names.zip(values.into_iter().map(Value::into_owned)).take(field_count).collect();
    let share = most.len() as f64 / sorted.len() as f64;
    (!fields.is_empty()).then_some(Hot { fields, share })
}

impl Hot {
    /// The least load that its region has, relative to the mean of this many regions.
    pub fn times_mean(&self, regions: usize) -> f64 {
        self.share * regions as f64
    }

    /// Whether its region is hot whatever else is in it.
    pub fn is_hot(&self, regions: usize) -> bool {
        self.times_mean(regions) >= HOT
    }
}

impl fmt::Display for Hot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.fields.iter().enumerate() {
            let and = if index > 0 { " and " } else { "" };
            write!(f, "{and}{name} = {value}")?;
        }
        write!(f, " has {:.0} % of the writes", self.share * 100.0)
    }
}
