//! `hblite export`: writes rows of a table as lines, or as HFiles for a bulk load.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use hblite::{Connection, Table};
use hblite_env::Env;
use hblite_transfer::{
    Columns, DelimitedWriter, ExportReport, HFilesOptions, HFilesReport, JsonLinesWriter,
    RowWriter, TransferError, export, export_hfiles,
};

use super::output_file::OutputFile;
use super::select::Selection;
use super::{Format, delimited, is_standard};
use crate::cluster;
use crate::interrupt::Interrupt;
use crate::notices::Notices;
use crate::output::{FAILURE, count_bar, fail, print, row_spinner, size, tell};

/// The table, the selection, and the target.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExportArguments {
    /// The table
    table: String,
    /// The file, '-' for standard output; compressed if its name ends in .gz
    #[arg(default_value = "-", conflicts_with = "hfiles")]
    file: PathBuf,
    /// Directory of the store
    #[arg(long, value_name = "DIR", default_value = "./hblite-data")]
    dir: PathBuf,
    /// Connects to an Apache HBase cluster instead of opening a directory:
    /// hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000
    #[arg(long, value_name = "URL", conflicts_with_all = ["dir", "read_only"])]
    connect: Option<String>,
    /// Exports the store as it is at the start; for read-only media, and while another process has
    /// the store open
    #[arg(long)]
    read_only: bool,
    /// Format of the file; by default, from the name of the file
    #[arg(long, value_enum, conflicts_with = "hfiles")]
    format: Option<Format>,
    /// Replaces an existing file
    #[arg(long, conflicts_with = "hfiles")]
    overwrite: bool,
    /// CSV and TSV: the fields, as in 'hblite import'. JSON lines and HFiles: the families and
    /// columns (family:qualifier) to export [default: all]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    /// CSV and TSV: begins with a header line
    #[arg(long, conflicts_with = "hfiles")]
    header: bool,
    /// CSV and TSV: the byte between fields, instead of a comma or a tab
    #[arg(long, value_name = "BYTE", conflicts_with = "hfiles")]
    separator: Option<String>,
    /// CSV and TSV: fields contain \xHH for unprintable bytes
    #[arg(long, conflicts_with = "hfiles")]
    escaped: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    hfiles: HFilesArguments,
}

/// HFiles instead of lines.
#[derive(Debug, Args)]
#[command(next_help_heading = "HFiles for a bulk load")]
struct HFilesArguments {
    /// Writes FOLDER/<family>/<hfile>, a file per family and region, instead of lines
    #[arg(long, value_name = "FOLDER")]
    hfiles: Option<PathBuf>,
    /// Size in bytes at which a file ends, after the current row
    #[arg(long, value_name = "BYTES", default_value_t = 10 << 30, requires = "hfiles")]
    max_file_size: u64,
    /// Minor compactions of the table that loads the files skip them
    #[arg(long, requires = "hfiles")]
    exclude_from_minor_compaction: bool,
}

const AFTER_HELP: &str = "\
Examples:
  hblite export users users.jsonl.gz --versions all --raw         everything, exactly
  hblite export users users.csv --columns HBASE_ROW_KEY,info:name,info:city --header
  hblite export users - --format jsonl --prefix u1 | jq -r .row
  hblite export users --hfiles out --versions all --raw           for a real cluster, then there:
      hbase org.apache.hadoop.hbase.tool.BulkLoadHFilesTool out users

As HBase's Export does, it takes the newest version of each column unless --versions says more, and
delete markers only with --raw. A file appears when it is complete. An export that fails, or that is
ended by Ctrl-C or SIGTERM (exit status 130 or 143), leaves nothing behind.";

pub(crate) fn run(arguments: &ExportArguments) -> ExitCode {
    let interrupt = Interrupt::default();
    // A write to a full pipe would delay the handling of a caught signal, and there is nothing to
    // clean up.
    let has_target = arguments.hfiles.hfiles.is_some() || !is_standard(&arguments.file);
    if has_target && let Err(error) = interrupt.catch() {
        return fail(&error.to_string(), FAILURE);
    }
    match run_export(arguments, &interrupt) {
        Ok(text) => {
            // Only rows go to standard output.
            if arguments.hfiles.hfiles.is_none() && is_standard(&arguments.file) {
                tell(&text);
            } else {
                print(&text);
            }
            ExitCode::SUCCESS
        }
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(TransferError::Interrupted) => {
            let target = arguments.hfiles.hfiles.as_ref().unwrap_or(&arguments.file);
            let message = format!("interrupted: {} is not written", target.display());
            fail(&message, interrupt.exit_status().unwrap_or(FAILURE))
        }
        Err(error) => fail(&error.to_string(), FAILURE),
    }
}

fn run_export(arguments: &ExportArguments, interrupt: &Interrupt) -> Result<String, TransferError> {
    let job = Job::of(arguments)?;
    let options = crate::store_files::options()
        .with_create_if_missing(false)
        .with_read_only(arguments.read_only);
    let connection = match &arguments.connect {
        Some(url) => cluster::connect(url)?,
        None => options.open(&arguments.dir)?,
    };
    Notices::Text.open(&connection);
    let result =
        table(&connection, arguments).and_then(|table| job.run(&table, arguments, interrupt));
    let closed = connection.close();
    let text = result?;
    closed?;
    Ok(text)
}

