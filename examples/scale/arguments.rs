//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures a store with this many cells and prints a row of each table in docs/scale.md.
#[derive(Debug, Parser)]
#[command(after_help = "Needs about 350 bytes of disk per cell while it runs, half of it at rest.")]
pub(crate) struct Arguments {
    /// Cells to load
    #[arg(long, value_parser = clap::value_parser!(u64).range(1_000..))]
    pub(crate) cells: u64,
    /// Directory in which the folder 'scale-store' is created, and removed at the end
    #[arg(long)]
    pub(crate) dir: PathBuf,
    /// Regions that the table begins with; it is split as it grows
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) regions: u64,
    /// Attribute of the family, such as COMPRESSION=SNAPPY; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// MiB for decoded blocks; a quarter of it for the positions of cells: block_cache_size_bytes
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
    pub(crate) block_cache_mib: u64,
    /// Random gets of each kind
    #[arg(long, default_value_t = 200_000)]
    pub(crate) gets: u64,
    /// Cells that are only in memory and log when the process is killed
    #[arg(long, default_value_t = 100_000)]
    pub(crate) unflushed: u64,
    /// Keeps the store
    #[arg(long)]
    pub(crate) keep: bool,
    /// Only this phase, in this process
    #[arg(long, hide = true)]
    pub(crate) phase: Option<Phase>,
}

/// A part of the run, with a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Phase {
    /// Fills an empty store.
    Load,
    /// Opens it and reads.
    Reopen,
    /// Writes some more and is killed.
    Fill,
    /// Opens what the kill left behind.
    Recover,
}

impl Phase {
    pub(crate) const ALL: [Self; 4] = [Self::Load, Self::Reopen, Self::Fill, Self::Recover];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Reopen => "reopen",
            Self::Fill => "fill",
            Self::Recover => "recover",
        }
    }
}

impl Arguments {
    /// Where the store is.
    pub(crate) fn store_dir(&self) -> PathBuf {
        self.dir.join("scale-store")
    }

    /// The command line of one phase of this run.
    pub(crate) fn of_phase(&self, phase: Phase) -> Vec<OsString> {
        let mut words: Vec<OsString> =
            vec!["--phase".into(), phase.name().into(), "--dir".into(), self.dir.clone().into()];
        let numbers = [
            ("--cells", self.cells),
            ("--regions", self.regions),
            ("--block-cache-mib", self.block_cache_mib),
            ("--gets", self.gets),
            ("--unflushed", self.unflushed),
        ];
        words.extend(numbers.into_iter().flat_map(|(name, n)| [name.into(), n.to_string().into()]));
        words.extend(self.settings.iter().flat_map(|set| ["--set".into(), set.into()]));
        words
    }
}
