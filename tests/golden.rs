//! Plays recorded operations of a real HBase against hblite and compares every answer.
//!
//! `cargo test --test golden` runs the files of `tests/golden/ops` (format: the README there). More
//! folders can be named in `HBLITE_GOLDEN_OPS`, separated by colons. Each file starts on an empty
//! store in memory, on a clock that moves by one millisecond before each operation. For a file that
//! differs, the first difference is shown, with the earlier operations on the same row.
//!
//! With the feature `cluster`, `HBLITE_GOLDEN_CONNECT` names a cluster to play them on instead. Its
//! clock moves on its own, and each file drops the tables and namespaces that it creates.

#[path = "golden_ops/answer.rs"]
mod answer;
#[path = "golden_ops/arguments.rs"]
mod arguments;
#[cfg(feature = "cluster")]
#[path = "golden_ops/cluster.rs"]
mod cluster;
#[path = "golden_ops/filters.rs"]
mod filters;
#[path = "golden_ops/runner.rs"]
mod runner;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The variable that names a cluster.
const CONNECT: &str = "HBLITE_GOLDEN_CONNECT";

/// Files and operations of the project's own folder: what the documents say.
const OWN: (usize, usize) = (72, 11_633);

#[cfg(not(feature = "cluster"))]
fn run_file(file: &Path) -> runner::FileOutcome {
    assert!(std::env::var_os(CONNECT).is_none(), "{CONNECT} needs --features cluster");
    runner::run_file(file)
}

#[cfg(feature = "cluster")]
fn run_file(file: &Path) -> runner::FileOutcome {
    match std::env::var(CONNECT) {
        Ok(url) => cluster::run_file(file, &url),
        Err(_) => runner::run_file(file),
    }
}

fn main() -> ExitCode {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ops");
    let mut folders = vec![own.clone()];
    if let Ok(more) = std::env::var("HBLITE_GOLDEN_OPS") {
        folders.extend(more.split(':').filter(|path| !path.is_empty()).map(PathBuf::from));
    }
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut files = Vec::new();
    for folder in &folders {
        match std::fs::read_dir(folder) {
            Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
            Err(error) => {
                println!("{}: {error}", folder.display());
                return ExitCode::FAILURE;
            }
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    if let Some(only) = &only {
        files.retain(|path| path.to_string_lossy().contains(only));
    }
    files.sort();

    let (mut passed, mut failed) = (0, 0);
    let mut of_own = (0, 0);
    for file in &files {
        let outcome = run_file(file);
        passed += outcome.passed;
        failed += outcome.failed;
        if file.starts_with(&own) {
            of_own = (of_own.0 + 1, of_own.1 + outcome.passed + outcome.failed);
        }
        if let Some(difference) = outcome.first_difference {
            println!("{difference}\n");
        }
    }
    println!("{} files, {} ops, {passed} passed, {failed} failed", files.len(), passed + failed);
    if only.is_none() && (of_own.0 < OWN.0 || of_own.1 < OWN.1) {
        println!("{}: {of_own:?} files and operations, {OWN:?} expected", own.display());
        return ExitCode::FAILURE;
    }
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
