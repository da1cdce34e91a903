//! `hblite hotspot`: where the load of row keys goes, and what reads cost.

mod advise;
mod calibrate;
mod own_data;
mod predict;
mod recorded;
mod run;
mod source;
mod split_keys;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use hblite_hotspot::condition::{BadCondition, FigureCondition, NamedFigures};
use hblite_hotspot::report;
use hblite_hotspot::result::{self, RunResult};
use hblite_hotspot::study::Study;

use crate::output::{FAILURE, fail, print};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum HotspotCommand {
    /// Lists the studies with their designs and queries.
    Studies,
    /// Writes and reads a study's records under each design, and counts requests.
    Run(Box<run::RunArguments>),
    /// Creates a page and pictures from results.
    Report(ReportArguments),
    /// Compares the figures of results.
    Compare(CompareArguments),
    /// Watches a running cluster, or reads a recording of one, and reports what is hot.
    Watch(Box<watch::WatchArguments>),
    /// Proposes a key and regions for a sample of keys and the expected queries.
    Advise(Box<advise::AdviseArguments>),
    /// Measures what the region servers of a cluster do, for predictions.
    Calibrate(calibrate::CalibrateArguments),
    /// Predicts throughput and latency of recorded requests under other keys.
    Predict(Box<predict::PredictArguments>),
}

/// Which results.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Directory of the results; the page and the pictures are written into it
    dir: PathBuf,
    #[command(flatten)]
    fail_if: FailIf,
}

/// Which results.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Directories of results
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    #[command(flatten)]
    fail_if: FailIf,
}

/// Conditions under which the command fails.
#[derive(Debug, Args)]
pub(crate) struct FailIf {
    /// Exits with status 1 if this holds for any design, for example
    /// 'windowed max/mean > 2 or p99 > 5 ms'; may be given several times
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    fail_if: Vec<FigureCondition>,
}

impl FailIf {
    fn is_any(&self) -> bool {
        !self.fail_if.is_empty()
    }
}

fn condition(text: &str) -> Result<FigureCondition, BadCondition> {
    FigureCondition::parse(text)
}

pub(crate) fn run(command: HotspotCommand) -> ExitCode {
    match command {
        HotspotCommand::Studies => {
            print(&studies());
            ExitCode::SUCCESS
        }
        HotspotCommand::Run(arguments) => run::run(&arguments),
        HotspotCommand::Report(arguments) => make_report(&arguments),
        HotspotCommand::Compare(arguments) => compare(&arguments),
        HotspotCommand::Watch(arguments) => watch::run(&arguments),
        HotspotCommand::Advise(arguments) => advise::run(&arguments),
        HotspotCommand::Calibrate(arguments) => calibrate::run(&arguments),
        HotspotCommand::Predict(arguments) => predict::run(&arguments),
    }
}

fn studies() -> String {
    let mut text = String::new();
    for study in Study::all() {
        text.push_str(&format!("{}: {}\n", study.name, study.about));
        text.push_str(&format!("  fields   {}\n", study.fields.join(", ")));
        for (index, (name, key, about)) in study.designs.iter().enumerate() {
            let head = if index == 0 { "designs" } else { "" };
            text.push_str(&format!("  {head:8} {name:20} {key}  ({about})\n"));
        }
        for (index, question) in study.questions.iter().enumerate() {
            let head = if index == 0 { "queries" } else { "" };
            text.push_str(&format!("  {head:8} {:20} {}\n", question.name, question.about));
        }
        text.push('\n');
    }
    for study in hblite_casestudies::studies() {
        text.push_str(&format!("{}: {} (case study)\n", study.name(), study.title()));
        for (index, design) in study.designs().iter().enumerate() {
            let head = if index == 0 { "designs" } else { "" };
            let key = design.pictures().first().cloned().unwrap_or_default();
            text.push_str(&format!("  {head:8} {:20} {key}\n", design.name()));
        }
        text.push('\n');
    }
    text.push_str("{n} is the number of salts or buckets: --buckets, or the number of regions.\n");
    text
}

fn make_report(arguments: &ReportArguments) -> ExitCode {
    let written = result::read_all(&arguments.dir)
        .and_then(|results| Ok((report::write(&arguments.dir, &results)?, results)));
    match written {
        Ok((files, results)) => {
            for file in files {
                print(&format!("{}\n", file.display()));
            }
            judge(&results, &arguments.fail_if)
        }
        Err(error) => fail(&error.to_string(), FAILURE),
    }
}

fn compare(arguments: &CompareArguments) -> ExitCode {
    let mut all = Vec::new();
    for dir in &arguments.dirs {
        match result::read_all(dir) {
            Ok(mut results) => {
                if arguments.dirs.len() > 1 {
                    for result in &mut results {
                        result.design = format!("{}: {}", dir.display(), result.design);
                    }
                }
                all.extend(results);
            }
            Err(error) => return fail(&error.to_string(), FAILURE),
        }
    }
    print_tables(&all);
    judge(&all, &arguments.fail_if)
}

fn print_tables(results: &[RunResult]) {
    for table in report::tables(results) {
        print(&format!("{}\n", table.text()));
    }
}

/// Status 1, with the reasons, if a condition holds for any result.
fn judge(results: &[RunResult], conditions: &FailIf) -> ExitCode {
    let figures: Vec<(String, NamedFigures)> =
        results.iter().map(|result| (result.design.clone(), result.named_figures())).collect();
    judge_all(&figures, conditions)
}

/// Status 1, with the reasons, if a condition holds for the figures of any design.
fn judge_all(figures: &[(String, NamedFigures)], conditions: &FailIf) -> ExitCode {
    let judged =
        figures.iter().map(|(design, figures)| judge_figures(design, figures, &conditions.fail_if));
    judged
        .fold(ExitCode::SUCCESS, |worst, next| if next == ExitCode::SUCCESS { worst } else { next })
}

/// Status 1, with the reasons, if a condition holds for the figures of a design.
fn judge_figures(design: &str, figures: &NamedFigures, conditions: &[FigureCondition]) -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    for condition in conditions {
        match condition.evaluate(figures) {
            Ok(finding) if finding.holds => {
                status = fail(&format!("{design}: {}", finding.reason), FAILURE);
            }
            Ok(_) => {}
            Err(error) => return fail(&error.to_string(), FAILURE),
        }
    }
    status
}
