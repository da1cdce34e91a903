//! The tests of a whole store, one module each. What needs an allocator, a harness or a process of
//! its own is a program apart, which `Cargo.toml` names.

mod alter;
mod api;
mod backend;
mod backup;
mod batches;
mod bit_rot;
mod bulk_load;
mod busy_store;
mod checkpoints;
mod clock_jumps;
mod compaction_crash;
mod concurrency;
mod full_disk;
mod fuzz_files;
mod hbase_directory;
mod hbase_root;
mod hbase_snapshots;
mod last_write_wins;
mod linearizability;
mod many_regions;
mod model;
mod once;
mod open;
mod panics;
mod power_cut;
mod read_only;
mod reading_little;
mod removed_directory;
mod row_waits;
mod snapshot_transfer;
mod snapshots;
mod splits;
mod store_fixtures;
mod symbolic_links;
mod testkit;
