//! Plays a recorded file on a cluster, and removes what the file creates there.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use hblite::{ClusterOptions, Connection, TableName};
use serde_json::Value;

use crate::arguments::{table_name, text};
use crate::runner::{FileOutcome, play};

/// No two operations have the same timestamp, as in the recordings.
const TICK: Duration = Duration::from_millis(2);

/// The tables and namespaces that a file creates.
#[derive(Default)]
struct Created {
    tables: BTreeSet<TableName>,
    namespaces: BTreeSet<String>,
}

impl Created {
    fn of(file: &Path) -> Self {
        let mut created = Self::default();
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let op: Value = serde_json::from_str(line).expect("a line is JSON");
            match op["op"].as_str() {
                Some("create") => created.tables.extend(table_name(&op)),
                Some("create_ns") => drop(created.namespaces.insert(text(&op["ns"]))),
                _ => {}
            }
        }
        // Names that are refused are not created, and those of the system are not the file's.
        created.tables.retain(|name| !name.is_system());
        created.namespaces.retain(|name| name != "default" && name != "hbase");
        created
    }

    /// The first of them that exists.
    fn existing(&self, connection: &Connection) -> hblite::Result<Option<String>> {
        let admin = connection.admin();
        for table in &self.tables {
            if admin.table_exists(table)? {
                return Ok(Some(table.to_string()));
            }
        }
        let namespaces = admin.list_namespaces()?;
        Ok(self.namespaces.iter().find(|name| namespaces.iter().any(|n| n.name == **name)).cloned())
    }

    /// Removes them.
    fn remove(&self, connection: &Connection) -> hblite::Result<()> {
        let admin = connection.admin();
        for table in &self.tables {
            if admin.table_exists(table)? {
                if admin.is_table_enabled(table)? {
                    admin.disable_table(table)?;
                }
                admin.drop_table(table)?;
            }
        }
        let namespaces = admin.list_namespaces()?;
        for name in
            self.namespaces.iter().filter(|name| namespaces.iter().any(|n| n.name == **name))
        {
            admin.drop_namespace(name)?;
        }
        Ok(())
    }
}

pub(crate) fn run_file(file: &Path, url: &str) -> FileOutcome {
    let connection = ClusterOptions::new()
        .set("hbase.client.retries.number", "5")
        .set("hbase.client.pause", "20")
        .connect(url)
        .expect("the cluster answers");
    let created = Created::of(file);
    if let Some(name) = created.existing(&connection).expect("the cluster answers") {
        let first_difference = Some(format!("{}: the cluster has {name}", file.display()));
        return FileOutcome { failed: 1, first_difference, ..FileOutcome::default() };
    }
    let outcome = play(file, &connection, || std::thread::sleep(TICK));
    created.remove(&connection).expect("what the file created is removed");
    outcome
}
