//! `hblite check`: reads every file of a closed store and reports all damage.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::{CheckReport, Finding};
use serde_json::{Value, json};

use crate::output::{byte_bar, fail, print, size};

/// Which store, and the form of the report.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArguments {
    /// Directory of the store, which must not be open
    dir: PathBuf,
    /// Prints one JSON object instead of lines
    #[arg(long)]
    json: bool,
    /// If there are no defects, deletes and lists what opening the store set aside
    #[arg(long, conflicts_with = "json")]
    clean: bool,
}

const AFTER_HELP: &str = "\
Each defect is one line: where, what kind, what is wrong and what to do. A note reports what a kill
or a power cut left behind and the next open cleans up. Nothing is changed, unless --clean is
given. Exit status: 0 without defects, 1 with defects, 2 if the store could not be checked.";

/// Status for a store with defects.
const DEFECTS: u8 = 1;
/// Status for a store that could not be checked.
const NOT_CHECKED: u8 = 2;

pub(crate) fn run(arguments: &CheckArguments) -> ExitCode {
    let bar = byte_bar();
    let checked = hblite::check_with_progress(&arguments.dir, |progress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes);
    });
    bar.finish_and_clear();
    let report = match checked {
        Ok(report) => report,
        Err(error) => return fail(error.message(), NOT_CHECKED),
    };
    let text = if arguments.json { format!("{}\n", to_json(&report)) } else { to_text(&report) };
    print(&text);
    if arguments.clean && report.is_clean() {
        return clean(arguments);
    }
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(DEFECTS) }
}

/// Deletes what opening the store set aside. This may be all that is left of a damaged
/// table, so it is done only after a check without defects.
fn clean(arguments: &CheckArguments) -> ExitCode {
    let cleaned = match hblite::clean(&arguments.dir) {
        Ok(cleaned) => cleaned,
        Err(error) => return fail(error.message(), NOT_CHECKED),
    };
    for directory in &cleaned {
        print(&format!("deleted {}: {}\n", directory.path.display(), size(directory.bytes)));
    }
    if cleaned.is_empty() {
        print("nothing to delete\n");
    }
    ExitCode::SUCCESS
}

fn to_text(report: &CheckReport) -> String {
    let mut text = String::new();
    let lines = report.defects.iter().map(|defect| format!("{defect}\n"));
    text.extend(lines.chain(report.notes.iter().map(|note| format!("note: {note}\n"))));
    let _ = writeln!(
        text,
        "tables {}, regions {}, store files {}, cells {}, log files {}, log entries {}, {} in \
         {:.2} s",
        report.tables,
        report.regions,
        report.files,
        report.cells,
        report.log_segments,
        report.log_entries,
        size(report.bytes),
        report.duration.as_secs_f64()
    );
    let _ = match report.defects.len() {
        0 => writeln!(text, "no defects"),
        count => writeln!(text, "defects: {count}"),
    };
    text
}

fn to_json(report: &CheckReport) -> Value {
    let findings = |findings: &[Finding]| -> Vec<Value> { findings.iter().map(finding).collect() };
    json!({
        "is_clean": report.is_clean(),
        "defects": findings(&report.defects),
        "notes": findings(&report.notes),
        "tables": report.tables,
        "regions": report.regions,
        "files": report.files,
        "cells": report.cells,
        "log_segments": report.log_segments,
        "log_entries": report.log_entries,
        "bytes": report.bytes,
        "seconds": report.duration.as_secs_f64(),
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "path": finding.path.to_string_lossy(),
        "offset": finding.offset,
        "kind": finding.kind.name(),
        "what": finding.what,
        "advice": finding.kind.advice(),
    })
}
