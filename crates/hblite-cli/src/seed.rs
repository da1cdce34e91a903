//! `hblite serve --seed`: the initial contents of a new store; `--export-on-exit`: where it is
//! saved.
//!
//! | source | result |
//! |---|---|
//! | the directory of a store | a copy of it |
//! | a directory that snapshots were exported to | the snapshots, each with a table |
//! | a file `users.jsonl` (`.ndjson`, `.json`; also with `.gz`) | the table `users` |
//! | any other file | runs as a script of shell commands |
//!
//! Only a new store is seeded. A server that is restarted on its directory continues with the
//! existing data.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::read::MultiGzDecoder;
use hblite::{ColumnFamilyDescriptor, Connection, Options, TableDescriptor, TableName};
use hblite_shell::{ReadLines, ScriptOptions, Shell, ShellOptions};
use hblite_transfer::{ImportOptions, JsonLinesReader, RowRead, RowReader as _, import};

/// The file that identifies the directory of a store.
const STORE_FILE: &str = "hbase.version";
/// The directory of exported snapshots.
const SNAPSHOTS: &str = ".hbase-snapshot";

/// The initial contents of the store, and where it is saved.
#[derive(Debug, Args)]
pub(crate) struct SeedArguments {
    /// Initial contents of a new store: the directory of a store, a directory of exported
    /// snapshots, JSON lines (the table is named after the file), or a script of shell commands.
    /// May be repeated; a store must come first. Ignored if the directory already has a store.
    #[arg(long = "seed", value_name = "DIR|FILE")]
    sources: Vec<PathBuf>,
    /// When the server ends, saves the store to this directory, which must be empty or missing.
    #[arg(long, value_name = "DIR")]
    export_on_exit: Option<PathBuf>,
}

impl SeedArguments {
    /// What a store in memory begins with.
    pub(crate) fn of(sources: &[PathBuf]) -> Self {
        Self { sources: sources.to_vec(), export_on_exit: None }
    }

    /// Opens the store in `dir`, or one in memory, seeded if it is new.
    ///
    /// # Errors
    /// Why the store cannot be opened or seeded, with the name of the source.
    pub(crate) fn open(&self, dir: Option<&Path>, options: Options) -> Result<Connection, String> {
        self.check_export()?;
        if let Some(dir) = dir.filter(|dir| dir.join(STORE_FILE).exists()) {
            if !self.sources.is_empty() {
                let place = dir.display();
                let line = format!("hblite: {place} already has a store, and --seed is ignored");
                // Standard error may be closed.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            return options.open(dir).map_err(text);
        }
        let kinds = self.sources.iter().map(|source| Kind::of(source).map(|kind| (source, kind)));
        let kinds: Vec<(&PathBuf, Kind)> = kinds.collect::<Result<_, _>>()?;
        if let Some((late, _)) = kinds.iter().skip(1).find(|(_, kind)| *kind == Kind::Store) {
            return Err(format!("--seed {}: a store must come first", late.display()));
        }
        let connection = open_with_files(&kinds, dir, options)?;
        for (source, kind) in kinds {
            let seeded = match kind {
                Kind::Store => Ok(()),
                Kind::Snapshots => clone_snapshots(&connection, source),
                Kind::JsonLines => import_lines(&connection, source),
                Kind::Script => run_script(&connection, source),
            };
            seeded.map_err(|message| format!("--seed {}: {message}", source.display()))?;
        }
        Ok(connection)
    }

    /// Writes the store to the requested directory.
    ///
    /// Why it cannot be written.
    pub(crate) fn export(&self, connection: &Connection) -> Result<(), String> {
        match &self.export_on_exit {
            Some(to) => connection.export(to).map_err(text),
            None => Ok(()),
        }
    }

    /// At the end it would be too late to report this.
    fn check_export(&self) -> Result<(), String> {
        let Some(to) = &self.export_on_exit else { return Ok(()) };
        let is_free =
            !to.exists() || fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_none());
        match is_free {
            true => Ok(()),
            false => {
                Err(format!("--export-on-exit {}: it is not an empty directory", to.display()))
            }
        }
    }
}

/// The kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Store,
    Snapshots,
    JsonLines,
    Script,
}

impl Kind {
    fn of(source: &Path) -> Result<Self, String> {
        let refused = |what: &str| Err(format!("--seed {}: {what}", source.display()));
        match fs::metadata(source) {
            Err(error) => refused(&error.to_string()),
            Ok(found) if !found.is_dir() => match table_of(source) {
                Some(_) => Ok(Self::JsonLines),
                None => Ok(Self::Script),
            },
            Ok(_) if source.join(STORE_FILE).exists() => Ok(Self::Store),
            Ok(_) if source.join(SNAPSHOTS).is_dir() => Ok(Self::Snapshots),
            Ok(_) => refused("the directory has neither a store nor exported snapshots"),
        }
    }
}