fn table(connection: &Connection, arguments: &ExportArguments) -> Result<Table, TransferError> {
    let table = connection.table(arguments.table.as_str())?;
    // Reported before a file is begun.
    if !connection.admin().table_exists(table.name())? {
        let message = format!("Table '{}' does not exist.", table.name());
        return Err(TransferError::Invalid(message));
    }
    Ok(table)
}

/// What to write; everything is checked that can be without the store.
enum Job<'a> {
    HFiles(&'a Path),
    JsonLines,
    Fields(Format, Columns),
}

impl<'a> Job<'a> {
    fn of(arguments: &'a ExportArguments) -> Result<Self, TransferError> {
        if let Some(folder) = &arguments.hfiles.hfiles {
            return Ok(Self::HFiles(folder));
        }
        let invalid = |message: &str| Err(TransferError::Invalid(message.to_owned()));
        let format = Format::of(arguments.format, &arguments.file)?;
        if format == Format::Jsonl {
            if arguments.header || arguments.escaped || arguments.separator.is_some() {
                return invalid("JSON lines have no header, separator or escaped fields to set");
            }
            return Ok(Self::JsonLines);
        }
        if arguments.columns.is_empty() {
            return invalid("CSV and TSV need --columns");
        }
        let columns = Columns::from_names(arguments.columns.iter().map(String::as_str))?;
        if arguments.selection.is_raw() {
            return invalid("--raw: CSV and TSV cannot represent delete markers; use JSON lines");
        }
        if arguments.selection.has_history() && !columns.has_timestamp() {
            return invalid("--versions: several versions need HBASE_TS_KEY among the columns");
        }
        Ok(Self::Fields(format, columns))
    }

    fn run(
        &self,
        table: &Table,
        arguments: &ExportArguments,
        interrupt: &Interrupt,
    ) -> Result<String, TransferError> {
        match self {
            Self::HFiles(folder) => arguments.write_hfiles(table, folder, interrupt),
            Self::JsonLines => {
                let scan = arguments.selection.scan(&arguments.columns)?;
                let output = OutputFile::begin(&arguments.file, arguments.overwrite)?;
                let mut writer = JsonLinesWriter::new(output);
                let report = arguments.write_lines(table, &scan, &mut writer, interrupt)?;
                arguments.commit(writer.into_inner(), &report)
            }
            Self::Fields(format, columns) => {
                let scan = arguments.selection.scan_of_fields(columns)?;
                let separator = arguments.separator.as_deref();
                let format = delimited(*format, separator, arguments.escaped)?;
                let output = OutputFile::begin(&arguments.file, arguments.overwrite)?;
                let mut writer =
                    DelimitedWriter::new(output, format, columns.clone(), arguments.header)?;
                let report = arguments.write_lines(table, &scan, &mut writer, interrupt)?;
                arguments.commit(writer.into_inner()?, &report)
            }
        }
    }
}

impl ExportArguments {
    fn write_lines(
        &self,
        table: &Table,
        scan: &hblite::Scan,
        writer: &mut dyn RowWriter,
        interrupt: &Interrupt,
    ) -> Result<ExportReport, TransferError> {
        let spinner = row_spinner();
        let report = export(table, scan, writer, &mut |report| {
            spinner.set_position(report.rows);
            interrupt.answer()
        });
        spinner.finish_and_clear();
        report
    }

    fn commit(&self, output: OutputFile, report: &ExportReport) -> Result<String, TransferError> {
        output.commit(&self.file, self.overwrite)?;
        let seconds = report.duration.as_secs_f64();
        let mut text = format!(
            "{}: rows {}, cells {}, in {seconds:.2} s\n",
            self.table, report.rows, report.cells
        );
        if report.tags_left_out > 0 {
            text += &format!(
                "cells with tags that this format omits: {}; HFiles keep them\n",
                report.tags_left_out
            );
        }
        Ok(text)
    }

    fn write_hfiles(
        &self,
        table: &Table,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> Result<String, TransferError> {
        let scan = self.selection.scan(&self.columns)?;
        let options = HFilesOptions::default()
            .with_file_size_max_bytes(self.hfiles.max_file_size)
            .with_minor_compaction_excluded(self.hfiles.exclude_from_minor_compaction);
        let bar = count_bar("regions");
        let env = Env::system();
        let report = export_hfiles(&env, table, &scan, folder, &options, &mut |progress| {
            bar.set_length(progress.regions_total as u64);
            bar.set_position(progress.regions as u64);
            bar.set_message(format!("{} rows", progress.rows));
            interrupt.answer()
        });
        bar.finish_and_clear();
        let HFilesReport { rows, cells, files, bytes, duration } = report?;
        Ok(format!(
            "{}: rows {rows}, cells {cells}, files {}, {} in {:.2} s\n",
            folder.display(),
            files.len(),
            size(bytes),
            duration.as_secs_f64()
        ))
    }
}
