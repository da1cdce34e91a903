//! What opening a store changed in its directory.

use std::fmt;
use std::path::PathBuf;

use hblite_model::TableName;

/// Directories set aside earlier that get a line of their own.
const SET_ASIDE_SHOWN_MAX: usize = 5;

/// What an open changed in the store's directory, besides the store's own files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenReport {
    /// Directories that were in the way and were set aside in `hblite-<store id>-moved`. `hblite
    /// check --clean` deletes them.
    pub moved: Vec<Moved>,
    /// Directories that were set aside earlier, by opens and changes of tables, because hblite did
    /// not write all that is in them. `hblite check --clean` deletes them.
    pub set_aside: Vec<PathBuf>,
    /// Directories without cells that an interrupted procedure of hblite had left; deleted.
    pub removed: Vec<PathBuf>,
    /// Directories of regions that hbase:meta does not name, and that stay in place because regions
    /// that it does name refer to their files. hbase:meta may be damaged.
    pub kept: Vec<PathBuf>,
    /// What an open with salvage rebuilt of a lost hbase:meta.
    pub rebuilt: Option<CatalogRebuild>,
}

impl OpenReport {
    /// What a user should know, one line each; usually empty.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let rebuilt = self.rebuilt.iter().flat_map(CatalogRebuild::lines);
        let set_aside = self.set_aside.iter().take(SET_ASIDE_SHOWN_MAX);
        let set_aside = set_aside.map(|dir| format!("{} is set aside", dir.display()));
        let more = self.set_aside.len().saturating_sub(SET_ASIDE_SHOWN_MAX);
        let last = match (self.set_aside.len(), more) {
            (0, _) => None,
            (_, 0) => Some("`hblite check --clean` deletes what is set aside".to_owned()),
            _ => Some(format!(
                "{more} more directories are set aside; `hblite check --clean` deletes them all"
            )),
        };
        let kept = self.kept.iter().map(|dir| {
            format!(
                "{} stays: hbase:meta does not name this region, but another refers to its files",
                dir.display()
            )
        });
        let moved = self.moved.iter().map(Moved::to_string);
        rebuilt.chain(moved).chain(kept).chain(set_aside).chain(last)
    }
}

/// A directory that an open set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Where it was.
    pub from: PathBuf,
    /// Where it is.
    pub to: PathBuf,
}

/// One line for people.
impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.display(), self.to.display());
        write!(f, "moved {from} to {to}: no table in hbase:meta has it")
    }
}

/// What a rebuild of hbase:meta found, and what it had to guess.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogRebuild {
    /// What was missing.
    pub losses: Vec<String>,
    /// Tables that hbase:meta names again.
    pub tables: Vec<TableName>,
    /// How many of their regions it names again.
    pub regions: usize,
    /// What was ambiguous, or could not be used.
    pub ambiguities: Vec<String>,
}

impl CatalogRebuild {
    fn lines(&self) -> impl Iterator<Item = String> {
        let tables: Vec<String> = self.tables.iter().map(TableName::to_string).collect();
        let first = format!(
            "rebuilt hbase:meta: tables {}, regions {}; a table whose state was lost is enabled",
            if tables.is_empty() { "none".to_owned() } else { tables.join(", ") },
            self.regions
        );
        std::iter::once(first).chain(self.ambiguities.iter().cloned())
    }
}
