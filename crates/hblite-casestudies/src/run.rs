//! Runs a study: each design in a store of its own or in tables of its own on a cluster, the same
//! questions for all of them.

use std::fmt;
use std::time::{Duration, Instant};

use hblite::Connection;
use hblite_rowkey::{Order, quantile_splits};

use crate::error::Result;
use crate::study::{CaseStudy, DataSet, Question, SchemaDesign, Session};
use crate::temporary::TemporaryTables;
use crate::trace::{Cost, Trace};

/// How a study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseStudyOptions {
    /// Regions of the first table of each design, split at the quantiles of its keys.
    pub regions: usize,
    /// Whether answers are compared with those computed without a store.
    pub is_checked: bool,
}

/// The results of a design.
#[derive(Debug, Clone)]
pub struct DesignReport {
    /// The design.
    pub name: String,
    /// The key of each table.
    pub pictures: Vec<String>,
    /// Why it spreads writes or does not.
    pub why: String,
    /// Puts of all tables.
    pub puts: u64,
    /// Time to write them, including the flush.
    pub load_time: Duration,
    /// Regions of the first table.
    pub regions: usize,
    /// Mean number of bytes of a row key of the first table.
    pub key_bytes: f64,
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
    /// From the question to the last record.
    pub time: Duration,
    /// How many records were found.
    pub found: u64,
    /// The first of them.
    pub sample: Vec<String>,
    /// Whether they equal those computed without a store, if that was checked.
    pub is_right: Option<bool>,
}

/// Keys that are sampled for splits and lengths.
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
    let (splits, key_bytes) = sample(design, data, options.regions)?;
    design.create(connection, &splits)?;
    ask_all(study, design, data, connection, (splits.len() + 1, key_bytes), options)
}

/// Fills and queries the tables of a design. `shape`: regions, and bytes of a key.
fn ask_all(
    study: &dyn CaseStudy,
    design: &dyn SchemaDesign,
    data: &DataSet,
    connection: &Connection,
    (regions, key_bytes): (usize, f64),
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
    for question in study.questions(data, &data.record(data.records / 2)) {
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
        key_bytes,
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
    let (splits, key_bytes) = sample(design, data, options.regions)?;
    design.create(cluster, &splits)?;
    for table in design.tables() {
        tables.add(table.name().clone());
    }
    let report = ask_all(study, design, data, cluster, (splits.len() + 1, key_bytes), options)?;
    tables.remove()?;
    Ok(report)
}

/// Split keys, and how long keys are.
fn sample(
    design: &dyn SchemaDesign,
    data: &DataSet,
    regions: usize,
) -> Result<(Vec<Vec<u8>>, f64)> {
    let step = (data.records / SAMPLE).max(1);
    let mut keys = Vec::new();
    let mut index = 0;
    while index < data.records {
        keys.push(design.key(&data.record(index))?);
        index += step;
    }
    let bytes: usize = keys.iter().map(Vec::len).sum();
    let key_bytes = bytes as f64 / keys.len().max(1) as f64;
    if keys.is_empty() || regions < 2 {
        return Ok((Vec::new(), key_bytes));
    }
    Ok((quantile_splits(keys, regions)?, key_bytes))
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
        writeln!(
            f,
            "   {} puts in {seconds:.2} s, {} regions, {:.1} bytes of row key",
            self.puts, self.regions, self.key_bytes
        )?;
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
            Some(true) => ", as without a store",
            Some(false) => ", NOT as without a store",
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
