//! Trading: a seller's deals of a period, a buyer's deals of a period, one order.
//!
//! There are three questions, and a key answers one of them: seller + time + order, buyer + time +
//! order, or the order. So a deal is stored three times, or two of the questions read the whole
//! table. A seller with very many deals makes one region hot; a random salt spreads its deals, and
//! a question by seller then takes one scan per salt.

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// One deal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deal {
    /// Who sold.
    pub seller: String,
    /// Who bought.
    pub buyer: String,
    /// When, in milliseconds since 1970.
    pub ts: u64,
    /// The number of the order.
    pub order: String,
    /// The price in cents.
    pub amount: u64,
}

const STEP_MS: u64 = 400;

impl Record for Deal {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("seller", Kind::Text),
        ("buyer", Kind::Text),
        ("ts", Kind::Number),
        ("order", Kind::Text),
        ("amount", Kind::Number),
    ];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        Self {
            seller: format!("s{:05}", id.entity),
            buyer: format!("b{:06}", random.below(5_000)),
            ts: EPOCH_MS + id.index * STEP_MS + random.below(STEP_MS),
            order: format!("o{:09}", id.index),
            amount: random.power_law(500, 5_000_000) + random.below(500),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "seller" => Value::from(&self.seller),
            "buyer" => Value::from(&self.buyer),
            "ts" => Value::from(self.ts),
            "order" => Value::from(&self.order),
            "amount" => Value::from(self.amount),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        let number = |field: &str| u64::try_from(value(field)?.as_number()?).ok();
        Some(Self {
            seller: text("seller")?,
            buyer: text("buyer")?,
            ts: number("ts")?,
            order: text("order")?,
            amount: number("amount")?,
        })
    }
}

impl fmt::Display for Deal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seller, buyer, ts, order, amount } = self;
        write!(f, "{ts} {order} {seller} {buyer} {}.{:02}", amount / 100, amount % 100)
    }
}

/// The study.
#[derive(Debug)]
pub struct Trading;

const SELLER: &str = "seller:str(6)|ts:timestamp|order:str";
const BUYER: &str = "buyer:str(7)|ts:timestamp|order:str";
const ORDER: &str = "order:str";

impl CaseStudy for Trading {
    fn name(&self) -> &'static str {
        "trading"
    }

    fn title(&self) -> &'static str {
        "Deals by seller, by buyer, by order"
    }

    fn question(&self) -> &'static str {
        "Which question does the row key answer, and what do the others cost?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 200).clamp(4, 1_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        vec![
            KeyedDesign::<Deal>::new(
                "seller",
                "TRADE_BY_SELLER",
                SELLER,
                "a seller's deals in one scan; everything else reads the table",
            )
            .boxed(),
            KeyedDesign::<Deal>::new(
                "buyer",
                "TRADE_BY_BUYER",
                BUYER,
                "a buyer's deals in one scan; everything else reads the table",
            )
            .boxed(),
            KeyedDesign::<Deal>::new(
                "order",
                "TRADE_BY_ORDER",
                ORDER,
                "an order in one get; growing numbers make the last region hot",
            )
            .boxed(),
            KeyedDesign::<Deal>::new(
                "all-three",
                "TRADE_BY_SELLER",
                SELLER,
                "each question has its own table; a deal is written three times",
            )
            .and_table("TRADE_BY_BUYER", BUYER)
            .and_table("TRADE_BY_ORDER", ORDER)
            .boxed(),
            KeyedDesign::<Deal>::new(
                "salted-seller",
                "TRADE_SALTED",
                "salt(8)|seller:str(6)|ts:timestamp|order:str",
                "a hot seller's writes go to all salts; reading its deals takes a scan for each",
            )
            .boxed(),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Deal { seller, buyer, ts, order, .. } = Deal::generate(around);
        let span = data.records * STEP_MS;
        let period = ts.saturating_sub(span / 6)..ts + span / 6;
        let by = |field: &str, name: &String| Query::new().equals(field, name.clone());
        let of_period = |query: Query| query.range("ts", period.clone()).ascending("ts");
        vec![
            Question::new("seller-period", of_period(by("seller", &seller))),
            Question::new("buyer-period", of_period(by("buyer", &buyer))),
            Question::new("order", by("order", &order)),
            Question::new("seller", by("seller", &seller)),
            Question::new("seller-latest", by("seller", &seller).descending("ts").limit(10)),
            Question::new("everything", Query::new()),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Deal>(data, &question.query)
    }
}
