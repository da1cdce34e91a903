//! The whole engine under one seeded scheduler, with faults, against recorded histories.
//!
//! Every seed is a separate machine (`machine`): threads, clock, files and randomness are simulated
//! (`hblite_env::simulation`), the disk fails and loses unsynced data (`disk`), clients and an
//! administrator work (`tests/history`, `stirrer`), and after every cut everything that is left is
//! compared with what was acknowledged (`image`, `oracle`). The same seed gives the same run, which
//! is asserted on some of the seeds.
//!
//! `HBLITE_SIM_CUTS` is how many cuts are made, 5,000 by default. `HBLITE_SIM_SEED` is the first
//! seed, and `HBLITE_SIM_SEEDS` the number of seeds to run, instead of a number of cuts. A failing
//! seed prints the command that repeats it; `HBLITE_SIM_TRACE` names a file for its trace.

mod disk;
#[allow(
    dead_code,
    unused_imports,
    reason = "shared with the test of linearizability, which uses all of it"
)]
#[path = "../../history/mod.rs"]
mod history;
mod image;
mod machine;
mod oracle;
mod rates;
mod settings;
mod stirrer;

use std::cell::Cell;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use hblite_env::simulation::{self, Report};

use crate::machine::Machine;
use crate::rates::Rates;
use crate::settings::setting;

const CUTS_DEFAULT: u64 = 5_000;
/// One seed in this many is run twice.
const TWICE_ONE_IN: u64 = 8;
const CUTS: [&str; 6] = [
    "end: kill",
    "end: kill in the midst",
    "end: power cut",
    "end: power cut in the midst",
    "end: power cut while opening",
    "check: cut of a fork",
];

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
}

fn repeat_line(seed: u64) -> String {
    format!(
        "HBLITE_SIM_SEED={seed} HBLITE_SIM_SEEDS=1 cargo test --manifest-path \
         tests/simulation/Cargo.toml"
    )
}

/// Runs one seed.
fn run(seed: u64, keeps_trace: bool) -> (Result<(), String>, Report, Rates) {
    SEED.set(seed);
    let mut machine = Machine::new(seed);
    let options = machine.settings.simulation(keeps_trace);
    let (outcome, report) = simulation::run(options, || machine.run());
    let rates = Rates::default();
    rates.add_all(&machine.rates);
    (outcome.and_then(|outcome| outcome), report, rates)
}

/// Runs one seed twice and compares the traces.
fn run_twice(seed: u64, first: &Report) -> Result<(), String> {
    let (_, second, _) = run(seed, false);
    if second == *first {
        return Ok(());
    }
    let (one, other) = (run(seed, true).1.trace, run(seed, true).1.trace);
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let around = |trace: &[String]| {
        trace[same.saturating_sub(20).min(trace.len())..(same + 3).min(trace.len())].join("\n  ")
    };
    Err(format!("two runs differ at event {same}:\n  {}\nor\n  {}", around(&one), around(&other)))
}

struct Totals {
    rates: Rates,
    cuts: AtomicU64,
    seeds: AtomicU64,
    twice: AtomicU64,
    steps: AtomicU64,
    switches: AtomicU64,
    virtual_millis: AtomicU64,
    failures: Mutex<Vec<(u64, String)>>,
    is_over: AtomicBool,
}

impl Totals {
    fn run(&self, seed: u64) {
        let (outcome, report, rates) = run(seed, false);
        let outcome = outcome.and_then(|()| {
            if !seed.is_multiple_of(TWICE_ONE_IN) {
                return Ok(());
            }
            self.twice.fetch_add(1, Ordering::Relaxed);
            run_twice(seed, &report)
        });
        self.cuts.fetch_add(CUTS.iter().map(|cut| rates.of(cut)).sum(), Ordering::Relaxed);
        self.rates.add_all(&rates);
        self.seeds.fetch_add(1, Ordering::Relaxed);
        self.steps.fetch_add(report.steps, Ordering::Relaxed);
        self.switches.fetch_add(report.switches, Ordering::Relaxed);
        self.virtual_millis.fetch_add(report.elapsed.as_millis() as u64, Ordering::Relaxed);
        if let Err(failure) = outcome {
            println!("seed {seed} failed: {failure}\nrepeat: {}\n", repeat_line(seed));
            if let Ok(path) = std::env::var("HBLITE_SIM_TRACE") {
                let trace = run(seed, true).1.trace.join("\n");
                std::fs::write(path, trace).expect("the trace can be written");
            }
            let mut failures = self.failures.lock().expect("no panic in here");
            failures.push((seed, failure));
            if failures.len() as u64 >= setting("HBLITE_SIM_FAILURES").unwrap_or(1) {
                self.is_over.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn main() -> ExitCode {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        default_hook(panic);
        println!("repeat: {}", repeat_line(SEED.get()));
    }));
    let first = setting("HBLITE_SIM_SEED").unwrap_or(1);
    let seeds = setting("HBLITE_SIM_SEEDS");
    let wanted = setting("HBLITE_SIM_CUTS").unwrap_or(CUTS_DEFAULT);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (began, next) = (Instant::now(), AtomicU64::new(first));
    let totals = Totals {
        rates: Rates::default(),
        cuts: AtomicU64::new(0),
        seeds: AtomicU64::new(0),
        twice: AtomicU64::new(0),
        steps: AtomicU64::new(0),
        switches: AtomicU64::new(0),
        virtual_millis: AtomicU64::new(0),
        failures: Mutex::default(),
        is_over: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !totals.is_over.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let is_enough = match seeds {
                        Some(seeds) => seed >= first + seeds,
                        None => totals.cuts.load(Ordering::Relaxed) >= wanted,
                    };
                    if is_enough {
                        break;
                    }
                    totals.run(seed);
                }
            });
        }
    });
    summarize(&totals, began, seeds.is_none())
}

fn summarize(totals: &Totals, began: Instant, must_be_complete: bool) -> ExitCode {
    let number = |of: &AtomicU64| of.load(Ordering::Relaxed);
    println!("{}", totals.rates.show());
    println!(
        "{} seeds, {} cuts, {} seeds run twice with the same trace, {} steps, {} switches, \
         {} s of virtual time, in {:.1} s",
        number(&totals.seeds),
        number(&totals.cuts),
        number(&totals.twice),
        number(&totals.steps),
        number(&totals.switches),
        number(&totals.virtual_millis) / 1000,
        began.elapsed().as_secs_f64(),
    );
    let failures = totals.failures.lock().expect("no panic in here");
    for (seed, failure) in &*failures {
        println!("seed {seed}: {}", failure.lines().next().unwrap_or_default());
    }
    if !failures.is_empty() {
        return ExitCode::FAILURE;
    }
    let missing = totals.rates.missing();
    if must_be_complete && !missing.is_empty() {
        println!("these never happened: {missing:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
