//! Rows or columns: a million rows of one column, or one row of a million columns.
//!
//! Both store the same cells, and every cell has its whole row key either way. They differ in what
//! a region can split, what a get reads at once, and what changes together: a row changes as a
//! whole. Rows as columns are in between, with a fixed number of records in each row.

use std::fmt;
use std::marker::PhantomData;

use hblite_rowkey::{Query, Value};

use super::slices::{Numbered, Slices};
use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// One of very many attributes of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// The thing.
    pub thing: String,
    /// The number of the attribute.
    pub number: u32,
    /// Its value.
    pub content: String,
}

impl Record for Attribute {
    const FIELDS: &'static [(&'static str, Kind)] =
        &[("thing", Kind::Text), ("number", Kind::Number), ("content", Kind::Text)];

    fn generate(id: &RecordId) -> Self {
        Self {
            thing: format!("t{:07}", id.entity),
            number: u32::try_from(id.index).unwrap_or(u32::MAX),
            content: format!("{:08x}", id.random().number() >> 32),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "thing" => Value::from(&self.thing),
            "number" => Value::from(self.number),
            "content" => Value::from(&self.content),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        Some(Self {
            thing: value("thing")?.as_text()?.to_owned(),
            number: u32::try_from(value("number")?.as_number()?).ok()?,
            content: value("content")?.as_text()?.to_owned(),
        })
    }
}

impl Numbered for Attribute {
    const OWNER: &'static str = "thing";
    const NUMBER: &'static str = "number";

    fn content(&self) -> &[u8] {
        self.content.as_bytes()
    }

    fn from_column(owner: &str, number: u32, content: &[u8]) -> Self {
        let content = String::from_utf8_lossy(content).into_owned();
        Self { thing: owner.to_owned(), number, content }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.thing, self.number, self.content)
    }
}

/// The study.
#[derive(Debug)]
pub struct RowsColumns;

/// Attributes of one thing, if there are that many.
const PER_THING: u64 = 1_000_000;
/// Attributes of one row in between.
const PER_ROW: u32 = 100;

impl CaseStudy for RowsColumns {
    fn name(&self) -> &'static str {
        "rows-columns"
    }

    fn title(&self) -> &'static str {
        "A thing with very many attributes"
    }

    fn question(&self) -> &'static str {
        "1M rows of 1 column, 1 row of 1M columns, or rows as columns in between?"
    }

    fn entities(&self, records: u64) -> u64 {
        records.div_ceil(PER_THING)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let slices = |name, table, per_row, why| {
            Box::new(Slices::<Attribute> { name, table, why, per_row, record: PhantomData })
                as Box<dyn SchemaDesign>
        };
        vec![
            KeyedDesign::<Attribute>::new(
                "rows",
                "ATTRIBUTES_TALL",
                "thing:str(8)|number:u32",
                "splits anywhere, any part is a scan (the preferred way)",
            )
            .boxed(),
            slices(
                "columns",
                "ATTRIBUTES_WIDE",
                None,
                "all of a thing changes together, in one region that cannot split it",
            ),
            slices(
                "rows-as-columns",
                "ATTRIBUTES_BUNDLED",
                Some(PER_ROW),
                "a hundred in each row: fewer rows to read, and regions can split between them",
            ),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Attribute { thing, number, .. } = Attribute::generate(around);
        let of_thing = || Query::new().equals("thing", thing.clone());
        let wide = number + u32::try_from(data.records / 4).unwrap_or(u32::MAX / 4);
        vec![
            Question::new("one", of_thing().equals("number", number)),
            Question::new("first-100", of_thing().ascending("number").limit(100)),
            Question::new("slice", of_thing().range("number", number..number + 150)),
            Question::new("quarter", of_thing().range("number", number..wide)),
            Question::new("all", of_thing()),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Attribute>(data, &question.query)
    }
}
