//! Goal: whatever happens to one file of a store, the store reports it or has all of its data.
//!
//! Method: stores that contain every kind of file are built in memory (`stores`). A mutation
//! changes one file or exchanges two (`mutation`), with the file's checksums left as they are, or
//! computed again so that the change reaches the parser that they protect (`checksum`). The store
//! is then opened and everything in it is read (`outcome`) and compared with what it had.
//!
//! Allowed: an error; all of the data; data that is missing, with a note that names the file. With
//! correct checksums, the new contents of a file may also be accepted. Anything else fails the
//! test: data that is missing or different without a report, a panic in any thread, a case that
//! takes more than a minute, a single request for more memory than 64 MiB. Some cases are also
//! opened with salvage, which must name what it gave up, or are written to, compacted and opened
//! again.
//!
//! `HBLITE_MALFORMED_PER_KIND` is the number of mutations per kind of file, and
//! `HBLITE_MALFORMED_KINDS` a list of kinds, separated by commas.
//! `HBLITE_MALFORMED_CASE=<kind>/<number>` runs one case and prints it.

mod allocator;
mod case;
mod checksum;
mod contents;
mod image;
mod kind;
mod mutation;
mod outcome;
mod report;
mod stores;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::kind::Kind;
use crate::report::Report;
use crate::stores::Stores;

const KINDS: &str = "HBLITE_MALFORMED_KINDS";
/// Mutations per kind of file unless the environment says otherwise.
const PER_KIND: u64 = 66;
/// A case that takes longer hangs.
const CASE_TIME_MAX: Duration = Duration::from_secs(60);
const WORKERS: usize = 2;
/// Failures that are printed.
const FAILURES_SHOWN: usize = 50;

/// The current case of each worker, and when it began.
static RUNNING: [Mutex<Option<(Case, Instant)>>; WORKERS] = [const { Mutex::new(None) }; WORKERS];

fn main() -> ExitCode {
    // `cargo test` passes options of its own harness, and `--list` expects names.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    outcome::watch_for_panics();
    let begun = Instant::now();
    let stores = Stores::build();
    let built = begun.elapsed();
    if let Ok(name) = std::env::var("HBLITE_MALFORMED_CASE") {
        let case: Case = name.parse().unwrap_or_else(|error| panic!("{error}"));
        return match case.run(&stores, true).failure {
            None => ExitCode::SUCCESS,
            Some(failure) => {
                println!("{case}: {failure}");
                ExitCode::FAILURE
            }
        };
    }
    let per_kind = std::env::var("HBLITE_MALFORMED_PER_KIND");
    let per_kind = per_kind.map_or(PER_KIND, |number| number.parse().expect("a number"));
    let report = run(&stores, per_kind);
    println!("{report}");
    let (built, all) = (built.as_secs_f64(), begun.elapsed().as_secs_f64());
    println!("{} stores built in {built:.1} s, all in {all:.1} s", stores.len());
    for failure in report.failures.iter().take(FAILURES_SHOWN) {
        println!("{failure}");
    }
    let is_sound = report.failures.is_empty() && report.check_coverage(&kinds(), per_kind);
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The kinds of files that are mutated: all of them, unless the environment names some.
fn kinds() -> Vec<Kind> {
    let names = std::env::var(KINDS).ok();
    let names = names.as_deref().map(|names| names.split(','));
    let kind = |name: &str| name.parse().unwrap_or_else(|error| panic!("{error}"));
    names.map_or(Kind::ALL.to_vec(), |names| names.map(kind).collect())
}

/// Runs all cases on a few threads.
fn run(stores: &Stores, per_kind: u64) -> Report {
    let cases: Vec<Case> = kinds()
        .into_iter()
        .flat_map(|kind| (0..per_kind).map(move |n| Case::new(kind, n)))
        .collect();
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for worker in &RUNNING {
            let (cases, next, report) = (&cases, &next, &report);
            workers.push(scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    *worker.lock().expect("no panic") = Some((*case, Instant::now()));
                    let outcome = case.run(stores, false);
                    *worker.lock().expect("no panic") = None;
                    report.lock().expect("no panic").add(*case, outcome);
                }
            }));
        }
        // One that has panicked is finished, too.
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            end_if_a_case_hangs();
        }
    });
    report.into_inner().expect("no panic")
}

fn end_if_a_case_hangs() {
    for worker in &RUNNING {
        if let Some((case, begun)) = &*worker.lock().expect("no panic")
            && begun.elapsed() > CASE_TIME_MAX
        {
            println!("{case}: not over after {} s", CASE_TIME_MAX.as_secs());
            std::process::exit(1);
        }
    }
}
