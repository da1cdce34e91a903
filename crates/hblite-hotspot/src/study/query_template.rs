//! Queries on a table: conditions that are filled in from a written record.

use hblite_rowkey::{Query, Value};

use super::records::Record;
use super::{EPOCH_MS, Study};

/// A query with placeholders.
#[derive(Debug, Clone, Copy)]
pub struct QueryTemplate {
    /// The name in tables.
    pub name: &'static str,
    /// What it asks for.
    pub about: &'static str,
    /// Conditions, all of which must hold.
    pub asks: &'static [Ask],
    /// Newest (greatest) first by this field.
    pub newest_by: Option<&'static str>,
    /// At most this many rows.
    pub limit: Option<u64>,
}

/// A condition with a placeholder.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    /// The field equals that of the record.
    Same(&'static str),
    /// The time is in a range around that of the record: this many thousandths of the run.
    Around(&'static str, u64),
    /// The text begins like that of the record, without this many characters at the end.
    Begins(&'static str, usize),
}

impl Ask {
    /// The field.
    pub fn field(self) -> &'static str {
        match self {
            Self::Same(field) | Self::Around(field, _) | Self::Begins(field, _) => field,
        }
    }
}

impl QueryTemplate {
    /// The query about a record of a run that takes `duration_ms`.
    pub fn fill(&self, study: &Study, record: &Record, duration_ms: u64) -> Query {
        let mut query = Query::new();
        for ask in self.asks {
            let Some(value) = study.field_index(ask.field()).and_then(|index| record.get(index))
            else {
                continue;
            };
            query = add(query, *ask, value, duration_ms);
        }
        if let Some(field) = self.newest_by {
            query = query.descending(field);
        }
        match self.limit {
            Some(limit) => query.limit(limit),
            None => query,
        }
    }
}

fn add(query: Query, ask: Ask, value: &Value<'static>, duration_ms: u64) -> Query {
    match ask {
        Ask::Same(field) => query.equals(field, value.clone()),
        Ask::Around(field, thousandths) => {
            let width = (duration_ms * thousandths / 1000).max(1);
            let middle = value.as_number().and_then(|number| u64::try_from(number).ok());
            let middle = middle.unwrap_or(EPOCH_MS);
            let from = middle.saturating_sub(width / 2);
            query.range(field, from..from + width)
        }
        Ask::Begins(field, cut) => {
            let text = value.as_text().unwrap_or_default();
            let end = text.len().saturating_sub(cut);
            query.prefix(field, text.get(..end).unwrap_or(text).to_owned())
        }
    }
}
