//! The entity with the most writes.

use std::fmt;

use hblite_rowkey::{Design, Part, Value};

use super::splits::Grouped;

/// An entity that makes the hottest region at least this many times as hot as the mean is hot.
pub(super) const HOT: f64 = 1.2;

/// The values that the keys of one entity share, and its shares of the writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Hot {
    /// Names and values of the fields before the first that grows.
    pub fields: Vec<(String, Value<'static>)>,
    /// Its share of all writes.
    pub share: f64,
    /// The share of all writes that a design keeps together for it. A salt or a bucket before the
    /// entity makes this a part of `share`.
    pub together: f64,
}

/// The entity of the most frequent stable prefix among sorted keys; `None` if keys have none, or
/// all of them the same.
pub(super) fn hottest(design: &Design, sorted: &[Grouped], stable: usize) -> Option<Hot> {
    let groups = || sorted.chunk_by(|one, other| one.0[..one.1] == other.0[..other.1]);
    let most = groups().max_by_key(|group| group.len())?;
    if most.first()?.1 == 0 || most.len() == sorted.len() {
        return None;
    }
    let is_field = |part: &&Part| matches!(part, Part::Field(_));
    let field_count = design.parts()[..stable].iter().filter(is_field).count();
    if field_count == 0 {
        return None;
    }
    let values = |group: &[Grouped]| {
        let mut values = design.decode(&group.first()?.0).ok()?;
        values.truncate(field_count);
        Some(values.into_iter().map(Value::into_owned).collect::<Vec<_>>())
    };
    let own = values(most)?;
    // After a salt or a bucket, an entity has several prefixes.
    let is_divided = !matches!(design.parts().first(), Some(Part::Field(_)));
    let count = match is_divided {
        true => groups().filter(|group| values(group).as_ref() == Some(&own)).map(<[_]>::len).sum(),
        false => most.len(),
    };
    let names = design.fields().iter().map(|field| field.name.clone());
    let share = |count: usize| count as f64 / sorted.len() as f64;
    let fields = names.zip(own).collect();
    Some(Hot { fields, share: share(count), together: share(most.len()) })
}

impl Hot {
    /// The least load that its region has, relative to the mean of this many regions.
    pub fn times_mean(&self, regions: usize) -> f64 {
        self.together * regions as f64
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
        write!(f, " has {} of the writes", percent(self.share))
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
