//! `hblite copy`: copies tables from one store or cluster to another.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use hblite::{Connection, Table, TableName};
use hblite_transfer::{
    CellView, Coprocessors, CopyCount, CopyOptions, CopyProgress, Rekey, RowRange, TransferError,
    copy, create_like,
};
use indicatif::ProgressBar;
use parking_lot::Mutex;

use super::copy_state::CopyState;
use super::design;
use super::place::{self, Missing};
use crate::interrupt::Interrupt;
use crate::output::{FAILURE, fail, print, row_spinner, size, tell};
use hblite_rowkey::{Design, Part};

/// The tables, the source and the target, and how to copy.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CopyArguments {
    /// Directory of a store, or a cluster: hbase://zookeeper-host:2181/hbase or
    /// hbase+rpc://host:16000
    from: String,
    /// The target: a directory, created if it does not exist, or a cluster
    to: String,
    /// A table; may be given several times. By default, all but the system's
    #[arg(long = "table", value_name = "TABLE")]
    tables: Vec<String>,
    /// Name of the copy; needs exactly one --table
    #[arg(long, value_name = "TABLE")]
    to_table: Option<String>,
    /// Design of the keys, such as 'ts:timestamp|host:str', if rows get other keys; needs --key-to
    /// and exactly one --table
    #[arg(long, value_name = "DESIGN", requires = "key_to")]
    key_from: Option<String>,
    /// Design of the keys in the target, with the same fields
    #[arg(long, value_name = "DESIGN", requires = "key_from")]
    key_to: Option<String>,
    /// Counts and leaves out rows without a key of --key-from, instead of ending at the first
    #[arg(long, requires = "key_from")]
    skip_bad_rows: bool,
    /// Merges rows that differ only in a random salt of --key-from, instead of ending at the first
    #[arg(long, requires = "key_from")]
    merge_salted: bool,
    /// Copies only what a reader sees: no delete markers, nothing deleted or expired
    #[arg(long)]
    visible: bool,
    /// Creates tables without the coprocessors of the source
    #[arg(long)]
    without_coprocessors: bool,
    /// Records the progress of the copy in this file, and continues from there if it exists
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Maximum rate in MiB per second
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    rate: Option<u64>,
    /// Regions copied at a time
    #[arg(long, value_name = "COUNT", default_value_t = 2,
        value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
}

const AFTER_HELP: &str = "\
Examples:
  hblite copy ./hblite-data hbase://zk1,zk2:2181/hbase
  hblite copy hbase+rpc://master:16000 ./local --table users --resume users.copy --rate 20
  hblite copy A B --table users --to-table archive:users
  hblite copy A A --table log --to-table log2 --key-from 'ts:timestamp|host:str' \\
      --key-to 'host:str|ts:reverse_timestamp'

Missing namespaces and tables are created, with the settings and region boundaries of the source.
Cells keep their timestamps, versions and delete markers, so the copy can be repeated or continued:
it writes the same cells again. Cells in the target that the source does not have stay there.
Compare both with 'hblite digest FROM TO'.

With --key-from and --key-to, rows are decoded with one design and encoded with the other. A missing
table is created with the splits of the new design if it begins with a salt, a bucket or a hash, and
else with one region. Compare both with 'hblite digest --key DESIGN' at each place.

HBase sends no tags to its clients: times to live of single cells are copied only from a directory.
Exit status: 0; 1 with what went wrong; 130 or 143 after Ctrl-C or SIGTERM.";

pub(crate) fn run(arguments: &CopyArguments) -> ExitCode {
    let interrupt = Interrupt::default();
    if let Err(error) = interrupt.catch() {
        return fail(&error.to_string(), FAILURE);
    }
    match run_copy(arguments, &interrupt) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let status = fail(&error.to_string(), interrupt.exit_status().unwrap_or(FAILURE));
            if let Some(file) = arguments.resume.as_ref().filter(|file| file.exists()) {
                tell(&format!("Run the command again to continue from {}.\n", file.display()));
            }
            status
        }
    }
}

fn run_copy(arguments: &CopyArguments, interrupt: &Interrupt) -> Result<(), TransferError> {
    let CopyArguments { from, to, .. } = arguments;
    let renamed = match (&arguments.to_table, arguments.tables.as_slice()) {
        (None, _) => None,
        (Some(name), [_]) => Some(name.parse::<TableName>().map_err(TransferError::Store)?),
        (Some(_), _) => {
            return Err(TransferError::Invalid("--to-table needs exactly one --table".into()));
        }
    };
    if from == to && renamed.is_none() {
        let message = "the source and the target are the same; give --table and --to-table";
        return Err(TransferError::Invalid(message.into()));
    }
    let rekey = arguments.rekey()?;
    let keys = [&arguments.key_from, &arguments.key_to].map(|design| design.as_deref());
    let mut state = CopyState::load(arguments.resume.as_deref(), (from, to), keys)?;
    let source = place::open(from, Missing::Refuse)?;
    let tables = place::tables(from, &source, &arguments.tables)?;
    let target = if from == to { source.clone() } else { place::open(to, Missing::Create)? };
    let copied = tables.iter().try_for_each(|table| {
        let to = renamed.as_ref().unwrap_or(table);
        copy_table(
            arguments,
            interrupt,
            rekey.as_ref(),
            &mut state,
            (&source, table),
            (&target, to),
        )
    });
    let closed = target.close().and(source.close());
    copied?;
    Ok(closed?)
}

