//! Open stores, and connections to clusters.

use std::path::PathBuf;

use hblite::{
    CompactRequest, Connection, FailSafeSnapshot, FlushRequest, Options, RegionLoad, RegionStatus,
    SnapshotOptions, SplitPoints, SystemTables, TableName,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::call::{Owned, to_exception, wait};
use crate::clock::Clock;
use crate::data::{bytes_of, seconds};
use crate::schema::{family_of, set_attributes, table_of};
use crate::table::Table;
use crate::thrift::ThriftChannel;

/// Opens the store in a directory, or creates one there.
///
/// `create=False` refuses a directory without a store. `read_only` opens it as it is now, even if
/// another process has it open. `salvage` opens a damaged store. `adopt_hbase` converts a root
/// directory of Apache HBase, which must not run. `map_files` maps files into memory, which is
/// faster if the data does not fit into the cache; a mapped file that something else truncates ends
/// the process. `compactions=False` merges files only on request.
#[pyfunction]
#[pyo3(signature = (dir, *, create=true, read_only=false, salvage=false, adopt_hbase=false,
    map_files=false, compactions=true))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
pub(crate) fn open(
    py: Python<'_>,
    dir: PathBuf,
    create: bool,
    read_only: bool,
    salvage: bool,
    adopt_hbase: bool,
    map_files: bool,
    compactions: bool,
) -> PyResult<Database> {
    let options = Options::new()
        .with_create_if_missing(create)
        .with_read_only(read_only)
        .with_salvage(salvage)
        .with_hbase_adopted(adopt_hbase)
        .with_files_mapped(map_files)
        .with_compaction_enabled(compactions);
    wait(py, || options.open(dir)).map(Database::new)
}

/// Opens an empty store in memory. `compactions=False` merges its files only on request.
#[pyfunction]
#[pyo3(signature = (*, compactions=true))]
pub(crate) fn memory(py: Python<'_>, compactions: bool) -> PyResult<Database> {
    let options = Options::new().with_compaction_enabled(compactions);
    wait(py, || options.open_in_memory()).map(Database::new)
}

/// Connects to a cluster of Apache HBase or to `hblite serve`, whose address is
/// `hbase://zookeeper-host:2181/hbase` or `hbase+rpc://host:16000`.
///
/// `settings` are settings of HBase's client, by their names. Checkpoints, forks and the clock
/// belong to embedded stores, and are an `UnsupportedError` here.
#[pyfunction]
#[pyo3(signature = (url, settings=None))]
pub(crate) fn connect(
    py: Python<'_>,
    url: &str,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Database> {
    let mut options = hblite::ClusterOptions::new();
    for (name, value) in settings.into_iter().flatten() {
        options =
            options.with_setting(name.extract::<String>()?, value.str()?.extract::<String>()?);
    }
    wait(py, || options.connect(url)).map(Database::new)
}

/// An open store, or a connection to a cluster: `hblite.open`, `hblite.memory` and
/// `hblite.connect` make one. It is closed by `close()` or at the end of a `with`.
///
/// All threads may share a database. A process that forks after the open gets a `ForkedError`.
///
/// >>> import hblite
/// >>> with hblite.memory() as db:
/// ...     db.create_table("users", {"info": dict(versions=3)})
/// ...     db["users"].put("u1", {"info:name": "Ada"})
/// ...     db.tables()
/// ['users']
#[pyclass(module = "hblite", frozen)]
#[derive(Debug)]
pub(crate) struct Database {
    connection: Owned<Connection>,
}

impl Database {
    fn new(connection: Connection) -> Self {
        Self { connection: Owned::new(connection) }
    }

    /// Runs a call on the connection.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Connection) -> hblite::Result<T> + Send,
    ) -> PyResult<T> {
        let connection = self.connection.get(py)?;
        wait(py, || call(connection))
    }
}

