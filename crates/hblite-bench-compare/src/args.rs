//! The command line.

use std::path::PathBuf;

use crate::codec::Result;
use crate::store::{ENGINES, Engine, Opening};

/// The program's help text.
pub(crate) const USAGE: &str = "\
usage: hblite-bench-compare [option]...

  --cells N         cells of the main store (1000000)
  --rounds N        how often everything is done; reports give medians (3)
  --stores A,B      stores to compare (all)
  --only A,B        groups of steps (all): load put fsync open recover wide versions markers read
                    threads zipfian filter disk memory settle ycsb latency
  --sequential      load the main store in key order, which is faster, instead of in random order
  --one-at-a-time   all steps of one store, then the next: one main store on disk at a time
  --gets N          gets per measurement (100000)
  --scans N         short scans per measurement (4000)
  --fsync-puts N    puts with fsync by one thread; eight threads do four times that (600)
  --cache-mib N     block cache of RocksDB and fjall, page cache of redb, in MiB (1024)
  --dir DIR         where stores live; emptied store by store (bench-compare-data)
  --json FILE       one JSON line per measurement (bench-compare.jsonl)
";

const GROUPS: &[&str] = &[
    "load", "put", "fsync", "open", "recover", "wide", "versions", "markers", "read", "threads",
    "zipfian", "filter", "disk", "memory", "settle", "ycsb", "latency",
];

/// What to do.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    /// Cells of the main store.
    pub(crate) cells: u64,
    /// The number of rounds.
    pub(crate) rounds: u32,
    /// Names of the stores; empty for all.
    stores: Vec<String>,
    /// Names of the step groups; empty for all.
    only: Vec<String>,
    /// Whether the main store is loaded in key order.
    pub(crate) is_sequential: bool,
    /// Whether a store does all steps before the next store begins.
    pub(crate) is_one_at_a_time: bool,
    /// Gets per measurement.
    pub(crate) gets: usize,
    /// Short scans per measurement.
    pub(crate) scans: usize,
    /// Puts with fsync by one thread.
    pub(crate) fsync_puts: usize,
    /// MiB of cache for each store that has one.
    pub(crate) cache_mib: usize,
    /// Where stores live.
    pub(crate) dir: PathBuf,
    /// Where measurements go.
    pub(crate) json: PathBuf,
}

impl Args {
    /// Reads options, and the value after each that has one.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut args = Self {
            cells: 1_000_000,
            rounds: 3,
            stores: Vec::new(),
            only: Vec::new(),
            is_sequential: false,
            is_one_at_a_time: false,
            gets: 100_000,
            scans: 4_000,
            fsync_puts: 600,
            cache_mib: 1024,
            dir: PathBuf::from("bench-compare-data"),
            json: PathBuf::from("bench-compare.jsonl"),
        };
        while let Some(option) = words.next() {
            let mut value =
                || words.next().ok_or_else(|| format!("{option} needs a value\n\n{USAGE}"));
            match option.as_str() {
                "--cells" => args.cells = value()?.parse()?,
                "--rounds" => args.rounds = value()?.parse()?,
                "--stores" => args.stores = list(&value()?),
                "--only" => args.only = list(&value()?),
                "--sequential" => args.is_sequential = true,
                "--one-at-a-time" => args.is_one_at_a_time = true,
                "--gets" => args.gets = value()?.parse()?,
                "--scans" => args.scans = value()?.parse()?,
                "--fsync-puts" => args.fsync_puts = value()?.parse()?,
                "--cache-mib" => args.cache_mib = value()?.parse()?,
                "--dir" => args.dir = PathBuf::from(value()?),
                "--json" => args.json = PathBuf::from(value()?),
                _ => return Err(format!("no option {option}\n\n{USAGE}").into()),
            }
        }
        args.check()?;
        Ok(args)
    }

    fn check(&self) -> Result<()> {
        if self.cells < 1000 {
            return Err("--cells is less than 1000: nothing to measure".into());
        }
        match self.only.iter().find(|group| !GROUPS.contains(&group.as_str())) {
            Some(group) => Err(format!("no group {group}\n\n{USAGE}").into()),
            None => Ok(()),
        }
    }

    /// How stores are opened unless a step says otherwise.
    pub(crate) fn opening(&self) -> Opening {
        Opening::usual(self.cache_mib << 20)
    }

    /// The stores to compare.
    pub(crate) fn engines(&self) -> Result<Vec<&'static dyn Engine>> {
        if self.stores.is_empty() {
            return Ok(ENGINES.to_vec());
        }
        self.stores.iter().map(|name| engine(name)).collect()
    }

    /// Whether a step group is selected.
    pub(crate) fn wants(&self, group: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == group)
    }
}

/// The store of that name.
pub(crate) fn engine(name: &str) -> Result<&'static dyn Engine> {
    let found = ENGINES.iter().find(|engine| engine.name() == name);
    found.copied().ok_or_else(|| format!("no store {name}\n\n{USAGE}").into())
}

fn list(value: &str) -> Vec<String> {
    value.split(',').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args> {
        Args::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let args = parse("--cells 5000 --stores lmdb,redb --only read").unwrap();
        assert_eq!(args.cells, 5000);
        let names: Vec<_> = args.engines().unwrap().iter().map(|engine| engine.name()).collect();
        assert_eq!(names, ["lmdb", "redb"]);
        assert!(args.wants("read") && !args.wants("put"));
        assert!(!args.is_sequential);
    }

    #[test]
    fn switches_have_no_value() {
        let args = parse("--sequential --cache-mib 256 --one-at-a-time").unwrap();
        assert!(args.is_sequential && args.is_one_at_a_time);
        assert_eq!(args.opening().cache_bytes, 256 << 20);
    }

    #[test]
    fn every_group_is_in_the_help() {
        assert!(GROUPS.iter().all(|group| USAGE.contains(group)));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert!(parse("--cells").is_err());
        assert!(parse("--cells many").is_err());
        assert!(parse("--cells 5").is_err());
        assert!(parse("--sells 5000").is_err());
        assert!(parse("--only reed").is_err());
        assert!(parse("--stores nosuch").unwrap().engines().is_err());
    }
}