/// More salts than this do not get a region each.
const SALTS_MAX: usize = 256;

impl CopyArguments {
    /// Which keys rows get, if not their own.
    fn rekey(&self) -> Result<Option<Arc<Rekey>>, TransferError> {
        let (Some(from), Some(to)) = (&self.key_from, &self.key_to) else { return Ok(None) };
        if self.tables.len() != 1 {
            let message = "--key-from and --key-to need exactly one --table";
            return Err(TransferError::Invalid(message.into()));
        }
        let rekey = Rekey::new(design(from)?, design(to)?)?.with_merging(self.merge_salted);
        Ok(Some(Arc::new(rekey)))
    }
}

/// The keys at which a table for other keys is split, if the design says where: one region for each
/// salt or bucket, or else as many as the source has.
fn splits(rekey: &Rekey, from: &Table) -> Result<Vec<Vec<u8>>, TransferError> {
    let regions = from.regions()?.len().max(1);
    let regions = salts(rekey.to()).filter(|salts| *salts <= SALTS_MAX).unwrap_or(regions);
    // A design that begins with a field does not say where.
    Ok(rekey.to().natural_splits(regions).unwrap_or_default())
}

/// The number of salts or buckets that keys begin with.
fn salts(design: &Design) -> Option<usize> {
    match design.parts().first()? {
        Part::Salt(salt) => usize::try_from(salt.labels.count()).ok(),
        Part::Bucket(bucket) => usize::try_from(bucket.count).ok(),
        _ => None,
    }
}

fn create_target(
    arguments: &CopyArguments,
    rekey: Option<&Arc<Rekey>>,
    from: &Table,
    target: &Connection,
    to: &TableName,
) -> Result<(), TransferError> {
    let coprocessors = match arguments.without_coprocessors {
        true => Coprocessors::LeaveOut,
        false => Coprocessors::Keep,
    };
    let splits = rekey.map(|rekey| splits(rekey, from)).transpose()?;
    let created = create_like(from, &target.admin(), to, coprocessors, splits.as_deref());
    match created {
        Err(TransferError::Store(error)) if error.message().contains(" cannot be loaded") => {
            let message = format!(
                "cannot create table {to}: {error}. It names a coprocessor that the target does \
                 not have; with --without-coprocessors the copy has none"
            );
            Err(TransferError::Invalid(message))
        }
        created => created.map(drop),
    }
}

fn copy_table(
    arguments: &CopyArguments,
    interrupt: &Interrupt,
    rekey: Option<&Arc<Rekey>>,
    state: &mut CopyState,
    (source, name): (&Connection, &TableName),
    (target, to_name): (&Connection, &TableName),
) -> Result<(), TransferError> {
    let from = source.table(name)?;
    let to = target.table(to_name)?;
    let progress = state.table(&name.to_string(), || RowRange::of_regions(&from))?;
    if progress.is_done() {
        print(&format!("{to_name}: was copied before\n"));
        return Ok(());
    }
    create_target(arguments, rekey, &from, target, to_name)?;
    let view = if arguments.visible { CellView::VISIBLE } else { CellView::RAW };
    let options = CopyOptions::default()
        .with_view(view)
        .with_rekey(rekey.cloned())
        .with_bad_rows_skipped(arguments.skip_bad_rows)
        .with_threads(arguments.threads.into())
        .with_bytes_per_second_max(arguments.rate.map(|rate| rate << 20));
    // A file that cannot be written is reported before the copy, not after it.
    state.save(&progress)?;
    let begun = Instant::now();
    let progress = Mutex::new(progress);
    let reporter = Mutex::new(Reporter { state, bar: row_spinner(), failure: None });
    let copied = copy(&from, &to, &progress, &options, &|count| {
        interrupt.answer()?;
        reporter.lock().report(&progress, count)
    });
    let Reporter { state, bar, failure } = reporter.into_inner();
    bar.finish_and_clear();
    // Records what was acknowledged, whatever ended the copy.
    let saved = state.save(&progress.into_inner());
    let count = failure.map_or(copied, Err)?;
    saved?;
    print(&to_text(to_name, &count, begun));
    Ok(())
}

/// The receiver of reports from the threads of a copy.
struct Reporter<'a> {
    state: &'a mut CopyState,
    bar: ProgressBar,
    /// Why the state could not be written.
    failure: Option<TransferError>,
}

impl Reporter<'_> {
    fn report(&mut self, progress: &Mutex<CopyProgress>, count: CopyCount) -> ControlFlow<()> {
        self.bar.set_position(count.rows);
        match self.state.note(&progress.lock()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

fn to_text(table: &TableName, count: &CopyCount, begun: Instant) -> String {
    let seconds = begun.elapsed().as_secs_f64();
    let CopyCount { rows, cells, bytes, tags_left_out, bad_rows } = *count;
    let mut text =
        format!("{table}: rows {rows}, cells {cells}, {} in {seconds:.2} s\n", size(bytes));
    if tags_left_out > 0 {
        text += &format!("{table}: cells with tags that the copy omits: {tags_left_out}\n");
    }
    if bad_rows > 0 {
        text += &format!("{table}: rows without a key of the design, left out: {bad_rows}\n");
    }
    text
}