/// The table for a file with JSON lines: its name without extensions.
fn table_of(source: &Path) -> Option<String> {
    let name = source.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let endings = [".jsonl", ".ndjson", ".json"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).map(str::to_owned)
}

fn text(error: hblite::Error) -> String {
    error.message().to_owned()
}

/// Opens the store after putting into its directory what must be there first: another store,
/// snapshots.
fn open_with_files(
    kinds: &[(&PathBuf, Kind)],
    dir: Option<&Path>,
    options: Options,
) -> Result<Connection, String> {
    let store = kinds.iter().find(|(_, kind)| *kind == Kind::Store).map(|(source, _)| *source);
    let snapshots: Vec<&PathBuf> = kinds
        .iter()
        .filter(|(_, kind)| *kind == Kind::Snapshots)
        .map(|(source, _)| *source)
        .collect();
    match (store, dir) {
        (None, None) if snapshots.is_empty() => return options.open_in_memory().map_err(text),
        (Some(store), None) if snapshots.is_empty() => {
            return options.open_copy(store).map_err(text);
        }
        _ => {}
    }
    // Snapshots are imported into a directory. A store in memory begins as a copy of one.
    let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = dir.map_or_else(|| temporary.path().join("store"), Path::to_path_buf);
    match store {
        Some(store) => hblite::backup(store, &place).map(drop).map_err(text)?,
        None => hblite::open(&place).and_then(Connection::close).map_err(text)?,
    }
    for source in snapshots {
        for name in snapshot_names(source)? {
            hblite::import_snapshot(&place, source, &name).map_err(text)?;
        }
    }
    match dir {
        Some(dir) => options.open(dir),
        None => options.open_copy(&place),
    }
    .map_err(text)
}

fn snapshot_names(source: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(source.join(SNAPSHOTS)).map_err(|error| error.to_string())?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    Ok(names)
}

/// Clones each snapshot to a table with its original name.
fn clone_snapshots(connection: &Connection, source: &Path) -> Result<(), String> {
    let (admin, names) = (connection.admin(), snapshot_names(source)?);
    for snapshot in admin.list_snapshots().map_err(text)? {
        if names.contains(&snapshot.name) {
            admin.clone_snapshot(&snapshot.name, &snapshot.table).map_err(text)?;
        }
    }
    Ok(())
}

/// Writes the lines into the table named after the file, which is created if necessary, with the
/// families in the lines.
fn import_lines(connection: &Connection, source: &Path) -> Result<(), String> {
    let name: TableName = table_of(source)
        .ok_or_else(|| "it has no name".to_owned())?
        .parse()
        .map_err(|error: hblite::Error| text(error))?;
    let options = ImportOptions::at(connection.now_millis());
    let admin = connection.admin();
    if !admin.table_exists(&name).map_err(text)? {
        let mut table = TableDescriptor::new(name.clone());
        for family in families(source, &options)? {
            table = table.with_family(ColumnFamilyDescriptor::new(family));
        }
        admin.create_table(&table).map_err(text)?;
    }
    let table = connection.table(name).map_err(text)?;
    let mut reader = JsonLinesReader::new(open(source)?, &options);
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    import(&table, &mut reader, &options, go_on).map(drop).map_err(|error| error.cause.to_string())
}

/// The families of all cells of a file.
fn families(source: &Path, options: &ImportOptions) -> Result<BTreeSet<Vec<u8>>, String> {
    let mut reader = JsonLinesReader::new(open(source)?, options);
    let (mut families, mut mutations) = (BTreeSet::new(), Vec::new());
    loop {
        match reader.next(&mut mutations).map_err(|error| error.to_string())? {
            RowRead::Line(_) => {}
            RowRead::Bad(line) => return Err(line.to_string()),
            RowRead::End => return Ok(families),
        }
        for mutation in mutations.drain(..) {
            families.extend(mutation.cells().iter().map(|cell| cell.family().to_vec()));
        }
    }
}

fn open(source: &Path) -> Result<Box<dyn Read>, String> {
    let file = File::open(source).map_err(|error| error.to_string())?;
    let is_packed = source.extension().is_some_and(|ending| ending == "gz");
    Ok(if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// Runs the commands; their output is not shown.
fn run_script(connection: &Connection, source: &Path) -> Result<(), String> {
    let file = File::open(source).map_err(|error| error.to_string())?;
    let output = Box::new(std::io::sink());
    let mut shell = Shell::new(connection.clone(), output, ShellOptions::default());
    let mut lines = ReadLines::new(BufReader::new(file));
    let ended = shell.run_script(&mut lines, ScriptOptions::default());
    ended.map(drop).map_err(|error| format!("line {}: {}", error.line, error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_json_lines_names_its_table() {
        for (file, table) in [
            ("a/users.jsonl", Some("users")),
            ("users.json.gz", Some("users")),
            ("n:c.ndjson", Some("n:c")),
            ("users.hbase", None),
            ("users", None),
        ] {
            assert_eq!(table_of(Path::new(file)).as_deref(), table, "{file}");
        }
    }
}
