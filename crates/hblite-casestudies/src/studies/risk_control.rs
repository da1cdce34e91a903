//! Risk control: the profile of a user, found by user id, by identity card or by telephone.
//!
//! Each of the three numbers grows with time or shares its beginning with many others, so rows
//! keyed by the plain number end up in few regions. A prefix from the number's own MD5 spreads
//! them; a query for one number computes the same prefix and gets the row. (The guide uses the
//! prefix of the user id in all three keys; a card or a telephone alone would then find nothing. So
//! here each key has the prefix of the field that queries know.)

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// The data of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The number of the user.
    pub uid: String,
    /// The identity card.
    pub idcard: String,
    /// The mobile telephone.
    pub tele: String,
    /// The score.
    pub score: u64,
}

impl Record for Profile {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("uid", Kind::Text),
        ("idcard", Kind::Text),
        ("tele", Kind::Text),
        ("score", Kind::Number),
    ];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let (area, born) = (random.below(30), random.below(14_600));
        Self {
            uid: format!("{:010}", id.index),
            // Area, day of birth, number: many share a beginning.
            idcard: format!(
                "{:06}{:08}{:04}",
                110_100 + area,
                19_700_101 + born,
                id.index % 10_000
            ) + &(id.index / 10_000).to_string(),
            tele: format!("13{:09}", id.index * 7),
            score: 350 + random.below(600),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "uid" => Value::from(&self.uid),
            "idcard" => Value::from(&self.idcard),
            "tele" => Value::from(&self.tele),
            "score" => Value::from(self.score),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        Some(Self {
            uid: text("uid")?,
            idcard: text("idcard")?,
            tele: text("tele")?,
            score: u64::try_from(value("score")?.as_number()?).ok()?,
        })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uid, idcard, tele, score } = self;
        write!(f, "uid {uid} idcard {idcard} tele {tele} score {score}")
    }
}

/// The study.
#[derive(Debug)]
pub struct RiskControl;

impl CaseStudy for RiskControl {
    fn name(&self) -> &'static str {
        "risk-control"
    }

    fn title(&self) -> &'static str {
        "A user's profile by uid, idcard or telephone"
    }

    fn question(&self) -> &'static str {
        "Plain numbers as keys, or with a prefix of their MD5?"
    }

    fn entities(&self, records: u64) -> u64 {
        records
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let three = |name, prefix: &dyn Fn(&str) -> String, why| {
            let key = |field: &str| format!("{}{field}:str", prefix(field));
            KeyedDesign::<Profile>::new(name, "RISK_UID", &key("uid"), why)
                .and_table("RISK_IDCARD", &key("idcard"))
                .and_table("RISK_TELE", &key("tele"))
                .boxed()
        };
        vec![
            three(
                "plain",
                &|_| String::new(),
                "one get by each number; growing numbers all go to the last region",
            ),
            three(
                "md5-prefix",
                &|field| format!("md5hex({field}, 5)|"),
                "one get by each number, even over all regions; no scan in order of numbers",
            ),
        ]
    }

    fn questions(&self, _data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Profile { uid, idcard, tele, .. } = Profile::generate(around);
        let by = |field: &str, value: &str| Query::new().equals(field, value.to_owned());
        vec![
            Question::new("uid", by("uid", &uid)),
            Question::new("idcard", by("idcard", &idcard)),
            Question::new("tele", by("tele", &tele)),
            Question::new("area", Query::new().prefix("idcard", idcard[..6].to_owned())),
            Question::new("good-score", Query::new().at_least("score", 940_u64)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Profile>(data, &question.query)
    }
}
