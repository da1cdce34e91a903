//! Web pages by domain: unchanged, with reversed labels, with reversed letters.
//!
//! The beginning of a domain says little: `www.cnn.com` and `www.apache.org` are adjacent.
//! Reversed, all pages of one owner are adjacent, and one scan reads a domain with its subdomains.
//! Reversed labels (`com.cnn.www`) stay readable; reversed letters (`moc.nnc.www`) also match an
//! ending that is not a whole label.

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The domain.
    pub domain: String,
    /// The path.
    pub path: String,
    /// The page itself.
    pub html: String,
}

impl Record for Page {
    const FIELDS: &'static [(&'static str, Kind)] =
        &[("domain", Kind::Text), ("path", Kind::Text), ("html", Kind::Text)];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let site =
            ["iteblog", "cnn", "example", "apache", "hbase", "golang"][(id.entity % 6) as usize];
        let top = ["com", "org", "net", "io"][(id.entity / 6 % 4) as usize];
        let host = random.one_of(&["www", "flink", "carbondata", "def", "mail", "jira"]);
        Self {
            domain: format!("{host}.{site}{}.{top}", id.entity / 24),
            path: format!("/{:07}", id.index),
            html: format!("<html>page {}", random.below(1_000_000)),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "domain" => Value::from(&self.domain),
            "path" => Value::from(&self.path),
            "html" => Value::from(&self.html),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        Some(Self { domain: text("domain")?, path: text("path")?, html: text("html")? })
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} {}", self.domain, self.path, self.html)
    }
}

/// The study.
#[derive(Debug)]
pub struct WebPages;

impl CaseStudy for WebPages {
    fn name(&self) -> &'static str {
        "web-pages"
    }

    fn title(&self) -> &'static str {
        "Pages of the web by domain"
    }

    fn question(&self) -> &'static str {
        "Domains unchanged, or reversed?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 100).clamp(6, 10_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design =
            |name, key: &str, why| KeyedDesign::<Page>::new(name, "PAGES", key, why).boxed();
        vec![
            design("plain", "domain:str|path:str", "an owner's hosts are far apart"),
            design(
                "labels-backwards",
                "domain:domain|path:str",
                "a domain with its subdomains in one scan, readable",
            ),
            design(
                "letters-backwards",
                "domain:reversed_str|path:str",
                "any ending of a domain in one scan",
            ),
        ]
    }

    fn questions(&self, _data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Page { domain, path, .. } = Page::generate(around);
        let owner = domain.find('.').map_or("", |dot| &domain[dot..]).to_owned();
        let top = owner.rfind('.').map_or("", |dot| &owner[dot..]).to_owned();
        vec![
            Question::new(
                "page",
                Query::new().equals("domain", domain.clone()).equals("path", path),
            ),
            Question::new("host", Query::new().equals("domain", domain.clone())),
            Question::new("subdomains", Query::new().suffix("domain", owner.clone())),
            Question::new("ends-with", Query::new().suffix("domain", owner[2..].to_owned())),
            Question::new("top-level", Query::new().suffix("domain", top)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Page>(data, &question.query)
    }
}
