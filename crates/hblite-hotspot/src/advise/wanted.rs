//! The expected queries, as text.
//!
//! ```text
//! query     = [ weight ":" ] [ condition { "and" condition } ] [ "newest" field ] [ "limit" n ]
//! condition = field "=" "?"                 one value
//!           | field "in" percentage "%"     a range of values, as a share of all
//!           | field "begins" characters     the first characters of the value
//!           | field "ends" characters       the last characters of the value; for a domain, the
//!                                         labels that they contain in full
//! ```
//!
//! One query per line; `#` starts a comment. The weight is the relative frequency of a query.

use hblite_rowkey::{FieldCondition, Query, Value};

use super::NoAdvice;
use super::sample::Sample;

/// Queries with their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// In the order of the text.
    pub queries: Vec<WantedQuery>,
}

/// An expected query.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedQuery {
    /// As it was written, without the weight.
    pub text: String,
    /// How often it is run, relative to the others.
    pub weight: f64,
    pub(super) asks: Vec<(String, Known)>,
    pub(super) newest_by: Option<String>,
    pub(super) limit: Option<u64>,
}

/// What is known of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Known {
    Value,
    /// A share of the range of its values.
    Stretch(f64),
    /// This many characters at the front.
    Begins(usize),
    /// This many characters at the end.
    Ends(usize),
}

impl Wanted {
    /// Parses queries.
    ///
    /// ```
    /// use hblite_hotspot::advise::Wanted;
    /// let wanted = Wanted::parse("10: host = ? and ts in 5 %\n1: ts in 1 %  # for the report")?;
    /// assert_eq!(wanted.queries[0].weight, 10.0);
    /// assert_eq!(wanted.queries[1].text, "ts in 1 %");
    /// # Ok::<(), hblite_hotspot::advise::NoAdvice>(())
    /// ```
    ///
    /// # Errors
    /// [`NoAdvice`] with the line and what was expected.
    pub fn parse(text: &str) -> Result<Self, NoAdvice> {
        let mut queries = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                let query = WantedQuery::parse(line)
                    .map_err(|reason| NoAdvice(format!("query in line {}: {reason}", index + 1)))?;
                queries.push(query);
            }
        }
        if queries.is_empty() {
            return Err(NoAdvice("no queries: write one per line, such as 'host = ?'".into()));
        }
        Ok(Self { queries })
    }

    /// The names of all fields that queries name.
    pub fn fields(&self) -> Vec<&str> {
        let names = self.queries.iter().flat_map(|query| {
            let asked = query.asks.iter().map(|(name, _)| name.as_str());
            asked.chain(query.newest_by.as_deref())
        });
        names.collect()
    }

    pub(crate) fn check(&self, sample: &Sample) -> Result<(), NoAdvice> {
        let fields = sample.design().fields();
        for query in &self.queries {
            for name in query.asks.iter().map(|(name, _)| name).chain(&query.newest_by) {
                if !fields.iter().any(|field| field.name == *name) {
                    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                    return Err(NoAdvice(format!(
                        "{}: keys have no field {name}; their fields are {}",
                        query.text,
                        names.join(", ")
                    )));
                }
            }
        }
        Ok(())
    }
}

impl WantedQuery {
    fn parse(line: &str) -> Result<Self, String> {
        let (weight, text) = match line.split_once(':') {
            Some((weight, text)) => {
                let number = weight.trim().parse::<f64>().ok();
                let number = number.filter(|number| number.is_finite() && *number > 0.0);
                (number.ok_or(format!("{weight:?} is not a weight above 0"))?, text.trim())
            }
            None => (1.0, line),
        };
        let spaced = text.replace('=', " = ").replace('%', " % ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut query =
            Self { text: text.to_owned(), weight, asks: Vec::new(), newest_by: None, limit: None };
        let mut rest = words.as_slice();
        while !rest.is_empty() {
            rest = query.take(rest)?;
        }
        Ok(query)
    }

    /// Takes one clause from the front of the words.
    fn take<'w>(&mut self, words: &'w [&'w str]) -> Result<&'w [&'w str], String> {
        let number =
            |word: &str| word.parse::<u64>().map_err(|_| format!("{word:?} is not a number"));
        match words {
            ["and", rest @ ..] => Ok(rest),
            ["newest", field, rest @ ..] => {
                self.newest_by = Some((*field).to_owned());
                Ok(rest)
            }
            ["limit", count, rest @ ..] => {
                self.limit = Some(number(count)?);
                Ok(rest)
            }
            [field, "=", "?", rest @ ..] => self.ask(field, Known::Value, rest),
            [field, "begins", count, rest @ ..] => {
                let count = number(count)? as usize;
                self.ask(field, Known::Begins(count), rest)
            }
            [field, "ends", count, rest @ ..] => {
                let count = number(count)? as usize;
                self.ask(field, Known::Ends(count), rest)
            }
            [field, "in", share, "%", rest @ ..] => {
                let percent =
                    share.parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
                let percent = percent.ok_or(format!("{share:?} is not a percentage"))?;
                self.ask(field, Known::Stretch(percent / 100.0), rest)
            }
            _ => Err(format!(
                "{:?} is not a condition: FIELD = ?, FIELD in 5 %, FIELD begins 3, FIELD ends 3, \
                 newest FIELD, limit 10",
                words.join(" ")
            )),
        }
    }

    fn ask<'w>(
        &mut self,
        field: &str,
        known: Known,
        rest: &'w [&'w str],
    ) -> Result<&'w [&'w str], String> {
        if self.asks.iter().any(|(name, _)| name == field) {
            return Err(format!("two conditions on {field}: combine them into one"));
        }
        self.asks.push((field.to_owned(), known));
        Ok(rest)
    }

    /// The query about a record of a sample.
    pub(crate) fn about(&self, sample: &Sample, record: &[Value<'static>]) -> Query {
        let mut query = Query::new();
        for (name, known) in &self.asks {
            let Ok(index) = sample.design().field_index(name) else { continue };
            query = query.condition(name, condition(*known, &record[index], sample, index));
        }
        if let Some(field) = &self.newest_by {
            query = query.descending(field);
        }
        match self.limit {
            Some(limit) => query.limit(limit),
            None => query,
        }
    }
}

fn condition(
    known: Known,
    value: &Value<'static>,
    sample: &Sample,
    index: usize,
) -> FieldCondition {
    match known {
        Known::Value => FieldCondition::Equals(value.clone()),
        Known::Begins(count) => match value.as_text() {
            Some(text) => {
                let start: String = text.chars().take(count).collect();
                FieldCondition::Prefix(start.into())
            }
            None => {
                let bytes = value.as_bytes().unwrap_or_default();
                FieldCondition::Prefix(bytes[..count.min(bytes.len())].to_vec().into())
            }
        },
        Known::Ends(count) => {
            let text = value.as_text().unwrap_or_default();
            let skipped = text.chars().count().saturating_sub(count);
            let end: String = text.chars().skip(skipped).collect();
            FieldCondition::Suffix(end.into())
        }
        Known::Stretch(share) => {
            let (least, most) = sample.extent(index);
            let Some(middle) = value.as_number() else {
                // A range of strings: those with the same prefix.
                return condition(Known::Begins(1), value, sample, index);
            };
            let width = ((most.saturating_sub(least)) as f64 * share).max(1.0) as i128;
            let from = u64::try_from((middle - width / 2).max(0)).unwrap_or(0);
            let to = from.saturating_add(u64::try_from(width).unwrap_or(u64::MAX));
            FieldCondition::Range { from: Some(from.into()), to: Some(to.into()) }
        }
    }
}
