//! The tests of the command, one module each.

mod callers;
mod casestudy;
mod check_and_backup;
mod command;
mod connect;
mod console;
mod copy_and_digest;
mod disturbed;
mod docs_keys;
mod fault;
mod file_systems;
mod hfile;
mod hot_rows;
mod hotspot;
mod import_export;
mod interrupt;
mod large_data;
mod last_write_wins;
mod load_hfiles;
mod not_a_store;
mod other_key;
#[path = "../../../tests/testkit/ports.rs"]
mod ports;
mod predict;
mod replay;
mod rowkey;
mod serve;
mod served;
mod shell;
mod state;
mod terminal;
#[cfg(target_os = "linux")]
mod thread_limit;
