//! `hblite casestudy`: the schemas of HBase's case studies, run on generated data of any size.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use hblite::Connection;
use hblite_casestudies::{
    CaseStudy, CaseStudyOptions, Comparison, DesignReport, Result, SchemaDesign, run_design,
    run_design_on_cluster, studies, study,
};

use crate::output::{FAILURE, fail, print};
use crate::transfer::place::connect;

/// What to do with the studies.
#[derive(Debug, Subcommand)]
pub(crate) enum CaseStudyCommand {
    /// Lists the studies, their designs and their keys.
    List,
    /// Writes the data of a study in each of its designs, and runs the same queries on all.
    Run(RunArguments),
}

/// Which study, how much data, where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArguments {
    /// Name of a study, or all
    study: String,
    /// Only this design
    #[arg(long)]
    design: Option<String>,
    /// How many records to generate
    #[arg(long, default_value_t = 100_000)]
    records: u64,
    /// The same seed generates the same data on every machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Regions of each design's first table, split at the quantiles of its keys
    #[arg(long, default_value_t = 8)]
    regions: usize,
    /// Keeps the stores, one for each design, as DIR/STUDY/DESIGN; otherwise they are in memory
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Runs on this cluster instead: hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000.
    /// The tables of a study must not exist; they are dropped after each design
    #[arg(long, value_name = "URL", conflicts_with = "dir")]
    connect: Option<String>,
    /// Compares every answer with that of a plain loop over the records
    #[arg(long)]
    check: bool,
    /// Prints only the comparison of the designs
    #[arg(long)]
    brief: bool,
}

const AFTER_HELP: &str = "\
For each question: what is asked in the fields of the records, the first scans and gets with their
rows as HBase prints them, what all of them read, and the first records found. Exit status: 0, 1 if
something failed or, with --check, an answer is wrong.";

/// More are refused: a put is about 100 bytes, and all of them may be in memory.
const RECORDS_MAX: u64 = 100_000_000;

pub(crate) fn run(command: CaseStudyCommand) -> ExitCode {
    match command {
        CaseStudyCommand::List => {
            print(&list());
            ExitCode::SUCCESS
        }
        CaseStudyCommand::Run(arguments) => match run_studies(&arguments) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => {
                fail("an answer differs from that of a plain loop over the records", FAILURE)
            }
            Err(message) => fail(&message, FAILURE),
        },
    }
}

fn list() -> String {
    let mut text = String::new();
    for study in studies() {
        text += &format!("{}: {}\n  {}\n", study.name(), study.title(), study.question());
        for design in study.designs() {
            text += &format!("  {}\n", design.name());
            for picture in design.pictures() {
                text += &format!("    {picture}\n");
            }
        }
    }
    text
}

/// Whether all compared answers are correct.
fn run_studies(arguments: &RunArguments) -> std::result::Result<bool, String> {
    if !(1..=RECORDS_MAX).contains(&arguments.records) {
        return Err(format!("records must be between 1 and {RECORDS_MAX}"));
    }
    let studies = match arguments.study.as_str() {
        "all" => studies(),
        name => vec![study(name).map_err(|error| error.to_string())?],
    };
    let cluster = arguments.connect.as_deref().map(connect).transpose()?;
    let mut is_right = true;
    for study in studies {
        is_right &= run_study(study.as_ref(), arguments, cluster.as_ref())?;
    }
    Ok(is_right)
}

fn run_study(
    study: &dyn CaseStudy,
    arguments: &RunArguments,
    cluster: Option<&Connection>,
) -> std::result::Result<bool, String> {
    let data = study.data(arguments.records, arguments.seed);
    print(&format!(
        "== {}: {}\n   {}\n   {} records of {} entities, seed {}\n\n",
        study.name(),
        study.title(),
        study.question(),
        data.records,
        data.entities,
        data.seed
    ));
    let designs = match &arguments.design {
        Some(name) => vec![study.design(name).map_err(|error| error.to_string())?],
        None => study.designs(),
    };
    let mut reports: Vec<DesignReport> = Vec::new();
    for design in designs {
        let report = run_one(study, design.as_ref(), arguments, cluster)
            .map_err(|error| format!("{} {}: {error}", study.name(), design.name()))?;
        if !arguments.brief {
            print(&format!("{report}\n"));
        }
        reports.push(report);
    }
    print(&format!("{}\n", Comparison(&reports)));
    let mut questions = reports.iter().flat_map(|report| &report.questions);
    Ok(questions.all(|question| question.is_right != Some(false)))
}

/// Runs a design in a store of its own, or on a cluster.
fn run_one(
    study: &dyn CaseStudy,
    design: &dyn SchemaDesign,
    arguments: &RunArguments,
    cluster: Option<&Connection>,
) -> Result<DesignReport> {
    let data = study.data(arguments.records, arguments.seed);
    let options =
        CaseStudyOptions::default().with_regions(arguments.regions).with_checked(arguments.check);
    if let Some(cluster) = cluster {
        return run_design_on_cluster(study, design, &data, cluster, options);
    }
    let connection = open(study, design, arguments.dir.as_deref())?;
    let report = run_design(study, design, &data, &connection, options)?;
    connection.close()?;
    Ok(report)
}

fn open(
    study: &dyn CaseStudy,
    design: &dyn SchemaDesign,
    dir: Option<&Path>,
) -> Result<Connection> {
    Ok(match dir {
        None => hblite::open_in_memory()?,
        Some(dir) => {
            crate::store_files::options().open(dir.join(study.name()).join(design.name()))?
        }
    })
}
