//! Everything that a reader finds in a store, to be compared.

use std::collections::BTreeMap;

use hblite::{Connection, Get, Result, RowResult, Scan, SystemTables, TableName};

/// Rows with this prefix are written by a case itself and are not compared.
pub(crate) const IGNORED_ROW: &[u8] = b"~";

/// The contents of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TableContents {
    descriptor: String,
    is_enabled: bool,
    cells: usize,
    /// The cells that gets of single rows find, which ask filters and indexes.
    cells_by_get: usize,
    /// All cells, one after the other.
    bytes: Vec<u8>,
}

/// The contents of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    namespaces: Vec<String>,
    tables: BTreeMap<String, TableContents>,
    snapshots: Vec<String>,
    /// Tables cloned from the snapshots, if requested.
    clones: BTreeMap<String, TableContents>,
}

impl Contents {
    /// Reads everything; with `are_snapshots_read`, also tables that are made of the snapshots.
    pub(crate) fn read(connection: &Connection, are_snapshots_read: bool) -> Result<Self> {
        let admin = connection.admin();
        let namespaces = admin.list_namespaces()?;
        let mut tables = BTreeMap::new();
        for table in admin.list_tables(SystemTables::Exclude)? {
            let is_enabled = admin.is_table_enabled(table.name().clone())?;
            if !is_enabled {
                admin.enable_table(table.name().clone())?;
            }
            let contents = read_table(connection, table.name(), is_enabled)?;
            tables.insert(table.name().to_string(), contents);
        }
        let list = admin.list_snapshots()?;
        let mut clones = BTreeMap::new();
        for snapshot in list.iter().filter(|_| are_snapshots_read) {
            let clone: TableName = format!("clone-of-{}", snapshot.name).parse()?;
            admin.clone_snapshot(&snapshot.name, clone.clone())?;
            let contents = read_table(connection, &clone, true)?;
            clones.insert(snapshot.name.clone(), contents);
        }
        Ok(Self {
            namespaces: namespaces.iter().map(|namespace| format!("{namespace:?}")).collect(),
            tables,
            snapshots: list.iter().map(|snapshot| format!("{snapshot:?}")).collect(),
            clones,
        })
    }

    /// Cells in a table.
    pub(crate) fn cells(&self, table: &str) -> usize {
        self.tables.get(table).map_or(0, |table| table.cells)
    }

    /// Names of the snapshots that were read, with their cells.
    pub(crate) fn clones(&self) -> impl Iterator<Item = (&str, usize)> {
        self.clones.iter().map(|(name, clone)| (name.as_str(), clone.cells))
    }

    /// Names of tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// The same, whether tables are enabled or not.
    pub(crate) fn difference_of_data(mut self, expected: &Self) -> Option<String> {
        for (table, expected) in self.tables.values_mut().zip(expected.tables.values()) {
            table.is_enabled = expected.is_enabled;
        }
        self.difference(expected)
    }

    /// The first difference; nothing if all is as expected.
    pub(crate) fn difference(&self, expected: &Self) -> Option<String> {
        if self.namespaces != expected.namespaces {
            return Some(format!("namespaces {:?}", self.namespaces));
        }
        if self.snapshots != expected.snapshots {
            return Some(format!("snapshots {:?}", self.snapshots));
        }
        let tables = difference(&self.tables, &expected.tables);
        // The other side may not have read the snapshots.
        let clones = match self.clones.is_empty() || expected.clones.is_empty() {
            true => None,
            false => difference(&self.clones, &expected.clones),
        };
        tables.or(clones.map(|difference| format!("snapshot {difference}")))
    }
}

type Tables = BTreeMap<String, TableContents>;

fn difference(found: &Tables, expected: &Tables) -> Option<String> {
    if !found.keys().eq(expected.keys()) {
        return Some(format!("tables {:?}, expected {:?}", found.keys(), expected.keys()));
    }
    let mut pairs = found.iter().zip(expected.values());
    pairs.find_map(|((name, found), expected)| {
        if found.descriptor != expected.descriptor {
            return Some(format!("{name}: other settings"));
        }
        if found == expected {
            return None;
        }
        let counts = |table: &TableContents| (table.cells, table.cells_by_get, table.is_enabled);
        Some(format!(
            "{name}: cells, cells by get, enabled {:?}, expected {:?}",
            counts(found),
            counts(expected)
        ))
    })
}

fn read_table(
    connection: &Connection,
    name: &TableName,
    is_enabled: bool,
) -> Result<TableContents> {
    let table = connection.table(name.clone())?;
    let mut scanner = table.scan(&Scan::new().with_all_versions())?;
    let mut descriptor = format!("{:?}", table.descriptor()?);
    // That of a clone has another name.
    if let Some(families) = descriptor.find("families") {
        descriptor.drain(..families);
    }
    let (mut cells, mut cells_by_get, mut bytes) = (0, 0, Vec::new());
    while let Some(row) = scanner.next_row()? {
        if row.row().starts_with(IGNORED_ROW) {
            continue;
        }
        cells += add(row, &mut bytes);
        let got = table.get(&Get::new(row.row()).with_all_versions())?;
        cells_by_get += got.cells().count();
    }
    Ok(TableContents { descriptor, is_enabled, cells, cells_by_get, bytes })
}

fn add(row: &RowResult, bytes: &mut Vec<u8>) -> usize {
    let mut cells = 0;
    for cell in row.cells() {
        for part in [cell.row(), cell.family(), cell.qualifier(), cell.value()] {
            bytes.extend_from_slice(&(part.len() as u32).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes.extend_from_slice(&cell.timestamp().to_be_bytes());
        cells += 1;
    }
    cells
}
