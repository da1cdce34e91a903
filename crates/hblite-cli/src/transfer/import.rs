//! `hblite import`: writes the lines of a file into a table.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flate2::read::MultiGzDecoder;
use hblite::bytes::from_string_binary;
use hblite::{ColumnFamilyDescriptor, Connection, Durability, Table, TableDescriptor};
use hblite_transfer::{
    Columns, DelimitedFormat, DelimitedReader, FIELD_LINES_MAX, HeaderNames, ImportError,
    ImportOptions, ImportReport, JsonLinesReader, LINE_SIZE_MAX, RowReader, TransferError, import,
};
use indicatif::ProgressBar;

use super::{Format, delimited, is_gzip, is_standard, named};
use crate::cluster;
use crate::interrupt::{Interrupt, Interruptible, standard_input};
use crate::notices::Notices;
use crate::output::{FAILURE, fail, print, tell, transfer_bar};

/// The table, the source, and how to read it.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ImportArguments {
    /// The table; created if it does not exist
    table: String,
    /// The file, '-' for standard input; decompressed if its name ends in .gz
    file: PathBuf,
    /// Directory of the store; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "./hblite-data")]
    dir: PathBuf,
    /// Connects to an Apache HBase cluster instead of opening a directory:
    /// hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000
    #[arg(long, value_name = "URL", conflicts_with_all = ["dir"])]
    connect: Option<String>,
    /// Format of the file; by default, from the name of the file
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Timestamp of cells that have none, in milliseconds; by default, the start time
    #[arg(long, value_name = "MILLIS", value_parser = clap::value_parser!(i64).range(0..))]
    timestamp: Option<i64>,
    /// Counts and skips lines that are not rows, instead of ending at the first
    #[arg(long)]
    skip_bad_lines: bool,
    /// How many of the skipped lines are shown
    #[arg(long, value_name = "COUNT", default_value_t = 10, requires = "skip_bad_lines")]
    bad_lines_shown: usize,
    /// When a write is acknowledged: SKIP_WAL, ASYNC_WAL, SYNC_WAL, FSYNC_WAL
    #[arg(long, value_name = "DURABILITY", value_parser = durability)]
    durability: Option<Durability>,
    /// Maximum length of a line, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = LINE_SIZE_MAX)]
    line_size_max: usize,
    /// CSV: lines of the longest quoted field
    #[arg(long, value_name = "COUNT", default_value_t = FIELD_LINES_MAX,
        value_parser = clap::value_parser!(u64).range(1..))]
    field_lines_max: u64,
    #[command(flatten)]
    fields: FieldArguments,
    #[command(flatten)]
    creation: CreationArguments,
}

/// How lines of CSV and TSV are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "CSV and TSV")]
struct FieldArguments {
    /// What the fields are: HBASE_ROW_KEY once, family:qualifier, and at most once each
    /// HBASE_TS_KEY, HBASE_CELL_TTL (milliseconds), HBASE_ATTRIBUTES_KEY (ignored)
    #[arg(long, value_name = "COLUMNS")]
    columns: Option<String>,
    /// The first line is a header; without --columns, it names the columns: as there, or with any
    /// names
    #[arg(long)]
    header: bool,
    /// The field of the header that is the row key [default: HBASE_ROW_KEY, or else the first]. The
    /// names of the others are family:qualifier, or a qualifier in the family that --family names
    /// first or the table alone has
    #[arg(long, value_name = "NAME", requires = "header", conflicts_with = "columns")]
    row_key: Option<String>,
    /// The byte between fields, instead of a comma or a tab: '|', '\x01'
    #[arg(long, value_name = "BYTE")]
    separator: Option<String>,
    /// Fields contain \xHH for bytes, as HBase prints them
    #[arg(long)]
    escaped: bool,
    /// An empty field becomes no cell, instead of one with an empty value
    #[arg(long)]
    skip_empty_columns: bool,
}

