//! The web table of HBase's data model: a row for each site, with its pages in versions, the links
//! to it in one column each, and people for the few sites that name an author.
//!
//! ```text
//! families     row com.cnn.www   contents:html   anchor:my.look.ca   people:author
//! one-family   the same columns in the family d: d:contents:html, d:anchor:my.look.ca, …
//! plain-row    row www.cnn.com, the families of the first
//! ```
//!
//! Families are stored separately, so a question about links does not read pages. Empty cells take
//! no space: a scan of `people` reads only the sites that have an author.

use std::collections::BTreeMap;

use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, RowResult, Scan, TableDescriptor};
use hblite_rowkey::{Design, FieldCondition, KeyRange, Query};

use crate::error::{Error, Result};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

const STEP_MS: u64 = 500;
const TABLE: &str = "WEBTABLE";
const FAMILIES: [&str; 3] = ["contents", "anchor", "people"];
/// The only family of the design with one.
const FAMILY: &str = "d";
/// More versions than any history of the study has.
const VERSIONS_MAX: u32 = i32::MAX as u32;
/// One site of this many names its author.
const WITH_AUTHOR: u64 = 50;

/// A cell of the table, apart from its site and its time.
type Column = (&'static str, String);

/// What a crawl of a site finds: its page, a link to it, perhaps an author.
struct Visit {
    site: String,
    ts: u64,
    cells: Vec<(Column, String)>,
}

impl Visit {
    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let owner = ["cnn", "example", "apache", "look"][(id.entity / 3 % 4) as usize];
        let host = ["www", "mail", "news"][(id.entity % 3) as usize];
        let page = format!("<html>{}", "page ".repeat(20 + random.below(20) as usize));
        let linking = format!("my.look{}.ca", random.below(12));
        let text = format!("about {owner}, {}", random.below(1000));
        let mut cells =
            vec![((FAMILIES[0], "html".to_owned()), page), ((FAMILIES[1], linking), text)];
        if id.entity.is_multiple_of(WITH_AUTHOR) {
            let author = format!("author {}", random.below(100));
            cells.push(((FAMILIES[2], "author".to_owned()), author));
        }
        Self {
            site: format!("{host}.{owner}{}.com", id.entity / 12),
            ts: EPOCH_MS + id.index * STEP_MS,
            cells,
        }
    }
}

fn line(site: &str, (family, qualifier): (&str, &str), ts: u64, value: &str) -> String {
    format!("{site} {family}:{qualifier} t{ts} {value}")
}

/// The study.
#[derive(Debug)]
pub struct WebTable;

impl CaseStudy for WebTable {
    fn name(&self) -> &'static str {
        "webtable"
    }

    fn title(&self) -> &'static str {
        "The web table: pages, links and people of sites"
    }

    fn question(&self) -> &'static str {
        "A family for each kind of cell, or one for all? Domains reversed or unchanged?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 100).clamp(12, 100_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design = |name, key, is_split, why| {
            Box::new(WebDesign { name, key, is_split, why }) as Box<dyn SchemaDesign>
        };
        vec![
            design(
                "families",
                "site:domain",
                true,
                "links are read without pages; sites of an owner are adjacent",
            ),
            design("one-family", "site:domain", false, "a question about links reads the pages"),
            design("plain-row", "site:str", true, "sites of an owner are far apart"),
        ]
    }

    fn questions(&self, _data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Visit { site, ts, .. } = Visit::generate(around);
        let owner = site.find('.').map_or("", |dot| &site[dot..]).to_owned();
        let of = |family: &str| Query::new().equals("family", family.to_owned());
        let page = || of(FAMILIES[0]).equals("site", site.clone());
        vec![
            Question::new("page", page().descending("ts").limit(1)),
            Question::new("page-then", page().below("ts", ts + 1).descending("ts").limit(1)),
            Question::new("history", page().descending("ts")),
            Question::new("links", of(FAMILIES[1]).equals("site", site.clone())),
            Question::new("links-of-owner", of(FAMILIES[1]).suffix("site", owner)),
            Question::new("people", of(FAMILIES[2])),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        let wanted = Wanted::of(question);
        let mut columns: BTreeMap<(String, String), BTreeMap<u64, String>> = BTreeMap::new();
        for visit in data.all().map(|id| Visit::generate(&id)) {
            let is_wanted = wanted.is_of(&visit.site) && visit.ts < wanted.before;
            for ((family, qualifier), value) in visit.cells {
                if is_wanted && family == wanted.family {
                    let column = (visit.site.clone(), qualifier);
                    columns.entry(column).or_default().insert(visit.ts, value);
                }
            }
        }
        let lines = columns.iter().flat_map(|((site, qualifier), versions)| {
            let column = (wanted.family, qualifier.as_str());
            let newest = versions.iter().rev().take(wanted.versions as usize);
            newest.map(move |(ts, value)| line(site, column, *ts, value))
        });
        lines.collect()
    }
}

/// What a question asks.
struct Wanted<'q> {
    family: &'static str,
    site: Option<&'q str>,
    /// The end of the site.
    owner: Option<&'q str>,
    before: u64,
    versions: u32,
}

impl<'q> Wanted<'q> {
    fn of(question: &'q Question) -> Self {
        let versions = if question.name == "history" { VERSIONS_MAX } else { 1 };
        let mut wanted =
            Self { family: FAMILIES[0], site: None, owner: None, before: u64::MAX, versions };
        for (field, condition) in question.query.conditions() {
            match (field.as_str(), condition) {
                ("site", FieldCondition::Equals(value)) => wanted.site = value.as_text(),
                ("site", FieldCondition::Suffix(value)) => wanted.owner = value.as_text(),
                ("family", FieldCondition::Equals(value)) => {
                    let own = FAMILIES.into_iter().find(|own| value.as_text() == Some(own));
                    wanted.family = own.unwrap_or(FAMILIES[0]);
                }
                ("ts", FieldCondition::Range { to: Some(to), .. }) => {
                    let to = to.as_number().and_then(|to| u64::try_from(to).ok());
                    wanted.before = to.unwrap_or(u64::MAX);
                }
                _ => {}
            }
        }
        wanted
    }

