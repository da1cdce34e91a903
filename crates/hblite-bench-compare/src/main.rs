//! Compares hblite with RocksDB, fjall, redb and LMDB on the same HBase-model work.
//!
//! One run does the same work in every store, alternating after each step. It checks every answer,
//! writes each measurement as a line of JSON, and prints tables in Markdown at the end. See
//! README.md.
//!
//! ```text
//! args ─ main ─ workload/ (a file per kind) ─ store/ (a file per store) ─ codec/
//!                   │                               rows, cells: what is written and expected
//!                   └─ clocks, process, latencies, report
//! ```

mod args;
mod cells;
mod clocks;
mod codec;
mod latencies;
#[path = "../../../benches/support/line.rs"]
mod line;
mod process;
mod report;
mod rows;
mod store;
mod workload;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;

use args::{Args, USAGE};
use codec::Result;
use report::{Clock, Sample};
use rows::Rows;
use workload::{Contestant, FILL_COMMAND, MEMORY_COMMAND, Task};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let ended = match words.peek().map(String::as_str) {
        Some(FILL_COMMAND) => workload::fill_and_wait(words.skip(1)),
        Some(MEMORY_COMMAND) => workload::get_and_report(words.skip(1)),
        Some("--help" | "-h") => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Args::parse(words).and_then(|args| compare(&args)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(args: &Args) -> Result<()> {
    let rows = Rows::new(args.cells);
    fs::create_dir_all(&args.dir)?;
    let mut lines = OpenOptions::new().create(true).append(true).open(&args.json)?;
    let mut contestants = Vec::new();
    for engine in args.engines()? {
        contestants.push(Contestant::new(engine, args)?);
    }
    let mut samples: Vec<Sample> = Vec::new();
    for round in 1..=args.rounds {
        let mut record = |sample: Sample| {
            eprintln!("{sample}");
            writeln!(lines, "{}", sample.to_json())?;
            samples.push(sample);
            Ok(())
        };
        contestants.iter_mut().for_each(|contestant| contestant.round = round);
        let mut task = Task { args, rows, record: &mut record };
        // The stores that do each step in turn.
        let together = if args.is_one_at_a_time { 1 } else { contestants.len().max(1) };
        for group in contestants.chunks_mut(together) {
            workload::round(group, &mut task)?;
        }
    }
    println!("{}", report::heading(args.cells, args.rounds, &samples));
    println!("By the wall clock:\n\n{}", report::table(&samples, Clock::Wall));
    println!("By the CPU clock:\n\n{}", report::table(&samples, Clock::Cpu));
    Ok(())
}