#[pymethods]
impl Database {
    /// Ends all work, writes memory to files and releases the directory.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |connection| connection.clone().close())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dir = self.connection.get(py)?.dir().map(|dir| dir.display().to_string());
        Ok(match dir {
            Some(dir) => format!("<hblite.Database {dir}>"),
            None => "<hblite.Database of a cluster>".to_owned(),
        })
    }

    /// The table with this name. It is not asked for until it is used.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let connection = self.connection.get(py)?;
        connection.table(name).map(Table::new).map_err(|error| to_exception(py, &error))
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        self.table(py, name)
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.run(py, |connection| connection.admin().table_exists(name))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyList::new(py, self.tables(py)?)?.call_method0("__iter__")
    }

    /// The names of the tables, sorted.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let tables =
            self.run(py, |connection| connection.admin().list_tables(SystemTables::Exclude))?;
        Ok(tables.iter().map(|table| table.name().to_string()).collect())
    }

    /// Creates a table. `families` lists the names of families, or maps each to its options:
    /// HBase's, such as `versions`, `ttl`, `compression` and `bloomfilter`. Names in capitals are
    /// passed as they are. The table is split at the keys `splits`.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", {"f": dict(versions=3, ttl=3600), "g": {}}, splits=["m"])
    /// >>> db.describe("t")["families"]["f"]["VERSIONS"]
    /// '3'
    /// >>> db.close()
    #[pyo3(signature = (name, families, *, splits=None, attributes=None))]
    fn create_table(
        &self,
        py: Python<'_>,
        name: &str,
        families: &Bound<'_, PyAny>,
        splits: Option<&Bound<'_, PyAny>>,
        attributes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let table = table_of(py, name, families, attributes)?;
        let mut keys = Vec::new();
        if let Some(splits) = splits {
            for key in splits.try_iter()? {
                keys.push(bytes_of(&key?)?.into_owned());
            }
        }
        self.run(py, |connection| connection.admin().create_table_with_splits(&table, &keys))
    }

    /// Deletes a disabled table. With `disable`, it is disabled first.
    #[pyo3(signature = (name, *, disable=false))]
    fn delete_table(&self, py: Python<'_>, name: &str, disable: bool) -> PyResult<()> {
        self.run(py, |connection| {
            let admin = connection.admin();
            if disable && admin.is_table_enabled(name)? {
                admin.disable_table(name)?;
            }
            admin.delete_table(name)
        })
    }

    /// Empties a disabled table, and enables it.
    #[pyo3(signature = (name, *, preserve_splits=false))]
    fn truncate_table(&self, py: Python<'_>, name: &str, preserve_splits: bool) -> PyResult<()> {
        let splits = if preserve_splits { SplitPoints::Preserve } else { SplitPoints::Discard };
        self.run(py, |connection| connection.admin().truncate_table(name, splits))
    }

    /// Takes a table out of service.
    fn disable_table(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, |connection| connection.admin().disable_table(name))
    }

    /// Puts a disabled table back in service.
    fn enable_table(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, |connection| connection.admin().enable_table(name))
    }

    /// Whether a table is in service.
    fn is_enabled(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.run(py, |connection| connection.admin().is_table_enabled(name))
    }

    /// Changes attributes of a table.
    fn alter_table(
        &self,
        py: Python<'_>,
        name: &str,
        attributes: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let mut table = self.run(py, |connection| connection.admin().describe_table(name))?;
        set_attributes(py, &mut table, attributes)?;
        self.run(py, |connection| connection.admin().modify_table(&table))
    }

    /// Adds a family, with options as of `create_table`.
    #[pyo3(signature = (table, family, options=None))]
    fn add_family(
        &self,
        py: Python<'_>,
        table: &str,
        family: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let family = family_of(py, family, options, None)?;
        self.run(py, |connection| connection.admin().add_family(table, &family))
    }

    /// Changes options of a family; the others remain.
    fn alter_family(
        &self,
        py: Python<'_>,
        table: &str,
        family: &Bound<'_, PyAny>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let present = self.run(py, |connection| connection.admin().describe_table(table))?;
        let family = family_of(py, family, Some(options), Some(&present))?;
        self.run(py, |connection| connection.admin().modify_family(table, &family))
    }

    /// Deletes a family with everything in it.
    fn delete_family(
        &self,
        py: Python<'_>,
        table: &str,
        family: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let family = bytes_of(family)?;
        self.run(py, |connection| connection.admin().delete_family(table, &family))
    }

    /// The attributes of a table, and of each family.
    fn describe<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let table = self.run(py, |connection| connection.admin().describe_table(name))?;
        let families = PyDict::new(py);
        for family in table.families() {
            families.set_item(family.name_as_string(), family.attributes().clone())?;
        }
        let all = PyDict::new(py);
        all.set_item("attributes", table.attributes().clone())?;
        all.set_item("families", families)?;
        Ok(all)
    }

    /// Writes the memory of a table, or of all, to files.
    #[pyo3(signature = (table=None))]
    fn flush(&self, py: Python<'_>, table: Option<&str>) -> PyResult<()> {
        self.run(py, |connection| {
            let admin = connection.admin();
            for table in chosen(connection, table)? {
                admin.flush(&FlushRequest::table(table))?;
            }
            Ok(())
        })
    }

    /// Merges the files of a table: some of them, or with `major` all, without what was deleted.
    #[pyo3(signature = (table, *, major=false))]
    fn compact(&self, py: Python<'_>, table: &str, major: bool) -> PyResult<()> {
        self.run(py, |connection| {
            let request = CompactRequest::table(table.parse::<TableName>()?);
            connection.admin().compact(&if major { request.major() } else { request })
        })
    }

    /// Splits a region of a table at a key, or without one every region in its middle.
    #[pyo3(signature = (table, key=None))]
    fn split(&self, py: Python<'_>, table: &str, key: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let key = key.map(bytes_of).transpose()?;
        self.run(py, |connection| connection.admin().split_table(table, key.as_deref()))
    }

    /// The regions of a table in the order of their keys, each as a dictionary: its `name`, `start`
    /// and `end`, sizes in bytes, and what it did since it was opened (`load`).
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", ["f"], splits=["m"])
    /// >>> db["t"].put("x", {"f:q": "v"})
    /// >>> [(region["start"], region["load"]["write_requests"]) for region in db.regions("t")]
    /// [(b'', 0), (b'm', 1)]
    /// >>> db.close()
    fn regions<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (regions, status) = self.run(py, |connection| {
            let admin = connection.admin();
            Ok((admin.regions(table)?, admin.status()?))
        })?;
        let mut all = Vec::new();
        for region in regions {
            let status = status.regions.iter().find(|status| status.region == region);
            let dict = PyDict::new(py);
            dict.set_item("name", region.encoded_name())?;
            dict.set_item("start", PyBytes::new(py, region.start_key()))?;
            dict.set_item("end", PyBytes::new(py, region.end_key()))?;
            let size = |of: fn(&RegionStatus) -> u64| status.map_or(0, of);
            dict.set_item("store_files", size(|status| status.store_file_count))?;
            dict.set_item("store_file_bytes", size(|status| status.store_file_size_bytes))?;
            dict.set_item("memory_bytes", size(|status| status.memstore_size_bytes))?;
            let load = status.map(|status| status.load).unwrap_or_default();
            dict.set_item("load", load_dict(py, &load)?)?;
            all.push(dict);
        }
        Ok(all)
    }

    /// Takes a snapshot of a table, which expires after `ttl` seconds. With `skip_flush` it has
    /// only what is in files.
    #[pyo3(signature = (name, table, *, ttl=None, skip_flush=false))]
    fn snapshot(
        &self,
        py: Python<'_>,
        name: &str,
        table: &str,
        ttl: Option<f64>,
        skip_flush: bool,
    ) -> PyResult<()> {
        let options = SnapshotOptions::default()
            .with_skip_flush(skip_flush)
            .with_time_to_live(ttl.map(seconds).transpose()?);
        self.run(py, |connection| connection.admin().snapshot(name, table, &options))
    }

    /// The snapshots, by name, each as a dictionary: its `name`, `table` and `created_ms`.
    fn snapshots<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut all = Vec::new();
        for snapshot in self.run(py, |connection| connection.admin().list_snapshots())? {
            let dict = PyDict::new(py);
            dict.set_item("name", snapshot.name)?;
            dict.set_item("table", snapshot.table.to_string())?;
            dict.set_item("created_ms", snapshot.created_at_ms)?;
            all.push(dict);
        }
        Ok(all)
    }

    /// Creates a table from a snapshot.
    fn clone_snapshot(&self, py: Python<'_>, name: &str, table: &str) -> PyResult<()> {
        self.run(py, |connection| connection.admin().clone_snapshot(name, table))
    }

    /// Restores a disabled table to a snapshot of it. A failure leaves it as it was.
    fn restore_snapshot(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, |connection| connection.admin().restore_snapshot(name, FailSafeSnapshot::Take))
    }

    /// Deletes a snapshot.
    fn delete_snapshot(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, |connection| connection.admin().delete_snapshot(name))
    }

    /// Gives the present state a name, until the store is closed.
    ///
    /// >>> import hblite
    /// >>> db = hblite.memory()
    /// >>> db.create_table("t", ["f"])
    /// >>> db.checkpoint("empty")
    /// >>> db["t"].put("r", {"f:q": "v"})
    /// >>> db.rewind("empty")
    /// >>> db["t"].get("r")
    /// {}
    /// >>> db.close()
    fn checkpoint(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, |connection| connection.checkpoint(name))
    }

    /// The names of the checkpoints, sorted.
    fn checkpoints(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.run(py, Connection::checkpoints)
    }

    /// Removes a checkpoint; false if there is none of this name.
    fn delete_checkpoint(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.run(py, |connection| connection.delete_checkpoint(name))
    }

    /// Returns to a checkpoint, which remains.
    fn rewind(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, |connection| connection.rewind(name))
    }

    /// An independent store in memory that begins as a copy of a checkpoint.
    fn fork(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        self.run(py, |connection| connection.fork(name)).map(Self::new)
    }

    /// Writes a copy of the store to a directory that is empty or missing.
    fn export(&self, py: Python<'_>, to: PathBuf) -> PyResult<()> {
        self.run(py, |connection| connection.export(to))
    }

    /// The clock of an embedded store.
    #[getter]
    fn clock(&self, py: Python<'_>) -> PyResult<Clock> {
        Ok(Clock::new(self.connection.get(py)?.clone()))
    }

    fn _thrift(&self, py: Python<'_>) -> PyResult<ThriftChannel> {
        Ok(ThriftChannel::new(self.connection.get(py)?))
    }
}

/// A table, or all.
fn chosen(connection: &Connection, table: Option<&str>) -> hblite::Result<Vec<TableName>> {
    match table {
        Some(table) => Ok(vec![table.parse()?]),
        None => {
            let tables = connection.admin().list_tables(SystemTables::Exclude)?;
            Ok(tables.iter().map(|table| table.name().clone()).collect())
        }
    }
}

fn load_dict<'py>(py: Python<'py>, load: &RegionLoad) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, count) in [
        ("read_requests", load.read_requests),
        ("write_requests", load.write_requests),
        ("cells_read", load.cells_read),
        ("cells_examined", load.cells_examined),
        ("bytes_read", load.bytes_read),
        ("cells_written", load.cells_written),
        ("bytes_written", load.bytes_written),
        ("flushes", load.flushes),
        ("compactions", load.compactions),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}
