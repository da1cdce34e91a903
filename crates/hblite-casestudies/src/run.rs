//! Runs a study: each design in a store of its own or in tables of its own on a cluster, the same
//! questions for all of them.

use std::fmt;
use std::time::{Duration, Instant};

use hblite::filter::Filter;
use hblite::{Connection, Scan};
use hblite_model::{counted, setters};
use hblite_rowkey::{Order, quantile_splits};

use crate::error::Result;
use crate::study::{CaseStudy, DataSet, Question, SchemaDesign, Session};
use crate::temporary::TemporaryTables;
use crate::trace::{Cost, TableReader, Trace};

/// How a study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseStudyOptions {
    /// Regions of the first table of each design, split at the quantiles of its keys (1).
    pub regions: usize,
    /// Whether answers are compared with those computed without a store (no).
    pub is_checked: bool,
}

impl Default for CaseStudyOptions {
    fn default() -> Self {
        Self { regions: 1, is_checked: false }
    }
}

setters! { CaseStudyOptions:
    with_regions sets regions: usize;
    with_checked sets is_checked: bool;
}

/// The results of a design.
#[derive(Debug, Clone)]
pub struct DesignReport {
    /// The design.
    pub name: String,
    /// The key of each table.
    pub pictures: Vec<String>,
    /// Why it does or does not spread writes.
    pub why: String,
    /// Puts of all tables.
    pub puts: u64,
    /// Time to write them, including the flush.
    pub load_time: Duration,
    /// Regions of the first table.
    pub regions: usize,
    /// Names of the tables, with the mean number of bytes of the row keys that they store.
    pub key_bytes: Vec<(String, f64)>,
    /// What was done after the records were written.
    pub after_load: Vec<String>,
    /// The questions.
    pub questions: Vec<QuestionReport>,
}

/// The results of a question.
#[derive(Debug, Clone)]
pub struct QuestionReport {
    /// The question.
    pub question: Question,
    /// The first scans and gets, printed.
    pub steps: Vec<String>,
    /// What all of them cost.
    pub cost: Cost,
    /// Time from the question to the last record.
    pub time: Duration,
    /// How many records were found.
    pub found: u64,
    /// The first of them.
    pub sample: Vec<String>,
    /// Whether they equal those computed without a store, if that was checked.
    pub is_right: Option<bool>,
}

/// Keys that are sampled for splits.
const SAMPLE: u64 = 5_000;
/// The number of scans, and of records, in a report.
const SHOWN: usize = 3;

/// Creates, fills and queries a design of a study, in a store that has none of its tables yet.
///
/// # Errors
/// Those of keys and the store.
pub fn run_design(
    study: &dyn CaseStudy,
    design: &dyn SchemaDesign,
    data: &DataSet,
    connection: &Connection,
    options: CaseStudyOptions,
) -> Result<DesignReport> {
    let splits = splits(design, data, options.regions)?;
    design.create(connection, &splits)?;
    ask_all(study, design, data, connection, splits.len() + 1, options)
}

/// Fills and queries the tables of a design.
fn ask_all(
    study: &dyn CaseStudy,
    design: &dyn SchemaDesign,
    data: &DataSet,
    connection: &Connection,
    regions: usize,
    options: CaseStudyOptions,
) -> Result<DesignReport> {
    let session = design.open(connection)?;
    let start = Instant::now();
    let puts = session.load(data)?;
    for table in design.tables() {
        connection.admin().flush_table(table.name())?;
    }
    let load_time = start.elapsed();
    let mut questions = Vec::new();
    for question in study.questions(data, &study.around(data)) {
        let expected = options.is_checked.then(|| study.expected(data, &question));
        questions.push(ask(session.as_ref(), question, expected)?);
    }
    Ok(DesignReport {
        name: design.name().to_owned(),
        pictures: design.pictures(),
        why: design.why(),
        puts,
        load_time,
        regions,
        key_bytes: key_bytes(session.as_ref())?,
        after_load: session.after_load(data)?,
        questions,
    })
}

/// As [`run_design`], on a cluster: `cluster` is from `hblite::connect`. The tables of the design
/// must not exist there. They are dropped at the end, also after an error.
///
/// # Errors
/// As [`run_design`]; [`Error::Taken`](crate::Error::Taken) if one of the tables exists.
pub fn run_design_on_cluster(
    study: &dyn CaseStudy,
    design: &dyn SchemaDesign,
    data: &DataSet,
    cluster: &Connection,
    options: CaseStudyOptions,
) -> Result<DesignReport> {
    let mut tables = TemporaryTables::claim(cluster, &design.tables())?;
    let splits = splits(design, data, options.regions)?;
    design.create(cluster, &splits)?;
    for table in design.tables() {
        tables.add(table.name().clone());
    }
    let report = ask_all(study, design, data, cluster, splits.len() + 1, options)?;
    tables.remove()?;
    Ok(report)
}

/// Split keys at the quantiles of a sample.
fn splits(design: &dyn SchemaDesign, data: &DataSet, regions: usize) -> Result<Vec<Vec<u8>>> {
    if data.records == 0 || regions < 2 {
        return Ok(Vec::new());
    }
    let step = (data.records / SAMPLE).max(1);
    let indexes = (0..data.records).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    let keys = indexes.map(|index| design.key(&data.record(index))).collect::<Result<Vec<_>>>()?;
    Ok(quantile_splits(keys, regions)?)
}