    fn is_of(&self, site: &str) -> bool {
        self.site.is_none_or(|own| own == site)
            && self.owner.is_none_or(|owner| site.ends_with(owner))
    }

    fn time_range(&self) -> Result<hblite::TimeRange> {
        let before = i64::try_from(self.before).unwrap_or(i64::MAX);
        Ok(hblite::TimeRange::new(0, before)?)
    }
}

struct WebDesign {
    name: &'static str,
    key: &'static str,
    /// Whether each kind of cell has its own family.
    is_split: bool,
    why: &'static str,
}

impl WebDesign {
    fn row(&self, site: &str) -> Result<Vec<u8>> {
        Ok(Design::parse(self.key)?.encode(&[site.into()])?)
    }
}

impl SchemaDesign for WebDesign {
    fn name(&self) -> &str {
        self.name
    }

    fn pictures(&self) -> Vec<String> {
        let families = if self.is_split { FAMILIES.join(", ") } else { FAMILY.to_owned() };
        vec![format!("{TABLE}: {}, families {families}", self.key)]
    }

    fn why(&self) -> String {
        self.why.to_owned()
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        let families: &[&str] = if self.is_split { &FAMILIES } else { &[FAMILY] };
        let family = |name: &&str| ColumnFamilyDescriptor::new(name).with_versions(VERSIONS_MAX);
        let table = TableDescriptor::new(TABLE.parse().expect("the name of a table"));
        vec![families.iter().map(family).fold(table, TableDescriptor::with_family)]
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(Design::parse(self.key)?.natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        self.row(&Visit::generate(id).site)
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        let design = Self { ..*self };
        let tables = [TableReader::new(connection.table(TABLE)?)?];
        Ok(Box::new(WebSession { design, tables }))
    }
}

struct WebSession {
    design: WebDesign,
    tables: [TableReader; 1],
}

impl WebSession {
    /// The family and the qualifier that a column is stored under.
    fn stored<'c>(&self, (family, qualifier): (&'c str, &str)) -> (&'c str, String) {
        if self.design.is_split {
            (family, qualifier.to_owned())
        } else {
            (FAMILY, format!("{family}:{qualifier}"))
        }
    }

    /// The cells of a row that a question wants.
    fn collect(&self, row: &RowResult, wanted: &Wanted<'_>, into: &mut Vec<String>) -> Result<()> {
        let design = Design::parse(self.design.key)?;
        let values = design.decode(row.row())?;
        let site = values[0].as_text().ok_or_else(|| Error::row(row.row(), "is not a site"))?;
        if !wanted.is_of(site) {
            return Ok(());
        }
        for cell in row.cells() {
            let qualifier = String::from_utf8_lossy(cell.qualifier());
            let qualifier = match self.design.is_split {
                true => Some(qualifier.as_ref()),
                false => {
                    let own = qualifier.strip_prefix(wanted.family);
                    own.and_then(|rest| rest.strip_prefix(':'))
                }
            };
            let Some(qualifier) = qualifier else { continue };
            let ts = u64::try_from(cell.timestamp()).unwrap_or(0);
            let value = String::from_utf8_lossy(cell.value());
            into.push(line(site, (wanted.family, qualifier), ts, &value));
        }
        Ok(())
    }

    /// The scan for the sites of an owner, or for all.
    fn range(&self, wanted: &Wanted<'_>) -> Result<KeyRange> {
        let everything = KeyRange { start: Vec::new(), stop: Vec::new() };
        let Some(owner) = wanted.owner else { return Ok(everything) };
        let query = Query::new().suffix("site", owner.to_owned());
        let plan = Design::parse(self.design.key)?.plan(&query)?;
        Ok(plan.ranges.into_iter().next().unwrap_or(everything))
    }
}

impl Session for WebSession {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let Visit { site, ts, cells } = Visit::generate(id);
        let version = i64::try_from(ts).unwrap_or(i64::MAX);
        let mut put = Put::new(self.design.row(&site)?);
        for ((family, qualifier), value) in cells {
            let (family, qualifier) = self.stored((family, &qualifier));
            put = put.add_at(family, qualifier, version, value);
        }
        Ok(vec![Write::new(put)])
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let wanted = Wanted::of(question);
        let table = &self.tables[0];
        let mut lines = Vec::new();
        let is_page = wanted.family == FAMILIES[0];
        let family = if self.design.is_split { wanted.family } else { FAMILY };
        if let Some(site) = wanted.site {
            let get = Get::new(self.design.row(site)?)
                .with_versions(wanted.versions)
                .with_time_range(wanted.time_range()?);
            let get = if is_page {
                let (family, qualifier) = self.stored((wanted.family, "html"));
                get.with_column(family, qualifier)
            } else {
                get.with_family(family)
            };
            self.collect(&table.get(&get, family, trace)?, &wanted, &mut lines)?;
        } else {
            let range = self.range(&wanted)?.scan(false);
            let refine = |scan: Scan| scan.with_family(family);
            for row in table.scan(&range, None, family, refine, trace)? {
                self.collect(&row?.0, &wanted, &mut lines)?;
            }
        }
        lines.iter().for_each(|line| visit(line));
        Ok(())
    }
}
