//! Compares hblite with RocksDB, fjall, redb and LMDB on the same HBase-model work.
//!
//! One run does the same work in every store, alternating after each step. It checks every answer,
//! writes each measurement as a line of JSON, and prints tables in Markdown at the end. See
//! README.md.
//!
//! ```text
//! args ─ main ─ workload/ (write, read, open, recover) ─ store/ (one file per store) ─ codec
//!                   │                                        cells: what is written and expected
//!                   └─ clocks, report
//! ```

mod args;
mod cells;
mod clocks;
mod codec;
mod report;
mod store;
mod workload;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;

use args::{Args, USAGE};
use cells::Rows;
use codec::Result;
use report::{Clock, Sample};
use workload::{Contestant, FILL_COMMAND, Task};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let ended = match words.peek().map(String::as_str) {
        Some(FILL_COMMAND) => workload::fill_and_wait(words.skip(1)),
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
        let mut task = Task { args, rows: &rows, record: &mut record };
        workload::round(&mut contestants, &mut task)?;
    }
    println!("{}", report::heading(args.cells, args.rounds, &samples));
    println!("By the wall clock:\n\n{}", report::table(&samples, Clock::Wall));
    println!("By the CPU clock:\n\n{}", report::table(&samples, Clock::Cpu));
    Ok(())
}
