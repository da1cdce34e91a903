//! The storage engine of hblite: one directory, one process.
//!
//! ```text
//! timeline > engine > check, chore > table > catalog > region > store
//!   > backup, memstore, wal > layout
//! ```
//!
//! A module uses only modules to its right. All modules use the settings.
//!
//! - `timeline` returns an open store to an earlier state, and forks it
//! - `engine` opens, recovers and closes a directory
//! - `check` reads a closed directory, file by file
//! - `chore` flushes and compacts in the background
//! - `table` distributes operations to regions
//! - `catalog` knows tables, regions and namespaces, and keeps them in hbase:meta
//! - `region` is a row range: writes, flushes, scans
//! - `store` is one family of a region: memory and files, merged by scanners
//! - `backup` makes a copy of a directory, complete or not at all
//! - `memstore` and `wal` hold what is not in a file yet
//!
//! The engine is synchronous and uses no sockets. Applications use the crate `hblite`.

pub mod memstore;
pub mod wal;

mod backup;
mod bulk_load;
mod catalog;
mod check;
mod chore;
mod chore_queue;
mod context;
mod engine;
mod files;
mod given_times;
mod invariants;
mod layout;
mod nonces;
mod options;
mod pace;
mod parallel;
mod prefetch;
mod region;
mod row_counts;
mod row_hash;
mod row_rank;
mod sealed;
mod signal;
mod snapshot;
mod status;
mod store;
mod switches;
mod table;
mod timeline;

pub use backup::backup;
pub use bulk_load::BulkLoadRequest;
pub use catalog::snapshot::{export_snapshot, import_snapshot};
pub use catalog::{Catalog, CatalogRebuild, Moved, OpenReport, Procedures};
pub use check::{CheckProgress, CheckReport, Cleaned, Finding, FindingKind, check, clean};
pub use context::FileNote;
pub use engine::Engine;
pub use layout::StoreId;
pub use options::EngineOptions;
pub use status::CrashReport;
pub use switches::Switches;
pub use table::{RegionHandle, RegionScan, RegionStep, StoreFiles, TableHandle, TableScanner};
pub use timeline::{ClientScanners, Timeline};
pub use wal::{ReplayReport, Salvaged, TornTail, UnclosedLog, WalOptions};
