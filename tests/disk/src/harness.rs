//! The rounds: mount, work, cut, kill, unmount, mount what is left, verify.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hblite_env::{Env, SeededRandom};

use crate::disk::{Disk, ROOT, below};
use crate::expectation::{Expectation, Found};
use crate::mount::Mounted;
use crate::report::{DONE, READY};

/// How long a process may take for its part of a round.
const PATIENCE: Duration = Duration::from_secs(60);

/// What `hblite check` prints for a directory without a store.
const NO_STORE: &str = "no store is there";

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) cuts: u64,
    pub(crate) cuts_per_disk: u64,
    pub(crate) seed: Option<u64>,
    pub(crate) skips_without_fuse: bool,
    pub(crate) keep: Option<PathBuf>,
}

/// What happened in all rounds.
#[derive(Debug, Default)]
struct Counts {
    cuts: u64,
    kills: u64,
    while_opening: u64,
    before_ready: u64,
    acknowledged: u64,
    changes: u64,
    syncs: u64,
}

/// Runs all rounds.
///
/// # Errors
/// The first thing that is wrong, with the seed and the round.
#[allow(clippy::print_stdout, reason = "the program's report")]
pub(crate) fn run(settings: &Settings) -> Result<(), String> {
    let at = tempfile::tempdir().map_err(|error| error.to_string())?;
    match Mounted::new(Disk::new(), at.path()) {
        Ok(mounted) => drop(mounted.unmount().map_err(|error| error.to_string())?),
        Err(error) if settings.skips_without_fuse => {
            println!("SKIPPED: no disk can be mounted ({error}): no power was cut");
            return Ok(());
        }
        Err(error) => return Err(format!("no disk can be mounted: {error}")),
    }
    let seed = settings.seed.unwrap_or_else(|| Env::system().random.next_u64() % 1_000_000);
    println!("seed {seed}");
    let began = Instant::now();
    let mut counts = Counts::default();
    let mut number = 0;
    while counts.cuts < settings.cuts {
        let mut life = Life::new(seed.wrapping_mul(1_000_003).wrapping_add(number), at.path());
        for round in 0..settings.cuts_per_disk {
            if let Err(error) = life.round(round, &mut counts) {
                life.keep(settings.keep.as_deref());
                return Err(format!("seed {seed}, disk {number}, cut {round}: {error}"));
            }
        }
        number += 1;
        println!("{} cuts, {} s", counts.cuts, began.elapsed().as_secs());
    }
    println!("{counts:?}, {} disks, {} s", number, began.elapsed().as_secs());
    Ok(())
}

/// A disk from its beginning.
struct Life<'a> {
    seed: u64,
    random: SeededRandom,
    at: &'a Path,
    disk: Option<Disk>,
    /// What was left by the last cut or kill.
    left: Option<Disk>,
    expectation: Expectation,
}

impl<'a> Life<'a> {
    fn new(seed: u64, at: &'a Path) -> Self {
        let random = SeededRandom::new(seed);
        Self {
            seed,
            random,
            at,
            disk: Some(Disk::new()),
            left: None,
            expectation: Expectation::new(seed),
        }
    }

    /// Writes what was left by the last cut or kill to a real directory, to look at it.
    fn keep(&self, dir: Option<&Path>) {
        if let (Some(dir), Some(left)) = (dir, &self.left) {
            let _ = left.save(ROOT, dir);
        }
    }

    fn dir(&self) -> PathBuf {
        self.at.join("store")
    }

    fn mount(&mut self) -> Result<Mounted, String> {
        let disk = self.disk.take().expect("it is not mounted");
        Mounted::new(disk, self.at).map_err(|error| format!("it cannot be mounted: {error}"))
    }

    /// Unmounts a disk whose power was cut.
    fn cut(&mut self, mounted: Mounted, counts: &mut Counts) -> Result<(), String> {
        let disk = mounted.unmount().map_err(|error| format!("it cannot be unmounted: {error}"))?;
        counts.cuts += 1;
        counts.changes += disk.changes;
        counts.syncs += disk.syncs;
        self.expectation.cut();
        let left = disk.after_cut(&self.random);
        self.left = Some(left.clone());
        self.disk = Some(left);
        Ok(())
    }