/// The mean length of the row keys in each table.
fn key_bytes(session: &dyn Session) -> Result<Vec<(String, f64)>> {
    let mean = |table: &TableReader| {
        let first_cells = Scan::new().with_filter(Filter::first_key_only());
        let (mut rows, mut bytes) = (0_u64, 0);
        for row in table.table().scan(&first_cells)? {
            rows += 1;
            bytes += row?.row().len() as u64;
        }
        Ok((table.table().name().to_string(), bytes as f64 / rows.max(1) as f64))
    };
    session.tables().iter().map(mean).collect()
}

fn ask(
    session: &dyn Session,
    question: Question,
    expected: Option<Vec<String>>,
) -> Result<QuestionReport> {
    let trace = Trace::new();
    let mut lines = Vec::new();
    let mut found = 0_u64;
    let is_compared = expected.is_some();
    let start = Instant::now();
    session.ask(&question, &trace, &mut |record| {
        found += 1;
        if is_compared || lines.len() < SHOWN {
            lines.push(record.to_string());
        }
    })?;
    let time = start.elapsed();
    let sample = lines.iter().take(SHOWN).cloned().collect();
    let is_right = expected.map(|expected| is_same(&question, lines, expected));
    let steps = trace.steps();
    let steps = steps.iter().take(SHOWN).map(ToString::to_string).collect();
    Ok(QuestionReport { question, steps, cost: trace.cost(), time, found, sample, is_right })
}

fn is_same(question: &Question, mut found: Vec<String>, mut expected: Vec<String>) -> bool {
    if *question.query.order() == Order::Any {
        found.sort_unstable();
        expected.sort_unstable();
    }
    found == expected
}

impl fmt::Display for DesignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "-- {}", self.name)?;
        for picture in &self.pictures {
            writeln!(f, "   {picture}")?;
        }
        writeln!(f, "   {}", self.why)?;
        let seconds = self.load_time.as_secs_f64();
        let (puts, regions) = (counted(self.puts, "put"), counted(self.regions as u64, "region"));
        write!(f, "   {puts} in {seconds:.2} s, {regions}, ")?;
        match self.key_bytes.as_slice() {
            [(_, bytes)] => writeln!(f, "{bytes:.1} bytes of row key")?,
            tables => {
                let of_table = |(name, bytes): &(String, f64)| format!("{bytes:.1} in {name}");
                let tables: Vec<String> = tables.iter().map(of_table).collect();
                writeln!(f, "bytes of row key: {}", tables.join(", "))?;
            }
        }
        for question in &self.questions {
            write!(f, "{question}")?;
        }
        for line in &self.after_load {
            writeln!(f, "   then: {line}")?;
        }
        Ok(())
    }
}

impl fmt::Display for QuestionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { scans, gets, regions, rows, cells, bytes } = self.cost;
        writeln!(f, "   {}: {}", self.question.name, self.question.query)?;
        for step in &self.steps {
            writeln!(f, "     {step}")?;
        }
        let steps = scans + gets;
        if steps > self.steps.len() as u64 {
            writeln!(f, "     and {} more", steps - self.steps.len() as u64)?;
        }
        writeln!(
            f,
            "     = scans {scans}, gets {gets}, regions {regions}, rows {rows}, cells {cells}, \
             bytes {bytes}, {:.2} ms",
            self.time.as_secs_f64() * 1e3
        )?;
        let is_right = match self.is_right {
            Some(true) => ", as expected",
            Some(false) => ", NOT as expected",
            None => "",
        };
        writeln!(f, "     found {}{is_right}", self.found)?;
        for line in &self.sample {
            writeln!(f, "       {line}")?;
        }
        if self.found > self.sample.len() as u64 {
            writeln!(f, "       …")?;
        }
        Ok(())
    }
}

/// The comparison of a study's designs: for each question what it took.
#[derive(Debug)]
pub struct Comparison<'r>(pub &'r [DesignReport]);

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|report| report.name.len());
        let width = names.max().unwrap_or(0).max("design".len());
        writeln!(
            f,
            "   {:<width$} {:>6} {:>6} {:>8} {:>9} {:>9} {:>9} {:>10}",
            "design", "scans", "gets", "regions", "rows", "cells", "found", "ms"
        )?;
        let count = self.0.first().map_or(0, |report| report.questions.len());
        for at in 0..count {
            let mut reports = self.0.iter().filter_map(|report| {
                report.questions.get(at).map(|question| (&report.name, question))
            });
            if let Some((_, first)) = reports.clone().next() {
                writeln!(f, "   {}", first.question.name)?;
            }
            reports.try_for_each(|(name, report)| {
                let Cost { scans, gets, regions, rows, cells, .. } = report.cost;
                let ms = report.time.as_secs_f64() * 1e3;
                let found = report.found;
                writeln!(
                    f,
                    "   {name:<width$} {scans:>6} {gets:>6} {regions:>8} {rows:>9} {cells:>9} \
                     {found:>9} {ms:>10.2}"
                )
            })?;
        }
        Ok(())
    }
}
