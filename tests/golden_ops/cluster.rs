//! Plays a recorded file on a cluster, and removes what the file creates there.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use hblite::{ClusterOptions, Connection, Scan, TableName};
use serde_json::Value;

use super::arguments::{table_name, text};
use super::runner::{FileOutcome, play};

/// No two operations have the same timestamp, as in the recordings.
const TICK: Duration = Duration::from_millis(2);

/// The time between two looks at hbase:meta.
const PAUSE: Duration = Duration::from_millis(50);
/// How long hbase:meta may keep the parents of a split or merge.
const PARENTS_MAX: Duration = Duration::from_secs(60);

/// The tables and namespaces that a file creates.
#[derive(Default)]
struct Created {
    tables: BTreeSet<TableName>,
    namespaces: BTreeSet<String>,
    /// Whether the file splits or merges regions.
    has_parents: bool,
}

impl Created {
    fn of(file: &Path) -> Self {
        let mut created = Self::default();
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let op: Value = serde_json::from_str(line).expect("a line is JSON");
            match op["op"].as_str() {
                Some("create") => created.tables.extend(table_name(&op)),
                Some("create_ns") => drop(created.namespaces.insert(text(&op["ns"]))),
                Some("split" | "merge") => created.has_parents = true,
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
                admin.delete_table(table)?;
            }
        }
        let namespaces = admin.list_namespaces()?;
        for name in
            self.namespaces.iter().filter(|name| namespaces.iter().any(|n| n.name == **name))
        {
            admin.delete_namespace(name)?;
        }
        Ok(())
    }
}

/// Waits until regions no longer read files of the regions that they were made of, as the recording
/// did: before that they cannot be split or merged, and a raw scan sees what was not yet compacted.
/// HBase's catalog janitor then removes the parents from hbase:meta.
fn wait_for_parents(connection: &Connection) -> hblite::Result<()> {
    let meta = connection.table("hbase:meta")?;
    let began = Instant::now();
    loop {
        let mut has_parents = false;
        for row in meta.scan(&Scan::new().with_family("info"))? {
            has_parents |= row?.cells().any(|cell| {
                cell.qualifier().starts_with(b"split") || cell.qualifier().starts_with(b"merge")
            });
        }
        if !has_parents {
            return Ok(());
        }
        assert!(
            began.elapsed() < PARENTS_MAX,
            "hbase:meta still has parents of a split or merge after a minute: the master needs \
             hbase.catalogjanitor.interval=1000, and the region servers need \
             hbase.hfile.compaction.discharger.interval=1000"
        );
        std::thread::sleep(PAUSE);
    }
}

pub(crate) fn run_file(file: &Path, url: &str) -> FileOutcome {
    let connection = ClusterOptions::new()
        .with_setting("hbase.client.retries.number", "5")
        .with_setting("hbase.client.pause", "20")
        .connect(url)
        .expect("the cluster answers");
    let created = Created::of(file);
    if let Some(name) = created.existing(&connection).expect("the cluster answers") {
        let first_difference = Some(format!("{}: the cluster has {name}", file.display()));
        return FileOutcome { failed: 1, first_difference, ..FileOutcome::default() };
    }
    let outcome = play(file, &connection, || {
        if created.has_parents {
            wait_for_parents(&connection).expect("the cluster answers");
        }
        std::thread::sleep(TICK);
    });
    created.remove(&connection).expect("what the file created is removed");
    outcome
}
