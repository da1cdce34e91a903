//! `hblite hotspot run` on recorded data: a file, standard input, or a table of a store.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hblite_hotspot::advise::Wanted;
use hblite_hotspot::data::{Format, Table, TimeUnit};
use hblite_hotspot::run::Target;
use hblite_hotspot::study::{Candidate, OwnData, split_designs};
use hblite_rowkey::Design;

use crate::output::tell;
use crate::transfer::place::{self, Missing};

/// Which data.
#[derive(Debug, Args)]
pub(super) struct OwnDataArguments {
    /// File of recorded data, - for standard input: CSV or TSV with a header line, JSON lines,
    /// Parquet, or with --key the keys of a table, one per line. The designs of --design are run
    /// over its fields
    #[arg(long, value_name = "FILE", requires = "design", conflicts_with = "table")]
    pub(super) keys: Option<PathBuf>,
    /// Format of the data: csv, tsv, jsonl or parquet [default: by the file's name]
    #[arg(long, value_name = "FORMAT", requires = "keys")]
    format: Option<Format>,
    /// Design of the recorded keys
    #[arg(long, value_name = "DESIGN")]
    key: Option<String>,
    /// Table to read keys and times of cells from
    #[arg(long, value_name = "TABLE", requires_all = ["design", "key"])]
    pub(super) table: Option<String>,
    /// Directory of the store with that table, or URL of its cluster, which is only read [default:
    /// the cluster of --connect, or else ./hblite-data]
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    /// Share of the table's rows to read, chosen at random by the server
    #[arg(long, value_name = "0-1", requires = "table", value_parser = share)]
    sample: Option<f32>,
    /// Field with the time of a record [default: the first field that is a time]
    #[arg(long, value_name = "FIELD")]
    time: Option<String>,
    /// Unit of times that are numbers: s, ms, us or ns [default: by their magnitude]
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,
    /// File with queries about the data, one per line, as for 'hblite hotspot advise'
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
}

/// The designs over recorded data, and when its records were written.
pub(super) struct Loaded {
    pub(super) designs: Vec<Box<dyn Target>>,
    pub(super) times_ms: Option<Vec<u64>>,
    pub(super) records: u64,
}

impl OwnDataArguments {
    /// Whether any were given.
    pub(super) fn is_given(&self) -> bool {
        self.keys.is_some() || self.table.is_some()
    }

    /// Whether a place of tables is named, but no table of the data.
    pub(super) fn has_store_only(&self) -> bool {
        self.store.is_some() && self.table.is_none()
    }

    /// Where tables are.
    pub(super) fn store<'a>(&'a self, cluster: Option<&'a str>) -> &'a str {
        self.store.as_deref().or(cluster).unwrap_or("./hblite-data")
    }

    /// Reads the data, and creates a target for each design. `cluster` is where the designs will
    /// run, if on one.
    pub(super) fn load(&self, designs: &str, cluster: Option<&str>) -> Result<Loaded, String> {
        let designs: Vec<Design> =
            split_designs(designs).iter().map(|text| parsed(text)).collect::<Result<_, _>>()?;
        let key = self.key.as_deref().map(parsed).transpose()?;
        let (name, table) = match (&self.keys, &self.table) {
            (Some(path), _) => (name_of(path), self.read(path, key.as_ref())?),
            (None, table) => {
                let table = table.as_deref().unwrap_or_default();
                let key = key.ok_or("--table needs the design of its keys: --key DESIGN")?;
                let from = self.store(cluster);
                (table.to_owned(), read_table(from, table, &key, self.sample)?)
            }
        };
        let records = table.typed(&designs, self.time.as_deref(), self.time_unit);
        let records = records.map_err(|error| error.to_string())?;
        records.notes.iter().for_each(|note| tell(&format!("{note}\n")));
        let times_ms = records.times_ms.clone();
        let count = records.rows.len() as u64;
        let wanted = self.queries.as_deref().map(wanted).transpose()?;
        let data =
            OwnData::new(&name, &table, records, wanted).map_err(|error| error.to_string())?;
        let data = Arc::new(data);
        let target = |design: Design| -> Result<Box<dyn Target>, String> {
            let candidate = Candidate::of_data(Arc::clone(&data), design);
            Ok(Box::new(candidate.map_err(|error| error.to_string())?))
        };
        let designs = designs.into_iter().map(target).collect::<Result<_, _>>()?;
        Ok(Loaded { designs, times_ms, records: count })
    }

    fn read(&self, path: &Path, key: Option<&Design>) -> Result<Table, String> {
        let shown = path.display();
        let source: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(path).map_err(|error| format!("{shown}: {error}"))?)
        };
        let read = match (key, self.format.or_else(|| Format::of_name(&path.to_string_lossy()))) {
            (Some(key), None) => Table::read_keys(source, key),
            (_, Some(format)) => Table::read(source, format),
            (None, None) => {
                return Err(format!(
                    "{shown}: name the form of the data with --format csv, tsv, jsonl or parquet, \
                     or the design of its keys with --key"
                ));
            }
        };
        read.map_err(|error| format!("{shown}: {error}"))
    }
}

/// The keys of a table of a store or a cluster.
pub(super) fn read_table(
    from: &str,
    table: &str,
    key: &Design,
    share: Option<f32>,
) -> Result<Table, String> {
    let connection = place::open(from, Missing::Read).map_err(|error| error.to_string())?;
    Table::of_table(&connection, table, key, share).map_err(|error| format!("{from}: {error}"))
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "a share is more than 0, and 1 at most".to_owned())
}

fn parsed(text: &str) -> Result<Design, String> {
    Design::parse(text).map_err(|error| format!("\n{}", error.pointing_into(text)))
}

fn wanted(path: &Path) -> Result<Wanted, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    Wanted::parse(&text).map_err(|error| format!("{shown}: {error}"))
}

/// The name of the data in results: that of the file without its extension.
fn name_of(path: &Path) -> String {
    if path == Path::new("-") {
        return "stdin".to_owned();
    }
    path.file_stem().map_or_else(|| "data".to_owned(), |name| name.to_string_lossy().into_owned())
}
