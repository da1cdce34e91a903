//! Writes the records of a window.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use hblite::Put;

use super::baseline::{Baseline, Measured, Pair};
use super::error::RunError;
use super::options::RunOptions;
use super::stream::{Stream, WindowOfStream};
use super::target::Opened;
use crate::result::Writing;

/// Records per thread and window that are written and timed one by one.
const SINGLE: usize = 8;

/// Writes a stream to a table.
pub(super) struct Writer<'w> {
    opened: &'w dyn Opened,
    options: &'w RunOptions,
    value: Vec<u8>,
    /// The baseline for timing single puts; `None` if they are not timed.
    baseline: Option<Baseline>,
    writing: Duration,
    done: Done,
    measured: Measured,
}

/// The result of one thread.
#[derive(Default)]
struct Done {
    rows: u64,
    key_bytes: u64,
    pairs: Vec<Pair>,
}

impl<'w> Writer<'w> {
    pub(super) fn new(
        opened: &'w dyn Opened,
        options: &'w RunOptions,
        baseline: Option<Baseline>,
    ) -> Self {
        let value = vec![b'x'; options.value_bytes];
        let (done, measured) = (Done::default(), Measured::default());
        Self { opened, options, value, baseline, writing: Duration::ZERO, done, measured }
    }

    /// Writes the records of a window, in batches, by all threads.
    pub(super) fn write(
        &mut self,
        stream: &Stream,
        window: &WindowOfStream,
    ) -> Result<(), RunError> {
        let started = Instant::now();
        let threads = self.options.threads.min(window.records.len()).max(1);
        let share = |thread: usize| {
            let at = |part: usize| window.records.start + window.records.len() * part / threads;
            at(thread)..at(thread + 1)
        };
        let this = &*self;
        let results: Vec<Result<Done, RunError>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|thread| {
                    let work = move || this.write_share(stream, share(thread));
                    (thread, std::thread::Builder::new().spawn_scoped(scope, work))
                })
                .collect();
            // If no thread can be started, this one does the work.
            let result = |(thread, started): (usize, io::Result<_>)| match started {
                Ok(handle) => join(handle),
                Err(_) => this.write_share(stream, share(thread)),
            };
            handles.into_iter().map(result).collect()
        });
        self.writing += started.elapsed();
        let mut pairs = Vec::new();
        for done in results {
            let done = done?;
            self.done.rows += done.rows;
            self.done.key_bytes += done.key_bytes;
            pairs.extend(done.pairs);
        }
        self.measured.add(&pairs);
        Ok(())
    }

    fn write_share(&self, stream: &Stream, records: Range<usize>) -> Result<Done, RunError> {
        let mut done = Done::default();
        let tables = self.opened.tables();
        let mut puts: Vec<Vec<Put>> = tables.iter().map(|_| Vec::new()).collect();
        for (count, index) in records.enumerate() {
            let counted = puts[0].len();
            self.opened.puts(&stream.moment(index), &self.value, &mut puts)?;
            done.rows += 1;
            done.key_bytes +=
                puts[0][counted..].iter().map(|put| put.row().len() as u64).sum::<u64>();
            for (place, (table, puts)) in tables.iter().zip(&mut puts).enumerate() {
                if let Some(baseline) = &self.baseline
                    && count < SINGLE
                    && place == 0
                {
                    for put in puts.drain(..) {
                        done.pairs.push(baseline.pair(table, &put, &self.value, index)?);
                    }
                } else if puts.len() >= self.options.batch {
                    table.put_all(puts)?;
                    puts.clear();
                }
            }
        }
        for (table, puts) in tables.iter().zip(&puts) {
            table.put_all(puts)?;
        }
        Ok(done)
    }

    pub(super) fn rows(&self) -> u64 {
        self.done.rows
    }

    pub(super) fn key_bytes(&self) -> u64 {
        self.done.key_bytes
    }

    /// How long single puts took, in nanoseconds, relative to the baseline.
    pub(super) fn relative_ns(&self) -> &[u64] {
        self.measured.relative_ns()
    }

    pub(super) fn writing(&self) -> Writing {
        let seconds = self.writing.as_secs_f64();
        Writing {
            seconds,
            puts_per_second: self.done.rows as f64 / seconds.max(1e-9),
            threads: self.options.threads,
            writes_of_split_regions: 0,
            measured: self.measured.summary(),
        }
    }
}

fn join<T>(handle: std::thread::ScopedJoinHandle<'_, Result<T, RunError>>) -> Result<T, RunError> {
    match handle.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