    fn round(&mut self, round: u64, counts: &mut Counts) -> Result<(), String> {
        let mounted = self.mount()?;
        if below(&self.random, 3) == 0 {
            let after = 1 + below(&self.random, 2_000);
            let end = mounted.with(|disk| disk.changes + after);
            self.work(round, &mounted, counts, |disk| disk.changes >= end)?;
            self.left = Some(mounted.with(|disk| disk.clone()));
            counts.kills += 1;
        }
        let limit = [60, 600, 6_000][below(&self.random, 3) as usize];
        mounted.with(|disk| disk.power_off_after(1 + below(&self.random, limit)));
        self.work(round, &mounted, counts, Disk::is_off)?;
        self.cut(mounted, counts)?;
        while below(&self.random, 4) == 0 {
            let mounted = self.mount()?;
            mounted.with(|disk| disk.power_off_after(1 + below(&self.random, 200)));
            let mut child = self.start(&["report"], &[])?;
            wait(&mut child)?;
            counts.while_opening += 1;
            self.cut(mounted, counts)?;
        }
        if below(&self.random, 2) == 0 {
            // The next worker opens what is left and reports its contents.
            return Ok(());
        }
        let mounted = self.mount()?;
        let found = self.report()?;
        self.expectation.compare(&found)?;
        let disk = mounted.unmount().map_err(|error| format!("it cannot be unmounted: {error}"))?;
        // The store is closed: nothing in it may need another sync.
        self.disk = Some(disk.after_cut(&self.random));
        Ok(())
    }

    fn start(&self, role: &[&str], more: &[String]) -> Result<Child, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(role).arg(self.dir()).arg(self.seed.to_string()).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| format!("a process cannot be started: {error}"))
    }

    /// Lets a process work until the disk reaches some state, and kills it.
    fn work(
        &mut self,
        round: u64,
        mounted: &Mounted,
        counts: &mut Counts,
        is_over: impl Fn(&Disk) -> bool,
    ) -> Result<(), String> {
        let mut more = vec![round.to_string()];
        more.extend(self.expectation.first().iter().map(u64::to_string));
        let mut child = self.start(&["work"], &more)?;
        let out = child.stdout.take().expect("it is piped");
        let lines = std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).collect::<Vec<_>>()
        });
        let began = Instant::now();
        let is_over = || mounted.with(|disk| is_over(disk));
        while !is_over() && began.elapsed() < PATIENCE {
            if child.try_wait().map_err(|error| error.to_string())?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let was_over = is_over();
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
        let lines = lines.join().expect("reading lines does not panic");
        if !was_over {
            let mut error = String::new();
            let read = child.stderr.take().expect("it is piped").read_to_string(&mut error);
            read.map_err(|error| error.to_string())?;
            return Err(format!("the worker ended, or did nothing, before the cut: {error}"));
        }
        let was_ready = lines.iter().any(|line| line == READY);
        counts.before_ready += u64::from(!was_ready);
        let mut lines = lines.iter().map(String::as_str);
        let before = lines.by_ref().take_while(|line| *line != READY).collect::<Vec<_>>();
        if was_ready {
            self.expectation.compare(&rows(&before)?)?;
        }
        for line in lines {
            let parsed = line
                .split_once(' ')
                .and_then(|(thread, number)| Some((thread.parse().ok()?, number.parse().ok()?)));
            let (thread, number) = parsed.ok_or_else(|| format!("not a line: {line}"))?;
            self.expectation.acknowledge(thread, number);
            counts.acknowledged += 1;
        }
        Ok(())
    }

    fn report(&self) -> Result<Found, String> {
        let mut child = self.start(&["report"], &[])?;
        let (lines, error) = wait(&mut child)?;
        if lines.last().is_none_or(|line| line != DONE) {
            // The cut may have ended the creation, before anything could be in the store.
            return if self.expectation.is_empty() && error.contains(NO_STORE) {
                Ok(Found::new())
            } else {
                Err(format!("the store cannot be read: {error}"))
            };
        }
        rows(&lines[..lines.len() - 1].iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// The rows of a report.
fn rows(lines: &[&str]) -> Result<Found, String> {
    let mut found = Found::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let ["row", table, row, number] = words[..] else { return Err((*line).to_owned()) };
        let number = number.parse().map_err(|_| (*line).to_owned())?;
        found.insert((table.to_owned(), row.to_owned()), number);
    }
    Ok(found)
}

/// Waits for a process; returns its lines and its standard error.
fn wait(child: &mut Child) -> Result<(Vec<String>, String), String> {
    let out = child.stdout.take().expect("it is piped");
    let error = child.stderr.take().expect("it is piped");
    let lines = std::thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).collect::<Vec<_>>()
    });
    let error = std::thread::spawn(move || {
        BufReader::new(error).lines().map_while(Result::ok).collect::<Vec<_>>().join("\n")
    });
    let began = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Err("the store cannot be read: no answer for a minute".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let lines = lines.join().expect("reading lines does not panic");
    Ok((lines, error.join().expect("reading lines does not panic")))
}
