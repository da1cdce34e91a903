//! A list for each user: a row for each value, pages of thirty in a row, or a row with a column for
//! each value.
//!
//! ```text
//! tall   [user 8][value 4]      empty column
//! paged  [user 8][page 4]       column l = [length 4][next page 4][value 4][value 4]…
//! wide   [user 8]               column [value 4] for each
//! ```
//!
//! Most reads request the first thirty values, some request later ones; lengths follow a power law.
//! Values are kept in order, so a value that arrives late goes into the middle and takes a row, a
//! column, or all pages from there on.

mod paged;

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use hblite_rowkey::{Query, Value};

use self::paged::Paged;
use super::slices::{Numbered, Slices};
use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign, Skew};

/// Values that are read at once.
const PAGE: u64 = 30;

/// A value in a user's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListValue {
    /// The user.
    pub user: String,
    /// The value.
    pub value: u32,
}

impl Record for ListValue {
    const FIELDS: &'static [(&'static str, Kind)] =
        &[("user", Kind::Text), ("value", Kind::Number)];

    /// Values are even, so that odd ones can be inserted between them.
    fn generate(id: &RecordId) -> Self {
        let value = u32::try_from(id.index * 2).unwrap_or(u32::MAX);
        Self { user: format!("u{:07}", id.entity), value }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "user" => Value::from(&self.user),
            "value" => Value::from(self.value),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        Some(Self {
            user: value("user")?.as_text()?.to_owned(),
            value: u32::try_from(value("value")?.as_number()?).ok()?,
        })
    }
}

impl Numbered for ListValue {
    const OWNER: &'static str = "user";
    const NUMBER: &'static str = "value";

    fn content(&self) -> &[u8] {
        &[]
    }

    fn from_column(owner: &str, number: u32, _content: &[u8]) -> Self {
        Self { user: owner.to_owned(), value: number }
    }
}

impl fmt::Display for ListValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.user, self.value)
    }
}

/// The study.
#[derive(Debug)]
pub struct Lists;

impl CaseStudy for Lists {
    fn name(&self) -> &'static str {
        "lists"
    }

    fn title(&self) -> &'static str {
        "A list of values for each user"
    }

    fn question(&self) -> &'static str {
        "Tall, wide, or hand-made pages?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 30).clamp(4, 1_000_000)
    }

    fn data(&self, records: u64, seed: u64) -> DataSet {
        DataSet { seed, records, entities: self.entities(records), skew: Skew::PowerLaw }
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        vec![
            KeyedDesign::<ListValue>::new(
                "tall",
                "LIST_TALL",
                "user:str(8)|value:u32",
                "thirty rows from anywhere; a value in the middle is one put (start with this)",
            )
            .boxed(),
            Box::new(Paged),
            Box::new(Slices::<ListValue> {
                name: "wide",
                table: "LIST_WIDE",
                why: "a slice of columns from anywhere, and a list changes as a whole; a very \
                      long one cannot be split",
                per_row: None,
                record: PhantomData,
            }),
        ]
    }

    /// A user with at least a page of values from the record on: with many users, most have fewer.
    fn around(&self, data: &DataSet) -> RecordId {
        let middle = data.records / 2;
        let mut values: HashMap<u64, u64> = HashMap::new();
        for index in middle..data.records {
            *values.entry(data.record(index).entity).or_default() += 1;
        }
        let mut records = (middle..data.records).map(|index| data.record(index));
        let is_long = |id: &RecordId| values.get(&id.entity).is_some_and(|count| *count >= PAGE);
        records.find(is_long).unwrap_or_else(|| data.record(middle))
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let ListValue { user, value } = ListValue::generate(around);
        let of_user = || Query::new().equals("user", user.clone()).ascending("value");
        // The first user has the longest list.
        let longest = Query::new().equals("user", "u0000000".to_owned()).ascending("value");
        let middle = u32::try_from(data.records).unwrap_or(u32::MAX);
        vec![
            Question::new("first-30", of_user().limit(30)),
            Question::new("next-30", of_user().at_least("value", value).limit(30)),
            Question::new("whole-list", of_user()),
            Question::new("longest-first-30", longest.clone().limit(30)),
            Question::new("longest-from-middle", longest.at_least("value", middle).limit(30)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<ListValue>(data, &question.query)
    }
}
