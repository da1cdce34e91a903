//! Cuts the power of a mounted disk while a process writes to a store on it, again and again.
//!
//! Goal: to test the system calls that hblite makes, which the simulation with its own file system
//! cannot do. A process writes to a store on a disk in memory (`disk.rs`), mounted through FUSE
//! (`mount.rs`). After a number of changes and syncs the power is cut: the disk answers EIO, the
//! process is killed, and what was not synced is lost, in whole or in part. Then `hblite check`
//! must find no defect and the store must open and hold what `expectation.rs` says. The next round
//! continues with that disk; occasionally the power is also cut while the store is opened again.
//!
//! ```text
//! cargo run --release -p hblite-disk -- --cuts 1000
//! ```
//!
//! It needs Linux, /dev/fuse and the right to mount; `--skip-without-fuse` succeeds without them.

#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod expectation;
#[cfg(target_os = "linux")]
mod harness;
#[cfg(target_os = "linux")]
mod mount;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Cuts the power of a mounted disk while a process writes to a store on it.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    /// How often the power goes.
    #[arg(long, default_value_t = 100)]
    cuts: u64,
    /// Where the random numbers begin; printed, so that a run can be repeated.
    #[arg(long)]
    seed: Option<u64>,
    /// How many cuts a disk lives through before an empty one takes its place.
    #[arg(long, default_value_t = 20)]
    cuts_per_disk: u64,
    /// Ends well where no disk can be mounted.
    #[arg(long)]
    skip_without_fuse: bool,
    /// Where to put what was left on the disk if it is not what it must be.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The other processes.
#[derive(Debug, Subcommand)]
enum Role {
    /// Writes to a store until it is killed.
    #[command(hide = true)]
    Work { dir: PathBuf, seed: u64, round: u64, first: Vec<u64> },
    /// Says what is in a store.
    #[command(hide = true)]
    Report { dir: PathBuf, seed: u64 },
}

#[cfg(target_os = "linux")]
#[allow(clippy::print_stderr, reason = "a program's way to say why it ends")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = match &arguments.role {
        Some(Role::Work { dir, seed, round, first }) => {
            worker::work(dir, *seed, *round, first).map_err(|error| error.to_string())
        }
        Some(Role::Report { dir, seed }) => {
            report::report(dir, *seed).map_err(|error| error.to_string())
        }
        None => harness::run(&harness::Settings {
            cuts: arguments.cuts,
            cuts_per_disk: arguments.cuts_per_disk.max(1),
            seed: arguments.seed,
            skips_without_fuse: arguments.skip_without_fuse,
            keep: arguments.keep.clone(),
        }),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::print_stderr, reason = "a program's way to say why it ends")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    eprintln!("SKIPPED: a disk is mounted through FUSE on Linux only");
    if arguments.skip_without_fuse { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
