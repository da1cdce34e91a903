//! uid + phone + name: which conditions the key supports.
//!
//! The row-key guide's list of easy and hard questions, each asked of the table. A question that
//! gives the front of the key is a prefix scan; any other reads the whole table. A second table
//! whose key begins with the phone makes the hard questions easy, and doubles every write.

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::{FAMILY, GIVEN};
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// An entry in a user's address book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// Whose address book.
    pub uid: String,
    /// The telephone.
    pub phone: String,
    /// The name.
    pub name: String,
}

impl Record for Contact {
    const FIELDS: &'static [(&'static str, Kind)] =
        &[("uid", Kind::Text), ("phone", Kind::Text), ("name", Kind::Text)];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        Self {
            uid: format!("{:07}", id.entity),
            phone: format!("1{}{:08}", 3 + random.below(6), id.index),
            name: format!("{} {}", random.one_of(GIVEN), random.one_of(FAMILY)),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "uid" => Value::from(&self.uid),
            "phone" => Value::from(&self.phone),
            "name" => Value::from(&self.name),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        Some(Self { uid: text("uid")?, phone: text("phone")?, name: text("name")? })
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.uid, self.phone, self.name)
    }
}

/// The study.
#[derive(Debug)]
pub struct Contacts;

impl CaseStudy for Contacts {
    fn name(&self) -> &'static str {
        "contacts"
    }

    fn title(&self) -> &'static str {
        "uid + phone + name, and which queries it supports"
    }

    fn question(&self) -> &'static str {
        "Which conditions become a prefix scan, and which read the whole table?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 40).clamp(4, 1_000_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        const BY_USER: &str = "uid:str|phone:str|name:str";
        vec![
            KeyedDesign::<Contact>::new(
                "uid-phone-name",
                "CONTACTS",
                BY_USER,
                "every question that knows the uid is a prefix scan",
            )
            .boxed(),
            KeyedDesign::<Contact>::new(
                "and-by-phone",
                "CONTACTS",
                BY_USER,
                "a second table, whose key begins with the phone, answers questions by phone",
            )
            .and_table("CONTACTS_BY_PHONE", "phone:str|uid:str|name:str")
            .boxed(),
        ]
    }

    fn questions(&self, _data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Contact { uid, phone, name } = Contact::generate(around);
        let of = |conditions: &[(&str, &str)]| {
            conditions.iter().fold(Query::new(), |query, (field, value)| {
                query.equals(field, (*value).to_owned())
            })
        };
        let (uid, phone, name) = (uid.as_str(), phone.as_str(), name.as_str());
        let (u, p, n) = (("uid", uid), ("phone", phone), ("name", name));
        vec![
            Question::new("uid-phone-name", of(&[u, p, n])),
            Question::new("uid-phone", of(&[u, p])),
            Question::new("uid-phone-prefix", of(&[u]).prefix("phone", phone[..2].to_owned())),
            Question::new("uid", of(&[u])),
            Question::new("phone-name", of(&[p, n])),
            Question::new("phone", of(&[p])),
            Question::new("name", of(&[n])),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Contact>(data, &question.query)
    }
}