/// How a missing table is created.
#[derive(Debug, Args)]
#[command(next_help_heading = "Creating a missing table")]
struct CreationArguments {
    /// A family, with settings as in the shell: info or info,VERSIONS=3,COMPRESSION=GZ;
    /// may be given several times. Families named by --columns are created anyway
    #[arg(long = "family", value_name = "FAMILY")]
    families: Vec<String>,
    /// Split keys of a new table, separated by commas; may contain \xHH
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    splits: Vec<String>,
    /// Fails if the table does not exist
    #[arg(long, conflicts_with_all = ["families", "splits"])]
    no_create: bool,
}

const AFTER_HELP: &str = "\
Examples:
  hblite import users users.csv --columns HBASE_ROW_KEY,info:name,info:city
  hblite import users users.csv --header --row-key id --family info
  hblite import users users.tsv.gz --columns HBASE_ROW_KEY,HBASE_TS_KEY,info:name --skip-bad-lines
  hblite export users - --format jsonl | hblite import copy - --format jsonl --family info --dir B

A line of JSON is a row, as 'hblite export' writes it:
  {\"row\":\"u1\",\"cells\":[{\"column\":\"info:name\",\"timestamp\":7,\"value\":\"Ada\"}]}

Exit status: 0; 1 with the first line that is not a row and why; 130 or 143 after Ctrl-C or SIGTERM.
An import that ends early says how many lines are in the table. Run it again with the same
timestamps to write the same cells, not new versions of them.";

fn durability(name: &str) -> Result<Durability, String> {
    Durability::from_name(name).ok_or_else(|| "no such durability".to_owned())
}

pub(crate) fn run(arguments: &ImportArguments) -> ExitCode {
    let interrupt = Interrupt::default();
    match run_import(arguments, &interrupt) {
        Ok(report) => {
            print(&to_text(&arguments.table, &report));
            ExitCode::SUCCESS
        }
        Err(Failure { cause, progress }) => {
            let status = interrupt.exit_status().unwrap_or(FAILURE);
            let place = match (&cause, is_standard(&arguments.file)) {
                (TransferError::BadLine(_) | TransferError::Read(_), true) => {
                    "standard input: ".to_owned()
                }
                (TransferError::BadLine(_) | TransferError::Read(_), false) => {
                    format!("{}: ", arguments.file.display())
                }
                _ => String::new(),
            };
            let status = fail(&format!("{place}{cause}"), status);
            tell(&progress.map(|progress| progress.to_text(arguments, &cause)).unwrap_or_default());
            status
        }
    }
}

/// An import that ended early.
struct Failure {
    cause: TransferError,
    /// What was written, if writing had begun.
    progress: Option<Unfinished>,
}

impl From<TransferError> for Failure {
    fn from(cause: TransferError) -> Self {
        Self { cause, progress: None }
    }
}

impl From<hblite::Error> for Failure {
    fn from(error: hblite::Error) -> Self {
        TransferError::Store(error).into()
    }
}

/// What an import that ended early left in the table.
struct Unfinished {
    report: ImportReport,
    timestamp: i64,
}

impl Unfinished {
    /// Reports how much is in the table, and how to import the rest.
    fn to_text(&self, arguments: &ImportArguments, cause: &TransferError) -> String {
        let at_least = if matches!(cause, TransferError::Store(_)) { "at least " } else { "" };
        let mut text = format!(
            "lines imported into {}: {at_least}{}, cells {at_least}{}\n",
            arguments.table, self.report.lines, self.report.cells
        );
        if self.report.bad_lines > 0 {
            let _ = writeln!(text, "bad lines skipped: {}", self.report.bad_lines);
        }
        let first = match cause {
            TransferError::BadLine(_) => "Correct the line and run the import again",
            TransferError::Interrupted => "To finish, run the import again",
            _ => "Remove the cause and run the import again",
        };
        let _ = writeln!(
            text,
            "{first} with --timestamp {}: imported lines stay as they are.",
            self.timestamp
        );
        text
    }
}

fn to_text(table: &str, report: &ImportReport) -> String {
    let mut text = String::new();
    for bad in &report.bad_lines_kept {
        let _ = writeln!(text, "{bad}");
    }
    let others = report.bad_lines - report.bad_lines_kept.len() as u64;
    if others > 0 {
        let _ = writeln!(text, "and {others} more bad lines");
    }
    let seconds = report.duration.as_secs_f64();
    let _ = writeln!(
        text,
        "{table}: lines {}, cells {}, bad lines {}, in {seconds:.2} s, {:.0} lines/s",
        report.lines,
        report.cells,
        report.bad_lines,
        report.lines as f64 / seconds.max(1e-9)
    );
    text
}

fn run_import(arguments: &ImportArguments, interrupt: &Interrupt) -> Result<ImportReport, Failure> {
    // Checks everything that can be checked without the store, before one is created.
    let format = Format::of(arguments.format, &arguments.file)?;
    let fields = &arguments.fields;
    let columns = fields.columns.as_deref().map(Columns::parse).transpose()?;
    if format == Format::Jsonl && (columns.is_some() || fields.is_any()) {
        return Err(TransferError::Invalid("JSON lines have no columns to name".into()).into());
    }
    if format != Format::Jsonl && columns.is_none() && !fields.header {
        let message = "CSV and TSV need --columns, or --header if the first line names them";
        return Err(TransferError::Invalid(message.into()).into());
    }
    let delimited = DelimitedFormat {
        skips_empty_columns: fields.skip_empty_columns,
        ..delimited(format, fields.separator.as_deref(), fields.escaped)?
    };
    let families = arguments.creation.families()?;
    let bar = transfer_bar();
    let input = open_input(arguments, &bar, interrupt)?;
    interrupt.catch().map_err(TransferError::Read)?;

    let connection = match &arguments.connect {
        Some(url) => cluster::connect(url)?,
        None => crate::store_files::options().open(&arguments.dir)?,
    };
    Notices::Text.open(&connection);
    let options = ImportOptions::at(arguments.timestamp.unwrap_or_else(|| connection.now_millis()))
        .with_durability(arguments.durability.unwrap_or(Durability::UseDefault))
        .with_bad_lines_skipped(arguments.skip_bad_lines)
        .with_bad_lines_kept(arguments.bad_lines_shown)
        .with_line_size_max(arguments.line_size_max)
        .with_field_lines_max(arguments.field_lines_max);
    let run = |reader: &mut dyn RowReader, named: Option<&Columns>| {
        let table = arguments.table(&connection, &families, named)?;
        import(&table, reader, &options, &mut |progress| {
            let rate = progress.lines as f64 / bar.elapsed().as_secs_f64().max(1e-9);
            bar.set_message(format!("{} lines, {rate:.0} lines/s", progress.lines));
            interrupt.answer()
        })
        .map_err(|ImportError { cause, report }| Failure {
            cause,
            progress: Some(Unfinished { report, timestamp: options.timestamp }),
        })
    };
    let result = match format {
        Format::Jsonl => run(&mut JsonLinesReader::new(input, &options), None),
        Format::Csv | Format::Tsv => arguments
            .header(&connection, &families)
            .and_then(|header| {
                DelimitedReader::new(input, delimited, columns, header.as_ref(), &options)
            })
            .map_err(Failure::from)
            .and_then(|mut reader| {
                let columns = reader.columns().clone();
                run(&mut reader, Some(&columns))
            }),
    };
    bar.finish_and_clear();
    let closed = connection.close();
    let report = result?;
    closed?;
    Ok(report)
}

/// The decompressed bytes of the file; the bar follows those that are read from the file.
fn open_input(
    arguments: &ImportArguments,
    bar: &ProgressBar,
    interrupt: &Interrupt,
) -> Result<Box<dyn Read>, TransferError> {
    let path = &arguments.file;
    let failed = |error: io::Error| TransferError::Invalid(named(path, &error).to_string());
    if is_standard(path) {
        // Without the buffer of `Stdin`, whose bytes would be invisible to a wait for more.
        let input = standard_input().map_err(failed)?;
        return Ok(Box::new(bar.wrap_read(Interruptible::new(input, interrupt.clone()))));
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(TransferError::Invalid(format!("{}: is a folder", path.display())));
    }
    if metadata.is_file() {
        bar.set_length(metadata.len());
    }
    let file = bar.wrap_read(Interruptible::new(file, interrupt.clone()));
    Ok(if is_gzip(path) { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

impl FieldArguments {
    fn is_any(&self) -> bool {
        self.header || self.escaped || self.skip_empty_columns || self.separator.is_some()
    }
}

impl ImportArguments {
    /// What the names of a header mean, if the first line is one.
    fn header(
        &self,
        connection: &Connection,
        families: &[ColumnFamilyDescriptor],
    ) -> Result<Option<HeaderNames>, TransferError> {
        if !self.fields.header {
            return Ok(None);
        }
        let mut family = families.first().map(ColumnFamilyDescriptor::name_as_string);
        let table = connection.table(self.table.as_str())?;
        if family.is_none() && connection.admin().table_exists(table.name())? {
            let descriptor = table.descriptor()?;
            let mut known = descriptor.families();
            family = known.next().filter(|_| known.len() == 0).map(|only| only.name_as_string());
        }
        Ok(Some(HeaderNames { row_key: self.fields.row_key.clone(), family }))
    }

    /// The table, created if necessary. It must have the families that the columns need.
    fn table(
        &self,
        connection: &Connection,
        families: &[ColumnFamilyDescriptor],
        columns: Option<&Columns>,
    ) -> Result<Table, TransferError> {
        let table = connection.table(self.table.as_str())?;
        let admin = connection.admin();
        if !admin.table_exists(table.name())? {
            self.create(connection, &table, families, columns)?;
        }
        let descriptor = table.descriptor()?;
        let needed = columns.map(Columns::families).unwrap_or_default();
        let missing: Vec<_> = needed
            .into_iter()
            .filter(|family| !descriptor.has_family(family))
            .map(String::from_utf8_lossy)
            .collect();
        if !missing.is_empty() {
            let message = format!("Column families: [{}] do not exist.", missing.join(", "));
            return Err(TransferError::Invalid(message));
        }
        Ok(table)
    }

    fn create(
        &self,
        connection: &Connection,
        table: &Table,
        families: &[ColumnFamilyDescriptor],
        columns: Option<&Columns>,
    ) -> Result<(), TransferError> {
        let name = table.name();
        if self.creation.no_create {
            let message = format!("Table '{name}' does not exist and --no-create is given.");
            return Err(TransferError::Invalid(message));
        }
        let mut descriptor = TableDescriptor::new(name.clone());
        for family in families {
            descriptor.add_family(family.clone())?;
        }
        for family in columns.map(Columns::families).unwrap_or_default() {
            if !descriptor.has_family(family) {
                descriptor.add_family(ColumnFamilyDescriptor::new(family))?;
            }
        }
        if descriptor.families().len() == 0 {
            let message =
                format!("Table '{name}' does not exist: name its families with --family.");
            return Err(TransferError::Invalid(message));
        }
        let splits: Vec<Vec<u8>> =
            self.creation.splits.iter().map(|key| from_string_binary(key)).collect();
        Ok(connection.admin().create_table_with_splits(&descriptor, &splits)?)
    }
}

impl CreationArguments {
    fn families(&self) -> Result<Vec<ColumnFamilyDescriptor>, TransferError> {
        self.families.iter().map(|text| family(text)).collect()
    }
}

/// A family from its name and its settings.
fn family(text: &str) -> Result<ColumnFamilyDescriptor, TransferError> {
    let mut parts = text.split(',');
    let mut family = ColumnFamilyDescriptor::new(parts.next().unwrap_or_default());
    family.check_name()?;
    for setting in parts {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            TransferError::Invalid(format!("--family: {setting:?} is not a setting NAME=VALUE"))
        })?;
        family.set_attribute(name.trim(), value.trim())?;
    }
    Ok(family)
}
