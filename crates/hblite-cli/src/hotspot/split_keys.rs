//! Split keys that a table has already: given, from a file, or those of a table.

use std::path::Path;

use clap::Args;
use hblite::bytes::from_string_binary;
use hblite_hotspot::run::check_split_keys;

use crate::transfer::place::{self, Missing};

/// Where the split keys are.
#[derive(Debug, Args)]
pub(super) struct SplitKeyArguments {
    /// Split keys of the present table, separated by commas; may contain \xHH
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    split_keys: Option<Vec<String>>,
    /// File with the split keys of the present table, one per line; or that table
    #[arg(long, value_name = "FILE|TABLE", conflicts_with = "split_keys")]
    splits_from: Option<String>,
}

impl SplitKeyArguments {
    /// Whether a table may have to be asked.
    pub(super) fn may_be_of_table(&self) -> bool {
        self.splits_from.is_some()
    }

    /// The keys, if any were given. A table is in the store or the cluster of `store`.
    pub(super) fn keys(&self, store: &str) -> Result<Option<Vec<Vec<u8>>>, String> {
        let keys = match (&self.split_keys, &self.splits_from) {
            (Some(keys), _) => keys.iter().map(|key| from_string_binary(key)).collect(),
            (None, Some(name)) if Path::new(name).is_file() => of_file(Path::new(name))?,
            (None, Some(name)) => of_table(store, name)?,
            (None, None) => return Ok(None),
        };
        check_split_keys(&keys).map_err(|error| error.to_string())?;
        Ok(Some(keys))
    }
}

fn of_file(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(from_string_binary).collect())
}

fn of_table(store: &str, name: &str) -> Result<Vec<Vec<u8>>, String> {
    let wrong = |error: &dyn std::fmt::Display| {
        format!("--splits-from: there is no file {name}; the table {name} in {store}: {error}")
    };
    let connection = place::open(store, Missing::Read).map_err(|error| wrong(&error))?;
    let admin = connection.admin();
    if !admin.table_exists(name).map_err(|error| wrong(&error))? {
        return Err(wrong(&"it does not exist"));
    }
    let regions = admin.regions(name).map_err(|error| wrong(&error))?;
    let starts = regions.iter().map(|region| region.start_key().to_vec());
    Ok(starts.filter(|start| !start.is_empty()).collect())
}
